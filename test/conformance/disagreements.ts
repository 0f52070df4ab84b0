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
    file: "spv.functionNestedOpaque.vert",
    ours: "reject",
    reason: "a uniform struct with a sampler in it: spirv-val rejects the reference's module (VUID 04667)",
  },
  { file: "spv.hlslOffsets.vert", ours: "reject", reason: "members overlap: spirv-val rejects the reference's module" },
  {
    file: "spv.floatFetch.frag",
    ours: "reject",
    reason: "rectangle textures: spirv-val rejects the reference's module, since Vulkan has no ImageRect",
  },
  { file: "spv.imageAtomic64.comp", ours: "reject", reason: "64-bit images: an extension outside the list" },
  { file: "spv.imageAtomic64.frag", ours: "reject", reason: "64-bit images: an extension outside the list" },
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
