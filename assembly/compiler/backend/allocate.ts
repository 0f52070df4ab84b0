/**
 * Registers for virtual registers: in the order in which they start to live, each takes the lowest one (its hint first)
 * whose holders never live with it. Live segments have holes, and so has the register file. Where the file is too small
 * the cheapest of those that want a place is marked to be spilled: many uses and a short life are dear. The run fails
 * with OUT_OF_REGISTERS at the place of the value where even that does not help.
 */
import { Fail, failAt, spend, U32Column } from "../../base/index.ts";
import { leaderOf, leaderShift } from "./coalesce.ts";
import {
  bDepth,
  bFirst,
  bOrder,
  flowBytes,
  linkNext,
  linkValue,
  mDst0,
  mDst1,
  mNext,
  mPlace,
  segEnd,
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
  link,
  linkMark,
  linkRelease,
  madeWholeWave,
  NO_REG,
  operandComponent,
  operandVreg,
  RegClass,
  source,
  vregClass,
  vregSize,
  vregs,
} from "./machine.ts";
import { interfere } from "./segments.ts";
import { sortByKey } from "./sort.ts";
import { isLaneRegister, isTemporary, laneRegister, laneRegisters, uOwner, vCost, vSlot } from "./spill.ts";

/** SGPRs 0 to 105 and VCC_LO, VCC_HI. */
let sgprCount: u32 = 108;
let vgprCount: u32 = 256;
/** Of these tuples may use SGPRs below 106 only: VCC is no part of one. */
const TUPLE_SGPRS: u32 = 106;

/** First link of the units that hold a register; SGPR n at n, VGPR n at 128 + n. */
const held = changetype<U32Column>(changetype<usize>(flowBytes));
const HELD_VGPR: u32 = 128;
/** By register as above: up to here it holds a value without a hole. Registers are asked for in the order of starts. */
const busyUntil = changetype<U32Column>(changetype<usize>(flowBytes) + 2048);
const spare = changetype<U32Column>(changetype<usize>(flowBytes) + 4096);

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

/** Whether no holder of a register lives together with the unit; drops holders that are dead by `start`. */
function isFree(slot: u32, unit: u32, start: u32): bool {
  const segment = uSegments[unit];
  if (segment != 0 && segStart[segment] < busyUntil[slot]) return false;
  let l = held[slot];
  let before: u32 = 0;
  while (l != 0) {
    const holder = linkValue[l];
    if (uEnd[holder] <= start) {
      if (before == 0) held[slot] = linkNext[l];
      else linkNext[before] = linkNext[l];
    } else {
      if (interfere(holder, unit)) return false;
      before = l;
    }
    l = linkNext[l];
  }
  return true;
}

function fits(v: u32, base: u32, reg: u32): bool {
  const size = vregSize(v);
  const start = vStart[v];
  const unit = vUnit[v];
  for (let k: u32 = 0; k < size; k++) if (!isFree(base + reg + k, unit + k, start)) return false;
  return true;
}

