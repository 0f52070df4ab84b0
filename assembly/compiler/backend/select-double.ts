/** Selection of f64 arithmetic: always VALU, values in pairs of VGPRs. */
import { Op } from "../../gen/ir-ops.ts";
import { Op as Isa } from "../../gen/isa-ops.ts";
import { componentsOf, opOf, src, srcCount } from "../ir/index.ts";
import { valu } from "./build.ts";
import { dataOperand } from "./select-memory.ts";
import { define, operandOf } from "./values.ts";

export function isDouble(op: u32): bool {
  return op >= <u32>Op.DADD && op <= <u32>Op.DGE;
}

function isaOf(op: u32): u32 {
  switch (op) {
    case Op.DADD:
      return Isa.v_add_f64;
    case Op.DMUL:
      return Isa.v_mul_f64;
    case Op.DFMA:
      return Isa.v_fma_f64;
    case Op.DMIN:
      return Isa.v_min_f64;
    case Op.DMAX:
      return Isa.v_max_f64;
    case Op.DRCP:
      return Isa.v_rcp_f64_e64;
    case Op.DRSQ:
      return Isa.v_rsq_f64_e64;
    case Op.DSQRT:
      return Isa.v_sqrt_f64_e64;
    case Op.DFLOOR:
      return Isa.v_floor_f64_e64;
    case Op.DCEIL:
      return Isa.v_ceil_f64_e64;
    case Op.DTRUNC:
      return Isa.v_trunc_f64_e64;
    case Op.DROUND_EVEN:
      return Isa.v_rndne_f64_e64;
    case Op.DLDEXP:
      return Isa.v_ldexp_f64;
    case Op.DFREXP_MANT:
      return Isa.v_frexp_mant_f64_e64;
    case Op.DDIV_FIXUP:
      return Isa.v_div_fixup_f64;
    case Op.F2D:
      return Isa.v_cvt_f64_f32_e64;
    case Op.I2D:
      return Isa.v_cvt_f64_i32_e64;
    case Op.U2D:
      return Isa.v_cvt_f64_u32_e64;
    case Op.DFREXP_EXP:
      return Isa.v_frexp_exp_i32_f64_e64;
    case Op.D2F:
      return Isa.v_cvt_f32_f64_e64;
    case Op.D2I:
      return Isa.v_cvt_i32_f64_e64;
    case Op.D2U:
      return Isa.v_cvt_u32_f64_e64;
    case Op.DEQ:
      return Isa.v_cmp_eq_f64_e64;
    case Op.DNEU:
      return Isa.v_cmp_neq_f64_e64;
    case Op.DLT:
      return Isa.v_cmp_lt_f64_e64;
    default:
      return Isa.v_cmp_ge_f64_e64;
  }
}

/** Source k: a pair in VGPRs, or a word where it may be. */
function source(i: u32, k: u32): u32 {
  if (k >= srcCount(i)) return 0;
  const value = src(i, k);
  return componentsOf(value) == 1 ? operandOf(value) : dataOperand(value);
}

export function selectDouble(i: u32): void {
  const a = source(i, 0);
  const b = source(i, 1);
  const c = source(i, 2);
  valu(isaOf(opOf(i)), define(i), a, b, c, 0);
}
