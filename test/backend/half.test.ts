import { beforeAll, describe, expect, it } from "vitest";
import { type CompileRequest, defaultRequest, loadDwords, readCodeObject } from "../../src/codeobj/index.ts";
import { compileShader } from "../../src/compile/index.ts";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { disassemble } from "../../src/isa/index.ts";
import { KernelRun } from "../conformance/aco-run.ts";
import { noise } from "../math/exact.ts";
import { fmaHalf, half, halfBits, max, min } from "../math/half.ts";

/** Zeros, denormals, ones, ties, the largest, infinities, NaNs; integers with carries and signs. */
const edges = [
  0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x8400, 0x3c00, 0xbc00, 0x3c01, 0x3bff, 0x3555, 0x4000, 0x6400, 0x6401, 0x7bff,
  0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7d01, 0xffff, 0x7fff, 0x5140, 0xff, 0x100, 0x2e66, 0x1400, 0x9400,
];
const ELEMENTS = 256;
/** 4 halves an element: edges against edges first, then noise. */
function halves(seed: number, stride: number): Uint16Array {
  const next = noise(seed);
  return Uint16Array.from({ length: ELEMENTS * 4 }, (_, i) =>
    i < edges.length ** 2 ? edges[Math.floor(i / stride) % edges.length]! : next() >>> 16,
  );
}
const inputs = [halves(1, 1), halves(2, edges.length), halves(3, 5)] as const;
// 32800 + 16 * (1 - 2^-20): by way of f32 a tie, 32816, that goes up to 32832.
for (const [k, bits] of [0x4401, 0x43fe, 0x7801].entries()) inputs[k]![ELEMENTS * 4 - 1] = bits;
const wordsOf = (values: Uint16Array) => new Uint32Array(values.buffer, values.byteOffset, values.length / 2);

const s16 = (x: number) => (x << 16) >> 16;
const u16 = (x: number) => x & 0xffff;
type Meaning = (a: number, b: number, c: number) => number;
const F =
  (f: Meaning): Meaning =>
  (a, b, c) =>
    halfBits(f(half(a), half(b), half(c)));

/** Expression over vectors a, b, c; the component's value. */
const floats: readonly (readonly [text: string, meaning: Meaning])[] = [
  ["a + b", F((a, b) => a + b)],
  ["a - b", F((a, b) => a - b)],
  ["a * b", F((a, b) => a * b)],
  ["-a * abs(b)", F((a, b) => -a * Math.abs(b))],
  ["min(a, b)", F(min)],
  ["max(a, -b)", F((a, b) => max(a, -b))],
  ["a * b - c", (a, b, c) => halfBits(half(halfBits(half(a) * half(b))) - half(c))],
  ["a * b.x + c", () => 0],
  ["a + float16_t(0.333)", F((a) => a + half(0x3554))],
  ["a * float16_t(2)", F((a) => a * 2)],
  ["f16vec4(vec4(a) * vec4(b) + 1.0)", (a, b) => halfBits(Math.fround(Math.fround(half(a) * half(b)) + 1))],
  ["mix(a, b, lessThan(a, b))", (a, b) => (half(a) < half(b) ? b : a)],
];
const unsigned: typeof floats = [
  ["a + b", (a, b) => u16(a + b)],
  ["a - b", (a, b) => u16(a - b)],
  ["a * b + c", (a, b, c) => u16(Math.imul(a, b) + c)],
  ["(a << 3) ^ (b >> 5)", (a, b) => u16((a << 3) ^ (b >>> 5))],
  ["min(a, b) | max(b, c)", (a, b, c) => Math.min(a, b) | Math.max(b, c)],
  ["~a & b", (a, b) => u16(~a & b)],
  ["a + uint16_t(65000)", (a) => u16(a + 65000)],
  ["a / (b | uint16_t(1))", (a, b) => Math.floor(a / (b | 1))],
];
const signed: typeof floats = [
  ["min(a, b)", (a, b) => u16(Math.min(s16(a), s16(b)))],
  ["max(a, b) - c", (a, b, c) => u16(Math.max(s16(a), s16(b)) - c)],
  ["a >> 3", (a) => u16(s16(a) >> 3)],
  ["-a + abs(b)", (a, b) => u16(-a + Math.abs(s16(b)))],
  ["clamp(a, int16_t(-300), int16_t(77))", (a) => u16(Math.min(Math.max(s16(a), -300), 77))],
];

const source = (type: string, list: typeof floats): string => `#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer A { ${type} a_[]; };
layout(std430, binding = 1) readonly buffer B { ${type} b_[]; };
layout(std430, binding = 2) readonly buffer C { ${type} c_[]; };
layout(std430, binding = 3) buffer R { ${type} r[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  ${type} a = a_[i], b = b_[i], c = c_[i];
${list.map(([text], k) => `  r[i + ${k * ELEMENTS}u] = ${text};`).join("\n")}
}
`;

