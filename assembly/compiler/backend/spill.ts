/**
 * Spilling, for functions that are too large for the register file even when selected thriftily. `allocate` picks
 * registers to give up; here their values move to memory, and each instruction that touches one gets a register of its
 * own for it. VGPRs go to scratch, under EXEC like the register writes themselves; SGPRs go to lanes of VGPRs that
 * nothing else uses. One round after the other, until all fits.
 *
 * Launch: s[0:1] is the scratch address, the wave's offset comes behind the workgroup ids (docs/abi.md).
 */
import { Fail, fail, Limit, spend } from "../../base/index.ts";
import { OP_COUNT, Op, OpFlag, opFlags } from "../../gen/isa-ops.ts";
import { privateBytes } from "../ir/index.ts";
import { leaderOf, leaderShift } from "./coalesce.ts";
import {
  bFirst,
  bOrder,
  mDst0,
  mDst1,
  mImm,
  mLit,
  mMods,
  mNext,
  mOp,
  mPlace,
  mSrc0,
  mSrc1,
  mSrc2,
  vFixed,
  vLeader,
  vOrder,
  vShift,
  vStart,
} from "./columns.ts";
import { emptyHeap, heapSize, leastKey, popHeap, pushHeap } from "./heap.ts";
import { flatScratchField, P_ARGUMENT, P_UNDEFINED, scratchOffsetSgpr } from "./launch.ts";
import {
  component,
  deepLane,
  Hw,
  hw,
  insertBefore,
  isVreg,
  layoutLength,
  Mod,
  newInstr,
  newVreg,
  operandComponent,
  operandSize,
  operandVreg,
  RegClass,
  removeInstr,
  setMachinePlace,
  setSource,
  source,
  vregClass,
  vregOperand,
  vregSize,
  vregs,
} from "./machine.ts";
import { DST0, DST1, leaveGhost, nameMove, nameOf, SRC0 } from "./named.ts";
import { endOf, markLaneRegister, markTemporary, vSlot, vTemp } from "./slots.ts";

const LANE_COUNT: u32 = 32;
/** Scratch immediates are signed 12-bit; a wide access reaches 12 bytes further. */
const IMM_STEP: u32 = 1024;

let scratchDwords: u32 = 0;
let laneSlots: u32 = 0;
let spilledSgprCount: u32 = 0;
let spilledVgprCount: u32 = 0;
/** VGPRs for SGPRs: 32 lanes each. */
const MAX_LANE_VREGS: u32 = 192;
const laneVregs = memory.data(192 * 4, 4);
let laneVregCount: u32 = 0;

export function resetSpills(): void {
  // Behind what the shader's own arrays have.
  scratchDwords = (privateBytes() + 3) >> 2;
  laneSlots = 0;
  spilledSgprCount = 0;
  spilledVgprCount = 0;
  laneVregCount = 0;
}
/** Scratch bytes of a lane. */
export function scratchBytes(): u32 {
  return scratchDwords * 4;
}
/** Dwords of SGPRs and VGPRs that were given up. */
export function spilledSgprs(): u32 {
  return spilledSgprCount;
}
export function spilledVgprs(): u32 {
  return spilledVgprCount;
}
/** VGPRs whose lanes hold SGPRs. */
export function laneRegisters(): u32 {
  return laneVregCount;
}
export function laneRegister(k: u32): u32 {
  return load<u32>(laneVregs + ((<usize>k) << 2));
}

function temporary(regClass: u32, size: u32): u32 {
  const operand = newVreg(regClass, size);
  const v = operandVreg(operand);
  markTemporary(v);
  vTemp[v] = 0;
  vSlot[v] = 0;
  return operand;
}

