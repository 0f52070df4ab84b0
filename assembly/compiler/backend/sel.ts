/** How each value is selected: alone, folded into its readers, or together with one of its sources. */
import { valueSel } from "./columns.ts";

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
}

export function selOf(value: u32): u32 {
  return valueSel[value] & 0xff;
}
/** Number of the absorbed source. */
export function absorbedSource(value: u32): u32 {
  return (valueSel[value] >> 8) & 1;
}
