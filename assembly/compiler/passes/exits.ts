/**
 * The ways out at the end of a loop's body as one: `if %c { break } else { }` before a few cheap pure instructions and a
 * break becomes those instructions and a select for each phi behind the loop. Early returns and unrolled searches are such
 * chains; they are taken from the last exit to the first, and a loop that then leaves in its first round goes.
 */
import { spend } from "../../base/index.ts";
import { Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import {
  alu2,
  condition,
  cursorAtEnd,
  erase,
  firstInstr,
  insertInstr,
  jumpOf,
  Kind,
  kindOf,
  listFirst,
  listLast,
  newInstr,
  nextInstr,
  nextNode,
  opOf,
  predCount,
  predIndex,
  prevNode,
  replaceUses,
  select,
  setPred,
  setSrc,
  src,
  unlinkInstr,
  useCount,
} from "../ir/index.ts";
import { isSingleBlock, phiSource, removeLoop, removeNode } from "./edit-tree.ts";

/** Instructions that may be computed for nothing: what skipping them by a branch costs, about. */
const MAX_COST: u32 = 16;
const MAX_PHIS: u32 = 8;

function breaks(block: u32): bool {
  const jump = jumpOf(block);
  return jump != 0 && opOf(jump) == Op.BREAK;
}

/** Instructions of a block but its phis and its break, or a large number where it must stay conditional. */
function costOf(block: u32): u32 {
  let cost: u32 = 0;
  for (let i = firstInstr(block); i != 0 && cost <= MAX_COST; i = nextInstr(i)) {
    const op = opOf(i);
    if (op == Op.BREAK || op == Op.PHI) continue;
    const flags = opFlags(op);
    if ((flags & OpFlag.PURE) == 0 || (flags & (OpFlag.OFFSET | OpFlag.WAVE)) != 0) return 1000;
    cost++;
  }
  return cost;
}

function phisOf(block: u32): u32 {
  let count: u32 = 0;
  for (let i = firstInstr(block); i != 0 && opOf(i) == Op.PHI && count <= MAX_PHIS; i = nextInstr(i)) count++;
  return count;
}

/** Appends a block's instructions but its break to another; its phis have one source. */
function moveTo(from: u32, to: u32): void {
  for (let i = firstInstr(from); i != 0 && opOf(i) != Op.BREAK && spend(1); i = firstInstr(from)) {
    if (opOf(i) == Op.PHI) {
      replaceUses(i, src(i, 0));
      erase(i);
      continue;
    }
    unlinkInstr(i);
    insertInstr(i, to, 0);
  }
}

/**
 * `%cond ? a : b` at the cursor. What an exit gives is often what the next one gives: `c ? a : (d ? a : b)` is
 * `c || d ? a : b`, so that the test of a flag that says which way was taken folds to the conditions.
 */
function choose(cond: u32, a: u32, b: u32): u32 {
  if (a == b) return a;
  if (opOf(b) != Op.SELECT || src(b, 1) != a || useCount(b) != 1) return select(cond, a, b);
  return select(alu2(Op.IOR, cond, src(b, 0)), a, src(b, 2));
}

/** Makes the last two ways out of a loop one; false where they are not of that shape or dear. */
function joinLast(loop: u32): bool {
  const last = listLast(loop, 0);
  const node = prevNode(last);
  if (node == 0 || kindOf(node) != Kind.IF || !isSingleBlock(node, 0) || !isSingleBlock(node, 1)) return false;
  const after = nextNode(loop);
  const yes = listFirst(node, 0);
  const no = listFirst(node, 1);
  const yesLeaves = breaks(yes);
  const noLeaves = breaks(no);
  if (!yesLeaves && !noLeaves) return false;
  const both = yesLeaves && noLeaves;
  if (both ? predCount(last) != 0 : jumpOf(yesLeaves ? no : yes) != 0 || !breaks(last)) return false;
  if (costOf(yes) + costOf(no) + costOf(last) > MAX_COST || phisOf(after) > MAX_PHIS) return false;

  const before = prevNode(node);
  const cond = condition(node);
  moveTo(yes, before);
  moveTo(no, before);
  if (!both) moveTo(last, before);
  const fromYes = yesLeaves ? yes : last;
  const fromNo = noLeaves ? no : last;
  const kept = predIndex(after, fromNo);
  cursorAtEnd(before);
  for (let i = firstInstr(after); i != 0 && opOf(i) == Op.PHI; i = nextInstr(i)) {
    const b = phiSource(i, after, fromNo);
    setSrc(i, <u32>kept, choose(cond, phiSource(i, after, fromYes), b));
    // It may have been the one reader of a select before.
    if (opOf(b) == Op.SELECT && useCount(b) == 0) erase(b);
  }
  setPred(after, <u32>kept, before);
  // The other edge goes with its block.
  removeNode(last);
  removeNode(node);
  insertInstr(newInstr(Op.BREAK, 0, 0, 0), before, 0);
  return true;
}

/** A loop of one block that leaves at its end: what is in it moves in front. */
function dissolve(loop: u32): bool {
  const header = listFirst(loop, 0);
  if (!isSingleBlock(loop, 0) || !breaks(header) || predCount(header) != 1) return false;
  const after = nextNode(loop);
  if (predCount(after) != 1) return false;
  moveTo(header, prevNode(loop));
  for (let i = firstInstr(after); i != 0 && opOf(i) == Op.PHI; i = firstInstr(after)) {
    replaceUses(i, src(i, 0));
    erase(i);
  }
  removeLoop(loop);
  return true;
}

/** Joins a loop's ways out as far as that pays; true when something changed. The loop may be gone then. */
export function joinExits(loop: u32): bool {
  let progress = false;
  while (joinLast(loop) && spend(1)) progress = true;
  return dissolve(loop) || progress;
}
