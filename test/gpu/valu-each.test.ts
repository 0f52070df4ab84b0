/** The vector rows that `valu.test.ts` does not have: doubles, halves, 16-bit integers, packing, cube faces, sums of differences. */
import { describe, expect, it } from "vitest";
import { bitsOf, f32, f64 } from "../math/exact.ts";
import { even, fma, fmaHalf, half, halfBits, isMinusZero, max, min } from "../math/half.ts";
import { oracle } from "../oracles.ts";
import { inputs, runBodies, TRIES } from "./opcode-rig.ts";

/** What v8 (v9) hold: a word; a half in the low bits, the others kept; a single; a double. Numbers are the exact results, rounded once here. */
type Kind = "word" | "half" | "single" | "double";
type Operands = readonly [a: number, b: number, c: number, d: number];
/** Undefined: the row says nothing of these operands. */
type Meaning = (...operands: Operands) => number | undefined;
/** `close`: units in the last place that approximations may be off. */
type Row = readonly [body: string, kind: Kind, meaning: Meaning, close?: number];

const i32 = (x: number) => x | 0;
const s16 = (x: number) => (x << 16) >> 16;
const u16 = (x: number) => x & 0xffff;
const bytes = (x: number) => [0, 8, 16, 24].map((shift) => (x >>> shift) & 255);
const clamp = (x: number, least: number, most: number) => Math.min(Math.max(x, least), most);
const double = (low: number, high: number) => f64((BigInt(high) << 32n) | BigInt(low));
/** Towards zero. */
function halfDown(x: number): number {
  const near = halfBits(x);
  if (!Number.isFinite(x)) return near;
  return Math.abs(half(near)) > Math.abs(x) ? near - 1 : near;
}
const med = (x: number, y: number, z: number) =>
  [x, y, z].some(Number.isNaN) ? min(min(x, y), z) : max(min(x, y), min(max(x, y), z));
const median = (x: number, y: number, z: number) => [x, y, z].sort((p, q) => p - q)[1] as number;
const truncated = (x: number, least: number, most: number) => (Number.isNaN(x) ? 0 : clamp(Math.trunc(x), least, most));
const norm = (x: number, top: number, least: number) => (Number.isNaN(x) ? 0 : even(clamp(x, least, 1) * top));
const snorm = (x: number) => u16(norm(x, 32767, -1));
const unorm = (x: number) => norm(x, 65535, 0);
const pack = (low: number, high: number) => (u16(low) | (high << 16)) >>> 0;
/** Exponent so that the mantissa is in [0.5, 1). */
function exponent(x: number): number {
  if (x === 0 || !Number.isFinite(x)) return 0;
  let e = Math.floor(Math.log2(Math.abs(x))) + 1;
  while (Math.abs(x) / 2 ** (e - 1) / 2 >= 1) e++;
  while (Math.abs(x) < 2 ** (e - 1)) e--;
  return e;
}
/** In two steps: the scale alone may be out of a double's range. */
const mantissa = (x: number) => {
  const e = exponent(x);
  const first = Math.trunc(e / 2);
  return x * 2 ** -first * 2 ** (first - e);
};
/** cos(2 pi x): an exact reduction, then the sine of the distance to a quarter turn. */
function cosTurns(x: number): number {
  const f = x - Math.floor(x);
  return Math.sin(2 * Math.PI * (0.25 - Math.min(f, 1 - f)));
}
const sinTurns = (x: number) => {
  const f = x - Math.round(x);
  return Math.sin(2 * Math.PI * (Math.abs(f) > 0.25 ? Math.sign(f) * (0.5 - Math.abs(f)) : f));
};
const normal = (x: number) => Math.abs(x) >= 2 ** -1022 && Number.isFinite(x);
const quotient = (den: number, num: number): number | undefined => {
  const isNegative = (isMinusZero(num) || num < 0) !== (isMinusZero(den) || den < 0);
  if (Number.isNaN(num) || Number.isNaN(den)) return Number.NaN;
  if ((num === 0 && den === 0) || (Math.abs(num) === Infinity && Math.abs(den) === Infinity)) return Number.NaN;
  const value =
    den === 0 || Math.abs(num) === Infinity ? Infinity : num === 0 || Math.abs(den) === Infinity ? 0 : undefined;
  return value === undefined ? undefined : isNegative ? -value : value;
};

