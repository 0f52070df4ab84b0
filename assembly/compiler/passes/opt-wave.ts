/**
 * A value that is the same in all lanes needs no way between lanes: reading it in another lane gives itself (any value
 * from an inactive lane is as good). `shuffle %0, %1` with uniform `%0` → `%0`. Finds what is uniform first, and does
 * nothing in a shader without such ops. Rounds until nothing changes, at most four.
 */
import { spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  entryBlock,
  erase,
  firstInstr,
  isDivergent,
  nextBlock,
  nextInstr,
  opOf,
  replaceUses,
  src,
} from "../ir/index.ts";
import { divergence } from "./divergence.ts";
import { lowerLcssa } from "./lower-lcssa.ts";

const MAX_ROUNDS = 4;

function readsAcross(op: u32): bool {
  return op == Op.SHUFFLE || op == Op.READ_LANE || op == Op.READ_FIRST_LANE;
}

function hasAny(): bool {
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) if (readsAcross(opOf(i))) return true;
  }
  return false;
}

function simplify(): bool {
  let progress = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    let next: u32 = 0;
    for (let i = firstInstr(b); i != 0 && spend(1); i = next) {
      next = nextInstr(i);
      if (!readsAcross(opOf(i)) || isDivergent(src(i, 0))) continue;
      replaceUses(i, src(i, 0));
      erase(i);
      progress = true;
    }
  }
  return progress;
}

export function optWave(): bool {
  if (!hasAny()) return false;
  let progress = lowerLcssa();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    divergence();
    if (!simplify()) break;
    progress = true;
  }
  return progress;
}
