/**
 * f64 arithmetic over constants, exact: WebAssembly's is IEEE's, to the nearest even with denormals, as the hardware's here.
 * What the hardware gives within some ulp (reciprocals, roots) is computed where zeros, infinities and NaNs decide it alone.
 * `dadd vec(lo, hi), vec(lo, hi)` → `vec`. A NaN becomes the default one.
 */
import { InstrFlag, Op } from "../../gen/ir-ops.ts";
import { OptionFlag, optionFlag } from "../io.ts";
import {
  constant,
  constantBool,
  constBits,
  cursorBefore,
  flagsOf,
  imm,
  isConst,
  opOf,
  replaceUses,
  src,
  vec2,
} from "../ir/index.ts";

const SIGN: u32 = 0x8000_0000;
const NAN: u64 = 0x7ff8_0000_0000_0000;

function isDoubleConst(v: u32): bool {
  return opOf(v) == Op.VEC && isConst(src(v, 0)) && isConst(src(v, 1));
}
function doubleOf(v: u32): f64 {
  return reinterpret<f64>(((<u64>constBits(src(v, 1))) << 32) | constBits(src(v, 0)));
}

function become(i: u32, value: f64): bool {
  const bits = isNaN(value) ? NAN : reinterpret<u64>(value);
  const low = constant(<u32>bits);
  const high = constant(<u32>(bits >> 32));
  cursorBefore(i);
  replaceUses(i, vec2(low, high));
  return true;
}
function becomeWord(i: u32, bits: u32): bool {
  replaceUses(i, constant(bits));
  return true;
}
function becomeBool(i: u32, value: bool): bool {
  replaceUses(i, constantBool(value));
  return true;
}

/** Zero, infinite or NaN. */
function isSpecial(x: f64): bool {
  return x == 0 || !(abs(x) <= f64.MAX_VALUE);
}
/** A power of two: its products are exact unless they leave the range. */
function isPower(x: f64): bool {
  return reinterpret<u64>(x) << 12 == 0;
}

/** Where the product is exact, one rounding is that of the sum. */
function foldFma(i: u32, a: f64, b: f64, c: f64): bool {
  const product = a * b;
  const special = isSpecial(a) || isSpecial(b);
  const exponent = (reinterpret<u64>(product) >> 52) & 0x7ff;
  if (!special && (!(isPower(a) || isPower(b)) || exponent == 0 || exponent == 0x7ff)) return false;
  return become(i, product + c);
}

function foldBinary(i: u32, op: u32, a: f64, b: f64): bool {
  switch (op) {
    case Op.DADD:
      return become(i, a + b);
    case Op.DMUL:
      return become(i, a * b);
    case Op.DMIN:
      return become(i, isNaN(a) ? b : isNaN(b) ? a : min(a, b));
    case Op.DMAX:
      return become(i, isNaN(a) ? b : isNaN(b) ? a : max(a, b));
    case Op.DEQ:
      return becomeBool(i, a == b);
    case Op.DNEU:
      return becomeBool(i, a != b);
    case Op.DLT:
      return becomeBool(i, a < b);
    case Op.DGE:
      return becomeBool(i, a >= b);
    default:
      return false;
  }
}

function foldUnary(i: u32, op: u32, a: f64): bool {
  switch (op) {
    case Op.DRCP:
      return isSpecial(a) && become(i, 1 / a);
    case Op.DRSQ:
      return isSpecial(a) && become(i, 1 / sqrt(a));
    case Op.DSQRT:
      return isSpecial(a) && become(i, sqrt(a));
    case Op.DFLOOR:
      return become(i, floor(a));
    case Op.DCEIL:
      return become(i, ceil(a));
    case Op.DTRUNC:
      return become(i, trunc(a));
    case Op.DROUND_EVEN:
      return become(i, nearest(a));
    case Op.D2F: {
      const bits = reinterpret<u32>(<f32>a);
      return becomeWord(i, isNaN(a) ? 0x7fc0_0000 : bits);
    }
    default:
      return false;
  }
}

function foldWord(i: u32, op: u32, bits: u32): bool {
  switch (op) {
    case Op.F2D:
      return become(i, <f64>reinterpret<f32>(bits));
    case Op.I2D:
      return become(i, <f64>(<i32>bits));
    case Op.U2D:
      return become(i, <f64>bits);
    default:
      return false;
  }
}

/** A word of a value of two: the source of a pair, or the instruction that takes it out. */
function isWord(w: u32, v: u32, k: u32): bool {
  if (opOf(v) == Op.VEC) return src(v, k) == w;
  return opOf(w) == Op.EXTRACT && src(w, 0) == v && imm(w, 0) == k;
}

/** b is -a. */
function isNegated(a: u32, b: u32): bool {
  if (opOf(b) != Op.VEC || !isWord(src(b, 0), a, 0)) return false;
  const high = src(b, 1);
  if (opOf(high) != Op.IXOR) return false;
  const k: u32 = isConst(src(high, 1)) ? 1 : 0;
  return isConst(src(high, k)) && constBits(src(high, k)) == SIGN && isWord(src(high, 1 - k), a, 1);
}

/** Folds an f64 instruction; true when it did. */
export function foldDouble(i: u32, op: u32): bool {
  if (op >= <u32>Op.F2D && op <= <u32>Op.U2D) return isConst(src(i, 0)) && foldWord(i, op, constBits(src(i, 0)));
  const a = src(i, 0);
  switch (op) {
    case Op.DADD:
    case Op.DMUL:
    case Op.DMIN:
    case Op.DMAX:
    case Op.DEQ:
    case Op.DNEU:
    case Op.DLT:
    case Op.DGE: {
      const b = src(i, 1);
      if (isDoubleConst(a) && isDoubleConst(b)) return foldBinary(i, op, doubleOf(a), doubleOf(b));
      // As `(fsub a a)` of the rules for reals.
      const loose = optionFlag(OptionFlag.CONTRACTION) && (flagsOf(i) & InstrFlag.EXACT) == 0;
      return op == Op.DADD && loose && (isNegated(a, b) || isNegated(b, a)) && become(i, 0);
    }
    case Op.DFMA: {
      const b = src(i, 1);
      const c = src(i, 2);
      if (!isDoubleConst(a) || !isDoubleConst(b) || !isDoubleConst(c)) return false;
      return foldFma(i, doubleOf(a), doubleOf(b), doubleOf(c));
    }
    case Op.DDIV_FIXUP: {
      // The quotient itself counts only where neither part is special.
      const b = src(i, 1);
      const c = src(i, 2);
      if (!isDoubleConst(b) || !isDoubleConst(c)) return false;
      return (isSpecial(doubleOf(b)) || isSpecial(doubleOf(c))) && become(i, doubleOf(c) / doubleOf(b));
    }
    default:
      return isDoubleConst(a) && foldUnary(i, op, doubleOf(a));
  }
}
