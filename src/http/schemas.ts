import { STATUS_CODES } from "node:http";
import { type Static, type TSchema, Type } from "@sinclair/typebox";

const literals = <const T extends readonly string[]>(values: T) =>
  Type.Unsafe<T[number]>({ type: "string", enum: [...values] });

const closed = { additionalProperties: false } as const;
/** More names than any shader has: what they cost is taken before a worker's limits count. */
const texts = Type.Record(Type.String(), Type.String(), { maxProperties: 4096 });
const count = Type.Integer({ minimum: 0 });

const emitNames = [
  "code",
  "asm",
  "spirv",
  "ir",
  "passes",
  "stats",
  "reflection",
  "sourceMap",
  "liveRegisters",
  "cfg",
] as const;
export type EmitName = (typeof emitNames)[number];

const descriptorTypes = [
  "uniformBuffer",
  "storageBuffer",
  "uniformBufferDynamic",
  "storageBufferDynamic",
  "sampledImage",
  "storageImage",
  "sampler",
  "combinedImageSampler",
  "uniformTexelBuffer",
  "storageTexelBuffer",
  "inputAttachment",
] as const;

const binding = Type.Object(
  { binding: count, type: literals(descriptorTypes), count: Type.Integer({ minimum: 1, maximum: 1 << 20 }) },
  closed,
);

const pipeline = Type.Object(
  {
    layout: Type.Optional(
      Type.Object(
        {
          sets: Type.Array(
            Type.Object({ set: Type.Integer({ minimum: 0, maximum: 31 }), bindings: Type.Array(binding) }, closed),
            { maxItems: 32 },
          ),
          pushConstantBytes: Type.Optional(Type.Integer({ minimum: 0, maximum: 256 })),
        },
        closed,
      ),
    ),
    floatControls: Type.Optional(Type.Object({ contraction: Type.Optional(Type.Boolean()) }, closed)),
    vertexInput: Type.Optional(
      Type.Object(
        {
          attributes: Type.Array(
            Type.Object(
              { location: count, format: Type.String({ maxLength: 64 }), binding: count, offset: count },
              closed,
            ),
            { maxItems: 32 },
          ),
          bindings: Type.Optional(
            Type.Array(
              Type.Object(
                { binding: count, rate: literals(["vertex", "instance"] as const), divisor: Type.Optional(count) },
                closed,
              ),
              { maxItems: 32 },
            ),
          ),
        },
        closed,
      ),
    ),
    colorFormats: Type.Optional(
      Type.Array(
        Type.Object(
          { location: Type.Integer({ minimum: 0, maximum: 7 }), format: Type.String({ maxLength: 64 }) },
          closed,
        ),
        { maxItems: 8 },
      ),
    ),
  },
  closed,
);

const specialization = Type.Object(
  {
    id: Type.Integer({ minimum: 0, maximum: 0xffffffff }),
    // A number, a boolean, or a 64-bit integer as text.
    value: Type.Union([Type.Number(), Type.Boolean(), Type.String({ pattern: "^-?[0-9]{1,20}$" })]),
  },
  closed,
);

const options = Type.Object(
  {
    optimization: Type.Optional(Type.Unsafe<0 | 1 | 2>({ type: "integer", enum: [0, 1, 2] })),
    dialect: Type.Optional(literals(["vulkan", "relaxed"])),
    mainImage: Type.Optional(
      Type.Boolean({ description: "a fragment shader with Shadertoy's mainImage alone, in the relaxed dialect" }),
    ),
    debugInfo: Type.Optional(Type.Boolean()),
    warningsAsErrors: Type.Optional(Type.Boolean()),
  },
  closed,
);

/** What each stage has of its own. */
const shader = {
  source: Type.Optional(Type.String({ description: "GLSL or SPIR-V assembly text" })),
  spirv: Type.Optional(Type.String({ description: "base64 of little-endian SPIR-V words" })),
  language: Type.Optional(literals(["glsl", "spirv-asm", "spirv"])),
  entryPoint: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  filename: Type.Optional(Type.String({ maxLength: 1024 })),
  defines: Type.Optional(texts),
  includes: Type.Optional(texts),
  specialization: Type.Optional(Type.Array(specialization, { maxItems: 1024 })),
};
const stage = literals(["compute", "vertex", "fragment"]);

/** The body of `POST /compile`. */
export const compileBody = Type.Object(
  {
    ...shader,
    stage: Type.Optional(stage),
    stages: Type.Optional(
      Type.Array(Type.Object({ ...shader, stage }, closed), {
        minItems: 1,
        maxItems: 2,
        description: "instead of one shader: the stages of a pipeline, which share the other fields",
      }),
    ),
    pipeline: Type.Optional(pipeline),
    targetEnv: Type.Optional(
      literals([
        "vulkan1.0",
        "vulkan1.1",
        "vulkan1.2",
        "vulkan1.3",
        "spv1.0",
        "spv1.1",
        "spv1.2",
        "spv1.3",
        "spv1.4",
        "spv1.5",
        "spv1.6",
      ]),
    ),
    robustness: Type.Optional(literals(["buffer", "none"])),
    target: Type.Optional(literals(["gfx1030"])),
    options: Type.Optional(options),
    emit: Type.Optional(Type.Array(literals(emitNames), { uniqueItems: true })),
  },
  closed,
);
export type CompileBody = Static<typeof compileBody>;

