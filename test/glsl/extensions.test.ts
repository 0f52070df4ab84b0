import { describe, expect, it } from "vitest";
import { formatDiagnostic } from "../../src/base/index.ts";
import { oracle } from "../oracles.ts";
import { bytes, compile, failuresOf, places, words } from "./tools.ts";

const int64 = "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require";
const reference = "#extension GL_EXT_buffer_reference2 : require";

/** Shaders of one extension each: stage and text behind the version. */
const shaders = {
  "references.comp": `${reference}
${int64}
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 1) in;
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Node { Node next; float weight; bool seen; vec3 at; };
layout(std430, binding = 0) buffer B { Node head; uvec2 word; uint64_t address; float sums[]; };
float walk(Node node, out Node last) {
  float sum = 0.0;
  for (int i = 0; i < 4; i++) { sum += node.weight + node.at.y; node.seen = true; last = node; node = node.next; }
  return sum;
}
void main() {
  Node last;
  sums[0] = walk(head, last);
  Node other = Node(address);
  other.next = last;
  other += 2;
  (other + 1).at.xz = vec2(1.0);
  other[3].weight = float(other - head);
  word = uvec2(other);
  if (Node(word) == head) address = uint64_t(true ? head : other);
}`,
  "shared-blocks.comp": `#extension GL_EXT_shared_memory_block : require
layout(local_size_x = 8) in;
shared First { uint words[8]; bool flag; };
layout(std430) shared Second { vec4 colors[2]; } second;
layout(binding = 0) buffer B { uint result; };
void main() {
  words[gl_LocalInvocationIndex] = gl_LocalInvocationIndex;
  flag = true;
  barrier();
  result = words[0] + uint(second.colors[1].y) + uint(flag);
}`,
  "printf.comp": `#extension GL_EXT_debug_printf : require
layout(local_size_x = 1) in;
void main() { debugPrintfEXT("%u \\x41\\n of %v2f", gl_LocalInvocationIndex, vec2(1.0)); }`,
  "descriptors.frag": `#extension GL_EXT_nonuniform_qualifier : require
layout(binding = 0) uniform sampler2D textures[];
layout(binding = 1) uniform texture2D images[];
layout(binding = 2) uniform sampler plain;
layout(binding = 3) uniform Block { vec4 tint; } blocks[];
layout(location = 0) in nonuniformEXT flat int at;
layout(location = 0) out vec4 color;
void main() {
  color = texture(textures[at], vec2(0.5)) * blocks[nonuniformEXT(at)].tint;
  color += texture(nonuniformEXT(sampler2D(images[at], plain)), vec2(0.5));
}`,
  "scopes.comp": `#extension GL_KHR_memory_scope_semantics : require
layout(local_size_x = 64) in;
layout(binding = 0) buffer B { uint flag; int data; };
void main() {
  atomicStore(data, 5, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
  atomicStore(flag, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
  controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
  if (atomicLoad(flag, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire) == 1u)
    atomicAdd(data, 1, gl_ScopeQueueFamily, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
}`,
  "votes.comp": `layout(local_size_x = 64) in;
layout(binding = 0) buffer B { uint result; };
layout(constant_id = 0) const float factor = 2.5;
const double wide = double(factor);
void main() {
  if (anyInvocation(gl_LocalInvocationIndex > 3u) && !allInvocationsEqual(true)) result = uint(wide);
  true ? barrier() : memoryBarrier();
}`,
} as const;

const entries = Object.entries(shaders).map(([name, text]) => ({
  name,
  source: `#version 460\n${text}\n`,
  stage: name.endsWith(".frag") ? ("fragment" as const) : ("compute" as const),
}));

describe("extensions", () => {
  it.each(entries)("$name compiles without a message", ({ source, stage }) => {
    expect(compile(source, { stage }).diagnostics.map(formatDiagnostic)).toEqual([]);
  });

  it.skipIf(!oracle("spirv-val"))("gives modules that spirv-val accepts", () => {
    const files = entries.map(({ name, source, stage }) => ({
      name: `${name}.spv`,
      data: bytes(words(source, { stage, targetEnv: "vulkan1.3" })),
    }));
    expect(failuresOf("spirv-val --target-env vulkan1.3 --scalar-block-layout", files)).toEqual(new Map());
  });

  it("takes subgroup sizes to SPIR-V before 1.3", () => {
    const source = `#version 450
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 1) in;
layout(binding = 0) buffer B { uint size; };
void main() { size = gl_SubgroupSize; }`;
    expect(compile(source, { targetEnv: "vulkan1.0" }).ok).toBe(true);
  });
});

