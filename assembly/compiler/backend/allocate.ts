/**
 * Registers for virtual registers: in the order in which they start to live, each takes the lowest one (its hint first)
 * whose holders never live with it. Live segments have holes, and so has the register file. Over the file the run fails
 * with OUT_OF_REGISTERS at the place of the value.
 */
import { Fail, failAt, spend, U32Column } from "../../base/index.ts";
import { leaderOf, leaderShift } from "./coalesce.ts";
import {
  flowBytes,
  linkNext,
  linkValue,
  mPlace,
  segStart,
  uEnd,
  uEvents,
  uSegments,
  vFixed,
  vHint,
  vLeader,
  vOrder,
  vReg,
  vStart,
  vUnit,
} from "./columns.ts";
import { interfere } from "./liveness.ts";
import {
  Hw,
  hwCode,
  isVreg,
  link,
  linkMark,
  linkRelease,
  NO_REG,
  operandComponent,
  operandVreg,
  RegClass,
  vregClass,
  vregSize,
  vregs,
} from "./machine.ts";
import { sortByKey } from "./sort.ts";

/** SGPRs 0 to 105 and VCC_LO, VCC_HI. */
const SGPR_COUNT: u32 = 108;
const VGPR_COUNT: u32 = 256;
/** Of these tuples may use SGPRs below 106 only: VCC is no part of one. */
const TUPLE_SGPRS: u32 = 106;

/** First link of the units that hold a register; SGPR n at n, VGPR n at 128 + n. */
const held = changetype<U32Column>(changetype<usize>(flowBytes));
const HELD_VGPR: u32 = 128;
const spare = changetype<U32Column>(changetype<usize>(flowBytes) + 4096);

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
  for (let k: u32 = 0; k < size; k++) held[base + reg + k] = link(unit + k, held[base + reg + k]);
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

function place(v: u32): u32 {
  const first = uEvents[vUnit[v]];
  return first == 0 ? 0 : mPlace[linkValue[first] >> 1];
}

function assign(v: u32, final: bool): bool {
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
  const limit: u32 = vector ? VGPR_COUNT : size == 1 ? SGPR_COUNT : TUPLE_SGPRS;
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
  if (final) failAt(place(v), Fail.OUT_OF_REGISTERS, vector ? 1 : 0, limit, 0);
  return false;
}

/** Gives each live register a place in the file; false when it is too small, which is a failure when this is `final`. */
export function allocate(final: bool): bool {
  const mark = linkMark();
  held.clear(0, HELD_VGPR + VGPR_COUNT);
  topSgpr = 0;
  topVgpr = 0;
  let count: u32 = 0;
  for (let v: u32 = 1; v < vregs(); v++) {
    if (vLeader[v] != v) continue;
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
  sortByKey(vOrder, spare, count, vStart);
  let good = true;
  for (let k: u32 = 0; k < count && good; k++) good = spend(4) && assign(vOrder[k], final);
  linkRelease(mark);
  return good;
}

/** Allocated register of a virtual-register operand: SGPR number, or 256 + VGPR number. */
export function registerOf(operand: u32): u32 {
  const v = operandVreg(operand);
  const leader = leaderOf(v);
  const shift = leaderShift() + operandComponent(operand);
  return vReg[leader] + shift + (vregClass(v) == RegClass.VGPR ? <u32>Hw.VGPR0 : 0);
}
