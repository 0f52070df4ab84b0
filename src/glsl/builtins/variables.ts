import { arrayType, builtinType, type Type } from "../types/index.ts";

/** A built-in variable: its SPIR-V built-in by name, and whether the shader reads (`in`) or writes (`out`) it. */
export interface BuiltinVariable {
  readonly name: string;
  readonly type: Type;
  readonly storage: "in" | "out";
  readonly builtIn: string;
  /** Capability by name that using it needs. */
  readonly capability: string | undefined;
  /** Any of these makes it known; empty where it is part of the language. */
  readonly extensions: readonly string[];
  /** First desktop version that has it without an extension; 0 for all. */
  readonly version: number;
  /** First desktop version that has it no more; 0 where it stays. */
  readonly removed: number;
}

/**
 * stage (`*` for all), storage, type, name, SPIR-V BuiltIn; `-` where it is an output at location 0; then `=Capability`, `+extension`, `>version` (of the language
 * without an extension), `<version` (from which it is gone). Source: GLSL 4.60 section 7.1, GL_KHR_vulkan_glsl and the extensions' own texts.
 */
const rows = `
compute in uvec3 gl_NumWorkGroups NumWorkgroups
compute in uvec3 gl_WorkGroupID WorkgroupId
compute in uvec3 gl_LocalInvocationID LocalInvocationId
compute in uvec3 gl_GlobalInvocationID GlobalInvocationId
compute in uint gl_LocalInvocationIndex LocalInvocationIndex
vertex in int gl_VertexIndex VertexIndex
vertex in int gl_InstanceIndex InstanceIndex
vertex in int gl_BaseVertex BaseVertex =DrawParameters >460
vertex in int gl_BaseInstance BaseInstance =DrawParameters >460
vertex in int gl_DrawID DrawIndex =DrawParameters >460
vertex in int gl_BaseVertexARB BaseVertex =DrawParameters +GL_ARB_shader_draw_parameters
vertex in int gl_BaseInstanceARB BaseInstance =DrawParameters +GL_ARB_shader_draw_parameters
vertex in int gl_DrawIDARB DrawIndex =DrawParameters +GL_ARB_shader_draw_parameters
vertex out vec4 gl_Position Position
vertex out float gl_PointSize PointSize
vertex out float[] gl_ClipDistance ClipDistance =ClipDistance
vertex out float[] gl_CullDistance CullDistance =CullDistance
vertex out int gl_Layer Layer =ShaderLayer +GL_ARB_shader_viewport_layer_array +GL_NV_viewport_array2
vertex out int gl_ViewportIndex ViewportIndex =ShaderViewportIndex +GL_ARB_shader_viewport_layer_array +GL_NV_viewport_array2
fragment in vec4 gl_FragCoord FragCoord
fragment in bool gl_FrontFacing FrontFacing
fragment in vec2 gl_PointCoord PointCoord
fragment in float[] gl_ClipDistance ClipDistance =ClipDistance
fragment in float[] gl_CullDistance CullDistance =CullDistance
fragment in int gl_PrimitiveID PrimitiveId =Geometry
fragment in int gl_SampleID SampleId =SampleRateShading
fragment in vec2 gl_SamplePosition SamplePosition =SampleRateShading
fragment in int[] gl_SampleMaskIn SampleMask
fragment in int gl_Layer Layer =Geometry
fragment in int gl_ViewportIndex ViewportIndex =MultiViewport
fragment in bool gl_HelperInvocation HelperInvocation
fragment out float gl_FragDepth FragDepth
fragment out int[] gl_SampleMask SampleMask
fragment out int gl_FragStencilRefARB FragStencilRefEXT =StencilExportEXT +GL_ARB_shader_stencil_export
fragment out vec4 gl_FragColor - <420 +relaxed
fragment out vec4[] gl_FragData - <420 +relaxed
fragment out float gl_FragDepthEXT FragDepth +GL_EXT_frag_depth
vertex in int gl_VertexID VertexIndex +relaxed
vertex in int gl_InstanceID InstanceIndex +relaxed
* in int gl_ViewIndex ViewIndex =MultiView +GL_EXT_multiview
* in int gl_DeviceIndex DeviceIndex =DeviceGroup +GL_EXT_device_group
compute in uint gl_NumSubgroups NumSubgroups =GroupNonUniform +GL_KHR_shader_subgroup_basic
compute in uint gl_SubgroupID SubgroupId =GroupNonUniform +GL_KHR_shader_subgroup_basic
* in uint gl_SubgroupSize SubgroupSize =GroupNonUniform +GL_KHR_shader_subgroup_basic
* in uint gl_SubgroupInvocationID SubgroupLocalInvocationId =GroupNonUniform +GL_KHR_shader_subgroup_basic
* in uvec4 gl_SubgroupEqMask SubgroupEqMask =GroupNonUniformBallot +GL_KHR_shader_subgroup_ballot
* in uvec4 gl_SubgroupGeMask SubgroupGeMask =GroupNonUniformBallot +GL_KHR_shader_subgroup_ballot
* in uvec4 gl_SubgroupGtMask SubgroupGtMask =GroupNonUniformBallot +GL_KHR_shader_subgroup_ballot
* in uvec4 gl_SubgroupLeMask SubgroupLeMask =GroupNonUniformBallot +GL_KHR_shader_subgroup_ballot
* in uvec4 gl_SubgroupLtMask SubgroupLtMask =GroupNonUniformBallot +GL_KHR_shader_subgroup_ballot
`;

const byStage = new Map<string, ReadonlyMap<string, BuiltinVariable>>();

