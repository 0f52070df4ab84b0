/**
 * `npx tsx scripts/determinism.ts --corpus DIR… [--node PATH]…`: does the same input give the same bytes? Compiles the
 * compute shaders below the folders (`.comp`, `.spv`) at each level, in two orders and in two instances of the core, and
 * prints one hash over all code objects; with `--node` the same in another Node, whose hash must be the same. Exits 1
 * where anything differs.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type CompileRequest, defaultRequest } from "../src/codeobj/index.ts";
import { compileShader } from "../src/compile/index.ts";
import { createCore } from "../src/core/index.ts";

const values = (name: string): string[] =>
  process.argv.flatMap((word, i) => (process.argv[i - 1] === name ? [word] : []));

function requests(folders: readonly string[]): CompileRequest[] {
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(comp|spv)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  return files.sort().flatMap((file) =>
    ([0, 1, 2] as const).map((optimization): CompileRequest => {
      const options = { ...defaultRequest.options, optimization };
      const base = { ...defaultRequest, options, stage: "compute", filename: "shader" } as const;
      return file.endsWith(".spv")
        ? { ...base, language: "spirv", spirv: readFileSync(file) }
        : { ...base, language: "glsl", source: readFileSync(file, "utf8") };
    }),
  );
}

const folders = values("--corpus");
const all = requests(folders.length > 0 ? folders : ["examples/kernels"]);

/** Hash of each code object by the request's number; what is refused counts by its messages. */
async function pass(order: readonly number[]): Promise<string[]> {
  const core = await createCore();
  const hashes: string[] = [];
  for (const k of order) {
    const outcome = compileShader(all[k] as CompileRequest, core);
    const bytes = outcome.ok ? outcome.record.elf : JSON.stringify(outcome.diagnostics);
    hashes[k] = createHash("sha256").update(bytes).digest("hex");
  }
  return hashes;
}

const order = all.map((_, k) => k);
const first = await pass(order);
const second = await pass([...order].reverse());
const differing = order.filter((k) => first[k] !== second[k]);
const digest = createHash("sha256").update(first.join()).digest("hex");
console.log(`${process.version} ${all.length} compiles ${digest}`);
if (differing.length > 0) {
  console.error(`${differing.length} differ in another order`);
  process.exitCode = 1;
}
for (const node of values("--node")) {
  const script = process.argv[1] as string;
  const args = [...process.execArgv, script, ...folders.flatMap((folder) => ["--corpus", folder])];
  const { stdout, status, error } = spawnSync(node, args, { encoding: "utf8" });
  const line = stdout?.trim().split("\n").at(-1) ?? "";
  console.log(error === undefined ? line : `${node}: ${error.message}`);
  if (status !== 0 || !line.endsWith(digest)) {
    console.error(`${node} gives other bytes`);
    process.exitCode = 1;
  }
}
