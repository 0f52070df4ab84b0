import type { GlslRequest } from "../../src/glsl/index.ts";

/**
 * The smallest sources that have each mistake. `⟦` and `⟧` enclose what the message must point at, in the source or in
 * one of the `includes`; they are taken out before the compile.
 */
export interface Mistake extends Partial<Omit<GlslRequest, "source">> {
  readonly code: string;
  readonly source: string;
  /** A warning; the default is an error. */
  readonly warning?: true;
  /** Too long to be read by anyone. */
  readonly long?: true;
}

const head = "#version 450\n";
const main = "void main() { }\n";
/** Lines between the version and an empty entry point. */
const top = (text: string): string => `${head}${text}\n${main}`;
/** Statements of the entry point, behind global declarations. */
const body = (text: string, globals = ""): string => `${head}${globals}void main() {\n  ${text}\n}\n`;
const extension = (name: string): string => `#extension ${name} : require\n`;
const buffer = (text: string): string => `layout(set = 0, binding = 0) buffer B { ${text} };`;
const fragment = { stage: "fragment" } as const;
const printing = extension("GL_EXT_debug_printf");
const scopes = extension("GL_KHR_memory_scope_semantics");
const references = extension("GL_EXT_buffer_reference");
const half = extension("GL_EXT_shader_16bit_storage");
const including = extension("GL_GOOGLE_include_directive");
const doubling = Array.from({ length: 21 }, (_, at) => `#define M${at + 1} M${at} M${at}\n`).join("");

const preprocessor: readonly Mistake[] = [
  { code: "GLSL_BAD_CHARACTER", source: body("int a = ⟦@⟧ 1;") },
  { code: "GLSL_BYTE_ORDER_MARK", source: `⟦\ufeff⟧${head}${main}` },
  { code: "GLSL_OPEN_COMMENT", source: `${head}${main}⟦/*⟧ no end\n` },
  { code: "GLSL_NO_VERSION", source: `⟦⟧${main}` },
  { code: "GLSL_BAD_VERSION", source: `#version ⟦four⟧\n${main}` },
  { code: "GLSL_UNSUPPORTED_VERSION", source: `#version ⟦120⟧\n${main}` },
  { code: "GLSL_VERSION_NOT_FIRST", source: `int a;\n⟦#version⟧ 450\n${main}` },
  { code: "GLSL_BAD_DIRECTIVE", source: top("#⟦defin⟧ A 1") },
  { code: "GLSL_ERROR_DIRECTIVE", source: top("#⟦error⟧ no such target") },
  { code: "GLSL_EXTRA_TOKENS", source: top("#ifdef A\n#endif ⟦A⟧") },
  { code: "GLSL_UNTERMINATED_IF", source: top("#⟦ifdef⟧ A") },
  { code: "GLSL_UNMATCHED_DIRECTIVE", source: top("#⟦endif⟧") },
  { code: "GLSL_ELSE_AFTER_ELSE", source: top("#ifdef A\n#else\n#⟦else⟧\n#endif") },
  { code: "GLSL_BAD_CONDITION", source: top("#if 1 ⟦2⟧\n#endif") },
  { code: "GLSL_UNDEFINED_MACRO", source: `#version 310 es\n#if ⟦A⟧ == 1\n#endif\n${main}` },
  { code: "GLSL_DIVIDE_BY_ZERO", source: top("#if 1 ⟦/⟧ 0\n#endif") },
  { code: "GLSL_NO_MACRO_NAME", source: top("#⟦ifdef⟧\n#endif") },
  { code: "GLSL_BAD_MACRO_NAME", source: top("#define ⟦GL_mine⟧ 1") },
  { code: "GLSL_BAD_MACRO_PARAMETERS", source: top("#define F(⟦1⟧) 1") },
  { code: "GLSL_MACRO_SPACE", source: top("#define ⟦A⟧+1"), warning: true },
  { code: "GLSL_COMMENT_CONTINUED", source: top("int a; ⟦//⟧ to \\\nint a;\nint b;"), warning: true },
  { code: "GLSL_DUPLICATE_PARAMETER", source: top("#define F(a, ⟦a⟧) a") },
  { code: "GLSL_MACRO_REDEFINED", source: top("#define A 1\n#define ⟦A⟧ 2") },
  { code: "GLSL_MACRO_ARGUMENTS", source: body("⟦F⟧(1);", "#define F(a, b) a\n") },
  { code: "GLSL_MACRO_UNTERMINATED", source: body("⟦F⟧(1\n#define G\n  ;", "#define F(a) a\n") },
  { code: "GLSL_PASTE_AT_EDGE", source: top("#define A ## b\n⟦A⟧") },
  { code: "GLSL_BAD_PASTE", source: top("#define P(a, b) a ## b\nint c = ⟦P⟧(1, +);") },
  {
    // one call doubles its argument's text: the seventeenth from inside makes 2^17 characters
    code: "GLSL_PASTE_TOO_LONG",
    source: top(
      `#define P(x) x##x\n#define Q(x) P(x)\nint ${"Q(".repeat(43)}⟦Q⟧(${"Q(".repeat(16)}a${")".repeat(60)};`,
    ),
    long: true,
  },
  {
    code: "GLSL_EXPANSION_TOO_LARGE",
    source: body("int a = ⟦M20⟧;", `#define M0 1\n${doubling}`),
    long: true,
  },
  { code: "GLSL_BAD_EXTENSION", source: top("#extension GL_KHR_vulkan_glsl ⟦require⟧") },
  { code: "GLSL_EXTENSION_ALL", source: top("#extension ⟦all⟧ : require") },
  { code: "GLSL_UNKNOWN_EXTENSION", source: top("#extension ⟦GL_EXT_nothing⟧ : require") },
  { code: "GLSL_NEEDS_EXTENSION", source: top("layout(⟦scalar⟧, set = 0, binding = 0) buffer B { int b; };") },
  {
    code: "GLSL_NEEDS_VERSION",
    source: "#version 330\nvoid main() {\n  float a[2] = ⟦{ 1.0, 2.0 }⟧;\n}\n",
    ...fragment,
  },
  { code: "GLSL_BAD_LINE", source: top("#line ⟦soon⟧") },
  { code: "GLSL_BAD_INCLUDE", source: top(`${including}#⟦include⟧ nothing`) },
  { code: "GLSL_INCLUDE_NOT_ENABLED", source: top('#⟦include⟧ "a.h"'), includes: { "a.h": "int a;\n" } },
  { code: "GLSL_INCLUDE_NOT_FOUND", source: top(`${including}#⟦include⟧ "a.h"`) },
  { code: "GLSL_INCLUDE_DEPTH", source: top(`${including}#include "a.h"`), includes: { "a.h": '#⟦include⟧ "a.h"\n' } },
  {
    code: "GLSL_INCLUDE_COUNT",
    source: top(`${including}${'#include "a.h"\n'.repeat(10_000)}#⟦include⟧ "a.h"`),
    includes: { "a.h": "\n" },
    long: true,
  },
  {
    // 4 MiB in all: the third does not fit
    code: "GLSL_INCLUDE_TEXT",
    source: top(`${including}#include "a.h"\n#include "a.h"\n#⟦include⟧ "a.h"`),
    includes: { "a.h": `//${"-".repeat(1_500_000)}\n` },
    long: true,
  },
];

