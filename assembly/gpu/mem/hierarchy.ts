/**
 * Accesses of shaders through the caches: a CU's GL0 (written through, its line updated), a shader array's GL1 (read
 * only: a store drops its line), a WGP's scalar cache (sees no stores), L2. glc misses GL0 and dlc GL1, and leave the line
 * out; slc is a hint. Without coherence mode the caches keep tags only, for the counters: data is memory's.
 * Source: RDNA2 ISA, memory chapters; LLVM's memory model of gfx10.
 */

import { CounterSum } from "../../gen/uapi.ts";
import { MAX_WGPS } from "../layout.ts";
import { dataAt, dropAll, dropIndex, find, NO_LINE, setLine, victim } from "./cache.ts";
import {
  GL0_LINES,
  GL0_WAYS,
  GL1_LINES,
  GL1_WAYS,
  gl0Of,
  gl1Of,
  LINE_BYTES,
  LINE_SHIFT,
  SCALAR_LINES,
  SCALAR_WAYS,
  SHADER_ARRAYS,
  scalarOf,
} from "./cache-layout.ts";
import { count, counting, cu, holds, shaderArray, wgp } from "./cache-state.ts";
import { l2Atomic, l2Hit, l2Index, l2Line } from "./l2.ts";
import { addStore, settleLine } from "./stores.ts";

/** How far the slowest part of an instruction's access had to go. */
export const enum Reach {
  NONE = 0,
  FIRST = 1,
  GL1 = 2,
  L2 = 3,
  MEMORY = 4,
}

export let reach: u32 = Reach.NONE;
/** Lines that the instruction asked for. */
export let requests: u32 = 0;

let missFirst: bool = false;
let missGl1: bool = false;
let lastLine: u32 = NO_LINE;
let lastData: usize = 0;
let storingWave: usize = 0;
let storeNumber: u32 = 0;

/** Before an instruction's first access. `glc`, `dlc`: its bits; `wave`, `number`: whose stores these are. */
export function beginAccess(glc: bool, dlc: bool, wave: usize, number: u32): void {
  missFirst = glc;
  missGl1 = dlc;
  lastLine = NO_LINE;
  reach = Reach.NONE;
  requests = 0;
  storingWave = wave;
  storeNumber = number;
}

function reached(level: u32): void {
  if (level > reach) reach = level;
}

/** Data of `line` from GL1 or what is behind it. */
function fromGl1(line: u32): usize {
  const gl1 = gl1Of(shaderArray);
  let index = find(gl1, GL1_LINES, GL1_WAYS, line);
  const hit = index != NO_LINE && !missGl1;
  if (counting) count(hit ? CounterSum.GL1_HIT : CounterSum.GL1_MISS);
  if (hit) {
    reached(Reach.GL1);
    return dataAt(gl1, GL1_LINES, index);
  }
  const data = l2Line(line);
  reached(l2Hit ? Reach.L2 : Reach.MEMORY);
  if (missGl1) {
    if (index != NO_LINE) dropIndex(gl1, index);
    return data;
  }
  index = victim(gl1, GL1_LINES, GL1_WAYS, line);
  setLine(gl1, index, line);
  if (!holds) return 0;
  const to = dataAt(gl1, GL1_LINES, index);
  memory.copy(to, data, LINE_BYTES);
  return to;
}

function fetch(line: u32): usize {
  const gl0 = gl0Of(cu);
  let index = find(gl0, GL0_LINES, GL0_WAYS, line);
  const hit = index != NO_LINE && !missFirst;
  requests++;
  if (counting) count(hit ? CounterSum.GL0_HIT : CounterSum.GL0_MISS);
  if (hit) {
    reached(Reach.FIRST);
    return dataAt(gl0, GL0_LINES, index);
  }
  if (holds) settleLine(line);
  const data = fromGl1(line);
  if (missFirst) {
    if (index != NO_LINE) dropIndex(gl0, index);
    return data;
  }
  index = victim(gl0, GL0_LINES, GL0_WAYS, line);
  setLine(gl0, index, line);
  if (!holds) return 0;
  const to = dataAt(gl0, GL0_LINES, index);
  memory.copy(to, data, LINE_BYTES);
  return to;
}

/** Where a vector load of bytes at physical `at` (within a line) finds them. */
export function vectorRead(at: usize): usize {
  const line = <u32>(at >> LINE_SHIFT);
  if (line != lastLine) {
    lastData = fetch(line);
    lastLine = line;
  }
  return holds ? lastData + (at & (LINE_BYTES - 1)) : at;
}

