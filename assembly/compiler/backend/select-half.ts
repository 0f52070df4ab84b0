/**
 * Selection of 16-bit arithmetic: instructions on both halves of a word (VOP3P), v_fma_mix, which takes halves as f32, and
 * the joining of two halves. One scalar is a word whose high half is 0, and so it stays: 0 + 0, 0 * 0 … are 0.
 */
import { Op } from "../../gen/ir-ops.ts";
import { Op as Isa } from "../../gen/isa-ops.ts";
import { constBits, isConst, isFloatHalfOp, isLowHalfOp, opOf, src, srcCount, upperBound } from "../ir/index.ts";
import { constantOperand, copy, inVgpr, valu } from "./build.ts";
import { valueOperand } from "./columns.ts";
import { highHalf, highHalfIgnored, isHalfSign, wordOf } from "./half-patterns.ts";
import { Hw, hw, hwCode, isVreg, Mod, newVreg, RegClass } from "./machine.ts";
import { absorbedSource, Sel, selOf } from "./sel.ts";
import { define, operandOf } from "./values.ts";

const ZERO: u32 = Hw.ZERO + 1;
const ONE_F: u32 = Hw.ONE_F + 1;
/** v_perm_b32: the low halves of its sources, the high ones; the second source gives the low half. */
const LOW_LOW: u32 = 0x05040100;
const HIGH_HIGH: u32 = 0x07060302;
const SIXTEEN: u32 = Hw.ZERO + 1 + 16;

/** The inline operand of f16 bits, or 0. Source: RDNA2 ISA, scalar operand table. */
export function inlineFloat(bits: u32): u32 {
  switch (bits) {
    case 0x3800:
      return hw(240, 1);
    case 0xb800:
      return hw(241, 1);
    case 0x3c00:
      return hw(242, 1);
    case 0xbc00:
      return hw(243, 1);
    case 0x4000:
      return hw(244, 1);
    case 0xc000:
      return hw(245, 1);
    case 0x4400:
      return hw(246, 1);
    case 0xc400:
      return hw(247, 1);
    case 0x3118:
      return hw(248, 1);
    default:
      return 0;
  }
}

/** Modifiers that the last operand needs, for source 0. */
let foundMods: u32 = 0;
export function halfMods(): u32 {
  return foundMods;
}

/** A constant of two halves: an inline one, whose low half both results may take, or a literal. */
function constantHalves(bits: u32, isFloat: bool): u32 {
  const low = bits & 0xffff;
  const number = <i32>(<i16>low);
  if (low == bits >> 16) {
    let operand: u32 = 0;
    if (number >= -16 && number <= 64) operand = constantOperand(<u32>number);
    else if (isFloat) operand = inlineFloat(low);
    if (operand != 0) {
      foundMods |= Mod.HALF0;
      return operand;
    }
  }
  if (bits <= 64) return constantOperand(bits);
  // Literals that are the bits of an inline f32 must not become that.
  const inline = isFloat && bits <= 0xffff ? inlineFloat(bits) : 0;
  if (inline != 0) return inline;
  const operand = constantOperand(bits);
  const isInline = !isVreg(operand) && hwCode(operand) < <u32>Hw.LITERAL;
  return isInline ? inVgpr(operand) : operand;
}

/** Source of an op on halves without its signs and picks, which `foundMods` then has. */
export function halvesOperand(value: u32, isFloat: bool): u32 {
  foundMods = 0;
  let v = value;
  while (selOf(v) == Sel.LAZY && isHalfSign(v)) {
    const k: u32 = isConst(src(v, 1)) ? 1 : 0;
    foundMods ^= constBits(src(v, k)) == 0xbc00 ? Mod.NEG0 : Mod.NEG0 | Mod.ABS0;
    v = src(v, 1 - k);
  }
  if (selOf(v) == Sel.LAZY && opOf(v) == Op.PACK_HALVES) {
    // The signs are those of the picked halves.
    if (highHalf(src(v, 0)) != 0) foundMods |= Mod.HIGH0;
    if (highHalf(src(v, 1)) == 0) foundMods |= Mod.HALF0;
    return operandOf(wordOf(src(v, 0)));
  }
  if (isConst(v)) return constantHalves(constBits(v), isFloat);
  return operandOf(v);
}

