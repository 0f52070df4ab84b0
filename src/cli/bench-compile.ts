import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { distFile, packageRoot } from "../base/index.ts";
import type { CompileRequest } from "../codeobj/index.ts";
import { phaseNames } from "../compile/index.ts";
import { compileWorkerLimits } from "../service/index.ts";
import { geomean } from "./bench-codegen.ts";
import type { CompileSubject, CompileTask, CompileTimes, CompileTimesOfAll } from "./bench-compile-worker.ts";
import type { BenchShader, BenchStage } from "./bench-corpus.ts";
import type { Peers } from "./bench-peers.ts";

/** One shader: microseconds of ours, each the least of the rounds, and CPU microseconds of the peers. */
interface CompileRow extends CompileTimes {
  readonly stage: BenchStage;
  readonly sourceBytes: number;
  readonly peerUs: number | undefined;
  readonly peerFrontUs: number | undefined;
}

/** The peers' time over ours: of the shaders' least times by their totals and by geometric mean, and of whole rounds. */
interface Speedup {
  readonly shaders: number;
  readonly totals: number | undefined;
  readonly geomean: number | undefined;
  /** Ours: CPU time of the process in the cheapest round over all shaders, collector and compiler threads included. */
  readonly round: number | undefined;
}

/** Wall seconds of a command in a new process. */
interface ColdTime {
  readonly least: number;
  readonly median: number;
}

export interface CompileBenchResult {
  readonly shaders: number;
  /** Peers: glslang and the driver. */
  readonly glslToIsa: Speedup;
  /** Peer: the driver. Ours without validation. */
  readonly spirvToIsa: Speedup;
  readonly roundGlslUs: number;
  readonly roundSpirvUs: number;
  readonly validateShare: number;
  /** GLSL text to SPIR-V, MB of text a second. */
  readonly frontEndMBps: number | undefined;
  readonly nsPerIrInstruction: number;
  readonly nsPerIrInstructionLevel0: number;
  /** `kiln compile` of one small shader, and glslangValidator on it, one after the other in turn. */
  readonly cold: ColdTime | undefined;
  readonly coldGlslang: ColdTime | undefined;
  readonly rows: readonly CompileRow[];
}

const warmRounds = 40;
const rounds = 20;
const coldRuns = 20;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] as number;

function measure(task: CompileTask): Promise<CompileTimesOfAll> {
  return new Promise((done, failed) => {
    const worker = new Worker(distFile("bench-worker.js"), {
      workerData: task,
      resourceLimits: compileWorkerLimits(512),
    });
    worker.once("message", done);
    worker.once("error", failed);
    worker.once("exit", (code) => failed(new Error(`the worker ended with ${code} before it had measured`)));
  });
}

function subjectOf(shader: BenchShader, peers: Peers | undefined): CompileSubject {
  const { id, request } = shader;
  const pipeline = peers?.pipelines.get(id);
  const asked: CompileRequest = { ...request, ...(pipeline !== undefined && { pipeline }) };
  const spirv = peers?.words.get(id) ?? request.spirv;
  return {
    id,
    ...(request.language === "glsl" && { text: asked }),
    ...(spirv !== undefined && { words: { ...asked, language: "spirv", spirv } }),
    ...(request.language === "spirv-asm" && spirv === undefined && { words: asked }),
  };
}

/** Compiles every shader warm in a thread as the service's; with peers beside their CPU times of the same run. */
export async function benchCompile(
  shaders: readonly BenchShader[],
  peers: Peers | undefined,
): Promise<CompileBenchResult> {
  const times = await measure({ subjects: shaders.map((shader) => subjectOf(shader, peers)), warmRounds, rounds });
  const byId = new Map(shaders.map((shader) => [shader.id, shader]));
  const rows = times.rows.map((row): CompileRow => {
    const { stage, request } = byId.get(row.id) as BenchShader;
    return {
      ...row,
      stage,
      sourceBytes: request.source?.length ?? 0,
      peerUs: peers?.radv.get(row.id)?.cpuUs,
      peerFrontUs: peers?.glslang.get(row.id),
    };
  });
  const { roundGlslUs, roundSpirvUs } = times;
  const texts = rows.flatMap(({ textPhases, sourceBytes }) =>
    textPhases === undefined ? [] : [{ us: textPhases.frontEnd, sourceBytes }],
  );
  const instructions = sum(rows.map(({ irInstructions }) => irInstructions));
  return {
    shaders: rows.length,
    glslToIsa: speedup(
      rows.map(({ glslUs, peerUs, peerFrontUs }) => ({ ours: glslUs, peer: plus(peerUs, peerFrontUs) })),
      roundGlslUs,
    ),
    spirvToIsa: speedup(
      rows.map(({ spirvUs, peerUs }) => ({ ours: spirvUs, peer: peerUs })),
      roundSpirvUs,
    ),
    roundGlslUs,
    roundSpirvUs,
    validateShare: sum(rows.map(({ validateUs }) => validateUs)) / sum(rows.map((row) => row.spirvUs + row.validateUs)),
    frontEndMBps:
      texts.length === 0
        ? undefined
        : sum(texts.map(({ sourceBytes }) => sourceBytes)) / sum(texts.map(({ us }) => us)),
    nsPerIrInstruction: (1000 * sum(rows.map(({ coreUs }) => coreUs))) / instructions,
    nsPerIrInstructionLevel0: (1000 * sum(rows.map(({ coreUsLevel0 }) => coreUsLevel0))) / instructions,
    ...cold(),
    rows,
  };
}

