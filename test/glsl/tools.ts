import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { formatDiagnostic } from "../../src/base/index.ts";
import { compileGlsl, type GlslRequest, type GlslResult } from "../../src/glsl/index.ts";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");

export interface Shader {
  readonly name: string;
  readonly source: string;
}

function readAll(folder: string): Shader[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".comp"))
    .map((name) => ({ name, source: readFileSync(join(folder, name), "utf8") }));
}

/** The fixtures that must compile: our own and the example kernels. */
export const validShaders: readonly Shader[] = [
  ...readAll(join(here, "valid")),
  ...readAll(join(root, "examples/kernels")),
];

export function compile(source: string, more: Partial<GlslRequest> = {}): GlslResult {
  return compileGlsl({ source, filename: "test.comp", stage: "compute", ...more });
}

/** The module's words; the messages where there is none. */
export function words(source: string, more: Partial<GlslRequest> = {}): Uint32Array {
  const result = compile(source, more);
  if (!result.ok) throw new Error(result.diagnostics.map(formatDiagnostic).join("\n"));
  return result.words;
}

/** `line:column CODE` of each message. */
export function places(source: string, more: Partial<GlslRequest> = {}): string[] {
  return compile(source, more).diagnostics.map(({ line, column, code }) => `${line}:${column} ${code}`);
}

export interface NamedData {
  readonly name: string;
  readonly data: string | Uint8Array;
}

/** Runs a shell command in a folder that holds the files; gives its output. */
export function outputOf(command: string, files: readonly NamedData[]): string {
  return inFolder(files, command);
}

function inFolder(files: readonly NamedData[], script: string): string {
  const folder = mkdtempSync(join(tmpdir(), "kiln-glsl-"));
  try {
    for (const { name, data } of files) writeFileSync(join(folder, name), data);
    const done = spawnSync("sh", ["-c", script], { cwd: folder, encoding: "utf8", maxBuffer: 1 << 26 });
    if (done.error) throw done.error;
    return done.stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs a command on each file; gives the output of those that fail, by name. */
export function failuresOf(command: string, files: readonly NamedData[]): Map<string, string> {
  if (files.length === 0) return new Map();
  const output = inFolder(
    files,
    `for f in *; do out=$(${command} "$f" 2>&1) || printf '%s\\036%s\\035' "$f" "$out"; done`,
  );
  const failures = new Map<string, string>();
  for (const part of output.split("\x1d")) {
    const [name, text] = part.split("\x1e");
    if (name !== undefined && text !== undefined) failures.set(name, text);
  }
  return failures;
}

/**
 * Files that the reference compiler rejects, with its messages. One process reads all of them, since it takes long to
 * start; what it finds only when linking (recursion, missing bodies) needs `linked` files run one by one.
 */
export function referenceRejects(
  files: readonly NamedData[],
  linked: ReadonlySet<string>,
  options = "",
): Map<string, string> {
  const failures = failuresOf(
    `glslangValidator -V ${options} -o /dev/null`,
    files.filter(({ name }) => linked.has(name)),
  );
  const rest = files.filter(({ name }) => !linked.has(name));
  let current = "";
  for (const line of inFolder(rest, `glslangValidator -V ${options} -o /dev/null *`).split("\n")) {
    if (rest.some(({ name }) => name === line)) current = line;
    else if (line.startsWith(`ERROR: ${current}:`)) failures.set(current, `${failures.get(current) ?? ""}${line}\n`);
  }
  return failures;
}

export function bytes(module: Uint32Array): Uint8Array {
  return new Uint8Array(module.buffer, module.byteOffset, module.byteLength);
}
