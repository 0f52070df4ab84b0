import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packageRoot } from "../base/index.ts";
import type { CompileRequest } from "../codeobj/index.ts";
import { type PhaseName, phaseNames } from "../compile/index.ts";
import { createLocalCompiler } from "../service/index.ts";
import { readModule, validateModule } from "../spirv/index.ts";
import { geomean } from "./bench-codegen.ts";
import type { BenchShader } from "./bench-corpus.ts";
import type { Peers } from "./bench-peers.ts";

/** CPU microseconds of one shader, warm, one thread, the least of several. */
interface CompileRow {
  readonly id: string;
  /** GLSL text to code object; undefined for a shader that came as words. */
  readonly glslUs: number | undefined;
  /** SPIR-V words to code object, validation left out. */
  readonly spirvUs: number;
  readonly validateUs: number;
  /** The core alone: wall time of one compile. */
  readonly coreUs: number;
  /** Wall microseconds of each part of a compile from words, of passes of the core too; the least of several. */
  readonly phases: Readonly<Record<PhaseName, number>>;
  readonly passes: Readonly<Record<string, number>>;
  /** Instructions of the IR as lifted. */
  readonly irInstructions: number;
  readonly sourceBytes: number;
  readonly peerUs: number | undefined;
  readonly peerFrontUs: number | undefined;
}

export interface CompileBenchResult {
  readonly shaders: number;
  /** Total CPU time of glslang and the driver over ours, shaders that both sides compile. */
  readonly glslToIsaSpeedup: number | undefined;
  /** Total CPU time of the driver over ours without validation. */
  readonly spirvToIsaSpeedup: number | undefined;
  readonly glslToIsaSpeedupGeomean: number | undefined;
  readonly spirvToIsaSpeedupGeomean: number | undefined;
  readonly validateShare: number;
  /** GLSL text to code object without the part that starts at SPIR-V, MB of text a CPU second. */
  readonly frontEndMBps: number | undefined;
  readonly nsPerIrInstruction: number;
  readonly nsPerIrInstructionLevel0: number;
  /** Wall seconds of `kiln compile` of one small shader in a new process, and of glslangValidator on it. */
  readonly coldCliSeconds: number;
  readonly coldGlslangSeconds: number | undefined;
  readonly rows: readonly CompileRow[];
}

const rounds = 5;

const cpuUs = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** Least CPU microseconds of one call over the rounds; short calls are repeated so that the clock can see them. */
async function least(call: () => unknown): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const start = cpuUs();
    let calls = 0;
    do {
      await call();
      calls++;
    } while (cpuUs() - start < 2000 && calls < 50);
    best = Math.min(best, (cpuUs() - start) / calls);
  }
  return best;
}

/** Least wall seconds of a command of three runs; undefined when it cannot be started or fails. */
function coldSeconds(command: string, args: readonly string[]): number | undefined {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3; run++) {
    const start = performance.now();
    if (spawnSync(command, args, { stdio: "ignore" }).status !== 0) return undefined;
    best = Math.min(best, (performance.now() - start) / 1000);
  }
  return best;
}

