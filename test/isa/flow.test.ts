import { describe, expect, it } from "vitest";
import { assemble, flowGraph, liveRegisters } from "../../src/isa/index.ts";

function words(text: string): Uint32Array {
  const result = assemble(text);
  if (!result.ok) throw new Error(result.mistakes.map((m) => `${m.line}: ${m.message}`).join("\n"));
  return result.words;
}

/** `[vgprs, sgprs]` before each instruction. */
const live = (text: string) => liveRegisters(words(text)).map(({ vgprs, sgprs }) => [vgprs, sgprs]);

// Dwords: 2 1 1 | 2 1 1 1 | 2 1
const loop = `
  s_load_dwordx4 s[4:7], s[2:3], 0x10
  s_mov_b32 s8, 0
  s_waitcnt lgkmcnt(0)
loop:
  buffer_load_dword v1, v0, s[4:7], 0 offen
  s_add_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 4
  s_cbranch_scc1 loop
  buffer_store_dword v1, v0, s[4:7], 0 offen
  s_endpgm
  s_code_end
  s_code_end`;

describe("flowGraph", () => {
  it("splits at branches and their targets, and leaves padding out", () => {
    expect(flowGraph(words(loop))).toEqual({
      blocks: [
        { offset: 0, endOffset: 16 },
        { offset: 16, endOffset: 36 },
        { offset: 36, endOffset: 48 },
      ],
      edges: [
        { from: 0, to: 16 },
        { from: 16, to: 36 },
        { from: 16, to: 16 },
      ],
    });
  });

  it("follows an unconditional branch to its target alone, and an end nowhere", () => {
    const text = `
      s_cbranch_scc0 other
      s_mov_b32 s0, 1
      s_branch join
    other:
      s_mov_b32 s0, 2
    join:
      s_endpgm`;
    expect(flowGraph(words(text)).edges).toEqual([
      { from: 0, to: 4 },
      { from: 0, to: 12 },
      { from: 4, to: 16 },
      { from: 12, to: 16 },
    ]);
  });

  it("takes code of no words, unknown dwords and targets outside", () => {
    expect(flowGraph([])).toEqual({ blocks: [], edges: [] });
    expect(liveRegisters([])).toEqual([]);
    // s_branch 100 dwords on, past the end.
    expect(flowGraph([0xbf820064])).toEqual({ blocks: [{ offset: 0, endOffset: 4 }], edges: [] });
    expect(flowGraph([0xffffffff, 0xbf810000]).blocks).toEqual([{ offset: 0, endOffset: 8 }]);
  });
});

describe("liveRegisters", () => {
  it("counts what a loop carries", () => {
    expect(live(loop)).toEqual([
      // v0; s2, s3
      [1, 2],
      // s4…s7
      [1, 4],
      // and s8
      [1, 5],
      [1, 5],
      // v1 too
      [2, 5],
      [2, 5],
      [2, 5],
      [2, 4],
      [0, 0],
    ]);
    expect(liveRegisters(words(loop)).map(({ offset }) => offset)).toEqual([0, 8, 12, 16, 24, 28, 32, 36, 44]);
  });

  it("keeps what lanes that are off still need", () => {
    // x = 1 in some lanes, 2 in the others; a scalar reading would have the first write dead.
    const text = `
      v_cmp_eq_u32_e32 vcc_lo, 0, v0
      s_and_saveexec_b32 s0, vcc_lo
      v_mov_b32_e32 v1, 1
      s_xor_b32 exec_lo, exec_lo, s0
      v_mov_b32_e32 v1, 2
      s_mov_b32 exec_lo, s0
      global_store_dword v0, v1, s[2:3]
      s_endpgm`;
    expect(live(text)).toEqual([
      [1, 2],
      [1, 2],
      // s0, s2, s3
      [1, 3],
      [2, 3],
      [2, 3],
      [2, 3],
      [2, 2],
      [0, 0],
    ]);
  });

  it("reads wide, tied, implied and scattered operands", () => {
    expect(live("v_fmac_f32_e32 v2, v0, v1\nexp mrt0 v2, off, off, off done vm\ns_endpgm")).toEqual([
      [3, 0],
      [1, 0],
      [0, 0],
    ]);
    expect(live("global_load_dwordx4 v[4:7], v[0:1], off\nglobal_store_dwordx2 v[0:1], v[6:7], off\ns_endpgm")).toEqual(
      [
        [2, 0],
        [4, 0],
        [0, 0],
      ],
    );
    // A coordinate in v9 and one in v2, eight SGPRs of image and four of sampler, two components of result.
    const sample =
      "image_sample v[0:1], [v9, v2], s[8:15], s[4:7] dmask:0x3 dim:SQ_RSRC_IMG_2D\nexp mrt0 v0, v1, off, off done vm\ns_endpgm";
    expect(live(sample)).toEqual([
      [2, 12],
      [2, 0],
      [0, 0],
    ]);
  });

  it("does not count VCC, EXEC, M0 and constants", () => {
    expect(live("s_and_b64 vcc, exec, vcc\ns_mov_b32 m0, 7\nv_cndmask_b32_e32 v0, v0, v0, vcc_lo\ns_endpgm")).toEqual([
      [1, 0],
      [1, 0],
      [1, 0],
      [0, 0],
    ]);
  });
});