const syntax: readonly Mistake[] = [
  { code: "GLSL_SYNTAX", source: body("int a = ⟦;⟧") },
  { code: "GLSL_RESERVED_WORD", source: body("int ⟦template⟧ = 1;") },
  { code: "GLSL_STRAY_BRACE", source: `${head}${main}⟦}⟧\n` },
  { code: "GLSL_NESTING", source: body(`${"{".repeat(1050)}⟦{⟧${"}".repeat(1051)}`), long: true },
  { code: "GLSL_BAD_NUMBER", source: body("int a = ⟦08⟧;") },
  { code: "GLSL_LITERAL_TOO_LARGE", source: body("uint a = ⟦4294967296u⟧;") },
  { code: "GLSL_STRAY_SEMICOLON", source: top("⟦;⟧") },
  { code: "GLSL_BLOCK_NOT_GLOBAL", source: body("⟦buffer B { int b; };⟧") },
  { code: "GLSL_STRAY_LIST", source: body("vec2 a;\n  a = ⟦{⟧ 1.0, 2.0 };") },
];

const names: readonly Mistake[] = [
  { code: "GLSL_UNDECLARED", source: body("int a = ⟦nothing⟧;") },
  { code: "GLSL_UNDECLARED_NEAR", source: body("float radius = 1.0;\n  float a = ⟦radus⟧;") },
  { code: "GLSL_UNDECLARED_FUNCTION", source: body("⟦nothing⟧();") },
  { code: "GLSL_UNDECLARED_FUNCTION_NEAR", source: body("float a = ⟦normalise⟧(1.0);") },
  { code: "GLSL_BUILTIN_STAGE", source: body("vec4 a = ⟦gl_FragCoord⟧;") },
  { code: "GLSL_UNKNOWN_TYPE", source: body("⟦Mystery⟧ a;") },
  { code: "GLSL_UNKNOWN_TYPE_NEAR", source: body("⟦flaot⟧ a;") },
  { code: "GLSL_REDEFINED", source: body("int a;\n  float ⟦a⟧;") },
  { code: "GLSL_RESERVED_PREFIX", source: body("int ⟦gl_Mine⟧;") },
  { code: "GLSL_RESERVED_NAME", source: body("int ⟦a__b⟧;"), warning: true },
  { code: "GLSL_TYPE_AS_VALUE", source: top("struct S { int a; };\nint b = ⟦S⟧;") },
  { code: "GLSL_FUNCTION_AS_VALUE", source: top("int f() { return 1; }\nint a = ⟦f⟧;") },
  { code: "GLSL_BLOCK_AS_VALUE", source: body("int a = int(⟦b⟧);", `${buffer("int x;").slice(0, -1)} b;\n`) },
  { code: "GLSL_NOT_IN_VULKAN", source: top("layout(binding = 0) uniform ⟦atomic_uint⟧ a;") },
  { code: "GLSL_NEEDS_RELAXED", source: body("⟦gl_FragColor⟧ = vec4(1.0);"), ...fragment },
  { code: "GLSL_UNSUPPORTED", source: top("⟦subroutine⟧ int a;") },
  { code: "GLSL_VOID_VARIABLE", source: body("⟦void⟧ a;") },
];

