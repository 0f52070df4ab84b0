/** What 16-bit integers and limits of values are folded into: comparisons of low halves, medians, conversions to a high half. */
import { Op } from "../../gen/ir-ops.ts";
import {
  constBits,
  firstUse,
  isConst,
  isFloatHalfOp,
  isLowHalfOp,
  nextUse,
  opOf,
  src,
  upperBound,
  useCount,
  userOf,
  widthOf,
} from "../ir/index.ts";
import { classOf, ValueClass } from "./classes.ts";
import { valueSel } from "./columns.ts";
import { highHalf, highHalfIgnored, isMixOp, LOW_ONLY } from "./half-patterns.ts";
import { isAbsorbable, Sel, selOf } from "./sel.ts";

function isConstant(v: u32, bits: u32): bool {
  return isConst(v) && constBits(v) == bits;
}

/** A comparison of words. */
function isWordCompare(op: u32): bool {
  return op >= <u32>Op.IEQ && op <= <u32>Op.UGE;
}

/** The value whose low half a vector has, sign-extended (`signed`) or with zeros above; 0 for none. */
function extended(v: u32, signed: bool): u32 {
  if (classOf(v) != ValueClass.VGPR) return 0;
  if (signed) return opOf(v) == Op.IBFE && isConstant(src(v, 1), 0) && isConstant(src(v, 2), 16) ? src(v, 0) : 0;
  return opOf(v) == Op.IAND && isConstant(src(v, 1), 0xffff) ? src(v, 0) : 0;
}
function isNarrow(v: u32, signed: bool): bool {
  if (isConst(v)) {
    const bits = constBits(v);
    return signed ? <i32>bits >= -32768 && <i32>bits <= 32767 : bits <= 0xffff;
  }
  return extended(v, signed) != 0 || (!signed && upperBound(v, 0) <= 0xffff);
}
function onlyCompared(v: u32): bool {
  for (let u = firstUse(v); u != 0; u = nextUse(u)) {
    if (!isWordCompare(opOf(userOf(u))) || classOf(userOf(u)) != ValueClass.MASK) return false;
  }
  return true;
}
function comparesAs(i: u32, signed: bool): bool {
  const a = src(i, 0);
  const b = src(i, 1);
  if (!isNarrow(a, signed) || !isNarrow(b, signed)) return false;
  return (extended(a, signed) != 0 && onlyCompared(a)) || (extended(b, signed) != 0 && onlyCompared(b));
}

/** Whether a comparison into a mask need not look above the low halves, and an extension is saved by that. */
export function comparesLow(i: u32): bool {
  const op = opOf(i);
  if (widthOf(src(i, 0)) != 32) return false;
  if (op == Op.ILT || op == Op.IGE) return comparesAs(i, true);
  return comparesAs(i, false) || ((op == Op.IEQ || op == Op.INE) && comparesAs(i, true));
}

/** Whether all readers of an extended half compare that alone. */
export function usersCompareLow(v: u32): bool {
  if (extended(v, opOf(v) == Op.IBFE) == 0) return false;
  for (let u = firstUse(v); u != 0; u = nextUse(u)) if (selOf(userOf(u)) != Sel.NARROW_COMPARE) return false;
  return true;
}

/** How the limits of a median are ordered. */
const enum Order {
  NONE = 0,
  SIGNED,
  UNSIGNED,
  FLOAT,
  HALF,
}
/** Whether `low` is at most `high`, numbers both, and `high` no zero: then median and clamp agree on zeros and NaN too. */
function ordered(low: u32, high: u32, order: u32): bool {
  if (order == Order.SIGNED) return <i32>low <= <i32>high;
  if (order == Order.UNSIGNED) return low <= high;
  if (order == Order.FLOAT) return reinterpret<f32>(low) <= reinterpret<f32>(high) && high << 1 != 0;
  // The low halves, as whole numbers of one order; what stands above them is another half's limit.
  const lowSize: i32 = low & 0x7fff;
  const highSize: i32 = high & 0x7fff;
  if (lowSize > 0x7c00 || highSize > 0x7c00 || highSize == 0) return false;
  return ((low & 0x8000) != 0 ? -lowSize : lowSize) <= ((high & 0x8000) != 0 ? -highSize : highSize);
}
/** Codes of instructions have room for one literal. */
function isInline(bits: u32, order: u32): bool {
  const number = order == Order.HALF ? <i32>(<i16>bits) : <i32>bits;
  if (number >= -16 && number <= 64) return true;
  if (order == Order.FLOAT) {
    const size = bits & 0x7fff_ffff;
    return size == 0x3f00_0000 || size == 0x3f80_0000 || size == 0x4000_0000 || size == 0x4080_0000;
  }
  const size = bits & 0x7fff;
  return order == Order.HALF && (size == 0x3800 || size == 0x3c00 || size == 0x4000 || size == 0x4400);
}

function chooseOf(i: u32, innerOp: u32, isMaximum: bool, order: u32): bool {
  for (let k: u32 = 0; k < 2; k++) {
    const inner = src(i, k);
    const outer = src(i, 1 - k);
    if (!isConst(outer) || opOf(inner) != innerOp || !isAbsorbable(i, inner)) continue;
    const m: u32 = isConst(src(inner, 1)) ? 1 : 0;
    if (!isConst(src(inner, m))) continue;
    const a = constBits(outer);
    const b = constBits(src(inner, m));
    if (!ordered(isMaximum ? a : b, isMaximum ? b : a, order) || !(isInline(a, order) || isInline(b, order))) continue;
    valueSel[i] = (valueSel[i] & 0xffff_ff00) | Sel.MEDIAN | (k << 8);
    // What is read of the inner one's halves is what is read of the outer one's.
    valueSel[inner] = (valueSel[i] & LOW_ONLY) | Sel.ABSORBED;
    return true;
  }
  return false;
}
/** A value between two constants by one instruction. Floats: the upper limit last, so that NaN gives the lower one. */
export function chooseMedian(i: u32): bool {
  switch (opOf(i)) {
    case Op.IMIN:
      return chooseOf(i, Op.IMAX, false, Order.SIGNED);
    case Op.IMAX:
      return chooseOf(i, Op.IMIN, true, Order.SIGNED);
    case Op.UMIN:
      return chooseOf(i, Op.UMAX, false, Order.UNSIGNED);
    case Op.UMAX:
      return chooseOf(i, Op.UMIN, true, Order.UNSIGNED);
    case Op.FMIN:
      return chooseOf(i, Op.FMAX, false, Order.FLOAT);
    case Op.HMIN:
      return highHalfIgnored(i) && chooseOf(i, Op.HMAX, false, Order.HALF);
    default:
      return false;
  }
}

/** A half that VALU makes by an instruction of its own. */
function isMade(v: u32): bool {
  const op = opOf(v);
  return (
    (op == Op.F2F16 || isLowHalfOp(op) || isFloatHalfOp(op)) && classOf(v) == ValueClass.VGPR && selOf(v) == Sel.PLAIN
  );
}
/** Two halves, the second one converted: into the high half of the first one's register. */
export function chooseMixHigh(i: u32): void {
  const a = src(i, 0);
  const b = src(i, 1);
  if (opOf(b) != Op.F2F16 || useCount(a) != 1 || !isMade(a) || !isAbsorbable(i, b) || highHalf(a) != 0) return;
  const inner = src(b, 0);
  valueSel[i] = Sel.MIX_HIGH;
  valueSel[b] = Sel.ABSORBED;
  if (isMixOp(opOf(inner)) && isAbsorbable(i, inner)) valueSel[inner] = Sel.ABSORBED_MIX;
}
