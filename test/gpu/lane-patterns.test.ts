import { describe, expect, it } from "vitest";
import { rawBufferResource } from "../../src/uapi/index.ts";
import { noise } from "../math/exact.ts";
import { oracle } from "../oracles.ts";
import { assemble } from "./assembler.ts";
import { high, low, Rig } from "./rig.ts";

/** Bytes of the buffers that are in range, of the LDS, and what registers hold before. */
const RECORDS = 5000;
const LDS = 512;
const OLD = 0x5a5a5a5a;

/** Under the mask in s16: gather and scatter by the offsets in v2 through buffers, by v3 + 4 in LDS. */
const code = `
  s_load_dwordx8 s[8:15], s[0:1], null
  s_load_dword s16, s[0:1], 0x20
  v_lshlrev_b32_e32 v1, 2, v0
  global_load_dword v2, v1, s[2:3]
  v_mov_b32_e32 v4, ${OLD}
  v_mov_b32_e32 v6, ${OLD}
  v_add_nc_u32_e32 v5, 0x1000, v0
  v_add_nc_u32_e32 v7, 0x2000, v0
  ds_write_b32 v1, v7
  ds_write_b32 v1, v7 offset:128
  ds_write_b32 v1, v7 offset:256
  ds_write_b32 v1, v7 offset:384
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_and_b32_e32 v3, 0x27c, v2
  s_mov_b32 exec_lo, s16
  buffer_load_dword v4, v2, s[8:11], 0 offen
  buffer_store_dword v5, v2, s[12:15], 0 offen
  ds_read_b32 v6, v3 offset:4
  s_waitcnt vmcnt(0) lgkmcnt(0)
  ds_write_b32 v3, v5 offset:4
  s_mov_b32 exec_lo, -1
  ds_read_b32 v8, v1
  ds_read_b32 v9, v1 offset:128
  ds_read_b32 v10, v1 offset:256
  ds_read_b32 v11, v1 offset:384
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v4, s[4:5]
  global_store_dword v1, v6, s[4:5] offset:128
  global_store_dword v1, v8, s[4:5] offset:256
  global_store_dword v1, v9, s[4:5] offset:384
  global_store_dword v1, v10, s[4:5] offset:512
  global_store_dword v1, v11, s[4:5] offset:640
  s_endpgm`;

/** Offsets of 32 lanes: each four are consecutive, the same, apart, overlapping others, at the range's end or across a page. */
function patterns(next: () => number): number[] {
  return Array.from({ length: 8 }, () => {
    const start = (next() % 1300) * 4;
    const lanes = [0, 1, 2, 3];
    switch (next() % 7) {
      case 0:
        return lanes.map(() => start);
      case 1:
        return lanes.map(() => (next() % 1300) * 4);
      case 2:
        return lanes.map((l) => 4096 - 8 + 4 * l);
      case 3:
        return lanes.map((l) => RECORDS - 8 + 4 * l);
      case 4:
        return lanes.map((l) => 64 + 4 * l);
      case 5:
        return lanes.map((l) => 4096 - 6 + 4 * l);
      default:
        return lanes.map((l) => start + 4 * l);
    }
  }).flat();
}

describe.skipIf(!oracle("llvm-mc-19"))("lanes of a memory instruction", () => {
  it("move as if one after another, in whatever pattern", () => {
    const rig = new Rig();
    const next = noise(0xabcdef);
    const [from, to, set, offsets, result] = [8192, 8192, 4096, 4096, 4096].map((bytes) => rig.alloc(bytes));
    if (!from || !to || !set || !offsets || !result) throw new Error("no memory");
    const kernel = rig.code(assemble(code));
    const input = new DataView(rig.bytes.buffer, from.physical, 8192);
    for (let at = 0; at < 8192; at++) input.setUint8(at, next());
    for (let round = 0; round < 100; round++) {
      const at = patterns(next);
      const mask = round % 3 === 0 ? 0xffffffff : round % 3 === 1 ? next() | 0xf00f : next() & next();
      rig.u32(offsets.physical, 32).set(at);
      rig
        .u32(set.physical, 9)
        .set([...rawBufferResource(from.va, RECORDS), ...rawBufferResource(to.va, RECORDS), mask]);
      rig.u32(to.physical, 2048).fill(0xeeeeeeee);
      const user = [set, offsets, result].flatMap(({ va }) => [low(va), high(va)]);
      expect(rig.run({ code: kernel, user, ldsBytes: LDS })).toBeUndefined();

      const loaded: number[] = [];
      const stored = new DataView(new ArrayBuffer(8192));
      new Uint8Array(stored.buffer).fill(0xee);
      const lds = Array.from({ length: LDS / 4 }, (_, i) => 0x2000 + (i % 32));
      const read = at.map((offset, lane) => ((mask >>> lane) & 1 ? (lds[((offset & 0x27c) + 4) / 4] ?? 0) : OLD));
      for (const [lane, offset] of at.entries()) {
        const active = (mask >>> lane) & 1;
        const inside = offset + 4 <= RECORDS;
        loaded.push(!active ? OLD : inside ? input.getUint32(offset, true) : 0);
        if (active && inside) stored.setUint32(offset, 0x1000 + lane, true);
        const slot = ((offset & 0x27c) + 4) / 4;
        if (active && slot < lds.length) lds[slot] = 0x1000 + lane;
      }
      expect([...rig.u32(result.physical, 192)].join()).toBe([...loaded, ...read, ...lds].join());
      const after = rig.bytes.slice(to.physical, to.physical + 8192);
      expect(Buffer.compare(after, new Uint8Array(stored.buffer))).toBe(0);
    }
  });
});
