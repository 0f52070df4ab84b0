/**
 * Instructions with a short way through the loop: decode recognises their plain forms (no DPP, SDWA, clamp, omod, abs,
 * halves; scalar results that are one register) and notes a `Quick` number. They hold only in the usual rounding and
 * denormal mode. Everything else takes the handlers by class.
 */
import { Op, SourceCode } from "../../gen/isa-ops.ts";
import { Class, Mod, Rec, Wave } from "../layout.ts";

/** Dense: the loop switches on it. Scalars first, then vectors, then comparisons. */
export const enum Quick {
  NONE = 0,
  S_MOV,
  S_MOVK,
  S_ADD_U32,
  S_ADD_I32,
  S_SUB_U32,
  S_MUL,
  S_LSHL,
  S_LSHR,
  S_AND,
  S_OR,
  S_XOR,
  S_ANDN2,
  S_CSELECT,
  S_EQ,
  S_LG,
  S_GT_I,
  S_GE_I,
  S_LT_I,
  S_LE_I,
  S_GT_U,
  S_GE_U,
  S_LT_U,
  S_LE_U,
  S_AND_SAVEEXEC,
  S_ANDN1_SAVEEXEC,
  S_OR_SAVEEXEC,
  BRANCH,
  BRANCH_SCC0,
  BRANCH_SCC1,
  BRANCH_VCCZ,
  BRANCH_VCCNZ,
  BRANCH_EXECZ,
  BRANCH_EXECNZ,
  WAIT,
  NOTHING,

  VECTOR,
  MOV = VECTOR,
  NOT,
  CNDMASK,
  AND,
  OR,
  XOR,
  ADD,
  SUB,
  MUL,
  ADD3,
  MAD24,
  SHL,
  SHR,
  SAR,
  SHL_ADD,
  SHL_OR,
  ADD_SHL,
  CVT_F_I,
  CVT_F_U,
  /** From here on results are binary32 whose NaNs have to be looked after. */
  FLOAT,
  ADD_F = FLOAT,
  SUB_F,
  MUL_F,
  FMA,
  FMS,
  FMA_MINUS,
  RSQ,
  MIN_F,
  MAX_F,

  COMPARE,
  LT_F = COMPARE,
  EQ_F,
  LE_F,
  EQ_I,
  LT_I,
  LE_I,
  LT_U,
  LE_U,
}

/** Bits of `Rec.SHAPE`. */
export const enum Shape {
  /** Source 0, 1, 2 is a scalar. */
  SCALAR0 = 1,
  SCALAR1 = 2,
  SCALAR2 = 4,
  LITERAL = 8,
  /** A comparison's result is to be inverted. */
  INVERT = 16,
}

function swapSources(rec: usize): void {
  const first = load<u16>(rec, Rec.SRC0);
  store<u16>(rec, load<u16>(rec, Rec.SRC1), Rec.SRC0);
  store<u16>(rec, first, Rec.SRC1);
}

function isScalar(rec: usize, k: u32): bool {
  return <u32>load<u16>(rec + ((<usize>k) << 1), Rec.SRC0) < <u32>Wave.VGPR_FILE;
}

function set(rec: usize, quick: u32, shape: u32): void {
  store<u8>(rec, quick, Rec.QUICK);
  store<u8>(rec, shape, Rec.SHAPE);
}

/** Notes the record's quick form if it has one. The record is complete otherwise. */
export function recognise(rec: usize): void {
  switch (<u32>load<u8>(rec, Rec.CLASS)) {
    case Class.SALU:
      recogniseScalar(rec);
      return;
    case Class.FLOW:
      set(rec, quickFlow(load<u16>(rec, Rec.OP)), 0);
      return;
    case Class.VALU:
      recogniseVector(rec);
      return;
    case Class.COMPARE:
      recogniseCompare(rec);
      return;
    default:
      return;
  }
}

function recogniseScalar(rec: usize): void {
  const mods = load<u32>(rec, Rec.MODS);
  if (mods & Mod.SPECIAL || <u32>load<u16>(rec, Rec.DST) == SourceCode.nullReg) return;
  set(rec, quickScalar(load<u16>(rec, Rec.OP)), mods & Mod.LITERAL ? Shape.LITERAL : 0);
}

