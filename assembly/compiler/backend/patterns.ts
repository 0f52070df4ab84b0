/**
 * Decides, users before sources, which values need no instruction of their own: neg and abs that every user takes as a
 * modifier, comparisons that only set SCC, and single-use values that one gfx1030 instruction computes with their user.
 */
import { spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  componentsOf,
  constBits,
  firstUse,
  hasMade,
  hasMadeAny,
  isConst,
  isHalfOp,
  isLowHalfOp,
  lastBlock,
  lastInstr,
  nextUse,
  opOf,
  prevBlock,
  prevInstr,
  sourceIndex,
  src,
  upperBound,
  userOf,
  widthOf,
} from "../ir/index.ts";
import { chooseCarryIn, choosePairCompare, chooseTwin } from "./carries.ts";
import { classOf, isScalarCompare, takesModifiers, ValueClass } from "./classes.ts";
import { valueSel } from "./columns.ts";
import {
  comparesHalves,
  highHalf,
  isHalfModifier,
  isMixOp,
  noteReaders,
  usersTakeHalf,
  usersTakeHigh,
} from "./half-patterns.ts";
import { chooseMedian, chooseMixHigh, comparesLow, usersCompareLow } from "./narrow-patterns.ts";
import { isAbsorbable, Sel, selOf } from "./sel.ts";
import { absorbPermutation } from "./select-dpp.ts";

const U24: u32 = 0xffffff;

function absorb(outer: u32, sel: u32, k: u32): void {
  valueSel[outer] = sel | (k << 8);
  valueSel[src(outer, k)] = Sel.ABSORBED;
}

/** Absorbs source `k` of `outer` when it is made by `op`. */
function tryAbsorb(outer: u32, k: u32, op: u32, sel: u32): bool {
  const inner = src(outer, k);
  if (opOf(inner) != op || !isAbsorbable(outer, inner)) return false;
  absorb(outer, sel, k);
  return true;
}

/** A rotation: two shifts of one word, by counts that are 32 together. */
function rotates(up: u32, down: u32): bool {
  if (src(up, 0) != src(down, 0)) return false;
  return isRest(src(up, 1), src(down, 1)) || isRest(src(down, 1), src(up, 1));
}
/** `rest` is 32 less `count`. */
function isRest(rest: u32, count: u32): bool {
  return opOf(rest) == Op.ISUB && src(rest, 1) == count && isConst(src(rest, 0)) && constBits(src(rest, 0)) == 32;
}

/** Bits of two words side by side, as shifts up and down that are put together. */
function chooseAlign(i: u32): bool {
  for (let k: u32 = 0; k < 2; k++) {
    const up = src(i, k);
    const down = src(i, 1 - k);
    if (opOf(up) != Op.ISHL || opOf(down) != Op.USHR || !isAbsorbable(i, up) || !isAbsorbable(i, down)) continue;
    const known = isConst(src(up, 1)) && isConst(src(down, 1));
    if (known ? constBits(src(up, 1)) + constBits(src(down, 1)) != 32 : opOf(i) != Op.IOR || !rotates(up, down))
      continue;
    absorb(i, Sel.ALIGN, k);
    valueSel[down] = Sel.ABSORBED;
    return true;
  }
  return false;
}

/** Masks and uniform integers. */
function chooseScalar(i: u32): void {
  switch (opOf(i)) {
    case Op.IADD:
    case Op.ISUB:
      if (classOf(i) == ValueClass.SGPR && hasMade(Op.B2I)) chooseCarryIn(i);
      return;
    case Op.ULT:
    case Op.INE:
      if (hasMade(Op.B2I) && chooseTwin(i)) return;
      if (comparesLow(i)) valueSel[i] = Sel.NARROW_COMPARE;
      return;
    case Op.IEQ:
    case Op.ILT:
    case Op.IGE:
    case Op.UGE:
      if (comparesLow(i)) valueSel[i] = Sel.NARROW_COMPARE;
      return;
    case Op.IAND:
    case Op.IOR:
      if (classOf(i) == ValueClass.MASK && choosePairCompare(i)) return;
      if (!tryAbsorb(i, 1, Op.INOT, Sel.NOT_SECOND)) tryAbsorb(i, 0, Op.INOT, Sel.NOT_SECOND);
      return;
    case Op.FEQ:
    case Op.FNEU:
    case Op.FLT:
    case Op.FGE:
      if (hasMade(Op.F162F) && comparesHalves(i)) valueSel[i] = Sel.HALF_COMPARE;
      return;
    default:
      return;
  }
}

