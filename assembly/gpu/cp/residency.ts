/**
 * Which workgroups of a queue are resident, and what they hold of the WGPs: wave places and VGPRs of a SIMD, LDS of a
 * CU's half. A workgroup stays in one WGP, or in one of its two CUs where RSRC1.WGP_MODE is clear. Limits: 4 SIMDs of
 * 16 waves and 1024 VGPRs, 128 KiB LDS a WGP. Source: RDNA2 ISA, workgroup and register chapters.
 */
import { Control, WaveStatus } from "../../gen/uapi.ts";
import { groupTimed, meetAtBarrier } from "../cu/timing.ts";
import {
  Context,
  GROUP_BASE,
  Group,
  LDS_BASE,
  MAX_SLOTS,
  MAX_WGPS,
  QUEUE_LDS_BYTES,
  QUEUE_SLOT_BYTES,
  Wave,
  WGP_BASE,
  Wgp,
} from "../layout.ts";
import { counting } from "../mem/cache-state.ts";
import { contextOf, controlWord, slotOf } from "./control.ts";

const SIMDS: u32 = 4;
const WAVES_PER_SIMD: u32 = 16;
const VGPRS_PER_SIMD: u32 = 1024;
const VGPR_STEP: u32 = 16;
const CU_LDS_BYTES: u32 = 65536;
/** navi21. */
const DEFAULT_WGPS: u32 = 40;

/** WGPs of this machine. */
export function wgpCount(): u32 {
  const wanted = controlWord(Control.WGPS);
  return wanted == 0 ? DEFAULT_WGPS : min<u32>(wanted, MAX_WGPS);
}

export function groupAt(queue: u32, place: u32): usize {
  return GROUP_BASE + <usize>((queue * MAX_SLOTS + place) * Group.BYTES);
}

function wgpAt(wgp: u32): usize {
  return WGP_BASE + <usize>(wgp * Wgp.BYTES);
}

/**
 * SIMD of wave `i` of a workgroup over `simds` SIMDs from `first` on, whose first wave takes the one of rank `turn`: in
 * WGP mode neighbouring waves go to different CUs.
 */
function simdOf(first: u32, simds: u32, turn: u32, i: u32): u32 {
  const rank = (turn + i) & (simds - 1);
  return simds == SIMDS ? first + (((rank & 1) << 1) | (rank >> 1)) : first + rank;
}

function allocatedVgprs(context: usize): u32 {
  return (load<u32>(context, Context.VGPRS) + VGPR_STEP - 1) & ~(VGPR_STEP - 1);
}

/** Does the dispatch's workgroup fit on an empty WGP? */
export function groupFits(context: usize): bool {
  const wide = load<u32>(context, Context.WGP_MODE) != 0;
  const perSimd = (load<u32>(context, Context.WAVES) + (wide ? 3 : 1)) / (wide ? 4 : 2);
  return (
    perSimd <= WAVES_PER_SIMD &&
    perSimd * allocatedVgprs(context) <= VGPRS_PER_SIMD &&
    load<u32>(context, Context.LDS_ALLOCATED) <= (wide ? 2 * CU_LDS_BYTES : CU_LDS_BYTES)
  );
}

/**
 * Lays the queue's slots out for the dispatch at hand: as many places as its register file's and LDS's share allow.
 * The size of a slot follows from the VGPRs; where it changes, the slots start afresh. `mostWaves`: what scratch has room for.
 */
