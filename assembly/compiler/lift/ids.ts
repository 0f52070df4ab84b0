/**
 * What the lifter knows of each SPIR-V id, in columns by id. A value is a run of scalar leaves (IR values) in the leaf
 * pool: a composite shares the leaves of its parts, so extracts and copies cost nothing.
 */
import { Fail, Field4, Field8, Field16, fail, Limit, U32Column } from "../../base/index.ts";
import { Option, option, words } from "../io.ts";
import { LIFT_BASE } from "../memory-map.ts";

/** Ids of a module; a few of the lifter's own stand behind them. */
export const MAX_IDS: u32 = (1 << 19) - 16;
const MAX_LEAF_POOL: u32 = 1 << 21;
const MAX_MEMBERS: u32 = 1 << 17;
/** Scalars of one value at most. */
export const MAX_LEAVES: u32 = 1 << 13;

export const enum IdClass {
  NONE = 0,
  TYPE = 1,
  VALUE = 2,
  POINTER = 3,
  LABEL = 4,
  FUNCTION = 5,
  EXT_GLSL = 6,
  EXT_OTHER = 7,
  /** A value or type that exists in SPIR-V but has no lifting yet: a use fails. */
  UNSUPPORTED = 8,
  /** OpImageTexelPointer: see `images.ts`. */
  TEXEL = 9,
}

// Tables of rows by id: what values have is apart from what few ids have, which a long module need not go through.
const ROWS: usize = <usize>MAX_IDS + 16;
const IDS: usize = LIFT_BASE;
const POINTERS: usize = IDS + (ROWS << 4) + 0x140;
const FACTS: usize = POINTERS + (ROWS << 5) + 0x240;

export const idClass = changetype<Field4>(IDS);
/** Value, pointer: its type id. Label, function: word index of its instruction. */
export const idType = changetype<Field4>(IDS + 4);
/** Value: first leaf. */
export const idLeaf = changetype<Field4>(IDS + 8);
/** Label: the stamp of the function instance that has emitted it. Function: 1 while active. Phi: its variable + 1. */
export const idStamp = changetype<Field4>(IDS + 12);
// Pointers: see `pointers.ts`.
export const ptrVar = changetype<Field8>(POINTERS);
export const ptrConst = changetype<Field8>(POINTERS + 4);
export const ptrDyn = changetype<Field8>(POINTERS + 8);
export const ptrElem = changetype<Field8>(POINTERS + 12);
export const ptrStride = changetype<Field8>(POINTERS + 16);
export const ptrFlags = changetype<Field8>(POINTERS + 20);
export const ptrRange = changetype<Field8>(POINTERS + 24);
/** Decoration bits (`Dec`). */
export const idDec = changetype<Field8>(POINTERS + 28);
// Labels, in the rows of pointers: the innermost frame + 1 that they end or go on with, that of the switch they are a
// case of; branches to them.
export const labelFrame = changetype<Field8>(POINTERS + 12);
export const labelSwitch = changetype<Field8>(POINTERS + 16);
export const labelBranches = changetype<Field8>(POINTERS + 24);
/** Decorated numbers, each + 1, 0 for none. */
export const decBinding = changetype<Field16>(FACTS);
export const decSet = changetype<Field16>(FACTS + 4);
export const decBuiltIn = changetype<Field16>(FACTS + 8);
export const decSpecId = changetype<Field16>(FACTS + 12);
/** Types: ArrayStride in bytes, 0 for none. Variables: location + 1, component << 16, index << 24. */
export const decStride = changetype<Field16>(FACTS + 16);
/** First row of member decorations + 1. */
const decMembers = changetype<Field16>(FACTS + 20);
// Types: kind, parts (`types.ts`).
export const typeKind = changetype<Field16>(FACTS + 24);
export const typeA = changetype<Field16>(FACTS + 28);
export const typeB = changetype<Field16>(FACTS + 32);
/** Scalars in a value of the type, saturated at MAX_LEAVES + 1. */
export const typeLeaves = changetype<Field16>(FACTS + 36);
/** Bytes and alignment in workgroup memory. */
export const typeSize = changetype<Field16>(FACTS + 40);
export const typeAlign = changetype<Field16>(FACTS + 44);
export const typeDepth = changetype<Field16>(FACTS + 48);
const IDS_END: usize = FACTS + (ROWS << 6) + 0x540;

export const leafPool = changetype<U32Column>(IDS_END);
const LEAF_END: usize = IDS_END + ((<usize>MAX_LEAF_POOL) << 2);
const M: usize = (<usize>MAX_MEMBERS) << 2;
// Member decorations as read: member, decoration, value, next row + 1.
const rawMember = changetype<U32Column>(LEAF_END);
const rawDec = changetype<U32Column>(LEAF_END + M);
const rawValue = changetype<U32Column>(LEAF_END + 2 * M);
const rawNext = changetype<U32Column>(LEAF_END + 3 * M);
// Members of struct types.
export const memberType = changetype<U32Column>(LEAF_END + 4 * M);
/** Offset in bytes; in blocks of inputs and outputs location + 1, component << 16. */
export const memberOffset = changetype<U32Column>(LEAF_END + 5 * M);
/** MatrixStride, with the high bit for RowMajor. */
export const memberStride = changetype<U32Column>(LEAF_END + 6 * M);
export const memberDec = changetype<U32Column>(LEAF_END + 7 * M);
export const memberLds = changetype<U32Column>(LEAF_END + 8 * M);
/** First scalar of the member within the struct. */
export const memberLeaf = changetype<U32Column>(LEAF_END + 9 * M);
/** BuiltIn + 1 of a member. */
export const memberBuiltIn = changetype<U32Column>(LEAF_END + 10 * M);
const MEMBER_END: usize = LEAF_END + 11 * M;
/** Scratch for one instruction: leaf values, leaf offsets. */
export const scratchA = changetype<U32Column>(MEMBER_END);
export const scratchB = changetype<U32Column>(MEMBER_END + ((<usize>MAX_LEAVES) << 3));
export const LIFT_TABLES_END: usize = MEMBER_END + ((<usize>MAX_LEAVES) << 4);

