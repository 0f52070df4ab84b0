import { addRoundToOdd, canonical, canonical64, roundF64ToF32 } from "./float-bits.ts";

/** a*b+c with one rounding (nearest even), NaNs canonical. The binary64 product of two binary32 is exact; the sum is
 *  rounded to odd, then to binary32. */
export function fmaF32(a: f32, b: f32, c: f32): f32 {
  const r = <f32>addRoundToOdd(<f64>a * <f64>b, <f64>c);
  return canonical(r);
}

/** As fmaF32, rounded by MODE's field `mode`. An exact zero sum of unlike signs is -0 when rounding down. */
export function fmaF32Mode(a: f32, b: f32, c: f32, mode: u32): f32 {
  const product = <f64>a * <f64>b;
  const sum = addRoundToOdd(product, <f64>c);
  if (sum == 0 && mode == 2 && (reinterpret<u64>(product) ^ reinterpret<u64>(<f64>c)) >> 63) return -0.0;
  return roundF64ToF32(sum, mode);
}

export function addF32Mode(a: f32, b: f32, mode: u32): f32 {
  return fmaF32Mode(a, 1, b, mode);
}

export function mulF32Mode(a: f32, b: f32, mode: u32): f32 {
  return roundF64ToF32(<f64>a * <f64>b, mode);
}

/** High 64 bits of the 128-bit product. */
export function mulHigh64(a: u64, b: u64): u64 {
  const aLow = a & 0xffffffff;
  const aHigh = a >> 32;
  const bLow = b & 0xffffffff;
  const bHigh = b >> 32;
  const middle = aHigh * bLow + ((aLow * bLow) >> 32);
  return aHigh * bHigh + (middle >> 32) + ((aLow * bHigh + (middle & 0xffffffff)) >> 32);
}

/** Unbiased exponent of the last bit of a finite `bits`: value = mantissa * 2^exponent. */
function scaleOf(bits: u64): i32 {
  const field = <i32>((bits >> 52) & 0x7ff);
  return (field == 0 ? 1 : field) - 1075;
}

function mantissaOf(bits: u64): u64 {
  const fraction = bits & 0x000fffffffffffff;
  return (bits >> 52) & 0x7ff ? fraction | 0x0010000000000000 : fraction;
}

/** binary64 nearest even of (-1)^sign * (high:low) * 2^exponent, where low's bit 0 may be sticky. */
function pack128(sign: u64, high: u64, low: u64, exponent: i32): f64 {
  if (high == 0 && low == 0) return reinterpret<f64>(sign << 63);
  // Normalise so that the top bit of `high` is set.
  if (high == 0) {
    high = low;
    low = 0;
    exponent -= 64;
  }
  const lead = <i32>clz(high);
  if (lead > 0) {
    high = (high << lead) | (low >> (64 - lead));
    low <<= lead;
    exponent -= lead;
  }
  // value = high.low * 2^(exponent + 64), high in [2^63, 2^64): the top bit weighs 2^(exponent + 127).
  const top = exponent + 127;
  if (top > 1023) return reinterpret<f64>((sign << 63) | 0x7ff0000000000000);
  let drop = 11;
  if (top < -1022) drop += -1022 - top;
  if (drop > 65) return reinterpret<f64>(sign << 63);
  let kept: u64;
  let rest: u64;
  if (drop == 64) {
    kept = 0;
    rest = high;
  } else if (drop == 65) {
    kept = 0;
    rest = high >> 1;
    low |= high & 1;
  } else {
    kept = high >> drop;
    rest = high << (64 - drop);
  }
  const half: u64 = 0x8000000000000000;
  if (rest > half || (rest == half && (low != 0 || kept & 1))) kept++;
  // A carry out of the mantissa runs into the exponent field, which is what it should do.
  const field = top < -1022 ? 0 : <u64>(top + 1022);
  return reinterpret<f64>((sign << 63) | ((field << 52) + kept));
}

