import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ModuleResource, readModule, reflectModule } from "../spirv/index.ts";
import type { BenchShader } from "./bench-corpus.ts";
import { CliError } from "./environment.ts";

/** What the driver with the compiler to compare with said about one shader, and its disassembly. */
export interface PeerShader {
  readonly id: string;
  readonly instructions: number;
  readonly spills: number;
  /** CPU microseconds from SPIR-V words to code, the least of several. */
  readonly cpuUs: number;
  readonly assembly: string;
}

export interface PeerOptions {
  /** Shell command that measures a driver: it is run in `folder` with MANIFEST -n RUNS -d DUMPS after it. */
  readonly radv: string;
  /** Shell command that measures a GLSL front end: LIST -n RUNS after it. */
  readonly glslang: string | undefined;
  /** Folder that the commands run in; a temporary one without. */
  readonly folder: string | undefined;
}

export interface Peers {
  /** By the shader's id; only those that the driver compiled in wave32. */
  readonly radv: ReadonlyMap<string, PeerShader>;
  /** CPU microseconds from GLSL text to SPIR-V by the shader's id. */
  readonly glslang: ReadonlyMap<string, number>;
  /** The words that both sides compile, by the shader's id. */
  readonly words: ReadonlyMap<string, Uint8Array>;
}

const runs = "7";
const vulkanDescriptor: Readonly<Record<ModuleResource["type"], number>> = {
  sampler: 0,
  combinedImageSampler: 1,
  sampledImage: 2,
  storageImage: 3,
  uniformTexelBuffer: 4,
  storageTexelBuffer: 5,
  uniformBuffer: 6,
  storageBuffer: 7,
  inputAttachment: 10,
};

function shell(command: string, args: readonly string[], folder: string): string {
  const ran = spawnSync("sh", ["-c", `${command} "$@"`, "sh", ...args], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 1 << 30,
  });
  if (ran.status !== 0) {
    const detail = `${ran.stderr}`.trim().split("\n").at(-1) ?? "";
    throw new CliError(3, `${command}: ended with ${ran.status ?? ran.signal}: ${detail}`);
  }
  return ran.stdout;
}

/** SPIR-V of a shader: its own words, or what glslangValidator makes of its text. Undefined when that refuses it. */
function wordsOf(shader: BenchShader, folder: string): Uint8Array | undefined {
  if (shader.request.spirv !== undefined) return shader.request.spirv;
  const out = join(folder, "spv", `${shader.id}.spv`);
  const args = ["-V", "--target-env", "vulkan1.2", "-S", "comp", "-o", out, shader.file];
  const ran = spawnSync("glslangValidator", args, { encoding: "utf8" });
  if (ran.error !== undefined) throw new CliError(3, "--peers: glslangValidator is not installed");
  return ran.status === 0 ? readFileSync(out) : undefined;
}

/** A line of the measuring tool's manifest: id, stage, entry, file, counterpart, bindings, vertex inputs, colours. */
function manifestLine(shader: BenchShader, words: Uint8Array): string | undefined {
  const read = readModule(words, { file: shader.file });
  if (!read.ok) return undefined;
  const reflected = reflectModule(read.module, "main", "compute", []);
  if (!reflected.ok) return undefined;
  const bindings = new Map<string, string>();
  for (const { set, binding, type, count } of reflected.reflection.resources) {
    bindings.set(`${set}:${binding}`, `${set}:${binding}:${vulkanDescriptor[type]}:${count === 0 ? 64 : count}`);
  }
  const list = [...bindings.values()].join(",");
  return [shader.id, "comp", "main", `spv/${shader.id}.spv`, "-", list === "" ? "-" : list, "-", "-"].join("\t");
}

interface DriverLine {
  readonly id: string;
  readonly cpu_min_us?: number;
  readonly exe?: readonly (Readonly<Record<string, number | string>> & { readonly wave: number })[];
}

function readDriver(output: string, dumps: string): Map<string, PeerShader> {
  const found = new Map<string, PeerShader>();
  for (const text of output.split("\n")) {
    if (!text.startsWith("{")) continue;
    const line = JSON.parse(text) as DriverLine;
    const [code] = line.exe ?? [];
    if (code === undefined || code.wave !== 32 || line.cpu_min_us === undefined) continue;
    const count = (name: string) => Number(code[name] ?? 0);
    found.set(line.id, {
      id: line.id,
      instructions: count("Instructions"),
      spills: count("Spilled SGPRs") + count("Spilled VGPRs"),
      cpuUs: line.cpu_min_us,
      assembly: readFileSync(join(dumps, `${line.id}.isa`), "utf8"),
    });
  }
  return found;
}

function readFrontEnd(output: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const text of output.split("\n")) {
    if (!text.startsWith("{")) continue;
    const line = JSON.parse(text) as { readonly id: string; readonly glslang_min_us?: number };
    if (line.glslang_min_us !== undefined) found.set(line.id, line.glslang_min_us);
  }
  return found;
}

/** Runs the peers over the shaders. Errors: `CliError` 3 when a command fails or glslangValidator is missing. */
export function measurePeers(shaders: readonly BenchShader[], options: PeerOptions): Peers {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "kiln-bench-"));
  try {
    for (const name of ["spv", "isa"]) mkdirSync(join(folder, name), { recursive: true });
    const words = new Map<string, Uint8Array>();
    const manifest: string[] = [];
    const list: string[] = [];
    for (const shader of shaders) {
      const bytes = wordsOf(shader, folder);
      const line = bytes === undefined ? undefined : manifestLine(shader, bytes);
      if (bytes === undefined || line === undefined) continue;
      writeFileSync(join(folder, "spv", `${shader.id}.spv`), bytes);
      words.set(shader.id, bytes);
      manifest.push(`${line}\n`);
      if (shader.request.language === "glsl") {
        writeFileSync(join(folder, "spv", `${shader.id}.comp`), shader.request.source ?? "");
        list.push(`${shader.id}\tcomp\tspv/${shader.id}.comp\tspv/${shader.id}.spv\n`);
      }
    }
    writeFileSync(join(folder, "manifest.tsv"), manifest.join(""));
    writeFileSync(join(folder, "list.tsv"), list.join(""));
    const radv = readDriver(
      shell(options.radv, ["manifest.tsv", "-n", runs, "-d", "isa"], folder),
      join(folder, "isa"),
    );
    const { glslang } = options;
    const front = glslang === undefined ? new Map() : readFrontEnd(shell(glslang, ["list.tsv", "-n", runs], folder));
    return { radv, glslang: front, words };
  } finally {
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }
}
