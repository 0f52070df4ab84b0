/**
 * Transcendental functions of binary32, evaluated in binary64 and rounded once: within 0.51 ulp of the true value.
 * Denormal inputs and results are kept here; the hardware's flushing is the simulator's business.
 */
import { CANONICAL_NAN, canonical } from "./float-bits.ts";

const LN2: f64 = Math.LN2;
const SQRT2: f64 = Math.SQRT2;

/** 1/x, correctly rounded. */
export function rcpF32(x: f32): f32 {
  const r = <f32>1 / x;
  return canonical(r);
}

/** Square root, correctly rounded; NaN below zero, -0 of -0. */
export function sqrtF32(x: f32): f32 {
  const r = sqrt<f32>(x);
  return canonical(r);
}

/** f32(1 / sqrt(f64(x))): both binary64 steps correctly rounded, then one rounding to binary32. ±inf of ±0, NaN below. */
export function rsqF32(x: f32): f32 {
  const r = <f32>(1.0 / sqrt<f64>(<f64>x));
  return canonical(r);
}

/** 2^x: x = n + r with |r| <= 1/2, Taylor series of e^(r ln 2) to the 13th power (remainder below 2^-55). Exact for integers. */
export function exp2F32(x: f32): f32 {
  if (isNaN<f32>(x)) return reinterpret<f32>(CANONICAL_NAN);
  if (x >= 128) return f32.MAX_VALUE * 2;
  if (x < -150) return 0;
  const wide = <f64>x;
  const n = nearest<f64>(wide);
  const t = (wide - n) * LN2;
  let p: f64 = 1.0 / 6227020800.0;
  p = p * t + 1.0 / 479001600.0;
  p = p * t + 1.0 / 39916800.0;
  p = p * t + 1.0 / 3628800.0;
  p = p * t + 1.0 / 362880.0;
  p = p * t + 1.0 / 40320.0;
  p = p * t + 1.0 / 5040.0;
  p = p * t + 1.0 / 720.0;
  p = p * t + 1.0 / 120.0;
  p = p * t + 1.0 / 24.0;
  p = p * t + 1.0 / 6.0;
  p = p * t + 0.5;
  p = p * t + 1.0;
  p = p * t + 1.0;
  return <f32>(p * reinterpret<f64>((<u64>(<i32>n + 1023)) << 52));
}

/** log2(x): x = m 2^e with m in [sqrt 1/2, sqrt 2), log2 m = (2/ln 2) artanh((m-1)/(m+1)). -inf at 0, NaN below. Exact for powers of two. */
export function log2F32(x: f32): f32 {
  if (x == 0) return -f32.MAX_VALUE * 2;
  if (!(x > 0)) return reinterpret<f32>(CANONICAL_NAN);
  if (x > f32.MAX_VALUE) return x;
  const bits = reinterpret<u64>(<f64>x);
  let e = <i32>(bits >> 52) - 1023;
  let m = reinterpret<f64>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  if (m > SQRT2) {
    m *= 0.5;
    e += 1;
  }
  const s = (m - 1) / (m + 1);
  const z = s * s;
  let p: f64 = 1.0 / 25.0;
  p = p * z + 1.0 / 23.0;
  p = p * z + 1.0 / 21.0;
  p = p * z + 1.0 / 19.0;
  p = p * z + 1.0 / 17.0;
  p = p * z + 1.0 / 15.0;
  p = p * z + 1.0 / 13.0;
  p = p * z + 1.0 / 11.0;
  p = p * z + 1.0 / 9.0;
  p = p * z + 1.0 / 7.0;
  p = p * z + 1.0 / 5.0;
  p = p * z + 1.0 / 3.0;
  p = p * z + 1.0;
  return <f32>(<f64>e + s * p * 2.8853900817779268);
}

const TWO_PI: f64 = 6.283185307179586;

/** sin(t) for |t| <= pi/4. */
function sinSeries(t: f64): f64 {
  const z = t * t;
  let p: f64 = 1.0 / 355687428096000.0;
  p = p * z - 1.0 / 1307674368000.0;
  p = p * z + 1.0 / 6227020800.0;
  p = p * z - 1.0 / 39916800.0;
  p = p * z + 1.0 / 362880.0;
  p = p * z - 1.0 / 5040.0;
  p = p * z + 1.0 / 120.0;
  p = p * z - 1.0 / 6.0;
  return t + t * z * p;
}

/** cos(t) for |t| <= pi/4. */
function cosSeries(t: f64): f64 {
  const z = t * t;
  let p: f64 = 1.0 / 20922789888000.0;
  p = p * z - 1.0 / 87178291200.0;
  p = p * z + 1.0 / 479001600.0;
  p = p * z - 1.0 / 3628800.0;
  p = p * z + 1.0 / 40320.0;
  p = p * z - 1.0 / 720.0;
  p = p * z + 1.0 / 24.0;
  p = p * z - 0.5;
  return 1.0 + z * p;
}

/** Quarter turns by which `x` (turns) is ahead of `rest`; the reduction is exact. */
function turnsF64(x: f64, quarterOffset: i32): f64 {
  const r = x - nearest<f64>(x);
  const q = nearest<f64>(r * 4);
  const t = (r - q * 0.25) * TWO_PI;
  const quadrant = (<i32>q + quarterOffset) & 3;
  const value = quadrant & 1 ? cosSeries(t) : sinSeries(t);
  // +0 rather than -0 at whole multiples of half a turn.
  return quadrant & 2 ? 0.0 - value : value;
}

/** sin(2 pi x), x in turns. NaN for inf and NaN; zero keeps its sign. */
export function sinTurnsF32(x: f32): f32 {
  if (x == 0) return x;
  const r = <f32>turnsF64(<f64>x, 0);
  return canonical(r);
}

/** cos(2 pi x), x in turns. NaN for inf and NaN. */
export function cosTurnsF32(x: f32): f32 {
  const r = <f32>turnsF64(<f64>x, 1);
  return canonical(r);
}
