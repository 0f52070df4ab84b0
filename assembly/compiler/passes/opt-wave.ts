/**
 * A value that is the same in all lanes needs no way between lanes: reading it in another lane gives itself (any value
 * from an inactive lane is as good); its sum is a product with the number of lanes. `shuffle %0, %1` with uniform `%0` → `%0`. Finds what is uniform first, and does
 * nothing in a shader without such ops. Rounds until nothing changes, at most four.
 */
import { spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  alu1,
  alu2,
  constantBool,
  cursorBefore,
  entryBlock,
  erase,
  firstInstr,
  hasMade,
  imm,
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

/** Ops whose result for a uniform source is that source. */
function keepsUniform(i: u32): bool {
  const op = opOf(i);
  if (op == Op.SHUFFLE || op == Op.READ_LANE || op == Op.READ_FIRST_LANE) return true;
  if (op == Op.QUAD_PERM || op == Op.LANE_XOR) return true;
  if (op == Op.WAVE_REDUCE) return isIdempotent(imm(i, 0));
  // Of no lane at all an exclusive scan gives the identity.
  return op == Op.WAVE_SCAN && imm(i, 1) != 1 && isIdempotent(imm(i, 0));
}
/** imin, imax, umin, umax, iand, ior, fmin, fmax of a value with itself. */
function isIdempotent(kind: u32): bool {
  return (kind >= 2 && kind <= 7) || kind >= 11;
}
/** The sum of a uniform integer over the lanes. */
function isCount(i: u32): bool {
  return opOf(i) == Op.WAVE_REDUCE && imm(i, 0) == 0;
}

function hasAny(): bool {
  return (
    hasMade(Op.SHUFFLE) ||
    hasMade(Op.LANE_XOR) ||
    hasMade(Op.READ_LANE) ||
    hasMade(Op.READ_FIRST_LANE) ||
    hasMade(Op.QUAD_PERM) ||
    hasMade(Op.WAVE_REDUCE) ||
    hasMade(Op.WAVE_SCAN)
  );
}

function simplify(): bool {
  let progress = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    let next: u32 = 0;
    for (let i = firstInstr(b); i != 0 && spend(1); i = next) {
      next = nextInstr(i);
      if ((!keepsUniform(i) && !isCount(i)) || isDivergent(src(i, 0))) continue;
      let value = src(i, 0);
      if (isCount(i)) {
        cursorBefore(i);
        const lanes = alu1(Op.BITCOUNT, alu1(Op.BALLOT, constantBool(true)));
        value = alu2(Op.IMUL, value, lanes);
      }
      replaceUses(i, value);
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
