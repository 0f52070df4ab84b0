import { texelBytes } from "../umd/index.ts";
import type { AmberContext } from "./amber-context.ts";
import { shaderStages } from "./amber-shaders.ts";
import { formatOf, parseFormat } from "./data-type.ts";
import { type Attachment, bufferKinds, type ScriptBinding, type ScriptPipeline } from "./script.ts";
import { ScriptError } from "./source.ts";
import { parseLiteral } from "./values.ts";

const rayStages = ["ray_generation", "any_hit", "closest_hit", "miss", "intersection", "callable"];

/** `PIPELINE kind name` and its body up to END. */
export function readPipeline(context: AmberContext): void {
  const { reader, pipelines } = context;
  const line = reader.line;
  const kind = reader.oneOf("pipeline type", ["compute", "graphics", "ray_tracing"]);
  const name = reader.word("pipeline name");
  reader.endStatement("PIPELINE");
  const pipeline: ScriptPipeline = {
    name,
    kind,
    attachments: [],
    bindings: [],
    vertexData: [],
    indexData: undefined,
    colors: [],
    pushConstants: undefined,
    line,
  };
  readBody(context, pipeline);
  pipelines.add(name, pipeline, line);
}

/** `DERIVE_PIPELINE name FROM parent`: a copy of the parent with more in it; a binding given again replaces. */
export function derivePipeline(context: AmberContext): void {
  const { reader, pipelines } = context;
  const line = reader.line;
  const name = reader.word("pipeline name");
  reader.expect("FROM");
  const parent = pipelines.get(reader.word("pipeline name"), line);
  reader.endStatement("DERIVE_PIPELINE");
  const pipeline: ScriptPipeline = {
    ...parent,
    name,
    line,
    attachments: parent.attachments.map((a) => ({ ...a, specialization: [...a.specialization] })),
    bindings: [...parent.bindings],
    vertexData: [...parent.vertexData],
    colors: [...parent.colors],
  };
  readBody(context, pipeline);
  pipelines.add(name, pipeline, line);
}

function readBody(context: AmberContext, pipeline: ScriptPipeline): void {
  const { reader, limits } = context;
  for (;;) {
    if (!reader.nextStatement()) throw new ScriptError(pipeline.line, "PIPELINE has no END");
    const keyword = reader.word("pipeline command");
    if (keyword === "END") break;
    readItem(context, pipeline, keyword);
    reader.endStatement(keyword);
  }
  if (pipeline.kind !== "compute") {
    limits.skip(pipeline.line, `${pipeline.kind} pipelines`);
    return;
  }
  const stages = new Set(pipeline.attachments.map((a) => a.stage));
  if (!stages.has("compute")) throw new ScriptError(pipeline.line, `pipeline ${pipeline.name} has no compute shader`);
}

