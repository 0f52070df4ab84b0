import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { createPoolCompiler, type RunWatch, runFile, type ScriptResult } from "../amber/index.ts";
import { distFile, fileProblem } from "../base/index.ts";
import { CompilePool, type RunReport } from "../service/index.ts";
import { bisect } from "./bisect.ts";
import { driverCompiler } from "./driver-compiler.ts";
import { CliError, complain, print, type ServeSettings } from "./environment.ts";
import { xml } from "./junit.ts";
import { processSwitches, switchedMachine } from "./switches.ts";

export interface RunFlags {
  readonly root?: string;
  readonly list?: readonly string[];
  readonly jobs?: string;
  readonly timeoutSeconds: string;
  readonly engine: string;
  readonly repeat: string;
  readonly seed?: string;
  readonly coherence?: boolean;
  readonly counters?: boolean;
  readonly json?: string | boolean;
  readonly junit?: string;
  readonly fromComments?: boolean;
  readonly bisect?: boolean;
}

/** A script's result, and what the machine counted meanwhile. */
interface ScriptRun extends ScriptResult {
  readonly machine: RunReport;
}

interface ScriptFile {
  readonly path: string;
  /** What the lines of the run call it. */
  readonly name: string;
}

const memoryBytes = 512 << 20;
const compileMemoryMb = 1024;

function count(text: string, option: string, least = 1): number {
  const value = Number(text);
  if (text === "" || !Number.isSafeInteger(value) || value < least)
    throw new CliError(2, `${option}: ${text} is no number of ${least} or more`);
  return value;
}

/** Scripts of the given files and folders, and of lists whose paths count from `--root`. */
function findScripts(paths: readonly string[], { root = ".", list = [], fromComments }: RunFlags): ScriptFile[] {
  const wanted = fromComments === true ? /\.(amber|vkscript|comp)$/ : /\.(amber|vkscript)$/;
  const found: ScriptFile[] = [];
  for (const path of paths) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) throw new CliError(2, `there is no ${path}`);
    if (!stat.isDirectory()) found.push({ path, name: path });
    else {
      const names = readdirSync(path, { recursive: true, encoding: "utf8" }).sort();
      for (const name of names) if (wanted.test(name)) found.push({ path: join(path, name), name: join(path, name) });
    }
  }
  for (const file of list) {
    let text: string;
    try {
      text = readFileSync(file, "utf8");
    } catch (error) {
      throw new CliError(2, `--list ${file}: ${fileProblem(error)}`);
    }
    for (const name of text.split(/\r?\n/).map((line) => line.trim())) {
      if (name !== "") found.push({ path: join(root, name), name });
    }
  }
  if (found.length === 0) throw new CliError(2, "no scripts: give a PATH or a --list");
  return found;
}

function lineOf({ status, file, line, reason }: ScriptResult): string {
  const place = line > 0 ? `${file}:${line}` : file;
  return status === "PASS" ? `PASS ${file}` : `${status} ${place}: ${reason.split("\n", 1)[0]}`;
}

