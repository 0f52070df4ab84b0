/**
 * Coherence mode: stores on their way from a CU to L2, a line each. They arrive in any order, drawn by the seed; a wait
 * for vscnt, an atomic or a miss of their own CU on the line, and the end of the pipe make them arrive first.
 */
import { dropIndex, find, NO_LINE } from "./cache.ts";
import { GL1_LINES, GL1_WAYS, gl1Of, LINE_BYTES, LINE_SHIFT, STORES } from "./cache-layout.ts";
import { cu, runningQueue, shaderArray } from "./cache-state.ts";
import { l2Write, setBits } from "./l2.ts";

const POOL: u32 = 64;

const enum Entry {
  LINE = 0,
  CU = 4,
  /** Slot address of the wave. */
  WAVE = 8,
  /** Number of its oldest store instruction in this entry. */
  NUMBER = 12,
  QUEUE = 16,
  ARRAY = 20,
  MASK = 32,
  DATA = 48,
  BYTES = 192,
}

function entryAt(i: u32): usize {
  return STORES + 16 + <usize>(i * Entry.BYTES);
}

export function storesUnderWay(): u32 {
  return load<u32>(STORES);
}

/** Entry `i` arrives at L2; the last entry takes its place. GL1 drops the line on the way. */
function arrive(i: u32): void {
  const entry = entryAt(i);
  const line = load<u32>(entry, Entry.LINE);
  l2Write(line, entry + Entry.DATA, entry + Entry.MASK);
  const gl1 = gl1Of(load<u32>(entry, Entry.ARRAY));
  const index = find(gl1, GL1_LINES, GL1_WAYS, line);
  if (index != NO_LINE) dropIndex(gl1, index);
  const last = load<u32>(STORES) - 1;
  if (i != last) memory.copy(entry, entryAt(last), Entry.BYTES);
  store<u32>(STORES, last);
}

/** One store drawn by `random` arrives. */
export function settleOne(random: u32): void {
  const live = load<u32>(STORES);
  if (live != 0) arrive(random % live);
}

/** Adds a store of `bytes` (at most 4, within a line) at physical `at`, of the store instruction `number` of `wave`. */
export function addStore(wave: usize, number: u32, at: usize, value: u32, bytes: u32): void {
  const line = <u32>(at >> LINE_SHIFT);
  let live = load<u32>(STORES);
  let entry: usize = 0;
  // The newest entries are the likely ones.
  for (let i = live; i > 0 && entry == 0; i--) {
    const other = entryAt(i - 1);
    if (load<u32>(other, Entry.LINE) == line && load<u32>(other, Entry.WAVE) == <u32>wave) entry = other;
  }
  if (entry == 0) {
    if (live == POOL) {
      arrive(0);
      live--;
    }
    entry = entryAt(live);
    store<u32>(STORES, live + 1);
    store<u32>(entry, line, Entry.LINE);
    store<u32>(entry, cu, Entry.CU);
    store<u32>(entry, <u32>wave, Entry.WAVE);
    store<u32>(entry, number, Entry.NUMBER);
    store<u32>(entry, runningQueue, Entry.QUEUE);
    store<u32>(entry, shaderArray, Entry.ARRAY);
    store<u64>(entry, 0, Entry.MASK);
    store<u64>(entry, 0, Entry.MASK + 8);
  }
  const offset = <u32>at & (LINE_BYTES - 1);
  const to = entry + Entry.DATA + <usize>offset;
  if (bytes == 4) store<u32>(to, value);
  else if (bytes == 2) store<u16>(to, value);
  else store<u8>(to, value);
  setBits(entry + Entry.MASK, offset, bytes);
}

/** Stores of `wave` up to instruction `number` arrive: a wait for vscnt. */
export function settleWave(wave: usize, number: u32): void {
  for (let i: u32 = 0; i < load<u32>(STORES); ) {
    const entry = entryAt(i);
    if (load<u32>(entry, Entry.WAVE) == <u32>wave && <i32>(load<u32>(entry, Entry.NUMBER) - number) <= 0) arrive(i);
    else i++;
  }
}

/** Stores of the running wave's CU to `line` arrive: a CU's accesses to one address stay in order. */
export function settleLine(line: u32): void {
  for (let i: u32 = 0; i < load<u32>(STORES); ) {
    const entry = entryAt(i);
    if (load<u32>(entry, Entry.LINE) == line && load<u32>(entry, Entry.CU) == cu) arrive(i);
    else i++;
  }
}

/** A queue's stores arrive: its pipe is empty. */
export function settleQueue(queue: u32): void {
  for (let i: u32 = 0; i < load<u32>(STORES); ) {
    if (load<u32>(entryAt(i), Entry.QUEUE) == queue) arrive(i);
    else i++;
  }
}
