import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type CompileRequest, defaultRequest } from "../../src/codeobj/index.ts";
import { compileShader } from "../../src/compile/index.ts";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { opName } from "../../src/spirv/index.ts";
import { oracle } from "../oracles.ts";
import { Reference } from "./reference.ts";
import { judge, Tally } from "./refusals.ts";
import { includesOf, type ShaderFile, shaderFiles } from "./shaders.ts";

/** The three stages, by the file's suffix. */
export function requestOf({ path, stage }: ShaderFile, source: string, optimization: 0 | 1 | 2): CompileRequest {
  const isAssembly = /^\s*(;|Op[A-Z]|%\w+\s*=\s*Op)/.test(source);
  return {
    ...defaultRequest,
    language: isAssembly ? "spirv-asm" : "glsl",
    source,
    includes: includesOf(path, source),
    stage,
    filename: path,
    options: { ...defaultRequest.options, optimization },
  };
}

/** What one shader came to at one level. */
type Outcome =
  | { readonly kind: "compiled"; readonly elf: Uint8Array }
  | { readonly kind: "refused" | "bug"; readonly message: string };

function compileOnce(file: ShaderFile, source: string, level: 0 | 1 | 2, core: CoreTools): Outcome {
  try {
    const done = compileShader(requestOf(file, source, level), core);
    if (done.ok) return { kind: "compiled", elf: done.record.elf };
    const [first] = done.diagnostics.filter((d) => d.severity === "error");
    return { kind: "refused", message: `${first?.code}: ${first?.message}` };
  } catch (error) {
    return { kind: "bug", message: error instanceof Error ? error.message : String(error) };
  }
}

/** Files whose disassembly by llvm-objdump has an unknown instruction; undefined where there is no such tool. */
function undecoded(files: readonly string[], tool: string): string[] | undefined {
  const bad: string[] = [];
  for (let k = 0; k < files.length; k += 200) {
    const run = spawnSync(tool, ["-d", ...files.slice(k, k + 200)], { encoding: "utf8", maxBuffer: 1 << 30 });
    if (run.error !== undefined) return undefined;
    for (const part of run.stdout.split(/^(?=\S+:\tfile format)/m)) {
      if (part.includes("<unknown>")) bad.push(part.slice(0, part.indexOf(":")));
    }
  }
  return bad;
}

/**
 * Compiles every comp, vert and frag file below `--root` (may be given several times) with our own front end at levels
 * 0, 1, 2, by default with the checked core (IR validator, allocation checker). Prints how many compile, and why others do
 * not: refusals are compared with glslangValidator's, whose answers stay in `--cache`. False where something broke: a bug,
 * a shader that is refused without a reason or at some levels only, code that llvm-objdump does not decode.
 */
export async function compileConformance(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      root: { type: "string", multiple: true, default: [] },
      release: { type: "boolean", default: false },
      level: { type: "string", multiple: true, default: ["0", "1", "2"] },
      objdump: { type: "string", default: "llvm-objdump-19" },
      cache: { type: "string" },
      verbose: { type: "boolean", default: false },
    },
  });
  const make = (): Promise<CoreTools> => createCore({ checked: !values.release, opName });
  let core = await make();
  const reference = oracle("glslangValidator") === undefined ? undefined : new Reference(values.cache);
  const levels = values.level.map(Number) as (0 | 1 | 2)[];
  const out = mkdtempSync(join(tmpdir(), "kiln-compile-"));
  const written: string[] = [];
  const counts = new Map<string, number>();
  const [left, wrong] = [new Tally(), new Tally()];
  const files = values.root.flatMap(shaderFiles);
  for (const file of files) {
    const source = readFileSync(file.path, "utf8");
    const refused: string[] = [];
    for (const level of levels) {
      const outcome = compileOnce(file, source, level, core);
      if (outcome.kind === "compiled") {
        const key = `${file.stage} level ${level}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
        const elf = join(out, `${written.length}.elf`);
        writeFileSync(elf, outcome.elf);
        written.push(elf);
      } else if (outcome.kind === "bug") {
        core = await make();
        wrong.add(`level ${level}: ${outcome.message}`, file.path);
      } else refused.push(outcome.message);
    }
    if (refused.length === 0) continue;
    const { reason, isRight } = await judge(file, source, refused[0]!, reference);
    const isWhole = refused.length === levels.length;
    (isRight && isWhole ? left : wrong).add(isWhole ? reason : `at some levels only: ${reason}`, file.path);
  }
  reference?.save();
  console.log(`${files.length} shaders; compiled:`);
  for (const [key, n] of [...counts].sort()) console.log(`${String(n).padStart(7)}  ${key}`);
  console.log(`not compiled: ${left.total}`);
  for (const line of left.lines(values.verbose)) console.log(line);
  console.log(`wrong: ${wrong.total}`);
  for (const line of wrong.lines(true)) console.log(line);
  const bad = undecoded(written, values.objdump);
  console.log(
    bad === undefined
      ? `${values.objdump} is not installed`
      : `${written.length} code objects, ${bad.length} not decoded by ${values.objdump}`,
  );
  rmSync(out, { recursive: true, force: true });
  return files.length > 0 && wrong.total === 0 && (bad === undefined || bad.length === 0);
}
