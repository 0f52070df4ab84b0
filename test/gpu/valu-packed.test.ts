/** VOP3P on the simulator: each half of each result as IEEE 754 or integer arithmetic has it. */
import { describe, expect, it } from "vitest";
import { f32 } from "../math/exact.ts";
import { fma, fmaHalf, half, halfBits, max, min } from "../math/half.ts";
import { oracle } from "../oracles.ts";
import { inputs, runBodies, TRIES } from "./opcode-rig.ts";

const low = (x: number) => x & 0xffff;
const high = (x: number) => x >>> 16;
const s16 = (x: number) => (x << 16) >> 16;
const clamp = (x: number, least: number, most: number) => low(Math.min(Math.max(x, least), most));
const clampS = (x: number) => clamp(x, -32768, 32767);
const clampU = (x: number) => clamp(x, 0, 65535);

/** One half of the result from one half of each source; floats give their exact result. */
type Part = (a: number, b: number, c: number) => number;
const F =
  (f: (a: number, b: number, c: number) => number): Part =>
  (a, b, c) =>
    halfBits(f(half(a), half(b), half(c)));

/** Instruction, whether its results are floats, one half. */
const rows: readonly (readonly [text: string, isFloat: boolean, part: Part])[] = [
  ["v_pk_mad_i16 v8, v4, v5, v6", false, (a, b, c) => Math.imul(a, b) + c],
  ["v_pk_mad_u16 v8, v4, v5, v6", false, (a, b, c) => Math.imul(a, b) + c],
  ["v_pk_mul_lo_u16 v8, v4, v5", false, (a, b) => Math.imul(a, b)],
  ["v_pk_add_i16 v8, v4, v5", false, (a, b) => a + b],
  ["v_pk_sub_i16 v8, v4, v5", false, (a, b) => a - b],
  ["v_pk_add_u16 v8, v4, v5", false, (a, b) => a + b],
  ["v_pk_sub_u16 v8, v4, v5", false, (a, b) => a - b],
  ["v_pk_lshlrev_b16 v8, v4, v5", false, (a, b) => b << (a & 15)],
  ["v_pk_lshrrev_b16 v8, v4, v5", false, (a, b) => b >>> (a & 15)],
  ["v_pk_ashrrev_i16 v8, v4, v5", false, (a, b) => s16(b) >> (a & 15)],
  ["v_pk_max_i16 v8, v4, v5", false, (a, b) => Math.max(s16(a), s16(b))],
  ["v_pk_min_i16 v8, v4, v5", false, (a, b) => Math.min(s16(a), s16(b))],
  ["v_pk_max_u16 v8, v4, v5", false, (a, b) => Math.max(a, b)],
  ["v_pk_min_u16 v8, v4, v5", false, (a, b) => Math.min(a, b)],
  ["v_pk_fma_f16 v8, v4, v5, v6", true, F(fmaHalf)],
  ["v_pk_add_f16 v8, v4, v5", true, F((a, b) => a + b)],
  ["v_pk_mul_f16 v8, v4, v5", true, F((a, b) => a * b)],
  ["v_pk_min_f16 v8, v4, v5", true, F(min)],
  ["v_pk_max_f16 v8, v4, v5", true, F(max)],
  ["v_pk_add_i16 v8, v4, v5 clamp", false, (a, b) => clampS(s16(a) + s16(b))],
  ["v_pk_sub_i16 v8, v4, v5 clamp", false, (a, b) => clampS(s16(a) - s16(b))],
  ["v_pk_mad_i16 v8, v4, v5, v6 clamp", false, (a, b, c) => clampS(s16(a) * s16(b) + s16(c))],
  ["v_pk_add_u16 v8, v4, v5 clamp", false, (a, b) => clampU(a + b)],
  ["v_pk_sub_u16 v8, v4, v5 clamp", false, (a, b) => clampU(a - b)],
  ["v_pk_mad_u16 v8, v4, v5, v6 clamp", false, (a, b, c) => clampU(a * b + c)],
  ["v_pk_add_f16 v8, v4, v5 clamp", true, F((a, b) => (Number.isNaN(a + b) ? 0 : Math.min(Math.max(a + b, 0), 1)))],
];

