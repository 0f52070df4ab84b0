/** The VOP3 form of each IR op that is one vector instruction. */
import { Op } from "../../gen/ir-ops.ts";
import { Op as Isa } from "../../gen/isa-ops.ts";

/** Of float ops; 0 for others. */
export function floatOp(op: u32): u32 {
  switch (op) {
    case Op.FADD:
      return Isa.v_add_f32_e64;
    case Op.FSUB:
      return Isa.v_sub_f32_e64;
    case Op.FMUL:
      return Isa.v_mul_f32_e64;
    case Op.FFMA:
      return Isa.v_fma_f32;
    case Op.FFLOOR:
      return Isa.v_floor_f32_e64;
    case Op.FCEIL:
      return Isa.v_ceil_f32_e64;
    case Op.FTRUNC:
      return Isa.v_trunc_f32_e64;
    case Op.FROUND_EVEN:
      return Isa.v_rndne_f32_e64;
    case Op.FFRACT:
      return Isa.v_fract_f32_e64;
    case Op.FMIN:
      return Isa.v_min_f32_e64;
    case Op.FMAX:
      return Isa.v_max_f32_e64;
    case Op.FSQRT:
      return Isa.v_sqrt_f32_e64;
    case Op.FRSQ:
      return Isa.v_rsq_f32_e64;
    case Op.FRCP:
      return Isa.v_rcp_f32_e64;
    case Op.FEXP2:
      return Isa.v_exp_f32_e64;
    case Op.FLOG2:
      return Isa.v_log_f32_e64;
    case Op.FSIN_TURNS:
      return Isa.v_sin_f32_e64;
    case Op.FCOS_TURNS:
      return Isa.v_cos_f32_e64;
    case Op.FLDEXP:
      return Isa.v_ldexp_f32;
    case Op.FFREXP_MANT:
      return Isa.v_frexp_mant_f32_e64;
    case Op.FFREXP_EXP:
      return Isa.v_frexp_exp_i32_f32_e64;
    case Op.F2I:
      return Isa.v_cvt_i32_f32_e64;
    case Op.F2U:
      return Isa.v_cvt_u32_f32_e64;
    case Op.I2F:
      return Isa.v_cvt_f32_i32_e64;
    case Op.U2F:
      return Isa.v_cvt_f32_u32_e64;
    default:
      return 0;
  }
}

/** Of integer ops; 0 for others. */
export function integerOp(op: u32): u32 {
  switch (op) {
    case Op.IADD:
      return Isa.v_add_nc_u32_e64;
    case Op.ISUB:
      return Isa.v_sub_nc_u32_e64;
    case Op.IMUL:
      return Isa.v_mul_lo_u32;
    case Op.UMUL_HI:
      return Isa.v_mul_hi_u32;
    case Op.IMUL_HI:
      return Isa.v_mul_hi_i32;
    case Op.IAND:
      return Isa.v_and_b32_e64;
    case Op.IOR:
      return Isa.v_or_b32_e64;
    case Op.IXOR:
      return Isa.v_xor_b32_e64;
    case Op.INOT:
      return Isa.v_not_b32_e64;
    case Op.IMIN:
      return Isa.v_min_i32_e64;
    case Op.IMAX:
      return Isa.v_max_i32_e64;
    case Op.UMIN:
      return Isa.v_min_u32_e64;
    case Op.UMAX:
      return Isa.v_max_u32_e64;
    case Op.UBFE:
      return Isa.v_bfe_u32;
    case Op.IBFE:
      return Isa.v_bfe_i32;
    case Op.BFM:
      return Isa.v_bfm_b32;
    case Op.BFI:
      return Isa.v_bfi_b32;
    case Op.BITREV:
      return Isa.v_bfrev_b32_e64;
    case Op.FIND_LSB:
      return Isa.v_ffbl_b32_e64;
    case Op.UFFBH:
      return Isa.v_ffbh_u32_e64;
    case Op.IFFBH:
      return Isa.v_ffbh_i32_e64;
    default:
      return 0;
  }
}
