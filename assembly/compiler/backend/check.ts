/**
 * Proves the allocation by abstract execution, with the registers that selection named: the state is the set of units
 * whose register holds their value now. A write takes all other units of the register out; a copy within one register
 * adds its destination; where edges meet, only what both sides hold stays. Each read must be of a unit in the set.
 * SGPRs are followed along control's edges, VGPRs along lanes' edges. Registers don't touch each other, so those whose
 * states fit in the room at once are proved together, the others after them.
 *
 * Control's edges include some that nobody takes: where all lanes left a loop, the branch to its cont passes by what the
 * body computes for the lanes that stay. What was never written counts as held there, as for `liveness`.
 */
import { BitSet, Fail, fail, failAt, failed, Limit, U32Column } from "../../base/index.ts";
import { OP_COUNT, OpFlag, opFlags } from "../../gen/isa-ops.ts";
import { BACKEND_BASE, LIFT_BASE } from "../memory-map.ts";
import { registerOf } from "./allocate.ts";
import { leaderOf } from "./coalesce.ts";
import {
  bFirst,
  bIndex,
  bLane0,
  bLane1,
  bOrder,
  bSucc0,
  bSucc1,
  flowBytes,
  linkNext,
  linkValue,
  mDst0,
  mDst1,
  mMods,
  mNext,
  mOp,
  mPlace,
  mSrc0,
  vReg,
  vUnit,
} from "./columns.ts";
import {
  isVreg,
  layoutLength,
  link,
  linkMark,
  linkRelease,
  Mod,
  NO_REG,
  operandSize,
  operandUnit,
  operandVreg,
  RegClass,
  source,
  units,
  vregClass,
  vregOperand,
  vregSize,
  vregs,
} from "./machine.ts";
import { isLaneRegister } from "./spill.ts";

const SLOTS: u32 = 512;
/** First unit of each register: SGPR n at n, VGPR n at 256 + n. */
const holders = changetype<U32Column>(changetype<usize>(flowBytes));
/** Bits of a register under proof. */
const firstBit = changetype<U32Column>(changetype<usize>(flowBytes) + 2048);
const bitCount = changetype<U32Column>(changetype<usize>(flowBytes) + 4096);
/** Bit of a unit in the states, from 1; 0 for those that are not under proof. */
const bitOf = changetype<U32Column>(changetype<usize>(flowBytes) + 8192);
/** The lifter's and the passes' tables are dead by now. */
const STATES_AT: usize = LIFT_BASE;
const STATES_BYTES: usize = BACKEND_BASE - LIFT_BASE;

let stateWords: u32 = 0;

/** The set on entry of the block at place k; the running one is at place `layoutLength()`. */
function stateAt(k: u32): BitSet {
  return changetype<BitSet>(STATES_AT + ((<usize>k * <usize>stateWords) << 2));
}

function holds(state: BitSet, unit: u32): bool {
  return state.has(bitOf[unit] - 1);
}

/** Takes bits [from, to) out. */
function clearBits(state: BitSet, from: u32, to: u32): void {
  let bit = from;
  while (bit < to && (bit & 31) != 0) state.remove(bit++);
  const words = (to - bit) >> 5;
  if (bit < to) memory.fill(changetype<usize>(state) + ((<usize>bit >> 5) << 2), 0, (<usize>words) << 2);
  bit += words << 5;
  while (bit < to) state.remove(bit++);
}

function write(state: BitSet, operand: u32, copied: u32): void {
  const size = operandSize(operand);
  const first = operandUnit(operand);
  const slot = registerOf(operand);
  for (let k: u32 = 0; k < size; k++) {
    if (bitOf[first + k] == 0) continue;
    const keep = copied != 0 && registerOf(copied) + k == slot + k && holds(state, operandUnit(copied) + k);
    if (!keep) {
      clearBits(state, firstBit[slot + k], firstBit[slot + k] + bitCount[slot + k]);
    }
    state.add(bitOf[first + k] - 1);
  }
}

function read(state: BitSet, operand: u32, i: u32): void {
  const size = operandSize(operand);
  const first = operandUnit(operand);
  for (let k: u32 = 0; k < size; k++) {
    if (bitOf[first + k] == 0 || holds(state, first + k)) continue;
    failAt(mPlace[i], Fail.BACKEND_INVALID, 7, operandVreg(operand), i);
  }
}

function isOf(operand: u32, regClass: u32): bool {
  return isVreg(operand) && vregClass(operandVreg(operand)) == regClass;
}

