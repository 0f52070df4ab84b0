/**
 * Live segments the cheap way, for code that control only goes forwards in: a unit lives from its first write to its last
 * read or write in layout order, whatever lies between. One walk, no lists. Source-order code keeps what a value needs
 * between its definition and its readers, so this covers what `liveness` would find; it only knows no holes.
 */
import { spend } from "../../base/index.ts";
import { OP_COUNT, OpFlag, opFlags } from "../../gen/isa-ops.ts";
import {
  bEndPos,
  bFirst,
  bIndex,
  bOrder,
  bStartPos,
  bSucc0,
  bSucc1,
  clearUnits,
  mDst0,
  mDst1,
  mNext,
  mOp,
  mPos,
  mSrc0,
  mSrc1,
  mSrc2,
  mSrc3,
  segEnd,
  uEnd,
  uLast,
  uSegments,
  uWrites,
  vFixed,
} from "./columns.ts";
import { isVreg, layoutLength, NO_REG, operandSize, operandUnit, operandVreg, units } from "./machine.ts";
import { newSegment } from "./segments.ts";

/** Whether control goes back to an earlier block, or to its own. */
export function hasBackEdge(): bool {
  const count = layoutLength();
  for (let k: u32 = 0; k < count; k++) {
    const b = bOrder[k];
    if (bSucc0[b] != 0 && bIndex[bSucc0[b]] <= k) return true;
    if (bSucc1[b] != 0 && bIndex[bSucc1[b]] <= k) return true;
  }
  return false;
}

function noteRead(operand: u32, end: u32): void {
  const first = operandUnit(operand);
  const last = first + operandSize(operand);
  for (let u = first; u < last; u++) {
    const s = uLast[u];
    // What nobody writes: it lives from the start.
    if (s == 0) startSegment(u, 2, end);
    else segEnd[s] = end;
    uEnd[u] = end;
  }
}

function noteWrite(operand: u32, start: u32): void {
  const first = operandUnit(operand);
  const last = first + operandSize(operand);
  for (let u = first; u < last; u++) {
    const s = uLast[u];
    if (s == 0) startSegment(u, vFixed[operandVreg(operand)] != NO_REG ? 0 : start, start + 1);
    else segEnd[s] = start + 1;
    uEnd[u] = start + 1;
    uWrites[u] = uWrites[u] + 1;
  }
}

function startSegment(u: u32, start: u32, end: u32): void {
  const s = newSegment(start, end);
  uSegments[u] = s;
  uLast[u] = s;
}

/** Positions and a segment for each unit that is read or written. The code must have no back edge. */
export function liveHulls(): void {
  clearUnits(units());
  let pos: u32 = 1;
  for (let k: u32 = 0; k < layoutLength(); k++) {
    const b = bOrder[k];
    bStartPos[b] = 2 * pos++;
    for (let i = bFirst[b]; i != 0; i = mNext[i]) {
      mPos[i] = pos;
      const at = 2 * pos + 1;
      if (isVreg(mSrc0[i])) noteRead(mSrc0[i], at);
      if (isVreg(mSrc1[i])) noteRead(mSrc1[i], at);
      if (isVreg(mSrc2[i])) noteRead(mSrc2[i], at);
      if (isVreg(mSrc3[i])) noteRead(mSrc3[i], at);
      if (isVreg(mDst0[i])) {
        if (mOp[i] < OP_COUNT && (opFlags(mOp[i]) & OpFlag.TiedDst) != 0) noteRead(mDst0[i], at);
        noteWrite(mDst0[i], at);
      }
      if (isVreg(mDst1[i])) noteWrite(mDst1[i], at);
      pos++;
    }
    bEndPos[b] = 2 * pos;
  }
  spend(pos);
}
