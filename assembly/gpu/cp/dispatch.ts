/** Compute dispatches: launch state, workgroups one after another, their waves in turns. Source: RDNA2 register reference; launch order as in docs/abi.md. */
import {
  BadDispatch,
  Control,
  FaultKind,
  pm4DispatchDirectComputeShaderEn,
  pm4DispatchDirectCsW32En,
  pm4DispatchDirectForceStartAt000,
  pm4DispatchDirectPartialTgEn,
  pm4DispatchDirectUseThreadDimensions,
  Queue,
  RegisterSpace,
  regComputeNumThreadXNumThreadFull,
  regComputePgmRsrc1Dx10Clamp,
  regComputePgmRsrc1FloatMode,
  regComputePgmRsrc1Fp16Ovfl,
  regComputePgmRsrc1IeeeMode,
  regComputePgmRsrc1Priv,
  regComputePgmRsrc1Vgprs,
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
  regComputeTmpringSizeWavesize,
  ShReg,
  WaveStatus,
} from "../../gen/uapi.ts";
import { dropCode } from "../cu/code-cache.ts";
import { setVgprLimit } from "../cu/decode.ts";
import { useLds } from "../cu/lds.ts";
import { runWave } from "../cu/run.ts";
import { selectWave, writeConstants } from "../cu/wave.ts";
import { faultKind, raiseDetail } from "../fault.ts";
import { Context, LDS_BASE, LDS_BYTES, MAX_WAVES, Wave } from "../layout.ts";
import { addToQueueCounter, contextOf, controlWord, queueWord, setQueueWord, slotOf } from "./control.ts";
import { haltQueue } from "./record.ts";

const SLICE: u32 = 4096;
const GROUP_COST: u32 = 32;
const USER_SGPRS: u32 = 16;

function register(context: usize, offset: u32): u32 {
  return load<u32>(context + Context.SH + <usize>(offset - RegisterSpace.SH));
}

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
  store<u32>(context, 0, Context.WAVES);
  store<u32>(context, tx, Context.THREADS_X);
  store<u32>(context, ty, Context.THREADS_Y);
  store<u32>(context, tz, Context.THREADS_Z);
  store<u32>(context, regComputePgmRsrc2LdsSize(rsrc2) * 512, Context.LDS_LIMIT);
  const vgprs = (regComputePgmRsrc1Vgprs(rsrc1) + 1) * 8;
  store<u32>(context, min<u32>(vgprs, 256), Context.VGPRS);
  const program =
    ((<u64>register(context, ShReg.COMPUTE_PGM_LO)) << 8) | ((<u64>register(context, ShReg.COMPUTE_PGM_HI)) << 40);
  store<u64>(context, <u64>(<i64>(program << 16) >> 16), Context.PROGRAM);
  memory.fill(context + Context.COUNTS, 0, 64);
  store<u32>(context, 0, Context.WAVES_LAUNCHED);
  const empty = sx >= x || sy >= y || sz >= z;
  store<u32>(context, empty ? 0 : 1, Context.DISPATCHING);
  if (empty) setQueueWord(queue, Queue.DISPATCHES, queueWord(queue, Queue.DISPATCHES) + 1);
  dropCode(context);
}

