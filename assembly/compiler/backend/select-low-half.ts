/**
 * Selection of arithmetic on one 16-bit float: VOP1, VOP2 and VOPC forms, which read the low halves of words and keep the
 * high half of the register that they write. Where that one is read, it is cleared behind them.
 */
import { foldOp, Op } from "../../gen/ir-ops.ts";
import { Op as Isa } from "../../gen/isa-ops.ts";
import { constBits, isConst, opOf, src, srcCount, useCount } from "../ir/index.ts";
import { constantOperand, valu } from "./build.ts";
import { valueOperand, vHint } from "./columns.ts";
import { highHalf, highHalfIgnored, isHalfSign } from "./half-patterns.ts";
import { isVgprOperand, isVreg, Mod, newVreg, operandVreg, RegClass } from "./machine.ts";
import { absorbedSource, Sel, selOf } from "./sel.ts";
import { halfMods, halvesOperand, inlineFloat } from "./select-half.ts";
import { define, floatOperand, modifiers, operandOf } from "./values.ts";

function lowInstr(op: u32): u32 {
  switch (op) {
    case Op.HADD:
      return Isa.v_add_f16_e64;
    case Op.HMUL:
      return Isa.v_mul_f16_e64;
    case Op.HFMA:
      return Isa.v_fma_f16;
    case Op.HMIN:
      return Isa.v_min_f16_e64;
    case Op.HMAX:
      return Isa.v_max_f16_e64;
    case Op.HSQRT:
      return Isa.v_sqrt_f16_e64;
    case Op.HRSQ:
      return Isa.v_rsq_f16_e64;
    case Op.HRCP:
      return Isa.v_rcp_f16_e64;
    case Op.HEXP2:
      return Isa.v_exp_f16_e64;
    case Op.HLOG2:
      return Isa.v_log_f16_e64;
    case Op.HSIN_TURNS:
      return Isa.v_sin_f16_e64;
    case Op.HCOS_TURNS:
      return Isa.v_cos_f16_e64;
    case Op.HFRACT:
      return Isa.v_fract_f16_e64;
    case Op.HFLOOR:
      return Isa.v_floor_f16_e64;
    case Op.HCEIL:
      return Isa.v_ceil_f16_e64;
    case Op.HTRUNC:
      return Isa.v_trunc_f16_e64;
    default:
      return Isa.v_rndne_f16_e64;
  }
}

/** A constant half: an inline operand or a literal. */
function lowConstant(bits: u32): u32 {
  const low = bits & 0xffff;
  const number = <i32>(<i16>low);
  if (number >= -16 && number <= 64) return constantOperand(<u32>number);
  const inline = inlineFloat(low);
  return inline != 0 ? inline : constantOperand(low);
}

/** Signs of the last operand, for source 0. */
let signs: u32 = 0;

function lowOperand(v: u32): u32 {
  signs = 0;
  if (isConst(v)) return lowConstant(constBits(v));
  const operand = halvesOperand(v, true);
  signs = halfMods() & Mod.NEG0;
  return operand;
}

/** Whether a source of an op on halves is the high one of a word. */
function picksHigh(value: u32): bool {
  let v = value;
  while (selOf(v) == Sel.LAZY && isHalfSign(v)) v = src(v, isConst(src(v, 1)) ? 0 : 1);
  return selOf(v) == Sel.LAZY && opOf(v) == Op.PACK_HALVES && highHalf(src(v, 0)) != 0;
}

/** A float op on halves of whose result the low one is read; false where a source is the high half of a word. */
export function selectLow(i: u32): bool {
  const op = opOf(i);
  for (let k: u32 = 0; k < srcCount(i); k++) if (picksHigh(src(i, k))) return false;
  const a = lowOperand(src(i, 0));
  let mods = signs;
  const b = lowOperand(src(i, 1));
  mods |= signs << 1;
  let c: u32 = 0;
  if (op == Op.HFMA) {
    c = lowOperand(src(i, 2));
    mods |= signs << 2;
  }
  const dst = define(i);
  valu(lowInstr(op), dst, a, b, c, mods);
  // Into its own addend it becomes v_fmac.
  if (op == Op.HFMA && useCount(src(i, 2)) == 1 && isVreg(c) && isVgprOperand(c)) vHint[operandVreg(dst)] = c;
  return true;
}

