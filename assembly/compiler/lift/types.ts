/** OpType*: kinds, scalar counts, layouts. */
import { Fail, fail, failed, Limit } from "../../base/index.ts";
import { SpvDecoration, SpvOp, SpvStorageClass } from "../../gen/spirv.ts";
import { constBits, isConst } from "../ir/index.ts";
import {
  Dec,
  decoratedMember,
  decStride,
  firstMemberDecoration,
  IdClass,
  idAt,
  idClass,
  idLeaf,
  idType,
  leafPool,
  MAX_LEAVES,
  malformed,
  memberBuiltIn,
  memberDec,
  memberDecoration,
  memberDecorationValue,
  memberLds,
  memberLeaf,
  memberOffset,
  memberStride,
  memberType,
  newMembers,
  nextMemberDecoration,
  ROW_MAJOR,
  typeA,
  typeAlign,
  typeB,
  typeDepth,
  typeKind,
  typeLeaves,
  typeSize,
  wordAt,
} from "./ids.ts";

export const enum TypeKind {
  NONE = 0,
  VOID = 1,
  BOOL = 2,
  /** a: width, b: signed. */
  INT = 3,
  /** a: width. */
  FLOAT = 4,
  /** a: component type, b: count. */
  VECTOR = 5,
  /** a: column type, b: count. */
  MATRIX = 6,
  /** a: element type, b: count. */
  ARRAY = 7,
  RUNTIME_ARRAY = 8,
  /** a: first member row, b: count. */
  STRUCT = 9,
  /** a: pointee, b: storage class. */
  POINTER = 10,
  FUNCTION = 11,
  OPAQUE = 12,
  /** a: sampled type, b: dim [3:0], depth [5:4], arrayed 6, multisampled 7, sampled [9:8], format [31:12]. */
  IMAGE = 13,
  SAMPLER = 14,
  /** a: image type. */
  SAMPLED_IMAGE = 15,
}

/** SPIR-V lets structs nest 255 deep; arrays and pointers come on top. */
const MAX_DEPTH: u32 = 512;

/** Type id in word k; anything else fails and answers 0. */
export function typeAt(k: u32): u32 {
  const id = idAt(k);
  if (idClass[id] == IdClass.TYPE) return id;
  malformed(k);
  return 0;
}

function leavesOf(count: u64): u32 {
  return count > <u64>MAX_LEAVES ? MAX_LEAVES + 1 : <u32>count;
}

/** Width of the scalar under a scalar, vector or matrix type; 1 for booleans. */
export function scalarWidth(type: u32): u32 {
  let t = type;
  while (typeKind[t] == TypeKind.VECTOR || typeKind[t] == TypeKind.MATRIX) t = typeA[t];
  return typeKind[t] == TypeKind.BOOL ? 1 : typeA[t];
}

/** Bytes of the scalar under a type, in memory. A boolean is a word. */
export function scalarBytes(type: u32): u32 {
  const width = scalarWidth(type);
  return width == 8 ? 1 : width == 16 ? 2 : width == 64 ? 8 : 4;
}

/** Part k of a composite type: element, column, component, member. 0 where there is none. */
export function partType(type: u32, k: u32): u32 {
  const kind = typeKind[type];
  if (kind == TypeKind.STRUCT) return k < typeB[type] ? memberType[typeA[type] + k] : 0;
  if (kind == TypeKind.VECTOR || kind == TypeKind.MATRIX || kind == TypeKind.ARRAY)
    return k < typeB[type] ? typeA[type] : 0;
  return kind == TypeKind.RUNTIME_ARRAY ? typeA[type] : 0;
}
/** First scalar of part k within the composite. */
export function partLeaf(type: u32, k: u32): u32 {
  if (typeKind[type] == TypeKind.STRUCT) return memberLeaf[typeA[type] + k];
  return k * typeLeaves[typeA[type]];
}

/** Bytes between elements of an array in workgroup memory; sizes that do not fit stay at the most. */
export function ldsStride(array: u32): u32 {
  const element = typeA[array];
  const align = <u64>typeAlign[element];
  return most32((<u64>typeSize[element] + align - 1) & ~(align - 1));
}

function most32(size: u64): u32 {
  return size > 0xffff_ffff ? 0xffff_ffff : <u32>size;
}

function sizes(type: u32, leaves: u64, size: u64, align: u32): void {
  typeLeaves[type] = leavesOf(leaves);
  typeSize[type] = most32(size);
  typeAlign[type] = align;
}