/** Face, then s, t, and the major axis, of a direction. */
function cube(x: number, y: number, z: number): readonly [number, number, number, number] {
  const [ax, ay, az] = [Math.abs(x), Math.abs(y), Math.abs(z)];
  if (az >= ax && az >= ay) return [z < 0 ? 5 : 4, z < 0 ? -x : x, -y, 2 * z];
  if (ay >= ax) return [y < 0 ? 3 : 2, x, y < 0 ? -z : z, 2 * y];
  return [x < 0 ? 1 : 0, x < 0 ? z : -z, -y, 2 * x];
}
const onCube =
  (k: number): Meaning =>
  (a, b, c) => {
    const direction = [f32(a), f32(b), f32(c)] as const;
    return direction.some(Number.isNaN) ? undefined : cube(...direction)[k];
  };

const A =
  (f: (x: number) => number | undefined): Meaning =>
  (a, b) =>
    f(double(a, b));
const AB =
  (f: (x: number, y: number) => number | undefined): Meaning =>
  (a, b, c, d) =>
    f(double(a, b), double(c, d));
const H =
  (f: (x: number) => number): Meaning =>
  (a) =>
    f(half(a));
const HH =
  (f: (x: number, y: number) => number): Meaning =>
  (a, b) =>
    f(half(a), half(b));
const HHH =
  (f: (x: number, y: number, z: number) => number): Meaning =>
  (a, b, c) =>
    f(half(a), half(b), half(c));
const differences = (a: number, b: number) => bytes(a).map((x, i) => Math.abs(x - (bytes(b)[i] as number)));
const total = (list: readonly number[]) => list.reduce((sum, x) => sum + x, 0);

