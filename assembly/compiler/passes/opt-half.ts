/**
 * Arithmetic of 16-bit floats in their own width: what is computed as f32 from halves and rounded at once. Rounding twice
 * is rounding once for sums and products (24 >= 2 * 11 + 2 bits), and minimum and maximum round nothing; a fused
 * multiply-add would round differently and stays. `f2f16 (fadd (f162f %0), (f162f %1))` → `hadd %0, %1`. Signs change by a
 * product with -1, whose NaN is the default one as that of the conversion. Chains of minima, maxima and roundings to
 * integers are followed down to the halves. O(instructions).
 */
import { spend } from "../../base/index.ts";
import { foldOp, InstrFlag, Op } from "../../gen/ir-ops.ts";
import {
  alu1,
  alu2,
  constant,
  constBits,
  cursorBefore,
  entryBlock,
  firstInstr,
  flagsOf,
  hasMade,
  isConst,
  isFloatHalfOp,
  isLowHalfOp,
  nextBlock,
  nextInstr,
  opOf,
  replaceUses,
  setFlags,
  src,
  srcCount,
  upperBound,
  useCount,
} from "../ir/index.ts";

/** -1 and 1 as f16. */
const MINUS_ONE: u32 = 0xbc00;
const ONE: u32 = 0x3c00;
/** Levels that are looked through. */
const DEPTH: u32 = 4;

/** The op on halves for one on f32 that gives a half for halves, whatever they are; Op.NONE for another. */
function keepingOp(op: u32): u32 {
  switch (op) {
    case Op.FMIN:
      return Op.HMIN;
    case Op.FMAX:
      return Op.HMAX;
    case Op.FFLOOR:
      return Op.HFLOOR;
    case Op.FCEIL:
      return Op.HCEIL;
    case Op.FTRUNC:
      return Op.HTRUNC;
    case Op.FROUND_EVEN:
      return Op.HROUND_EVEN;
    default:
      return Op.NONE;
  }
}

/** Whether an f32 value is one of f16 for sure: a converted half, a constant, what signs, minima and roundings make of them. */
function isHalf(v: u32, depth: u32): bool {
  const op = opOf(v);
  if (op == Op.F162F) return true;
  if (isConst(v)) {
    const bits = constBits(v);
    return foldOp(Op.F162F, foldOp(Op.F2F16, bits, 0, 0), 0, 0) == bits;
  }
  if (depth >= DEPTH) return false;
  if (op == Op.FNEG || op == Op.FABS) return isHalf(src(v, 0), depth + 1);
  // What is read as f32 too is computed there.
  if (keepingOp(op) == Op.NONE || useCount(v) != 1) return false;
  return isHalf(src(v, 0), depth + 1) && (srcCount(v) < 2 || isHalf(src(v, 1), depth + 1));
}

/** An op on two scalars, whose high halves are 0. */
function scalar(op: u32, a: u32, b: u32, flags: u32): u32 {
  const i = alu2(op, a, b);
  setFlags(i, flags | InstrFlag.NUW);
  return i;
}

function negated(half: u32): u32 {
  return scalar(Op.HMUL, half, constant(MINUS_ONE), 0);
}

/** The half that `isHalf` found, before the cursor, the high half 0. */
function halfOf(v: u32): u32 {
  if (isConst(v)) return constant(foldOp(Op.F2F16, constBits(v), 0, 0));
  if (opOf(v) == Op.FNEG) return negated(halfOf(src(v, 0)));
  if (opOf(v) == Op.FABS) {
    const half = halfOf(src(v, 0));
    return scalar(Op.HMAX, half, negated(half), 0);
  }
  const kept = keepingOp(opOf(v));
  if (kept != Op.NONE) return srcCount(v) == 2 ? two(kept, v) : alu1(kept, halfOf(src(v, 0)));
  const word = src(v, 0);
  return upperBound(word, 0) <= 0xffff ? word : alu2(Op.IAND, word, constant(0xffff));
}

function two(op: u32, inner: u32): u32 {
  const a = halfOf(src(inner, 0));
  const b = halfOf(src(inner, 1));
  return scalar(op, a, opOf(inner) == Op.FSUB ? negated(b) : b, flagsOf(inner) & InstrFlag.EXACT);
}

/** What computes the f2f16 as halves, or 0. */
function narrowed(i: u32): u32 {
  const inner = src(i, 0);
  const op = opOf(inner);
  // The default NaN already: nothing is left to convert.
  if (op == Op.F162F) return isRounded(src(inner, 0)) ? src(inner, 0) : 0;
  if (useCount(inner) != 1) return 0;
  switch (op) {
    case Op.FADD:
    case Op.FSUB:
    case Op.FMUL:
      if (!isHalf(src(inner, 0), 0) || !isHalf(src(inner, 1), 0)) return 0;
      break;
    case Op.FSAT:
      if (!isHalf(src(inner, 0), 0)) return 0;
      break;
    default:
      if (isConst(inner) || !isHalf(inner, 0)) return 0;
      break;
  }
  cursorBefore(i);
  switch (op) {
    case Op.FADD:
    case Op.FSUB:
      return two(Op.HADD, inner);
    case Op.FMUL:
      return two(Op.HMUL, inner);
    case Op.FSAT:
      return scalar(Op.HMIN, scalar(Op.HMAX, halfOf(src(inner, 0)), constant(0), 0), constant(ONE), 0);
    default:
      return halfOf(inner);
  }
}

/** A half that arithmetic or a conversion made. */
function isRounded(v: u32): bool {
  const op = opOf(v);
  if (isFloatHalfOp(op)) return upperBound(v, 0) <= 0xffff;
  return op == Op.F2F16 || isLowHalfOp(op);
}

export function optHalf(): bool {
  if (!hasMade(Op.F2F16)) return false;
  let progress = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      if (opOf(i) != Op.F2F16 || useCount(i) == 0) continue;
      const value = narrowed(i);
      if (value == 0) continue;
      replaceUses(i, value);
      progress = true;
    }
  }
  return progress;
}