function liftStruct(type: u32, at: u32, count: u32): void {
  const first = newMembers(count);
  if (failed()) return;
  typeKind[type] = TypeKind.STRUCT;
  typeA[type] = first;
  typeB[type] = count;
  let leaves: u64 = 0;
  let size: u64 = 0;
  let align: u32 = 4;
  for (let k: u32 = 0; k < count; k++) {
    const member = typeAt(at + 2 + k);
    if (failed()) return;
    const row = first + k;
    const a = typeAlign[member];
    if (a > align) align = a;
    size = (size + a - 1) & ~(<u64>(a - 1));
    memberType[row] = member;
    memberOffset[row] = 0;
    memberStride[row] = 0;
    memberDec[row] = 0;
    memberBuiltIn[row] = 0;
    memberLds[row] = most32(size);
    memberLeaf[row] = leavesOf(leaves);
    size += typeSize[member];
    leaves += typeLeaves[member];
    if (typeDepth[member] >= typeDepth[type]) typeDepth[type] = typeDepth[member] + 1;
  }
  sizes(type, leaves, (size + align - 1) & ~(<u64>(align - 1)), align);
  for (let d = firstMemberDecoration(type); d != 0; d = nextMemberDecoration(d)) {
    const member = decoratedMember(d);
    if (member >= count) continue;
    const row = first + member;
    const value = memberDecorationValue(d);
    switch (memberDecoration(d)) {
      case SpvDecoration.Offset:
        memberOffset[row] = value;
        break;
      case SpvDecoration.Location:
        memberOffset[row] = memberOffset[row] | (value + 1);
        break;
      case SpvDecoration.Component:
        memberOffset[row] = memberOffset[row] | (value << 16);
        break;
      case SpvDecoration.Flat:
        memberDec[row] = memberDec[row] | Dec.FLAT;
        break;
      case SpvDecoration.NoPerspective:
        memberDec[row] = memberDec[row] | Dec.NO_PERSPECTIVE;
        break;
      case SpvDecoration.Centroid:
        memberDec[row] = memberDec[row] | Dec.CENTROID;
        break;
      case SpvDecoration.Sample:
        memberDec[row] = memberDec[row] | Dec.SAMPLE;
        break;
      case SpvDecoration.MatrixStride:
        memberStride[row] = (memberStride[row] & ROW_MAJOR) | value;
        break;
      case SpvDecoration.RowMajor:
        memberStride[row] = memberStride[row] | ROW_MAJOR;
        break;
      case SpvDecoration.NonWritable:
        memberDec[row] = memberDec[row] | Dec.NON_WRITABLE;
        break;
      case SpvDecoration.Coherent:
        memberDec[row] = memberDec[row] | Dec.COHERENT;
        break;
      case SpvDecoration.Volatile:
        memberDec[row] = memberDec[row] | Dec.VOLATILE;
        break;
      case SpvDecoration.BuiltIn:
        memberBuiltIn[row] = value + 1;
        break;
      default:
        break;
    }
  }
}

/** Number of elements that a constant id says; 0 fails. */
function lengthAt(k: u32): u32 {
  const id = idAt(k);
  if (idClass[id] == IdClass.VALUE && isConst(leafPool[idLeaf[id]])) {
    const n = constBits(leafPool[idLeaf[id]]);
    if (n != 0) return n;
  }
  malformed(k);
  return 1;
}

/**
 * Leaves of a pointer as a value: into a storage buffer the address of the descriptor and the byte offset, into workgroup
 * memory the byte offset; a physical pointer its address. Pointers of other storage classes are no values.
 */
function pointerLeaves(storage: u32): u32 {
  if (storage == SpvStorageClass.StorageBuffer || storage == SpvStorageClass.PhysicalStorageBuffer) return 2;
  return storage == SpvStorageClass.Workgroup ? 1 : MAX_LEAVES + 1;
}
/** A pointer type whose pointers may be values. */
export function isPointerValue(type: u32): bool {
  return typeKind[type] == TypeKind.POINTER && typeLeaves[type] <= MAX_LEAVES;
}

/** A pointer that is an address in memory. */
export function isPhysical(type: u32): bool {
  return typeKind[type] == TypeKind.POINTER && typeB[type] == SpvStorageClass.PhysicalStorageBuffer;
}

/** OpTypeForwardPointer: a struct may have the pointer as member before its own declaration. */
export function forwardPointer(at: u32): void {
  const type = idAt(at + 1);
  if (failed() || idClass[type] != IdClass.NONE) return;
  idClass[type] = IdClass.TYPE;
  idType[type] = at;
  typeKind[type] = TypeKind.POINTER;
  typeA[type] = 0;
  typeB[type] = wordAt(at + 2);
  typeDepth[type] = 0;
  sizes(type, pointerLeaves(typeB[type]), 8, 8);
}

