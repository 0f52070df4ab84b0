/** How each value is selected: alone, folded into its readers, or together with one of its sources. */
import { blockOf, useCount } from "../ir/index.ts";
import { nodeTarget, valueSel } from "./columns.ts";

/** Low byte of `valueSel`; the absorbed source's number stands in bit 8. */
export const enum Sel {
  PLAIN = 0,
  /** Each user folds it. */
  LAZY = 1,
  /** Its one user computes it. */
  ABSORBED = 2,
  LSHL_ADD = 3,
  ADD3 = 4,
  ADD_LSHL = 5,
  LSHL_OR = 6,
  AND_OR = 7,
  OR3 = 8,
  XOR_ADD = 9,
  MAD_U24 = 10,
  MUL_U24 = 11,
  /** The source is computed with clamp. */
  CLAMP = 12,
  /** Scalar and mask logic with the second operand inverted. */
  NOT_SECOND = 13,
  /** A sum of 16-bit integers whose source is a product. */
  HALF_MAD = 14,
  /** An f2f16 that is computed with its source, which is ABSORBED_MIX. */
  MIX_LOW = 15,
  ABSORBED_MIX = 16,
  /** The source is a lane of the quad, read through DPP. */
  PERMUTED = 17,
  /** One of two that are computed at once; the other one's number stands from bit 8 on. */
  TWIN = 23,
  /** A sum or difference with a carry, its source in bit 8; bit 9: the other source is absorbed too. */
  CARRY_IN = 18,
  /** A comparison of pairs of words. */
  PAIR_SAME = 19,
  PAIR_LESS = 20,
  /** Two shifts that move bits from word to word; the one up is the source in bit 8. */
  ALIGN = 21,
  XOR3 = 22,
  /** A comparison of floats that reads halves. */
  HALF_COMPARE = 24,
  /** A comparison of integers that reads their low halves. */
  NARROW_COMPARE = 25,
  /** A minimum of a maximum or the other way round: the median with two constants. */
  MEDIAN = 26,
  /** A pack_halves whose second source is converted into the high half of the first one's register. */
  MIX_HIGH = 27,
}

/** `inner` has one reader, which may compute it where that stands: not in another loop. */
export function isAbsorbable(outer: u32, inner: u32): bool {
  if (useCount(inner) != 1 || selOf(inner) != Sel.PLAIN) return false;
  const a = blockOf(outer);
  const b = blockOf(inner);
  return a == b || nodeTarget[a] == nodeTarget[b];
}

export function selOf(value: u32): u32 {
  return valueSel[value] & 0xff;
}
/** Number of the absorbed source. */
export function absorbedSource(value: u32): u32 {
  return (valueSel[value] >> 8) & 1;
}
