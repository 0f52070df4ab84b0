import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type CompileRequest, type EntryPoint, loadDwords, readCodeObject } from "../../src/codeobj/index.ts";
import { compileShader } from "../../src/compile/index.ts";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { opName } from "../../src/spirv/index.ts";
import { oracle } from "../oracles.ts";
import { type Fill, KernelRun, type RunResult, type Start } from "./aco-run.ts";
import { requestOf } from "./compile.ts";
import { distance, type Grid, interpret, type Middle, startOf, type Triple } from "./middle.ts";
import { Reference } from "./reference.ts";
import { judge, Tally } from "./refusals.ts";
import { type ShaderFile, shaderFiles } from "./shaders.ts";

const levels = [0, 1, 2] as const;
const groups: Triple = [2, 2, 1];

/**
 * The first wave alone: for shaders whose waves write and read the same words. Then the order of the waves decides, which
 * is no business of the shader's.
 */
function oneWave([x, y, z]: Triple): Grid {
  const width = Math.min(x, 32);
  const height = Math.min(y, Math.floor(32 / width));
  return { groups: [1, 1, 1], threads: [width, height, Math.min(z, Math.floor(32 / (width * height)))] };
}

/** A shader's code, and its IR as the lifter made it and as the back end got it. */
export interface Compiled {
  readonly entry: EntryPoint;
  /** What is uploaded of it. */
  readonly words: Uint32Array;
  readonly lifted: string;
  readonly last: string;
}

/** Without contraction; a string is the first diagnostic. `hasIr` false: without IR, which takes long to print. */
export function compiled(request: CompileRequest, core: CoreTools, hasIr = true): Compiled | string {
  const exact = { ...request, pipeline: { floatControls: { contraction: false } } };
  const done = compileShader(exact, core, hasIr ? ["lift", "none"] : undefined);
  if (!done.ok) {
    const first = done.diagnostics.find(({ severity }) => severity === "error");
    return `${first?.code}: ${first?.message}`;
  }
  const read = readCodeObject(done.record.elf);
  if (!read.ok) return read.message;
  const lifted = done.reports?.passes.find(({ name }) => name === "lift")?.ir ?? "";
  const entry = read.object.entries[0]!;
  return { entry, words: loadDwords(read.object, entry), lifted, last: done.reports?.ir ?? "" };
}

/** What a comparison found; `kind` near: apart by approximations alone. */
export interface Found {
  readonly kind: "same" | "near" | "apart" | "wrong" | "not run";
  readonly why: string;
}

/**
 * The lifted IR against what its code made of the same start, and the IR before the back end, at each level. The latter
 * must give the bits; the former, too, where every operation that ran is exact.
 */
export function against(
  result: Pick<Middle, "buffers"> & Partial<Middle>,
  lifted: Middle | string,
  last: readonly (Middle | string)[],
): Found {
  for (const [level, own] of last.entries()) {
    if (typeof own === "string") return { kind: "not run", why: own };
    const { kind, where } = distance(own, result);
    if (kind !== "same") return { kind: "wrong", why: `IR before the back end of level ${level}: ${where}` };
  }
  if (typeof lifted === "string") return { kind: "not run", why: lifted };
  const { kind, where } = distance(lifted, result);
  if (kind === "same") return { kind, why: "" };
  if (lifted.isExact) return { kind: "wrong", why: `lifted IR: ${where}` };
  return { kind: kind === "near" ? "near" : "apart", why: where };
}

function interpretAll(all: readonly Compiled[], start: Start, fill: Fill, grid: Grid) {
  const of = (ir: string): Middle | string => interpret(ir, start, fill, grid);
  return { lifted: of(all[0]!.lifted), last: all.map(({ last }) => of(last)) };
}

