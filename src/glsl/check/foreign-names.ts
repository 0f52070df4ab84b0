/** Names of other shading languages, and of OpenGL's GLSL, with what stands for them here. */
function table(rows: string): ReadonlyMap<string, string> {
  return new Map(
    rows
      .trim()
      .split(/\s+/)
      .map((row) => row.split("=") as [string, string]),
  );
}

/** Functions of HLSL. A product is an operator here. */
const functions = table(`
  saturate=clamp lerp=mix frac=fract rsqrt=inversesqrt mul=* ddx=dFdx ddy=dFdy ddx_fine=dFdxFine ddy_fine=dFdyFine
  ddx_coarse=dFdxCoarse ddy_coarse=dFdyCoarse fmod=mod atan2=atan mad=fma asfloat=uintBitsToFloat asint=floatBitsToInt
  asuint=floatBitsToUint countbits=bitCount firstbithigh=findMSB firstbitlow=findLSB reversebits=bitfieldReverse
  f16tof32=unpackHalf2x16 f32tof16=packHalf2x16 clip=discard
  GroupMemoryBarrierWithGroupSync=barrier GroupMemoryBarrier=groupMemoryBarrier
  InterlockedAdd=atomicAdd InterlockedMin=atomicMin InterlockedMax=atomicMax InterlockedAnd=atomicAnd
  InterlockedOr=atomicOr InterlockedXor=atomicXor InterlockedExchange=atomicExchange
  InterlockedCompareExchange=atomicCompSwap`);

function makeTypes(): ReadonlyMap<string, string> {
  const types = new Map([
    ["half", "float"],
    ["dword", "uint"],
    ["Texture2D", "texture2D"],
    ["Texture3D", "texture3D"],
    ["TextureCube", "textureCube"],
    ["SamplerState", "sampler"],
  ]);
  const kinds = [
    ["float", "vec", "mat"],
    ["half", "vec", "mat"],
    ["double", "dvec", "dmat"],
    ["int", "ivec", ""],
    ["uint", "uvec", ""],
    ["bool", "bvec", ""],
  ] as const;
  for (const [kind, vector, matrix] of kinds) {
    for (const rows of [2, 3, 4]) {
      types.set(`${kind}${rows}`, `${vector}${rows}`);
      if (matrix === "") continue;
      for (const columns of [2, 3, 4]) {
        // rows come first there, and rows are what columns are here
        types.set(`${kind}${rows}x${columns}`, rows === columns ? `${matrix}${rows}` : `${matrix}${rows}x${columns}`);
      }
    }
  }
  return types;
}

/** Types of HLSL. */
export const foreignTypes = makeTypes();

/** Types too, which are called as constructors. */
export const foreignFunctions: ReadonlyMap<string, string> = new Map([...foreignTypes, ...functions]);

/** Variables of OpenGL that Vulkan calls otherwise. */
export const foreignVariables = table("gl_VertexID=gl_VertexIndex gl_InstanceID=gl_InstanceIndex");
