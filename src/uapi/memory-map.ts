/**
 * The machine's physical memory: one shared WASM memory, a physical address is a byte offset in it. Our own model.
 * The low region is private to the GPU: no page-table entry may point there (the KMD never writes one, and the GPU
 * faults on one).
 */
export const PhysicalMap = {
  /** gpu.wasm's static data, its stack, tables. Address 0 is never handed out. */
  GPU_STATICS: 0,
  GPU_STATICS_BYTES: 0x0100_0000,
  /** Control block: header, per-VMID and per-queue tables (`Control`). */
  CONTROL: 0x0100_0000,
  CONTROL_BYTES: 0x0001_0000,
  /** Interrupt ring (`Interrupt`). */
  INTERRUPTS: 0x0101_0000,
  INTERRUPTS_BYTES: 0x0001_0000,
  /** Fault records: one slot per queue (`Fault`). */
  FAULTS: 0x0110_0000,
  FAULTS_BYTES: 0x0010_0000,
  /** Register files, LDS, decoded instructions, caches: laid out by the GPU alone. */
  GPU_PRIVATE: 0x0120_0000,
  GPU_PRIVATE_BYTES: 0x02e0_0000,
  /** VRAM starts here; its size and where GTT starts stand in the control block. */
  VRAM: 0x0400_0000,
} as const;

/** Limits of the model. Memory is created at its final size: growing a shared memory leaves stale views. */
export const MachineLimits = {
  /** 3 GiB: docs/abi.md. */
  MAX_MEMORY_BYTES: 0xc000_0000,
  MIN_MEMORY_BYTES: 0x0600_0000,
  DEFAULT_MEMORY_BYTES: 0x4000_0000,
  VMIDS: 16,
  QUEUES: 8,
} as const;

/**
 * GPU virtual addresses: 48 bits, sign-extended. The UMD chooses addresses; the KMD only checks these bounds.
 * Everything behind a 32-bit pointer lies in the descriptor window (high half 0xffff8000: docs/abi.md).
 */
export const VirtualMap = {
  /** First usable address: the first 64 KiB are never mapped, so null pointers fault. */
  LOW_START: 0x0000_0000_0001_0000n,
  LOW_END: 0x0000_8000_0000_0000n,
  WINDOW_START: 0xffff_8000_0000_0000n,
  WINDOW_END: 0xffff_8001_0000_0000n,
  WINDOW_HIGH_HALF: 0xffff_8000,
} as const;

/** BO domains: VRAM is device memory, GTT is system memory the GPU reaches through its page tables. */
export const Domain = { VRAM: 1, GTT: 2 } as const;

/** How VRAM and GTT share what is left of `memoryBytes` (bytes) above the GPU's own region: 3/4 and 1/4, page aligned. */
export function splitMemory(memoryBytes: number): {
  readonly vramBase: number;
  readonly vramBytes: number;
  readonly gttBase: number;
  readonly gttBytes: number;
} {
  const total = memoryBytes - PhysicalMap.VRAM;
  const vramBytes = Math.floor((total * 0.75) / 0x20_0000) * 0x20_0000;
  const gttBase = PhysicalMap.VRAM + vramBytes;
  return {
    vramBase: PhysicalMap.VRAM,
    vramBytes,
    gttBase,
    gttBytes: Math.floor((memoryBytes - gttBase) / 4096) * 4096,
  };
}
