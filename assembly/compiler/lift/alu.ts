/** Component-wise and matrix arithmetic of SPIR-V, on scalar leaves. */
import { failed } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { SpvOp } from "../../gen/spirv.ts";
import { alu1, constant, constantBool, isConst, setImm } from "../ir/index.ts";
import { addI, bin, fadd, fmul, fsub, notB, sel, tri, un } from "./fold-build.ts";
import { leafPool } from "./ids.ts";
import { isPair, pairOf } from "./wide.ts";

/** Booleans: a != b under the ordered rule. */
function ordNotEqual(a: u32, b: u32): u32 {
  return bin(Op.IOR, bin(Op.FLT, a, b), bin(Op.FLT, b, a));
}

function shiftedMask(count: u32, offset: u32): u32 {
  // (1 << count) - 1 with count 32 giving all ones: bfm takes 5 bits only.
  return sel(bin(Op.UGE, count, constant(32)), constant(0xffff_ffff), bin(Op.BFM, count, offset));
}

/** 64 bits: the field goes to the top, and comes down with zeros or its sign. A shift by 64 is one by 0. */
function wideExtract(signed: bool, a: u32, offset: u32, count: u32): u32 {
  const top = bin(Op.ISHL, a, bin(Op.ISUB, constant(64), bin(Op.IADD, offset, count)));
  const field = bin(signed ? Op.ISHR : Op.USHR, top, bin(Op.ISUB, constant(64), count));
  return sel(bin(Op.IEQ, count, constant(0)), pairOf(0), field);
}
function wideInsert(base: u32, insert: u32, offset: u32, count: u32): u32 {
  const ones = bin(Op.USHR, pairOf(0xffff_ffff_ffff_ffff), bin(Op.ISUB, constant(64), count));
  const mask = bin(Op.ISHL, ones, offset);
  const changed = bin(Op.IAND, mask, bin(Op.IXOR, base, bin(Op.ISHL, insert, offset)));
  return sel(bin(Op.IEQ, count, constant(0)), base, bin(Op.IXOR, base, changed));
}

/** Field of `count` bits from `offset`; count 0 gives 0, count of all bits the value. */
export function bitfieldExtract(signed: bool, a: u32, offset: u32, count: u32): u32 {
  if (isPair(a)) return wideExtract(signed, a, offset, count);
  return sel(bin(Op.UGE, count, constant(32)), a, tri(signed ? Op.IBFE : Op.UBFE, a, offset, count));
}

export function bitfieldInsert(base: u32, insert: u32, offset: u32, count: u32): u32 {
  if (isPair(base)) return wideInsert(base, insert, offset, count);
  return tri(Op.BFI, shiftedMask(count, offset), bin(Op.ISHL, insert, offset), base);
}

/** x - y * trunc(x / y). */
function frem(a: u32, b: u32): u32 {
  return fsub(a, fmul(b, un(Op.FTRUNC, bin(Op.FDIV, a, b))));
}
/** x - y * floor(x / y). */
function fmod(a: u32, b: u32): u32 {
  return fsub(a, fmul(b, un(Op.FFLOOR, bin(Op.FDIV, a, b))));
}

/** Selectors of `quad_perm`: two bits a lane, lane 0 lowest. */
const enum Quad {
  X0 = 0xa0,
  X1 = 0xf5,
  Y0 = 0x44,
  Y1 = 0xee,
  FIRST = 0x00,
  RIGHT = 0x55,
  BELOW = 0xaa,
}

function quad(a: u32, selectors: u32): u32 {
  const i = alu1(Op.QUAD_PERM, a);
  setImm(i, 0, selectors);
  return i;
}

/** Difference of two lanes of the quad. Lanes: 0 1 above 2 3. */
function derivative(a: u32, to: u32, from: u32): u32 {
  return isConst(a) ? constant(0) : fsub(quad(a, to), quad(a, from));
}

/** One scalar of a unary op; 0 where the op is none of these. */
export function unary(op: u32, a: u32): u32 {
  switch (op) {
    case SpvOp.OpSNegate:
      return un(Op.INEG, a);
    case SpvOp.OpFNegate:
      return un(Op.FNEG, a);
    case SpvOp.OpNot:
    case SpvOp.OpLogicalNot:
      return notB(a);
    case SpvOp.OpBitReverse:
      return un(Op.BITREV, a);
    case SpvOp.OpBitCount:
      return un(Op.BITCOUNT, a);
    case SpvOp.OpQuantizeToF16:
      return un(Op.F162F, un(Op.F2F16, a));
    case SpvOp.OpDPdx:
    case SpvOp.OpDPdxCoarse:
      return derivative(a, Quad.RIGHT, Quad.FIRST);
    case SpvOp.OpDPdy:
    case SpvOp.OpDPdyCoarse:
      return derivative(a, Quad.BELOW, Quad.FIRST);
    case SpvOp.OpDPdxFine:
      return derivative(a, Quad.X1, Quad.X0);
    case SpvOp.OpDPdyFine:
      return derivative(a, Quad.Y1, Quad.Y0);
    case SpvOp.OpFwidth:
    case SpvOp.OpFwidthCoarse:
      return fadd(
        un(Op.FABS, derivative(a, Quad.RIGHT, Quad.FIRST)),
        un(Op.FABS, derivative(a, Quad.BELOW, Quad.FIRST)),
      );
    case SpvOp.OpFwidthFine:
      return fadd(un(Op.FABS, derivative(a, Quad.X1, Quad.X0)), un(Op.FABS, derivative(a, Quad.Y1, Quad.Y0)));
    case SpvOp.OpIsNan:
      return bin(Op.FNEU, a, a);
    case SpvOp.OpIsInf:
      return bin(Op.FEQ, un(Op.FABS, a), constant(0x7f80_0000));
    default:
      return 0;
  }
}

