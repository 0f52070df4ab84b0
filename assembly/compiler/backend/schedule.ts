/**
 * Moves loads, with the address arithmetic that they hang on, to the front of their region, so that several are under
 * way before the first wait. A stable partition: both halves keep their order. A region ends at anything that changes
 * EXEC or another fixed register, at atomics, ordering and branches, at writes of registers that are written more than
 * once, and when its loads fill a share of the registers. SCC and memory order are dependencies like registers: what a
 * moved instruction needs moves with it. Runs on virtual registers before `liveness`.
 */
import { spend, U32Column } from "../../base/index.ts";
import { Format, OP_COUNT, Op, OpFlag, opFlags, opFormat } from "../../gen/isa-ops.ts";
import { bFirst, bOrder, flowBytes, mDst0, mDst1, mMods, mNext, mOp, uWrites } from "./columns.ts";
import {
  insertBefore,
  isVreg,
  layoutLength,
  Mod,
  operandSize,
  operandUnit,
  operandVreg,
  RegClass,
  removeInstr,
  source,
  units,
  vregClass,
} from "./machine.ts";

/** Dwords that the loads of one region may bring. */
const VGPR_SHARE: u32 = 24;
const SGPR_SHARE: u32 = 24;
const MAX_REGION: u32 = 1 << 16;

/** Region under construction, what of it moves, and by unit the region that needs it. */
const region = changetype<U32Column>(changetype<usize>(flowBytes));
const moves = changetype<U32Column>(changetype<usize>(flowBytes) + (1 << 19));
const neededIn = changetype<U32Column>(changetype<usize>(flowBytes) + (1 << 20));

/** As `neededIn`: the region in which a unit is read, copies left out. */
const readIn = changetype<U32Column>(changetype<usize>(flowBytes) + (8 << 20));

let length: u32 = 0;
let stamp: u32 = 0;
let vgprs: u32 = 0;
let sgprs: u32 = 0;

/** Memory that an instruction works on: 0 none, 1 buffers, 2 LDS, 3 what nothing writes (scalar loads). */
function memoryOf(op: u32): u32 {
  switch (opFormat(op)) {
    case Format.MUBUF:
    case Format.MIMG:
    case Format.GLOBAL:
    case Format.SCRATCH:
      return 1;
    case Format.DS:
      return 2;
    case Format.SMEM:
      return 3;
    default:
      return 0;
  }
}

function countWrites(operand: u32): void {
  if (!isVreg(operand)) return;
  const first = operandUnit(operand);
  for (let k: u32 = 0; k < operandSize(operand); k++) uWrites[first + k] = uWrites[first + k] + 1;
}

function writtenOften(operand: u32): bool {
  if (operand == 0) return false;
  if (!isVreg(operand)) return true;
  const first = operandUnit(operand);
  for (let k: u32 = 0; k < operandSize(operand); k++) if (uWrites[first + k] > 1) return true;
  return false;
}

const BOUNDARY: u32 =
  OpFlag.WritesExec |
  OpFlag.WritesVcc |
  OpFlag.ReadsVcc |
  OpFlag.ReadsM0 |
  OpFlag.Branch |
  OpFlag.Terminator |
  OpFlag.Atomic |
  OpFlag.Cache |
  OpFlag.Wait;

function isBoundary(i: u32): bool {
  const op = mOp[i];
  if (op >= OP_COUNT || op == Op.s_setreg_b32 || (opFlags(op) & BOUNDARY) != 0 || opFormat(op) == Format.SOPP)
    return true;
  return writtenOften(mDst0[i]) || writtenOften(mDst1[i]);
}

function need(operand: u32): void {
  if (!isVreg(operand)) return;
  const first = operandUnit(operand);
  for (let k: u32 = 0; k < operandSize(operand); k++) neededIn[first + k] = stamp;
}
function isNeeded(operand: u32): bool {
  if (!isVreg(operand)) return false;
  const first = operandUnit(operand);
  for (let k: u32 = 0; k < operandSize(operand); k++) if (neededIn[first + k] == stamp) return true;
  return false;
}

function noteRead(operand: u32): void {
  if (!isVreg(operand)) return;
  const first = operandUnit(operand);
  for (let k: u32 = 0; k < operandSize(operand); k++) readIn[first + k] = stamp;
}
/** Something in the region that is no copy reads it. */
function isRead(operand: u32): bool {
  if (!isVreg(operand)) return false;
  const first = operandUnit(operand);
  for (let k: u32 = 0; k < operandSize(operand); k++) if (readIn[first + k] == stamp) return true;
  return false;
}

