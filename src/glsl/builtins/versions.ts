import { scalarOf, typeName } from "../types/index.ts";
import type { Overload } from "./overloads.ts";

/** Since when a built-in function or type is part of the language. */
export interface Since {
  /** First desktop version. */
  readonly desktop: number;
  /** First version of ES; 0 where none has it. */
  readonly es: number;
  /** Any of these brings it to older versions. */
  readonly extensions: readonly string[];
}

/**
 * Desktop version, ES version (`-` none has it), extensions that bring it earlier, names. `name=T` is only the overloads
 * that return T or its vectors, or whose first parameter is T. What is not here is in every version that Vulkan takes.
 * Source: the change lists of GLSL 1.50–4.60 and ES 3.10–3.20, and the extensions' own texts.
 */
const rows = `
400 310 GL_ARB_texture_gather GL_ARB_gpu_shader5: textureGather textureGatherOffset textureGatherOffsets
150 - GL_ARB_texture_query_lod: textureQueryLod
430 - GL_ARB_texture_query_levels: textureQueryLevels
450 - GL_ARB_shader_texture_image_samples: textureSamples imageSamples
430 -: textureOffset=sampler2DArrayShadow
400 320 GL_ARB_gpu_shader5 GL_OES_gpu_shader5 GL_EXT_gpu_shader5: fma
450 - GL_ARB_derivative_control: dFdxFine dFdyFine fwidthFine dFdxCoarse dFdyCoarse fwidthCoarse
400 320 GL_ARB_gpu_shader5 GL_OES_shader_multisample_interpolation: interpolateAtCentroid interpolateAtSample interpolateAtOffset
450 310 GL_EXT_shader_integer_mix: mix=int mix=uint mix=bool
330 310 GL_ARB_shader_bit_encoding GL_ARB_gpu_shader5: floatBitsToInt floatBitsToUint intBitsToFloat uintBitsToFloat
400 310 GL_ARB_gpu_shader5: frexp ldexp
400 310 GL_ARB_gpu_shader5: uaddCarry usubBorrow umulExtended imulExtended bitfieldExtract bitfieldInsert bitfieldReverse bitCount findLSB findMSB
400 310 GL_ARB_shading_language_packing GL_ARB_gpu_shader5: packUnorm2x16 packUnorm4x8 packSnorm4x8 unpackUnorm2x16 unpackUnorm4x8 unpackSnorm4x8
420 310 GL_ARB_shading_language_packing: packSnorm2x16 unpackSnorm2x16 packHalf2x16 unpackHalf2x16
420 310 GL_ARB_shader_image_load_store: memoryBarrier
430 310 GL_ARB_shader_image_load_store GL_ARB_compute_shader: memoryBarrierBuffer memoryBarrierImage
420 320 GL_ARB_shader_image_load_store GL_OES_shader_image_atomic: imageAtomicAdd imageAtomicMin imageAtomicMax imageAtomicAnd imageAtomicOr imageAtomicXor imageAtomicCompSwap imageAtomicExchange=int imageAtomicExchange=uint
450 320 GL_OES_shader_image_atomic: imageAtomicExchange=float
400 320 GL_ARB_texture_cube_map_array GL_OES_texture_cube_map_array GL_EXT_texture_cube_map_array: samplerCubeArray isamplerCubeArray usamplerCubeArray samplerCubeArrayShadow
420 320 GL_ARB_shader_image_load_store GL_OES_texture_cube_map_array GL_EXT_texture_cube_map_array: imageCubeArray iimageCubeArray uimageCubeArray
420 320 GL_ARB_shader_image_load_store GL_OES_texture_buffer GL_EXT_texture_buffer: imageBuffer iimageBuffer uimageBuffer
140 320 GL_OES_texture_buffer GL_EXT_texture_buffer: samplerBuffer isamplerBuffer usamplerBuffer
150 320 GL_ARB_texture_multisample GL_OES_texture_storage_multisample_2d_array: sampler2DMSArray isampler2DMSArray usampler2DMSArray
150 310 GL_ARB_texture_multisample: sampler2DMS isampler2DMS usampler2DMS
420 310 GL_ARB_shader_image_load_store: image2D iimage2D uimage2D image3D iimage3D uimage3D imageCube iimageCube uimageCube image2DArray iimage2DArray uimage2DArray
420 - GL_ARB_shader_image_load_store: image1D iimage1D uimage1D image1DArray iimage1DArray uimage1DArray image2DMS iimage2DMS uimage2DMS image2DMSArray iimage2DMSArray uimage2DMSArray
`;

let since: ReadonlyMap<string, Since> | undefined;
const ofOverload = new Map<Overload, Since | undefined>();

function table(): ReadonlyMap<string, Since> {
  if (since !== undefined) return since;
  const made = new Map<string, Since>();
  for (const row of rows.trim().split("\n")) {
    const [facts, names] = row.split(": ");
    const [desktop, es, ...extensions] = facts!.split(" ");
    const value = { desktop: Number(desktop), es: es === "-" ? 0 : Number(es), extensions };
    for (const name of names!.split(" ")) made.set(name, value);
  }
  since = made;
  return made;
}

/** Since when there is a type of this name; undefined for one that every version has. */
export function typeSince(name: string): Since | undefined {
  return table().get(name);
}

/** Since when there is an overload; undefined for one that every version has. */
export function overloadSince(overload: Overload): Since | undefined {
  if (ofOverload.has(overload)) return ofOverload.get(overload);
  const { name, returns, parameters } = overload;
  const known = table();
  const [first] = parameters;
  const found =
    known.get(name) ??
    known.get(`${name}=${scalarOf(returns) ?? ""}`) ??
    (first === undefined ? undefined : known.get(`${name}=${typeName(first.type)}`));
  ofOverload.set(overload, found);
  return found;
}
