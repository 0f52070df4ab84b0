import type { TargetEnv } from "../codeobj/index.ts";
import type { AmberContext } from "./amber-context.ts";
import type { ScriptShader } from "./script.ts";
import { ScriptError } from "./source.ts";

export const shaderStages = [
  "vertex",
  "fragment",
  "geometry",
  "tessellation_evaluation",
  "tessellation_control",
  "compute",
  "ray_generation",
  "any_hit",
  "closest_hit",
  "miss",
  "intersection",
  "callable",
  "multi",
] as const;

const formats = ["PASSTHROUGH", "GLSL", "HLSL", "SPIRV-ASM", "SPIRV-HEX", "SPIRV-BIN", "OPENCL-C"] as const;

/** Target environments by name; undefined for a name that is none. */
export function parseTargetEnv(name: string): TargetEnv | undefined {
  const [, kind, minor] = /^(vulkan|spv)1\.([0-6])$/.exec(name) ?? [];
  if (kind === undefined || (kind === "vulkan" && Number(minor) > 3)) return undefined;
  return name as TargetEnv;
}

/** The request wants the module's words; in hexadecimal they stand as 32-bit numbers or as bytes. */
export function wordsOfHex(text: string, line: number): Uint8Array {
  const numbers = text.split(/[\s,]+/).filter((part) => part !== "");
  const values = numbers.map((part) => {
    const value = /^(0[xX])?[\da-fA-F]{1,8}$/.test(part) ? Number.parseInt(part, 16) : Number.NaN;
    if (Number.isNaN(value)) throw new ScriptError(line, `${part} is no word of SPIR-V`);
    return value;
  });
  const bytes = new Uint8Array(values.length * 4);
  const view = new DataView(bytes.buffer);
  for (const [i, value] of values.entries()) view.setUint32(i * 4, value, true);
  return bytes;
}

/** Text that starts at line `firstLine` of the script, so that its diagnostics have the script's lines. */
export function atLine(text: string, firstLine: number): string {
  return "\n".repeat(firstLine - 1) + text;
}

/** `SHADER stage name format …`, with its source up to END. */
export function readShader(context: AmberContext): void {
  const { reader, shaders, limits } = context;
  const line = reader.line;
  const stage = reader.oneOf("shader type", shaderStages);
  const name = reader.word("shader name");
  const format = reader.oneOf("shader format", formats);
  let targetEnv: TargetEnv | undefined;
  if (reader.accept("TARGET_ENV")) {
    const env = reader.word("target environment");
    targetEnv = parseTargetEnv(env);
    if (targetEnv === undefined) throw new ScriptError(reader.line, `${env} is no target environment`);
  }
  const base = { name, stage, targetEnv, line };
  if (format === "PASSTHROUGH") {
    if (stage !== "vertex") throw new ScriptError(line, "only a vertex shader may be PASSTHROUGH");
    shaders.add(name, { ...base, language: "other" }, line);
    return;
  }
  if (stage === "multi" && !format.startsWith("SPIRV")) {
    throw new ScriptError(line, "a multi shader must be SPIRV-ASM, SPIRV-HEX or SPIRV-BIN");
  }
  if (format === "HLSL" || format === "OPENCL-C") limits.skip(line, `${format} shaders`);
  const source = readSource(context, format);
  shaders.add(name, { ...base, ...contentOf(format, source, line) }, line);
}

interface Source {
  readonly bytes: Uint8Array;
  readonly firstLine: number;
}

type Content = Pick<ScriptShader, "language"> & Partial<Pick<ScriptShader, "source" | "words">>;

function contentOf(format: string, { bytes, firstLine }: Source, line: number): Content {
  const text = new TextDecoder().decode(bytes);
  switch (format) {
    case "GLSL":
      return { language: "glsl", source: atLine(text, firstLine) };
    case "SPIRV-ASM":
      return { language: "spirv-asm", source: atLine(text, firstLine) };
    case "SPIRV-HEX":
      return { language: "spirv", words: wordsOfHex(text, line) };
    case "SPIRV-BIN":
      return { language: "spirv", words: bytes };
    default:
      return { language: "other" };
  }
}

function readSource(context: AmberContext, format: string): Source {
  const { reader, virtualFiles, readFile } = context;
  const line = reader.line;
  if (reader.accept("VIRTUAL_FILE")) {
    const text = virtualFiles.get(reader.word("path"), line);
    return { bytes: new TextEncoder().encode(text), firstLine: 1 };
  }
  if (reader.accept("FILE")) return { bytes: readNamed(readFile, reader.word("path"), line), firstLine: 1 };
  if (format === "SPIRV-BIN") throw new ScriptError(line, "a SPIRV-BIN shader must come from a FILE");
  reader.endStatement("SHADER");
  const { text, firstLine } = reader.rawUntil((row) => /^\s*END(\s|#|$)/.test(row), "SHADER");
  reader.nextStatement();
  reader.expect("END");
  return { bytes: new TextEncoder().encode(text), firstLine };
}

/** A file beside the script; a missing one is the script's mistake. */
export function readNamed(readFile: (path: string) => Uint8Array, path: string, line: number): Uint8Array {
  try {
    return readFile(path);
  } catch (error) {
    throw new ScriptError(line, `cannot read ${path}: ${(error as NodeJS.ErrnoException).code ?? error}`);
  }
}
