/**
 * The control block: what a real GPU has as MMIO registers and doorbells, here `u32` words at `PhysicalMap.CONTROL`,
 * read and written with atomics by KMD and GPU. Our own model. Offsets are in bytes from the block's start.
 *
 * Start: the KMD fills the header, tables and rings, then rings the doorbell; the GPU takes work once MAGIC is there.
 * Work: the KMD writes packets to a ring, stores WPTR, adds 1 to DOORBELL and notifies. Ring packets run under VMID 0
 * (physical addresses); INDIRECT_BUFFER names the VMID its packets and shaders run under. Before each slice of work
 * the GPU looks at TLB_INVALIDATE, HALT_REQUEST, RESET_REQUEST and STOP, and at TLB_INVALIDATE again on each
 * INDIRECT_BUFFER of a ring: the KMD sets its bit before it stores the WPTR of a job that must see new tables.
 * Fault: the GPU writes the queue's record, sets STATE to HALTED, puts FAULT in the interrupt ring; other queues go on.
 * The KMD copies the record, adds 1 to RESET_REQUEST and rings; the GPU empties the queue and answers RESET_DONE.
 */
export const Control = {
  MAGIC: 0x00,
  VERSION: 0x04,
  MEMORY_BYTES: 0x08,
  VRAM_BASE: 0x0c,
  VRAM_BYTES: 0x10,
  GTT_BASE: 0x14,
  GTT_BYTES: 0x18,
  /** `GpuState`, written by the GPU. */
  GPU_STATE: 0x1c,
  /** KMD adds 1 after any change below (new wptr, halt, reset, TLB, stop), then notifies: the GPU waits on this word. */
  DOORBELL: 0x20,
  /** KMD sets 1: leave the worker loop. */
  STOP: 0x24,
  /** KMD ors bit `vmid` after changing that VMID's tables; the GPU exchanges with 0, then drops those translations. */
  TLB_INVALIDATE: 0x28,
  /** Free-running entry counters of the interrupt ring. The GPU writes WPTR, the KMD RPTR. */
  INTERRUPT_WPTR: 0x2c,
  INTERRUPT_RPTR: 0x30,
  /** Interrupts dropped because the ring was full. */
  INTERRUPT_LOST: 0x34,
  /** Seed of the interleaving of queues and waves. */
  SEED: 0x38,
  /** WGPs of the machine (2 CUs each), 1 to 64; 0: 40, as on navi21. */
  WGPS: 0x3c,
  /** `ControlFlag` bits, read before each slice. */
  FLAGS: 0x40,
  /** Table of `VMIDS` entries of `Vmid`. */
  VMID_TABLE: 0x100,
  VMID_BYTES: 0x10,
  /** Table of `QUEUES` entries of `Queue`. */
  QUEUE_TABLE: 0x400,
  QUEUE_BYTES: 0x80,
  /** Per queue, `Counter` sums since start, u64 each, added to by the GPU at each dispatch's end. */
  COUNTER_TABLE: 0x2000,
  COUNTER_BYTES: 0x200,
  /** Per queue, a bit for each instruction (`Op` number) executed since start. */
  OPS_TABLE: 0x4000,
  OPS_BYTES: 0x200,
} as const;

/**
 * Counters of dispatches, byte offsets of u64 values. Instructions by class always; the rest with `ControlFlag.COUNTERS`.
 * A request is a line of 128 bytes that one instruction of a wave asks for.
 */
export const Counter = {
  SALU: 0x00,
  VALU: 0x08,
  SMEM: 0x10,
  VMEM: 0x18,
  LDS: 0x20,
  FLOW: 0x28,
  WAVES: 0x30,
  DISPATCHES: 0x38,
  GL0_HIT: 0x40,
  GL0_MISS: 0x48,
  GL1_HIT: 0x50,
  GL1_MISS: 0x58,
  L2_HIT: 0x60,
  L2_MISS: 0x68,
  SCALAR_HIT: 0x70,
  SCALAR_MISS: 0x78,
  /** Lines that stores and atomics asked for. */
  STORES: 0x80,
  ATOMICS: 0x88,
  /** Cycles that waves waited for vector memory, for scalar memory and LDS, and at barriers; sums over waves. */
  STALL_VECTOR: 0x90,
  STALL_SCALAR: 0x98,
  STALL_BARRIER: 0xa0,
  /** Issue cycles, sum over waves. */
  ISSUE: 0xa8,
  /** Estimated cycles, sum over dispatches. */
  CYCLES: 0xb0,
} as const;

/** COHERENCE: the caches are in the path of every access. COUNTERS: caches and waits are timed and counted. */
export const ControlFlag = { COHERENCE: 1, COUNTERS: 2 } as const;

export const CONTROL_MAGIC = 0x4b494c4e;
export const CONTROL_VERSION = 1;

export const GpuState = { OFF: 0, IDLE: 1, BUSY: 2, STOPPED: 3 } as const;

/** One VMID. VMID 0 is the kernel: no translation, addresses are physical (rings and fences only). */
export const Vmid = {
  /** Physical address of the level 3 table; 0: nothing is mapped. */
  PAGE_DIRECTORY: 0x00,
  FLAGS: 0x04,
  /** LDS accesses beyond the workgroup's allocation since start, counted by the GPU: reads gave 0, writes were dropped. */
  LDS_OUTSIDE: 0x08,
  /** Accesses to holes of sparse ranges since start, counted by the GPU. */
  HOLE_ACCESSES: 0x0c,
} as const;

/** One hardware queue. Ring pointers are free-running dword counters; index = pointer modulo RING_DWORDS (power of two). */
export const Queue = {
  /** 0: the queue is off. */
  ENABLED: 0x00,
  /** `QueueKind`. */
  KIND: 0x04,
  /** Physical address of the ring, 256-byte aligned. */
  RING_BASE: 0x08,
  RING_DWORDS: 0x0c,
  /** Written by the GPU once a packet is consumed. */
  RPTR: 0x10,
  /** Written by the KMD. */
  WPTR: 0x14,
  /** `QueueState`, written by the GPU. */
  STATE: 0x18,
  /** KMD writes 1: stop at the next instruction slice, write a fault record of kind HALTED, raise HALTED. */
  HALT_REQUEST: 0x1c,
  /** KMD adds 1: drop all waves and packets (RPTR = WPTR), state IDLE, clear HALT_REQUEST and the fault record's kind, copy to RESET_ACK, raise RESET_DONE. */
  RESET_REQUEST: 0x20,
  RESET_ACK: 0x24,
  /** VMID of the indirect buffer that runs, 0 when none. */
  VMID: 0x28,
  /** Instructions executed for this queue since start, low and high half. */
  INSTRUCTIONS_LO: 0x2c,
  INSTRUCTIONS_HI: 0x30,
  /** Waves launched since start. */
  WAVES_LO: 0x34,
  WAVES_HI: 0x38,
  /** Dispatches finished since start. */
  DISPATCHES: 0x3c,
} as const;

export const QueueKind = { GRAPHICS: 0, COMPUTE: 1, SDMA: 2 } as const;

/** HALTED: after a fault or a halt request; the queue fetches nothing until it is reset. */
export const QueueState = { IDLE: 0, RUNNING: 1, HALTED: 2 } as const;

/** Byte offset of queue `index`'s word from the control block's start. */
export function queueWord(index: number, word: number): number {
  return Control.QUEUE_TABLE + index * Control.QUEUE_BYTES + word;
}

export function vmidWord(vmid: number, word: number): number {
  return Control.VMID_TABLE + vmid * Control.VMID_BYTES + word;
}
