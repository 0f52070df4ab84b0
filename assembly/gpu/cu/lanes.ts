/** 32- and 16-bit VALU instructions that run lane by lane, and all others under an unusual rounding mode or clamp. */
import {
  addF32Mode,
  addRoundToOdd,
  CANONICAL_NAN,
  ceilF32,
  cosTurnsF32,
  exp2F32,
  f16ToF32Bits,
  f32ToF16Bits,
  f32ToI32,
  f32ToU32,
  floorF32,
  flush,
  fmaF32Mode,
  fractF32,
  frexpExponentF32,
  frexpMantissaF32,
  isNanBits,
  ldexpF32,
  log2F32,
  maxF32Bits,
  med3F32Bits,
  minF32Bits,
  mulF32Mode,
  rcpF32,
  roundEvenF32,
  roundF64ToF32,
  rsqF32,
  sinTurnsF32,
  sqrtF32,
  truncF32,
} from "../../base/math/index.ts";
import { Op, OpFlag, opFlags } from "../../gen/isa-ops.ts";
import { raiseNotModelled } from "../fault.ts";
import { Mod, Wave } from "../layout.ts";
import { executeHalf } from "./half.ts";
import { wave } from "./wave.ts";

/** MODE's rounding fields and VCC, for the lane that runs. */
let round32: u32 = 0;
let round16: u32 = 0;
let vcc: u32 = 0;
let lane: u32 = 0;

export function executeLanes(
  op: u32,
  mods: u32,
  d: usize,
  a: usize,
  la: usize,
  b: usize,
  lb: usize,
  c: usize,
  lc: usize,
  active: u32,
): void {
  const mode = load<u32>(wave, Wave.MODE);
  round32 = mode & 3;
  round16 = (mode >> 2) & 3;
  vcc = load<u32>(wave, Wave.VCC);
  const saturate = saturates(op, mods);
  for (let left = active; left != 0; left &= left - 1) {
    lane = ctz<u32>(left);
    const x = load<u32>(a + <usize>lane * la);
    const y = load<u32>(b + <usize>lane * lb);
    const z = load<u32>(c + <usize>lane * lc);
    store<u32>(d + ((<usize>lane) << 2), saturate ? saturated(op, x, y, z) : one(op, x, y, z));
  }
}

function f(x: u32): f32 {
  return reinterpret<f32>(x);
}

function bits(x: f32): u32 {
  return reinterpret<u32>(x);
}

function clampI64(x: i64, low: i64, high: i64): u32 {
  return <u32>(x < low ? low : x > high ? high : x);
}

/** Whether clamp means the limits of integers: of rows whose results are no floats, 16-bit ones among them. */
export function saturates(op: u32, mods: u32): bool {
  if (!(mods & Mod.CLAMP) || mods & Mod.FLOAT_OUT) return false;
  return !(mods & Mod.HALF_OUT) || !(opFlags(op) & OpFlag.Omod);
}

function u16Of(x: u32): i64 {
  return <i64>(x & 0xffff);
}

function s16Of(x: u32): i64 {
  return <i64>(<i16>x);
}

function clampU32(x: i64): u32 {
  return clampI64(x, 0, u32.MAX_VALUE);
}

function clampU16(x: i64): u32 {
  return clampI64(x, 0, 65535);
}

function clampS16(x: i64): u32 {
  return clampI64(x, -32768, 32767) & 0xffff;
}

