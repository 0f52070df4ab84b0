/**
 * Pointers as values (SPV_KHR_variable_pointers): stored, merged, compared. Into a storage buffer: the address of the
 * descriptor in the 4 GiB window and the byte offset; into workgroup memory: the byte offset. Null is an offset out of
 * every range.
 */
import { failed } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { SpvOp } from "../../gen/spirv.ts";
import { constant, newInstr, place0, setSrc } from "../ir/index.ts";
import { addI, bin, notB } from "./fold-build.ts";
import {
  Dec,
  idAt,
  idLeaf,
  idType,
  leafPool,
  malformed,
  newLeaves,
  Own,
  ownId,
  ptrConst,
  ptrElem,
  ptrFlags,
  ptrRange,
  ptrVar,
  setValue,
  typeKind,
  typeLeaves,
  unsupported,
} from "./ids.ts";
import { physicalAddress, setBinding, sharedBase } from "./memory.ts";
import {
  dynamicOffset,
  elementStride,
  explicitBytes,
  isPhysicalPointer,
  kindOfVar,
  PtrKind,
  pointerAt,
} from "./pointers.ts";
import { Unsupported } from "./texts.ts";
import { scalarWidth, TypeKind, typeAt } from "./types.ts";
import { high, low } from "./wide.ts";

let nextOwn: u32 = 0;

/** The address of the descriptor of a pointer into a storage buffer. */
function descriptorOf(p: u32): u32 {
  if ((ptrFlags[p] & Dec.DYNAMIC) != 0) return ptrElem[p];
  const i = newInstr(Op.DESCRIPTOR_ADDRESS, 32, 1, ptrElem[p] != 0 ? 1 : 0);
  if (ptrElem[p] != 0) setSrc(i, 0, ptrElem[p]);
  setBinding(i, ptrVar[p]);
  return place0(i);
}

/** The value of pointer `p`, under an id of its own that the fourth call from here takes again. */
export function pointerValue(p: u32): u32 {
  const kind = kindOfVar(ptrVar[p]);
  const type = ptrRange[p];
  if (type == 0 || (kind != PtrKind.SSBO && kind != PtrKind.SHARED) || typeLeaves[type] > 2) {
    unsupported(Unsupported.POINTER, 0);
    return 0;
  }
  const shared = kind == PtrKind.SHARED;
  const leaf = newLeaves(shared ? 1 : 2);
  if (failed()) return 0;
  if (isPhysicalPointer(p)) {
    const whole = physicalAddress(p, ptrConst[p]);
    leafPool[leaf] = low(whole);
    leafPool[leaf + 1] = high(whole);
    const value = ownId(<u32>Own.POINTER_VALUE + (nextOwn++ & 3));
    setValue(value, type, leaf);
    return value;
  }
  if (!shared) leafPool[leaf] = descriptorOf(p);
  const base = shared ? sharedBase(ptrVar[p]) : 0;
  leafPool[leaf + (shared ? 0 : 1)] = addI(dynamicOffset(p), constant(ptrConst[p] + base));
  const id = ownId(<u32>Own.POINTER_VALUE + (nextOwn++ & 3));
  setValue(id, type, leaf);
  return id;
}

/** First leaf of the pointer value in word k. */
function leavesAt(k: u32): u32 {
  const p = pointerAt(k);
  if (failed()) return 1;
  const value = pointerValue(p);
  return failed() ? 1 : idLeaf[value];
}

/** Bytes between the elements of the array that both pointers point into. Types need not say it (Logical addressing). */
function distance(a: u32, b: u32): u32 {
  const known = elementStride(ptrRange[a]);
  if (known != 0) return known;
  if (ptrVar[a] != a && idLeaf[a] != 0) return idLeaf[a];
  if (ptrVar[b] != b && idLeaf[b] != 0) return idLeaf[b];
  return explicitBytes(idType[a]);
}

/** OpPtrEqual, OpPtrNotEqual, OpPtrDiff. The pointers of a difference point into one array. */
export function liftPointerPair(op: u32, at: u32): void {
  const a = leavesAt(at + 3);
  const b = leavesAt(at + 4);
  const type = typeAt(at + 1);
  const left = idAt(at + 3);
  if (failed()) return;
  const pointer = ptrRange[left];
  if (pointer != ptrRange[idAt(at + 4)]) {
    malformed(at);
    return;
  }
  const count = typeLeaves[pointer];
  const out = newLeaves(typeLeaves[type]);
  if (failed()) return;
  const offsetA = leafPool[a + count - 1];
  const offsetB = leafPool[b + count - 1];
  if (op == SpvOp.OpPtrDiff) {
    const stride = distance(left, idAt(at + 4));
    if (typeKind[type] != TypeKind.INT || stride == 0) {
      malformed(at);
      return;
    }
    const bytes = bin(Op.ISUB, offsetA, offsetB);
    const power = (stride & (stride - 1)) == 0;
    const elements = power ? bin(Op.ISHR, bytes, constant(ctz<u32>(stride))) : bin(Op.IDIV, bytes, constant(stride));
    const width = scalarWidth(type);
    leafPool[out] = width < 32 ? bin(Op.IAND, elements, constant(((<u32>1) << width) - 1)) : elements;
    if (width == 64) leafPool[out + 1] = bin(Op.ISHR, elements, constant(31));
  } else {
    if (typeKind[type] != TypeKind.BOOL) {
      malformed(at);
      return;
    }
    let equal = bin(Op.IEQ, offsetA, offsetB);
    if (count == 2) equal = bin(Op.IAND, equal, bin(Op.IEQ, leafPool[a], leafPool[b]));
    leafPool[out] = op == SpvOp.OpPtrEqual ? equal : notB(equal);
  }
  setValue(idAt(at + 2), type, out);
}

/** OpConvertPtrToU, OpConvertUToPtr, and OpBitcast from or to a physical pointer: the same 64 bits. */
export function liftAddress(at: u32, from: u32): void {
  const type = idAt(at + 1);
  const count = typeLeaves[idType[from]];
  const wanted = typeLeaves[type];
  if (failed() || count > 2 || wanted > 2) {
    malformed(at);
    return;
  }
  const leaf = newLeaves(wanted);
  for (let k: u32 = 0; k < wanted && !failed(); k++)
    leafPool[leaf + k] = k < count ? leafPool[idLeaf[from] + k] : constant(0);
  setValue(idAt(at + 2), type, leaf);
}
