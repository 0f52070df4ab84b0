import { describe, expect, it } from "vitest";
import { disassemble } from "../../src/spirv/index.ts";
import { compile, words } from "./tools.ts";

const scoped = "#version 450\n#extension GL_KHR_memory_scope_semantics : require\n";
const vulkan = `${scoped}#pragma use_vulkan_memory_model\n`;

/** Instructions of a module whose text has one of the words: constants as `#value`, every other id as `%`. */
function instructions(source: string, wanted: RegExp, targetEnv: "vulkan1.0" | "vulkan1.3" = "vulkan1.3"): string[] {
  const text = disassemble(words(source, { targetEnv, debugInfo: false }));
  const constants = new Map(
    [...text.matchAll(/(%\d+) = OpConstant %\d+ (\S+)/g)].map(([, id, value]) => [id!, value!]),
  );
  const lines = text.split("\n").filter((line) => wanted.test(line));
  return lines.map((line) =>
    line
      .replace(/^.*? = /, "")
      .trim()
      .replace(/%\d+/g, (id) => (constants.has(id) ? `#${constants.get(id)}` : "%")),
  );
}

const members = `layout(binding = 0) buffer B {
  coherent uint wide; devicecoherent uint device; queuefamilycoherent uint family; workgroupcoherent uint group;
  subgroupcoherent uint sub; nonprivate uint shown; volatile uint moving; uint plain;
} b;
layout(binding = 1) buffer Out { uint r; };
`;

// each scope and mask as GL_KHR_memory_scope_semantics and the SPIR-V specification say
const accesses: readonly (readonly [member: string, load: string, store: string])[] = [
  ["wide", "MakePointerVisible|NonPrivatePointer #5", "MakePointerAvailable|NonPrivatePointer #5"],
  ["device", "MakePointerVisible|NonPrivatePointer #1", "MakePointerAvailable|NonPrivatePointer #1"],
  ["family", "MakePointerVisible|NonPrivatePointer #5", "MakePointerAvailable|NonPrivatePointer #5"],
  ["group", "MakePointerVisible|NonPrivatePointer #2", "MakePointerAvailable|NonPrivatePointer #2"],
  ["sub", "MakePointerVisible|NonPrivatePointer #3", "MakePointerAvailable|NonPrivatePointer #3"],
  ["shown", "NonPrivatePointer", "NonPrivatePointer"],
  ["moving", "Volatile|MakePointerVisible|NonPrivatePointer #5", "Volatile|MakePointerAvailable|NonPrivatePointer #5"],
  ["plain", "", ""],
];

