/** A V# and one lane's plain access through it. Source: RDNA2 ISA, vector memory buffer chapter. */

import { faultKind } from "../fault.ts";
import { Access, accessBytes, atomicLane32, atomicLane64, loadLane, Move, storeLane } from "./vmem.ts";
import { sgpr } from "./wave.ts";

/** OOB_SELECT. */
export const enum Oob {
  STRUCTURED = 0,
  INDEX = 1,
  EMPTY = 2,
  RAW = 3,
}

/** The descriptor of the running instruction. */
let base: u64 = 0;
let stride: u32 = 0;
export let records: u32 = 0;
export let oob: u32 = 0;
export let swizzled: bool = false;
export let addThreadId: bool = false;
let indexStride: u32 = 0;

/** Takes the descriptor in SGPRs from `first` on; its last word. */
export function readDescriptor(first: u32): u32 {
  const word1 = sgpr(first + 1);
  const word3 = sgpr(first + 3);
  base = (<u64>sgpr(first) | ((<u64>word1) << 32)) & 0xffffffffffff;
  stride = (word1 >> 16) & 0x3fff;
  swizzled = word1 >> 31 != 0;
  records = sgpr(first + 2);
  indexStride = (word3 >> 21) & 3;
  addThreadId = ((word3 >> 23) & 1) != 0;
  oob = (word3 >> 28) & 3;
  return word3;
}

/** Is [offset, offset+bytes) of record `index` outside? soffset takes no part. A partly covered dword is outside. */
export function outside(index: u32, offset: u64, bytes: u32): bool {
  switch (oob) {
    case Oob.STRUCTURED:
      return index >= records || (stride != 0 && offset + bytes > <u64>stride);
    case Oob.INDEX:
      return index >= records;
    case Oob.EMPTY:
      return records == 0;
    default:
      return offset + <u64>stride * <u64>index + bytes > <u64>records;
  }
}

/** 48-bit sum, sign-extended. */
export function address(index: u32, offset: u32, soffset: u32): u64 {
  let at = base + <u64>soffset;
  if (swizzled) {
    const group = 3 + indexStride;
    const high = index >> group;
    const low = index & ((1 << group) - 1);
    at += ((<u64>high * <u64>stride + <u64>(offset & ~3)) << group) + <u64>(low << 2) + <u64>(offset & 3);
  } else at += <u64>stride * <u64>index + <u64>offset;
  return <u64>(<i64>(at << 16) >> 16);
}

/** One lane. Each dword of a raw access is checked alone: outside it reads 0, and stores and atomics are dropped. */
export function moveLane(
  what: u32,
  kind: u32,
  index: u32,
  wide: u64,
  offset: u32,
  soffset: u32,
  column: usize,
  returns: bool,
): void {
  if (what >= <u32>Move.ATOMIC) {
    const bytes: u32 = what == Move.ATOMIC64 ? 8 : 4;
    if (outside(index, wide, bytes)) {
      if (!returns) return;
      store<u32>(column, 0);
      if (bytes == 8) store<u32>(column, 0, 128);
      return;
    }
    const va = address(index, offset, soffset);
    const out: usize = returns ? column : 0;
    if (bytes == 8) atomicLane64(kind, va, column, out);
    else atomicLane32(kind, va, column, out);
    return;
  }
  const bytes = accessBytes(kind);
  if (!outside(index, wide, bytes) && !swizzled) {
    const va = address(index, offset, soffset);
    if (what == Move.LOAD) loadLane(kind, va, column);
    else storeLane(kind, va, column);
    return;
  }
  if (kind > <u32>Access.DWORDX4) {
    if (outside(index, wide, bytes)) {
      if (what == Move.LOAD) loadNothing(kind, column);
      return;
    }
    const va = address(index, offset, soffset);
    if (what == Move.LOAD) loadLane(kind, va, column);
    else storeLane(kind, va, column);
    return;
  }
  for (let i: u32 = 0; i < kind; i++) {
    const part = column + ((<usize>i) << 7);
    if (outside(index, wide + 4 * i, 4)) {
      if (what == Move.LOAD) store<u32>(part, 0);
      continue;
    }
    const va = address(index, offset + 4 * i, soffset);
    if (what == Move.LOAD) loadLane(Access.DWORD, va, part);
    else storeLane(Access.DWORD, va, part);
    if (faultKind != 0) return;
  }
}

/** A sub-dword load outside the range: 0 in its part of the register. */
function loadNothing(kind: u32, column: usize): void {
  const old = load<u32>(column);
  switch (kind) {
    case Access.UBYTE_D16:
    case Access.SBYTE_D16:
    case Access.SHORT_D16:
      store<u32>(column, old & 0xffff0000);
      return;
    case Access.UBYTE_D16_HI:
    case Access.SBYTE_D16_HI:
    case Access.SHORT_D16_HI:
      store<u32>(column, old & 0xffff);
      return;
    default:
      store<u32>(column, 0);
      return;
  }
}
