/** Compute dispatches: checks, and the turns of the resident waves. Source: RDNA2 register reference. */
import {
  BadDispatch,
  Control,
  CounterSum,
  FaultKind,
  PhysicalMap,
  pm4DispatchDirectComputeShaderEn,
  pm4DispatchDirectCsW32En,
  pm4DispatchDirectForceStartAt000,
  pm4DispatchDirectPartialTgEn,
  pm4DispatchDirectUseThreadDimensions,
  Queue,
  regComputeNumThreadXNumThreadFull,
  regComputePgmRsrc1Fp16Ovfl,
  regComputePgmRsrc1Priv,
  regComputePgmRsrc1Vgprs,
  regComputePgmRsrc1WgpMode,
  regComputePgmRsrc2LdsSize,
  regComputePgmRsrc2ScratchEn,
  regComputePgmRsrc2TgidXEn,
  regComputePgmRsrc2TgidYEn,
  regComputePgmRsrc2TgidZEn,
  regComputePgmRsrc2TgSizeEn,
  regComputePgmRsrc2TidigCompCnt,
  regComputePgmRsrc2UserSgpr,
  regComputePgmRsrc3SharedVgprCnt,
  regComputeTmpringSizeWaves,
  ShReg,
  WaveStatus,
} from "../../gen/uapi.ts";
import { dropCode } from "../cu/code-cache.ts";
import { rememberOps, setVgprLimit } from "../cu/decode.ts";
import { useLds } from "../cu/lds.ts";
import { runWave } from "../cu/run.ts";
import { closeModel, openModel, runCounted } from "../cu/timing.ts";
import { selectWave } from "../cu/wave.ts";
import { faultKind, raiseDetail } from "../fault.ts";
import { Context, Group, LDS_BYTES, MAX_SLOTS, Wave } from "../layout.ts";
import { cached, counting, holds, runOn } from "../mem/cache-state.ts";
import { settleOne, storesUnderWay } from "../mem/stores.ts";
import { addToQueueCounter, contextOf, controlWord, queueWord, setQueueWord, slotOf } from "./control.ts";
import { groupsLeft, launchGroup } from "./launch.ts";
import { haltQueue } from "./record.ts";
import { register } from "./registers.ts";
import { groupAt, groupFits, ldsAt, openPlaces, waveStopped, wgpCount } from "./residency.ts";

const SLICE: u32 = 4096;
const SEEDED_SLICE_MASK: u32 = 127;
/** Instructions of a workgroup's turn. */
const QUANTUM: i32 = 1 << 18;
const LDS_STEP: u32 = 1024;
const NONE: u32 = 0xffffffff;
const USER_SGPRS: u32 = 16;

/** Threads of a group along a dimension; a register of 0 counts as 1. */
function threads(context: usize, offset: u32): u32 {
  return regComputeNumThreadXNumThreadFull(register(context, offset));
}

function refuse(rule: u32): void {
  raiseDetail(FaultKind.BAD_DISPATCH, rule, 0);
}

/** SGPRs that the launch fills. */
function launchSgprs(rsrc2: u32): u32 {
  return (
    regComputePgmRsrc2UserSgpr(rsrc2) +
    regComputePgmRsrc2TgidXEn(rsrc2) +
    regComputePgmRsrc2TgidYEn(rsrc2) +
    regComputePgmRsrc2TgidZEn(rsrc2) +
    regComputePgmRsrc2TgSizeEn(rsrc2) +
    regComputePgmRsrc2ScratchEn(rsrc2)
  );
}

