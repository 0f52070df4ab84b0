/** VOP3P on a wave: instructions on both halves of a dword, and v_fma_mix. Source: RDNA2 ISA, VOP3P chapter. */
import {
  CANONICAL_NAN,
  f16ToF32Bits,
  f32ToF16Bits,
  fmaF32Mode,
  isNanBits,
  saturateF32,
} from "../../base/math/index.ts";
import { Op, OpFlag, opFlags, opSrc } from "../../gen/isa-ops.ts";
import { raiseNotModelled } from "../fault.ts";
import { Mod, Rec, Wave } from "../layout.ts";
import { executeHalf } from "./half.ts";
import { lastStride, sourceRow } from "./valu.ts";
import { exec, vgprRow, wave } from "./wave.ts";

const MODE_F32_IN: u32 = 0x10;
const MODE_F32_OUT: u32 = 0x20;
const MODE_DX10_CLAMP: u32 = 0x100;

/** What `Rec.IMM` holds for VOP3P: op_sel in [2:0], op_sel_hi in [5:3]. */
const HIGH_SHIFT: u32 = 3;

function clamp(x: i32, low: i32, high: i32): u32 {
  return <u32>(x < low ? low : x > high ? high : x) & 0xffff;
}

function signed(x: u32): i32 {
  return <i32>(<i16>x);
}

/** The saturating result of an integer instruction on halves. */
function saturated(op: u32, x: u32, y: u32, z: u32): u32 {
  switch (op) {
    case Op.v_pk_add_i16:
      return clamp(signed(x) + signed(y), -32768, 32767);
    case Op.v_pk_sub_i16:
      return clamp(signed(x) - signed(y), -32768, 32767);
    case Op.v_pk_add_u16:
      return clamp(x + y, 0, 65535);
    case Op.v_pk_sub_u16:
      return clamp(<i32>x - <i32>y, 0, 65535);
    case Op.v_pk_mad_u16:
      return <u32>min<u64>(<u64>x * <u64>y + <u64>z, 65535);
    case Op.v_pk_mad_i16:
      return clamp(signed(x) * signed(y) + signed(z), -32768, 32767);
    default:
      raiseNotModelled();
      return 0;
  }
}

/** The instruction on one half that the packed one does twice. */
function single(op: u32): u32 {
  switch (op) {
    case Op.v_pk_mad_i16:
      return Op.v_mad_i16;
    case Op.v_pk_mad_u16:
      return Op.v_mad_u16;
    case Op.v_pk_mul_lo_u16:
      return Op.v_mul_lo_u16;
    case Op.v_pk_add_i16:
      return Op.v_add_nc_i16;
    case Op.v_pk_add_u16:
      return Op.v_add_nc_u16;
    case Op.v_pk_sub_i16:
      return Op.v_sub_nc_i16;
    case Op.v_pk_sub_u16:
      return Op.v_sub_nc_u16;
    case Op.v_pk_lshlrev_b16:
      return Op.v_lshlrev_b16;
    case Op.v_pk_lshrrev_b16:
      return Op.v_lshrrev_b16;
    case Op.v_pk_ashrrev_i16:
      return Op.v_ashrrev_i16;
    case Op.v_pk_max_i16:
      return Op.v_max_i16;
    case Op.v_pk_min_i16:
      return Op.v_min_i16;
    case Op.v_pk_max_u16:
      return Op.v_max_u16;
    case Op.v_pk_min_u16:
      return Op.v_min_u16;
    case Op.v_pk_fma_f16:
      return Op.v_fma_f16;
    case Op.v_pk_add_f16:
      return Op.v_add_f16_e64;
    case Op.v_pk_mul_f16:
      return Op.v_mul_f16_e64;
    case Op.v_pk_min_f16:
      return Op.v_min_f16_e64;
    default:
      return Op.v_max_f16_e64;
  }
}

function clampHalf(bits: u32, mode: u32): u32 {
  const x = reinterpret<f32>(f16ToF32Bits(bits));
  if (isNaN<f32>(x)) return mode & MODE_DX10_CLAMP ? 0 : bits;
  return f32ToF16Bits(reinterpret<u32>(saturateF32(x)), 0);
}

