import { beforeAll, describe, expect, it } from "vitest";
import { BadDispatch, Control } from "../../src/uapi/index.ts";
import { oracle } from "../oracles.ts";
import { assemble } from "./assembler.ts";
import { high, low, Rig } from "./rig.ts";

/** RSRC1 of `vgprs` VGPRs, keep-denormals, DX10_CLAMP, MEM_ORDERED; in WGP mode. */
const wgpMode = (vgprs: number) => ((Math.ceil(vgprs / 8) - 1) | (0xf0 << 12) | (1 << 21) | (3 << 29)) >>> 0;

describe.skipIf(!oracle("llvm-mc-19"))("resident workgroups", () => {
  let meet: Uint32Array;
  beforeAll(() => {
    // Each group adds 1 to a cell and spins until all `s3` groups have.
    meet = assemble(`
      v_mov_b32_e32 v1, 0
      v_mov_b32_e32 v2, 1
      s_mov_b32 exec_lo, 1
      global_atomic_add v1, v2, s[0:1]
      spin:
      s_sleep 1
      global_load_dword v3, v1, s[0:1] glc dlc
      s_waitcnt vmcnt(0)
      v_cmp_gt_u32_e32 vcc_lo, s2, v3
      s_cbranch_vccnz spin
      v_mov_b32_e32 v4, s3
      v_lshlrev_b32_e32 v4, 2, v4
      global_store_dword v4, v3, s[0:1] offset:4
      s_endpgm`);
  });

  function run(seed: number, groups: number) {
    const rig = new Rig({ seed });
    const cells = rig.alloc(4096);
    const user = [low(cells.va), high(cells.va), groups];
    const fault = rig.run({ code: rig.code(meet), user, groups: [groups, 1, 1], ids: [true, false, false], vgprs: 8 });
    expect(fault).toBeUndefined();
    return [...rig.u32(cells.physical, groups + 1)];
  }

  it("workgroups that wait for each other get on, mixed by a seed or in turns", () => {
    for (const seed of [0, 1, 2]) expect(run(seed, 5)).toEqual([5, 5, 5, 5, 5, 5]);
  });

  it("the order of workgroups is the seed's: the same one repeats it, another changes it", () => {
    const ticket = assemble(`
      v_mov_b32_e32 v1, 0
      v_mov_b32_e32 v2, 1
      s_mov_b32 exec_lo, 1
      s_lshl_b32 s4, s2, 2
      global_atomic_add v3, v1, v2, s[0:1] glc
      v_mov_b32_e32 v4, s4
      s_waitcnt vmcnt(0)
      global_store_dword v4, v3, s[0:1] offset:4
      s_endpgm`);
    const order = (seed: number) => {
      const rig = new Rig({ seed });
      const cells = rig.alloc(4096);
      const user = [low(cells.va), high(cells.va)];
      const launch = { code: rig.code(ticket), user, groups: [16, 1, 1], ids: [true, false, false] } as const;
      expect(rig.run(launch)).toBeUndefined();
      return [...rig.u32(cells.physical + 4, 16)];
    };
    const first = order(1);
    expect([...first].sort((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, i) => i));
    expect(order(1)).toEqual(first);
    const others = [2, 3, 4, 5].map(order);
    expect(others.some((other) => other.join() !== first.join())).toBe(true);
    expect(order(0)).toEqual(Array.from({ length: 16 }, (_, i) => i));
  });

  it("at most what fits is resident: 4 SIMDs of 1024 VGPRs, 128 KiB LDS, counted by what has started", () => {
    // Each wave counts itself in and waits until `s2` have; more than fit would never meet.
    const cases: readonly [name: string, vgprs: number, ldsBytes: number, wgps: number, fit: number][] = [
      ["VGPRs: 4 waves of 256 on each of 4 SIMDs", 256, 0, 1, 16],
      ["LDS: two of 64 KiB on a WGP", 8, 65536, 1, 2],
    ];
    for (const [name, vgprs, ldsBytes, wgps, fit] of cases) {
      for (const [groups, meets] of [
        [fit, true],
        [fit + 1, false],
      ] as const) {
        const rig = new Rig({ seed: 7 });
        rig.setControl(Control.WGPS, wgps);
        const cells = rig.alloc(4096);
        const user = [low(cells.va), high(cells.va), groups];
        const rsrc2 = (3 << 1) | (1 << 7) | ((ldsBytes / 512) << 15);
        const rsrc = [wgpMode(vgprs), rsrc2] as const;
        rig.submit(rig.packets({ code: rig.code(meet), user, groups: [groups, 1, 1], rsrc }));
        for (let turn = 0; turn < 200 && rig.engine.run(2000); turn++);
        const started = rig.u32(cells.physical, 1)[0];
        expect([name, started], name).toEqual([name, fit]);
        const ended = [...rig.u32(cells.physical + 4, groups)].filter((cell) => cell === groups).length;
        expect([name, ended]).toEqual([name, meets ? groups : 0]);
      }
    }
  });

  it("BAD_DISPATCH: a workgroup that no WGP, or in CU mode no CU, has room for", () => {
    const rig = new Rig();
    const code = rig.code(assemble("s_endpgm"));
    const rule = { name: "BAD_DISPATCH", detail: [BadDispatch.OCCUPANCY, 0] };
    const rsrc = (vgprs: number) => [wgpMode(vgprs), 0] as const;
    expect(rig.run({ code, threads: [1024, 1, 1], rsrc: rsrc(128) })).toBeUndefined();
    expect(rig.run({ code, threads: [1024, 1, 1], rsrc: rsrc(136) })).toMatchObject(rule);
    expect(rig.run({ code, threads: [1024, 1, 1], vgprs: 64 })).toBeUndefined();
    expect(rig.run({ code, threads: [1024, 1, 1], vgprs: 72 })).toMatchObject(rule);
  });
});
