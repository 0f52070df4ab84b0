/**
 * What lies in the GPU-private region of physical memory, and the records there. All sizes in bytes.
 *
 * Each queue has its own context, wave slots, LDS and instruction cache, so queues interleave without sharing state.
 */
import { MachineLimits, PhysicalMap } from "../gen/uapi.ts";

/** log2 of a decoded instruction's bytes (`Rec`). */
export const RECORD_SHIFT: u32 = 6;
/** Bits of one class (`Unit`) in the loop's tally of instructions. */
export const TALLY_BITS: u32 = 10;
export const QUEUES: u32 = MachineLimits.QUEUES;
/** Waves of one workgroup: 1024 threads. */
const MAX_WAVES: u32 = 32;
/** Most waves of a queue that are resident at once; fewer where they hold many VGPRs. */
export const MAX_SLOTS: u32 = 128;
/** Bytes of a queue's wave slots: 32 waves of 256 VGPRs. */
export const QUEUE_SLOT_BYTES: u32 = MAX_WAVES * Wave.SLOT_BYTES;
/** Most LDS of one workgroup. */
export const LDS_BYTES: u32 = 65536;
/** LDS of a queue's resident workgroups: a WGP's. */
export const QUEUE_LDS_BYTES: u32 = 131072;

export const TLB_BASE: usize = PhysicalMap.GPU_PRIVATE;
export const TLB_ENTRIES: u32 = 2048;
/** Temporary rows of the VALU. */
export const TEMP_BASE: usize = TLB_BASE + 0x10000;
/** Two pages behind every hole of an address space: what reads see (zeros), and where writes go. */
export const HOLE_BASE: usize = TLB_BASE + 0xf0000;
export const CONTEXT_BASE: usize = TLB_BASE + 0x20000;
export const CONTEXT_BYTES: u32 = 0x1000;
/** Random state of the queues' turns. */
export const MIX_RANDOM: usize = TLB_BASE + 0x28000;
/** Resident workgroups, `Group` records by queue. */
export const GROUP_BASE: usize = TLB_BASE + 0x30000;
/** What is in use of each WGP, `Wgp` records. */
export const WGP_BASE: usize = TLB_BASE + 0x40000;
export const MAX_WGPS: u32 = 64;
/** Per queue: context registers, then user configuration registers. */
export const REGISTER_FILES: usize = TLB_BASE + 0x50000;
export const FILE_BYTES: u32 = 0x1000;
export const SLOT_BASE: usize = TLB_BASE + 0x100000;
export const LDS_BASE: usize = SLOT_BASE + <usize>(QUEUES * QUEUE_SLOT_BYTES);
export const CODE_BASE: usize = LDS_BASE + <usize>(QUEUES * QUEUE_LDS_BYTES);
/** Decoded pages per queue, direct-mapped by page number. */
export const CODE_PAGES: u32 = 32;
export const CODE_PAGE_BYTES: u32 = 1024 << RECORD_SHIFT;

/** One wave. Offsets from its slot. */
export const enum Wave {
  /** u64: address of the next instruction. */
  PC = 0x00,
  SCC = 0x08,
  MODE = 0x0c,
  STATUS = 0x10,
  GROUP_X = 0x14,
  GROUP_Y = 0x18,
  GROUP_Z = 0x1c,
  INDEX = 0x20,
  /** Loads issued and completed, free running, per counter. A register's pending entry holds the issue number. */
  VM_ISSUED = 0x24,
  VM_DONE = 0x28,
  LGKM_ISSUED = 0x2c,
  LGKM_DONE = 0x30,
  /** Scalar loads among the outstanding lgkm ones: they return out of order. */
  SMEM_OUT = 0x34,
  /** VGPRs allocated. */
  VGPRS = 0x38,
  /** EXEC for which MASK_ROW holds. */
  MASKED_EXEC = 0x3c,
  /** u64: FLAT_SCRATCH, hwregs 20 and 21. */
  FLAT_SCRATCH = 0x40,
  /** Bytes of scratch of a lane. */
  SCRATCH_LIMIT = 0x48,
  /** Number of the SIMD it runs on: 4 a WGP, of which the first two are one CU. */
  SIMD = 0x4c,
  /** Place of its workgroup among the queue's resident ones. */
  GROUP = 0x50,
  /** Vector store instructions issued, free running. */
  VS_ISSUED = 0x54,
  /** u64: at least the registers with outstanding loads, as `Rec.USES` has them: of both counters, of each. */
  HAZARDS = 0x58,
  HAZARDS_VM = 0x60,
  HAZARDS_LGKM = 0x68,
  /** Counters mode: cycles since its workgroup's start, and issue cycles among them. */
  CLOCK = 0x70,
  ISSUED_CYCLES = 0x74,
  /** 32 lanes of all ones or zeros. */
  MASK_ROW = 0x80,
  /** Scalar file by operand code 0-255: registers, then constants; 256-271 binary16 forms of the float constants. */
  SCALARS = 0x100,
  EXEC = 0x2f8,
  VCC = 0x2a8,
  M0 = 0x2f0,
  LITERAL = 0x4fc,
  PENDING_VM = 0x600,
  PENDING_LGKM = 0xa00,
  PENDING_SGPR = 0xe00,
  /** Lanes that a VGPR's outstanding loads will write. */
  PENDING_LANES = 0x1000,
  VGPR_FILE = 0x1400,
  SLOT_BYTES = 0x9400,
}

