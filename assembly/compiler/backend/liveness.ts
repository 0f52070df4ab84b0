/**
 * Live segments of units, built one unit at a time by walking from its reads back to its writes: the cost is the number
 * of blocks in which units live, not units times blocks. SGPRs live along the edges that control takes, VGPRs along those
 * that a lane takes: a write under EXEC leaves the other lanes' values alone. Registers need not be SSA.
 */
import { Fail, fail, Limit, spend, U32Column } from "../../base/index.ts";
import { OP_COUNT, OpFlag, opFlags } from "../../gen/isa-ops.ts";
import {
  bEndPos,
  bFirst,
  bIndex,
  bLanePreds,
  bLast,
  bOrder,
  bPreds,
  bScratch,
  bStack,
  bStamp,
  bStartPos,
  flowBytes,
  linkNext,
  linkValue,
  MAX_SEGMENTS,
  mBlock,
  mDst0,
  mDst1,
  mNext,
  mOp,
  mPos,
  mPrev,
  segEnd,
  segNext,
  segStart,
  uEnd,
  uEvents,
  uLast,
  uSegments,
  uWrites,
  vFixed,
  vUnit,
} from "./columns.ts";
import {
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
  RegClass,
  source,
  units,
  vregClass,
  vregSize,
  vregs,
} from "./machine.ts";
import { sortByKey } from "./sort.ts";

const LIVE_IN: u32 = 1;
const LIVE_OUT: u32 = 2;
const HAS_DEF: u32 = 4;

/** Blocks in which the running unit lives, and room to sort them. */
const touched = changetype<U32Column>(changetype<usize>(flowBytes));
const touchedSpare = changetype<U32Column>(changetype<usize>(flowBytes) + (1 << 20));

let segCount: u32 = 1;

function newSegment(start: u32, end: u32): u32 {
  if (segCount >= MAX_SEGMENTS) {
    fail(Fail.LIMIT, Limit.MACHINE, MAX_SEGMENTS, 0);
    return 0;
  }
  segStart[segCount] = start;
  segEnd[segCount] = end;
  segNext[segCount] = 0;
  return segCount++;
}

/** Numbers instructions and blocks in layout order: half positions 2p (reads) and 2p + 1 (writes). */
function numberPositions(): void {
  let pos: u32 = 1;
  for (let k: u32 = 0; k < layoutLength(); k++) {
    const b = bOrder[k];
    bStartPos[b] = 2 * pos++;
    for (let i = bFirst[b]; i != 0; i = mNext[i]) mPos[i] = pos++;
    bEndPos[b] = 2 * pos;
  }
}

function addEvents(operand: u32, event: u32): void {
  if (!isVreg(operand)) return;
  const first = operandUnit(operand);
  const size = operandSize(operand);
  for (let k: u32 = 0; k < size; k++) uEvents[first + k] = link(event, uEvents[first + k]);
}

