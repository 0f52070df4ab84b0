/**
 * Arithmetic on 64-bit scalars. In the leaf pool a 64-bit scalar is two 32-bit leaves, low half first; while an
 * instruction is lifted it is one value of two components, a pair. Integers become 32-bit ops here; f64 has ops of its
 * own over pairs (`dadd`, …).
 */
import { Op } from "../../gen/ir-ops.ts";
import {
  alu1,
  componentsOf,
  constant,
  constBits,
  extract,
  isConst,
  newInstr,
  opOf,
  place0,
  setSrc,
  src,
  vec2,
} from "../ir/index.ts";
import { binWord as bin, selWord as sel, triWord as tri, unWord as un } from "./fold-words.ts";
import { unsupported } from "./ids.ts";
import { Unsupported } from "./texts.ts";

export function isPair(value: u32): bool {
  return componentsOf(value) == 2;
}
export function pair(low: u32, high: u32): u32 {
  return vec2(low, high);
}
function half(value: u32, k: u32): u32 {
  return opOf(value) == Op.VEC ? src(value, k) : extract(value, k);
}
export function low(value: u32): u32 {
  return half(value, 0);
}
export function high(value: u32): u32 {
  return half(value, 1);
}
export function pairOf(bits: u64): u32 {
  return pair(constant(<u32>bits), constant(<u32>(bits >> 32)));
}

/** A value as a pair: f32 constants and values become f64, integers are sign-extended. */
export function widened(value: u32, float: bool): u32 {
  if (isPair(value)) return value;
  if (!float) return pair(value, isConst(value) ? constant(<u32>(<i32>constBits(value) >> 31)) : constant(0));
  if (isConst(value)) return pairOf(reinterpret<u64>(<f64>reinterpret<f32>(constBits(value))));
  const i = newInstr(Op.F2D, 32, 2, 1);
  setSrc(i, 0, value);
  return place0(i);
}

function double1(op: u32, a: u32): u32 {
  const i = newInstr(op, 32, 2, 1);
  setSrc(i, 0, a);
  return place0(i);
}
export function double2(op: u32, a: u32, b: u32): u32 {
  const i = newInstr(op, 32, 2, 2);
  setSrc(i, 0, a);
  setSrc(i, 1, b);
  return place0(i);
}
function double3(op: u32, a: u32, b: u32, c: u32): u32 {
  const i = newInstr(op, 32, 2, 3);
  setSrc(i, 0, a);
  setSrc(i, 1, b);
  setSrc(i, 2, c);
  return place0(i);
}
/** A pair from a word: f2d, i2d, u2d. */
export function toDouble(op: u32, a: u32): u32 {
  return double1(op, a);
}
function compare(op: u32, a: u32, b: u32): u32 {
  const i = newInstr(op, 1, 1, 2);
  setSrc(i, 0, a);
  setSrc(i, 1, b);
  return place0(i);
}
function negated(a: u32): u32 {
  return pair(low(a), bin(Op.IXOR, high(a), constant(0x8000_0000)));
}
const ONE: u64 = 0x3ff0_0000_0000_0000;

/** 1 / b: the hardware's estimate and two steps of Newton. */
function reciprocal(b: u32): u32 {
  const one = pairOf(ONE);
  const minus = negated(b);
  let r = double1(Op.DRCP, b);
  for (let k = 0; k < 2; k++) r = double3(Op.DFMA, double3(Op.DFMA, minus, r, one), r, r);
  return r;
}
/** a / b with one step on the quotient; zeros, infinities and NaN by div_fixup. */
function quotient(a: u32, b: u32): u32 {
  const r = reciprocal(b);
  const q = double2(Op.DMUL, a, r);
  const better = double3(Op.DFMA, double3(Op.DFMA, negated(b), q, a), r, q);
  return double3(Op.DDIV_FIXUP, better, b, a);
}
/** Square root (`inverse`: 1 over it): the hardware's estimate of 1/sqrt and two steps of Goldschmidt. */
function root(a: u32, inverse: bool): u32 {
  const estimate = double1(Op.DRSQ, a);
  const half = pairOf(0x3fe0_0000_0000_0000);
  let g = double2(Op.DMUL, a, estimate);
  let h = double2(Op.DMUL, estimate, half);
  for (let k = 0; k < 2; k++) {
    const r = double3(Op.DFMA, negated(h), g, half);
    g = double3(Op.DFMA, g, r, g);
    h = double3(Op.DFMA, h, r, h);
  }
  // 0, infinities, negatives and NaN: the estimate has the right answer for 1/sqrt, its inverse or a itself for sqrt.
  const magnitude = bin(Op.IAND, high(a), constant(0x7fff_ffff));
  const ordinary = bin(Op.ULT, bin(Op.ISUB, magnitude, constant(0x0010_0000)), constant(0x7fe0_0000));
  if (inverse) return wideSelect(ordinary, double2(Op.DADD, h, h), estimate);
  const special = double1(Op.DSQRT, a);
  return wideSelect(ordinary, g, special);
}

