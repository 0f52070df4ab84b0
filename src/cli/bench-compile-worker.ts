/**
 * The measuring half of `kiln bench compile`: a worker thread with the limits of the service's compile workers, which is
 * where the product compiles. Nothing is measured before many rounds over all shaders have gone by: the code that runs
 * is then the code that a service runs.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { CompileRequest } from "../codeobj/index.ts";
import { type PhaseName, phaseNames } from "../compile/index.ts";
import { createLocalCompiler, type LocalCompiler } from "../service/index.ts";

export interface CompileSubject {
  readonly id: string;
  /** As it came: GLSL text to code object. Absent where it came as words. */
  readonly text?: CompileRequest;
  /** The same as words; absent: take those that the text compiles to. */
  readonly words?: CompileRequest;
}

export interface CompileTask {
  readonly subjects: readonly CompileSubject[];
  readonly warmRounds: number;
  readonly rounds: number;
}

/** Microseconds of one shader: wall time of this thread, each the least over the rounds. */
export interface CompileTimes {
  readonly id: string;
  readonly glslUs: number | undefined;
  /** Without validation. */
  readonly spirvUs: number;
  readonly validateUs: number;
  /** The core at level 2, with what it is given and gives back; its passes by themselves. */
  readonly coreUs: number;
  readonly passes: Readonly<Record<string, number>>;
  readonly coreUsLevel0: number;
  readonly irInstructions: number;
  /** Of a compile from words, and of one from text. */
  readonly phases: Readonly<Record<PhaseName, number>>;
  readonly textPhases: Readonly<Record<PhaseName, number>> | undefined;
}

export interface CompileTimesOfAll {
  readonly rows: readonly CompileTimes[];
  /**
   * CPU microseconds of the process in its cheapest round over all shaders, collector and compiler threads included;
   * from words without validation's share.
   */
  readonly roundGlslUs: number;
  readonly roundSpirvUs: number;
}

/** Compiles with a report of each pass. */
const reportRounds = 5;

const cpuUs = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
const wallUs = (): number => performance.now() * 1000;

/** Each number of `found` where `kept` has none or a larger one. */
function keepLeast(kept: Record<string, number>, found: Readonly<Record<string, number>>): void {
  for (const name in found) kept[name] = Math.min(kept[name] ?? Number.POSITIVE_INFINITY, found[name]!);
}

interface Kept {
  readonly id: string;
  readonly text: CompileRequest | undefined;
  readonly words: CompileRequest;
  glslUs: number;
  spirvUs: number;
  readonly phases: Record<string, number>;
  readonly textPhases: Record<string, number>;
}

/** The shaders that compile both ways. */
async function prepare(compiler: LocalCompiler, subjects: readonly CompileSubject[]): Promise<Kept[]> {
  const kept: Kept[] = [];
  for (const { id, text, words } of subjects) {
    const own = text === undefined ? undefined : await compiler.compileWithReports(text);
    if (own?.ok === false) continue;
    let from = words;
    if (from === undefined && own?.reports !== undefined) {
      const { buffer, byteOffset, byteLength } = own.reports.spirv;
      from = { ...(text as CompileRequest), language: "spirv", spirv: new Uint8Array(buffer, byteOffset, byteLength) };
    }
    if (from === undefined || !(await compiler.compile(from)).ok) continue;
    const least = { glslUs: Number.POSITIVE_INFINITY, spirvUs: Number.POSITIVE_INFINITY };
    kept.push({ id, text, words: from, ...least, phases: {}, textPhases: {} });
  }
  return kept;
}

/** One round from text: CPU microseconds of the whole. */
async function textRound(compiler: LocalCompiler, all: readonly Kept[]): Promise<number> {
  const start = cpuUs();
  for (const row of all) {
    if (row.text === undefined) continue;
    const begun = wallUs();
    const { reports } = await compiler.compileWithReports(row.text);
    row.glslUs = Math.min(row.glslUs, wallUs() - begun);
    if (reports?.phases !== undefined) keepLeast(row.textPhases, reports.phases);
  }
  return cpuUs() - start;
}

