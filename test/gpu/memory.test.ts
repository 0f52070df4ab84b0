import { beforeEach, describe, expect, it } from "vitest";
import { bufferResource, Pte, packFields, rawBufferResource } from "../../src/uapi/index.ts";
import { oracle } from "../oracles.ts";
import { assemble } from "./assembler.ts";
import { high, low, Rig } from "./rig.ts";

/** Descriptor set at s[0:1] + 0: V# of the input in s[8:11], of the output in s[12:15]; v1 = lane * 4. */
const prologue = `
  s_load_dwordx8 s[8:15], s[0:1], null
  v_lshlrev_b32_e32 v1, 2, v0
  s_waitcnt lgkmcnt(0)`;

describe.skipIf(!oracle("llvm-mc-19"))("memory", () => {
  let rig: Rig;
  beforeEach(() => {
    rig = new Rig();
  });

  /** Runs the body over an input buffer of `bytes` and answers the output buffer's first dwords. */
  function run(
    body: string,
    bytes: number,
    options: { resource?: number[]; fill?: (i: number) => number; out?: number } = {},
  ) {
    const from = rig.alloc(8192);
    const to = rig.alloc(8192);
    rig.u32(from.physical, 2048).forEach((_, i, words) => {
      words[i] = options.fill?.(i) ?? 1000 + i;
    });
    rig.u32(to.physical, 2048).fill(0xeeeeeeee);
    const set = rig.alloc(4096);
    const resource = options.resource ?? rawBufferResource(from.va, bytes);
    rig
      .u32(set.physical, 8)
      .set([
        ...resource.map((w, i) =>
          i === 0 && options.resource ? low(from.va) : i === 1 && options.resource ? w | (high(from.va) & 0xffff) : w,
        ),
        ...rawBufferResource(to.va, options.out ?? 8192),
      ]);
    const code = rig.code(assemble(`${prologue}\n${body}\ns_endpgm`));
    const fault = rig.run({ code, user: [low(set.va), high(set.va)] });
    return { fault, out: rig.u32(to.physical, 2048), input: rig.u32(from.physical, 2048) };
  }

  it("reads dwords past num_records as 0, each dword of a wide load alone", () => {
    const { fault, out } = run(
      `v_lshlrev_b32_e32 v2, 4, v0
       buffer_load_dwordx4 v[4:7], v2, s[8:11], 0 offen
       s_waitcnt vmcnt(0)
       buffer_store_dwordx4 v[4:7], v2, s[12:15], 0 offen`,
      5 * 16 + 8,
    );
    expect(fault).toBeUndefined();
    for (let i = 0; i < 128; i++) expect(out[i]).toBe(i < 22 ? 1000 + i : 0);
  });

  it("drops stores past num_records", () => {
    const { out } = run(
      `buffer_load_dword v4, v1, s[8:11], 0 offen
       s_waitcnt vmcnt(0)
       buffer_store_dword v4, v1, s[12:15], 0 offen`,
      8192,
      { out: 40 },
    );
    for (let i = 0; i < 64; i++) expect(out[i]).toBe(i < 10 ? 1000 + i : 0xeeeeeeee);
  });

  it("leaves soffset out of the range check but not out of the address", () => {
    const { out } = run(
      `s_movk_i32 s4, 256
       buffer_load_dword v4, v1, s[8:11], s4 offen offset:4
       s_waitcnt vmcnt(0)
       buffer_store_dword v4, v1, s[12:15], 0 offen`,
      64,
    );
    // 64 bytes hold offsets 4..60 of lanes 0..14; data come from 256 bytes further on.
    for (let l = 0; l < 32; l++) expect(out[l]).toBe(l < 15 ? 1000 + 64 + 1 + l : 0);
  });

  it("checks index and stride of a structured buffer", () => {
    const words = [
      0,
      packFields(bufferResource[1]!, { STRIDE: 12 }),
      7,
      packFields(bufferResource[3]!, { DST_SEL_X: 4, FORMAT: 22, RESOURCE_LEVEL: 1, OOB_SELECT: 0 }),
    ];
    const { out } = run(
      `v_mov_b32_e32 v2, v0
       v_mov_b32_e32 v3, 8
       buffer_load_dword v4, v[2:3], s[8:11], 0 idxen offen
       buffer_load_dword v5, v[2:3], s[8:11], 0 idxen offen offset:4
       s_waitcnt vmcnt(0)
       v_lshlrev_b32_e32 v6, 3, v0
       buffer_store_dwordx2 v[4:5], v6, s[12:15], 0 offen`,
      0,
      { resource: words },
    );
    for (let l = 0; l < 32; l++) {
      expect(out[2 * l]).toBe(l < 7 ? 1000 + 3 * l + 2 : 0);
      expect(out[2 * l + 1]).toBe(0);
    }
  });

  it("loads and stores bytes and halves, signed and into halves", () => {
    const { out } = run(
      `v_mov_b32_e32 v4, 0x11112222
       v_mov_b32_e32 v5, 0x11112222
       buffer_load_sbyte v6, v1, s[8:11], 0 offen offset:1
       buffer_load_ushort v7, v1, s[8:11], 0 offen offset:2
       buffer_load_sshort v8, v1, s[8:11], 0 offen
       buffer_load_ubyte_d16_hi v4, v1, s[8:11], 0 offen offset:3
       buffer_load_short_d16 v5, v1, s[8:11], 0 offen offset:2
       s_waitcnt vmcnt(0)
       v_lshlrev_b32_e32 v2, 5, v0
       buffer_store_dwordx4 v[4:7], v2, s[12:15], 0 offen
       buffer_store_dword v8, v2, s[12:15], 0 offen offset:16
       buffer_store_byte v6, v2, s[12:15], 0 offen offset:20
       buffer_store_short v6, v2, s[12:15], 0 offen offset:22`,
      8192,
      { fill: (i) => (0x80c0f0e1 + i * 0x01010101) >>> 0 },
    );
    for (let l = 0; l < 32; l++) {
      const w = (0x80c0f0e1 + l * 0x01010101) >>> 0;
      const sbyte = (((w >>> 8) & 255) << 24) >> 24;
      expect(out[8 * l]).toBe(((w >>> 24) << 16) | 0x2222);
      expect(out[8 * l + 1]).toBe((0x11110000 | (w >>> 16)) >>> 0);
      expect(out[8 * l + 2]).toBe(sbyte >>> 0);
      expect(out[8 * l + 3]).toBe(w >>> 16);
      expect(out[8 * l + 4]).toBe(((w << 16) >> 16) >>> 0);
      expect(out[8 * l + 5]).toBe((((sbyte & 0xffff) << 16) | 0xee00 | (sbyte & 255)) >>> 0);
    }
  });

  it("reads scalar buffers with bounds, by immediate and by register", () => {
    const { out } = run(
      `s_movk_i32 s4, 24
       s_buffer_load_dwordx4 s[16:19], s[8:11], 0x10
       s_buffer_load_dwordx2 s[20:21], s[8:11], s4
       s_waitcnt lgkmcnt(0)
       v_mov_b32_e32 v4, s16
       v_mov_b32_e32 v5, s17
       v_mov_b32_e32 v6, s18
       v_mov_b32_e32 v7, s19
       v_mov_b32_e32 v8, s20
       v_mov_b32_e32 v9, s21
       v_mov_b32_e32 v2, 0
       buffer_store_dwordx4 v[4:7], v2, s[12:15], 0 offen
       buffer_store_dwordx2 v[8:9], v2, s[12:15], 0 offen offset:16`,
      28,
    );
    expect([...out.subarray(0, 6)]).toEqual([1004, 1005, 1006, 0, 1006, 0]);
  });

  it("runs atomics lane by lane, with and without the old value", () => {
    const { out, input } = run(
      `v_mov_b32_e32 v2, 0
       v_mov_b32_e32 v4, v0
       buffer_atomic_add v4, v2, s[8:11], 0 offen glc
       v_mov_b32_e32 v5, 3
       buffer_atomic_smax v0, v2, s[8:11], 0 offen offset:4
       buffer_atomic_umin v0, v2, s[8:11], 0 offen offset:8
       v_mov_b32_e32 v6, 77
       v_mov_b32_e32 v7, 1003
       buffer_atomic_cmpswap v[6:7], v2, s[8:11], 0 offen offset:12
       v_mov_b32_e32 v8, 5
       buffer_atomic_inc v8, v2, s[8:11], 0 offen offset:16
       v_mov_b32_e32 v9, 0x40
       buffer_atomic_or v9, v2, s[8:11], 0 offen offset:20
       s_waitcnt vmcnt(0)
       buffer_store_dword v4, v1, s[12:15], 0 offen`,
      8192,
    );
    let sum = 1000;
    for (let l = 0; l < 32; l++) {
      expect(out[l]).toBe(sum);
      sum += l;
    }
    // inc: 1004 >= 5 gives 0 first, then counts 1, 2, … 5, 0: 32 steps from 1004.
    expect([...input.subarray(0, 6)]).toEqual([sum, 1001, 0, 77, 31 % 6, 1005 | 0x40]);
  });

  it("reaches global memory by address pair, by SGPR pair, with offsets and across pages", () => {
    const from = rig.alloc(8192);
    const to = rig.alloc(4096);
    rig.u32(from.physical, 2048).forEach((_, i, words) => {
      words[i] = i;
    });
    const code = rig.code(
      assemble(`
        v_lshlrev_b32_e32 v1, 2, v0
        v_add_co_u32 v2, vcc_lo, s0, v1
        v_add_co_ci_u32_e64 v3, vcc_lo, s1, 0, vcc_lo
        global_load_dword v4, v[2:3], off offset:1024
        v_mov_b32_e32 v5, 0xffe
        global_load_dwordx2 v[6:7], v5, s[0:1]
        s_waitcnt vmcnt(0)
        v_lshlrev_b32_e32 v1, 4, v0
        v_mov_b32_e32 v5, v6
        v_mov_b32_e32 v6, v7
        global_store_dwordx3 v1, v[4:6], s[2:3]
        s_endpgm`),
    );
    expect(rig.run({ code, user: [low(from.va), high(from.va), low(to.va), high(to.va)] })).toBeUndefined();
    const out = rig.u32(to.physical, 128);
    for (let l = 0; l < 32; l++) {
      expect(out[4 * l]).toBe(256 + l);
      // Bytes from 0xffe on: the upper half of dword 1023, then dwords 1024 and 1025.
      expect(out[4 * l + 1]).toBe(1024 << 16);
      expect(out[4 * l + 2]).toBe(1025 << 16);
    }
  });

  it("keeps scratch of lanes and waves apart", () => {
    const scratch = rig.alloc(65_536);
    const to = rig.alloc(4096);
    const code = rig.code(
      assemble(`
        s_add_u32 s0, s0, s4
        s_addc_u32 s1, s1, 0
        s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s0
        s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s1
        v_mul_u32_u24_e32 v2, 3, v0
        v_mov_b32_e32 v3, v0
        scratch_store_dwordx2 off, v[2:3], off offset:16
        v_mov_b32_e32 v4, 20
        s_waitcnt_vscnt null, 0
        scratch_load_dword v5, v4, off
        s_movk_i32 s5, 12
        scratch_load_dword v6, off, s5 offset:4
        s_waitcnt vmcnt(0)
        v_lshlrev_b32_e32 v1, 3, v0
        v_mov_b32_e32 v7, v6
        v_mov_b32_e32 v6, v5
        global_store_dwordx2 v1, v[6:7], s[2:3]
        s_endpgm`),
    );
    const user = [low(scratch.va), high(scratch.va), low(to.va), high(to.va)];
    expect(rig.run({ code, user, threads: [64, 1, 1], scratchBytes: 2048 })).toBeUndefined();
    const out = rig.u32(to.physical, 128);
    for (let i = 0; i < 64; i++) expect([out[2 * i], out[2 * i + 1]]).toEqual([i, 3 * i]);
  });

  it("a scratch access past the wave's share faults", () => {
    const scratch = rig.alloc(65_536);
    const code = rig.code(
      assemble(`
        s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s0
        s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s1
        v_mov_b32_e32 v4, 32
        scratch_load_dword v5, v4, off
        s_endpgm`),
    );
    expect(rig.run({ code, user: [low(scratch.va), high(scratch.va)], scratchBytes: 1024 })?.name).toBe("PAST_SCRATCH");
  });

  it("invalidates translations on request", () => {
    const first = rig.alloc(4096);
    const other = rig.physical(4096);
    rig.u32(first.physical, 1)[0] = 11;
    rig.u32(other, 1)[0] = 22;
    const to = rig.alloc(4096);
    const code = rig.code(
      assemble(`
        v_mov_b32_e32 v1, 0
        global_load_dword v2, v1, s[0:1]
        s_waitcnt vmcnt(0)
        global_store_dword v1, v2, s[2:3]
        s_endpgm`),
    );
    const user = [low(first.va), high(first.va), low(to.va), high(to.va)];
    rig.run({ code, user });
    expect(rig.u32(to.physical, 1)[0]).toBe(11);
    rig.map(first.va, other, 4096, Pte.READABLE);
    rig.run({ code, user });
    expect(rig.u32(to.physical, 1)[0]).toBe(22);
  });
});