function shiftLeft(a: u32, by: u32): u32 {
  const s = isPair(by) ? low(by) : by;
  const big = bin(Op.INE, bin(Op.IAND, s, constant(32)), constant(0));
  const across = bin(Op.USHR, bin(Op.USHR, low(a), constant(1)), un(Op.INOT, s));
  const moved = bin(Op.ISHL, low(a), s);
  const up = bin(Op.IOR, bin(Op.ISHL, high(a), s), across);
  return pair(sel(big, constant(0), moved), sel(big, moved, up));
}
function shiftRight(a: u32, by: u32, signed: bool): u32 {
  const s = isPair(by) ? low(by) : by;
  const big = bin(Op.INE, bin(Op.IAND, s, constant(32)), constant(0));
  const across = bin(Op.ISHL, bin(Op.ISHL, high(a), constant(1)), un(Op.INOT, s));
  const moved = bin(signed ? Op.ISHR : Op.USHR, high(a), s);
  const fill = signed ? bin(Op.ISHR, high(a), constant(31)) : constant(0);
  return pair(sel(big, moved, bin(Op.IOR, bin(Op.USHR, low(a), s), across)), sel(big, fill, moved));
}
/** a < b. */
function less(a: u32, b: u32, signed: bool): u32 {
  const same = bin(Op.IAND, bin(Op.IEQ, high(a), high(b)), bin(Op.ULT, low(a), low(b)));
  return bin(Op.IOR, bin(signed ? Op.ILT : Op.ULT, high(a), high(b)), same);
}
/** The whole product of two words. */
function product(a: u32, b: u32): u32 {
  return pair(bin(Op.IMUL, a, b), bin(Op.UMUL_HI, a, b));
}
/** High 64 bits of the 128-bit product. */
export function mulHigh(a: u32, b: u32, signed: bool): u32 {
  const carry = high(product(low(a), low(b)));
  const t = wide2(Op.IADD, product(low(a), high(b)), pair(carry, constant(0)));
  const u = wide2(Op.IADD, product(high(a), low(b)), pair(low(t), constant(0)));
  const top = wide2(Op.IADD, product(high(a), high(b)), pair(high(t), constant(0)));
  const unsigned = wide2(Op.IADD, top, pair(high(u), constant(0)));
  if (!signed) return unsigned;
  const zero = pair(constant(0), constant(0));
  const fromA = wideSelect(bin(Op.ILT, high(a), constant(0)), b, zero);
  const fromB = wideSelect(bin(Op.ILT, high(b), constant(0)), a, zero);
  return wide2(Op.ISUB, wide2(Op.ISUB, unsigned, fromA), fromB);
}

