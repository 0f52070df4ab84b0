import { describe, expect, it } from "vitest";
import { fidelityOf, fidelityReport, fidelityRows } from "../../src/gpu/index.ts";
import { allOps } from "../../src/isa/index.ts";
import { Control, ControlFlag, Counter, PhysicalMap } from "../../src/uapi/index.ts";
import { oracle } from "../oracles.ts";
import { assemble } from "./assembler.ts";
import { high, low, QUEUE, Rig } from "./rig.ts";

function counters(rig: Rig): Record<keyof typeof Counter, number> {
  const at = PhysicalMap.CONTROL + Control.COUNTER_TABLE + QUEUE * Control.COUNTER_BYTES;
  const words = rig.u32(at, Control.COUNTER_BYTES / 4);
  return Object.fromEntries(
    Object.entries(Counter).map(([name, offset]) => [name, words[offset / 4]! + words[offset / 4 + 1]! * 2 ** 32]),
  ) as Record<keyof typeof Counter, number>;
}

describe.skipIf(!oracle("llvm-mc-19"))("performance counters", () => {
  it("count instructions by class, waves, and requests by line and level", () => {
    const rig = new Rig({ flags: ControlFlag.COUNTERS, wgps: 1 });
    const { va } = rig.alloc(8192);
    // 32 lanes of 4 bytes are a line: the first load misses everywhere, the second hits GL0, glc misses it, glc dlc both.
    const code = rig.code(
      assemble(`
        v_lshlrev_b32_e32 v0, 2, v0
        global_load_dword v1, v0, s[0:1]
        s_waitcnt vmcnt(0)
        global_load_dword v1, v0, s[0:1]
        s_waitcnt vmcnt(0)
        global_load_dword v1, v0, s[0:1] glc
        s_waitcnt vmcnt(0)
        global_load_dword v1, v0, s[0:1] glc dlc
        s_waitcnt vmcnt(0)
        s_load_dword s4, s[0:1], 0x400
        s_waitcnt lgkmcnt(0)
        v_lshlrev_b32_e32 v0, 5, v0
        global_store_dword v0, v1, s[0:1]
        s_endpgm`),
    );
    expect(rig.run({ code, user: [low(va), high(va)] })).toBeUndefined();
    // The store's lanes are 128 bytes apart: a line each.
    expect(counters(rig)).toMatchObject({
      ...{ SALU: 0, VALU: 2, SMEM: 1, VMEM: 5, LDS: 0, FLOW: 6, WAVES: 1, DISPATCHES: 1 },
      ...{ GL0_HIT: 1, GL0_MISS: 3, GL1_HIT: 1, GL1_MISS: 3, L2_HIT: 1 + 2, L2_MISS: 2 + 30 },
      ...{ SCALAR_HIT: 0, SCALAR_MISS: 1, STORES: 32, ATOMICS: 0, STALL_BARRIER: 0 },
      // Each instruction one cycle, the store one a line. Latencies of memory, GL0, GL1, L2; then of memory, scalar.
      ...{ ISSUE: 13 + 32, STALL_VECTOR: 500 - 1 + 110 - 1 + 150 - 1 + 220 - 1, STALL_SCALAR: 480 - 1 },
      ...{ CYCLES: 13 + 32 + 499 + 109 + 149 + 219 + 479 },
    });
  });

  it("a barrier costs what the fastest wave waits for the slowest; issue adds up on a SIMD", () => {
    const rig = new Rig({ flags: ControlFlag.COUNTERS, wgps: 1 });
    // Wave 1 (of s0's tg_size) issues 64 more.
    const code = rig.code(
      assemble(`
        s_bfe_u32 s1, s0, 0x60006
        s_cmp_eq_u32 s1, 0
        s_cbranch_scc1 meet
        ${"v_mov_b32_e32 v1, 0\n".repeat(64)}
        meet:
        s_barrier
        s_endpgm`),
    );
    expect(rig.run({ code, threads: [64, 1, 1], tgSize: true, wgpMode: true })).toBeUndefined();
    expect(counters(rig)).toMatchObject({ STALL_BARRIER: 64, ISSUE: 2 * 5 + 64, CYCLES: 5 + 64 });
  });

  it("estimated cycles and counters depend on program and seed, not on the host's pace", () => {
    const text = `
      v_lshlrev_b32_e32 v0, 2, v0
      s_lshl_b32 s4, s2, 7
      v_add_nc_u32_e32 v0, s4, v0
      s_movk_i32 s5, 40
      again:
      global_load_dword v1, v0, s[0:1]
      s_waitcnt vmcnt(0)
      v_add_nc_u32_e32 v1, 1, v1
      global_store_dword v0, v1, s[0:1]
      s_sub_u32 s5, s5, 1
      s_cmp_lg_u32 s5, 0
      s_cbranch_scc1 again
      s_endpgm`;
    const run = (seed: number, pace: number) => {
      const rig = new Rig({ seed, flags: ControlFlag.COUNTERS, wgps: 2 });
      const { va } = rig.alloc(8192);
      const code = rig.code(assemble(text));
      const user = [low(va), high(va)];
      rig.submit(rig.packets({ code, user, groups: [24, 1, 1], ids: [true, false, false] }));
      while (rig.engine.run(pace));
      return counters(rig);
    };
    for (const seed of [0, 9]) {
      const expected = run(seed, 1_000_000);
      expect(expected.CYCLES).toBeGreaterThan(40 * 7);
      for (const pace of [1, 777, 20_000]) expect(run(seed, pace)).toEqual(expected);
    }
  });
});

describe("fidelity", () => {
  const names = [...new Set(allOps().map((op) => op.name))];

  it("every row names instructions, and no instruction has two", () => {
    for (const row of fidelityRows)
      expect(
        names.some((name) => row.name.test(name)),
        String(row.name),
      ).toBe(true);
    for (const name of names) expect(fidelityRows.filter((row) => row.name.test(name)).length).toBeLessThan(2);
  });

  it("sorts what was executed: exact, approximate, not modelled", () => {
    const ids = (...wanted: string[]) =>
      new Set(
        allOps()
          .filter((op) => wanted.includes(op.name))
          .map((op) => op.id),
      );
    const met = ids("v_add_f32", "v_sin_f32", "s_sleep", "buffer_gl0_inv");
    const plain = fidelityReport(met, false);
    expect(plain.exact).toEqual(["v_add_f32"]);
    expect(plain.approximate.map(({ name }) => name)).toEqual(["v_sin_f32"]);
    expect(plain.notModelled.map(({ name }) => name)).toEqual(["s_sleep", "buffer_gl0_inv"]);
    expect(fidelityReport(met, true).exact).toEqual(["v_add_f32", "buffer_gl0_inv"]);
    expect(fidelityOf("v_fma_f32", false)).toBeUndefined();
  });
});