let mods: u32 = 0;
let picks: u32 = 0;
let mode: u32 = 0;

/** The half of source k that goes into the low result (part 0) or the high one, negated where that is asked for. */
function half(x: u32, k: u32, part: u32, isFloat: bool): u32 {
  const high = (picks >> (k + part * HIGH_SHIFT)) & 1;
  const bits = high ? x >> 16 : x & 0xffff;
  const negated = (mods >> (k + part * 3)) & 1;
  return isFloat && negated ? bits ^ 0x8000 : bits;
}

function packedPart(op: u32, one: u32, part: u32, isFloat: bool, x: u32, y: u32, z: u32): u32 {
  const a = half(x, 0, part, isFloat);
  const b = half(y, 1, part, isFloat);
  const c = half(z, 2, part, isFloat);
  if (mods & Mod.CLAMP && !isFloat) return saturated(op, a, b, c);
  const bits = executeHalf(one, a, b, c, (mode >> 2) & 3);
  return mods & Mod.CLAMP ? clampHalf(bits, mode) : bits;
}

function flushed(x: u32): u32 {
  return (x & 0x7f800000) == 0 ? x & 0x80000000 : x;
}

/** Source k of v_fma_mix: a half where op_sel_hi says so, else a float. */
function mixSource(x: u32, k: u32): f32 {
  let bits = x;
  if ((picks >> (k + HIGH_SHIFT)) & 1) bits = f16ToF32Bits((picks >> k) & 1 ? x >> 16 : x & 0xffff);
  else if (!(mode & MODE_F32_IN)) bits = flushed(bits);
  if ((mods >> (k + 3)) & 1) bits &= 0x7fffffff;
  if ((mods >> k) & 1) bits ^= 0x80000000;
  return reinterpret<f32>(bits);
}

function mix(op: u32, x: u32, y: u32, z: u32, old: u32): u32 {
  const value = fmaF32Mode(mixSource(x, 0), mixSource(y, 1), mixSource(z, 2), mode & 3);
  let bits = reinterpret<u32>(value);
  if (isNanBits(bits)) bits = CANONICAL_NAN;
  if (mods & Mod.CLAMP && (mode & MODE_DX10_CLAMP || !isNanBits(bits)))
    bits = reinterpret<u32>(saturateF32(reinterpret<f32>(bits)));
  if (op == Op.v_fma_mix_f32) return mode & MODE_F32_OUT ? bits : flushed(bits);
  const small = f32ToF16Bits(bits, (mode >> 2) & 3);
  return op == Op.v_fma_mixlo_f16 ? (old & 0xffff0000) | small : (old & 0xffff) | (small << 16);
}

export function executePacked(rec: usize): void {
  const lanes = exec();
  const op = <u32>load<u16>(rec, Rec.OP);
  mods = load<u32>(rec, Rec.MODS);
  picks = load<u32>(rec, Rec.IMM);
  mode = load<u32>(wave, Wave.MODE);
  const a = sourceRow(rec, 0);
  const la = lastStride() >> 2;
  const b = sourceRow(rec, 1);
  const lb = lastStride() >> 2;
  const c = sourceRow(rec, 2);
  const lc = lastStride() >> 2;
  const dst = vgprRow(load<u16>(rec, Rec.DST));
  const isMix = op == Op.v_fma_mix_f32 || op == Op.v_fma_mixlo_f16 || op == Op.v_fma_mixhi_f16;
  const isFloat = (opFlags(op) & OpFlag.ReadsMode) != 0;
  const one = single(op);
  const three = opSrc(op, 2) != 0;
  for (let left = lanes; left != 0; left &= left - 1) {
    const lane = <usize>ctz<u32>(left);
    const x = load<u32>(a + lane * la);
    const y = load<u32>(b + lane * lb);
    const z = three ? load<u32>(c + lane * lc) : 0;
    const out = dst + (lane << 2);
    if (isMix) {
      store<u32>(out, mix(op, x, y, z, load<u32>(out)));
      continue;
    }
    const low = packedPart(op, one, 0, isFloat, x, y, z);
    const high = packedPart(op, one, 1, isFloat, x, y, z);
    store<u32>(out, low | (high << 16));
  }
}
