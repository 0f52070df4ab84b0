import { writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { clockUs, fileProblem, invariant } from "../base/index.ts";
import { makeFolder } from "../cache/index.ts";
import type { CompileReports } from "../compile/index.ts";
import { createLocalCompiler } from "../service/index.ts";
import type { EmitKind } from "./compile-emit.ts";
import { showDiagnostics } from "./diagnostics.ts";
import { CliError, complain, print, printBytes, type ServeSettings } from "./environment.ts";
import { readableRequest, type SourceFlags } from "./source-files.ts";

export interface CompileFlags extends SourceFlags {
  readonly emit: EmitKind;
  readonly dumpAfter?: string;
  readonly output?: string;
  readonly server?: string;
  readonly warm?: boolean;
  readonly cacheDir?: string;
}

const suffixes: Readonly<Record<EmitKind, string>> = {
  elf: "elf",
  asm: "s",
  spirv: "spv",
  "spirv-asm": "spvasm",
  ir: "ir",
  stats: "stats.json",
  json: "json",
  passes: "passes.json",
  cfg: "cfg.json",
  liveRegisters: "live-registers.json",
};

/** Names no pass: the core then reports the last IR only. */
const finalIr = ["none"];
/** What the core must report for what is to be written. */
const reportsFor: Partial<Record<EmitKind, readonly string[]>> = { ir: finalIr, passes: [] };

/** Refuses two inputs that would write the same output file. */
function refuseClashes(files: readonly string[], targetOf: (file: string) => string): void {
  const sources = new Map<string, string>();
  for (const file of files) {
    const target = targetOf(file);
    if (target === "-") continue;
    const other = sources.get(target);
    if (other !== undefined && resolve(other) !== resolve(file)) {
      throw new CliError(2, `${other} and ${file} would both be written to ${target}: compile them one at a time`);
    }
    sources.set(target, file);
  }
}

function makeOutputFolder(folder: string): void {
  try {
    makeFolder(folder);
  } catch (error) {
    throw new CliError(3, `${folder}: cannot make this folder: ${fileProblem(error)}`);
  }
}

async function compilerOf(settings: ServeSettings, core?: Promise<WebAssembly.Module>) {
  const { server, debug } = settings;
  if (server === undefined)
    return createLocalCompiler({ checked: debug.includes("validate"), ...(core !== undefined && { module: core }) });
  const { remoteCompiler, remoteService } = await import("./remote.ts");
  const service = remoteService(settings);
  invariant(service !== undefined, "a service was named");
  return remoteCompiler(service);
}

/**
 * Compiles each file; a bad or unreadable one is told and the others go on. `core`: the release build of the compiler,
 * where it is on its way already. Answers the exit status.
 */
export async function compileFiles(
  files: readonly string[],
  flags: CompileFlags,
  settings: ServeSettings,
  core?: Promise<WebAssembly.Module>,
): Promise<0 | 1> {
  // What only some need is loaded when they do: of a single compile a good part is loading.
  if (flags.warm === true) {
    const { warmCache } = await import("./compile-warm.ts");
    return warmCache(files, flags, settings);
  }
  const { debug } = settings;
  const compiler = await compilerOf(settings, core);
  const debugOutput = debug.length > 0 ? await import("./debug-output.ts") : undefined;
  const into = files.length > 1 ? flags.output : undefined;
  const targetOf = (file: string) => targetPath(file, flags, into);
  refuseClashes(files, targetOf);
  if (into !== undefined && into !== "-") makeOutputFolder(into);
  const dump = flags.dumpAfter === undefined ? undefined : [flags.dumpAfter];
  let bad = 0;
  for (const file of files) {
    const request = readableRequest(file, flags);
    if (request === undefined) {
      bad++;
      continue;
    }
    const started = clockUs();
    const wanted = dump ?? debugOutput?.debugDump(debug) ?? reportsFor[flags.emit];
    const outcome = await compiler.compileWithReports(request, wanted);
    const microseconds = clockUs() - started;
    showDiagnostics(outcome.ok ? outcome.record.diagnostics : outcome.diagnostics);
    if (!outcome.ok) {
      bad++;
      continue;
    }
    if (outcome.reports === undefined) throw new CliError(3, "the compiler gave no reports");
    const { record, reports } = outcome;
    debugOutput?.showDebug(debug, file, record, microseconds, reports);
    if (flags.dumpAfter !== undefined) await showPasses(reports, flags.dumpAfter, request.options.optimization);
    if (flags.emit === "elf") write(targetOf(file), record.elf);
    else {
      const { emitted } = await import("./compile-emit.ts");
      write(targetOf(file), emitted({ record, reports }, request, flags.emit));
    }
  }
  return bad === 0 ? 0 : 1;
}

/** Prints the IR after each pass that was asked for. Errors: `CliError` where there is none. */
async function showPasses(reports: CompileReports, wanted: string, level: number): Promise<void> {
  let shown = 0;
  for (const pass of reports.passes) {
    if (pass.ir === undefined) continue;
    shown++;
    complain(`; after ${pass.name}: ${pass.instructions} instructions\n${pass.ir}`);
  }
  if (shown > 0) return;
  const { passNumbers } = await import("../ir/index.ts");
  // a pass that is repeated has a report for each time
  const ran = [...new Set(reports.passes.filter(({ machine }) => !machine).map(({ name }) => name))].join(" ");
  throw new CliError(
    2,
    passNumbers.has(wanted)
      ? `--dump-after: ${wanted} does not run for this shader at -O ${level}; these do: ${ran} (or all)`
      : `--dump-after: no such pass; at -O ${level} there are: ${ran} (or all)`,
  );
}

/** Text goes to standard output unless `-o` names a file; an ELF or SPIR-V binary to a file beside the caller unless `-o -`. */
function targetPath(file: string, flags: CompileFlags, into: string | undefined): string {
  const own = `${file === "-" ? "stdin" : basename(file)}.${suffixes[flags.emit]}`;
  if (into !== undefined && into !== "-") return join(into, own);
  const isBinary = flags.emit === "elf" || flags.emit === "spirv";
  return flags.output ?? (isBinary ? own : "-");
}

function write(target: string, content: string | Uint8Array): void {
  if (target !== "-") {
    try {
      writeFileSync(target, content);
    } catch (error) {
      throw new CliError(3, `${target}: cannot write it: ${fileProblem(error)}`);
    }
  } else if (typeof content === "string") print(content);
  else printBytes(content);
}
