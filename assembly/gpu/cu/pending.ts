/**
 * Outstanding loads. A load gets the next number of its counter; its destination registers remember that number and
 * are pending while it is above the counter's "done". Waits raise "done". Any use of a pending register faults, but a
 * vector-memory load may overwrite one that an earlier vector-memory load wrote: these return in order. A load writes
 * the lanes that were active at its issue: other lanes of the register are free (the other side of a branch uses them).
 */
import { FaultKind, RegisterClass } from "../../gen/uapi.ts";
import { raiseDetail } from "../fault.ts";
import { Class, LoadKind, Mod, Rec, Wave } from "../layout.ts";
import { exec, wave } from "./wave.ts";

const VM_MAX: u32 = 63;
const LGKM_MAX: u32 = 63;

/** Registers as bits of `Rec.USES` and `Wave.HAZARDS`: `base` is 0 for VGPRs, 32 for SGPRs. */
export function usedBits(base: u32, first: u32, count: u32): u64 {
  let bits: u64 = 0;
  for (let n = first; n < first + count; n++) bits |= (<u64>1) << (base + (n & 31));
  return bits;
}

function addHazards(place: usize, bits: u64): void {
  store<u64>(wave + place, load<u64>(wave + place) | bits);
  store<u64>(wave, load<u64>(wave, Wave.HAZARDS) | bits, Wave.HAZARDS);
}

/** Where all of a counter's loads are done, only the other's registers may wait. */
function dropHazards(place: usize, other: usize): void {
  store<u64>(wave + place, 0);
  store<u64>(wave, load<u64>(wave + other), Wave.HAZARDS);
}

function fault(number: u32, cls: u32): bool {
  raiseDetail(FaultKind.PENDING_REGISTER, number, cls);
  return false;
}

/** True where the entry's number is above `done` (numbers run freely). */
function pending(entry: u32, done: u32): bool {
  return <i32>(entry - done) > 0;
}

/**
 * Checks every register that a record reads or writes; false after raising a fault. Needed where the record's uses
 * meet the wave's hazards.
 */
export function checkPending(rec: usize): bool {
  const scalarLoads = load<u32>(wave, Wave.SMEM_OUT);
  if (scalarLoads != 0 && !sgprsReady(rec, load<u32>(wave, Wave.LGKM_DONE))) return false;
  const vmDone = load<u32>(wave, Wave.VM_DONE);
  const lgkmDone = load<u32>(wave, Wave.LGKM_DONE);
  if (load<u32>(wave, Wave.VM_ISSUED) == vmDone && load<u32>(wave, Wave.LGKM_ISSUED) - lgkmDone == scalarLoads)
    return true;
  const inOrder = load<u8>(rec, Rec.LOAD) == LoadKind.VM;
  // Data of all lanes may move where lanes are crossed.
  const crossing = load<u8>(rec, Rec.CLASS) == Class.LANE || (load<u32>(rec, Rec.MODS) & (Mod.DPP16 | Mod.DPP8)) != 0;
  const lanes: u32 = crossing ? <u32>-1 : exec();
  for (let at = rec + Rec.READ_V; at < rec + Rec.READ_S; at += 2) {
    const count = load<u8>(at, 1);
    if (count == 0) break;
    if (!vgprsReady(load<u8>(at), count, vmDone, lgkmDone, lanes, false)) return false;
  }
  const written = load<u8>(rec, Rec.WRITE_V + 1);
  return !written || vgprsReady(load<u8>(rec, Rec.WRITE_V), written, vmDone, lgkmDone, lanes, inOrder);
}

function sgprsReady(rec: usize, lgkmDone: u32): bool {
  for (let at = rec + Rec.READ_S; at < rec + Rec.WRITE_V; at += 2) {
    if (!load<u8>(at, 1)) break;
    if (!sgprRangeReady(at, lgkmDone)) return false;
  }
  return sgprRangeReady(rec + Rec.WRITE_S, lgkmDone) && sgprRangeReady(rec + Rec.WRITE_S + 2, lgkmDone);
}

/** A (start, count) pair of bytes. */
function sgprRangeReady(range: usize, lgkmDone: u32): bool {
  const first = <u32>load<u8>(range);
  const end = first + load<u8>(range, 1);
  for (let n = first; n < end; n++) {
    if (pending(load<u32>(wave + ((<usize>n) << 2), Wave.PENDING_SGPR), lgkmDone)) return fault(n, RegisterClass.SGPR);
  }
  return true;
}

function vgprsReady(first: u32, count: u32, vmDone: u32, lgkmDone: u32, lanes: u32, vmMayPend: bool): bool {
  for (let n = first; n < first + count; n++) {
    const at = wave + ((<usize>n) << 2);
    if (!(load<u32>(at, Wave.PENDING_LANES) & lanes)) continue;
    if (!vmMayPend && pending(load<u32>(at, Wave.PENDING_VM), vmDone)) return fault(n, RegisterClass.VGPR);
    if (pending(load<u32>(at, Wave.PENDING_LGKM), lgkmDone)) return fault(n, RegisterClass.VGPR);
  }
  return true;
}