function halvesInstr(op: u32): u32 {
  switch (op) {
    case Op.HADD:
      return Isa.v_pk_add_f16;
    case Op.HMUL:
      return Isa.v_pk_mul_f16;
    case Op.HFMA:
      return Isa.v_pk_fma_f16;
    case Op.HMIN:
      return Isa.v_pk_min_f16;
    case Op.HMAX:
      return Isa.v_pk_max_f16;
    case Op.HIADD:
      return Isa.v_pk_add_u16;
    case Op.HISUB:
      return Isa.v_pk_sub_i16;
    case Op.HIMUL:
      return Isa.v_pk_mul_lo_u16;
    case Op.HISHL:
      return Isa.v_pk_lshlrev_b16;
    case Op.HISHR:
      return Isa.v_pk_ashrrev_i16;
    case Op.HUSHR:
      return Isa.v_pk_lshrrev_b16;
    case Op.HIMIN:
      return Isa.v_pk_min_i16;
    case Op.HIMAX:
      return Isa.v_pk_max_i16;
    case Op.HUMIN:
      return Isa.v_pk_min_u16;
    default:
      return Isa.v_pk_max_u16;
  }
}

/** An op on both halves into a VGPR. */
export function selectHalves(i: u32): void {
  const op = opOf(i);
  const isFloat = isFloatHalfOp(op);
  if (selOf(i) == Sel.HALF_MAD) {
    const k = absorbedSource(i);
    const inner = src(i, k);
    const a = halvesOperand(src(inner, 0), false);
    let mods = foundMods;
    const b = halvesOperand(src(inner, 1), false);
    mods |= foundMods << 1;
    const c = halvesOperand(src(i, 1 - k), false);
    mods |= foundMods << 2;
    valu(Isa.v_pk_mad_u16, define(i), a, b, c, mods);
    return;
  }
  const a = halvesOperand(src(i, 0), isFloat);
  let mods = foundMods;
  const b = halvesOperand(src(i, 1), isFloat);
  const second = foundMods;
  if (op == Op.HISHL || op == Op.HISHR || op == Op.HUSHR) {
    // The reversed shifts.
    valu(halvesInstr(op), define(i), b, a, 0, second | (mods << 1));
    return;
  }
  mods |= second << 1;
  let c: u32 = 0;
  if (op == Op.HFMA) {
    c = halvesOperand(src(i, 2), isFloat);
    mods |= foundMods << 2;
  }
  valu(halvesInstr(op), define(i), a, b, c, mods);
}

/** Whether v_fma_mix has to do an f32 op: a source is a half that is nowhere as f32. */
export function takesHalves(i: u32): bool {
  for (let k: u32 = 0; k < srcCount(i); k++) {
    let v = src(i, k);
    while (opOf(v) == Op.FNEG || opOf(v) == Op.FABS) v = src(v, 0);
    if (opOf(v) == Op.F162F && selOf(v) == Sel.LAZY) return true;
  }
  return false;
}

/** A source of v_fma_mix: a half, or an f32 that is no literal; `foundMods` has what it needs. */
function mixOperand(value: u32): u32 {
  foundMods = 0;
  let v = value;
  while (opOf(v) == Op.FNEG || opOf(v) == Op.FABS) {
    if (opOf(v) == Op.FABS) foundMods |= Mod.ABS0;
    else if ((foundMods & Mod.ABS0) == 0) foundMods ^= Mod.NEG0;
    v = src(v, 0);
  }
  if (opOf(v) == Op.F162F && selOf(v) == Sel.LAZY) return halfSource(src(v, 0));
  const operand = operandOf(v);
  return isVreg(operand) || hwCode(operand) < <u32>Hw.LITERAL ? operand : inVgpr(operand);
}

