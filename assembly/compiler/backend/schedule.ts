/**
 * List scheduling: in each region (`graph`) the instruction with the longest way to the end goes first among those whose
 * sources are there, by the latencies of `latency`; where nothing is there yet, the one that waits least. Loads so start
 * early and side by side, and what reads them comes when they may be back. Over the pressure limit, which is the selected
 * order's own need or `FREE_VGPRS`, what frees registers goes first, else what the selected order has next. An order that
 * needs more registers all the same is dropped. Runs on virtual registers before `liveness`.
 *
 * A region ends at what `latency` calls a boundary and in front of the test that a branch or an EXEC change hangs on, which
 * later phases want side by side. Without a load there is nothing to wait for, and the selected order stays: other waves
 * fill the few cycles of ALU latency. O(n log n) in the instructions of a region, of which a block has as many as it takes.
 */
import { spend, U32Column } from "../../base/index.ts";
import { OP_COUNT, OpFlag, opFlags } from "../../gen/isa-ops.ts";
import { bFirst, bLast, bOrder, flowBytes, mDst0, mDst1, mNext, mOp, mPrev } from "./columns.ts";
import {
  addNode,
  closeRegion,
  edgeAt,
  MAX_NODES,
  N_DEFINES,
  N_EDGES,
  N_HEIGHT,
  N_INSTR,
  N_READY,
  N_TRAITS,
  N_WAITING,
  nodeAt,
  nodeCount,
  openBlock,
  openRegion,
  passInstr,
  passScc,
  peakSgprs,
  peakVgprs,
  pressureOf,
  resetGraph,
  sgprs,
  startPressure,
  takeNode,
  vgprs,
} from "./graph.ts";
import { prepareTraits, Trait, traits } from "./latency.ts";
import { Hw, hwCode, isVreg, layoutLength, RegClass, source } from "./machine.ts";

/** Registers that a wave has for nothing: the file holds 16 waves of 64 VGPRs, and no more waves than 16 run. */
const FREE_VGPRS: i32 = 40;
const FREE_SGPRS: i32 = 64;
const MOST_VGPRS: i32 = 48;
const MOST_SGPRS: i32 = 80;
/** Registers over the selected order's need with which an order is taken beyond these. */
const SLACK: i32 = 2;
/** Candidates that are looked at over the limit. */
const MAX_TRIED: u32 = 12;
/** Tests in front of a boundary that stay there. */
const MAX_PINNED: u32 = 3;
const SCHEDULED: u32 = 0x8000_0000;
const NODE_BITS: u32 = 9;
const NODE_MASK: u32 = (1 << NODE_BITS) - 1;

// Heaps of words, greatest first: what may issue, by height; what waits for its sources, by the earliest cycle. Both then by the selected order.
const HEAPS: usize = changetype<usize>(flowBytes) + 0x30_0000;
const WAITING: usize = HEAPS + 0x1000;
const order = changetype<U32Column>(changetype<usize>(flowBytes) + 0x31_0000);
let readyCount: u32 = 0;
let waitingCount: u32 = 0;

function entry(heap: usize, k: u32): u32 {
  return load<u32>(heap + ((<usize>k) << 2));
}
function push(heap: usize, length: u32, key: u32): void {
  let k = length;
  while (k > 0) {
    const up = (k - 1) >> 1;
    const above = entry(heap, up);
    if (above >= key) break;
    store<u32>(heap + ((<usize>k) << 2), above);
    k = up;
  }
  store<u32>(heap + ((<usize>k) << 2), key);
}
/** Takes the first word out; `length` is what is left. */
function pop(heap: usize, length: u32): void {
  const last = entry(heap, length);
  let k: u32 = 0;
  for (;;) {
    let down: u32 = 2 * k + 1;
    if (down >= length) break;
    let below = entry(heap, down);
    if (down + 1 < length && entry(heap, down + 1) > below) below = entry(heap, ++down);
    if (below <= last) break;
    store<u32>(heap + ((<usize>k) << 2), below);
    k = down;
  }
  store<u32>(heap + ((<usize>k) << 2), last);
}

