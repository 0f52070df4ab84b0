import { type Behavior, impliedExtensions } from "./extensions.ts";
import type { Version } from "./version.ts";

const explicitTypeExtensions = /explicit_arithmetic_types|8bit_storage|16bit_storage|int64|extended_types/;
/** Keywords that came with later versions. */
const laterKeywords: ReadonlySet<string> = new Set([
  ..."buffer shared sample patch coherent restrict readonly writeonly precise subroutine sampler".split(" "),
  ..."samplerShadow atomic_uint double resource common partition active filter input output".split(" "),
  // OpenGL has no textures without samplers
  ...["", "i", "u"].flatMap((texel) =>
    "1D 2D 3D Cube 1DArray 2DArray CubeArray 2DRect Buffer 2DMS 2DMSArray"
      .split(" ")
      .map((dim) => `${texel}texture${dim}`),
  ),
  ..."nonprivate devicecoherent queuefamilycoherent workgroupcoherent subgroupcoherent shadercallcoherent".split(" "),
]);
/** Extensions that make such a name a keyword before its version. */
const keywordExtensions: Readonly<Record<string, readonly string[]>> = {
  double: ["GL_ARB_gpu_shader_fp64", "GL_ARB_vertex_attrib_64bit"],
  precise: ["GL_ARB_gpu_shader5"],
  sample: ["GL_ARB_gpu_shader5", "GL_OES_shader_multisample_interpolation"],
  buffer: ["GL_ARB_shader_storage_buffer_object"],
  shared: ["GL_ARB_compute_shader"],
  coherent: ["GL_ARB_shader_image_load_store", "GL_ARB_shader_storage_buffer_object"],
  restrict: ["GL_ARB_shader_image_load_store", "GL_ARB_shader_storage_buffer_object"],
  readonly: ["GL_ARB_shader_image_load_store", "GL_ARB_shader_storage_buffer_object"],
  writeonly: ["GL_ARB_shader_image_load_store", "GL_ARB_shader_storage_buffer_object"],
};

/** Whether the word, a keyword of later versions, may be a name in a shader of this one with these extensions. */
export function isOlderName(text: string, version: Version, extensions: ReadonlyMap<string, Behavior>): boolean {
  if (!laterKeywords.has(text)) return false;
  const bringing = Object.hasOwn(keywordExtensions, text) ? keywordExtensions[text] : undefined;
  if (bringing?.some((name) => extensions.has(name)) === true) return false;
  return version.number < (version.es ? 310 : 400);
}

/** What a supported extension brings: another one, names of sized types. */
interface Brings {
  readonly implied: string | undefined;
  readonly bringsTypes: boolean;
}

const brings = new Map<string, Brings>();

export function bringsOf(name: string): Brings {
  let known = brings.get(name);
  if (known === undefined) {
    let implied = Object.hasOwn(impliedExtensions, name) ? impliedExtensions[name] : undefined;
    // each of these says that it brings the basic one
    if (name.startsWith("GL_KHR_shader_subgroup_")) implied = "GL_KHR_shader_subgroup_basic";
    known = { implied, bringsTypes: explicitTypeExtensions.test(implied ?? name) };
    brings.set(name, known);
  }
  return known;
}
