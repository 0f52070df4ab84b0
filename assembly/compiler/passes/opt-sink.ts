/**
 * Moves pure arithmetic down into the one branch whose instructions alone read it, so that the other path does not compute
 * it: to the start of the deepest block over all its readers, but into no loop. Loads stay (several are waited for at once),
 * and so does what would keep two values alive in place of one.
 * `%1 = imul %a, %b; if %c { … %1 … } else { … }` → `if %c { %1 = imul %a, %b; … %1 … } else { … }`. O(readers * depth).
 */
import { spend } from "../../base/index.ts";
import { Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import {
  commonDominator,
  computeDominance,
  cursorAfterPhis,
  firstUse,
  hasIfs,
  isConst,
  Kind,
  kindOf,
  lastBlock,
  lastInstr,
  nextNode,
  nextUse,
  opOf,
  parentOf,
  place0,
  prevBlock,
  prevInstr,
  prevNode,
  sideOf,
  src,
  srcCount,
  unlinkInstr,
  useBlock,
  useCount,
} from "../ir/index.ts";

/** True for arithmetic that ends the life of at most one of its sources. */
function isMovable(i: u32): bool {
  const op = opOf(i);
  const flags = opFlags(op);
  if ((flags & OpFlag.PURE) == 0 || (flags & OpFlag.OFFSET) != 0) return false;
  if (op == Op.PHI || op == Op.EXTRACT || op == Op.VEC) return false;
  const count = srcCount(i);
  let last: u32 = 0;
  for (let k: u32 = 0; k < count; k++) {
    const v = src(i, k);
    if (!isConst(v) && useCount(v) == 1) last++;
  }
  return count > 0 && last < 2;
}

/** The block that all readers stand in or below, out of loops that `from` is not in; 0 where that is no branch below `from`. */
function destination(i: u32, from: u32): u32 {
  let to: u32 = 0;
  for (let slot = firstUse(i); slot != 0 && spend(1); slot = nextUse(slot)) {
    const reader = useBlock(slot);
    if (reader == from) return 0;
    to = to == 0 ? reader : commonDominator(to, reader);
    if (to == from) return 0;
  }
  const parent = parentOf(from);
  const side = sideOf(from);
  let node = to;
  while ((parentOf(node) != parent || sideOf(node) != side) && spend(1)) {
    node = parentOf(node);
    // Below an if that `from` is in the other part of, or behind what `from` is in.
    if (node == 0) return 0;
    if (kindOf(node) == Kind.LOOP) to = prevNode(node);
  }
  return parentOf(to) == parent && sideOf(to) == side ? 0 : to;
}

export function optSink(): bool {
  if (!hasIfs()) return false;
  computeDominance();
  let progress = false;
  for (let b = lastBlock(); b != 0; b = prevBlock(b)) {
    if (nextNode(b) == 0) continue;
    let prev: u32 = 0;
    for (let i = lastInstr(b); i != 0 && spend(1); i = prev) {
      prev = prevInstr(i);
      if (useCount(i) == 0 || !isMovable(i)) continue;
      const to = destination(i, b);
      if (to == 0) continue;
      unlinkInstr(i);
      cursorAfterPhis(to);
      place0(i);
      progress = true;
    }
  }
  return progress;
}
