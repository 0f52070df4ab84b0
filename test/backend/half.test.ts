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

  /** What the shader leaves in binding 3, and its instructions. */
  function run(text: string, request: Partial<CompileRequest>): { result: Uint16Array; names: string[] } {
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
    const names = disassemble(words).flatMap(({ instruction }) =>
      instruction === undefined ? [] : [instruction.op.name],
    );
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
});