/** Checks the registers and starts a dispatch up to group (x, y, z); raises BAD_DISPATCH where it can't. */
export function startDispatch(queue: u32, x: u32, y: u32, z: u32, initiator: u32): void {
  const context = contextOf(queue);
  const rsrc1 = register(context, ShReg.COMPUTE_PGM_RSRC1);
  const rsrc2 = register(context, ShReg.COMPUTE_PGM_RSRC2);
  const tx = threads(context, ShReg.COMPUTE_NUM_THREAD_X);
  const ty = threads(context, ShReg.COMPUTE_NUM_THREAD_Y);
  const tz = threads(context, ShReg.COMPUTE_NUM_THREAD_Z);
  const total = <u64>tx * <u64>ty * <u64>tz;
  if (!pm4DispatchDirectComputeShaderEn(initiator) || !pm4DispatchDirectCsW32En(initiator))
    refuse(BadDispatch.INITIATOR);
  if (total == 0 || total > 1024) refuse(BadDispatch.THREADS);
  if (regComputePgmRsrc2LdsSize(rsrc2) * 512 > LDS_BYTES) refuse(BadDispatch.LDS);
  const users = regComputePgmRsrc2UserSgpr(rsrc2);
  if (users > USER_SGPRS || launchSgprs(rsrc2) > 106) refuse(BadDispatch.SGPRS);
  if (
    pm4DispatchDirectPartialTgEn(initiator) ||
    pm4DispatchDirectUseThreadDimensions(initiator) ||
    regComputePgmRsrc1Priv(rsrc1) ||
    regComputePgmRsrc1Fp16Ovfl(rsrc1) ||
    regComputePgmRsrc2TidigCompCnt(rsrc2) > 2 ||
    regComputePgmRsrc3SharedVgprCnt(register(context, ShReg.COMPUTE_PGM_RSRC3))
  ) {
    refuse(BadDispatch.NOT_MODELLED);
  }
  if (faultKind != 0) return;
  const waves = (<u32>total + 31) >> 5;
  const tmpring = register(context, ShReg.COMPUTE_TMPRING_SIZE);
  if (regComputePgmRsrc2ScratchEn(rsrc2) && regComputeTmpringSizeWaves(tmpring) < waves) {
    refuse(BadDispatch.NOT_MODELLED);
    return;
  }
  const atZero = pm4DispatchDirectForceStartAt000(initiator) != 0;
  const sx: u32 = atZero ? 0 : register(context, ShReg.COMPUTE_START_X);
  const sy: u32 = atZero ? 0 : register(context, ShReg.COMPUTE_START_Y);
  const sz: u32 = atZero ? 0 : register(context, ShReg.COMPUTE_START_Z);
  store<u32>(context, x, Context.GROUPS_X);
  store<u32>(context, y, Context.GROUPS_Y);
  store<u32>(context, z, Context.GROUPS_Z);
  store<u32>(context, sx, Context.START_X);
  store<u32>(context, sy, Context.START_Y);
  store<u32>(context, sz, Context.START_Z);
  store<u32>(context, sx, Context.NEXT_X);
  store<u32>(context, sy, Context.NEXT_Y);
  store<u32>(context, sz, Context.NEXT_Z);
  store<u32>(context, <u32>waves, Context.WAVES);
  store<u32>(context, tx, Context.THREADS_X);
  store<u32>(context, ty, Context.THREADS_Y);
  store<u32>(context, tz, Context.THREADS_Z);
  const lds = regComputePgmRsrc2LdsSize(rsrc2) * 512;
  store<u32>(context, lds, Context.LDS_LIMIT);
  store<u32>(context, (lds + LDS_STEP - 1) & ~(LDS_STEP - 1), Context.LDS_ALLOCATED);
  store<u32>(context, regComputePgmRsrc1WgpMode(rsrc1), Context.WGP_MODE);
  const vgprs = (regComputePgmRsrc1Vgprs(rsrc1) + 1) * 8;
  store<u32>(context, min<u32>(vgprs, 256), Context.VGPRS);
  if (!groupFits(context)) {
    refuse(BadDispatch.OCCUPANCY);
    return;
  }
  openPlaces(queue, regComputePgmRsrc2ScratchEn(rsrc2) ? regComputeTmpringSizeWaves(tmpring) : MAX_SLOTS);
  store<u32>(context, 0, Context.TURN);
  if (controlWord(Control.SEED)) store<u32>(context, random(context), Context.NEXT_WGP);
  store<i32>(context, QUANTUM, Context.QUANTUM);
  const program =
    ((<u64>register(context, ShReg.COMPUTE_PGM_LO)) << 8) | ((<u64>register(context, ShReg.COMPUTE_PGM_HI)) << 40);
  store<u64>(context, <u64>(<i64>(program << 16) >> 16), Context.PROGRAM);
  memory.fill(context + Context.COUNTS, 0, 64);
  memory.fill(context + Context.PERF, 0, CounterSum.CYCLES + 8);
  store<u32>(context, 0, Context.WAVES_LAUNCHED);
  const empty = sx >= x || sy >= y || sz >= z;
  store<u32>(context, empty ? 0 : 1, Context.DISPATCHING);
  if (counting) openModel(queue, context);
  if (empty) endDispatch(queue, context);
  dropCode(context);
}

/** Adds what the dispatch counted to the queue's sums, where the kernel reads them. */
function endDispatch(queue: u32, context: usize): void {
  store<u32>(context, 0, Context.DISPATCHING);
  setQueueWord(queue, Queue.DISPATCHES, queueWord(queue, Queue.DISPATCHES) + 1);
  if (counting) closeModel(queue, context);
  const groups = load<u32>(context, Context.WAVES_LAUNCHED) / load<u32>(context, Context.WAVES);
  const x = load<u32>(context, Context.THREADS_X);
  const y = load<u32>(context, Context.THREADS_Y);
  const z = load<u32>(context, Context.THREADS_Z);
  const invocations = <u64>groups * <u64>(x * y * z);
  store<u64>(context, load<u64>(context, Context.INVOCATIONS) + invocations, Context.INVOCATIONS);
  const perf = context + Context.PERF;
  memory.copy(perf, context + Context.COUNTS, 6 << 3);
  store<u64>(perf, load<u32>(context, Context.WAVES_LAUNCHED), CounterSum.WAVES);
  store<u64>(perf, 1, CounterSum.DISPATCHES);
  const sums = <usize>PhysicalMap.CONTROL + <usize>(Control.COUNTER_TABLE + queue * Control.COUNTER_BYTES);
  for (let at: usize = 0; at <= <usize>CounterSum.CYCLES; at += 8) {
    atomic.store<u64>(sums + at, atomic.load<u64>(sums + at) + load<u64>(perf + at));
  }
}

