/**
 * Bit-level facts about binary32 and binary16. Every function here and beside it is pure and uses only WASM's
 * IEEE operations (add, multiply, divide, square root, conversions), so it gives the same bits on every engine.
 */

/** The one NaN that arithmetic returns. Source: RDNA2's default quiet NaN. */
export const CANONICAL_NAN: u32 = 0x7fc00000;
/** binary64 counterpart of CANONICAL_NAN. */
export const CANONICAL_NAN64: u64 = 0x7ff8000000000000;
export const SIGN_BIT: u32 = 0x80000000;
export const INFINITY_BITS: u32 = 0x7f800000;

/** MODE's rounding field, same numbers for f32 and f16/f64. Source: RDNA2 ISA, MODE register. */
export const enum Round {
  NearestEven = 0,
  Up = 1,
  Down = 2,
  Zero = 3,
}

export function isNanBits(x: u32): bool {
  return (x & 0x7fffffff) > INFINITY_BITS;
}

/** Signalling: exponent all ones, quiet bit (22) clear, payload not 0. */
export function isSignallingBits(x: u32): bool {
  return isNanBits(x) && (x & 0x00400000) == 0;
}

/** Any NaN becomes CANONICAL_NAN; everything else is kept. */
export function canonical(x: f32): f32 {
  return !isNaN<f32>(x) ? x : reinterpret<f32>(CANONICAL_NAN);
}

export function canonical64(x: f64): f64 {
  return !isNaN<f64>(x) ? x : reinterpret<f64>(CANONICAL_NAN64);
}

/** A denormal becomes a zero of its sign. */
export function flushBits(x: u32): u32 {
  return (x & INFINITY_BITS) == 0 ? x & SIGN_BIT : x;
}

export function flush(x: f32): f32 {
  return reinterpret<f32>(flushBits(reinterpret<u32>(x)));
}

/** Next binary32 towards +inf; +inf stays. `x` is no NaN. */
function nextUp(x: f32): f32 {
  const bits = reinterpret<u32>(x);
  if (bits == INFINITY_BITS) return x;
  if ((bits & 0x7fffffff) == 0) return reinterpret<f32>(<u32>1);
  return reinterpret<f32>(bits & SIGN_BIT ? bits - 1 : bits + 1);
}

/** Next binary32 towards -inf; -inf stays. `x` is no NaN. */
function nextDown(x: f32): f32 {
  return -nextUp(-x);
}

/** `x` rounded to binary32 by `mode`. `x` is exact, or carries a sticky low bit from roundToOdd: then the result is
 *  the correctly rounded value of what `x` stands for. */
export function roundF64ToF32(x: f64, mode: u32): f32 {
  const nearest = <f32>x;
  if (isNaN<f64>(x)) return reinterpret<f32>(CANONICAL_NAN);
  if (mode == Round.NearestEven) return nearest;
  const back = <f64>nearest;
  if (back == x) return nearest;
  switch (mode) {
    case Round.Up:
      return back < x ? nextUp(nearest) : nearest;
    case Round.Down:
      return back > x ? nextDown(nearest) : nearest;
    default:
      if (x > 0) return back > x ? nextDown(nearest) : nearest;
      return back < x ? nextUp(nearest) : nearest;
  }
}

/** Sum of two binary64 rounded to odd: exact when it fits, else the neighbour whose last bit is 1, so that a second
 *  rounding to binary32 is right in every mode. Source: Boldo and Melquiond, emulation of FMA. */
export function addRoundToOdd(a: f64, b: f64): f64 {
  const sum = a + b;
  const part = sum - a;
  const error = a - (sum - part) + (b - part);
  // inf and NaN give a NaN error: nothing to correct.
  if (error == 0 || isNaN<f64>(error)) return sum;
  const bits = reinterpret<u64>(sum);
  if (bits & 1) return sum;
  return reinterpret<f64>(error > 0 == sum > 0 ? bits + 1 : bits - 1);
}