const expressions: readonly Mistake[] = [
  { code: "GLSL_BAD_CONVERSION", source: body("int a = ⟦1.5⟧;") },
  { code: "GLSL_BAD_OPERANDS", source: body("bool a = ⟦true + 1⟧;") },
  { code: "GLSL_BAD_OPERAND", source: body("bool a = ⟦!1⟧;") },
  { code: "GLSL_CONDITION_TYPE", source: body("if (⟦1⟧) { }") },
  { code: "GLSL_CONDITION_ASSIGNS", source: body("float a; if (⟦a = 1.0⟧) { }") },
  { code: "GLSL_CONDITIONAL_TYPES", source: body("int a = ⟦true ? 1 : vec2(1.0)⟧;") },
  { code: "GLSL_NOT_ASSIGNABLE", source: body("const int a = 1;\n  ⟦a⟧ = 2;") },
  {
    code: "GLSL_WRITEONLY",
    source: body("int a = ⟦b.x⟧;", "layout(set = 0, binding = 0) writeonly buffer B { int x; } b;\n"),
  },
  { code: "GLSL_NOT_INDEXABLE", source: body("float a = 1.0;\n  float b = ⟦a⟧[0];") },
  { code: "GLSL_INDEX_MISSING", source: body("float a[2];\n  float b = ⟦a[]⟧;") },
  { code: "GLSL_INDEX_TYPE", source: body("float a[2];\n  float b = a[⟦1.0⟧];") },
  { code: "GLSL_INDEX_RANGE", source: body("float a[2];\n  float b = a[⟦2⟧];") },
  { code: "GLSL_UNSIZED_INDEX", source: body("float a[];\n  int i = 1;\n  float b = ⟦a⟧[i];") },
  { code: "GLSL_UNSIZED_LENGTH", source: body("float a[];\n  int b = ⟦a⟧.length();") },
  { code: "GLSL_UNSIZED_ASSIGN", source: body("float a[];\n  ⟦a⟧ = float[1](1.0);") },
  {
    code: "GLSL_SPEC_SIZED",
    source: body("int a[N], b[N];\n  ⟦a = b⟧;", "layout(constant_id = 0) const int N = 2;\n"),
  },
  { code: "GLSL_NO_LENGTH", source: body("float a;\n  int b = ⟦a⟧.length();") },
  { code: "GLSL_NO_METHOD", source: body("float a[2];\n  int b = a.⟦size⟧();") },
  { code: "GLSL_NO_MEMBER", source: body("mat2 a;\n  vec2 b = a.⟦xy⟧;") },
  { code: "GLSL_NO_MEMBER_NEAR", source: body("S s;\n  float a = s.⟦colour⟧;", "struct S { float color; };\n") },
  { code: "GLSL_BAD_SWIZZLE", source: body("vec2 a;\n  float b = a.⟦z⟧;") },
  { code: "GLSL_BAD_ESCAPE", source: body('debugPrintfEXT(⟦"\\xg"⟧);', printing) },
  { code: "GLSL_STRAY_TEXT", source: body('int a = ⟦"one"⟧;', printing) },
  { code: "GLSL_PRINT_FORMAT", source: body("debugPrintfEXT(⟦1⟧);", printing) },
  { code: "GLSL_PRINT_ARGUMENT", source: body('mat2 m;\n  debugPrintfEXT("%f", ⟦m⟧);', printing) },
  { code: "GLSL_REFERENCE_UNDEFINED", source: top(`${references}layout(buffer_reference) buffer ⟦R⟧;`) },
  {
    code: "GLSL_BAD_LIST",
    source: body("R r = ⟦{ 1 }⟧;", `${references}layout(buffer_reference) buffer R { int a; };\n`),
  },
  { code: "GLSL_NO_CONSTRUCTOR", source: body("⟦image2D(1)⟧;") },
  { code: "GLSL_CONSTRUCTOR_EXTRA", source: body("vec2 a = vec2(1.0, 2.0, ⟦3.0⟧);") },
  { code: "GLSL_CONSTRUCTOR_MISSING", source: body("vec3 a = ⟦vec3(1.0, 2.0)⟧;") },
  { code: "GLSL_CONSTRUCTOR_COUNT", source: body("float a[2] = ⟦float[2](1.0)⟧;") },
  {
    code: "GLSL_CONSTANT_TOO_LARGE",
    source: body("float a[65537] = ⟦{}⟧;", extension("GL_EXT_null_initializer")),
  },
  { code: "GLSL_VALUE_TOO_LARGE", source: body("float a[65537], b[65537];\n  a = ⟦b⟧;") },
  {
    // the word count, the type and the result take 3 of 65,535 words
    code: "GLSL_TOO_LONG",
    source: body(`int x = b;\n  int ⟦⟧a[] = int[](${"x,".repeat(65_532)}x);\n  b = a[x];`, `${buffer("int b;")}\n`),
    long: true,
  },
  { code: "GLSL_NOT_A_FUNCTION", source: body("int a = 1;\n  ⟦a⟧(2);") },
  { code: "GLSL_NO_OVERLOAD", source: body("float a = ⟦sin⟧(true);") },
  {
    code: "GLSL_AMBIGUOUS_CALL",
    source: body("⟦f⟧(1, 1);", "void f(float a, double b) { }\nvoid f(double a, float b) { }\n"),
  },
  { code: "GLSL_ATOMIC_MEMORY", source: body("uint a = 1u;\n  atomicAdd(⟦a⟧, 1u);") },
  {
    code: "GLSL_SAMPLED_ARGUMENTS",
    source: body("texture(⟦sampler2D(t, t)⟧, vec2(0.0));", "layout(set = 0, binding = 0) uniform texture2D t;\n"),
    ...fragment,
  },
  {
    code: "GLSL_SAMPLED_PLACE",
    source: body(
      "f(⟦sampler2D(t, s)⟧);",
      "layout(set = 0, binding = 0) uniform texture2D t;\nlayout(set = 0, binding = 1) uniform sampler s;\nvoid f(sampler2D x) { }\n",
    ),
    ...fragment,
  },
  {
    code: "GLSL_NEEDS_TARGET",
    source: body("bool a = ⟦subgroupAny⟧(true);", extension("GL_KHR_shader_subgroup_vote")),
    targetEnv: "vulkan1.0",
  },
  {
    code: "GLSL_CLUSTER_SIZE",
    source: body("int a = subgroupClusteredAdd(1, ⟦3u⟧);", extension("GL_KHR_shader_subgroup_clustered")),
  },
  { code: "GLSL_INTERPOLANT", source: body("float a = 1.0;\n  float b = interpolateAtCentroid(⟦a⟧);"), ...fragment },
  {
    code: "GLSL_CONSTANT_ARGUMENT",
    source: body(
      "ivec2 o = ivec2(1);\n  textureOffset(s, vec2(0.0), ⟦o⟧);",
      "layout(set = 0, binding = 0) uniform sampler2D s;\n",
    ),
    ...fragment,
  },
  {
    code: "GLSL_ARGUMENT_RANGE",
    source: body("textureGather(s, vec2(0.0), ⟦4⟧);", "layout(set = 0, binding = 0) uniform sampler2D s;\n"),
    ...fragment,
  },
  {
    code: "GLSL_ATOMIC_FORMAT",
    source: body("imageAtomicAdd(⟦i⟧, ivec2(0), 1u);", "layout(set = 0, binding = 0, rg32ui) uniform uimage2D i;\n"),
  },
  {
    code: "GLSL_MEMORY_ORDER",
    source: body(
      "⟦atomicLoad⟧(x, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);",
      `${scopes}${buffer("uint x;")}\n`,
    ),
  },
  {
    code: "GLSL_ARGUMENT_QUALIFIER",
    source: body("f(⟦i⟧);", "layout(set = 0, binding = 0, r32f) coherent uniform image2D i;\nvoid f(image2D x) { }\n"),
  },
  { code: "GLSL_WRONG_STAGE", source: body("⟦discard;⟧") },
];

