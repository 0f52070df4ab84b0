/**
 * Facts about an instruction beyond its operands, one bit each. The generated `OpFlag` of `assembly/gen/isa-ops.ts`
 * has the same numbers. Source: RDNA2 ISA, instruction chapters.
 */
export const Flag = {
  ReadsScc: 1 << 0,
  WritesScc: 1 << 1,
  /** VCC as an implied operand; an explicit vcc in a scalar field is not meant. */
  ReadsVcc: 1 << 2,
  WritesVcc: 1 << 3,
  /** Acts on the lanes of EXEC, or reads it as data. */
  ReadsExec: 1 << 4,
  WritesExec: 1 << 5,
  ReadsM0: 1 << 6,
  /** Rounding, denormal or clamp mode matters. */
  ReadsMode: 1 << 7,
  /** The destination's old value is a source (fmac, cmov, addk, sub-dword loads). */
  TiedDst: 1 << 8,
  /** Quarter-rate transcendental. */
  Trans: 1 << 9,
  /** Writes the program counter. */
  Branch: 1 << 10,
  /** Nothing after it in its block runs in sequence: ends, unconditional and conditional branches. */
  Terminator: 1 << 11,
  /** Source 0 and source 1 may change places. */
  Commutes: 1 << 12,
  Load: 1 << 13,
  Store: 1 << 14,
  /** Read-modify-write; the vector memory forms return the old value where glc is set. */
  Atomic: 1 << 15,
  /** Cache maintenance or a prefetch: no data. */
  Cache: 1 << 16,
  /** DS: two 8-bit element offsets instead of one 16-bit byte offset. */
  PairOffset: 1 << 17,
  /** The VOP3 form takes clamp. */
  Clamp: 1 << 18,
  /** The VOP3 form takes omod. */
  Omod: 1 << 19,
  /** The VOP3 form takes op_sel. */
  OpSel: 1 << 20,
  /** VOP1, VOP2, VOPC without a VOP3 form. */
  NoE64: 1 << 21,
  /** VOP1, VOP2 without DPP16 and DPP8 forms (no VOPC has them). */
  NoDpp: 1 << 22,
  /** VOP1, VOP2, VOPC without an SDWA form. */
  NoSdwa: 1 << 23,
  /** A source may be the 32-bit literal (derived from the operands). */
  Literal: 1 << 24,
  /** A vector instruction that acts whatever EXEC is. */
  IgnoresExec: 1 << 25,
  /** s_waitcnt and its kin. */
  Wait: 1 << 26,
  /** A vector memory atomic that exists with glc only. */
  ReturnOnly: 1 << 27,
  /** DS, GLOBAL: the lane number takes the place of the address VGPR. */
  AddTid: 1 << 28,
  /** MIMG: takes a S#. */
  Sampler: 1 << 29,
  /** MIMG: four results, dmask picks the component. */
  Gather: 1 << 30,
} as const;

/** Which outstanding-work counter an instruction raises; `vm-or-vs` is vmcnt with glc, vscnt without. */
export type CounterClass = "none" | "vm" | "vs" | "vm-or-vs" | "lgkm" | "exp" | "vm+lgkm" | "vs+lgkm" | "vm-or-vs+lgkm";

/** In the order of their numbers in `assembly/gen/isa-ops.ts`. */
export const counterClasses: readonly CounterClass[] = [
  "none",
  "vm",
  "vs",
  "vm-or-vs",
  "lgkm",
  "exp",
  "vm+lgkm",
  "vs+lgkm",
  "vm-or-vs+lgkm",
];
