/** VOPC: lane comparisons into a mask or EXEC. Source: the rows' meanings; groups of conditions are contiguous rows. */
import { f16ToF32Bits } from "../../base/math/index.ts";
import { Op, SourceCode } from "../../gen/isa-ops.ts";
import { raiseNotModelled } from "../fault.ts";
import { Mod, Rec, TEMP_BASE, Wave } from "../layout.ts";
import { classBitF32 } from "./lanes.ts";
import { selectData } from "./select.ts";
import { lastStride, prepareSource, sourceRow } from "./valu.ts";
import { exec, setSgpr, TEMP_ROWS, wave } from "./wave.ts";
import { pairSource } from "./wide.ts";

/** Float conditions in the order of the opcodes. */
const enum Cond {
  F = 0,
  LT = 1,
  EQ = 2,
  LE = 3,
  GT = 4,
  LG = 5,
  GE = 6,
  O = 7,
  U = 8,
  NGE = 9,
  NLG = 10,
  NGT = 11,
  NLE = 12,
  NEQ = 13,
  NLT = 14,
  TRU = 15,
}

function float4(cond: u32, a: v128, b: v128): v128 {
  switch (cond) {
    case Cond.LT:
      return f32x4.lt(a, b);
    case Cond.EQ:
      return f32x4.eq(a, b);
    case Cond.LE:
      return f32x4.le(a, b);
    case Cond.GT:
      return f32x4.gt(a, b);
    case Cond.LG:
      return v128.or(f32x4.lt(a, b), f32x4.gt(a, b));
    case Cond.GE:
      return f32x4.ge(a, b);
    default:
      return v128.and(f32x4.eq(a, a), f32x4.eq(b, b));
  }
}

/** Bit l = cond(a, b); the conditions from U on are the negations of those before, mirrored. */
function floatMask(cond: u32, a: usize, sa: usize, b: usize, sb: usize): u32 {
  if (cond == Cond.F) return 0;
  if (cond == Cond.TRU) return <u32>-1;
  const negated = cond >= <u32>Cond.U;
  // U..NLT pair with O, GE, LG, GT, LE, EQ, LT.
  const base: u32 = negated ? Cond.TRU - cond : cond;
  let mask: u32 = 0;
  for (let i: u32 = 0; i < 32; i += 4) {
    mask |= (<u32>i32x4.bitmask(float4(base, v128.load(a), v128.load(b)))) << i;
    a += sa;
    b += sb;
  }
  return negated ? ~mask : mask;
}

function f64Holds(cond: u32, a: f64, b: f64): bool {
  switch (cond) {
    case Cond.LT:
      return a < b;
    case Cond.EQ:
      return a == b;
    case Cond.LE:
      return a <= b;
    case Cond.GT:
      return a > b;
    case Cond.LG:
      return a < b || a > b;
    case Cond.GE:
      return a >= b;
    default:
      return !isNaN<f64>(a) && !isNaN<f64>(b);
  }
}

/** Any float condition on two binary64, which hold the narrower formats exactly. */
function f64Condition(cond: u32, a: f64, b: f64): bool {
  if (cond == Cond.F) return false;
  if (cond == Cond.TRU) return true;
  return cond >= <u32>Cond.U ? !f64Holds(Cond.TRU - cond, a, b) : f64Holds(cond, a, b);
}

/** Integer conditions F LT EQ LE GT NE GE T on 4 lanes. */
function int4(cond: u32, signed: bool, a: v128, b: v128): v128 {
  switch (cond) {
    case 1:
      return signed ? i32x4.lt_s(a, b) : i32x4.lt_u(a, b);
    case 2:
      return i32x4.eq(a, b);
    case 3:
      return signed ? i32x4.le_s(a, b) : i32x4.le_u(a, b);
    case 4:
      return signed ? i32x4.gt_s(a, b) : i32x4.gt_u(a, b);
    case 5:
      return i32x4.ne(a, b);
    case 6:
      return signed ? i32x4.ge_s(a, b) : i32x4.ge_u(a, b);
    case 7:
      return i32x4.splat(-1);
    default:
      return i32x4.splat(0);
  }
}

function intMask(cond: u32, signed: bool, a: usize, sa: usize, b: usize, sb: usize): u32 {
  let mask: u32 = 0;
  for (let i: u32 = 0; i < 32; i += 4) {
    mask |= (<u32>i32x4.bitmask(int4(cond, signed, v128.load(a), v128.load(b)))) << i;
    a += sa;
    b += sb;
  }
  return mask;
}

function wideHolds(cond: u32, signed: bool, a: u64, b: u64): bool {
  switch (cond) {
    case 1:
      return signed ? <i64>a < <i64>b : a < b;
    case 2:
      return a == b;
    case 3:
      return signed ? <i64>a <= <i64>b : a <= b;
    case 4:
      return signed ? <i64>a > <i64>b : a > b;
    case 5:
      return a != b;
    case 6:
      return signed ? <i64>a >= <i64>b : a >= b;
    default:
      return cond == 7;
  }
}

