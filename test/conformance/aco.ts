import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import {
  type CompileRequest,
  defaultRequest,
  type EntryPoint,
  loadDwords,
  readCodeObject,
} from "../../src/codeobj/index.ts";
import { createLocalCompiler } from "../../src/service/index.ts";
import { type Argument, type Fill, KernelRun, kernelCases } from "./aco-run.ts";

const usage =
  "usage: npm run conformance -- aco [--kernels DIR] [--dumps DIR --spv DIR --manifest FILE] [--limit RATIO] [--lines] (DIR of .isa files: assembly text with encodings)";

/**
 * A listing's instruction words: what follows the last `;` of each line, in hexadecimal. "(then repeated N times)"
 * stands for that many more of the instruction before it.
 */
function wordsOf(listing: string): Uint32Array {
  const words: number[] = [];
  let last: readonly number[] = [];
  for (const line of listing.split("\n")) {
    const repeated = /^\s*\(then repeated (\d+) times\)/.exec(line);
    for (let n = Number(repeated?.[1] ?? 0); n > 0; n--) words.push(...last);
    const found = /;((?: [0-9a-f]{8})+)\s*$/.exec(line);
    if (found === null) continue;
    last = found[1]!
      .trim()
      .split(" ")
      .map((word) => Number.parseInt(word, 16));
    words.push(...last);
  }
  return Uint32Array.from(words);
}

/** VGPRs that the listing names: the highest and those below it. */
function vgprsOf(listing: string): number {
  let count = 1;
  for (const [, last, one] of listing.matchAll(/\bv(?:\[\d+:(\d+)\]|(\d+)\b)/g))
    count = Math.max(count, Number(last ?? one) + 1);
  return count;
}

/** Without bounds checks, as the other compiler was asked. */
/** An entry point and what is uploaded of it. */
type Uploaded = EntryPoint & { readonly words: Uint32Array };

async function entryOf(request: CompileRequest): Promise<Uploaded | string> {
  const compiled = await createLocalCompiler().compile({ ...request, robustness: "none" });
  if (!compiled.ok) return compiled.diagnostics[0]?.message ?? "no message";
  const read = readCodeObject(compiled.record.elf);
  if (!read.ok) return read.message;
  const entry = read.object.entries.find(({ name }) => name === compiled.record.entryPoint);
  return entry === undefined ? "no entry point" : { ...entry, words: loadDwords(read.object, entry) };
}

type Verdict = "same bits" | "close" | "differ";

/** Close: floats within 1e-4 of each other, relatively. */
function compare(a: readonly Uint32Array[], b: readonly Uint32Array[]): Verdict {
  let verdict: Verdict = "same bits";
  for (const [i, words] of a.entries()) {
    const other = b[i]!;
    const [x, y] = [new Float32Array(words.buffer), new Float32Array(other.buffer)];
    for (let at = 0; at < words.length; at++) {
      if (words[at] === other[at]) continue;
      const [p, q] = [x[at]!, y[at]!];
      const near = Math.abs(p - q) <= 1e-4 * Math.max(Math.abs(p), Math.abs(q)) + 1e-6;
      if (!near && !(Number.isNaN(p) && Number.isNaN(q))) return "differ";
      verdict = "close";
    }
  }
  return verdict;
}

interface Pair {
  readonly name: string;
  readonly outcome: string;
  readonly ours: number;
  readonly theirs: number;
}

/** Runs our code and the listing's over the same memory. */
function runPair(
  name: string,
  entry: Uploaded,
  listing: string,
  cases: readonly (Argument & { fill: Fill })[],
  tgSize = false,
): Pair {
  let worst: Verdict = "same bits";
  let ours = 0;
  let theirs = 0;
  const result = (outcome: string) => ({ name, outcome, ours, theirs });
  for (const argument of cases) {
    const mine = new KernelRun(entry, argument).run(entry.words);
    if (typeof mine === "string") return result(`ours: ${mine}`);
    const other = new KernelRun(entry, argument).run(wordsOf(listing), { vgprs: vgprsOf(listing), tgSize });
    if (typeof other === "string") return result(`theirs: ${other}`);
    ours += mine.instructions;
    theirs += other.instructions;
    const verdict = compare(mine.buffers, other.buffers);
    if (verdict === "differ") return result("differ");
    if (verdict === "close") worst = "close";
  }
  return result(worst);
}