function isScheduled(k: u32): bool {
  return (load<u32>(nodeAt(k), N_WAITING) & SCHEDULED) != 0;
}

const LAST_CYCLE: u32 = 0xffff_ffff >> NODE_BITS;
let clock: u32 = 0;
let head: u32 = 0;

function offer(k: u32): void {
  const row = nodeAt(k);
  const ready = load<u32>(row, N_READY);
  if (ready <= clock) push(HEAPS, readyCount++, (load<u32>(row, N_HEIGHT) << NODE_BITS) | k);
  else push(WAITING, waitingCount++, ((LAST_CYCLE - ready) << NODE_BITS) | k);
}

/** Brings what may issue by now from the one heap to the other; where that is nothing, time goes on. */
function advance(): void {
  while (readyCount > 0 && isScheduled(entry(HEAPS, 0) & NODE_MASK)) pop(HEAPS, --readyCount);
  while (waitingCount > 0) {
    const first = entry(WAITING, 0);
    const k = first & NODE_MASK;
    if (!isScheduled(k)) {
      const ready = LAST_CYCLE - (first >> NODE_BITS);
      if (ready > clock && readyCount > 0) return;
      if (ready > clock) clock = ready;
      push(HEAPS, readyCount++, (load<u32>(nodeAt(k), N_HEIGHT) << NODE_BITS) | k);
    }
    pop(WAITING, --waitingCount);
  }
}

/** The node that the selected order has next. */
function next(): u32 {
  while (isScheduled(head)) head--;
  return head;
}

/** Of what may issue that which frees most registers of a class and adds none, else what the selected order has next. */
function thriftiest(regClass: u32): u32 {
  let best: i32 = 1;
  let found: u32 = 0;
  const tried = min<u32>(readyCount, MAX_TRIED);
  for (let c: u32 = 0; c < tried; c++) {
    const k = entry(HEAPS, c) & NODE_MASK;
    if (isScheduled(k)) continue;
    const change = pressureOf(load<u32>(nodeAt(k), N_INSTR), regClass);
    if (change < best || (change == best && best <= 0 && k > found)) {
      best = change;
      found = k;
    }
  }
  return best <= 0 ? found : next();
}

let limitVgprs: i32 = 0;
let limitSgprs: i32 = 0;

function choose(): u32 {
  const top = entry(HEAPS, 0) & NODE_MASK;
  const defines = load<u32>(nodeAt(top), N_DEFINES);
  const vectors = <i32>(defines & 0xff);
  const scalars = <i32>(defines >> 8);
  if (vectors != 0 && vgprs + vectors > limitVgprs) return thriftiest(RegClass.VGPR);
  if (scalars != 0 && sgprs + scalars > limitSgprs) return thriftiest(RegClass.SGPR);
  return top;
}

/** Fills `order`; false where the selected order is to stay. */
function list(): bool {
  const count = nodeCount;
  limitVgprs = max<i32>(peakVgprs, FREE_VGPRS);
  limitSgprs = max<i32>(peakSgprs, FREE_SGPRS);
  const mostVgprs = max<i32>(peakVgprs + SLACK, MOST_VGPRS);
  const mostSgprs = max<i32>(peakSgprs + SLACK, MOST_SGPRS);
  startPressure();
  readyCount = 0;
  waitingCount = 0;
  clock = 0;
  head = count - 1;
  let changed = false;
  for (let k: u32 = count; k-- > 0; ) if (load<u32>(nodeAt(k), N_WAITING) == 0) offer(k);
  for (let n: u32 = 0; n < count; n++) {
    advance();
    const k = choose();
    const row = nodeAt(k);
    changed = changed || k != count - 1 - n;
    order[n] = load<u32>(row, N_INSTR);
    takeNode(row);
    if (vgprs > mostVgprs || sgprs > mostSgprs) return false;
    store<u32>(row, SCHEDULED, N_WAITING);
    clock = max<u32>(clock, load<u32>(row, N_READY));
    const end = edgeAt(load<u32>(row + 32, N_EDGES));
    for (let e = edgeAt(load<u32>(row, N_EDGES)); e < end; e += 4) {
      const word = load<u32>(e);
      const to = nodeAt(word & 0xffff);
      store<u32>(to, max<u32>(load<u32>(to, N_READY), clock + (word >> 16)), N_READY);
      const waiting = load<u32>(to, N_WAITING) - 1;
      store<u32>(to, waiting, N_WAITING);
      if (waiting == 0) offer(word & 0xffff);
    }
    clock += (load<u32>(row, N_TRAITS) >> Trait.ISSUE_SHIFT) & Trait.ISSUE;
  }
  return changed;
}

