/** What of 16-bit arithmetic is folded into its readers: signs, picks of halves, conversions to f32. */
import { foldOp, Op } from "../../gen/ir-ops.ts";
import {
  constBits,
  firstUse,
  imm,
  isConst,
  isFloatHalfOp,
  isHalfOp,
  isLowHalfOp,
  nextUse,
  opOf,
  sourceIndex,
  src,
  upperBound,
  userOf,
} from "../ir/index.ts";
import { classOf, ValueClass } from "./classes.ts";
import { valueSel } from "./columns.ts";
import { Sel, selOf } from "./sel.ts";

/** The word that a value has the high half of, or 0. */
export function highHalf(v: u32): u32 {
  return opOf(v) == Op.USHR && isConst(src(v, 1)) && constBits(src(v, 1)) == 16 ? src(v, 0) : 0;
}

/** An hmul that changes signs alone: those of both halves, or that of the low one where the high one is 0 or ignored. */
export function isHalfSign(v: u32): bool {
  if (opOf(v) != Op.HMUL) return false;
  const k: u32 = isConst(src(v, 1)) ? 1 : 0;
  if (!isConst(src(v, k))) return false;
  const bits = constBits(src(v, k));
  if (bits == 0xbc00bc00) return true;
  return bits == 0xbc00 && (highHalfIgnored(v) || upperBound(src(v, 1 - k), 0) <= 0xffff);
}

/** Two halves of one word, in any order. */
function isPick(v: u32): bool {
  return wordOf(src(v, 0)) == wordOf(src(v, 1));
}
export function wordOf(v: u32): u32 {
  const word = highHalf(v);
  return word != 0 ? word : v;
}

/** Whether all readers take the value as source of an op on halves that picks halves and changes signs. */
export function isHalfModifier(v: u32): bool {
  const sign = isHalfSign(v);
  if (!sign && (opOf(v) != Op.PACK_HALVES || !isPick(v))) return false;
  for (let u = firstUse(v); u != 0; u = nextUse(u)) {
    const op = opOf(userOf(u));
    if (!isHalfOp(op) && (!sign || !isLowHalfOp(op))) return false;
    if (classOf(userOf(u)) != ValueClass.VGPR) return false;
    if (sign && !isFloatHalfOp(op) && !isLowHalfOp(op)) return false;
  }
  return true;
}

/** A sum, product or both: what v_fma_mix can do. */
export function isMixOp(op: u32): bool {
  return op == Op.FADD || op == Op.FSUB || op == Op.FMUL || op == Op.FFMA;
}
/** One that nothing else takes in. */
function isMix(user: u32): bool {
  return (
    isMixOp(opOf(user)) &&
    classOf(user) == ValueClass.VGPR &&
    (selOf(user) == Sel.PLAIN || selOf(user) == Sel.ABSORBED_MIX)
  );
}

/** A comparison of floats. */
function isFloatCompare(op: u32): bool {
  return op >= <u32>Op.FEQ && op <= <u32>Op.FGE;
}
function takesHalf(user: u32): bool {
  return isMix(user) || selOf(user) == Sel.HALF_COMPARE;
}

/** Whether all readers of an f162f take the half itself. */
export function usersTakeHalf(v: u32): bool {
  for (let u = firstUse(v); u != 0; u = nextUse(u)) {
    const user = userOf(u);
    if (takesHalf(user)) continue;
    const op = opOf(user);
    if ((op != Op.FNEG && op != Op.FABS) || selOf(user) != Sel.LAZY) return false;
    for (let w = firstUse(user); w != 0; w = nextUse(w)) if (!takesHalf(userOf(w))) return false;
  }
  return true;
}

