/**
 * Decides, users before sources, which values need no instruction of their own: neg and abs that every user takes as a
 * modifier, comparisons that only set SCC, and single-use values that one gfx1030 instruction computes with their user.
 */
import { spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  blockOf,
  componentsOf,
  firstUse,
  lastBlock,
  lastInstr,
  nextUse,
  opOf,
  prevBlock,
  prevInstr,
  sourceIndex,
  src,
  upperBound,
  useCount,
  userOf,
  widthOf,
} from "../ir/index.ts";
import { classOf, isScalarCompare, takesModifiers, ValueClass } from "./classes.ts";
import { nodeTarget, valueSel } from "./columns.ts";
import { highHalf, isHalfModifier, isMixOp, usersTakeHalf, usersTakeHigh } from "./half-patterns.ts";
import { Sel, selOf } from "./sel.ts";
import { absorbPermutation } from "./select-dpp.ts";

const U24: u32 = 0xffffff;

/** `inner` has one reader, which may compute it where that stands: not in another loop. */
function absorbable(outer: u32, inner: u32): bool {
  if (useCount(inner) != 1 || selOf(inner) != Sel.PLAIN) return false;
  const a = blockOf(outer);
  const b = blockOf(inner);
  return a == b || nodeTarget[a] == nodeTarget[b];
}

function absorb(outer: u32, sel: u32, k: u32): void {
  valueSel[outer] = sel | (k << 8);
  valueSel[src(outer, k)] = Sel.ABSORBED;
}

/** Absorbs source `k` of `outer` when it is made by `op`. */
function tryAbsorb(outer: u32, k: u32, op: u32, sel: u32): bool {
  const inner = src(outer, k);
  if (opOf(inner) != op || !absorbable(outer, inner)) return false;
  absorb(outer, sel, k);
  return true;
}

function choosePattern(i: u32): void {
  const vector = classOf(i) == ValueClass.VGPR;
  const op = opOf(i);
  if (!vector) {
    if ((op == Op.IAND || op == Op.IOR) && (classOf(i) == ValueClass.MASK || classOf(i) == ValueClass.SGPR)) {
      if (!tryAbsorb(i, 1, Op.INOT, Sel.NOT_SECOND)) tryAbsorb(i, 0, Op.INOT, Sel.NOT_SECOND);
    }
    return;
  }
  if (absorbPermutation(i)) return;
  switch (op) {
    case Op.IADD:
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
    case Op.IOR:
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
      if (!isMixOp(opOf(inner)) || !absorbable(i, inner)) return;
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
    case Op.PACK_HALVES:
      if (isHalfModifier(i)) valueSel[i] = Sel.LAZY;
      return;
    case Op.IMUL:
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

/** Fills `valueSel`, all `PLAIN` before. */
export function choosePatterns(): void {
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