function quickScalar(op: u32): u32 {
  switch (op) {
    case Op.s_mov_b32:
      return Quick.S_MOV;
    case Op.s_movk_i32:
      return Quick.S_MOVK;
    case Op.s_add_u32:
      return Quick.S_ADD_U32;
    case Op.s_add_i32:
      return Quick.S_ADD_I32;
    case Op.s_sub_u32:
      return Quick.S_SUB_U32;
    case Op.s_mul_i32:
      return Quick.S_MUL;
    case Op.s_lshl_b32:
      return Quick.S_LSHL;
    case Op.s_lshr_b32:
      return Quick.S_LSHR;
    case Op.s_and_b32:
      return Quick.S_AND;
    case Op.s_or_b32:
      return Quick.S_OR;
    case Op.s_xor_b32:
      return Quick.S_XOR;
    case Op.s_andn2_b32:
      return Quick.S_ANDN2;
    case Op.s_cselect_b32:
      return Quick.S_CSELECT;
    case Op.s_cmp_eq_i32:
    case Op.s_cmp_eq_u32:
      return Quick.S_EQ;
    case Op.s_cmp_lg_i32:
    case Op.s_cmp_lg_u32:
      return Quick.S_LG;
    case Op.s_cmp_gt_i32:
      return Quick.S_GT_I;
    case Op.s_cmp_ge_i32:
      return Quick.S_GE_I;
    case Op.s_cmp_lt_i32:
      return Quick.S_LT_I;
    case Op.s_cmp_le_i32:
      return Quick.S_LE_I;
    case Op.s_cmp_gt_u32:
      return Quick.S_GT_U;
    case Op.s_cmp_ge_u32:
      return Quick.S_GE_U;
    case Op.s_cmp_lt_u32:
      return Quick.S_LT_U;
    case Op.s_cmp_le_u32:
      return Quick.S_LE_U;
    case Op.s_and_saveexec_b32:
      return Quick.S_AND_SAVEEXEC;
    case Op.s_andn1_saveexec_b32:
      return Quick.S_ANDN1_SAVEEXEC;
    case Op.s_or_saveexec_b32:
      return Quick.S_OR_SAVEEXEC;
    default:
      return Quick.NONE;
  }
}

function quickFlow(op: u32): u32 {
  switch (op) {
    case Op.s_branch:
      return Quick.BRANCH;
    case Op.s_cbranch_scc0:
      return Quick.BRANCH_SCC0;
    case Op.s_cbranch_scc1:
      return Quick.BRANCH_SCC1;
    case Op.s_cbranch_vccz:
      return Quick.BRANCH_VCCZ;
    case Op.s_cbranch_vccnz:
      return Quick.BRANCH_VCCNZ;
    case Op.s_cbranch_execz:
      return Quick.BRANCH_EXECZ;
    case Op.s_cbranch_execnz:
      return Quick.BRANCH_EXECNZ;
    case Op.s_waitcnt:
      return Quick.WAIT;
    case Op.s_nop:
    case Op.s_clause:
    case Op.s_inst_prefetch:
    case Op.s_waitcnt_depctr:
      return Quick.NOTHING;
    default:
      return Quick.NONE;
  }
}

/** Modifiers that a quick vector form may carry: the bits that say its operands are floats, and a literal. */
const PLAIN: u32 = Mod.LITERAL | Mod.FLOAT_IN | Mod.FLOAT_OUT;

function shapeOf(rec: usize): u32 {
  return (
    (isScalar(rec, 0) ? Shape.SCALAR0 : 0) |
    (isScalar(rec, 1) ? Shape.SCALAR1 : 0) |
    (isScalar(rec, 2) ? Shape.SCALAR2 : 0) |
    (load<u32>(rec, Rec.MODS) & Mod.LITERAL ? Shape.LITERAL : 0)
  );
}

function recogniseVector(rec: usize): void {
  const mods = load<u32>(rec, Rec.MODS);
  const negations = mods & Mod.NEG;
  if (mods & ~(PLAIN | Mod.NEG)) return;
  const op = <u32>load<u16>(rec, Rec.OP);
  const quick: u32 = negations ? quickNegated(op, negations) : quickVector(rec, op);
  // Forms with one scalar have it first.
  if (isScalar(rec, 1) && !isScalar(rec, 0) && commutes(quick)) swapSources(rec);
  set(rec, quick, shapeOf(rec));
}

/** May sources 0 and 1 change places? Their signs are the same here. */
function commutes(quick: u32): bool {
  switch (quick) {
    case Quick.AND:
    case Quick.OR:
    case Quick.XOR:
    case Quick.ADD:
    case Quick.MUL:
    case Quick.ADD_SHL:
    case Quick.ADD_F:
    case Quick.MUL_F:
    case Quick.FMA:
    case Quick.FMS:
      return true;
    default:
      return false;
  }
}

