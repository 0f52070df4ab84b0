/**
 * Deletes instructions whose results nobody needs: with loops it marks from stores, jumps and conditions backwards, then deletes
 * what is not marked, so that dead cycles of phis go too. Keeps effects and volatile loads. O(instructions + sources).
 * `%1 = iadd %0, %0` with no reader → nothing.
 */
import { spend, U32Column } from "../../base/index.ts";
import { InstrFlag, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import {
  clearSources,
  condition,
  entryBlock,
  erase,
  firstInstr,
  flagsOf,
  hasLoops,
  instrScratch,
  Kind,
  kindOf,
  lastBlock,
  lastInstr,
  nextBlock,
  nextInstr,
  nextNode,
  opOf,
  prevBlock,
  prevInstr,
  src,
  srcCount,
  useCount,
} from "../ir/index.ts";
import { PASS_BASE } from "../memory-map.ts";

const stack = changetype<U32Column>(PASS_BASE);
let top: u32 = 0;

function mark(i: u32): void {
  if (instrScratch[i] != 0) return;
  instrScratch[i] = 1;
  stack[top++] = i;
}

/** True where the instruction may go when nobody reads it. */
function isRemovable(i: u32): bool {
  const flags = opFlags(opOf(i));
  if ((flags & (OpFlag.PURE | OpFlag.WAVE)) != 0) return true;
  return (flags & OpFlag.READS) != 0 && (flagsOf(i) & InstrFlag.VOLATILE) == 0;
}

/** Without loops sources come before their readers: backwards, a value's readers are gone when it is looked at. */
function inOrder(): bool {
  let progress = false;
  for (let b = lastBlock(); b != 0; b = prevBlock(b)) {
    let prev: u32 = 0;
    for (let i = lastInstr(b); i != 0 && spend(1); i = prev) {
      prev = prevInstr(i);
      if (useCount(i) != 0 || !isRemovable(i)) continue;
      erase(i);
      progress = true;
    }
  }
  return progress;
}

export function optDce(): bool {
  if (!hasLoops()) return inOrder();
  top = 0;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      const root = !isRemovable(i);
      instrScratch[i] = root ? 1 : 0;
      if (root) stack[top++] = i;
    }
  }
  // Conditions stand in no block.
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    const n = nextNode(b);
    if (n == 0 || kindOf(n) != Kind.IF) continue;
    instrScratch[condition(n)] = 0;
    mark(condition(n));
  }
  while (top > 0 && spend(1)) {
    const i = stack[--top];
    for (let k: u32 = 0; k < srcCount(i); k++) mark(src(i, k));
  }
  // Dead instructions read each other: first they all let go.
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) {
      if (instrScratch[i] != 0) continue;
      clearSources(i);
      stack[top++] = i;
    }
  }
  const progress = top > 0;
  while (top > 0) erase(stack[--top]);
  return progress;
}
