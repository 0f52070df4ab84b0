import { execFile, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { PipelineState } from "../codeobj/index.ts";
import { assemble, type ModuleResource, readModule, reflectModule } from "../spirv/index.ts";
import type { BenchShader, BenchStage } from "./bench-corpus.ts";
import { attributeStrideBytes, graphicsState, type StateFormat } from "./bench-interface.ts";
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
  /** Timed runs of each shader; 0 where only the code is asked for. */
  readonly runs: number;
}

export interface Peers {
  /** By the shader's id; only those that the driver compiled in wave32. */
  readonly radv: ReadonlyMap<string, PeerShader>;
  /** CPU microseconds from GLSL text to SPIR-V by the shader's id. */
  readonly glslang: ReadonlyMap<string, number>;
  /** The words that both sides compile, by the shader's id. */
  readonly words: ReadonlyMap<string, Uint8Array>;
  /** Shaders that glslangValidator or the manifest cannot take, by id. */
  readonly refused: ReadonlySet<string>;
  /** The pipeline state that the driver is given, as this compiler's requests say it, by the shader's id. */
  readonly pipelines: ReadonlyMap<string, PipelineState>;
  /** Words of the stage that each graphics shader is linked with, by the shader's id. */
  readonly counterparts: ReadonlyMap<string, Uint8Array>;
}

const stageNames = { comp: "compute", vert: "vertex", frag: "fragment" } as const;
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

/** Runs glslangValidator; whether it took the text. */
function glslangTakes(args: readonly string[]): Promise<boolean> {
  return new Promise((done, failed) => {
    execFile("glslangValidator", args, { maxBuffer: 1 << 26 }, (error) => {
      const missing = error !== null && error.code === "ENOENT";
      if (missing) failed(new CliError(3, "--peers: glslangValidator is not installed"));
      else done(error === null);
    });
  });
}

/** What glslangValidator makes of a text, once each: the words' file below `folder`. Undefined when it refuses the text. */
async function glslangFile(
  source: string,
  stage: BenchStage,
  folder: string,
  includes: string,
): Promise<string | undefined> {
  const name = join("spv", `${createHash("sha256").update(`${stage}\n${source}`).digest("hex").slice(0, 24)}.${stage}`);
  const text = join(folder, name);
  const out = `${text}.spv`;
  if (!existsSync(text)) {
    // of several shaders with one counterpart each writes its own; the text's name comes last and says that all is there
    const own = `${text}.${process.pid}-${made++}`;
    writeFileSync(own, source);
    const args = ["-V", "--target-env", "vulkan1.2", "-S", stage, `-I${includes}`, "-o", `${own}.spv`, own];
    try {
      if (await glslangTakes(args)) renameSync(`${own}.spv`, out);
      else rmSync(`${own}.spv`, { force: true });
      renameSync(own, text);
    } finally {
      rmSync(own, { force: true });
    }
  }
  return existsSync(out) ? `${name}.spv` : undefined;
}

/** Files written so far, for names that differ. */
let made = 0;

/** SPIR-V of a shader: its own words, or what glslangValidator makes of its text. Undefined when that refuses it. */
async function wordsOf({ request, stage, file }: BenchShader, folder: string): Promise<Uint8Array | undefined> {
  if (request.spirv !== undefined) return request.spirv;
  const source = request.source ?? "";
  if (request.language === "spirv-asm") {
    const assembled = assemble(source, { file });
    return assembled.ok ? new Uint8Array(assembled.words.buffer) : undefined;
  }
  const words = await glslangFile(source, stage, folder, dirname(file));
  return words === undefined ? undefined : readFileSync(join(folder, words));
}

interface PeerInput {
  /** A line of the measuring tool's manifest: id, stage, entry, file, counterpart, bindings, vertex inputs, colours. */
  readonly line: string;
  readonly pipeline: PipelineState;
  readonly counterpart?: Uint8Array;
}

const listed = (rows: readonly string[]) => (rows.length === 0 ? "-" : rows.join(","));

