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

const VM: u32 = 0;
const LGKM: u32 = 1;
const VS: u32 = 2;
const NO_WAIT: u32 = 63;

// Cells: the last event of each kind of memory, then of each register by the counters that its loads can have.
const LOADS: u32 = 0;
const LDS: u32 = 1;
const STORES: u32 = 2;
/** SGPR n by lgkmcnt. */
const SGPRS: u32 = 8;
/** VGPR n by vmcnt, by lgkmcnt. */
const VGPRS_VM: u32 = 136;
const VGPRS_LGKM: u32 = 392;
const CELLS: u32 = 648;

/** Running state: by cell the number of the event, 0 for none. */
const scores = memory.data(648 * 4, 4);
/** Cells that are not 0. */
const listed = memory.data(648 * 2, 2);
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

/** By register number modulo 64: some of these registers may have an open event. */
let openVgprs: u64 = 0;
let openSgprs: u64 = 0;

let needVm: u32 = NO_WAIT;
let needLgkm: u32 = NO_WAIT;
let needVs: u32 = NO_WAIT;
/** An export of this block may still read its VGPRs; the instruction writes one. */
let exporting: bool = false;
let needExp: bool = false;

// A saved state is a row of flags, the groups of cells that it has, and where each of them is; a group is 64 ages + 1 in
// bytes. Few cells are open at once, so most groups of a block are never made.
const ROW_BYTES: u32 = 64;
const GROUP_BYTES: u32 = 64;
const MAX_GROUPS: u32 = (CELLS + GROUP_BYTES - 1) / GROUP_BYTES;
const SCALAR_BYTE: u32 = 0;
const REACHED_BYTE: u32 = 1;
/** The state has grown since the block was walked. */
const DIRTY_BYTE: u32 = 2;
/** Something in the state is open. */
const OPEN_BYTE: u32 = 3;
/** Word with bit n where the state has group n. */
const GROUPS_WORD: u32 = 4;
/** Addresses of the groups. */
const GROUP_ROW: u32 = 8;
/** Where the next group is made. */
let nextGroup: usize = 0;

function counterOf(cell: u32): u32 {
  if (cell == LOADS) return VM;
  if (cell == STORES) return VS;
  return cell >= VGPRS_VM && cell < VGPRS_LGKM ? VM : LGKM;
}
/** The cell of a register's operand code. */
function cellOf(counter: u32, code: u32): u32 {
  if (code < <u32>Hw.VGPR0) return SGPRS + code;
  return (counter == VM ? VGPRS_VM : VGPRS_LGKM) + code - Hw.VGPR0;
}
function score(cell: u32): u32 {
  return load<u32>(scores + ((<usize>cell) << 2));
}
/** A cell that gets its first number joins the list. */
function setScore(cell: u32, value: u32): void {
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

/** Asks for the cell's open events of a counter to be done. */
function need(cell: u32): void {
  const counter = counterOf(cell);
  const s = score(cell);
  if (s == 0 || s <= done(counter)) return;
  const age = min<u32>(now(counter) - s, NO_WAIT - 1);
  if (counter == VM) needVm = min<u32>(needVm, age);
  else if (counter == LGKM) needLgkm = scalarOpen ? 0 : min<u32>(needLgkm, age);
  else needVs = min<u32>(needVs, age);
}

/** Bits of `openVgprs` or `openSgprs` for registers from `code` on. */
function registerBits(code: u32, size: u32): u64 {
  return rotl<u64>(((<u64>1) << (<u64>size)) - 1, <u64>(code & 63));
}

/** Registers that nothing loads are not looked at: of a counter without open events no cell is open. */
function needOperand(operand: u32): void {
  const code = hwCode(operand);
  const size = operandSize(operand);
  const end = code + size;
  if (code >= <u32>Hw.VGPR0) {
    if ((openVgprs & registerBits(code, size)) == 0) return;
    if (doneVm != nowVm) for (let c = code; c < end; c++) need(cellOf(VM, c));
  } else if (code > <u32>Hw.VCC_HI || (openSgprs & registerBits(code, size)) == 0) {
    return;
  }
  if (doneLgkm != nowLgkm) for (let c = code; c < end; c++) need(cellOf(LGKM, c));
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
      need(LOADS);
      need(STORES);
    }
    if ((mImm[i] & 2) != 0) need(LDS);
    return;
  }
  if (mDst0[i] != 0) needOperand(mDst0[i]);
  if (mDst1[i] != 0) needOperand(mDst1[i]);
  for (let k: u32 = 0; k < 4; k++) if (source(i, k) != 0) needOperand(source(i, k));
}

/** Something has to be waited for. */
function waits(): bool {
  return (needVm & needLgkm & needVs) != NO_WAIT || needExp;
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
  if (doneVm == nowVm && doneLgkm == nowLgkm) {
    openVgprs = 0;
    openSgprs = 0;
  }
}

function mark(counter: u32, operand: u32, event: u32): void {
  if (operand == 0) return;
  const code = hwCode(operand);
  const size = operandSize(operand);
  if (code >= <u32>Hw.VGPR0) openVgprs |= registerBits(code, size);
  else openSgprs |= registerBits(code, size);
  for (let k: u32 = 0; k < size; k++) setScore(cellOf(counter, code + k), event);
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
    setScore(LOADS, nowVm);
  } else if (counter == Counter.vs) {
    nowVs++;
    setScore(STORES, nowVs);
  } else if (counter == Counter.lgkm) {
    nowLgkm++;
    mark(LGKM, mDst0[i], nowLgkm);
    if (opFormat(op) == Format.SMEM) scalarOpen = true;
    else setScore(LDS, nowLgkm);
  }
}