/** Gives the region, which begins with the last node's instruction, its new order. */
function relink(b: u32): void {
  const before = mPrev[load<u32>(nodeAt(nodeCount - 1), N_INSTR)];
  const behind = mNext[load<u32>(nodeAt(0), N_INSTR)];
  let prev = before;
  for (let n: u32 = 0; n < nodeCount; n++) {
    const i = order[n];
    mPrev[i] = prev;
    if (prev == 0) bFirst[b] = i;
    else mNext[prev] = i;
    prev = i;
  }
  mNext[prev] = behind;
  if (behind == 0) bLast[b] = prev;
  else mPrev[behind] = prev;
}

function writesExec(operand: u32): bool {
  return operand != 0 && !isVreg(operand) && (hwCode(operand) & ~1) == <u32>Hw.EXEC_LO;
}
function isBoundary(i: u32): bool {
  return (traits(mOp[i]) & Trait.BOUNDARY) != 0 || writesExec(mDst0[i]) || writesExec(mDst1[i]);
}
function readsScc(i: u32): bool {
  return mOp[i] < OP_COUNT && (opFlags(mOp[i]) & OpFlag.ReadsScc) != 0;
}
function writesScc(i: u32): bool {
  return mOp[i] < OP_COUNT && (opFlags(mOp[i]) & OpFlag.WritesScc) != 0;
}

/** Whether `i` stands in front of `test` to be read by it: a comparison, or what a branch hangs on. */
function isPinned(i: u32, test: u32): bool {
  const t = traits(mOp[i]);
  if ((t & Trait.LOAD) != 0) return false;
  if (readsScc(test) && (t & Trait.WRITES_SCC) != 0) return true;
  const dst = mDst0[i];
  if (dst == 0 || mOp[test] >= OP_COUNT) return false;
  for (let s: u32 = 0; s < 4; s++) if (source(test, s) == dst) return true;
  return false;
}

/** Whether a load stands among the instructions from `last` back to the next boundary, a region's length at most. */
function hasLoad(last: u32): bool {
  let left = MAX_NODES;
  for (let i = last; i != 0 && left > 0 && !isBoundary(i); i = mPrev[i]) {
    if ((traits(mOp[i]) & Trait.LOAD) != 0) return true;
    left--;
  }
  return false;
}

function pass(i: u32): void {
  passInstr(i);
  passScc(writesScc(i), readsScc(i));
}

function scheduleBlock(b: u32): void {
  openBlock();
  for (let i = bLast[b]; i != 0; ) {
    // The boundary, and the tests that stand in front of it.
    if (isBoundary(i)) {
      pass(i);
      let test = i;
      i = mPrev[i];
      for (let n: u32 = 0; n < MAX_PINNED && i != 0 && !isBoundary(i) && isPinned(i, test); n++) {
        pass(i);
        test = i;
        i = mPrev[i];
      }
      continue;
    }
    if (!hasLoad(i)) {
      for (let n: u32 = 0; n < MAX_NODES && i != 0 && !isBoundary(i); n++) {
        pass(i);
        i = mPrev[i];
      }
      continue;
    }
    openRegion(b);
    let prev = i;
    for (; i != 0 && nodeCount < MAX_NODES && !isBoundary(i); i = prev) {
      prev = mPrev[i];
      addNode(i);
    }
    closeRegion();
    if (nodeCount > 1 && list()) relink(b);
    i = prev;
  }
}

/** Reorders all blocks. */
export function schedule(): void {
  prepareTraits();
  resetGraph();
  for (let k = layoutLength(); k-- > 0; ) {
    if (!spend(2)) return;
    scheduleBlock(bOrder[k]);
  }
}
