/**
 * Pointers of SPIR-V as (variable, constant offset, dynamic offset): nothing points in the IR.
 *
 * Buffers, push constants and workgroup memory: offsets in bytes; `ptrElem` is the descriptor array element;
 * `ptrStride` the matrix stride (and ROW_MAJOR) where the pointee is a matrix or a part of one; the high half of
 * `ptrFlags` is log2 of the alignment of the dynamic part; `ptrRange` the type id of the pointer. With DYNAMIC the buffer is
 * the one whose descriptor stands at the address `ptrElem`. `idLeaf` of a pointer that is no variable: bytes between the
 * elements of the array that it points into, 0 where that is not known.
 * Local variables and inputs: offsets in scalars; with a dynamic part, `ptrRange` scalars from the constant on may be
 * meant, in steps of `ptrStride`.
 */
import { failed } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { SpvDecoration, SpvStorageClass } from "../../gen/spirv.ts";
import { constant, constBits, isConst, newVar } from "../ir/index.ts";
import { farAway } from "./far-away.ts";
import { addI, bin, scaleI } from "./fold-build.ts";
import {
  Dec,
  IdClass,
  idAt,
  idClass,
  idDec,
  idLeaf,
  idStamp,
  idType,
  leafPool,
  MAX_LEAVES,
  malformed,
  memberDec,
  memberLds,
  memberOffset,
  memberStride,
  newLeaves,
  Own,
  ownId,
  ptrConst,
  ptrDyn,
  ptrElem,
  ptrFlags,
  ptrRange,
  ptrStride,
  ptrVar,
  ROW_MAJOR,
  scratchB,
  typeA,
  typeAlign,
  typeB,
  typeKind,
  typeLeaves,
  typeSize,
  unsupported,
} from "./ids.ts";
import { inScratch, inTable, resetScratch } from "./scratch.ts";
import { Unsupported } from "./texts.ts";
import {
  arrayStride,
  isPhysical,
  isPointerValue,
  ldsStride,
  partLeaf,
  partType,
  scalarBytes,
  TypeKind,
} from "./types.ts";
import { isPair, pair } from "./wide.ts";

export const enum PtrKind {
  NONE = 0,
  LOCAL = 1,
  UBO = 2,
  SSBO = 3,
  PUSH = 4,
  SHARED = 5,
  INPUT = 6,
  OUTPUT = 7,
  /** Images and samplers: only `ptrElem` counts. */
  OPAQUE = 8,
  /** Local variables in scratch memory: laid out as workgroup memory. */
  SCRATCH = 9,
  /** Local variables that are constants: behind the code, laid out as workgroup memory. */
  TABLE = 10,
}

/** How `describe` gives offsets. */
export const enum Layout {
  NONE = 0,
  EXPLICIT = 1,
  SHARED = 2,
}

/** Kind of a variable (a pointer id's `ptrVar`). */
export function kindOfVar(variable: u32): u32 {
  return idStamp[variable] & 0xff;
}

/** Variables that are scalars of their own, not memory: locals, inputs, outputs. */
export function isLocalKind(kind: u32): bool {
  return kind == PtrKind.LOCAL || kind == PtrKind.INPUT || kind == PtrKind.OUTPUT;
}

function blockOfArray(type: u32): u32 {
  let t = type;
  for (let depth = 0; depth < 64 && (typeKind[t] == TypeKind.ARRAY || typeKind[t] == TypeKind.RUNTIME_ARRAY); depth++) {
    t = typeA[t];
  }
  return t;
}

/** Workgroup memory has offsets of the module (then all of it has): SPV_KHR_workgroup_memory_explicit_layout. */
let explicitShared = false;

export function resetPointers(): void {
  explicitShared = false;
  resetScratch();
}

