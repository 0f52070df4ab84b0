/**
 * Which buffer memory an access may reach, as a class in `mAlias`: accesses of different classes never meet. Bindings do
 * not overlap unless one of them is decorated Aliased or its buffer is known at run time only; elements of an array of
 * descriptors may always overlap.
 */
import { DYNAMIC_SET, InstrFlag, Op } from "../../gen/ir-ops.ts";
import { flagsOf, imm, opOf } from "../ir/index.ts";

/** Not said: a scalar load of what nothing writes, or any memory of its kind. */
export const ALIAS_UNSET: u32 = 0;
/** Any buffer or image. */
const ALIAS_ANY: u32 = 1;
/** Classes from `ALIAS_FIRST` on. Two bindings may share one: they count as overlapping then. */
export const ALIAS_FIRST: u32 = 2;
const ALIAS_CLASSES: u32 = 15;

/** Class of what is selected for an IR instruction. */
export function aliasOf(i: u32): u32 {
  const op = opOf(i);
  if (op != Op.LOAD_SSBO && op != Op.STORE_SSBO) return ALIAS_UNSET;
  if ((flagsOf(i) & InstrFlag.ALIASED) != 0 || imm(i, 0) == DYNAMIC_SET) return ALIAS_ANY;
  return ALIAS_FIRST + ((imm(i, 0) * 7 + imm(i, 1)) % ALIAS_CLASSES);
}
