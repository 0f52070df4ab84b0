/** 16-bit VALU instructions on one lane: operands are the low halves, results too. binary16 arithmetic is exact in binary64, rounded to odd, then once by MODE. */
import {
  addRoundToOdd,
  ceilF32,
  cosTurnsF32,
  exp2F32,
  f16ToF32Bits,
  f32ToF16Bits,
  floorF32,
  fractF32,
  frexpExponentF32,
  frexpMantissaF32,
  ldexpF32,
  log2F32,
  maxF32Bits,
  med3F32Bits,
  minF32Bits,
  roundEvenF32,
  sinTurnsF32,
  truncF32,
} from "../../base/math/index.ts";
import { Op } from "../../gen/isa-ops.ts";
import { raiseNotModelled } from "../fault.ts";

function h(x: u32): f32 {
  return reinterpret<f32>(f16ToF32Bits(x & 0xffff));
}

/** binary64 to binary32 rounded to odd, so that the next rounding is right in every mode. */
function demoteToOdd(x: f64): u32 {
  const near = <f32>x;
  const bits = reinterpret<u32>(near);
  const back = <f64>near;
  if (back == x || isNaN<f64>(x) || bits & 1) return bits;
  return abs<f64>(back) < abs<f64>(x) ? bits + 1 : bits - 1;
}

function toHalf(x: f64, mode: u32): u32 {
  return f32ToF16Bits(demoteToOdd(x), mode);
}

function exactHalf(x: f32): u32 {
  return f32ToF16Bits(reinterpret<u32>(x), 0);
}

function s16(x: u32): i32 {
  return <i32>(<i16>x);
}

function clampTo(x: f32, low: i32, high: i32): u32 {
  if (isNaN<f32>(x)) return 0;
  const t = <f64>trunc<f32>(x);
  return <u32>(t < <f64>low ? low : t > <f64>high ? high : <i32>t) & 0xffff;
}

function f32Bits(x: f32): u32 {
  return reinterpret<u32>(x);
}

function norm(x: f32, signed: bool): u32 {
  if (isNaN<f32>(x)) return 0;
  const low: f32 = signed ? -1 : 0;
  const clamped = x < low ? low : x > 1 ? 1 : x;
  return <u32>(<i32>nearest<f64>(<f64>clamped * (signed ? 32767.0 : 65535.0))) & 0xffff;
}

