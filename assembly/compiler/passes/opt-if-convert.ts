/**
 * Turns small ifs into selects: both arms one block of at most a few cheap pure instructions, the rest phis.
 * `if %c { %1 = iadd … } else { } %2 = phi %1, %0` → `%1 = iadd …; %2 = select %c, %1, %0`. Loads stay where they are.
 * Cost counts instructions moved; 8 is where a skipped branch begins to pay (as in Mesa's peephole for this back end).
 */
import { spend } from "../../base/index.ts";
import { Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import {
  condition,
  cursorAtEnd,
  entryBlock,
  erase,
  firstInstr,
  hasIfs,
  insertInstr,
  Kind,
  kindOf,
  listFirst,
  nextBlock,
  nextInstr,
  nextNode,
  opOf,
  predCount,
  replaceUses,
  select,
  unlinkInstr,
} from "../ir/index.ts";
import { isSingleBlock, keepArm, phiSource } from "./edit-tree.ts";

const MAX_MOVED = 8;

/** Instructions that running an arm's block always would cost, or a large number where it must stay conditional. */
function costOf(block: u32): i32 {
  let cost = 0;
  for (let i = firstInstr(block); i != 0; i = nextInstr(i)) {
    const flags = opFlags(opOf(i));
    // Offset ops are memory accesses: also pure ones are not worth running for nothing.
    if ((flags & OpFlag.PURE) == 0 || (flags & OpFlag.OFFSET) != 0 || opOf(i) == Op.PHI) return 1000;
    cost++;
    if (cost > MAX_MOVED) return cost;
  }
  return cost;
}

function convert(node: u32, before: u32): bool {
  if (!isSingleBlock(node, 0) || !isSingleBlock(node, 1)) return false;
  const yes = listFirst(node, 0);
  const no = listFirst(node, 1);
  const after = nextNode(node);
  if (predCount(after) != 2 || costOf(yes) + costOf(no) > MAX_MOVED) return false;
  const cond = condition(node);
  for (let side: u32 = 0; side < 2; side++) {
    const arm = listFirst(node, side);
    for (let i = firstInstr(arm); i != 0; i = firstInstr(arm)) {
      unlinkInstr(i);
      insertInstr(i, before, 0);
    }
  }
  cursorAtEnd(before);
  for (let i = firstInstr(after); i != 0 && opOf(i) == Op.PHI; i = firstInstr(after)) {
    replaceUses(i, select(cond, phiSource(i, after, yes), phiSource(i, after, no)));
    erase(i);
  }
  keepArm(node, 0);
  return true;
}

export function optIfConvert(): bool {
  if (!hasIfs()) return false;
  let progress = false;
  for (let b = entryBlock(); b != 0 && spend(1); b = nextBlock(b)) {
    for (let n = nextNode(b); n != 0 && kindOf(n) == Kind.IF && spend(1); n = nextNode(b)) {
      if (!convert(n, b)) break;
      progress = true;
    }
  }
  return progress;
}
