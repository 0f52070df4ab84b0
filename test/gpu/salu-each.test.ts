/** The scalar rows that `salu.test.ts` does not have. */
import { describe, expect, it } from "vitest";
import { oracle } from "../oracles.ts";
import { inputs, runBodies, TRIES } from "./opcode-rig.ts";

const i32 = (x: number) => x | 0;
const u64 = (x: bigint) => BigInt.asUintN(64, x);
const s64 = (x: bigint) => BigInt.asIntN(64, x);
const bitsOf64 = (x: bigint) => [...x.toString(2).padStart(64, "0")].reverse();
const ones = (x: bigint) => bitsOf64(x).filter((c) => c === "1").length;
const KEPT = 0x5a5a5a5a;
const kept64 = BigInt(KEPT);
/** EXEC before the ops that change it. */
const EXEC = 0x0ff0_f00f;
const EXEC_HIGH = 0x9000_0001;
const exec64 = (BigInt(EXEC_HIGH) << 32n) | BigInt(EXEC);

/** `[s20 (and s21), SCC]`; a bigint value is 64-bit; undefined SCC: kept, which is 1. */
type Meaning = (a: number, b: number, A: bigint, B: bigint) => readonly [number | bigint, boolean?];
type Row = readonly [string, Meaning];
const nz64 = (x: bigint): readonly [bigint, boolean] => [u64(x), u64(x) !== 0n];
const nz = (x: number): readonly [number, boolean] => [x >>> 0, x >>> 0 !== 0];
/** A word and, above it, another one. */
const two = (value: number, second: number) => BigInt(value >>> 0) | (BigInt(second >>> 0) << 32n);

const orders: readonly (readonly [string, (x: bigint, y: bigint) => boolean])[] = [
  ["eq", (x, y) => x === y],
  ["lg", (x, y) => x !== y],
  ["gt", (x, y) => x > y],
  ["ge", (x, y) => x >= y],
  ["lt", (x, y) => x < y],
  ["le", (x, y) => x <= y],
];
const compares = orders.flatMap(([name, holds]): Row[] => [
  [`s_cmp_${name}_i32 s12, s13`, (a, b) => [KEPT, holds(BigInt(i32(a)), BigInt(i32(b)))]],
  [`s_cmp_${name}_u32 s12, s13`, (a, b) => [KEPT, holds(BigInt(a), BigInt(b))]],
  [`s_cmpk_${name}_i32 s12, -1`, (a) => [KEPT, holds(BigInt(i32(a)), -1n)]],
  [`s_cmpk_${name}_u32 s12, 0xffff`, (a) => [KEPT, holds(BigInt(a), 0xffffn)]],
]);

/** How EXEC becomes of the source and itself. */
const masks: readonly (readonly [string, (s: bigint, e: bigint) => bigint])[] = [
  ["and", (s, e) => s & e],
  ["or", (s, e) => s | e],
  ["xor", (s, e) => s ^ e],
  ["andn2", (s, e) => s & ~e],
  ["orn2", (s, e) => s | ~e],
  ["nand", (s, e) => ~(s & e)],
  ["nor", (s, e) => ~(s | e)],
  ["xnor", (s, e) => ~(s ^ e)],
  ["andn1", (s, e) => ~s & e],
  ["orn1", (s, e) => ~s | e],
];
const u32 = (x: bigint) => BigInt.asUintN(32, x);
const start = `s_mov_b32 exec_lo, ${EXEC}\ns_mov_b32 exec_hi, 0x${EXEC_HIGH.toString(16)}`;
/** SCC stays through the moves. */
const after32 = "s_mov_b32 s21, exec_lo\ns_mov_b32 exec_lo, -1";
/** s20 is the low word xor the new low one, s21 the same of the high ones. */
const after64 = `s_mov_b64 s[22:23], exec
  s_mov_b32 exec_lo, -1
  s_cselect_b32 s24, 1, 0
  s_xor_b64 s[20:21], s[20:21], s[22:23]
  s_cmp_lg_u32 s24, 0`;
const execs = masks.flatMap(([name, next]): Row[] => [
  [
    `${start}\ns_${name}_saveexec_b32 s20, s12\n${after32}`,
    (a) => {
      const mask = u32(next(BigInt(a), BigInt(EXEC)));
      return [two(EXEC, Number(mask)), mask !== 0n];
    },
  ],
  [
    `${start}\ns_${name}_saveexec_b64 s[20:21], s[12:13]\n${after64}`,
    (_a, _b, A) => {
      const mask = u64(next(A, exec64));
      return [exec64 ^ mask, mask !== 0n];
    },
  ],
]);
const writes = masks
  .filter(([name]) => name === "andn1" || name === "andn2")
  .flatMap(([name, next]): Row[] => [
    [
      `${start}\ns_${name}_wrexec_b32 s20, s12\n${after32}`,
      (a) => {
        const mask = Number(u32(next(BigInt(a), BigInt(EXEC))));
        return [two(mask, mask), mask !== 0];
      },
    ],
    [`${start}\ns_${name}_wrexec_b64 s[20:21], s[12:13]\n${after64}`, (_a, _b, A) => [0n, u64(next(A, exec64)) !== 0n]],
  ]);

