import { CANONICAL_NAN, canonical, INFINITY_BITS, isNanBits } from "./float-bits.ts";

export function floorF32(x: f32): f32 {
  return canonical(floor<f32>(x));
}

export function ceilF32(x: f32): f32 {
  return canonical(ceil<f32>(x));
}

export function truncF32(x: f32): f32 {
  return canonical(trunc<f32>(x));
}

/** Nearest, ties to even. */
export function roundEvenF32(x: f32): f32 {
  return canonical(nearest<f32>(x));
}

/** x - floor(x), at most the largest binary32 below 1. NaN for infinities. */
export function fractF32(x: f32): f32 {
  const r = x - floor<f32>(x);
  const below = reinterpret<f32>(<u32>0x3f7fffff);
  return isNaN<f32>(r) ? reinterpret<f32>(CANONICAL_NAN) : min<f32>(r, below);
}

/** x * 2^exponent with one rounding: exact in binary64 for any clamped exponent, then nearest even. */
export function ldexpF32(x: f32, exponent: i32): f32 {
  const e = exponent < -300 ? -300 : exponent > 300 ? 300 : exponent;
  return canonical(<f32>(<f64>x * reinterpret<f64>((<u64>(e + 1023)) << 52)));
}

/** Mantissa m of x = m 2^e, 1/2 <= |m| < 1; x itself for 0, inf, NaN. */
export function frexpMantissaF32(x: f32): f32 {
  if (x == 0 || !(abs<f32>(x) <= f32.MAX_VALUE)) return canonical(x);
  const bits = reinterpret<u64>(<f64>x);
  return <f32>reinterpret<f64>((bits & ~((<u64>0x7ff) << 52)) | 0x3fe0000000000000);
}

/** Exponent e of x = m 2^e, 1/2 <= |m| < 1; 0 for 0, inf, NaN. */
export function frexpExponentF32(x: f32): i32 {
  if (x == 0 || !(abs<f32>(x) <= f32.MAX_VALUE)) return 0;
  return <i32>((reinterpret<u64>(<f64>x) >> 52) & 0x7ff) - 1022;
}

/** Order key: -0 below +0, signs folded so that signed comparison of keys orders the numbers. */
function key(bits: u32): i32 {
  return <i32>bits < 0 ? <i32>(bits ^ 0x7fffffff) : <i32>bits;
}

/** Smaller of two; a NaN loses against a number, two NaNs give the canonical one; -0 < +0. Source: v_min_f32, IEEE bit off. */
export function minF32Bits(a: u32, b: u32): u32 {
  if (isNanBits(a)) return isNanBits(b) ? CANONICAL_NAN : b;
  if (isNanBits(b)) return a;
  return key(a) <= key(b) ? a : b;
}

/** Larger of two, with the rules of minF32Bits. */
export function maxF32Bits(a: u32, b: u32): u32 {
  if (isNanBits(a)) return isNanBits(b) ? CANONICAL_NAN : b;
  if (isNanBits(b)) return a;
  return key(a) >= key(b) ? a : b;
}

/** Clamp to [0, 1]: NaN and anything below gives +0. Source: clamp with DX10_CLAMP set. */
export function saturateF32(x: f32): f32 {
  if (!(x > 0)) return 0;
  return x > 1 ? 1 : x;
}

/** Median of three; min of the numbers when any is a NaN. Source: v_med3_f32. */
export function med3F32Bits(a: u32, b: u32, c: u32): u32 {
  if (isNanBits(a) || isNanBits(b) || isNanBits(c)) return minF32Bits(minF32Bits(a, b), c);
  return maxF32Bits(minF32Bits(a, b), minF32Bits(maxF32Bits(a, b), c));
}

export function isInfBits(x: u32): bool {
  return (x & 0x7fffffff) == INFINITY_BITS;
}
