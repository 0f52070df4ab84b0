import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { compileGlsl, type GlslRequest, type GlslResult } from "../../src/glsl/index.ts";
import { oracle } from "../oracles.ts";
import { disagreements } from "./disagreements.ts";
import { piglitParserTests } from "./piglit.ts";
import { piglitComputeTests } from "./piglit-compute.ts";
import { each, Reference, run, type Verdict } from "./reference.ts";
import { foreignExtensions } from "./refusals.ts";
import { includesOf, type ShaderFile, shaderFiles } from "./shaders.ts";

const usage =
  "usage: npm run conformance -- glsl --root DIR… [--piglit DIR] [--piglit-compute DIR] [--cache FILE] [--jobs N] [--lines] [--json FILE]";

interface Outcome {
  readonly name: string;
  readonly reference: Verdict;
  readonly accepts: boolean;
  readonly line: number;
  readonly message: string;
  readonly milliseconds: number;
  /** Extensions that the shader names and we don't have. */
  readonly foreign: readonly string[];
  words?: Uint32Array;
  invalid?: string;
}

/**
 * `--root DIR`: every .comp, .vert and .frag below it through glslangValidator (for Vulkan 1.0, else 1.2), our front end
 * and spirv-val. Prints the counts, then each disagreement under our message. True where every disagreement has a reason,
 * 95% of the others are rejected, and 90% of those at the same line first.
 * `--piglit DIR`: Piglit's parser tests below it in the relaxed dialect, against the verdict in each file.
 * `--piglit-compute DIR`: Piglit's compute tests in a folder, on the simulated GPU, against the values in each file.
 */
export async function glslConformance(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      root: { type: "string", multiple: true },
      cache: { type: "string" },
      jobs: { type: "string", default: "2" },
      lines: { type: "boolean", default: false },
      json: { type: "string" },
      piglit: { type: "string" },
      "piglit-compute": { type: "string" },
    },
  });
  const roots = values.root ?? [];
  const computeTests = values["piglit-compute"];
  if (values.piglit !== undefined && !piglitParserTests(values.piglit)) return false;
  if (computeTests !== undefined && !(await piglitComputeTests(computeTests))) return false;
  if (roots.length === 0) {
    if (values.piglit !== undefined || computeTests !== undefined) return true;
    console.error(usage);
    return false;
  }
  for (const tool of ["glslangValidator", "spirv-val"] as const) {
    if (oracle(tool) !== undefined) continue;
    console.error(`${tool} is not installed`);
    return false;
  }
  const jobs = Number(values.jobs);
  let good = true;
  for (const root of roots) {
    const reference = new Reference(values.cache);
    const outcomes = await measure(root, reference, jobs);
    reference.save();
    console.log(`${root}: ${outcomes.length} shaders`);
    good = report(outcomes, values.lines) && good;
    if (values.json !== undefined) {
      writeFileSync(values.json, JSON.stringify(outcomes.map(({ words: _, ...rest }) => rest)));
    }
  }
  return good;
}

async function measure(root: string, reference: Reference, jobs: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  await each(shaderFiles(root), jobs, async (file) => {
    outcomes.push(ours(root, file, await reference.verdict(file.path, file.suffix)));
  });
  outcomes.sort((a, b) => (a.name < b.name ? -1 : 1));
  await validate(
    outcomes.filter(({ words }) => words !== undefined),
    jobs,
  );
  return outcomes;
}

function ours(root: string, { path, stage }: ShaderFile, reference: Verdict): Outcome {
  const source = readFileSync(path, "utf8");
  const name = relative(root, path);
  const started = performance.now();
  const result = compileSafely({
    source,
    filename: name,
    stage,
    includes: includesOf(path, source),
    targetEnv: reference.env,
  });
  const milliseconds = performance.now() - started;
  const foreign = foreignExtensions(source);
  const base = { name, reference, accepts: result.ok, milliseconds, foreign };
  if (result.ok) return { ...base, line: 0, message: "", words: result.words };
  const first = result.diagnostics.find(({ severity }) => severity === "error");
  return { ...base, line: first?.line ?? 0, message: `${first?.code}: ${first?.message}` };
}

/** A crash of the front end is a result here, so that the run goes on. */
function compileSafely(request: GlslRequest): GlslResult {
  try {
    return compileGlsl(request);
  } catch (error) {
    const message = String(error instanceof Error ? error.stack : error).slice(0, 300);
    const place = { file: request.filename, line: 0, column: 0, endLine: 0, endColumn: 0 };
    return { ok: false, filesRead: [], diagnostics: [{ severity: "error", code: "CRASH", message, ...place }] };
  }
}

