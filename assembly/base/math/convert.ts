import { CANONICAL_NAN, INFINITY_BITS, Round, SIGN_BIT } from "./float-bits.ts";

/** binary16 bits to binary32 bits, exact; NaNs become the canonical one. */
export function f16ToF32Bits(h: u32): u32 {
  const sign = (h & 0x8000) << 16;
  const exponent = (h >> 10) & 31;
  const fraction = h & 0x3ff;
  if (exponent == 31) return fraction ? CANONICAL_NAN : sign | INFINITY_BITS;
  if (exponent == 0) {
    // fraction * 2^-24 is exact in binary32.
    return sign | reinterpret<u32>(<f32>fraction * reinterpret<f32>(<u32>0x33800000));
  }
  return sign | ((exponent + 112) << 23) | (fraction << 13);
}

/** binary32 bits to binary16 bits by MODE's rounding field; overflow gives inf or the largest finite as the mode says; NaN gives 0x7e00. */
export function f32ToF16Bits(x: u32, mode: u32): u32 {
  const sign = (x >> 16) & 0x8000;
  const magnitude = x & 0x7fffffff;
  if (magnitude > INFINITY_BITS) return 0x7e00;
  if (magnitude == INFINITY_BITS) return sign | 0x7c00;
  const exponent = <i32>(magnitude >> 23) - 127;
  let mantissa = magnitude & 0x7fffff;
  let half: u32;
  let drop: u32;
  if (exponent >= -14) {
    half = exponent > 15 ? 0x7c00 : ((<u32>(exponent + 15)) << 10) | (mantissa >> 13);
    drop = 13;
    if (exponent > 15) {
      // Beyond the largest finite by at least one step: inf, or the largest finite when rounding towards zero.
      const towardsZero = mode == Round.Zero || (mode == Round.Up && sign != 0) || (mode == Round.Down && sign == 0);
      return sign | (towardsZero ? 0x7bff : 0x7c00);
    }
  } else {
    if (magnitude == 0) return sign;
    if (magnitude >= 0x00800000) mantissa |= 0x800000;
    drop = <u32>(-1 - exponent);
    if (drop > 25) {
      half = 0;
      mantissa = 1;
      drop = 24;
    } else {
      half = mantissa >> drop;
    }
  }
  const rest = mantissa & ((1 << drop) - 1);
  const middle: u32 = 1 << (drop - 1);
  let up = false;
  switch (mode) {
    case Round.NearestEven:
      up = rest > middle || (rest == middle && (half & 1) != 0);
      break;
    case Round.Up:
      up = rest != 0 && sign == 0;
      break;
    case Round.Down:
      up = rest != 0 && sign != 0;
      break;
    default:
      break;
  }
  return sign | (up ? half + 1 : half);
}

/** Truncates towards zero, clamps to the range, NaN gives 0. Source: v_cvt_i32_f32. */
export function f32ToI32(x: f32): i32 {
  if (isNaN<f32>(x)) return 0;
  if (x >= 2147483648) return i32.MAX_VALUE;
  return x <= -2147483648 ? i32.MIN_VALUE : <i32>x;
}

/** Truncates towards zero, clamps to the range, NaN gives 0. Source: v_cvt_u32_f32. */
export function f32ToU32(x: f32): u32 {
  if (!(x > 0)) return 0;
  return x >= 4294967296 ? u32.MAX_VALUE : <u32>x;
}

/** Nearest even. */
export function i32ToF32(x: i32): f32 {
  return <f32>x;
}

/** Nearest even. */
export function u32ToF32(x: u32): f32 {
  return <f32>x;
}

/** Flips the sign bit of anything, NaNs too. */
export function negBits(x: u32): u32 {
  return x ^ SIGN_BIT;
}
