/**
 * Which loops end for sure, whatever the values: one exit's test compares a number that moves by a constant each round, and so
 * comes by each value of its residue, with one that stays. A loop that might not end must be seen not to end.
 */
import { spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  blockOf,
  condition,
  constBits,
  firstInstr,
  isConst,
  Kind,
  kindOf,
  listFirst,
  listLast,
  loopOf,
  nextBlock,
  nextNode,
  opOf,
  pred,
  predCount,
  src,
  srcCount,
} from "../ir/index.ts";
import { isSingleBlock } from "./edit-tree.ts";

export function isWithin(block: u32, loop: u32): bool {
  let n = loopOf(block);
  while (n != 0 && n != loop && spend(1)) n = loopOf(n);
  return n != 0;
}

/** Lowest bit that a number which moves by a constant each round changes, for a phi of the header; 0 for others. */
function strideOf(value: u32, header: u32): u32 {
  if (isConst(value) || opOf(value) != Op.PHI || blockOf(value) != header || srcCount(value) != 2) return 0;
  for (let k: u32 = 0; k < 2; k++) {
    const step = stepFrom(src(value, k), value);
    if (step != 0) return step & (0 - step);
  }
  return 0;
}
/** What is added to `to` to give `value`; 0 where it is no constant. */
function stepFrom(value: u32, to: u32): u32 {
  if (isConst(value)) return 0;
  const op = opOf(value);
  if (op != Op.IADD && op != Op.ISUB) return 0;
  if (src(value, 0) == to && isConst(src(value, 1))) {
    const by = constBits(src(value, 1));
    return op == Op.ISUB ? 0 - by : by;
  }
  return op == Op.IADD && src(value, 1) == to && isConst(src(value, 0)) ? constBits(src(value, 0)) : 0;
}
/** The same for the number itself, and for what it is in the next round. */
function movement(value: u32, header: u32): u32 {
  const own = strideOf(value, header);
  if (own != 0 || isConst(value) || (opOf(value) != Op.IADD && opOf(value) != Op.ISUB)) return own;
  for (let k: u32 = 0; k < 2; k++) {
    const phi = src(value, k);
    // Of this phi it must be the value that comes next, not any sum of it.
    if (strideOf(phi, header) != 0 && (src(phi, 0) == value || src(phi, 1) == value)) return strideOf(phi, header);
  }
  return 0;
}

function stays(value: u32, loop: u32): bool {
  return isConst(value) || !isWithin(blockOf(value), loop);
}

/**
 * Does `moving < fixed` (or `fixed < moving`: `turned`) come out as `wanted` for one value at least? `m` is the fixed value by
 * its place in the order, from 0 on. Each `stride` values in a row are come by.
 */
function comesOut(turned: bool, wanted: bool, m: u32, stride: u32): bool {
  const below = turned ? ~m : m;
  return wanted ? below >= stride : ~below >= stride - 1;
}

/** Does an exit that is taken when its condition is `wanted` end the loop? */
function testEnds(cond: u32, wanted: bool, loop: u32): bool {
  if (isConst(cond)) return (constBits(cond) != 0) == wanted;
  const op = opOf(cond);
  const isEqual = op == Op.IEQ || op == Op.INE;
  const isSigned = op == Op.ILT || op == Op.IGE;
  if (!isEqual && !isSigned && op != Op.ULT && op != Op.UGE) return false;
  const header = listFirst(loop, 0);
  for (let k: u32 = 0; k < 2; k++) {
    if (!stays(src(cond, 1 - k), loop)) continue;
    const stride = movement(src(cond, k), header);
    if (stride == 0) continue;
    const fixed = src(cond, 1 - k);
    if (isEqual) return (op == Op.INE) == wanted || stride == 1;
    const isLess = op == Op.ILT || op == Op.ULT;
    const lessWanted = isLess == wanted;
    // Of an unknown value: whatever it is.
    if (!isConst(fixed)) return !lessWanted && stride == 1;
    const place = isSigned ? constBits(fixed) ^ 0x8000_0000 : constBits(fixed);
    return comesOut(k == 1, lessWanted, place, stride);
  }
  return false;
}

/** The value of its condition with which an if does nothing but leave the loop: 0, 1; -1 for none. */
function breaksOn(test: u32): i32 {
  for (let side: u32 = 0; side < 2; side++) {
    const first = firstInstr(listFirst(test, side));
    if (isSingleBlock(test, side) && first != 0 && opOf(first) == Op.BREAK) return 1 - <i32>side;
  }
  return -1;
}

function loopEnds(loop: u32): bool {
  const header = listFirst(loop, 0);
  if (predCount(header) != 2) return false;
  // A continue goes by what stands behind it in the body.
  const cont = listFirst(loop, 1);
  const hasContinue = predCount(cont) != 1 || pred(cont, 0) != listLast(loop, 0);
  for (let side: u32 = 0; side < 2; side++) {
    for (let n = listFirst(loop, side); n != 0 && spend(1); n = nextNode(n)) {
      if (kindOf(n) != Kind.IF) continue;
      const on = breaksOn(n);
      if (on >= 0 && testEnds(condition(n), on == 1, loop)) return true;
      if (side == 0 && hasContinue) break;
    }
  }
  return false;
}

/** Whether a loop and those in it end. O(blocks of the loop * depth). */
export function endsForSure(loop: u32): bool {
  if (!loopEnds(loop)) return false;
  for (let b = listFirst(loop, 0); b != nextNode(loop) && b != 0 && spend(1); b = nextBlock(b)) {
    const n = nextNode(b);
    if (n != 0 && kindOf(n) == Kind.LOOP && !loopEnds(n)) return false;
  }
  return true;
}
