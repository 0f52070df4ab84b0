import { deviceFeature, deviceProperty, hasExtension } from "../umd/index.ts";
import { atLine, parseTargetEnv, wordsOfHex } from "./amber-shaders.ts";
import { Limits } from "./build.ts";
import { type DataType, type ElementLayout, type LayoutRule, layoutElement, parseVkType } from "./data-type.ts";
import type {
  Attachment,
  Command,
  Comparator,
  Script,
  ScriptBuffer,
  ScriptPipeline,
  ScriptShader,
  Tolerance,
} from "./script.ts";
import { ScriptError, ScriptReader } from "./source.ts";
import { bytesFor, type Literal, parseLiteral, writeLiterals } from "./values.ts";

interface Slot {
  readonly kind: "uniform" | "storage";
  readonly buffer: ScriptBuffer;
}

/** What a script has said so far. */
interface VkContext {
  readonly reader: ScriptReader;
  readonly limits: Limits;
  readonly shaders: ScriptShader[];
  readonly slots: Map<string, Slot>;
  readonly commands: Command[];
  push: ScriptBuffer | undefined;
  readonly entryPoints: Map<string, string>;
  tolerances: readonly Tolerance[];
  fenceTimeoutMs: number | undefined;
}

const sectionPattern = /^\s*\[\s*([^\]]*?)\s*\]\s*(#.*)?$/;
const shaderPattern =
  /^(compute|vertex|fragment|geometry|tessellation control|tessellation evaluation) shader(?: (spirv|spirv hex|passthrough))?(?: target_env (\S+))?$/;
const bytesPerByte: DataType = { is: "scalar", scalar: { kind: "uint", bits: 8 } };

/** Reads a VkScript: sections of `[require]`, shaders, vertex data, indices and `[test]`. Errors: `ScriptError`. */
export function readVkScript(file: string, text: string): Script {
  const reader = new ScriptReader(text, true);
  const context: VkContext = {
    reader,
    limits: new Limits(),
    shaders: [],
    slots: new Map(),
    commands: [],
    push: undefined,
    entryPoints: new Map(),
    tolerances: [],
    fenceTimeoutMs: undefined,
  };
  let more = reader.nextStatement();
  while (more) {
    const name = sectionName(reader);
    if (name === undefined) throw new ScriptError(reader.line, "expected a section such as [test]");
    more = readSection(context, name);
  }
  const buffers = [...context.slots.values()].map((slot) => slot.buffer);
  const { limits, commands, fenceTimeoutMs } = context;
  return { file, buffers, commands: resolve(context, commands), unsupported: limits.first, fenceTimeoutMs };
}

/** The section's name where this line starts one. */
function sectionName(reader: ScriptReader): string | undefined {
  if (!reader.peek()?.startsWith("[")) return undefined;
  const text = reader
    .rest()
    .map((word) => word.text)
    .join(" ");
  return sectionPattern.exec(text)?.[1];
}

/** Reads a section's body; true where another section follows, whose first line is read. */
function readSection(context: VkContext, name: string): boolean {
  const { reader, limits } = context;
  const shader = shaderPattern.exec(name);
  if (shader !== null) {
    const line = reader.line;
    const { text, firstLine } = reader.rawUntil((row) => row === "\0end" || sectionPattern.test(row), name);
    addShader(context, { stage: shader[1] ?? "", form: shader[2], env: shader[3], text, firstLine, line });
    return reader.nextStatement();
  }
  if (name === "vertex data" || name === "indices") limits.skip(reader.line, `[${name}]`);
  const read = { require: readRequirement, test: readTest, "vertex data": skipLine, indices: skipLine }[name];
  if (read === undefined) throw new ScriptError(reader.line, `there is no section [${name}]`);
  while (reader.nextStatement()) {
    if (reader.peek()?.startsWith("[")) return true;
    read(context);
    reader.endStatement(`[${name}] command`);
  }
  return false;
}

function skipLine({ reader }: VkContext): void {
  reader.rest();
}

interface ShaderSection {
  readonly stage: string;
  readonly form: string | undefined;
  readonly env: string | undefined;
  readonly text: string;
  readonly firstLine: number;
  readonly line: number;
}

function addShader({ shaders, limits }: VkContext, section: ShaderSection): void {
  const { stage, form, env, text, firstLine, line } = section;
  if (shaders.some((shader) => shader.stage === stage))
    throw new ScriptError(line, `there is a ${stage} shader already`);
  if (stage !== "compute") limits.skip(line, `${stage} shaders`);
  const targetEnv = env === undefined ? undefined : parseTargetEnv(env);
  if (env !== undefined && targetEnv === undefined) throw new ScriptError(line, `${env} is no target environment`);
  const base = { name: stage, stage, targetEnv, line };
  if (form === "passthrough") shaders.push({ ...base, language: "other" });
  else if (form === "spirv hex") shaders.push({ ...base, language: "spirv", words: wordsOfHex(text, line) });
  else shaders.push({ ...base, language: form === "spirv" ? "spirv-asm" : "glsl", source: atLine(text, firstLine) });
}

function readRequirement(context: VkContext): void {
  const { reader, limits } = context;
  const name = reader.word("requirement");
  const line = reader.line;
  if (name === "fence_timeout") context.fenceTimeoutMs = reader.integer("timeout in milliseconds", 1);
  else if (name === "framebuffer" || name === "depthstencil") reader.word("format");
  else if (name === "fbsize") {
    reader.integer("width", 1);
    reader.integer("height", 1);
  } else {
    const has = deviceFeature(name) ?? deviceProperty(name) ?? hasExtension(name);
    if (!has) limits.skip(line, `requirement ${name}`);
  }
}

/** `binding` or `set:binding`. */
function readSlot(context: VkContext, kind: Slot["kind"]): ScriptBuffer {
  const { reader, slots } = context;
  const text = reader.word("binding");
  const [, set = "0", binding = ""] = /^(?:(\d+):)?(\d+)$/.exec(text) ?? [];
  if (binding === "") throw new ScriptError(reader.line, `${text} is no binding`);
  const key = `${Number(set)}:${Number(binding)}`;
  const known = slots.get(key);
  if (known !== undefined) {
    if (known.kind !== kind) throw new ScriptError(reader.line, `binding ${key} is a ${known.kind} buffer`);
    return known.buffer;
  }
  const buffer = newBuffer(key, reader.line);
  slots.set(key, { kind, buffer });
  return buffer;
}

function newBuffer(name: string, line: number): ScriptBuffer {
  const layout = layoutElement(bytesPerByte, "std430");
  return { name, type: bytesPerByte, layout, bytes: new Uint8Array(), attachment: false, line };
}

function readType({ reader }: VkContext, rule: LayoutRule): ElementLayout {
  const name = reader.word("type");
  const type = parseVkType(name);
  if (type === undefined) throw new ScriptError(reader.line, `there is no type ${name}`);
  return layoutElement(type, rule);
}

function grow(buffer: ScriptBuffer, sizeBytes: number): void {
  if (buffer.bytes.length < sizeBytes) buffer.bytes = new Uint8Array(sizeBytes);
}

function readValues({ reader }: VkContext, layout: ElementLayout): Literal[] {
  const literals = reader.rest().map(parseLiteral);
  if (literals.length === 0 || literals.length % layout.leaves.length !== 0) {
    throw new ScriptError(reader.line, `${literals.length} values for elements of ${layout.leaves.length} components`);
  }
  return literals;
}

/** `type offset values…`, to be written when the command is reached. */
function readWrite(context: VkContext, buffer: ScriptBuffer, layout: ElementLayout): Command {
  const { reader } = context;
  const line = reader.line;
  const offsetBytes = reader.integer("offset");
  const literals = readValues(context, layout);
  const bytes = new Uint8Array(bytesFor(layout, literals.length));
  writeLiterals(bytes, layout, 0, literals);
  grow(buffer, offsetBytes + bytes.length);
  return { does: "write", line, buffer, offsetBytes, bytes };
}

const operators: Readonly<Record<string, Comparator>> = {
  "==": "EQ",
  "!=": "NE",
  "<": "LT",
  "<=": "LE",
  ">": "GT",
  ">=": "GE",
  "~=": "EQ",
};

function readProbe(context: VkContext): Command {
  const { reader, limits } = context;
  const line = reader.line;
  if (!reader.accept("ssbo")) {
    limits.skip(line, "probes of the framebuffer");
    reader.rest();
    return { does: "graphics", line };
  }
  const layout = readType(context, "std430");
  const buffer = readSlot(context, "storage");
  const offsetBytes = reader.integer("offset");
  const operator = reader.word("comparison");
  const comparator = operators[operator];
  if (comparator === undefined) throw new ScriptError(line, `there is no comparison ${operator}`);
  const literals = readValues(context, layout);
  const tolerances = operator === "~=" ? context.tolerances : [];
  return { does: "expect-values", line, buffer, layout, offsetBytes, comparator, literals, tolerances };
}

/** A pipeline of the compute shader; its bindings are known at the end of the script. */
function computePipeline(context: VkContext): ScriptPipeline {
  const { reader, shaders, entryPoints } = context;
  const line = reader.line;
  const shader = shaders.find((candidate) => candidate.stage === "compute");
  if (shader === undefined) throw new ScriptError(line, "there is no compute shader");
  const entryPoint = entryPoints.get("compute") ?? "main";
  const attachment: Attachment = { shader, stage: "compute", entryPoint, specialization: [] };
  return {
    name: `compute ${entryPoint}`,
    kind: "compute",
    attachments: [attachment],
    bindings: [],
    vertexData: [],
    indexData: undefined,
    colors: [],
    pushConstants: undefined,
    line,
  };
}

const stageWords = ["vertex", "fragment", "geometry", "tessellation"];

function readTest(context: VkContext): void {
  const { reader, commands, limits } = context;
  const keyword = reader.word("command");
  const line = reader.line;
  switch (keyword) {
    case "compute":
      if (reader.accept("entrypoint")) context.entryPoints.set("compute", reader.word("entry point"));
      else {
        const groups = [reader.integer("x"), reader.integer("y"), reader.integer("z")] as const;
        commands.push({ does: "dispatch", line, pipeline: computePipeline(context), groups });
      }
      return;
    case "ssbo": {
      const buffer = readSlot(context, "storage");
      if (reader.accept("subdata")) commands.push(readWrite(context, buffer, readType(context, "std430")));
      else grow(buffer, reader.integer("size in bytes", 1));
      return;
    }
    case "uniform": {
      if (reader.accept("ubo")) {
        const buffer = readSlot(context, "uniform");
        commands.push(readWrite(context, buffer, readType(context, "std140")));
        return;
      }
      context.push ??= newBuffer("push constants", line);
      commands.push(readWrite(context, context.push, readType(context, "std430")));
      return;
    }
    case "probe":
      commands.push(readProbe(context));
      return;
    case "tolerance":
      context.tolerances = reader.rest().map((word) => {
        const { real } = parseLiteral({ ...word, text: word.text.replace(/%$/, "") });
        return { value: real, percent: word.text.endsWith("%") };
      });
      return;
    default:
      // drawing and its state: read no further than the line, for nothing of it can run
      if (!stageWords.includes(keyword) && !graphicsWord.test(keyword)) {
        throw new ScriptError(line, `there is no command ${keyword}`);
      }
      limits.skip(line, `command ${keyword}`);
      reader.rest();
  }
}

const graphicsWord =
  /^(draw|clear|relative|patch|topology|polygonMode|logicOp|frontFace|cullMode|lineWidth|colorWriteMask|(front|back)\.\w+|(min|max)DepthBounds|\w+Enable|depth\w+|(src|dst)\w+Factor|(color|alpha)BlendOp)$/;

/** Gives each dispatch the script's buffers: a binding may be first named after it. */
function resolve({ slots, push }: VkContext, commands: readonly Command[]): Command[] {
  for (const { buffer } of slots.values()) grow(buffer, 4);
  if (push !== undefined) grow(push, 4);
  const bindings = [...slots].map(([key, { kind, buffer }]) => {
    const [set = 0, binding = 0] = key.split(":").map(Number);
    const { line } = buffer;
    return { set, binding, kind, buffers: [buffer], dynamicOffsets: [0], offsets: [0], ranges: [-1], line };
  });
  return commands.map((command) => {
    if (command.does !== "dispatch") return command;
    return { ...command, pipeline: { ...command.pipeline, bindings, pushConstants: push } };
  });
}