/** Marks what moves; true when that changes the order. */
function markMoves(): bool {
  stamp++;
  for (let k: u32 = 0; k < length; k++) {
    if ((mMods[region[k]] & Mod.COPY) != 0) continue;
    for (let s: u32 = 0; s < 4; s++) noteRead(source(region[k], s));
  }
  // A load behind a store to its kind of memory is no reason to move anything, nor is one that only a phi reads: its
  // register may be the phi's own where it stands.
  let bufferStores = false;
  let ldsStores = false;
  for (let k: u32 = 0; k < length; k++) {
    const op = mOp[region[k]];
    const memory = memoryOf(op);
    moves[k] = 0;
    if ((opFlags(op) & OpFlag.Load) != 0) {
      const behind = (memory == 1 && bufferStores) || (memory == 2 && ldsStores);
      moves[k] = behind || !isRead(mDst0[region[k]]) ? 0 : 1;
    } else if (memory == 1) {
      bufferStores = true;
    } else if (memory == 2) {
      ldsStores = true;
    }
  }
  let needScc = false;
  let needBuffers = false;
  let needLds = false;
  let stays = false;
  let changes = false;
  for (let k = length; k-- > 0; ) {
    const i = region[k];
    const flags = opFlags(mOp[i]);
    const memory = memoryOf(mOp[i]);
    const root = moves[k] != 0;
    const wanted =
      root ||
      isNeeded(mDst0[i]) ||
      isNeeded(mDst1[i]) ||
      (needScc && (flags & OpFlag.WritesScc) != 0) ||
      (needBuffers && memory == 1) ||
      (needLds && memory == 2);
    if (!wanted) {
      moves[k] = 0;
      stays = true;
      continue;
    }
    moves[k] = 1;
    if ((flags & OpFlag.WritesScc) != 0) needScc = false;
    if ((flags & OpFlag.ReadsScc) != 0) needScc = true;
    // A load that was no root stands behind a store: the store, and what stands before it, must stay before it.
    if (!root && memory == 1) needBuffers = true;
    if (!root && memory == 2) needLds = true;
    for (let s: u32 = 0; s < 4; s++) need(source(i, s));
  }
  for (let k: u32 = 0; k < length; k++) {
    if (moves[k] == 0) stays = true;
    else if (stays && k > 0 && moves[k - 1] == 0) changes = true;
  }
  return changes;
}

/** Reorders the region, which stands in front of `end` (0: the end of the block). */
function flush(b: u32, end: u32): void {
  if (length > 1 && markMoves()) {
    for (let k: u32 = 0; k < length; k++) removeInstr(region[k]);
    for (let half: u32 = 0; half < 2; half++) {
      for (let k: u32 = 0; k < length; k++) if (moves[k] != half) insertBefore(b, end, region[k]);
    }
  }
  length = 0;
  vgprs = 0;
  sgprs = 0;
}

function scheduleBlock(b: u32): void {
  let next: u32 = 0;
  for (let i = bFirst[b]; i != 0; i = next) {
    next = mNext[i];
    if (isBoundary(i)) {
      flush(b, i);
      continue;
    }
    region[length++] = i;
    if ((opFlags(mOp[i]) & OpFlag.Load) != 0 && isVreg(mDst0[i])) {
      if (vregClass(operandVreg(mDst0[i])) == RegClass.VGPR) vgprs += operandSize(mDst0[i]);
      else sgprs += operandSize(mDst0[i]);
    }
    if (vgprs >= VGPR_SHARE || sgprs >= SGPR_SHARE || length == MAX_REGION) flush(b, next);
  }
  flush(b, 0);
}

/** Reorders all blocks. */
export function schedule(): void {
  for (let u: u32 = 0; u < units(); u++) {
    uWrites[u] = 0;
    neededIn[u] = 0;
    readIn[u] = 0;
  }
  stamp = 0;
  length = 0;
  for (let k: u32 = 0; k < layoutLength(); k++) {
    for (let i = bFirst[bOrder[k]]; i != 0; i = mNext[i]) {
      countWrites(mDst0[i]);
      countWrites(mDst1[i]);
    }
  }
  for (let k: u32 = 0; k < layoutLength(); k++) {
    if (!spend(2)) return;
    scheduleBlock(bOrder[k]);
  }
}
