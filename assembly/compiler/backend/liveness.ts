/**
 * Live segments of units, built one unit at a time by walking from its reads back to its writes: the cost is the number
 * of blocks in which units live, not units times blocks, and a large if or loop that has nothing to do with a unit is one step.
 * SGPRs live along the edges that control takes, VGPRs along those
 * that a lane takes: a write under EXEC leaves the other lanes' values alone. Registers need not be SSA.
 */
import { spend, U32Column } from "../../base/index.ts";
import { OP_COUNT, OpFlag, opFlags } from "../../gen/isa-ops.ts";
import {
  bBehind,
  bEndPos,
  bFirst,
  bHead,
  bIndex,
  bLanePreds,
  bLast,
  bOrder,
  bPreds,
  bScratch,
  bStack,
  bStamp,
  bStartPos,
  clearUnits,
  flowBytes,
  linkNext,
  linkValue,
  mBlock,
  mDst0,
  mDst1,
  mNext,
  mOp,
  mPos,
  mPrev,
  mSrc0,
  mSrc1,
  mSrc2,
  mSrc3,
  segEnd,
  uEnd,
  uEvents,
  uFinger,
  uHome,
  uLast,
  uSegments,
  uWrites,
  vFixed,
  vUnit,
} from "./columns.ts";
import { hasBackEdge, liveHulls } from "./hulls.ts";
import {
  isNested,
  isVreg,
  layoutLength,
  link,
  linkMark,
  linkPredecessors,
  linkRelease,
  madeWholeWave,
  NO_REG,
  operandSize,
  operandUnit,
  operandVreg,
  RegClass,
  source,
  units,
  vregClass,
  vregSize,
  vregs,
} from "./machine.ts";
import { newSegment, pushSegment, resetSegments } from "./segments.ts";
import { isLaneRegister } from "./slots.ts";
import { sortByKey } from "./sort.ts";

const LIVE_IN: u32 = 1;
const LIVE_OUT: u32 = 2;
const HAS_DEF: u32 = 4;
/** Lives through the whole of the if or loop that starts here. */
const THROUGH: u32 = 8;

/** Ifs and loops of fewer blocks are walked: what leaves from inside them need not keep what only their end has use for. */
const MANY_BLOCKS: u32 = 16;

/** Blocks in which the running unit lives, and room to sort them. */
const touched = changetype<U32Column>(changetype<usize>(flowBytes));
const touchedSpare = changetype<U32Column>(changetype<usize>(flowBytes) + (1 << 20));

/** Of `uHome`: reads and writes in several blocks, or a read in front of all writes. */
const SEVERAL: u32 = 0xffffffff;
/** From the first mention to the last: `isNested`. */
const NESTED: u32 = 0xfffffffe;
/** No part of the register file's holes: lanes for spilled SGPRs. */
const APART: u32 = 0xfffffffd;
let anySeveral: bool = false;

/** A unit that does not live within one block is left to `liveUnit`. */
function setSeveral(u: u32): void {
  uHome[u] = SEVERAL;
  anySeveral = true;
}

function readOperand(operand: u32, b: u32, end: u32): void {
  const first = operandUnit(operand);
  const size = operandSize(operand);
  for (let u = first; u < first + size; u++) {
    const home = uHome[u];
    if (home == b) {
      segEnd[uLast[u]] = end;
      uEnd[u] = end;
    } else if (home < APART) {
      setSeveral(u);
    } else if (home == NESTED) {
      stretch(u, 2, end);
    }
  }
}

function writeOperand(operand: u32, b: u32, start: u32): void {
  const first = operandUnit(operand);
  const size = operandSize(operand);
  for (let u = first; u < first + size; u++) {
    const home = uHome[u];
    if (home == 0) {
      uHome[u] = b;
      uWrites[u] = 1;
      const s = newSegment(vFixed[operandVreg(operand)] != NO_REG ? 0 : start, start + 1);
      uSegments[u] = s;
      uLast[u] = s;
      uEnd[u] = start + 1;
    } else if (home == b) {
      uWrites[u] = uWrites[u] + 1;
      uLast[u] = pushSegment(u, uLast[u], start, start + 1);
      uEnd[u] = start + 1;
    } else if (home < APART) {
      setSeveral(u);
    } else if (home == NESTED) {
      uWrites[u] = uWrites[u] + 1;
      stretch(u, start, start + 1);
    }
  }
}

/** A unit with one segment lives up to `end`; from `start` on, if it did not before. */
function stretch(u: u32, start: u32, end: u32): void {
  if (uLast[u] == 0) {
    uSegments[u] = newSegment(start, end);
    uLast[u] = uSegments[u];
  }
  segEnd[uLast[u]] = end;
  uEnd[u] = end;
}

