/** Where our front end and the reference compiler disagree about a shader of the corpus, and why. */
export interface Disagreement {
  /** The end of the file's path. */
  readonly file: string;
  /** What we do. */
  readonly ours: "accept" | "reject" | "invalid";
  readonly reason: string;
}

export const disagreements: readonly Disagreement[] = [
  {
    file: "spv.memoryScopeSemantics.comp",
    ours: "reject",
    reason: "the qualifiers of the Vulkan memory model (workgroupcoherent and others): outside the list",
  },
  {
    file: "cppMerge.frag",
    ours: "reject",
    reason: "pasting imag and e1 gives the name image1 and leaves D behind: the reference joins all three",
  },
  {
    file: "preprocessor.stringify_invalid.vert",
    ours: "reject",
    reason: "## at the start of a replacement list is an error by GLSL 4.60 section 3.3",
  },
  {
    file: "spv.functionNestedOpaque.vert",
    ours: "reject",
    reason: "a uniform struct with a sampler in it has no descriptor in Vulkan",
  },
  { file: "spv.hlslOffsets.vert", ours: "reject", reason: "offset 20 of a vec3 is no multiple of 16" },
  {
    file: "spv.floatFetch.frag",
    ours: "reject",
    reason: "rectangle textures need a capability that Vulkan does not have",
  },
  {
    file: "spv.int64.frag",
    ours: "reject",
    reason: "bitCount and findLSB of 64-bit integers: Vulkan has the 32-bit instructions only",
  },
  { file: "spv.int16.amd.frag", ours: "reject", reason: "frexp and ldexp with 16-bit exponents are not written yet" },
  {
    file: "spv.specConstantOperations.vert",
    ours: "reject",
    reason: "an operation that SPIR-V lets only kernels do at specialisation",
  },
  { file: "spv.imageAtomic64.comp", ours: "reject", reason: "64-bit images: an extension outside the list" },
  { file: "spv.imageAtomic64.frag", ours: "reject", reason: "64-bit images: an extension outside the list" },
  {
    file: "spv.atomicAdd.bufferReference.comp",
    ours: "reject",
    reason: "the qualifier nonprivate of the Vulkan memory model: outside the list",
  },
  {
    file: "spv.derivative.float16.frag",
    ours: "invalid",
    reason: "derivatives of 16-bit floats: Vulkan has 32-bit ones only, whoever makes the module",
  },
  {
    file: "struct_member_declarator_lists.frag",
    ours: "accept",
    reason: "members may have the name of a struct: newer versions of the reference agree",
  },
  {
    file: "struct_name_as_struct_member.frag",
    ours: "accept",
    reason: "members may have the name of a struct: newer versions of the reference agree",
  },
  {
    file: "glsl.interpOp.error.frag",
    ours: "accept",
    reason: "a member or component of an input as interpolant, which GLSL 4.60 section 8.13.2 allows",
  },
  {
    file: "samplerlessTextureFunctions.frag",
    ours: "accept",
    reason: "an extension holds for the whole shader here, not only behind its line",
  },
  {
    file: "terminate.frag",
    ours: "accept",
    reason: "an extension holds for the whole shader here, not only behind its line",
  },
  {
    file: "spv.maximalReconvergence.vert",
    ours: "accept",
    reason: "the installed reference is older than GL_EXT_maximal_reconvergence",
  },
  {
    file: "spv.pragma.stdgl.oob.vert",
    ours: "accept",
    reason: "a #pragma that nobody knows is ignored, by GLSL 4.60 section 3.3",
  },
  { file: "00365.frag", ours: "accept", reason: "the installed reference is older than GL_EXT_maximal_reconvergence" },
  { file: "00366.frag", ours: "accept", reason: "the installed reference is older than GL_EXT_maximal_reconvergence" },
  { file: "00367.frag", ours: "accept", reason: "the installed reference is older than GL_EXT_maximal_reconvergence" },
];