/** By a float estimate of 1/b, two steps of Newton on 64-bit integers, and two corrections. b = 0 gives any value. */
function divide(a: u32, b: u32, remainder: bool): u32 {
  const whole = tri(
    Op.FFMA,
    un(Op.U2F, high(b)),
    constant(0x4f80_0000), // 2^32
    un(Op.U2F, low(b)),
  );
  // A little under 2^64 / b, so that the quotient is never too large.
  const estimate = bin(Op.FMUL, un(Op.FRCP, whole), constant(0x5f7f_fffc));
  const upper = un(Op.FTRUNC, bin(Op.FMUL, estimate, constant(0x2f80_0000)));
  const lower = tri(Op.FFMA, upper, constant(0xcf80_0000), estimate);
  let r = pair(un(Op.F2U, lower), un(Op.F2U, upper));
  const minus = wide1(Op.INEG, b);
  for (let k = 0; k < 2; k++) r = wide2(Op.IADD, r, mulHigh(r, wide2(Op.IMUL, minus, r), false));
  let q = mulHigh(a, r, false);
  let rest = wide2(Op.ISUB, a, wide2(Op.IMUL, q, b));
  const one = pair(constant(1), constant(0));
  for (let k = 0; k < 2; k++) {
    const over = un(Op.INOT, less(rest, b, false));
    q = wideSelect(over, wide2(Op.IADD, q, one), q);
    rest = wideSelect(over, wide2(Op.ISUB, rest, b), rest);
  }
  return remainder ? rest : q;
}
/** Division of signed numbers by their magnitudes. */
function divideSigned(op: u32, a: u32, b: u32): u32 {
  const x = wide1(Op.IABS, a);
  const y = wide1(Op.IABS, b);
  if (op == Op.IDIV) {
    const differ = bin(Op.ILT, bin(Op.IXOR, high(a), high(b)), constant(0));
    const q = divide(x, y, false);
    return wideSelect(differ, wide1(Op.INEG, q), q);
  }
  const magnitude = divide(x, y, true);
  const rest = wideSelect(bin(Op.ILT, high(a), constant(0)), wide1(Op.INEG, magnitude), magnitude);
  if (op == Op.IREM) return rest;
  // imod: the sign of b.
  const isZero = bin(Op.IEQ, bin(Op.IOR, low(rest), high(rest)), constant(0));
  const wrong = bin(Op.ILT, bin(Op.IXOR, high(rest), high(b)), constant(0));
  return wideSelect(bin(Op.IAND, wrong, un(Op.INOT, isZero)), wide2(Op.IADD, rest, b), rest);
}

export function wideSelect(cond: u32, a: u32, b: u32): u32 {
  return pair(sel(cond, low(a), low(b)), sel(cond, high(a), high(b)));
}

function refuse(): u32 {
  unsupported(Unsupported.WIDE_OP, 64);
  return pair(constant(0), constant(0));
}

export function wide1(op: u32, a: u32): u32 {
  switch (op) {
    case Op.INEG:
      return wide2(Op.ISUB, pair(constant(0), constant(0)), a);
    case Op.INOT:
      return pair(un(Op.INOT, low(a)), un(Op.INOT, high(a)));
    case Op.IABS:
      return wideSelect(bin(Op.ILT, high(a), constant(0)), wide1(Op.INEG, a), a);
    case Op.BITCOUNT:
      return bin(Op.IADD, un(Op.BITCOUNT, low(a)), un(Op.BITCOUNT, high(a)));
    case Op.BITREV:
      return pair(un(Op.BITREV, high(a)), un(Op.BITREV, low(a)));
    case Op.FNEG:
      return negated(a);
    case Op.FABS:
      return pair(low(a), bin(Op.IAND, high(a), constant(0x7fff_ffff)));
    case Op.FFLOOR:
      return double1(Op.DFLOOR, a);
    case Op.FCEIL:
      return double1(Op.DCEIL, a);
    case Op.FTRUNC:
      return double1(Op.DTRUNC, a);
    case Op.FROUND_EVEN:
      return double1(Op.DROUND_EVEN, a);
    case Op.FFRACT:
      return double2(Op.DADD, a, negated(double1(Op.DFLOOR, a)));
    case Op.FSAT:
      return double2(Op.DMIN, double2(Op.DMAX, a, pairOf(0)), pairOf(ONE));
    case Op.FSQRT:
      return root(a, false);
    case Op.FRSQ:
      return root(a, true);
    case Op.FRCP:
      return quotient(pairOf(ONE), a);
    case Op.FFREXP_MANT:
      return double1(Op.DFREXP_MANT, a);
    case Op.FFREXP_EXP:
      return alu1(Op.DFREXP_EXP, a);
    case Op.F2I:
      return alu1(Op.D2I, a);
    case Op.F2U:
      return alu1(Op.D2U, a);
    default:
      return refuse();
  }
}

