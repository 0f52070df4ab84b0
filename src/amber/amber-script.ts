import { deviceFeature, deviceProperty, hasExtension } from "../umd/index.ts";
import { readBuffer, readImage, readStruct } from "./amber-buffers.ts";
import { readCommand } from "./amber-commands.ts";
import type { AmberContext } from "./amber-context.ts";
import { derivePipeline, readPipeline } from "./amber-pipelines.ts";
import { readShader } from "./amber-shaders.ts";
import { Limits, Names } from "./build.ts";
import type { Command, ReadScriptFile, Script } from "./script.ts";
import { ScriptError, ScriptReader } from "./source.ts";

const samplerFields: Readonly<Record<string, RegExp>> = {
  MAG_FILTER: /^(nearest|linear)$/,
  MIN_FILTER: /^(nearest|linear)$/,
  ADDRESS_MODE_U: /^((mirrored_)?repeat|(mirrored_)?clamp_to_edge|clamp_to_border)$/,
  ADDRESS_MODE_V: /^((mirrored_)?repeat|(mirrored_)?clamp_to_edge|clamp_to_border)$/,
  ADDRESS_MODE_W: /^((mirrored_)?repeat|(mirrored_)?clamp_to_edge|clamp_to_border)$/,
  BORDER_COLOR: /^(float|int)_(transparent_black|opaque_black|opaque_white)$/,
  MIN_LOD: /^-?[\d.]+$/,
  MAX_LOD: /^-?[\d.]+$/,
  COMPARE: /^(on|off)$/,
  COMPARE_OP: /^(never|less|equal|less_or_equal|greater|not_equal|greater_or_equal|always)$/,
};

function readSampler({ reader, samplers, limits }: AmberContext): void {
  const line = reader.line;
  const name = reader.word("sampler name");
  samplers.add(name, { line }, line);
  limits.skip(line, "samplers");
  while (reader.peek() !== undefined) {
    const field = reader.word("sampler field");
    if (field === "NORMALIZED_COORDS" || field === "UNNORMALIZED_COORDS") continue;
    const pattern = samplerFields[field];
    if (pattern === undefined) throw new ScriptError(reader.line, `${field} is no field of a sampler`);
    const value = reader.word(field);
    if (!pattern.test(value)) throw new ScriptError(reader.line, `${value} is no ${field}`);
  }
}

function readVirtualFile({ reader, virtualFiles }: AmberContext): void {
  const line = reader.line;
  const path = reader.word("path");
  reader.endStatement("VIRTUAL_FILE");
  const { text } = reader.rawUntil((row) => /^\s*END\s*$/.test(row), "VIRTUAL_FILE");
  reader.nextStatement();
  virtualFiles.add(path, text, line);
}

function readRequirement(keyword: string, { reader, limits }: AmberContext): void {
  const line = reader.line;
  const name = reader.word(keyword);
  if (keyword === "DEVICE_FEATURE") {
    const has = deviceFeature(name);
    if (has === undefined) throw new ScriptError(line, `there is no device feature ${name}`);
    if (!has) limits.skip(line, `device feature ${name}`);
  } else if (keyword === "DEVICE_PROPERTY") {
    const has = deviceProperty(name);
    if (has === undefined) throw new ScriptError(line, `there is no device property ${name}`);
    if (!has) limits.skip(line, `device property ${name}`);
  } else if (!hasExtension(name)) {
    limits.skip(line, `extension ${name}`);
  }
}

/** A block whose content this machine has no use for, up to the END that closes it. */
function skipBlock({ reader, limits }: AmberContext, what: string, nested: RegExp): void {
  const line = reader.line;
  limits.skip(line, what);
  reader.rest();
  for (let depth = 1; depth > 0; ) {
    if (!reader.nextStatement()) throw new ScriptError(line, `${what} has no END`);
    const words = reader.rest().map((word) => word.text);
    if (nested.test(words[0] ?? "")) depth++;
    if (words.at(-1) === "END") depth--;
  }
}

/** Reads an AmberScript. Errors: `ScriptError` at the first mistake. */
export function readAmberScript(file: string, text: string, readFile: ReadScriptFile): Script {
  const reader = new ScriptReader(text);
  const limits = new Limits();
  const context: AmberContext = {
    reader,
    limits,
    readFile,
    virtualFiles: new Names("virtual file"),
    shaders: new Names("shader"),
    structs: new Map(),
    buffers: new Names("buffer"),
    samplers: new Names("sampler"),
    pipelines: new Names("pipeline"),
  };
  const commands: Command[] = [];
  let fenceTimeoutMs: number | undefined;
  while (reader.nextStatement()) {
    const keyword = reader.word("command");
    switch (keyword) {
      case "SHADER":
        readShader(context);
        break;
      case "STRUCT":
        readStruct(context);
        break;
      case "BUFFER":
        readBuffer(context);
        break;
      case "IMAGE":
        readImage(context);
        break;
      case "SAMPLER":
        readSampler(context);
        break;
      case "PIPELINE":
        readPipeline(context);
        break;
      case "DERIVE_PIPELINE":
        derivePipeline(context);
        break;
      case "VIRTUAL_FILE":
        readVirtualFile(context);
        break;
      case "ACCELERATION_STRUCTURE":
        skipBlock(context, "acceleration structures", /^(GEOMETRY|BOTTOM_LEVEL_INSTANCE|TRANSFORM)$/);
        break;
      case "DEVICE_FEATURE":
      case "DEVICE_PROPERTY":
      case "DEVICE_EXTENSION":
      case "INSTANCE_EXTENSION":
        readRequirement(keyword, context);
        break;
      case "SET":
        reader.expect("ENGINE_DATA");
        reader.expect("fence_timeout_ms");
        fenceTimeoutMs = reader.integer("timeout in milliseconds", 1);
        break;
      default:
        commands.push(readCommand(context, keyword));
    }
    reader.endStatement(keyword);
  }
  return { file, buffers: context.buffers.all(), commands, unsupported: limits.first, fenceTimeoutMs };
}
