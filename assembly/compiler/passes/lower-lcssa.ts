/**
 * Loop-closed SSA: a value made in a loop and read outside goes through a phi in the block after the loop, one source
 * for each break. `loop { %1 … } use %1` → `loop { %1 … } %2 = phi %1 …; use %2`. One walk in program order handles
 * nested loops, as the new phi may itself stand in a loop. O(uses * loop depth).
 */
import { spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  componentsOf,
  entryBlock,
  firstInstr,
  firstUse,
  hasLoops,
  insertInstr,
  loopOf,
  newInstr,
  nextBlock,
  nextInstr,
  nextNode,
  nextUse,
  parentOf,
  predCount,
  setSrc,
  sourceIndex,
  useBlock,
  userOf,
  widthOf,
} from "../ir/index.ts";

function isInside(block: u32, loop: u32): bool {
  let n = block;
  while (n != 0 && n != loop && spend(1)) n = parentOf(n);
  return n == loop;
}

function closingPhi(value: u32, after: u32): u32 {
  const phi = newInstr(Op.PHI, widthOf(value), componentsOf(value), predCount(after));
  insertInstr(phi, after, firstInstr(after));
  return phi;
}

function close(value: u32, loop: u32): bool {
  const after = nextNode(loop);
  let phi: u32 = 0;
  let next: u32 = 0;
  for (let slot = firstUse(value); slot != 0 && spend(1); slot = next) {
    next = nextUse(slot);
    if (isInside(useBlock(slot), loop)) continue;
    if (phi == 0) phi = closingPhi(value, after);
    setSrc(userOf(slot), sourceIndex(slot), phi);
  }
  if (phi == 0) return false;
  for (let k: u32 = 0; k < predCount(after); k++) setSrc(phi, k, value);
  return true;
}

export function lowerLcssa(): bool {
  if (!hasLoops()) return false;
  let progress = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    const loop = loopOf(b);
    if (loop == 0) continue;
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      if (firstUse(i) != 0 && close(i, loop)) progress = true;
    }
  }
  return progress;
}