/** Lanes for so many slots of SGPRs. */
function makeLanes(slots: u32): void {
  laneSlots = max<u32>(laneSlots, slots);
  while (laneVregCount * LANE_COUNT < laneSlots) {
    if (laneVregCount == MAX_LANE_VREGS) {
      fail(Fail.LIMIT, Limit.MACHINE, MAX_LANE_VREGS * LANE_COUNT, 0);
      return;
    }
    const lanes = operandVreg(newVreg(RegClass.VGPR, 1));
    markLaneRegister(lanes);
    vSlot[lanes] = 0;
    vTemp[lanes] = 0;
    store<u32>(laneVregs + ((<usize>laneVregCount) << 2), lanes);
    laneVregCount++;
  }
}

/**
 * Gives those of the class among the `count` registers of `vOrder` that `allocate` marked (slot 1) their places, in the order of
 * their starts. Single ones share places with those that are dead by then.
 */
function placeSlots(regClass: u32, count: u32): void {
  const vector = regClass == RegClass.VGPR;
  let slots = vector ? scratchDwords : laneSlots;
  let dwords: u32 = 0;
  emptyHeap();
  for (let k: u32 = 0; k < count; k++) {
    const v = vOrder[k];
    if (vSlot[v] == 0 || vregClass(v) != regClass) continue;
    const size = vregSize(v);
    dwords += size;
    if (size > 1) {
      vSlot[v] = 1 + slots;
      slots += size;
      continue;
    }
    const slot = heapSize() > 0 && leastKey() <= vStart[v] ? popHeap() : slots++;
    vSlot[v] = 1 + slot;
    pushHeap(endOf(v), slot);
  }
  if (vector) {
    scratchDwords = slots;
    spilledVgprCount += dwords;
  } else {
    spilledSgprCount += dwords;
    makeLanes(slots);
  }
}

/** Slot of component 0 of a register, -1 for those that keep theirs. */
function slotOf(v: u32): i32 {
  const leader = leaderOf(v);
  return vSlot[leader] == 0 ? -1 : <i32>(vSlot[leader] - 1 + leaderShift());
}

function insert(op: u32, before: u32, b: u32): u32 {
  const i = newInstr(op);
  if (i != 0) insertBefore(b, before, i);
  return i;
}

/** An access of `size` dwords, 1 to 4. */
export function scratchOp(isStore: bool, size: u32): u32 {
  switch (size) {
    case 1:
      return isStore ? Op.scratch_store_dword : Op.scratch_load_dword;
    case 2:
      return isStore ? Op.scratch_store_dwordx2 : Op.scratch_load_dwordx2;
    case 3:
      return isStore ? Op.scratch_store_dwordx3 : Op.scratch_load_dwordx3;
    default:
      return isStore ? Op.scratch_store_dwordx4 : Op.scratch_load_dwordx4;
  }
}

/** Moves `size` components of `temp` from `first` on from or to their slots, in front of `before`; selection named them `name`. */
function move(b: u32, before: u32, temp: u32, slot: u32, first: u32, size: u32, isStore: bool, name: u32): void {
  const v = operandVreg(temp);
  if (vregClass(v) == RegClass.SGPR) {
    for (let k: u32 = 0; k < size; k++) {
      const lane = slot + first + k;
      const lanes = vregOperand(laneRegister(lane / LANE_COUNT), 1, 0);
      const i = insert(isStore ? Op.v_writelane_b32 : Op.v_readlane_b32, before, b);
      mDst0[i] = isStore ? lanes : vregOperand(v, 1, first + k);
      mSrc0[i] = isStore ? vregOperand(v, 1, first + k) : lanes;
      mSrc1[i] = hw(Hw.ZERO + (lane % LANE_COUNT), 1);
      if (!ASC_NO_ASSERT) nameMove(i, component(name, k));
    }
    return;
  }
  const offset = (slot + first) * 4;
  const base = offset & ~(IMM_STEP - 1);
  let address: u32 = 0;
  if (base > 0) {
    address = temporary(RegClass.SGPR, 1);
    const i = insert(Op.s_mov_b32, before, b);
    mDst0[i] = address;
    mSrc0[i] = hw(Hw.LITERAL, 1);
    mLit[i] = base;
  }
  for (let done: u32 = 0; done < size; ) {
    const part = min<u32>(4, size - done);
    const i = insert(scratchOp(isStore, part), before, b);
    const data = vregOperand(v, part, first + done);
    if (isStore) mSrc1[i] = data;
    else mDst0[i] = data;
    mSrc2[i] = address;
    mImm[i] = offset - base + done * 4;
    if (!ASC_NO_ASSERT) nameMove(i, vregOperand(operandVreg(name), part, operandComponent(name) + done));
    done += part;
  }
}

