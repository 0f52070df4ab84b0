import type { Diagnostic } from "../base/index.ts";
import type { DescriptorBinding, Reflection } from "./reflection.ts";
import type { Statistics } from "./statistics.ts";

export type Stage = "compute" | "vertex" | "fragment";
export type Language = "glsl" | "spirv-asm" | "spirv";
export type TargetEnv =
  | "vulkan1.0"
  | "vulkan1.1"
  | "vulkan1.2"
  | "vulkan1.3"
  | "spv1.0"
  | "spv1.1"
  | "spv1.2"
  | "spv1.3"
  | "spv1.4"
  | "spv1.5"
  | "spv1.6";

/** A specialisation constant's value; 64-bit values come as decimal strings. */
export interface SpecializationValue {
  readonly id: number;
  readonly value: number | boolean | string;
}

/** Pipeline state that changes code (docs/abi.md). What is absent takes the default. */
export interface PipelineState {
  /** Set layouts given by the pipeline; without it they are derived from the shader. */
  readonly layout?: {
    readonly sets: readonly { readonly set: number; readonly bindings: readonly DescriptorBinding[] }[];
    readonly pushConstantBytes?: number;
  };
  readonly floatControls?: { readonly contraction?: boolean };
  /** Vertex stage: where each location's data comes from. Default: 32-bit components of the shader's type, tight in binding 0. */
  readonly vertexInput?: {
    readonly attributes: readonly {
      readonly location: number;
      readonly format: string;
      readonly binding: number;
      readonly offset: number;
    }[];
    readonly bindings?: readonly {
      readonly binding: number;
      readonly rate: "vertex" | "instance";
      readonly divisor?: number;
    }[];
  };
  /** Fragment stage: format of each location's target. Default: 16-bit float export for floats, 32-bit for integers. */
  readonly colorFormats?: readonly { readonly location: number; readonly format: string }[];
}

export interface CompileOptions {
  readonly optimization: 0 | 1 | 2;
  readonly dialect: "vulkan" | "relaxed";
  /** A fragment shader with Shadertoy's `mainImage` alone; in the relaxed dialect, whatever `dialect` says. */
  readonly mainImage?: boolean;
  readonly debugInfo: boolean;
  readonly warningsAsErrors: boolean;
}

/** Everything that a compile depends on. `source` for text languages, `spirv` (little-endian words) for binaries. */
export interface CompileRequest {
  readonly language: Language;
  readonly source?: string;
  readonly spirv?: Uint8Array;
  /** Required for GLSL; for SPIR-V it picks among entry points of one name. */
  readonly stage?: Stage;
  readonly entryPoint: string;
  readonly filename: string;
  readonly defines: Readonly<Record<string, string>>;
  readonly includes: Readonly<Record<string, string>>;
  readonly specialization: readonly SpecializationValue[];
  readonly target: "gfx1030";
  readonly targetEnv: TargetEnv;
  readonly robustness: "buffer" | "none";
  readonly pipeline: PipelineState;
  readonly options: CompileOptions;
  /** The other stage of a vertex and fragment pipeline, which has no other stage itself: docs/abi.md, "Linked stages". */
  readonly linked?: CompileRequest;
}

/** The defaults of the contract; callers spread their own fields over it. */
export const defaultRequest: Omit<CompileRequest, "language"> = {
  entryPoint: "main",
  filename: "shader",
  defines: {},
  includes: {},
  specialization: [],
  target: "gfx1030",
  targetEnv: "vulkan1.3",
  robustness: "buffer",
  pipeline: {},
  options: { optimization: 2, dialect: "vulkan", debugInfo: true, warningsAsErrors: false },
};

/** Which source line an instruction came from. `offset` counts bytes from the start of the entry point's code. */
export interface SourceMapEntry {
  readonly offset: number;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** What a successful compile leaves in the cache. `diagnostics` are warnings. */
export interface CompileRecord {
  readonly elf: Uint8Array;
  readonly stage: Stage;
  readonly entryPoint: string;
  readonly diagnostics: readonly Diagnostic[];
  readonly stats: Statistics;
  readonly reflection: Reflection;
  readonly sourceMap: readonly SourceMapEntry[];
}

export type CompileResult =
  | { readonly ok: true; readonly record: CompileRecord }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

/** How the driver and the service ask for code: in process, through the cache, or over HTTP. */
export interface ShaderCompiler {
  compile(request: CompileRequest): Promise<CompileResult>;
}
