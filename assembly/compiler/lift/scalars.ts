/**
 * How scalars of each width stand in the leaf pool, and as what arithmetic sees them.
 *
 * | type | leaves | in arithmetic |
 * | 8, 16-bit integer | one word, the upper bits 0 | the word, sign-extended for signed operations; results are cut |
 * | f16 | one word, the upper half 0 | an f32; results are rounded (exact for + - * / sqrt: 24 >= 2 * 11 + 2) |
 * | 32-bit, bool | one | itself |
 * | 64-bit | low, high | a pair (`wide.ts`) |
 */
import { failed } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { SpvOp } from "../../gen/spirv.ts";
import { alu1, constant } from "../ir/index.ts";
import { bin, tri, un } from "./fold-build.ts";
import { roundedHalf } from "./halves.ts";
import {
  idLeaf,
  idType,
  leafPool,
  malformed,
  memberType,
  newLeaves,
  setValue,
  typeA,
  typeB,
  typeKind,
  typeLeaves,
} from "./ids.ts";
import { scalarWidth, TypeKind } from "./types.ts";
import { double2, high, isPair, low, pair, pairOf, toDouble, widened } from "./wide.ts";

/** Whether the operands read from here on are signed. */
let signed = false;
export function setSigned(value: bool): void {
  signed = value;
}

function isNumeric(type: u32): bool {
  return typeKind[type] >= <u32>TypeKind.BOOL && typeKind[type] <= <u32>TypeKind.MATRIX;
}
/** Leaves per scalar of a scalar, vector or matrix type; 1 for other types. */
export function unitOf(type: u32): u32 {
  return isNumeric(type) && scalarWidth(type) == 64 ? 2 : 1;
}
function isFloatType(type: u32): bool {
  let t = type;
  while (typeKind[t] == TypeKind.VECTOR || typeKind[t] == TypeKind.MATRIX) t = typeA[t];
  return typeKind[t] == TypeKind.FLOAT;
}
/** Scalars of a type; of a struct of vectors and scalars, those of its members together. */
export function scalarsOf(type: u32): u32 {
  if (typeKind[type] != TypeKind.STRUCT) return typeLeaves[type] / unitOf(type);
  let n: u32 = 0;
  for (let m: u32 = 0; m < typeB[type]; m++) {
    const member = memberType[typeA[type] + m];
    n += typeLeaves[member] / unitOf(member);
  }
  return n;
}

/** One scalar for arithmetic from its leaves. */
function scalarIn(leaf: u32, width: u32, float: bool): u32 {
  const word = leafPool[leaf];
  if (width == 64) return pair(word, leafPool[leaf + 1]);
  if (float) return un(Op.F162F, word);
  return signed ? tri(Op.IBFE, word, constant(0), constant(width)) : word;
}
/** Leaves of one scalar from what arithmetic made. */
function scalarOut(value: u32, leaf: u32, width: u32, float: bool): void {
  if (width == 64) {
    const wide = widened(value, float);
    leafPool[leaf] = low(wide);
    leafPool[leaf + 1] = high(wide);
  } else if (float) {
    leafPool[leaf] = roundedHalf(value);
  } else {
    leafPool[leaf] = bin(Op.IAND, value, constant(((<u32>1) << width) - 1));
  }
}

/** A value's scalars for arithmetic, as a run of the pool. */
export function scalars(id: u32): u32 {
  const type = idType[id];
  const leaf = idLeaf[id];
  if (!isNumeric(type)) return leaf;
  const width = scalarWidth(type);
  if (width == 32 || width == 1) return leaf;
  const float = isFloatType(type);
  if (width < 32 && !float && !signed) return leaf;
  const n = scalarsOf(type);
  const run = newLeaves(n);
  const unit = unitOf(type);
  for (let k: u32 = 0; k < n && !failed(); k++) leafPool[run + k] = scalarIn(leaf + k * unit, width, float);
  return run;
}

/** Writes a run of arithmetic results as leaves of a type. */
export function storeScalars(type: u32, run: u32, leaf: u32): void {
  if (typeKind[type] == TypeKind.STRUCT) {
    let from = run;
    let to = leaf;
    for (let m: u32 = 0; m < typeB[type] && !failed(); m++) {
      const member = memberType[typeA[type] + m];
      storeScalars(member, from, to);
      from += scalarsOf(member);
      to += typeLeaves[member];
    }
    return;
  }
  const width = scalarWidth(type);
  const unit = unitOf(type);
  const n = scalarsOf(type);
  const float = isFloatType(type);
  for (let k: u32 = 0; k < n && !failed(); k++) {
    if (width == 32 || width == 1) leafPool[leaf + k] = leafPool[run + k];
    else scalarOut(leafPool[run + k], leaf + k * unit, width, float);
  }
}