function isFloatOp(op: u32): bool {
  return (op >= <u32>Op.FEQ && op <= <u32>Op.FGE) || (op >= <u32>Op.FADD && op <= <u32>Op.FLDEXP);
}

export function wide2(op: u32, x: u32, y: u32): u32 {
  switch (op) {
    case Op.ISHL:
      return isPair(x) ? shiftLeft(x, y) : bin(op, x, low(y));
    case Op.USHR:
    case Op.ISHR:
      return isPair(x) ? shiftRight(x, y, op == Op.ISHR) : bin(op, x, low(y));
    case Op.FLDEXP:
      return double2(Op.DLDEXP, x, y);
    default:
      break;
  }
  const a = widened(x, isFloatOp(op));
  const b = widened(y, isFloatOp(op));
  switch (op) {
    case Op.IADD: {
      const sum = bin(Op.IADD, low(a), low(b));
      const carry = un(Op.B2I, bin(Op.ULT, sum, low(a)));
      return pair(sum, bin(Op.IADD, bin(Op.IADD, high(a), high(b)), carry));
    }
    case Op.ISUB: {
      const borrow = un(Op.B2I, bin(Op.ULT, low(a), low(b)));
      return pair(bin(Op.ISUB, low(a), low(b)), bin(Op.ISUB, bin(Op.ISUB, high(a), high(b)), borrow));
    }
    case Op.IMUL: {
      const p = product(low(a), low(b));
      const cross = bin(Op.IADD, bin(Op.IMUL, low(a), high(b)), bin(Op.IMUL, high(a), low(b)));
      return pair(low(p), bin(Op.IADD, high(p), cross));
    }
    case Op.UDIV:
    case Op.UMOD:
      return divide(a, b, op == Op.UMOD);
    case Op.IDIV:
    case Op.IREM:
    case Op.IMOD:
      return divideSigned(op, a, b);
    case Op.IAND:
    case Op.IOR:
    case Op.IXOR:
      return pair(bin(op, low(a), low(b)), bin(op, high(a), high(b)));
    case Op.IEQ:
      return bin(Op.IAND, bin(Op.IEQ, low(a), low(b)), bin(Op.IEQ, high(a), high(b)));
    case Op.INE:
      return bin(Op.IOR, bin(Op.INE, low(a), low(b)), bin(Op.INE, high(a), high(b)));
    case Op.ULT:
    case Op.ILT:
      return less(a, b, op == Op.ILT);
    case Op.UGE:
    case Op.IGE:
      return un(Op.INOT, less(a, b, op == Op.IGE));
    case Op.UMIN:
    case Op.IMIN:
      return wideSelect(less(a, b, op == Op.IMIN), a, b);
    case Op.UMAX:
    case Op.IMAX:
      return wideSelect(less(a, b, op == Op.IMAX), b, a);
    case Op.FADD:
      return double2(Op.DADD, a, b);
    case Op.FSUB:
      return double2(Op.DADD, a, negated(b));
    case Op.FMUL:
      return double2(Op.DMUL, a, b);
    case Op.FDIV:
      return quotient(a, b);
    case Op.FMIN:
      return double2(Op.DMIN, a, b);
    case Op.FMAX:
      return double2(Op.DMAX, a, b);
    case Op.FEQ:
      return compare(Op.DEQ, a, b);
    case Op.FNEU:
      return compare(Op.DNEU, a, b);
    case Op.FLT:
      return compare(Op.DLT, a, b);
    case Op.FGE:
      return compare(Op.DGE, a, b);
    default:
      return refuse();
  }
}

export function wide3(op: u32, a: u32, b: u32, c: u32): u32 {
  if (op == Op.FFMA) return double3(Op.DFMA, widened(a, true), widened(b, true), widened(c, true));
  // The sign of c on b: masks are of the high word.
  if (op == Op.BFI && isConst(a) && constBits(a) == 0x7fff_ffff && isPair(c)) {
    const x = widened(b, true);
    return pair(low(x), tri(Op.BFI, a, high(x), high(c)));
  }
  return refuse();
}