type Words = readonly [a: number, b: number, c: number];
/** Whole words: selections of halves, negations, constants, v_fma_mix. */
const wholes: readonly (readonly [text: string, isFloat: boolean, meaning: (...words: Words) => number])[] = [
  [
    "v_pk_sub_u16 v8, v4, v5 op_sel:[1,0] op_sel_hi:[0,1]",
    false,
    (a, b) => low(high(a) - low(b)) | (low(low(a) - high(b)) << 16),
  ],
  [
    "v_pk_add_f16 v8, v4, v5 neg_lo:[0,1] neg_hi:[1,0]",
    true,
    (a, b) => halfBits(half(low(a)) - half(low(b))) | (halfBits(half(high(b)) - half(high(a))) << 16),
  ],
  [
    "v_pk_mul_f16 v8, v4, 2.0 op_sel_hi:[1,0]",
    true,
    (a) => halfBits(half(low(a)) * 2) | (halfBits(half(high(a)) * 2) << 16),
  ],
  ["v_pk_add_u16 v8, v4, -3 op_sel_hi:[1,0]", false, (a) => low(a - 3) | (low(high(a) - 3) << 16)],
  ["v_pk_add_u16 v8, v4, 0x12345678", false, (a) => low(a + 0x5678) | (low(high(a) + 0x1234) << 16)],
  [
    "v_pk_fma_f16 v8, v4, v5, v6 op_sel:[0,1,1] op_sel_hi:[0,1,0] neg_lo:[1,0,0] neg_hi:[0,0,1]",
    true,
    (a, b, c) =>
      halfBits(fmaHalf(-half(low(a)), half(high(b)), half(high(c)))) |
      (halfBits(fmaHalf(half(low(a)), half(high(b)), -half(low(c)))) << 16),
  ],
];
/** f32 of a*b+c, rounded once. */
const fma32 = (a: number, b: number, c: number) => Math.fround(fma(a, b, c, 24, -149, 128));
const mixes: readonly (readonly [text: string, kind: "single" | "low" | "high", meaning: (...w: Words) => number])[] = [
  ["v_fma_mix_f32 v8, v4, v5, v6", "single", (a, b, c) => fma32(f32(a), f32(b), f32(c))],
  [
    "v_fma_mix_f32 v8, -v4, |v5|, v6 op_sel:[1,0,0] op_sel_hi:[1,1,0]",
    "single",
    (a, b, c) => fma32(-half(high(a)), Math.abs(half(low(b))), f32(c)),
  ],
  ["v_fma_mix_f32 v8, v4, 1.0, v6 op_sel_hi:[1,0,1]", "single", (a, _b, c) => fma32(half(low(a)), 1, half(low(c)))],
  ["v_fma_mixlo_f16 v8, v4, v5, v6 op_sel_hi:[1,0,0]", "low", (a, b, c) => fma32(half(low(a)), f32(b), f32(c))],
  [
    "v_fma_mixhi_f16 v8, v4, v5, v6 op_sel:[0,0,1] op_sel_hi:[0,1,1]",
    "high",
    (a, b, c) => fma32(f32(a), half(low(b)), half(high(c))),
  ],
];

const isNanHalf = (x: number) => (x & 0x7fff) > 0x7c00;
const sameHalf = (a: number, b: number, isFloat: boolean) => a === b || (isFloat && isNanHalf(a) && isNanHalf(b));
const same = (a: number, b: number, isFloat: boolean) =>
  sameHalf(low(a), low(b), isFloat) && sameHalf(high(a), high(b), isFloat);

function mixed(kind: "single" | "low" | "high", want: number, value: number): boolean {
  if (kind === "single") return Object.is(f32(value), want);
  // v8 was 0x5a5a5a5a.
  const [part, rest] = kind === "low" ? [low(value), high(value)] : [high(value), low(value)];
  return rest === 0x5a5a && sameHalf(part, halfBits(want), true);
}

describe.skipIf(!oracle("llvm-mc-19"))("VOP3P", () => {
  const words = inputs();
  const texts = [...rows, ...wholes, ...mixes].map(([text]) => text);
  const results = oracle("llvm-mc-19") ? runBodies("vector", texts, words) : [];
  const wrong = (text: string, right: (words: Words, value: number) => boolean): string[] => {
    const found: string[] = [];
    for (let t = 0; t < TRIES; t++) {
      const operands = [...words.subarray(4 * t, 4 * t + 3)] as unknown as Words;
      const { value } = results[texts.indexOf(text)]![t]!;
      if (!right(operands, value)) found.push(`${operands.map((x) => x.toString(16))}: ${value.toString(16)}`);
    }
    return found;
  };
  it.each(rows)("%s", (text, isFloat, part) => {
    const want = (a: number, b: number, c: number) =>
      low(part(low(a), low(b), low(c))) | (low(part(high(a), high(b), high(c))) << 16);
    expect(wrong(text, (w, value) => same(value, want(...w) >>> 0, isFloat))).toEqual([]);
  });
  it.each(wholes)("%s", (text, isFloat, meaning) => {
    expect(wrong(text, (w, value) => same(value, meaning(...w) >>> 0, isFloat))).toEqual([]);
  });
  it.each(mixes)("%s", (text, kind, meaning) => {
    expect(wrong(text, (w, value) => mixed(kind, meaning(...w), value))).toEqual([]);
  });
});
