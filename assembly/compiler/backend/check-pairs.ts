/**
 * The pairs (place, value) that `check` follows: each place that the final code gives a value, and those that copies and moves
 * of `spill` carry it to. A value is a unit, as selection named it. Values that copies connect have one root.
 */
import { Fail, Field8, fail, failed, Limit, U32Column } from "../../base/index.ts";
import { BACKEND_BASE } from "../memory-map.ts";
import { bFirst, bOrder, flowBytes, MAX_UNITS, mDst0, mDst1, mNext, vFixed, vUnit } from "./columns.ts";
import { P_ARGUMENT } from "./launch.ts";
import { isVreg, layoutLength, NO_REG, operandSize, operandUnit, operandVreg, units } from "./machine.ts";
import {
  DST0,
  DST1,
  firstGhost,
  firstTailGhost,
  isNamed,
  isSpillMove,
  joinedMove,
  NAMED_END,
  namedOp,
  nameOf,
  nextGhost,
  SRC0,
} from "./named.ts";
import {
  argumentPlace,
  behind,
  halfOf,
  isCopy,
  LANES,
  movedRegister,
  NOWHERE,
  placeOf,
  SLOTS,
  slotOf,
} from "./places.ts";
import { scratchBytes } from "./spill.ts";

const MAX_PLACES: u32 = SLOTS + MAX_UNITS / 4;

/** First pair of a place, its first bit under proof and their number. */
export const placePairs = changetype<U32Column>(changetype<usize>(flowBytes));
export const firstBit = changetype<U32Column>(changetype<usize>(flowBytes) + ((<usize>MAX_PLACES) << 2));
export const bitCount = changetype<U32Column>(changetype<usize>(flowBytes) + 2 * ((<usize>MAX_PLACES) << 2));
const BY_UNIT: usize = changetype<usize>(flowBytes) + 3 * ((<usize>MAX_PLACES) << 2);
/** First pair of a unit; the unit that stands for all that copies connect with it; the next one of those; 1 for a unit under proof. */
export const unitPairs = changetype<U32Column>(BY_UNIT);
export const unitRoot = changetype<U32Column>(BY_UNIT + ((<usize>MAX_UNITS) << 2));
export const unitNext = changetype<U32Column>(BY_UNIT + 2 * ((<usize>MAX_UNITS) << 2));
export const unitProved = changetype<U32Column>(BY_UNIT + 3 * ((<usize>MAX_UNITS) << 2));

/** Pairs, from 1. */
const MAX_PAIRS: u32 = 1 << 19;
export const pairPlace = changetype<Field8>(NAMED_END);
export const pairUnit = changetype<Field8>(NAMED_END + 4);
export const pairOfUnit = changetype<Field8>(NAMED_END + 8);
export const pairOfPlace = changetype<Field8>(NAMED_END + 12);
/** Its bit in the states, from 1; 0 for those that are not under proof. */
export const pairBit = changetype<Field8>(NAMED_END + 16);
/** Pairs that a move carries, until it has read all. */
export const carried = changetype<U32Column>(NAMED_END + ((<usize>MAX_PAIRS) << 5));
export const STATES_AT: usize = NAMED_END + ((<usize>MAX_PAIRS) << 5) + ((<usize>MAX_PAIRS) << 2);
export const STATES_BYTES: usize = BACKEND_BASE - STATES_AT;

let pairs: u32 = 1;

export function findPair(place: u32, unit: u32): u32 {
  let p = unitPairs[unit];
  while (p != 0 && pairPlace[p] != place) p = pairOfUnit[p];
  return p;
}
function addPair(place: u32, unit: u32): void {
  if (place == NOWHERE || findPair(place, unit) != 0) return;
  if (pairs >= MAX_PAIRS || place >= MAX_PLACES) {
    fail(Fail.LIMIT, Limit.MACHINE, MAX_PAIRS, 0);
    return;
  }
  const p = pairs++;
  pairPlace[p] = place;
  pairUnit[p] = unit;
  pairBit[p] = 0;
  pairOfUnit[p] = unitPairs[unit];
  pairOfPlace[p] = placePairs[place];
  unitPairs[unit] = p;
  placePairs[place] = p;
}

