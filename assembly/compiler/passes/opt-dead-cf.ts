/**
 * Removes control flow that decides nothing: an if with a constant condition becomes its arm, an if with two empty arms
 * whose joining block has no phis goes, and so does what cannot be reached any more.
 * `if true { b1: A } else { b2: B }` → `A`. Does not touch loops. O(blocks) and what is removed.
 */
import { spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  condition,
  constBits,
  entryBlock,
  firstInstr,
  isConst,
  Kind,
  kindOf,
  listFirst,
  nextBlock,
  nextNode,
  opOf,
} from "../ir/index.ts";
import { dropUnreachable, isSingleBlock, keepArm } from "./edit-tree.ts";

function isEmpty(node: u32): bool {
  for (let side: u32 = 0; side < 2; side++) {
    if (!isSingleBlock(node, side) || firstInstr(listFirst(node, side)) != 0) return false;
  }
  const after = firstInstr(nextNode(node));
  return after == 0 || opOf(after) != Op.PHI;
}

export function optDeadCf(): bool {
  let progress = false;
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
