/** Changes of the control-flow tree that several passes make: removing parts, inlining an arm, merging blocks. */
import { spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  addPred,
  clearSources,
  entryBlock,
  erase,
  firstInstr,
  ifInstr,
  insertInstr,
  isReachable,
  jumpOf,
  Kind,
  kindOf,
  listFirst,
  listLast,
  nextBlock,
  nextInstr,
  nextNode,
  opOf,
  predIndex,
  prevNode,
  removePred,
  replaceUses,
  setPred,
  setSrc,
  spliceList,
  src,
  successor0,
  successor1,
  unlinkInstr,
  unlinkNode,
} from "../ir/index.ts";

/** First block of a node, and the block after its last in tree order. */
function firstBlockOf(node: u32): u32 {
  return kindOf(node) == Kind.BLOCK ? node : listFirst(node, 0);
}
function lastBlockOf(node: u32): u32 {
  return kindOf(node) == Kind.BLOCK ? node : listLast(node, 1);
}

/** As successor0, also while two blocks stand side by side. */
function followedBy(b: u32): u32 {
  const next = nextNode(b);
  return next != 0 && jumpOf(b) == 0 && kindOf(next) == Kind.BLOCK ? next : successor0(b);
}

/** Erases all instructions of the blocks from `first` to `last` in tree order, and the edges out of them. */
function eraseBlocks(first: u32, last: u32): void {
  const end = nextBlock(last);
  for (let b = first; b != end && spend(1); b = nextBlock(b)) {
    // Unreachable blocks stand in no predecessor list: removePred then does nothing.
    const s0 = followedBy(b);
    const s1 = successor1(b);
    if (s0 != 0) removePred(s0, b);
    if (s1 != 0) removePred(s1, b);
    const n = nextNode(b);
    if (n != 0 && kindOf(n) == Kind.IF && b != last) clearSources(ifInstr(n));
  }
  for (let b = first; b != end; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) clearSources(i);
  }
  for (let b = first; b != end; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0; i = firstInstr(b)) erase(i);
  }
}

/** Removes a node with all that is in it; its neighbours are the caller's to merge. */
export function removeNode(node: u32): void {
  eraseBlocks(firstBlockOf(node), lastBlockOf(node));
  unlinkNode(node);
}

/** Appends block b, the next node after a, to a. b's one predecessor is a, or neither is reachable. */
export function mergeBlocks(a: u32, b: u32): void {
  for (let i = firstInstr(b); i != 0 && opOf(i) == Op.PHI; i = firstInstr(b)) {
    replaceUses(i, src(i, 0));
    erase(i);
  }
  const s0 = followedBy(b);
  const s1 = successor1(b);
  for (let i = firstInstr(b); i != 0; i = firstInstr(b)) {
    unlinkInstr(i);
    insertInstr(i, a, 0);
  }
  if (s0 != 0 && predIndex(s0, b) >= 0) setPred(s0, <u32>predIndex(s0, b), a);
  if (s1 != 0 && predIndex(s1, b) >= 0) setPred(s1, <u32>predIndex(s1, b), a);
  unlinkNode(b);
}

/** Replaces an if by one of its arms (0 then, 1 else). What becomes unreachable is left to `dropUnreachable`. */
export function keepArm(node: u32, arm: u32): void {
  const before = prevNode(node);
  const after = nextNode(node);
  const dead: u32 = 1 - arm;
  const deadFirst = listFirst(node, dead);
  eraseBlocks(deadFirst, listLast(node, dead));
  // The dead arm's edge to the block after is gone; the live arm's last block falls into it or jumps.
  const first = listFirst(node, arm);
  const last = listLast(node, arm);
  const falls = predIndex(after, last) >= 0;
  setSrc(ifInstr(node), 0, 0);
  spliceList(node, arm, node);
  // Order now: before, node, first … last, after.
  unlinkNode(node);
  mergeBlocks(before, first);
  const end = last == first ? before : last;
  if (falls) {
    mergeBlocks(end, after);
    return;
  }
  // The arm ends in a jump: what followed the if cannot be reached, and `end` is the last node of its list.
  while (nextNode(end) != 0) removeNode(nextNode(end));
}

/** Removes a loop that nothing reads from any more; the block after it goes on where the block before it ends. */
export function removeLoop(loop: u32): void {
  const before = prevNode(loop);
  const after = nextNode(loop);
  removeNode(loop);
  addPred(after, before);
  mergeBlocks(before, after);
}

/** Empties unreachable blocks and removes what follows them; loops until nothing more becomes unreachable. */
export function dropUnreachable(): bool {
  let progress = false;
  let again = true;
  while (again && spend(1)) {
    again = false;
    for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
      if (isReachable(b)) continue;
      const s0 = successor0(b);
      // An empty one may still stand as a predecessor: of a header, when nothing reaches its cont any more.
      if (firstInstr(b) == 0 && nextNode(b) == 0 && (s0 == 0 || predIndex(s0, b) < 0)) continue;
      while (nextNode(b) != 0) removeNode(nextNode(b));
      eraseBlocks(b, b);
      progress = true;
      again = true;
    }
  }
  return progress;
}

/** The one predecessor's value of phi i for predecessor `from`. */
export function phiSource(i: u32, block: u32, from: u32): u32 {
  const k = predIndex(block, from);
  return k < 0 ? 0 : src(i, <u32>k);
}

/** True for a list of one block. */
export function isSingleBlock(node: u32, side: u32): bool {
  return listFirst(node, side) == listLast(node, side);
}