const quads = (x: bigint, wide: boolean) => {
  let out = 0n;
  for (let q = 0n; q < 16n; q++) if ((x >> (4n * q)) & 15n) out |= wide ? 15n << (4n * q) : 1n << q;
  return out;
};
const leading = (x: bigint) => 64 - x.toString(2).length;
const fieldOf = (x: bigint, spec: bigint) => {
  const width = Number((spec >> 16n) & 127n);
  return width === 0 ? 0n : BigInt.asIntN(Math.min(width, 64), x >> (spec & 63n));
};
const doubled = (a: number) =>
  bitsOf64(BigInt(a)).reduce((sum, bit, i) => (bit === "1" ? sum | (3n << BigInt(2 * i)) : sum), 0n);
/** A branch over `s_movk_i32 s20, 7`. */
const branch = (before: string, op: string) => `${before}\n${op} 1\ns_movk_i32 s20, 7`;
const taken = (yes: boolean) => (yes ? KEPT : 7);

const table: readonly Row[] = [
  ...compares,
  ...execs,
  ...writes,
  ["s_cmp_lg_u64 s[12:13], s[14:15]", (_a, _b, A, B) => [KEPT, A !== B]],
  ["s_bitcmp0_b32 s12, s13", (a, b) => [KEPT, ((a >>> (b & 31)) & 1) === 0]],
  ["s_bitcmp0_b64 s[12:13], s14", (_a, _b, A, B) => [KEPT, ((A >> (B & 63n)) & 1n) === 0n]],
  ["s_bitcmp1_b64 s[12:13], s14", (_a, _b, A, B) => [KEPT, ((A >> (B & 63n)) & 1n) === 1n]],
  ["s_cmov_b32 s20, s12", (a) => [a]],
  ["s_cmov_b64 s[20:21], s[12:13]", (_a, _b, A) => [A]],
  ["s_cmp_lg_u32 0, 0\ns_cmov_b32 s20, s12", () => [KEPT, false]],
  ["s_cmp_lg_u32 0, 0\ns_cmov_b64 s[20:21], s[12:13]", () => [kept64, false]],
  ["s_cmovk_i32 s20, 0x8000", () => [0xffff8000]],
  ["s_cmp_lg_u32 0, 0\ns_cmovk_i32 s20, 5", () => [KEPT, false]],
  ["s_cselect_b64 s[20:21], s[12:13], s[14:15]", (_a, _b, A) => [A]],
  ["s_cmp_lg_u32 0, 0\ns_cselect_b64 s[20:21], s[12:13], s[14:15]", (_a, _b, _A, B) => [B, false]],
  ["s_wqm_b64 s[20:21], s[12:13]", (_a, _b, A) => nz64(quads(A, true))],
  ["s_quadmask_b64 s[20:21], s[12:13]", (_a, _b, A) => nz64(quads(A, false))],
  ["s_brev_b64 s[20:21], s[12:13]", (_a, _b, A) => [BigInt(`0b${bitsOf64(A).join("")}`)]],
  ["s_bcnt0_i32_b64 s20, s[12:13]", (_a, _b, A) => nz(64 - ones(A))],
  ["s_ff0_i32_b64 s20, s[12:13]", (_a, _b, A) => [bitsOf64(A).indexOf("0") >>> 0]],
  ["s_flbit_i32_b64 s20, s[12:13]", (_a, _b, A) => [A === 0n ? 0xffffffff : leading(A)]],
  [
    "s_flbit_i32_i64 s20, s[12:13]",
    (_a, _b, A) => {
      const plain = s64(A) < 0n ? u64(~A) : A;
      return [plain === 0n ? 0xffffffff : leading(plain)];
    },
  ],
  ["s_bitset0_b64 s[20:21], s12", (a) => [kept64 & ~(1n << BigInt(a & 63))]],
  ["s_bitset1_b64 s[20:21], s12", (a) => [kept64 | (1n << BigInt(a & 63))]],
  ["s_bitreplicate_b64_b32 s[20:21], s12", (a) => [doubled(a)]],
  ["s_mov_b32 m0, 1\ns_movrels_b32 s20, s12", (_a, b) => [b]],
  ["s_mov_b32 m0, 2\ns_movrels_b64 s[20:21], s[12:13]", (_a, _b, _A, B) => [B]],
  ["s_mov_b32 m0, 1\ns_movreld_b32 s19, s12", (a) => [a]],
  ["s_mov_b32 m0, 2\ns_movreld_b64 s[18:19], s[12:13]", (_a, _b, A) => [A]],
  ["s_or_b64 s[20:21], s[12:13], s[14:15]", (_a, _b, A, B) => nz64(A | B)],
  ["s_andn2_b64 s[20:21], s[12:13], s[14:15]", (_a, _b, A, B) => nz64(A & ~B)],
  ["s_orn2_b64 s[20:21], s[12:13], s[14:15]", (_a, _b, A, B) => nz64(A | ~B)],
  ["s_nand_b64 s[20:21], s[12:13], s[14:15]", (_a, _b, A, B) => nz64(~(A & B))],
  ["s_nor_b64 s[20:21], s[12:13], s[14:15]", (_a, _b, A, B) => nz64(~(A | B))],
  ["s_xnor_b64 s[20:21], s[12:13], s[14:15]", (_a, _b, A, B) => nz64(~(A ^ B))],
  ["s_bfm_b64 s[20:21], s12, s13", (a, b) => [u64(((1n << BigInt(a & 63)) - 1n) << BigInt(b & 63))]],
  ["s_bfe_i64 s[20:21], s[12:13], s14", (_a, _b, A, B) => nz64(fieldOf(s64(A), B))],
  ...[1, 3, 4].map(
    (n): Row => [`s_lshl${n}_add_u32 s20, s12, s13`, (a, b) => [(a * 2 ** n + b) % 2 ** 32, a * 2 ** n + b >= 2 ** 32]],
  ),
  ["s_getreg_b32 s20, hwreg(HW_REG_MODE, 0, 8)", () => [0xf0]],
  ["s_version 1\ns_inst_prefetch 3\ns_clause 1\ns_mov_b32 s20, s12", (a) => [a]],
  [
    "s_waitcnt_vmcnt null, 0x0\ns_waitcnt_expcnt null, 0x0\ns_waitcnt_lgkmcnt null, 0x0\ns_wakeup\ns_setprio 1\ns_mov_b32 s20, s13",
    (_a, b) => [b],
  ],
  ["s_getpc_b64 s[20:21]\ns_getpc_b64 s[22:23]\ns_sub_u32 s20, s22, s20\ns_mov_b32 s21, 0", () => [4, false]],
  // The call leads past one instruction; its link is the place of that one.
  [
    "s_getpc_b64 s[22:23]\ns_call_b64 s[20:21], 1\ns_movk_i32 s22, 0\ns_sub_u32 s20, s20, s22\ns_mov_b32 s21, 0",
    () => [4, false],
  ],
  [branch("s_nop 0", "s_branch"), () => [KEPT]],
  [branch("s_cmp_lg_u32 s12, 0", "s_cbranch_scc0"), (a) => [taken(a === 0), a !== 0]],
  [branch("s_cmp_lg_u32 s12, 0", "s_cbranch_scc1"), (a) => [taken(a !== 0), a !== 0]],
  [branch("s_mov_b32 vcc_lo, s12", "s_cbranch_vccz"), (a) => [taken(a === 0)]],
  [branch("s_mov_b32 vcc_lo, s12", "s_cbranch_vccnz"), (a) => [taken(a !== 0)]],
  [`${branch("s_mov_b32 exec_lo, s12", "s_cbranch_execz")}\ns_mov_b32 exec_lo, -1`, (a) => [taken(a === 0)]],
  [`${branch("s_mov_b32 exec_lo, s12", "s_cbranch_execnz")}\ns_mov_b32 exec_lo, -1`, (a) => [taken(a !== 0)]],
];

describe.skipIf(!oracle("llvm-mc-19"))("SALU, the rest", () => {
  const words = inputs();
  const results = oracle("llvm-mc-19")
    ? runBodies(
        "scalar",
        table.map(([body]) => `s_cmp_eq_u32 0, 0\n${body}`),
        words,
      )
    : [];
  it.each(table.map(([body], i) => [body, i] as const))("%s", (_, i) => {
    for (let t = 0; t < TRIES; t++) {
      const [a, b, c, d] = words.subarray(4 * t, 4 * t + 4) as unknown as [number, number, number, number];
      const [want, scc] = table[i]![1](a, b, two(a, b), two(c, d));
      const { value, second, bit } = results[i]![t]!;
      const got = typeof want === "bigint" ? two(value, second) : value;
      if (got !== want || bit !== ((scc ?? true) ? 1 : 0)) {
        expect([a, b, c, d, got, bit]).toEqual([a, b, c, d, want, (scc ?? true) ? 1 : 0]);
      }
    }
  });
});
