/**
 * Loop-closed SSA: a value made in a loop and read outside goes through a phi in the block after the loop, one source
 * for each break. `loop { %1 … } use %1` → `loop { %1 … } %2 = phi %1 …; use %2`. One walk in program order handles
 * nested loops, as the new phi may itself stand in a loop. Phis are scalars: of a vector each component has its own, and
 * they are put together again behind the loop. O(uses * loop depth).
 */
import { spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  blockOf,
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
  opOf,
  parentOf,
  predCount,
  setImm,
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

function scalarPhi(value: u32, after: u32): u32 {
  const phi = newInstr(Op.PHI, widthOf(value), 1, predCount(after));
  insertInstr(phi, after, firstInstr(after));
  for (let k: u32 = 0; k < predCount(after); k++) setSrc(phi, k, value);
  return phi;
}

/** What stands for a value behind the loop: a phi, or phis put together. */
function closing(value: u32, after: u32): u32 {
  const components = componentsOf(value);
  if (components == 1) return scalarPhi(value, after);
  const whole = newInstr(Op.VEC, 32, components, components);
  for (let k: u32 = 0; k < components; k++) {
    const part = newInstr(Op.EXTRACT, 32, 1, 1);
    setSrc(part, 0, value);
    setImm(part, 0, k);
    insertInstr(part, blockOf(value), nextInstr(value));
    setSrc(whole, k, scalarPhi(part, after));
  }
  let at = firstInstr(after);
  while (at != 0 && opOf(at) == Op.PHI && spend(1)) at = nextInstr(at);
  insertInstr(whole, after, at);
  return whole;
}

function close(value: u32, loop: u32): bool {
  const after = nextNode(loop);
  let closed: u32 = 0;
  let next: u32 = 0;
  for (let slot = firstUse(value); slot != 0 && spend(1); slot = next) {
    next = nextUse(slot);
    if (isInside(useBlock(slot), loop)) continue;
    if (closed == 0) closed = closing(value, after);
    setSrc(userOf(slot), sourceIndex(slot), closed);
  }
  return closed != 0;
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