/** A source of a comparison without its signs. */
function unsigned(v: u32): u32 {
  let value = v;
  while (opOf(value) == Op.FNEG || opOf(value) == Op.FABS) value = src(value, 0);
  return value;
}
/** Whether an f162f is read by sums, products and comparisons alone. */
function onlyCompared(v: u32): bool {
  for (let u = firstUse(v); u != 0; u = nextUse(u)) {
    const user = userOf(u);
    const op = opOf(user);
    if (isMixOp(op) || isFloatCompare(op)) continue;
    if (op != Op.FNEG && op != Op.FABS) return false;
    for (let w = firstUse(user); w != 0; w = nextUse(w)) {
      const sum = opOf(userOf(w));
      if (!isMixOp(sum) && !isFloatCompare(sum)) return false;
    }
  }
  return true;
}
/** Whether a comparison of floats is one of halves: converted ones, and constants that are halves too. One at least saves its conversion. */
export function comparesHalves(i: u32): bool {
  if (!isFloatCompare(opOf(i))) return false;
  let saves = false;
  for (let k: u32 = 0; k < 2; k++) {
    const v = unsigned(src(i, k));
    if (opOf(v) == Op.F162F) {
      saves = saves || onlyCompared(v);
    } else {
      if (!isConst(v)) return false;
      const bits = constBits(v);
      if (foldOp(Op.F162F, foldOp(Op.F2F16, bits, 0, 0), 0, 0) != bits) return false;
    }
  }
  return saves;
}
/** Whether a comparison of halves reads an f162f, signs between. */
function isCompared(v: u32): bool {
  for (let u = firstUse(v); u != 0; u = nextUse(u)) {
    const user = userOf(u);
    if (selOf(user) == Sel.HALF_COMPARE) return true;
    if (opOf(user) != Op.FNEG && opOf(user) != Op.FABS) continue;
    for (let w = firstUse(user); w != 0; w = nextUse(w)) if (selOf(userOf(w)) == Sel.HALF_COMPARE) return true;
  }
  return false;
}

/** A store of 16 bits reads a value in `slot` as its data. */
function stores16(slot: u32): bool {
  const user = userOf(slot);
  const op = opOf(user);
  if (sourceIndex(slot) != 0) return false;
  return op == Op.STORE_SSBO
    ? imm(user, 3) == 16
    : (op == Op.STORE_SHARED || op == Op.STORE_SCRATCH) && imm(user, 1) == 16;
}
/** The word whose high half a store of 16 bits takes, or 0. */
export function storedHigh(data: u32): u32 {
  return selOf(data) == Sel.LAZY ? highHalf(data) : 0;
}

/** Whether all readers of the high half of a word take it there. */
export function usersTakeHigh(v: u32): bool {
  for (let u = firstUse(v); u != 0; u = nextUse(u)) {
    const op = opOf(userOf(u));
    if (stores16(u)) continue;
    if (op != Op.F162F && op != Op.PACK_HALVES) return false;
    if (op == Op.PACK_HALVES && classOf(userOf(u)) != ValueClass.VGPR) return false;
    if (op == Op.F162F && isCompared(userOf(u))) return false;
  }
  return true;
}

/** In `valueSel`: nobody looks at the upper 16 bits of what makes halves. */
export const LOW_ONLY: u32 = 0x4000_0000;

export function highHalfIgnored(i: u32): bool {
  return (valueSel[i] & LOW_ONLY) != 0;
}

/**
 * Marks a value whose upper 16 bits nobody looks at: conversions from f16, joints of halves, stores of 8 or 16 bits, ops on low
 * halves, choices and those on both halves whose own upper half is ignored. Its readers have been looked at, save phis.
 */
export function noteReaders(i: u32): void {
  for (let u = firstUse(i); u != 0; u = nextUse(u)) {
    const user = userOf(u);
    const op = opOf(user);
    if (op == Op.F162F || op == Op.PACK_HALVES || isLowHalfOp(op)) continue;
    if ((isHalfOp(op) || (op == Op.SELECT && sourceIndex(u) != 0)) && highHalfIgnored(user)) continue;
    if (op == Op.STORE_SSBO && sourceIndex(u) == 0 && imm(user, 3) != 0) continue;
    const unbound = op == Op.STORE_SHARED || op == Op.STORE_SCRATCH;
    if (unbound && sourceIndex(u) == 0 && imm(user, 1) != 0) continue;
    return;
  }
  valueSel[i] |= LOW_ONLY;
}
