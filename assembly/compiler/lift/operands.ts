/** Operands and results of an instruction that makes values, as runs of leaves. */
import { failed } from "../../base/index.ts";
import { constant, constantBool, undef } from "../ir/index.ts";
import {
  IdClass,
  idAt,
  idClass,
  idLeaf,
  idType,
  leafPool,
  malformed,
  newLeaves,
  scratchB,
  setValue,
  typeB,
  typeKind,
  typeLeaves,
  unsupported,
} from "./ids.ts";
import { pointerValue } from "./pointer-values.ts";
import { describe, Layout, NULL_OFFSET, POINTER_OFFSET } from "./pointers.ts";
import { scalars, scalarsOf, storeScalars } from "./scalars.ts";
import { Unsupported } from "./texts.ts";
import { isPointerValue, partType, scalarWidth, TypeKind, typeAt } from "./types.ts";

/** A value id in word k; anything else fails and answers 0. */
export function valueAt(k: u32): u32 {
  const id = idAt(k);
  if (idClass[id] == IdClass.VALUE) return id;
  if (idClass[id] == IdClass.UNSUPPORTED) unsupported(Unsupported.TYPE, 0);
  else if (idClass[id] == IdClass.POINTER) return pointerValue(id);
  else malformed(k);
  return 0;
}

/** First leaf of the value in word k, which must have `count` leaves. */
export function leaves(k: u32, count: u32): u32 {
  const id = valueAt(k);
  if (failed()) return 1;
  if (typeLeaves[idType[id]] == count) return idLeaf[id];
  malformed(k);
  return 1;
}

/** First of the `count` scalars, ready for arithmetic, of the value in word k. */
export function operand(k: u32, count: u32): u32 {
  const id = valueAt(k);
  if (failed()) return 1;
  if (scalarsOf(idType[id]) == count) return scalars(id);
  malformed(k);
  return 1;
}

/** Scalars of the value in word k. */
export function countAt(k: u32): u32 {
  const id = valueAt(k);
  return failed() ? 0 : scalarsOf(idType[id]);
}

/** Results that `finish` turns into leaves; 0 where they are leaves already. */
let pendingRun: u32 = 0;

let pendingLeaf: u32 = 0;

let pendingType: u32 = 0;

/** Leaves for the result of the instruction at `at`. */
export function rawResult(at: u32): u32 {
  const type = typeAt(at + 1);
  if (failed()) return 1;
  const kind = typeKind[type];
  if (
    kind <= <u32>TypeKind.VOID ||
    (kind >= <u32>TypeKind.RUNTIME_ARRAY && kind != TypeKind.STRUCT && !isPointerValue(type))
  ) {
    unsupported(Unsupported.TYPE, kind);
    return 1;
  }
  const leaf = newLeaves(typeLeaves[type]);
  if (!failed()) setValue(idAt(at + 2), type, leaf);
  return leaf;
}

/** A run for the scalars that arithmetic makes for the instruction at `at`; `finish` follows. */
export function result(at: u32): u32 {
  const leaf = rawResult(at);
  if (failed()) return 1;
  const type = idAt(at + 1);
  if (isPlain(type)) return leaf;
  pendingRun = newLeaves(scalarsOf(type));
  pendingLeaf = leaf;
  pendingType = type;
  return pendingRun;
}

/** True where arithmetic sees the leaves as they are. */
function isPlain(type: u32): bool {
  if (typeKind[type] == TypeKind.STRUCT) {
    for (let m: u32 = 0; m < typeB[type]; m++) if (!isPlain(partType(type, m))) return false;
    return true;
  }
  const width = scalarWidth(type);
  return typeKind[type] > <u32>TypeKind.MATRIX || width == 1 || width == 32;
}

export function finish(): void {
  if (pendingRun != 0 && !failed()) storeScalars(pendingType, pendingRun, pendingLeaf);
  pendingRun = 0;
}

export function resultCount(at: u32): u32 {
  return scalarsOf(idAt(at + 1));
}

/** Undefined scalars of a type, at the cursor. */
export function undefLeaves(type: u32, leaf: u32): void {
  const count = describe(type, 0, Layout.NONE, 0, 0);
  for (let k: u32 = 0; k < count && !failed(); k++) {
    const width = scratchB[2 * k + 1];
    // The upper bits of a narrow leaf are 0, and a pointer has to point somewhere.
    leafPool[leaf + k] = width == 8 || width == 16 || width > 32 ? nullLeaf(width) : undef(width);
  }
}

/** Zero, false, null for a leaf of `describe`'s width. */
function nullLeaf(width: u32): u32 {
  if (width == 1) return constantBool(false);
  return constant(width == POINTER_OFFSET ? NULL_OFFSET : 0);
}

/** Zeros of a type. */
export function nullLeaves(type: u32, leaf: u32): void {
  const count = describe(type, 0, Layout.NONE, 0, 0);
  for (let k: u32 = 0; k < count && !failed(); k++) leafPool[leaf + k] = nullLeaf(scratchB[2 * k + 1]);
}