/** After a load was carried out: its destinations wait. */
export function markPending(rec: usize): void {
  const kind = <u32>load<u8>(rec, Rec.LOAD);
  if (kind == LoadKind.SMEM) {
    const issued = issueLgkm();
    store<u32>(wave, load<u32>(wave, Wave.SMEM_OUT) + 1, Wave.SMEM_OUT);
    const first = <u32>load<u8>(rec, Rec.WRITE_S);
    const end = first + load<u8>(rec, Rec.WRITE_S + 1);
    for (let n = first; n < end; n++) store<u32>(wave + ((<usize>n) << 2), issued, Wave.PENDING_SGPR);
    addHazards(Wave.HAZARDS_LGKM, usedBits(32, first, end - first));
    return;
  }
  const first = <u32>load<u8>(rec, Rec.WRITE_V);
  const end = first + load<u8>(rec, Rec.WRITE_V + 1);
  if (kind == LoadKind.VM || kind == LoadKind.BOTH) {
    const issued = load<u32>(wave, Wave.VM_ISSUED) + 1;
    store<u32>(wave, issued, Wave.VM_ISSUED);
    if (issued - load<u32>(wave, Wave.VM_DONE) > VM_MAX) store<u32>(wave, issued - VM_MAX, Wave.VM_DONE);
    for (let n = first; n < end; n++) markVgpr(n, issued, Wave.PENDING_VM);
    addHazards(Wave.HAZARDS_VM, usedBits(0, first, end - first));
  }
  if (kind == LoadKind.LDS || kind == LoadKind.BOTH) {
    const issued = issueLgkm();
    for (let n = first; n < end; n++) markVgpr(n, issued, Wave.PENDING_LGKM);
    addHazards(Wave.HAZARDS_LGKM, usedBits(0, first, end - first));
  }
}

/** Adds the active lanes to those that wait; lanes of loads that are done drop out. */
function markVgpr(number: u32, issued: u32, table: usize): void {
  const at = wave + ((<usize>number) << 2);
  const waits =
    pending(load<u32>(at, Wave.PENDING_VM), load<u32>(wave, Wave.VM_DONE)) ||
    pending(load<u32>(at, Wave.PENDING_LGKM), load<u32>(wave, Wave.LGKM_DONE));
  store<u32>(at, (waits ? load<u32>(at, Wave.PENDING_LANES) : 0) | exec(), Wave.PENDING_LANES);
  store<u32>(at + table, issued);
}

function issueLgkm(): u32 {
  const issued = load<u32>(wave, Wave.LGKM_ISSUED) + 1;
  store<u32>(wave, issued, Wave.LGKM_ISSUED);
  // The counter is full: hardware stalls until the oldest returned, which says nothing where scalar loads mix in.
  if (issued - load<u32>(wave, Wave.LGKM_DONE) > LGKM_MAX && load<u32>(wave, Wave.SMEM_OUT) == 0) {
    store<u32>(wave, issued - LGKM_MAX, Wave.LGKM_DONE);
  }
  return issued;
}

/** An LDS operation without result also counts: a later wait with n > 0 counts it. */
export function countLds(): void {
  issueLgkm();
}

/** s_waitcnt's immediate. */
export function waitCounters(imm: u32): void {
  waitVm((imm & 15) | ((imm >> 10) & 0x30));
  const lgkm = (imm >> 8) & 63;
  if (lgkm != 63) waitLgkm(lgkm);
}

export function waitVm(limit: u32): void {
  const issued = load<u32>(wave, Wave.VM_ISSUED);
  if (issued - load<u32>(wave, Wave.VM_DONE) > limit) store<u32>(wave, issued - limit, Wave.VM_DONE);
  if (issued == load<u32>(wave, Wave.VM_DONE)) dropHazards(Wave.HAZARDS_VM, Wave.HAZARDS_LGKM);
}

/** Scalar loads return out of order: with any outstanding only a wait for 0 tells something. */
export function waitLgkm(limit: u32): void {
  const issued = load<u32>(wave, Wave.LGKM_ISSUED);
  if (limit == 0) {
    store<u32>(wave, issued, Wave.LGKM_DONE);
    store<u32>(wave, 0, Wave.SMEM_OUT);
    dropHazards(Wave.HAZARDS_LGKM, Wave.HAZARDS_VM);
  } else if (load<u32>(wave, Wave.SMEM_OUT) == 0 && issued - load<u32>(wave, Wave.LGKM_DONE) > limit) {
    store<u32>(wave, issued - limit, Wave.LGKM_DONE);
  }
}
