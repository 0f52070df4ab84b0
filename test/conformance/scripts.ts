import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { main } from "../../src/cli/index.ts";
import { loadConfig, searchPath } from "../../src/config.ts";

const usage =
  "usage: npm run conformance -- scripts --root DIR --list FILE… [--compute] [--limit-seconds 5] [--jobs N] [--json FILE]";

interface Result {
  readonly file: string;
  readonly status: "PASS" | "FAIL" | "SKIP";
  readonly reason: string;
  readonly milliseconds: number;
}

/** A script with a stage or a pipeline of graphics or ray tracing, in either dialect. */
const graphics =
  /^\s*(SHADER (vertex|fragment|geometry|tessellation|multi)|\[(vertex|fragment|geometry|tess)|PIPELINE (graphics|ray))/m;

/**
 * Amber and VkScript files of lists (one path a line, below `--root`) on the simulated GPU, with `--compute` only those
 * that have no graphics. Prints what does not pass with its reason, the counts, and the slowest file. True where none
 * fails, none is missing, and none takes longer than the limit.
 */
export async function scriptConformance(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      root: { type: "string" },
      list: { type: "string", multiple: true },
      compute: { type: "boolean", default: false },
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
  const all = list.flatMap((file) => readFileSync(file, "utf8").split(/\r?\n/)).filter((line) => line.trim() !== "");
  const missing = all.filter((name) => !existsSync(join(root, name)));
  for (const name of missing) console.log(`MISSING ${name}`);
  const wanted = all.filter(
    (name) => !missing.includes(name) && !(values.compute && graphics.test(readFileSync(join(root, name), "utf8"))),
  );
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
  return (
    of("FAIL").length === 0 && missing.length === 0 && slowest.milliseconds <= Number(values["limit-seconds"]) * 1000
  );
}