function readItem(context: AmberContext, pipeline: ScriptPipeline, keyword: string): void {
  const { reader, buffers, limits } = context;
  const graphicsOnly = () => {
    if (pipeline.kind !== "graphics") {
      throw new ScriptError(reader.line, `${keyword} in a ${pipeline.kind} pipeline`);
    }
  };
  switch (keyword) {
    case "ATTACH":
      attach(context, pipeline);
      return;
    case "BIND":
      bind(context, pipeline);
      return;
    case "SUBGROUP":
      readSubgroup(context, pipeline);
      return;
    case "SHADER_OPTIMIZATION":
      attached(context, pipeline, reader.word("shader name"));
      reader.endStatement(keyword);
      // SPIRV-Tools' passes keep a shader's meaning: there is nothing to do
      reader.wordsUntil("END", keyword);
      return;
    case "COMPILE_OPTIONS":
      attached(context, pipeline, reader.word("shader name"));
      reader.endStatement(keyword);
      limits.skip(reader.line, "OpenCL compile options");
      reader.wordsUntil("END", keyword);
      return;
    case "SET":
      reader.expect("KERNEL");
      limits.skip(reader.line, "OpenCL kernel arguments");
      reader.rest();
      return;
    case "POLYGON_MODE":
      graphicsOnly();
      reader.oneOf("polygon mode", ["fill", "line", "point"]);
      return;
    case "PATCH_CONTROL_POINTS":
      graphicsOnly();
      reader.integer("number of control points", 1);
      return;
    case "FRAMEBUFFER_SIZE":
      // scripts give it to compute pipelines too, where it means nothing
      reader.integer("width", 1);
      reader.integer("height", 1);
      return;
    case "VIEWPORT":
      graphicsOnly();
      readViewport(context);
      return;
    case "DEPTH":
    case "STENCIL":
    case "BLEND":
      graphicsOnly();
      if (keyword === "STENCIL") reader.oneOf("face", ["front", "back", "front_and_back"]);
      reader.endStatement(keyword);
      reader.wordsUntil("END", keyword);
      return;
    case "VERTEX_DATA":
      graphicsOnly();
      readVertexData(context, pipeline);
      return;
    case "INDEX_DATA":
      graphicsOnly();
      if (pipeline.indexData !== undefined) throw new ScriptError(reader.line, "INDEX_DATA is given already");
      pipeline.indexData = buffers.get(reader.word("buffer name"), reader.line);
      return;
    case "SHADER_GROUP":
    case "USE_LIBRARY":
    case "MAX_RAY_PAYLOAD_SIZE":
    case "MAX_RAY_HIT_ATTRIBUTE_SIZE":
    case "MAX_RAY_RECURSION_DEPTH":
    case "SHADER_BINDING_TABLE":
    case "FLAGS":
      readRayItem(context, pipeline, keyword);
      return;
    default:
      throw new ScriptError(reader.line, `there is no pipeline command ${keyword}`);
  }
}

function readRayItem({ reader }: AmberContext, pipeline: ScriptPipeline, keyword: string): void {
  if (pipeline.kind !== "ray_tracing") throw new ScriptError(reader.line, `${keyword} in a ${pipeline.kind} pipeline`);
  const onLine = reader.rest();
  const block = keyword === "SHADER_BINDING_TABLE" || (keyword === "FLAGS" && onLine.length === 0);
  if (block) reader.wordsUntil("END", keyword);
}

function attached({ reader }: AmberContext, pipeline: ScriptPipeline, name: string): Attachment {
  const found = pipeline.attachments.find((a) => a.shader.name === name);
  if (found === undefined) throw new ScriptError(reader.line, `shader ${name} is not attached`);
  return found;
}

function attach(context: AmberContext, pipeline: ScriptPipeline): void {
  const { reader, shaders } = context;
  const line = reader.line;
  const shader = shaders.get(reader.word("shader name"), line);
  let stage = shader.stage;
  let entryPoint: string | undefined;
  const specialization: Attachment["specialization"] = [];
  while (reader.peek() !== undefined) {
    const field = reader.oneOf("field of ATTACH", ["TYPE", "ENTRY_POINT", "SPECIALIZE"]);
    if (field === "TYPE") stage = reader.oneOf("shader type", shaderStages);
    else if (field === "ENTRY_POINT") entryPoint = reader.word("entry point");
    else {
      const id = reader.integer("specialization id");
      reader.expect("AS");
      const type = reader.oneOf("32-bit type", ["uint32", "int32", "float"]);
      const literal = parseLiteral({ text: reader.word("value"), line: reader.line, quoted: false });
      specialization.push({ id, value: type === "float" ? literal.real : Number(literal.integer ?? literal.real) });
    }
  }
  if (shader.stage === "multi" && (stage === "multi" || entryPoint === undefined)) {
    throw new ScriptError(line, "a multi shader needs TYPE and ENTRY_POINT");
  }
  if (shader.stage !== "multi" && stage !== shader.stage) {
    throw new ScriptError(line, `shader ${shader.name} is a ${shader.stage} shader, not ${stage}`);
  }
  const isRay = rayStages.includes(stage);
  const fits =
    pipeline.kind === "compute"
      ? stage === "compute"
      : pipeline.kind === "graphics"
        ? stage !== "compute" && !isRay
        : isRay;
  if (!fits) throw new ScriptError(line, `a ${stage} shader in a ${pipeline.kind} pipeline`);
  if (pipeline.kind !== "ray_tracing" && pipeline.attachments.some((a) => a.stage === stage)) {
    throw new ScriptError(line, `pipeline ${pipeline.name} has a ${stage} shader already`);
  }
  pipeline.attachments.push({ shader, stage, entryPoint: entryPoint ?? "main", specialization });
}