const declarations: readonly Mistake[] = [
  { code: "GLSL_DUPLICATE_QUALIFIER", source: body("const ⟦const⟧ int a = 1;") },
  {
    code: "GLSL_DEPRECATED",
    source: `#version 330\nlayout(location = 0) ⟦varying⟧ vec4 a;\n${main}`,
    ...fragment,
    warning: true,
  },
  { code: "GLSL_DEFAULT_PRECISION", source: body("⟦mediump⟧ float a;\n  highp float b;"), ...fragment, warning: true },
  { code: "GLSL_STORAGE_CONFLICT", source: top("layout(location = 0) in ⟦out⟧ vec4 a;"), ...fragment },
  { code: "GLSL_QUALIFIER_MISPLACED", source: body("⟦uniform⟧ int a;") },
  { code: "GLSL_UNKNOWN_LAYOUT", source: top("layout(⟦colour⟧, set = 0, binding = 0) buffer B { int b; };") },
  { code: "GLSL_NO_PRECISION", source: `#version 310 es\n⟦float⟧ a = 1.0;\n${main}`, ...fragment },
  { code: "GLSL_PRECISION_TYPE", source: body("highp ⟦bool⟧ a;") },
  { code: "GLSL_LAYOUT_VALUE", source: top("layout(set = 0, binding = 0, ⟦align⟧) buffer B { int b; };") },
  { code: "GLSL_LAYOUT_NO_VALUE", source: top("layout(⟦std430 = 1⟧, set = 0, binding = 0) buffer B { int b; };") },
  { code: "GLSL_LAYOUT_RANGE", source: top("layout(⟦set = 63⟧, binding = 0) buffer B { int b; };") },
  { code: "GLSL_LAYOUT_MISPLACED", source: top("layout(⟦location = 0⟧, set = 0, binding = 0) buffer B { int b; };") },
  { code: "GLSL_NOT_CONSTANT_INTEGER", source: top("layout(set = ⟦0.5⟧, binding = 0) buffer B { int b; };") },
  { code: "GLSL_NOT_CONSTANT", source: top("int a = 1;\nconst int b = ⟦a⟧;") },
  { code: "GLSL_CONST_UNINITIALIZED", source: body("const int ⟦a⟧;") },
  { code: "GLSL_NO_INITIALIZER", source: top("layout(location = 0) in float a = ⟦1.0⟧;"), ...fragment },
  { code: "GLSL_ARRAY_SIZE", source: body("int n = 2;\n  float a[⟦n⟧];") },
  { code: "GLSL_ARRAY_SIZE_RANGE", source: body("float a[⟦0⟧];") },
  { code: "GLSL_EMPTY_STRUCT", source: top("struct S { ⟦}⟧;") },
  { code: "GLSL_EMPTY_DECLARATION", source: top("⟦const;⟧") },
  { code: "GLSL_MEMBER_NAME", source: top("struct S { ⟦int;⟧ };") },
  { code: "GLSL_MEMBER_INITIALIZER", source: top("struct S { int a = ⟦1⟧; };") },
  { code: "GLSL_UNSIZED_MEMBER", source: top("struct S { int ⟦a⟧[]; };") },
  { code: "GLSL_UNSIZED_RETURN", source: top("⟦int[]⟧ f();") },
  { code: "GLSL_UNSIZED_PARAMETER", source: top("void f(⟦int a[]⟧) { }") },
  { code: "GLSL_UNSIZED_VARIABLE", source: "#version 310 es\nvoid main() {\n  int ⟦a⟧[];\n}\n" },
  { code: "GLSL_UNSIZED_BLOCKS", source: `#version 310 es\n${buffer("highp int x;").slice(0, -1)} ⟦b⟧[];\n${main}` },
  { code: "GLSL_RUNTIME_ARRAY", source: `#version 310 es\n${buffer("highp int ⟦a⟧[]; highp int b;")}\n${main}` },
  { code: "GLSL_LOOSE_UNIFORM", source: top("uniform vec4 ⟦color⟧;") },
  { code: "GLSL_LOOSE_BUFFER", source: top("buffer vec4 ⟦color⟧;") },
  { code: "GLSL_NO_BINDING", source: top("uniform ⟦B⟧ { vec4 color; };") },
  { code: "GLSL_OPAQUE_STORAGE", source: top("sampler2D ⟦s⟧;") },
  { code: "GLSL_OPAQUE_VALUE", source: top("⟦sampler2D⟧ f();") },
  { code: "GLSL_NO_FORMAT", source: top("layout(set = 0, binding = 0) uniform image2D ⟦i⟧;") },
  { code: "GLSL_IMAGE_FORMAT", source: top("layout(set = 0, binding = 0, r32i) uniform image2D ⟦i⟧;") },
  {
    code: "GLSL_NO_ATTACHMENT_INDEX",
    source: top("layout(set = 0, binding = 0) uniform subpassInput ⟦s⟧;"),
    ...fragment,
  },
  {
    code: "GLSL_UNIFORM_STD430",
    source: top("⟦layout(std430, set = 0, binding = 0) uniform⟧ B { int a; };"),
  },
  { code: "GLSL_OFFSET_ALIGN", source: top(buffer("layout(offset = 2) int ⟦a⟧;")) },
  { code: "GLSL_OFFSET_OVERLAP", source: top(buffer("layout(offset = 0) vec4 a; layout(offset = 8) int ⟦b⟧;")) },
  { code: "GLSL_BLOCK_TOO_LARGE", source: top(buffer("float ⟦a⟧[65536][16384]; int b;")) },
  {
    code: "GLSL_TWO_PUSH_CONSTANTS",
    source: top("layout(push_constant) uniform A { int a; };\nlayout(push_constant) uniform ⟦B⟧ { int b; };"),
  },
  { code: "GLSL_CONSTANT_ID", source: top("⟦layout(constant_id = 0) const⟧ vec2 a = vec2(1.0);") },
  {
    code: "GLSL_REPEATED_ID",
    source: top("layout(constant_id = 1) const int a = 1;\nlayout(constant_id = 1) const int ⟦b⟧ = 1;"),
  },
  { code: "GLSL_NO_LOCAL_SIZE", source: body("uvec3 a = ⟦gl_WorkGroupSize⟧;") },
  { code: "GLSL_LOCAL_SIZE_LIMIT", source: top("layout(⟦local_size_x = 1025⟧) in;") },
  { code: "GLSL_LOCAL_SIZE_CHANGED", source: top("layout(local_size_x = 2) in;\nlayout(⟦local_size_x = 4⟧) in;") },
  { code: "GLSL_COMPUTE_INTERFACE", source: top("layout(location = 0) in vec4 ⟦a⟧;") },
  {
    code: "GLSL_NO_STAGE_BLOCKS",
    source: top("in ⟦V⟧ { vec4 a; } v;"),
    stage: "vertex",
  },
  { code: "GLSL_BUILTIN_TYPE", source: top("out vec2 ⟦gl_FragDepth⟧;"), ...fragment },
  { code: "GLSL_NO_LOCATION", source: top("in vec4 ⟦a⟧;"), ...fragment },
  {
    code: "GLSL_LOCATION_OVERLAP",
    source: top("layout(location = 0) in mat2 a;\nlayout(location = 1) in vec4 ⟦b⟧;"),
    ...fragment,
  },
  { code: "GLSL_COMPONENT", source: top("layout(location = 0, component = 3) in vec2 ⟦a⟧;"), ...fragment },
  {
    code: "GLSL_XFB_OVERLAP",
    source: top("layout(location = 0, xfb_offset = 0) out vec4 a;\nlayout(location = 1, ⟦xfb_offset = 8⟧) out vec4 b;"),
    stage: "vertex",
  },
  {
    code: "GLSL_EXTENSION_USED",
    source: body("⟦demote⟧;", "#extension GL_EXT_demote_to_helper_invocation : warn\n"),
    ...fragment,
    warning: true,
  },
  {
    code: "GLSL_XFB_BUFFER",
    source: top("layout(location = 0, xfb_buffer = 1) out B { layout(xfb_buffer = 2, xfb_offset = 0) vec4 ⟦a⟧; };"),
    stage: "vertex",
  },
  {
    code: "GLSL_XFB_STRIDE_SIZE",
    source: top("layout(⟦xfb_stride = 16⟧) out;\nlayout(location = 0, xfb_offset = 4) out vec4 a;"),
    stage: "vertex",
  },
  {
    code: "GLSL_XFB_STRIDE",
    source: top("layout(xfb_stride = 16) out;\nlayout(⟦xfb_stride = 32⟧) out;"),
    stage: "vertex",
  },
  {
    code: "GLSL_LATE_REDECLARATION",
    source: `${head}void f() { gl_FragDepth = 0.0; }\nlayout(depth_less) out float ⟦gl_FragDepth⟧;\n${main}`,
    ...fragment,
  },
  {
    code: "GLSL_DEPTH_LAYOUT",
    source: top("layout(depth_less) out float gl_FragDepth;\nlayout(depth_any) out float ⟦gl_FragDepth⟧;"),
    ...fragment,
  },
  { code: "GLSL_NEEDS_FLAT", source: top("layout(location = 0) in int ⟦a⟧;"), ...fragment },
  { code: "GLSL_INTERFACE_TYPE", source: top("layout(location = 0) out mat2 ⟦a⟧;"), ...fragment },
  {
    code: "GLSL_NEEDS_EARLY_TESTS",
    source: top(`${extension("GL_EXT_post_depth_coverage")}layout(⟦post_depth_coverage⟧) in;`),
    ...fragment,
  },
  {
    code: "GLSL_SHARED_MIX",
    source: top(`${extension("GL_EXT_shared_memory_block")}shared B { int x; } b;\nshared int ⟦a⟧;`),
  },
];

