import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import {
  type CompileRequest,
  defaultRequest,
  type EntryPoint,
  loadDwords,
  readCodeObject,
} from "../../src/codeobj/index.ts";
import { compileShader } from "../../src/compile/index.ts";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { parseIr } from "../../src/ir/index.ts";
import { opName } from "../../src/spirv/index.ts";
import { runDispatch } from "../ir/interpreter/dispatch.ts";
import { NotCovered } from "../ir/interpreter/memory.ts";
import { Endless } from "../ir/interpreter/wave.ts";
import { type Fill, KernelRun, type RunResult, type Start } from "./aco-run.ts";
import { includesOf, shaderFiles } from "./shaders.ts";

const levels = [0, 1, 2] as const;
const fills: readonly Fill[] = ["small integers", "floats"];
type Groups = readonly [number, number, number];
const groups: Groups = [2, 2, 1];
interface Grid {
  readonly groups: Groups;
  readonly threads: Groups;
}

/**
 * The first wave alone: for shaders whose waves write and read the same words. Then the order of the waves decides, which
 * is no business of the shader's.
 */
function oneWave([x, y, z]: Groups): Grid {
  const width = Math.min(x, 32);
  const height = Math.min(y, Math.floor(32 / width));
  return { groups: [1, 1, 1], threads: [width, height, Math.min(z, Math.floor(32 / (width * height)))] };
}

/** A shader's code, and its IR as the lifter made it and as the back end got it. */
interface Compiled {
  readonly entry: EntryPoint;
  /** What is uploaded of it. */
  readonly words: Uint32Array;
  readonly lifted: string;
  readonly last: string;
}

function compiledAt(path: string, source: string, optimization: 0 | 1 | 2, core: CoreTools): Compiled | string {
  const request: CompileRequest = {
    ...defaultRequest,
    language: /^\s*(;|Op[A-Z]|%\w+\s*=\s*Op)/.test(source) ? "spirv-asm" : "glsl",
    source,
    includes: includesOf(path, source),
    stage: "compute",
    filename: path,
    options: { ...defaultRequest.options, optimization },
    pipeline: { floatControls: { contraction: false } },
  };
  const done = compileShader(request, core, ["lift", "none"]);
  if (!done.ok) return done.diagnostics[0]?.message ?? "refused";
  const read = readCodeObject(done.record.elf);
  if (!read.ok) return read.message;
  const lifted = done.reports?.passes.find(({ name }) => name === "lift")?.ir ?? "";
  const entry = read.object.entries[0]!;
  return { entry, words: loadDwords(read.object, entry), lifted, last: done.reports?.ir ?? "" };
}

type Interpreted = { readonly buffers: readonly Uint32Array[]; readonly isExact: boolean };

/** The buffers as the interpreter leaves them; undefined where it does not know an op or takes too long. */
function interpreted(ir: string, start: Start, { groups, threads }: Grid): Interpreted | undefined {
  const buffers = start.buffers.map(({ words }) => words.slice());
  const bytes = buffers.map((words) => new Uint8Array(words.buffer));
  const indices = new Map(start.buffers.map(({ set, binding, element }, k) => [`${set} ${binding} ${element}`, k]));
  try {
    const { isExact } = runDispatch(
      { ...parseIr(ir), local: threads },
      {
        groups,
        buffer: (set, binding, element) => bytes[indices.get(`${set} ${binding} ${element}`) ?? -1],
        push: new Uint8Array(start.push.buffer),
        maxSteps: 20_000,
      },
    );
    return { buffers, isExact };
  } catch (error) {
    if (error instanceof NotCovered || error instanceof Endless) return undefined;
    throw error;
  }
}

/** What the machine of the runs has no place for. */
function unsuited(entry: EntryPoint): string | undefined {
  const other = entry.reflection.resources.find(({ type }) => !/^(uniform|storage)Buffer$/.test(type));
  return other?.type;
}

/** What the interpreter makes of the IR behind a run's code. */
function middleOf({ last, lifted }: Compiled, start: Start, result: RunResult, grid: Grid) {
  const ofLast = interpreted(last, start, grid);
  const ofLifted = interpreted(lifted, start, grid);
  const against = (own: Interpreted | undefined) => own && difference({ ...own, instructions: 0 }, result);
  const [wrongLast, wrongLifted] = [against(ofLast), against(ofLifted)];
  const isRounded = ofLifted !== undefined && wrongLifted !== undefined && !ofLifted.isExact;
  return {
    last: ofLast !== undefined && wrongLast === undefined,
    lifted: ofLifted !== undefined && wrongLifted === undefined,
    rounded: isRounded,
    wrong:
      wrongLast !== undefined
        ? `IR before the back end and code: ${wrongLast}`
        : wrongLifted !== undefined && !isRounded
          ? `lifted IR and code: ${wrongLifted}`
          : undefined,
  };
}

