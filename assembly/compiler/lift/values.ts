/** Instructions of a block that make values: arithmetic, selections, extended instructions; loads and stores. */
import { failed } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { SpvGlslStd450 as G, SpvOp } from "../../gen/spirv.ts";
import { constant, stage } from "../ir/index.ts";
import { binary, bitfieldExtract, bitfieldInsert, borrowOf, carryOf, dot, reduceBool, unary } from "./alu.ts";
import {
  compositeConstruct,
  compositeExtract,
  compositeInsert,
  liftMatrix,
  rowsOf,
  vectorExtractDynamic,
  vectorInsertDynamic,
  vectorShuffle,
} from "./composites.ts";
import { bin, fsub, sel, un } from "./fold-build.ts";
import { setExact } from "./fold-words.ts";
import { determinant, glslPack, glslScalar, glslVector, inverse } from "./glsl450.ts";
import { halfFunction, halfReciprocal } from "./halves.ts";
import {
  Dec,
  IdClass,
  idAt,
  idClass,
  idDec,
  idLeaf,
  idType,
  leafPool,
  malformed,
  newLeaves,
  ptrVar,
  setValue,
  typeB,
  typeKind,
  typeLeaves,
  unsupported,
  wordAt,
} from "./ids.ts";
import { isIntegerDot, liftIntegerDot } from "./integer-dot.ts";
import { askInterpolation } from "./interface.ts";
import { loadPointer, storePointer } from "./memory.ts";
import { countAt, finish, leaves, operand, rawResult, result, resultCount, undefLeaves, valueAt } from "./operands.ts";
import { liftAddress } from "./pointer-values.ts";
import { kindOfVar, PtrKind, pointerAt } from "./pointers.ts";
import {
  bitcast,
  convert,
  exponentOf,
  isConversion,
  isSignedOp,
  scalars,
  scalarsOf,
  setSigned,
  storeScalars,
  unitOf,
} from "./scalars.ts";
import { Unsupported } from "./texts.ts";
import { isPhysical, partType, scalarWidth, TypeKind, typeAt } from "./types.ts";
import { isPair, low, mulHigh } from "./wide.ts";

function liftUnary(op: u32, at: u32, first: u32): bool {
  const n = resultCount(at);
  const a = operand(at + first, n);
  if (failed()) return true;
  // The first scalar tells whether the op is unary at all.
  const head = unary(op, leafPool[a]);
  if (head == 0) return false;
  const out = result(at);
  const width = scalarWidth(idAt(at + 1));
  for (let k: u32 = 0; k < n && !failed(); k++) {
    const value = k == 0 ? head : unary(op, leafPool[a + k]);
    // The word is reversed: a narrow scalar's bits are its upper ones.
    leafPool[out + k] = op == SpvOp.OpBitReverse && width < 32 ? bin(Op.USHR, value, constant(32 - width)) : value;
  }
  return true;
}

function liftBinary(op: u32, at: u32, first: u32): void {
  const n = resultCount(at);
  const a = operand(at + first, n);
  const b = operand(at + first + 1, n);
  const out = result(at);
  const isHalfQuotient = op == SpvOp.OpFDiv && scalarWidth(idAt(at + 1)) == 16;
  for (let k: u32 = 0; k < n && !failed(); k++) {
    const quotient = isHalfQuotient ? halfReciprocal(leafPool[a + k], leafPool[b + k]) : 0;
    leafPool[out + k] = quotient != 0 ? quotient : binary(op, leafPool[a + k], leafPool[b + k]);
  }
}