/** Lists each unit's reads and writes in layout order, a read before a write of the same instruction. */
function collectEvents(): void {
  for (let u: u32 = 0; u < units(); u++) uEvents[u] = 0;
  for (let k = layoutLength(); k-- > 0; ) {
    for (let i = bLast[bOrder[k]]; i != 0; i = mPrev[i]) {
      addEvents(mDst0[i], i * 2 + 1);
      addEvents(mDst1[i], i * 2 + 1);
      for (let s: u32 = 0; s < 4; s++) addEvents(source(i, s), i * 2);
      if (mOp[i] < OP_COUNT && (opFlags(mOp[i]) & OpFlag.TiedDst) != 0) addEvents(mDst0[i], i * 2);
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

/** Live segments of a unit that one block writes before it reads it, and no other block has: most units. True when it was one. */
function liveInBlock(u: u32, fixed: bool): bool {
  const first = uEvents[u];
  const block = mBlock[linkValue[first] >> 1];
  let writes: u32 = 0;
  let open = NO_REG;
  let end: u32 = 0;
  let last: u32 = 0;
  const segments = segCount;
  for (let e = first; e != 0; e = linkNext[e]) {
    const event = linkValue[e];
    const i = event >> 1;
    if (mBlock[i] != block) {
      segCount = segments;
      return false;
    }
    const pos = 2 * mPos[i];
    if ((event & 1) == 0) {
      end = pos + 1;
    } else {
      writes++;
      if (end > open) last = pushSegment(u, last, open, end);
      open = fixed && last == 0 ? 0 : pos + 1;
      end = pos + 2;
    }
  }
  last = pushSegment(u, last, open, end);
  uWrites[u] = writes;
  uEnd[u] = segEnd[last];
  uLast[u] = last;
  finger[u] = 0;
  spend(1);
  return true;
}

/** Live segments of one unit of class `regClass`. */
function liveUnit(u: u32, regClass: u32, fixed: bool): void {
  const first = uEvents[u];
  if (first != 0 && (linkValue[first] & 1) != 0 && liveInBlock(u, fixed)) return;
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
  const preds = regClass == RegClass.VGPR ? bLanePreds : bPreds;
  while (stack > 0) {
    const b = bStack[--stack];
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
  finger[u] = 0;
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
    sortByKey(touched, touchedSpare, count, changetype<usize>(bIndex), 6);
    return count;
  }
  let n: u32 = 0;
  for (let k = first; k <= last; k++) if (bStamp[bOrder[k]] == stamp) touched[n++] = bOrder[k];
  return n;
}

function pushSegment(u: u32, last: u32, start: u32, end: u32): u32 {
  if (last != 0 && segEnd[last] >= start) {
    if (end > segEnd[last]) segEnd[last] = end;
    return last;
  }
  const s = newSegment(start, end);
  if (last == 0) uSegments[u] = s;
  else segNext[last] = s;
  return s;
}

let mark: u32 = 0;

/** As `liveness`, after a change of the code; gives back the links of the run before. */
export function liveAgain(): void {
  linkRelease(mark);
  liveness();
}

/** From the first block on to the end; behind the launch's arguments in the order of starts. */
function liveAlways(u: u32): void {
  const end = layoutLength() == 0 ? 2 : bEndPos[bOrder[layoutLength() - 1]];
  uSegments[u] = newSegment(1, end);
  uLast[u] = uSegments[u];
  uEnd[u] = end;
  finger[u] = 0;
}

/** Positions, predecessors and the live segments of all units. */
export function liveness(): void {
  mark = linkMark();
  segCount = 1;
  numberPositions();
  linkPredecessors();
  for (let k: u32 = 0; k < layoutLength(); k++) bStamp[bOrder[k]] = 0;
  collectEvents();
  for (let v: u32 = 1; v < vregs(); v++) {
    const regClass = vregClass(v);
    const size = vregSize(v);
    for (let k: u32 = 0; k < size; k++) liveUnit(vUnit[v] + k, regClass, vFixed[v] != NO_REG);
  }
  for (let k: u32 = 0; k < 2; k++) if (madeWholeWave(k) != 0) liveAlways(operandUnit(madeWholeWave(k)));
}

/**
 * Where the last look at a unit's segments began: the next one begins there when it is behind. Registers that copies join
 * over a long shader have many segments, and are asked for in order.
 */
const finger = changetype<U32Column>(changetype<usize>(flowBytes) + (12 << 20));

/** The last segment of unit u that starts at `position` or before it, as far as the finger helps; else the first one. */
function from(u: u32, position: u32): u32 {
  let s = finger[u];
  if (s == 0 || segStart[s] > position) s = uSegments[u];
  for (let next = segNext[s]; next != 0 && segStart[next] <= position; next = segNext[s]) s = next;
  finger[u] = s;
  return s;
}

/** Whether two units are live at the same time. */
export function interfere(a: u32, b: u32): bool {
  let x = uSegments[a];
  let y = uSegments[b];
  if (x == 0 || y == 0) return false;
  if (uEnd[a] <= segStart[y] || uEnd[b] <= segStart[x]) return false;
  if (segStart[x] < segStart[y]) x = from(a, segStart[y]);
  else y = from(b, segStart[x]);
  while (x != 0 && y != 0) {
    if (segEnd[x] <= segStart[y]) x = segNext[x];
    else if (segEnd[y] <= segStart[x]) y = segNext[y];
    else return true;
  }
  return false;
}

/**
 * Gives unit `a` the segments of `b` too. The list that starts first takes the other one in: a walk over what the two have
 * side by side, not over the whole of the longer one.
 */
export function uniteSegments(a: u32, b: u32): void {
  if (uSegments[b] == 0) return;
  if (uSegments[a] == 0) {
    uSegments[a] = uSegments[b];
    uLast[a] = uLast[b];
    uEnd[a] = uEnd[b];
    finger[a] = finger[b];
    return;
  }
  const swapped = segStart[uSegments[b]] < segStart[uSegments[a]];
  const early = swapped ? b : a;
  const late = swapped ? a : b;
  const earlyLast = uLast[early];
  const lateLast = uLast[late];
  const head = uSegments[early];
  let y = uSegments[late];
  // What ends before the late list begins stays as it is.
  let last = uEnd[early] < segStart[y] ? earlyLast : from(early, segStart[y]);
  let x = segNext[last];
  while (y != 0 && (x != 0 || segEnd[last] >= segStart[y])) {
    let s: u32;
    if (x != 0 && segStart[x] < segStart[y]) {
      s = x;
      x = segNext[x];
    } else {
      s = y;
      y = segNext[y];
    }
    if (segEnd[last] >= segStart[s]) {
      if (segEnd[s] > segEnd[last]) segEnd[last] = segEnd[s];
      continue;
    }
    segNext[last] = s;
    last = s;
  }
  // One list is left at most: the rest of it follows as it is, but for what `last` reaches by now.
  while (x != 0 && segEnd[last] >= segStart[x]) {
    if (segEnd[x] > segEnd[last]) segEnd[last] = segEnd[x];
    x = segNext[x];
  }
  const rest = x != 0 ? x : y;
  segNext[last] = rest;
  const end = rest == 0 ? last : x != 0 ? earlyLast : lateLast;
  uSegments[a] = head;
  uLast[a] = end;
  uEnd[a] = segEnd[end];
  finger[a] = last;
}