function junitOf(results: readonly ScriptResult[], counts: Counts): string {
  const cases = results.map(({ file, status, line, reason, milliseconds }) => {
    const head = `<testcase classname="kiln.run" name="${xml(file)}" time="${(milliseconds / 1000).toFixed(3)}"`;
    if (status === "PASS") return `  ${head}/>`;
    const tag = status === "FAIL" ? "failure" : "skipped";
    return `  ${head}><${tag} message="${xml(`${file}:${line}: ${reason.split("\n", 1)[0]}`)}">${xml(reason)}</${tag}></testcase>`;
  });
  const head = `<testsuite name="kiln run" tests="${results.length}" failures="${counts.failed}" skipped="${counts.skipped}">`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n${head}\n${cases.join("\n")}\n</testsuite>\n`;
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

function countsOf(results: readonly ScriptResult[]): Counts {
  const of = (status: ScriptResult["status"]) => results.filter((result) => result.status === status).length;
  return { passed: of("PASS"), failed: of("FAIL"), skipped: of("SKIP") };
}

/** Runs scripts on simulated machines, one a job. Answers the exit status: 1 where one fails. */
export async function run(paths: readonly string[], flags: RunFlags, settings: ServeSettings): Promise<0 | 1> {
  const scripts = findScripts(paths, flags);
  const jobs = Math.min(count(flags.jobs ?? String(Math.min(availableParallelism(), 4)), "--jobs"), scripts.length);
  const timeoutMs = count(flags.timeoutSeconds, "--timeout-seconds") * 1000;
  const repeat = count(flags.repeat, "--repeat");
  const seed = flags.seed === undefined ? undefined : count(flags.seed, "--seed", 0);
  if (flags.engine === "translate") throw new CliError(2, "--engine translate: there is no translator yet");
  const pool = new CompilePool({
    workerFile: distFile("compile-worker.js"),
    workers: jobs,
    maxWaiting: scripts.length,
    timeLimitMs: timeoutMs,
    memoryLimitMb: compileMemoryMb,
  });
  const compiler = driverCompiler(settings, () => createPoolCompiler(pool));
  const quiet = flags.json === true || flags.json === "-";
  const results: (ScriptRun | undefined)[] = scripts.map(() => undefined);
  let printed = 0;
  const report = () => {
    for (; printed < results.length; printed++) {
      const result = results[printed];
      if (result === undefined) return;
      if (!quiet) print(lineOf(result));
      if (result.status === "FAIL" && result.reason.includes("\n")) complain(result.reason);
    }
  };
  let next = 0;
  const machineOf = (machineSeed: number | undefined) =>
    switchedMachine(settings, "kiln run", {
      memoryBytes,
      coherence: flags.coherence === true,
      counters: flags.counters === true,
      ...(machineSeed !== undefined && { seed: machineSeed }),
    });
  const options = {
    compiler,
    timeoutMs,
    process: processSwitches(settings),
    ...(flags.fromComments === undefined ? {} : { fromComments: flags.fromComments }),
  };
  const work = async () => {
    const shared = repeat === 1 && flags.bisect !== true ? machineOf(seed) : undefined;
    try {
      for (let at = next++; at < scripts.length; at = next++) {
        const { path, name } = scripts[at] as ScriptFile;
        if (shared !== undefined) {
          shared.takeReport();
          const result = await runFile(path, name, { machine: shared, ...options });
          results[at] = { ...result, machine: shared.takeReport() };
        } else results[at] = await repeated(at, seed ?? 0);
        report();
      }
    } finally {
      await shared?.close();
    }
  };
  /** The first run that does not pass is the answer, and names its seed. */
  const repeated = async (at: number, firstSeed: number): Promise<ScriptRun> => {
    const { path, name } = scripts[at] as ScriptFile;
    let milliseconds = 0;
    for (let i = 0; ; i++) {
      const machine = machineOf(firstSeed + i);
      try {
        const result = await runFile(path, name, { machine, ...options });
        milliseconds += result.milliseconds;
        const report = { milliseconds, machine: machine.takeReport() };
        if (result.status === "FAIL" && flags.bisect === true) {
          const run = (watch: RunWatch) => runFile(path, name, { machine, ...options, watch });
          const found = await bisect(result, run);
          return { ...found, ...report, reason: `seed ${firstSeed + i}: ${found.reason}` };
        }
        if (result.status === "FAIL")
          return { ...result, ...report, reason: `seed ${firstSeed + i}: ${result.reason}` };
        if (result.status === "SKIP" || i + 1 === repeat) return { ...result, ...report };
      } finally {
        await machine.close();
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: jobs }, work));
  } finally {
    await pool.close();
  }
  const all = results.filter((result) => result !== undefined);
  const counts = countsOf(all);
  write(flags, all, counts);
  if (!quiet) {
    const slowest = all.reduce((a, b) => (b.milliseconds > a.milliseconds ? b : a));
    print(`slowest: ${slowest.file}, ${(slowest.milliseconds / 1000).toFixed(2)} s`);
    print(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  }
  return counts.failed > 0 ? 1 : 0;
}

function write({ json, junit }: RunFlags, results: readonly ScriptResult[], counts: Counts): void {
  if (junit !== undefined) writeFileSync(junit, junitOf(results, counts));
  if (json === undefined || json === false) return;
  const text = `${JSON.stringify({ ...counts, files: results }, undefined, 2)}\n`;
  if (json === true || json === "-") process.stdout.write(text);
  else writeFileSync(json, text);
}
