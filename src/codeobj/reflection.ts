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
  readonly kind: "ringPointer" | "descriptorSet" | "pushConstantPointer" | "inlinePushConstants" | "workgroupCounts";
  readonly sgpr: number;
  readonly count: number;
  readonly set?: number;
  readonly offsets?: readonly number[];
}

export interface Reflection {
  readonly workgroupSize: readonly [number, number, number];
  readonly sets: readonly SetLayout[];
  readonly resources: readonly ResourceReflection[];
  readonly pushConstantBytes: number;
  readonly userData: readonly UserDataEntry[];
  readonly specializationConstants: readonly { readonly id: number; readonly name: string }[];
}