function take(v: u32, base: u32, reg: u32): void {
  const size = vregSize(v);
  const unit = vUnit[v];
  for (let k: u32 = 0; k < size; k++) {
    const slot = base + reg + k;
    held[slot] = link(unit + k, held[slot]);
    const segment = uSegments[unit + k];
    // Of a tuple those that live from its start on: what is asked for later starts no earlier.
    if (segment != 0 && segStart[segment] == vStart[v]) busyUntil[slot] = max<u32>(busyUntil[slot], segEnd[segment]);
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

const INFINITE: f64 = 1e30;

/** What spilling costs against what it gains. */
function weight(v: u32): f64 {
  if (vCost[v] == 0) return INFINITE;
  let end: u32 = 0;
  const size = vregSize(v);
  for (let k: u32 = 0; k < size; k++) end = max<u32>(end, uEnd[vUnit[v] + k]);
  return <f64>vCost[v] / <f64>(end - vStart[v] + 1) / <f64>size;
}

/** Weight of all that stand in v's way at `reg`; over `best` it does not matter how far. */
function weightAt(v: u32, base: u32, reg: u32, best: f64): f64 {
  const size = vregSize(v);
  let sum: f64 = 0;
  let last: u32 = 0;
  for (let k: u32 = 0; k < size; k++) {
    for (let l = held[base + reg + k]; l != 0 && sum < best; l = linkNext[l]) {
      const owner = uOwner[linkValue[l]];
      if (owner == last || !interfere(linkValue[l], vUnit[v] + k)) continue;
      last = owner;
      sum += weight(owner);
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
    let before: u32 = 0;
    for (let l = held[base + reg + k]; l != 0; l = linkNext[l]) {
      if (linkValue[l] != vUnit[v] + k) {
        before = l;
        continue;
      }
      if (before == 0) held[base + reg + k] = linkNext[l];
      else linkNext[before] = linkNext[l];
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
    if (best >= INFINITE) return false;
    evict(v, base);
    return true;
  }
  for (let k: u32 = 0; k < size; k++) {
    for (let l = held[base + at + k]; l != 0; ) {
      const next = linkNext[l];
      if (interfere(linkValue[l], vUnit[v] + k)) evict(uOwner[linkValue[l]], base);
      l = next;
    }
  }
  take(v, base, at);
  return true;
}

/** Written in lanes that are not active, which a spill's own registers must not be. */
function isWholeWave(v: u32): bool {
  return operandVreg(madeWholeWave(0)) == v || operandVreg(madeWholeWave(1)) == v;
}

/** Costs of all registers; 0 for those that must not be spilled. */
function weighRegisters(): void {
  for (let v: u32 = 1; v < vregs(); v++) {
    vCost[v] = 0;
    const size = vregSize(v);
    for (let k: u32 = 0; k < size; k++) uOwner[vUnit[v] + k] = v;
  }
  for (let v: u32 = 1; v < vregs(); v++) {
    if (isTemporary(v) || isLaneRegister(v) || isWholeWave(v)) continue;
    const leader = leaderOf(v);
    if (vCost[leader] == 0) vCost[leader] = 1;
  }
  for (let k: u32 = 0; k < layoutLength(); k++) {
    const each = (<u32>1) << min<u32>(3 * bDepth[bOrder[k]], 12);
    for (let i = bFirst[bOrder[k]]; i != 0; i = mNext[i]) {
      weigh(mDst0[i], each);
      weigh(mDst1[i], each);
      for (let s: u32 = 0; s < 4; s++) weigh(source(i, s), each);
    }
  }
}
function weigh(operand: u32, each: u32): void {
  if (!isVreg(operand)) return;
  const leader = leaderOf(operandVreg(operand));
  if (vCost[leader] != 0 && vCost[leader] < 0x4000_0000) vCost[leader] = vCost[leader] + each;
}

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
  for (let reg: u32 = 0; reg + size <= limit; reg += align) {
    if (!fits(v, base, reg)) continue;
    take(v, base, reg);
    return true;
  }
  if (!spill) return false;
  if (spillFor(v, base, align, limit)) return true;
  failAt(place(v), Fail.OUT_OF_REGISTERS, vector ? 1 : 0, limit, 0);
  return false;
}

/**
 * Gives each live register a place in the file; false when it is too small. With `spill`, those that should go to memory
 * are marked (`vSlot`) then.
 */
export function allocate(spill: bool): bool {
  const mark = linkMark();
  held.clear(0, HELD_VGPR + 256);
  busyUntil.clear(0, HELD_VGPR + 256);
  topSgpr = 0;
  topVgpr = 0;
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
  }
  sortByKey(vOrder, spare, count, changetype<usize>(vStart), 5);
  spilling = false;
  if (spill) weighRegisters();
  let good = true;
  for (let k: u32 = 0; k < count && good; k++) good = spend(4) && assign(vOrder[k], spill);
  linkRelease(mark);
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