/** Declares an OpVariable of a pointer type in a storage class. */
export function declareVariable(id: u32, pointer: u32, storage: u32): void {
  const type = typeA[pointer];
  const block = blockOfArray(type);
  let kind: u32 = PtrKind.NONE;
  switch (storage) {
    case SpvStorageClass.Uniform:
      kind = (idDec[block] & Dec.BUFFER_BLOCK) != 0 ? PtrKind.SSBO : PtrKind.UBO;
      break;
    case SpvStorageClass.StorageBuffer:
      kind = PtrKind.SSBO;
      break;
    case SpvStorageClass.PushConstant:
      kind = PtrKind.PUSH;
      break;
    case SpvStorageClass.Workgroup:
      kind = PtrKind.SHARED;
      break;
    case SpvStorageClass.Private:
    case SpvStorageClass.Function:
      kind = inTable(id, type) ? PtrKind.TABLE : inScratch(id, type) ? PtrKind.SCRATCH : PtrKind.LOCAL;
      break;
    case SpvStorageClass.Input:
      kind = PtrKind.INPUT;
      break;
    case SpvStorageClass.UniformConstant:
      kind = PtrKind.OPAQUE;
      break;
    case SpvStorageClass.Output:
      kind = PtrKind.OUTPUT;
      break;
    default:
      break;
  }
  idClass[id] = IdClass.POINTER;
  idType[id] = type;
  idStamp[id] = kind;
  idLeaf[id] = 0;
  ptrVar[id] = id;
  ptrConst[id] = 0;
  ptrDyn[id] = 0;
  ptrElem[id] = 0;
  ptrStride[id] = 0;
  ptrRange[id] = layoutOf(id) == Layout.NONE ? 0 : pointer;
  ptrFlags[id] = (idDec[id] & (Dec.NON_WRITABLE | Dec.COHERENT | Dec.VOLATILE | Dec.ALIASED)) | (16 << 16);
  if (kind == PtrKind.SHARED && (idDec[type] & Dec.BLOCK) != 0) explicitShared = true;
}

/** Widths of the leaves of a pointer: byte offset, address of the descriptor. */
export const POINTER_OFFSET: u32 = 33;
const POINTER_BUFFER: u32 = 34;
/** The offset of a null pointer: no buffer and no workgroup memory reaches that far, with the offsets of its parts. */
export const NULL_OFFSET: u32 = 0x8000_0000;

/**
 * Writes (offset, width) of each leaf of `type` to `scratchB[2 * k]`, `[2 * k + 1]` from leaf `at` on; the answer is the
 * next leaf. Widths are 1, 8, 16, 32 and those of pointers; a 64-bit scalar has two leaves of 32. Types nest at most
 * 512 deep (`types.ts`).
 */
export function describe(type: u32, offset: u32, layout: u32, stride: u32, at: u32): u32 {
  if (failed()) return at;
  const kind = typeKind[type];
  if (kind == TypeKind.BOOL || kind == TypeKind.INT || kind == TypeKind.FLOAT) {
    const width: u32 = kind == TypeKind.BOOL ? 1 : typeA[type];
    if (width != 1 && width != 8 && width != 16 && width != 32 && width != 64) unsupported(Unsupported.WIDTH, width);
    if (at + 1 >= MAX_LEAVES) {
      newLeaves(MAX_LEAVES + 1);
      return at;
    }
    scratchB[2 * at] = offset;
    scratchB[2 * at + 1] = width == 64 ? 32 : width;
    if (width != 64) return at + 1;
    scratchB[2 * at + 2] = offset + 4;
    scratchB[2 * at + 3] = 32;
    return at + 2;
  }
  if (isPhysical(type)) {
    for (let k: u32 = 0; k < 2; k++) {
      scratchB[2 * (at + k)] = offset + 4 * k;
      scratchB[2 * (at + k) + 1] = 32;
    }
    return at + 2;
  }
  if (isPointerValue(type)) {
    const count = typeLeaves[type];
    if (count == 2) {
      scratchB[2 * at] = offset;
      scratchB[2 * at + 1] = POINTER_BUFFER;
    }
    scratchB[2 * (at + count) - 2] = offset + 4 * (count - 1);
    scratchB[2 * (at + count) - 1] = POINTER_OFFSET;
    return at + count;
  }
  let next = at;
  if (kind == TypeKind.STRUCT) {
    for (let m: u32 = 0; m < typeB[type] && !failed(); m++) {
      const row = typeA[type] + m;
      const o = layout == Layout.EXPLICIT ? memberOffset[row] : layout == Layout.SHARED ? memberLds[row] : 0;
      next = describe(partType(type, m), offset + o, layout, memberStride[row], next);
    }
    return next;
  }
  if (kind != TypeKind.VECTOR && kind != TypeKind.MATRIX && kind != TypeKind.ARRAY) {
    unsupported(Unsupported.TYPE, kind);
    return at;
  }
  if (typeLeaves[type] > MAX_LEAVES) {
    newLeaves(MAX_LEAVES + 1);
    return at;
  }
  const step = partStride(type, layout, stride);
  for (let k: u32 = 0; k < typeB[type] && !failed(); k++) {
    next = describe(typeA[type], offset + k * step, layout, stride, next);
  }
  return next;
}