/** IAddCarry, ISubBorrow, UMulExtended, SMulExtended: a struct of two values. */
function liftExtended(op: u32, at: u32): void {
  const n = resultCount(at) / 2;
  const a = operand(at + 3, n);
  const b = operand(at + 4, n);
  const out = result(at);
  if (failed()) return;
  const width = scalarWidth(partType(idAt(at + 1), 0));
  for (let k: u32 = 0; k < n && !failed(); k++) {
    const x = leafPool[a + k];
    const y = leafPool[b + k];
    if (op == SpvOp.OpISubBorrow) {
      leafPool[out + k] = bin(Op.ISUB, x, y);
      leafPool[out + n + k] = borrowOf(x, y);
    } else if (op == SpvOp.OpIAddCarry) {
      const sum = bin(Op.IADD, x, y);
      leafPool[out + k] = sum;
      leafPool[out + n + k] = width < 32 ? bin(Op.USHR, sum, constant(width)) : carryOf(sum, x);
    } else {
      const signed = op == SpvOp.OpSMulExtended;
      const low = bin(Op.IMUL, x, y);
      leafPool[out + k] = low;
      if (width < 32) leafPool[out + n + k] = bin(signed ? Op.ISHR : Op.USHR, low, constant(width));
      else if (width == 64) leafPool[out + n + k] = mulHigh(x, y, signed);
      else leafPool[out + n + k] = bin(signed ? Op.IMUL_HI : Op.UMUL_HI, x, y);
    }
  }
}

/** OpSelect; `first`: word of the condition. */
function liftSelect(at: u32, first: u32): void {
  const type = typeAt(at + 1);
  if (failed()) return;
  const n = typeLeaves[type];
  const nc = countAt(at + first);
  const c = operand(at + first, nc);
  const a = leaves(at + first + 1, n);
  const b = leaves(at + first + 2, n);
  const out = rawResult(at);
  const unit = unitOf(type);
  if (failed() || (nc != 1 && nc * unit != n)) {
    malformed(at);
    return;
  }
  for (let k: u32 = 0; k < n && !failed(); k++)
    leafPool[out + k] = sel(leafPool[c + (nc == 1 ? 0 : k / unit)], leafPool[a + k], leafPool[b + k]);
}

/** Conversions: the result's scalars are as many as the operand's. */
function liftConversion(op: u32, at: u32, first: u32): void {
  const id = valueAt(at + first);
  const type = typeAt(at + 1);
  if (failed()) return;
  if (op == SpvOp.OpBitcast && (isPhysical(idType[id]) || isPhysical(type))) {
    liftAddress(at, id);
    return;
  }
  if (op == SpvOp.OpBitcast) {
    if (typeKind[idType[id]] > <u32>TypeKind.VECTOR || typeKind[type] > <u32>TypeKind.VECTOR) malformed(at);
    else bitcast(at, idAt(at + 2), type, id);
    return;
  }
  const n = resultCount(at);
  const a = operand(at + first, n);
  const out = result(at);
  const width = scalarWidth(type);
  for (let k: u32 = 0; k < n && !failed(); k++) leafPool[out + k] = convert(op, leafPool[a + k], width);
}

/** A small number of whatever width, as a word. */
function wordOf(value: u32): u32 {
  return isPair(value) ? low(value) : value;
}

function liftBitfield(op: u32, at: u32): void {
  const n = resultCount(at);
  const insert: u32 = op == SpvOp.OpBitFieldInsert ? 1 : 0;
  const a = operand(at + 3, n);
  const b = insert != 0 ? operand(at + 4, n) : a;
  const offset = wordOf(leafPool[operand(at + 4 + insert, 1)]);
  const bits = wordOf(leafPool[operand(at + 5 + insert, 1)]);
  const out = result(at);
  for (let k: u32 = 0; k < n && !failed(); k++) {
    leafPool[out + k] =
      insert != 0
        ? bitfieldInsert(leafPool[a + k], leafPool[b + k], offset, bits)
        : bitfieldExtract(op == SpvOp.OpBitFieldSExtract, leafPool[a + k], offset, bits);
  }
}

/** Modf and Frexp: the second result goes to a struct member or through a pointer. */
function liftTwoResults(f: u32, at: u32): void {
  const n = countAt(at + 5);
  const a = operand(at + 5, n);
  const isStruct = f == G.ModfStruct || f == G.FrexpStruct;
  const out = result(at);
  const second = newLeaves(n);
  if (failed() || resultCount(at) != (isStruct ? 2 * n : n)) {
    malformed(at);
    return;
  }
  for (let k: u32 = 0; k < n; k++) {
    const x = leafPool[a + k];
    if (f == G.Modf || f == G.ModfStruct) {
      const whole = un(Op.FTRUNC, x);
      leafPool[second + k] = whole;
      // Inf - Inf would be NaN; the fraction of an infinity is a zero.
      const rest = sel(bin(Op.FEQ, x, whole), constant(0), fsub(x, whole));
      leafPool[out + k] = rest;
    } else {
      leafPool[out + k] = un(Op.FFREXP_MANT, x);
      leafPool[second + k] = un(Op.FFREXP_EXP, x);
    }
  }
  if (isStruct) {
    for (let k: u32 = 0; k < n; k++) leafPool[out + n + k] = leafPool[second + k];
    return;
  }
  const p = pointerAt(at + 6);
  if (failed() || scalarsOf(idType[p]) != n) {
    malformed(at + 6);
    return;
  }
  const stored = newLeaves(typeLeaves[idType[p]]);
  if (failed()) return;
  storeScalars(idType[p], second, stored);
  storePointer(p, stored, 0, 0);
}

