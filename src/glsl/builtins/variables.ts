import { builtinType, type Type } from "../types/index.ts";

/** A built-in variable: its SPIR-V built-in by name, and whether the shader reads (`in`) or writes (`out`) it. */
export interface BuiltinVariable {
  readonly name: string;
  readonly type: Type;
  readonly storage: "in" | "out";
  readonly builtIn: string;
}

/** stage, storage, type, name, SPIR-V BuiltIn. Source: GLSL 4.60 section 7.1, GL_KHR_vulkan_glsl. */
const rows = `
compute in uvec3 gl_NumWorkGroups NumWorkgroups
compute in uvec3 gl_WorkGroupID WorkgroupId
compute in uvec3 gl_LocalInvocationID LocalInvocationId
compute in uvec3 gl_GlobalInvocationID GlobalInvocationId
compute in uint gl_LocalInvocationIndex LocalInvocationIndex
vertex in int gl_VertexIndex VertexIndex
vertex in int gl_InstanceIndex InstanceIndex
vertex in int gl_BaseVertex BaseVertex
vertex in int gl_BaseInstance BaseInstance
vertex in int gl_DrawID DrawIndex
vertex out vec4 gl_Position Position
vertex out float gl_PointSize PointSize
fragment in vec4 gl_FragCoord FragCoord
fragment in bool gl_FrontFacing FrontFacing
fragment in vec2 gl_PointCoord PointCoord
fragment out float gl_FragDepth FragDepth
`;

const byStage = new Map<string, ReadonlyMap<string, BuiltinVariable>>();

/** Built-in variables of a stage by name. `gl_WorkGroupSize` is a constant and is made by the checker. */
export function builtinVariables(stage: string): ReadonlyMap<string, BuiltinVariable> {
  const known = byStage.get(stage);
  if (known !== undefined) return known;
  const result = new Map<string, BuiltinVariable>();
  byStage.set(stage, result);
  for (const row of rows.split("\n")) {
    const [rowStage, storage, type, name, builtIn] = row.split(" ");
    if (rowStage !== stage) continue;
    const variable = { name: name!, type: builtinType(type!), storage: storage as "in" | "out", builtIn: builtIn! };
    result.set(variable.name, variable);
  }
  return result;
}

/** Implementation limits as constants: name, value. The values are what the reference compiler's defaults say. */
export const builtinConstants: Readonly<Record<string, readonly [string, number | readonly number[]]>> = {
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
};