async function validate(outcomes: readonly Outcome[], jobs: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "kiln-conformance-"));
  try {
    await each([...outcomes.entries()], jobs, async ([at, outcome]) => {
      const file = join(folder, `${at}.spv`);
      writeFileSync(file, outcome.words!);
      const { env } = outcome.reference;
      const { status, output } = await run("spirv-val", ["--target-env", env, "--scalar-block-layout", file]);
      if (status !== 0) outcome.invalid = output.split("\n")[0]!.replace(/%?\d+/g, "N");
      rmSync(file);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function report(outcomes: readonly Outcome[], lines: boolean): boolean {
  const accepted = outcomes.filter(({ reference }) => reference.ok);
  const rejected = outcomes.filter(({ reference }) => !reference.ok);
  const both = accepted.filter(({ accepts }) => accepts);
  const invalid = outcomes.filter((each) => each.invalid !== undefined);
  const bad = both.filter((each) => each.invalid !== undefined);
  const refused = rejected.filter(({ accepts }) => !accepts);
  const same = refused.filter(({ line, reference }) => line === reference.line);
  const placed = refused.filter(({ reference }) => reference.line > 0);
  const samePlaced = placed.filter(({ line, reference }) => line === reference.line);
  console.log(`the reference accepts ${accepted.length}: we accept ${both.length}, of them ${bad.length} invalid`);
  console.log(
    `the reference rejects ${rejected.length}: we reject ${refused.length}; first error on the same line ${same.length} (of ${placed.length} with a line ${samePlaced.length})`,
  );
  const slow = outcomes.filter(({ milliseconds }) => milliseconds > 1000);
  console.log(`over a second: ${slow.map(({ name }) => name).join(" ") || "none"}`);
  section(
    "the reference accepts, we reject",
    accepted.filter(({ accepts }) => !accepts),
    ({ message }) => message,
    ({ name, line }) => `${name}:${line}`,
  );
  section(
    "modules that spirv-val rejects",
    invalid,
    (each) => each.invalid ?? "",
    ({ name, reference }) => `${name} (${reference.env})`,
  );
  section(
    "the reference rejects, we accept",
    rejected.filter(({ accepts }) => accepts),
    ({ reference }) => reference.message.replace(/^'[^']*' : /, ""),
    ({ name, reference }) => `${name}:${reference.line}`,
  );
  if (lines) {
    section(
      "both reject, on other lines",
      refused.filter(({ line, reference }) => line !== reference.line),
      ({ message }) => message.replace(/:.*/, ""),
      ({ name, line, message, reference }) =>
        `${name}: ours ${line} ${message.replace(/^\w+: /, "")} | theirs ${reference.line} ${reference.message}`,
    );
  }
  const differing = outcomes.filter((each) => each.accepts !== each.reference.ok || each.invalid !== undefined);
  const open = differing.filter((each) => reasonOf(each) === undefined);
  const outside = differing.filter((each) => reasonOf(each)?.startsWith("it names") === true).length;
  console.log(
    `\n${differing.length} disagreements: ${outside} name extensions outside the list, ${differing.length - outside - open.length} have their reason in test/conformance/disagreements.ts, ${open.length} have none`,
  );
  for (const { name, message } of open) console.log(`     ${name} ${message}`);
  const rate = (part: readonly unknown[], whole: readonly unknown[]): number => part.length / Math.max(1, whole.length);
  return open.length === 0 && refused.length >= 0.95 * rejected.length && rate(same, refused) >= 0.9;
}

/** Why we and the reference disagree about a shader, where that is known. */
function reasonOf({ name, foreign }: Outcome): string | undefined {
  const row = disagreements.find(({ file }) => name.endsWith(file));
  if (row !== undefined) return row.reason;
  return foreign.length > 0 ? `it names ${foreign.join(", ")}` : undefined;
}

function section(
  title: string,
  outcomes: readonly Outcome[],
  key: (outcome: Outcome) => string,
  text: (outcome: Outcome) => string,
): void {
  const groups = new Map<string, string[]>();
  for (const outcome of outcomes) {
    const name = key(outcome);
    groups.set(name, [...(groups.get(name) ?? []), text(outcome)]);
  }
  console.log(`\n== ${title}: ${outcomes.length}`);
  for (const [name, list] of [...groups].sort((a, b) => b[1].length - a[1].length)) {
    console.log(`${list.length}  ${name}`);
    for (const each of list) console.log(`     ${each}`);
  }
}
