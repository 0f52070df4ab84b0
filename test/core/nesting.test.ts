import { beforeAll, describe, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { Simulator } from "../backend/simulate.ts";
import { asmToWords, glslToWords } from "./spirv-source.ts";

/** A nest: what stands in front of and behind level k + 1 at level k, and what the whole does with a lane's value. */
interface Nest {
  readonly name: string;
  readonly depth: number;
  readonly open: (k: number) => string;
  readonly close: (k: number) => string;
  readonly expect: (v: number, depth: number) => number;
}

const u32 = (value: number) => value >>> 0;
const tripled = (v: number, k: number) => u32(Math.imul(v, 3) + k);
const mod = (v: number, n: number) => u32(v) % n;

const nests: readonly Nest[] = [
  {
    name: "ifs with code behind what they hold",
    depth: 250,
    open: (k) => `if (v % 257u != ${k % 257}u) { v = v * 3u + ${k}u;`,
    close: (k) => `v += ${k}u; } else { v ^= ${5 * k + 1}u; }`,
    expect(v, depth) {
      const down = (k: number, x: number): number => {
        if (k === depth) return x;
        if (mod(x, 257) === k % 257) return u32(x ^ (5 * k + 1));
        return u32(down(k + 1, tripled(x, k)) + k);
      };
      return down(0, v);
    },
  },
  {
    name: "returns from inside",
    depth: 1000,
    open: (k) => `if (v % 257u != ${k % 257}u) { v = v * 3u + ${k}u; if (v % 101u == 7u) return v + ${k}u;`,
    close: (k) => `v += ${k}u; } else { v ^= ${5 * k + 1}u; }`,
    expect(v, depth) {
      let returned: number | undefined;
      const down = (k: number, x: number): number => {
        if (k === depth) return x;
        if (mod(x, 257) === k % 257) return u32(x ^ (5 * k + 1));
        const y = tripled(x, k);
        if (mod(y, 101) === 7) returned = u32(y + k);
        const z = returned === undefined ? down(k + 1, y) : 0;
        return u32(z + k);
      };
      const last = down(0, v);
      return returned ?? last;
    },
  },
  {
    name: "loops that lanes leave and go on in at different times",
    depth: 100,
    open: (k) =>
      `for (uint j${k} = 0u; j${k} < 3u; j${k}++) { v = v * 3u + ${k}u; if (v % 61u == 5u) break; if (v % 59u == 3u) continue;`,
    close: (k) => `v += ${k}u; break; }`,
    expect(v, depth) {
      const down = (k: number, from: number): number => {
        if (k === depth) return from;
        let x = from;
        for (let j = 0; j < 3; j++) {
          x = tripled(x, k);
          if (mod(x, 61) === 5) return x;
          if (mod(x, 59) === 3) continue;
          return u32(down(k + 1, x) + k);
        }
        return x;
      };
      return down(0, v);
    },
  },
  {
    name: "switches whose cases fall into each other and leave from inside ifs",
    depth: 150,
    open: (k) =>
      `switch (v % 67u) { case ${k % 61}u: v += ${k}u; break; case 64u: v ^= ${k}u; default: v = v * 3u + ${k}u;`,
    close: (k) => `v += ${k}u; break; case 66u: if (v % 5u == 0u) break; v -= ${k}u; break; }`,
    expect(v, depth) {
      const down = (k: number, x: number): number => {
        if (k === depth) return x;
        const picked = mod(x, 67);
        if (picked === k % 61) return u32(x + k);
        if (picked === 66) return mod(x, 5) === 0 ? x : u32(x - k);
        const from = picked === 64 ? u32(x ^ k) : x;
        return u32(down(k + 1, tripled(from, k)) + k);
      };
      return down(0, v);
    },
  },
  {
    name: "else-ifs",
    depth: 1000,
    open: (k) => `if (v % 2048u == ${2 * k + 1}u) v = v * 3u + ${k}u; else`,
    close: (k) => (k === 0 ? "v++;" : ""),
    expect(v, depth) {
      const picked = (mod(v, 2048) - 1) / 2;
      return Number.isInteger(picked) && picked >= 0 && picked < depth ? tripled(v, picked) : u32(v + 1);
    },
  },
  {
    name: "a chain of && whose parts read memory",
    depth: 1500,
    open: (k) => `${k === 0 ? "bool b = v != 1u" : ""} && x[v % 32u] != ${k}u * 1000u + 7u`,
    close: (k) => (k === 0 ? "; v = b ? 5u : 9u;" : ""),
    expect: (v, depth) => {
      const read = Math.imul((v % 32) + 1, v % 32 < 16 ? 37 : 0x9e3779b1) >>> 0;
      return v !== 1 && !(read % 1000 === 7 && read < depth * 1000) ? 5 : 9;
    },
  },
  {
    name: "operators in parentheses",
    depth: 500,
    open: (k) => `${k === 0 ? "v = " : ""}(${k}u ^ 5u *`,
    close: (k) => `${k === 499 ? "v" : ""})${k === 0 ? ";" : ""}`,
    expect(v, depth) {
      let x = v;
      for (let k = depth; k-- > 0; ) x = u32(k ^ Math.imul(5, x));
      return x;
    },
  },
];

function source({ depth, open, close }: Nest): string {
  const levels = Array.from({ length: depth }, (_, k) => k);
  return `#version 450
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer B { uint x[]; };
uint f(uint v) {
${levels.map(open).join("\n")}
${levels.reverse().map(close).join("\n")}
return v; }
void main() { uint i = gl_LocalInvocationIndex; uint r = f(x[i]); barrier(); x[i] = r; }`;
}

describe("deep nests", () => {
  let core: CoreTools;
  const input = Uint32Array.from({ length: 32 }, (_, i) => Math.imul(i + 1, i < 16 ? 37 : 0x9e3779b1) >>> 0);
  beforeAll(async () => {
    core = await createCore();
  });

  function run(words: Uint32Array, optimization: 0 | 1 | 2): number[] {
    const result = core.compile({
      words,
      stage: "compute",
      entryPoint: "main",
      specialization: [],
      bindings: [{ set: 0, binding: 0, offsetBytes: 0, strideBytes: 16, count: 1 }],
      optimization,
      contraction: true,
      robust: true,
    });
    if (!result.ok) throw new Error(JSON.stringify(result.failures));
    const { output } = result;
    const [results = new Uint32Array()] = new Simulator().run({
      emitted: { ...output, userSgprs: 3, pushPointer: false, pushInlined: 0 } as never,
      local: [32, 1, 1],
      groups: [1, 1, 1],
      groupIds: [...output.usesWorkgroupId],
      ldsBytes: output.ldsBytes,
      push: [],
      buffers: [input],
    });
    return [...results];
  }

  for (const nest of nests) {
    it(`${nest.name}, ${nest.depth} deep`, () => {
      const words = glslToWords(source(nest));
      const wanted = [...input].map((v) => nest.expect(v, nest.depth));
      for (const level of [0, 1, 2] as const) expect(run(words, level), `level ${level}`).toEqual(wanted);
    });
  }

  it("structs 255 deep", () => {
    const inner = Array.from({ length: 254 }, (_, k) => k + 1);
    const words = asmToWords(`OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %buffer
OpExecutionMode %main LocalSize 32 1 1
OpDecorate %s254 Block
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
OpMemberDecorate %s0 0 Offset 0
OpMemberDecorate %s0 1 Offset 4
${inner.map((k) => `OpMemberDecorate %s${k} 0 Offset 0`).join("\n")}
%void = OpTypeVoid
%fn = OpTypeFunction %void
%uint = OpTypeInt 32 0
%s0 = OpTypeStruct %uint %uint
${inner.map((k) => `%s${k} = OpTypeStruct %s${k - 1}`).join("\n")}
%pb = OpTypePointer StorageBuffer %s254
%pu = OpTypePointer StorageBuffer %uint
%buffer = OpVariable %pb StorageBuffer
%c0 = OpConstant %uint 0
%c1 = OpConstant %uint 1
%main = OpFunction %void None %fn
%e = OpLabel
%from = OpAccessChain %pu %buffer${" %c0".repeat(255)}
%to = OpAccessChain %pu %buffer${" %c0".repeat(254)} %c1
%v = OpLoad %uint %from
%w = OpIAdd %uint %v %c1
OpStore %to %w
OpReturn
OpFunctionEnd`);
    const wanted = [...input];
    wanted[1] = u32((wanted[0] ?? 0) + 1);
    for (const level of [0, 1, 2] as const) expect(run(words, level)).toEqual(wanted);
  });
});
