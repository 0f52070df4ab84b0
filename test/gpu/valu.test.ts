import { describe, expect, it } from "vitest";
import { bitsOf, f32, fmaExact } from "../math/exact.ts";
import { oracle } from "../oracles.ts";
import { inputs, runBodies, TRIES } from "./opcode-rig.ts";

const NAN = 0x7fc00000;
const isNan = (x: number) => (x & 0x7fffffff) > 0x7f800000;
/** Bits of a number as binary32, NaNs canonical. */
const bits = (x: number) => (Number.isNaN(x) ? NAN : bitsOf(Math.fround(x)));
const i32 = (x: number) => x | 0;
const u64 = (x: bigint) => BigInt.asUintN(64, x);
const s24 = (x: number) => (x << 8) >> 8;
const u24 = (x: number) => x & 0xffffff;
const clampI = (x: number) => (Number.isNaN(x) ? 0 : Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, Math.trunc(x))) >>> 0);
const clampU = (x: number) => (Number.isNaN(x) ? 0 : Math.max(0, Math.min(2 ** 32 - 1, Math.trunc(x))));
const even = (x: number) => {
  const low = Math.floor(x);
  const gap = x - low;
  const r = gap < 0.5 || (gap === 0.5 && low % 2 === 0) ? low : low + 1;
  return r === 0 && (x < 0 || Object.is(x, -0)) ? -0 : r;
};
const rank = (x: number) => (x >>> 31 ? -(x & 0x7fffffff) - 1 : x);
const minF = (a: number, b: number) => (isNan(a) ? (isNan(b) ? NAN : b) : isNan(b) ? a : rank(a) <= rank(b) ? a : b);
const maxF = (a: number, b: number) => (isNan(a) ? (isNan(b) ? NAN : b) : isNan(b) ? a : rank(a) >= rank(b) ? a : b);
const fma = (a: number, b: number, c: number) => {
  const [x, y, z] = [f32(a), f32(b), f32(c)];
  if (![x, y, z].every(Number.isFinite)) return bits(x * y + z);
  const product = x * y;
  if (product === 0 || z === 0)
    return bits(product === 0 && x !== 0 && y !== 0 ? fmaExact(x, y, z, 24, -149, 128) : product + z);
  const r = fmaExact(x, y, z, 24, -149, 128);
  return bits(r);
};
const med = (a: number, b: number, c: number) => [a, b, c].sort((x, y) => x - y)[1]!;
const reverse = (x: number) => {
  let r = 0;
  for (let i = 0; i < 32; i++) r |= ((x >>> i) & 1) << (31 - i);
  return r >>> 0;
};
const count = (x: number) => {
  let n = 0;
  for (let i = 0; i < 32; i++) n += (x >>> i) & 1;
  return n;
};
const signRun = (x: number) => {
  const sign = x >>> 31;
  for (let i = 1; i < 32; i++) if (((x >>> (31 - i)) & 1) !== sign) return i;
  return -1;
};
const half = (h: number) => {
  const sign = h & 0x8000 ? -1 : 1;
  const e = (h >> 10) & 31;
  const m = h & 1023;
  return e === 31 ? (m ? Number.NaN : sign * Infinity) : sign * (e === 0 ? m * 2 ** -24 : (1024 + m) * 2 ** (e - 25));
};
/** Bits of a number that binary16 holds exactly (or beyond its range), in the low half of v8's old value. */
const kept = (h: number) => (0x5a5a0000 | h) >>> 0;
const halfBits = (x: number) => {
  if (Number.isNaN(x)) return 0x7e00;
  const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
  const m = Math.abs(x);
  if (m >= 65536) return sign | 0x7c00;
  if (m < 2 ** -14) return sign | (m * 2 ** 24);
  const e = Math.floor(Math.log2(m));
  return sign | ((e + 15) << 10) | (m / 2 ** (e - 10) - 1024);
};
const h = (x: number) => half(x & 0xffff);
/** a*b+c in binary16, rounded once. */
const fmaHalf = (a: number, b: number, c: number) => {
  if (![a, b, c].every(Number.isFinite) || a * b === 0 || c === 0) {
    const r = a * b + c;
    if (!Number.isFinite(r) || r === 0) return kept(halfBits(r));
  }
  return kept(halfBits(fmaExact(a, b, c, 11, -24, 16)));
};
const mode = 0x0f0f3355;