/** Built-in variables of a stage by name. `gl_WorkGroupSize` is a constant and is made by the checker. */
export function builtinVariables(stage: string): ReadonlyMap<string, BuiltinVariable> {
  const known = byStage.get(stage);
  if (known !== undefined) return known;
  const result = new Map<string, BuiltinVariable>();
  byStage.set(stage, result);
  for (const row of rows.split("\n")) {
    const [rowStage, storage, type, name, builtIn, ...more] = row.split(" ");
    if (rowStage !== stage && rowStage !== "*") continue;
    const marked = (mark: string): string[] => more.filter((word) => word[0] === mark).map((word) => word.slice(1));
    const array = type!.endsWith("[]");
    const base = builtinType(array ? type!.slice(0, -2) : type!);
    result.set(name!, {
      name: name!,
      type: array ? arrayType(base, undefined) : base,
      storage: storage as "in" | "out",
      builtIn: builtIn!,
      capability: marked("=")[0],
      extensions: marked("+"),
      version: Number(marked(">")[0] ?? 0),
      removed: Number(marked("<")[0] ?? 0),
    });
  }
  return result;
}

/** Type and value by name. The values are what the reference compiler's defaults say. */
const constants: Readonly<Record<string, readonly [string, number | readonly number[]]>> = {
  gl_MaxComputeWorkGroupCount: ["ivec3", [65535, 65535, 65535]],
  gl_MaxComputeWorkGroupSize: ["ivec3", [1024, 1024, 64]],
  gl_MaxComputeUniformComponents: ["int", 1024],
  gl_MaxComputeTextureImageUnits: ["int", 16],
  gl_MaxComputeImageUniforms: ["int", 8],
  gl_MaxComputeAtomicCounters: ["int", 8],
  gl_MaxComputeAtomicCounterBuffers: ["int", 1],
  gl_MaxVertexAttribs: ["int", 64],
  gl_MaxDrawBuffers: ["int", 32],
  gl_MaxCombinedTextureImageUnits: ["int", 80],
  gl_MaxTextureImageUnits: ["int", 32],
  gl_ScopeDevice: ["int", 1],
  gl_ScopeWorkgroup: ["int", 2],
  gl_ScopeSubgroup: ["int", 3],
  gl_ScopeInvocation: ["int", 4],
  gl_ScopeQueueFamily: ["int", 5],
  gl_SemanticsRelaxed: ["int", 0],
  gl_SemanticsAcquire: ["int", 0x2],
  gl_SemanticsRelease: ["int", 0x4],
  gl_SemanticsAcquireRelease: ["int", 0x8],
  gl_SemanticsMakeAvailable: ["int", 0x2000],
  gl_SemanticsMakeVisible: ["int", 0x4000],
  gl_SemanticsVolatile: ["int", 0x8000],
  gl_StorageSemanticsNone: ["int", 0],
  gl_StorageSemanticsBuffer: ["int", 0x40],
  gl_StorageSemanticsShared: ["int", 0x100],
  gl_StorageSemanticsImage: ["int", 0x800],
  gl_StorageSemanticsOutput: ["int", 0x1000],
  gl_MaxVertexTextureImageUnits: ["int", 32],
  gl_MaxVertexUniformComponents: ["int", 4096],
  gl_MaxVertexUniformVectors: ["int", 128],
  gl_MaxVertexOutputComponents: ["int", 64],
  gl_MaxVertexOutputVectors: ["int", 16],
  gl_MaxVertexImageUniforms: ["int", 0],
  gl_MaxVertexAtomicCounters: ["int", 0],
  gl_MaxVertexAtomicCounterBuffers: ["int", 0],
  gl_MaxFragmentUniformComponents: ["int", 4096],
  gl_MaxFragmentUniformVectors: ["int", 16],
  gl_MaxFragmentInputComponents: ["int", 128],
  gl_MaxFragmentInputVectors: ["int", 15],
  gl_MaxFragmentImageUniforms: ["int", 8],
  gl_MaxFragmentAtomicCounters: ["int", 8],
  gl_MaxFragmentAtomicCounterBuffers: ["int", 1],
  gl_MaxVaryingComponents: ["int", 60],
  gl_MaxVaryingVectors: ["int", 8],
  gl_MaxVaryingFloats: ["int", 64],
  gl_MaxClipDistances: ["int", 8],
  gl_MaxCullDistances: ["int", 8],
  gl_MaxCombinedClipAndCullDistances: ["int", 8],
  gl_MaxSamples: ["int", 4],
  gl_MaxImageUnits: ["int", 8],
  gl_MaxImageSamples: ["int", 0],
  gl_MaxCombinedImageUniforms: ["int", 8],
  gl_MaxCombinedShaderOutputResources: ["int", 8],
  gl_MaxCombinedImageUnitsAndFragmentOutputs: ["int", 8],
  gl_MaxAtomicCounterBindings: ["int", 1],
  gl_MaxAtomicCounterBufferSize: ["int", 16384],
  gl_MaxCombinedAtomicCounters: ["int", 8],
  gl_MaxCombinedAtomicCounterBuffers: ["int", 1],
  gl_MaxTransformFeedbackBuffers: ["int", 4],
  gl_MaxTransformFeedbackInterleavedComponents: ["int", 64],
  gl_MaxViewports: ["int", 16],
  gl_MinProgramTexelOffset: ["int", -8],
  gl_MaxProgramTexelOffset: ["int", 7],
  gl_MaxPatchVertices: ["int", 32],
};

/** Implementation limits as constants: type and value by name. */
export const builtinConstants: ReadonlyMap<string, readonly [string, number | readonly number[]]> = new Map(
  Object.entries(constants),
);