/** The runs of one shader's three codes over the same memory. A string: the machine does not end with buffers. */
function runs(
  all: readonly Compiled[],
  fill: Fill,
  grid: Grid,
): { readonly results: readonly RunResult[]; readonly start: Start } {
  const each = all.map(({ entry, words }) => {
    const run = new KernelRun(entry, { ...grid, fill });
    return { result: run.run(words), start: run.start };
  });
  return { results: each.map(({ result }) => result), start: each[0]!.start };
}

/** What one shader came to. */
interface Outcome {
  /** By the machine: "same" or a reason why it is not run there. */
  readonly machine: Found;
  readonly middle: Found;
  readonly isRacing: boolean;
}

const imageTypes = /Image|sampler|inputAttachment/;

function examine(all: readonly Compiled[], stage: ShaderFile["stage"], fill: Fill): Outcome {
  const { reflection } = all[0]!.entry;
  const grid: Grid = { groups, threads: stage === "compute" ? reflection.workgroupSize : [1, 1, 1] };
  const hasImages = reflection.resources.some(({ type }) => imageTypes.test(type));
  if (stage !== "compute" || hasImages) {
    const why =
      stage === "compute" ? "has images: the simulated GPU has none" : `${stage} stage: the simulated GPU has none`;
    const { lifted, last } = interpretAll(all, startOf(all[0]!.entry, fill), fill, grid);
    const first = last[0]!;
    const middle: Found = typeof first === "string" ? { kind: "not run", why: first } : against(first, lifted, last);
    return { machine: { kind: "not run", why }, middle, isRacing: false };
  }
  const { results, start } = runs(all, fill, grid);
  const faulty = results.find((result) => typeof result === "string");
  const [first, ...others] = results;
  if (typeof faulty === "string") {
    const isSame = others.every((other) => other === first) || faulty === "runs too long";
    const levelsOf = levels.filter((level) => results[level] === faulty).join(", ");
    const why = `${faulty} at ${levelsOf === "0, 1, 2" ? "all levels" : `level ${levelsOf}`}`;
    return {
      machine: { kind: isSame ? "not run" : "wrong", why },
      middle: { kind: "not run", why: "the machine does not end well" },
      isRacing: false,
    };
  }
  const good = results.filter((result) => typeof result !== "string");
  for (const [k, other] of good.entries()) {
    const { kind, where } = distance(good[0]!, other);
    if (kind === "same") continue;
    return {
      machine: { kind: "wrong", why: `level 0 and ${k}: ${where}` },
      middle: { kind: "not run", why: "levels differ" },
      isRacing: false,
    };
  }
  const machine: Found = { kind: "same", why: "" };
  const whole = interpretAll(all, start, fill, grid);
  const middle = against(good[0]!, whole.lifted, whole.last);
  if (middle.kind !== "wrong") return { machine, middle, isRacing: false };
  const alone = oneWave(reflection.workgroupSize);
  const one = runs(all, fill, alone);
  const again = interpretAll(all, one.start, fill, alone);
  const [result] = one.results;
  const second = typeof result === "object" ? against(result, again.lifted, again.last) : middle;
  return second.kind === "wrong" ? { machine, middle, isRacing: false } : { machine, middle: second, isRacing: true };
}

const order = ["wrong", "not run", "apart", "near", "same"] as const;
/** The worse of two. */
const worse = (a: Found, b: Found): Found => (order.indexOf(a.kind) <= order.indexOf(b.kind) ? a : b);

/**
 * Every shader below `--root`, compiled at levels 0, 1 and 2 with the checked core and contraction off. Compute shaders
 * without images run on the simulated GPU over the same memory (small integers, then floats; addresses where the shader has
 * pointers): the levels' bits must be the same. Then the IR interpreter runs the IR as it was lifted and as each level left it, of
 * all stages, images included: bits must be the same but for what is approximated. Shaders of undefined results may
 * differ, and stand in undefined-results.txt with the reason. Prints what was left out, by reason. True where nothing is wrong.
 */