/** The operand of a half as f32. */
function halfSource(half: u32): u32 {
  foundMods |= Mod.HALF0;
  const word = selOf(half) == Sel.LAZY ? highHalf(half) : 0;
  if (word != 0) foundMods |= Mod.HIGH0;
  if (isConst(word != 0 ? word : half)) return inVgpr(operandOf(word != 0 ? word : half));
  return operandOf(word != 0 ? word : half);
}

/** An f32 sum, product or fma `i` by a v_fma_mix instruction into `dst`. */
export function selectMix(isaOp: u32, i: u32, dst: u32): void {
  const op = opOf(i);
  const a = mixOperand(src(i, 0));
  let mods = foundMods;
  const second = mixOperand(src(i, 1));
  if (op == Op.FMUL) {
    // + -0 changes nothing.
    valu(isaOp, dst, a, second, ZERO, mods | (foundMods << 1) | Mod.NEG2);
    return;
  }
  if (op == Op.FFMA) {
    mods |= foundMods << 1;
    const c = mixOperand(src(i, 2));
    valu(isaOp, dst, a, second, c, mods | (foundMods << 2));
    return;
  }
  const sign: u32 = op == Op.FSUB ? Mod.NEG0 : 0;
  valu(isaOp, dst, a, ONE_F, second, mods | ((foundMods ^ sign) << 2));
}

/** f162f: from the high half of a word by a product with 1. */
export function selectFromHalf(i: u32): void {
  const half = src(i, 0);
  const dst = newVreg(RegClass.VGPR, 1);
  if (selOf(half) != Sel.LAZY || highHalf(half) == 0) {
    valu(Isa.v_cvt_f32_f16_e64, dst, operandOf(half), 0, 0, 0);
  } else {
    foundMods = 0;
    const operand = halfSource(half);
    valu(Isa.v_fma_mix_f32, dst, operand, ONE_F, ZERO, foundMods | Mod.NEG2);
  }
  valueOperand[i] = dst;
}

/** A half that a float instruction made: never a signalling NaN. */
function isFloatHalf(v: u32): bool {
  return opOf(v) == Op.F2F16 || isFloatHalfOp(opOf(v)) || isLowHalfOp(opOf(v));
}

/** A word of the low half of `low` and f32 `value` as f16 above it. */
function selectMixHigh(i: u32, low: u32, value: u32): void {
  const dst = define(i);
  copy(dst, low);
  if (selOf(value) == Sel.ABSORBED_MIX) {
    selectMix(Isa.v_fma_mixhi_f16, value, dst);
    return;
  }
  const operand = mixOperand(value);
  valu(Isa.v_fma_mixhi_f16, dst, operand, ONE_F, ZERO, foundMods | Mod.NEG2);
}

/** pack_halves into a VGPR. */
export function selectPackHalves(i: u32): void {
  const a = src(i, 0);
  const b = src(i, 1);
  if (selOf(i) == Sel.MIX_HIGH) {
    selectMixHigh(i, operandOf(a), src(b, 0));
    return;
  }
  const fromHighA = selOf(a) == Sel.LAZY && highHalf(a) != 0;
  const fromHighB = selOf(b) == Sel.LAZY && highHalf(b) != 0;
  const x = operandOf(fromHighA ? highHalf(a) : a);
  const y = operandOf(fromHighB ? highHalf(b) : b);
  if (fromHighA && fromHighB) {
    valu(Isa.v_perm_b32, define(i), y, x, constantOperand(HIGH_HIGH), 0);
  } else if (fromHighA) {
    valu(Isa.v_alignbit_b32, define(i), y, x, SIXTEEN, 0);
  } else if (fromHighB) {
    valu(Isa.v_bfi_b32, define(i), constantOperand(0xffff), x, y, 0);
  } else if (isFloatHalf(a) && isFloatHalf(b)) {
    valu(Isa.v_pack_b32_f16, define(i), x, y, 0, 0);
  } else if (upperBound(a, 0) <= 0xffff && !highHalfIgnored(a)) {
    valu(Isa.v_lshl_or_b32, define(i), y, SIXTEEN, x, 0);
  } else {
    valu(Isa.v_perm_b32, define(i), y, x, constantOperand(LOW_LOW), 0);
  }
}