/** Bits of `idDec`, `memberDec`, `ptrFlags`. */
export const enum Dec {
  NO_CONTRACTION = 1,
  NON_WRITABLE = 2,
  COHERENT = 4,
  VOLATILE = 8,
  BLOCK = 16,
  BUFFER_BLOCK = 32,
  NON_UNIFORM = 64,
  NON_READABLE = 128,
  /** Pointers: the variable behind is known at run time only; `ptrElem` is the address of the descriptor. */
  DYNAMIC = 256,
  /** How an input of the fragment stage is interpolated. */
  FLAT = 512,
  NO_PERSPECTIVE = 1024,
  CENTROID = 2048,
  SAMPLE = 4096,
  ALIASED = 8192,
}
export const ROW_MAJOR: u32 = 0x8000_0000;

let bound: u32 = 0;
let leafTop: u32 = 1;
let rawTop: u32 = 0;
let memberTop: u32 = 0;

/** Ids of the lifter's own, behind those of the module. */
export const enum Own {
  /** What a pointer of which only the value is known points into: a storage buffer, workgroup memory. */
  ANY_BUFFER = 0,
  ANY_SHARED = 1,
  /** Four ids in turn for the values of pointers. */
  POINTER_VALUE = 2,
  COUNT = 6,
}

/** An id of the lifter's own. */
export function ownId(which: u32): u32 {
  return bound + which;
}

/** Clears the columns for a module with ids below `ids`, at most `MAX_IDS`. */
export function resetIds(ids: u32): void {
  bound = ids;
  leafTop = 1;
  rawTop = 0;
  memberTop = 0;
  const rows = <usize>ids + <usize>Own.COUNT;
  memory.fill(IDS, 0, rows << 4);
  memory.fill(POINTERS, 0, rows << 5);
  memory.fill(FACTS, 0, rows << 6);
}

export function malformed(at: u32): void {
  fail(Fail.MALFORMED, 1, at, 0);
}

/** Fails with a text of `src/core/codes.ts`. */
export function unsupported(text: u32, value: u32): void {
  fail(Fail.UNSUPPORTED, text, value, 0);
}
/** As `unsupported`, of opcode `op` on scalars of `width` bits. */
export function unsupportedWidth(text: u32, op: u32, width: u32): void {
  fail(Fail.UNSUPPORTED, text, op, width);
}

/** Word `k` of the module; past its end the run fails and the answer is 0. */
export function wordAt(k: u32): u32 {
  if (k < option(Option.WORD_COUNT)) return words[k];
  malformed(k);
  return 0;
}

/** The id in word `k`; a bad one fails and answers 0, whose class is NONE. */
export function idAt(k: u32): u32 {
  const id = wordAt(k);
  if (id < bound) return id;
  malformed(k);
  return 0;
}

/** Whether the word at k may be an id. */
export function isId(k: u32): bool {
  return wordAt(k) < bound;
}

/** A run of `count` leaves; after a failure always the same one. */
export function newLeaves(count: u32): u32 {
  if (count > MAX_LEAVES || leafTop + count > MAX_LEAF_POOL) {
    fail(Fail.LIMIT, Limit.LEAVES, MAX_LEAVES, 0);
    return 1;
  }
  const start = leafTop;
  leafTop += count;
  return start;
}

/** A run of words in the leaf pool for tables of the lifter; after a failure always the same one. */
export function newPool(count: u32): u32 {
  if (count > MAX_LEAF_POOL || leafTop + count > MAX_LEAF_POOL) {
    fail(Fail.LIMIT, Limit.LEAVES, MAX_LEAF_POOL, 0);
    return 4;
  }
  const start = leafTop;
  leafTop += count;
  return start;
}

export function setValue(id: u32, type: u32, leaf: u32): void {
  idClass[id] = IdClass.VALUE;
  idType[id] = type;
  idLeaf[id] = leaf;
}

export function addMemberDecoration(struct: u32, member: u32, decoration: u32, value: u32): void {
  if (rawTop >= MAX_MEMBERS) {
    fail(Fail.LIMIT, Limit.IDS, MAX_MEMBERS, 0);
    return;
  }
  rawMember[rawTop] = member;
  rawDec[rawTop] = decoration;
  rawValue[rawTop] = value;
  rawNext[rawTop] = decMembers[struct];
  rawTop++;
  decMembers[struct] = rawTop;
}

export function firstMemberDecoration(struct: u32): u32 {
  return decMembers[struct];
}
export function nextMemberDecoration(row: u32): u32 {
  return rawNext[row - 1];
}
export function decoratedMember(row: u32): u32 {
  return rawMember[row - 1];
}
export function memberDecoration(row: u32): u32 {
  return rawDec[row - 1];
}
export function memberDecorationValue(row: u32): u32 {
  return rawValue[row - 1];
}

/** Rows for the members of a struct. */
export function newMembers(count: u32): u32 {
  if (count > MAX_MEMBERS || memberTop + count > MAX_MEMBERS) {
    fail(Fail.LIMIT, Limit.IDS, MAX_MEMBERS, 0);
    return 0;
  }
  const start = memberTop;
  memberTop += count;
  return start;
}