/** A sign on a source turns some instructions into others. */
function quickNegated(op: u32, negations: u32): u32 {
  const product = ((negations & Mod.NEG0) != 0) != ((negations & Mod.NEG1) != 0);
  switch (op) {
    case Op.v_fma_f32:
      if (negations & Mod.NEG2) return product ? Quick.NONE : Quick.FMS;
      return product ? Quick.FMA_MINUS : Quick.FMA;
    case Op.v_add_f32_e64:
      return negations == Mod.NEG1 ? Quick.SUB_F : Quick.NONE;
    default:
      return Quick.NONE;
  }
}

function quickVector(rec: usize, op: u32): u32 {
  switch (op) {
    case Op.v_mov_b32_e64:
      return Quick.MOV;
    case Op.v_not_b32_e64:
      return Quick.NOT;
    case Op.v_cndmask_b32_e64:
      return Quick.CNDMASK;
    case Op.v_and_b32_e64:
      return Quick.AND;
    case Op.v_or_b32_e64:
      return Quick.OR;
    case Op.v_xor_b32_e64:
      return Quick.XOR;
    case Op.v_add_nc_u32_e64:
    case Op.v_add_nc_i32:
      return Quick.ADD;
    case Op.v_sub_nc_u32_e64:
    case Op.v_sub_nc_i32:
      return Quick.SUB;
    case Op.v_mul_lo_u32:
      return Quick.MUL;
    case Op.v_add3_u32:
      return Quick.ADD3;
    case Op.v_mad_u32_u24:
      return Quick.MAD24;
    case Op.v_lshlrev_b32_e64:
      return isScalar(rec, 0) ? Quick.SHL : Quick.NONE;
    case Op.v_lshrrev_b32_e64:
      return isScalar(rec, 0) ? Quick.SHR : Quick.NONE;
    case Op.v_ashrrev_i32_e64:
      return isScalar(rec, 0) ? Quick.SAR : Quick.NONE;
    case Op.v_lshl_add_u32:
      return isScalar(rec, 1) ? Quick.SHL_ADD : Quick.NONE;
    case Op.v_lshl_or_b32:
      return isScalar(rec, 1) ? Quick.SHL_OR : Quick.NONE;
    case Op.v_add_lshl_u32:
      return isScalar(rec, 2) ? Quick.ADD_SHL : Quick.NONE;
    case Op.v_cvt_f32_i32_e64:
      return Quick.CVT_F_I;
    case Op.v_cvt_f32_u32_e64:
      return Quick.CVT_F_U;
    case Op.v_add_f32_e64:
      return Quick.ADD_F;
    case Op.v_sub_f32_e64:
      return Quick.SUB_F;
    case Op.v_mul_f32_e64:
      return Quick.MUL_F;
    case Op.v_fma_f32:
      return Quick.FMA;
    case Op.v_rsq_f32_e64:
      return Quick.RSQ;
    case Op.v_min_f32_e64:
      return Quick.MIN_F;
    case Op.v_max_f32_e64:
      return Quick.MAX_F;
    default:
      return Quick.NONE;
  }
}

/** Greater is less with the sources swapped, so half of the conditions do. The record changes its opcode along. */
function recogniseCompare(rec: usize): void {
  if (load<u32>(rec, Rec.MODS) & ~PLAIN) return;
  const swapped = lesserOf(load<u16>(rec, Rec.OP));
  if (swapped != Op.none) {
    store<u16>(rec, swapped, Rec.OP);
    swapSources(rec);
  }
  const op = <u32>load<u16>(rec, Rec.OP);
  const quick = quickCompare(op);
  if (quick == Quick.NONE) return;
  const toExec = isToExec(op);
  if (toExec) store<u16>(rec, SourceCode.execLo, Rec.DST);
  else if (<u32>load<u16>(rec, Rec.DST) == SourceCode.nullReg) return;
  set(rec, quick, shapeOf(rec) | (isInverted(op) ? Shape.INVERT : 0));
}

