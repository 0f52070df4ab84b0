/**
 * Registers for virtual registers: in the order in which they start to live, each takes the lowest one (its hint first)
 * whose holders never live with it. Live segments have holes, and so has the register file. Where the file is too small
 * the cheapest of those that want a place is marked to be spilled: many uses and a short life are dear. The run fails
 * with OUT_OF_REGISTERS at the place of the value where even that does not help.
 */
import { Fail, failAt, spend, U32Column } from "../../base/index.ts";
import { leaderOf, leaderShift } from "./coalesce.ts";
import {
  bFirst,
  bOrder,
  flowBytes,
  mDst0,
  mDst1,
  mNext,
  mPlace,
  segEnd,
  segNext,
  segOwner,
  segStart,
  uEnd,
  uSegments,
  vFixed,
  vHint,
  vLeader,
  vOrder,
  vReg,
  vStart,
  vUnit,
} from "./columns.ts";
import {
  Hw,
  hwCode,
  isVreg,
  layoutLength,
  NO_REG,
  operandComponent,
  operandVreg,
  RegClass,
  source,
  vregClass,
  vregSize,
  vregs,
} from "./machine.ts";
import { isKept, markSpills, peakOf, weighRegisters, weight } from "./pressure.ts";
import { isLaneRegister, vSeen, vSlot } from "./slots.ts";
import { sortByKey } from "./sort.ts";
import { laneRegister, laneRegisters } from "./spill.ts";

/** SGPRs 0 to 105 and VCC_LO, VCC_HI. */
let sgprCount: u32 = 108;
let vgprCount: u32 = 256;
/** Of these tuples may use SGPRs below 106 only: VCC is no part of one. */
const TUPLE_SGPRS: u32 = 106;

/** Live segments of all that holds a register, in order (`segOwner` says whose each is); SGPR n at n, VGPR n at 128 + n. */
const held = changetype<U32Column>(changetype<usize>(flowBytes));
const HELD_VGPR: u32 = 128;
/** By register as above: up to here it holds a value without a hole. Registers are asked for in the order of starts. */
const busyUntil = changetype<U32Column>(changetype<usize>(flowBytes) + 2048);
const spare = changetype<U32Column>(changetype<usize>(flowBytes) + 4096);

/** The registers by 32. */
const GROUPS: u32 = 12;
/** By 32 registers as above: those that `busyUntil` keeps as of `awake`; a search passes them over together. */
const busy = memory.data(12 * 4, 4);
/** By 32 registers: until then `busy` says what `busyUntil` says. */
const awake = memory.data(12 * 4, 4);

/** Makes the file smaller, for tests of spilling. @public */
export function limitRegisters(sgprs: u32, vgprs: u32): void {
  sgprCount = sgprs;
  vgprCount = vgprs;
}

let topSgpr: u32 = 0;
let topVgpr: u32 = 0;

/** Highest SGPR used + 1, VCC left out. */
export function usedSgprs(): u32 {
  return topSgpr;
}
/** Highest VGPR used + 1. */
export function usedVgprs(): u32 {
  return topVgpr;
}

/** A register holds a value up to a place. */
function setBusy(slot: u32, until: u32): void {
  if (until <= busyUntil[slot]) return;
  busyUntil[slot] = until;
  const at = (<usize>(slot >> 5)) << 2;
  store<u32>(busy + at, load<u32>(busy + at) | ((<u32>1) << (slot & 31)));
  if (until < load<u32>(awake + at)) store<u32>(awake + at, until);
}

/** Of 32 registers those that hold a value at `start`, which never decreases, without a look at their holders. */
function busyAt(group: u32, start: u32): u32 {
  const at = (<usize>group) << 2;
  let bits = load<u32>(busy + at);
  if (start < load<u32>(awake + at)) return bits;
  let least: u32 = NO_REG;
  for (let rest = bits; rest != 0; rest &= rest - 1) {
    const until = busyUntil[(group << 5) + ctz<u32>(rest)];
    if (until <= start) bits &= ~(rest & (0 - rest));
    else least = min<u32>(least, until);
  }
  store<u32>(busy + at, bits);
  store<u32>(awake + at, least);
  return bits;
}