/** Integer instructions with clamp. */
function saturated(op: u32, x: u32, y: u32, z: u32): u32 {
  switch (op) {
    case Op.v_add_nc_u32_e64:
      return clampI64(<i64>x + <i64>y, 0, u32.MAX_VALUE);
    case Op.v_sub_nc_u32_e64:
      return clampI64(<i64>x - <i64>y, 0, u32.MAX_VALUE);
    case Op.v_subrev_nc_u32_e64:
      return clampI64(<i64>y - <i64>x, 0, u32.MAX_VALUE);
    case Op.v_add_nc_i32:
      return clampI64(<i64>(<i32>x) + <i64>(<i32>y), i32.MIN_VALUE, i32.MAX_VALUE);
    case Op.v_sub_nc_i32:
      return clampI64(<i64>(<i32>x) - <i64>(<i32>y), i32.MIN_VALUE, i32.MAX_VALUE);
    case Op.v_mad_u32_u24:
      return clampI64(<i64>(x & 0xffffff) * <i64>(y & 0xffffff) + <i64>z, 0, u32.MAX_VALUE);
    case Op.v_mad_i32_i24:
      return clampI64(
        <i64>(((<i32>x) << 8) >> 8) * <i64>(((<i32>y) << 8) >> 8) + <i64>(<i32>z),
        i32.MIN_VALUE,
        i32.MAX_VALUE,
      );
    case Op.v_mad_u32_u16:
      return clampU32(u16Of(x) * u16Of(y) + <i64>z);
    case Op.v_mad_i32_i16:
      return clampI64(s16Of(x) * s16Of(y) + <i64>(<i32>z), i32.MIN_VALUE, i32.MAX_VALUE);
    case Op.v_add_nc_u16:
      return clampU16(u16Of(x) + u16Of(y));
    case Op.v_sub_nc_u16:
      return clampU16(u16Of(x) - u16Of(y));
    case Op.v_add_nc_i16:
      return clampS16(s16Of(x) + s16Of(y));
    case Op.v_sub_nc_i16:
      return clampS16(s16Of(x) - s16Of(y));
    case Op.v_mad_u16:
      return clampU16(u16Of(x) * u16Of(y) + u16Of(z));
    case Op.v_mad_i16:
      return clampS16(s16Of(x) * s16Of(y) + s16Of(z));
    case Op.v_min3_i16:
    case Op.v_min3_u16:
    case Op.v_max3_i16:
    case Op.v_max3_u16:
    case Op.v_med3_i16:
    case Op.v_med3_u16:
      return one(op, x, y, z);
    case Op.v_sad_u8:
      return clampU32(<i64>sad8(x, y, false) + <i64>z);
    case Op.v_msad_u8:
      return clampU32(<i64>sad8(x, y, true) + <i64>z);
    case Op.v_sad_hi_u8:
      return clampU32(((<i64>sad8(x, y, false)) << 16) + <i64>z);
    case Op.v_sad_u16:
      return clampU32(abs<i64>(u16Of(x) - u16Of(y)) + abs<i64>(u16Of(x >> 16) - u16Of(y >> 16)) + <i64>z);
    case Op.v_sad_u32:
      return clampU32(abs<i64>(<i64>x - <i64>y) + <i64>z);
    default:
      raiseNotModelled();
      return 0;
  }
}

function signRun(x: u32): u32 {
  const y = <i32>x < 0 ? ~x : x;
  return y == 0 ? <u32>-1 : clz<u32>(y);
}

function reverse(x: u32): u32 {
  x = ((x >> 1) & 0x55555555) | ((x & 0x55555555) << 1);
  x = ((x >> 2) & 0x33333333) | ((x & 0x33333333) << 2);
  x = ((x >> 4) & 0x0f0f0f0f) | ((x & 0x0f0f0f0f) << 4);
  return bswap<u32>(x);
}

/** v_perm_b32: one byte of the result. */
function permByte(high: u32, low: u32, selector: u32): u32 {
  if (selector >= 13) return 0xff;
  if (selector == 12) return 0;
  const both = ((<u64>high) << 32) | <u64>low;
  if (selector < 8) return <u32>(both >> (8 * selector)) & 0xff;
  // 8-11: sign of bytes 1, 3, 5, 7.
  return (both >> (16 * (selector - 8) + 15)) & 1 ? 0xff : 0;
}

function perm(high: u32, low: u32, selectors: u32): u32 {
  let out: u32 = 0;
  for (let i: u32 = 0; i < 4; i++) out |= permByte(high, low, (selectors >> (8 * i)) & 0xff) << (8 * i);
  return out;
}

function sad8(x: u32, y: u32, masked: bool): u32 {
  let sum: u32 = 0;
  for (let i: u32 = 0; i < 32; i += 8) {
    const p = <i32>((x >> i) & 0xff);
    const q = <i32>((y >> i) & 0xff);
    if (!masked || q != 0) sum += <u32>abs<i32>(p - q);
  }
  return sum;
}

/** snorm16 or unorm16 of a float: round to nearest even after clamping. */
function norm16(x: f32, signed: bool): u32 {
  if (isNaN<f32>(x)) return 0;
  const low: f32 = signed ? -1 : 0;
  const clamped = x < low ? low : x > 1 ? 1 : x;
  return <u32>(<i32>nearest<f64>(<f64>clamped * (signed ? 32767.0 : 65535.0))) & 0xffff;
}