async function peerInput(
  { id, stage, file }: BenchShader,
  words: Uint8Array,
  folder: string,
): Promise<PeerInput | undefined> {
  const read = readModule(words, { file });
  if (!read.ok) return undefined;
  const reflected = reflectModule(read.module, "main", stageNames[stage], []);
  if (!reflected.ok) return undefined;
  const bindings = new Map<string, string>();
  for (const { set, binding, type, count } of reflected.reflection.resources) {
    bindings.set(`${set}:${binding}`, `${set}:${binding}:${vulkanDescriptor[type]}:${count === 0 ? 64 : count}`);
  }
  const shared = [id, stage, "main", `spv/${id}.spv`];
  const resources = listed([...bindings.values()]);
  if (stage === "comp") return { line: [...shared, "-", resources, "-", "-"].join("\t"), pipeline: {} };
  const state = graphicsState(read.module, stage === "vert" ? "vertex" : "fragment");
  if (state === undefined) return undefined;
  const { source, stage: other } = state.counterpart;
  const counterpart = await glslangFile(source, other, folder, folder);
  if (counterpart === undefined) return undefined;
  const formats = (rows: readonly StateFormat[]) => listed(rows.map((r) => `${r.location}:${r.vkFormat}`));
  return {
    counterpart: readFileSync(join(folder, counterpart)),
    line: [...shared, counterpart, resources, formats(state.attributes), formats(state.colors)].join("\t"),
    pipeline:
      stage === "frag"
        ? { colorFormats: state.colors.map(({ location, format }) => ({ location, format })) }
        : {
            vertexInput: {
              attributes: state.attributes.map(({ location, format }) => ({
                location,
                format,
                binding: 0,
                offset: location * attributeStrideBytes,
              })),
            },
          },
  };
}

interface DriverLine {
  readonly id: string;
  readonly cpu_min_us?: number;
  readonly exe?: readonly (Readonly<Record<string, number | string>> & {
    readonly wave: number;
    readonly subject?: number;
  })[];
}

function readDriver(output: string, dumps: string): Map<string, PeerShader> {
  const found = new Map<string, PeerShader>();
  for (const text of output.split("\n")) {
    if (!text.startsWith("{")) continue;
    const line = JSON.parse(text) as DriverLine;
    const [code, second] = line.exe?.filter(({ subject }) => subject !== 0) ?? [];
    if (code === undefined || second !== undefined || code.wave !== 32 || line.cpu_min_us === undefined) continue;
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

interface Prepared {
  readonly bytes: Uint8Array;
  readonly input: PeerInput;
}

/** Each shader's words and line, in the shaders' order; undefined where the peers cannot take it. Some at a time. */
async function prepareAll(shaders: readonly BenchShader[], folder: string): Promise<(Prepared | undefined)[]> {
  const prepared = new Array<Prepared | undefined>(shaders.length);
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < shaders.length) {
      const at = next++;
      const shader = shaders[at]!;
      const bytes = await wordsOf(shader, folder);
      const input = bytes && (await peerInput(shader, bytes, folder));
      prepared[at] = bytes && input && { bytes, input };
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return prepared;
}

/** Runs the peers over the shaders. Errors: `CliError` 3 when a command fails or glslangValidator is missing. */
export async function measurePeers(shaders: readonly BenchShader[], options: PeerOptions): Promise<Peers> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "kiln-bench-"));
  try {
    for (const name of ["spv", "isa"]) mkdirSync(join(folder, name), { recursive: true });
    const words = new Map<string, Uint8Array>();
    const pipelines = new Map<string, PipelineState>();
    const counterparts = new Map<string, Uint8Array>();
    const refused = new Set<string>();
    const manifest: string[] = [];
    const list: string[] = [];
    const prepared = await prepareAll(shaders, folder);
    for (const [at, { id, stage, request }] of shaders.entries()) {
      const found = prepared[at];
      if (found === undefined) {
        refused.add(id);
        continue;
      }
      const { bytes, input } = found;
      writeFileSync(join(folder, "spv", `${id}.spv`), bytes);
      words.set(id, bytes);
      pipelines.set(id, input.pipeline);
      if (input.counterpart !== undefined) counterparts.set(id, input.counterpart);
      manifest.push(`${input.line}\n`);
      if (request.language === "glsl") {
        writeFileSync(join(folder, "spv", `${id}.${stage}`), request.source ?? "");
        list.push(`${id}\t${stage}\tspv/${id}.${stage}\tspv/${id}.spv\n`);
      }
    }
    const runs = String(options.runs);
    writeFileSync(join(folder, "manifest.tsv"), manifest.join(""));
    writeFileSync(join(folder, "list.tsv"), list.join(""));
    const radv = readDriver(
      shell(options.radv, ["manifest.tsv", "-n", runs, "-d", "isa"], folder),
      join(folder, "isa"),
    );
    const { glslang } = options;
    const front = glslang === undefined ? new Map() : readFrontEnd(shell(glslang, ["list.tsv", "-n", runs], folder));
    return { radv, glslang: front, words, refused, pipelines, counterparts };
  } finally {
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }
}