function choosePattern(i: u32): void {
  const op = opOf(i);
  const valueClass = classOf(i);
  if (valueClass == ValueClass.MASK || valueClass == ValueClass.SGPR) {
    chooseScalar(i);
    return;
  }
  if (valueClass != ValueClass.VGPR || absorbPermutation(i)) return;
  if (op == Op.F2F16 || isHalfOp(op) || isLowHalfOp(op) || (op == Op.SELECT && hasHalves)) noteReaders(i);
  const noted = valueSel[i];
  chooseVector(i, op);
  valueSel[i] |= noted;
  if (op == Op.HMIN) chooseMedian(i);
}

function chooseVector(i: u32, op: u32): void {
  switch (op) {
    case Op.IADD:
      if (hasMade(Op.B2I) && chooseCarryIn(i)) return;
      if (hasMade(Op.USHR) && chooseAlign(i)) return;
      for (let k: u32 = 0; k < 2; k++) {
        if (tryAbsorb(i, k, Op.ISHL, Sel.LSHL_ADD)) return;
      }
      for (let k: u32 = 0; k < 2; k++) {
        const inner = src(i, k);
        if (opOf(inner) == Op.IMUL && upperBound(src(inner, 0), 0) <= U24 && upperBound(src(inner, 1), 0) <= U24) {
          if (tryAbsorb(i, k, Op.IMUL, Sel.MAD_U24)) return;
        }
      }
      for (let k: u32 = 0; k < 2; k++) {
        if (tryAbsorb(i, k, Op.IADD, Sel.ADD3) || tryAbsorb(i, k, Op.IXOR, Sel.XOR_ADD)) return;
      }
      return;
    case Op.ISHL:
      tryAbsorb(i, 0, Op.IADD, Sel.ADD_LSHL);
      return;
    case Op.ISUB:
      if (hasMade(Op.B2I)) chooseCarryIn(i);
      return;
    case Op.UMUL_HI:
      chooseTwin(i);
      return;
    case Op.IXOR:
      if (hasMade(Op.USHR) && chooseAlign(i)) return;
      if (!tryAbsorb(i, 0, Op.IXOR, Sel.XOR3)) tryAbsorb(i, 1, Op.IXOR, Sel.XOR3);
      return;
    case Op.IOR:
      if (hasMade(Op.USHR) && chooseAlign(i)) return;
      for (let k: u32 = 0; k < 2; k++) {
        if (tryAbsorb(i, k, Op.ISHL, Sel.LSHL_OR)) return;
        if (tryAbsorb(i, k, Op.IAND, Sel.AND_OR)) return;
        if (tryAbsorb(i, k, Op.IOR, Sel.OR3)) return;
      }
      return;
    case Op.HIADD:
      if (!tryAbsorb(i, 0, Op.HIMUL, Sel.HALF_MAD)) tryAbsorb(i, 1, Op.HIMUL, Sel.HALF_MAD);
      return;
    case Op.F2F16: {
      const inner = src(i, 0);
      if (!isMixOp(opOf(inner)) || !isAbsorbable(i, inner)) return;
      absorb(i, Sel.MIX_LOW, 0);
      valueSel[inner] = Sel.ABSORBED_MIX;
      return;
    }
    case Op.F162F:
      if (usersTakeHalf(i)) valueSel[i] = Sel.LAZY;
      return;
    case Op.USHR:
      if (highHalf(i) != 0 && usersTakeHigh(i)) valueSel[i] = Sel.LAZY;
      return;
    case Op.HMUL:
      if (isHalfModifier(i)) valueSel[i] = Sel.LAZY;
      return;
    case Op.PACK_HALVES:
      if (isHalfModifier(i)) valueSel[i] = Sel.LAZY;
      else chooseMixHigh(i);
      return;
    case Op.IAND:
    case Op.IBFE:
      if (usersCompareLow(i)) valueSel[i] = Sel.LAZY;
      return;
    case Op.IMIN:
    case Op.IMAX:
    case Op.UMIN:
    case Op.UMAX:
    case Op.FMIN:
      chooseMedian(i);
      return;
    case Op.IMUL:
      if (hasMade(Op.UMUL_HI) && chooseTwin(i)) return;
      if (upperBound(src(i, 0), 0) <= U24 && upperBound(src(i, 1), 0) <= U24) valueSel[i] = Sel.MUL_U24;
      return;
    case Op.FSAT: {
      const inner = opOf(src(i, 0));
      if (inner == Op.FADD || inner == Op.FSUB || inner == Op.FMUL || inner == Op.FFMA) {
        tryAbsorb(i, 0, inner, Sel.CLAMP);
      }
      return;
    }
    default:
      return;
  }
}

