/** binary32 arithmetic on four lanes. NaN results are the canonical one. */

function highPair(x: v128): v128 {
  return f64x2.promote_low_f32x4(i8x16.shuffle(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15));
}

/** Not 0 and at most the smallest normal binary32. */
function tiny2(x: v128): v128 {
  return v128.and(f64x2.le(f64x2.abs(x), f64x2.splat(1.1754943508222875e-38)), f64x2.ne(x, f64x2.splat(0)));
}

/** Sums of two pairs of binary64, rounded to odd: then a second rounding to binary32 is right. As `addRoundToOdd`. */
function oddSum2(a: v128, b: v128): v128 {
  const zero = f64x2.splat(0);
  const sum = f64x2.add(a, b);
  const part = f64x2.sub(sum, a);
  const error = f64x2.add(f64x2.sub(a, f64x2.sub(sum, part)), f64x2.sub(b, part));
  // inf and NaN give a NaN error: nothing to correct.
  const inexact = v128.or(f64x2.lt(error, zero), f64x2.gt(error, zero));
  const even = i64x2.eq(v128.and(sum, i64x2.splat(1)), i64x2.splat(0));
  // One step away from zero where error and sum have the same sign, else towards it.
  const step = v128.or(v128.xor(f64x2.gt(error, zero), f64x2.gt(sum, zero)), i64x2.splat(1));
  return i64x2.add(sum, v128.and(step, v128.and(inexact, even)));
}

/** Signed keys that order as the numbers do, -0 below +0. */
function keys(x: v128): v128 {
  return v128.xor(x, i32x4.shr_u(i32x4.shr_s(x, 31), 1));
}

function numbers(a: v128, b: v128, pick: v128): v128 {
  const withA = v128.bitselect(pick, b, f32x4.eq(a, a));
  const withB = v128.bitselect(withA, a, f32x4.eq(b, b));
  // Both NaN: withB is a NaN.
  return Float4.canonical(withB);
}

/** Static methods, as asc warns of exported functions that take vectors. */
export class Float4 {
  /** Where a lane is NaN, the canonical NaN. */
  static canonical(x: v128): v128 {
    return v128.bitselect(x, i32x4.splat(0x7fc00000), f32x4.eq(x, x));
  }

  /** Two pairs of binary64, rounded to four binary32. */
  static demote(low: v128, high: v128): v128 {
    return i8x16.shuffle(
      f32x4.demote_f64x2_zero(low),
      f32x4.demote_f64x2_zero(high),
      0,
      1,
      2,
      3,
      4,
      5,
      6,
      7,
      16,
      17,
      18,
      19,
      20,
      21,
      22,
      23,
    );
  }

  /**
   * a*b+c rounded once. The product is exact in binary64. Rounding the binary64 sum again goes wrong only where it sits
   * on a tie of binary32 (low 29 bits 1 0…0) or where the result is denormal: those four lanes are rounded to odd first.
   * The build with relaxed SIMD has one instruction for it, and the host runs that build only where it rounds once.
   */
  static fma(a: v128, b: v128, c: v128): v128 {
    if (ASC_FEATURE_RELAXED_SIMD) return Float4.canonical(f32x4.relaxed_madd(a, b, c));
    const lowProduct = f64x2.mul(f64x2.promote_low_f32x4(a), f64x2.promote_low_f32x4(b));
    const highProduct = f64x2.mul(highPair(a), highPair(b));
    const lowAddend = f64x2.promote_low_f32x4(c);
    const highAddend = highPair(c);
    const low = f64x2.add(lowProduct, lowAddend);
    const high = f64x2.add(highProduct, highAddend);
    const mask = i64x2.splat(0x1fffffff);
    const tie = i64x2.splat(0x10000000);
    const ties = v128.or(i64x2.eq(v128.and(low, mask), tie), i64x2.eq(v128.and(high, mask), tie));
    const r = Float4.demote(low, high);
    const tiny = i32x4.le_u(v128.and(r, i32x4.splat(0x7fffffff)), i32x4.splat(0x00800000));
    if (v128.any_true(v128.or(ties, tiny))) {
      // Sums of exactly 0 are common and need no care.
      if (v128.any_true(v128.or(ties, v128.or(tiny2(low), tiny2(high))))) {
        const exact = Float4.demote(oddSum2(lowProduct, lowAddend), oddSum2(highProduct, highAddend));
        return Float4.canonical(exact);
      }
    }
    return Float4.canonical(r);
  }

  /** As fma, but a NaN may be any. */
  @inline
  static madd(a: v128, b: v128, c: v128): v128 {
    if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_madd(a, b, c);
    return Float4.fma(a, b, c);
  }

  /** Denormals become zeros of their sign. */
  static flush(x: v128): v128 {
    const exponent = v128.and(x, i32x4.splat(0x7f800000));
    const denormal = i32x4.eq(exponent, i32x4.splat(0));
    return v128.bitselect(v128.and(x, i32x4.splat(0x80000000)), x, denormal);
  }

  /** f32(1 / sqrt(f64 x)) with denormal inputs and results flushed. Source: v_rsq_f32's row and base/math. */
  static rsq(x: v128): v128 {
    x = Float4.flush(x);
    const one = f64x2.splat(1);
    const low = f64x2.div(one, f64x2.sqrt(f64x2.promote_low_f32x4(x)));
    const high = f64x2.div(one, f64x2.sqrt(highPair(x)));
    return Float4.canonical(Float4.demote(low, high));
  }

  /** 1/x with denormal inputs and results flushed. */
  static rcp(x: v128): v128 {
    return Float4.canonical(Float4.flush(f32x4.div(f32x4.splat(1), Float4.flush(x))));
  }

  static sqrt(x: v128): v128 {
    return Float4.canonical(f32x4.sqrt(Float4.flush(x)));
  }

  /** Minimum; a NaN loses against a number, -0 < +0, two NaNs give the canonical one. */
  static min(a: v128, b: v128): v128 {
    const pick = v128.bitselect(a, b, i32x4.le_s(keys(a), keys(b)));
    return numbers(a, b, pick);
  }

  static max(a: v128, b: v128): v128 {
    const pick = v128.bitselect(a, b, i32x4.ge_s(keys(a), keys(b)));
    return numbers(a, b, pick);
  }

  /** med3: min of the numbers where any is NaN. */
  static med(a: v128, b: v128, c: v128): v128 {
    const middle = Float4.max(Float4.min(a, b), Float4.min(Float4.max(a, b), c));
    const ordered = v128.and(v128.and(f32x4.eq(a, a), f32x4.eq(b, b)), f32x4.eq(c, c));
    return v128.bitselect(middle, Float4.min(Float4.min(a, b), c), ordered);
  }

  /** x - floor(x), at most the largest binary32 below 1. */
  static fract(x: v128): v128 {
    return Float4.canonical(f32x4.pmin(f32x4.sub(x, f32x4.floor(x)), i32x4.splat(0x3f7fffff)));
  }

  /** [0, 1]; NaN gives 0 (`dx10`) or stays. */
  static clamp(x: v128, dx10: bool): v128 {
    const clamped = f32x4.pmin(f32x4.splat(1), f32x4.pmax(f32x4.splat(0), x));
    return dx10 ? clamped : v128.bitselect(clamped, x, f32x4.eq(x, x));
  }
}
