import { phaseNames } from "../compile/index.ts";
import {
  type ColdTime,
  type CompileBenchResult,
  type CompileFigures,
  coldRuns,
  median,
  rounds,
  type Speedup,
  sum,
} from "./bench-compile.ts";
import type { CompileTimes } from "./bench-compile-worker.ts";
import { benchStages } from "./bench-corpus.ts";

const fixed = (value: number | undefined, digits = 2) => value?.toFixed(digits) ?? "not measured";

function speedupText({ shaders, totals, geomean: mean, round, oursMedian, peersMedian }: Speedup): string {
  if (shaders === 0) return "no peer";
  const ratios = `${fixed(totals)} of the totals, ${fixed(mean)} geometric mean, ${fixed(round)} of whole rounds`;
  return `peers over ours (${shaders} shaders) ${ratios}; medians ${fixed(peersMedian, 0)} and ${fixed(oursMedian, 0)} us`;
}

function coldText(time: ColdTime | undefined): string {
  return time === undefined ? "not measured" : `${fixed(time.least, 3)} s (median ${fixed(time.median, 3)})`;
}

function instructionText(figures: CompileFigures): string {
  const { nsPerIrInstruction, nsPerIrInstructionLevel0 } = figures;
  return `${fixed(nsPerIrInstruction, 0)} ns an IR instruction at level 2, ${fixed(nsPerIrInstructionLevel0, 0)} at level 0`;
}

/** The stages apart, where there are several. */
function stageTexts({ stages }: CompileBenchResult): string[] {
  const found = benchStages.flatMap((name) => {
    const figures = stages[name];
    return figures === undefined ? [] : [{ name, figures }];
  });
  if (found.length < 2) return [];
  return found.flatMap(({ name, figures }) => [
    `  ${name}, ${figures.shaders} shaders`,
    `    GLSL to code    ${speedupText(figures.glslToIsa)}`,
    `    SPIR-V to code  ${speedupText(figures.spirvToIsa)}`,
    `    core            ${instructionText(figures)}`,
  ]);
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
    ...stageTexts(result),
    "  parts of GLSL to code",
    ...phases(texts),
    "  parts of SPIR-V to code",
    ...phases(rows.map((row) => row.phases)),
    "  passes of the core at level 2",
    ...passes,
    `  front end       ${fixed(result.frontEndMBps)} MB of text a second`,
    `  core            ${instructionText(result)}`,
    `  cold command    ${coldText(result.cold)}, glslangValidator ${coldText(result.coldGlslang)}, node -e 0 ${coldText(result.coldNode)}; ${coldRuns} runs in turn`,
    `  compiler.wasm   ${result.module.bytes} bytes; module ${fixed(result.module.moduleMs, 1)} ms, instance ${fixed(result.module.instanceMs, 1)} ms`,
  ].join("\n");
}