/** The multiply rule of v_mul_legacy_f32: 0 times anything is +0. */
function mulLegacy(x: f32, y: f32): f32 {
  return x == 0 || y == 0 ? 0 : mulF32Mode(x, y, round32);
}

/** Final step of a division: quotient q, denominator d, numerator n. Source: RDNA2 ISA, V_DIV_FIXUP_F32. */
function divFixup(q: u32, d: u32, n: u32): u32 {
  const sign = (d ^ n) & 0x80000000;
  if (isNanBits(n) || isNanBits(d)) return CANONICAL_NAN;
  const dInf = (d & 0x7fffffff) == 0x7f800000;
  const nInf = (n & 0x7fffffff) == 0x7f800000;
  const dZero = (d & 0x7fffffff) == 0;
  const nZero = (n & 0x7fffffff) == 0;
  if ((dZero && nZero) || (dInf && nInf)) return CANONICAL_NAN;
  if (dZero || nInf) return sign | 0x7f800000;
  if (dInf || nZero) return sign;
  const gap = exponentOf(n) - exponentOf(d);
  if (gap < -150) return sign;
  if (gap > 150 && exponentOf(d) == 0) return sign | 0x7f800000;
  return isNanBits(q) ? sign | 0x7f800000 : sign | (q & 0x7fffffff);
}

function exponentOf(x: u32): i32 {
  return <i32>((x >> 23) & 255);
}

function isLaneVcc(): bool {
  return ((vcc >> lane) & 1) != 0;
}

/** q * 2^64 or 2^-64 after the fused step: the direction undoes what v_div_scale did to the numerator. */
function divFmas(x: f32, y: f32, z: f32): f32 {
  if (!isLaneVcc()) return fmaF32Mode(x, y, z, round32);
  // Scaled in binary64 so that the sum is rounded once. Source: RDNA2 ISA, V_DIV_FMAS_F32.
  const sum = addRoundToOdd(<f64>x * <f64>y, <f64>z);
  const up = exponentOf(bits(z)) > 127;
  return roundF64ToF32(sum * (up ? 18446744073709551616.0 : 5.421010862427522e-20), round32);
}

function cubeMajor(x: f32, y: f32, z: f32): u32 {
  const ax = abs<f32>(x);
  const ay = abs<f32>(y);
  const az = abs<f32>(z);
  return az >= ax && az >= ay ? 2 : ay >= ax ? 1 : 0;
}

function cubeId(x: f32, y: f32, z: f32): f32 {
  const major = cubeMajor(x, y, z);
  const axis = major == 2 ? z : major == 1 ? y : x;
  return <f32>(major * 2) + (axis < 0 ? <f32>1 : <f32>0);
}

function cubeSc(x: f32, y: f32, z: f32): f32 {
  const major = cubeMajor(x, y, z);
  if (major == 2) return z < 0 ? -x : x;
  if (major == 1) return x;
  return x < 0 ? z : -z;
}

function cubeTc(x: f32, y: f32, z: f32): f32 {
  const major = cubeMajor(x, y, z);
  if (major == 1) return y < 0 ? -z : z;
  return -y;
}

function cubeMa(x: f32, y: f32, z: f32): f32 {
  const major = cubeMajor(x, y, z);
  return 2 * (major == 2 ? z : major == 1 ? y : x);
}

function classOf(x: u32): u32 {
  const negative = x >> 31;
  const magnitude = x & 0x7fffffff;
  if (magnitude > 0x7f800000) return magnitude & 0x400000 ? 2 : 1;
  if (magnitude == 0x7f800000) return negative ? 4 : 512;
  if (magnitude == 0) return negative ? 32 : 64;
  if (magnitude < 0x00800000) return negative ? 16 : 128;
  return negative ? 8 : 256;
}

/** Class bit of a binary32, as v_cmp_class_f32 numbers them. */
export function classBitF32(x: u32): u32 {
  return classOf(x);
}

/** sin and cos of the hardware: valid for |x| <= 256 turns, beyond that 0 and 1. */
function inRange(x: f32): bool {
  return abs<f32>(x) <= 256;
}