/** Fills one wave's launch state. */
function launchWave(queue: u32, context: usize, index: u32, waves: u32): void {
  const slot = slotOf(queue, index);
  const rsrc1 = register(context, ShReg.COMPUTE_PGM_RSRC1);
  const rsrc2 = register(context, ShReg.COMPUTE_PGM_RSRC2);
  const gx = load<u32>(context, Context.NEXT_X);
  const gy = load<u32>(context, Context.NEXT_Y);
  const gz = load<u32>(context, Context.NEXT_Z);
  const vgprs = load<u32>(context, Context.VGPRS);
  memory.fill(slot + Wave.SCALARS, 0, 128 * 4);
  memory.fill(slot + Wave.VGPR_FILE, 0, (<usize>vgprs) << 7);
  if (load<u32>(slot + Wave.SCALARS, 129 * 4) != 1) writeConstants(slot);
  store<u64>(slot, load<u64>(context, Context.PROGRAM), Wave.PC);
  store<u32>(slot, 0, Wave.SCC);
  const mode =
    regComputePgmRsrc1FloatMode(rsrc1) |
    (regComputePgmRsrc1Dx10Clamp(rsrc1) << 8) |
    (regComputePgmRsrc1IeeeMode(rsrc1) << 9);
  store<u32>(slot, mode, Wave.MODE);
  store<u32>(slot, WaveStatus.RUNNING, Wave.STATUS);
  store<u32>(slot, gx, Wave.GROUP_X);
  store<u32>(slot, gy, Wave.GROUP_Y);
  store<u32>(slot, gz, Wave.GROUP_Z);
  store<u32>(slot, index, Wave.INDEX);
  store<u32>(slot, vgprs, Wave.VGPRS);
  // Numbers of loads run on, so the pending tables need no clearing.
  store<u32>(slot, load<u32>(slot, Wave.VM_ISSUED), Wave.VM_DONE);
  store<u32>(slot, load<u32>(slot, Wave.LGKM_ISSUED), Wave.LGKM_DONE);
  store<u32>(slot, 0, Wave.SMEM_OUT);
  const tmpring = register(context, ShReg.COMPUTE_TMPRING_SIZE);
  const scratchBytes = regComputeTmpringSizeWavesize(tmpring) * 1024;
  store<u64>(slot, 0, Wave.FLAT_SCRATCH);
  store<u32>(slot, regComputePgmRsrc2ScratchEn(rsrc2) ? scratchBytes >> 5 : 0, Wave.SCRATCH_LIMIT);
  let at = slot + Wave.SCALARS;
  const users = regComputePgmRsrc2UserSgpr(rsrc2);
  memory.copy(at, context + Context.SH + (ShReg.COMPUTE_USER_DATA_0 - RegisterSpace.SH), (<usize>users) << 2);
  at += (<usize>users) << 2;
  if (regComputePgmRsrc2TgidXEn(rsrc2)) {
    store<u32>(at, gx);
    at += 4;
  }
  if (regComputePgmRsrc2TgidYEn(rsrc2)) {
    store<u32>(at, gy);
    at += 4;
  }
  if (regComputePgmRsrc2TgidZEn(rsrc2)) {
    store<u32>(at, gz);
    at += 4;
  }
  if (regComputePgmRsrc2TgSizeEn(rsrc2)) {
    store<u32>(at, waves | (index << 6));
    at += 4;
  }
  if (regComputePgmRsrc2ScratchEn(rsrc2)) store<u32>(at, index * scratchBytes);
  threadIds(context, slot, index, regComputePgmRsrc2TidigCompCnt(rsrc2));
}

/** v0, v1, v2: local ids, x fastest; EXEC: the lanes that have a thread. */
function threadIds(context: usize, slot: usize, index: u32, components: u32): void {
  const tx = load<u32>(context, Context.THREADS_X);
  const ty = load<u32>(context, Context.THREADS_Y);
  const total = tx * ty * load<u32>(context, Context.THREADS_Z);
  const first = index << 5;
  const row = slot + Wave.VGPR_FILE;
  let x = first % tx;
  let y = (first / tx) % ty;
  let z = first / (tx * ty);
  for (let lane: u32 = 0; lane < 32; lane++) {
    const at = row + ((<usize>lane) << 2);
    store<u32>(at, x);
    if (components >= 1) store<u32>(at, y, 128);
    if (components >= 2) store<u32>(at, z, 256);
    if (++x == tx) {
      x = 0;
      if (++y == ty) {
        y = 0;
        z++;
      }
    }
  }
  const left = total - first;
  store<u32>(slot, left >= 32 ? <u32>-1 : (1 << left) - 1, Wave.EXEC);
}