export function openPlaces(queue: u32, mostWaves: u32): void {
  const context = contextOf(queue);
  const vgprs = load<u32>(context, Context.VGPRS);
  const rows: u32 = vgprs <= 32 ? 32 : vgprs <= 64 ? 64 : vgprs <= 128 ? 128 : 256;
  const bytes = Wave.VGPR_FILE + (rows << 7);
  const slots = min<u32>(QUEUE_SLOT_BYTES / bytes, MAX_SLOTS);
  if (load<u32>(context, Context.SLOT_BYTES) != bytes) {
    store<u32>(context, bytes, Context.SLOT_BYTES);
    for (let i: u32 = 0; i < slots; i++) memory.fill(slotOf(queue, i), 0, Wave.VGPR_FILE);
  }
  const lds = load<u32>(context, Context.LDS_ALLOCATED);
  let places = min<u32>(slots, mostWaves) / load<u32>(context, Context.WAVES);
  if (lds != 0) places = min<u32>(places, QUEUE_LDS_BYTES / lds);
  store<u32>(context, places, Context.PLACES);
  store<u32>(context, 0, Context.RESIDENT);
  store<u32>(context, 0, Context.CURRENT);
  memory.fill(groupAt(queue, 0), 0, <usize>(places * Group.BYTES));
}

/** LDS of the workgroup at a place. */
export function ldsAt(queue: u32, context: usize, place: u32): usize {
  return LDS_BASE + <usize>(queue * QUEUE_LDS_BYTES + place * load<u32>(context, Context.LDS_ALLOCATED));
}

function hasRoom(context: usize, wgp: usize, first: u32, simds: u32, turn: u32): bool {
  const waves = load<u32>(context, Context.WAVES);
  const vgprs = allocatedVgprs(context);
  const lds = load<u32>(context, Context.LDS_ALLOCATED);
  for (let i: u32 = 0; i < simds; i++) {
    const count = waves > i ? (waves - i + simds - 1) / simds : 0;
    const at = wgp + ((<usize>simdOf(first, simds, turn, i)) << 2);
    if (load<u32>(at, Wgp.WAVES) + count > WAVES_PER_SIMD) return false;
    if (load<u32>(at, Wgp.VGPRS) + count * vgprs > VGPRS_PER_SIMD) return false;
  }
  const low = load<u32>(wgp, Wgp.LDS);
  const high = load<u32>(wgp, Wgp.LDS + 4);
  if (simds == SIMDS) return low + high + lds <= 2 * CU_LDS_BYTES;
  return (first == 0 ? low : high) + lds <= CU_LDS_BYTES;
}

/** Adds the workgroup's needs to its WGP (`sign` 1), or takes them off (-1). */
function account(context: usize, group: usize, sign: i32): void {
  const wgp = wgpAt(load<u32>(group, Group.WGP));
  const first = load<u32>(group, Group.SIMD) & 3;
  const simds = load<u32>(group, Group.SIMDS);
  const turn = load<u32>(group, Group.FIRST);
  const waves = load<u32>(context, Context.WAVES);
  const vgprs = <i32>allocatedVgprs(context);
  for (let i: u32 = 0; i < waves; i++) {
    const at = wgp + ((<usize>simdOf(first, simds, turn, i)) << 2);
    store<i32>(at, load<i32>(at, Wgp.WAVES) + sign, Wgp.WAVES);
    store<i32>(at, load<i32>(at, Wgp.VGPRS) + sign * vgprs, Wgp.VGPRS);
  }
  // A WGP-wide block is halved so that both sums stay within the WGP's.
  const lds = load<i32>(context, Context.LDS_ALLOCATED);
  const low = simds == SIMDS ? lds >> 1 : first == 0 ? lds : 0;
  store<i32>(wgp, load<i32>(wgp, Wgp.LDS) + sign * low, Wgp.LDS);
  store<i32>(wgp, load<i32>(wgp, Wgp.LDS + 4) + sign * (lds - low), Wgp.LDS + 4);
}