/** A decoded instruction. Operand offsets count from the wave slot. */
export const enum Rec {
  /** u16 `Op`, the VOP3 form where there is one. */
  OP = 0,
  /** u8 `Class`; 0: not decoded yet. */
  CLASS = 2,
  /** u8: dwords. */
  DWORDS = 3,
  /** u16: destination register number (VGPR or SGPR by operation). */
  DST = 4,
  /** u16: second destination or SGPR field. */
  DST2 = 6,
  /** u16 offsets of operands. */
  SRC0 = 8,
  SRC1 = 10,
  SRC2 = 12,
  /** u16: mask register number or further VGPR number. */
  SRC3 = 14,
  /** u32 `Mod` bits. */
  MODS = 16,
  /** Literal, or DPP/SDWA dword, or what a memory instruction moves. */
  EXTRA = 20,
  /** i32 immediate: offset or simm16. */
  IMM = 24,
  /** Four (start u8, count u8) ranges of VGPRs read, then SGPRs read, then one of VGPRs written, two of SGPRs written. */
  READ_V = 28,
  READ_S = 36,
  WRITE_V = 44,
  WRITE_S = 46,
  /** u8 `LoadKind`. */
  LOAD = 50,
  /** u8 `Unit` for statistics. */
  UNIT = 51,
  /** u8 `Quick`, u8 `Shape`: the short way through the loop. */
  QUICK = 52,
  SHAPE = 53,
  /** u8: where the instruction's class stands in the loop's tally. */
  TALLY = 54,
  /** u64: a bit for each register read or written, by number modulo 32, SGPRs above. */
  USES = 56,
}

export const enum Class {
  NONE = 0,
  VALU = 1,
  COMPARE = 2,
  WIDE = 3,
  LANE = 4,
  SALU = 5,
  FLOW = 6,
  SMEM = 7,
  BUFFER = 8,
  FLAT = 9,
  LDS = 10,
  PACKED = 11,
}

/** What an instruction's destination registers wait for. */
export const enum LoadKind {
  NONE = 0,
  VM = 1,
  LDS = 2,
  SMEM = 3,
  /** FLAT: both counters. */
  BOTH = 4,
}

/** Instruction classes of the performance counters. */
export const enum Unit {
  SALU = 0,
  VALU = 1,
  SMEM = 2,
  VMEM = 3,
  LDS = 4,
  FLOW = 5,
}

export const enum Mod {
  NEG0 = 1,
  NEG1 = 2,
  NEG2 = 4,
  NEG = 7,
  ABS0 = 8,
  ABS1 = 16,
  ABS2 = 32,
  ABS = 56,
  OMOD_SHIFT = 6,
  OMOD = 0xc0,
  CLAMP = 0x100,
  OP_SEL_SHIFT = 9,
  OP_SEL = 0x1e00,
  DPP16 = 0x10000,
  DPP8 = 0x20000,
  SDWA = 0x40000,
  /** A literal dword follows: it goes to the LITERAL slot before execution. */
  LITERAL = 0x80000,
  /** Reads VCCZ, EXECZ or SCC as an operand. */
  SPECIAL = 0x100000,
  /** Sources are binary32 and obey the denormal mode. */
  FLOAT_IN = 0x200000,
  /** The result is binary32: clamp, omod, denormal mode. */
  FLOAT_OUT = 0x400000,
  /** Sources 0-2 and the result are 16-bit halves of registers (op_sel picks which). */
  HALF0 = 0x1000000,
  HALF1 = 0x2000000,
  HALF2 = 0x4000000,
  HALF_OUT = 0x8000000,
  /** Anything to do to the sources before the handler. */
  PREPARE = 0x707003f,
  /** Anything to do to the result after the handler. */
  FINISH = 0x1c0,
  /** MUBUF and flat: addressing bits. */
  OFFEN = 0x1000000,
  IDXEN = 0x2000000,
  GLC = 0x4000000,
  TFE = 0x8000000,
  DLC = 0x10000000,
}