/** One scalar of a binary op; 0 where the op is none of these. */
export function binary(op: u32, a: u32, b: u32): u32 {
  switch (op) {
    case SpvOp.OpIAdd:
      return addI(a, b);
    case SpvOp.OpISub:
      return bin(Op.ISUB, a, b);
    case SpvOp.OpIMul:
      return bin(Op.IMUL, a, b);
    case SpvOp.OpFAdd:
      return fadd(a, b);
    case SpvOp.OpFSub:
      return fsub(a, b);
    case SpvOp.OpFMul:
      return fmul(a, b);
    case SpvOp.OpFDiv:
      return bin(Op.FDIV, a, b);
    case SpvOp.OpFRem:
      return frem(a, b);
    case SpvOp.OpFMod:
      return fmod(a, b);
    case SpvOp.OpUDiv:
      return bin(Op.UDIV, a, b);
    case SpvOp.OpSDiv:
      return bin(Op.IDIV, a, b);
    case SpvOp.OpUMod:
      return bin(Op.UMOD, a, b);
    case SpvOp.OpSRem:
      return bin(Op.IREM, a, b);
    case SpvOp.OpSMod:
      return bin(Op.IMOD, a, b);
    case SpvOp.OpShiftRightLogical:
      return bin(Op.USHR, a, b);
    case SpvOp.OpShiftRightArithmetic:
      return bin(Op.ISHR, a, b);
    case SpvOp.OpShiftLeftLogical:
      return bin(Op.ISHL, a, b);
    case SpvOp.OpBitwiseOr:
    case SpvOp.OpLogicalOr:
      return bin(Op.IOR, a, b);
    case SpvOp.OpBitwiseXor:
    case SpvOp.OpLogicalNotEqual:
      return bin(Op.IXOR, a, b);
    case SpvOp.OpBitwiseAnd:
    case SpvOp.OpLogicalAnd:
      return bin(Op.IAND, a, b);
    case SpvOp.OpLogicalEqual:
      return notB(bin(Op.IXOR, a, b));
    case SpvOp.OpIEqual:
      return bin(Op.IEQ, a, b);
    case SpvOp.OpINotEqual:
      return bin(Op.INE, a, b);
    case SpvOp.OpUGreaterThan:
      return bin(Op.ULT, b, a);
    case SpvOp.OpSGreaterThan:
      return bin(Op.ILT, b, a);
    case SpvOp.OpUGreaterThanEqual:
      return bin(Op.UGE, a, b);
    case SpvOp.OpSGreaterThanEqual:
      return bin(Op.IGE, a, b);
    case SpvOp.OpULessThan:
      return bin(Op.ULT, a, b);
    case SpvOp.OpSLessThan:
      return bin(Op.ILT, a, b);
    case SpvOp.OpULessThanEqual:
      return bin(Op.UGE, b, a);
    case SpvOp.OpSLessThanEqual:
      return bin(Op.IGE, b, a);
    case SpvOp.OpFOrdEqual:
      return bin(Op.FEQ, a, b);
    case SpvOp.OpFUnordEqual:
      return notB(ordNotEqual(a, b));
    case SpvOp.OpFOrdNotEqual:
      return ordNotEqual(a, b);
    case SpvOp.OpFUnordNotEqual:
      return bin(Op.FNEU, a, b);
    case SpvOp.OpFOrdLessThan:
      return bin(Op.FLT, a, b);
    case SpvOp.OpFUnordLessThan:
      return notB(bin(Op.FGE, a, b));
    case SpvOp.OpFOrdGreaterThan:
      return bin(Op.FLT, b, a);
    case SpvOp.OpFUnordGreaterThan:
      return notB(bin(Op.FGE, b, a));
    case SpvOp.OpFOrdLessThanEqual:
      return bin(Op.FGE, b, a);
    case SpvOp.OpFUnordLessThanEqual:
      return notB(bin(Op.FLT, b, a));
    case SpvOp.OpFOrdGreaterThanEqual:
      return bin(Op.FGE, a, b);
    case SpvOp.OpFUnordGreaterThanEqual:
      return notB(bin(Op.FLT, a, b));
    default:
      return 0;
  }
}

/** Sum of products of two runs of leaves with strides, left to right. */
export function dot(a: u32, strideA: u32, b: u32, strideB: u32, count: u32): u32 {
  let sum: u32 = fmul(leafPool[a], leafPool[b]);
  for (let k: u32 = 1; k < count && !failed(); k++)
    sum = fadd(sum, fmul(leafPool[a + k * strideA], leafPool[b + k * strideB]));
  return sum;
}

/** Carry of a + b, borrow of a - b, as 0 or 1. */
export function carryOf(sum: u32, a: u32): u32 {
  return un(Op.B2I, bin(Op.ULT, sum, a));
}
export function borrowOf(a: u32, b: u32): u32 {
  return un(Op.B2I, bin(Op.ULT, a, b));
}

/** All (and) or any (or) of a run of booleans. */
export function reduceBool(op: u32, leaf: u32, count: u32): u32 {
  let r: u32 = count == 0 ? constantBool(op == Op.IAND) : leafPool[leaf];
  for (let k: u32 = 1; k < count; k++) r = bin(op, r, leafPool[leaf + k]);
  return r;
}