function liftExtInst(at: u32, count: u32): void {
  const set = idAt(at + 3);
  const f = wordAt(at + 4);
  if (idClass[set] != IdClass.EXT_GLSL) {
    // NonSemantic sets have no effect on code; others are unknown.
    if (idClass[set] == IdClass.EXT_OTHER) idClass[idAt(at + 2)] = IdClass.UNSUPPORTED;
    else unsupported(Unsupported.EXT_SET, 0);
    return;
  }
  setSigned(isSignedExt(f));
  const n = resultCount(at);
  if (f == G.PackDouble2x32 || f == G.UnpackDouble2x32) {
    const leaf = leaves(at + 5, 2);
    if (failed() || typeLeaves[idAt(at + 1)] != 2) malformed(at);
    else setValue(idAt(at + 2), idAt(at + 1), leaf);
    return;
  }
  if (f == G.Modf || f == G.ModfStruct || f == G.Frexp || f == G.FrexpStruct) {
    liftTwoResults(f, at);
    return;
  }
  if (f == G.InterpolateAtCentroid || f == G.InterpolateAtSample || f == G.InterpolateAtOffset) {
    liftInterpolation(f, at);
    return;
  }
  if (f == G.Determinant || f == G.MatrixInverse) {
    const m = valueAt(at + 5);
    const out = result(at);
    if (
      failed() ||
      typeKind[idType[m]] != TypeKind.MATRIX ||
      typeB[idType[m]] > 4 ||
      rowsOf(idType[m]) != typeB[idType[m]]
    ) {
      malformed(at);
      return;
    }
    if (f == G.Determinant) leafPool[out] = determinant(scalars(m), typeB[idType[m]]);
    else if (n != scalarsOf(idType[m])) malformed(at);
    else inverse(out, scalars(m), typeB[idType[m]]);
    return;
  }
  const na = countAt(at + 5);
  const a = operand(at + 5, na);
  if (failed()) return;
  if (f >= <u32>G.PackSnorm4x8 && f <= <u32>G.UnpackUnorm4x8 && f != G.PackDouble2x32) {
    const out = result(at);
    if (failed() || !packShape(f, na, n) || !glslPack(f, out, a)) malformed(at);
    return;
  }
  if (f >= <u32>G.Length && f <= <u32>G.Refract) {
    const scalarResult = f == G.Length || f == G.Distance;
    const b = count > 6 ? operand(at + 6, na) : a;
    const c = count > 7 ? operand(at + 7, f == G.Refract ? 1 : na) : a;
    const out = result(at);
    if (failed() || n != (scalarResult ? 1 : na)) {
      malformed(at);
      return;
    }
    // Distance overwrites its second operand's leaves: give it a copy.
    let second = b;
    if (f == G.Distance) {
      second = newLeaves(na);
      for (let k: u32 = 0; k < na && !failed(); k++) leafPool[second + k] = leafPool[b + k];
    }
    if (!failed() && !glslVector(f, out, a, second, c, na)) unsupported(Unsupported.EXT_INST, f);
    return;
  }
  const b = count > 6 ? operand(at + 6, na) : a;
  const c = count > 7 ? operand(at + 7, na) : a;
  const out = result(at);
  if (failed() || na != n) {
    malformed(at);
    return;
  }
  const isHalf = scalarWidth(idAt(at + 1)) == 16;
  for (let k: u32 = 0; k < n && !failed(); k++) {
    const y = f == G.Ldexp ? exponentOf(leafPool[b + k]) : leafPool[b + k];
    let value = isHalf ? halfFunction(f, leafPool[a + k], y, leafPool[c + k]) : 0;
    if (value == 0) value = glslScalar(f, leafPool[a + k], y, leafPool[c + k]);
    if (value == 0) unsupported(Unsupported.EXT_INST, f);
    else leafPool[out + k] = value;
  }
}

