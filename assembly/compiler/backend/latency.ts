/**
 * The latency model of `schedule`, and what it must know of each opcode, as one word an opcode. Cycles until a reader may
 * issue without a stall: `src/isa/latencies.ts`.
 */

import { Latency } from "../../gen/isa-latencies.ts";
import {
  Counter,
  Format,
  OP_COUNT,
  Op,
  OpFlag,
  opCounter,
  opFlags,
  opFormat,
  opIssueCycles,
} from "../../gen/isa-ops.ts";

/** Of an opcode's word: cycles of latency in [9:0], of issue in [14:10], then what follows. */
export const enum Trait {
  LATENCY = 0x3ff,
  ISSUE_SHIFT = 10,
  ISSUE = 0x1f,
  /** Nothing moves over it: EXEC, branches, waits, exports, cache operations, clocks. */
  BOUNDARY = 0x8000,
  READS_SCC = 0x10000,
  WRITES_SCC = 0x20000,
  /** VCC as an implied operand, or M0. */
  READS_FIXED = 0x40000,
  WRITES_FIXED = 0x80000,
  /** The destination's old value is read. */
  TIED = 0x100000,
  /** Brings something from memory, or through the LDS's crossbar. */
  LOAD = 0x200000,
  /** Reads memory that something writes. */
  READS = 0x400000,
  WRITES = 0x800000,
  LDS = 0x1000000,
  SCRATCH = 0x2000000,
}

/** Room for opcodes; more than `OP_COUNT`. */
const MAX_OPS: u32 = 2048;
const words = memory.data(2048 * 4, 4);
let filled: bool = false;

const BOUNDARIES: u32 = OpFlag.WritesExec | OpFlag.Branch | OpFlag.Terminator | OpFlag.Cache | OpFlag.Wait;

function isBoundary(op: u32): bool {
  if ((opFlags(op) & BOUNDARIES) != 0) return true;
  switch (opFormat(op)) {
    case Format.none:
    case Format.SOPP:
    case Format.EXP:
    case Format.FLAT:
      return true;
    case Format.SMEM:
      return op == Op.s_memtime || op == Op.s_memrealtime || (opFlags(op) & OpFlag.Load) == 0;
    case Format.SOPK:
      return op == Op.s_setreg_b32 || op == Op.s_setreg_imm32_b32;
    case Format.VINTRP:
    case Format.DS:
      return false;
    default:
      // Registers that M0 picks are no operands.
      return (opFlags(op) & OpFlag.ReadsM0) != 0;
  }
}

function latencyOf(op: u32): u32 {
  switch (opFormat(op)) {
    case Format.SOP1:
    case Format.SOP2:
    case Format.SOPC:
    case Format.SOPK:
      return Latency.SCALAR;
    case Format.SMEM:
      return Latency.SMEM;
    case Format.DS:
      return Latency.LDS;
    case Format.MIMG:
      return (opFlags(op) & OpFlag.Sampler) != 0 ? Latency.SAMPLE : Latency.VMEM;
    case Format.MUBUF:
    case Format.MTBUF:
    case Format.SCRATCH:
    case Format.GLOBAL:
      return Latency.VMEM;
    default:
      if ((opFlags(op) & OpFlag.Trans) != 0) return Latency.TRANSCENDENTAL;
      return opIssueCycles(op) >= 16 ? Latency.DOUBLE : Latency.VECTOR;
  }
}

/** The traits of a memory instruction beside its latency. */
function memoryTraits(op: u32): u32 {
  const flags = opFlags(op);
  const format = opFormat(op);
  const writes: u32 = (flags & (OpFlag.Store | OpFlag.Atomic)) != 0 ? Trait.WRITES : 0;
  const reads: u32 = (flags & (OpFlag.Load | OpFlag.Atomic)) != 0 && (flags & OpFlag.Sampler) == 0 ? Trait.READS : 0;
  const place: u32 = format == Format.DS ? Trait.LDS : format == Format.SCRATCH ? Trait.SCRATCH : 0;
  const loads: u32 = (flags & OpFlag.Store) == 0 ? Trait.LOAD : 0;
  return writes | reads | place | loads;
}

function traitsOf(op: u32): u32 {
  if (isBoundary(op)) return Trait.BOUNDARY;
  const flags = opFlags(op);
  let traits = latencyOf(op) | (min<u32>(opIssueCycles(op), 16) << Trait.ISSUE_SHIFT);
  if (opCounter(op) != Counter.none) traits |= memoryTraits(op);
  if ((flags & OpFlag.ReadsScc) != 0) traits |= Trait.READS_SCC;
  if ((flags & OpFlag.WritesScc) != 0) traits |= Trait.WRITES_SCC;
  if ((flags & OpFlag.ReadsVcc) != 0 || ((flags & OpFlag.ReadsM0) != 0 && opFormat(op) != Format.DS))
    traits |= Trait.READS_FIXED;
  if ((flags & OpFlag.WritesVcc) != 0) traits |= Trait.WRITES_FIXED;
  if ((flags & OpFlag.TiedDst) != 0) traits |= Trait.TIED;
  return traits;
}

/** Makes the table when it is not there yet. */
export function prepareTraits(): void {
  if (filled) return;
  filled = true;
  assert(OP_COUNT <= MAX_OPS);
  for (let op: u32 = 0; op < OP_COUNT; op++) store<u32>(words + ((<usize>op) << 2), traitsOf(op));
}

/** Traits of an opcode; of pseudo instructions: a boundary. */
export function traits(op: u32): u32 {
  return op < OP_COUNT ? load<u32>(words + ((<usize>op) << 2)) : <u32>Trait.BOUNDARY;
}
