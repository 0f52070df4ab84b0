/** The front end phase by phase, as `compileGlsl` runs it: bundled by `front.ts`, so that what is timed is what ships. */
import { check } from "../src/glsl/check/index.ts";
import { Diagnostics } from "../src/glsl/diagnostics.ts";
import { emitModule } from "../src/glsl/emit/index.ts";
import { preprocess } from "../src/glsl/preprocess/index.ts";
import { Sources } from "../src/glsl/source.ts";
import { parse } from "../src/glsl/syntax/index.ts";
import { giveTokens } from "../src/glsl/tokens.ts";

export { compileGlsl } from "../src/glsl/index.ts";

export type Stage = "compute" | "vertex" | "fragment";

export interface Shader {
  readonly name: string;
  readonly stage: Stage;
  readonly source: string;
}

/** Nanoseconds of CPU time, or of another clock, since some moment. */
export type Clock = () => number;

/** Adds the time of each phase of every shader to `sums`: preprocess with lexing, parse, check, emit. */
export function runPhases(shaders: readonly Shader[], clock: Clock, sums: Float64Array): void {
  const targetEnv = "vulkan1.2";
  for (const { name, stage, source } of shaders) {
    const t0 = clock();
    const sources = new Sources();
    const diagnostics = new Diagnostics(sources, 100);
    const pre = preprocess({ filename: name, source, defines: {}, includes: {}, relaxed: false }, sources, diagnostics);
    const t1 = clock();
    const unit = parse(pre.tokens, diagnostics);
    giveTokens(pre.tokens);
    const t2 = clock();
    const { version, vulkanMemoryModel } = pre;
    const extensions = new Set<string>();
    for (const [extension, behavior] of pre.extensions) if (behavior !== "disable") extensions.add(extension);
    const { lostNames } = unit;
    const entryPoint = "main";
    const module = check(unit, {
      stage,
      entryPoint,
      version,
      extensions,
      warned: new Set(),
      ranges: pre.extensionRanges,
      lostNames,
      diagnostics,
      relaxed: false,
      hasSubgroups: true,
    });
    const t3 = clock();
    if (module === undefined) throw new Error(`${name}: compiled before, now fails`);
    const emitted = { stage, entryPoint, targetEnv, version, vulkanMemoryModel, debugInfo: true, sources } as const;
    emitModule(module, emitted, diagnostics);
    const t4 = clock();
    sums[0]! += t1 - t0;
    sums[1]! += t2 - t1;
    sums[2]! += t3 - t2;
    sums[3]! += t4 - t3;
  }
}
