/** VALU instructions with 64-bit operands or a mask result, lane by lane. Source: the rows' meanings. */
import { CANONICAL_NAN, CANONICAL_NAN64, canonical64, fmaF64, isNanBits, ldexpF32 } from "../../base/math/index.ts";
import { Op, operandType, opSrc, ValueType } from "../../gen/isa-ops.ts";
import { raiseNotModelled } from "../fault.ts";
import { Mod, Rec, Wave } from "../layout.ts";
import { exec, scalar64, setSgpr, sgpr, vgprRow, wave } from "./wave.ts";

/** 64 bits of source `k` in `lane`; `kind` 0 unsigned, 1 signed, 2 binary64 (with abs and neg applied). */
export function pairSource(rec: usize, k: u32, lane: u32, kind: u32): u64 {
  const offset = <u32>load<u16>(rec + ((<usize>k) << 1), Rec.SRC0);
  let value: u64;
  if (offset >= <u32>Wave.VGPR_FILE) {
    const at = wave + <usize>offset + ((<usize>lane) << 2);
    value = <u64>load<u32>(at) | ((<u64>load<u32>(at, 128)) << 32);
  } else value = scalar64(offset, kind);
  if (kind == 2) {
    const mods = load<u32>(rec, Rec.MODS);
    if (mods & (Mod.ABS0 << k)) value &= 0x7fffffffffffffff;
    if (mods & (Mod.NEG0 << k)) value ^= 0x8000000000000000;
  }
  return value;
}

/** 32 bits of source `k` in `lane`, with abs and neg applied. */
function word(rec: usize, k: u32, lane: u32): u32 {
  const offset = <u32>load<u16>(rec + ((<usize>k) << 1), Rec.SRC0);
  const at = wave + <usize>offset;
  let x = load<u32>(offset >= <u32>Wave.VGPR_FILE ? at + ((<usize>lane) << 2) : at);
  const mods = load<u32>(rec, Rec.MODS);
  if (mods & (Mod.ABS0 << k)) x &= 0x7fffffff;
  if (mods & (Mod.NEG0 << k)) x ^= 0x80000000;
  return x;
}

function double(rec: usize, k: u32, lane: u32): f64 {
  return reinterpret<f64>(pairSource(rec, k, lane, 2));
}

let carry: u32 = 0;
let narrow: bool = false;

function bits(x: f64): u64 {
  return reinterpret<u64>(canonical64(x));
}

/** A binary32 or integer result in the low word. */
function low(x: u32): u64 {
  narrow = true;
  return x;
}

function exponent32(x: u32): i32 {
  return <i32>((x >> 23) & 255);
}

function isDenormal32(x: f32): bool {
  const b = reinterpret<u32>(x);
  return (b & 0x7f800000) == 0 && (b & 0x7fffffff) != 0;
}

/**
 * v_div_scale_f32: scales x, which is the denominator y or the numerator z, where the division's steps would over- or
 * underflow; sets the carry where v_div_fmas must rescale. Source: RDNA2 ISA, V_DIV_SCALE_F32.
 */
function divScale32(x: u32, y: u32, z: u32): u32 {
  const s = reinterpret<f32>(x);
  const d = reinterpret<f32>(y);
  const n = reinterpret<f32>(z);
  carry = 0;
  if (d == 0 || n == 0) return CANONICAL_NAN;
  if (isNanBits(y) || isNanBits(z)) return x;
  const inverseDenormal = abs<f32>(d) > reinterpret<f32>(<u32>0x7e800000) && abs<f32>(d) <= f32.MAX_VALUE;
  const quotient = <f64>n / <f64>d;
  const quotientDenormal = abs<f64>(quotient) < 1.1754943508222875e-38;
  if (exponent32(z) - exponent32(y) >= 96) {
    carry = 1;
    return x == y ? reinterpret<u32>(ldexpF32(s, 64)) : x;
  }
  if (isDenormal32(d)) return reinterpret<u32>(ldexpF32(s, 64));
  if (inverseDenormal && quotientDenormal) {
    carry = 1;
    return x == y ? reinterpret<u32>(ldexpF32(s, -64)) : x;
  }
  if (inverseDenormal) return reinterpret<u32>(ldexpF32(s, -64));
  if (quotientDenormal) {
    carry = 1;
    return x == z ? reinterpret<u32>(ldexpF32(s, 64)) : x;
  }
  if (exponent32(z) <= 23) return reinterpret<u32>(ldexpF32(s, 64));
  return x;
}

function exponent64(x: u64): i32 {
  return <i32>((x >> 52) & 0x7ff);
}

