import {
  type CompileRecord,
  type CompileRequest,
  type EntryPoint,
  loadDwords,
  readCodeObject,
  type ShaderCompiler,
} from "../codeobj/index.ts";
import type { DescriptorSetLayout } from "./descriptors.ts";
import { DriverError, valid } from "./errors.ts";
import type { Lifetime } from "./lifetime.ts";
import type { DeviceMemory } from "./memory.ts";
import type { PipelineCache } from "./pipeline-cache.ts";

/** Set layouts by set number, and the bytes of push constants. */
export interface PipelineLayout {
  readonly sets: readonly DescriptorSetLayout[];
  readonly pushConstantBytes?: number;
}

export interface ComputePipelineOptions {
  readonly compiler: ShaderCompiler;
  readonly request: CompileRequest;
  /** Without it the layout is derived from the shader. */
  readonly layout?: PipelineLayout;
  /** Values of specialisation constants; they go before those of the request. */
  readonly specialization?: CompileRequest["specialization"];
  /** Asked before the compiler. */
  readonly cache?: PipelineCache;
}

/** A compiled compute shader in executable memory. */
export interface ComputePipeline {
  readonly record: CompileRecord;
  readonly entry: EntryPoint;
  readonly memory: DeviceMemory;
  readonly life: Lifetime;
  /** Address of the first instruction, a multiple of 256. */
  readonly codeVa: bigint;
  /** Bytes of code without padding. */
  readonly codeBytes: number;
  destroy(): void;
}

/** The request with a pipeline's layout and specialisation written into it. */
function withState({ request: given, layout, specialization = [] }: ComputePipelineOptions): CompileRequest {
  const own = new Set(specialization.map(({ id }) => id));
  const kept = given.specialization.filter(({ id }) => !own.has(id));
  const request = { ...given, specialization: [...specialization, ...kept] };
  if (layout === undefined) return request;
  const sets = layout.sets.map((set, index) => ({ set: index, bindings: set.source }));
  const { pushConstantBytes } = layout;
  return {
    ...request,
    pipeline: {
      ...request.pipeline,
      layout: { sets, ...(pushConstantBytes === undefined ? {} : { pushConstantBytes }) },
    },
  };
}

/** Compiles and reads the code object. INVALID_SHADER carries the first diagnostics. */
export async function compileCompute(
  options: ComputePipelineOptions,
): Promise<{ record: CompileRecord; entry: EntryPoint; words: Uint32Array }> {
  const request = withState(options);
  const key = options.cache?.keyOf(request) ?? "";
  const kept = options.cache?.get(key);
  const result = kept === undefined ? await options.compiler.compile(request) : ({ ok: true, record: kept } as const);
  if (result.ok && kept === undefined) options.cache?.put(key, result.record);
  if (!result.ok) {
    const lines = result.diagnostics
      .slice(0, 5)
      .map((d) => `${d.file}:${d.line}:${d.column}: ${d.severity}: ${d.message} [${d.code}]`);
    throw new DriverError("INVALID_SHADER", lines.join("\n"));
  }
  const { record } = result;
  const read = readCodeObject(record.elf);
  if (!read.ok) throw new DriverError("INITIALIZATION_FAILED", `code object: ${read.message}`);
  const entry = read.object.entries.find((candidate) => candidate.name === record.entryPoint);
  if (entry === undefined || entry.stage !== "compute") {
    throw new DriverError("INITIALIZATION_FAILED", `the code object has no compute entry point ${record.entryPoint}`);
  }
  const covered = options.layout?.pushConstantBytes;
  const needed = entry.reflection.pushConstantBytes;
  valid(
    covered === undefined || needed <= covered,
    `the shader has ${needed} bytes of push constants, the pipeline layout's range covers ${covered}`,
  );
  return { record, entry, words: loadDwords(read.object, entry) };
}
