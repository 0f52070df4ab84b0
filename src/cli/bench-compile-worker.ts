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
  readonly stage: string;
  /** As it came: GLSL text to code object. Absent where it came as words. */
  readonly text?: CompileRequest;
  /** The same as words; absent: take those that the text compiles to. */
  readonly words?: CompileRequest;
}

export interface CompileTask {
  readonly subjects: readonly CompileSubject[];
  /** Rounds before anything is measured, and compiles each way that they come to at least. */
  readonly warmRounds: number;
  readonly warmCompiles: number;
  readonly rounds: number;
}

/**
 * Microseconds of one shader, each the least over the rounds. `glslUs`, `spirvUs`: CPU time of this thread, as far as it
 * can be told: no more than the wall time, which counts other processes' turns, nor than the process's CPU time, which
 * counts its other threads. Parts and passes: wall time.
 */
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
  readonly roundGlsl: RoundUs;
  /** Without validation's share. */
  readonly roundSpirv: RoundUs;
}

/**
 * CPU microseconds of the process in its cheapest round over all shaders, collector and compiler threads included, by
 * stage: what each stage took of that one round.
 */
export type RoundUs = Readonly<Record<string, number>>;

/** Compiles with a report of each pass. */
const reportRounds = 5;

const cpuUs = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
const wallUs = (): number => performance.now() * 1000;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Each number of `found` where `kept` has none or a larger one. */
function keepLeast(kept: Record<string, number>, found: Readonly<Record<string, number>>): void {
  for (const name in found) kept[name] = Math.min(kept[name] ?? Number.POSITIVE_INFINITY, found[name]!);
}

interface Kept {
  readonly id: string;
  readonly stage: string;
  readonly text: CompileRequest | undefined;
  readonly words: CompileRequest;
  glslUs: number;
  spirvUs: number;
  /** CPU time of the process, validation included. */
  wordsCpuUs: number;
  readonly phases: Record<string, number>;
  readonly textPhases: Record<string, number>;
}

/** The shaders that compile both ways. */
async function prepare(compiler: LocalCompiler, subjects: readonly CompileSubject[]): Promise<Kept[]> {
  const kept: Kept[] = [];
  for (const { id, stage, text, words } of subjects) {
    const own = text === undefined ? undefined : await compiler.compileWithReports(text);
    if (own?.ok === false) continue;
    let from = words;
    if (from === undefined && own?.reports !== undefined) {
      const { buffer, byteOffset, byteLength } = own.reports.spirv;
      from = { ...(text as CompileRequest), language: "spirv", spirv: new Uint8Array(buffer, byteOffset, byteLength) };
    }
    if (from === undefined || !(await compiler.compile(from)).ok) continue;
    const none = Number.POSITIVE_INFINITY;
    const least = { glslUs: none, spirvUs: none, wordsCpuUs: none };
    kept.push({ id, stage, text, words: from, ...least, phases: {}, textPhases: {} });
  }
  return kept;
}

/** One round from text: CPU microseconds of the whole by stage. */
async function textRound(compiler: LocalCompiler, all: readonly Kept[]): Promise<RoundUs> {
  const round: Record<string, number> = {};
  for (const row of all) {
    if (row.text === undefined) continue;
    const cpuBegun = cpuUs();
    const begun = wallUs();
    const { reports } = await compiler.compileWithReports(row.text);
    const wall = wallUs() - begun;
    if (reports?.phases !== undefined) keepLeast(row.textPhases, reports.phases);
    const cpu = cpuUs() - cpuBegun;
    row.glslUs = Math.min(row.glslUs, wall, cpu);
    round[row.stage] = (round[row.stage] ?? 0) + cpu;
  }
  return round;
}

/** One round from words: CPU microseconds of the whole by stage, less the part of its time that validation took. */
async function wordsRound(compiler: LocalCompiler, all: readonly Kept[]): Promise<RoundUs> {
  const stages: Record<string, { cpu: number; wall: number; validate: number }> = {};
  for (const row of all) {
    const cpuBegun = cpuUs();
    const begun = wallUs();
    const { reports } = await compiler.compileWithReports(row.words);
    const wall = wallUs() - begun;
    if (reports?.phases !== undefined) keepLeast(row.phases, reports.phases);
    const validate = reports?.phases?.validate ?? 0;
    const cpu = cpuUs() - cpuBegun;
    row.spirvUs = Math.min(row.spirvUs, wall - validate);
    row.wordsCpuUs = Math.min(row.wordsCpuUs, cpu);
    stages[row.stage] ??= { cpu: 0, wall: 0, validate: 0 };
    const total = stages[row.stage]!;
    total.cpu += cpu;
    total.wall += wall;
    total.validate += validate;
  }
  return Object.fromEntries(
    Object.entries(stages).map(([stage, { cpu, wall, validate }]) => [stage, cpu * (1 - validate / wall)]),
  );
}

async function cheapest(rounds: number, run: () => Promise<RoundUs>): Promise<RoundUs> {
  let least = await run();
  for (let round = 1; round < rounds; round++) {
    const found = await run();
    if (sum(Object.values(found)) < sum(Object.values(least))) least = found;
  }
  return least;
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

async function measure({ subjects, warmRounds, warmCompiles, rounds }: CompileTask): Promise<CompileTimesOfAll> {
  const compiler = createLocalCompiler();
  const all = await prepare(compiler, subjects);
  // few shaders need more rounds until all that they run is optimised
  const warm = Math.max(warmRounds, Math.ceil(warmCompiles / all.length));
  for (let round = 0; round < warm; round++) {
    await textRound(compiler, all);
    await wordsRound(compiler, all);
  }
  const roundGlsl = await cheapest(rounds, () => textRound(compiler, all));
  const roundSpirv = await cheapest(rounds, () => wordsRound(compiler, all));
  const rows: CompileTimes[] = [];
  // What level 0 alone runs has not run yet.
  for (const row of all) await coreOf(compiler, row.words, 0, reportRounds);
  for (const row of all) {
    const best = await coreOf(compiler, row.words, 2, rounds);
    const fast = await coreOf(compiler, row.words, 0, rounds);
    const validateUs = row.phases.validate ?? 0;
    rows.push({
      id: row.id,
      glslUs: row.text === undefined ? undefined : row.glslUs,
      // a validation's CPU time is not known, but it is no less than the least wall time of any
      spirvUs: Math.min(row.spirvUs, row.wordsCpuUs - validateUs),
      validateUs,
      coreUs: best.us,
      passes: best.passes,
      coreUsLevel0: fast.us,
      irInstructions: best.instructions,
      phases: phasesOf(row.phases),
      textPhases: row.text === undefined ? undefined : phasesOf(row.textPhases),
    });
  }
  return { rows, roundGlsl, roundSpirv };
}

measure(workerData as CompileTask).then((times) => parentPort?.postMessage(times));
