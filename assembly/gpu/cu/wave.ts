/** The wave that runs now: its slot, register access, the constants in its scalar file. */
import { SourceCode } from "../../gen/isa-ops.ts";
import { TEMP_BASE, Wave } from "../layout.ts";

/** Slot address of the running wave. */
export let wave: usize = 0;

export function selectWave(slot: usize): void {
  wave = slot;
}

/** Rows of the VALU's temporaries: 4 rows of 128 bytes each for three sources and the result, then splats. */
export const TEMP_ROWS: usize = 512;
export const TEMP_RESULT: usize = TEMP_BASE + 3 * TEMP_ROWS;
export const TEMP_SPLAT: usize = TEMP_BASE + 4 * TEMP_ROWS;
export const TEMP_MASK: usize = TEMP_SPLAT + 256;

/** Writes the inline constants of a slot's scalar file. Source: RDNA2 ISA, operand table. */
export function writeConstants(slot: usize): void {
  const file = slot + Wave.SCALARS;
  for (let code: u32 = 128; code < 272; code++) store<u32>(file + ((<usize>code) << 2), 0);
  for (let i: u32 = 0; i <= 64; i++) store<u32>(file + ((<usize>(SourceCode.zero + i)) << 2), i);
  for (let i: u32 = 1; i <= 16; i++) store<i32>(file + ((<usize>(SourceCode.minusOne + i - 1)) << 2), -(<i32>i));
  const floats = file + SourceCode.half * 4;
  store<f32>(floats, 0.5);
  store<f32>(floats, -0.5, 4);
  store<f32>(floats, 1, 8);
  store<f32>(floats, -1, 12);
  store<f32>(floats, 2, 16);
  store<f32>(floats, -2, 20);
  store<f32>(floats, 4, 24);
  store<f32>(floats, -4, 28);
  store<u32>(floats, 0x3e22f983, 32);
  const halves = file + 256 * 4;
  store<u32>(halves, 0x3800);
  store<u32>(halves, 0xb800, 4);
  store<u32>(halves, 0x3c00, 8);
  store<u32>(halves, 0xbc00, 12);
  store<u32>(halves, 0x4000, 16);
  store<u32>(halves, 0xc000, 20);
  store<u32>(halves, 0x4400, 24);
  store<u32>(halves, 0xc400, 28);
  store<u32>(halves, 0x3118, 32);
}

/** binary64 pattern of float constant `code` (240-248). */
function constant64(code: u32): u64 {
  switch (code) {
    case SourceCode.half:
      return reinterpret<u64>(<f64>0.5);
    case SourceCode.minusHalf:
      return reinterpret<u64>(<f64>-0.5);
    case SourceCode.one:
      return reinterpret<u64>(<f64>1);
    case SourceCode.minusOneFloat:
      return reinterpret<u64>(<f64>-1);
    case SourceCode.two:
      return reinterpret<u64>(<f64>2);
    case SourceCode.minusTwo:
      return reinterpret<u64>(<f64>-2);
    case SourceCode.four:
      return reinterpret<u64>(<f64>4);
    case SourceCode.minusFour:
      return reinterpret<u64>(<f64>-4);
    default:
      return 0x3fc45f306dc9c882;
  }
}

/** Operand code of a scalar operand's slot offset. */
function codeOf(offset: u32): u32 {
  return (offset - Wave.SCALARS) >> 2;
}

export function exec(): u32 {
  return load<u32>(wave, Wave.EXEC);
}

export function scc(): u32 {
  return load<u32>(wave, Wave.SCC);
}

export function setScc(value: bool): void {
  store<u32>(wave, value ? 1 : 0, Wave.SCC);
}

/** Scalar register by number; null reads 0 because nothing is ever written there. */
export function sgpr(number: u32): u32 {
  return load<u32>(wave + ((<usize>number) << 2), Wave.SCALARS);
}

export function setSgpr(number: u32, value: u32): void {
  if (number != SourceCode.nullReg) store<u32>(wave + ((<usize>number) << 2), value, Wave.SCALARS);
}

/** Two consecutive scalar registers, low first. */
export function sgpr64(number: u32): u64 {
  if (number == SourceCode.nullReg) return 0;
  return load<u64>(wave + ((<usize>number) << 2), Wave.SCALARS);
}

export function setSgpr64(number: u32, value: u64): void {
  if (number != SourceCode.nullReg) store<u64>(wave + ((<usize>number) << 2), value, Wave.SCALARS);
}

/** A 64-bit scalar operand. `kind` 0: integer bits (literal zero-extended), 1: signed literal, 2: binary64 (literal is the high half). */
export function scalar64(offset: u32, kind: u32): u64 {
  const code = codeOf(offset);
  if (code < <u32>SourceCode.zero) return sgpr64(code);
  const low = load<u32>(wave + offset);
  if (code == SourceCode.literal) return kind == 2 ? (<u64>low) << 32 : kind == 1 ? <u64>(<i64>(<i32>low)) : <u64>low;
  if (code >= <u32>SourceCode.half && code <= <u32>SourceCode.inverseTwoPi) return constant64(code);
  return <u64>(<i64>(<i32>low));
}

/** Address of VGPR `number`'s row. */
export function vgprRow(number: u32): usize {
  return wave + ((<usize>number) << 7) + Wave.VGPR_FILE;
}

/** Address of the running wave's lane mask row for EXEC. */
export function maskRow(): usize {
  const now = exec();
  const row = wave + Wave.MASK_ROW;
  if (now != load<u32>(wave, Wave.MASKED_EXEC)) {
    expandMask(row, now);
    store<u32>(wave, now, Wave.MASKED_EXEC);
  }
  return row;
}

/** Lane masks (all ones or zeros) of the bits of `mask`. */
export function expandMask(row: usize, mask: u32): void {
  const bit = i32x4(1, 2, 4, 8);
  for (let i: usize = 0; i < 8; i++) {
    const wanted = i32x4.splat(<i32>(mask >> ((<u32>i) << 2)));
    v128.store(row + (i << 4), i32x4.eq(v128.and(wanted, bit), bit));
  }
}