// Spilled registers of the running instruction.
const found = memory.data(8 * 4, 4);
const lows = memory.data(8 * 4, 4);
const highs = memory.data(8 * 4, 4);
let foundCount: u32 = 0;

function note(operand: u32): void {
  if (!isVreg(operand)) return;
  const v = operandVreg(operand);
  if (slotOf(v) < 0) return;
  const low = operandComponent(operand);
  const high = low + operandSize(operand);
  let k: u32 = 0;
  while (k < foundCount && load<u32>(found + ((<usize>k) << 2)) != v) k++;
  const at = (<usize>k) << 2;
  if (k == foundCount) {
    foundCount++;
    store<u32>(found + at, v);
    store<u32>(lows + at, low);
    store<u32>(highs + at, high);
    return;
  }
  store<u32>(lows + at, min<u32>(load<u32>(lows + at), low));
  store<u32>(highs + at, max<u32>(load<u32>(highs + at), high));
}

/** The operand with the running instruction's register in it. */
function replaced(operand: u32): u32 {
  if (!isVreg(operand)) return operand;
  const v = operandVreg(operand);
  if (slotOf(v) < 0) return operand;
  for (let k: u32 = 0; k < foundCount; k++) {
    if (load<u32>(found + ((<usize>k) << 2)) != v) continue;
    const low = load<u32>(lows + ((<usize>k) << 2));
    return vregOperand(operandVreg(vTemp[v]), operandSize(operand), operandComponent(operand) - low);
  }
  return operand;
}

/** Loads the components of a source in front of `at`, or stores those of a destination there. `name`: the operand as selected. */
function transfer(b: u32, at: u32, operand: u32, isStore: bool, name: u32): void {
  if (!isVreg(operand)) return;
  const v = operandVreg(operand);
  const slot = slotOf(v);
  if (slot < 0) return;
  for (let k: u32 = 0; k < foundCount; k++) {
    if (load<u32>(found + ((<usize>k) << 2)) != v) continue;
    const low = load<u32>(lows + ((<usize>k) << 2));
    const first = operandComponent(operand) - low;
    move(b, at, vTemp[v], <u32>slot + low, first, operandSize(operand), isStore, name);
  }
}

/** The operand as selected, for the checker; release builds keep none. */
function name(i: u32, word: u32): u32 {
  return ASC_NO_ASSERT ? 0 : nameOf(i, word);
}

/** The operand is one of the first `k` sources. */
function repeats(i: u32, k: u32, operand: u32): bool {
  for (let s: u32 = 0; s < k; s++) if (source(i, s) == operand) return true;
  return false;
}

