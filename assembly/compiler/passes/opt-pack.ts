/**
 * Two 16-bit scalars that go into one word are computed there by one instruction. Starts where halves are joined
 * (`ior %0, (ishl %1, 16)` with 0 above %0) and goes down both sides while they are made alike and read nowhere else.
 * `ior (hadd %0, %1), (ishl (hadd %2, %3), 16)` → `hadd (pack_halves %0, %2), (pack_halves %1, %3)`. The two halves of a
 * word are that word; other halves are joined by a pack_halves. A half that is alone is joined as it is: then nothing is
 * done, unless an instruction less remains. Also lets readers of low halves read words whose high halves they ignore
 * (`low-halves.ts`), and makes fields of words out of shifts and masks.
 */
import { spend } from "../../base/index.ts";
import { InstrFlag, Op } from "../../gen/ir-ops.ts";
import {
  alu2,
  alu3,
  constant,
  constBits,
  cursorBefore,
  entryBlock,
  firstInstr,
  firstUse,
  flagsOf,
  hasMade,
  isConst,
  isHalfOp,
  isLowHalfOp,
  nextBlock,
  nextInstr,
  opOf,
  replaceUses,
  setFlags,
  setSrc,
  src,
  srcCount,
  useCount,
  userOf,
  widthOf,
} from "../ir/index.ts";
import { DEPTH, halfOp, halfSource, isConstant, isNarrowStore, isSmall, low, SIXTEEN } from "./halves.ts";
import { narrowReads } from "./low-halves.ts";

/** The word whose high half a value has in its low one, or 0. */
function highOf(v: u32): u32 {
  const op = opOf(v);
  if (op == Op.USHR || op == Op.ISHR) return isConstant(src(v, 1), SIXTEEN) ? src(v, 0) : 0;
  if (op == Op.UBFE || op == Op.IBFE) {
    return isConstant(src(v, 1), SIXTEEN) && isConstant(src(v, 2), SIXTEEN) ? src(v, 0) : 0;
  }
  return 0;
}

/** Read by one instruction, through masks and extensions that nothing else reads. */
function readOnce(v: u32, top: u32): bool {
  let value = top;
  for (let k: u32 = 0; k < DEPTH; k++) {
    if (useCount(value) != 1) return false;
    if (value == v) return true;
    value = opOf(value) == Op.IAND && !isConst(src(value, 1)) ? src(value, 1) : src(value, 0);
  }
  return false;
}

// What `alike` found: the op, the sources of both sides.
let pairOp: u32 = 0;
let a0: u32 = 0;
let a1: u32 = 0;
let a2: u32 = 0;
let b0: u32 = 0;
let b1: u32 = 0;
let b2: u32 = 0;
/** Whether two halves are made by one op. */
function alike(a: u32, b: u32): bool {
  if (opOf(a) == Op.SELECT && (opOf(b) != Op.SELECT || src(a, 0) != src(b, 0))) return false;
  pairOp = halfOp(a);
  if (pairOp == Op.NONE) return false;
  a0 = halfSource(0);
  a1 = halfSource(1);
  a2 = halfSource(2);
  if (halfOp(b) != pairOp) return false;
  b0 = halfSource(0);
  b1 = halfSource(1);
  b2 = halfSource(2);
  return true;
}

/** The word that has both halves as they are, or 0. */
function wholeOf(a: u32, b: u32): u32 {
  const word = highOf(b);
  return word != 0 && low(word) == a ? word : 0;
}

/**
 * Instructions that are saved when the halves `a` and `b` (low as `low` has them; `topA`, `topB` before that) are computed
 * in one word, instead of each for itself; -1 where they have to be joined. `takesHalves`: the reader may pick halves.
 */
function gain(topA: u32, topB: u32, depth: u32, takesHalves: bool): i32 {
  const a = low(topA);
  const b = low(topB);
  if (!spend(1)) return -1;
  if (wholeOf(a, b) != 0 || (isConst(a) && isConst(b))) return 0;
  if (a == b && takesHalves) return 0;
  if (depth >= DEPTH || !readOnce(a, topA) || !readOnce(b, topB) || !alike(a, b)) return -1;
  const op = pairOp;
  const x0 = a0;
  const x1 = a1;
  const x2 = a2;
  const y0 = b0;
  const y1 = b1;
  const y2 = b2;
  const packs = isHalfOp(op);
  let sum = 1 + gain(x0, y0, depth + 1, packs) + gain(x1, y1, depth + 1, packs);
  if (x2 != 0) sum += gain(x2, y2, depth + 1, packs);
  return max<i32>(sum, -1);
}

/** The word of two halves, before the cursor: the way that `gain` found. */
function packed(topA: u32, topB: u32, depth: u32): u32 {
  const a = low(topA);
  const b = low(topB);
  const whole = wholeOf(a, b);
  if (whole != 0) return whole;
  if (isConst(a) && isConst(b)) return constant((constBits(a) & 0xffff) | (constBits(b) << SIXTEEN));
  if (gain(topA, topB, depth, false) < 0 || !alike(a, b)) return alu2(Op.PACK_HALVES, a, b);
  const op = pairOp;
  const x1 = a1;
  const x2 = a2;
  const y1 = b1;
  const y2 = b2;
  const first = packed(a0, b0, depth + 1);
  const second = packed(x1, y1, depth + 1);
  if (op == Op.SELECT) return alu3(op, src(a, 0), first, second);
  const result = x2 != 0 ? alu3(op, first, second, packed(x2, y2, depth + 1)) : alu2(op, first, second);
  setFlags(result, flagsOf(a) & flagsOf(b) & InstrFlag.EXACT);
  return result;
}

