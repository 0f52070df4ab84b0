/**
 * Packs the rows of instructions and of slots: what erased ones leave takes as much memory as before, and every later
 * pass over a long shader goes through it. The order of the ids, of lists and of uses stays.
 */
import { U32Column } from "../../base/index.ts";
import { PASS_BASE } from "../memory-map.ts";
import { poolAgain } from "./builder.ts";
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
  instrScratch,
  instrSlots,
  instrUseCount,
  instrUses,
  MAX_SLOTS,
  nodeAux,
  nodeFirst,
  nodeKind,
  nodeLast,
  slotNext,
  slotPrev,
  slotUser,
  slotValue,
} from "./columns.ts";
import { instrLimit, setLimits, slotLimit } from "./instr.ts";
import { Kind, nodeLimit } from "./nodes.ts";

/** Where instructions below this fit the caches as they are. */
const MIN_INSTRS: u32 = 1 << 12;

/** New number of a slot. */
const moved = changetype<U32Column>(PASS_BASE);

/**
 * Numbers what is left of the instructions in instrScratch and of their slots in `moved`; false where slots do not stand
 * in the order of their instructions, or too few rows are empty.
 */
function number(): bool {
  const end = instrLimit();
  let top: u32 = 1;
  let slots: u32 = 1;
  let last: u32 = 0;
  instrScratch[0] = 0;
  moved[0] = 0;
  for (let i: u32 = 1; i < end; i++) {
    instrScratch[i] = top;
    if (instrHead[i] == 0) continue;
    top++;
    const from = instrSlots[i];
    const count = instrCounts[i] & 0xffff;
    if (count == 0) continue;
    if (from < last) return false;
    last = from + count;
    for (let k: u32 = 0; k < count; k++) moved[from + k] = slots + k;
    slots += count;
  }
  if (end - top < end >> 2) return false;
  instrTop = top;
  slotTop = slots;
  return true;
}

let instrTop: u32 = 0;
let slotTop: u32 = 0;

/** Moves the rows of instructions with those of their slots: all to where rows have been moved from already. */
function move(): void {
  const end = instrLimit();
  for (let i: u32 = 1; i < end; i++) {
    const head = instrHead[i];
    if (head == 0) continue;
    const to = instrScratch[i];
    const count = instrCounts[i] & 0xffff;
    const slots = instrSlots[i];
    const toSlots = count == 0 ? 0 : moved[slots];
    for (let k: u32 = 0; k < count; k++) {
      const s = slots + k;
      const value = slotValue[s];
      slotValue[toSlots + k] = instrScratch[value];
      slotUser[toSlots + k] = to;
      // Those of an empty slot say nothing.
      slotNext[toSlots + k] = value == 0 ? 0 : moved[slotNext[s]];
      slotPrev[toSlots + k] = value == 0 ? 0 : moved[slotPrev[s]];
    }
    instrHead[to] = head;
    instrNext[to] = instrScratch[instrNext[i]];
    instrSlots[to] = toSlots;
    instrCounts[to] = count | (count << 16);
    instrUses[to] = moved[instrUses[i]];
    instrUseCount[to] = instrUseCount[i];
    instrImm0[to] = instrImm0[i];
    instrBlock[to] = instrBlock[i];
    const from = changetype<usize>(instrImm1) + ((<usize>i) << 4);
    const more = changetype<usize>(instrImm1) + ((<usize>to) << 4);
    store<u64>(more, load<u64>(from));
    store<u32>(more, load<u32>(from, 8), 8);
    instrPrev[to] = instrScratch[instrPrev[i]];
    instrPlace[to] = instrPlace[i];
    instrFlagBits[to] = instrFlagBits[i];
  }
}

/** Packs the rows where there are many and a quarter of them is empty. The current cursor is lost; uses instrScratch. */
export function compact(): void {
  if (instrLimit() < MIN_INSTRS || slotLimit() >= MAX_SLOTS || !number()) return;
  for (let n: u32 = 1; n < nodeLimit(); n++) {
    if (nodeKind[n] == Kind.BLOCK) {
      nodeFirst[n] = instrScratch[nodeFirst[n]];
      nodeLast[n] = instrScratch[nodeLast[n]];
    } else if (nodeKind[n] == Kind.IF) {
      nodeAux[n] = instrScratch[nodeAux[n]];
    }
  }
  move();
  setLimits(instrTop, slotTop);
  poolAgain();
}