function power64(e: i32): f64 {
  return reinterpret<f64>((<u64>(e + 1023)) << 52);
}

/** x * 2^e with one rounding, any e. */
function ldexp64(x: f64, e: i32): f64 {
  if (x == 0 || !(abs<f64>(x) <= f64.MAX_VALUE)) return canonical64(x);
  if (e > 2200) e = 2200;
  if (e < -2200) e = -2200;
  while (e > 1000) {
    x *= power64(1000);
    e -= 1000;
  }
  if (e >= -1000 && abs<f64>(x) * power64(e < -900 ? -900 : e) > 1e-290) return x * power64(e);
  // Towards the denormals only the last step may round: bring x to 1 <= |x| < 2 first.
  const shift = exponent64(reinterpret<u64>(x));
  if (shift == 0) {
    x *= power64(64);
    e -= 64;
  }
  const unbiased = exponent64(reinterpret<u64>(x)) - 1023;
  const mantissa = reinterpret<f64>((reinterpret<u64>(x) & ~((<u64>0x7ff) << 52)) | ((<u64>1023) << 52));
  const total = unbiased + e;
  if (total > 1023) return x > 0 ? Infinity : -Infinity;
  if (total >= -1022) return mantissa * power64(total);
  if (total < -1080) return mantissa * power64(-1022) * power64(-100);
  return mantissa * power64(total + 60) * power64(-60);
}

/** v_div_scale_f64, as divScale32 with 2^128. Source: RDNA2 ISA, V_DIV_SCALE_F64. */
function divScale64(x: u64, y: u64, z: u64): u64 {
  const s = reinterpret<f64>(x);
  const d = reinterpret<f64>(y);
  const n = reinterpret<f64>(z);
  carry = 0;
  if (d == 0 || n == 0) return CANONICAL_NAN64;
  if (isNaN<f64>(d) || isNaN<f64>(n)) return x;
  const inverseDenormal = exponent64(y) > 2045 && exponent64(y) != 2047;
  const gap = exponent64(z) - exponent64(y);
  const quotientDenormal = gap < -1022 || (gap < -1020 && abs<f64>(n / d) < 2.2250738585072014e-308);
  if (gap >= 768) {
    carry = 1;
    return x == y ? bits(ldexp64(s, 128)) : x;
  }
  if (exponent64(y) == 0) return bits(ldexp64(s, 128));
  if (inverseDenormal && quotientDenormal) {
    carry = 1;
    return x == y ? bits(ldexp64(s, -128)) : x;
  }
  if (inverseDenormal) return bits(ldexp64(s, -128));
  if (quotientDenormal) {
    carry = 1;
    return x == z ? bits(ldexp64(s, 128)) : x;
  }
  if (exponent64(z) <= 53) return bits(ldexp64(s, 128));
  return x;
}

function divFixup64(q: f64, d: f64, n: f64): f64 {
  const sign = (reinterpret<u64>(d) ^ reinterpret<u64>(n)) >> 63 != 0;
  const inf: f64 = sign ? -Infinity : Infinity;
  const zero: f64 = sign ? -0.0 : 0.0;
  if (isNaN<f64>(n) || isNaN<f64>(d)) return NaN;
  const dInf = abs<f64>(d) > f64.MAX_VALUE;
  const nInf = abs<f64>(n) > f64.MAX_VALUE;
  if ((d == 0 && n == 0) || (dInf && nInf)) return NaN;
  if (d == 0 || nInf) return inf;
  if (dInf || n == 0) return zero;
  if (isNaN<f64>(q)) return inf;
  return copysign<f64>(q, sign ? -1.0 : 1.0);
}

function min64(a: f64, b: f64): f64 {
  if (isNaN<f64>(a)) return b;
  if (isNaN<f64>(b)) return a;
  if (a == 0 && b == 0) return reinterpret<i64>(a) < 0 ? a : b;
  return a < b ? a : b;
}

function max64(a: f64, b: f64): f64 {
  if (isNaN<f64>(a)) return b;
  if (isNaN<f64>(b)) return a;
  if (a == 0 && b == 0) return reinterpret<i64>(a) < 0 ? b : a;
  return a > b ? a : b;
}

function toI32(x: f64): u32 {
  if (isNaN<f64>(x)) return 0;
  if (x >= 2147483647) return 0x7fffffff;
  return x <= -2147483648 ? 0x80000000 : <u32>(<i32>x);
}

function toU32(x: f64): u32 {
  if (!(x > 0)) return 0;
  return x >= 4294967295 ? 0xffffffff : <u32>x;
}