function one(op: u32, x: u32, y: u32, z: u32): u32 {
  switch (op) {
    case Op.v_add_f32_e64:
      return bits(addF32Mode(f(x), f(y), round32));
    case Op.v_sub_f32_e64:
      return bits(addF32Mode(f(x), -f(y), round32));
    case Op.v_subrev_f32_e64:
      return bits(addF32Mode(f(y), -f(x), round32));
    case Op.v_mul_f32_e64:
      return bits(mulF32Mode(f(x), f(y), round32));
    case Op.v_mul_legacy_f32_e64:
      return bits(mulLegacy(f(x), f(y)));
    case Op.v_fma_legacy_f32:
      return bits(f(x) == 0 || f(y) == 0 ? addF32Mode(0, f(z), round32) : fmaF32Mode(f(x), f(y), f(z), round32));
    case Op.v_fma_f32:
      return bits(fmaF32Mode(f(x), f(y), f(z), round32));
    case Op.v_min_f32_e64:
      return minF32Bits(x, y);
    case Op.v_max_f32_e64:
      return maxF32Bits(x, y);
    case Op.v_min3_f32:
      return minF32Bits(minF32Bits(x, y), z);
    case Op.v_max3_f32:
      return maxF32Bits(maxF32Bits(x, y), z);
    case Op.v_med3_f32:
      return med3F32Bits(x, y, z);
    case Op.v_div_fixup_f32:
      return divFixup(x, y, z);
    case Op.v_div_fmas_f32:
      return bits(divFmas(f(x), f(y), f(z)));
    case Op.v_ldexp_f32:
      return bits(ldexpF32(f(x), <i32>y));
    case Op.v_fract_f32_e64:
      return bits(fractF32(f(x)));
    case Op.v_trunc_f32_e64:
      return bits(truncF32(f(x)));
    case Op.v_ceil_f32_e64:
      return bits(ceilF32(f(x)));
    case Op.v_floor_f32_e64:
      return bits(floorF32(f(x)));
    case Op.v_rndne_f32_e64:
      return bits(roundEvenF32(f(x)));
    case Op.v_exp_f32_e64:
      return bits(flush(exp2F32(flush(f(x)))));
    case Op.v_log_f32_e64:
      return bits(log2F32(flush(f(x))));
    case Op.v_rcp_f32_e64:
    case Op.v_rcp_iflag_f32_e64:
      return bits(flush(rcpF32(flush(f(x)))));
    case Op.v_rsq_f32_e64:
      return bits(rsqF32(flush(f(x))));
    case Op.v_sqrt_f32_e64:
      return bits(sqrtF32(flush(f(x))));
    case Op.v_sin_f32_e64:
      return isInfinite(x) || inRange(f(x)) || isNanBits(x) ? bits(sinTurnsF32(f(x))) : 0;
    case Op.v_cos_f32_e64:
      return isInfinite(x) || inRange(f(x)) || isNanBits(x) ? bits(cosTurnsF32(f(x))) : 0x3f800000;
    case Op.v_frexp_exp_i32_f32_e64:
      return frexpExponentF32(f(x));
    case Op.v_frexp_mant_f32_e64:
      return bits(frexpMantissaF32(f(x)));
    case Op.v_cvt_f32_i32_e64:
      return bits(roundF64ToF32(<f64>(<i32>x), round32));
    case Op.v_cvt_f32_u32_e64:
      return bits(roundF64ToF32(<f64>x, round32));
    case Op.v_cvt_u32_f32_e64:
      return f32ToU32(f(x));
    case Op.v_cvt_i32_f32_e64:
      return f32ToI32(f(x));
    case Op.v_cvt_rpi_i32_f32_e64:
      return floorToI32(<f64>f(x) + 0.5);
    case Op.v_cvt_flr_i32_f32_e64:
      return floorToI32(<f64>f(x));
    case Op.v_cvt_off_f32_i4_e64:
      return bits(<f32>(<i32>(x << 28) >> 28) * 0.0625);
    case Op.v_cvt_f16_f32_e64:
      return f32ToF16Bits(x, round16);
    case Op.v_cvt_f32_f16_e64:
      return f16ToF32Bits(x & 0xffff);
    case Op.v_cvt_f32_ubyte0_e64:
      return bits(<f32>(x & 0xff));
    case Op.v_cvt_f32_ubyte1_e64:
      return bits(<f32>((x >> 8) & 0xff));
    case Op.v_cvt_f32_ubyte2_e64:
      return bits(<f32>((x >> 16) & 0xff));
    case Op.v_cvt_f32_ubyte3_e64:
      return bits(<f32>(x >> 24));
    case Op.v_cvt_pkrtz_f16_f32_e64:
      return f32ToF16Bits(x, 3) | (f32ToF16Bits(y, 3) << 16);
    case Op.v_cvt_pknorm_i16_f32:
      return norm16(f(x), true) | (norm16(f(y), true) << 16);
    case Op.v_cvt_pknorm_u16_f32:
      return norm16(f(x), false) | (norm16(f(y), false) << 16);
    case Op.v_cvt_pk_u16_u32:
      return min<u32>(x, 0xffff) | (min<u32>(y, 0xffff) << 16);
    case Op.v_cvt_pk_i16_i32:
      return (clampI64(<i64>(<i32>x), -32768, 32767) & 0xffff) | (clampI64(<i64>(<i32>y), -32768, 32767) << 16);
    case Op.v_cvt_pk_u8_f32: {
      const at = 8 * (y & 3);
      // Rounded by MODE, then clamped. Source: RDNA2 ISA, V_CVT_PK_U8_F32.
      const value = isNanBits(x) ? 0 : clampI64(<i64>f32ToI32(roundEvenF32(f(x))), 0, 255);
      return (z & ~(0xff << at)) | (value << at);
    }
    case Op.v_cubeid_f32:
      return bits(cubeId(f(x), f(y), f(z)));
    case Op.v_cubesc_f32:
      return bits(cubeSc(f(x), f(y), f(z)));
    case Op.v_cubetc_f32:
      return bits(cubeTc(f(x), f(y), f(z)));
    case Op.v_cubema_f32:
      return bits(cubeMa(f(x), f(y), f(z)));
    case Op.v_mul_hi_u32:
      return <u32>((<u64>x * <u64>y) >> 32);
    case Op.v_mul_hi_i32:
      return <u32>((<i64>(<i32>x) * <i64>(<i32>y)) >> 32);
    case Op.v_mul_hi_u32_u24_e64:
      return <u32>((<u64>(x & 0xffffff) * <u64>(y & 0xffffff)) >> 32);
    case Op.v_mul_hi_i32_i24_e64:
      return <u32>((<i64>(((<i32>x) << 8) >> 8) * <i64>(((<i32>y) << 8) >> 8)) >> 32);
    case Op.v_bfe_u32: {
      const width = z & 31;
      return (x >> (y & 31)) & ((1 << width) - 1);
    }
    case Op.v_bfe_i32: {
      const width = z & 31;
      if (width == 0) return 0;
      const shifted = x >> (y & 31);
      return <u32>(<i32>(shifted << (32 - width)) >> (32 - width));
    }
    case Op.v_bfm_b32:
      return ((1 << (x & 31)) - 1) << (y & 31);
    case Op.v_bcnt_u32_b32:
      return popcnt<u32>(x) + y;
    case Op.v_mbcnt_lo_u32_b32:
      return popcnt<u32>(x & ((1 << lane) - 1)) + y;
    case Op.v_mbcnt_hi_u32_b32:
      return y;
    case Op.v_bfrev_b32_e64:
      return reverse(x);
    case Op.v_ffbh_u32_e64:
      return x == 0 ? <u32>-1 : clz<u32>(x);
    case Op.v_ffbl_b32_e64:
      return x == 0 ? <u32>-1 : ctz<u32>(x);
    case Op.v_ffbh_i32_e64:
      return signRun(x);
    case Op.v_add_lshl_u32:
      return (x + y) << (z & 31);
    case Op.v_alignbit_b32:
      return <u32>((((<u64>x) << 32) | <u64>y) >> (z & 31));
    case Op.v_alignbyte_b32:
      return <u32>((((<u64>x) << 32) | <u64>y) >> (8 * (z & 3)));
    case Op.v_perm_b32:
      return perm(x, y, z);
    case Op.v_lerp_u8: {
      let out: u32 = 0;
      for (let i: u32 = 0; i < 32; i += 8) {
        out |= ((((x >> i) & 0xff) + ((y >> i) & 0xff) + ((z >> i) & 1)) >> 1) << i;
      }
      return out;
    }
    case Op.v_sad_u8:
      return sad8(x, y, false) + z;
    case Op.v_msad_u8:
      return sad8(x, y, true) + z;
    case Op.v_sad_hi_u8:
      return (sad8(x, y, false) << 16) + z;
    case Op.v_sad_u16: {
      const low = abs<i32>(<i32>(x & 0xffff) - <i32>(y & 0xffff));
      const high = abs<i32>(<i32>(x >> 16) - <i32>(y >> 16));
      return <u32>low + <u32>high + z;
    }
    case Op.v_sad_u32:
      return (x > y ? x - y : y - x) + z;
    case Op.v_nop_e64:
      return 0;
    default:
      return common(op, x, y, z);
  }
}

