/**
 * Clauses: two or more loads of one kind that stand side by side get an `s_clause` in front, so that no other wave's
 * accesses come between theirs at the cache. Runs behind `waitcnt`: a wait ends a group, and so does all else.
 * Source: RDNA2 ISA, S_CLAUSE: SIMM16[5:0] is the number of instructions - 1, of 2 to 63 instructions; all of the
 * kind of the first. Kinds are SMEM and VMEM (images, buffers, and of FLAT its GLOBAL and SCRATCH segments).
 */
import { failed, spend } from "../../base/index.ts";
import { Format, OP_COUNT, Op, OpFlag, opFlags, opFormat } from "../../gen/isa-ops.ts";
import { bFirst, bOrder, mImm, mNext, mOp, mPlace } from "./columns.ts";
import { insertBefore, layoutLength, newInstr, setMachinePlace } from "./machine.ts";

const MAX_LENGTH: u32 = 63;

const NONE: u32 = 0;
const SCALAR: u32 = 1;
const VECTOR: u32 = 2;

/** The kind of a load, `NONE` of all else. Atomics write: they stay outside. */
function kindOf(i: u32): u32 {
  const op = mOp[i];
  if (op >= OP_COUNT || (opFlags(op) & (OpFlag.Load | OpFlag.Store | OpFlag.Atomic)) != <u32>OpFlag.Load) return NONE;
  switch (opFormat(op)) {
    case Format.SMEM:
      // Clocks read no memory.
      return op == Op.s_memtime || op == Op.s_memrealtime ? NONE : SCALAR;
    case Format.MUBUF:
    case Format.MTBUF:
    case Format.MIMG:
    case Format.GLOBAL:
    case Format.SCRATCH:
      return VECTOR;
    default:
      return NONE;
  }
}

/** Puts the instruction in front of a group that is long enough. */
function open(b: u32, first: u32, length: u32): void {
  if (length < 2) return;
  setMachinePlace(mPlace[first]);
  const clause = newInstr(Op.s_clause);
  if (failed()) return;
  mImm[clause] = length - 1;
  insertBefore(b, first, clause);
}

/** Inserts `s_clause` in all blocks. */
export function formClauses(): void {
  for (let k: u32 = 0; k < layoutLength() && spend(1); k++) {
    const b = bOrder[k];
    let kind: u32 = NONE;
    let first: u32 = 0;
    let length: u32 = 0;
    for (let i = bFirst[b]; i != 0; i = mNext[i]) {
      const next = kindOf(i);
      if (next == kind && length < MAX_LENGTH) {
        length++;
        continue;
      }
      if (kind != NONE) open(b, first, length);
      kind = next;
      first = i;
      length = 1;
    }
    if (kind != NONE) open(b, first, length);
  }
}