const plus = (a: number | undefined, b: number | undefined) => (a === undefined || b === undefined ? undefined : a + b);

interface Pair {
  readonly ours: number | undefined;
  readonly peer: number | undefined;
}

/** Over the shaders that have both. The round's time is shared out by the shaders' own times. */
function speedup(all: readonly Pair[], roundUs: number): Speedup {
  const pairs = all.flatMap(({ ours, peer }) => (ours === undefined || peer === undefined ? [] : [{ ours, peer }]));
  if (pairs.length === 0) return { shaders: 0, totals: undefined, geomean: undefined, round: undefined };
  const ours = sum(pairs.map((pair) => pair.ours));
  const peers = sum(pairs.map(({ peer }) => peer));
  const share = ours / sum(all.map((pair) => pair.ours ?? 0));
  return {
    shaders: pairs.length,
    totals: peers / ours,
    geomean: geomean(pairs.map((pair) => pair.peer / pair.ours)),
    round: peers / (roundUs * share),
  };
}

/** Runs commands in turn; undefined where one cannot be started or fails. */
function coldTimes(commands: readonly (readonly [string, readonly string[]])[]): (ColdTime | undefined)[] {
  const seconds = commands.map((): number[] | undefined => []);
  for (let run = 0; run < coldRuns; run++) {
    for (const [k, [command, args]] of commands.entries()) {
      const start = performance.now();
      const { status } = spawnSync(command, args, { stdio: "ignore" });
      if (status === 0) seconds[k]?.push((performance.now() - start) / 1000);
      else seconds[k] = undefined;
    }
  }
  return seconds.map((list) => list && { least: Math.min(...list), median: median(list) });
}

function cold() {
  const folder = mkdtempSync(join(tmpdir(), "kiln-bench-"));
  try {
    const file = join(packageRoot(), "examples/kernels/saxpy.comp");
    const kiln = [distFile("kiln.cjs"), "compile", file, "-o", join(folder, "out.elf")];
    const [ours, glslang] = coldTimes([
      [process.execPath, kiln],
      ["glslangValidator", ["-V", "-o", join(folder, "out.spv"), file]],
    ]);
    return { cold: ours, coldGlslang: glslang };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const fixed = (value: number | undefined, digits = 2) => value?.toFixed(digits) ?? "not measured";

function speedupText({ shaders, totals, geomean: mean, round }: Speedup): string {
  if (shaders === 0) return "no peer";
  return `peers over ours (${shaders} shaders) ${fixed(totals)} of the totals, ${fixed(mean)} geometric mean, ${fixed(round)} of whole rounds`;
}

function coldText(time: ColdTime | undefined): string {
  return time === undefined ? "not measured" : `${fixed(time.least, 3)} s (median ${fixed(time.median, 3)})`;
}

/** The table that `kiln bench compile` prints. */
export function compileTable(result: CompileBenchResult): string {
  const { rows } = result;
  const part = (name: string, values: readonly number[]) =>
    `    ${name.padEnd(22)} median ${fixed(median(values), 0).padStart(6)} us  sum ${fixed(sum(values) / 1000, 1).padStart(8)} ms`;
  const texts = rows.flatMap(({ textPhases }) => (textPhases === undefined ? [] : [textPhases]));
  const phases = (list: readonly CompileTimes["phases"][]) =>
    list.length === 0
      ? []
      : phaseNames
          .map((name) => ({ name, values: list.map((each) => each[name]) }))
          .filter(({ values }) => sum(values) > 0)
          .map(({ name, values }) => part(name, values));
  const passNames = [...new Set(rows.flatMap((row) => Object.keys(row.passes)))];
  const passes = passNames
    .map((name) => ({ name, values: rows.map((row) => row.passes[name] ?? 0) }))
    .sort((a, b) => sum(b.values) - sum(a.values))
    .map(({ name, values }) => part(name, values));
  const glsl = rows.flatMap((row) => row.glslUs ?? []);
  const round = (us: number, count: number) =>
    count === 0 ? "" : `, whole rounds ${fixed(us / count, 0)} us a shader`;
  return [
    `compile, ${result.shaders} shaders, warm, one thread as the service's; a shader's time is its least of ${rounds} rounds`,
    `  GLSL to code    median ${fixed(glsl.length === 0 ? undefined : median(glsl), 0)} us${round(result.roundGlslUs, glsl.length)}`,
    `                  ${speedupText(result.glslToIsa)}`,
    `  SPIR-V to code  median ${fixed(median(rows.map((row) => row.spirvUs)), 0)} us without validation (its share ${fixed(result.validateShare)})${round(result.roundSpirvUs, rows.length)}`,
    `                  ${speedupText(result.spirvToIsa)}`,
    "  parts of GLSL to code",
    ...phases(texts),
    "  parts of SPIR-V to code",
    ...phases(rows.map((row) => row.phases)),
    "  passes of the core at level 2",
    ...passes,
    `  front end       ${fixed(result.frontEndMBps)} MB of text a second`,
    `  core            ${fixed(result.nsPerIrInstruction, 0)} ns an IR instruction at level 2, ${fixed(result.nsPerIrInstructionLevel0, 0)} at level 0`,
    `  cold command    ${coldText(result.cold)}, glslangValidator ${coldText(result.coldGlslang)}; ${coldRuns} runs in turn`,
  ].join("\n");
}