type Reference = (a: number, b: number, c: number, lane: number, d: number) => number | bigint;

/** Instruction with its operands (v4, v5, v6; result v8), and its meaning per lane. 64-bit results as bigint. */
const table: readonly (readonly [string, Reference])[] = [
  ["v_mov_b32_e32 v8, v4", (a) => a],
  ["v_add_f32_e32 v8, v4, v5", (a, b) => bits(f32(a) + f32(b))],
  ["v_sub_f32_e32 v8, v4, v5", (a, b) => bits(f32(a) - f32(b))],
  ["v_subrev_f32_e32 v8, v4, v5", (a, b) => bits(f32(b) - f32(a))],
  ["v_mul_f32_e32 v8, v4, v5", (a, b) => bits(f32(a) * f32(b))],
  ["v_mul_legacy_f32_e32 v8, v4, v5", (a, b) => (f32(a) === 0 || f32(b) === 0 ? 0 : bits(f32(a) * f32(b)))],
  ["v_fma_f32 v8, v4, v5, v6", fma],
  ["v_min_f32_e32 v8, v4, v5", minF],
  ["v_max_f32_e32 v8, v4, v5", maxF],
  ["v_min3_f32 v8, v4, v5, v6", (a, b, c) => minF(minF(a, b), c)],
  ["v_max3_f32 v8, v4, v5, v6", (a, b, c) => maxF(maxF(a, b), c)],
  [
    "v_med3_f32 v8, v4, v5, v6",
    (a, b, c) => ([a, b, c].some(isNan) ? minF(minF(a, b), c) : [a, b, c].sort((x, y) => rank(x) - rank(y))[1]!),
  ],
  ["v_floor_f32_e32 v8, v4", (a) => bits(Math.floor(f32(a)))],
  ["v_ceil_f32_e32 v8, v4", (a) => bits(Math.ceil(f32(a)))],
  ["v_trunc_f32_e32 v8, v4", (a) => bits(Math.trunc(f32(a)))],
  ["v_rndne_f32_e32 v8, v4", (a) => bits(even(f32(a)))],
  ["v_fract_f32_e32 v8, v4", (a) => bits(Math.min(Math.fround(f32(a) - Math.floor(f32(a))), f32(0x3f7fffff)))],
  ["v_cvt_f32_i32_e32 v8, v4", (a) => bits(i32(a))],
  ["v_cvt_f32_u32_e32 v8, v4", (a) => bits(a)],
  ["v_cvt_i32_f32_e32 v8, v4", (a) => clampI(f32(a))],
  ["v_cvt_u32_f32_e32 v8, v4", (a) => clampU(f32(a))],
  ["v_cvt_flr_i32_f32_e32 v8, v4", (a) => clampI(Math.floor(f32(a)))],
  ["v_cvt_rpi_i32_f32_e32 v8, v4", (a) => clampI(Math.floor(f32(a) + 0.5))],
  ["v_cvt_f32_f16_e32 v8, v4", (a) => bits(half(a & 0xffff))],
  ["v_cvt_f32_ubyte0_e32 v8, v4", (a) => bits(a & 255)],
  ["v_cvt_f32_ubyte1_e32 v8, v4", (a) => bits((a >>> 8) & 255)],
  ["v_cvt_f32_ubyte2_e32 v8, v4", (a) => bits((a >>> 16) & 255)],
  ["v_cvt_f32_ubyte3_e32 v8, v4", (a) => bits(a >>> 24)],
  [
    "v_ldexp_f32 v8, v4, v5",
    (a, b) =>
      bits(i32(b) < -400 ? f32(a) * 2 ** -200 * 2 ** -200 : i32(b) > 400 ? f32(a) * 2 ** 400 : f32(a) * 2 ** i32(b)),
  ],
  [
    "v_frexp_exp_i32_f32_e32 v8, v4",
    (a) => (Number.isFinite(f32(a)) && f32(a) !== 0 ? Math.floor(Math.log2(Math.abs(f32(a)))) + 1 : 0),
  ],
  ["v_not_b32_e32 v8, v4", (a) => ~a],
  ["v_bfrev_b32_e32 v8, v4", reverse],
  ["v_ffbh_u32_e32 v8, v4", (a) => (a === 0 ? -1 : Math.clz32(a))],
  ["v_ffbl_b32_e32 v8, v4", (a) => (a === 0 ? -1 : 31 - Math.clz32(a & -a))],
  ["v_ffbh_i32_e32 v8, v4", signRun],
  ["v_and_b32_e32 v8, v4, v5", (a, b) => a & b],
  ["v_or_b32_e32 v8, v4, v5", (a, b) => a | b],
  ["v_xor_b32_e32 v8, v4, v5", (a, b) => a ^ b],
  ["v_xnor_b32_e32 v8, v4, v5", (a, b) => ~(a ^ b)],
  ["v_add_nc_u32_e32 v8, v4, v5", (a, b) => a + b],
  ["v_sub_nc_u32_e32 v8, v4, v5", (a, b) => a - b],
  ["v_subrev_nc_u32_e32 v8, v4, v5", (a, b) => b - a],
  ["v_add_nc_u32_e64 v8, v4, v5 clamp", (a, b) => Math.min(a + b, 0xffffffff)],
  ["v_sub_nc_u32_e64 v8, v4, v5 clamp", (a, b) => Math.max(a - b, 0)],
  ["v_add_nc_i32 v8, v4, v5 clamp", (a, b) => Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, i32(a) + i32(b)))],
  ["v_mul_lo_u32 v8, v4, v5", (a, b) => Math.imul(a, b)],
  ["v_mul_hi_u32 v8, v4, v5", (a, b) => Number((BigInt(a) * BigInt(b)) >> 32n)],
  ["v_mul_hi_i32 v8, v4, v5", (a, b) => Number((BigInt(i32(a)) * BigInt(i32(b))) >> 32n)],
  ["v_mul_u32_u24_e32 v8, v4, v5", (a, b) => Number(BigInt.asUintN(32, BigInt(u24(a)) * BigInt(u24(b))))],
  ["v_mul_i32_i24_e32 v8, v4, v5", (a, b) => Math.imul(s24(a), s24(b))],
  ["v_mul_hi_u32_u24_e32 v8, v4, v5", (a, b) => Number((BigInt(u24(a)) * BigInt(u24(b))) >> 32n)],
  ["v_mul_hi_i32_i24_e32 v8, v4, v5", (a, b) => Number((BigInt(s24(a)) * BigInt(s24(b))) >> 32n)],
  [
    "v_mad_u32_u24 v8, v4, v5, v6",
    (a, b, c) => Number(BigInt.asUintN(32, BigInt(u24(a)) * BigInt(u24(b)) + BigInt(c))),
  ],
  ["v_mad_i32_i24 v8, v4, v5, v6", (a, b, c) => i32(Math.imul(s24(a), s24(b)) + c)],
  ["v_min_i32_e32 v8, v4, v5", (a, b) => Math.min(i32(a), i32(b))],
  ["v_max_i32_e32 v8, v4, v5", (a, b) => Math.max(i32(a), i32(b))],
  ["v_min_u32_e32 v8, v4, v5", (a, b) => Math.min(a, b)],
  ["v_max_u32_e32 v8, v4, v5", (a, b) => Math.max(a, b)],
  ["v_min3_i32 v8, v4, v5, v6", (a, b, c) => Math.min(i32(a), i32(b), i32(c))],
  ["v_max3_u32 v8, v4, v5, v6", (a, b, c) => Math.max(a, b, c)],
  ["v_med3_i32 v8, v4, v5, v6", (a, b, c) => med(i32(a), i32(b), i32(c))],
  ["v_med3_u32 v8, v4, v5, v6", (a, b, c) => med(a, b, c)],
  ["v_lshlrev_b32_e32 v8, v4, v5", (a, b) => b << a],
  ["v_lshrrev_b32_e32 v8, v4, v5", (a, b) => b >>> a],
  ["v_ashrrev_i32_e32 v8, v4, v5", (a, b) => b >> a],
  ["v_lshlrev_b32_e32 v8, 33, v5", (_, b) => b << 1],
  ["v_ashrrev_i32_e32 v8, 63, v5", (_, b) => b >> 31],
  ["v_lshl_add_u32 v8, v4, v5, v6", (a, b, c) => (a << b) + c],
  ["v_lshl_add_u32 v8, v4, 3, v6", (a, _, c) => (a << 3) + c],
  ["v_lshl_or_b32 v8, v4, v5, v6", (a, b, c) => (a << b) | c],
  ["v_add_lshl_u32 v8, v4, v5, v6", (a, b, c) => i32(a + b) << c],
  ["v_add_lshl_u32 v8, v4, v5, 2", (a, b) => i32(a + b) << 2],
  ["v_add3_u32 v8, v4, v5, v6", (a, b, c) => a + b + c],
  ["v_or3_b32 v8, v4, v5, v6", (a, b, c) => a | b | c],
  ["v_xor3_b32 v8, v4, v5, v6", (a, b, c) => a ^ b ^ c],
  ["v_and_or_b32 v8, v4, v5, v6", (a, b, c) => (a & b) | c],
  ["v_xad_u32 v8, v4, v5, v6", (a, b, c) => ((a ^ b) >>> 0) + c],
  ["v_bfi_b32 v8, v4, v5, v6", (a, b, c) => (a & b) | (~a & c)],
  ["v_bfe_u32 v8, v4, v5, v6", (a, b, c) => (a >>> b) & ((1 << (c & 31)) - 1)],
  ["v_bfe_u32 v8, v4, 7, 9", (a) => (a >>> 7) & 511],
  ["v_bfe_i32 v8, v4, v5, v6", (a, b, c) => ((c & 31) === 0 ? 0 : ((a >>> b) << (32 - (c & 31))) >> (32 - (c & 31)))],
  ["v_bfm_b32 v8, v4, v5", (a, b) => ((1 << (a & 31)) - 1) << b],
  ["v_bcnt_u32_b32 v8, v4, v5", (a, b) => count(a) + b],
  ["v_mbcnt_lo_u32_b32 v8, v4, v5", (a, b, _, lane) => count(a & (2 ** lane - 1)) + b],
  ["v_mbcnt_hi_u32_b32 v8, v4, v5", (_, b) => b],
  [
    "v_alignbit_b32 v8, v4, v5, v6",
    (a, b, c) => Number(BigInt.asUintN(32, ((BigInt(a) << 32n) | BigInt(b)) >> BigInt(c & 31))),
  ],
  [
    "v_alignbyte_b32 v8, v4, v5, v6",
    (a, b, c) => Number(BigInt.asUintN(32, ((BigInt(a) << 32n) | BigInt(b)) >> BigInt(8 * (c & 3)))),
  ],
  [
    "v_perm_b32 v8, v4, v5, v6",
    (a, b, c) => {
      const bytes = [0, 8, 16, 24].map((s) => (b >>> s) & 255).concat([0, 8, 16, 24].map((s) => (a >>> s) & 255));
      const pick = (s: number) =>
        s > 12 ? 255 : s === 12 ? 0 : s >= 8 ? (bytes[2 * (s - 8) + 1]! & 128 ? 255 : 0) : bytes[s]!;
      return [0, 8, 16, 24].reduce((sum, s) => sum | (pick((c >>> s) & 255) << s), 0);
    },
  ],
  ["v_sad_u32 v8, v4, v5, v6", (a, b, c) => Math.abs(a - b) + c],
  ["v_add_f16_e32 v8, v4, v5", (a, b) => fmaHalf(1, h(a), h(b))],
  ["v_sub_f16_e32 v8, v4, v5", (a, b) => fmaHalf(-1, h(b), h(a))],
  ["v_mul_f16_e32 v8, v4, v5", (a, b) => (h(a) * h(b) === 0 ? kept(halfBits(h(a) * h(b))) : fmaHalf(h(a), h(b), 0))],
  ["v_fma_f16 v8, v4, v5, v6", (a, b, c) => fmaHalf(h(a), h(b), h(c))],
  [
    "v_cvt_f16_f32_e32 v8, v4",
    (a) => (Number.isFinite(f32(a)) && f32(a) !== 0 ? fmaHalf(f32(a), 1, 0) : kept(halfBits(f32(a)))),
  ],
  ["v_cvt_f16_u16_e32 v8, v4", (a) => fmaHalf(a & 0xffff, 1, 0)],
  ["v_cvt_u16_f16_e32 v8, v4", (a) => kept(Number.isNaN(h(a)) ? 0 : Math.max(0, Math.min(65535, Math.trunc(h(a)))))],
  ["v_floor_f16_e32 v8, v4", (a) => kept(halfBits(Math.floor(h(a))))],
  [
    "v_max_f16_e32 v8, v4, v5",
    (a, b) => kept(halfBits(Number.isNaN(h(a)) ? h(b) : Number.isNaN(h(b)) ? h(a) : Math.max(h(a), h(b)))),
  ],
  ["v_min_i16 v8, v4, v5", (a, b) => kept(Math.min((a << 16) >> 16, (b << 16) >> 16) & 0xffff)],
  ["v_mad_u16 v8, v4, v5, v6", (a, b, c) => kept((Math.imul(a, b) + c) & 0xffff)],
  ["v_mad_u32_u16 v8, v4, v5, v6", (a, b, c) => (a & 0xffff) * (b & 0xffff) + c],
  ["v_lshrrev_b16 v8, v4, v5", (a, b) => kept((b & 0xffff) >>> (a & 15))],
  [
    "v_sat_pk_u8_i16_e32 v8, v4",
    (a) => kept(Math.max(0, Math.min(255, (a << 16) >> 16)) | (Math.max(0, Math.min(255, a >> 16)) << 8)),
  ],
  ["v_cndmask_b32_e32 v8, v4, v5, vcc_lo", (a, b, _, lane) => ((mode >>> lane) & 1 ? b : a)],
  ["v_lshlrev_b64 v[8:9], v6, v[4:5]", (a, b, c) => u64(((BigInt(b) << 32n) | BigInt(a)) << BigInt(c & 63))],
  ["v_lshrrev_b64 v[8:9], v6, v[4:5]", (a, b, c) => ((BigInt(b) << 32n) | BigInt(a)) >> BigInt(c & 63)],
  [
    "v_ashrrev_i64 v[8:9], v6, v[4:5]",
    (a, b, c) => u64(BigInt.asIntN(64, (BigInt(b) << 32n) | BigInt(a)) >> BigInt(c & 63)),
  ],
  [
    "v_mad_u64_u32 v[8:9], s20, v4, v5, v[6:7]",
    (a, b, c, _, d) => u64(BigInt(a) * BigInt(b) + ((BigInt(d) << 32n) | BigInt(c))),
  ],
  [
    "v_mad_i64_i32 v[8:9], s20, v4, v5, v[6:7]",
    (a, b, c, _, d) => u64(BigInt(i32(a)) * BigInt(i32(b)) + ((BigInt(d) << 32n) | BigInt(c))),
  ],
];