function frexpMantissa64(x: f64): f64 {
  if (x == 0 || !(abs<f64>(x) <= f64.MAX_VALUE)) return x;
  if (exponent64(reinterpret<u64>(x)) == 0) x *= power64(64);
  return reinterpret<f64>((reinterpret<u64>(x) & ~((<u64>0x7ff) << 52)) | ((<u64>1022) << 52));
}

function frexpExponent64(x: f64): i32 {
  if (x == 0 || !(abs<f64>(x) <= f64.MAX_VALUE)) return 0;
  if (exponent64(reinterpret<u64>(x)) == 0) return exponent64(reinterpret<u64>(x * power64(64))) - 1022 - 64;
  return exponent64(reinterpret<u64>(x)) - 1022;
}

function fract64(x: f64): f64 {
  return min<f64>(x - floor<f64>(x), reinterpret<f64>(<u64>0x3fefffffffffffff));
}

/** Carry-in of `lane` from the mask source. */
function carryIn(rec: usize, lane: u32): u64 {
  return (sgpr(load<u16>(rec, Rec.SRC3)) >> lane) & 1;
}

/** One lane; sets `carry` for the mask destination and `narrow` for a one-register result. */
function one(rec: usize, op: u32, lane: u32): u64 {
  switch (op) {
    case Op.v_lshlrev_b64:
      return pairSource(rec, 1, lane, 0) << (word(rec, 0, lane) & 63);
    case Op.v_lshrrev_b64:
      return pairSource(rec, 1, lane, 0) >> (word(rec, 0, lane) & 63);
    case Op.v_ashrrev_i64:
      return <u64>(<i64>pairSource(rec, 1, lane, 1) >> (word(rec, 0, lane) & 63));
    case Op.v_mad_u64_u32: {
      const product = <u64>word(rec, 0, lane) * <u64>word(rec, 1, lane);
      const sum = product + pairSource(rec, 2, lane, 0);
      carry = sum < product ? 1 : 0;
      return sum;
    }
    case Op.v_mad_i64_i32: {
      const product = <u64>(<i64>(<i32>word(rec, 0, lane)) * <i64>(<i32>word(rec, 1, lane)));
      const addend = pairSource(rec, 2, lane, 1);
      const sum = product + addend;
      carry = <u32>(((product ^ sum) & (addend ^ sum)) >> 63);
      return sum;
    }
    case Op.v_add_co_u32:
      return addCarry(word(rec, 0, lane), word(rec, 1, lane), 0);
    case Op.v_sub_co_u32:
      return subtractBorrow(word(rec, 0, lane), word(rec, 1, lane), 0);
    case Op.v_subrev_co_u32:
      return subtractBorrow(word(rec, 1, lane), word(rec, 0, lane), 0);
    case Op.v_add_co_ci_u32_e64:
      return addCarry(word(rec, 0, lane), word(rec, 1, lane), carryIn(rec, lane));
    case Op.v_sub_co_ci_u32_e64:
      return subtractBorrow(word(rec, 0, lane), word(rec, 1, lane), carryIn(rec, lane));
    case Op.v_subrev_co_ci_u32_e64:
      return subtractBorrow(word(rec, 1, lane), word(rec, 0, lane), carryIn(rec, lane));
    case Op.v_div_scale_f32:
      return low(divScale32(word(rec, 0, lane), word(rec, 1, lane), word(rec, 2, lane)));
    case Op.v_div_scale_f64:
      return divScale64(pairSource(rec, 0, lane, 2), pairSource(rec, 1, lane, 2), pairSource(rec, 2, lane, 2));
    case Op.v_add_f64:
      return bits(double(rec, 0, lane) + double(rec, 1, lane));
    case Op.v_mul_f64:
      return bits(double(rec, 0, lane) * double(rec, 1, lane));
    case Op.v_min_f64:
      return bits(min64(double(rec, 0, lane), double(rec, 1, lane)));
    case Op.v_max_f64:
      return bits(max64(double(rec, 0, lane), double(rec, 1, lane)));
    case Op.v_fma_f64:
      return bits(fmaF64(double(rec, 0, lane), double(rec, 1, lane), double(rec, 2, lane)));
    case Op.v_div_fmas_f64: {
      const r = fmaF64(double(rec, 0, lane), double(rec, 1, lane), double(rec, 2, lane));
      if (!((load<u32>(wave, Wave.VCC) >> lane) & 1)) return bits(r);
      return bits(ldexp64(r, exponent64(pairSource(rec, 2, lane, 2)) > 1023 ? 128 : -128));
    }
    case Op.v_div_fixup_f64:
      return bits(divFixup64(double(rec, 0, lane), double(rec, 1, lane), double(rec, 2, lane)));
    case Op.v_ldexp_f64:
      return bits(ldexp64(double(rec, 0, lane), <i32>word(rec, 1, lane)));
    case Op.v_rcp_f64_e64:
      return bits(1.0 / double(rec, 0, lane));
    case Op.v_rsq_f64_e64:
      return bits(1.0 / sqrt<f64>(double(rec, 0, lane)));
    case Op.v_sqrt_f64_e64:
      return bits(sqrt<f64>(double(rec, 0, lane)));
    case Op.v_trunc_f64_e64:
      return bits(trunc<f64>(double(rec, 0, lane)));
    case Op.v_ceil_f64_e64:
      return bits(ceil<f64>(double(rec, 0, lane)));
    case Op.v_floor_f64_e64:
      return bits(floor<f64>(double(rec, 0, lane)));
    case Op.v_rndne_f64_e64:
      return bits(nearest<f64>(double(rec, 0, lane)));
    case Op.v_fract_f64_e64:
      return bits(fract64(double(rec, 0, lane)));
    case Op.v_frexp_mant_f64_e64:
      return bits(frexpMantissa64(double(rec, 0, lane)));
    case Op.v_frexp_exp_i32_f64_e64:
      return low(frexpExponent64(double(rec, 0, lane)));
    case Op.v_cvt_i32_f64_e64:
      return low(toI32(double(rec, 0, lane)));
    case Op.v_cvt_u32_f64_e64:
      return low(toU32(double(rec, 0, lane)));
    case Op.v_cvt_f32_f64_e64: {
      const r = <f32>double(rec, 0, lane);
      return low(isNaN<f32>(r) ? CANONICAL_NAN : reinterpret<u32>(r));
    }
    case Op.v_cvt_f64_i32_e64:
      return bits(<f64>(<i32>word(rec, 0, lane)));
    case Op.v_cvt_f64_u32_e64:
      return bits(<f64>word(rec, 0, lane));
    case Op.v_cvt_f64_f32_e64:
      return bits(<f64>reinterpret<f32>(word(rec, 0, lane)));
    default:
      raiseNotModelled();
      return 0;
  }
}