/** The first live segment of what a register holds that ends behind `start`; what ends before it is dropped. */
function heldFrom(slot: u32, start: u32): u32 {
  let x = held[slot];
  while (x != 0 && segEnd[x] <= start) x = segNext[x];
  held[slot] = x;
  return x;
}

/** Whether nothing that a register holds lives together with the unit. */
function isFree(slot: u32, unit: u32, start: u32): bool {
  let y = uSegments[unit];
  if (y != 0 && segStart[y] < busyUntil[slot]) return false;
  let x = heldFrom(slot, start);
  while (x != 0 && y != 0) {
    if (segEnd[x] <= segStart[y]) x = segNext[x];
    else if (segEnd[y] <= segStart[x]) y = segNext[y];
    else {
      if (segStart[x] <= start) setBusy(slot, segEnd[x]);
      return false;
    }
  }
  return true;
}

/** Gives the unit's live segments to a register where they are free, for the owner `v`: the two lists become one. */
function hold(slot: u32, unit: u32, v: u32): void {
  let x = held[slot];
  let y = uSegments[unit];
  let last: u32 = 0;
  while (y != 0) {
    while (x != 0 && segStart[x] < segStart[y]) {
      last = x;
      x = segNext[x];
    }
    const next = segNext[y];
    segOwner[y] = v;
    if (last == 0) held[slot] = y;
    else segNext[last] = y;
    segNext[y] = x;
    last = y;
    y = next;
  }
}

function fits(v: u32, base: u32, reg: u32): bool {
  const size = vregSize(v);
  const start = vStart[v];
  const unit = vUnit[v];
  for (let k: u32 = 0; k < size; k++) if (!isFree(base + reg + k, unit + k, start)) return false;
  return true;
}

/** Of 32 registers those at which a tuple would meet one that holds a value where a component starts with the tuple. */
function blockedAt(v: u32, group: u32): u32 {
  const start = vStart[v];
  const next: u64 = group + 1 < GROUPS ? busyAt(group + 1, start) : 0;
  const held = <u64>busyAt(group, start) | (next << 32);
  let blocked: u64 = 0;
  for (let k: u32 = 0; k < vregSize(v); k++) {
    const segment = uSegments[vUnit[v] + k];
    if (segment != 0 && segStart[segment] == start) blocked |= held >> k;
  }
  return <u32>blocked;
}

/** Bits at the multiples of 1, 2 or 4. */
function multiples(step: u32): u32 {
  return step == 1 ? 0xffff_ffff : step == 2 ? 0x5555_5555 : 0x1111_1111;
}

function take(v: u32, base: u32, reg: u32): void {
  const size = vregSize(v);
  const unit = vUnit[v];
  for (let k: u32 = 0; k < size; k++) {
    const slot = base + reg + k;
    const segment = uSegments[unit + k];
    hold(slot, unit + k, v);
    // Of a tuple those that live from its start on: what is asked for later starts no earlier.
    if (segment != 0 && segStart[segment] == vStart[v]) setBusy(slot, segEnd[segment]);
  }
  vReg[v] = reg;
  const end = reg + size;
  if (base == HELD_VGPR) topVgpr = max<u32>(topVgpr, end);
  else if (reg < TUPLE_SGPRS) topSgpr = max<u32>(topSgpr, end);
}

/** The register that the hint wants for v's component 0, or NO_REG. */
function hinted(v: u32): u32 {
  const hint = vHint[v];
  if (hint == 0) return NO_REG;
  if (!isVreg(hint)) return hwCode(hint);
  const other = leaderOf(operandVreg(hint));
  const shift = leaderShift() + operandComponent(hint);
  return vReg[other] == NO_REG ? NO_REG : vReg[other] + shift;
}

/** Source place of the first instruction that has to do with `v`, 0 where none has. */
function place(v: u32): u32 {
  for (let k: u32 = 0; k < layoutLength(); k++) {
    for (let i = bFirst[bOrder[k]]; i != 0; i = mNext[i]) {
      if (isOf(mDst0[i], v) || isOf(mDst1[i], v)) return mPlace[i];
      for (let s: u32 = 0; s < 4; s++) if (isOf(source(i, s), v)) return mPlace[i];
    }
  }
  return 0;
}
function isOf(operand: u32, v: u32): bool {
  return isVreg(operand) && operandVreg(operand) == v;
}

