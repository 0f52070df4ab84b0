import type { Stage, UserDataEntry } from "../codeobj/index.ts";

/** Where the compiler finds one binding's descriptors: computed by `src/codeobj`'s layout function, never by the core. */
export interface CoreBinding {
  readonly set: number;
  readonly binding: number;
  readonly offsetBytes: number;
  readonly strideBytes: number;
  readonly count: number;
}

/** Value of a specialisation constant: its bits as the constant's type has them, zero-extended; booleans 0 or 1. */
export interface CoreSpecialization {
  readonly id: number;
  readonly bits: bigint;
}

/** A vertex attribute as the shader fetches it. `format`: the hardware's buffer format. */
export interface CoreVertexAttribute {
  readonly location: number;
  readonly format: number;
  readonly components: number;
  readonly swapped: boolean;
  readonly binding: number;
  readonly offset: number;
  /** Steps once an instance, or once in `divisor` instances; undefined: once a vertex. */
  readonly divisor?: number;
}

/** State of the pipeline that changes the code of the graphics stages. */
export interface CorePipeline {
  /** SPI_SHADER_COL_FORMAT by location; undefined where the shader's type decides. */
  readonly colorExports: readonly (number | undefined)[];
  readonly vertexAttributes: readonly CoreVertexAttribute[];
}

/** A scalar between the stages: location * 4 + component, as the core numbers them. */
export type InterfaceScalar = number;

/** A scalar that the vertex stage gives the same word at every vertex. */
interface CoreKnownInput {
  readonly scalar: InterfaceScalar;
  readonly bits: number;
}

/** What a stage knows of the one that it is linked with. */
export interface CoreLink {
  /** Vertex: the scalars that are read; others are dropped. */
  readonly read?: readonly InterfaceScalar[];
  /** Fragment: the scalars that are constants. */
  readonly known?: readonly CoreKnownInput[];
}

/** What a stage tells the one that it is linked with. */
export interface CoreLinkFacts {
  /** Vertex: what is exported at all, and what of it is constant. */
  readonly written: readonly InterfaceScalar[];
  readonly known: readonly CoreKnownInput[];
  /** Fragment: what is interpolated. */
  readonly read: readonly InterfaceScalar[];
}

type CoreLinkResult =
  | { readonly ok: true; readonly facts: CoreLinkFacts }
  | { readonly ok: false; readonly failures: readonly CoreFailure[] };

/** What the core says of a graphics stage; numbers as in `writeResult` of `assembly/compiler/index.ts`. */
export interface CoreInterface {
  /** Fragment: SPI_PS_INPUT_ADDR. Vertex: bit 1, the instance id is read. */
  readonly stageInputs: number;
  /** Locations that are attributes (fragment) or parameters (vertex), ascending; `flat` of them. */
  readonly locations: readonly number[];
  readonly flat: readonly number[];
  /** Clip distances [3:0], cull distances [7:4], point size 8, layer 9, viewport 10. */
  readonly vertexOutputs: number;
  readonly colorFormats: number;
  /** SPI_SHADER_Z_FORMAT [3:0], depth 4, stencil 5, sample mask 6. */
  readonly depthFormat: number;
  readonly demotes: boolean;
  /** Fragment: it stores to buffers or images, or has atomics. */
  readonly writesMemory: boolean;
}

/** One compile of the core. `words` is a SPIR-V module that the reader of `src/spirv` has accepted. */
export interface CoreRequest {
  readonly words: Uint32Array;
  readonly stage: Stage;
  readonly entryPoint: string;
  readonly specialization: readonly CoreSpecialization[];
  readonly bindings: readonly CoreBinding[];
  readonly optimization: 0 | 1 | 2;
  readonly contraction: boolean;
  /** Graphics stages; absent: the defaults. */
  readonly pipeline?: CorePipeline;
  /** Absent: the stage stands alone. */
  readonly link?: CoreLink;
  /** Raw V# bounds: `false` lets the core assume every access in range. */
  readonly robust: boolean;
  /** Asks for pass reports, with the IR text after the passes named here; `["all"]` for each pass, `[]` for none. */
  readonly dumpAfter?: readonly string[];
  readonly limits?: { readonly timeMs?: number };
}

/** One pass that ran, then one phase of the back end, in order. */
export interface CorePassReport {
  readonly name: string;
  /** Instructions after it: of the IR, of the back end's phases those of the machine. */
  readonly instructions: number;
  readonly machine: boolean;
  readonly microseconds: number;
  /** IR text after the pass, when asked for. */
  readonly ir?: string;
}

export interface CoreOutput {
  /** Code without padding. */
  readonly code: Uint32Array;
  /** Tables of constants, which stand at the next multiple of 64 bytes behind the code and 256 bytes. */
  readonly table: Uint32Array;
  readonly sgprs: number;
  readonly vgprs: number;
  readonly spilledSgprs: number;
  readonly spilledVgprs: number;
  readonly ldsBytes: number;
  readonly scratchBytes: number;
  readonly workgroupSize: readonly [number, number, number];
  readonly userData: readonly UserDataEntry[];
  readonly usesWorkgroupId: readonly [boolean, boolean, boolean];
  /** 0: v0 only, 1: v0 and v1, 2: v0, v1 and v2. */
  readonly threadIdComponents: 0 | 1 | 2;
  readonly contractions: number;
  readonly interface: CoreInterface;
  /** Source places of code, four words each: byte offset, OpString id of the file (0: none), line and column from 1. */
  readonly lines: Uint32Array;
  /** Empty unless `dumpAfter` is given. */
  readonly passes: readonly CorePassReport[];
  /** Final IR text when `dumpAfter` is given. */
  readonly ir?: string;
}

/** A mistake or limit that the core found: a row of its code table, values for the holes, and a source place if known. */
export interface CoreFailure {
  readonly code: string;
  readonly message: string;
  readonly fileId: number;
  readonly line: number;
  readonly column: number;
}

export type CoreResult =
  | { readonly ok: true; readonly output: CoreOutput }
  | { readonly ok: false; readonly failures: readonly CoreFailure[] };

/** One instance of compiler.wasm. Not re-entrant; a trap leaves it unusable (`Bug`). */
export interface Core {
  /** The checked build, which validates the IR after each pass: what is in front of it checks its own words, too. */
  readonly checked: boolean;
  compile(request: CoreRequest): CoreResult;
  /** Front end and passes alone, for what another stage has to know of this one. */
  linkFacts(request: CoreRequest): CoreLinkResult;
}
