import { describe, expect, it } from "vitest";
import { assemble, assumedRounds, countInstructions } from "../../src/isa/index.ts";

/** Cycles of a program. Latencies of the model: scalar loads 140, LDS 64, vector loads 300, samples 400, stores 300. */
function cycles(text: string): number {
  const result = assemble(text);
  if (!result.ok) throw new Error(result.mistakes.map((m) => `${m.line}: ${m.message}`).join("\n"));
  return countInstructions(result.words).estimatedCycles;
}

describe("estimatedCycles", () => {
  it("is the issue cycles where nothing is waited for: 1, of transcendentals and 32-bit products 4, of doubles 16", () => {
    expect(cycles("s_mov_b32 s0, 1\nv_mov_b32 v0, v1\ns_endpgm")).toBe(3);
    expect(cycles("v_rcp_f32 v0, v1\nv_mul_lo_u32 v0, v1, v2\nv_add_f64 v[0:1], v[2:3], v[4:5]")).toBe(4 + 4 + 16);
    expect(cycles("s_barrier")).toBe(1 + 32);
  });

  it("is what is missing at a wait, for what was computed meanwhile", () => {
    const load = "global_load_dword v2, v0, s[2:3]";
    const wait = "s_waitcnt vmcnt(0)";
    // The load issues in the first cycle and is ready 300 behind it; waits issue themselves, unseen meanwhile.
    expect(cycles(`${load}\n${wait}`)).toBe(301);
    expect(cycles(`${load}\nv_rcp_f32 v0, v1\nv_rcp_f32 v0, v1\n${wait}`)).toBe(301);
    const many = "v_add_f64 v[4:5], v[4:5], v[4:5]\n".repeat(20);
    expect(cycles(`${load}\n${many}${wait}`)).toBe(1 + 320 + 1);
  });

  it("lets loads overlap, and leaves those alone that a wait leaves outstanding", () => {
    const loads = (n: number) => "buffer_load_dword v1, v0, s[4:7], 0 offen\n".repeat(n);
    expect(cycles(`${loads(3)}s_waitcnt vmcnt(0)`)).toBe(303);
    expect(cycles(`${loads(3)}s_waitcnt vmcnt(2)`)).toBe(301);
    expect(cycles(`${loads(3)}s_waitcnt vmcnt(3)`)).toBe(4);
    expect(cycles(`${loads(3)}s_waitcnt vmcnt(2)\ns_waitcnt vmcnt(1)\ns_waitcnt vmcnt(0)`)).toBe(303 + 0);
  });

  it("counts each counter by itself", () => {
    const scalar = "s_load_dword s8, s[2:3], 0x10";
    expect(cycles(`${scalar}\nds_read_b32 v0, v1\ns_waitcnt lgkmcnt(0)`)).toBe(141);
    expect(cycles("ds_read_b32 v0, v1\ns_waitcnt vmcnt(0)")).toBe(2);
    expect(cycles("ds_read_b32 v0, v1\ns_waitcnt lgkmcnt(0)")).toBe(65);
    const sample = "image_sample v[0:3], v[4:5], s[4:11], s[12:15] dmask:0xf dim:SQ_RSRC_IMG_2D";
    expect(cycles(`${sample}\ns_waitcnt vmcnt(0)`)).toBe(401);
    const store = "global_store_dword v0, v1, s[2:3]";
    expect(cycles(`${store}\ns_waitcnt vmcnt(0)`)).toBe(2);
    expect(cycles(`${store}\ns_waitcnt_vscnt null, 0x0`)).toBe(301);
  });

  /** A loop of `body` v_mov, a step, a test at its end: `body` + 3 cycles a round. */
  const loop = (start: string, step: string, test: string, body = 7) =>
    `${start}\nL:\n${"v_mov_b32 v0, v1\n".repeat(body)}${step}\n${test} L\ns_endpgm`;

  it.each([
    ["s_mov_b32 s8, 0", "s_add_i32 s8, s8, 1", "s_cmp_lt_i32 s8, 10\ns_cbranch_scc1", 10],
    ["s_mov_b32 s8, 0", "s_add_i32 s8, s8, 1", "s_cmp_ge_i32 s8, 10\ns_cbranch_scc0", 10],
    ["s_mov_b32 s8, 0", "s_add_u32 s8, s8, 3", "s_cmp_le_u32 s8, 9\ns_cbranch_scc1", 4],
    ["s_movk_i32 s8, 0x64", "s_add_i32 s8, s8, -2", "s_cmp_gt_i32 s8, 0\ns_cbranch_scc1", 50],
    ["s_movk_i32 s8, 0x64", "s_addk_i32 s8, 0x64", "s_cmp_lg_u32 s8, 0x3e8\ns_cbranch_scc1", 9],
    ["s_mov_b32 s8, 0", "s_add_i32 s8, s8, 1", "s_cmp_gt_i32 16, s8\ns_cbranch_scc1", 16],
    // At least the first round.
    ["s_mov_b32 s8, 20", "s_add_i32 s8, s8, 1", "s_cmp_lt_i32 s8, 10\ns_cbranch_scc1", 1],
    // A bound in a register, a step of another register, a counter from a register, one that never gets there.
    ["s_mov_b32 s8, 0", "s_add_i32 s8, s8, 1", "s_cmp_lt_i32 s8, s9\ns_cbranch_scc1", assumedRounds],
    ["s_mov_b32 s8, 0", "s_add_i32 s9, s9, 1", "s_cmp_lt_i32 s8, 10\ns_cbranch_scc1", assumedRounds],
    ["s_mov_b32 s8, s9", "s_add_i32 s8, s8, 1", "s_cmp_lt_i32 s8, 10\ns_cbranch_scc1", assumedRounds],
    ["s_mov_b32 s8, 0", "s_add_i32 s8, s8, 3", "s_cmp_lg_u32 s8, 10\ns_cbranch_scc1", assumedRounds],
    ["s_mov_b32 s8, 0", "s_add_i32 s8, s8, 1", "v_cmp_lt_i32 vcc_lo, v0, v1\ns_cbranch_vccnz", assumedRounds],
  ] as const)("goes round from %s by %s while %s: %i times", (start, step, test, rounds) => {
    expect(cycles(loop(start, step, test))).toBe(1 + 10 * rounds + 1);
  });

  it("knows the rounds of a loop that tests at its start", () => {
    // 5 + 1 tests would run; what stands in the loop counts 5 times.
    const text = `s_mov_b32 s8, 0
H:
s_cmp_lt_u32 s8, 5
s_cbranch_scc0 X
v_mov_b32 v0, v1
s_add_u32 s8, s8, 1
s_branch H
X:
s_endpgm`;
    expect(cycles(text)).toBe(1 + 5 * 5 + 1);
  });

  it("multiplies the rounds of loops in loops, and adds those side by side", () => {
    const inner = `s_mov_b32 s9, 0
I:
v_mov_b32 v0, v1
s_add_i32 s9, s9, 1
s_cmp_lt_i32 s9, 3
s_cbranch_scc1 I
`;
    // Inner: 1 + 3 * 4 = 13.
    const outer = `s_mov_b32 s8, 0
O:
${inner}${inner.replaceAll("I", "J")}s_add_i32 s8, s8, 1
s_cmp_lt_i32 s8, 4
s_cbranch_scc1 O
s_endpgm`;
    expect(cycles(outer)).toBe(1 + 4 * (13 + 13 + 3) + 1);
  });

  it("counts the wait in a loop for what was loaded in front of it once", () => {
    const text = `s_load_dword s4, s[2:3], 0x10
s_mov_b32 s8, 0
L:
s_waitcnt lgkmcnt(0)
s_add_i32 s8, s8, 1
s_cmp_lt_i32 s8, 10
s_cbranch_scc1 L
s_endpgm`;
    // The scalar is there in cycle 141, 138 behind the first wait, which is the third instruction.
    expect(cycles(text)).toBe(2 + 138 + 10 * 4 + 1);
  });

  it("weighs waits in loops with them", () => {
    const text = `s_mov_b32 s8, 0
L:
ds_read_b32 v0, v1
s_waitcnt lgkmcnt(0)
s_add_i32 s8, s8, 1
s_cmp_lt_i32 s8, 10
s_cbranch_scc1 L
s_endpgm`;
    expect(cycles(text)).toBe(1 + 10 * (65 + 3) + 1);
  });
});
