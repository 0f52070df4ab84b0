/**
 * Waits, as late and as loose as possible: a forward dataflow over the edges that control takes. For each register the
 * number of the event (load) that will write it is known; a read or write of it waits until no more events of that
 * counter are open than were issued since. vmcnt, vscnt and DS complete in order; SMEM does not, so while one is open
 * each wait on lgkmcnt is for 0. Source: RDNA2 ISA, "Data dependency resolution"; the counter classes are rows of src/isa.
 */
import { spend } from "../../base/index.ts";
import { Counter, Format, OP_COUNT, Op, OpFlag, opCounter, opFlags, opFormat } from "../../gen/isa-ops.ts";
import {
  bFirst,
  bIndex,
  bOrder,
  bSucc0,
  bSucc1,
  FLOW_BYTES,
  flowBytes,
  mDst0,
  mDst1,
  mImm,
  mMods,
  mNext,
  mOp,
  mPlace,
} from "./columns.ts";
import { P_RELEASE } from "./launch.ts";
import {
  Hw,
  hw,
  hwCode,
  insertBefore,
  layoutLength,
  Mod,
  newInstr,
  operandSize,
  removeInstr,
  setMachinePlace,
  source,
} from "./machine.ts";

// Slots: SGPR n at n, VGPR n at 128 + n, then the last event of each kind of memory.
const VGPR_SLOT: u32 = 128;
const LDS_SLOT: u32 = 384;
const LOAD_SLOT: u32 = 385;
const STORE_SLOT: u32 = 386;
const SLOTS: u32 = 387;

const VM: u32 = 0;
const LGKM: u32 = 1;
const VS: u32 = 2;
const NO_WAIT: u32 = 63;

/** Running state: by counter and slot the number of the event, 0 for none. */
const scores = memory.data(387 * 3 * 4, 4);
/** Cells (counter * SLOTS + slot) that are not 0. */
const listed = memory.data(387 * 3 * 2, 2);
let listLength: u32 = 0;
/** By counter: events issued; events that are done. */
let nowVm: u32 = 0;
let nowLgkm: u32 = 0;
let nowVs: u32 = 0;
let doneVm: u32 = 0;
let doneLgkm: u32 = 0;
let doneVs: u32 = 0;
/** An SMEM load is open. */
let scalarOpen: bool = false;

let needVm: u32 = NO_WAIT;
let needLgkm: u32 = NO_WAIT;
let needVs: u32 = NO_WAIT;
/** An export of this block may still read its VGPRs; the instruction writes one. */
let exporting: bool = false;
let needExp: bool = false;

/** Saved states are ages + 1 in bytes, the SMEM flag behind them, a "reached" byte behind that. */
const STATE_BYTES: u32 = 1176;
const SCALAR_BYTE: u32 = 1168;
const REACHED_BYTE: u32 = 1169;
/** The state has grown since the block was walked. */
const DIRTY_BYTE: u32 = 1170;
/** Something in the state is open. */
const OPEN_BYTE: u32 = 1171;
/** Word with bit n where one of the cells from 64 n on is not 0. */
const GROUPS_WORD: u32 = 1172;

function score(counter: u32, slot: u32): u32 {
  return load<u32>(scores + ((<usize>(counter * SLOTS + slot)) << 2));
}
function setScore(counter: u32, slot: u32, value: u32): void {
  setCell(counter * SLOTS + slot, value);
}
/** As `setScore`; a cell that gets its first number joins the list. */
function setCell(cell: u32, value: u32): void {
  const at = scores + ((<usize>cell) << 2);
  if (load<u32>(at) == 0) {
    store<u16>(listed + ((<usize>listLength) << 1), <u16>cell);
    listLength++;
  }
  store<u32>(at, value);
}
function clearScores(): void {
  for (let k: u32 = 0; k < listLength; k++) {
    store<u32>(scores + ((<usize>load<u16>(listed + ((<usize>k) << 1))) << 2), 0);
  }
  listLength = 0;
}
function now(counter: u32): u32 {
  return counter == VM ? nowVm : counter == LGKM ? nowLgkm : nowVs;
}
function done(counter: u32): u32 {
  return counter == VM ? doneVm : counter == LGKM ? doneLgkm : doneVs;
}

/** Asks for the slot's open events of a counter to be done. */
function need(counter: u32, slot: u32): void {
  const s = score(counter, slot);
  if (s == 0 || s <= done(counter)) return;
  const age = min<u32>(now(counter) - s, NO_WAIT - 1);
  if (counter == VM) needVm = min<u32>(needVm, age);
  else if (counter == LGKM) needLgkm = scalarOpen ? 0 : min<u32>(needLgkm, age);
  else needVs = min<u32>(needVs, age);
}

function needOperand(operand: u32): void {
  if (operand == 0) return;
  const code = hwCode(operand);
  const size = operandSize(operand);
  for (let k: u32 = 0; k < size; k++) {
    const c = code + k;
    if (c >= <u32>Hw.VGPR0) {
      need(VM, c - Hw.VGPR0 + VGPR_SLOT);
      need(LGKM, c - Hw.VGPR0 + VGPR_SLOT);
    } else if (c <= <u32>Hw.VCC_HI) {
      need(LGKM, c);
    }
  }
}