/** a*b+c in binary64 with one rounding (nearest even), NaNs canonical: 128-bit integer arithmetic with a sticky bit. */
export function fmaF64(a: f64, b: f64, c: f64): f64 {
  const naive = a * b + c;
  const ba = reinterpret<u64>(a);
  const bb = reinterpret<u64>(b);
  const bc = reinterpret<u64>(c);
  const special: u64 = 0x7ff0000000000000;
  if ((ba & special) == special || (bb & special) == special || (bc & special) == special) {
    // Infinities and NaNs need no rounding, but a*b may overflow where the true product does not.
    if ((bc & special) == special && (ba & special) != special && (bb & special) != special) {
      return canonical64(c);
    }
    return canonical64(naive);
  }
  if (a == 0 || b == 0) return naive;
  const sign = (ba ^ bb) >> 63;
  const ma = mantissaOf(ba);
  const mb = mantissaOf(bb);
  // Product: 106 bits at most; shifted left by 20 it has room for alignment below and a carry above (127 bits).
  const exponentP = scaleOf(ba) + scaleOf(bb) - 20;
  const low = ma * mb;
  const high = mulHigh64(ma, mb);
  let pHigh = (high << 20) | (low >> 44);
  let pLow = low << 20;
  if (c == 0) return pack128(sign, pHigh, pLow, exponentP);
  // Addend on a grid of its own: 53 bits at [125:73].
  const mc = mantissaOf(bc);
  let cHigh = mc << 9;
  let cLow: u64 = 0;
  const exponentC = scaleOf(bc) - 73;
  let exponent = exponentP;
  let difference = exponentP - exponentC;
  // Normalise the product too, so that the larger term never loses bits by the alignment of the smaller one.
  const lead = pHigh == 0 ? 64 + <i32>clz(pLow) : <i32>clz(pHigh);
  const up = lead - 2;
  if (up > 0) {
    if (up >= 64) {
      pHigh = pLow << (up - 64);
      pLow = 0;
    } else {
      pHigh = (pHigh << up) | (pLow >> (64 - up));
      pLow <<= up;
    }
    exponent -= up;
    difference -= up;
  }
  const leadC = <i32>clz(cHigh) - 2;
  let expC = exponentC;
  if (leadC > 0) {
    cHigh <<= leadC;
    expC -= leadC;
    difference += leadC;
  }
  if (difference >= 0) {
    // Product's grid is coarser: shift the addend down.
    const sticky = lost(cHigh, cLow, difference);
    const shiftedLow = shiftRightLow(cHigh, cLow, difference);
    cHigh = shiftRightHigh(cHigh, difference);
    cLow = shiftedLow | sticky;
  } else {
    const by = -difference;
    const sticky = lost(pHigh, pLow, by);
    const shiftedLow = shiftRightLow(pHigh, pLow, by);
    pHigh = shiftRightHigh(pHigh, by);
    pLow = shiftedLow | sticky;
    exponent = expC;
  }
  const signC = bc >> 63;
  if (sign == signC) {
    const sumLow = pLow + cLow;
    const sumHigh = pHigh + cHigh + (sumLow < pLow ? 1 : 0);
    return pack128(sign, sumHigh, sumLow, exponent);
  }
  const productLarger = pHigh > cHigh || (pHigh == cHigh && pLow >= cLow);
  if (pHigh == cHigh && pLow == cLow) return 0;
  if (productLarger) return pack128(sign, pHigh - cHigh - (pLow < cLow ? 1 : 0), pLow - cLow, exponent);
  return pack128(signC, cHigh - pHigh - (cLow < pLow ? 1 : 0), cLow - pLow, exponent);
}

function shiftRightHigh(high: u64, by: i32): u64 {
  return by >= 64 ? 0 : high >> by;
}

function shiftRightLow(high: u64, low: u64, by: i32): u64 {
  if (by == 0) return low;
  if (by >= 128) return 0;
  if (by >= 64) return high >> (by - 64);
  return (low >> by) | (high << (64 - by));
}

/** 1 when a right shift by `by` drops a set bit. */
function lost(high: u64, low: u64, by: i32): u64 {
  if (by == 0) return 0;
  if (by >= 128) return high | low ? 1 : 0;
  if (by == 64) return low ? 1 : 0;
  if (by > 64) return low | (high << (128 - by)) ? 1 : 0;
  return low << (64 - by) ? 1 : 0;
}