/**
 * Numbers instructions and blocks in layout order: half positions 2p (reads) and 2p + 1 (writes). Units that one block
 * writes before it reads them, and no other block has, get their segments: most units.
 */
function liveInBlocks(): void {
  let pos: u32 = 1;
  anySeveral = false;
  clearUnits(units());
  for (let v: u32 = 1; v < vregs(); v++) {
    if (isNested(v)) uHome[vUnit[v]] = NESTED;
    else if (isLaneRegister(v)) uHome[vUnit[v]] = APART;
  }
  for (let k: u32 = 0; k < layoutLength(); k++) {
    const b = bOrder[k];
    bStartPos[b] = 2 * pos++;
    for (let i = bFirst[b]; i != 0; i = mNext[i]) {
      mPos[i] = pos;
      const end = 2 * pos + 1;
      if (isVreg(mSrc0[i])) readOperand(mSrc0[i], b, end);
      if (isVreg(mSrc1[i])) readOperand(mSrc1[i], b, end);
      if (isVreg(mSrc2[i])) readOperand(mSrc2[i], b, end);
      if (isVreg(mSrc3[i])) readOperand(mSrc3[i], b, end);
      if (isVreg(mDst0[i])) {
        if (isTied(i)) readOperand(mDst0[i], b, end);
        writeOperand(mDst0[i], b, end);
      }
      if (isVreg(mDst1[i])) writeOperand(mDst1[i], b, end);
      pos++;
    }
    bEndPos[b] = 2 * pos;
  }
  spend(units());
}

/** Reads what it writes. */
function isTied(i: u32): bool {
  return mOp[i] < OP_COUNT && (opFlags(mOp[i]) & OpFlag.TiedDst) != 0;
}

function addEvents(operand: u32, event: u32): void {
  if (!isVreg(operand)) return;
  const first = operandUnit(operand);
  const size = operandSize(operand);
  for (let u = first; u < first + size; u++) if (uHome[u] == SEVERAL) uEvents[u] = link(event, uEvents[u]);
}

/** Lists the reads and writes of the units left over in layout order, a read before a write of the same instruction. */
function collectEvents(): void {
  for (let k = layoutLength(); k-- > 0; ) {
    for (let i = bLast[bOrder[k]]; i != 0; i = mPrev[i]) {
      addEvents(mDst0[i], i * 2 + 1);
      addEvents(mDst1[i], i * 2 + 1);
      for (let s: u32 = 0; s < 4; s++) addEvents(source(i, s), i * 2);
      if (isTied(i)) addEvents(mDst0[i], i * 2);
    }
  }
}

function touch(b: u32, stamp: u32, count: u32): u32 {
  if (bStamp[b] == stamp) return count;
  bStamp[b] = stamp;
  bScratch[b] = 0;
  touched[count] = b;
  return count + 1;
}

