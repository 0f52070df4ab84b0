/**
 * Range analysis: one walk in program order gives each word the largest value it can have and the bits that can be set in
 * it (a counter of a loop: up to its limit), and what they decide is replaced: masks that cut nothing, comparisons and
 * minima with one outcome, sign extensions and signed divisions of values that are never negative.
 * `%1 = iand %0, 0xff` with `%0` below 256 → `%0`. Bounds from conditions of ifs are not used. O(instructions).
 */
import { spend, U32Column } from "../../base/index.ts";
import { Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import {
  componentsOf,
  constant,
  constantBool,
  constBits,
  counterBound,
  entryBlock,
  filled,
  firstInstr,
  hasMadeAny,
  instrLimit,
  isConst,
  loadBound,
  MAX_INSTRS,
  nextBlock,
  nextInstr,
  opOf,
  replaceUses,
  setOp,
  src,
  srcCount,
  useCount,
  widthOf,
} from "../ir/index.ts";
import { PASS_BASE } from "../memory-map.ts";

const ALL: u32 = 0xffff_ffff;
const POSITIVE: u32 = 0x7fff_ffff;

/** By value: none is above this; bits that are 0 here are 0 in it. */
const most = changetype<U32Column>(PASS_BASE);
const bits = changetype<U32Column>(PASS_BASE + ((<usize>MAX_INSTRS) << 2));

function capped(value: u64): u32 {
  return value > <u64>ALL ? ALL : <u32>value;
}
function isPositive(v: u32): bool {
  return most[v] <= POSITIVE;
}
function setBoth(i: u32, bound: u32, possible: u32): void {
  const set = possible & filled(bound);
  bits[i] = set;
  most[i] = min<u32>(bound, set);
}

/** Bounds of a phi's sources together; those not walked yet (of loops) may be anything. */
function joinPhi(i: u32): void {
  const counted = counterBound(i, 0);
  if (counted != ALL) {
    setBoth(i, counted, ALL);
    return;
  }
  let bound: u32 = 0;
  let set: u32 = 0;
  const count = srcCount(i);
  for (let k: u32 = 0; k < count; k++) {
    bound = max<u32>(bound, most[src(i, k)]);
    set |= bits[src(i, k)];
  }
  setBoth(i, bound, set);
}

/** Largest values and possible bits of what an instruction gives. */
function analyse(i: u32): void {
  const op = opOf(i);
  const count = srcCount(i);
  const a = count > 0 ? src(i, 0) : 0;
  const b = count > 1 ? src(i, 1) : 0;
  const shift: u32 = b != 0 && isConst(b) ? constBits(b) & 31 : 32;
  switch (op) {
    case Op.CONST:
      setBoth(i, constBits(i), constBits(i));
      return;
    case Op.B2I:
      setBoth(i, 1, 1);
      return;
    case Op.B2F:
      setBoth(i, 0x3f80_0000, 0x3f80_0000);
      return;
    case Op.IADD: {
      // No bit below the lowest of either side; a sum that wraps may be anything above it.
      const low = (bits[a] | bits[b]) & (0 - (bits[a] | bits[b]));
      setBoth(i, capped(<u64>most[a] + <u64>most[b]), low == 0 ? 0 : ALL << ctz<u32>(low));
      return;
    }
    case Op.IMUL:
      setBoth(i, capped(<u64>most[a] * <u64>most[b]), ALL);
      return;
    case Op.UMUL_HI:
      setBoth(i, <u32>((<u64>most[a] * <u64>most[b]) >> 32), ALL);
      return;
    case Op.IAND:
      setBoth(i, min<u32>(most[a], most[b]), bits[a] & bits[b]);
      return;
    case Op.IOR:
    case Op.IXOR:
      setBoth(i, capped(<u64>most[a] + <u64>most[b]), bits[a] | bits[b]);
      return;
    case Op.ISHL:
      if (shift > 31) setBoth(i, ALL, ALL);
      else setBoth(i, capped((<u64>most[a]) << (<u64>shift)), bits[a] << shift);
      return;
    case Op.USHR:
      if (shift > 31) setBoth(i, most[a], ALL);
      else setBoth(i, most[a] >> shift, bits[a] >> shift);
      return;
    case Op.ISHR:
      if (!isPositive(a)) setBoth(i, ALL, ALL);
      else if (shift > 31) setBoth(i, most[a], ALL);
      else setBoth(i, most[a] >> shift, bits[a] >> shift);
      return;
    case Op.UBFE: {
      const size = src(i, 2);
      const width: u32 = isConst(size) ? constBits(size) & 31 : 31;
      const mask = ((<u32>1) << width) - 1;
      if (shift > 31) setBoth(i, min<u32>(most[a], mask), mask);
      else setBoth(i, min<u32>(most[a] >> shift, mask), (bits[a] >> shift) & mask);
      return;
    }
    case Op.UMIN:
      setBoth(i, min<u32>(most[a], most[b]), bits[a] | bits[b]);
      return;
    case Op.UMAX:
      setBoth(i, max<u32>(most[a], most[b]), bits[a] | bits[b]);
      return;
    case Op.IMIN:
      if (isPositive(a) && isPositive(b)) setBoth(i, min<u32>(most[a], most[b]), bits[a] | bits[b]);
      else setBoth(i, ALL, ALL);
      return;
    case Op.IMAX:
      if (isPositive(a) && isPositive(b)) setBoth(i, max<u32>(most[a], most[b]), bits[a] | bits[b]);
      else setBoth(i, isConst(a) || isConst(b) ? maxBound(a, b) : ALL, ALL);
      return;
    case Op.IABS:
      setBoth(i, isPositive(a) ? most[a] : 0x8000_0000, ALL);
      return;
    case Op.UDIV:
      setBoth(i, isConst(b) && constBits(b) != 0 ? most[a] / constBits(b) : ALL, ALL);
      return;
    case Op.UMOD:
      setBoth(i, isConst(b) && constBits(b) != 0 ? min<u32>(most[a], constBits(b) - 1) : ALL, ALL);
      return;
    case Op.BITCOUNT:
      setBoth(i, 32, ALL);
      return;
    case Op.F2F16:
      setBoth(i, 0xffff, ALL);
      return;
    case Op.READ_FIRST_LANE:
      setBoth(i, most[a], bits[a]);
      return;
    case Op.SELECT: {
      const c = src(i, 2);
      setBoth(i, max<u32>(most[b], most[c]), bits[b] | bits[c]);
      return;
    }
    case Op.PHI:
      joinPhi(i);
      return;
    default:
      setBoth(i, loadBound(i), ALL);
  }
}

/** Of a signed maximum with a constant among its sources: that is never negative where the constant is not. */
function maxBound(a: u32, b: u32): u32 {
  const known = isConst(a) ? a : b;
  return isPositive(known) ? POSITIVE : ALL;
}

/** Outcome of `a < b` unsigned: 0 or 1, else 2. */
function below(a: u32, b: u32): u32 {
  if (isConst(b) && most[a] < constBits(b)) return 1;
  return isConst(a) && constBits(a) >= most[b] ? 0 : 2;
}
/** As `below`, signed. */
function belowSigned(a: u32, b: u32): u32 {
  if (isPositive(a) && isPositive(b)) return below(a, b);
  if (isPositive(a) && isConst(b)) return 0;
  return isPositive(b) && isConst(a) ? 1 : 2;
}
/** 0 where the two cannot be equal, else 2. */
function same(a: u32, b: u32): u32 {
  const known = isConst(a) ? a : b;
  const other = isConst(a) ? b : a;
  return isConst(known) && ((constBits(known) & ~bits[other]) != 0 || constBits(known) > most[other]) ? 0 : 2;
}
function outcome(known: u32, negated: bool): u32 {
  return known == 2 ? 0 : constantBool((known != 0) != negated);
}

/** The smaller (or, with `above`, the larger) of two, one of them a constant that decides it; 0 where none does. */
function bounded(a: u32, b: u32, above: bool): u32 {
  const known = isConst(a) ? a : b;
  const other = isConst(a) ? b : a;
  if (!isConst(known) || constBits(known) < most[other]) return 0;
  return above ? known : other;
}

/** What replaces i, 0 for nothing. */
function decide(i: u32): u32 {
  const count = srcCount(i);
  if (count < 1 || (opFlags(opOf(i)) & OpFlag.PURE) == 0) return 0;
  const a = src(i, 0);
  const b = count > 1 ? src(i, 1) : 0;
  if (widthOf(i) == 32 && bits[i] == 0 && componentsOf(i) == 1 && opOf(i) != Op.PHI) return constant(0);
  switch (opOf(i)) {
    case Op.IAND: {
      const k: u32 = isConst(b) ? 1 : 0;
      const mask = src(i, k);
      const value = src(i, 1 - k);
      return widthOf(i) == 32 && isConst(mask) && (bits[value] & ~constBits(mask)) == 0 ? value : 0;
    }
    case Op.ULT:
      return outcome(below(a, b), false);
    case Op.UGE:
      return outcome(below(a, b), true);
    case Op.ILT:
      return outcome(belowSigned(a, b), false);
    case Op.IGE:
      return outcome(belowSigned(a, b), true);
    case Op.IEQ:
      return outcome(same(a, b), false);
    case Op.INE:
      return outcome(same(a, b), true);
    case Op.UMIN:
      return bounded(a, b, false);
    case Op.UMAX:
      return bounded(a, b, true);
    case Op.IMIN:
      return isPositive(a) && isPositive(b) ? bounded(a, b, false) : 0;
    case Op.IMAX: {
      if (isPositive(a) && isPositive(b)) return bounded(a, b, true);
      // Against a negative constant.
      if (isPositive(a) && isConst(b)) return a;
      return isPositive(b) && isConst(a) ? b : 0;
    }
    case Op.IABS:
      return isPositive(a) ? a : 0;
    case Op.UBFE:
    case Op.IBFE: {
      const size = src(i, 2);
      if (!isConst(b) || (constBits(b) & 31) != 0 || !isConst(size)) return 0;
      const width = constBits(size) & 31;
      const kept: u32 = opOf(i) == Op.UBFE ? width : width - 1;
      return width != 0 && most[a] < (<u32>1) << kept ? a : 0;
    }
    case Op.USHR:
      // The shift up that this one takes back lost nothing.
      return opOf(a) == Op.ISHL && isConst(b) && src(a, 1) == b && kept(src(a, 0), constBits(b) & 31) ? src(a, 0) : 0;
    default:
      return 0;
  }
}

function kept(value: u32, shift: u32): bool {
  return most[value] <= ALL >> shift;
}

/** Signed ops of values that are never negative, as the unsigned ones; true when i is one. */
function unsign(i: u32): bool {
  const op = opOf(i);
  if (op != Op.ISHR && op != Op.IDIV && op != Op.IREM && op != Op.IMOD) return false;
  if (!isPositive(src(i, 0)) || (op != Op.ISHR && !isPositive(src(i, 1)))) return false;
  setOp(i, op == Op.ISHR ? Op.USHR : op == Op.IDIV ? Op.UDIV : Op.UMOD);
  return true;
}

export function optRange(): bool {
  if (!hasMadeAny(Op.IADD, Op.IMOD)) return false;
  let progress = false;
  // What has not been walked when it is read stands behind: a loop gives it.
  for (let i: u32 = 0; i < instrLimit(); i++) {
    most[i] = ALL;
    bits[i] = ALL;
  }
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      if (componentsOf(i) != 1) continue;
      if (widthOf(i) == 32) analyse(i);
      if (useCount(i) == 0) continue;
      if (unsign(i)) {
        progress = true;
        continue;
      }
      const value = decide(i);
      if (value == 0 || value == i) continue;
      // It may be new.
      if (isConst(value)) setBoth(value, constBits(value), constBits(value));
      replaceUses(i, value);
      progress = true;
    }
  }
  return progress;
}
