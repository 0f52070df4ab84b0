/**
 * Deletes instructions whose results nobody needs: marks from stores, jumps and conditions backwards, then deletes what
 * is not marked, so that dead cycles of phis go too. Keeps effects and volatile loads. O(instructions + sources).
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
  instrScratch,
  Kind,
  kindOf,
  nextBlock,
  nextInstr,
  nextNode,
  opOf,
  src,
  srcCount,
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

export function optDce(): bool {
  top = 0;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) instrScratch[i] = 0;
  }
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) if (!isRemovable(i)) mark(i);
    const n = nextNode(b);
    if (n != 0 && kindOf(n) == Kind.IF) mark(condition(n));
  }
  while (top > 0 && spend(1)) {
    const i = stack[--top];
    for (let k: u32 = 0; k < srcCount(i); k++) mark(src(i, k));
  }
  let progress = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) if (instrScratch[i] == 0) clearSources(i);
  }
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    let next: u32 = 0;
    for (let i = firstInstr(b); i != 0; i = next) {
      next = nextInstr(i);
      if (instrScratch[i] != 0) continue;
      erase(i);
      progress = true;
    }
  }
  return progress;
}
