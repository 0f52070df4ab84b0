import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { main } from "../../src/cli/index.ts";
import { loadConfig, searchPath } from "../../src/config.ts";

const usage =
  "usage: npm run conformance -- scripts --root DIR --list FILE… [--compute] [--skips FILE] [--count N] [--limit-seconds 5] [--jobs N] [--json FILE]";

interface Result {
  readonly file: string;
  readonly status: "PASS" | "FAIL" | "SKIP";
  readonly reason: string;
  readonly milliseconds: number;
}

/** Lines of a file that hold something. */
function linesOf(file: string): string[] {
  return readFileSync(file, "utf8")
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "");
}

/** A script with a stage or a pipeline of graphics or ray tracing, in either dialect. */
const graphics =
  /^\s*(SHADER (vertex|fragment|geometry|tessellation|multi)|\[(vertex|fragment|geometry|tess)|PIPELINE (graphics|ray))/m;

/**
 * Amber and VkScript files of lists (one path a line, below `--root`) on the simulated GPU, with `--compute` only those
 * that have no graphics. Prints what does not pass with its reason, the counts, and the slowest file. True where none
 * fails, none is missing, none takes longer than the limit, those that are skipped are the ones that `--skips` names (of
 * the lists; none without it), and there are `--count` of them in all, where it is given.
 */
export async function scriptConformance(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      root: { type: "string" },
      list: { type: "string", multiple: true },
      compute: { type: "boolean", default: false },
      skips: { type: "string" },
      count: { type: "string" },
      "limit-seconds": { type: "string", default: "5" },
      jobs: { type: "string", default: "1" },
      json: { type: "string" },
    },
  });
  const { root, list = [] } = values;
  if (root === undefined || list.length === 0) {
    console.error(usage);
    return false;
  }
  const all = list.flatMap(linesOf);
  const missing = all.filter((name) => !existsSync(join(root, name)));
  for (const name of missing) console.log(`MISSING ${name}`);
  const wanted = all.filter(
    (name) => !missing.includes(name) && !(values.compute && graphics.test(readFileSync(join(root, name), "utf8"))),
  );
  if (values.count !== undefined && wanted.length !== Number(values.count)) {
    console.log(`${wanted.length} scripts to run, ${values.count} expected`);
    return false;
  }
  if (wanted.length === 0) {
    console.log("no scripts to run");
    return false;
  }
  const allowed = new Set(values.skips === undefined ? [] : linesOf(values.skips));
  const folder = mkdtempSync(join(tmpdir(), "kiln-scripts-"));
  const [names, json] = [join(folder, "names"), values.json ?? join(folder, "results.json")];
  writeFileSync(names, wanted.join("\n"));
  const command = ["run", "--root", root, "--list", names, "--jobs", values.jobs, "--json", json];
  await main(command, { loadConfig, searchPath: searchPath() });
  const { files } = JSON.parse(readFileSync(json, "utf8")) as { readonly files: readonly Result[] };
  rmSync(folder, { recursive: true });
  const of = (status: Result["status"]) => files.filter((result) => result.status === status);
  const slowest = files.reduce((a, b) => (b.milliseconds > a.milliseconds ? b : a));
  for (const { file, status, reason } of [...of("FAIL"), ...of("SKIP")]) console.log(`${status} ${file}: ${reason}`);
  console.log(
    `${files.length} scripts: ${of("PASS").length} passed, ${of("FAIL").length} failed, ${of("SKIP").length} skipped; ${missing.length} missing`,
  );
  console.log(`slowest: ${slowest.file}, ${(slowest.milliseconds / 1000).toFixed(2)} s`);
  const skipped = new Set(of("SKIP").map(({ file }) => file));
  const unasked = [...skipped].filter((file) => !allowed.has(file));
  const unskipped = wanted.filter((file) => allowed.has(file) && !skipped.has(file));
  for (const file of unasked) console.log(`skipped, and --skips does not name it: ${file}`);
  for (const file of unskipped) console.log(`not skipped, though --skips names it: ${file}`);
  return (
    unasked.length + unskipped.length === 0 &&
    files.length === wanted.length &&
    of("FAIL").length === 0 &&
    missing.length === 0 &&
    slowest.milliseconds <= Number(values["limit-seconds"]) * 1000
  );
}