function execute(b: u32, state: BitSet, regClass: u32, report: bool): void {
  for (let i = bFirst[b]; i != 0; i = mNext[i]) {
    const tied = mOp[i] < OP_COUNT && (opFlags(mOp[i]) & OpFlag.TiedDst) != 0;
    if (report) {
      for (let k: u32 = 0; k < 4; k++) if (isOf(source(i, k), regClass)) read(state, source(i, k), i);
      if (tied && isOf(mDst0[i], regClass)) read(state, mDst0[i], i);
    }
    const copied = (mMods[i] & Mod.COPY) != 0 && isOf(mSrc0[i], regClass) ? mSrc0[i] : 0;
    if (isOf(mDst0[i], regClass)) write(state, mDst0[i], copied);
    if (isOf(mDst1[i], regClass)) write(state, mDst1[i], 0);
  }
}

/** target = target and running; true when that took something away. */
function meet(target: BitSet, running: BitSet): bool {
  let changed = false;
  for (let w: u32 = 0; w < stateWords; w++) {
    const at = changetype<usize>(target) + ((<usize>w) << 2);
    const old = load<u32>(at);
    const both = old & load<u32>(changetype<usize>(running) + ((<usize>w) << 2));
    if (both == old) continue;
    store<u32>(at, both);
    changed = true;
  }
  return changed;
}

function checkClass(regClass: u32): void {
  const count = layoutLength();
  const bytes = (<usize>stateWords) << 2;
  memory.fill(changetype<usize>(stateAt(0)), 0xff, bytes * <usize>count);
  if (regClass == RegClass.VGPR) memory.fill(changetype<usize>(stateAt(0)), 0, bytes);
  const running = stateAt(count);
  const vector = regClass == RegClass.VGPR;
  let changed = true;
  while (changed) {
    changed = false;
    for (let k: u32 = 0; k < count; k++) {
      const b = bOrder[k];
      memory.copy(changetype<usize>(running), changetype<usize>(stateAt(k)), bytes);
      execute(b, running, regClass, false);
      const s0 = vector ? bLane0[b] : bSucc0[b];
      const s1 = vector ? bLane1[b] : bSucc1[b];
      if (s0 != 0 && meet(stateAt(bIndex[s0]), running)) changed = true;
      if (s1 != 0 && meet(stateAt(bIndex[s1]), running)) changed = true;
    }
  }
  for (let k: u32 = 0; k < count; k++) {
    memory.copy(changetype<usize>(running), changetype<usize>(stateAt(k)), bytes);
    execute(bOrder[k], running, regClass, true);
  }
}

/** Fails with BACKEND_INVALID where a read would see another value; with a limit where one register's states need too much room. */
export function checkAllocation(): void {
  const mark = linkMark();
  holders.clear(0, SLOTS);
  for (let u: u32 = 0; u < units(); u++) bitOf[u] = 0;
  for (let v: u32 = 1; v < vregs(); v++) {
    // Lanes of spill registers are written whatever EXEC is, so lanes' edges say nothing about them.
    if (vReg[leaderOf(v)] == NO_REG || isLaneRegister(v)) continue;
    const slot = registerOf(vregOperand(v, 1, 0));
    const size = vregSize(v);
    for (let k: u32 = 0; k < size; k++) holders[slot + k] = link(vUnit[v] + k, holders[slot + k]);
  }
  const room = <u32>min<usize>(STATES_BYTES / (<usize>layoutLength() + 1) / 4, 1 << 20) * 32;
  for (let regClass: u32 = RegClass.SGPR; regClass <= <u32>RegClass.VGPR; regClass++) {
    const end: u32 = regClass == RegClass.SGPR ? 256 : SLOTS;
    let from = end - 256;
    while (from < end && !failed()) {
      let bits: u32 = 0;
      let to = from;
      for (; to < end; to++) {
        const before = bits;
        firstBit[to] = bits;
        for (let l = holders[to]; l != 0; l = linkNext[l]) bitOf[linkValue[l]] = ++bits;
        bitCount[to] = bits - before;
        if (bits <= room) continue;
        if (to == from) fail(Fail.LIMIT, Limit.MACHINE, room, 0);
        for (let l = holders[to]; l != 0; l = linkNext[l]) bitOf[linkValue[l]] = 0;
        bits = before;
        break;
      }
      if (failed()) break;
      stateWords = (bits + 31) >> 5;
      if (bits > 0) checkClass(regClass);
      for (let slot = from; slot < to; slot++) {
        for (let l = holders[slot]; l != 0; l = linkNext[l]) bitOf[linkValue[l]] = 0;
      }
      from = to;
    }
  }
  linkRelease(mark);
}
