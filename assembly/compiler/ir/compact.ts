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

/** Numbers what is left of the slots in `moved`; the new limit. */
function numberSlots(): u32 {
  const end = slotLimit();
  let top: u32 = 1;
  moved[0] = 0;
  for (let s: u32 = 1; s < end; s++) {
    const user = slotUser[s];
    const at = s - instrSlots[user];
    moved[s] = top;
    if (instrHead[user] != 0 && at < (instrCounts[user] & 0xffff)) top++;
  }
  // Where an instruction without sources may stand.
  moved[end] = top;
  return top;
}

function moveSlots(): void {
  const end = slotLimit();
  for (let s: u32 = 1; s < end; s++) {
    const user = slotUser[s];
    if (instrHead[user] == 0 || s - instrSlots[user] >= (instrCounts[user] & 0xffff)) continue;
    const to = moved[s];
    const value = slotValue[s];
    slotValue[to] = instrScratch[value];
    slotUser[to] = instrScratch[user];
    // Those of an empty slot say nothing.
    slotNext[to] = value == 0 ? 0 : moved[slotNext[s]];
    slotPrev[to] = value == 0 ? 0 : moved[slotPrev[s]];
  }
}

function moveInstrs(): void {
  const end = instrLimit();
  for (let i: u32 = 1; i < end; i++) {
    const head = instrHead[i];
    if (head == 0) continue;
    const to = instrScratch[i];
    const count = instrCounts[i] & 0xffff;
    instrHead[to] = head;
    instrNext[to] = instrScratch[instrNext[i]];
    instrSlots[to] = moved[instrSlots[i]];
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
  const end = instrLimit();
  if (end < MIN_INSTRS || slotLimit() >= MAX_SLOTS) return;
  let top: u32 = 1;
  instrScratch[0] = 0;
  for (let i: u32 = 1; i < end; i++) {
    instrScratch[i] = top;
    if (instrHead[i] != 0) top++;
  }
  if (end - top < end >> 2) return;
  const slots = numberSlots();
  moveSlots();
  for (let n: u32 = 1; n < nodeLimit(); n++) {
    if (nodeKind[n] == Kind.BLOCK) {
      nodeFirst[n] = instrScratch[nodeFirst[n]];
      nodeLast[n] = instrScratch[nodeLast[n]];
    } else if (nodeKind[n] == Kind.IF) {
      nodeAux[n] = instrScratch[nodeAux[n]];
    }
  }
  moveInstrs();
  setLimits(top, slots);
  poolAgain();
}