/** Width of the IR value of a leaf whose width in memory is given. */
export function irWidth(width: u32): u32 {
  return width == 1 ? 1 : 32;
}

/** Bytes from part to part of a vector, matrix or array under a layout and a matrix stride. */
function partStride(type: u32, layout: u32, stride: u32): u32 {
  const kind = typeKind[type];
  const rowMajor = (stride & ROW_MAJOR) != 0;
  if (kind == TypeKind.VECTOR) return layout == Layout.EXPLICIT && rowMajor ? stride & ~ROW_MAJOR : scalarBytes(type);
  if (layout == Layout.SHARED)
    return kind == TypeKind.MATRIX ? scalarBytes(type) * typeB[typeA[type]] : ldsStride(type);
  if (kind == TypeKind.MATRIX) return rowMajor ? scalarBytes(type) : stride;
  return arrayStride(type);
}

/** The IR variables of a local variable, made on first use: one per scalar. */
export function localBase(variable: u32): u32 {
  if (idLeaf[variable] != 0) return idLeaf[variable] - 1;
  const count = describe(idType[variable], 0, Layout.NONE, 0, 0);
  let first: u32 = 0;
  for (let k: u32 = 0; k < count && !failed(); k++) {
    const v = newVar(irWidth(scratchB[2 * k + 1]));
    if (k == 0) first = v;
  }
  idLeaf[variable] = first + 1;
  return first;
}

/** A workgroup variable whose block says its offsets itself; all of them start at the same byte and alias. */
export function isSharedBlock(variable: u32): bool {
  return kindOfVar(variable) == PtrKind.SHARED && explicitShared;
}

/** How the memory behind a variable is laid out. Source: SPV_KHR_workgroup_memory_explicit_layout for blocks there. */
export function layoutOf(variable: u32): u32 {
  const kind = kindOfVar(variable);
  if (kind == PtrKind.SHARED) return isSharedBlock(variable) ? Layout.EXPLICIT : Layout.SHARED;
  if (kind == PtrKind.SCRATCH || kind == PtrKind.TABLE) return Layout.SHARED;
  return isLocalKind(kind) ? Layout.NONE : Layout.EXPLICIT;
}

/** Bytes up to the end of the last component of a type with explicit offsets. */
export function explicitBytes(type: u32): u32 {
  const count = describe(type, 0, Layout.EXPLICIT, 0, 0);
  let end: u32 = 0;
  for (let k: u32 = 0; k < count && !failed(); k++) end = max(end, scratchB[2 * k] + (scratchB[2 * k + 1] + 7) / 8);
  return end;
}

export function copyPointer(to: u32, from: u32): void {
  idClass[to] = IdClass.POINTER;
  idType[to] = idType[from];
  ptrVar[to] = ptrVar[from];
  ptrConst[to] = ptrConst[from];
  ptrDyn[to] = ptrDyn[from];
  ptrElem[to] = ptrElem[from];
  ptrStride[to] = ptrStride[from];
  ptrFlags[to] = ptrFlags[from];
  ptrRange[to] = ptrRange[from];
}

/** A pointer id in word k; anything else fails and answers 0. */
export function pointerAt(k: u32): u32 {
  const id = idAt(k);
  if (idClass[id] == IdClass.POINTER) {
    if (kindOfVar(ptrVar[id]) == PtrKind.NONE) {
      unsupported(Unsupported.STORAGE, 0);
      return 0;
    }
    return id;
  }
  if (idClass[id] == IdClass.VALUE && isPointerValue(idType[id])) {
    fromValue(id);
    return id;
  }
  if (idClass[id] == IdClass.UNSUPPORTED) unsupported(Unsupported.POINTER, 0);
  else malformed(k);
  return 0;
}