const statements: readonly Mistake[] = [
  { code: "GLSL_ENTRY_SIGNATURE", source: `${head}int ⟦main⟧() { return 1; }\n` },
  { code: "GLSL_NO_ENTRY_POINT", source: "⟦⟧#version 450\nvoid f() { }\n" },
  { code: "GLSL_NO_BODY", source: body("⟦f()⟧;", "void f();\n") },
  { code: "GLSL_RECURSION", source: top("void f() { ⟦f()⟧; }") },
  { code: "GLSL_FUNCTION_MISMATCH", source: top("void f(int a);\nvoid ⟦f⟧(out int a) { a = 1; }") },
  { code: "GLSL_BUILTIN_REDEFINED", source: `#version 310 es\nfloat ⟦sin⟧(float a) { return a; }\n${main}` },
  { code: "GLSL_LOCAL_FUNCTION", source: body("⟦int f()⟧ { return 1; }") },
  { code: "GLSL_RETURN_MISSING", source: top("int f() { ⟦return;⟧ }") },
  {
    code: "GLSL_RETURN_CONVERSION",
    source: `#version 330\nfloat f() { return ⟦1⟧; }\n${main}`,
    ...fragment,
    warning: true,
  },
  { code: "GLSL_NO_RETURN", source: top("int ⟦f⟧() { }") },
  { code: "GLSL_RETURN_VALUE", source: body("return ⟦1⟧;") },
  { code: "GLSL_STRAY_JUMP", source: body("⟦break;⟧") },
  { code: "GLSL_STRAY_CASE", source: body("⟦case 1:⟧") },
  { code: "GLSL_BEFORE_CASE", source: body("switch (1) {\n    ⟦int a;⟧\n    case 1: break;\n  }") },
  {
    code: "GLSL_CASE_AT_END",
    source: "#version 320 es\nvoid main() {\n  switch (1) {\n    case 1: break;\n    ⟦default:⟧\n  }\n}\n",
  },
  { code: "GLSL_REPEATED_LABEL", source: body("switch (1) {\n    case 1: break;\n    ⟦case 1:⟧ break;\n  }") },
  { code: "GLSL_SWITCH_TYPE", source: body("switch (⟦1.0⟧) { default: break; }") },
  {
    code: "GLSL_UNKNOWN_ATTRIBUTE",
    source: body("[[⟦fast⟧]] for (;;) { break; }", extension("GL_EXT_control_flow_attributes")),
    warning: true,
  },
];