function stateOf(block: u32): usize {
  return changetype<usize>(flowBytes) + <usize>bIndex[block] * <usize>ROW_BYTES;
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
  const open = load<u8>(at + OPEN_BYTE) != 0;
  openVgprs = open ? u64.MAX_VALUE : 0;
  openSgprs = openVgprs;
  if (!open) {
    doneVm = nowVm;
    doneLgkm = nowLgkm;
    doneVs = nowVs;
    return;
  }
  for (let groups = load<u32>(at + GROUPS_WORD); groups != 0; groups &= groups - 1) {
    const group = ctz<u32>(groups);
    const ages = groupAt(at, group);
    for (let k: u32 = 0; k < GROUP_BYTES; k += 8) {
      let eight = load<u64>(ages + <usize>k);
      for (let cell = group * GROUP_BYTES + k; eight != 0; cell++) {
        if ((eight & 0xff) != 0) setScore(cell, 65 - <u32>(eight & 0xff));
        eight >>= 8;
      }
    }
  }
}

/** Address of a group that the state has. */
function groupAt(state: usize, group: u32): usize {
  return <usize>load<u32>(state + GROUP_ROW + ((<usize>group) << 2));
}

/** Address of a cell's age in a state, whose group is made if it is not there. */
function ageAt(state: usize, cell: u32): usize {
  const group = cell / GROUP_BYTES;
  const groups = load<u32>(state + GROUPS_WORD);
  if (((groups >> group) & 1) == 0) {
    store<u32>(state + GROUPS_WORD, groups | ((<u32>1) << group));
    store<u32>(state + GROUP_ROW + ((<usize>group) << 2), <u32>nextGroup);
    memory.fill(nextGroup, 0, GROUP_BYTES);
    nextGroup += GROUP_BYTES;
  }
  return groupAt(state, group) + <usize>(cell % GROUP_BYTES);
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
    const cell = <u32>load<u16>(listed + ((<usize>k) << 1));
    const counter = counterOf(cell);
    const number = score(cell);
    if (number <= done(counter)) continue;
    const age = min<u32>(now(counter) - number, NO_WAIT - 1) + 1;
    const saved = ageAt(at, cell);
    const old = <u32>load<u8>(saved);
    if (old != 0 && old <= age) continue;
    store<u8>(saved, <u8>age);
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
      if (waits()) insertWaits(b, i);
      if (mOp[i] == P_RELEASE) removeInstr(i);
    }
    if (waits()) settle();
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
    need(<u32>load<u16>(listed + ((<usize>k) << 1)));
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

/** Inserts s_waitcnt and s_waitcnt_vscnt; takes the release marks away. */
export function insertWaitcnt(): void {
  const count = layoutLength();
  if (count == 0) return;
  if (<usize>count * <usize>(ROW_BYTES + MAX_GROUPS * GROUP_BYTES) > FLOW_BYTES) {
    flowBytes.clear(0, ROW_BYTES);
    for (let k: u32 = 0; k < count; k++) {
      loadState(bOrder[0]);
      walk(bOrder[k], true);
      drain(bOrder[k]);
    }
    return;
  }
  flowBytes.clear(0, count * ROW_BYTES);
  nextGroup = flowBytes.at(count * ROW_BYTES);
  store<u8>(stateOf(bOrder[0]) + REACHED_BYTE, 1);
  store<u8>(stateOf(bOrder[0]) + DIRTY_BYTE, 1);
  // Only blocks from the first one that control goes back to, to the last one that goes back, may see their state grow.
  let loopStart = count;
  let loopEnd: u32 = 0;
  for (let k: u32 = 0; k < count; k++) {
    const first = min<u32>(backTo(bSucc0[bOrder[k]], k), backTo(bSucc1[bOrder[k]], k));
    if (first > k) continue;
    loopStart = min<u32>(loopStart, first);
    loopEnd = k + 1;
  }
  walkOnce(0, min<u32>(loopStart, count));
  let changed = loopStart < loopEnd;
  while (changed) {
    changed = false;
    for (let k = loopStart; k < loopEnd; k++) {
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
  for (let k = loopStart; k < loopEnd; k++) {
    loadState(bOrder[k]);
    walk(bOrder[k], true);
  }
  walkOnce(max<u32>(loopStart, loopEnd), count);
}

/** Place of a successor that stands at place k or before it, else the largest number. */
function backTo(successor: u32, k: u32): u32 {
  return successor != 0 && bIndex[successor] <= k ? bIndex[successor] : u32.MAX_VALUE;
}

/** Blocks at the places [from, to), whose states are whole when they are reached. */
function walkOnce(from: u32, to: u32): void {
  for (let k = from; k < to && spend(16); k++) {
    const b = bOrder[k];
    loadState(b);
    walk(b, true);
    if (bSucc0[b] != 0) mergeInto(bSucc0[b]);
    if (bSucc1[b] != 0) mergeInto(bSucc1[b]);
  }
}
