/**
 * Instructions: rows of the columns, in doubly linked lists of their blocks, with a use list per value. Id 0 is none.
 * Over a capacity the run fails with a limit and the last row is handed out again and again: harmless, as nothing is
 * read after a failure; `linked` refuses to link it twice.
 */
import { Fail, fail, Limit, place } from "../../base/index.ts";
import { InstrFlag, Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import {
  instrBlock,
  instrCounts,
  instrFlagBits,
  instrHead,
  instrImm0,
  instrImm1,
  instrNext,
  instrPlace,
  instrPrev,
  instrSlots,
  instrUseCount,
  instrUses,
  MAX_INSTRS,
  MAX_OPS,
  MAX_SLOTS,
  madeOps,
  nodeFirst,
  nodeLast,
  slotNext,
  slotPrev,
  slotUser,
  slotValue,
} from "./columns.ts";

let instrTop: u32 = 1;
let slotTop: u32 = 1;

export function resetInstrs(): void {
  instrTop = 1;
  slotTop = 1;
  madeOps.clear(0, MAX_OPS);
}

/** Whether the shader has had an instruction of the op: without one a pass for it has nothing to do. */
export function hasMade(op: u32): bool {
  return madeOps[op] != 0;
}
/** As `hasMade`, of the ops from `first` to `last`. */
export function hasMadeAny(first: u32, last: u32): bool {
  for (let op = first; op <= last; op++) if (madeOps[op] != 0) return true;
  return false;
}

/** All instruction ids are below this. */
export function instrLimit(): u32 {
  return instrTop;
}

/** All slots are below this. */
export function slotLimit(): u32 {
  return slotTop;
}
/** Of `compact`: rows from here on are free again. */
export function setLimits(instrs: u32, slots: u32): void {
  instrTop = instrs;
  slotTop = slots;
}

export function opOf(i: u32): u32 {
  return instrHead[i] & 0xffff;
}
/** Bits of the value (each component): 1 or 32; 0 where there is no result. */
export function widthOf(i: u32): u32 {
  return (instrHead[i] >> 16) & 0xff;
}
/** Components of the value; 0 where there is no result. */
export function componentsOf(i: u32): u32 {
  return instrHead[i] >> 24;
}
export function setHead(i: u32, op: u32, width: u32, components: u32): void {
  instrHead[i] = op | (width << 16) | (components << 24);
  madeOps[op] = 1;
}
export function setOp(i: u32, op: u32): void {
  instrHead[i] = (instrHead[i] & 0xffff0000) | op;
  madeOps[op] = 1;
}
export function flagsOf(i: u32): u32 {
  return instrFlagBits[i];
}
export function setFlags(i: u32, flags: u32): void {
  instrFlagBits[i] = flags;
}
export function isDivergent(i: u32): bool {
  return (instrFlagBits[i] & InstrFlag.DIV) != 0;
}
export function isPure(i: u32): bool {
  return (opFlags(opOf(i)) & OpFlag.PURE) != 0;
}
/** Block of an instruction; 0 for the condition of an if node and for erased instructions. */
export function blockOf(i: u32): u32 {
  return instrBlock[i];
}
export function nextInstr(i: u32): u32 {
  return instrNext[i];
}
export function prevInstr(i: u32): u32 {
  return instrPrev[i];
}
export function firstInstr(block: u32): u32 {
  return nodeFirst[block];
}
export function lastInstr(block: u32): u32 {
  return nodeLast[block];
}
export function srcCount(i: u32): u32 {
  return instrCounts[i] & 0xffff;
}
/** Source k, a value id. */
export function src(i: u32, k: u32): u32 {
  return slotValue[instrSlots[i] + k];
}
/** Immediate k, 0 to 3, in the order of the op's row: the first one apart from the others. */
export function imm(i: u32, k: u32): u32 {
  if (k == 0) return instrImm0[i];
  return load<u32>(changetype<usize>(instrImm1) + ((<usize>i) << 4) + ((<usize>(k - 1)) << 2));
}
export function setImm(i: u32, k: u32, value: u32): void {
  if (k == 0) instrImm0[i] = value;
  else store<u32>(changetype<usize>(instrImm1) + ((<usize>i) << 4) + ((<usize>(k - 1)) << 2), value);
}
/** How many source slots read the value. */
export function useCount(value: u32): u32 {
  return instrUseCount[value];
}
/** First use slot of a value, 0 for none; then `nextUse`. */
export function firstUse(value: u32): u32 {
  return instrUses[value];
}
export function nextUse(slot: u32): u32 {
  return slotNext[slot];
}
/** The instruction that reads through a slot, and which of its sources the slot is. */
export function userOf(slot: u32): u32 {
  return slotUser[slot];
}
export function sourceIndex(slot: u32): u32 {
  return slot - instrSlots[slotUser[slot]];
}
export function isConst(i: u32): bool {
  return opOf(i) == Op.CONST;
}
/** Raw bits of a `const`. */
export function constBits(i: u32): u32 {
  return instrImm0[i];
}

function takeSlots(count: u32): u32 {
  if (slotTop + count > MAX_SLOTS) {
    fail(Fail.LIMIT, Limit.SOURCES, MAX_SLOTS, 0);
    slotTop = 1;
  }
  const start = slotTop;
  slotTop += count;
  return start;
}

/** A new unlinked instruction with `sources` empty sources. Width and components 0: no result. */
export function newInstr(op: u32, width: u32, components: u32, sources: u32): u32 {
  const n: u32 = sources > 0xffff ? 0xffff : sources;
  if (sources > 0xffff) fail(Fail.LIMIT, Limit.SOURCES, 0xffff, 0);
  const i = newInstrWith(op, width | (components << 8), n);
  const slots = instrSlots[i];
  for (let k: u32 = 0; k < n; k++) writeSlot(slots + k, 0, i, 0);
  return i;
}

/** The whole row of a new instruction, two fields a store: the order is that of `columns.ts`. */
function writeRow(i: u32, head: u32, sources: u32, slots: u32): void {
  const row = changetype<usize>(instrHead) + ((<usize>i) << 5);
  // head, next; slots, counts; uses, use count; imm0, block
  store<u64>(row, <u64>head);
  store<u64>(row, <u64>slots | ((<u64>(sources | (sources << 16))) << 32), 8);
  store<u64>(row, 0, 16);
  store<u64>(row, 0, 24);
  // imm1, imm2; imm3, prev
  const more = changetype<usize>(instrImm1) + ((<usize>i) << 4);
  store<u64>(more, 0);
  store<u64>(more, 0, 8);
  instrPlace[i] = place();
  instrFlagBits[i] = 0;
}

/** A slot: value; user, next, and no slot before it. */
function writeSlot(slot: u32, value: u32, user: u32, next: u32): void {
  slotValue[slot] = value;
  const row = changetype<usize>(slotUser) + ((<usize>slot) << 4);
  store<u64>(row, <u64>user | ((<u64>next) << 32));
  slotPrev[slot] = 0;
}

/**
 * A new unlinked instruction whose sources `firstSource` sets, each of them once. `shape`: bits, components << 8; 0: no
 * result.
 */
export function newInstrWith(op: u32, shape: u32, sources: u32): u32 {
  let i = instrTop;
  if (i >= MAX_INSTRS) {
    fail(Fail.LIMIT, Limit.INSTRUCTIONS, MAX_INSTRS, 0);
    i = MAX_INSTRS - 1;
  } else {
    instrTop = i + 1;
  }
  madeOps[op] = 1;
  writeRow(i, op | (shape << 16), sources, takeSlots(sources));
  return i;
}

/** Makes `value` source k of an instruction of `newInstrWith`. */
export function firstSource(i: u32, k: u32, value: u32): void {
  const slot = instrSlots[i] + k;
  const head = instrUses[value];
  writeSlot(slot, value, i, value == 0 ? 0 : head);
  if (value == 0) return;
  if (head != 0) slotPrev[head] = slot;
  instrUses[value] = slot;
  instrUseCount[value] = instrUseCount[value] + 1;
}

function unlinkSlot(slot: u32): void {
  const value = slotValue[slot];
  if (value == 0) return;
  const next = slotNext[slot];
  const prev = slotPrev[slot];
  if (prev != 0) slotNext[prev] = next;
  else instrUses[value] = next;
  if (next != 0) slotPrev[next] = prev;
  instrUseCount[value] = instrUseCount[value] - 1;
  slotValue[slot] = 0;
}

function linkSlot(slot: u32, value: u32): void {
  slotValue[slot] = value;
  if (value == 0) return;
  const head = instrUses[value];
  slotNext[slot] = head;
  slotPrev[slot] = 0;
  if (head != 0) slotPrev[head] = slot;
  instrUses[value] = slot;
  instrUseCount[value] = instrUseCount[value] + 1;
}

/** Makes `value` (0: nothing) source k. */
export function setSrc(i: u32, k: u32, value: u32): void {
  const slot = instrSlots[i] + k;
  unlinkSlot(slot);
  linkSlot(slot, value);
}

/** Adds a source at the end; slots move when their capacity is used up. */
export function addSrc(i: u32, value: u32): void {
  const count = srcCount(i);
  const capacity = instrCounts[i] >> 16;
  if (count == capacity) {
    const grown: u32 = capacity == 0 ? 2 : min<u32>(capacity * 2, 0xffff);
    if (grown == capacity) {
      fail(Fail.LIMIT, Limit.SOURCES, 0xffff, 0);
      return;
    }
    const old = instrSlots[i];
    const slots = takeSlots(grown);
    for (let k: u32 = 0; k < grown; k++) {
      slotValue[slots + k] = 0;
      slotUser[slots + k] = i;
      slotNext[slots + k] = 0;
      slotPrev[slots + k] = 0;
    }
    for (let k: u32 = 0; k < count; k++) {
      const v = slotValue[old + k];
      unlinkSlot(old + k);
      linkSlot(slots + k, v);
    }
    instrSlots[i] = slots;
    instrCounts[i] = (grown << 16) | count;
  }
  instrCounts[i] = instrCounts[i] + 1;
  linkSlot(instrSlots[i] + count, value);
}

/** Takes source k out; later ones move down. */
export function removeSrc(i: u32, k: u32): void {
  const count = srcCount(i);
  for (let j = k; j + 1 < count; j++) setSrc(i, j, src(i, j + 1));
  setSrc(i, count - 1, 0);
  instrCounts[i] = instrCounts[i] - 1;
}

/** Releases all sources. */
export function clearSources(i: u32): void {
  const count = srcCount(i);
  for (let k: u32 = 0; k < count; k++) setSrc(i, k, 0);
  instrCounts[i] = instrCounts[i] & 0xffff0000;
}

/** Links a free instruction into a block before `at` (0: at the end). */
export function insertInstr(i: u32, block: u32, at: u32): void {
  if (instrBlock[i] != 0) return;
  instrBlock[i] = block;
  const prev = at != 0 ? instrPrev[at] : nodeLast[block];
  instrPrev[i] = prev;
  instrNext[i] = at;
  if (prev != 0) instrNext[prev] = i;
  else nodeFirst[block] = i;
  if (at != 0) instrPrev[at] = i;
  else nodeLast[block] = i;
}

/** Takes an instruction out of its block; its sources and uses stay. */
export function unlinkInstr(i: u32): void {
  const block = instrBlock[i];
  if (block == 0) return;
  const prev = instrPrev[i];
  const next = instrNext[i];
  if (prev != 0) instrNext[prev] = next;
  else nodeFirst[block] = next;
  if (next != 0) instrPrev[next] = prev;
  else nodeLast[block] = prev;
  instrBlock[i] = 0;
  instrPrev[i] = 0;
  instrNext[i] = 0;
}

/** Deletes an instruction: unlinks it and releases its sources. Its value must have no uses left. */
export function erase(i: u32): void {
  unlinkInstr(i);
  clearSources(i);
  instrHead[i] = 0;
}

/** Makes all readers of `from` read `to`. */
export function replaceUses(from: u32, to: u32): void {
  if (from == to) return;
  for (let slot = instrUses[from]; slot != 0; slot = instrUses[from]) {
    unlinkSlot(slot);
    linkSlot(slot, to);
  }
}