describe.skipIf(!oracle("llvm-mc-19"))("LDS and barriers", () => {
  it("shares LDS among the waves of a workgroup across a barrier, and not among workgroups", () => {
    const rig = new Rig();
    const to = rig.alloc(8192);
    const code = rig.code(
      assemble(`
        v_lshlrev_b32_e32 v1, 2, v0
        v_lshl_add_u32 v2, s2, 8, v0
        ds_read_b32 v3, v1
        s_waitcnt lgkmcnt(0)
        v_add_nc_u32_e32 v2, v2, v3
        s_barrier
        ds_write_b32 v1, v2
        s_waitcnt lgkmcnt(0)
        s_barrier
        v_sub_nc_u32_e32 v3, 255, v0
        v_lshlrev_b32_e32 v3, 2, v3
        ds_read_b32 v4, v3
        s_lshl_b32 s3, s2, 10
        v_add_nc_u32_e32 v1, s3, v1
        s_waitcnt lgkmcnt(0)
        global_store_dword v1, v4, s[0:1]
        s_endpgm`),
    );
    const launch = {
      code,
      user: [low(to.va), high(to.va)],
      groups: [4, 1, 1] as const,
      threads: [256, 1, 1] as const,
      ids: [true, false, false] as const,
      ldsBytes: 1024,
    };
    expect(rig.run(launch)).toBeUndefined();
    const out = rig.u32(to.physical, 1024);
    for (let g = 0; g < 4; g++) for (let i = 0; i < 256; i++) expect(out[g * 256 + i]).toBe(g * 256 + 255 - i);
  });

  it("reads 0 and drops writes past the allocation; pairs, wide and sub-dword forms", () => {
    const rig = new Rig();
    const to = rig.alloc(4096);
    const code = rig.code(
      assemble(`
        v_lshlrev_b32_e32 v1, 4, v0
        v_mov_b32_e32 v2, v0
        v_add_nc_u32_e32 v3, 100, v0
        v_add_nc_u32_e32 v4, 200, v0
        v_add_nc_u32_e32 v5, 0x8300, v0
        ds_write_b128 v1, v[2:5]
        v_mov_b32_e32 v6, 512
        ds_write_b32 v6, v0
        ds_read2_b32 v[8:9], v1 offset0:1 offset1:2
        ds_read_i16 v10, v1 offset:12
        ds_read_u8 v11, v1 offset:13
        ds_read_b32 v12, v6
        v_mov_b32_e32 v13, 1
        v_mov_b32_e32 v14, 0
        ds_add_rtn_u32 v15, v14, v13
        s_waitcnt lgkmcnt(0)
        v_mad_u32_u24 v1, v0, 24, 0
        global_store_dwordx4 v1, v[8:11], s[0:1]
        global_store_dword v1, v12, s[0:1] offset:16
        global_store_dword v1, v15, s[0:1] offset:20
        s_endpgm`),
    );
    expect(rig.run({ code, user: [low(to.va), high(to.va)], ldsBytes: 512 })).toBeUndefined();
    const out = rig.u32(to.physical, 32 * 6);
    for (let l = 0; l < 32; l++) {
      expect([...out.subarray(6 * l, 6 * l + 6)]).toEqual([
        100 + l,
        200 + l,
        (((0x8300 + l) << 16) >> 16) >>> 0,
        0x83,
        0,
        l,
      ]);
    }
  });

  it("a pair read onto its own address register uses the address for both elements", () => {
    const rig = new Rig();
    const to = rig.alloc(4096);
    const code = rig.code(
      assemble(`
        v_lshlrev_b32_e32 v1, 3, v0
        v_lshlrev_b32_e32 v9, 4, v0
        v_add_nc_u32_e32 v2, 500, v0
        v_add_nc_u32_e32 v3, 700, v0
        ds_write2_b32 v1, v2, v3 offset1:1
        v_mov_b32_e32 v5, v1
        s_waitcnt lgkmcnt(0)
        ds_read2_b32 v[1:2], v1 offset1:1
        ds_read2_b32 v[4:5], v5 offset0:1
        s_waitcnt lgkmcnt(0)
        v_mov_b32_e32 v3, v4
        v_mov_b32_e32 v4, v5
        global_store_dwordx4 v9, v[1:4], s[0:1]
        s_endpgm`),
    );
    expect(rig.run({ code, user: [low(to.va), high(to.va)], ldsBytes: 512 })).toBeUndefined();
    const out = rig.u32(to.physical, 128);
    for (let l = 0; l < 32; l++)
      expect([...out.subarray(4 * l, 4 * l + 4)]).toEqual([500 + l, 700 + l, 700 + l, 500 + l]);
  });

  it("gives the same result for every interleaving seed", () => {
    const code = assemble(`
      v_mov_b32_e32 v1, 0
      v_mov_b32_e32 v2, 1
      ds_add_rtn_u32 v3, v1, v2
      s_waitcnt lgkmcnt(0)
      s_barrier
      ds_read_b32 v4, v1
      v_lshlrev_b32_e32 v5, 2, v0
      s_waitcnt lgkmcnt(0)
      global_store_dword v5, v4, s[0:1]
      s_endpgm`);
    for (const seed of [0, 1, 2, 3]) {
      const rig = new Rig({ seed });
      const to = rig.alloc(4096);
      expect(
        rig.run({ code: rig.code(code), user: [low(to.va), high(to.va)], threads: [1000, 1, 1], ldsBytes: 4 }),
      ).toBeUndefined();
      const out = rig.u32(to.physical, 1024);
      for (let i = 0; i < 1024; i++) expect(out[i]).toBe(i < 1000 ? 1000 : 0);
    }
  });
});