/** interpolateAt*: a load of the input with another place to interpolate at. */
function liftInterpolation(f: u32, at: u32): void {
  const p = pointerAt(at + 5);
  const offset = f == G.InterpolateAtOffset ? operand(at + 6, 2) : 0;
  if (failed() || stage() != 2 || kindOfVar(ptrVar[p]) != PtrKind.INPUT || idAt(at + 1) != idType[p]) {
    malformed(at);
    return;
  }
  // Pipelines have one sample (docs/abi.md), which is in the centre: the sample's number must be 0.
  if (f == G.InterpolateAtSample) askInterpolation(3, 0, 0);
  else if (offset == 0) askInterpolation(2, 0, 0);
  else askInterpolation(1, leafPool[offset], leafPool[offset + 1]);
  const leaf = loadPointer(p, 0, 0);
  askInterpolation(0, 0, 0);
  setValue(idAt(at + 2), idAt(at + 1), leaf);
}

/** Functions whose narrow operands are signed. */
function isSignedExt(f: u32): bool {
  return f == G.SAbs || f == G.SSign || f == G.SMin || f == G.SMax || f == G.SClamp || f == G.FindSMsb || f == G.Ldexp;
}

/** Packs take 4 or 2 scalars to 1, unpacks 1 to 4 or 2. */
function packShape(f: u32, operands: u32, results: u32): bool {
  const four = f == G.PackSnorm4x8 || f == G.PackUnorm4x8 || f == G.UnpackSnorm4x8 || f == G.UnpackUnorm4x8;
  const wide: u32 = four ? 4 : 2;
  return f <= <u32>G.PackHalf2x16 ? operands == wide && results == 1 : operands == 1 && results == wide;
}

/** Lifts an instruction that makes a value from values. False: none of these. `first`: word of its first operand. */
export function liftValue(op: u32, at: u32, count: u32, first: u32): bool {
  setSigned(isSignedOp(op));
  const known = liftValueRun(op, at, count, first);
  finish();
  setSigned(false);
  return known;
}

function liftValueRun(op: u32, at: u32, count: u32, first: u32): bool {
  const id = idAt(at + 2);
  setExact((idDec[id] & Dec.NO_CONTRACTION) != 0);
  switch (op) {
    case SpvOp.OpCompositeExtract:
      compositeExtract(at, count, first);
      return true;
    case SpvOp.OpCompositeInsert:
      compositeInsert(at, count, first);
      return true;
    case SpvOp.OpCompositeConstruct:
      compositeConstruct(at, count);
      return true;
    case SpvOp.OpVectorShuffle:
      vectorShuffle(at, count, first);
      return true;
    case SpvOp.OpVectorExtractDynamic:
      vectorExtractDynamic(at);
      return true;
    case SpvOp.OpVectorInsertDynamic:
      vectorInsertDynamic(at);
      return true;
    case SpvOp.OpCopyObject:
    case SpvOp.OpCopyLogical: {
      const from = valueAt(at + 3);
      const type = typeAt(at + 1);
      if (failed() || typeLeaves[type] != typeLeaves[idType[from]]) malformed(at);
      else setValue(id, type, idLeaf[from]);
      return true;
    }
    case SpvOp.OpUndef: {
      const out = rawResult(at);
      if (!failed()) undefLeaves(idAt(at + 1), out);
      return true;
    }
    case SpvOp.OpVectorTimesScalar:
    case SpvOp.OpMatrixTimesScalar:
    case SpvOp.OpVectorTimesMatrix:
    case SpvOp.OpMatrixTimesVector:
    case SpvOp.OpMatrixTimesMatrix:
    case SpvOp.OpOuterProduct:
    case SpvOp.OpTranspose:
      liftMatrix(op, at);
      return true;
    case SpvOp.OpDot: {
      const n = countAt(at + 3);
      const a = operand(at + 3, n);
      const b = operand(at + 4, n);
      const out = result(at);
      if (!failed()) leafPool[out] = dot(a, 1, b, 1, n);
      return true;
    }
    case SpvOp.OpAny:
    case SpvOp.OpAll: {
      const n = countAt(at + first);
      const a = operand(at + first, n);
      const out = result(at);
      if (!failed()) leafPool[out] = reduceBool(op == SpvOp.OpAll ? Op.IAND : Op.IOR, a, n);
      return true;
    }
    case SpvOp.OpIAddCarry:
    case SpvOp.OpISubBorrow:
    case SpvOp.OpUMulExtended:
    case SpvOp.OpSMulExtended:
      liftExtended(op, at);
      return true;
    case SpvOp.OpSelect:
      liftSelect(at, first);
      return true;
    case SpvOp.OpBitFieldInsert:
    case SpvOp.OpBitFieldSExtract:
    case SpvOp.OpBitFieldUExtract:
      liftBitfield(op, at);
      return true;
    case SpvOp.OpExtInst:
      liftExtInst(at, count);
      return true;
    default:
      break;
  }
  if (isIntegerDot(op)) {
    liftIntegerDot(op, at);
    return true;
  }
  if (op == SpvOp.OpConvertPtrToU || op == SpvOp.OpConvertUToPtr) {
    const from = valueAt(at + first);
    if (!failed()) liftAddress(at, from);
    return true;
  }
  if (isConversion(op) || op == SpvOp.OpBitcast) {
    liftConversion(op, at, first);
    return true;
  }
  const kinds = arity(op);
  if (kinds == 0) return false;
  if (kinds == 1) return liftUnary(op, at, first);
  liftBinary(op, at, first);
  return true;
}

