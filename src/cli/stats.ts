import { type Dirent, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type Diagnostic, distFile, fileProblem, formatDiagnostic } from "../base/index.ts";
import { type CompileRequest, type CompileResult, decodeRecord } from "../codeobj/index.ts";
import { CompilePool, readBuildInfo, ServiceError } from "../service/index.ts";
import { type Bound, brokenBounds, parseBudget } from "./budget.ts";
import { showDiagnostics } from "./diagnostics.ts";
import { CliError, complain, print, type ServeSettings } from "./environment.ts";
import { xml } from "./junit.ts";
import { ProgressLine } from "./progress.ts";
import { asking, remoteService } from "./remote.ts";
import { requestOf, type SourceFlags } from "./source-files.ts";
import { type Compared, csvOf, type StatRow, statNames, tableOf, totalOf } from "./stat-rows.ts";

export interface StatsFlags extends SourceFlags {
  readonly format: "table" | "json" | "csv" | "junit";
  readonly save?: string;
  readonly compare?: string;
  readonly budget?: string;
  readonly output?: string;
}

interface Failure {
  readonly name: string;
  readonly reason: string;
}

interface Report {
  readonly rows: readonly Compared[];
  readonly total: Compared;
  readonly failures: readonly Failure[];
  /** Saved shaders that are no more, and shaders that were not saved. */
  readonly gone: readonly string[];
  readonly added: readonly string[];
  readonly isCompared: boolean;
}

const compileMemoryMb = 1024;

/** The shaders among paths: files as given, and those below folders. Errors: `CliError` 2. */
function findShaders(paths: readonly string[]): string[] {
  const found = paths.flatMap((path) => {
    if (path === "-") return [path];
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) throw new CliError(2, `there is no ${path}`);
    return stat.isDirectory() ? shadersBelow(path) : [path];
  });
  if (found.length === 0) throw new CliError(2, `no shaders below ${paths.join(" ")}`);
  return [...new Set(found)];
}

function shadersBelow(folder: string): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw new CliError(3, `${folder}: ${fileProblem(error)}`);
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return shadersBelow(path);
    return /\.(comp|vert|frag|spv|spvasm)$/.test(entry.name) ? [path] : [];
  });
}

/** The rows of a file that `--save` wrote. Errors: `CliError` 2. */
function readSaved(file: string): Map<string, StatRow> {
  let parsed: { shaders?: unknown };
  try {
    parsed = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new CliError(2, `--compare ${file}: ${fileProblem(error)}`);
  }
  const { shaders } = parsed;
  const isRow = (row: unknown): row is StatRow =>
    typeof row === "object" &&
    row !== null &&
    typeof (row as StatRow).name === "string" &&
    statNames.every((name) => typeof (row as StatRow).stats?.[name] === "number");
  if (!Array.isArray(shaders) || !shaders.every(isRow)) {
    throw new CliError(2, `--compare ${file}: this is no file that --save wrote`);
  }
  return new Map(shaders.map((row) => [row.name, row]));
}

type Compile = (request: CompileRequest, name: string) => Promise<CompileResult>;

/** Compiles in worker threads with the service's limits, or on a service. */
function compilerOf(settings: ServeSettings, jobs: number): { readonly compile: Compile; close(): Promise<void> } {
  const service = remoteService(settings);
  if (service !== undefined) return { compile: (request) => asking(service.compile(request)), close: async () => {} };
  const pool = new CompilePool({
    workerFile: distFile("compile-worker.js"),
    workers: jobs,
    maxWaiting: jobs,
    timeLimitMs: settings.timeLimitMs,
    memoryLimitMb: compileMemoryMb,
  });
  const compile: Compile = async (request, name) => {
    const answer = await pool.run({ request }, name);
    if (answer.kind === "bug")
      throw new CliError(3, `${name}: the compiler failed, which is our mistake: ${answer.detail}`);
    if (answer.kind === "refused") return { ok: false, diagnostics: answer.diagnostics };
    const record = decodeRecord(answer.record);
    if (record === undefined) throw new CliError(3, `${name}: the compiler's answer cannot be read`);
    return { ok: true, record };
  };
  return { compile, close: () => pool.close() };
}

const firstError = (diagnostics: readonly Diagnostic[]) => {
  const error = diagnostics.find(({ severity }) => severity === "error");
  return error === undefined ? "does not compile" : formatDiagnostic(error);
};

/** Compiles every shader; what fails is told and the others go on. */
async function measure(names: readonly string[], flags: StatsFlags, settings: ServeSettings) {
  const jobs = Math.min(availableParallelism(), names.length);
  const compiler = compilerOf(settings, jobs);
  const measured: (StatRow | Failure | undefined)[] = names.map(() => undefined);
  const progress = new ProgressLine("compiled", names.length);
  const one = async (name: string): Promise<StatRow | Failure> => {
    try {
      const result = await compiler.compile(requestOf(name, flags), name);
      if (result.ok) return { name, stats: result.record.stats };
      showDiagnostics(result.diagnostics);
      return { name, reason: firstError(result.diagnostics) };
    } catch (error) {
      const isHere = error instanceof ServiceError || (error instanceof CliError && error.status === 1);
      if (!isHere) throw error;
      complain(error instanceof ServiceError ? `${name}: ${error.message}` : error.message);
      return { name, reason: error.message };
    }
  };
  let [next, done] = [0, 0];
  const lane = async () => {
    for (let at = next++; at < names.length; at = next++) {
      measured[at] = await one(names[at] as string);
      progress.show(++done);
    }
  };
  try {
    await Promise.all(Array.from({ length: jobs }, lane));
  } finally {
    progress.end();
    await compiler.close();
  }
  const rows = measured.filter((row): row is StatRow => row !== undefined && "stats" in row);
  const failures = measured.filter((row): row is Failure => row !== undefined && "reason" in row);
  return { rows, failures };
}

