/** OpAtomic* on storage buffers, physical pointers and workgroup memory, 32 and 64 bits, and on 32-bit texels. */
import { failed } from "../../base/index.ts";
import { Atomic, InstrFlag, Op } from "../../gen/ir-ops.ts";
import { SpvOp } from "../../gen/spirv.ts";
import { constant, extract, newInstr, place0, setFlags, setImm, setSrc } from "../ir/index.ts";
import { un } from "./fold-build.ts";
import {
  IdClass,
  idAt,
  idClass,
  idLeaf,
  idType,
  leafPool,
  malformed,
  newLeaves,
  ptrElem,
  ptrVar,
  setValue,
  typeA,
  typeKind,
  unsupported,
  unsupportedWidth,
} from "./ids.ts";
import { atomicTexel, loadTexel } from "./images.ts";
import { accessFlags, loadPointer, memoryAddress, storePointer } from "./memory.ts";
import { liftOrder } from "./ordering.ts";
import { kindOfVar, PtrKind, pointerAt } from "./pointers.ts";
import { Unsupported } from "./texts.ts";
import { TypeKind } from "./types.ts";
import { pair, pairOf } from "./wide.ts";

/** First leaf of the value in word k. */
function leavesAt(k: u32): u32 {
  const id = idAt(k);
  if (idClass[id] == IdClass.VALUE) return idLeaf[id];
  malformed(k);
  return newLeaves(2);
}
/** The scalar in word k: 64 bits as a pair. */
function scalarAt(k: u32, width: u32): u32 {
  const leaf = leavesAt(k);
  if (failed()) return constant(0);
  return width == 64 ? pair(leafPool[leaf], leafPool[leaf + 1]) : leafPool[leaf];
}

function kindOfAtomic(op: u32): u32 {
  switch (op) {
    case SpvOp.OpAtomicSMin:
      return Atomic.IMIN;
    case SpvOp.OpAtomicUMin:
      return Atomic.UMIN;
    case SpvOp.OpAtomicSMax:
      return Atomic.IMAX;
    case SpvOp.OpAtomicUMax:
      return Atomic.UMAX;
    case SpvOp.OpAtomicAnd:
      return Atomic.AND;
    case SpvOp.OpAtomicOr:
      return Atomic.OR;
    case SpvOp.OpAtomicXor:
      return Atomic.XOR;
    case SpvOp.OpAtomicExchange:
      return Atomic.SWAP;
    default:
      return Atomic.ADD;
  }
}

/** True for the atomics that `liftAtomic` takes. */
export function isAtomic(op: u32): bool {
  return op >= <u32>SpvOp.OpAtomicLoad && op <= <u32>SpvOp.OpAtomicXor && op != SpvOp.OpAtomicCompareExchangeWeak;
}

/** Lifts one atomic instruction at word `at`, with what it orders. */
export function liftAtomic(op: u32, at: u32): void {
  const store = op == SpvOp.OpAtomicStore;
  const scope: u32 = store ? at + 2 : at + 4;
  const unequal: u32 = op == SpvOp.OpAtomicCompareExchange ? at + 6 : 0;
  liftOrder(false, scope, scope + 1, unequal);
  if (!failed()) liftAccess(op, at, store);
  if (!failed()) liftOrder(true, scope, scope + 1, unequal);
}

/** An atomic on a texel. */
function liftTexel(op: u32, at: u32, store: bool): void {
  const p = idAt(store ? at + 1 : at + 3);
  const type = typeA[idType[p]];
  if (typeKind[type] != TypeKind.INT && typeKind[type] != TypeKind.FLOAT) {
    malformed(at);
    return;
  }
  if (typeA[type] != 32) {
    unsupportedWidth(Unsupported.ATOMIC_TEXEL, op, typeA[type]);
    return;
  }
  if (store) {
    atomicTexel(p, Atomic.SWAP, scalarAt(at + 4, 32), 0);
    return;
  }
  const compare = op == SpvOp.OpAtomicCompareExchange;
  const leaf = newLeaves(1);
  if (op == SpvOp.OpAtomicLoad) leafPool[leaf] = loadTexel(p);
  else leafPool[leaf] = atomicTexel(p, kindOfAtomic(op), dataOf(op, at, 32), compare ? scalarAt(at + 8, 32) : 0);
  setValue(idAt(at + 2), idAt(at + 1), leaf);
}

