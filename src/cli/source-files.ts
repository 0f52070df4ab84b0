import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileProblem } from "../base/index.ts";
import { type CompileRequest, defaultRequest, type SpecializationValue, type Stage } from "../codeobj/index.ts";
import { CliError, complain } from "./environment.ts";

/** The flags that `compile` and `exec` share. */
export interface SourceFlags {
  readonly stage?: string;
  readonly entry?: string;
  readonly D?: readonly string[];
  readonly I?: readonly string[];
  readonly O?: string;
  readonly dialect?: string;
  readonly mainImage?: boolean;
  readonly spec?: readonly string[];
}

const stages: Readonly<Record<string, Stage>> = {
  comp: "compute",
  vert: "vertex",
  frag: "fragment",
  compute: "compute",
  vertex: "vertex",
  fragment: "fragment",
};

const suffixOf = (path: string) => /\.([^./]+)$/.exec(path)?.[1] ?? "";

function readInput(path: string): Buffer {
  try {
    return readFileSync(path === "-" ? 0 : path);
  } catch (error) {
    throw new CliError(1, `${path}: ${fileProblem(error)}`);
  }
}

function stageOf(path: string, flags: SourceFlags): Stage | undefined {
  if (flags.stage === undefined) return stages[suffixOf(path)];
  const stage = stages[flags.stage];
  if (stage === undefined) throw new CliError(2, `--stage ${flags.stage}: expected comp, vert or frag`);
  return stage;
}

/** `NAME=VALUE`, or `NAME` for 1. */
function definesOf(flags: SourceFlags): Record<string, string> {
  return Object.fromEntries(
    (flags.D ?? []).map((text) => {
      const at = text.indexOf("=");
      return at < 0 ? [text, "1"] : [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

function specializationOf(flags: SourceFlags): SpecializationValue[] {
  const seen = new Set<number>();
  return (flags.spec ?? []).map((text) => {
    const match = /^(\d+)=(true|false|-?\d+|-?\d*\.?\d+(?:[eE][+-]?\d+)?)$/.exec(text);
    if (match === null) throw new CliError(2, `--spec ${text}: expected ID=VALUE`);
    if (seen.has(Number(match[1]))) throw new CliError(2, `--spec ${text}: the id is given twice`);
    seen.add(Number(match[1]));
    const value = match[2] as string;
    if (value === "true" || value === "false") return { id: Number(match[1]), value: value === "true" };
    const number = Number(value);
    return { id: Number(match[1]), value: Number.isInteger(number) && !Number.isSafeInteger(number) ? value : number };
  });
}

const includePattern = /^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)/gm;

/**
 * Every file that an include of the source may mean: beside the including file, then in the `-I` folders. Names count
 * from the shader's folder, as the compiler looks them up.
 */
function gatherIncludes(path: string, source: string, folders: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  const open = [{ name: "", path, source }];
  const add = (name: string, file: string): boolean => {
    if (Object.hasOwn(found, name)) return true;
    let text: string;
    try {
      text = readFileSync(file, "utf8");
    } catch {
      // Not in this folder: the next one may have it, and what none has is the compiler's to report.
      return false;
    }
    found[name] = text;
    open.push({ name, path: file, source: text });
    return true;
  };
  for (let from = open.pop(); from !== undefined; from = open.pop()) {
    for (const [, quoted, angled] of from.source.matchAll(includePattern)) {
      const wanted = quoted ?? angled ?? "";
      const beside = normalize(join(dirname(from.name), wanted));
      if (quoted !== undefined && add(beside, join(dirname(from.path), wanted))) continue;
      folders.some((folder) => add(wanted, join(folder, wanted)));
    }
  }
  return found;
}

/** The compile request of one file. Errors: `CliError` 1 (unreadable), 2 (flags, unknown suffix). */
export function requestOf(path: string, flags: SourceFlags): CompileRequest {
  const optimization = Number(flags.O ?? 2);
  if (optimization !== 0 && optimization !== 1 && optimization !== 2) throw new CliError(2, "-O: expected 0, 1 or 2");
  const dialect = flags.dialect ?? "vulkan";
  if (dialect !== "vulkan" && dialect !== "relaxed") throw new CliError(2, "--dialect: expected vulkan or relaxed");
  const stage = stageOf(path, flags);
  const bytes = readInput(path);
  const filename = path === "-" ? "stdin" : path;
  const request = {
    ...defaultRequest,
    filename,
    ...(stage !== undefined && { stage }),
    ...(flags.entry !== undefined && { entryPoint: flags.entry }),
    defines: definesOf(flags),
    specialization: specializationOf(flags),
    options: { ...defaultRequest.options, optimization, dialect, ...(flags.mainImage === true && { mainImage: true }) },
  } as const;
  const suffix = suffixOf(path);
  if (flags.mainImage === true && stage !== "fragment") throw new CliError(2, "--main-image: a fragment shader has it");
  const isSpirv = bytes.length >= 4 && (bytes.readUInt32LE(0) === 0x07230203 || bytes.readUInt32BE(0) === 0x07230203);
  if (suffix === "spv" || (path === "-" && isSpirv)) return { ...request, language: "spirv", spirv: bytes };
  const source = bytes.toString("utf8");
  if (suffix === "spvasm") return { ...request, language: "spirv-asm", source };
  if (stage === undefined) {
    throw new CliError(2, `${path}: give --stage, or a file named .comp .vert .frag .spv .spvasm`);
  }
  return { ...request, language: "glsl", source, includes: gatherIncludes(filename, source, flags.I ?? []) };
}

/** The request of a file; undefined for one that cannot be read, which is told. Errors: `CliError` 2 of its flags. */
export function readableRequest(file: string, flags: SourceFlags): CompileRequest | undefined {
  try {
    return requestOf(file, flags);
  } catch (error) {
    if (!(error instanceof CliError) || error.status !== 1) throw error;
    complain(error.message);
    return undefined;
  }
}