/** Why a shader can't be run here; undefined where it can. */
function unsuited(entry: EntryPoint, listing: string, spirv: Uint8Array): string | undefined {
  if (entry.stage !== "compute") return "not compute";
  const other = entry.reflection.resources.find(({ type }) => !/^(uniform|storage)Buffer$/.test(type));
  if (other !== undefined) return other.type;
  if (entry.scratchBytes > 0 || /scratch_|s\[0:3\].*(swz|glc slc)/.test(listing)) return "scratch";
  if (/v_mbcnt_hi|\b(exec|vcc)\b(?!_)|saveexec_b64/.test(listing)) return "wave64 code";
  if (hasBuiltIn(spirv, [SUBGROUP_SIZE])) return "reads the subgroup size, which the listing has as 64";
  if (/s_getpc_b64/.test(listing)) return "constant data that the listing lacks";
  return undefined;
}

function geomean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / Math.max(1, values.length));
}

/**
 * Another compiler's code on the simulator: the listings of `--kernels` (named NAME.*.isa after examples/kernels) and of
 * `--dumps` (NAME.isa beside NAME.spv in `--spv`, descriptor bindings in `--manifest`), with the user SGPRs that docs/abi.md gives our code. Prints equal and
 * different results, and executed instructions of both. True where every kernel agrees, no pair of the corpus differs
 * but by rounding, and ours executes at most `--limit` (1.15) of the other's instructions, geometric mean.
 */
export async function acoConformance(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kernels: { type: "string" },
      dumps: { type: "string" },
      spv: { type: "string" },
      manifest: { type: "string" },
      limit: { type: "string", default: "1.15" },
      lines: { type: "boolean", default: false },
    },
  });
  const { dumps, spv, manifest } = values;
  const hasCorpus = dumps !== undefined && spv !== undefined && manifest !== undefined;
  if (values.kernels === undefined && !hasCorpus) {
    console.error(usage);
    return false;
  }
  let isGood = true;
  if (values.kernels !== undefined) isGood = await kernels(values.kernels);
  if (hasCorpus) isGood = (await corpus(dumps, spv, manifest, Number(values.limit), values.lines)) && isGood;
  return isGood;
}

async function kernels(folder: string): Promise<boolean> {
  let isGood = true;
  console.log("kernel                      result      executed: ours     theirs   ratio");
  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith(".isa"))
    .sort()) {
    const name = file.split(".")[0]!;
    const source = join("examples/kernels", `${name}.comp`);
    const cases = kernelCases[name];
    if (cases === undefined || !existsSync(source)) continue;
    const text = readFileSync(source, "utf8");
    const entry = await entryOf({
      ...defaultRequest,
      language: "glsl",
      source: text,
      stage: "compute",
      filename: source,
    });
    if (typeof entry === "string") throw new Error(`${source}: ${entry}`);
    const pair = runPair(basename(file, ".isa"), entry, readFileSync(join(folder, file), "utf8"), [cases]);
    isGood &&= pair.outcome === "same bits" || pair.outcome === "close";
    const ratio = (pair.ours / pair.theirs).toFixed(3);
    console.log(
      `${pair.name.padEnd(26)}  ${pair.outcome.padEnd(10)} ${String(pair.ours).padStart(15)} ${String(pair.theirs).padStart(10)} ${ratio.padStart(7)}`,
    );
  }
  return isGood;
}

/** Set layouts of a manifest's list: SET:BINDING:TYPE:COUNT by commas; undefined where one is no plain buffer. */
function declaredSets(list: string): DeclaredSet[] | undefined {
  const sets: DeclaredSet[] = [];
  for (const row of list === "-" || list === "" ? [] : list.split(",")) {
    const [set = 0, binding = 0, type = 0, count = 0] = row.split(":").map(Number);
    const name = bufferTypes.get(type);
    if (name === undefined) return undefined;
    while (sets.length <= set) sets.push({ set: sets.length, bindings: [] });
    sets[set]!.bindings.push({ binding, type: name, count });
  }
  for (const { bindings } of sets) bindings.sort((a, b) => a.binding - b.binding);
  return sets;
}

interface DeclaredSet {
  readonly set: number;
  readonly bindings: { binding: number; type: "uniformBuffer" | "storageBuffer"; count: number }[];
}