/** Weight of all that stand in v's way at `reg`; over `best` it does not matter how far. */
function weightAt(v: u32, base: u32, reg: u32, best: f64): f64 {
  const size = vregSize(v);
  let sum: f64 = 0;
  const stamp = ++looks;
  for (let k: u32 = 0; k < size; k++) {
    let x = heldFrom(base + reg + k, vStart[v]);
    let y = uSegments[vUnit[v] + k];
    while (x != 0 && y != 0 && sum < best) {
      if (segEnd[x] <= segStart[y]) x = segNext[x];
      else if (segEnd[y] <= segStart[x]) y = segNext[y];
      else {
        const owner = segOwner[x];
        x = segNext[x];
        if (vSeen[owner] == stamp) continue;
        vSeen[owner] = stamp;
        sum += weight(owner);
      }
    }
  }
  return sum;
}

/** Marks v for spilling and takes it out of its registers. */
function evict(v: u32, base: u32): void {
  vSlot[v] = 1;
  spilling = true;
  const reg = vReg[v];
  if (reg == NO_REG) return;
  vReg[v] = NO_REG;
  const size = vregSize(v);
  for (let k: u32 = 0; k < size; k++) {
    busyUntil[base + reg + k] = 0;
    store<u32>(awake + ((<usize>((base + reg + k) >> 5)) << 2), 0);
    let before: u32 = 0;
    for (let x = held[base + reg + k]; x != 0; x = segNext[x]) {
      if (segOwner[x] != v) before = x;
      else if (before == 0) held[base + reg + k] = segNext[x];
      else segNext[before] = segNext[x];
    }
  }
}

/** Makes room for v, or gives v itself up. */
function spillFor(v: u32, base: u32, align: u32, limit: u32): bool {
  const size = vregSize(v);
  let best = weight(v);
  let at = NO_REG;
  for (let reg: u32 = 0; reg + size <= limit; reg += align) {
    const sum = weightAt(v, base, reg, best);
    if (sum >= best) continue;
    best = sum;
    at = reg;
  }
  if (at == NO_REG) {
    if (isKept(best)) return false;
    evict(v, base);
    return true;
  }
  for (let k: u32 = 0; k < size; k++) {
    let x = held[base + at + k];
    let y = uSegments[vUnit[v] + k];
    while (x != 0 && y != 0) {
      if (segEnd[x] <= segStart[y]) x = segNext[x];
      else if (segEnd[y] <= segStart[x]) y = segNext[y];
      else {
        const next = segNext[x];
        evict(segOwner[x], base);
        x = next;
      }
    }
  }
  take(v, base, at);
  return true;
}

/** Looks at what stands in the way, for `vSeen`. */
let looks: u32 = 0;
let spilling: bool = false;

function assign(v: u32, spill: bool): bool {
  const size = vregSize(v);
  const vector = vregClass(v) == RegClass.VGPR;
  const base: u32 = vector ? HELD_VGPR : 0;
  if (vFixed[v] != NO_REG) {
    if (!fits(v, base, vFixed[v])) {
      failAt(place(v), Fail.BACKEND_INVALID, 1, v, vFixed[v]);
      return false;
    }
    take(v, base, vFixed[v]);
    return true;
  }
  const align: u32 = vector || size == 1 ? 1 : size == 2 ? 2 : 4;
  const limit: u32 = vector ? vgprCount - laneRegisters() : size == 1 ? sgprCount : min<u32>(TUPLE_SGPRS, sgprCount);
  const wanted = hinted(v);
  if (wanted != NO_REG && wanted % align == 0 && wanted + size <= limit && fits(v, base, wanted)) {
    take(v, base, wanted);
    return true;
  }
  if (size == 1) {
    const start = vStart[v];
    for (let reg: u32 = 0; reg < limit; reg += 32) {
      for (let rest = ~busyAt((base + reg) >> 5, start); rest != 0; rest &= rest - 1) {
        const at = reg + ctz<u32>(rest);
        if (at >= limit) break;
        if (!isFree(base + at, vUnit[v], start)) continue;
        take(v, base, at);
        return true;
      }
    }
  } else {
    for (let reg: u32 = 0; reg + size <= limit; reg += 32) {
      for (let rest = ~blockedAt(v, (base + reg) >> 5) & multiples(align); rest != 0; rest &= rest - 1) {
        const at = reg + ctz<u32>(rest);
        if (at + size > limit) break;
        if (!fits(v, base, at)) continue;
        take(v, base, at);
        return true;
      }
    }
  }
  if (!spill) return false;
  if (spillFor(v, base, align, limit)) return true;
  failAt(place(v), Fail.OUT_OF_REGISTERS, vector ? 1 : 0, limit, 0);
  return false;
}

