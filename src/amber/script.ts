import type { TargetEnv } from "../codeobj/index.ts";
import type { DataType, ElementLayout } from "./data-type.ts";
import type { Literal } from "./values.ts";

/** Why a script cannot run here, and the line that asks for it. */
export interface Unsupported {
  readonly line: number;
  readonly reason: string;
}

export interface ScriptShader {
  readonly name: string;
  readonly stage: string;
  readonly language: "glsl" | "spirv-asm" | "spirv" | "other";
  /** Text with as many empty lines before it as the script has, so that diagnostics name the script's lines. */
  readonly source?: string;
  readonly words?: Uint8Array;
  /** As the script says; undefined takes the dialect's default. */
  readonly targetEnv: TargetEnv | undefined;
  readonly line: number;
}

export interface ScriptBuffer {
  readonly name: string;
  readonly type: DataType;
  readonly layout: ElementLayout;
  /** Contents before the first command. */
  bytes: Uint8Array;
  /** An image format without data: sized by the pipeline it is bound to. */
  readonly attachment: boolean;
  readonly line: number;
}

/** Vulkan's names of what a buffer is bound as. */
export const bufferKinds = [
  "uniform",
  "storage",
  "uniform_dynamic",
  "storage_dynamic",
  "uniform_texel_buffer",
  "storage_texel_buffer",
  "storage_image",
  "sampled_image",
  "combined_image_sampler",
] as const;

export interface ScriptBinding {
  readonly set: number;
  readonly binding: number;
  readonly kind: (typeof bufferKinds)[number];
  readonly buffers: readonly ScriptBuffer[];
  /** Bytes, one of each buffer; -1 ranges reach to the buffer's end. */
  readonly dynamicOffsets: readonly number[];
  readonly offsets: readonly number[];
  readonly ranges: readonly number[];
  readonly line: number;
}

export interface Attachment {
  readonly shader: ScriptShader;
  readonly stage: string;
  entryPoint: string;
  readonly specialization: { readonly id: number; readonly value: number | string }[];
}

export interface ScriptPipeline {
  readonly name: string;
  readonly kind: "compute" | "graphics" | "ray_tracing";
  readonly attachments: Attachment[];
  readonly bindings: ScriptBinding[];
  /** Buffers of vertex data, by location. */
  readonly vertexData: { readonly buffer: ScriptBuffer; readonly location: number }[];
  indexData: ScriptBuffer | undefined;
  readonly colors: { readonly buffer: ScriptBuffer; readonly location: number }[];
  pushConstants: ScriptBuffer | undefined;
  readonly line: number;
}

export type Comparator = "EQ" | "NE" | "LT" | "LE" | "GT" | "GE";

export interface Tolerance {
  readonly value: number;
  readonly percent: boolean;
}

/** What a script does, in order. */
export type Command = { readonly line: number } & (
  | { readonly does: "dispatch"; readonly pipeline: ScriptPipeline; readonly groups: readonly [number, number, number] }
  | {
      readonly does: "expect-values";
      readonly buffer: ScriptBuffer;
      readonly offsetBytes: number;
      readonly comparator: Comparator;
      readonly layout: ElementLayout;
      readonly literals: readonly Literal[];
      /** Of each component in turn; empty compares exactly. */
      readonly tolerances: readonly Tolerance[];
    }
  | {
      readonly does: "expect-buffer";
      readonly how: "EQ_BUFFER" | "RMSE_BUFFER" | "EQ_HISTOGRAM_EMD_BUFFER";
      readonly buffer: ScriptBuffer;
      readonly other: ScriptBuffer;
      readonly tolerance: number;
    }
  | {
      readonly does: "expect-pixels";
      readonly buffer: ScriptBuffer;
      readonly rect: readonly [number, number, number, number];
      readonly color: readonly number[];
      readonly tolerances: readonly Tolerance[];
    }
  | { readonly does: "copy"; readonly from: ScriptBuffer; readonly to: ScriptBuffer }
  | { readonly does: "write"; readonly buffer: ScriptBuffer; readonly offsetBytes: number; readonly bytes: Uint8Array }
  | { readonly does: "repeat"; readonly count: number; readonly body: readonly Command[] }
  /** Read and checked, for a pipeline that cannot run yet: the script is skipped. */
  | { readonly does: "graphics" }
);

/** A script as it was read. `unsupported` is the first thing in it that cannot run here. */
export interface Script {
  readonly file: string;
  readonly buffers: readonly ScriptBuffer[];
  readonly commands: readonly Command[];
  readonly unsupported: Unsupported | undefined;
  readonly fenceTimeoutMs: number | undefined;
}

/** Reads a file that a script names, beside the script. Throws where there is none. */
export type ReadScriptFile = (path: string) => Uint8Array;
