/** VALU instructions with 32-bit or 16-bit operands and one VGPR result: sources, handler, result, EXEC. */
import { f16ToF32Bits, f32ToF16Bits } from "../../base/math/index.ts";
import { Op } from "../../gen/isa-ops.ts";
import { Mod, Rec, TEMP_BASE, Wave } from "../layout.ts";
import { Float4 } from "./float4.ts";
import { executeLanes, saturates } from "./lanes.ts";
import { executeRow } from "./rows.ts";
import { selectData } from "./select.ts";
import { exec, maskRow, sgpr, TEMP_RESULT, TEMP_ROWS, TEMP_SPLAT, vgprRow, wave } from "./wave.ts";

const MODE_F32_IN: u32 = 0x10;
const MODE_F32_OUT: u32 = 0x20;
const MODE_DX10_CLAMP: u32 = 0x100;

/** Row or splat of source `k`; the stride goes to `sourceStride`. */
let sourceStride: usize = 0;

/** Address of source `k`'s data: the register's row, or a vector of the scalar. */
export function sourceRow(rec: usize, k: u32): usize {
  const offset = <u32>load<u16>(rec + ((<usize>k) << 1), Rec.SRC0);
  const at = wave + <usize>offset;
  if (offset >= <u32>Wave.VGPR_FILE) {
    sourceStride = 16;
    return at;
  }
  const splat = TEMP_SPLAT + ((<usize>k) << 4);
  v128.store(splat, v128.load32_splat(at));
  sourceStride = 0;
  return splat;
}

export function lastStride(): usize {
  return sourceStride;
}

/** Copies a source into its temporary row with half selection, abs, neg and input flushing applied. */
export function prepareSource(k: u32, at: usize, stride: usize, mods: u32, flushIn: bool): usize {
  const out = TEMP_BASE + <usize>k * TEMP_ROWS;
  const half = mods & (Mod.HALF0 << k);
  const high = half && (mods >> (Mod.OP_SEL_SHIFT + k)) & 1;
  const sign: u32 = half ? 0x8000 : 0x80000000;
  const keep = i32x4.splat(mods & (Mod.ABS0 << k) ? ~sign : -1);
  const flip = i32x4.splat(mods & (Mod.NEG0 << k) ? sign : 0);
  for (let i: usize = 0; i < 128; i += 16) {
    let x = v128.load(at);
    if (half) x = high ? i32x4.shr_u(x, 16) : v128.and(x, i32x4.splat(0xffff));
    x = v128.xor(v128.and(x, keep), flip);
    if (flushIn) x = Float4.flush(x);
    v128.store(out + i, x);
    at += stride;
  }
  return out;
}

/** Clamp, omod and output flushing of a binary32 result row. */
function finishFloat(row: usize, mods: u32, mode: u32): void {
  const flushOut = (mode & MODE_F32_OUT) == 0;
  // omod works only where denormal results are flushed.
  const omod = flushOut ? (mods & Mod.OMOD) >> Mod.OMOD_SHIFT : 0;
  const factor: f32 = omod == 1 ? 2 : omod == 2 ? 4 : 0.5;
  for (let i: usize = 0; i < 128; i += 16) {
    let x = v128.load(row + i);
    if (omod) x = Float4.canonical(f32x4.mul(x, f32x4.splat(factor)));
    if (mods & Mod.CLAMP) x = Float4.clamp(x, (mode & MODE_DX10_CLAMP) != 0);
    if (flushOut) x = Float4.flush(x);
    v128.store(row + i, x);
  }
}

/** Clamp and omod of a binary16 result row. */
function finishHalf(row: usize, mods: u32, mode: u32): void {
  const flushOut = (mode & 0x80) == 0;
  const omod = flushOut ? (mods & Mod.OMOD) >> Mod.OMOD_SHIFT : 0;
  for (let i: usize = 0; i < 128; i += 4) {
    let x = reinterpret<f32>(f16ToF32Bits(load<u32>(row + i)));
    if (omod) x *= omod == 1 ? <f32>2 : omod == 2 ? <f32>4 : <f32>0.5;
    if (mods & Mod.CLAMP) x = x > 1 ? 1 : x > 0 ? x : isNaN<f32>(x) && !(mode & MODE_DX10_CLAMP) ? x : 0;
    let bits = f32ToF16Bits(reinterpret<u32>(x), (mode >> 2) & 3);
    if (flushOut && (bits & 0x7c00) == 0) bits &= 0x8000;
    store<u32>(row + i, bits);
  }
}

/** Writes `row` to `dst` in the lanes of `exec` (a half of each register for `half` 1 low, 2 high). */
function commit(dst: usize, row: usize, mask: usize, full: bool, half: u32): void {
  const low = i32x4.splat(0xffff);
  for (let i: usize = 0; i < 128; i += 16) {
    let x = v128.load(row + i);
    const old = v128.load(dst + i);
    if (half == 1) x = v128.bitselect(x, old, low);
    else if (half == 2) x = v128.bitselect(old, i32x4.shl(x, 16), low);
    v128.store(dst + i, full ? x : v128.bitselect(x, old, v128.load(mask + i)));
  }
}