const table: readonly Row[] = [
  ["v_add_f64 v[8:9], v[4:5], v[6:7]", "double", AB((x, y) => x + y)],
  ["v_mul_f64 v[8:9], v[4:5], v[6:7]", "double", AB((x, y) => x * y)],
  ["v_min_f64 v[8:9], v[4:5], v[6:7]", "double", AB(min)],
  ["v_max_f64 v[8:9], v[4:5], v[6:7]", "double", AB(max)],
  ["v_fma_f64 v[8:9], v[4:5], v[6:7], v[4:5]", "double", AB((x, y) => fma(x, y, x, 53, -1074, 1024))],
  [
    "v_bfe_i32 v12, v6, 0, 9\nv_ldexp_f64 v[8:9], v[4:5], v12",
    "double",
    (a, b, c) => double(a, b) * 2 ** ((c << 23) >> 23),
  ],
  ["v_trunc_f64_e32 v[8:9], v[4:5]", "double", A(Math.trunc)],
  ["v_ceil_f64_e32 v[8:9], v[4:5]", "double", A(Math.ceil)],
  ["v_floor_f64_e32 v[8:9], v[4:5]", "double", A(Math.floor)],
  ["v_rndne_f64_e32 v[8:9], v[4:5]", "double", A((x) => (Math.abs(x) >= 2 ** 52 || Number.isNaN(x) ? x : even(x)))],
  ["v_fract_f64_e32 v[8:9], v[4:5]", "double", A((x) => Math.min(x - Math.floor(x), 1 - 2 ** -53))],
  ["v_frexp_mant_f64_e32 v[8:9], v[4:5]", "double", A((x) => (Number.isFinite(x) ? mantissa(x) : x))],
  ["v_frexp_exp_i32_f64_e32 v8, v[4:5]", "word", A((x) => exponent(x) >>> 0)],
  ["v_cvt_i32_f64_e32 v8, v[4:5]", "word", A((x) => truncated(x, -(2 ** 31), 2 ** 31 - 1) >>> 0)],
  ["v_cvt_u32_f64_e32 v8, v[4:5]", "word", A((x) => truncated(x, 0, 2 ** 32 - 1))],
  ["v_cvt_f32_f64_e32 v8, v[4:5]", "single", A((x) => x)],
  ["v_cvt_f64_f32_e32 v[8:9], v4", "double", (a) => f32(a)],
  ["v_cvt_f64_i32_e32 v[8:9], v4", "double", (a) => i32(a)],
  ["v_cvt_f64_u32_e32 v[8:9], v4", "double", (a) => a],
  // Approximations of doubles need refinement: what they start from.
  ["v_rcp_f64_e32 v[8:9], v[4:5]", "double", A((x) => (normal(x) && normal(1 / x) ? 1 / x : undefined)), 2 ** 30],
  ["v_rsq_f64_e32 v[8:9], v[4:5]", "double", A((x) => (normal(x) ? 1 / Math.sqrt(x) : undefined)), 2 ** 30],
  ["v_sqrt_f64_e32 v[8:9], v[4:5]", "double", A((x) => (normal(x) ? Math.sqrt(x) : undefined)), 2 ** 30],
  ["v_div_fixup_f64 v[8:9], v[4:5], v[6:7], v[4:5]", "double", AB((x, y) => quotient(y, x))],
  ["v_div_fixup_f32 v8, v4, v5, v6", "single", (_a, b, c) => quotient(f32(b), f32(c))],
  ["v_cos_f32_e32 v8, v4", "single", (a) => (Math.abs(f32(a)) <= 256 ? cosTurns(f32(a)) : undefined), 1],
  [
    "v_sin_f32_e32 v8, v4",
    "single",
    (a) => (Math.abs(f32(a)) <= 256 && Math.abs(f32(a)) > 2 ** -100 ? sinTurns(f32(a)) : undefined),
    1,
  ],
  ["v_frexp_mant_f32_e32 v8, v4", "single", (a) => (Number.isFinite(f32(a)) ? mantissa(f32(a)) : f32(a))],
  [
    "v_fma_legacy_f32 v8, v4, v5, v6",
    "single",
    (a, b, c) => (f32(a) === 0 || f32(b) === 0 ? 0 + f32(c) : fma(f32(a), f32(b), f32(c), 24, -149, 128)),
  ],
  [
    "v_fmac_legacy_f32 v8, v4, v5",
    "single",
    (a, b) => (f32(a) === 0 || f32(b) === 0 ? f32(0x5a5a5a5a) : fma(f32(a), f32(b), f32(0x5a5a5a5a), 24, -149, 128)),
  ],
  ["v_cvt_off_f32_i4_e32 v8, v4", "single", (a) => ((a << 28) >> 28) / 16],

  ["v_ceil_f16_e32 v8, v4", "half", H(Math.ceil)],
  ["v_trunc_f16_e32 v8, v4", "half", H(Math.trunc)],
  ["v_rndne_f16_e32 v8, v4", "half", H((x) => (Number.isFinite(x) ? even(x) : x))],
  ["v_fract_f16_e32 v8, v4", "half", H((x) => Math.min(x - Math.floor(x), 1 - 2 ** -11))],
  ["v_frexp_mant_f16_e32 v8, v4", "half", H((x) => (Number.isFinite(x) ? mantissa(x) : x))],
  ["v_frexp_exp_i16_f16_e32 v8, v4", "word", (a) => pack(exponent(half(a)), 0x5a5a)],
  ["v_cvt_f16_i16_e32 v8, v4", "half", (a) => s16(a)],
  ["v_cvt_i16_f16_e32 v8, v4", "word", (a) => pack(truncated(half(a), -32768, 32767), 0x5a5a)],
  ["v_cvt_norm_i16_f16_e32 v8, v4", "word", (a) => pack(snorm(half(a)), 0x5a5a)],
  ["v_cvt_norm_u16_f16_e32 v8, v4", "word", (a) => pack(unorm(half(a)), 0x5a5a)],
  ["v_rcp_f16_e32 v8, v4", "half", H((x) => 1 / x), 1],
  ["v_sqrt_f16_e32 v8, v4", "half", H(Math.sqrt), 1],
  ["v_rsq_f16_e32 v8, v4", "half", H((x) => 1 / Math.sqrt(x)), 1],
  ["v_log_f16_e32 v8, v4", "half", H(Math.log2), 1],
  ["v_exp_f16_e32 v8, v4", "half", H((x) => 2 ** x), 1],
  ["v_sin_f16_e32 v8, v4", "half", (a) => (Math.abs(half(a)) <= 256 ? sinTurns(half(a)) : undefined), 1],
  ["v_cos_f16_e32 v8, v4", "half", (a) => (Math.abs(half(a)) <= 256 ? cosTurns(half(a)) : undefined), 1],
  ["v_subrev_f16_e32 v8, v4, v5", "half", HH((x, y) => y - x)],
  ["v_min_f16_e32 v8, v4, v5", "half", HH(min)],
  ["v_ldexp_f16_e32 v8, v4, v5", "half", (a, b) => half(a) * 2 ** clamp(s16(b), -100, 100)],
  ["v_fmac_f16_e32 v8, v4, v5", "half", HH((x, y) => fmaHalf(x, y, half(0x5a5a)))],
  ["v_fmamk_f16 v8, v4, 0x3800, v5", "half", HH((x, y) => fmaHalf(x, 0.5, y))],
  ["v_fmaak_f16 v8, v4, v5, 0x3800", "half", HH((x, y) => fmaHalf(x, y, 0.5))],
  ["v_min3_f16 v8, v4, v5, v6", "half", HHH((x, y, z) => min(min(x, y), z))],
  ["v_max3_f16 v8, v4, v5, v6", "half", HHH((x, y, z) => max(max(x, y), z))],
  ["v_med3_f16 v8, v4, v5, v6", "half", HHH(med)],

  ["v_sub_nc_u16 v8, v4, v5", "word", (a, b) => pack(a - b, 0x5a5a)],
  ["v_mul_lo_u16 v8, v4, v5", "word", (a, b) => pack(Math.imul(u16(a), u16(b)), 0x5a5a)],
  ["v_ashrrev_i16 v8, v4, v5", "word", (a, b) => pack(s16(b) >> (a & 15), 0x5a5a)],
  ["v_lshlrev_b16 v8, v4, v5", "word", (a, b) => pack(b << (a & 15), 0x5a5a)],
  ["v_max_u16 v8, v4, v5", "word", (a, b) => pack(Math.max(u16(a), u16(b)), 0x5a5a)],
  ["v_min_u16 v8, v4, v5", "word", (a, b) => pack(Math.min(u16(a), u16(b)), 0x5a5a)],
  ["v_max_i16 v8, v4, v5", "word", (a, b) => pack(Math.max(s16(a), s16(b)), 0x5a5a)],
  ["v_add_nc_i16 v8, v4, v5", "word", (a, b) => pack(a + b, 0x5a5a)],
  ["v_sub_nc_i16 v8, v4, v5", "word", (a, b) => pack(a - b, 0x5a5a)],
  ["v_add_nc_i16 v8, v4, v5 clamp", "word", (a, b) => pack(clamp(s16(a) + s16(b), -32768, 32767), 0x5a5a)],
  ["v_sub_nc_i16 v8, v4, v5 clamp", "word", (a, b) => pack(clamp(s16(a) - s16(b), -32768, 32767), 0x5a5a)],
  ["v_add_nc_u16 v8, v4, v5 clamp", "word", (a, b) => pack(clamp(u16(a) + u16(b), 0, 65535), 0x5a5a)],
  ["v_sub_nc_u16 v8, v4, v5 clamp", "word", (a, b) => pack(clamp(u16(a) - u16(b), 0, 65535), 0x5a5a)],
  ["v_mad_u16 v8, v4, v5, v6 clamp", "word", (a, b, c) => pack(clamp(u16(a) * u16(b) + u16(c), 0, 65535), 0x5a5a)],
  ["v_mad_i16 v8, v4, v5, v6 clamp", "word", (a, b, c) => pack(clamp(s16(a) * s16(b) + s16(c), -32768, 32767), 0x5a5a)],
  ["v_mad_u32_u16 v8, v4, v5, v6 clamp", "word", (a, b, c) => clamp(u16(a) * u16(b) + c, 0, 2 ** 32 - 1)],
  [
    "v_mad_i32_i16 v8, v4, v5, v6 clamp",
    "word",
    (a, b, c) => clamp(s16(a) * s16(b) + i32(c), -(2 ** 31), 2 ** 31 - 1) >>> 0,
  ],
  ["v_med3_i16 v8, v4, v5, v6 clamp", "word", (a, b, c) => pack(median(s16(a), s16(b), s16(c)), 0x5a5a)],
  ["v_sad_u8 v8, v4, v5, v6 clamp", "word", (a, b, c) => clamp(total(differences(a, b)) + c, 0, 2 ** 32 - 1)],
  ["v_sad_u32 v8, v4, v5, v6 clamp", "word", (a, b, c) => clamp(Math.abs(a - b) + c, 0, 2 ** 32 - 1)],
  ["v_min3_i16 v8, v4, v5, v6", "word", (a, b, c) => pack(Math.min(s16(a), s16(b), s16(c)), 0x5a5a)],
  ["v_max3_i16 v8, v4, v5, v6", "word", (a, b, c) => pack(Math.max(s16(a), s16(b), s16(c)), 0x5a5a)],
  ["v_med3_i16 v8, v4, v5, v6", "word", (a, b, c) => pack(median(s16(a), s16(b), s16(c)), 0x5a5a)],
  ["v_min3_u16 v8, v4, v5, v6", "word", (a, b, c) => pack(Math.min(u16(a), u16(b), u16(c)), 0x5a5a)],
  ["v_max3_u16 v8, v4, v5, v6", "word", (a, b, c) => pack(Math.max(u16(a), u16(b), u16(c)), 0x5a5a)],
  ["v_med3_u16 v8, v4, v5, v6", "word", (a, b, c) => pack(median(u16(a), u16(b), u16(c)), 0x5a5a)],
  ["v_mad_i16 v8, v4, v5, v6", "word", (a, b, c) => pack(Math.imul(s16(a), s16(b)) + s16(c), 0x5a5a)],
  ["v_mad_i32_i16 v8, v4, v5, v6", "word", (a, b, c) => (Math.imul(s16(a), s16(b)) + c) >>> 0],
  ["v_sub_nc_i32 v8, v4, v5", "word", (a, b) => (a - b) >>> 0],
  ["v_sub_nc_i32 v8, v4, v5 clamp", "word", (a, b) => clamp(i32(a) - i32(b), -(2 ** 31), 2 ** 31 - 1) >>> 0],
  ["v_min3_u32 v8, v4, v5, v6", "word", (a, b, c) => Math.min(a, b, c)],
  ["v_max3_i32 v8, v4, v5, v6", "word", (a, b, c) => Math.max(i32(a), i32(b), i32(c)) >>> 0],

  ["v_cvt_pknorm_i16_f32 v8, v4, v5", "word", (a, b) => pack(snorm(f32(a)), snorm(f32(b)))],
  ["v_cvt_pknorm_u16_f32 v8, v4, v5", "word", (a, b) => pack(unorm(f32(a)), unorm(f32(b)))],
  ["v_cvt_pknorm_i16_f16 v8, v4, v5", "word", HH((x, y) => pack(snorm(x), snorm(y)))],
  ["v_cvt_pknorm_u16_f16 v8, v4, v5", "word", HH((x, y) => pack(unorm(x), unorm(y)))],
  ["v_cvt_pk_u16_u32 v8, v4, v5", "word", (a, b) => pack(Math.min(a, 65535), Math.min(b, 65535))],
  ["v_cvt_pk_i16_i32 v8, v4, v5", "word", (a, b) => pack(clamp(i32(a), -32768, 32767), clamp(i32(b), -32768, 32767))],
  ["v_cvt_pkrtz_f16_f32_e32 v8, v4, v5", "word", (a, b) => pack(halfDown(f32(a)), halfDown(f32(b)))],
  [
    "v_trunc_f32_e32 v12, v4\nv_cvt_pk_u8_f32 v8, v12, v5, v6",
    "word",
    (a, b, c) => ((c & ~(255 << (8 * (b & 3)))) | (truncated(f32(a), 0, 255) << (8 * (b & 3)))) >>> 0,
  ],
  [
    "v_lerp_u8 v8, v4, v5, v6",
    "word",
    (a, b, c) =>
      bytes(a).reduce(
        (sum, x, i) => sum + ((x + (bytes(b)[i] as number) + ((bytes(c)[i] as number) & 1)) >> 1) * 2 ** (8 * i),
        0,
      ),
  ],
  ["v_sad_u8 v8, v4, v5, v6", "word", (a, b, c) => (total(differences(a, b)) + c) >>> 0],
  ["v_sad_hi_u8 v8, v4, v5, v6", "word", (a, b, c) => (total(differences(a, b)) * 65536 + c) >>> 0],
  [
    "v_sad_u16 v8, v4, v5, v6",
    "word",
    (a, b, c) => (Math.abs(u16(a) - u16(b)) + Math.abs((a >>> 16) - (b >>> 16)) + c) >>> 0,
  ],
  [
    "v_msad_u8 v8, v4, v5, v6",
    "word",
    (a, b, c) => (total(differences(a, b).filter((_, i) => bytes(b)[i] !== 0)) + c) >>> 0,
  ],
  ["v_cubeid_f32 v8, v4, v5, v6", "single", onCube(0)],
  ["v_cubesc_f32 v8, v4, v5, v6", "single", onCube(1)],
  ["v_cubetc_f32 v8, v4, v5, v6", "single", onCube(2)],
  ["v_cubema_f32 v8, v4, v5, v6", "single", onCube(3)],
  [
    "v_mov_b32_e32 v12, v5\nv_mov_b32_e32 v13, v6\ns_mov_b32 m0, 1\nv_movrels_b32_e32 v8, v12",
    "word",
    (_a, _b, c) => c,
  ],
  ["s_mov_b32 m0, 2\nv_movreld_b32_e32 v6, v4\nv_mov_b32_e32 v9, 0", "word", (a) => a],
];

