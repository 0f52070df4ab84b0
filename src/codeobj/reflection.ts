/** Descriptor kinds that have a layout. Images and samplers come with the graphics stages. */
export type DescriptorType =
  | "uniformBuffer"
  | "storageBuffer"
  | "uniformBufferDynamic"
  | "storageBufferDynamic"
  | "sampledImage"
  | "storageImage"
  | "sampler"
  | "combinedImageSampler"
  | "uniformTexelBuffer"
  | "storageTexelBuffer"
  | "inputAttachment";

/** One binding of a set layout. `count` is the array length (1 for a plain binding). */
export interface DescriptorBinding {
  readonly binding: number;
  readonly type: DescriptorType;
  readonly count: number;
}

/** Where a binding's descriptors stand in its set: bytes from the set's pointer, and from one element to the next. */
export interface BindingLayout extends DescriptorBinding {
  readonly offsetBytes: number;
  readonly strideBytes: number;
}

export interface SetLayout {
  readonly set: number;
  readonly sizeBytes: number;
  readonly bindings: readonly BindingLayout[];
}

/** A resource the shader declares and uses. */
export interface ResourceReflection extends BindingLayout {
  readonly set: number;
  readonly name: string;
  /** Bytes of the block's fixed part; the runtime array's stride follows where there is one. */
  readonly blockSizeBytes?: number;
  readonly runtimeArrayStrideBytes?: number;
  readonly readonly: boolean;
  readonly writeonly: boolean;
}

/** User SGPRs in the order of docs/abi.md; `set` for set pointers, `offsets` (bytes) for inlined push constants. */
export interface UserDataEntry {
  readonly kind:
    | "ringPointer"
    | "descriptorSet"
    | "pushConstantPointer"
    | "inlinePushConstants"
    | "workgroupCounts"
    | "vertexBuffers"
    | "baseVertex"
    | "drawIndex"
    | "startInstance";
  readonly sgpr: number;
  readonly count: number;
  readonly set?: number;
  readonly offsets?: readonly number[];
}

/** An attribute of the fragment stage or a parameter of the vertex stage; its place in the list is its number. */
export interface ParameterReflection {
  /** From 64 on: 64 point coordinate, 65 primitive id, 66 and 67 clip distances, 69 viewport index, 70 and 71
   * cull distances. */
  readonly location: number;
  readonly flat: boolean;
  readonly pointCoord?: boolean;
}

/** A vertex attribute that the shader reads, as it is fetched. */
export interface VertexAttributeReflection {
  readonly location: number;
  readonly format: string;
  readonly binding: number;
  readonly offset: number;
}

/** What a graphics stage takes and gives. */
export interface InterfaceReflection {
  /** Fragment: attributes, ascending locations. */
  readonly inputs: readonly ParameterReflection[];
  /** Vertex: parameters, ascending locations. */
  readonly outputs: readonly ParameterReflection[];
  readonly vertexAttributes: readonly VertexAttributeReflection[];
  /** Vertex. */
  readonly usesInstanceId: boolean;
  readonly clipDistances: number;
  readonly cullDistances: number;
  readonly pointSize: boolean;
  readonly layer: boolean;
  readonly viewport: boolean;
  /** Fragment: SPI_PS_INPUT_ADDR, SPI_SHADER_COL_FORMAT, SPI_SHADER_Z_FORMAT. */
  readonly inputAddress: number;
  readonly colorFormats: number;
  readonly depthFormat: number;
  readonly depth: boolean;
  /** The depth that is written is 0 any, 1 at most, 2 at least that of the primitive: DB_SHADER_CONTROL.CONSERVATIVE_Z_EXPORT. */
  readonly depthLayout: number;
  readonly stencil: boolean;
  readonly sampleMask: boolean;
  readonly kills: boolean;
  readonly writesMemory: boolean;
  readonly earlyTests: boolean;
  readonly postDepthCoverage: boolean;
}

export interface Reflection {
  readonly workgroupSize: readonly [number, number, number];
  readonly sets: readonly SetLayout[];
  readonly resources: readonly ResourceReflection[];
  readonly pushConstantBytes: number;
  readonly userData: readonly UserDataEntry[];
  /** Vertex and fragment stages only. */
  readonly interface?: InterfaceReflection;
  readonly specializationConstants: readonly { readonly id: number; readonly name: string }[];
}