function usersTakeModifiers(i: u32): bool {
  for (let u = firstUse(i); u != 0; u = nextUse(u)) {
    const user = userOf(u);
    if (takesModifiers(user)) continue;
    const op = opOf(user);
    if ((op == Op.FNEG || op == Op.FABS) && selOf(user) == Sel.LAZY) continue;
    return false;
  }
  return true;
}

/** All readers want the comparison in SCC. */
function usersTakeScc(i: u32): bool {
  for (let u = firstUse(i); u != 0; u = nextUse(u)) {
    const user = userOf(u);
    const op = opOf(user);
    if (op == Op.IF) continue;
    if (op == Op.SELECT && sourceIndex(u) == 0 && classOf(user) == ValueClass.SGPR) continue;
    if ((op == Op.B2I || op == Op.B2F) && classOf(user) == ValueClass.SGPR) continue;
    if (op == Op.INOT && selOf(user) == Sel.LAZY && usersTakeScc1(user)) continue;
    return false;
  }
  return true;
}
/** As `usersTakeScc` for a lazy inot: its users are ifs and selects. */
function usersTakeScc1(i: u32): bool {
  for (let u = firstUse(i); u != 0; u = nextUse(u)) {
    const user = userOf(u);
    if (opOf(user) == Op.IF) continue;
    if (opOf(user) == Op.SELECT && classOf(user) == ValueClass.SGPR) continue;
    return false;
  }
  return true;
}

/** All readers of an inverted boolean are conditions: they exchange their sides instead. */
function usersInvert(i: u32): bool {
  for (let u = firstUse(i); u != 0; u = nextUse(u)) {
    const user = userOf(u);
    const op = opOf(user);
    if (op == Op.IF) continue;
    if (op == Op.SELECT && sourceIndex(u) == 0 && widthOf(user) == 32) continue;
    return false;
  }
  return true;
}

/** Whether the shader has arithmetic of halves. */
let hasHalves = false;

/** Fills `valueSel`, all `PLAIN` before. */
export function choosePatterns(): void {
  hasHalves = hasMade(Op.F2F16) || hasMadeAny(Op.HADD, Op.HROUND_EVEN);
  for (let b = lastBlock(); b != 0; b = prevBlock(b)) {
    for (let i = lastInstr(b); i != 0; i = prevInstr(i)) {
      if (!spend(1)) return;
      if (componentsOf(i) == 0 || selOf(i) != Sel.PLAIN) continue;
      const op = opOf(i);
      if (op == Op.FNEG || op == Op.FABS) {
        if (usersTakeModifiers(i)) valueSel[i] = Sel.LAZY;
      } else if (op == Op.INOT && widthOf(i) == 1) {
        if (usersInvert(i)) valueSel[i] = Sel.LAZY;
      } else if (isScalarCompare(i)) {
        if (usersTakeScc(i)) valueSel[i] = Sel.LAZY;
      } else {
        choosePattern(i);
      }
    }
  }
}