/** One for each code of the GLSL front end, in the order of the code table's groups. */
export const mistakes: readonly Mistake[] = [
  ...preprocessor,
  ...syntax,
  ...names,
  ...expressions,
  ...declarations,
  ...statements,
];

const pointers = `${references}layout(buffer_reference) buffer R { int a; };\nlayout(push_constant) uniform P { R r; };\n`;

/** Other ways to make some of them. */
export const variants: readonly Mistake[] = [
  { code: "GLSL_SYNTAX", source: `${head}int f() {\n  return 1\n⟦}⟧\n${main}` },
  { code: "GLSL_SYNTAX", source: top("layout(local_size_x = 64) in\n⟦layout⟧(binding = 0) buffer B { int a; } b;") },
  { code: "GLSL_SYNTAX", source: `${head}layout(local_size_x = 64) in\n⟦void⟧ main() { }\n` },
  ...["subgroupAdd(1)", "subgroupElect()", "subgroupBallot(true)", "nonuniformEXT(1)"].map((call) => ({
    code: "GLSL_NEEDS_EXTENSION",
    source: body(`⟦${call.split("(")[0]}⟧${call.slice(call.indexOf("("))};`),
  })),
  { code: "GLSL_NEEDS_EXTENSION", source: body("⟦demote⟧;"), ...fragment },
  { code: "GLSL_NEEDS_EXTENSION", source: body("⟦gl_Layer⟧ = 1;"), stage: "vertex" },
  {
    code: "GLSL_NEEDS_EXTENSION",
    source: body("⟦texelFetch⟧(t, ivec2(0), 0);", "layout(set = 0, binding = 0) uniform texture2D t;\n"),
  },
  { code: "GLSL_NEEDS_EXTENSION", source: body("R q = ⟦r + 1⟧;", pointers) },
  { code: "GLSL_NEEDS_EXTENSION", source: body("R q = R(⟦uvec2(0)⟧);", pointers) },
  { code: "GLSL_NEEDS_EXTENSION", source: body("uvec2 u = uvec2(⟦r⟧);", pointers) },
  { code: "GLSL_UNDECLARED_NEAR", source: body("int i = ⟦gl_VertexID⟧;"), stage: "vertex" },
  { code: "GLSL_UNDECLARED_FUNCTION_NEAR", source: body("float a = ⟦saturate⟧(1.0);") },
  { code: "GLSL_UNKNOWN_TYPE_NEAR", source: body("⟦float4x4⟧ m;") },
  { code: "GLSL_NEEDS_RELAXED", source: top("⟦varying⟧ vec3 v;"), ...fragment },
  { code: "GLSL_NEEDS_RELAXED", source: body("⟦texture2D⟧(1.0, vec2(0.0));"), ...fragment },
  // what a refused extension would bring is no mistake of its own
  {
    code: "GLSL_UNKNOWN_EXTENSION",
    source: `${head}#extension ⟦GL_EXT_shader_atomic_float⟧ : require\n${buffer("float a;")}\nvoid main() { atomicAdd(a, 1.0); }\n`,
  },
  {
    code: "GLSL_UNKNOWN_EXTENSION",
    source: `${head}#extension ⟦GL_EXT_fragment_shader_barycentric⟧ : require\nlayout(location = 0) pervertexEXT in vec4 v[3];\nvoid main() { vec4 a = v[0] * gl_BaryCoordEXT.x; }\n`,
    ...fragment,
  },
  {
    code: "GLSL_CASE_AT_END",
    source: "#version 310 es\nvoid main() {\n  switch (1) { ⟦case 1:⟧ }\n}\n",
    warning: true,
  },
  // lists whose parts have different sizes
  { code: "GLSL_BAD_CONVERSION", source: body("int a[][] = {{1, 2}, ⟦{3}⟧};") },
  { code: "GLSL_BAD_CONVERSION", source: body("int a[2][] = {{1, 2}, ⟦{x}⟧};", "int x;\n") },
  // a struct with a sampler has no place in a block
  {
    code: "GLSL_OPAQUE_STORAGE",
    dialect: "relaxed",
    source: top("struct L { sampler2D q; float r; };\nuniform L ⟦l⟧;"),
  },
  // narrow types that are there to be stored
  ...["⟦h * h⟧", "⟦-h⟧", "⟦h < h⟧", "⟦h++⟧", "⟦h == h⟧"].map((text) => ({
    code: "GLSL_NEEDS_EXTENSION",
    source: `${head}${half}${buffer("float16_t h;")}\nvoid main() { ${text}; }\n`,
  })),
  { code: "GLSL_NEEDS_EXTENSION", source: `${head}${half}void main() { float16_t ⟦k⟧; }\n` },
  { code: "GLSL_NEEDS_EXTENSION", source: `${head}${half}void f(⟦float16_t k⟧) { }\n${main}` },
  {
    code: "GLSL_NEEDS_EXTENSION",
    source: `${head}${half}${buffer("float16_t h;")}\nvoid main() { int i = int(⟦h⟧); }\n`,
  },
  {
    code: "GLSL_NEEDS_EXTENSION",
    source: `${head}${half}${extension("GL_EXT_shader_explicit_arithmetic_types_float16")}${buffer("int16_t s; float16_t h;")}
void main() { h = h * h; int i = int(⟦s + s⟧); }\n`,
  },
  { code: "GLSL_UNSUPPORTED", source: top("struct T { ⟦struct U { int a; }⟧ u; };") },
  { code: "GLSL_UNSUPPORTED", source: top(buffer("⟦struct U { int a; }⟧ u;")) },
  { code: "GLSL_LAYOUT_MISPLACED", source: top(buffer("layout(⟦binding = 1⟧) int a;")) },
  { code: "GLSL_LAYOUT_MISPLACED", source: top(buffer("layout(⟦std140⟧) int a;")) },
  { code: "GLSL_BAD_CONDITION", source: top("#if ⟦1u⟧\n#endif") },
  { code: "GLSL_BAD_CONDITION", source: top("#if ⟦08⟧\n#endif") },
  { code: "GLSL_AMBIGUOUS_CALL", source: body("⟦f⟧(1);", "void f(uint a) { }\nvoid f(double a) { }\n") },
  { code: "GLSL_AMBIGUOUS_CALL", source: body("⟦f⟧(1);", "void f(uint a) { }\nvoid f(float a) { }\n") },
  { code: "GLSL_LOCAL_SIZE_CHANGED", source: top("layout(local_size_x = 1) in;\nlayout(⟦local_size_x = 4⟧) in;") },
  { code: "GLSL_LAYOUT_MISPLACED", source: top("layout(⟦push_constant⟧) buffer B { int b; };") },
  { code: "GLSL_OPAQUE_STORAGE", source: top("layout(set = 0, binding = 0) uniform B { sampler2D ⟦s⟧; };") },
  {
    code: "GLSL_REDEFINED",
    source: top("layout(binding = 0) uniform B { int a; } b;\nlayout(binding = 1) uniform ⟦B⟧ { int a; } c;"),
  },
  { code: "GLSL_BAD_LIST", source: body("int a = ⟦{ 1 }⟧;") },
  {
    code: "GLSL_NEEDS_EXTENSION",
    source: `${head}void f() { ⟦demote⟧; }\n${extension("GL_EXT_demote_to_helper_invocation")}void main() { demote; }\n`,
    ...fragment,
  },
  {
    code: "GLSL_NEEDS_EXTENSION",
    source: `${head}${references}layout(buffer_reference) buffer R { int a; };\n#extension GL_EXT_buffer_reference : disable\nlayout(⟦buffer_reference⟧) buffer S { int a; };\n${main}`,
  },
  {
    code: "GLSL_NO_MEMBER",
    source: `${head}out gl_PerVertex { vec4 gl_Position; };\nvoid main() { ⟦gl_CullDistance⟧[0] = 1.0; }\n`,
    stage: "vertex",
  },
];

/** What is left of a text without the marks, and the marked range as lines and columns (from 1, in code points). */
export function unmark(text: string): { readonly text: string; readonly range: readonly number[] | undefined } {
  const start = text.indexOf("⟦");
  const end = text.indexOf("⟧");
  const plain = text.replace("⟦", "").replace("⟧", "");
  if (start < 0 || end < 0) return { text: plain, range: undefined };
  const place = (before: string): [number, number] => {
    const lines = before.split("\n");
    return [lines.length, [...lines.at(-1)!].length + 1];
  };
  return { text: plain, range: [...place(plain.slice(0, start)), ...place(plain.slice(0, end - 1))] };
}