/** Place of a float's bits on the line of all floats. */
const place = (bits: bigint, width: number) =>
  bits >> BigInt(width - 1) ? -(bits & ((1n << BigInt(width - 1)) - 1n)) : bits;

function matches([, kind, , close = 0]: Row, want: number, value: number, second: number): boolean {
  if (kind === "word") return value === want;
  if (kind === "half" && value >>> 16 !== 0x5a5a) return false;
  const got = kind === "half" ? half(value) : kind === "single" ? f32(value) : double(value, second);
  if (Number.isNaN(want)) return Number.isNaN(got);
  if (kind === "double") {
    if (close === 0) return Object.is(got, want);
    return Object.is(got, want) || Math.abs(got - want) <= Math.abs(want) * close * 2 ** -52;
  }
  const [wanted, width] = kind === "half" ? [halfBits(want), 16] : [bitsOf(Math.fround(want)), 32];
  const bits = kind === "half" ? value & 0xffff : value;
  if (bits === wanted) return true;
  const apart = place(BigInt(bits), width) - place(BigInt(wanted), width);
  return close > 0 && apart <= BigInt(close) && -apart <= BigInt(close);
}

describe.skipIf(!oracle("llvm-mc-19"))("VALU, the rest", () => {
  const words = inputs();
  const results = oracle("llvm-mc-19")
    ? runBodies(
        "vector",
        table.map(([body]) => body),
        words,
      )
    : [];
  it.each(table.map(([body], i) => [body, i] as const))("%s", (_, i) => {
    const row = table[i] as Row;
    let tried = 0;
    for (let t = 0; t < TRIES; t++) {
      const operands = words.subarray(4 * t, 4 * t + 4) as unknown as Operands;
      const want = row[2](...operands);
      if (want === undefined) continue;
      tried++;
      const { value, second } = results[i]![t]!;
      if (matches(row, want, value, second)) continue;
      expect([[...operands].map((x) => x.toString(16)), value.toString(16), second.toString(16)]).toEqual([
        [...operands].map((x) => x.toString(16)),
        want,
      ]);
    }
    expect(tried).toBeGreaterThan(50);
  });
});
