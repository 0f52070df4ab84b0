/** Selection of arithmetic: an IR value to SALU, VALU or mask logic, by its class. */
import { Fail, failAt } from "../../base/index.ts";
import { Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import { Op as Isa } from "../../gen/isa-ops.ts";
import {
  constBits,
  hasMade,
  instrPlace,
  isConst,
  isFloatHalfOp,
  isHalfOp,
  isLowHalfOp,
  opOf,
  src,
  srcCount,
  useCount,
  widthOf,
} from "../ir/index.ts";
import { constantOperand, copy, salu, saluNew, valu, valuNew } from "./build.ts";
import { isScalarCompare } from "./classes.ts";
import { valueOperand, vHint } from "./columns.ts";
import { highHalfIgnored, isMixOp } from "./half-patterns.ts";
import { Hw, hw, isVgprOperand, isVreg, Mod, newVreg, operandVreg, RegClass } from "./machine.ts";
import { absorbedSource, Sel, selOf } from "./sel.ts";
import { selectPermuted } from "./select-dpp.ts";
import { selectFromHalf, selectHalves, selectMix, selectPackHalves, takesHalves } from "./select-half.ts";
import {
  selectHalfCompare,
  selectLow,
  selectLowFunction,
  selectMedian,
  selectNarrowCompare,
} from "./select-low-half.ts";
import { conditionInScc, define, floatOperand, maskOf, modifiers, operandOf } from "./values.ts";
import { floatOp, integerOp } from "./vector-ops.ts";

const ZERO: u32 = Hw.ZERO + 1;
const MINUS_ONE: u32 = Hw.MINUS_ONE + 1;
const ONE: u32 = Hw.ZERO + 2;
const ONE_F: u32 = Hw.ONE_F + 1;

function unsupported(i: u32): void {
  failAt(instrPlace[i], Fail.BACKEND_UNSUPPORTED, opOf(i), 0, 0);
}

// Masks.

function vectorCompareOp(op: u32): u32 {
  switch (op) {
    case Op.IEQ:
      return Isa.v_cmp_eq_u32_e64;
    case Op.INE:
      return Isa.v_cmp_ne_u32_e64;
    case Op.ILT:
      return Isa.v_cmp_lt_i32_e64;
    case Op.IGE:
      return Isa.v_cmp_ge_i32_e64;
    case Op.ULT:
      return Isa.v_cmp_lt_u32_e64;
    case Op.UGE:
      return Isa.v_cmp_ge_u32_e64;
    case Op.FEQ:
      return Isa.v_cmp_eq_f32_e64;
    case Op.FNEU:
      return Isa.v_cmp_neq_f32_e64;
    case Op.FLT:
      return Isa.v_cmp_lt_f32_e64;
    case Op.FGE:
      return Isa.v_cmp_ge_f32_e64;
    default:
      return 0;
  }
}

/** A boolean value into a lane mask. */
export function selectMask(i: u32): void {
  const op = opOf(i);
  const a = srcCount(i) > 0 ? src(i, 0) : 0;
  const b = srcCount(i) > 1 ? src(i, 1) : 0;
  switch (op) {
    case Op.IAND:
    case Op.IOR: {
      let plain = a;
      let other = b;
      let isaOp: u32 = op == Op.IAND ? Isa.s_and_b32 : Isa.s_or_b32;
      if (selOf(i) == Sel.NOT_SECOND) {
        isaOp = op == Op.IAND ? Isa.s_andn2_b32 : Isa.s_orn2_b32;
        plain = src(i, 1 - absorbedSource(i));
        other = src(src(i, absorbedSource(i)), 0);
      }
      const x = maskOf(plain);
      const y = maskOf(other);
      salu(isaOp, define(i), x, y);
      return;
    }
    case Op.IXOR:
    case Op.INOT: {
      const x = maskOf(a);
      if (op == Op.INOT) salu(Isa.s_not_b32, define(i), x, 0);
      else salu(Isa.s_xor_b32, define(i), x, maskOf(b));
      return;
    }
    case Op.SELECT: {
      const c = maskOf(a);
      const x = maskOf(b);
      const y = maskOf(src(i, 2));
      const taken = saluNew(Isa.s_and_b32, c, x);
      const other = saluNew(Isa.s_andn2_b32, y, c);
      salu(Isa.s_or_b32, define(i), taken, other);
      return;
    }
    default:
      break;
  }
  if ((op == Op.IEQ || op == Op.INE) && widthOf(a) == 1) {
    const x = maskOf(a);
    const y = maskOf(b);
    salu(op == Op.IEQ ? Isa.s_xnor_b32 : Isa.s_xor_b32, define(i), x, y);
    return;
  }
  const isaOp = vectorCompareOp(op);
  if (isaOp == 0) {
    unsupported(i);
    return;
  }
  if (isScalarCompare(i)) {
    valueOperand[i] = maskOf(i);
    return;
  }
  const mask = define(i);
  // VCC: the short forms of compare and select.
  vHint[operandVreg(mask)] = hw(Hw.VCC_LO, 1);
  if (selOf(i) == Sel.HALF_COMPARE) selectHalfCompare(i, mask);
  else if (selOf(i) == Sel.NARROW_COMPARE) selectNarrowCompare(i, mask);
  else vectorFloat(isaOp, i, mask, 0);
}

// Scalars.

/** An integer source for SALU. */
function s(i: u32, k: u32): u32 {
  return operandOf(src(i, k));
}

function scalar2(i: u32, isaOp: u32): void {
  const a = s(i, 0);
  const b = s(i, 1);
  salu(isaOp, define(i), a, b);
}
function scalar1(i: u32, isaOp: u32): void {
  const a = s(i, 0);
  salu(isaOp, define(i), a, 0);
}

/** A uniform integer into an SGPR. */
export function selectScalar(i: u32): void {
  switch (opOf(i)) {
    case Op.IADD:
      scalar2(i, Isa.s_add_u32);
      return;
    case Op.ISUB:
      scalar2(i, Isa.s_sub_u32);
      return;
    case Op.IMUL:
      scalar2(i, Isa.s_mul_i32);
      return;
    case Op.UMUL_HI:
      scalar2(i, Isa.s_mul_hi_u32);
      return;
    case Op.IMUL_HI:
      scalar2(i, Isa.s_mul_hi_i32);
      return;
    case Op.IAND:
    case Op.IOR: {
      let isaOp: u32 = opOf(i) == Op.IAND ? Isa.s_and_b32 : Isa.s_or_b32;
      let a = src(i, 0);
      let b = src(i, 1);
      if (selOf(i) == Sel.NOT_SECOND) {
        isaOp = opOf(i) == Op.IAND ? Isa.s_andn2_b32 : Isa.s_orn2_b32;
        a = src(i, 1 - absorbedSource(i));
        b = src(src(i, absorbedSource(i)), 0);
      }
      const x = operandOf(a);
      const y = operandOf(b);
      salu(isaOp, define(i), x, y);
      return;
    }
    case Op.IXOR:
      scalar2(i, Isa.s_xor_b32);
      return;
    case Op.ISHL:
      scalar2(i, Isa.s_lshl_b32);
      return;
    case Op.ISHR:
      scalar2(i, Isa.s_ashr_i32);
      return;
    case Op.USHR:
      scalar2(i, Isa.s_lshr_b32);
      return;
    case Op.IMIN:
      scalar2(i, Isa.s_min_i32);
      return;
    case Op.IMAX:
      scalar2(i, Isa.s_max_i32);
      return;
    case Op.UMIN:
      scalar2(i, Isa.s_min_u32);
      return;
    case Op.UMAX:
      scalar2(i, Isa.s_max_u32);
      return;
    case Op.PACK_HALVES:
      scalar2(i, Isa.s_pack_ll_b32_b16);
      return;
    case Op.BFM:
      scalar2(i, Isa.s_bfm_b32);
      return;
    case Op.INOT:
      scalar1(i, Isa.s_not_b32);
      return;
    case Op.IABS:
      scalar1(i, Isa.s_abs_i32);
      return;
    case Op.BITREV:
      scalar1(i, Isa.s_brev_b32);
      return;
    case Op.BITCOUNT:
      scalar1(i, Isa.s_bcnt1_i32_b32);
      return;
    case Op.FIND_LSB:
      scalar1(i, Isa.s_ff1_i32_b32);
      return;
    case Op.UFFBH:
      scalar1(i, Isa.s_flbit_i32_b32);
      return;
    case Op.IFFBH:
      scalar1(i, Isa.s_flbit_i32);
      return;
    case Op.INEG: {
      const a = s(i, 0);
      salu(Isa.s_sub_u32, define(i), ZERO, a);
      return;
    }
    case Op.FNEG: {
      const a = s(i, 0);
      salu(Isa.s_xor_b32, define(i), a, constantOperand(0x80000000));
      return;
    }
    case Op.FABS: {
      const a = s(i, 0);
      salu(Isa.s_and_b32, define(i), a, constantOperand(0x7fffffff));
      return;
    }
    case Op.UBFE:
    case Op.IBFE:
      scalarBfe(i);
      return;
    case Op.BFI: {
      const a = s(i, 0);
      const picked = saluNew(Isa.s_and_b32, a, s(i, 1));
      const rest = saluNew(Isa.s_andn2_b32, s(i, 2), a);
      salu(Isa.s_or_b32, define(i), picked, rest);
      return;
    }
    case Op.B2I:
    case Op.B2F: {
      const one = opOf(i) == Op.B2I ? ONE : ONE_F;
      const sense = conditionInScc(src(i, 0));
      salu(Isa.s_cselect_b32, define(i), sense ? one : ZERO, sense ? ZERO : one);
      return;
    }
    case Op.SELECT: {
      const a = s(i, 1);
      const b = s(i, 2);
      const sense = conditionInScc(src(i, 0));
      salu(Isa.s_cselect_b32, define(i), sense ? a : b, sense ? b : a);
      return;
    }
    default:
      unsupported(i);
  }
}

/** SALU takes offset and width in one operand: [4:0] and [22:16]; a width over 31 cannot come from the IR's 5 bits. */
function scalarBfe(i: u32): void {
  const a = s(i, 0);
  const signed = opOf(i) == Op.IBFE;
  if (isConst(src(i, 1)) && isConst(src(i, 2))) {
    const packed = (constBits(src(i, 1)) & 31) | ((constBits(src(i, 2)) & 31) << 16);
    salu(signed ? Isa.s_bfe_i32 : Isa.s_bfe_u32, define(i), a, constantOperand(packed));
    return;
  }
  const shifted = saluNew(Isa.s_lshr_b32, a, s(i, 1));
  const mask = saluNew(Isa.s_bfm_b32, s(i, 2), ZERO);
  salu(Isa.s_and_b32, define(i), shifted, mask);
}

// Vectors.

/** Vector instruction whose sources take modifiers where the IR op is a float one. */
function vectorFloat(isaOp: u32, i: u32, dst: u32, mods: u32): void {
  const count = srcCount(i);
  const float = (opFlags(opOf(i)) & OpFlag.FLOAT) != 0;
  let all = mods;
  let a: u32 = 0;
  let b: u32 = 0;
  let c: u32 = 0;
  for (let k: u32 = 0; k < count; k++) {
    let o: u32;
    if (float) {
      o = floatOperand(src(i, k));
      all |= ((modifiers() & 1) * Mod.NEG0) << k;
      all |= ((modifiers() >> 1) * Mod.ABS0) << k;
    } else {
      o = operandOf(src(i, k));
    }
    if (k == 0) a = o;
    else if (k == 1) b = o;
    else c = o;
  }
  valu(isaOp, dst, a, b, c, all);
}

function vector(i: u32, isaOp: u32): void {
  // Sources first: a source that is selected late must not see the destination as its own.
  const dst = newVreg(RegClass.VGPR, 1);
  vectorFloat(isaOp, i, dst, 0);
  valueOperand[i] = dst;
}

/** `op b, a`: the reversed shifts. */
function reversed(i: u32, isaOp: u32): void {
  const a = s(i, 0);
  const b = s(i, 1);
  valu(isaOp, define(i), b, a, 0, 0);
}

/** Instructions that compute a value with its absorbed source; false when `i` has none. */
function selectFused(i: u32): bool {
  const sel = selOf(i);
  if (sel == Sel.PLAIN || sel == Sel.MIX_LOW || sel == Sel.MIX_HIGH) return false;
  if (sel == Sel.MUL_U24) {
    vector(i, Isa.v_mul_u32_u24_e64);
    return true;
  }
  if (sel == Sel.PERMUTED) {
    selectPermuted(i);
    return true;
  }
  const k = absorbedSource(i);
  const inner = src(i, k);
  if (sel == Sel.CLAMP) {
    const dst = define(i);
    vectorFloat(floatOp(opOf(inner)), inner, dst, Mod.CLAMP);
    return true;
  }
  const x = operandOf(src(inner, 0));
  if (sel == Sel.ALIGN) {
    const down = src(i, 1 - k);
    const word = operandOf(src(down, 0));
    const count = operandOf(src(down, 1));
    valu(Isa.v_alignbit_b32, define(i), x, word, count, 0);
    return true;
  }
  const y = operandOf(src(inner, 1));
  const other = operandOf(src(i, 1 - k));
  let isaOp: u32 = Isa.v_lshl_add_u32;
  switch (sel) {
    case Sel.ADD3:
      isaOp = Isa.v_add3_u32;
      break;
    case Sel.ADD_LSHL:
      isaOp = Isa.v_add_lshl_u32;
      break;
    case Sel.LSHL_OR:
      isaOp = Isa.v_lshl_or_b32;
      break;
    case Sel.AND_OR:
      isaOp = Isa.v_and_or_b32;
      break;
    case Sel.OR3:
      isaOp = Isa.v_or3_b32;
      break;
    case Sel.XOR_ADD:
      isaOp = Isa.v_xad_u32;
      break;
    case Sel.XOR3:
      isaOp = Isa.v_xor3_b32;
      break;
    case Sel.MAD_U24:
      isaOp = Isa.v_mad_u32_u24;
      break;
    default:
      break;
  }
  valu(isaOp, define(i), x, y, other, 0);
  return true;
}

/** A 32-bit value into a VGPR. */
export function selectVector(i: u32): void {
  const op = opOf(i);
  if (selOf(i) == Sel.MEDIAN) {
    selectMedian(i);
    return;
  }
  if (isHalfOp(op)) {
    if (!isFloatHalfOp(op) || !highHalfIgnored(i) || !selectLow(i)) selectHalves(i);
    return;
  }
  if (isLowHalfOp(op)) {
    selectLowFunction(i);
    return;
  }
  if (selectFused(i)) return;
  if (isMixOp(op) && hasMade(Op.F162F) && takesHalves(i)) {
    const dst = newVreg(RegClass.VGPR, 1);
    selectMix(Isa.v_fma_mix_f32, i, dst);
    valueOperand[i] = dst;
    return;
  }
  let isaOp = floatOp(op);
  if (isaOp != 0) {
    vector(i, isaOp);
    // A fused multiply-add into its own addend becomes v_fmac.
    if (op == Op.FFMA && useCount(src(i, 2)) == 1) {
      const addend = valueOperand[src(i, 2)];
      if (isVreg(addend) && isVgprOperand(addend)) vHint[operandVreg(operandOf(i))] = addend;
    }
    return;
  }
  isaOp = integerOp(op);
  if (isaOp != 0) {
    vector(i, isaOp);
    return;
  }
  switch (op) {
    case Op.ISHL:
      reversed(i, Isa.v_lshlrev_b32_e64);
      return;
    case Op.ISHR:
      reversed(i, Isa.v_ashrrev_i32_e64);
      return;
    case Op.USHR:
      reversed(i, Isa.v_lshrrev_b32_e64);
      return;
    case Op.INEG: {
      const a = s(i, 0);
      valu(Isa.v_sub_nc_u32_e64, define(i), ZERO, a, 0, 0);
      return;
    }
    case Op.IABS: {
      const a = s(i, 0);
      const negated = valuNew(Isa.v_sub_nc_u32_e64, ZERO, a, 0);
      valu(Isa.v_max_i32_e64, define(i), a, negated, 0, 0);
      return;
    }
    case Op.BITCOUNT: {
      const a = s(i, 0);
      valu(Isa.v_bcnt_u32_b32, define(i), a, ZERO, 0, 0);
      return;
    }
    case Op.FNEG: {
      const a = s(i, 0);
      valu(Isa.v_xor_b32_e64, define(i), constantOperand(0x80000000), a, 0, 0);
      return;
    }
    case Op.FABS: {
      const a = s(i, 0);
      valu(Isa.v_and_b32_e64, define(i), constantOperand(0x7fffffff), a, 0, 0);
      return;
    }
    case Op.FSAT: {
      const a = floatOperand(src(i, 0));
      const m = modifiers();
      const both = ((m & 1) * (Mod.NEG0 | Mod.NEG1)) | ((m >> 1) * (Mod.ABS0 | Mod.ABS1));
      valu(Isa.v_max_f32_e64, define(i), a, a, 0, both | Mod.CLAMP);
      return;
    }
    case Op.F2F16: {
      // The conversion leaves the high half as it was.
      const ignored = highHalfIgnored(i);
      const half = newVreg(RegClass.VGPR, 1);
      if (selOf(i) == Sel.MIX_LOW) selectMix(Isa.v_fma_mixlo_f16, src(i, 0), half);
      else vectorFloat(Isa.v_cvt_f16_f32_e64, i, half, 0);
      if (ignored) valueOperand[i] = half;
      else valu(Isa.v_and_b32_e64, define(i), constantOperand(0xffff), half, 0, 0);
      return;
    }
    case Op.F162F:
      selectFromHalf(i);
      return;
    case Op.PACK_HALVES:
      selectPackHalves(i);
      return;
    case Op.B2I:
    case Op.B2F: {
      const mask = maskOf(src(i, 0));
      valu(Isa.v_cndmask_b32_e64, define(i), ZERO, op == Op.B2I ? ONE : ONE_F, mask, 0);
      return;
    }
    case Op.SELECT: {
      let c = src(i, 0);
      let a = s(i, 1);
      let b = s(i, 2);
      while (opOf(c) == Op.INOT && selOf(c) == Sel.LAZY) {
        const t = a;
        a = b;
        b = t;
        c = src(c, 0);
      }
      const mask = maskOf(c);
      if (isVreg(mask)) valu(Isa.v_cndmask_b32_e64, define(i), b, a, mask, 0);
      else copy(define(i), mask == MINUS_ONE ? a : b);
      return;
    }
    default:
      unsupported(i);
  }
}
