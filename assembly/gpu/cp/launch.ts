/** What a workgroup finds at its start: registers, ids, LDS. Source: RDNA2 register reference; order as in docs/abi.md. */
import {
  Queue,
  RegisterSpace,
  regComputePgmRsrc1Dx10Clamp,
  regComputePgmRsrc1FloatMode,
  regComputePgmRsrc1IeeeMode,
  regComputePgmRsrc2ScratchEn,
  regComputePgmRsrc2TgidXEn,
  regComputePgmRsrc2TgidYEn,
  regComputePgmRsrc2TgidZEn,
  regComputePgmRsrc2TgSizeEn,
  regComputePgmRsrc2TidigCompCnt,
  regComputePgmRsrc2UserSgpr,
  regComputeTmpringSizeWavesize,
  ShReg,
  WaveStatus,
} from "../../gen/uapi.ts";
import { writeConstants } from "../cu/wave.ts";
import { Context, Wave } from "../layout.ts";
import { addToQueueCounter, slotOf } from "./control.ts";
import { register } from "./registers.ts";
import { ldsAt, simdAt, takePlace } from "./residency.ts";

/** Fills the launch state of wave `index` of the workgroup at `place`. */
function launchWave(queue: u32, context: usize, place: u32, index: u32, waves: u32): void {
  const number = place * waves + index;
  const slot = slotOf(queue, number);
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
  store<u32>(slot, place, Wave.GROUP);
  store<u32>(slot, 0, Wave.CLOCK);
  store<u32>(slot, 0, Wave.ISSUED_CYCLES);
  store<u32>(slot, simdAt(queue, place, index), Wave.SIMD);
  store<u32>(slot, vgprs, Wave.VGPRS);
  // Numbers of loads run on, so the pending tables need no clearing.
  store<u32>(slot, load<u32>(slot, Wave.VM_ISSUED), Wave.VM_DONE);
  store<u32>(slot, load<u32>(slot, Wave.LGKM_ISSUED), Wave.LGKM_DONE);
  store<u32>(slot, 0, Wave.SMEM_OUT);
  store<u64>(slot, 0, Wave.HAZARDS);
  store<u64>(slot, 0, Wave.HAZARDS_VM);
  store<u64>(slot, 0, Wave.HAZARDS_LGKM);
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
    // The wave's index twice: bits 11:6 as documented, 24:20 where Mesa's compiler reads it on gfx10.3.
    store<u32>(at, waves | (index << 6) | (index << 20));
    at += 4;
  }
  if (regComputePgmRsrc2ScratchEn(rsrc2)) store<u32>(at, number * scratchBytes);
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

/** Launches the next workgroup where one is left and there is room for it. */
export function launchGroup(queue: u32, context: usize): bool {
  const place = takePlace(queue, context);
  if (place < 0) return false;
  const waves = load<u32>(context, Context.WAVES);
  for (let i: u32 = 0; i < waves; i++) launchWave(queue, context, place, i, waves);
  memory.fill(ldsAt(queue, context, place), 0, load<u32>(context, Context.LDS_LIMIT));
  store<u32>(context, load<u32>(context, Context.WAVES_LAUNCHED) + waves, Context.WAVES_LAUNCHED);
  addToQueueCounter(queue, Queue.WAVES_LO, waves);
  advance(context);
  return true;
}

/** Are there workgroups that have not been launched? */
export function groupsLeft(context: usize): bool {
  return load<u32>(context, Context.NEXT_Z) < load<u32>(context, Context.GROUPS_Z);
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
