/**
 * `npm run conformance -- determinism --root DIR… [--node PATH]…`: does the same input give the same bytes? Compiles the
 * shaders of all three stages below the folders (`.comp`, `.vert`, `.frag`, `.spv`, `.spvasm`) at each level, once in
 * this thread and twice by the service's pool of workers, forwards and backwards, so that neither order nor worker is the
 * same. Compared are whole records: code object, reflection, statistics, source map, warnings; of what is refused its
 * messages. With `--node` the same runs under another Node, whose hash over all of it must be the same.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { distFile } from "../../src/base/index.ts";
import { type CompileRequest, defaultRequest, encodeRecord, type Stage } from "../../src/codeobj/index.ts";
import { CompilePool, createLocalCompiler } from "../../src/service/index.ts";

const stages: Readonly<Record<string, Stage | undefined>> = {
  ".comp": "compute",
  ".vert": "vertex",
  ".frag": "fragment",
  ".spv": undefined,
  ".spvasm": undefined,
};

function requestsOf(root: string): CompileRequest[] {
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && Object.hasOwn(stages, extname(entry.name)))
    .map((entry) => join(entry.parentPath, entry.name));
  return files.sort().flatMap((file) =>
    ([0, 1, 2] as const).map((optimization): CompileRequest => {
      const stage = stages[extname(file)];
      const options = { ...defaultRequest.options, optimization };
      const base = { ...defaultRequest, options, filename: relative(root, file) };
      if (stage !== undefined) return { ...base, language: "glsl", stage, source: readFileSync(file, "utf8") };
      return extname(file) === ".spv"
        ? { ...base, language: "spirv", spirv: readFileSync(file) }
        : { ...base, language: "spirv-asm", source: readFileSync(file, "utf8") };
    }),
  );
}

const hashOf = (what: Uint8Array | string): string => createHash("sha256").update(what).digest("hex");

/** Hash of each answer by the request's number, and how many of them are code. */
interface Answers {
  readonly hashes: readonly string[];
  readonly compiled: number;
}

async function byThread(all: readonly CompileRequest[]): Promise<Answers> {
  const compiler = createLocalCompiler();
  let compiled = 0;
  const hashes: string[] = [];
  for (const request of all) {
    const result = await compiler.compile(request);
    if (result.ok) compiled++;
    hashes.push(hashOf(result.ok ? encodeRecord(result.record) : JSON.stringify(result.diagnostics)));
  }
  return { hashes, compiled };
}

/** Which worker gets which request is up to them. */
async function byWorkers(all: readonly CompileRequest[], workers: number, backwards: boolean): Promise<Answers> {
  const workerFile = distFile("compile-worker.js");
  const limits = { timeLimitMs: 60_000, memoryLimitMb: 1024, maxWaiting: all.length };
  const pool = new CompilePool({ workerFile, workers, ...limits });
  let compiled = 0;
  const hashes: string[] = [];
  const order = all.map((_, k) => (backwards ? all.length - 1 - k : k));
  const next = order.values();
  const one = async (): Promise<void> => {
    for (const k of next) {
      const answer = await pool.run({ request: all[k] as CompileRequest }, String(k));
      if (answer.kind === "bug") throw new Error(`${all[k]?.filename}: ${answer.detail}`);
      if (answer.kind === "record") compiled++;
      hashes[k] = hashOf(answer.kind === "record" ? answer.record : JSON.stringify(answer.diagnostics));
    }
  };
  try {
    await Promise.all(Array.from({ length: workers }, one));
  } finally {
    await pool.close();
  }
  return { hashes, compiled };
}

/** The digest that the suite prints under another Node; a message where it prints none. */
function elsewhere(node: string, roots: readonly string[]): string {
  const args = [...process.execArgv, process.argv[1] as string, "determinism", ...roots.flatMap((r) => ["--root", r])];
  const { stdout, stderr, error } = spawnSync(node, args, { encoding: "utf8", maxBuffer: 1 << 26 });
  if (error !== undefined) return `${node}: ${error.message}`;
  return stdout.trim().split("\n").at(-1) || `${node}: ${stderr.trim().split("\n").at(-1) ?? "says nothing"}`;
}

export async function determinismConformance(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: { root: { type: "string", multiple: true }, node: { type: "string", multiple: true } },
  });
  const roots = values.root ?? ["examples/kernels"];
  const all = roots.flatMap(requestsOf);
  const first = await byThread(all);
  const digest = hashOf(first.hashes.join());
  const line = `${first.compiled} of ${all.length} compile: ${digest}`;
  let good = true;
  const passes = [
    ["forwards by two workers", await byWorkers(all, 2, false)],
    ["backwards by three workers", await byWorkers(all, 3, true)],
  ] as const;
  for (const [name, { hashes }] of passes) {
    const other = all.filter((_, k) => hashes[k] !== first.hashes[k]);
    console.log(`${name}: ${other.length} differ`);
    for (const { filename, options } of other) console.log(`  ${filename} level ${options.optimization}`);
    good &&= other.length === 0;
  }
  for (const node of values.node ?? []) {
    const found = elsewhere(node, roots);
    const same = found.endsWith(line);
    console.log(`${found}${same ? "" : " — other bytes"}`);
    good &&= same;
  }
  console.log(`${process.version} ${line}`);
  return good && first.compiled > 0;
}