/** Makes the id of a pointer's value a pointer: into whatever buffer, or anywhere in workgroup memory. */
function fromValue(id: u32): void {
  const pointer = idType[id];
  const type = typeA[pointer];
  const leaf = idLeaf[id];
  const shared = typeLeaves[pointer] == 1;
  const address = isPhysical(pointer) ? pair(leafPool[leaf], leafPool[leaf + 1]) : 0;
  const anywhere = ownId(shared ? <u32>Own.ANY_SHARED : <u32>Own.ANY_BUFFER);
  idClass[anywhere] = IdClass.POINTER;
  idStamp[anywhere] = shared ? <u32>PtrKind.SHARED : <u32>PtrKind.SSBO;
  // As the base of workgroup variables: assigned, and 0.
  idLeaf[anywhere] = 1;
  idClass[id] = IdClass.POINTER;
  idType[id] = type;
  idLeaf[id] = 0;
  ptrVar[id] = anywhere;
  ptrConst[id] = 0;
  ptrElem[id] = shared ? 0 : address != 0 ? address : leafPool[leaf];
  ptrDyn[id] = address != 0 ? 0 : leafPool[leaf + (shared ? 0 : 1)];
  ptrStride[id] = 0;
  ptrRange[id] = pointer;
  ptrFlags[id] =
    (idDec[id] & (Dec.NON_WRITABLE | Dec.COHERENT | Dec.VOLATILE)) |
    (shared ? 0 : Dec.DYNAMIC | Dec.NON_UNIFORM) |
    (alignmentOf(type, shared) << 16);
}

/** Whether pointer p is an address in memory: `ptrElem` is its pair. */
export function isPhysicalPointer(p: u32): bool {
  return (ptrFlags[p] & Dec.DYNAMIC) != 0 && isPair(ptrElem[p]);
}

/** log2 of the alignment that every value of a type has in memory. */
function alignmentOf(type: u32, shared: bool): u32 {
  if (shared && !explicitShared) return ctz<u32>(typeAlign[type]);
  let t = type;
  let align: u32 = 2;
  for (let depth = 0; depth < 64 && typeKind[t] > <u32>TypeKind.FLOAT; depth++) {
    // A struct may begin with a smaller scalar, but what matters is where the words in it stand.
    if (typeKind[t] == TypeKind.STRUCT) return typeSize[t] % 4 == 0 ? 2 : 0;
    t = typeA[t];
  }
  align = ctz<u32>(scalarBytes(t));
  return min<u32>(align, 2);
}

/** Number of descriptors in an array type of blocks. */
function blocksIn(type: u32): u32 {
  let n: u32 = 1;
  let t = type;
  for (let depth = 0; depth < 64 && typeKind[t] == TypeKind.ARRAY; depth++) {
    n *= typeB[t];
    t = typeA[t];
  }
  return n;
}

function gcdPow(a: u32, log: u32): u32 {
  return a == 0 ? log : min<u32>(ctz<u32>(a), log);
}

function gcd(a: u32, b: u32): u32 {
  let x = a;
  let y = b;
  while (y != 0) {
    const t = x % y;
    x = y;
    y = t;
  }
  return x;
}