function reportOf(
  rows: readonly StatRow[],
  failures: readonly Failure[],
  saved: ReadonlyMap<string, StatRow> | undefined,
  bounds: readonly Bound[],
): Report {
  const compare = (row: StatRow): Compared => {
    const before = saved?.get(row.name);
    return { row, saved: before, broken: brokenBounds(row, before, bounds) };
  };
  const known = new Set([...rows, ...failures].map(({ name }) => name));
  const gone = [...(saved?.keys() ?? [])].filter((name) => !known.has(name));
  const added = saved === undefined ? [] : [...known].filter((name) => !saved.has(name));
  const before = rows.flatMap(({ name }) => saved?.get(name) ?? []);
  // The totals of the same shaders, then and now.
  const total = { row: totalOf(rows), saved: before.length === rows.length ? totalOf(before) : undefined, broken: [] };
  return { rows: rows.map(compare), total, failures, gone, added, isCompared: saved !== undefined };
}

function junitOf({ rows, failures }: Report): string {
  const failed = failures.length + rows.filter(({ broken }) => broken.length > 0).length;
  const one = (name: string, reason?: string) => {
    const head = `  <testcase classname="kiln.stats" name="${xml(name)}"`;
    if (reason === undefined) return `${head}/>`;
    return `${head}><failure message="${xml(reason.split("\n", 1)[0] ?? "")}">${xml(reason)}</failure></testcase>`;
  };
  const cases = [
    ...rows.map(({ row, broken }) => one(row.name, broken.length > 0 ? broken.join("\n") : undefined)),
    ...failures.map(({ name, reason }) => one(name, reason)),
  ];
  const head = `<testsuite name="kiln stats" tests="${cases.length}" failures="${failed}">`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${head}\n${cases.join("\n")}\n</testsuite>\n`;
}

function jsonOf({ rows, total, failures, gone, added, isCompared }: Report): string {
  const differences = ({ row, saved }: Compared) =>
    saved && Object.fromEntries(statNames.map((name) => [name, row.stats[name] - saved.stats[name]]));
  const shaders = rows.map((compared) => ({
    ...compared.row,
    ...(isCompared && { difference: differences(compared) ?? null, overBudget: compared.broken }),
  }));
  const all = {
    compiler: readBuildInfo(),
    shaders,
    total: { ...total.row.stats },
    ...(isCompared && { totalDifference: differences(total) ?? null, gone, added }),
    failures,
  };
  return JSON.stringify(all, null, 2);
}

function rendered(report: Report, format: StatsFlags["format"]): string {
  const all = [...report.rows, report.total];
  switch (format) {
    case "table":
      return tableOf(all);
    case "csv":
      return csvOf(all, report.isCompared);
    case "json":
      return jsonOf(report);
    case "junit":
      return junitOf(report);
  }
}

function writeText(file: string, text: string): void {
  try {
    writeFileSync(file, text.endsWith("\n") ? text : `${text}\n`);
  } catch (error) {
    throw new CliError(3, `${file}: cannot write it: ${fileProblem(error)}`);
  }
}

/** A row a shader, a total, and how they differ from a saved file. Answers the exit status: 1 for a bad shader or over budget. */
export async function stats(paths: readonly string[], flags: StatsFlags, settings: ServeSettings): Promise<0 | 1> {
  const bounds = flags.budget === undefined ? [] : parseBudget(flags.budget);
  const saved = flags.compare === undefined ? undefined : readSaved(flags.compare);
  const relative = bounds.find(({ kind }) => kind !== "value");
  if (saved === undefined && relative !== undefined) {
    throw new CliError(2, `--budget ${relative.text} needs the file of an earlier --save: give --compare FILE`);
  }
  const { rows, failures } = await measure(findShaders(paths), flags, settings);
  const report = reportOf(rows, failures, saved, bounds);
  const text = rendered(report, flags.format);
  if (flags.output === undefined || flags.output === "-") print(text);
  else writeText(flags.output, text);
  for (const name of report.gone) complain(`${name}: saved, but no longer among the shaders`);
  for (const name of report.added) complain(`${name}: new, there is nothing saved to compare it with`);
  for (const { row, broken } of report.rows)
    for (const reason of broken) complain(`${row.name}: over budget: ${reason}`);
  if (flags.save !== undefined) {
    writeText(flags.save, JSON.stringify({ compiler: readBuildInfo(), shaders: rows }, null, 2));
  }
  return failures.length > 0 || report.rows.some(({ broken }) => broken.length > 0) ? 1 : 0;
}