function addCarry(a: u32, b: u32, c: u64): u64 {
  const sum = <u64>a + <u64>b + c;
  carry = <u32>(sum >> 32);
  return low(<u32>sum);
}

function subtractBorrow(a: u32, b: u32, c: u64): u64 {
  const difference = <u64>a - <u64>b - c;
  carry = <u32>(difference >> 63);
  return low(<u32>difference);
}

/** Instructions of this file that write a mask. */
function writesMask(op: u32): bool {
  switch (op) {
    case Op.v_mad_u64_u32:
    case Op.v_mad_i64_i32:
    case Op.v_add_co_u32:
    case Op.v_sub_co_u32:
    case Op.v_subrev_co_u32:
    case Op.v_add_co_ci_u32_e64:
    case Op.v_sub_co_ci_u32_e64:
    case Op.v_subrev_co_ci_u32_e64:
    case Op.v_div_scale_f32:
    case Op.v_div_scale_f64:
      return true;
    default:
      return false;
  }
}

export function executeWide(rec: usize): void {
  const lanes = exec();
  const op = <u32>load<u16>(rec, Rec.OP);
  const mods = load<u32>(rec, Rec.MODS);
  // Rounding other than nearest even of binary64, clamp, omod, and second-dword forms are not modelled here.
  const rounds = (load<u32>(wave, Wave.MODE) & 0xc) != 0 && operandType(opSrc(op, 0)) == ValueType.f64;
  if (rounds || mods & (Mod.CLAMP | Mod.OMOD | Mod.DPP16 | Mod.DPP8 | Mod.SDWA)) {
    raiseNotModelled();
    return;
  }
  const row = vgprRow(load<u16>(rec, Rec.DST));
  let mask: u32 = 0;
  for (let lane: u32 = 0; lane < 32; lane++) {
    if (!((lanes >> lane) & 1)) continue;
    narrow = false;
    const value = one(rec, op, lane);
    if (carry) mask |= 1 << lane;
    carry = 0;
    const at = row + ((<usize>lane) << 2);
    store<u32>(at, <u32>value);
    if (!narrow) store<u32>(at, <u32>(value >> 32), 128);
  }
  if (writesMask(op)) setSgpr(load<u16>(rec, Rec.DST2), mask);
}