function rootOf(u: u32): u32 {
  while (unitRoot[u] != u) {
    unitRoot[u] = unitRoot[unitRoot[u]];
    u = unitRoot[u];
  }
  return u;
}
function pairsOf(final: u32, first: u32, name: u32): void {
  // What `spill` removed has no register.
  if (!isVreg(name) || isVreg(final)) return;
  const size = operandSize(name);
  for (let k: u32 = 0; k < size; k++) addPair(placeOf(final, first + k), operandUnit(name) + k);
}
function addPairs(i: u32): void {
  if (isSpillMove(i)) {
    const name = nameOf(i, SRC0);
    const slot = slotOf(i);
    for (let k: u32 = 0; k < operandSize(name); k++) {
      addPair(behind(slot, k), operandUnit(name) + k);
      addPair(movedRegister(i, k), operandUnit(name) + k);
    }
    return;
  }
  if (!isNamed(i)) return;
  const joined = joinedMove(i);
  if (joined != 0) {
    pairsOf(mDst0[i], halfOf(i, i), nameOf(i, DST0));
    pairsOf(mDst0[i], halfOf(i, joined), nameOf(joined, DST0));
    connect(joined, halfOf(i, joined), mDst0[i]);
    connect(i, halfOf(i, i), mDst0[i]);
  } else {
    pairsOf(mDst0[i], 0, nameOf(i, DST0));
    pairsOf(mDst1[i], 0, nameOf(i, DST1));
    connect(i, 0, mDst0[i]);
  }
  const v = operandVreg(nameOf(i, DST0));
  if (namedOp(i) != P_ARGUMENT || vFixed[v] == NO_REG) return;
  for (let k: u32 = 0; k < operandSize(nameOf(i, DST0)); k++) addPair(argumentPlace(v) + k, vUnit[v] + k);
}
/** A copy's destination, the final operand from component `first` on, gets what its source holds. */
function connect(i: u32, first: u32, final: u32): void {
  if (!isCopy(i)) return;
  pairsOf(final, first, nameOf(i, SRC0));
  const size = operandSize(nameOf(i, DST0));
  for (let k: u32 = 0; k < size; k++) {
    const a = rootOf(operandUnit(nameOf(i, DST0)) + k);
    const b = rootOf(operandUnit(nameOf(i, SRC0)) + k);
    unitRoot[max<u32>(a, b)] = min<u32>(a, b);
  }
}
/** Whether the one unit may be in a slot that the other one has; true when that is new. */
function share(to: u32, from: u32): bool {
  const before = pairs;
  for (let p = unitPairs[from]; p != 0; p = pairOfUnit[p]) if (pairPlace[p] >= LANES) addPair(pairPlace[p], to);
  return pairs != before;
}
/** Copies within a slot, which `spill` took out, name what no other instruction may: it is where its neighbours are. */
function sharePairs(first: u32): bool {
  let changed = false;
  for (let g = first; g != 0; g = nextGhost(g)) {
    if (!isCopy(g) || !isVreg(mDst0[g])) continue;
    const dst = operandUnit(nameOf(g, DST0));
    const src = operandUnit(nameOf(g, SRC0));
    for (let k: u32 = 0; k < operandSize(nameOf(g, DST0)); k++) {
      if (share(dst + k, src + k)) changed = true;
      if (share(src + k, dst + k)) changed = true;
    }
  }
  return changed;
}
function shareAllPairs(): void {
  for (let changed = true; changed && !failed(); ) {
    changed = false;
    for (let k: u32 = 0; k < layoutLength(); k++) {
      const b = bOrder[k];
      for (let i = bFirst[b]; i != 0; i = mNext[i]) if (sharePairs(firstGhost(i))) changed = true;
      if (sharePairs(firstTailGhost(b))) changed = true;
    }
  }
}

/** Finds all pairs; the number of places, 0 where there is no room. */
export function collectPairs(): u32 {
  const places = SLOTS + (scratchBytes() >> 2);
  if (places > MAX_PLACES) {
    fail(Fail.LIMIT, Limit.MACHINE, MAX_PLACES, 0);
    return 0;
  }
  pairs = 1;
  placePairs.clear(0, places);
  unitPairs.clear(0, units());
  unitNext.clear(0, units());
  for (let u: u32 = 0; u < units(); u++) unitRoot[u] = u;
  for (let k: u32 = 0; k < layoutLength() && !failed(); k++) {
    const b = bOrder[k];
    for (let i = bFirst[b]; i != 0; i = mNext[i]) {
      for (let g = firstGhost(i); g != 0; g = nextGhost(g)) addPairs(g);
      addPairs(i);
    }
    for (let g = firstTailGhost(b); g != 0; g = nextGhost(g)) addPairs(g);
  }
  shareAllPairs();
  for (let u = units() - 1; u > 0; u--) {
    const root = rootOf(u);
    if (root == u) continue;
    unitNext[u] = unitNext[root];
    unitNext[root] = u;
  }
  return places;
}
