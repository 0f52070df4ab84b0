import { T, type TokenKind } from "./token.ts";

/** Words by kind. Names of built-in types are in `types/names.ts`; opaque ones are listed here until they have a type. */
const rows: readonly (readonly [TokenKind, string])[] = [
  [
    T.Qualifier,
    `const in out inout uniform buffer shared attribute varying coherent volatile restrict readonly writeonly
     centroid flat smooth noperspective patch sample invariant precise subroutine highp mediump lowp
     nonprivate devicecoherent queuefamilycoherent workgroupcoherent subgroupcoherent shadercallcoherent`,
  ],
  [T.Layout, "layout"],
  [T.Struct, "struct"],
  [T.If, "if"],
  [T.Else, "else"],
  [T.For, "for"],
  [T.While, "while"],
  [T.Do, "do"],
  [T.Switch, "switch"],
  [T.Case, "case"],
  [T.Default, "default"],
  [T.Break, "break"],
  [T.Continue, "continue"],
  [T.Return, "return"],
  [T.Discard, "discard"],
  [T.Precision, "precision"],
  [T.Void, "void"],
  [T.True, "true"],
  [T.False, "false"],
  [
    T.TypeName,
    `bool int uint float double vec2 vec3 vec4 dvec2 dvec3 dvec4 bvec2 bvec3 bvec4 ivec2 ivec3 ivec4
     uvec2 uvec3 uvec4 mat2 mat3 mat4 mat2x2 mat2x3 mat2x4 mat3x2 mat3x3 mat3x4 mat4x2 mat4x3 mat4x4
     dmat2 dmat3 dmat4 dmat2x2 dmat2x3 dmat2x4 dmat3x2 dmat3x3 dmat3x4 dmat4x2 dmat4x3 dmat4x4
     atomic_uint sampler samplerShadow
     sampler1D sampler2D sampler3D samplerCube sampler1DShadow sampler2DShadow samplerCubeShadow sampler1DArray
     sampler2DArray sampler1DArrayShadow sampler2DArrayShadow samplerCubeArray samplerCubeArrayShadow sampler2DRect
     sampler2DRectShadow samplerBuffer sampler2DMS sampler2DMSArray
     isampler1D isampler2D isampler3D isamplerCube isampler1DArray isampler2DArray isamplerCubeArray isampler2DRect
     isamplerBuffer isampler2DMS isampler2DMSArray
     usampler1D usampler2D usampler3D usamplerCube usampler1DArray usampler2DArray usamplerCubeArray usampler2DRect
     usamplerBuffer usampler2DMS usampler2DMSArray
     texture1D texture2D texture3D textureCube texture1DArray texture2DArray textureCubeArray texture2DRect
     textureBuffer texture2DMS texture2DMSArray
     itexture1D itexture2D itexture3D itextureCube itexture1DArray itexture2DArray itextureCubeArray itexture2DRect
     itextureBuffer itexture2DMS itexture2DMSArray
     utexture1D utexture2D utexture3D utextureCube utexture1DArray utexture2DArray utextureCubeArray utexture2DRect
     utextureBuffer utexture2DMS utexture2DMSArray
     image1D image2D image3D imageCube image1DArray image2DArray imageCubeArray image2DRect imageBuffer image2DMS
     image2DMSArray
     iimage1D iimage2D iimage3D iimageCube iimage1DArray iimage2DArray iimageCubeArray iimage2DRect iimageBuffer
     iimage2DMS iimage2DMSArray
     uimage1D uimage2D uimage3D uimageCube uimage1DArray uimage2DArray uimageCubeArray uimage2DRect uimageBuffer
     uimage2DMS uimage2DMSArray
     subpassInput subpassInputMS isubpassInput isubpassInputMS usubpassInput usubpassInputMS`,
  ],
  [
    T.Reserved,
    `common partition active asm class union enum typedef template this resource goto inline noinline public static
     extern external interface long short half fixed unsigned superp input output hvec2 hvec3 hvec4 fvec2 fvec3 fvec4
     filter sizeof cast namespace using sampler3DRect`,
  ],
];

/** Type names that are words of the language only under an extension of theirs. */
const sized = new Set<string>();
for (const word of [
  "int8",
  "uint8",
  "int16",
  "uint16",
  "int32",
  "uint32",
  "int64",
  "uint64",
  "float16",
  "float32",
  "float64",
]) {
  sized.add(`${word}_t`);
}
for (const prefix of ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", "f64"]) {
  for (let size = 2; size <= 4; size++) {
    sized.add(`${prefix}vec${size}`);
    if (!prefix.startsWith("f")) continue;
    sized.add(`${prefix}mat${size}`);
    for (let rows = 2; rows <= 4; rows++) sized.add(`${prefix}mat${size}x${rows}`);
  }
}

const keywords = new Map<string, TokenKind>();
for (const [kind, words] of rows) for (const word of words.split(/\s+/)) keywords.set(word, kind);

for (const word of sized) keywords.set(word, T.SizedName);

/** The token kind of a word: `T.Identifier` where it is no keyword. */
export function keywordKind(word: string): TokenKind {
  return keywords.get(word) ?? T.Identifier;
}