const compute = "#version 450\nlayout(local_size_x = 1) in;\n";

describe("mistakes with extensions", () => {
  it.each([
    [`#version 450\n${reference}\nlayout(buffer_reference) buffer N;\nvoid main() {}`, "3:33 GLSL_REFERENCE_UNDEFINED"],
    [`#version 450\nlayout(buffer_reference) buffer N { int x; };\nvoid main() {}`, "2:8 GLSL_NEEDS_EXTENSION"],
    [
      `#version 450\n#extension GL_EXT_buffer_reference : require\nlayout(buffer_reference) buffer N { int x; };\nN f(N a) { return a + 1; }\nvoid main() {}`,
      "4:19 GLSL_NEEDS_EXTENSION",
    ],
    [`${compute}shared float loose;\nvoid main() { "text"; }`, "4:15 GLSL_STRAY_TEXT"],
    [
      `#version 450\n#extension GL_EXT_shared_memory_block : require\nlayout(local_size_x = 1) in;\nshared A { int a; };\nshared int b;\nvoid main() {}`,
      "5:12 GLSL_SHARED_MIX",
    ],
    [
      `#version 450\n#extension GL_EXT_debug_printf : require\nlayout(local_size_x = 1) in;\nvoid main() { debugPrintfEXT(1); }`,
      "4:30 GLSL_PRINT_FORMAT",
    ],
    [
      `#version 450\n#extension GL_EXT_debug_printf : require\nlayout(local_size_x = 1) in;\nvoid main() { debugPrintfEXT("%d", mat2(1)); }`,
      "4:36 GLSL_PRINT_ARGUMENT",
    ],
    [
      `#version 450\n#extension GL_EXT_debug_printf : require\nlayout(local_size_x = 1) in;\nvoid main() { debugPrintfEXT("\\xg"); }`,
      "4:30 GLSL_BAD_ESCAPE",
    ],
  ])("%#", (source, place) => {
    expect(places(source)[0]).toBe(place);
  });

  it("wants precisions in ES", () => {
    const source = "#version 310 es\nlayout(location = 0) out vec4 color;\nvoid main() { color = vec4(1.0); }";
    expect(places(source, { stage: "fragment" })).toEqual(["2:26 GLSL_NO_PRECISION"]);
    const given = source.replace("es\n", "es\nprecision mediump float;\n");
    expect(places(given, { stage: "fragment" })).toEqual([]);
    expect(places(`${compute}precision highp bool;\nvoid main() {}`)).toEqual(["3:17 GLSL_PRECISION_TYPE"]);
  });

  it("wants early tests beside EXT_post_depth_coverage", () => {
    const source =
      "#version 450\n#extension GL_EXT_post_depth_coverage : require\nlayout(post_depth_coverage) in;\nvoid main() {}";
    expect(places(source, { stage: "fragment" })).toEqual(["3:8 GLSL_NEEDS_EARLY_TESTS"]);
    const early = source.replace("post_depth_coverage)", "post_depth_coverage, early_fragment_tests)");
    expect(places(early, { stage: "fragment" })).toEqual([]);
  });

  it("chooses the overload that leaves a 32-bit argument alone, beside those of 64 bits", () => {
    const source = `#version 450
#extension GL_ARB_gpu_shader_int64 : require
layout(local_size_x = 1) in;
layout(binding = 0) buffer B { bool found; };
void main() { found = all(equal(gl_LocalInvocationID.xy, ivec2(0, 0))); }`;
    expect(places(source)).toEqual([]);
  });

  it("does not convert the narrow arguments of subgroup functions", () => {
    const source = `#version 450
#extension GL_KHR_shader_subgroup_vote : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
layout(local_size_x = 1) in;
layout(binding = 0) buffer B { bool same; };
void main() { same = subgroupAllEqual(i8vec2(1)); }`;
    expect(places(source)).toEqual(["6:22 GLSL_NEEDS_EXTENSION"]);
    const more = "#extension GL_EXT_shader_subgroup_extended_types_int8 : require\nlayout(local";
    expect(places(source.replace("layout(local", more))).toEqual([]);
  });
});
