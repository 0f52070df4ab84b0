import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { distFile, packageRoot } from "../base/index.ts";
import type { CompileRequest } from "../codeobj/index.ts";
import { compileWorkerLimits } from "../service/index.ts";
import { geomean } from "./bench-codegen.ts";
import type { CompileSubject, CompileTask, CompileTimes, CompileTimesOfAll } from "./bench-compile-worker.ts";
import { type BenchShader, type BenchStage, benchStages } from "./bench-corpus.ts";
import { type ModuleFigures, moduleFigures } from "./bench-module.ts";
import type { Peers } from "./bench-peers.ts";

/** One shader: microseconds of ours, each the least of the rounds, and CPU microseconds of the peers. */
interface CompileRow extends CompileTimes {
  readonly stage: BenchStage;
  readonly sourceBytes: number;
  readonly peerUs: number | undefined;
  readonly peerFrontUs: number | undefined;
}

/** The peers' time over ours: of the shaders' least times by their totals and by geometric mean, and of whole rounds. */
export interface Speedup {
  readonly shaders: number;
  /** Microseconds of these shaders. */
  readonly oursMedian: number | undefined;
  readonly peersMedian: number | undefined;
  readonly totals: number | undefined;
  readonly geomean: number | undefined;
  /** Ours: CPU time of the process in the cheapest round over all shaders, collector and compiler threads included. */
  readonly round: number | undefined;
}

/** Of all shaders or of one stage's. */
export interface CompileFigures {
  readonly shaders: number;
  /** Peers: glslang and the driver. */
  readonly glslToIsa: Speedup;
  /** Peer: the driver. Ours without validation. */
  readonly spirvToIsa: Speedup;
  readonly roundGlslUs: number;
  readonly roundSpirvUs: number;
  readonly validateShare: number;
  readonly nsPerIrInstruction: number;
  readonly nsPerIrInstructionLevel0: number;
}

/** Wall seconds of a command in a new process. */
export interface ColdTime {
  readonly least: number;
  readonly median: number;
}

export interface CompileBenchResult extends CompileFigures {
  readonly stages: Readonly<Partial<Record<BenchStage, CompileFigures>>>;
  /** GLSL text to SPIR-V, MB of text a second. */
  readonly frontEndMBps: number | undefined;
  /** `kiln compile` of one small shader, and glslangValidator on it, one after the other in turn. */
  readonly cold: ColdTime | undefined;
  readonly coldGlslang: ColdTime | undefined;
  /** `node` with nothing to do, in the same turns: what is not ours of a cold command. */
  readonly coldNode: ColdTime | undefined;
  readonly module: ModuleFigures;
  readonly rows: readonly CompileRow[];
}

const warmRounds = 40;
const warmCompiles = 8000;
export const rounds = 20;
export const coldRuns = 20;

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] as number;

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
  const { id, stage, request } = shader;
  const pipeline = peers?.pipelines.get(id);
  const asked: CompileRequest = { ...request, ...(pipeline !== undefined && { pipeline }) };
  const spirv = peers?.words.get(id) ?? request.spirv;
  return {
    id,
    stage,
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
  const times = await measure({
    subjects: shaders.map((shader) => subjectOf(shader, peers)),
    warmRounds,
    warmCompiles,
    rounds,
  });
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
  const texts = rows.flatMap(({ textPhases, sourceBytes }) =>
    textPhases === undefined ? [] : [{ us: textPhases.frontEnd, sourceBytes }],
  );
  const ofStage = (stage: BenchStage) => {
    const own = rows.filter((row) => row.stage === stage);
    return own.length === 0 ? [] : [[stage, figures(own, times, [stage])]];
  };
  return {
    ...figures(rows, times, benchStages),
    stages: Object.fromEntries(benchStages.flatMap(ofStage)),
    frontEndMBps:
      texts.length === 0
        ? undefined
        : sum(texts.map(({ sourceBytes }) => sourceBytes)) / sum(texts.map(({ us }) => us)),
    ...cold(),
    module: moduleFigures(),
    rows,
  };
}

function figures(
  rows: readonly CompileRow[],
  { roundGlsl, roundSpirv }: CompileTimesOfAll,
  stages: readonly BenchStage[],
): CompileFigures {
  const roundGlslUs = sum(stages.map((stage) => roundGlsl[stage] ?? 0));
  const roundSpirvUs = sum(stages.map((stage) => roundSpirv[stage] ?? 0));
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
    nsPerIrInstruction: (1000 * sum(rows.map(({ coreUs }) => coreUs))) / instructions,
    nsPerIrInstructionLevel0: (1000 * sum(rows.map(({ coreUsLevel0 }) => coreUsLevel0))) / instructions,
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
  if (pairs.length === 0) {
    const none = undefined;
    return { shaders: 0, oursMedian: none, peersMedian: none, totals: none, geomean: none, round: none };
  }
  const ours = sum(pairs.map((pair) => pair.ours));
  const peers = sum(pairs.map(({ peer }) => peer));
  const share = ours / sum(all.map((pair) => pair.ours ?? 0));
  return {
    shaders: pairs.length,
    oursMedian: median(pairs.map((pair) => pair.ours)),
    peersMedian: median(pairs.map(({ peer }) => peer)),
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
    const [ours, glslang, node] = coldTimes([
      [distFile("kiln.cjs"), ["compile", file, "-o", join(folder, "out.elf")]],
      ["glslangValidator", ["-V", "-o", join(folder, "out.spv"), file]],
      [process.execPath, ["-e", "0"]],
    ]);
    return { cold: ours, coldGlslang: glslang, coldNode: node };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