/** A function of one half. */
export function selectLowFunction(i: u32): void {
  const a = lowOperand(src(i, 0));
  const dst = newVreg(RegClass.VGPR, 1);
  valu(lowInstr(opOf(i)), dst, a, 0, 0, signs);
  if (highHalfIgnored(i)) valueOperand[i] = dst;
  else valu(Isa.v_and_b32_e64, define(i), constantOperand(0xffff), dst, 0, 0);
}

function comparedOperand(value: u32): u32 {
  signs = 0;
  let v = value;
  while (opOf(v) == Op.FNEG || opOf(v) == Op.FABS) {
    if (opOf(v) == Op.FABS) signs |= Mod.ABS0;
    else if ((signs & Mod.ABS0) == 0) signs ^= Mod.NEG0;
    v = src(v, 0);
  }
  if (isConst(v)) return lowConstant(foldOp(Op.F2F16, constBits(v), 0, 0));
  const half = src(v, 0);
  return isConst(half) ? lowConstant(constBits(half)) : operandOf(half);
}

/** A comparison of halves into a lane mask. */
export function selectHalfCompare(i: u32, mask: u32): void {
  const a = comparedOperand(src(i, 0));
  const mods = signs;
  const b = comparedOperand(src(i, 1));
  let isaOp: u32 = Isa.v_cmp_ge_f16_e64;
  if (opOf(i) == Op.FEQ) isaOp = Isa.v_cmp_eq_f16_e64;
  else if (opOf(i) == Op.FNEU) isaOp = Isa.v_cmp_neq_f16_e64;
  else if (opOf(i) == Op.FLT) isaOp = Isa.v_cmp_lt_f16_e64;
  valu(isaOp, mask, a, b, 0, mods | (signs << 1));
}

function narrowInstr(op: u32, signed: bool): u32 {
  switch (op) {
    case Op.IEQ:
      return Isa.v_cmp_eq_u16_e64;
    case Op.INE:
      return Isa.v_cmp_ne_u16_e64;
    case Op.ILT:
    case Op.ULT:
      return signed ? Isa.v_cmp_lt_i16_e64 : Isa.v_cmp_lt_u16_e64;
    default:
      return signed ? Isa.v_cmp_ge_i16_e64 : Isa.v_cmp_ge_u16_e64;
  }
}
/** A constant as a 16-bit integer: inline codes of floats are none. */
function narrowOperand(v: u32): u32 {
  if (isConst(v)) {
    const number = <i32>(<i16>constBits(v));
    return constantOperand(number >= -16 && number <= 64 ? <u32>number : constBits(v) & 0xffff);
  }
  return operandOf(selOf(v) == Sel.LAZY ? src(v, 0) : v);
}
/** A comparison of the low halves of words into a lane mask. */
export function selectNarrowCompare(i: u32, mask: u32): void {
  const op = opOf(i);
  const a = narrowOperand(src(i, 0));
  const b = narrowOperand(src(i, 1));
  valu(narrowInstr(op, op == Op.ILT || op == Op.IGE), mask, a, b, 0, 0);
}

/** A value between two constants. */
export function selectMedian(i: u32): void {
  const k = absorbedSource(i);
  const inner = src(i, k);
  const m: u32 = isConst(src(inner, 1)) ? 1 : 0;
  const value = src(inner, 1 - m);
  const a = constBits(src(inner, m));
  const b = constBits(src(i, 1 - k));
  const op = opOf(i);
  if (op == Op.HMIN) {
    const x = lowOperand(value);
    valu(Isa.v_med3_f16, define(i), x, lowConstant(a), lowConstant(b), signs);
    return;
  }
  if (op == Op.FMIN) {
    const x = floatOperand(value);
    const mods = ((modifiers() & 1) * Mod.NEG0) | ((modifiers() >> 1) * Mod.ABS0);
    valu(Isa.v_med3_f32, define(i), x, constantOperand(a), constantOperand(b), mods);
    return;
  }
  const signed = op == Op.IMIN || op == Op.IMAX;
  const x = operandOf(value);
  valu(signed ? Isa.v_med3_i32 : Isa.v_med3_u32, define(i), x, constantOperand(a), constantOperand(b), 0);
}
