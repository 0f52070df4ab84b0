import { beforeAll, describe, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { opName } from "../../src/spirv/index.ts";
import { Simulator } from "../backend/simulate.ts";
import { asmToWords, glslToWords } from "./spirv-source.ts";

const lanes = 64;
const u64 = (x: bigint): bigint => BigInt.asUintN(64, x);
const s64 = (x: bigint): bigint => BigInt.asIntN(64, x);
const sorted = (list: readonly bigint[]): bigint[] => [...list].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
const least = (list: readonly bigint[]): bigint => sorted(list)[0] ?? 0n;
const most = (list: readonly bigint[]): bigint => sorted(list).at(-1) ?? 0n;
const sum = (list: readonly bigint[]): bigint => list.reduce((a, b) => u64(a + b), 0n);
const toWords = (list: readonly bigint[]): Uint32Array => new Uint32Array(BigUint64Array.from(list).buffer);
const fromWords = (words: Uint32Array): bigint[] => [...new BigUint64Array(words.slice().buffer)];

/** Values whose low halves carry into the high ones and whose order differs between halves, signed and unsigned. */
const values = Array.from({ length: lanes }, (_, i) => u64(BigInt(i + 3) * 0x9e37_79b9_7f4a_7c15n));
const step = 0x1_8000_0001n;

interface Update {
  readonly call: (target: string, value: string) => string;
  readonly start: bigint;
  /** The new value after all lanes, or one alone. */
  readonly after: (start: bigint, by: readonly bigint[]) => bigint;
}
const signed = (name: string, pick: (list: readonly bigint[]) => bigint, start: bigint): Update => ({
  call: (target, value) => `uint64_t(${name}(${target.replace("[", "Signed[")}, int64_t(${value})))`,
  start,
  after: (from, by) => u64(pick([s64(from), ...by.map(s64)])),
});
const plain = (name: string, start: bigint, after: (start: bigint, by: readonly bigint[]) => bigint): Update => ({
  call: (target, value) => `${name}(${target}, ${value})`,
  start,
  after,
});
const updates: readonly Update[] = [
  plain("atomicAdd", 0xffff_ffffn, (from, by) => sum([from, ...by])),
  plain("atomicMin", 0xf000_0000_0000_0000n, (from, by) => least([from, ...by])),
  plain("atomicMax", 0x1_0000_0000n, (from, by) => most([from, ...by])),
  signed("atomicMin", least, 5n),
  signed("atomicMax", most, u64(-5n)),
  plain("atomicAnd", u64(-1n), (from, by) => by.reduce((a, b) => a & (b | 0xf0f0_0f0f_0000_ffffn), from)),
  plain("atomicOr", 0n, (from, by) => by.reduce((a, b) => a | (b & 0x5555_0000_5555n), from)),
  plain("atomicXor", 0x1234_5678_9abc_def0n, (from, by) => by.reduce((a, b) => a ^ b, from)),
];
/** What the update number k takes in GLSL: and, or would soon be all zeros, all ones. */
const operand = (k: number, value: string): string =>
  k === 5 ? `(${value} | 0xf0f00f0f0000fffful)` : k === 6 ? `(${value} & 0x555500005555ul)` : value;

// Targets: those of all lanes, those of one lane; then exchanged, counted, by compare-and-swap, swapped, not swapped.
const n = updates.length;
const targets = 2 * n + 5;
const starts = [
  ...updates.map((update) => update.start),
  ...updates.map((update) => update.start),
  42n,
  0xffff_fff0n,
  0x8000_0000_ffff_ffffn,
  0x1_0000_0007n,
  0x2_0000_0007n,
];
const only = 37;

/** The statements, with `t` and `tSigned` the same memory as unsigned and signed. */
const statements = `
${updates.map((update, k) => `${update.call(`t[${k}]`, operand(k, "v"))};`).join("\n")}
if (i == ${only}u) {
${updates.map((update, k) => `o[${k}] = ${update.call(`t[${n + k}]`, operand(k, "v"))};`).join("\n")}
o[${n}] = atomicCompSwap(t[${2 * n + 3}], 0x100000007ul, v);
o[${n + 1}] = atomicCompSwap(t[${2 * n + 4}], 0x100000007ul, v);
}
o[${n + 2}u + i] = atomicExchange(t[${2 * n}], v);
o[${n + 2 + lanes}u + i] = atomicAdd(t[${2 * n + 1}], ${step}ul);
uint64_t seen = t[${2 * n + 2}]; uint64_t old;
do { old = seen; seen = atomicCompSwap(t[${2 * n + 2}], old, old * 3ul - old * 2ul + v); } while (seen != old);
`;

const head = `#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
layout(local_size_x = ${lanes}) in;
layout(std430, binding = 0) readonly buffer A { uint64_t a[]; };
layout(std430, binding = 2) buffer O { uint64_t o[]; };
`;
const main = (before: string, after: string): string => `void main() {
uint i = gl_LocalInvocationIndex; uint64_t v = a[i];
${before}${statements}${after}}`;
/** Signed targets are read through a macro, so that both are one object. */
const places: Readonly<Record<string, string>> = {
  "a storage buffer": `${head}layout(std430, binding = 1) buffer T { uint64_t t[]; };
layout(std430, binding = 1) buffer S { int64_t tSigned[]; };
${main("", "")}`,
  "workgroup memory": `${head}layout(std430, binding = 1) buffer T { uint64_t b[]; };
shared uint64_t t[${targets}]; shared int64_t tSigned[${targets}];
${main(
  `if (i < ${targets}u) { t[i] = b[i]; tSigned[i] = int64_t(b[i]); } barrier();`,
  `barrier(); if (i < ${targets}u) { uint k = i % ${n}u; b[i] = i < ${2 * n}u && (k == 3u || k == 4u) ? uint64_t(tSigned[i]) : t[i]; }`,
)}`,
  // The first descriptor set of a simulator stands at 0xffff800000010000; a V# begins with the buffer's address.
  "memory by its address": `${head}layout(buffer_reference, std430) buffer Words { uint w[]; };
layout(buffer_reference, std430) buffer T { uint64_t m[${targets}]; };
layout(buffer_reference, std430) buffer S { int64_t m[${targets}]; };
#define t at.m
#define tSigned(k) S(base).m[k]
${main("Words table = Words(uvec2(0x00010000u, 0xffff8000u)); uvec2 base = uvec2(table.w[4], table.w[5] & 0xffffu); T at = T(base);", "").replace(/tSigned\[(\d+)\]/g, "tSigned($1)")}`,
};

describe("64-bit atomics", () => {
  let core: CoreTools;
  beforeAll(async () => {
    core = await createCore({ checked: true, opName });
  });

  function run(words: Uint32Array, optimization: 0 | 1 | 2, buffers: readonly Uint32Array[]): Uint32Array[] {
    const result = core.compile({
      words,
      stage: "compute",
      entryPoint: "main",
      specialization: [],
      bindings: [0, 1, 2].map((binding) => ({ set: 0, binding, offsetBytes: 16 * binding, strideBytes: 16, count: 1 })),
      optimization,
      contraction: false,
      robust: true,
    });
    if (!result.ok) throw new Error(JSON.stringify(result.failures));
    const { output } = result;
    const last = output.userData.at(-1);
    return new Simulator().run({
      emitted: {
        ...output,
        userSgprs: (last?.sgpr ?? 0) + (last?.count ?? 0),
        pushPointer: false,
        pushInlined: 0,
      } as never,
      local: output.workgroupSize,
      groups: [1, 1, 1],
      groupIds: [...output.usesWorkgroupId],
      ldsBytes: output.ldsBytes,
      push: [],
      buffers,
    });
  }

  for (const [place, source] of Object.entries(places)) {
    it.each([0, 1, 2] as const)(`in ${place} at level %i`, (level) => {
      const outputs = new Uint32Array(2 * (n + 2 + 2 * lanes));
      const after = run(glslToWords(source), level, [toWords(values), toWords(starts), outputs]);
      const target = fromWords(after[1] ?? outputs);
      const olds = fromWords(after[2] ?? outputs);
      const alone = values[only] ?? 0n;
      for (const [k, update] of updates.entries()) {
        expect(target[k], `update ${k} by all lanes`).toBe(update.after(update.start, values));
        expect(target[n + k], `update ${k} by one lane`).toBe(update.after(update.start, [alone]));
        expect(olds[k], `what update ${k} gives`).toBe(update.start);
      }
      expect([olds[n], target[2 * n + 3]]).toEqual([0x1_0000_0007n, alone]);
      expect([olds[n + 1], target[2 * n + 4]]).toEqual([0x2_0000_0007n, 0x2_0000_0007n]);
      // Each value that is taken out was put in before, in whatever order.
      const exchanged = olds.slice(n + 2, n + 2 + lanes);
      expect(sorted([...exchanged, target[2 * n] ?? 0n])).toEqual(sorted([42n, ...values]));
      const counted = sorted(olds.slice(n + 2 + lanes));
      expect(counted).toEqual(values.map((_, i) => 0xffff_fff0n + BigInt(i) * step));
      expect(target[2 * n + 1]).toBe(0xffff_fff0n + BigInt(lanes) * step);
      expect(target[2 * n + 2]).toBe(sum([0x8000_0000_ffff_ffffn, ...values]));
    });
  }

  it.each([0, 1, 2] as const)("beyond the end of a buffer read 0 and change nothing at level %i", (level) => {
    const source = `${head}layout(std430, binding = 1) buffer T { uint64_t t[]; };
void main() { uint i = gl_LocalInvocationIndex; uint64_t v = a[i];
o[i] = atomicAdd(t[i], v); o[${lanes}u + i] = atomicCompSwap(t[i + 4u], 0ul, 99ul); atomicMax(t[i * 0x01000000u + 4u], v); }`;
    const start = [11n, 12n, 13n, 14n];
    const after = run(glslToWords(source), level, [
      toWords(values),
      toWords(start),
      toWords(Array.from({ length: 2 * lanes }, () => 77n)),
    ]);
    expect(fromWords(after[1] ?? toWords([]))).toEqual(start.map((x, i) => u64(x + (values[i] ?? 0n))));
    expect(fromWords(after[2] ?? toWords([]))).toEqual([...start, ...Array.from({ length: 2 * lanes - 4 }, () => 0n)]);
  });

  // Words of SPIR-V that GLSL has no name for.
  const module = (shared: boolean): string => {
    const pointer = shared ? "%pshared" : "%plong";
    const at = (k: number): string =>
      `%t${k} = OpAccessChain ${pointer} ${shared ? `%shared %c${k}` : `%buf1 %c0 %c${k}`}`;
    const scope = shared ? "%c2 %c0" : "%c1 %c0";
    return `OpCapability Shader
OpCapability Int64
OpCapability Int64Atomics
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %index %buf0 %buf1 %buf2 %shared
OpExecutionMode %main LocalSize ${lanes} 1 1
OpDecorate %index BuiltIn LocalInvocationIndex
OpDecorate %longs ArrayStride 8
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
${[0, 1, 2].map((k) => `OpDecorate %buf${k} DescriptorSet 0\nOpDecorate %buf${k} Binding ${k}`).join("\n")}
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%u32 = OpTypeInt 32 0
%u64 = OpTypeInt 64 0
%longs = OpTypeRuntimeArray %u64
%block = OpTypeStruct %longs
%pblock = OpTypePointer StorageBuffer %block
%plong = OpTypePointer StorageBuffer %u64
%pinput = OpTypePointer Input %u32
%c0 = OpConstant %u32 0
%c1 = OpConstant %u32 1
%c2 = OpConstant %u32 2
%c3 = OpConstant %u32 3
%c4 = OpConstant %u32 4
%c264 = OpConstant %u32 264
%array = OpTypeArray %u64 %c4
%parray = OpTypePointer Workgroup %array
%pshared = OpTypePointer Workgroup %u64
%index = OpVariable %pinput Input
%shared = OpVariable %parray Workgroup
${[0, 1, 2].map((k) => `%buf${k} = OpVariable %pblock StorageBuffer`).join("\n")}
%main = OpFunction %void None %fn
%start = OpLabel
%lane = OpLoad %u32 %index
${[0, 1, 2, 3].map(at).join("\n")}
%a = OpAccessChain %plong %buf0 %c0 %lane
%v = OpLoad %u64 %a
${[0, 1, 2].map((k) => `%from${k} = OpAccessChain %plong %buf1 %c0 %c${k}\n%x${k} = OpLoad %u64 %from${k}`).join("\n")}
OpControlBarrier %c2 %c2 %c264
%first = OpIEqual %bool %lane %c0
OpSelectionMerge %go None
OpBranchConditional %first %fill %go
%fill = OpLabel
${[0, 1, 2].map((k) => `OpAtomicStore %t${k} ${scope} %x${k}`).join("\n")}
OpBranch %go
%go = OpLabel
OpControlBarrier %c2 %c2 %c264
%r0 = OpAtomicIIncrement %u64 %t0 ${scope}
%r1 = OpAtomicIDecrement %u64 %t1 ${scope}
%r2 = OpAtomicISub %u64 %t2 ${scope} %v
OpAtomicStore %t3 ${scope} %v
OpControlBarrier %c2 %c2 %c264
${[0, 1, 2, 3].map((k) => `%y${k} = OpAtomicLoad %u64 %t${k} ${scope}`).join("\n")}
%o0 = OpAccessChain %plong %buf2 %c0 %lane
OpStore %o0 %y3
%last = OpIEqual %bool %lane %c3
OpSelectionMerge %end None
OpBranchConditional %last %show %end
%show = OpLabel
${[0, 1, 2].map((k) => `%s${k} = OpAccessChain %plong %buf1 %c0 %c${k}\nOpStore %s${k} %y${k}`).join("\n")}
OpBranch %end
%end = OpLabel
OpReturn
OpFunctionEnd
`;
  };
  for (const shared of [false, true]) {
    it.each([0, 1, 2] as const)(
      `steps, differences, loads and stores in ${shared ? "workgroup memory" : "a buffer"} at level %i`,
      (level) => {
        const start = [0xffff_fff0n, 5n, 3n, 0n];
        const after = run(asmToWords(module(shared)), level, [
          toWords(values),
          toWords(start),
          new Uint32Array(2 * lanes),
        ]);
        const [up, down, less] = fromWords(after[1] ?? toWords([]));
        expect([up, down]).toEqual([0xffff_fff0n + BigInt(lanes), u64(5n - BigInt(lanes))]);
        expect(less).toBe(u64(3n - sum(values)));
        const loaded = new Set(fromWords(after[2] ?? toWords([])));
        expect(loaded.size).toBe(1);
        expect(values).toContain([...loaded][0]);
      },
    );
  }

  it("a refused width is named, and the operation", () => {
    const source = asmToWords(
      module(false)
        .replace("OpTypeInt 64 0", "OpTypeInt 16 0")
        .replaceAll(/^.*(IIncrement|IDecrement|AtomicStore).*\n/gm, ""),
    );
    const result = core.compile({
      words: source,
      stage: "compute",
      entryPoint: "main",
      specialization: [],
      bindings: [0, 1, 2].map((binding) => ({ set: 0, binding, offsetBytes: 16 * binding, strideBytes: 16, count: 1 })),
      optimization: 2,
      contraction: false,
      robust: true,
    });
    expect(result).toMatchObject({
      ok: false,
      failures: [{ message: "OpAtomicISub on a 16-bit scalar is not supported" }],
    });
  });
});