describe.skipIf(!oracle("llvm-mc-19"))("VALU, one result register", () => {
  const words = inputs();
  const results = oracle("llvm-mc-19")
    ? runBodies(
        "vector",
        table.map(([body]) => body),
        words,
      )
    : [];
  it.each(table.map(([body], i) => [body, i] as const))("%s", (_, i) => {
    const reference = table[i]![1];
    for (let t = 0; t < TRIES; t++) {
      const [a, b, c, d] = words.subarray(4 * t, 4 * t + 4) as unknown as [number, number, number, number];
      const want = reference(a, b, c, t % 32, d);
      const { value, second } = results[i]![t]!;
      const expected = typeof want === "bigint" ? want : BigInt(Math.trunc(want % 2 ** 32) >>> 0);
      const got = typeof want === "bigint" ? (BigInt(second) << 32n) | BigInt(value) : BigInt(value);
      if (got !== expected) {
        const show = (x: number | bigint) => x.toString(16);
        expect(`${[a, b, c, d].map(show)} -> ${show(got)}`).toBe(`${[a, b, c, d].map(show)} -> ${show(expected)}`);
      }
    }
  });
});

const compare = (a: number, b: number) => ({ a, b });
const conditions: readonly (readonly [string, (x: ReturnType<typeof compare>) => boolean])[] = [
  ["f", () => false],
  ["lt", ({ a, b }) => a < b],
  ["eq", ({ a, b }) => a === b],
  ["le", ({ a, b }) => a <= b],
  ["gt", ({ a, b }) => a > b],
  ["lg", ({ a, b }) => a < b || a > b],
  ["ge", ({ a, b }) => a >= b],
  ["o", ({ a, b }) => !Number.isNaN(a) && !Number.isNaN(b)],
  ["u", ({ a, b }) => Number.isNaN(a) || Number.isNaN(b)],
  ["nge", ({ a, b }) => !(a >= b)],
  ["nlg", ({ a, b }) => !(a < b || a > b)],
  ["ngt", ({ a, b }) => !(a > b)],
  ["nle", ({ a, b }) => !(a <= b)],
  ["neq", ({ a, b }) => a !== b],
  ["nlt", ({ a, b }) => !(a < b)],
  ["tru", () => true],
];
const integers: readonly (readonly [string, (a: bigint, b: bigint) => boolean])[] = [
  ["lt", (a, b) => a < b],
  ["eq", (a, b) => a === b],
  ["le", (a, b) => a <= b],
  ["gt", (a, b) => a > b],
  ["ne", (a, b) => a !== b],
  ["ge", (a, b) => a >= b],
];