/** One round from words: CPU microseconds of the whole, less the part of the time that validation took. */
async function wordsRound(compiler: LocalCompiler, all: readonly Kept[]): Promise<number> {
  const start = cpuUs();
  const wallStart = wallUs();
  let validation = 0;
  for (const row of all) {
    const begun = wallUs();
    const { reports } = await compiler.compileWithReports(row.words);
    const took = wallUs() - begun;
    const validate = reports?.phases?.validate ?? 0;
    row.spirvUs = Math.min(row.spirvUs, took - validate);
    validation += validate;
    if (reports?.phases !== undefined) keepLeast(row.phases, reports.phases);
  }
  const cpu = cpuUs() - start;
  return cpu * (1 - validation / (wallUs() - wallStart));
}

/**
 * The core of compiles from words: the least of some rounds. Its whole from compiles as a service's, without a clock
 * inside; its passes, and the instructions lifted, from others that report them.
 */
async function coreOf(compiler: LocalCompiler, words: CompileRequest, optimization: 0 | 2, rounds: number) {
  const passes: Record<string, number> = {};
  let us = Number.POSITIVE_INFINITY;
  let instructions = 0;
  const request = { ...words, options: { ...words.options, optimization } };
  for (let round = 0; round < rounds; round++) {
    const { reports } = await compiler.compileWithReports(request);
    us = Math.min(us, reports?.phases?.core ?? us);
  }
  for (let round = 0; round < reportRounds; round++) {
    const outcome = await compiler.compileWithReports(request, []);
    if (!outcome.ok || outcome.reports === undefined) continue;
    const inRound: Record<string, number> = {};
    for (const { name, microseconds } of outcome.reports.passes) inRound[name] = (inRound[name] ?? 0) + microseconds;
    instructions = outcome.reports.passes[0]?.instructions ?? 0;
    keepLeast(passes, inRound);
  }
  return { us, instructions, passes };
}

const phasesOf = (found: Readonly<Record<string, number>>) =>
  Object.fromEntries(phaseNames.map((name) => [name, found[name] ?? 0])) as Record<PhaseName, number>;

async function measure({ subjects, warmRounds, rounds }: CompileTask): Promise<CompileTimesOfAll> {
  const compiler = createLocalCompiler();
  const all = await prepare(compiler, subjects);
  for (let round = 0; round < warmRounds; round++) {
    await textRound(compiler, all);
    await wordsRound(compiler, all);
  }
  let roundGlslUs = Number.POSITIVE_INFINITY;
  let roundSpirvUs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) roundGlslUs = Math.min(roundGlslUs, await textRound(compiler, all));
  for (let round = 0; round < rounds; round++) roundSpirvUs = Math.min(roundSpirvUs, await wordsRound(compiler, all));
  const rows: CompileTimes[] = [];
  // What level 0 alone runs has not run yet.
  for (const row of all) await coreOf(compiler, row.words, 0, reportRounds);
  for (const row of all) {
    const best = await coreOf(compiler, row.words, 2, rounds);
    const fast = await coreOf(compiler, row.words, 0, rounds);
    rows.push({
      id: row.id,
      glslUs: row.text === undefined ? undefined : row.glslUs,
      spirvUs: row.spirvUs,
      validateUs: row.phases.validate ?? 0,
      coreUs: best.us,
      passes: best.passes,
      coreUsLevel0: fast.us,
      irInstructions: best.instructions,
      phases: phasesOf(row.phases),
      textPhases: row.text === undefined ? undefined : phasesOf(row.textPhases),
    });
  }
  return { rows, roundGlslUs, roundSpirvUs };
}

measure(workerData as CompileTask).then((times) => parentPort?.postMessage(times));