function readSubgroup(context: AmberContext, pipeline: ScriptPipeline): void {
  const { reader, limits } = context;
  attached(context, pipeline, reader.word("shader name"));
  const line = reader.line;
  reader.endStatement("SUBGROUP");
  for (;;) {
    if (!reader.nextStatement()) throw new ScriptError(line, "SUBGROUP has no END");
    if (reader.accept("END")) return;
    const field = reader.oneOf("field of SUBGROUP", ["FULLY_POPULATED", "VARYING_SIZE", "REQUIRED_SIZE"]);
    if (field !== "REQUIRED_SIZE") reader.oneOf(field, ["on", "off"]);
    else if (!reader.accept("MIN") && !reader.accept("MAX")) {
      // waves have 32 lanes, always
      const size = reader.integer("subgroup size", 1);
      if (size !== 32) limits.skip(reader.line, `subgroups of ${size}`);
    }
    reader.endStatement(field);
  }
}

function readViewport({ reader }: AmberContext): void {
  reader.number("x");
  reader.number("y");
  reader.expect("SIZE");
  reader.number("width");
  reader.number("height");
  for (const field of ["MIN_DEPTH", "MAX_DEPTH"]) if (reader.accept(field)) reader.number(field);
}

function readVertexData({ reader, buffers }: AmberContext, pipeline: ScriptPipeline): void {
  const line = reader.line;
  const buffer = buffers.get(reader.word("buffer name"), line);
  reader.expect("LOCATION");
  const location = reader.integer("location");
  if (pipeline.vertexData.some((row) => row.location === location)) {
    throw new ScriptError(line, `location ${location} has vertex data already`);
  }
  pipeline.vertexData.push({ buffer, location });
  while (reader.peek() !== undefined) {
    const field = reader.oneOf("field of VERTEX_DATA", ["RATE", "FORMAT", "OFFSET", "STRIDE"]);
    if (field === "RATE") reader.oneOf("input rate", ["vertex", "instance"]);
    else if (field !== "FORMAT") reader.integer(field);
    else {
      const format = reader.word("format");
      if (parseFormat(format) === undefined) throw new ScriptError(reader.line, `there is no format ${format}`);
    }
  }
}

const attachmentKinds = ["color", "depth_stencil", "resolve", "push_constant"] as const;