type Bit = (a: number, b: number, c: number, d: number, lane: number) => boolean;
const long = (low: number, high: number) => (BigInt(high) << 32n) | BigInt(low);
const double = (low: number, high: number) => new Float64Array(new Uint32Array([low, high]).buffer)[0]!;
const classes = (x: number) => {
  const negative = x >>> 31 !== 0;
  const m = x & 0x7fffffff;
  if (m > 0x7f800000) return m & 0x400000 ? 1 : 0;
  if (m === 0x7f800000) return negative ? 2 : 9;
  if (m === 0) return negative ? 5 : 6;
  if (m < 0x800000) return negative ? 4 : 7;
  return negative ? 3 : 8;
};
const masks: readonly (readonly [string, Bit])[] = [
  ...conditions.flatMap(([name, holds]): [string, Bit][] => [
    [`v_cmp_${name}_f32_e64 s20, v4, v5`, (a, b) => holds(compare(f32(a), f32(b)))],
    [`v_cmp_${name}_f64_e64 s20, v[4:5], v[6:7]`, (a, b, c, d) => holds(compare(double(a, b), double(c, d)))],
    [`v_cmp_${name}_f16_e64 s20, v4, v5`, (a, b) => holds(compare(half(a & 0xffff), half(b & 0xffff)))],
  ]),
  ...integers.flatMap(([name, holds]): [string, Bit][] => [
    [`v_cmp_${name}_i32_e64 s20, v4, v5`, (a, b) => holds(BigInt(i32(a)), BigInt(i32(b)))],
    [`v_cmp_${name}_u32_e64 s20, v4, v5`, (a, b) => holds(BigInt(a), BigInt(b))],
    [
      `v_cmp_${name}_i64_e64 s20, v[4:5], v[6:7]`,
      (a, b, c, d) => holds(BigInt.asIntN(64, long(a, b)), BigInt.asIntN(64, long(c, d))),
    ],
    [`v_cmp_${name}_u64_e64 s20, v[4:5], v[6:7]`, (a, b, c, d) => holds(long(a, b), long(c, d))],
    [`v_cmp_${name}_i16_e64 s20, v4, v5`, (a, b) => holds(BigInt((a << 16) >> 16), BigInt((b << 16) >> 16))],
    [`v_cmp_${name}_u16_e64 s20, v4, v5`, (a, b) => holds(BigInt(a & 0xffff), BigInt(b & 0xffff))],
  ]),
  ["v_cmp_class_f32_e64 s20, v4, v5", (a, b) => ((b >>> classes(a)) & 1) !== 0],
  ["v_cmp_lt_f32_e64 s20, -v4, |v5|", (a, b) => -f32(a) < Math.abs(f32(b))],
  ["v_add_co_u32 v8, s20, v4, v5", (a, b) => a + b > 0xffffffff],
  ["v_sub_co_u32 v8, s20, v4, v5", (a, b) => a < b],
  ["v_subrev_co_u32 v8, s20, v4, v5", (a, b) => b < a],
  ["v_add_co_ci_u32_e64 v8, s20, v4, v5, vcc_lo", (a, b, _c, _d, lane) => a + b + ((mode >>> lane) & 1) > 0xffffffff],
  ["v_sub_co_ci_u32_e64 v8, s20, v4, v5, vcc_lo", (a, b, _c, _d, lane) => a - b - ((mode >>> lane) & 1) < 0],
  ["v_mad_u64_u32 v[8:9], s20, v4, v5, v[6:7]", (a, b, c, d) => BigInt(a) * BigInt(b) + long(c, d) >= 1n << 64n],
];