function needInstr(i: u32): void {
  needVm = NO_WAIT;
  needLgkm = NO_WAIT;
  needVs = NO_WAIT;
  needExp = exporting && mDst0[i] != 0 && hwCode(mDst0[i]) >= <u32>Hw.VGPR0;
  // Nothing is open: most of the code between accesses.
  if (doneVm == nowVm && doneLgkm == nowLgkm && doneVs == nowVs) return;
  if (mOp[i] == P_RELEASE) {
    if ((mImm[i] & 1) != 0) {
      need(VM, LOAD_SLOT);
      need(VS, STORE_SLOT);
    }
    if ((mImm[i] & 2) != 0) need(LGKM, LDS_SLOT);
    return;
  }
  needOperand(mDst0[i]);
  needOperand(mDst1[i]);
  for (let k: u32 = 0; k < 4; k++) needOperand(source(i, k));
}

/** The needed waits happen. */
function settle(): void {
  if (needVm != NO_WAIT) doneVm = max<u32>(doneVm, nowVm - needVm);
  if (needLgkm != NO_WAIT) {
    doneLgkm = max<u32>(doneLgkm, nowLgkm - needLgkm);
    if (needLgkm == 0) scalarOpen = false;
  }
  if (needVs != NO_WAIT) doneVs = max<u32>(doneVs, nowVs - needVs);
  if (needExp) exporting = false;
}

function mark(counter: u32, operand: u32, event: u32): void {
  if (operand == 0) return;
  const code = hwCode(operand);
  const size = operandSize(operand);
  for (let k: u32 = 0; k < size; k++) {
    const c = code + k;
    setScore(counter, c >= <u32>Hw.VGPR0 ? c - Hw.VGPR0 + VGPR_SLOT : c, event);
  }
}

/** Counts the event of an instruction. */
function issue(i: u32): void {
  const op = mOp[i];
  if (op >= OP_COUNT) return;
  let counter = opCounter(op);
  if (counter == Counter.exp) exporting = true;
  if (counter == Counter.none) return;
  if (counter == Counter.vmOrVs) counter = (mMods[i] & Mod.GLC) != 0 ? Counter.vm : Counter.vs;
  if (counter == Counter.vm) {
    nowVm++;
    mark(VM, mDst0[i], nowVm);
    setScore(VM, LOAD_SLOT, nowVm);
  } else if (counter == Counter.vs) {
    nowVs++;
    setScore(VS, STORE_SLOT, nowVs);
  } else if (counter == Counter.lgkm) {
    nowLgkm++;
    mark(LGKM, mDst0[i], nowLgkm);
    if (opFormat(op) == Format.SMEM) scalarOpen = true;
    else setScore(LGKM, LDS_SLOT, nowLgkm);
  }
}

function stateOf(block: u32): usize {
  return changetype<usize>(flowBytes) + <usize>bIndex[block] * <usize>STATE_BYTES;
}

function loadState(block: u32): void {
  const at = stateOf(block);
  nowVm = 64;
  nowLgkm = 64;
  nowVs = 64;
  doneVm = 0;
  doneLgkm = 0;
  doneVs = 0;
  scalarOpen = load<u8>(at + SCALAR_BYTE) != 0;
  clearScores();
  if (load<u8>(at + OPEN_BYTE) == 0) {
    doneVm = nowVm;
    doneLgkm = nowLgkm;
    doneVs = nowVs;
    return;
  }
  // Few cells are open: look at eight at a time.
  for (let groups = load<u32>(at + GROUPS_WORD); groups != 0; groups &= groups - 1) {
    const first = ctz<u32>(groups) << 6;
    for (let k = first; k < first + 64 && k < 3 * SLOTS; k += 8) {
      let eight = load<u64>(at + <usize>k);
      for (let cell = k; eight != 0; cell++) {
        if ((eight & 0xff) != 0) setCell(cell, 65 - <u32>(eight & 0xff));
        eight >>= 8;
      }
    }
  }
}

/** Merges the running state into a block's entry state; true when that grew. */
function mergeInto(block: u32): bool {
  const at = stateOf(block);
  let grew = load<u8>(at + REACHED_BYTE) == 0;
  store<u8>(at + REACHED_BYTE, 1);
  if (grew) store<u8>(at + DIRTY_BYTE, 1);
  if (doneVm == nowVm && doneLgkm == nowLgkm && doneVs == nowVs) return grew;
  if (scalarOpen && load<u8>(at + SCALAR_BYTE) == 0) {
    store<u8>(at + SCALAR_BYTE, 1);
    grew = true;
  }
  for (let k: u32 = 0; k < listLength; k++) {
    const index = <u32>load<u16>(listed + ((<usize>k) << 1));
    const counter = index / SLOTS;
    const number = load<u32>(scores + ((<usize>index) << 2));
    if (number <= done(counter)) continue;
    const age = min<u32>(now(counter) - number, NO_WAIT - 1) + 1;
    const cell = at + <usize>index;
    const old = <u32>load<u8>(cell);
    if (old != 0 && old <= age) continue;
    store<u8>(cell, <u8>age);
    store<u32>(at + GROUPS_WORD, load<u32>(at + GROUPS_WORD) | ((<u32>1) << (index >> 6)));
    grew = true;
  }
  if (grew) {
    store<u8>(at + DIRTY_BYTE, 1);
    store<u8>(at + OPEN_BYTE, 1);
  }
  return grew;
}

