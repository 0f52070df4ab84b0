/** Kinds of ops on 16-bit halves of words, by their order in the op table. */
import { Op } from "../../gen/ir-ops.ts";

/** An op on both halves of words. */
export function isHalfOp(op: u32): bool {
  return op >= <u32>Op.HADD && op <= <u32>Op.HUMAX;
}
/** One on floats. */
export function isFloatHalfOp(op: u32): bool {
  return op >= <u32>Op.HADD && op <= <u32>Op.HMAX;
}
/** One on the low half of a word alone. */
export function isLowHalfOp(op: u32): bool {
  return op >= <u32>Op.HSQRT && op <= <u32>Op.HROUND_EVEN;
}