/** The half that `v` has above 16 zeros, or 0. */
function raised(v: u32): u32 {
  return opOf(v) == Op.ISHL && isConstant(src(v, 1), SIXTEEN) ? src(v, 0) : 0;
}

/** A joint of two halves as one computation, or 0. */
function join(i: u32): u32 {
  for (let k: u32 = 0; k < 2; k++) {
    const a = src(i, k);
    const b = raised(src(i, 1 - k));
    if (b == 0 || !isSmall(a) || useCount(src(i, 1 - k)) != 1) continue;
    cursorBefore(i);
    return packed(a, b, 0);
  }
  return 0;
}

/** Lets a reader of low halves read what has them; true when it changed something. */
function readLow(i: u32): bool {
  let progress = false;
  for (let k: u32 = 0; k < srcCount(i); k++) {
    const value = low(src(i, k));
    if (value == src(i, k)) continue;
    setSrc(i, k, value);
    progress = true;
  }
  return progress;
}

/** A mask of low bits: how many; 0 for another one. */
function maskBits(bits: u32): u32 {
  return bits != 0 && (bits & (bits + 1)) == 0 ? 32 - clz<u32>(bits) : 0;
}

/** A mask of a mask, a shift of a shift: one of both; 0 for another instruction. */
function nested(i: u32): u32 {
  const shifts = opOf(i) == Op.USHR;
  const k: u32 = !shifts && isConst(src(i, 0)) ? 1 : 0;
  const inner = src(i, k);
  if (opOf(inner) != opOf(i) || widthOf(inner) != 32) return 0;
  const m: u32 = !shifts && isConst(src(inner, 0)) ? 1 : 0;
  const outerBits = src(i, 1 - k);
  const innerBits = src(inner, 1 - m);
  if (!isConst(outerBits) || !isConst(innerBits)) return 0;
  const sum = constBits(outerBits) + constBits(innerBits);
  if (shifts && (constBits(outerBits) > 31 || constBits(innerBits) > 31 || sum > 31)) return 0;
  cursorBefore(i);
  return alu2(opOf(i), src(inner, m), constant(shifts ? sum : constBits(outerBits) & constBits(innerBits)));
}

/** A shift of a mask, a mask of a shift as one extraction of bits; 0 for another instruction. */
function field(i: u32): u32 {
  const one = nested(i);
  if (one != 0) return one;
  const shifts = opOf(i) == Op.USHR;
  const k: u32 = !shifts && isConst(src(i, 0)) ? 1 : 0;
  const inner = src(i, k);
  if (opOf(inner) != (shifts ? Op.IAND : Op.USHR) || widthOf(inner) != 32) return 0;
  const m: u32 = shifts && isConst(src(inner, 0)) ? 1 : 0;
  const count = src(shifts ? i : inner, 1);
  const mask = shifts ? src(inner, 1 - m) : src(i, 1 - k);
  if (!isConst(count) || constBits(count) > 31 || !isConst(mask)) return 0;
  const at = constBits(count);
  const width = maskBits(shifts ? constBits(mask) >> at : constBits(mask));
  if (at == 0 || width == 0) return 0;
  const bits = min<u32>(width, 32 - at);
  cursorBefore(i);
  const word = src(inner, m);
  return at + bits == 32 ? alu2(Op.USHR, word, count) : alu3(Op.UBFE, word, count, constant(bits));
}

/** A shift up of a shift down by as much that nothing else reads: a mask. 0 for another instruction. */
function aligned(i: u32): u32 {
  const down = src(i, 0);
  const count = src(i, 1);
  if ((opOf(down) != Op.USHR && opOf(down) != Op.ISHR) || src(down, 1) != count || !isConst(count)) return 0;
  if (useCount(down) != 1) return 0;
  // A union takes a shift up along, and halves are joined by it.
  if (useCount(i) == 1 && opOf(userOf(firstUse(i))) == Op.IOR) return 0;
  cursorBefore(i);
  return alu2(Op.IAND, src(down, 0), constant((<u32>0xffff_ffff) << (constBits(count) & 31)));
}

export function optPack(): bool {
  const masks = hasMade(Op.IAND) || hasMade(Op.IBFE) || hasMade(Op.UBFE);
  if (!masks && !hasMade(Op.IOR) && !hasMade(Op.F162F) && !hasMade(Op.USHR)) return false;
  let progress = false;
  let narrow = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      const op = opOf(i);
      if (op >= <u32>Op.STORE_SSBO && op <= <u32>Op.STORE_SCRATCH && isNarrowStore(i)) narrow = true;
      if (useCount(i) == 0) continue;
      if (op == Op.F162F || op == Op.PACK_HALVES || isLowHalfOp(op)) {
        narrow = true;
        if (readLow(i)) progress = true;
      } else if ((op == Op.IOR || op == Op.IAND || op == Op.USHR || op == Op.ISHL) && widthOf(i) == 32) {
        const value = op == Op.IOR ? join(i) : op == Op.ISHL ? aligned(i) : field(i);
        if (value == 0) continue;
        narrow = narrow || op == Op.IOR;
        replaceUses(i, value);
        progress = true;
      }
    }
  }
  if (narrow && masks && narrowReads()) progress = true;
  return progress;
}
