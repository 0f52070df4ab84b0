import { describe, expect, it } from "vitest";
import { oracle } from "../oracles.ts";
import { inputs, runBodies, TRIES } from "./opcode-rig.ts";

const i32 = (x: number) => x | 0;
const u64 = (x: bigint) => BigInt.asUintN(64, x);
const s64 = (x: bigint) => BigInt.asIntN(64, x);
const count = (x: bigint) => [...x.toString(2)].filter((c) => c === "1").length;
const reverse = (x: number) => Number.parseInt([...x.toString(2).padStart(32, "0")].reverse().join(""), 2);
const fits = (x: number) => x >= -(2 ** 31) && x < 2 ** 31;
const quads = (x: number, f: (any: boolean) => number, width: number) => {
  let out = 0;
  for (let q = 0; q < 8; q++) out |= f(((x >>> (4 * q)) & 15) !== 0) << (width * q);
  return out >>> 0;
};
const field = (x: bigint, spec: number, mask: number, signed: boolean) => {
  const width = (spec >>> 16) & 127;
  const shifted = x >> BigInt(spec & mask);
  if (width === 0) return 0n;
  return signed ? BigInt.asIntN(Math.min(width, 64), shifted) : BigInt.asUintN(Math.min(width, 64), shifted);
};
const VCC = 0x0f0f3355;

/** `[value, SCC]`; a bigint value is 64-bit; undefined SCC: kept (what s_cmp_eq_u32 0, 0 before it set: 1). */
type Meaning = (a: number, b: number, A: bigint, B: bigint) => readonly [number | bigint, boolean?];
const nz = (x: number): readonly [number, boolean] => [x >>> 0, x >>> 0 !== 0];
const nz64 = (x: bigint): readonly [bigint, boolean] => [u64(x), u64(x) !== 0n];

