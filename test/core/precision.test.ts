import { describe, expect, it } from "vitest";
import { createCore } from "../../src/core/index.ts";
import { Simulator } from "../backend/simulate.ts";
import { glslToWords } from "./spirv-source.ts";

/** Distance in units in the last place of the exact value. */
function ulps(got: number, exact: number): number {
  if (Number.isNaN(exact)) return Number.isNaN(got) ? 0 : Number.POSITIVE_INFINITY;
  if (got === exact || got === Math.fround(exact)) return 0;
  const unit = 2 ** (Math.max(Math.floor(Math.log2(Math.abs(exact))), -126) - 23);
  return Math.abs(got - exact) / unit;
}

interface Bound {
  readonly glsl: string;
  readonly exact: (x: number, y: number) => number;
  /** Inputs from, to. */
  readonly range: readonly [number, number];
  /** Second input; default 1 to 4. */
  readonly range2?: readonly [number, number];
  readonly ulp?: (x: number, y: number) => number;
  readonly absolute?: number;
}

/** Vulkan's bounds ("Precision of GLSL.std.450 Instructions"); where it inherits from a formula, 4096 ulp or tighter. */
const bounds: readonly Bound[] = [
  { glsl: "x / y", exact: (x, y) => x / y, range: [-1000, 1000], range2: [0.001, 7], ulp: () => 2.5 },
  { glsl: "x / 3.0", exact: (x) => x / 3, range: [-1000, 1000], ulp: () => 2.5 },
  { glsl: "inversesqrt(x)", exact: (x) => 1 / Math.sqrt(x), range: [1e-6, 1e6], ulp: () => 2 },
  { glsl: "sqrt(x)", exact: Math.sqrt, range: [0, 1e6], ulp: () => 3 },
  { glsl: "exp2(x)", exact: (x) => 2 ** x, range: [-20, 20], ulp: (x) => 3 + 2 * Math.abs(x) },
  { glsl: "exp(x)", exact: Math.exp, range: [-10, 10], ulp: (x) => 3 + 2 * Math.abs(x) },
  { glsl: "log2(x)", exact: Math.log2, range: [2, 1e6], ulp: () => 3 },
  { glsl: "log(x)", exact: Math.log, range: [2, 1e6], ulp: () => 3 },
  { glsl: "log2(x)", exact: Math.log2, range: [0.5, 2], absolute: 2 ** -21 },
  {
    glsl: "pow(x, y)",
    exact: (x, y) => x ** y,
    range: [0.1, 20],
    ulp: (x, y) => 3 + 2 * Math.abs(y * Math.log2(x)) + 3 * Math.abs(y * Math.log2(x)) * 2 + 8 * Math.abs(y),
  },
  { glsl: "sin(x)", exact: Math.sin, range: [-Math.PI, Math.PI], absolute: 2 ** -11 },
  { glsl: "cos(x)", exact: Math.cos, range: [-Math.PI, Math.PI], absolute: 2 ** -11 },
  { glsl: "tan(x)", exact: Math.tan, range: [-1.2, 1.2], absolute: 2 ** -8 },
  { glsl: "asin(x)", exact: Math.asin, range: [-1, 1], ulp: () => 4096 },
  { glsl: "acos(x)", exact: Math.acos, range: [-1, 0.99], ulp: () => 4096 },
  { glsl: "atan(x)", exact: Math.atan, range: [-30, 30], ulp: () => 4096 },
  { glsl: "atan(x, y)", exact: Math.atan2, range: [-30, 30], range2: [-30, 30], ulp: () => 4096 },
  { glsl: "sinh(x)", exact: Math.sinh, range: [-5, 5], ulp: () => 64 },
  { glsl: "cosh(x)", exact: Math.cosh, range: [-5, 5], ulp: () => 64 },
  { glsl: "tanh(x)", exact: Math.tanh, range: [-5, 5], ulp: () => 64 },
  { glsl: "asinh(x)", exact: Math.asinh, range: [-50, 50], ulp: () => 256 },
  { glsl: "acosh(x)", exact: Math.acosh, range: [1.01, 50], ulp: () => 4096 },
  { glsl: "atanh(x)", exact: Math.atanh, range: [-0.9, 0.9], absolute: 2 ** -20 },
  { glsl: "length(vec3(x, y, 2.0))", exact: (x, y) => Math.hypot(x, y, 2), range: [-10, 10], ulp: () => 6 },
  { glsl: "normalize(vec2(x, y)).x", exact: (x, y) => x / Math.hypot(x, y), range: [-10, 10], ulp: () => 8 },
  {
    glsl: "smoothstep(0.0, y, x)",
    exact: (x, y) => {
      const t = Math.max(0, Math.min(1, x / y));
      return t * t * (3 - 2 * t);
    },
    range: [-1, 5],
    ulp: () => 16,
  },
  { glsl: "mod(x, y)", exact: (x, y) => x - y * Math.floor(x / y), range: [0, 3], range2: [4, 5], ulp: () => 4 },
  { glsl: "fract(x)", exact: (x) => Math.fround(x) - Math.floor(Math.fround(x)), range: [-100, 100], ulp: () => 0.5 },
  { glsl: "radians(x)", exact: (x) => (x * Math.PI) / 180, range: [-360, 360], ulp: () => 2 },
];