function lesserOf(op: u32): u32 {
  switch (op) {
    case Op.v_cmp_gt_f32_e64:
      return Op.v_cmp_lt_f32_e64;
    case Op.v_cmp_ge_f32_e64:
      return Op.v_cmp_le_f32_e64;
    case Op.v_cmp_ngt_f32_e64:
      return Op.v_cmp_nlt_f32_e64;
    case Op.v_cmp_nge_f32_e64:
      return Op.v_cmp_nle_f32_e64;
    case Op.v_cmp_gt_i32_e64:
      return Op.v_cmp_lt_i32_e64;
    case Op.v_cmp_ge_i32_e64:
      return Op.v_cmp_le_i32_e64;
    case Op.v_cmp_gt_u32_e64:
      return Op.v_cmp_lt_u32_e64;
    case Op.v_cmp_ge_u32_e64:
      return Op.v_cmp_le_u32_e64;
    case Op.v_cmpx_gt_f32_e64:
      return Op.v_cmpx_lt_f32_e64;
    case Op.v_cmpx_ge_f32_e64:
      return Op.v_cmpx_le_f32_e64;
    case Op.v_cmpx_ngt_f32_e64:
      return Op.v_cmpx_nlt_f32_e64;
    case Op.v_cmpx_nge_f32_e64:
      return Op.v_cmpx_nle_f32_e64;
    case Op.v_cmpx_gt_i32_e64:
      return Op.v_cmpx_lt_i32_e64;
    case Op.v_cmpx_ge_i32_e64:
      return Op.v_cmpx_le_i32_e64;
    case Op.v_cmpx_gt_u32_e64:
      return Op.v_cmpx_lt_u32_e64;
    case Op.v_cmpx_ge_u32_e64:
      return Op.v_cmpx_le_u32_e64;
    default:
      return Op.none;
  }
}

function quickCompare(op: u32): u32 {
  switch (op) {
    case Op.v_cmp_lt_f32_e64:
    case Op.v_cmp_nlt_f32_e64:
    case Op.v_cmpx_lt_f32_e64:
    case Op.v_cmpx_nlt_f32_e64:
      return Quick.LT_F;
    case Op.v_cmp_eq_f32_e64:
    case Op.v_cmp_neq_f32_e64:
    case Op.v_cmpx_eq_f32_e64:
    case Op.v_cmpx_neq_f32_e64:
      return Quick.EQ_F;
    case Op.v_cmp_le_f32_e64:
    case Op.v_cmp_nle_f32_e64:
    case Op.v_cmpx_le_f32_e64:
    case Op.v_cmpx_nle_f32_e64:
      return Quick.LE_F;
    case Op.v_cmp_eq_i32_e64:
    case Op.v_cmp_ne_i32_e64:
    case Op.v_cmp_eq_u32_e64:
    case Op.v_cmp_ne_u32_e64:
    case Op.v_cmpx_eq_i32_e64:
    case Op.v_cmpx_ne_i32_e64:
    case Op.v_cmpx_eq_u32_e64:
    case Op.v_cmpx_ne_u32_e64:
      return Quick.EQ_I;
    case Op.v_cmp_lt_i32_e64:
    case Op.v_cmpx_lt_i32_e64:
      return Quick.LT_I;
    case Op.v_cmp_le_i32_e64:
    case Op.v_cmpx_le_i32_e64:
      return Quick.LE_I;
    case Op.v_cmp_lt_u32_e64:
    case Op.v_cmpx_lt_u32_e64:
      return Quick.LT_U;
    case Op.v_cmp_le_u32_e64:
    case Op.v_cmpx_le_u32_e64:
      return Quick.LE_U;
    default:
      return Quick.NONE;
  }
}

function isInverted(op: u32): bool {
  switch (op) {
    case Op.v_cmp_nlt_f32_e64:
    case Op.v_cmp_neq_f32_e64:
    case Op.v_cmp_nle_f32_e64:
    case Op.v_cmp_ne_i32_e64:
    case Op.v_cmp_ne_u32_e64:
    case Op.v_cmpx_nlt_f32_e64:
    case Op.v_cmpx_neq_f32_e64:
    case Op.v_cmpx_nle_f32_e64:
    case Op.v_cmpx_ne_i32_e64:
    case Op.v_cmpx_ne_u32_e64:
      return true;
    default:
      return false;
  }
}

function isToExec(op: u32): bool {
  return (
    (op >= <u32>Op.v_cmpx_f_f32_e64 && op <= <u32>Op.v_cmpx_tru_f32_e64) ||
    (op >= <u32>Op.v_cmpx_f_i32_e64 && op <= <u32>Op.v_cmpx_t_i32_e64) ||
    (op >= <u32>Op.v_cmpx_f_u32_e64 && op <= <u32>Op.v_cmpx_t_u32_e64)
  );
}
