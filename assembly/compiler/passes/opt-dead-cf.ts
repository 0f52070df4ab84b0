/**
 * Removes control flow that decides nothing: an if with a constant condition becomes its arm, an if with two empty arms
 * whose joining block has no phis goes, and so does what cannot be reached any more.
 * A loop goes that has no effect, no reader of its values and surely an end: what it computes in between nobody sees.
 * `if true { b1: A } else { b2: B }` → `A`. O(instructions * depth of loops) and what is removed.
 */
import { spend } from "../../base/index.ts";
import { InstrFlag, Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import {
  blockOf,
  condition,
  constBits,
  entryBlock,
  firstInstr,
  flagsOf,
  hasIfs,
  hasLoops,
  isConst,
  isReachable,
  Kind,
  kindOf,
  listFirst,
  loopOf,
  nextBlock,
  nextInstr,
  nextNode,
  nodeScratch,
  opOf,
  src,
  srcCount,
} from "../ir/index.ts";
import { dropUnreachable, isSingleBlock, keepArm, removeLoop } from "./edit-tree.ts";
import { endsForSure, isWithin } from "./loop-ends.ts";

function isEmpty(node: u32): bool {
  for (let side: u32 = 0; side < 2; side++) {
    if (!isSingleBlock(node, side) || firstInstr(listFirst(node, side)) != 0) return false;
  }
  const after = firstInstr(nextNode(node));
  return after == 0 || opOf(after) != Op.PHI;
}

/** Marks the loops around block `from`, up to those that hold `to` too, as needed (in their nodes' scratch words). */
function need(from: u32, to: u32): void {
  for (let loop = loopOf(from); loop != 0 && spend(1); loop = loopOf(loop)) {
    if (to != 0 && isWithin(to, loop)) return;
    nodeScratch[loop] = 1;
  }
}

/** What leaves the invocation, writes, or must be seen to happen. */
function isEffect(i: u32): bool {
  const op = opOf(i);
  if (op == Op.END) return true;
  const flags = opFlags(op);
  return (flags & OpFlag.WRITES) != 0 || ((flags & OpFlag.READS) != 0 && (flagsOf(i) & InstrFlag.VOLATILE) != 0);
}

function needSource(value: u32, block: u32): void {
  const from = blockOf(value);
  if (from != 0 && from != block && loopOf(from) != 0) need(from, block);
}

/** Removes the outermost loops that nothing needs. */
function dropLoops(): bool {
  let any = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    const n = nextNode(b);
    if (n == 0 || kindOf(n) != Kind.LOOP) continue;
    nodeScratch[n] = 0;
    any = true;
  }
  if (!any) return false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      if (isEffect(i)) need(b, 0);
      for (let k: u32 = 0; k < srcCount(i); k++) needSource(src(i, k), b);
    }
    const n = nextNode(b);
    if (n != 0 && kindOf(n) == Kind.IF) needSource(condition(n), b);
  }
  let progress = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let n = nextNode(b); n != 0 && kindOf(n) == Kind.LOOP && spend(1); n = nextNode(b)) {
      // A phi behind it would have as many values as there are ways out.
      const after = nextNode(n);
      const first = firstInstr(after);
      if (nodeScratch[n] != 0 || !isReachable(after) || (first != 0 && opOf(first) == Op.PHI)) break;
      if (!endsForSure(n)) break;
      removeLoop(n);
      progress = true;
    }
  }
  return progress;
}

export function optDeadCf(): bool {
  if (!hasIfs() && !hasLoops()) return false;
  let progress = dropLoops();
  for (let b = entryBlock(); b != 0 && spend(1); b = nextBlock(b)) {
    // The block takes in what followed the if: look at it again.
    for (let n = nextNode(b); n != 0 && kindOf(n) == Kind.IF && spend(1); n = nextNode(b)) {
      const cond = condition(n);
      if (isConst(cond)) keepArm(n, constBits(cond) != 0 ? 0 : 1);
      else if (isEmpty(n)) keepArm(n, 0);
      else break;
      progress = true;
    }
  }
  if (dropUnreachable()) progress = true;
  return progress;
}
