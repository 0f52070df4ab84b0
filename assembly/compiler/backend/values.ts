/** Operands of IR values: where each was put, and what its user folds. */
import { Fail, failAt } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { Op as Isa } from "../../gen/isa-ops.ts";
import { componentsOf, constBits, instrPlace, opOf, src, widthOf } from "../ir/index.ts";
import { constantOperand, raw, salu, saluNew } from "./build.ts";
import { classOf, isScalarCompare, ValueClass } from "./classes.ts";
import { mDst0, mMods, mSrc0, mSrc1, valueOperand } from "./columns.ts";
import { Hw, hw, Mod, newVreg, RegClass } from "./machine.ts";

export const EXEC: u32 = Hw.EXEC_LO + 1;

/** A new register for the IR value, of its class and size. */
export function define(value: u32): u32 {
  const regClass: u32 = classOf(value) == ValueClass.VGPR ? RegClass.VGPR : RegClass.SGPR;
  const operand = newVreg(regClass, componentsOf(value));
  valueOperand[value] = operand;
  return operand;
}

/** The register of a phi, made at its first mention: copies into it may come before its block. */
export function phiOperand(phi: u32): u32 {
  return valueOperand[phi] != 0 ? valueOperand[phi] : define(phi);
}

/** Where a 32-bit value (or a mask) is. */
export function operandOf(value: u32): u32 {
  if (valueOperand[value] != 0) return valueOperand[value];
  switch (opOf(value)) {
    case Op.CONST:
      if (widthOf(value) == 1) return hw((constBits(value) & 1) != 0 ? Hw.MINUS_ONE : Hw.ZERO, 1);
      return constantOperand(constBits(value));
    case Op.UNDEF:
      return hw(Hw.ZERO, 1);
    case Op.PHI:
      return define(value);
    default:
      // Selected before its definition, or folded away under a user that does not fold: a bug, never a guess.
      failAt(instrPlace[value], Fail.BACKEND_INVALID, 2, opOf(value), value);
      return hw(Hw.ZERO, 1);
  }
}

/** Modifier bits that `floatOperand` found: 1 neg, 2 abs. */
let foundModifiers: u32 = 0;
export function modifiers(): u32 {
  return foundModifiers;
}

/** The operand of a float source without its neg and abs, which `modifiers()` then gives. */
export function floatOperand(value: u32): u32 {
  let v = value;
  let found: u32 = 0;
  for (;;) {
    const op = opOf(v);
    if (op == Op.FNEG) {
      if ((found & 2) == 0) found ^= 1;
    } else if (op == Op.FABS) {
      found |= 2;
    } else {
      break;
    }
    v = src(v, 0);
  }
  foundModifiers = found;
  return operandOf(v);
}

/** SALU compare for an IR comparison. */
function scalarCompareOp(op: u32): u32 {
  switch (op) {
    case Op.IEQ:
      return Isa.s_cmp_eq_u32;
    case Op.INE:
      return Isa.s_cmp_lg_u32;
    case Op.ILT:
      return Isa.s_cmp_lt_i32;
    case Op.IGE:
      return Isa.s_cmp_ge_i32;
    case Op.ULT:
      return Isa.s_cmp_lt_u32;
    default:
      return Isa.s_cmp_ge_u32;
  }
}

/** Sets SCC from a uniform condition; true when SCC is the condition, false when its inverse. */
export function conditionInScc(value: u32): bool {
  let v = value;
  let sense = true;
  while (opOf(v) == Op.INOT) {
    sense = !sense;
    v = src(v, 0);
  }
  if (isScalarCompare(v)) {
    salu(scalarCompareOp(opOf(v)), 0, operandOf(src(v, 0)), operandOf(src(v, 1)));
    return sense;
  }
  const mask = maskOf(v);
  const test = raw(Isa.s_and_b32);
  mDst0[test] = newVreg(RegClass.SGPR, 1);
  mSrc0[test] = mask;
  mSrc1[test] = EXEC;
  mMods[test] = Mod.TEST;
  return sense;
}

/** The lane mask of a boolean. */
export function maskOf(value: u32): u32 {
  let v = value;
  let inverted = false;
  while (valueOperand[v] == 0 && opOf(v) == Op.INOT) {
    inverted = !inverted;
    v = src(v, 0);
  }
  const mask = plainMask(v);
  return inverted ? saluNew(Isa.s_not_b32, mask, 0) : mask;
}
function plainMask(value: u32): u32 {
  if (valueOperand[value] != 0) return valueOperand[value];
  if (isScalarCompare(value)) {
    conditionInScc(value);
    return saluNew(Isa.s_cselect_b32, hw(Hw.MINUS_ONE, 1), hw(Hw.ZERO, 1));
  }
  return operandOf(value);
}