export function executeValu(rec: usize): void {
  const lanes = exec();
  if (lanes == 0) return;
  const op = <u32>load<u16>(rec, Rec.OP);
  const mods = load<u32>(rec, Rec.MODS);
  const mode = load<u32>(wave, Wave.MODE);
  let a = sourceRow(rec, 0);
  let sa = sourceStride;
  let b = sourceRow(rec, 1);
  let sb = sourceStride;
  let c = sourceRow(rec, 2);
  let sc = sourceStride;
  let mask: usize = 0;
  let full = lanes == 0xffffffff;
  if (!full) mask = maskRow();
  const flushIn = (mods & Mod.FLOAT_IN) != 0 && (mode & MODE_F32_IN) == 0;
  if (mods & (Mod.DPP16 | Mod.DPP8 | Mod.SDWA)) {
    const written = selectData(rec, mods, a, sa, b, sb);
    a = TEMP_BASE;
    sa = 16;
    if (mods & Mod.SDWA) {
      b = TEMP_BASE + TEMP_ROWS;
      sb = 16;
    }
    if (written != 0) {
      mask = written;
      full = false;
    }
  }
  if (mods & Mod.PREPARE || flushIn) {
    if (mods & (Mod.NEG0 | Mod.ABS0 | Mod.HALF0) || flushIn) {
      a = prepareSource(0, a, sa, mods, flushIn);
      sa = 16;
    }
    if (mods & (Mod.NEG1 | Mod.ABS1 | Mod.HALF1) || flushIn) {
      b = prepareSource(1, b, sb, mods, flushIn && op != Op.v_ldexp_f32);
      sb = 16;
    }
    if (mods & (Mod.NEG2 | Mod.ABS2 | Mod.HALF2) || flushIn) {
      c = prepareSource(2, c, sc, mods, flushIn);
      sc = 16;
    }
  }
  const dst = vgprRow(load<u16>(rec, Rec.DST));
  const finish =
    (mods & (Mod.FINISH | Mod.HALF_OUT | Mod.SDWA)) != 0 || (mods & Mod.FLOAT_OUT && !(mode & MODE_F32_OUT));
  const direct = full && !finish;
  const row = direct ? dst : TEMP_RESULT;
  if (op == Op.v_cndmask_b32_e64) select(row, a, sa, b, sb, sgpr(load<u16>(rec, Rec.SRC3)));
  else if ((mods & Mod.CLAMP && saturates(op, mods)) || (mode & 15) != 0 || !executeRow(op, row, a, sa, b, sb, c, sc)) {
    executeLanes(op, mods, row, a, sa >> 2, b, sb >> 2, c, sc >> 2, lanes);
  }
  if (direct) return;
  if (mods & Mod.FLOAT_OUT && (mods & Mod.FINISH || !(mode & MODE_F32_OUT))) finishFloat(row, mods, mode);
  let half: u32 = 0;
  if (mods & Mod.HALF_OUT) {
    if (mods & Mod.FINISH && !saturates(op, mods)) finishHalf(row, mods, mode);
    half = (mods >> (Mod.OP_SEL_SHIFT + 3)) & 1 ? 2 : 1;
  }
  if (mods & Mod.SDWA) {
    mergeData(row, dst, load<u32>(rec, Rec.EXTRA), mods);
    half = 0;
  }
  commit(dst, row, mask, full, half);
}

/** Lane bit ? b : a. */
function select(d: usize, a: usize, sa: usize, b: usize, sb: usize, bits: u32): void {
  const bit = i32x4(1, 2, 4, 8);
  const end = d + 128;
  for (; d < end; d += 16) {
    const wanted = v128.and(i32x4.splat(bits), bit);
    v128.store(d, v128.bitselect(v128.load(b), v128.load(a), i32x4.eq(wanted, bit)));
    a += sa;
    b += sb;
    bits >>= 4;
  }
}

/** SDWA's dst_sel and dst_unused: puts each result into its bytes of the register. */
function mergeData(row: usize, dst: usize, extra: u32, mods: u32): void {
  const sel = (extra >> 8) & 7;
  if (sel == 6) {
    // A whole dword; a 16-bit result has its upper half 0.
    if (mods & Mod.HALF_OUT) for (let i: usize = 0; i < 128; i += 4) store<u32>(row + i, load<u32>(row + i) & 0xffff);
    return;
  }
  const unused = (extra >> 11) & 3;
  const width: u32 = sel < 4 ? 8 : 16;
  const shift: u32 = sel < 4 ? sel * 8 : (sel - 4) * 16;
  const mask: u32 = ((1 << width) - 1) << shift;
  for (let i: usize = 0; i < 128; i += 4) {
    const value = load<u32>(row + i) << shift;
    let rest: u32 = 0;
    if (unused == 2) rest = load<u32>(dst + i) & ~mask;
    else if (unused == 1 && (value >> (shift + width - 1)) & 1 && shift + width < 32)
      rest = (<u32>-1) << (shift + width);
    store<u32>(row + i, (value & mask) | rest);
  }
}
