import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { type Diagnostic, fileProblem, formatDiagnostic, invariant } from "../base/index.ts";
import { makeFolder } from "../cache/index.ts";
import type { CompileRecord, CompileRequest } from "../codeobj/index.ts";
import type { CompileReports } from "../compile/index.ts";
import { type CompileService, createLocalCompiler, recordAssembly, ServiceError } from "../service/index.ts";
import { disassemble } from "../spirv/index.ts";
import { debugDump, showDebug } from "./debug-output.ts";
import { CliError, complain, print, type ServeSettings } from "./environment.ts";
import { openService } from "./open-service.ts";
import { ProgressLine } from "./progress.ts";
import { asking, remoteCompiler, remoteService } from "./remote.ts";
import { requestOf, type SourceFlags } from "./source-files.ts";

type EmitKind = "elf" | "asm" | "spirv" | "spirv-asm" | "ir" | "stats" | "json";

export interface CompileFlags extends SourceFlags {
  readonly emit: EmitKind;
  readonly dumpAfter?: string;
  readonly output?: string;
  readonly server?: string;
  readonly warm?: boolean;
  readonly cacheDir?: string;
}

interface Compiled {
  readonly record: CompileRecord;
  readonly reports: CompileReports;
}

const suffixes: Readonly<Record<EmitKind, string>> = {
  elf: "elf",
  asm: "s",
  spirv: "spv",
  "spirv-asm": "spvasm",
  ir: "ir",
  stats: "stats.json",
  json: "json",
};

/** Names no pass: the core then reports the last IR only. */
const finalIr = ["none"];

/** The request of a file; undefined for one that cannot be read, which is told. Errors: `CliError` 2 of its flags. */
function readableRequest(file: string, flags: SourceFlags): CompileRequest | undefined {
  try {
    return requestOf(file, flags);
  } catch (error) {
    if (!(error instanceof CliError) || error.status !== 1) throw error;
    complain(error.message);
    return undefined;
  }
}

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

/** Compiles each file; a bad or unreadable one is told and the others go on. Answers the exit status. */
export async function compileFiles(
  files: readonly string[],
  flags: CompileFlags,
  settings: ServeSettings,
): Promise<0 | 1> {
  if (flags.warm === true) return warmCache(files, flags, settings);
  const service = remoteService(settings);
  const { debug } = settings;
  const compiler =
    service === undefined ? createLocalCompiler({ checked: debug.includes("validate") }) : remoteCompiler(service);
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
    const started = performance.now();
    const wanted = dump ?? debugDump(debug) ?? (flags.emit === "ir" ? finalIr : undefined);
    const outcome = await compiler.compileWithReports(request, wanted);
    const microseconds = (performance.now() - started) * 1000;
    showDiagnostics(outcome.ok ? outcome.record.diagnostics : outcome.diagnostics);
    if (!outcome.ok) {
      bad++;
      continue;
    }
    if (outcome.reports === undefined) throw new CliError(3, "the compiler gave no reports");
    const compiled = { record: outcome.record, reports: outcome.reports };
    showDebug(debug, file, outcome.record, microseconds, outcome.reports);
    if (dump !== undefined) showPasses(compiled.reports);
    write(targetOf(file), emitted(compiled, request, flags.emit));
  }
  return bad === 0 ? 0 : 1;
}

/** Compiles each file into the cache, a folder's or a service's, and writes nothing. Answers the exit status. */
async function warmCache(files: readonly string[], flags: CompileFlags, settings: ServeSettings): Promise<0 | 1> {
  const remote = remoteService(settings);
  const service = remote === undefined ? openService({ ...settings, verifyRate: 0 }) : undefined;
  const progress = new ProgressLine("warmed", files.length);
  let [compiled, found, bad, done, next] = [0, 0, 0, 0, 0];
  const lane = async () => {
    for (let at = next++; at < files.length; at = next++) {
      const request = readableRequest(files[at] as string, flags);
      const answer =
        request &&
        (service === undefined ? await asking(remoteAnswer(remote, request)) : await warmed(service, request));
      if (answer === undefined) bad++;
      else if (answer === "miss") compiled++;
      else if (typeof answer === "string") found++;
      else {
        bad++;
        showDiagnostics(answer);
      }
      progress.show(++done);
    }
  };
  try {
    await Promise.all(Array.from({ length: settings.workers + 1 }, lane));
  } finally {
    progress.end();
    await service?.close(settings.drainMs);
  }
  print(`${compiled} compiled, ${found} were there, ${bad} failed`);
  return bad === 0 ? 0 : 1;
}

type Warmed = string | readonly Diagnostic[];

async function warmed(service: CompileService, request: CompileRequest): Promise<Warmed | undefined> {
  try {
    const answer = await service.compile(request);
    return answer.ok ? answer.cache : answer.diagnostics;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    complain(`${request.filename}: ${error.message}`);
    return undefined;
  }
}

async function remoteAnswer(client: ReturnType<typeof remoteService>, request: CompileRequest): Promise<Warmed> {
  invariant(client !== undefined, "a service was named");
  const result = await client.compileWith(request, []);
  return result.ok ? result.answer.cache : result.diagnostics;
}

export function showDiagnostics(diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics) {
    complain(formatDiagnostic(diagnostic));
    for (const note of diagnostic.notes ?? []) {
      complain(`${note.file}:${note.line}:${note.column}: note: ${note.message}`);
    }
  }
}

function showPasses(reports: CompileReports): void {
  let shown = 0;
  for (const pass of reports.passes) {
    if (pass.ir === undefined) continue;
    shown++;
    complain(`; after ${pass.name}: ${pass.instructions} instructions\n${pass.ir}`);
  }
  if (shown === 0) {
    const names = reports.passes.map(({ name }) => name).join(" ");
    throw new CliError(2, `--dump-after: no such pass; there are: ${names} (or all)`);
  }
}

function emitted({ record, reports }: Compiled, request: CompileRequest, emit: EmitKind): string | Uint8Array {
  switch (emit) {
    case "elf":
      return record.elf;
    case "asm":
      return recordAssembly(record);
    case "spirv":
      return new Uint8Array(reports.spirv.buffer, reports.spirv.byteOffset, reports.spirv.byteLength);
    case "spirv-asm":
      return disassemble(reports.spirv);
    case "ir":
      return reports.ir ?? "";
    case "stats":
      return `${JSON.stringify(record.stats, null, 2)}\n`;
    case "json":
      return `${JSON.stringify(answerOf(record, request), null, 2)}\n`;
  }
}

/** The fields of the service's answer that a local compile has. */
function answerOf(record: CompileRecord, request: CompileRequest) {
  const { elf, stage, entryPoint, stats, reflection, sourceMap, diagnostics } = record;
  return {
    target: request.target,
    stage,
    entryPoint,
    code: Buffer.from(elf).toString("base64"),
    codeSha256: createHash("sha256").update(elf).digest("hex"),
    codeSizeBytes: stats.codeSizeBytes,
    stats,
    reflection,
    sourceMap,
    diagnostics,
  };
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
  else process.stdout.write(content);
}