/** 64-bit compares, integer (`kind` 0 unsigned, 1 signed) or binary64 (2). */
function wideMask(rec: usize, cond: u32, kind: u32): u32 {
  let mask: u32 = 0;
  for (let lane: u32 = 0; lane < 32; lane++) {
    const a = pairSource(rec, 0, lane, kind);
    const b = pairSource(rec, 1, lane, kind);
    const holds =
      kind == 2 ? f64Condition(cond, reinterpret<f64>(a), reinterpret<f64>(b)) : wideHolds(cond, kind == 1, a, b);
    if (holds) mask |= 1 << lane;
  }
  return mask;
}

function halfFloatMask(cond: u32, a: usize, sa: usize, b: usize, sb: usize): u32 {
  let mask: u32 = 0;
  for (let lane: u32 = 0; lane < 32; lane++) {
    const x = <f64>reinterpret<f32>(f16ToF32Bits(load<u32>(a) & 0xffff));
    const y = <f64>reinterpret<f32>(f16ToF32Bits(load<u32>(b) & 0xffff));
    if (f64Condition(cond, x, y)) mask |= 1 << lane;
    a += sa >> 2;
    b += sb >> 2;
  }
  return mask;
}

function halfIntMask(cond: u32, signed: bool, a: usize, sa: usize, b: usize, sb: usize): u32 {
  let mask: u32 = 0;
  for (let lane: u32 = 0; lane < 32; lane++) {
    const x: u64 = signed ? <u64>(<i64>load<i16>(a)) : <u64>load<u16>(a);
    const y: u64 = signed ? <u64>(<i64>load<i16>(b)) : <u64>load<u16>(b);
    if (wideHolds(cond, signed, x, y)) mask |= 1 << lane;
    a += sa >> 2;
    b += sb >> 2;
  }
  return mask;
}

function classBitF64(x: u64): u32 {
  const negative = x >> 63 != 0;
  const magnitude = x & 0x7fffffffffffffff;
  if (magnitude > 0x7ff0000000000000) return magnitude & 0x0008000000000000 ? 2 : 1;
  if (magnitude == 0x7ff0000000000000) return negative ? 4 : 512;
  if (magnitude == 0) return negative ? 32 : 64;
  if (magnitude < 0x0010000000000000) return negative ? 16 : 128;
  return negative ? 8 : 256;
}

function classBitF16(x: u32): u32 {
  const magnitude = x & 0x7fff;
  const negative = (x & 0x8000) != 0;
  if (magnitude > 0x7c00) return magnitude & 0x200 ? 2 : 1;
  if (magnitude == 0x7c00) return negative ? 4 : 512;
  if (magnitude == 0) return negative ? 32 : 64;
  if (magnitude < 0x400) return negative ? 16 : 128;
  return negative ? 8 : 256;
}

/** Is the class of source 0 among the bits of source 1? `width` 16, 32 or 64. */
function classMask(rec: usize, width: u32, a: usize, sa: usize, b: usize, sb: usize): u32 {
  let mask: u32 = 0;
  for (let lane: u32 = 0; lane < 32; lane++) {
    const bit =
      width == 64
        ? classBitF64(pairSource(rec, 0, lane, 2))
        : width == 32
          ? classBitF32(load<u32>(a))
          : classBitF16(load<u32>(a));
    if (load<u32>(b) & bit) mask |= 1 << lane;
    a += sa >> 2;
    b += sb >> 2;
  }
  return mask;
}