function isInfinite(x: u32): bool {
  return (x & 0x7fffffff) == 0x7f800000;
}

function floorToI32(x: f64): u32 {
  if (isNaN<f64>(x)) return 0;
  const down = floor<f64>(x);
  if (down >= 2147483647) return 0x7fffffff;
  return down <= -2147483648 ? 0x80000000 : <u32>(<i32>down);
}

/** Integer instructions that normally run as rows; here when a mode asks for lanes. Then the 16-bit ones. */
function common(op: u32, x: u32, y: u32, z: u32): u32 {
  switch (op) {
    case Op.v_mov_b32_e64:
      return x;
    case Op.v_not_b32_e64:
      return ~x;
    case Op.v_and_b32_e64:
      return x & y;
    case Op.v_or_b32_e64:
      return x | y;
    case Op.v_xor_b32_e64:
      return x ^ y;
    case Op.v_xnor_b32_e64:
      return ~(x ^ y);
    case Op.v_add_nc_u32_e64:
    case Op.v_add_nc_i32:
      return x + y;
    case Op.v_sub_nc_u32_e64:
    case Op.v_sub_nc_i32:
      return x - y;
    case Op.v_subrev_nc_u32_e64:
      return y - x;
    case Op.v_mul_lo_u32:
      return x * y;
    case Op.v_mul_u32_u24_e64:
      return (x & 0xffffff) * (y & 0xffffff);
    case Op.v_mul_i32_i24_e64:
      return (((<i32>x) << 8) >> 8) * (((<i32>y) << 8) >> 8);
    case Op.v_min_i32_e64:
      return min<i32>(x, y);
    case Op.v_max_i32_e64:
      return max<i32>(x, y);
    case Op.v_min_u32_e64:
      return min<u32>(x, y);
    case Op.v_max_u32_e64:
      return max<u32>(x, y);
    case Op.v_lshlrev_b32_e64:
      return y << (x & 31);
    case Op.v_lshrrev_b32_e64:
      return y >> (x & 31);
    case Op.v_ashrrev_i32_e64:
      return <i32>y >> (x & 31);
    case Op.v_lshl_add_u32:
      return (x << (y & 31)) + z;
    case Op.v_lshl_or_b32:
      return (x << (y & 31)) | z;
    case Op.v_add3_u32:
      return x + y + z;
    case Op.v_or3_b32:
      return x | y | z;
    case Op.v_xor3_b32:
      return x ^ y ^ z;
    case Op.v_and_or_b32:
      return (x & y) | z;
    case Op.v_xad_u32:
      return (x ^ y) + z;
    case Op.v_bfi_b32:
      return (x & y) | (~x & z);
    case Op.v_mad_u32_u24:
      return (x & 0xffffff) * (y & 0xffffff) + z;
    case Op.v_mad_i32_i24:
      return (((<i32>x) << 8) >> 8) * (((<i32>y) << 8) >> 8) + z;
    case Op.v_min3_i32:
      return min<i32>(min<i32>(x, y), z);
    case Op.v_max3_i32:
      return max<i32>(max<i32>(x, y), z);
    case Op.v_min3_u32:
      return min<u32>(min<u32>(x, y), z);
    case Op.v_max3_u32:
      return max<u32>(max<u32>(x, y), z);
    case Op.v_med3_i32:
      return max<i32>(min<i32>(x, y), min<i32>(max<i32>(x, y), z));
    case Op.v_med3_u32:
      return max<u32>(min<u32>(x, y), min<u32>(max<u32>(x, y), z));
    default:
      return executeHalf(op, x, y, z, round16);
  }
}