function storeValue(to: usize, value: u32, bytes: u32): void {
  if (bytes == 4) store<u32>(to, value);
  else if (bytes == 2) store<u16>(to, value);
  else store<u8>(to, value);
}

/** A vector store of `bytes` (1, 2 or 4) at physical `at`, within a line. */
export function vectorWrite(at: usize, value: u32, bytes: u32): void {
  const line = <u32>(at >> LINE_SHIFT);
  if (line != lastLine) {
    lastLine = line;
    requests++;
    if (counting) count(CounterSum.STORES);
    if (!holds) l2Index(line);
  }
  if (!holds) {
    storeValue(at, value, bytes);
    return;
  }
  const gl0 = gl0Of(cu);
  const index = find(gl0, GL0_LINES, GL0_WAYS, line);
  if (index != NO_LINE) storeValue(dataAt(gl0, GL0_LINES, index) + (at & (LINE_BYTES - 1)), value, bytes);
  addStore(storingWave, storeNumber, at, value, bytes);
}

/** Where an atomic of `bytes` (4 or 8) at physical `at` works: L2, past the caches, which lose the line. */
export function atomicPlace(at: usize, bytes: u32): usize {
  const line = <u32>(at >> LINE_SHIFT);
  if (line != lastLine) {
    lastLine = line;
    requests++;
    if (counting) count(CounterSum.ATOMICS);
  }
  if (holds) settleLine(line);
  const gl0 = gl0Of(cu);
  let index = find(gl0, GL0_LINES, GL0_WAYS, line);
  if (index != NO_LINE) dropIndex(gl0, index);
  const gl1 = gl1Of(shaderArray);
  index = find(gl1, GL1_LINES, GL1_WAYS, line);
  if (index != NO_LINE) dropIndex(gl1, index);
  if (holds) {
    const place = l2Atomic(at, bytes);
    reached(l2Hit ? Reach.L2 : Reach.MEMORY);
    return place;
  }
  l2Index(line);
  reached(l2Hit ? Reach.L2 : Reach.MEMORY);
  return at;
}

/** Where a scalar load finds the dword at physical `at`. */
export function scalarRead(at: usize): usize {
  const line = <u32>(at >> LINE_SHIFT);
  if (line != lastLine) {
    lastData = fetchScalar(line);
    lastLine = line;
  }
  return holds ? lastData + (at & (LINE_BYTES - 1)) : at;
}

function fetchScalar(line: u32): usize {
  const cache = scalarOf(wgp);
  let index = find(cache, SCALAR_LINES, SCALAR_WAYS, line);
  const hit = index != NO_LINE && !missFirst;
  requests++;
  if (counting) count(hit ? CounterSum.SCALAR_HIT : CounterSum.SCALAR_MISS);
  if (hit) {
    reached(Reach.FIRST);
    return dataAt(cache, SCALAR_LINES, index);
  }
  const data = fromGl1(line);
  if (missFirst) {
    if (index != NO_LINE) dropIndex(cache, index);
    return data;
  }
  index = victim(cache, SCALAR_LINES, SCALAR_WAYS, line);
  setLine(cache, index, line);
  if (!holds) return 0;
  const to = dataAt(cache, SCALAR_LINES, index);
  memory.copy(to, data, LINE_BYTES);
  return to;
}

/** buffer_gl0_inv: the running wave's CU. */
export function invalidateGl0(): void {
  dropAll(gl0Of(cu));
}

/** buffer_gl1_inv, s_gl1_inv: its shader array. */
export function invalidateGl1(): void {
  dropAll(gl1Of(shaderArray));
}

/** s_dcache_inv: its WGP. */
export function invalidateScalar(): void {
  dropAll(scalarOf(wgp));
}

/** Every CU's vector L0. */
export function invalidateAllGl0(): void {
  for (let i: u32 = 0; i < 2 * MAX_WGPS; i++) dropAll(gl0Of(i));
}

export function invalidateAllGl1(): void {
  for (let i: u32 = 0; i < SHADER_ARRAYS; i++) dropAll(gl1Of(i));
}

export function invalidateAllScalar(): void {
  for (let i: u32 = 0; i < MAX_WGPS; i++) dropAll(scalarOf(i));
}
