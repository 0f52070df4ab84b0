/**
 * Coalescing: the two registers of a copy become one where they never live at the same time, those of inner loops first.
 * A merged register's `vLeader` stands for it from then on, `vShift` components in; instructions keep their own operands,
 * so that the allocation can be checked against what was selected.
 */
import { spend } from "../../base/index.ts";
import {
  bDepth,
  bFirst,
  bOrder,
  mDst0,
  mMods,
  mNext,
  mSrc0,
  uWrites,
  vFixed,
  vLeader,
  vShift,
  vUnit,
} from "./columns.ts";
import { isVreg, layoutLength, Mod, NO_REG, operandComponent, operandVreg, vregClass, vregSize } from "./machine.ts";
import { interfere, uniteSegments } from "./segments.ts";

const MAX_DEPTH: u32 = 8;

/** The register that stands for `v`, and in `leaderShift` where v's component 0 is in it. */
export function leaderOf(v: u32): u32 {
  let shift: u32 = 0;
  let l = v;
  while (vLeader[l] != l) {
    shift += vShift[l];
    l = vLeader[l];
  }
  // The whole chain points to the leader from now on.
  let rest = shift;
  for (let x = v; x != l; ) {
    const next = vLeader[x];
    const step = vShift[x];
    vLeader[x] = l;
    vShift[x] = rest;
    rest -= step;
    x = next;
  }
  lastShift = shift;
  return l;
}
let lastShift: u32 = 0;
export function leaderShift(): u32 {
  return lastShift;
}

/** Two units that a copy connects always hold the same value when each is written once: they may live together. */
function sameValue(x: u32, y: u32): bool {
  return uWrites[x] == 1 && uWrites[y] == 1;
}

function tryMerge(dst: u32, src: u32): void {
  let a = leaderOf(operandVreg(dst));
  let ca = lastShift + operandComponent(dst);
  let b = leaderOf(operandVreg(src));
  let cb = lastShift + operandComponent(src);
  if (a == b || vregClass(a) != vregClass(b)) return;
  // b goes into a: all of b's components must have a place in a.
  if (vregSize(b) > vregSize(a) || (vregSize(b) == vregSize(a) && vFixed[b] != NO_REG)) {
    const v = a;
    const c = ca;
    a = b;
    ca = cb;
    b = v;
    cb = c;
  }
  if (ca < cb) return;
  const shift = ca - cb;
  const size = vregSize(b);
  if (shift + size > vregSize(a)) return;
  // A launch argument's register is only given to single registers: in a tuple its neighbours might be arguments too.
  if (vFixed[b] != NO_REG) return;
  if (vFixed[a] != NO_REG && vregSize(a) != 1) return;
  // The pair of units that the copy connects.
  const copied = vUnit[a] + ca;
  for (let k: u32 = 0; k < size; k++) {
    const x = vUnit[a] + shift + k;
    if (interfere(x, vUnit[b] + k) && !(x == copied && sameValue(x, vUnit[b] + k))) return;
  }
  for (let k: u32 = 0; k < size; k++) {
    const x = vUnit[a] + shift + k;
    const y = vUnit[b] + k;
    uWrites[x] = x == copied && sameValue(x, y) ? 1 : uWrites[x] + uWrites[y];
    uniteSegments(x, y);
  }
  vLeader[b] = a;
  vShift[b] = shift;
}

export function coalesce(): void {
  let depths: u32 = 0;
  for (let k: u32 = 0; k < layoutLength(); k++) depths |= (<u32>1) << min<u32>(bDepth[bOrder[k]], MAX_DEPTH);
  for (let depth = MAX_DEPTH + 1; depth-- > 0; ) {
    if (((depths >> depth) & 1) == 0) continue;
    for (let k: u32 = 0; k < layoutLength(); k++) {
      const b = bOrder[k];
      if (min<u32>(bDepth[b], MAX_DEPTH) != depth) continue;
      for (let i = bFirst[b]; i != 0; i = mNext[i]) {
        if ((mMods[i] & Mod.COPY) == 0 || !isVreg(mSrc0[i]) || !isVreg(mDst0[i])) continue;
        if (!spend(1)) return;
        tryMerge(mDst0[i], mSrc0[i]);
      }
    }
  }
}
