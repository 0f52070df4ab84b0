import { beforeAll, describe, expect, it } from "vitest";
import { oracle } from "../oracles.ts";
import { assembleAll } from "./assembler.ts";
import { high, low, Rig } from "./rig.ts";

/** Runs `body` on 32 lanes with v2 = input[lane], result v3 (preset 0x77 + lane), EXEC = `exec` for the body only. */
const kernel = (body: string, exec: string) => `
  v_lshlrev_b32_e32 v1, 2, v0
  global_load_dword v2, v1, s[0:1]
  s_waitcnt vmcnt(0)
  v_add_nc_u32_e32 v3, 0x77, v0
  v_mov_b32_e32 v4, v0
  s_mov_b32 s8, 0
  s_mov_b32 exec_lo, ${exec}
  ${body}
  s_mov_b32 exec_lo, -1
  global_store_dword v1, v3, s[2:3]
  s_endpgm`;

const input = Array.from({ length: 32 }, (_, l) => 1000 + l * l);
const old = (l: number) => 0x77 + l;
const row = (l: number) => l & 16;

type Case = readonly [string, string, (l: number) => number, exec?: string];
const cases: readonly Case[] = [
  [
    "quad_perm",
    "v_mov_b32_dpp v3, v2 quad_perm:[3,0,1,1] row_mask:0xf bank_mask:0xf",
    (l) => input[(l & ~3) | [3, 0, 1, 1][l & 3]!]!,
  ],
  [
    "row_shl",
    "v_mov_b32_dpp v3, v2 row_shl:3 row_mask:0xf bank_mask:0xf",
    (l) => ((l & 15) < 13 ? input[l + 3]! : old(l)),
  ],
  [
    "row_shr bound_ctrl",
    "v_mov_b32_dpp v3, v2 row_shr:2 row_mask:0xf bank_mask:0xf bound_ctrl:1",
    (l) => ((l & 15) >= 2 ? input[l - 2]! : 0),
  ],
  ["row_ror", "v_mov_b32_dpp v3, v2 row_ror:5 row_mask:0xf bank_mask:0xf", (l) => input[row(l) | ((l - 5) & 15)]!],
  ["row_mirror", "v_mov_b32_dpp v3, v2 row_mirror row_mask:0xf bank_mask:0xf", (l) => input[row(l) | (15 - (l & 15))]!],
  [
    "row_half_mirror",
    "v_mov_b32_dpp v3, v2 row_half_mirror row_mask:0xf bank_mask:0xf",
    (l) => input[(l & ~7) | (7 - (l & 7))]!,
  ],
  ["row_share", "v_mov_b32_dpp v3, v2 row_share:6 row_mask:0xf bank_mask:0xf", (l) => input[row(l) | 6]!],
  ["row_xmask", "v_mov_b32_dpp v3, v2 row_xmask:9 row_mask:0xf bank_mask:0xf", (l) => input[l ^ 9]!],
  [
    "row and bank masks",
    "v_mov_b32_dpp v3, v2 row_mirror row_mask:0x2 bank_mask:0x5",
    (l) => (l >= 16 && [0, 2].includes((l >> 2) & 3) ? input[row(l) | (15 - (l & 15))]! : old(l)),
  ],
  ["dpp8", "v_mov_b32_dpp v3, v2 dpp8:[7,6,5,4,0,0,1,2]", (l) => input[(l & ~7) | [7, 6, 5, 4, 0, 0, 1, 2][l & 7]!]!],
  [
    "dpp reads an inactive lane as invalid",
    "v_mov_b32_dpp v3, v2 row_shl:1 row_mask:0xf bank_mask:0xf",
    (l) => (l < 8 && l !== 7 ? input[l + 1]! : old(l)),
    "0xff",
  ],
  [
    "dpp with fi reads an inactive lane",
    "v_mov_b32_dpp v3, v2 row_shl:1 row_mask:0xf bank_mask:0xf fi:1",
    (l) => (l < 8 ? input[l + 1]! : old(l)),
    "0xff",
  ],
  ["dpp add", "v_add_nc_u32_dpp v3, v2, v4 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf", (l) => input[l ^ 1]! + l],
  ["readlane", "v_readlane_b32 s8, v2, 21\n v_mov_b32_e32 v3, s8", () => input[21]!],
  [
    "readfirstlane",
    "v_readfirstlane_b32 s8, v2\n s_mov_b32 exec_lo, -1\n v_mov_b32_e32 v3, s8",
    () => input[5]!,
    "0xfffffe0",
  ],
  ["writelane ignores EXEC", "v_writelane_b32 v3, 99, 30", (l) => (l === 30 ? 99 : old(l)), "1"],
  [
    "permlane16",
    "s_mov_b32 s9, 0x76543210\n s_mov_b32 s10, 0xfedcba98\n v_permlane16_b32 v3, v2, s10, s9",
    (l) => input[row(l) | ((l & 15) ^ 8)]!,
  ],
  [
    "permlanex16",
    "s_mov_b32 s9, 0x76543210\n s_mov_b32 s10, 0xfedcba98\n v_permlanex16_b32 v3, v2, s9, s10",
    (l) => input[l ^ 16]!,
  ],
  [
    "ds_bpermute",
    "v_lshlrev_b32_e32 v5, 2, v4\n v_xor_b32_e32 v5, 0x4c, v5\n ds_bpermute_b32 v3, v5, v2\n s_waitcnt lgkmcnt(0)",
    (l) => input[l ^ 19]!,
  ],
  [
    "ds_bpermute of an inactive lane",
    "v_mov_b32_e32 v5, 0x7c\n ds_bpermute_b32 v3, v5, v2\n s_waitcnt lgkmcnt(0)",
    (l) => (l < 16 ? 0 : old(l)),
    "0xffff",
  ],
  [
    "ds_permute",
    "v_lshlrev_b32_e32 v5, 2, v4\n v_xor_b32_e32 v5, 0x7c, v5\n ds_permute_b32 v3, v5, v2\n s_waitcnt lgkmcnt(0)",
    (l) => input[31 - l]!,
  ],
  [
    "ds_swizzle in 32 lanes",
    'ds_swizzle_b32 v3, v2 offset:swizzle(BITMASK_PERM, "00p1i")\n s_waitcnt lgkmcnt(0)',
    (l) => input[(l & 4) | 2 | ((l & 1) ^ 1)]!,
  ],
  [
    "partial EXEC keeps the other lanes",
    "v_add_nc_u32_e32 v3, v2, v2",
    (l) => ((0x13579 >> l) & 1 ? 2 * input[l]! : old(l)),
    "0x13579",
  ],
  ["empty EXEC does nothing", "v_add_nc_u32_e32 v3, v2, v2", old, "0"],
  [
    "v_cmp gives 0 for inactive lanes",
    "v_cmp_lt_u32_e32 vcc_lo, 0, v2\n s_mov_b32 exec_lo, -1\n v_mov_b32_e32 v3, vcc_lo",
    () => 0xf0,
    "0xf0",
  ],
  ["v_cmpx writes EXEC only", "v_cmpx_lt_u32_e32 10, v4\n v_mov_b32_e32 v3, v2", (l) => (l > 10 ? input[l]! : old(l))],
  ["v_swap", "v_mov_b32_e32 v5, v2\n v_swap_b32 v3, v5\n v_add_nc_u32_e32 v3, v3, v5", (l) => input[l]! + old(l)],
  [
    "sdwa byte select",
    "v_add_nc_u32_sdwa v3, v2, v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:BYTE_0",
    (l) => ((input[l]! >> 8) & 255) + l,
  ],
  [
    "sdwa preserve",
    "v_mov_b32_sdwa v3, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0",
    (l) => (((input[l]! & 0xffff) << 16) | old(l)) >>> 0,
  ],
  ["neg and abs", "v_mov_b32_e32 v5, 0xc0400000\n v_add_f32_e64 v3, |v5|, -v5", () => 0x40c00000],
  ["clamp", "v_mov_b32_e32 v5, 0x40400000\n v_add_f32_e64 v3, v5, v5 clamp", () => 0x3f800000],
  ["clamp turns NaN to 0", "v_mov_b32_e32 v5, 0x7fc00000\n v_add_f32_e64 v3, v5, v5 clamp", () => 0],
  [
    "literal",
    "v_mul_f32_e32 v3, 0x40490fdb, v4",
    (l) =>
      new Uint32Array(
        Float32Array.of(Math.fround(3.1415927410125732 * (l ? new Float32Array(Uint32Array.of(l).buffer)[0]! : 0)))
          .buffer,
      )[0]!,
  ],
  [
    "fmaak",
    "v_cvt_f32_u32_e32 v5, v4\n v_fmaak_f32 v3, v5, v5, 0x3f800000",
    (l) => new Uint32Array(Float32Array.of(l * l + 1).buffer)[0]!,
  ],
  [
    "fmamk",
    "v_cvt_f32_u32_e32 v5, v4\n v_fmamk_f32 v3, v5, 0x40000000, v5",
    (l) => new Uint32Array(Float32Array.of(3 * l).buffer)[0]!,
  ],
  [
    "fmac",
    "v_cvt_f32_u32_e32 v5, v4\n v_mov_b32_e32 v3, 2.0\n v_fmac_f32_e32 v3, v5, v5",
    (l) => new Uint32Array(Float32Array.of(l * l + 2).buffer)[0]!,
  ],
  ["omod only where denormals are flushed", "v_mov_b32_e32 v3, 1.0\n v_add_f32_e64 v3, v3, v3 mul:4", () => 0x40000000],
  [
    "s_denorm_mode lets omod work",
    "s_denorm_mode 12\n v_mov_b32_e32 v3, 1.0\n v_add_f32_e64 v3, v3, v3 mul:4",
    () => 0x41000000,
  ],
  [
    "s_denorm_mode flushes inputs and results",
    "s_denorm_mode 12\n v_mov_b32_e32 v5, 0x00400000\n v_add_f32_e32 v3, v5, v5",
    () => 0,
  ],
  ["s_round_mode up", "s_round_mode 1\n v_mov_b32_e32 v5, 1.0\n v_add_f32_e32 v3, 0x33000000, v5", () => 0x3f800001],
  [
    "packed halves",
    "v_cvt_f16_f32_e32 v5, 1.0\n v_mov_b32_e32 v6, 0x4000\n v_pack_b32_f16 v3, v5, v6",
    () => 0x40003c00,
  ],
  [
    "a 16-bit result keeps the upper half",
    "v_mov_b32_e32 v3, 0xabcd0000\n v_add_nc_u16 v3, v2, v4",
    (l) => (0xabcd0000 | ((input[l]! + l) & 0xffff)) >>> 0,
  ],
  [
    "op_sel picks and writes the high half",
    "v_mov_b32_e32 v3, 0xabcd1111\n v_mov_b32_e32 v5, 0x00050003\n v_add_nc_u16 v3, v5, v5 op_sel:[1,0,1]",
    () => 0x00081111,
  ],
];

describe.skipIf(!oracle("llvm-mc-19"))("lanes, EXEC, modifiers", () => {
  let rig: Rig;
  let kernels: Uint32Array[];
  let from: { va: bigint; physical: number };
  let to: { va: bigint; physical: number };
  beforeAll(() => {
    rig = new Rig();
    kernels = assembleAll(cases.map(([, body, , exec]) => kernel(body, exec ?? "-1")));
    from = rig.alloc(128);
    to = rig.alloc(128);
    rig.u32(from.physical, 32).set(input);
  });
  it.each(cases.map(([name], i) => [name, i] as const))("%s", (_, i) => {
    const user = [from, to].flatMap(({ va }) => [low(va), high(va)]);
    expect(rig.run({ code: rig.code(kernels[i]!), user })).toBeUndefined();
    const want = Array.from({ length: 32 }, (_, l) => cases[i]![2](l) >>> 0);
    expect([...rig.u32(to.physical, 32)]).toEqual(want);
  });
});