/** Pseudo-random number of the queue's interleaving (xorshift). */
function random(context: usize): u32 {
  let x = load<u32>(context, Context.RANDOM);
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  store<u32>(context, x, Context.RANDOM);
  return x;
}

/** The slot of a wave of the workgroup at `place` that can run, wave `turn` first; NONE where all have ended. */
function runnable(queue: u32, context: usize, place: u32, turn: u32): u32 {
  const waves = load<u32>(context, Context.WAVES);
  let i = turn % waves;
  for (let k: u32 = 0; k < waves; k++) {
    const slot = place * waves + i;
    if (load<u32>(slotOf(queue, slot), Wave.STATUS) == WaveStatus.RUNNING) return slot;
    if (++i == waves) i = 0;
  }
  return NONE;
}

/**
 * Where no seed mixes them: the slot to run next. One workgroup runs until it ends, or until its turn is over: then the
 * next one gets a turn, a new one where there is room, so that workgroups that wait for each other get on.
 */
function inTurn(queue: u32, context: usize): u32 {
  const places = load<u32>(context, Context.PLACES);
  let place = load<u32>(context, Context.CURRENT);
  const isOver = load<i32>(context, Context.QUANTUM) <= 0;
  if (load<u32>(context, Context.RESIDENT) == 0 || isOver) {
    if (groupsLeft(context)) launchGroup(queue, context);
    if (load<u32>(context, Context.RESIDENT) == 0) return NONE;
    store<i32>(context, QUANTUM, Context.QUANTUM);
    if (isOver) place++;
  }
  for (let k: u32 = 0; k < places; k++, place++) {
    if (place >= places) place = 0;
    if (load<u32>(groupAt(queue, place), Group.LIVE) == 0) continue;
    store<u32>(context, place, Context.CURRENT);
    return runnable(queue, context, place, load<u32>(context, Context.TURN));
  }
  return NONE;
}

/** Fills the free places; then any wave of any resident workgroup. */
function mixed(queue: u32, context: usize): u32 {
  while (groupsLeft(context) && launchGroup(queue, context)) {}
  const resident = load<u32>(context, Context.RESIDENT);
  if (resident == 0) return NONE;
  const drawn = random(context);
  let skip = (drawn & 0xffff) % resident;
  const places = load<u32>(context, Context.PLACES);
  for (let place: u32 = 0; place < places; place++) {
    if (load<u32>(groupAt(queue, place), Group.LIVE) == 0) continue;
    if (skip == 0) return runnable(queue, context, place, drawn >> 16);
    skip--;
  }
  return NONE;
}

/** Runs the queue's dispatch for about `budget` instructions; returns those used. Clears DISPATCHING at its end. */
export function runDispatch(queue: u32, budget: u32): u32 {
  const context = contextOf(queue);
  const seeded = controlWord(Control.SEED) != 0;
  const wgps = wgpCount();
  const waves = load<u32>(context, Context.WAVES);
  setVgprLimit(load<u32>(context, Context.VGPRS));
  rememberOps(queue);
  let used: u32 = 0;
  let instructions: u64 = 0;
  while (used < budget) {
    const index = seeded ? mixed(queue, context) : inTurn(queue, context);
    if (index == NONE) {
      if (load<u32>(context, Context.RESIDENT) == 0 && !groupsLeft(context)) {
        endDispatch(queue, context);
      } else used = budget;
      // Otherwise other queues' workgroups fill the machine: their turn.
      break;
    }
    const place = index / waves;
    const slot = slotOf(queue, index);
    selectWave(slot);
    useLds(ldsAt(queue, context, place), load<u32>(context, Context.LDS_LIMIT));
    if (cached) {
      runOn(queue, load<u32>(slot, Wave.SIMD), wgps, context + Context.PERF);
      // On average every fourth slice a store arrives.
      if (holds && storesUnderWay() != 0) {
        const drawn = random(context);
        if ((drawn & 3) == 0) settleOne(drawn >> 2);
      }
    }
    // A slice is never cut at the budget's end: the interleaving must not depend on the host's pace.
    const slice = seeded ? 1 + (random(context) & SEEDED_SLICE_MASK) : SLICE;
    const ran = counting ? runCounted(context, queue, index, slice) : runWave(context, queue, slice);
    instructions += ran;
    used += ran + 1;
    if (faultKind != 0) {
      haltQueue(queue, index);
      break;
    }
    const status = load<u32>(slot, Wave.STATUS);
    if (status != WaveStatus.RUNNING) waveStopped(queue, context, place, status);
    if (seeded) continue;
    store<u32>(context, index - place * waves + 1, Context.TURN);
    store<i32>(context, load<i32>(context, Context.QUANTUM) - <i32>ran, Context.QUANTUM);
  }
  addToQueueCounter(queue, Queue.INSTRUCTIONS_LO, instructions);
  return used;
}
