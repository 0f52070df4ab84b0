import { describe, expect, it } from "vitest";
import { computeRegisters, occupancyWaves } from "../../src/codeobj/index.ts";
import { entry } from "./sample.ts";

describe("computeRegisters", () => {
  it("sets every field of RSRC1 and RSRC2 where the register reference puts it", () => {
    const { rsrc1, rsrc2, rsrc3 } = computeRegisters({ ...entry.hardware, vgprs: 33, scratchBytes: 16 });
    // 33 VGPRs: 5 blocks of 8, field 4; FLOAT_MODE 0xf0 at 12, DX10_CLAMP 21, WGP_MODE 29, MEM_ORDERED 30.
    expect(rsrc1).toBe(4 + 0xf0 * 2 ** 12 + 2 ** 21 + 2 ** 29 + 2 ** 30);
    // SCRATCH_EN, 5 user SGPRs at 1, workgroup x at 7 and z at 9, thread ids at 11, 1500 B LDS: 2 KiB = 4 units at 15.
    expect(rsrc2).toBe(1 + 5 * 2 + 2 ** 7 + 2 ** 9 + 2 ** 11 + 4 * 2 ** 15);
    expect(rsrc3).toBe(0);
  });

  it("counts a shader without VGPRs as one block", () => {
    expect(computeRegisters({ ...entry.hardware, vgprs: 0 }).rsrc1 & 0x3f).toBe(0);
    expect(computeRegisters({ ...entry.hardware, vgprs: 256 }).rsrc1 & 0x3f).toBe(31);
  });
});

describe("occupancyWaves", () => {
  it("follows the VGPR steps of 16", () => {
    const waves = (vgprs: number) => occupancyWaves({ vgprs, ldsBytes: 0, workgroupThreads: 32 });
    // floor(1024 / round_up(vgprs, 16)), at most 16
    expect([1, 64, 65, 80, 81, 128, 129, 256].map(waves)).toEqual([16, 16, 12, 12, 10, 8, 7, 4]);
  });

  it("counts whole workgroups that fit the WGP's LDS", () => {
    // 64 KiB: two groups of 8 waves on 4 SIMDs; 20 KiB: six groups of 2 waves: 12 waves, 3 a SIMD.
    expect(occupancyWaves({ vgprs: 32, ldsBytes: 65536, workgroupThreads: 256 })).toBe(4);
    expect(occupancyWaves({ vgprs: 32, ldsBytes: 20480, workgroupThreads: 64 })).toBe(3);
  });

  it("is limited by whole workgroups where registers allow no second one", () => {
    // 96 VGPRs allow 10 waves a SIMD, 40 a WGP: one group of 32 waves.
    expect(occupancyWaves({ vgprs: 96, ldsBytes: 0, workgroupThreads: 1024 })).toBe(8);
    expect(occupancyWaves({ vgprs: 256, ldsBytes: 0, workgroupThreads: 1024 })).toBe(0);
  });
});