/** Launches the next workgroup; false where none is left. */
function launchGroup(queue: u32, context: usize): bool {
  if (load<u32>(context, Context.NEXT_Z) >= load<u32>(context, Context.GROUPS_Z)) return false;
  const total =
    load<u32>(context, Context.THREADS_X) *
    load<u32>(context, Context.THREADS_Y) *
    load<u32>(context, Context.THREADS_Z);
  const waves = min<u32>((total + 31) >> 5, MAX_WAVES);
  for (let i: u32 = 0; i < waves; i++) launchWave(queue, context, i, waves);
  memory.fill(LDS_BASE + <usize>(queue * LDS_BYTES), 0, load<u32>(context, Context.LDS_LIMIT));
  store<u32>(context, waves, Context.WAVES);
  store<u32>(context, 0, Context.TURN);
  store<u32>(context, load<u32>(context, Context.WAVES_LAUNCHED) + waves, Context.WAVES_LAUNCHED);
  addToQueueCounter(queue, Queue.WAVES_LO, waves);
  advance(context);
  return true;
}

function advance(context: usize): void {
  const x = load<u32>(context, Context.NEXT_X) + 1;
  if (x < load<u32>(context, Context.GROUPS_X)) {
    store<u32>(context, x, Context.NEXT_X);
    return;
  }
  store<u32>(context, load<u32>(context, Context.START_X), Context.NEXT_X);
  const y = load<u32>(context, Context.NEXT_Y) + 1;
  if (y < load<u32>(context, Context.GROUPS_Y)) {
    store<u32>(context, y, Context.NEXT_Y);
    return;
  }
  store<u32>(context, load<u32>(context, Context.START_Y), Context.NEXT_Y);
  store<u32>(context, load<u32>(context, Context.NEXT_Z) + 1, Context.NEXT_Z);
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

/** Next wave that can run, from TURN on; opens the barrier where all that have not ended wait; NONE where all ended. */
const NONE: u32 = 0xffffffff;

function nextWave(queue: u32, context: usize, waves: u32): u32 {
  const turn = load<u32>(context, Context.TURN);
  for (let round: u32 = 0; round < 2; round++) {
    let waiting = false;
    for (let k: u32 = 0; k < waves; k++) {
      const i = turn + k < waves ? turn + k : turn + k - waves;
      const status = load<u32>(slotOf(queue, i), Wave.STATUS);
      if (status == WaveStatus.RUNNING) return i;
      if (status == WaveStatus.BARRIER) waiting = true;
    }
    if (!waiting) return NONE;
    for (let i: u32 = 0; i < waves; i++) {
      const slot = slotOf(queue, i);
      if (load<u32>(slot, Wave.STATUS) == WaveStatus.BARRIER) store<u32>(slot, WaveStatus.RUNNING, Wave.STATUS);
    }
  }
  return NONE;
}

/** Runs the queue's dispatch for about `budget` instructions; returns those used. Clears DISPATCHING at its end. */
export function runDispatch(queue: u32, budget: u32): u32 {
  const context = contextOf(queue);
  const seeded = controlWord(Control.SEED) != 0;
  setVgprLimit(load<u32>(context, Context.VGPRS));
  useLds(LDS_BASE + <usize>(queue * LDS_BYTES), load<u32>(context, Context.LDS_LIMIT));
  let used: u32 = 0;
  let instructions: u64 = 0;
  while (used < budget) {
    const waves = load<u32>(context, Context.WAVES);
    if (waves == 0) {
      used += GROUP_COST;
      if (launchGroup(queue, context)) continue;
      store<u32>(context, 0, Context.DISPATCHING);
      setQueueWord(queue, Queue.DISPATCHES, queueWord(queue, Queue.DISPATCHES) + 1);
      break;
    }
    const index = nextWave(queue, context, waves);
    if (index == NONE) {
      store<u32>(context, 0, Context.WAVES);
      continue;
    }
    selectWave(slotOf(queue, index));
    const slice = seeded ? 1 + (random(context) & 127) : SLICE;
    const ran = runWave(context, queue, min<u32>(slice, budget - used));
    instructions += ran;
    used += ran + 1;
    if (faultKind != 0) {
      haltQueue(queue, index);
      break;
    }
    store<u32>(context, (seeded ? random(context) : index + 1) % waves, Context.TURN);
  }
  addToQueueCounter(queue, Queue.INSTRUCTIONS_LO, instructions);
  return used;
}