/** What an atomic combines with memory. */
function dataOf(op: u32, at: u32, width: u32): u32 {
  switch (op) {
    case SpvOp.OpAtomicCompareExchange:
      return scalarAt(at + 7, width);
    case SpvOp.OpAtomicIIncrement:
      return width == 64 ? pairOf(1) : constant(1);
    case SpvOp.OpAtomicIDecrement:
      return width == 64 ? pairOf(0xffff_ffff_ffff_ffff) : constant(0xffff_ffff);
    case SpvOp.OpAtomicISub:
      return un(Op.INEG, scalarAt(at + 6, width));
    default:
      return scalarAt(at + 6, width);
  }
}

function liftAccess(op: u32, at: u32, store: bool): void {
  if (idClass[idAt(store ? at + 1 : at + 3)] == IdClass.TEXEL) {
    liftTexel(op, at, store);
    return;
  }
  const p = pointerAt(store ? at + 1 : at + 3);
  if (failed()) return;
  const kind = kindOfVar(ptrVar[p]);
  const type = idType[p];
  const scalar =
    typeKind[type] == TypeKind.INT ||
    (typeKind[type] == TypeKind.FLOAT && (store || op == SpvOp.OpAtomicLoad || op == SpvOp.OpAtomicExchange));
  if (kind != PtrKind.SSBO && kind != PtrKind.SHARED) {
    unsupported(Unsupported.ATOMIC_PLACE, op);
    return;
  }
  const width = typeA[type];
  if (!scalar || (width != 32 && width != 64)) {
    unsupportedWidth(Unsupported.ATOMIC, op, width);
    return;
  }
  if (store) {
    const value = leavesAt(at + 4);
    if (!failed()) storePointer(p, value, 0, InstrFlag.COHERENT);
    return;
  }
  if (idAt(at + 1) != type) {
    malformed(at + 1);
    return;
  }
  const result = idAt(at + 2);
  if (op == SpvOp.OpAtomicLoad) {
    setValue(result, type, loadPointer(p, 0, InstrFlag.COHERENT));
    return;
  }
  const compare = op == SpvOp.OpAtomicCompareExchange;
  const shared = kind == PtrKind.SHARED;
  const operands: u32 = compare ? 2 : 1;
  const sources: u32 = 1 + operands + (ptrElem[p] != 0 ? 1 : 0);
  const irOp: u32 = compare
    ? shared
      ? Op.SHARED_ATOMIC_CMPSWAP
      : Op.SSBO_ATOMIC_CMPSWAP
    : shared
      ? Op.SHARED_ATOMIC
      : Op.SSBO_ATOMIC;
  const data = dataOf(op, at, width);
  const expected: u32 = compare ? scalarAt(at + 8, width) : 0;
  const words = width >> 5;
  const i = newInstr(irOp, 32, words, sources);
  memoryAddress(i, p, 0, 1 + operands);
  if (compare) {
    setSrc(i, 1, expected);
    setSrc(i, 2, data);
  } else {
    setSrc(i, 1, data);
    setImm(i, shared ? 1 : 3, kindOfAtomic(op));
  }
  setFlags(i, accessFlags(p, 0) | InstrFlag.COHERENT);
  place0(i);
  const leaf = newLeaves(words);
  for (let k: u32 = 0; k < words && !failed(); k++) leafPool[leaf + k] = words == 1 ? i : extract(i, k);
  setValue(result, type, leaf);
}
