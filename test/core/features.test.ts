import { beforeAll, describe, expect, it } from "vitest";
import { type CoreOutput, type CoreTools, createCore } from "../../src/core/index.ts";
import { Simulator } from "../backend/simulate.ts";
import { asmToWords, glslToWords } from "./spirv-source.ts";

const bindings = [0, 1, 2].map((binding) => ({
  set: 0,
  binding,
  offsetBytes: 16 * binding,
  strideBytes: 16,
  count: 1,
}));

describe("what programs can use", () => {
  let core: CoreTools;
  const simulator = new Simulator();
  beforeAll(async () => {
    core = await createCore({ checked: true });
  });

  function compile(words: Uint32Array, specialization: readonly { id: number; bits: bigint }[] = []): CoreOutput {
    const result = core.compile({
      words,
      stage: "compute",
      entryPoint: "main",
      specialization,
      bindings,
      optimization: 2,
      contraction: false,
      robust: true,
    });
    if (!result.ok) throw new Error(JSON.stringify(result.failures));
    return result.output;
  }

  function run(
    output: CoreOutput,
    groups: number,
    buffers: readonly Uint32Array[],
    push: readonly number[] = [],
    on = simulator,
  ): Uint32Array[] {
    const inlined = output.userData.find((entry) => entry.kind === "inlinePushConstants");
    const last = output.userData.at(-1);
    return on.run({
      emitted: {
        ...output,
        userSgprs: (last?.sgpr ?? 0) + (last?.count ?? 0),
        pushPointer: output.userData.some((entry) => entry.kind === "pushConstantPointer"),
        pushInlined: (inlined?.offsets ?? []).reduce((mask, offset) => mask | (1 << (offset / 4)), 0),
      } as never,
      local: output.workgroupSize,
      groups: [groups, 1, 1],
      groupIds: [...output.usesWorkgroupId],
      ldsBytes: output.ldsBytes,
      push,
      buffers,
    });
  }

  it("addresses in memory: loads, stores, atomics, lists, pointers as numbers", () => {
    // The first descriptor set of a simulator stands at 0xffff800000010000; a V# begins with the buffer's address.
    const source = `#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = 32) in;
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint w[]; };
layout(buffer_reference, std430) buffer Node { uint value; Node next; uint more[3]; };
layout(std430, binding = 0) buffer A { uint a[]; };
layout(std430, binding = 1) buffer R { uint r[]; };
void main() {
  uint i = gl_LocalInvocationIndex;
  Words table = Words(uvec2(0x00010000u, 0xffff8000u));
  uvec2 base = uvec2(table.w[0], table.w[1] & 0xffffu);
  Words memory = Words(base);
  r[i] = memory.w[i] * 3u + 1u;
  atomicAdd(memory.w[32], i);
  if (i == 5u) {
    Node first = Node(base + uvec2(192u, 0u));
    first.value = 5u;
    first.next = Node(base + uvec2(224u, 0u));
    first.next.value = 7u;
    first.next.more[i & 1u] = 9u;
    Node at = first;
    uint sum = 0u;
    for (uint k = 0u; k < 2u; k++) { sum += at.value; at = at.next; }
    r[32] = sum;
    r[33] = first.next.more[1];
    r[34] = uvec2(first.next).x - base.x;
  }
}`;
    const [a = new Uint32Array(), r = new Uint32Array()] = run(
      compile(glslToWords(source)),
      1,
      [Uint32Array.from({ length: 64 }, (_, k) => (k < 32 ? k * k : 0)), new Uint32Array(35)],
      [],
      new Simulator(),
    );
    expect([...r]).toEqual([...Array.from({ length: 32 }, (_, k) => k * k * 3 + 1), 12, 9, 224]);
    expect(a[32]).toBe((31 * 32) / 2);
    expect([a[48], a[56], a[61]]).toEqual([5, 7, 9]);
  });

  it("addresses in memory: an index has 64 bits before it is multiplied", () => {
    const source = `#version 450
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 1) in;
struct Three { uint v[3]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Words { uint w[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Threes { Three t[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer One { uint one; };
layout(std430, binding = 0) buffer I { uint far, three; int back; };
layout(std430, binding = 1) buffer R { uvec2 r[]; };
void main() {
  Words words = Words(uvec2(0x00010000u, 1u));
  Threes threes = Threes(uvec2(0x00010000u, 1u));
  One one = One(uvec2(0x00010000u, 1u));
  r[0] = uvec2(one + far);
  r[1] = uvec2(one + back);
  r[2] = uvec2(one + int64_t(back) * 4096l);
  r[3] = uvec2(one + 0x60000000);
  r[4] = uvec2(one + (-0x20000));
  Words table = Words(uvec2(0x00010000u, 0xffff8000u));
  uvec2 base = uvec2(table.w[0], table.w[1] & 0xffffu);
  // what lies so far below the buffer that the index leads back to it
  Words low = Words(base - uvec2(far * 4u, base.x < far * 4u ? 1u : 0u));
  r[5].x = low.w[far + 2u];
  Words lowest = Words(base - uvec2(0u, 1u));
  r[5].y = lowest.w[0x40000002u];
  Threes below = Threes(base - uvec2(0u, 3u));
  r[6].x = below.t[three].v[2];
  Words above = Words(base + uvec2(64u, 0u));
  r[6].y = above.w[back + 2];
}`;
    const input = Uint32Array.from([0x20000000, 0x40000000, -16]);
    const [, r = new Uint32Array()] = run(
      compile(glslToWords(source)),
      1,
      [input, new Uint32Array(14)],
      [],
      new Simulator(),
    );
    const whole = Array.from({ length: 5 }, (_, k) => (BigInt(r[2 * k + 1]!) << 32n) | BigInt(r[2 * k]!));
    const base = 0x1_0001_0000n;
    expect(whole).toEqual([base + 0x8000_0000n, base - 64n, base - 0x4_0000n, base + 0x1_8000_0000n, base - 0x8_0000n]);
    // words 2, 2, 2 of the buffer, and word 16 - 16 + 2
    expect([...r.subarray(10)]).toEqual(new Array(4).fill(0xfffffff0));
  });

  const numbers = Uint32Array.from({ length: 256 }, (_, i) => Math.imul(i, 2654435761) >>> 0);

  it("workgroup memory and barriers: a reversal over two waves", () => {
    const output = compile(
      glslToWords(`#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer A { uint a[]; };
layout(std430, binding = 1) buffer R { uint r[]; };
shared uint first[64]; shared uvec4 s[64]; shared bool odd[64];
void main() { uint l = gl_LocalInvocationIndex; uint i = gl_GlobalInvocationID.x;
  s[l] = uvec4(a[i], l, 1u, 2u); odd[l] = (l & 1u) != 0u; barrier();
  uint m = 63u - l; uvec4 v = s[m]; r[i] = v.x + v.y * v.w + (odd[m] ? 1000u : 0u) + v.z; }`),
    );
    // first is never used: 64 uvec4 and 64 words for the booleans.
    expect(output.ldsBytes).toBe(64 * 16 + 64 * 4);
    const [, r = []] = run(output, 4, [numbers, new Uint32Array(256)]);
    const wanted = [...numbers].map((_, i) => {
      const m = 63 - (i % 64);
      return ((numbers[(i & ~63) + m] ?? 0) + m * 2 + (m % 2) * 1000 + 1) >>> 0;
    });
    expect([...r]).toEqual(wanted);
  });

  it("atomics on workgroup and buffer memory", () => {
    const output = compile(
      glslToWords(`#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer A { uint a[]; };
layout(std430, binding = 1) buffer R { uint r[8]; int lowest; uint bits; };
shared uint s[4];
void main() { uint l = gl_LocalInvocationIndex; uint x = a[gl_GlobalInvocationID.x];
  if (l < 4u) s[l] = 0u; barrier();
  atomicAdd(s[x & 3u], 1u); barrier();
  if (l < 4u) atomicAdd(r[l], s[l]);
  atomicMin(lowest, int(x)); atomicOr(bits, 1u << (x & 31u)); atomicMax(r[4], x);
  atomicCompSwap(r[5], 7u, 9u); if (l == 0u) atomicExchange(r[6], 11u); }`),
    );
    const start = Uint32Array.from([0, 0, 0, 0, 0, 7, 0, 5, 0, 0]);
    const [, r = []] = run(output, 4, [numbers, start]);
    const count = (k: number): number => numbers.filter((x) => (x & 3) === k).length;
    const lowest = Math.min(...[...numbers].map((x) => x | 0)) >>> 0;
    const bits = numbers.reduce((word, x) => word | (1 << (x & 31)), 0) >>> 0;
    expect([...r]).toEqual([count(0), count(1), count(2), count(3), Math.max(...numbers), 9, 11, 5, lowest, bits]);
  });

  it("specialisation constants: defaults, values, derived constants and the workgroup size", () => {
    const words = glslToWords(`#version 450
layout(local_size_x_id = 3) in;
layout(constant_id = 0) const uint n = 3; layout(constant_id = 1) const bool twice = false; layout(constant_id = 2) const float f = 1.5;
const uint m = n * 2u + 1u;
layout(std430, binding = 0) readonly buffer A { uint a[]; };
layout(std430, binding = 1) buffer R { uint r[]; };
void main() { uint t[m]; for (uint k = 0u; k < m; k++) t[k] = k * n; uint y = 0u; for (uint k = 0u; k < m; k++) y += t[k];
  if (twice) y *= 2u; r[gl_GlobalInvocationID.x] = y + uint(f * 100.0); }`);
    const sum = (n: number): number => n * n * (2 * n + 1);
    const plain = compile(words, [{ id: 3, bits: 32n }]);
    expect(plain.workgroupSize).toEqual([32, 1, 1]);
    expect(run(plain, 1, [numbers, new Uint32Array(32)])[1]?.[5]).toBe(sum(3) + 150);
    const special = compile(words, [
      { id: 0, bits: 5n },
      { id: 1, bits: 1n },
      { id: 2, bits: 0x3e800000n },
      { id: 3, bits: 64n },
    ]);
    expect(special.workgroupSize).toEqual([64, 1, 1]);
    expect(run(special, 1, [numbers, new Uint32Array(64)])[1]?.[63]).toBe(2 * sum(5) + 25);
  });

  it("push constants: used dwords are passed inline, a dynamic index through a pointer", () => {
    const head = `#version 450
layout(local_size_x = 32) in;
layout(push_constant) uniform P { uint a; vec2 b; uint t[4]; } p;
layout(std430, binding = 1) buffer R { uint r[]; };`;
    const inline = compile(
      glslToWords(`${head} void main() { r[gl_LocalInvocationIndex] = p.a + uint(p.b.y) + p.t[3]; }`),
    );
    expect(inline.userData.find((entry) => entry.kind === "inlinePushConstants")?.offsets).toEqual([0, 12, 28]);
    const push = [100, 0, 0, 0x41200000, 1, 2, 3, 4];
    expect(run(inline, 1, [numbers, new Uint32Array(32)], push)[1]?.[31]).toBe(114);
    const dynamic = compile(
      glslToWords(`${head} void main() { uint l = gl_LocalInvocationIndex; r[l] = p.a + p.t[l & 3u]; }`),
    );
    expect(dynamic.userData.some((entry) => entry.kind === "pushConstantPointer")).toBe(true);
    const [, r] = run(dynamic, 1, [numbers, new Uint32Array(32)], push);
    expect([...(r ?? [])]).toEqual(Array.from({ length: 32 }, (_, l) => 101 + (l & 3)));
  });

  it("uniform blocks in std140", () => {
    const output = compile(
      glslToWords(`#version 450
layout(local_size_x = 32) in;
layout(std140, binding = 0) uniform U { uint a; uint t[3]; uvec3 v; uint w; } u;
layout(std430, binding = 1) buffer R { uint r[]; };
void main() { uint l = gl_LocalInvocationIndex; r[l] = u.a + u.t[1] * 2u + u.t[l % 3u] * 3u + u.v.z + u.w; }`),
    );
    const [, r] = run(output, 1, [numbers, new Uint32Array(32)]);
    const at = (k: number): number => numbers[k] ?? 0;
    const wanted = (l: number): number => (at(0) + at(8) * 2 + at(4 + 4 * (l % 3)) * 3 + at(18) + at(19)) >>> 0;
    expect([...(r ?? [])]).toEqual(Array.from({ length: 32 }, (_, l) => wanted(l)));
  });

  it("lines of the source reach the code", () => {
    const words = asmToWords(
      `OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %1 "main"
OpExecutionMode %1 LocalSize 32 1 1
%2 = OpString "a.comp"
OpDecorate %3 ArrayStride 4
OpDecorate %4 Block
OpMemberDecorate %4 0 Offset 0
OpDecorate %5 DescriptorSet 0
OpDecorate %5 Binding 1
%6 = OpTypeVoid
%7 = OpTypeFunction %6
%8 = OpTypeInt 32 0
%3 = OpTypeRuntimeArray %8
%4 = OpTypeStruct %3
%9 = OpTypePointer StorageBuffer %4
%10 = OpTypePointer StorageBuffer %8
%5 = OpVariable %9 StorageBuffer
%11 = OpConstant %8 7
%1 = OpFunction %6 None %7
%12 = OpLabel
OpLine %2 5 9
%13 = OpAccessChain %10 %5 %11 %11
OpStore %13 %11
OpReturn
OpFunctionEnd`
        .replace("%13 = OpAccessChain %10 %5 %11 %11", "%13 = OpAccessChain %10 %5 %14 %11")
        .replace("%11 = OpConstant %8 7", "%11 = OpConstant %8 7\n%14 = OpConstant %8 0"),
    );
    const { lines } = compile(words);
    // offset, file, line, column
    const rows = Array.from({ length: lines.length / 4 }, (_, k) => [...lines.slice(4 * k + 1, 4 * k + 4)]);
    expect(rows).toContainEqual([2, 5, 9]);
  });

  const refused: readonly (readonly [string, string, RegExp])[] = [
    [
      "a binding without a place",
      "layout(binding = 9) buffer R { uint r[]; }; void main() { r[0] = 1u; }",
      /binding 9/,
    ],
    [
      "too much workgroup memory",
      "shared uint s[20000]; layout(binding = 1) buffer R { uint r[]; }; void main() { s[gl_LocalInvocationIndex] = 1u; barrier(); r[0] = s[3]; }",
      /65536 bytes of workgroup memory/,
    ],
    [
      // 65535^2 * 4 bytes an element: more than 32 bits can count
      "workgroup memory beyond 32 bits",
      "shared uint s[65535][65535][65535]; layout(binding = 1) buffer R { uint r[]; }; void main() { s[r[0]][r[1]][r[2]] = 1u; barrier(); r[0] = s[3][4][5]; }",
      /65536 bytes of workgroup memory/,
    ],
  ];
  for (const [what, body, message] of refused) {
    it(`refuses ${what} with a message`, () => {
      const words = glslToWords(`#version 450\nlayout(local_size_x = 32) in;\n${body}`);
      const result = core.compile({
        words,
        stage: "compute",
        entryPoint: "main",
        specialization: [],
        bindings,
        optimization: 2,
        contraction: true,
        robust: true,
      });
      expect(result.ok).toBe(false);
      if (!result.ok) expect(result.failures[0]?.message).toMatch(message);
    });
  }

  it("reads gl_SubgroupID out of a lane once, whatever branches use it", () => {
    const { code } = compile(
      glslToWords(`#version 450
#extension GL_KHR_shader_subgroup_basic : require
layout(local_size_x = 96) in;
layout(std430, binding = 0) readonly buffer A { uint a[]; };
layout(std430, binding = 1) buffer R { uint r[]; };
void main() {
  uint i = gl_LocalInvocationIndex;
  if (a[i] == 1u) r[i] = gl_SubgroupID; else if (a[i] > 7u) r[i + 96u] = gl_SubgroupID & 1u;
}`),
    );
    // v_readfirstlane_b32: VOP1 with opcode 2.
    expect(code.filter((word) => (word & 0xfe01fe00) === 0x7e000400)).toHaveLength(1);
  });

  it("answers a missing entry point with its name", () => {
    const words = glslToWords("#version 450\nlayout(local_size_x = 32) in;\nvoid main() {}");
    const result = core.compile({
      words,
      stage: "compute",
      entryPoint: "other",
      specialization: [],
      bindings,
      optimization: 2,
      contraction: true,
      robust: true,
    });
    expect(result).toMatchObject({
      ok: false,
      failures: [{ code: "CORE_NO_ENTRY_POINT", message: "the module has no compute entry point other" }],
    });
  });
});