/** Live segments of one unit of class `regClass`. */
function liveUnit(u: u32, regClass: u32, fixed: bool): void {
  uSegments[u] = 0;
  uEnd[u] = 0;
  const stamp = u + 1;
  let count: u32 = 0;
  let stack: u32 = 0;
  // Blocks with events; those that read before they write are live-in.
  let block: u32 = 0;
  let writes: u32 = 0;
  for (let e = uEvents[u]; e != 0; e = linkNext[e]) {
    const event = linkValue[e];
    const b = mBlock[event >> 1];
    writes += event & 1;
    if (b != block) {
      block = b;
      count = touch(b, stamp, count);
      if ((event & 1) == 0) {
        bScratch[b] = LIVE_IN;
        bStack[stack++] = b;
      }
    }
    if ((event & 1) != 0) bScratch[b] = bScratch[b] | HAS_DEF;
  }
  uWrites[u] = writes;
  const mentions = count;
  const preds = regClass == RegClass.VGPR ? bLanePreds : bPreds;
  while (stack > 0) {
    const b = bStack[--stack];
    const head = bHead[b];
    if (head != 0 && bIndex[b] - bIndex[head] > MANY_BLOCKS && isUnmentioned(mentions, bIndex[head], bIndex[b])) {
      const first = bOrder[bIndex[head] + 1];
      count = touch(first, stamp, count);
      bScratch[first] = bScratch[first] | THROUGH;
      count = touch(head, stamp, count);
      const state = bScratch[head];
      bScratch[head] = state | LIVE_OUT;
      if ((state & (HAS_DEF | LIVE_IN | LIVE_OUT)) == 0) {
        bScratch[head] = state | LIVE_OUT | LIVE_IN;
        bStack[stack++] = head;
      }
      continue;
    }
    for (let l = preds[b]; l != 0; l = linkNext[l]) {
      const p = linkValue[l];
      count = touch(p, stamp, count);
      const state = bScratch[p];
      if ((state & LIVE_OUT) != 0) continue;
      bScratch[p] = state | LIVE_OUT;
      if ((state & (HAS_DEF | LIVE_IN)) == 0) {
        bScratch[p] = state | LIVE_OUT | LIVE_IN;
        bStack[stack++] = p;
      }
    }
  }
  spend(count);
  // Events come in layout order, so the blocks must too.
  if (count > 1) count = inLayoutOrder(stamp, count);
  let e = uEvents[u];
  let last: u32 = 0;
  for (let k: u32 = 0; k < count; k++) {
    const b = touched[k];
    if ((bScratch[b] & THROUGH) != 0)
      last = pushSegment(u, last, bStartPos[b], bEndPos[bOrder[bIndex[bBehind[b]] - 1]]);
    let open = (bScratch[b] & LIVE_IN) != 0 ? bStartPos[b] : NO_REG;
    let end = open;
    while (e != 0 && mBlock[linkValue[e] >> 1] == b) {
      const event = linkValue[e];
      const pos = 2 * mPos[event >> 1];
      if ((event & 1) == 0) {
        end = pos + 1;
      } else {
        if (open != NO_REG && end > open) last = pushSegment(u, last, open, end);
        open = fixed && last == 0 ? 0 : pos + 1;
        end = pos + 2;
      }
      e = linkNext[e];
    }
    if ((bScratch[b] & LIVE_OUT) != 0) end = bEndPos[b];
    if (open != NO_REG && end > open) last = pushSegment(u, last, open, end);
  }
  if (last != 0) uEnd[u] = segEnd[last];
  uLast[u] = last;
  uFinger[u] = 0;
}

/** Whether none of the first n touched blocks, which stand in layout order, stands between two places of the layout. */
function isUnmentioned(n: u32, from: u32, to: u32): bool {
  let low: u32 = 0;
  let high = n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (bIndex[touched[middle]] > from) high = middle;
    else low = middle + 1;
  }
  return low == n || bIndex[touched[low]] >= to;
}

/** Sorts the touched blocks: a walk over the layout where they stand close together. Answers their number. */
function inLayoutOrder(stamp: u32, count: u32): u32 {
  let first = bIndex[touched[0]];
  let last = first;
  for (let k: u32 = 1; k < count; k++) {
    const at = bIndex[touched[k]];
    first = min<u32>(first, at);
    last = max<u32>(last, at);
  }
  if (last - first >= 4 * count) {
    sortByKey(touched, touchedSpare, count, changetype<usize>(bIndex), 5);
    return count;
  }
  let n: u32 = 0;
  for (let k = first; k <= last; k++) if (bStamp[bOrder[k]] == stamp) touched[n++] = bOrder[k];
  return n;
}

let mark: u32 = 0;

/** As `liveness`, after a change of the code; gives back the links of the run before. */
export function liveAgain(): void {
  linkRelease(mark);
  liveness(false);
}

/** From the first block on to the end; behind the launch's arguments in the order of starts. */
function liveAlways(u: u32): void {
  const end = layoutLength() == 0 ? 2 : bEndPos[bOrder[layoutLength() - 1]];
  uSegments[u] = newSegment(1, end);
  uLast[u] = uSegments[u];
  uEnd[u] = end;
  uFinger[u] = 0;
}

/** Positions, predecessors and the live segments of all units. `quick`: without holes where control never goes back. */
export function liveness(quick: bool): void {
  mark = linkMark();
  resetSegments();
  if (quick && !hasBackEdge()) {
    liveHulls();
    liveWholeWave();
    return;
  }
  liveInBlocks();
  linkPredecessors();
  if (anySeveral) {
    for (let k: u32 = 0; k < layoutLength(); k++) bStamp[bOrder[k]] = 0;
    collectEvents();
    for (let v: u32 = 1; v < vregs(); v++) {
      const size = vregSize(v);
      for (let k: u32 = 0; k < size; k++) {
        if (uHome[vUnit[v] + k] == SEVERAL) liveUnit(vUnit[v] + k, vregClass(v), vFixed[v] != NO_REG);
      }
    }
  }
  liveWholeWave();
}

function liveWholeWave(): void {
  for (let k: u32 = 0; k < 2; k++) if (madeWholeWave(k) != 0) liveAlways(operandUnit(madeWholeWave(k)));
}