function rewriteInstr(b: u32, i: u32): void {
  foundCount = 0;
  for (let k: u32 = 0; k < 4; k++) note(source(i, k));
  note(mDst0[i]);
  note(mDst1[i]);
  if (foundCount == 0) return;
  if (mOp[i] == P_UNDEFINED) {
    if (!ASC_NO_ASSERT) leaveGhost(i);
    removeInstr(i);
    return;
  }
  const dst = mDst0[i];
  const src = mSrc0[i];
  if ((mMods[i] & Mod.COPY) != 0 && leaderOf(operandVreg(dst)) == leaderOf(operandVreg(src))) {
    const to = slotOf(operandVreg(dst)) + <i32>operandComponent(dst);
    if (to == slotOf(operandVreg(src)) + <i32>operandComponent(src)) {
      if (!ASC_NO_ASSERT) leaveGhost(i);
      removeInstr(i);
      return;
    }
  }
  setMachinePlace(mPlace[i]);
  for (let k: u32 = 0; k < foundCount; k++) {
    const at = (<usize>k) << 2;
    const v = load<u32>(found + at);
    const temp = temporary(vregClass(v), load<u32>(highs + at) - load<u32>(lows + at));
    vTemp[v] = temp;
    if (mOp[i] == P_ARGUMENT) vFixed[operandVreg(temp)] = vFixed[v];
  }
  for (let k: u32 = 0; k < 4; k++) {
    if (!repeats(i, k, source(i, k))) transfer(b, i, source(i, k), false, name(i, SRC0 + k));
  }
  const tied = mOp[i] < OP_COUNT && (opFlags(mOp[i]) & OpFlag.TiedDst) != 0;
  if (tied && !repeats(i, 4, dst)) transfer(b, i, dst, false, name(i, DST0));
  const behind = mNext[i];
  transfer(b, behind, dst, true, name(i, DST0));
  transfer(b, behind, mDst1[i], true, name(i, DST1));
  for (let k: u32 = 0; k < 4; k++) setSource(i, k, replaced(source(i, k)));
  mDst0[i] = replaced(dst);
  mDst1[i] = replaced(mDst1[i]);
}

/** FLAT_SCRATCH = s[0:1] + the wave's offset, in front of everything. Source: RDNA2 ISA, flat scratch; docs/abi.md. */
function initScratch(): void {
  const b = bOrder[0];
  const first = bFirst[b];
  for (let k: u32 = 0; k < 3; k++) {
    const operand = temporary(RegClass.SGPR, 1);
    vFixed[operandVreg(operand)] = k < 2 ? k : scratchOffsetSgpr();
    mDst0[insert(P_ARGUMENT, first, b)] = operand;
  }
  const offset = vregs() - 1;
  const low = temporary(RegClass.SGPR, 1);
  const high = temporary(RegClass.SGPR, 1);
  const add = insert(Op.s_add_u32, first, b);
  mDst0[add] = low;
  mSrc0[add] = vregOperand(offset - 2, 1, 0);
  mSrc1[add] = vregOperand(offset, 1, 0);
  const carry = insert(Op.s_addc_u32, first, b);
  mDst0[carry] = high;
  mSrc0[carry] = vregOperand(offset - 1, 1, 0);
  mSrc1[carry] = hw(Hw.ZERO, 1);
  for (let k: u32 = 0; k < 2; k++) {
    const i = insert(Op.s_setreg_b32, first, b);
    mSrc0[i] = k == 0 ? low : high;
    mImm[i] = flatScratchField(k);
  }
}

/**
 * Before `liveness`: the masks that are too deep for SGPRs get their lanes. They live inside each other, so that one at a
 * depth has the lane of that depth.
 */
export function spillDeepMasks(): void {
  let most: u32 = 0;
  for (let v: u32 = 1; v < vregs(); v++) {
    vTemp[v] = 0;
    vSlot[v] = deepLane(v);
    most = max<u32>(most, vSlot[v]);
  }
  spilledSgprCount += most;
  makeLanes(most);
  rewrite();
}

/** Rewrites the function for those of the `count` registers of `vOrder` that `allocate` marked; `liveness` and `coalesce` must run again. */
export function rewriteSpills(count: u32): void {
  for (let v: u32 = 1; v < vregs(); v++) vTemp[v] = 0;
  placeSlots(RegClass.SGPR, count);
  const hadScratch = scratchDwords > 0;
  placeSlots(RegClass.VGPR, count);
  rewrite();
  if (!hadScratch && scratchDwords > 0) initScratch();
  for (let v: u32 = 1; v < vregs(); v++) {
    vLeader[v] = v;
    vShift[v] = 0;
  }
}

function rewrite(): void {
  for (let k: u32 = 0; k < layoutLength(); k++) {
    const b = bOrder[k];
    for (let i = bFirst[b]; i != 0; ) {
      const next = mNext[i];
      if (!spend(1)) return;
      rewriteInstr(b, i);
      i = next;
    }
  }
}
