import { defaultRequest } from "../../src/codeobj/index.ts";
import { compileShader } from "../../src/compile/index.ts";
import type { Core } from "../../src/core/index.ts";
import { compileGlsl } from "../../src/glsl/index.ts";
import { readModule, validateModule } from "../../src/spirv/index.ts";
import { mutateModule, mutateOperand, mutateSource, Random, vocabulary } from "./mutate.ts";

export interface FuzzShader {
  readonly source: string;
  readonly stage: "compute" | "vertex" | "fragment";
}

interface FuzzFailure {
  readonly seed: number;
  readonly what: string;
  /** The input that failed: a text, or words in hexadecimal. */
  readonly input: string;
}

export interface FuzzReport {
  readonly cases: number;
  /** Mutated sources that still compile, mutated modules that are still valid. */
  readonly sourcesAccepted: number;
  readonly modulesAccepted: number;
  /** Valid modules that the core got, and those of them that became code. */
  readonly toCore: number;
  readonly coreAccepted: number;
  readonly slowestMs: number;
  readonly failures: readonly FuzzFailure[];
}

/** Longest that one input may take, in milliseconds of this process. */
const TIME_LIMIT_MS = 1000;

/**
 * Compiles or validates `cases` mutated inputs, each from a seed of its own (`seed`, `seed` + 1, …) so that one failure
 * can be made again alone; every other one is a SPIR-V module. Failures: an exception, over a second, an invalid module
 * from the front end (`validateModule`, and every word read back). With a core most inputs are modules with few
 * operands changed, and every valid one is compiled at level 2, where a trap or a broken invariant throws.
 */
export function fuzz(shaders: readonly FuzzShader[], cases: number, seed: number, core?: Core): FuzzReport {
  const sources = shaders.map(({ source }) => source);
  const words = vocabulary(sources);
  // names and places would take most mutations of words
  const compiled = shaders.map(({ source, stage }) =>
    compileGlsl({ source, filename: "fuzz", stage, debugInfo: core === undefined }),
  );
  const modules = compiled.flatMap((result) => (result.ok ? [result.words] : []));
  const failures: FuzzFailure[] = [];
  const accepted = { sources: 0, modules: 0, toCore: 0, code: 0 };
  let slowestMs = 0;
  for (let at = 0; at < cases && failures.length < 20; at++) {
    const own = seed + at;
    const random = new Random(own);
    const isSource = at % (core === undefined ? 2 : 8) === 0;
    const text = isSource ? mutateSource(random, sources, words) : "";
    const mutate = core === undefined ? mutateModule : mutateOperand;
    const module = isSource ? new Uint32Array(0) : mutate(random, modules);
    const fail = (what: string): void => {
      const input = isSource ? text : [...module].map((word) => word.toString(16)).join(" ");
      failures.push({ seed: own, what, input });
    };
    const toCore = (valid: Uint32Array): void => {
      if (core === undefined) return;
      accepted.toCore++;
      const spirv = new Uint8Array(valid.buffer, valid.byteOffset, valid.byteLength);
      if (compileShader({ ...defaultRequest, language: "spirv", spirv }, core).ok) accepted.code++;
    };
    const started = process.cpuUsage();
    try {
      if (isSource) {
        const { stage } = random.pick(shaders);
        const dialect = random.below(4) === 0 ? "relaxed" : "vulkan";
        const result = compileGlsl({ source: text, filename: "fuzz", stage, dialect });
        if (result.ok) {
          accepted.sources++;
          const problem = problemOf(result.words);
          if (problem !== undefined) fail(`invalid module: ${problem}`);
          else toCore(result.words);
        } else if (!result.diagnostics.some(({ severity }) => severity === "error")) fail("rejected without an error");
      } else if (problemOf(module) === undefined) {
        accepted.modules++;
        toCore(module);
      }
    } catch (error) {
      fail(String(error instanceof Error ? error.stack : error).slice(0, 600));
    }
    const used = process.cpuUsage(started);
    const ms = (used.user + used.system) / 1000;
    slowestMs = Math.max(slowestMs, ms);
    if (ms > TIME_LIMIT_MS) fail(`took ${Math.round(ms)} ms`);
  }
  // what serves compile after compile must not keep anything of those between
  for (const [at, { source, stage }] of shaders.entries()) {
    const again = compileGlsl({ source, filename: "fuzz", stage, debugInfo: core === undefined });
    const before = compiled[at];
    const same = before?.ok === again.ok && (!again.ok || !before.ok || again.words.join() === before.words.join());
    if (!same)
      failures.push({ seed, what: `compiles otherwise after the ${cases} inputs from this seed`, input: source });
  }
  const { sources: sourcesAccepted, modules: modulesAccepted, toCore, code } = accepted;
  return { cases, sourcesAccepted, modulesAccepted, toCore, coreAccepted: code, slowestMs, failures };
}

/** The first thing wrong with a module; undefined where it is good. */
function problemOf(words: Uint32Array): string | undefined {
  const read = readModule(words);
  const diagnostics = read.ok ? validateModule(read.module) : read.diagnostics;
  return diagnostics[0] === undefined ? undefined : `${diagnostics[0].code}: ${diagnostics[0].message}`;
}
