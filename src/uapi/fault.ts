/**
 * Fault records: slot `queue` at `PhysicalMap.FAULTS + queue * SLOT_BYTES`, written by the GPU while the queue is
 * HALTED. All offsets are in bytes inside the slot; every field is a `u32` unless it has LO and HI. Our own model.
 */
export const Fault = {
  SLOT_BYTES: 0x2_0000,
  /** `FaultKind`; 0: empty. */
  KIND: 0x00,
  VMID: 0x04,
  QUEUE: 0x08,
  /** `FaultAccess` for memory faults. */
  ACCESS: 0x0c,
  /** Accessed virtual address (memory faults). */
  ADDRESS_LO: 0x10,
  ADDRESS_HI: 0x14,
  /** Address of the instruction (shader faults), 0 for packet faults. */
  PC_LO: 0x18,
  PC_HI: 0x1c,
  /** Address of the packet's header that runs or failed: virtual in an indirect buffer, physical in the ring. */
  PACKET_LO: 0x20,
  PACKET_HI: 0x24,
  PACKET_HEADER: 0x28,
  /** The instruction's first two dwords. */
  INSTRUCTION_0: 0x2c,
  INSTRUCTION_1: 0x30,
  /** By kind: register number and its class (`RegisterClass`) for PENDING_REGISTER; page-table level (3..0) for NOT_MAPPED; the byte and the bytes that a lane has for PAST_SCRATCH. */
  DETAIL_0: 0x34,
  DETAIL_1: 0x38,
  /** Entries in the wave table. */
  WAVE_COUNT: 0x3c,
  /** Index into the wave table of the wave whose registers are dumped; 0xffffffff: none. */
  WAVE_INDEX: 0x40,
  /** Lane that accessed the address; 0xffffffff: not one lane. */
  LANE: 0x44,
  /** The dispatch: groups x, y, z and program address (bytes). */
  GROUPS_X: 0x48,
  GROUPS_Y: 0x4c,
  GROUPS_Z: 0x50,
  PROGRAM_LO: 0x54,
  PROGRAM_HI: 0x58,
  /** VGPRs dumped for the faulting wave. */
  VGPR_COUNT: 0x5c,
  /** Wave table: up to MAX_WAVES entries of WAVE_BYTES (`WaveRecord`). */
  WAVES: 0x80,
  WAVE_BYTES: 0x40,
  MAX_WAVES: 64,
  /** s0..s127 of the faulting wave by operand code: 0-105 SGPRs, 106/107 VCC, 124 M0, 126/127 EXEC. */
  SGPRS: 0x1080,
  /** VGPRs of the faulting wave: register-major, 32 lanes of 4 bytes each, at most 256. */
  VGPRS: 0x1280,
} as const;

export const WaveRecord = {
  PC_LO: 0x00,
  PC_HI: 0x04,
  EXEC: 0x08,
  VCC: 0x0c,
  SCC: 0x10,
  M0: 0x14,
  MODE: 0x18,
  /** `WaveStatus`. */
  STATUS: 0x1c,
  WORKGROUP_X: 0x20,
  WORKGROUP_Y: 0x24,
  WORKGROUP_Z: 0x28,
  /** Index of the wave in its workgroup. */
  WAVE_IN_GROUP: 0x2c,
} as const;

export const WaveStatus = { RUNNING: 0, BARRIER: 1, ENDED: 2 } as const;

export const FaultAccess = { NONE: 0, READ: 1, WRITE: 2, EXECUTE: 3, ATOMIC: 4 } as const;

export const RegisterClass = { SGPR: 0, VGPR: 1 } as const;

/** One row per fault: `kind` number, name, and the report's sentence; `{holes}` are filled by `src/debug`. */
export const faultKinds = [
  { kind: 1, name: "NOT_MAPPED", text: "{access} of unmapped address {address}" },
  { kind: 2, name: "NOT_READABLE", text: "read of address {address}, mapped without read permission" },
  { kind: 3, name: "NOT_WRITABLE", text: "write to read-only address {address}" },
  {
    kind: 4,
    name: "NOT_EXECUTABLE",
    text: "instruction fetch from address {address}, mapped without execute permission",
  },
  { kind: 5, name: "NOT_CANONICAL", text: "{access} of address {address}, which is not sign-extended from 48 bits" },
  { kind: 6, name: "MISALIGNED", text: "{access} of misaligned address {address}" },
  { kind: 7, name: "BAD_PTE", text: "page-table entry of {address} points outside VRAM and GTT" },
  {
    kind: 8,
    name: "PAST_SCRATCH",
    text: "{access} past the lane's scratch memory: byte {offset} of {limit}, at {address}",
  },
  { kind: 16, name: "ILLEGAL_INSTRUCTION", text: "illegal instruction {instruction}" },
  { kind: 17, name: "NOT_MODELLED", text: "instruction {instruction} is not modelled" },
  { kind: 18, name: "PENDING_REGISTER", text: "register {register} used while its load is outstanding" },
  { kind: 19, name: "BAD_REGISTER", text: "register {register} is outside the wave's allocation" },
  { kind: 20, name: "BARRIER_DEADLOCK", text: "every wave of the workgroup waits and none can go on" },
  { kind: 21, name: "TRAP", text: "s_trap executed" },
  { kind: 22, name: "LDS_MISALIGNED", text: "misaligned LDS address {address}" },
  { kind: 32, name: "UNKNOWN_PACKET", text: "unknown packet {packet}" },
  { kind: 33, name: "MALFORMED_PACKET", text: "malformed packet {packet}" },
  {
    kind: 34,
    name: "BAD_REGISTER_OFFSET",
    text: "packet {packet} writes register offset {detail}, which the model does not have",
  },
  { kind: 35, name: "BAD_DISPATCH", text: "dispatch state is not launchable (rule {detail})" },
  { kind: 36, name: "IB_DEPTH", text: "indirect buffers nest too deep" },
  { kind: 48, name: "HALTED", text: "halted on request after running too long" },
  { kind: 49, name: "INTERNAL", text: "the simulated GPU failed (code {detail})" },
] as const;

export type FaultName = (typeof faultKinds)[number]["name"];

/** Numbers of the fault kinds by name. */
export const FaultKind = Object.fromEntries(faultKinds.map((row) => [row.name, row.kind])) as {
  readonly [K in FaultName]: Extract<(typeof faultKinds)[number], { readonly name: K }>["kind"];
};

/** Rules of BAD_DISPATCH (DETAIL_0). */
export const BadDispatch = {
  /** A group dimension is 0 or the group has more than 1024 threads. */
  THREADS: 1,
  /** COMPUTE_SHADER_EN clear or CS_W32_EN clear: the model runs wave32 only. */
  INITIATOR: 2,
  /** More LDS than 64 KiB. */
  LDS: 3,
  /** User SGPRs, ids and scratch offset exceed the SGPR file. */
  SGPRS: 4,
  /** A feature bit of RSRC1/2/3 or of the initiator that the model does not have. */
  NOT_MODELLED: 5,
  /** The workgroup's waves, VGPRs or LDS exceed a WGP (in CU mode a CU). */
  OCCUPANCY: 6,
} as const;
