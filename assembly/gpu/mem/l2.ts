/**
 * The L2 and what lies behind it. Shaders reach memory through it alone: their stores stay here, marked by byte, until a
 * write-back. Command processor and copy engine read and write memory itself, but see dirty bytes and update lines: their
 * accesses are uncached, as those of the kernel's rings and fences are. The CPU sees memory only.
 */

import { CounterSum } from "../../gen/uapi.ts";
import { dataAt, dropIndex, find, lineAt, NO_LINE, setLine, victim } from "./cache.ts";
import { L2, L2_DIRTY, L2_LINES, L2_WAYS, LINE_BYTES, LINE_SHIFT } from "./cache-layout.ts";
import { counters, counting, holds } from "./cache-state.ts";

function dirtyOf(index: u32): usize {
  return L2_DIRTY + ((<usize>index) << 4);
}

function isDirty(index: u32): bool {
  return (load<u64>(dirtyOf(index)) | load<u64>(dirtyOf(index), 8)) != 0;
}

/** Copies the bytes whose bits are set in the 16-byte `mask`. */
function copyMasked(to: usize, from: usize, mask: usize): void {
  for (let i: usize = 0; i < 16; i++) {
    const bits = <u32>load<u8>(mask + i);
    if (bits == 0) continue;
    const at = i << 3;
    if (bits == 0xff) store<u64>(to + at, load<u64>(from + at));
    else for (let b: usize = 0; b < 8; b++) if ((bits >> <u32>b) & 1) store<u8>(to + at + b, load<u8>(from + at + b));
  }
}

/** Sets the bits of `bytes` (at most 8) bytes from `offset` on in a 16-byte mask. */
export function setBits(mask: usize, offset: u32, bytes: u32): void {
  const at = mask + (<usize>offset >> 3);
  const bits = (((<u32>1) << bytes) - 1) << (offset & 7);
  store<u8>(at, <u32>load<u8>(at) | bits);
  if (bits >> 8) store<u8>(at, <u32>load<u8>(at, 1) | (bits >> 8), 1);
}

function clearBits(mask: usize, from: u32, to: u32): void {
  for (let i = from; i < to; i++) {
    const at = mask + (<usize>i >> 3);
    store<u8>(at, <u32>load<u8>(at) & ~((<u32>1) << (i & 7)));
  }
}

function writeBackIndex(index: u32): void {
  const line = lineAt(L2, index);
  if (line == NO_LINE || !isDirty(index)) return;
  copyMasked((<usize>line) << LINE_SHIFT, dataAt(L2, L2_LINES, index), dirtyOf(index));
  store<u64>(dirtyOf(index), 0);
  store<u64>(dirtyOf(index), 0, 8);
}

/** Whether the last `l2Line` was a hit. */
export let l2Hit: bool = false;

/** Index of `line` in L2, filled from memory on a miss. */
export function l2Index(line: u32): u32 {
  let index = find(L2, L2_LINES, L2_WAYS, line);
  l2Hit = index != NO_LINE;
  if (counting) {
    const at = counters + (l2Hit ? CounterSum.L2_HIT : CounterSum.L2_MISS);
    store<u64>(at, load<u64>(at) + 1);
  }
  if (l2Hit) return index;
  index = victim(L2, L2_LINES, L2_WAYS, line);
  if (holds) {
    writeBackIndex(index);
    memory.copy(dataAt(L2, L2_LINES, index), (<usize>line) << LINE_SHIFT, LINE_BYTES);
  }
  setLine(L2, index, line);
  return index;
}

/** Data of `line` in L2, for reading. */
export function l2Line(line: u32): usize {
  return dataAt(L2, L2_LINES, l2Index(line));
}

/** Writes the bytes of `data` whose bits are set in `mask` into L2's `line`. */
export function l2Write(line: u32, data: usize, mask: usize): void {
  const index = l2Index(line);
  copyMasked(dataAt(L2, L2_LINES, index), data, mask);
  const dirty = dirtyOf(index);
  store<u64>(dirty, load<u64>(dirty) | load<u64>(mask));
  store<u64>(dirty, load<u64>(dirty, 8) | load<u64>(mask, 8), 8);
}

/** Place of [at, at+bytes) in L2 for an atomic; its bytes become dirty. */
export function l2Atomic(at: usize, bytes: u32): usize {
  const index = l2Index(<u32>(at >> LINE_SHIFT));
  const offset = <u32>at & (LINE_BYTES - 1);
  setBits(dirtyOf(index), offset, bytes);
  return dataAt(L2, L2_LINES, index) + <usize>offset;
}

export function l2WriteBack(): void {
  for (let i: u32 = 0; i < L2_LINES; i++) if (isDirty(i)) writeBackIndex(i);
}

/** Drops every line without dirty bytes: a dirty line may be another process's, and only its clean bytes can be stale. */
export function l2Invalidate(): void {
  for (let i: u32 = 0; i < L2_LINES; i++) {
    const line = lineAt(L2, i);
    if (line == NO_LINE) continue;
    if (!isDirty(i)) dropIndex(L2, i);
    else refill(i, line, 0, LINE_BYTES);
  }
}

/** Takes the bytes [from, to) of a line that are not dirty from memory. */
function refill(index: u32, line: u32, from: u32, to: u32): void {
  const data = dataAt(L2, L2_LINES, index);
  const mask = dirtyOf(index);
  for (let i = from; i < to; i++) {
    if ((<u32>load<u8>(mask + (<usize>i >> 3)) >> (i & 7)) & 1) continue;
    store<u8>(data + <usize>i, load<u8>(((<usize>line) << LINE_SHIFT) + <usize>i));
  }
}

/** Before a packet reads [at, at+bytes) of memory: what is dirty there is written back. */
export function beforeRead(at: usize, bytes: usize): void {
  if (!holds || bytes == 0) return;
  const last = <u32>((at + bytes - 1) >> LINE_SHIFT);
  for (let line = <u32>(at >> LINE_SHIFT); line <= last; line++) {
    const index = find(L2, L2_LINES, L2_WAYS, line);
    if (index != NO_LINE) writeBackIndex(index);
  }
}

/** After a packet wrote [at, at+bytes) of memory: L2's lines have the new bytes. */
export function afterWrite(at: usize, bytes: usize): void {
  if (!holds || bytes == 0) return;
  const end = at + bytes;
  const last = <u32>((end - 1) >> LINE_SHIFT);
  for (let line = <u32>(at >> LINE_SHIFT); line <= last; line++) {
    const index = find(L2, L2_LINES, L2_WAYS, line);
    if (index == NO_LINE) continue;
    const start = (<usize>line) << LINE_SHIFT;
    const from = start < at ? <u32>(at - start) : 0;
    const to = end - start < <usize>LINE_BYTES ? <u32>(end - start) : LINE_BYTES;
    clearBits(dirtyOf(index), from, to);
    refill(index, line, from, to);
  }
}