/** One step of an access chain on pointer `p` (updated in place) by an index value. Wrong shapes fail. */
function step(p: u32, index: u32, at: u32): void {
  const type = idType[p];
  const kind = typeKind[type];
  const known = isConst(index);
  const n = known ? constBits(index) : 0;
  const where = kindOfVar(ptrVar[p]);
  const block = blockOfArray(type);
  const isBlockArray =
    where == PtrKind.OPAQUE ||
    ((where == PtrKind.UBO || where == PtrKind.SSBO) &&
      block != type &&
      (idDec[block] & (Dec.BLOCK | Dec.BUFFER_BLOCK)) != 0);
  if (isBlockArray) {
    if (kind != TypeKind.ARRAY && kind != TypeKind.RUNTIME_ARRAY) {
      malformed(at);
      return;
    }
    const scaled = scaleI(index, blocksIn(typeA[type]));
    ptrElem[p] = ptrElem[p] == 0 ? scaled : addI(ptrElem[p], scaled);
    idType[p] = typeA[type];
    return;
  }
  const layout = layoutOf(ptrVar[p]);
  if (kind == TypeKind.STRUCT) {
    if (!known || n >= typeB[type]) {
      malformed(at);
      return;
    }
    const row = typeA[type] + n;
    if (layout == Layout.NONE) ptrConst[p] = ptrConst[p] + partLeaf(type, n);
    else farther(p, layout == Layout.SHARED ? memberLds[row] : memberOffset[row]);
    if (layout != Layout.NONE) ptrStride[p] = memberStride[row];
    idLeaf[p] = 0;
    ptrFlags[p] = ptrFlags[p] | (memberDec[row] & (Dec.NON_WRITABLE | Dec.COHERENT | Dec.VOLATILE));
    idType[p] = partType(type, n);
    return;
  }
  const part = partType(type, 0);
  if (part == 0) {
    malformed(at);
    return;
  }
  idType[p] = part;
  if (layout != Layout.NONE) {
    const stride = partStride(type, layout, ptrStride[p]);
    idLeaf[p] = stride;
    // Within an array of a known size below 2 GB an offset is a word.
    if (isPhysicalPointer(p) && (kind == TypeKind.RUNTIME_ARRAY || <u64>typeB[type] * stride > 0x8000_0000)) {
      farAway(p, idAt(at), stride);
      return;
    }
    if (known) {
      // What is out of range in local variables must not reach others.
      const ours = where == PtrKind.SCRATCH || where == PtrKind.TABLE;
      farther(p, <u64>(ours ? min<u32>(n, typeB[type] - 1) : n) * stride);
      return;
    }
    const dyn = scaleI(index, stride);
    ptrDyn[p] = ptrDyn[p] == 0 ? dyn : addI(ptrDyn[p], dyn);
    ptrFlags[p] = (ptrFlags[p] & 0xffff) | (gcdPow(stride, ptrFlags[p] >> 16) << 16);
    return;
  }
  const leaves = typeLeaves[part];
  const count = typeB[type];
  if (known) {
    // Out of range is undefined: the last element stands in.
    ptrConst[p] = ptrConst[p] + min<u32>(n, count - 1) * leaves;
    return;
  }
  const dyn = scaleI(index, leaves);
  if (ptrDyn[p] == 0) {
    ptrDyn[p] = dyn;
    ptrRange[p] = count * leaves;
    ptrStride[p] = leaves;
  } else {
    ptrDyn[p] = bin(Op.IADD, ptrDyn[p], dyn);
    ptrStride[p] = gcd(ptrStride[p], leaves);
  }
}

/** Moves `p` by a constant; offsets of 2^32 and more do not come round to the start, they stay out of every range. */
function farther(p: u32, bytes: u64): void {
  const offset = <u64>ptrConst[p] + bytes;
  ptrConst[p] = offset > 0xffff_ffff ? NULL_OFFSET : <u32>offset;
}

/** Bytes between the elements that OpPtrAccessChain and OpPtrDiff count, for a pointer type. */
export function elementStride(pointer: u32): u32 {
  if (typeB[pointer] == SpvStorageClass.Workgroup && !explicitShared) {
    const align = typeAlign[typeA[pointer]];
    return (typeSize[typeA[pointer]] + align - 1) & ~(align - 1);
  }
  return arrayStride(pointer);
}