export function executeCompare(rec: usize): void {
  const op = <u32>load<u16>(rec, Rec.OP);
  const mods = load<u32>(rec, Rec.MODS);
  const mode = load<u32>(wave, Wave.MODE);
  let a = sourceRow(rec, 0);
  let sa = lastStride();
  let b = sourceRow(rec, 1);
  let sb = lastStride();
  if (mods & Mod.SDWA) {
    selectData(rec, mods, a, sa, b, sb);
    a = TEMP_BASE;
    b = TEMP_BASE + TEMP_ROWS;
    sa = 16;
    sb = 16;
  }
  const flushIn = (mods & Mod.FLOAT_IN) != 0 && (mode & 0x10) == 0;
  if (mods & (Mod.NEG0 | Mod.ABS0 | Mod.HALF0) || flushIn) {
    a = prepareSource(0, a, sa, mods, flushIn);
    sa = 16;
  }
  if (mods & (Mod.NEG1 | Mod.ABS1 | Mod.HALF1) || flushIn) {
    b = prepareSource(1, b, sb, mods, flushIn);
    sb = 16;
  }
  let result: u32 = 0;
  let toExec = false;
  if (op <= <u32>Op.v_cmp_tru_f32_e64) result = floatMask(op - Op.v_cmp_f_f32_e64, a, sa, b, sb);
  else if (op <= <u32>Op.v_cmpx_tru_f32_e64) {
    toExec = true;
    result = floatMask(op - Op.v_cmpx_f_f32_e64, a, sa, b, sb);
  } else if (op <= <u32>Op.v_cmp_tru_f64_e64) result = wideMask(rec, op - Op.v_cmp_f_f64_e64, 2);
  else if (op <= <u32>Op.v_cmpx_tru_f64_e64) {
    toExec = true;
    result = wideMask(rec, op - Op.v_cmpx_f_f64_e64, 2);
  } else if (op <= <u32>Op.v_cmp_t_i32_e64) result = intMask(op - Op.v_cmp_f_i32_e64, true, a, sa, b, sb);
  else if (op == Op.v_cmp_class_f32_e64) result = classMask(rec, 32, a, sa, b, sb);
  else if (op <= <u32>Op.v_cmp_ge_i16_e64) result = halfIntMask(op - Op.v_cmp_lt_i16_e64 + 1, true, a, sa, b, sb);
  else if (op == Op.v_cmp_class_f16_e64) result = classMask(rec, 16, a, sa, b, sb);
  else if (op <= <u32>Op.v_cmpx_t_i32_e64) {
    toExec = true;
    result = intMask(op - Op.v_cmpx_f_i32_e64, true, a, sa, b, sb);
  } else if (op == Op.v_cmpx_class_f32_e64) {
    toExec = true;
    result = classMask(rec, 32, a, sa, b, sb);
  } else if (op <= <u32>Op.v_cmpx_ge_i16_e64) {
    toExec = true;
    result = halfIntMask(op - Op.v_cmpx_lt_i16_e64 + 1, true, a, sa, b, sb);
  } else if (op == Op.v_cmpx_class_f16_e64) {
    toExec = true;
    result = classMask(rec, 16, a, sa, b, sb);
  } else if (op <= <u32>Op.v_cmp_t_i64_e64) result = wideMask(rec, op - Op.v_cmp_f_i64_e64, 1);
  else if (op == Op.v_cmp_class_f64_e64) result = classMask(rec, 64, a, sa, b, sb);
  else if (op <= <u32>Op.v_cmp_ge_u16_e64) result = halfIntMask(op - Op.v_cmp_lt_u16_e64 + 1, false, a, sa, b, sb);
  else if (op <= <u32>Op.v_cmpx_t_i64_e64) {
    toExec = true;
    result = wideMask(rec, op - Op.v_cmpx_f_i64_e64, 1);
  } else if (op == Op.v_cmpx_class_f64_e64) {
    toExec = true;
    result = classMask(rec, 64, a, sa, b, sb);
  } else if (op <= <u32>Op.v_cmpx_ge_u16_e64) {
    toExec = true;
    result = halfIntMask(op - Op.v_cmpx_lt_u16_e64 + 1, false, a, sa, b, sb);
  } else if (op <= <u32>Op.v_cmp_t_u32_e64) result = intMask(op - Op.v_cmp_f_u32_e64, false, a, sa, b, sb);
  else if (op <= <u32>Op.v_cmp_o_f16_e64) result = halfFloatMask(op - Op.v_cmp_f_f16_e64, a, sa, b, sb);
  else if (op <= <u32>Op.v_cmpx_t_u32_e64) {
    toExec = true;
    result = intMask(op - Op.v_cmpx_f_u32_e64, false, a, sa, b, sb);
  } else if (op <= <u32>Op.v_cmpx_o_f16_e64) {
    toExec = true;
    result = halfFloatMask(op - Op.v_cmpx_f_f16_e64, a, sa, b, sb);
  } else if (op <= <u32>Op.v_cmp_t_u64_e64) result = wideMask(rec, op - Op.v_cmp_f_u64_e64, 0);
  else if (op <= <u32>Op.v_cmp_tru_f16_e64) result = halfFloatMask(op - Op.v_cmp_u_f16_e64 + Cond.U, a, sa, b, sb);
  else if (op <= <u32>Op.v_cmpx_t_u64_e64) {
    toExec = true;
    result = wideMask(rec, op - Op.v_cmpx_f_u64_e64, 0);
  } else if (op <= <u32>Op.v_cmpx_tru_f16_e64) {
    toExec = true;
    result = halfFloatMask(op - Op.v_cmpx_u_f16_e64 + Cond.U, a, sa, b, sb);
  } else raiseNotModelled();
  result &= exec();
  setSgpr(toExec ? SourceCode.execLo : <u32>load<u16>(rec, Rec.DST), result);
}