const count = 512;

describe("precision of functions on the simulated GPU", () => {
  it("stays within Vulkan's bounds", async () => {
    const statements = bounds.map(
      (b, k) => `{ float x = a[i].v[${2 * k}], y = a[i].v[${2 * k + 1}]; r[i].v[${k}] = ${b.glsl}; }`,
    );
    const words = glslToWords(`#version 450
layout(local_size_x = 32) in;
struct In { float v[${2 * bounds.length}]; }; struct Out { float v[${bounds.length}]; };
layout(std430, binding = 0) readonly buffer A { In a[]; };
layout(std430, binding = 1) buffer R { Out r[]; };
void main() { uint i = gl_GlobalInvocationID.x; ${statements.join("\n")} }`);
    const core = await createCore({ checked: true });
    const bindings = [0, 1].map((binding) => ({
      set: 0,
      binding,
      offsetBytes: 16 * binding,
      strideBytes: 16,
      count: 1,
    }));
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
    if (!result.ok) throw new Error(JSON.stringify(result.failures));
    const { output } = result;
    const inputs = new Float32Array(count * 2 * bounds.length);
    for (let i = 0; i < count; i++) {
      for (const [k, b] of bounds.entries()) {
        const [from, to] = b.range;
        const [from2, to2] = b.range2 ?? [1, 4];
        inputs[(i * bounds.length + k) * 2] = from + ((to - from) * i) / (count - 1);
        inputs[(i * bounds.length + k) * 2 + 1] = from2 + ((to2 - from2) * ((i * 37 + k) % count)) / (count - 1);
      }
    }
    const [, raw = new Uint32Array()] = new Simulator().run({
      emitted: { ...output, userSgprs: 3, pushPointer: false, pushInlined: 0 } as never,
      local: [32, 1, 1],
      groups: [count / 32, 1, 1],
      groupIds: [...output.usesWorkgroupId],
      push: [],
      buffers: [new Uint32Array(inputs.buffer), new Uint32Array(count * bounds.length)],
    });
    const results = new Float32Array(raw.buffer, raw.byteOffset, raw.length);
    const broken: string[] = [];
    for (const [k, b] of bounds.entries()) {
      let worst = "";
      let excess = 1;
      for (let i = 0; i < count; i++) {
        const x = inputs[(i * bounds.length + k) * 2] ?? 0;
        const y = inputs[(i * bounds.length + k) * 2 + 1] ?? 0;
        const got = results[i * bounds.length + k] ?? Number.NaN;
        const exact = b.exact(x, y);
        const over = b.ulp === undefined ? Math.abs(got - exact) / (b.absolute ?? 0) : ulps(got, exact) / b.ulp(x, y);
        if (over > excess || Number.isNaN(over)) {
          excess = Number.isNaN(over) ? Number.POSITIVE_INFINITY : over;
          worst = `${b.glsl}: x=${x} y=${y} gives ${got}, exactly ${exact}: ${over} times the bound`;
        }
      }
      if (worst !== "") broken.push(worst);
    }
    expect(broken).toEqual([]);
  });
});