export function executeHalf(op: u32, x: u32, y: u32, z: u32, mode: u32): u32 {
  switch (op) {
    case Op.v_add_f16_e64:
      return toHalf(<f64>h(x) + <f64>h(y), mode);
    case Op.v_sub_f16_e64:
      return toHalf(<f64>h(x) - <f64>h(y), mode);
    case Op.v_subrev_f16_e64:
      return toHalf(<f64>h(y) - <f64>h(x), mode);
    case Op.v_mul_f16_e64:
      return toHalf(<f64>h(x) * <f64>h(y), mode);
    case Op.v_fma_f16:
      return toHalf(addRoundToOdd(<f64>h(x) * <f64>h(y), <f64>h(z)), mode);
    case Op.v_min_f16_e64:
      return exactHalf(reinterpret<f32>(minF32Bits(f32Bits(h(x)), f32Bits(h(y)))));
    case Op.v_max_f16_e64:
      return exactHalf(reinterpret<f32>(maxF32Bits(f32Bits(h(x)), f32Bits(h(y)))));
    case Op.v_min3_f16:
      return exactHalf(reinterpret<f32>(minF32Bits(minF32Bits(f32Bits(h(x)), f32Bits(h(y))), f32Bits(h(z)))));
    case Op.v_max3_f16:
      return exactHalf(reinterpret<f32>(maxF32Bits(maxF32Bits(f32Bits(h(x)), f32Bits(h(y))), f32Bits(h(z)))));
    case Op.v_med3_f16:
      return exactHalf(reinterpret<f32>(med3F32Bits(f32Bits(h(x)), f32Bits(h(y)), f32Bits(h(z)))));
    case Op.v_ldexp_f16_e64:
      return toHalf(<f64>ldexpF32(h(x), s16(y)), mode);
    case Op.v_rcp_f16_e64:
      return toHalf(1.0 / <f64>h(x), mode);
    case Op.v_sqrt_f16_e64:
      return toHalf(sqrt<f64>(<f64>h(x)), mode);
    case Op.v_rsq_f16_e64:
      return toHalf(1.0 / sqrt<f64>(<f64>h(x)), mode);
    case Op.v_log_f16_e64:
      return toHalf(<f64>log2F32(h(x)), mode);
    case Op.v_exp_f16_e64:
      return toHalf(<f64>exp2F32(h(x)), mode);
    case Op.v_sin_f16_e64:
      return abs<f32>(h(x)) > 256 && abs<f32>(h(x)) <= 65504 ? 0 : toHalf(<f64>sinTurnsF32(h(x)), mode);
    case Op.v_cos_f16_e64:
      return abs<f32>(h(x)) > 256 && abs<f32>(h(x)) <= 65504 ? 0x3c00 : toHalf(<f64>cosTurnsF32(h(x)), mode);
    case Op.v_floor_f16_e64:
      return exactHalf(floorF32(h(x)));
    case Op.v_ceil_f16_e64:
      return exactHalf(ceilF32(h(x)));
    case Op.v_trunc_f16_e64:
      return exactHalf(truncF32(h(x)));
    case Op.v_rndne_f16_e64:
      return exactHalf(roundEvenF32(h(x)));
    case Op.v_fract_f16_e64: {
      // Below 1: the largest binary16 below 1 is 0x3bff.
      const bits = f32ToF16Bits(f32Bits(fractF32(h(x))), mode);
      return bits == 0x3c00 ? 0x3bff : bits;
    }
    case Op.v_frexp_mant_f16_e64:
      return exactHalf(frexpMantissaF32(h(x)));
    case Op.v_frexp_exp_i16_f16_e64:
      return frexpExponentF32(h(x)) & 0xffff;
    case Op.v_cvt_f16_u16_e64:
      return toHalf(<f64>(x & 0xffff), mode);
    case Op.v_cvt_f16_i16_e64:
      return toHalf(<f64>s16(x), mode);
    case Op.v_cvt_u16_f16_e64:
      return clampTo(h(x), 0, 65535);
    case Op.v_cvt_i16_f16_e64:
      return clampTo(h(x), -32768, 32767);
    case Op.v_cvt_norm_i16_f16_e64:
      return norm(h(x), true);
    case Op.v_cvt_norm_u16_f16_e64:
      return norm(h(x), false);
    case Op.v_cvt_pknorm_i16_f16:
      return norm(h(x), true) | (norm(h(y), true) << 16);
    case Op.v_cvt_pknorm_u16_f16:
      return norm(h(x), false) | (norm(h(y), false) << 16);
    case Op.v_pack_b32_f16:
      return (x & 0xffff) | (y << 16);
    case Op.v_sat_pk_u8_i16_e64: {
      const low = s16(x);
      const high = <i32>x >> 16;
      return <u32>max<i32>(0, min<i32>(255, low)) | ((<u32>max<i32>(0, min<i32>(255, high))) << 8);
    }
    case Op.v_add_nc_u16:
    case Op.v_add_nc_i16:
      return (x + y) & 0xffff;
    case Op.v_sub_nc_u16:
    case Op.v_sub_nc_i16:
      return (x - y) & 0xffff;
    case Op.v_mul_lo_u16:
      return (x * y) & 0xffff;
    case Op.v_mad_u16:
    case Op.v_mad_i16:
      return (x * y + z) & 0xffff;
    case Op.v_mad_u32_u16:
      return (x & 0xffff) * (y & 0xffff) + z;
    case Op.v_mad_i32_i16:
      return s16(x) * s16(y) + z;
    case Op.v_lshlrev_b16:
      return (y << (x & 15)) & 0xffff;
    case Op.v_lshrrev_b16:
      return (y & 0xffff) >> (x & 15);
    case Op.v_ashrrev_i16:
      return (s16(y) >> (x & 15)) & 0xffff;
    case Op.v_min_u16:
      return min<u32>(x & 0xffff, y & 0xffff);
    case Op.v_max_u16:
      return max<u32>(x & 0xffff, y & 0xffff);
    case Op.v_min_i16:
      return min<i32>(s16(x), s16(y)) & 0xffff;
    case Op.v_max_i16:
      return max<i32>(s16(x), s16(y)) & 0xffff;
    case Op.v_min3_u16:
      return min<u32>(min<u32>(x & 0xffff, y & 0xffff), z & 0xffff);
    case Op.v_max3_u16:
      return max<u32>(max<u32>(x & 0xffff, y & 0xffff), z & 0xffff);
    case Op.v_min3_i16:
      return min<i32>(min<i32>(s16(x), s16(y)), s16(z)) & 0xffff;
    case Op.v_max3_i16:
      return max<i32>(max<i32>(s16(x), s16(y)), s16(z)) & 0xffff;
    case Op.v_med3_u16: {
      const a = x & 0xffff;
      const b = y & 0xffff;
      return max<u32>(min<u32>(a, b), min<u32>(max<u32>(a, b), z & 0xffff));
    }
    case Op.v_med3_i16: {
      const a = s16(x);
      const b = s16(y);
      return max<i32>(min<i32>(a, b), min<i32>(max<i32>(a, b), s16(z))) & 0xffff;
    }
    default:
      raiseNotModelled();
      return 0;
  }
}