/** A queue's context: packet and dispatch state that survives between slices. Offsets from CONTEXT_BASE + queue * CONTEXT_BYTES. */
export const enum Context {
  /** u64: next packet of the running indirect buffer; IB_LEFT dwords remain; 0 left: the ring runs. */
  IB_ADDRESS = 0x00,
  IB_LEFT = 0x08,
  VMID = 0x0c,
  /** u64 and header of the packet that runs. */
  PACKET = 0x10,
  PACKET_HEADER = 0x18,
  /** 1 while a dispatch runs. */
  DISPATCHING = 0x1c,
  GROUPS_X = 0x20,
  GROUPS_Y = 0x24,
  GROUPS_Z = 0x28,
  /** Next group to launch. */
  NEXT_X = 0x2c,
  NEXT_Y = 0x30,
  NEXT_Z = 0x34,
  /** Waves of a workgroup. */
  WAVES = 0x38,
  /** Slot of the wave to run next. */
  TURN = 0x3c,
  /** u64 */
  PROGRAM = 0x40,
  LDS_LIMIT = 0x48,
  VGPRS = 0x4c,
  /** First group of the dispatch. */
  START_X = 0x50,
  START_Y = 0x54,
  START_Z = 0x58,
  INITIATOR = 0x5c,
  /** u64 argument base of SET_BASE. */
  BASE = 0x60,
  /** Random state of slice lengths. */
  RANDOM = 0x68,
  /** Nested indirect buffers, and where the outer one goes on (u64, dwords). */
  DEPTH = 0x6c,
  SAVED_ADDRESS = 0x70,
  SAVED_LEFT = 0x78,
  /** Statistics of the last dispatch: u64 by `Unit`. */
  COUNTS = 0x80,
  WAVES_LAUNCHED = 0xc0,
  THREADS_X = 0xc4,
  THREADS_Y = 0xc8,
  THREADS_Z = 0xcc,
  /** Rows or tries done of an SDMA packet that takes several turns. */
  PROGRESS = 0xd0,
  /** Resident workgroups, places for them, and the place that runs where no seed mixes them. */
  RESIDENT = 0xd4,
  PLACES = 0xd8,
  CURRENT = 0xdc,
  /** Instructions that CURRENT has left of its turn. */
  QUANTUM = 0xe0,
  /** Bytes of a wave slot of this dispatch. */
  SLOT_BYTES = 0xe4,
  /** LDS bytes that each workgroup takes of its WGP. */
  LDS_ALLOCATED = 0xe8,
  /** 1: a workgroup uses both CUs of its WGP. */
  WGP_MODE = 0xec,
  /** WGP to try next. */
  NEXT_WGP = 0xf0,
  /** Counters mode: workgroups that have ended. */
  ENDED = 0xf4,
  /** u64: invocations that dispatches of the queue have launched. */
  INVOCATIONS = 0xf8,
  /** `CounterSum` values of the last dispatch. */
  PERF = 0x100,
  /** Parallel to a decoded page: u64 page number | 1 << 63 where valid. */
  CODE_TAGS = 0x200,
  /** SH registers, by (offset - 0xb000). */
  SH = 0x400,
}

/** A resident workgroup. Its waves' slots follow one another from place times waves on. */
export const enum Group {
  /** Waves that have not ended; 0: the place is free. */
  LIVE = 0,
  /** Live waves that wait at the barrier. */
  WAITING = 4,
  WGP = 8,
  /** First SIMD (global number) that it uses, and how many. */
  SIMD = 12,
  SIMDS = 16,
  /** Rank of the SIMD of its first wave. */
  FIRST = 20,
  BYTES = 32,
}

/** What resident workgroups have taken of a WGP. */
export const enum Wgp {
  /** Waves and VGPRs of each of its four SIMDs. */
  WAVES = 0,
  VGPRS = 16,
  /** LDS bytes of each CU's half. */
  LDS = 32,
  BYTES = 64,
}
