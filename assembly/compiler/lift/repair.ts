/**
 * SPIR-V's dominance to the tree's. A module may know that an arm never reaches its merge (it returned, continued an
 * outer loop, is unreachable), so a value of the other arm dominates the merge; in the tree the same exit is a flag and a
 * one-trip loop, and the path that the flag forbids is still there. Each use that its value no longer dominates reads a
 * variable instead, stored where the value is made: `lower-vars-to-ssa` makes the phis, undefined on the forbidden paths.
 */
import { spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  blockOf,
  componentsOf,
  cursorAfterPhis,
  cursorAtEnd,
  cursorBefore,
  dominates,
  entryBlock,
  firstInstr,
  firstUse,
  jumpOf,
  lastInstr,
  loadVar,
  newVar,
  nextBlock,
  nextInstr,
  nextUse,
  opOf,
  setSrc,
  sourceIndex,
  storeVar,
  useBlock,
  userOf,
  widthOf,
} from "../ir/index.ts";

function readsAtEnd(user: u32): bool {
  return opOf(user) == Op.IF || opOf(user) == Op.PHI;
}

/** Within a block values come before their readers: the lifter makes them in that order, and the validator checks it. */
function isDominated(value: u32, slot: u32): bool {
  const home = blockOf(value);
  const user = userOf(slot);
  if (blockOf(user) == home && opOf(user) != Op.PHI) return true;
  const block = useBlock(slot);
  return block == home || dominates(home, block);
}

function storeBehind(value: u32, variable: u32): void {
  const next = nextInstr(value);
  if (opOf(value) == Op.PHI) cursorAfterPhis(blockOf(value));
  else if (next != 0) cursorBefore(next);
  else cursorAtEnd(blockOf(value));
  storeVar(variable, value);
}

function readThrough(slot: u32, variable: u32, width: u32): void {
  const user = userOf(slot);
  if (!readsAtEnd(user)) cursorBefore(user);
  else {
    const block = useBlock(slot);
    if (jumpOf(block) != 0) cursorBefore(lastInstr(block));
    else cursorAtEnd(block);
  }
  setSrc(user, sourceIndex(slot), loadVar(variable, width));
}

function repair(value: u32): void {
  let variable: i32 = -1;
  let next: u32 = 0;
  for (let slot = firstUse(value); slot != 0 && spend(1); slot = next) {
    next = nextUse(slot);
    if (isDominated(value, slot)) continue;
    if (variable < 0) {
      variable = <i32>newVar(widthOf(value));
      storeBehind(value, variable);
    }
    readThrough(slot, variable, widthOf(value));
  }
}

/** O(uses), where the validator has found such a use. The dominance columns are fresh, and stay so. */
export function repairDominance(): void {
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      if (componentsOf(i) == 1 && firstUse(i) != 0) repair(i);
    }
  }
}