/** Each number of `found` where `kept` has none or a larger one. */
function keepLeast(kept: Record<string, number>, found: Readonly<Record<string, number>>): void {
  for (const [name, us] of Object.entries(found)) kept[name] = Math.min(kept[name] ?? Number.POSITIVE_INFINITY, us);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Compiles every shader warm in this thread; with peers beside their CPU times of the same run. */
export async function benchCompile(
  shaders: readonly BenchShader[],
  peers: Peers | undefined,
): Promise<CompileBenchResult> {
  const compiler = createLocalCompiler();
  const rows: CompileRow[] = [];
  let core0Us = 0;
  let ir0 = 0;
  const subjects: { shader: BenchShader; fromWords: CompileRequest }[] = [];
  for (const shader of shaders) {
    const own = await compiler.compileWithReports(shader.request);
    if (!own.ok || own.reports === undefined) continue;
    const given = peers?.words.get(shader.id);
    const { buffer, byteOffset, byteLength } = own.reports.spirv;
    const words = given ?? new Uint8Array(buffer, byteOffset, byteLength);
    const fromWords: CompileRequest = { ...shader.request, language: "spirv", spirv: words };
    if ((await compiler.compile(fromWords)).ok) subjects.push({ shader, fromWords });
  }
  for (const { shader, fromWords } of subjects) {
    const isText = shader.request.language === "glsl";
    const glslUs = isText ? await least(() => compiler.compile(shader.request)) : undefined;
    const wholeUs = await least(() => compiler.compile(fromWords));
    const read = readModule(fromWords.spirv ?? new Uint8Array(), { file: shader.file });
    const validateUs = await least(() => {
      if (read.ok) validateModule(read.module, { entryPoint: "main", stage: "compute" });
    });
    const timed = async (optimization: 0 | 2) => {
      let us = Number.POSITIVE_INFINITY;
      let instructions = 0;
      const parts: Record<string, number> = {};
      for (let round = 0; round < rounds; round++) {
        const options = { ...fromWords.options, optimization };
        const outcome = await compiler.compileWithReports({ ...fromWords, options }, []);
        if (!outcome.ok || outcome.reports === undefined) continue;
        const { passes } = outcome.reports;
        us = Math.min(us, sum(passes.map(({ microseconds }) => microseconds)));
        instructions = passes[0]?.instructions ?? 0;
        const inRound: Record<string, number> = {};
        for (const { name, microseconds } of passes) inRound[name] = (inRound[name] ?? 0) + microseconds;
        keepLeast(parts, inRound);
      }
      return { us, instructions, parts };
    };
    const best = await timed(2);
    const fast = await timed(0);
    const phases = { frontEnd: 0, read: 0, validate: 0, reflect: 0, core: 0, record: 0 };
    for (let round = 0; round < rounds; round++) {
      const outcome = await compiler.compileWithReports(fromWords);
      const found = outcome.ok ? outcome.reports?.phases : undefined;
      if (found === undefined) continue;
      if (round === 0) Object.assign(phases, found);
      else keepLeast(phases, found);
    }
    core0Us += fast.us;
    ir0 += fast.instructions;
    rows.push({
      id: shader.id,
      glslUs,
      spirvUs: wholeUs - validateUs,
      validateUs,
      coreUs: best.us,
      phases,
      passes: best.parts,
      irInstructions: best.instructions,
      sourceBytes: shader.request.source?.length ?? 0,
      peerUs: peers?.radv.get(shader.id)?.cpuUs,
      peerFrontUs: peers?.glslang.get(shader.id),
    });
  }
  return { ...summary(rows), nsPerIrInstructionLevel0: (1000 * core0Us) / Math.max(ir0, 1), ...cold() };
}

function summary(rows: readonly CompileRow[]) {
  const spirv = rows.flatMap(({ spirvUs, peerUs }) => (peerUs === undefined ? [] : [{ ours: spirvUs, peer: peerUs }]));
  const glsl = rows.flatMap(({ glslUs, peerUs, peerFrontUs }) =>
    glslUs === undefined || peerUs === undefined || peerFrontUs === undefined
      ? []
      : [{ ours: glslUs, peer: peerUs + peerFrontUs }],
  );
  const speedup = (pairs: readonly { ours: number; peer: number }[]) =>
    pairs.length === 0 ? undefined : sum(pairs.map(({ peer }) => peer)) / sum(pairs.map(({ ours }) => ours));
  const mean = (pairs: readonly { ours: number; peer: number }[]) =>
    geomean(pairs.map(({ ours, peer }) => peer / ours));
  const texts = rows.filter(({ glslUs }) => glslUs !== undefined);
  const frontUs = sum(texts.map(({ glslUs = 0, spirvUs, validateUs }) => glslUs - spirvUs - validateUs));
  return {
    shaders: rows.length,
    glslToIsaSpeedup: speedup(glsl),
    spirvToIsaSpeedup: speedup(spirv),
    glslToIsaSpeedupGeomean: mean(glsl),
    spirvToIsaSpeedupGeomean: mean(spirv),
    validateShare: sum(rows.map(({ validateUs }) => validateUs)) / sum(rows.map((row) => row.spirvUs + row.validateUs)),
    frontEndMBps: frontUs > 0 ? sum(texts.map(({ sourceBytes }) => sourceBytes)) / frontUs : undefined,
    nsPerIrInstruction:
      (1000 * sum(rows.map(({ coreUs }) => coreUs))) / sum(rows.map(({ irInstructions }) => irInstructions)),
    rows,
  };
}

function cold() {
  const folder = mkdtempSync(join(tmpdir(), "kiln-bench-"));
  try {
    const file = join(packageRoot(), "examples/kernels/saxpy.comp");
    const kiln = [process.argv[1] ?? "", "compile", file, "-o", join(folder, "out.elf")];
    const ours = coldSeconds(process.execPath, [...process.execArgv, ...kiln]);
    const glslang = coldSeconds("glslangValidator", ["-V", "-o", join(folder, "out.spv"), file]);
    return { coldCliSeconds: ours ?? Number.NaN, coldGlslangSeconds: glslang };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The table that `kiln bench compile` prints. */
export function compileTable(result: CompileBenchResult): string {
  const fixed = (value: number | undefined, digits = 2) => value?.toFixed(digits) ?? "not measured";
  const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1];
  const { rows } = result;
  const speedups = (total: number | undefined, mean: number | undefined) =>
    `${fixed(total)} of the totals, ${fixed(mean)} geometric mean`;
  const part = (name: string, values: readonly number[]) =>
    `    ${name.padEnd(22)} median ${fixed(median(values), 0).padStart(6)} us  sum ${fixed(sum(values) / 1000, 1).padStart(8)} ms`;
  const phases = phaseNames
    .filter((name) => name !== "frontEnd")
    .map((name) =>
      part(
        name,
        rows.map((row) => row.phases[name]),
      ),
    );
  const passNames = [...new Set(rows.flatMap((row) => Object.keys(row.passes)))];
  const passes = passNames
    .map((name) => ({ name, values: rows.map((row) => row.passes[name] ?? 0) }))
    .sort((a, b) => sum(b.values) - sum(a.values))
    .map(({ name, values }) => part(name, values));
  return [
    `compile, ${result.shaders} shaders, CPU time, warm, one thread`,
    `  GLSL to code    median ${fixed(median(rows.flatMap((row) => row.glslUs ?? [])), 0)} us, peers over ours ${speedups(result.glslToIsaSpeedup, result.glslToIsaSpeedupGeomean)}`,
    `  SPIR-V to code  median ${fixed(median(rows.map((row) => row.spirvUs)), 0)} us without validation (its share ${fixed(result.validateShare)}), peer over ours ${speedups(result.spirvToIsaSpeedup, result.spirvToIsaSpeedupGeomean)}`,
    "  parts of SPIR-V to code, wall time",
    ...phases,
    "  passes of the core at level 2, wall time",
    ...passes,
    `  front end       ${fixed(result.frontEndMBps)} MB of text a second`,
    `  core            ${fixed(result.nsPerIrInstruction, 0)} ns an IR instruction at level 2, ${fixed(result.nsPerIrInstructionLevel0, 0)} at level 0`,
    `  cold command    ${fixed(result.coldCliSeconds, 3)} s, glslangValidator ${fixed(result.coldGlslangSeconds, 3)} s`,
  ].join("\n");
}