/** First word in which two runs differ, or undefined. */
function difference(a: RunResult, b: RunResult): string | undefined {
  if (typeof a === "string" || typeof b === "string") {
    return a === b ? undefined : `one ends with ${typeof a === "string" ? a : String(b)}`;
  }
  for (const [k, words] of a.buffers.entries()) {
    const at = words.findIndex((word, i) => word !== b.buffers[k]![i]);
    if (at >= 0) return `buffer ${k} word ${at}: ${words[at]!.toString(16)} and ${b.buffers[k]![at]!.toString(16)}`;
  }
  return undefined;
}

/**
 * Runs every compute shader below `--root` that has no bindings but buffers, compiled at levels 0, 1 and 2 with the checked
 * core and contraction off, over the same memory: small integers, then floats. Prints those whose bits differ; shaders of
 * undefined results may, and stand in undefined-results.txt with the reason. True where nothing else differs.
 */
export async function levelsConformance(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: { root: { type: "string", multiple: true, default: [] } },
  });
  const listed = readFileSync(new URL("undefined-results.txt", import.meta.url), "utf8");
  const undefinedResults = listed.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const core = await createCore({ checked: true, opName });
  const middle = { last: 0, lifted: 0, rounded: 0, racing: 0, notRun: 0, differ: 0 };
  const counts = { run: 0, refused: 0, unsuited: 0, faulted: 0, undefined: 0, differ: 0 };
  for (const { path, stage } of values.root.flatMap((root) => shaderFiles(root))) {
    if (stage !== "compute") continue;
    const source = readFileSync(path, "utf8");
    const entries = levels.map((level) => compiledAt(path, source, level, core));
    const good = entries.filter((entry) => typeof entry !== "string");
    if (good.length < levels.length) {
      counts.refused++;
      if (good.length > 0) console.log(`${path}: some levels only: ${entries.filter((e) => typeof e === "string")[0]}`);
      continue;
    }
    if (unsuited(good[0]!.entry) !== undefined) {
      counts.unsuited++;
      continue;
    }
    let differs: string | undefined;
    let fault: string | undefined;
    let wrong: string | undefined;
    let isRacing = false;
    const seen = { last: 0, lifted: 0, rounded: 0 };
    for (const fill of fills) {
      const runs = good.map(({ entry }) => new KernelRun(entry, { groups, fill }));
      const [first, ...others] = good.map(({ words }, k) => runs[k]!.run(words));
      if (typeof first === "object") {
        const { entry } = good[2]!;
        const threads = entry.reflection.workgroupSize;
        let found = middleOf(good[2]!, runs[0]!.start, others[1]!, { groups, threads });
        if (found.wrong !== undefined) {
          const grid = oneWave(threads);
          const run = new KernelRun(entry, { ...grid, fill });
          const result = run.run(good[2]!.words);
          const alone = middleOf(good[2]!, run.start, result, grid);
          isRacing ||= alone.wrong === undefined;
          if (alone.wrong === undefined) found = alone;
        }
        for (const kind of ["last", "lifted", "rounded"] as const) if (found[kind]) seen[kind]++;
        if (found.wrong !== undefined) wrong ??= `${fill}, ${found.wrong}`;
      }
      for (const [k, other] of others.entries()) {
        const found = difference(first!, other);
        if (found !== undefined) differs ??= `${fill}, level 0 and ${k + 1}: ${found}`;
      }
    }
    const isUndefined = undefinedResults.some((line) => path.endsWith(line));
    if (differs === undefined && fault !== undefined) counts.faulted++;
    else if (differs === undefined) counts.run++;
    else if (isUndefined) counts.undefined++;
    else counts.differ++;
    if (fault === undefined && !isUndefined) {
      if (wrong !== undefined) middle.differ++;
      else if (seen.lifted === fills.length) middle.lifted++;
      else if (seen.lifted + seen.rounded === fills.length) middle.rounded++;
      else middle.notRun++;
      if (seen.last === fills.length) middle.last++;
      if (wrong === undefined && isRacing) middle.racing++;
      if (wrong !== undefined) console.log(`${path}: ${wrong}`);
    }
    if (fault !== undefined) console.log(`${path}: ${fault}`);
    if (differs !== undefined && !isUndefined) console.log(`${path}: ${differs}`);
  }
  console.log(
    `${counts.run} shaders give the same bits at levels 0, 1, 2; ${counts.differ} differ, ${counts.undefined} of undefined results do; ` +
      `${counts.faulted} fault or run too long at all levels, ${counts.unsuited} have images, ${counts.refused} are refused`,
  );
  console.log(
    `the IR interpreter gives the bits of the code: ${middle.last} shaders by the IR before the back end, ${middle.lifted} by the ` +
      `lifted IR too, ${middle.rounded} more but for what is rounded (${middle.racing} in one wave alone); ${middle.notRun} it does not run, ${middle.differ} differ`,
  );
  return counts.run > 0 && counts.differ === 0 && middle.differ === 0;
}