/** Fields beside a raw body; `emit` is a list with commas, objects are JSON. */
export const rawQuery = Type.Object(
  Object.fromEntries(
    [
      ...["stage", "entryPoint", "filename", "targetEnv", "robustness", "target", "emit"],
      ...["pipeline", "defines", "includes", "specialization", "options"],
      ...["optimization", "dialect", "debugInfo", "warningsAsErrors", "mainImage"],
    ].map((name) => [name, Type.Optional(Type.String({ description: "with a raw body" }))]),
  ),
);

const span = {
  file: Type.String(),
  line: Type.Integer(),
  column: Type.Integer(),
  endLine: Type.Integer(),
  endColumn: Type.Integer(),
};
const diagnostic = Type.Object({
  severity: literals(["error", "warning", "note"]),
  code: Type.String(),
  message: Type.String(),
  ...span,
  stage: Type.Optional(Type.String({ description: "the stage, where the request had a list of them" })),
  notes: Type.Optional(Type.Array(Type.Object({ message: Type.String(), ...span }))),
});

/** Objects whose type lives in `src/codeobj`; JSON.stringify writes them whole. */
const open = (description: string) => Type.Unsafe<object>({ type: "object", additionalProperties: true, description });

export const compileAnswer = Type.Object({
  key: Type.String(),
  cache: literals(["miss", "memory", "disk", "shared", "joined"]),
  target: Type.String(),
  stage: Type.String(),
  entryPoint: Type.String(),
  code: Type.Optional(Type.String({ description: "the ELF code object, base64" })),
  codeSha256: Type.String(),
  codeSizeBytes: count,
  asm: Type.Optional(Type.String()),
  spirv: Type.Optional(Type.String({ description: "base64 of the SPIR-V words" })),
  ir: Type.Optional(Type.String()),
  passes: Type.Optional(
    Type.Array(
      open(
        "a pass, or (machine: true) a phase of the back end: name, instructions after it, microseconds, IR text after it",
      ),
    ),
  ),
  stats: Type.Optional(open("statistics of the code")),
  reflection: Type.Optional(open("workgroup size, sets, resources, push constants, user data")),
  sourceMap: Type.Optional(Type.Array(open("offset, file, line, column"))),
  liveRegisters: Type.Optional(
    Type.Array(Type.Object({ offset: count, vgprs: count, sgprs: count }), {
      description: "registers whose value is still needed as the instruction at this offset starts",
    }),
  ),
  cfg: Type.Optional(
    Type.Object(
      {
        blocks: Type.Array(Type.Object({ offset: count, endOffset: count })),
        edges: Type.Array(Type.Object({ from: count, to: count })),
      },
      { description: "basic blocks of the code and the edges between them, by the blocks' offsets" },
    ),
  ),
  pipeline: open("the pipeline state that was used"),
  diagnostics: Type.Array(diagnostic),
  compiler: Type.Object({ version: Type.String(), buildId: Type.String() }),
  microseconds: count,
});

/** The answer to a body with `stages`. */
export const stagesAnswer = Type.Object({
  stages: Type.Array(compileAnswer, { description: "one answer a stage, in the order of the request" }),
  microseconds: count,
});

const problem = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    code: Type.String(),
    requestId: Type.String(),
    diagnostics: Type.Optional(Type.Array(diagnostic, { maxItems: 100 })),
  },
  { description: "RFC 9457 problem details" },
);

/** A response of a media type of its own, for the document. */
export const answerOf = (description: string, content: Readonly<Record<string, TSchema>>) => ({
  description,
  content: Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }])),
});
/** Problems of these statuses. */
export const problemsOf = (...statuses: readonly number[]) =>
  Object.fromEntries(
    statuses.map((status) => [
      status,
      answerOf(STATUS_CODES[status] ?? "Error", { "application/problem+json": problem }),
    ]),
  );
export const bytesOf = (description: string) => Type.Unsafe<string>({ type: "string", format: "binary", description });
export const textOf = (description: string) => Type.String({ description });

const tier = Type.Object({
  name: literals(["memory", "disk", "shared"]),
  entries: count,
  bytes: count,
  capacityBytes: count,
  hits: count,
  misses: count,
  puts: count,
  evictions: count,
  corrupt: count,
  errors: count,
});

export const cacheStats = Type.Object({
  tiers: Type.Array(tier),
  requests: count,
  hitRate: Type.Number(),
  joined: count,
  misses: Type.Object({ cold: count, evicted: count, compilerChanged: count, optionsChanged: count, corrupt: count }),
  failed: count,
  compiles: count,
  farmCompiles: count,
  compileMicroseconds: Type.Object({ p50: count, p90: count, p99: count }),
  verify: Type.Object({ checked: count, wrong: count }),
  since: Type.String({ format: "date-time" }),
  recentFailures: Type.Array(
    Type.Object({ at: Type.String(), code: Type.String(), message: Type.String(), id: Type.String() }),
  ),
});

/** The body of `POST /batch`; each shader is checked by itself, as a body of `POST /compile`. */
export const batchBody = Type.Object(
  { shaders: Type.Array(Type.Unknown({ description: "a body of POST /compile" })) },
  closed,
);
export const batchParams = Type.Object({ id: Type.String() });
export const batchProgress = Type.Object({
  id: Type.String(),
  state: literals(["running", "done", "stopped"]),
  total: count,
  done: count,
  failed: count,
});

export const artifactParams = Type.Object({ key: Type.String() });
export const health = Type.Object({ status: Type.String() });
export const removed = Type.Object({ removed: count });
export const version = Type.Object({
  version: Type.String(),
  buildId: Type.String(),
  targets: Type.Array(Type.String()),
  limits: Type.Object({
    bodyBytes: count,
    timeLimitMs: count,
    memoryLimitMb: count,
    maxWaiting: count,
    workers: count,
  }),
});