function insertWaits(b: u32, before: u32): void {
  if (needVm != NO_WAIT || needLgkm != NO_WAIT || needExp) {
    const w = newInstr(Op.s_waitcnt);
    mImm[w] = (needVm & 15) | ((needVm >> 4) << 14) | ((needExp ? 0 : 7) << 4) | (needLgkm << 8);
    insertBefore(b, before, w);
  }
  if (needVs != NO_WAIT) {
    const w = newInstr(Op.s_waitcnt_vscnt);
    mDst0[w] = hw(Hw.NULL, 1);
    mImm[w] = needVs;
    insertBefore(b, before, w);
  }
}

/** Exports stand in the last block only. */
function walk(b: u32, insert: bool): void {
  exporting = false;
  for (let i = bFirst[b]; i != 0; ) {
    const next = mNext[i];
    needInstr(i);
    if (insert) {
      setMachinePlace(mPlace[i]);
      insertWaits(b, i);
      if (mOp[i] == P_RELEASE) removeInstr(i);
    }
    settle();
    issue(i);
    i = next;
  }
}

/** Everything open is waited for at the end of the block: for functions with more blocks than states fit. */
function drain(b: u32): void {
  const last = lastBranch(b);
  needVm = NO_WAIT;
  needLgkm = NO_WAIT;
  needVs = NO_WAIT;
  needExp = false;
  for (let k: u32 = 0; k < listLength; k++) {
    const cell = <u32>load<u16>(listed + ((<usize>k) << 1));
    need(cell / SLOTS, cell % SLOTS);
  }
  insertWaits(b, last);
}
/** First of the branches at the block's end, 0 for none. */
function lastBranch(b: u32): u32 {
  for (let i = bFirst[b]; i != 0; i = mNext[i]) {
    if (mOp[i] < OP_COUNT && (opFlags(mOp[i]) & OpFlag.Terminator) != 0) return i;
  }
  return 0;
}

/** Whether control goes back to an earlier block, or to its own. */
function hasBackEdge(count: u32): bool {
  for (let k: u32 = 0; k < count; k++) {
    const b = bOrder[k];
    if (bSucc0[b] != 0 && bIndex[bSucc0[b]] <= k) return true;
    if (bSucc1[b] != 0 && bIndex[bSucc1[b]] <= k) return true;
  }
  return false;
}

/** Inserts s_waitcnt and s_waitcnt_vscnt; takes the release marks away. */
export function insertWaitcnt(): void {
  const count = layoutLength();
  if (count == 0) return;
  if (<usize>count * <usize>STATE_BYTES > FLOW_BYTES) {
    flowBytes.clear(0, STATE_BYTES);
    for (let k: u32 = 0; k < count; k++) {
      loadState(bOrder[0]);
      walk(bOrder[k], true);
      drain(bOrder[k]);
    }
    return;
  }
  flowBytes.clear(0, count * STATE_BYTES);
  store<u8>(stateOf(bOrder[0]) + REACHED_BYTE, 1);
  store<u8>(stateOf(bOrder[0]) + DIRTY_BYTE, 1);
  if (!hasBackEdge(count)) {
    // Each state is whole when its block is reached: one walk is enough.
    for (let k: u32 = 0; k < count && spend(16); k++) {
      const b = bOrder[k];
      loadState(b);
      walk(b, true);
      if (bSucc0[b] != 0) mergeInto(bSucc0[b]);
      if (bSucc1[b] != 0) mergeInto(bSucc1[b]);
    }
    return;
  }
  let changed = true;
  while (changed) {
    changed = false;
    for (let k: u32 = 0; k < count; k++) {
      const b = bOrder[k];
      if (load<u8>(stateOf(b) + DIRTY_BYTE) == 0) continue;
      store<u8>(stateOf(b) + DIRTY_BYTE, 0);
      if (!spend(16)) return;
      loadState(b);
      walk(b, false);
      // Only an edge back to an earlier block asks for another round.
      if (bSucc0[b] != 0 && mergeInto(bSucc0[b]) && bIndex[bSucc0[b]] <= k) changed = true;
      if (bSucc1[b] != 0 && mergeInto(bSucc1[b]) && bIndex[bSucc1[b]] <= k) changed = true;
    }
  }
  for (let k: u32 = 0; k < count; k++) {
    const b = bOrder[k];
    loadState(b);
    walk(b, true);
  }
}
