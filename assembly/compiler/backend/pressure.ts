/**
 * What a register costs in memory, and where more of them live than there are. Where the peak is far above the file, no
 * other order or selection helps: then one walk over the code in the order of positions gives up the cheapest of those
 * that live at each place where there are too many. It is a walk with a heap, whatever the number of those given up;
 * `allocate` looks at each register for each that it gives up, which is for the last few.
 */
import { spend, U32Column } from "../../base/index.ts";
import { PASS_BASE } from "../memory-map.ts";
import { leaderOf } from "./coalesce.ts";
import {
  bDepth,
  bEndPos,
  bFirst,
  bOrder,
  mDst0,
  mDst1,
  mNext,
  segEnd,
  segNext,
  segStart,
  uSegments,
  vLeader,
  vOrder,
  vStart,
  vUnit,
} from "./columns.ts";
import { emptyHeap, heapSize, popHeap, pushHeap } from "./heap.ts";
import { isVreg, layoutLength, madeWholeWave, operandVreg, source, vregClass, vregSize, vregs } from "./machine.ts";
import { endOf, isLaneRegister, isTemporary, vCost, vSlot } from "./slots.ts";

const INFINITE: f64 = 1e30;
/** A register that lives so few half positions is not worth a place in memory. */
const SHORT: u32 = 24;
/** Left for the registers of the accesses to memory themselves. */
const MARGIN: u32 = 16;

/** By half position: units that begin to live there less those that end. The passes' tables are dead. */
const change = changetype<U32Column>(PASS_BASE + (8 << 20));

/** Written in lanes that are not active, which a spill's own registers must not be. */
function isWholeWave(v: u32): bool {
  return operandVreg(madeWholeWave(0)) == v || operandVreg(madeWholeWave(1)) == v;
}

/** Costs of all registers; 0 for those that must not be spilled. */
export function weighRegisters(): void {
  for (let v: u32 = 1; v < vregs(); v++) vCost[v] = 0;
  for (let v: u32 = 1; v < vregs(); v++) {
    if (isTemporary(v) || isLaneRegister(v) || isWholeWave(v)) continue;
    const leader = leaderOf(v);
    if (vCost[leader] == 0) vCost[leader] = 1;
  }
  for (let k: u32 = 0; k < layoutLength(); k++) {
    const each = (<u32>1) << min<u32>(3 * bDepth[bOrder[k]], 12);
    for (let i = bFirst[bOrder[k]]; i != 0; i = mNext[i]) {
      weigh(mDst0[i], each);
      weigh(mDst1[i], each);
      for (let s: u32 = 0; s < 4; s++) weigh(source(i, s), each);
    }
  }
}
function weigh(operand: u32, each: u32): void {
  if (!isVreg(operand)) return;
  const leader = leaderOf(operandVreg(operand));
  if (vCost[leader] != 0 && vCost[leader] < 0x4000_0000) vCost[leader] = vCost[leader] + each;
}

/** What spilling costs against what it gains; `INFINITE` or more where it must not be. */
export function weight(v: u32): f64 {
  if (vCost[v] == 0) return INFINITE;
  const size = vregSize(v);
  return <f64>vCost[v] / <f64>(endOf(v) - vStart[v] + 1) / <f64>size;
}
export function isKept(weight: f64): bool {
  return weight >= INFINITE;
}

function isCounted(v: u32, regClass: u32): bool {
  return vLeader[v] == v && vregClass(v) == regClass && !isLaneRegister(v);
}

function endPosition(): u32 {
  return layoutLength() == 0 ? 0 : bEndPos[bOrder[layoutLength() - 1]];
}

/** Registers of a class at the place where most of them live. Before `allocate`, which joins the lists of segments. */
export function peakOf(regClass: u32): u32 {
  const end = endPosition();
  change.clear(0, end + 2);
  for (let v: u32 = 1; v < vregs(); v++) {
    if (!isCounted(v, regClass)) continue;
    const size = vregSize(v);
    for (let k: u32 = 0; k < size; k++) {
      for (let s = uSegments[vUnit[v] + k]; s != 0; s = segNext[s]) {
        change[segStart[s]] = change[segStart[s]] + 1;
        change[segEnd[s]] = change[segEnd[s]] - 1;
      }
    }
  }
  let live: u32 = 0;
  let most: u32 = 0;
  for (let p: u32 = 0; p <= end; p++) {
    live += change[p];
    most = max<u32>(most, live);
  }
  spend(end);
  return most;
}

/** Takes the rest of what lives at `position`, or comes to live behind it, out of the count; the units that live there. */
function giveUp(v: u32, position: u32): u32 {
  let here: u32 = 0;
  const size = vregSize(v);
  for (let k: u32 = 0; k < size; k++) {
    for (let s = uSegments[vUnit[v] + k]; s != 0; s = segNext[s]) {
      if (segEnd[s] <= position) continue;
      change[segEnd[s]] = change[segEnd[s]] + 1;
      if (segStart[s] <= position) here++;
      else change[segStart[s]] = change[segStart[s]] - 1;
    }
  }
  return here;
}

/**
 * Marks registers (`vSlot`) so that at most `limit` of a class live anywhere, but for what must not go: the units of those
 * marked. The `count` registers of `vOrder` stand in the order of their starts; follows `peakOf`, and `weighRegisters`.
 */
export function markSpills(count: u32, limit: u32, regClass: u32): u32 {
  emptyHeap();
  let marked: u32 = 0;
  const most = limit - min<u32>(limit, MARGIN);
  const end = endPosition();
  let live: u32 = 0;
  let next: u32 = 0;
  for (let p: u32 = 0; p <= end; p++) {
    live += change[p];
    for (; next < count && vStart[vOrder[next]] <= p; next++) {
      const v = vOrder[next];
      if (isCounted(v, regClass) && vCost[v] != 0 && endOf(v) - vStart[v] > SHORT)
        // The bits of positive numbers compare as they do.
        pushHeap(reinterpret<u32>(<f32>weight(v)), v);
    }
    // What has a hole here stays, as it would gain nothing.
    while (live > most && heapSize() > 0) {
      const v = popHeap();
      if (endOf(v) <= p || !livesAt(v, p)) continue;
      vSlot[v] = 1;
      live -= giveUp(v, p);
      marked += vregSize(v);
    }
  }
  spend(2 * end);
  return marked;
}

function livesAt(v: u32, position: u32): bool {
  const size = vregSize(v);
  for (let k: u32 = 0; k < size; k++) {
    for (let s = uSegments[vUnit[v] + k]; s != 0 && segStart[s] <= position; s = segNext[s]) {
      if (segEnd[s] > position) return true;
    }
  }
  return false;
}