/** The first step of OpPtrAccessChain: to another element of the array that `p` points into. */
function element(p: u32, pointer: u32, index: u32, at: u32): void {
  const physical = isPhysicalPointer(p);
  if (!physical && isConst(index) && constBits(index) == 0) return;
  const stride = elementStride(pointer);
  if (!isPointerValue(pointer) || stride == 0) {
    unsupported(Unsupported.POINTER, 0);
    return;
  }
  if (physical) {
    farAway(p, idAt(at), stride);
    return;
  }
  if (isConst(index)) {
    // Wraps as the addresses do.
    ptrConst[p] = ptrConst[p] + constBits(index) * stride;
    if (<i32>constBits(index) >= 0) return;
    // A negative step: the constant alone might not be an address.
    ptrDyn[p] = addI(dynamicOffset(p), constant(ptrConst[p]));
    ptrFlags[p] = (ptrFlags[p] & 0xffff) | (gcdPow(ptrConst[p], ptrFlags[p] >> 16) << 16);
    ptrConst[p] = 0;
    return;
  }
  const dyn = scaleI(index, stride);
  ptrDyn[p] = ptrDyn[p] == 0 ? dyn : addI(ptrDyn[p], dyn);
  ptrFlags[p] = (ptrFlags[p] & 0xffff) | (gcdPow(stride, ptrFlags[p] >> 16) << 16);
}

/** The value of an index in word k, an integer; others fail and give 0. */
function indexAt(k: u32): u32 {
  const index = idAt(k);
  if (idClass[index] == IdClass.VALUE && typeKind[idType[index]] == TypeKind.INT) return leafPool[idLeaf[index]];
  if (idClass[index] == IdClass.UNSUPPORTED) unsupported(Unsupported.INDEX, 0);
  else malformed(k);
  return 0;
}

/**
 * OpAccessChain, OpInBoundsAccessChain and, with `elements`, their Ptr forms, whose first index counts elements.
 * `at`: word index of the instruction, `count` its words.
 */
export function accessChain(at: u32, count: u32, elements: bool): void {
  const id = idAt(at + 2);
  const base = pointerAt(at + 3);
  if (failed()) return;
  const stride: u32 = ptrVar[base] == base ? 0 : idLeaf[base];
  copyPointer(id, base);
  idLeaf[id] = stride;
  if ((idDec[id] & Dec.NON_UNIFORM) != 0) ptrFlags[id] = ptrFlags[id] | Dec.NON_UNIFORM;
  let k: u32 = 4;
  if (elements) {
    const index = indexAt(at + 4);
    if (!failed()) element(id, ptrRange[id], index, at + 4);
    k = 5;
  }
  for (; k < count && !failed(); k++) {
    const index = indexAt(at + k);
    if (failed()) return;
    if ((idDec[idAt(at + k)] & Dec.NON_UNIFORM) != 0) ptrFlags[id] = ptrFlags[id] | Dec.NON_UNIFORM;
    step(id, index, at + k);
  }
  if (failed()) return;
  const pointer = idAt(at + 1);
  if (typeKind[pointer] != TypeKind.POINTER || typeA[pointer] != idType[id]) malformed(at + 1);
  else if (layoutOf(ptrVar[id]) != Layout.NONE) ptrRange[id] = pointer;
}

/** Dynamic byte offset of a memory pointer, 0 as a constant where there is none. */
export function dynamicOffset(p: u32): u32 {
  return ptrDyn[p] == 0 ? constant(0) : ptrDyn[p];
}

/** Decoration numbers that carry no meaning for code: everything else that is not handled is looked at by the validator. */
export function decorationBit(decoration: u32): u32 {
  switch (decoration) {
    case SpvDecoration.NoContraction:
      return Dec.NO_CONTRACTION;
    case SpvDecoration.NonWritable:
      return Dec.NON_WRITABLE;
    case SpvDecoration.NonReadable:
      return Dec.NON_READABLE;
    case SpvDecoration.Coherent:
      return Dec.COHERENT;
    case SpvDecoration.Volatile:
      return Dec.VOLATILE;
    case SpvDecoration.Aliased:
      return Dec.ALIASED;
    case SpvDecoration.Block:
      return Dec.BLOCK;
    case SpvDecoration.BufferBlock:
      return Dec.BUFFER_BLOCK;
    case SpvDecoration.NonUniform:
      return Dec.NON_UNIFORM;
    case SpvDecoration.Flat:
      return Dec.FLAT;
    case SpvDecoration.NoPerspective:
      return Dec.NO_PERSPECTIVE;
    case SpvDecoration.Centroid:
      return Dec.CENTROID;
    case SpvDecoration.Sample:
      return Dec.SAMPLE;
    default:
      return 0;
  }
}