describe("the Vulkan memory model", () => {
  it.each(accesses)("says of a load and a store of '%s' what its qualifier means", (member, load, store) => {
    const lines = instructions(
      `${vulkan}${members}void main() { r = b.${member}; b.${member} = 7u; }`,
      /OpLoad|OpStore/,
    );
    expect(lines).toHaveLength(3);
    expect(lines[0]!.replace(/^OpLoad % % ?/, "")).toBe(load);
    expect(lines[1]!.replace(/^OpStore % (?:%|#7) ?/, "")).toBe("");
    expect(lines[2]!.replace(/^OpStore % (?:%|#7) ?/, "")).toBe(store);
  });

  it("is declared, and has no decorations of coherence", () => {
    const source = `${vulkan}${members}void main() { r = b.wide + b.moving; }`;
    expect(instructions(source, /OpMemoryModel|OpCapability|OpExtension|Coherent|OpMemberDecorate.*Volatile/)).toEqual([
      "OpCapability Shader",
      "OpCapability VulkanMemoryModel",
      "OpMemoryModel Logical Vulkan",
    ]);
    expect(instructions(source, /OpExtension /, "vulkan1.0")).toEqual(['OpExtension "SPV_KHR_vulkan_memory_model"']);
  });

  it("names the capability of the device's scope where that is said", () => {
    const source = `${vulkan}${members}void main() { r = b.device; }`;
    expect(instructions(source, /DeviceScope/)).toEqual(["OpCapability VulkanMemoryModelDeviceScope"]);
  });

  it("has workgroup memory coherent in its workgroup", () => {
    const source = `${vulkan}layout(binding = 1) buffer Out { uint r; };\nshared uint s;\nvoid main() { s = 1u; r = s; }`;
    expect(instructions(source, /OpStore|OpLoad/)).toEqual([
      "OpStore % #1 MakePointerAvailable|NonPrivatePointer #2",
      "OpLoad % % MakePointerVisible|NonPrivatePointer #2",
      "OpStore % %",
    ]);
  });

  it("says of images what their qualifiers mean, for each access to a texel", () => {
    const source = `${vulkan}layout(binding = 0, r32ui) workgroupcoherent uniform uimage2D a;
layout(binding = 1, r32ui) nonprivate uniform uimage2D b;
layout(binding = 2, r32ui) uniform uimage2D c;
void main() { imageStore(a, ivec2(0), imageLoad(a, ivec2(0)) + imageLoad(b, ivec2(0)) + imageLoad(c, ivec2(0))); }`;
    expect(instructions(source, /OpImageRead|OpImageWrite/)).toEqual([
      "OpImageRead % % % MakeTexelVisible|NonPrivateTexel #2",
      "OpImageRead % % % NonPrivateTexel",
      "OpImageRead % % %",
      "OpImageWrite % % % MakeTexelAvailable|NonPrivateTexel #2",
    ]);
  });

  it("keeps availability, visibility and volatility in semantics", () => {
    const source = `${vulkan}layout(binding = 0) buffer B { uint x; volatile uint v; };
void main() {
  atomicAdd(x, 1u, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
  atomicAdd(v, 1u);
}`;
    const [both, moving] = instructions(source, /OpAtomic/);
    // 0x8 | 0x40 | 0x2000 | 0x4000 and 0x8000
    expect(both).toMatch(/#2 #24648 #1$/);
    expect(moving).toMatch(/#5 #32768 #1$/);
  });
});

describe("scoped memory in the GLSL450 model", () => {
  it("is coherent for all, and says no more", () => {
    const source = `${scoped}${members}void main() { r = b.group; b.shown = 1u; b.sub = 1u; }`;
    expect(instructions(source, /OpMemoryModel/)).toEqual(["OpMemoryModel Logical GLSL450"]);
    expect(instructions(source, /Coherent|Volatile/)).toEqual([
      ...[0, 1, 2, 3, 4].map((at) => `OpMemberDecorate % ${at} Coherent`),
      "OpMemberDecorate % 6 Volatile",
      "OpMemberDecorate % 6 Coherent",
    ]);
  });

  it("loads, stores and exchanges texels in the order that is said", () => {
    const source = `${scoped}layout(binding = 0, r32ui) coherent uniform uimage2D a;
void main() {
  uint old = imageAtomicLoad(a, ivec2(1), gl_ScopeDevice, gl_StorageSemanticsImage, gl_SemanticsAcquire);
  imageAtomicStore(a, ivec2(1), old, gl_ScopeWorkgroup, gl_StorageSemanticsImage, gl_SemanticsRelease);
  imageAtomicCompSwap(a, ivec2(1), 3u, 4u, gl_ScopeDevice, gl_StorageSemanticsImage, gl_SemanticsAcquireRelease, gl_StorageSemanticsImage, gl_SemanticsAcquire);
}`;
    const lines = instructions(source, /OpAtomic/);
    // image memory is 0x800
    expect(lines).toEqual([
      "OpAtomicLoad % % #1 #2050",
      "OpAtomicStore % #2 #2052 %",
      "OpAtomicCompareExchange % % #1 #2056 #2050 #4 #3",
    ]);
  });
});

describe("orders that mean nothing", () => {
  const calls = [
    "atomicStore(x, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire)",
    "atomicLoad(x, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease)",
    "memoryBarrier(gl_ScopeDevice, 0, 0)",
    "controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, 0, gl_SemanticsVolatile)",
    "atomicAdd(x, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_StorageSemanticsBuffer)",
    "atomicAdd(x, 1u, gl_ScopeDevice, gl_SemanticsAcquire, gl_SemanticsAcquire)",
    "atomicAdd(x, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire | gl_SemanticsRelease)",
    "atomicAdd(x, 1u, gl_ScopeDevice, 0, gl_SemanticsAcquire)",
    "atomicAdd(x, 1u, gl_ScopeDevice, gl_StorageSemanticsBuffer, 0)",
    "atomicAdd(x, 1u, gl_ScopeDevice, 0, gl_SemanticsMakeAvailable)",
    "atomicAdd(x, 1u, gl_ScopeDevice, 0, gl_SemanticsMakeVisible)",
    "atomicCompSwap(x, 1u, 2u, gl_ScopeDevice, 64, gl_SemanticsAcquireRelease, 64, gl_SemanticsRelease)",
    "atomicCompSwap(x, 1u, 2u, gl_ScopeDevice, 64, gl_SemanticsRelease, 64, gl_SemanticsAcquire)",
    "atomicCompSwap(x, 1u, 2u, gl_ScopeDevice, 64, gl_SemanticsAcquire, 256, gl_SemanticsAcquire)",
    "atomicCompSwap(x, 1u, 2u, gl_ScopeDevice, 0, gl_SemanticsVolatile, 0, 0)",
    "atomicCompSwap(x, 1u, 2u, gl_ScopeDevice, 64, gl_SemanticsAcquire, 64, gl_SemanticsAcquire | gl_SemanticsMakeVisible)",
  ];

  it.each(calls)("%s", (call) => {
    const source = `${scoped}layout(binding = 0) buffer B { uint x; };\nvoid main() {\n  ${call};\n}`;
    const found = compile(source).diagnostics.map(({ code, line }) => `${line} ${code}`);
    expect(found).toEqual(["5 GLSL_MEMORY_ORDER"]);
  });
});
