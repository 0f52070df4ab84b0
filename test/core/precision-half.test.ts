import { beforeAll, describe, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { Simulator } from "../backend/simulate.ts";
import { noise } from "../math/exact.ts";
import { even, fmaHalf, half, halfBits, max, min } from "../math/half.ts";
import { glslToWords } from "./spirv-source.ts";

const ALL = 0x10000;
const SIDE = 128;
const isNan = (bits: number) => (bits & 0x7fff) > 0x7c00;
/** Unit in the last place of a half of the size of x. */
const unit = (x: number) => 2 ** (Math.max(Math.floor(Math.log2(Math.abs(x))), -14) - 10);

/** Values by their bits: edges first, then noise. */
const grid = (() => {
  const edges = [
    0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x8400, 0x3c00, 0xbc00, 0x3c01, 0x3bff, 0x3555, 0x4000, 0x6400, 0x6401, 0x7bff,
    0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7d01, 0xffff, 0x7fff, 0x3800, 0xb800, 0x4900, 0xc900, 0x0200, 0x3118, 0x5140,
  ];
  const next = noise(7);
  return Uint16Array.from({ length: SIDE }, (_, k) => edges[k] ?? next() >>> 16);
})();

interface Case {
  /** Of x, and y where the inputs are pairs. */
  readonly glsl: string;
  readonly exact: (x: number, y: number) => number;
  /** Most units in the last place beside the exact value; without it the nearest half. */
  readonly ulp?: (x: number) => number;
  /** Most distance where `ulp` does not hold or is absent. */
  readonly absolute?: number;
  /** Inputs for which the bounds hold; for others the result is no NaN unless the exact one is, and no more is asked. */
  readonly within?: (x: number, y: number) => boolean;
}

const pick = (first: boolean, x: number, y: number): number => (first ? x : y);
// Vulkan's bounds of 16 bits, "Precision of GLSL.std.450 Instructions"; 1 where the hardware's function is within that.
const one = () => 1;
const unary: readonly Case[] = [
  { glsl: "-x", exact: (x) => -x },
  { glsl: "abs(x)", exact: Math.abs },
  { glsl: "x + x", exact: (x) => x + x },
  { glsl: "x * x", exact: (x) => x * x },
  { glsl: "x - 0.333hf", exact: (x) => x - half(0x3554) },
  { glsl: "floor(x)", exact: Math.floor },
  { glsl: "ceil(x)", exact: Math.ceil },
  { glsl: "trunc(x)", exact: Math.trunc },
  { glsl: "roundEven(x)", exact: (x) => (Number.isFinite(x) ? even(x) : x) },
  { glsl: "sign(x)", exact: Math.sign, within: (x) => !Number.isNaN(x) },
  { glsl: "clamp(x, -2.0hf, 3.0hf)", exact: (x) => min(max(x, -2), 3) },
  { glsl: "clamp(x, 0.0hf, 1.0hf)", exact: (x) => min(max(x, 0), 1) },
  { glsl: "max(-floor(x), 0.25hf)", exact: (x) => max(-Math.floor(x), 0.25) },
  { glsl: "fract(x)", exact: (x) => Math.min(x - Math.floor(x), 1 - 2 ** -11) },
  { glsl: "x < 0.1hf ? 1.0hf : 2.0hf", exact: (x) => (x < half(0x2e66) ? 1 : 2) },
  { glsl: "x >= -abs(x) ? 1.0hf : 2.0hf", exact: (x) => (x >= -Math.abs(x) ? 1 : 2) },
  { glsl: "isnan(x) ? 1.0hf : 2.0hf", exact: (x) => (Number.isNaN(x) ? 1 : 2) },
  { glsl: "isinf(x) ? 1.0hf : 2.0hf", exact: (x) => (Math.abs(x) === Infinity ? 1 : 2) },
  { glsl: "1.0hf / x", exact: (x) => 1 / x, ulp: one },
  { glsl: "3.0hf / x", exact: (x) => 3 / x, ulp: one },
  { glsl: "sqrt(x)", exact: Math.sqrt, ulp: one },
  { glsl: "inversesqrt(x)", exact: (x) => 1 / Math.sqrt(x), ulp: one },
  { glsl: "exp2(x)", exact: (x) => 2 ** x, ulp: one },
  { glsl: "exp(x)", exact: Math.exp, ulp: (x) => 1 + 2 * Math.abs(x) },
  { glsl: "log2(x)", exact: Math.log2, ulp: one },
  { glsl: "log(x)", exact: Math.log, ulp: (x) => (x >= 0.5 && x <= 2 ? 0 : 3), absolute: 2 ** -7 },
  { glsl: "sin(x)", exact: Math.sin, absolute: 2 ** -7, within: (x) => Math.abs(x) <= Math.PI },
  { glsl: "cos(x)", exact: Math.cos, absolute: 2 ** -7, within: (x) => Math.abs(x) <= Math.PI },
  { glsl: "float16_t(int(clamp(x, -4096.0hf, 4096.0hf)))", exact: (x) => Math.trunc(min(max(x, -4096), 4096)) + 0 },
];
const binary: readonly Case[] = [
  { glsl: "x + y", exact: (x, y) => x + y },
  { glsl: "x - y", exact: (x, y) => x - y },
  { glsl: "x * y", exact: (x, y) => x * y },
  { glsl: "-x * abs(y)", exact: (x, y) => -x * Math.abs(y) },
  { glsl: "fma(x, y, -x)", exact: (x, y) => fmaHalf(x, y, -x) },
  { glsl: "fma(x, 0.333hf, y)", exact: (x, y) => fmaHalf(x, half(0x3554), y) },
  { glsl: "min(x, y)", exact: min },
  { glsl: "max(x, -y)", exact: (x, y) => max(x, -y) },
  { glsl: "min(max(x, y), 3.0hf)", exact: (x, y) => min(max(x, y), 3) },
  { glsl: "x < y ? x : y", exact: (x, y) => pick(x < y, x, y) },
  { glsl: "x <= y ? x : y", exact: (x, y) => pick(x <= y, x, y) },
  { glsl: "x > y ? x : y", exact: (x, y) => pick(x > y, x, y) },
  { glsl: "x >= -y ? x : y", exact: (x, y) => pick(x >= -y, x, y) },
  { glsl: "x == y ? 1.0hf : 2.0hf", exact: (x, y) => (x === y ? 1 : 2) },
  { glsl: "x != y ? 1.0hf : 2.0hf", exact: (x, y) => (x !== y ? 1 : 2) },
  { glsl: "!(x < y) ? 1.0hf : 2.0hf", exact: (x, y) => (x < y ? 2 : 1) },
  { glsl: "x / y", exact: (x, y) => x / y, ulp: one },
  { glsl: "float16_t(float(x) * float(y) + 1.0)", exact: (x, y) => Math.fround(Math.fround(x * y) + 1) },
];

/** How far a result is off, in bounds. */
function off({ ulp, absolute, within, exact }: Case, x: number, y: number, bits: number): number {
  const want = exact(x, y);
  if (within?.(x, y) === false) return isNan(bits) && !Number.isNaN(want) ? Number.POSITIVE_INFINITY : 0;
  const nearest = halfBits(want);
  if (bits === nearest || (isNan(bits) && isNan(nearest))) return 0;
  if (ulp === undefined && absolute === undefined) return Number.POSITIVE_INFINITY;
  // Infinity stands where the next half would.
  const value = Math.min(Math.max(half(bits), -65536), 65536);
  const wanted = Math.min(Math.max(want, -65536), 65536);
  const distance = Math.abs(value - wanted);
  const units = ulp?.(x) ?? 0;
  const bound = units > 0 ? units * unit(wanted) : (absolute ?? 0);
  return Number.isNaN(distance) ? Number.POSITIVE_INFINITY : distance / bound;
}

const source = (list: readonly Case[], count: number, inputs: string): string => `#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer A { float16_t a[]; };
layout(std430, binding = 1) buffer R { float16_t r[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  ${inputs}
${list.map(({ glsl }, k) => `  r[i + ${k * count}u] = ${glsl};`).join("\n")}
}
`;

describe("16-bit floats on the simulated GPU", () => {
  let core: CoreTools;
  beforeAll(async () => {
    core = await createCore({ checked: true });
  });

  function run(text: string, invocations: number, results: number, optimization: 0 | 2): Uint16Array {
    const bindings = [0, 1].map((binding) => ({
      set: 0,
      binding,
      offsetBytes: 16 * binding,
      strideBytes: 16,
      count: 1,
    }));
    const result = core.compile({
      words: glslToWords(text),
      stage: "compute",
      entryPoint: "main",
      specialization: [],
      bindings,
      optimization,
      contraction: false,
      robust: true,
    });
    if (!result.ok) throw new Error(JSON.stringify(result.failures));
    const { output } = result;
    const [, raw = new Uint32Array()] = new Simulator().run({
      emitted: { ...output, userSgprs: 3, pushPointer: false, pushInlined: 0 } as never,
      local: [64, 1, 1],
      groups: [invocations / 64, 1, 1],
      groupIds: [...output.usesWorkgroupId],
      push: [],
      buffers: [new Uint32Array(grid.buffer), new Uint32Array(results / 2)],
    });
    return new Uint16Array(raw.buffer, raw.byteOffset, raw.length * 2);
  }

  const both = [
    ["all inputs", unary, ALL, "float16_t x = uint16BitsToHalf(uint16_t(i));", (i: number) => [half(i), 0] as const],
    [
      "pairs",
      binary,
      SIDE * SIDE,
      `float16_t x = a[i % ${SIDE}u], y = a[i / ${SIDE}u];`,
      (i: number) => [half(grid[i % SIDE]!), half(grid[Math.floor(i / SIDE)]!)] as const,
    ],
  ] as const;
  for (const [name, list, count, inputs, at] of both) {
    it(`are within Vulkan's bounds for ${name}, at levels 0 and 2 alike`, () => {
      const text = source(list, count, inputs);
      const first = run(text, count, count * list.length, 0);
      const last = run(text, count, count * list.length, 2);
      const wrong: string[] = [];
      for (const [k, one] of list.entries()) {
        let worst = 1;
        let what = "";
        let differ = 0;
        for (let i = 0; i < count; i++) {
          const bits = first[k * count + i]!;
          const other = last[k * count + i]!;
          if (bits !== other && !(isNan(bits) && isNan(other))) differ++;
          const [x, y] = at(i);
          const by = off(one, x, y, bits);
          if (by <= worst) continue;
          worst = by;
          what = `${one.glsl} of ${x}, ${y}: ${half(bits)}, not ${one.exact(x, y)}: ${by} times the bound`;
        }
        if (what !== "") wrong.push(what);
        if (differ !== 0) wrong.push(`${one.glsl}: ${differ} differ at level 2`);
      }
      expect(wrong).toEqual([]);
    });
  }
});