/** VkDescriptorType. */
const bufferTypes: ReadonlyMap<number, "uniformBuffer" | "storageBuffer"> = new Map([
  [6, "uniformBuffer"],
  [7, "storageBuffer"],
]);

/** Column 1 (name) to column 6 (descriptor bindings) of the lines of a manifest. */
function readManifest(file: string): Map<string, string> {
  const rows = readFileSync(file, "utf8")
    .split("\n")
    .map((line) => line.split("\t"));
  return new Map(rows.map((columns) => [columns[0] ?? "", columns[5] ?? ""]));
}

async function corpus(
  dumps: string,
  spv: string,
  manifestFile: string,
  limit: number,
  lines: boolean,
): Promise<boolean> {
  const manifest = readManifest(manifestFile);
  const pairs: Pair[] = [];
  const counts = new Map<string, number>();
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  for (const file of readdirSync(dumps)
    .filter((name) => name.endsWith(".isa"))
    .sort()) {
    const name = basename(file, ".isa");
    const module = join(spv, `${name}.spv`);
    if (!existsSync(module)) continue;
    const listing = readFileSync(join(dumps, file), "utf8");
    const spirv = Uint8Array.from(readFileSync(module));
    if (!isCompute(spirv)) continue;
    const sets = declaredSets(manifest.get(name) ?? "");
    if (sets === undefined) {
      count("not run: images, samplers or texel buffers");
      continue;
    }
    const layout = sets.length === 0 ? {} : { layout: { sets } };
    const entry = await entryOf({ ...defaultRequest, language: "spirv", spirv, filename: name, pipeline: layout });
    const reason = typeof entry === "string" ? `ours does not compile` : unsuited(entry, listing, spirv);
    if (reason !== undefined || typeof entry === "string") {
      count(`not run: ${reason}`);
      if (lines) console.log(`${name}: not run: ${typeof entry === "string" ? entry : reason}`);
      continue;
    }
    const cases = (["small integers", "floats"] as const).map((fill) => ({ groups: [2, 2, 1] as const, fill }));
    const pair = runPair(name, entry, listing, cases, hasBuiltIn(spirv, [NUM_SUBGROUPS, SUBGROUP_ID]));
    pairs.push(pair);
    count(pair.outcome);
    if (lines) console.log(`${name}: ${pair.outcome}, ${pair.ours} ${pair.theirs}`);
  }
  for (const [what, n] of [...counts].sort((a, b) => b[1] - a[1])) console.log(`${String(n).padStart(5)}  ${what}`);
  const equal = pairs.filter(({ outcome }) => outcome === "same bits" || outcome === "close");
  const ratios = equal.filter(({ theirs }) => theirs > 0).map(({ ours, theirs }) => ours / theirs);
  const mean = geomean(ratios);
  const sum = (of: (pair: Pair) => number) => equal.reduce((total, pair) => total + of(pair), 0);
  console.log(
    `${equal.length} of ${pairs.length} pairs agree; executed instructions, ours over theirs: geometric mean ${mean.toFixed(3)}, sums ${sum(({ ours }) => ours)} over ${sum(({ theirs }) => theirs)}`,
  );
  return pairs.length === equal.length && mean <= limit;
}

const NUM_SUBGROUPS = 38;
const SUBGROUP_ID = 40;
const SUBGROUP_SIZE = 36;

/** Is something of the module decorated as one of these built-ins? */
function hasBuiltIn(spirv: Uint8Array, wanted: readonly number[]): boolean {
  const words = new Uint32Array(spirv.buffer, 0, spirv.length >> 2);
  for (let at = 5; at < words.length; at += Math.max(1, words[at]! >>> 16)) {
    const isBuiltIn = (words[at]! & 0xffff) === 71 && words[at + 2] === 11;
    if (isBuiltIn && wanted.includes(words[at + 3]!)) return true;
  }
  return false;
}

/** Has the module an entry point of the model GLCompute? */
function isCompute(spirv: Uint8Array): boolean {
  const words = new Uint32Array(spirv.buffer, 0, spirv.length >> 2);
  for (let at = 5; at < words.length; at += Math.max(1, words[at]! >>> 16)) {
    if ((words[at]! & 0xffff) === 15) return words[at + 1] === 5;
  }
  return false;
}
