/**
 * For `lower-vars-to-ssa`, in shaders with many constructs: the construct around all that a variable's values are about.
 * Stores need not be noted further out: in a nest each variable would else be noted at each level around it.
 */
import { spend } from "../../base/index.ts";
import { nodeScratch } from "../ir/columns.ts";
import { Kind, kindOf, listFirst, listLast, parentOf, sideOf } from "../ir/index.ts";
import { eventBlock, eventInstr, eventNext, firstEvent, LOAD } from "./var-events.ts";

/** Whether a block stands in the list of a side of a node, at whatever depth. */
function holds(node: u32, side: u32, block: u32): bool {
  if (node == 0) return true;
  const at = nodeScratch[block];
  return nodeScratch[listFirst(node, side)] <= at && at <= nodeScratch[listLast(node, side)];
}

/**
 * The construct around a variable's stores from which on outwards they need no note; 0 for none. It is the owner of the
 * innermost list with all loads and stores; a load there may read what an earlier round of a loop stored, unless the
 * first of all is a store in that list itself, behind which all others come.
 */
export function scopeOf(variable: u32): u32 {
  const first = firstEvent[variable];
  let node = parentOf(eventBlock[first]);
  let side = sideOf(eventBlock[first]);
  let storesFirst = (eventInstr[first] & LOAD) == 0;
  for (let e = eventNext[first]; e != 0 && node != 0; e = eventNext[e]) {
    while (!holds(node, side, eventBlock[e]) && spend(1)) {
      side = sideOf(node);
      node = parentOf(node);
      storesFirst = false;
    }
  }
  if (storesFirst || node == 0) return node;
  let outermost = node;
  for (; node != 0 && spend(1); node = parentOf(node)) if (kindOf(node) == Kind.LOOP) outermost = node;
  return parentOf(outermost);
}