function bind(context: AmberContext, pipeline: ScriptPipeline): void {
  const { reader, buffers, samplers, limits } = context;
  const line = reader.line;
  const what = reader.oneOf("thing to bind", [
    "BUFFER",
    "BUFFER_ARRAY",
    "SAMPLER",
    "SAMPLER_ARRAY",
    "ACCELERATION_STRUCTURE",
  ]);
  if (what === "ACCELERATION_STRUCTURE") {
    limits.skip(line, "acceleration structures");
    reader.rest();
    return;
  }
  const names: string[] = [];
  const array = what.endsWith("_ARRAY");
  do names.push(reader.word("name"));
  while (array && reader.peek() !== undefined && !["AS", "DESCRIPTOR_SET", "KERNEL"].includes(reader.peek() ?? ""));
  if (array && names.length < 2) throw new ScriptError(line, `${what} needs several names`);
  if (what.startsWith("SAMPLER")) {
    for (const name of names) samplers.get(name, line);
    limits.skip(line, "samplers");
    if (reader.accept("KERNEL")) {
      reader.rest();
      return;
    }
    reader.expect("DESCRIPTOR_SET");
    reader.integer("descriptor set");
    reader.expect("BINDING");
    reader.integer("binding");
    return;
  }
  const bound = names.map((name) => buffers.get(name, line));
  const [first] = bound;
  if (first === undefined) return;
  const kind = reader.accept("AS") ? reader.oneOf("buffer type", [...bufferKinds, ...attachmentKinds]) : undefined;
  if (reader.accept("KERNEL")) {
    limits.skip(line, "OpenCL kernel arguments");
    reader.rest();
    return;
  }
  if (kind === undefined) throw new ScriptError(line, "missing AS and the buffer type");
  if (kind === "push_constant") {
    if (pipeline.pushConstants !== undefined) throw new ScriptError(line, "there is a push_constant buffer already");
    pipeline.pushConstants = first;
    return;
  }
  if (kind === "color" || kind === "depth_stencil" || kind === "resolve") {
    if (pipeline.kind !== "graphics") throw new ScriptError(line, `${kind} buffer in a ${pipeline.kind} pipeline`);
    if (kind === "color") {
      reader.expect("LOCATION");
      const location = reader.integer("location");
      if (pipeline.colors.some((row) => row.location === location)) {
        throw new ScriptError(line, `location ${location} has a color buffer already`);
      }
      pipeline.colors.push({ buffer: first, location });
    }
    if (reader.accept("BASE_MIP_LEVEL")) reader.integer("mip level");
    return;
  }
  if (kind === "combined_image_sampler") {
    reader.expect("SAMPLER");
    samplers.get(reader.word("sampler name"), line);
  }
  addBinding(context, pipeline, { kind, buffers: bound, line });
}

function addBinding(
  { reader, limits }: AmberContext,
  pipeline: ScriptPipeline,
  { kind, buffers, line }: Pick<ScriptBinding, "kind" | "buffers" | "line">,
): void {
  const count = buffers.length;
  reader.expect("DESCRIPTOR_SET");
  const set = reader.integer("descriptor set");
  reader.expect("BINDING");
  const binding = reader.integer("binding");
  const numbers = (what: string, least: number) => Array.from({ length: count }, () => reader.integer(what, least));
  const dynamic = kind.endsWith("_dynamic");
  let dynamicOffsets: number[] | undefined;
  let offsets: number[] | undefined;
  let ranges: number[] | undefined;
  while (reader.peek() !== undefined) {
    const field = reader.oneOf("field of BIND", ["OFFSET", "DESCRIPTOR_OFFSET", "DESCRIPTOR_RANGE", "BASE_MIP_LEVEL"]);
    if (field === "OFFSET") {
      if (!dynamic) throw new ScriptError(reader.line, `OFFSET on a ${kind} buffer, which is not dynamic`);
      dynamicOffsets = numbers("offset", 0);
    } else if (field === "DESCRIPTOR_OFFSET") offsets = numbers("offset", 0);
    else if (field === "DESCRIPTOR_RANGE") ranges = numbers("range", -1);
    else numbers("mip level", 0);
  }
  if (dynamic && dynamicOffsets === undefined) throw new ScriptError(line, `a ${kind} buffer needs an OFFSET`);
  if (kind.endsWith("_texel_buffer")) {
    const odd = buffers.find(({ type, layout }) => texelBytes(formatOf(type) ?? "") !== layout.sizeBytes);
    if (odd !== undefined) limits.skip(line, `texel buffers of the elements of ${odd.name}`);
  } else if (!/^(uniform|storage)(_dynamic)?$/.test(kind)) limits.skip(line, `${kind.replaceAll("_", " ")}s`);
  const at = pipeline.bindings.findIndex((row) => row.set === set && row.binding === binding);
  if (at >= 0) pipeline.bindings.splice(at, 1);
  pipeline.bindings.push({
    set,
    binding,
    kind,
    buffers,
    dynamicOffsets: dynamicOffsets ?? buffers.map(() => 0),
    offsets: offsets ?? buffers.map(() => 0),
    ranges: ranges ?? buffers.map(() => -1),
    line,
  });
}