/** Reads one OpType* at word `at` with `count` words. */
export function liftType(op: u32, at: u32, count: u32): void {
  const type = idAt(at + 1);
  const ahead = op == SpvOp.OpTypePointer && idClass[type] == IdClass.TYPE && isPhysical(type) && typeA[type] == 0;
  if (failed() || (idClass[type] != IdClass.NONE && !ahead)) {
    malformed(at);
    return;
  }
  idClass[type] = IdClass.TYPE;
  idType[type] = at;
  sizes(type, 0, 0, 4);
  switch (op) {
    case SpvOp.OpTypeVoid:
      typeKind[type] = TypeKind.VOID;
      break;
    case SpvOp.OpTypeBool:
      typeKind[type] = TypeKind.BOOL;
      sizes(type, 1, 4, 4);
      break;
    case SpvOp.OpTypeInt:
    case SpvOp.OpTypeFloat:
      typeKind[type] = op == SpvOp.OpTypeInt ? TypeKind.INT : TypeKind.FLOAT;
      typeA[type] = wordAt(at + 2);
      typeB[type] = op == SpvOp.OpTypeInt ? wordAt(at + 3) : 0;
      sizes(type, typeA[type] == 64 ? 2 : 1, scalarBytes(type), scalarBytes(type));
      break;
    case SpvOp.OpTypeVector:
    case SpvOp.OpTypeMatrix: {
      const part = typeAt(at + 2);
      const n = wordAt(at + 3);
      const kind = typeKind[part];
      const ok =
        op == SpvOp.OpTypeVector ? kind >= <u32>TypeKind.BOOL && kind <= <u32>TypeKind.FLOAT : kind == TypeKind.VECTOR;
      if (!ok || n < 2 || n > 16) {
        malformed(at);
        return;
      }
      typeKind[type] = op == SpvOp.OpTypeVector ? TypeKind.VECTOR : TypeKind.MATRIX;
      typeA[type] = part;
      typeB[type] = n;
      const align: u32 = op == SpvOp.OpTypeMatrix ? typeAlign[part] : typeSize[part] * (n == 2 || n == 4 ? n : 1);
      sizes(type, <u64>n * typeLeaves[part], <u64>n * typeSize[part], align);
      break;
    }
    case SpvOp.OpTypeArray: {
      const element = typeAt(at + 2);
      const n = lengthAt(at + 3);
      if (failed()) return;
      typeKind[type] = TypeKind.ARRAY;
      typeA[type] = element;
      typeB[type] = n;
      typeDepth[type] = typeDepth[element] + 1;
      sizes(type, <u64>n * typeLeaves[element], <u64>n * ldsStride(type), typeAlign[element]);
      break;
    }
    case SpvOp.OpTypeRuntimeArray:
      typeKind[type] = TypeKind.RUNTIME_ARRAY;
      typeA[type] = typeAt(at + 2);
      typeDepth[type] = typeDepth[typeA[type]] + 1;
      sizes(type, MAX_LEAVES + 1, 0xffff_ffff, 4);
      break;
    case SpvOp.OpTypeStruct:
      liftStruct(type, at, count - 2);
      break;
    case SpvOp.OpTypePointer:
      typeKind[type] = TypeKind.POINTER;
      typeB[type] = wordAt(at + 2);
      typeA[type] = idAt(at + 3);
      if (isPhysical(type)) sizes(type, 2, 8, 8);
      else sizes(type, pointerLeaves(typeB[type]), 0xffff_ffff, 4);
      break;
    case SpvOp.OpTypeImage:
      typeKind[type] = TypeKind.IMAGE;
      typeA[type] = idAt(at + 2);
      typeB[type] =
        (wordAt(at + 3) & 15) |
        ((wordAt(at + 4) & 3) << 4) |
        ((wordAt(at + 5) & 1) << 6) |
        ((wordAt(at + 6) & 1) << 7) |
        ((wordAt(at + 7) & 3) << 8) |
        (wordAt(at + 8) << 12);
      sizes(type, 3, 0xffff_ffff, 4);
      break;
    case SpvOp.OpTypeSampler:
      typeKind[type] = TypeKind.SAMPLER;
      sizes(type, 3, 0xffff_ffff, 4);
      break;
    case SpvOp.OpTypeSampledImage:
      typeKind[type] = TypeKind.SAMPLED_IMAGE;
      typeA[type] = typeAt(at + 2);
      sizes(type, 6, 0xffff_ffff, 4);
      break;
    case SpvOp.OpTypeFunction:
      typeKind[type] = TypeKind.FUNCTION;
      typeA[type] = idAt(at + 2);
      break;
    default:
      typeKind[type] = TypeKind.OPAQUE;
      sizes(type, MAX_LEAVES + 1, 0xffff_ffff, 4);
      break;
  }
  if (typeDepth[type] > MAX_DEPTH) fail(Fail.LIMIT, Limit.IDS, MAX_DEPTH, 0);
}

/** Bytes from one element to the next of an array with explicit layout. */
export function arrayStride(type: u32): u32 {
  return decStride[type];
}