describe.skipIf(!oracle("llvm-mc-19"))("VALU, lane masks", () => {
  const words = inputs();
  const results = oracle("llvm-mc-19")
    ? runBodies(
        "vector",
        masks.map(([body]) => body),
        words,
      )
    : [];
  it.each(masks.map(([body], i) => [body, i] as const))("%s", (_, i) => {
    const holds = masks[i]![1];
    for (let t = 0; t < TRIES; t++) {
      const [a, b, c, d] = words.subarray(4 * t, 4 * t + 4) as unknown as [number, number, number, number];
      const want = holds(a, b, c, d, t % 32) ? 1 : 0;
      if (results[i]![t]!.bit !== want) expect([a, b, c, d, results[i]![t]!.bit]).toEqual([a, b, c, d, want]);
    }
  });
});

/** Transcendentals: the true value, denormal inputs and results flushed where the row says so. */
const flush = (x: number) => (Math.abs(x) < 2 ** -126 ? x * 0 : x);
const approximate: readonly (readonly [string, (x: number) => number])[] = [
  ["v_rcp_f32_e32 v8, v4", (x) => 1 / flush(x)],
  ["v_rcp_iflag_f32_e32 v8, v4", (x) => 1 / flush(x)],
  ["v_rsq_f32_e32 v8, v4", (x) => 1 / Math.sqrt(flush(x))],
  ["v_sqrt_f32_e32 v8, v4", (x) => Math.sqrt(flush(x))],
  ["v_exp_f32_e32 v8, v4", (x) => 2 ** flush(x)],
  ["v_log_f32_e32 v8, v4", (x) => Math.log2(flush(x))],
];

describe.skipIf(!oracle("llvm-mc-19"))("VALU, transcendentals", () => {
  const words = inputs();
  const results = oracle("llvm-mc-19")
    ? runBodies(
        "vector",
        approximate.map(([body]) => body),
        words,
      )
    : [];
  it.each(approximate.map(([body], i) => [body, i] as const))("%s is within 1 ulp", (_, i) => {
    for (let t = 0; t < TRIES; t++) {
      const a = words[4 * t]!;
      const want = flush(approximate[i]![1](f32(a)));
      const got = f32(results[i]![t]!.value);
      const largest = 3.4028234663852886e38;
      const ulp = 2 ** (Math.floor(Math.log2(Math.abs(want))) - 23);
      const good =
        Number.isNaN(want) || !Number.isFinite(want) || want === 0 || Math.abs(want) > largest
          ? Object.is(got, Number.isNaN(want) ? Number.NaN : Math.fround(want)) ||
            (want === 0 && Math.abs(got) <= 2 ** -126)
          : Math.abs(got - want) <= ulp;
      if (!good) expect([a.toString(16), got]).toEqual([a.toString(16), want]);
    }
  });
});