/** Half positions that all SGPRs and all VGPRs live, holes left out of account. */
let scalarLifetimes: u64 = 0;
let vectorLifetimes: u64 = 0;

let ordered: u32 = 0;
/** Registers in `vOrder`. */
export function orderedCount(): u32 {
  return ordered;
}

/** Fills `vOrder` with the registers that want a place, in the order of their starts; their number. */
function orderByStart(): u32 {
  scalarLifetimes = 0;
  vectorLifetimes = 0;
  let count: u32 = 0;
  for (let v: u32 = 1; v < vregs(); v++) {
    vSlot[v] = 0;
    vReg[v] = NO_REG;
    if (vLeader[v] != v || isLaneRegister(v)) continue;
    let start = NO_REG;
    const size = vregSize(v);
    for (let k: u32 = 0; k < size; k++) {
      const s = uSegments[vUnit[v] + k];
      if (s != 0) start = min<u32>(start, segStart[s]);
    }
    if (start == NO_REG) continue;
    vStart[v] = start;
    vOrder[count++] = v;
    vSeen[v] = 0;
    const lifetime = <u64>size * (uEnd[vUnit[v]] - start);
    if (vregClass(v) == RegClass.VGPR) vectorLifetimes += lifetime;
    else scalarLifetimes += lifetime;
  }
  sortByKey(vOrder, spare, count, changetype<usize>(vStart), 5);
  ordered = count;
  return count;
}

/**
 * Whether far more registers live at once than there are, so that any other order or selection would have too few as well.
 * Marks (`vSlot`) those that should go to memory then.
 */
export function isOverfull(): bool {
  const count = orderByStart();
  if (count == 0) return false;
  // Only where there are many on average is it worth to count them place by place.
  const end = <u64>uEnd[vUnit[vOrder[count - 1]]];
  const scalars = scalarLifetimes > (<u64>sgprCount >> 1) * end && peakOf(RegClass.SGPR) > 2 * sgprCount;
  const most = vgprCount - laneRegisters();
  const vectors = vectorLifetimes > (<u64>most >> 2) * end && peakOf(RegClass.VGPR) > most + (most >> 2);
  if (!scalars && !vectors) return false;
  weighRegisters();
  let lanes: u32 = 0;
  if (scalars) {
    peakOf(RegClass.SGPR);
    lanes = (markSpills(count, sgprCount, RegClass.SGPR) >> 5) + 1;
  }
  peakOf(RegClass.VGPR);
  markSpills(count, most - min<u32>(lanes, most >> 1), RegClass.VGPR);
  return true;
}

/**
 * Gives each live register a place in the file; false when it is too small. With `spill`, those that should go to memory
 * are marked (`vSlot`) then.
 */
export function allocate(spill: bool): bool {
  const count = orderByStart();
  held.clear(0, HELD_VGPR + 256);
  busyUntil.clear(0, HELD_VGPR + 256);
  memory.fill(busy, 0, 12 * 4);
  memory.fill(awake, 0xff, 12 * 4);
  topSgpr = 0;
  topVgpr = 0;
  spilling = false;
  if (spill) weighRegisters();
  looks = 0;
  let good = true;
  for (let k: u32 = 0; k < count && good; k++) good = spend(4) && assign(vOrder[k], spill);
  if (!good || spilling) return false;
  for (let k: u32 = 0; k < laneRegisters(); k++) vReg[laneRegister(k)] = topVgpr++;
  return true;
}

/** Allocated register of a virtual-register operand: SGPR number, or 256 + VGPR number. */
export function registerOf(operand: u32): u32 {
  const v = operandVreg(operand);
  const leader = leaderOf(v);
  const shift = leaderShift() + operandComponent(operand);
  return vReg[leader] + shift + (vregClass(v) == RegClass.VGPR ? <u32>Hw.VGPR0 : 0);
}