const isNan = (x: number) => (x & 0x7fff) > 0x7c00;

describe("16-bit arithmetic", () => {
  let core: CoreTools;
  beforeAll(async () => {
    core = await createCore({ checked: true });
  });

  function compiled(text: string, request: Partial<CompileRequest>) {
    const whole = {
      ...defaultRequest,
      language: "glsl",
      stage: "compute",
      source: text,
      filename: "half.comp",
      pipeline: { floatControls: { contraction: false } },
      ...request,
    } as CompileRequest;
    const done = compileShader(whole, core, []);
    if (!done.ok) throw new Error(JSON.stringify(done.diagnostics));
    const read = readCodeObject(done.record.elf);
    if (!read.ok) throw new Error(read.message);
    const entry = read.object.entries[0]!;
    const words = loadDwords(read.object, entry);
    const names = disassemble(words).flatMap(({ instruction }) =>
      instruction === undefined ? [] : [instruction.op.name],
    );
    return { entry, words, names };
  }

  /** What the shader leaves in binding 3, and its instructions. */
  function run(text: string, request: Partial<CompileRequest>): { result: Uint16Array; names: string[] } {
    const { entry, words, names } = compiled(text, request);
    const bytes = ELEMENTS * 8;
    const kernel = new KernelRun(entry, {
      groups: [ELEMENTS / 64, 1, 1],
      fill: "small integers",
      sizes: [bytes, bytes, bytes, bytes * 16],
      contents: inputs.map(wordsOf),
    });
    const ran = kernel.run(words);
    if (typeof ran === "string") throw new Error(ran);
    const left = ran.buffers[3]!;
    return { result: new Uint16Array(left.buffer, left.byteOffset, left.length * 2), names };
  }

  const cases = [
    ["f16vec4", floats],
    ["u16vec4", unsigned],
    ["i16vec4", signed],
  ] as const;
  for (const [type, list] of cases) {
    for (const optimization of [0, 1, 2] as const) {
      for (const robustness of ["buffer", "none"] as const) {
        it(`${type} at level ${optimization}, robustness ${robustness}`, () => {
          const { result, names } = run(source(type, list), { options: { optimization }, robustness } as never);
          const [a, b, c] = inputs;
          const wrong: string[] = [];
          for (const [k, [text, meaning]] of list.entries()) {
            for (let i = 0; i < ELEMENTS * 4; i++) {
              let want = meaning(a[i]!, b[i]!, c[i]!);
              if (text === "a * b.x + c") {
                const product = halfBits(half(a[i]!) * half(b[i - (i % 4)]!));
                want = halfBits(half(product) + half(c[i]!));
              }
              const got = result[k * ELEMENTS * 4 + i]!;
              if (got === want || (type === "f16vec4" && isNan(got) && isNan(want))) continue;
              wrong.push(
                `${text} of ${[a[i]!, b[i]!, c[i]!].map((x) => x.toString(16))}: ${got.toString(16)}, not ${want.toString(16)}`,
              );
            }
          }
          expect(wrong.slice(0, 10)).toEqual([]);
          // Two at once, loaded and stored together.
          if (optimization === 2) {
            expect(names.filter((name) => name.startsWith("v_pk_")).length).toBeGreaterThan(list.length);
            expect(names).not.toContain("buffer_load_ushort");
            expect(names).not.toContain("buffer_store_short");
          }
        });
      }
    }
  }
  it("rounds a fused multiply-add of halves once", () => {
    const text = source("f16vec4", [["fma(a, b, c)", () => 0]]);
    const results = ([0, 1, 2] as const).map(
      (optimization) => run(text, { options: { optimization } } as never).result,
    );
    const [a, b, c] = inputs;
    for (const result of results) {
      const wrong = Array.from(a.keys()).filter((i) => {
        const want = halfBits(fmaHalf(half(a[i]!), half(b[i]!), half(c[i]!)));
        return result[i] !== want && !(isNan(want) && isNan(result[i]!));
      });
      expect(wrong).toEqual([]);
    }
  });

  /** One element an invocation: declarations of a and b, what is stored, what stands there and what does not. */
  const selections: readonly (readonly [
    about: string,
    types: readonly [input: string, result: string],
    stored: string,
    there: readonly string[],
    not: RegExp,
  ])[] = [
    [
      "sums and products of one half",
      ["float16_t", "float16_t"],
      "a + 1.0hf - a * b",
      ["v_add_f16", "v_mul_f16"],
      /v_pk|v_cvt|v_and/,
    ],
    [
      "a fused one into its addend",
      ["float16_t", "float16_t"],
      "fma(a, b, a * 3.0hf)",
      ["v_fmac_f16"],
      /v_pk|v_cvt|v_and/,
    ],
    ["functions", ["float16_t", "float16_t"], "sqrt(a) + 1.0hf / b", ["v_sqrt_f16", "v_rcp_f16"], /f32/],
    ["logarithms and powers of 2", ["float16_t", "float16_t"], "exp2(a) * log2(b)", ["v_exp_f16", "v_log_f16"], /f32/],
    ["sine and cosine", ["float16_t", "float16_t"], "sin(a) - cos(b)", ["v_sin_f16", "v_cos_f16"], /f32/],
    [
      "a quotient as f32, rounded by the product",
      ["float16_t", "float16_t"],
      "a / b",
      ["v_rcp_f32", "v_fma_mixlo_f16"],
      /v_rcp_f16|v_cvt_f16/,
    ],
    [
      "comparisons, signs in their sources",
      ["float16_t", "float16_t"],
      "-a < abs(b) ? a : b",
      ["v_cmp_lt_f16"],
      /f32|v_xor|v_and/,
    ],
    [
      "the comparison with NaN inverted",
      ["float16_t", "float16_t"],
      "!(a < b) && isnan(a) ? a : b",
      ["v_cmp_lt_f16", "v_cmp_neq_f16"],
      /f32/,
    ],
    [
      "a comparison as f32 where the conversions are there",
      ["float16_t", "float"],
      "a < b ? exp2(float(a)) : exp2(float(b))",
      ["v_cmp_lt_f32"],
      /cmp\w*f16/,
    ],
    ["limits", ["float16_t", "float16_t"], "clamp(a, -2.0hf, 3.0hf)", ["v_med3_f16"], /v_max|v_min|f32/],
    [
      "no median of swapped limits",
      ["float16_t", "float16_t"],
      "min(max(a, 3.0hf), -2.0hf)",
      ["v_max_f16", "v_min_f16"],
      /v_med3/,
    ],
    ["limits of f32", ["float", "float"], "clamp(a, -2.0, 4.0)", ["v_med3_f32"], /v_max|v_min/],
    [
      "no median with 0 above: signs of zeros",
      ["float", "float"],
      "clamp(a, -2.0, 0.0)",
      ["v_max_f32", "v_min_f32"],
      /v_med3/,
    ],
    ["limits of integers", ["int", "int"], "clamp(a, -9, 300)", ["v_med3_i32"], /v_max|v_min/],
    [
      "both halves from f32",
      ["vec2", "f16vec2"],
      "f16vec2(a * b)",
      ["v_fma_mixlo_f16", "v_fma_mixhi_f16"],
      /v_pack|v_cvt/,
    ],
    [
      "both halves of a packed word",
      ["vec2", "uint"],
      "packHalf2x16(a)",
      ["v_cvt_f16_f32", "v_fma_mixhi_f16"],
      /v_pack|v_lshl_or/,
    ],
    [
      "comparisons of signed 16-bit integers",
      ["int16_t", "int16_t"],
      "int16_t(a * b) < a ? a : b",
      ["v_cmp_lt_i16"],
      /v_bfe|cmp\w*32/,
    ],
    [
      "comparisons of unsigned ones",
      ["uint16_t", "uint16_t"],
      "uint16_t(a * b) >= a ? a : b",
      ["v_cmp_ge_u16"],
      /v_and_b32|cmp\w*32/,
    ],
    ["a minimum of 16 bits", ["int16_t", "int16_t"], "min(int16_t(a + b), b)", ["v_pk_min_i16"], /v_bfe|v_and_b32/],
    [
      "the high half where it is",
      ["uint", "uint16_t"],
      "uint16_t(a >> 16)",
      ["buffer_store_short_d16_hi"],
      /v_lshrrev/,
    ],
    [
      "no mask below what is read as 16 bits",
      ["u16vec2", "u16vec2"],
      "mix(a, b, lessThan(a, b.yx))",
      ["v_perm_b32"],
      /v_and_b32|v_bfe_u32/,
    ],
  ];
  for (const [about, [input, stored], text, there, not] of selections) {
    it(`selects ${about}`, () => {
      const shader = `#version 450
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_EXT_shader_16bit_storage : require
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer A { ${input} a_[]; };
layout(std430, binding = 1) readonly buffer B { ${input} b_[]; };
layout(std430, binding = 3) buffer R { ${stored} r[]; };
void main() { uint i = gl_GlobalInvocationID.x; ${input} a = a_[i], b = b_[i]; r[i] = ${text}; }
`;
      const { names } = compiled(shader, {});
      expect(names).toEqual(expect.arrayContaining([...there]));
      expect(names.filter((name) => name.startsWith("v_") && not.test(name))).toEqual([]);
    });
  }
});