export async function levelsConformance(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      root: { type: "string", multiple: true, default: [] },
      stage: { type: "string", multiple: true, default: ["compute", "vertex", "fragment"] },
      cache: { type: "string" },
      verbose: { type: "boolean", default: false },
    },
  });
  const unknown = values.stage.filter((name) => name !== "compute" && name !== "vertex" && name !== "fragment");
  if (values.root.length === 0 || unknown.length > 0) {
    console.error(
      `usage: npm run conformance -- levels --root DIR… [--stage compute|vertex|fragment]… [--cache FILE] [--verbose]`,
    );
    return false;
  }
  const listed = readFileSync(new URL("undefined-results.txt", import.meta.url), "utf8");
  const undefinedResults = listed.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const core = await createCore({ checked: true, opName });
  const reference = oracle("glslangValidator") === undefined ? undefined : new Reference(values.cache);
  let isGood = true;
  for (const stage of values.stage) {
    const [refused, unrun, uncompared, wrong, apart] = [
      new Tally(),
      new Tally(),
      new Tally(),
      new Tally(),
      new Tally(),
    ];
    const counts = { shaders: 0, compiled: 0, run: 0, same: 0, near: 0, racing: 0, undefined: 0 };
    for (const file of values.root.flatMap(shaderFiles)) {
      if (file.stage !== stage) continue;
      counts.shaders++;
      const source = readFileSync(file.path, "utf8");
      const entries = levels.map((level) => compiled(requestOf(file, source, level), core));
      const good = entries.filter((entry) => typeof entry !== "string");
      if (good.length < levels.length) {
        const { reason, isRight } = await judge(file, source, entries.find((e) => typeof e === "string")!, reference);
        const isWhole = good.length === 0;
        (isRight && isWhole ? refused : wrong).add(isWhole ? reason : `at some levels only: ${reason}`, file.path);
        continue;
      }
      counts.compiled++;
      const fills: readonly Fill[] = /\bbuffer_reference|PhysicalStorageBuffer/.test(source)
        ? ["addresses"]
        : ["small integers", "floats"];
      const found = fills.map((fill) => examine(good, file.stage, fill));
      const machine = found.map((each) => each.machine).reduce(worse);
      const middle = found.map((each) => each.middle).reduce(worse);
      if (machine.kind === "wrong" || middle.kind === "wrong") {
        const isUndefined = undefinedResults.some((line) => file.path.endsWith(line));
        if (isUndefined) counts.undefined++;
        else wrong.add(machine.kind === "wrong" ? machine.why : middle.why, file.path);
        continue;
      }
      if (machine.kind === "same") counts.run++;
      else unrun.add(machine.why, file.path);
      if (middle.kind === "same") counts.same++;
      else if (middle.kind === "near") counts.near++;
      else if (middle.kind === "apart") apart.add(middle.why, file.path);
      else uncompared.add(middle.why, file.path);
      if (found.some(({ isRacing }) => isRacing)) counts.racing++;
    }
    console.log(`== ${stage}: ${counts.shaders} shaders, ${counts.compiled} compiled at levels 0, 1, 2`);
    const show = (title: string, tally: Tally, all: boolean): void => {
      console.log(`${title}: ${tally.total}`);
      for (const line of tally.lines(all)) console.log(line);
    };
    show("not compiled", refused, values.verbose);
    console.log(`run on the simulated GPU, the same bits at each level: ${counts.run}`);
    show("compiled, not run", unrun, values.verbose);
    console.log(
      `by the IR interpreter (IR as lifted, and before the back end at each level): the same bits ${counts.same}, the same but for ` +
        `approximated operations ${counts.near + apart.total} (of those within 2^-10 ${counts.near}); ${counts.racing} of all in one wave alone`,
    );
    show("further apart by approximated operations", apart, true);
    show("not compared", uncompared, values.verbose);
    console.log(`of undefined results (undefined-results.txt), and differing: ${counts.undefined}`);
    show("wrong", wrong, true);
    isGood &&= wrong.total === 0 && counts.compiled > 0;
  }
  reference?.save();
  return isGood;
}