/** Operands of a component-wise op: 1, 2; 0 for another op. */
function arity(op: u32): u32 {
  switch (op) {
    case SpvOp.OpSNegate:
    case SpvOp.OpFNegate:
    case SpvOp.OpNot:
    case SpvOp.OpLogicalNot:
    case SpvOp.OpBitReverse:
    case SpvOp.OpBitCount:
    case SpvOp.OpQuantizeToF16:
    case SpvOp.OpIsNan:
    case SpvOp.OpIsInf:
    case SpvOp.OpDPdx:
    case SpvOp.OpDPdy:
    case SpvOp.OpFwidth:
    case SpvOp.OpDPdxFine:
    case SpvOp.OpDPdyFine:
    case SpvOp.OpFwidthFine:
    case SpvOp.OpDPdxCoarse:
    case SpvOp.OpDPdyCoarse:
    case SpvOp.OpFwidthCoarse:
      return 1;
    default:
      break;
  }
  if (op >= <u32>SpvOp.OpIAdd && op <= <u32>SpvOp.OpFMod) return 2;
  if (op >= <u32>SpvOp.OpLogicalEqual && op <= <u32>SpvOp.OpFUnordGreaterThanEqual && op != SpvOp.OpSelect) return 2;
  return op >= <u32>SpvOp.OpShiftRightLogical && op <= <u32>SpvOp.OpBitwiseAnd ? 2 : 0;
}

/** OpLoad with its type check. */
export function liftLoad(at: u32, count: u32): void {
  const p = pointerAt(at + 3);
  if (failed()) return;
  if (idType[p] != idAt(at + 1)) {
    malformed(at + 1);
    return;
  }
  setValue(idAt(at + 2), idType[p], loadPointer(p, count > 4 ? at + 4 : 0, 0));
}

export function liftStore(at: u32, count: u32): void {
  const p = pointerAt(at + 1);
  const value = valueAt(at + 2);
  if (failed()) return;
  if (typeLeaves[idType[p]] != typeLeaves[idType[value]]) {
    malformed(at);
    return;
  }
  storePointer(p, idLeaf[value], count > 3 ? at + 3 : 0, 0);
}

export function liftCopyMemory(at: u32, count: u32): void {
  const to = pointerAt(at + 1);
  const from = pointerAt(at + 2);
  if (failed()) return;
  if (idType[to] != idType[from]) malformed(at);
  else storePointer(to, loadPointer(from, 0, 0), count > 3 ? at + 3 : 0, 0);
}