/** True for the conversions that `convert` takes. */
export function isConversion(op: u32): bool {
  return op >= <u32>SpvOp.OpConvertFToU && op <= <u32>SpvOp.OpFConvert;
}
/** True where narrow operands are sign-extended. */
export function isSignedOp(op: u32): bool {
  switch (op) {
    case SpvOp.OpConvertSToF:
    case SpvOp.OpSConvert:
    case SpvOp.OpSDiv:
    case SpvOp.OpSRem:
    case SpvOp.OpSMod:
    case SpvOp.OpShiftRightArithmetic:
    case SpvOp.OpSGreaterThan:
    case SpvOp.OpSGreaterThanEqual:
    case SpvOp.OpSLessThan:
    case SpvOp.OpSLessThanEqual:
    case SpvOp.OpSMulExtended:
      return true;
    default:
      return false;
  }
}

// 2^-32 and -2^32.
const PART: u64 = 0x3df0_0000_0000_0000;
const MINUS_WHOLE: u64 = 0xc1f0_0000_0000_0000;

/** f64 to a 64-bit integer: its high word, then what is left. */
function wideInteger(d: u32, toSigned: bool): u32 {
  const whole = un(Op.FTRUNC, d);
  const upper = un(Op.FFLOOR, double2(Op.DMUL, whole, pairOf(PART)));
  const rest = tri(Op.FFMA, upper, pairOf(MINUS_WHOLE), whole);
  return pair(alu1(Op.D2U, rest), alu1(toSigned ? Op.D2I : Op.D2U, upper));
}

/** One scalar of a numeric conversion to a type of `width` bits; narrow results are cut by `storeScalars`. */
export function convert(op: u32, a: u32, width: u32): u32 {
  const wide = width == 64;
  switch (op) {
    case SpvOp.OpUConvert:
      return wide ? (isPair(a) ? a : pair(a, constant(0))) : isPair(a) ? low(a) : a;
    case SpvOp.OpSConvert:
      return wide ? (isPair(a) ? a : pair(a, bin(Op.ISHR, a, constant(31)))) : isPair(a) ? low(a) : a;
    case SpvOp.OpFConvert:
      return wide ? widened(a, true) : isPair(a) ? alu1(Op.D2F, a) : a;
    case SpvOp.OpConvertFToU:
      return wide ? wideInteger(widened(a, true), false) : un(Op.F2U, a);
    case SpvOp.OpConvertFToS:
      return wide ? wideInteger(widened(a, true), true) : un(Op.F2I, a);
    default:
      break;
  }
  const toSigned = op == SpvOp.OpConvertSToF;
  if (!isPair(a)) {
    if (!wide) return un(toSigned ? Op.I2F : Op.U2F, a);
    return toDouble(toSigned ? Op.I2D : Op.U2D, a);
  }
  const upper = toDouble(toSigned ? Op.I2D : Op.U2D, high(a));
  const sum = double2(Op.DADD, double2(Op.DLDEXP, upper, constant(32)), toDouble(Op.U2D, low(a)));
  return wide ? sum : alu1(Op.D2F, sum);
}

/** OpBitcast: the same bits in other pieces. */
export function bitcast(at: u32, result: u32, type: u32, id: u32): void {
  const from = scalarWidth(idType[id]);
  const to = scalarWidth(type);
  const count = scalarsOf(idType[id]);
  if (count * from != scalarsOf(type) * to) {
    malformed(at);
    return;
  }
  if (from == to) {
    setValue(result, type, idLeaf[id]);
    return;
  }
  // Pieces to words, words to pieces.
  let words = idLeaf[id];
  if (from < 32) {
    const each: u32 = 32 / from;
    const n = (count + each - 1) / each;
    words = newLeaves(n);
    for (let k: u32 = 0; k < count && !failed(); k++) {
      const piece = leafPool[idLeaf[id] + k];
      const place = k % each;
      const word = words + k / each;
      leafPool[word] = place == 0 ? piece : bin(Op.IOR, leafPool[word], bin(Op.ISHL, piece, constant(place * from)));
    }
  }
  let leaf = words;
  if (to < 32) {
    const n = scalarsOf(type);
    const each: u32 = 32 / to;
    leaf = newLeaves(n);
    for (let k: u32 = 0; k < n && !failed(); k++) {
      leafPool[leaf + k] = tri(Op.UBFE, leafPool[words + k / each], constant((k % each) * to), constant(to));
    }
  }
  setValue(result, type, leaf);
}

/** An integer of any width as the exponent of ldexp: a word, out of range where the wide one is. */
export function exponentOf(value: u32): u32 {
  if (!isPair(value)) return value;
  const fits = bin(Op.IEQ, high(value), bin(Op.ISHR, low(value), constant(31)));
  const far = bin(Op.IXOR, bin(Op.ISHR, high(value), constant(31)), constant(0x7fff));
  return tri(Op.SELECT, fits, low(value), far);
}
