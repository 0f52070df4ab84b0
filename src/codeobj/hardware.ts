/** What the launch registers of a compute shader are made of. */
export interface ComputeHardware {
  /** Highest VGPR used + 1. */
  readonly vgprs: number;
  readonly sgprs: number;
  readonly userSgprs: number;
  readonly usesWorkgroupId: readonly [boolean, boolean, boolean];
  /** 0: v0 only, 1: v0 and v1, 2: v0, v1 and v2. */
  readonly threadIdComponents: 0 | 1 | 2;
  readonly ldsBytes: number;
  readonly scratchBytes: number;
}

/** Byte offsets of the registers, in the SH space. Source: RDNA2 register reference. */
export const computeRegisterOffsets = { rsrc1: 0xb848, rsrc2: 0xb84c, rsrc3: 0xb8a0 } as const;

export interface ComputeRegisters {
  readonly rsrc1: number;
  readonly rsrc2: number;
  readonly rsrc3: number;
}

const ldsGranuleBytes = 1024;
const ldsUnitBytes = 512;
/** Round to even, denormals kept for all widths. */
const floatMode = 0xf0;

/** LDS that a workgroup occupies: 1 KiB steps. */
export function allocatedLdsBytes(ldsBytes: number): number {
  return Math.ceil(ldsBytes / ldsGranuleBytes) * ldsGranuleBytes;
}

/** VGPRs that a wave32 occupies: steps of 16, at least one step. */
export function allocatedVgprs(vgprs: number): number {
  return Math.max(1, Math.ceil(vgprs / 16)) * 16;
}

/** Every wave gets the same number of SGPRs, VCC included. */
export const allocatedSgprs = 128;

/**
 * COMPUTE_PGM_RSRC1..3 of a wave32 compute shader: DX10_CLAMP, WGP_MODE and MEM_ORDERED set, IEEE clear.
 * Source: RDNA2 register reference; docs/abi.md, "Launch state".
 */
export function computeRegisters(h: ComputeHardware, ldsBytes = h.ldsBytes): ComputeRegisters {
  // In wave32 the field counts blocks of 8, less one.
  const vgprField = Math.max(1, Math.ceil(h.vgprs / 8)) - 1;
  const rsrc1 = vgprField | (floatMode << 12) | (1 << 21) | (1 << 29) | (1 << 30);
  const [x, y, z] = h.usesWorkgroupId;
  const rsrc2 =
    Number(h.scratchBytes > 0) |
    (h.userSgprs << 1) |
    (Number(x) << 7) |
    (Number(y) << 8) |
    (Number(z) << 9) |
    (h.threadIdComponents << 11) |
    ((allocatedLdsBytes(ldsBytes) / ldsUnitBytes) << 15);
  return { rsrc1: rsrc1 >>> 0, rsrc2: rsrc2 >>> 0, rsrc3: 0 };
}

/**
 * Waves per SIMD that registers, LDS and whole workgroups allow, at most 16; of the fullest SIMD where they don't
 * divide evenly. 0: not even one workgroup fits. A WGP has 4 SIMDs of 1024 VGPRs (wave32) and 128 KiB LDS.
 */
export function occupancyWaves(h: { vgprs: number; ldsBytes: number; workgroupThreads: number }): number {
  const byRegisters = Math.min(16, Math.floor(1024 / allocatedVgprs(h.vgprs)));
  const wavesPerGroup = Math.max(1, Math.ceil(h.workgroupThreads / 32));
  let groups = Math.floor((byRegisters * 4) / wavesPerGroup);
  if (h.ldsBytes > 0) groups = Math.min(groups, Math.floor(0x20000 / allocatedLdsBytes(h.ldsBytes)));
  return Math.min(byRegisters, Math.ceil((groups * wavesPerGroup) / 4));
}