/** s12, s13 are a, b; s[12:13] is A, s[14:15] is B. Result s20 or s[20:21]. */
const table: readonly (readonly [string, Meaning])[] = [
  ["s_mov_b32 s20, s12", (a) => [a]],
  ["s_mov_b64 s[20:21], s[12:13]", (_a, _b, A) => [A]],
  ["s_mov_b64 s[20:21], -7", () => [u64(-7n)]],
  ["s_mov_b32 s20, 0x12345678", () => [0x12345678]],
  ["s_movk_i32 s20, 0x8000", () => [0xffff8000]],
  ["s_not_b32 s20, s12", (a) => nz(~a)],
  ["s_not_b64 s[20:21], s[12:13]", (_a, _b, A) => nz64(~A)],
  ["s_brev_b32 s20, s12", (a) => [reverse(a)]],
  ["s_bcnt0_i32_b32 s20, s12", (a) => nz(32 - count(BigInt(a)))],
  ["s_bcnt1_i32_b32 s20, s12", (a) => nz(count(BigInt(a)))],
  ["s_bcnt1_i32_b64 s20, s[12:13]", (_a, _b, A) => nz(count(A))],
  ["s_ff1_i32_b32 s20, s12", (a) => [a === 0 ? 0xffffffff : 31 - Math.clz32(a & -a)]],
  ["s_ff0_i32_b32 s20, s12", (a) => [~a === 0 ? 0xffffffff : 31 - Math.clz32(~a & -~a)]],
  ["s_ff1_i32_b64 s20, s[12:13]", (_a, _b, A) => [A === 0n ? 0xffffffff : count((A & -A) - 1n)]],
  ["s_flbit_i32_b32 s20, s12", (a) => [a === 0 ? 0xffffffff : Math.clz32(a)]],
  ["s_flbit_i32 s20, s12", (a) => [a === 0 || a === 0xffffffff ? 0xffffffff : Math.clz32(i32(a) < 0 ? ~a : a)]],
  ["s_sext_i32_i8 s20, s12", (a) => [((a << 24) >> 24) >>> 0]],
  ["s_sext_i32_i16 s20, s12", (a) => [((a << 16) >> 16) >>> 0]],
  ["s_bitset1_b32 s20, s12", (a) => [(0x5a5a5a5a | (1 << (a & 31))) >>> 0]],
  ["s_bitset0_b32 s20, s12", (a) => [(0x5a5a5a5a & ~(1 << (a & 31))) >>> 0]],
  ["s_abs_i32 s20, s12", (a) => nz(Math.abs(i32(a)))],
  ["s_wqm_b32 s20, s12", (a) => nz(quads(a, (any) => (any ? 15 : 0), 4))],
  ["s_quadmask_b32 s20, s12", (a) => nz(quads(a, (any) => (any ? 1 : 0), 1))],
  ["s_add_u32 s20, s12, s13", (a, b) => [(a + b) >>> 0, a + b >= 2 ** 32]],
  ["s_sub_u32 s20, s12, s13", (a, b) => [(a - b) >>> 0, a < b]],
  ["s_add_i32 s20, s12, s13", (a, b) => [(a + b) >>> 0, !fits(i32(a) + i32(b))]],
  ["s_sub_i32 s20, s12, s13", (a, b) => [(a - b) >>> 0, !fits(i32(a) - i32(b))]],
  ["s_addc_u32 s20, s12, s13", (a, b) => [(a + b + 1) >>> 0, a + b + 1 >= 2 ** 32]],
  ["s_subb_u32 s20, s12, s13", (a, b) => [(a - b - 1) >>> 0, a - b - 1 < 0]],
  ["s_min_i32 s20, s12, s13", (a, b) => [Math.min(i32(a), i32(b)) >>> 0, i32(a) < i32(b)]],
  ["s_min_u32 s20, s12, s13", (a, b) => [Math.min(a, b), a < b]],
  ["s_max_i32 s20, s12, s13", (a, b) => [Math.max(i32(a), i32(b)) >>> 0, i32(a) > i32(b)]],
  ["s_max_u32 s20, s12, s13", (a, b) => [Math.max(a, b), a > b]],
  ["s_cselect_b32 s20, s12, s13", (a) => [a]],
  ["s_and_b32 s20, s12, s13", (a, b) => nz(a & b)],
  ["s_and_b64 s[20:21], s[12:13], s[14:15]", (_a, _b, A, B) => nz64(A & B)],
  ["s_or_b32 s20, s12, s13", (a, b) => nz(a | b)],
  ["s_xor_b64 s[20:21], s[12:13], s[14:15]", (_a, _b, A, B) => nz64(A ^ B)],
  ["s_andn2_b32 s20, s12, s13", (a, b) => nz(a & ~b)],
  ["s_orn2_b32 s20, s12, s13", (a, b) => nz(a | ~b)],
  ["s_nand_b32 s20, s12, s13", (a, b) => nz(~(a & b))],
  ["s_nor_b32 s20, s12, s13", (a, b) => nz(~(a | b))],
  ["s_xnor_b32 s20, s12, s13", (a, b) => nz(~(a ^ b))],
  ["s_lshl_b32 s20, s12, s13", (a, b) => nz(a << b)],
  ["s_lshr_b32 s20, s12, s13", (a, b) => nz(a >>> b)],
  ["s_ashr_i32 s20, s12, s13", (a, b) => nz(a >> b)],
  ["s_lshl_b64 s[20:21], s[12:13], s14", (_a, _b, A, B) => nz64(A << (B & 63n))],
  ["s_lshr_b64 s[20:21], s[12:13], s14", (_a, _b, A, B) => nz64(A >> (B & 63n))],
  ["s_ashr_i64 s[20:21], s[12:13], s14", (_a, _b, A, B) => nz64(s64(A) >> (B & 63n))],
  ["s_bfm_b32 s20, s12, s13", (a, b) => [(((1 << (a & 31)) - 1) << b) >>> 0]],
  ["s_mul_i32 s20, s12, s13", (a, b) => [Math.imul(a, b) >>> 0]],
  ["s_mul_hi_u32 s20, s12, s13", (a, b) => [Number((BigInt(a) * BigInt(b)) >> 32n)]],
  ["s_mul_hi_i32 s20, s12, s13", (a, b) => [Number(BigInt.asUintN(32, (BigInt(i32(a)) * BigInt(i32(b))) >> 32n))]],
  ["s_bfe_u32 s20, s12, s13", (a, b) => nz(Number(BigInt.asUintN(32, field(BigInt(a), b, 31, false))))],
  ["s_bfe_i32 s20, s12, s13", (a, b) => nz(Number(BigInt.asUintN(32, field(BigInt(i32(a)), b, 31, true))))],
  ["s_bfe_u64 s[20:21], s[12:13], s14", (_a, _b, A, B) => nz64(field(A, Number(B & 0xffffffffn), 63, false))],
  ["s_absdiff_i32 s20, s12, s13", (a, b) => nz(Math.abs(i32(i32(a) - i32(b))))],
  ["s_lshl2_add_u32 s20, s12, s13", (a, b) => [(a * 4 + b) >>> 0, a * 4 + b >= 2 ** 32]],
  ["s_pack_ll_b32_b16 s20, s12, s13", (a, b) => [((a & 0xffff) | (b << 16)) >>> 0]],
  ["s_pack_lh_b32_b16 s20, s12, s13", (a, b) => [((a & 0xffff) | (b & 0xffff0000)) >>> 0]],
  ["s_pack_hh_b32_b16 s20, s12, s13", (a, b) => [((a >>> 16) | (b & 0xffff0000)) >>> 0]],
  ["s_cmp_lt_i32 s12, s13", (a, b) => [0x5a5a5a5a, i32(a) < i32(b)]],
  ["s_cmp_le_i32 s12, s13", (a, b) => [0x5a5a5a5a, i32(a) <= i32(b)]],
  ["s_cmp_gt_u32 s12, s13", (a, b) => [0x5a5a5a5a, a > b]],
  ["s_cmp_ge_u32 s12, s13", (a, b) => [0x5a5a5a5a, a >= b]],
  ["s_cmp_lg_u32 s12, s13", (a, b) => [0x5a5a5a5a, a !== b]],
  ["s_cmp_eq_u64 s[12:13], s[14:15]", (_a, _b, A, B) => [0x5a5a5a5a, A === B]],
  ["s_bitcmp1_b32 s12, s13", (a, b) => [0x5a5a5a5a, ((a >>> b) & 1) === 1]],
  ["s_cmpk_lt_i32 s12, 0x8000", (a) => [0x5a5a5a5a, i32(a) < -32768]],
  ["s_cmpk_ge_u32 s12, 0x8000", (a) => [0x5a5a5a5a, a >= 32768]],
  ["s_addk_i32 s20, 0x7fff", () => [0x5a5a5a5a + 0x7fff, false]],
  ["s_mulk_i32 s20, -3", () => [Math.imul(0x5a5a5a5a, -3) >>> 0]],
  ["s_mov_b32 s20, vcc_lo", () => [VCC]],
  ["s_mov_b32 s20, 1.0", () => [0x3f800000]],
  ["s_add_u32 s20, null, s12", (a) => [a, false]],
  ["s_add_u32 s20, src_scc, s12", (a) => [(a + 1) >>> 0, a + 1 >= 2 ** 32]],
];

describe.skipIf(!oracle("llvm-mc-19"))("SALU", () => {
  const words = inputs();
  const bodies = table.map(([body]) => `s_cmp_eq_u32 0, 0\n${body}`);
  const results = oracle("llvm-mc-19") ? runBodies("scalar", bodies, words) : [];
  it.each(table.map(([body], i) => [body, i] as const))("%s", (_, i) => {
    for (let t = 0; t < TRIES; t++) {
      const [a, b, c, d] = words.subarray(4 * t, 4 * t + 4) as unknown as [number, number, number, number];
      const [want, scc] = table[i]![1](a, b, (BigInt(b) << 32n) | BigInt(a), (BigInt(d) << 32n) | BigInt(c));
      const { value, second, bit } = results[i]![t]!;
      const got = typeof want === "bigint" ? (BigInt(second) << 32n) | BigInt(value) : value;
      if (got !== want || bit !== ((scc ?? true) ? 1 : 0)) {
        expect([a, b, c, d, got, bit]).toEqual([a, b, c, d, want, (scc ?? true) ? 1 : 0]);
      }
    }
  });
});