/** A free place of the queue on a WGP with room, taken; -1 where there is none now. */
export function takePlace(queue: u32, context: usize): i32 {
  const places = load<u32>(context, Context.PLACES);
  if (load<u32>(context, Context.RESIDENT) == places) return -1;
  let place: u32 = 0;
  while (load<u32>(groupAt(queue, place), Group.LIVE) != 0) place++;
  const group = groupAt(queue, place);
  const count = wgpCount();
  const wide = load<u32>(context, Context.WGP_MODE) != 0;
  const next = load<u32>(context, Context.NEXT_WGP);
  for (let k: u32 = 0; k < count; k++) {
    const wgp = (next + k) % count;
    const found = roomOn(context, wgpAt(wgp), wide);
    if (found < 0) continue;
    store<u32>(group, load<u32>(context, Context.WAVES), Group.LIVE);
    store<u32>(group, 0, Group.WAITING);
    store<u32>(group, wgp, Group.WGP);
    store<u32>(group, wgp * SIMDS + (<u32>found & 2), Group.SIMD);
    store<u32>(group, wide ? 4 : 2, Group.SIMDS);
    store<u32>(group, <u32>found >> 2, Group.FIRST);
    account(context, group, 1);
    store<u32>(context, wgp + 1, Context.NEXT_WGP);
    store<u32>(context, load<u32>(context, Context.RESIDENT) + 1, Context.RESIDENT);
    return place;
  }
  return -1;
}

/** Where on a WGP the workgroup fits: its first SIMD (0 or 2) | rank of its first wave << 2, the emptiest SIMD first; or -1. */
function roomOn(context: usize, wgp: usize, wide: bool): i32 {
  const simds: u32 = wide ? 4 : 2;
  let best: i32 = -1;
  let least: u32 = WAVES_PER_SIMD;
  for (let first: u32 = 0; first < SIMDS; first += simds) {
    for (let turn: u32 = 0; turn < simds; turn++) {
      if (!hasRoom(context, wgp, first, simds, turn)) continue;
      const waves = load<u32>(wgp + ((<usize>simdOf(first, simds, turn, 0)) << 2), Wgp.WAVES);
      if (waves >= least) continue;
      least = waves;
      best = first | (turn << 2);
    }
  }
  return best;
}

/** SIMD of wave `i` of the workgroup at a place. */
export function simdAt(queue: u32, place: u32, i: u32): u32 {
  const group = groupAt(queue, place);
  return simdOf(load<u32>(group, Group.SIMD), load<u32>(group, Group.SIMDS), load<u32>(group, Group.FIRST), i);
}

function release(queue: u32, context: usize, place: u32): void {
  const group = groupAt(queue, place);
  account(context, group, -1);
  store<u32>(group, 0, Group.LIVE);
  store<u32>(context, load<u32>(context, Context.RESIDENT) - 1, Context.RESIDENT);
}

/** Forgets the queue's resident workgroups: a reset. */
export function releaseAll(queue: u32): void {
  const context = contextOf(queue);
  if (load<u32>(context, Context.RESIDENT) == 0) return;
  const places = load<u32>(context, Context.PLACES);
  for (let place: u32 = 0; place < places; place++) {
    if (load<u32>(groupAt(queue, place), Group.LIVE) != 0) release(queue, context, place);
  }
}

/** A wave of the workgroup at `place` has stopped with `status`: opens the barrier that all wait at, ends the workgroup. */
export function waveStopped(queue: u32, context: usize, place: u32, status: u32): void {
  const group = groupAt(queue, place);
  let live = load<u32>(group, Group.LIVE);
  let waiting = load<u32>(group, Group.WAITING);
  if (status == WaveStatus.ENDED) live--;
  else waiting++;
  const waves = load<u32>(context, Context.WAVES);
  const slots = slotOf(queue, place * waves);
  const bytes = load<u32>(context, Context.SLOT_BYTES);
  if (live == 0) {
    if (counting) groupTimed(queue, context, slots, bytes, waves, wgpCount());
    release(queue, context, place);
    return;
  }
  if (waiting == live) {
    if (counting) meetAtBarrier(context, slots, bytes, waves);
    for (let i: u32 = 0; i < waves; i++) {
      const slot = slots + <usize>(i * bytes);
      if (load<u32>(slot, Wave.STATUS) == WaveStatus.BARRIER) store<u32>(slot, WaveStatus.RUNNING, Wave.STATUS);
    }
    waiting = 0;
  }
  store<u32>(group, live, Group.LIVE);
  store<u32>(group, waiting, Group.WAITING);
}
