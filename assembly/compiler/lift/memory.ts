/** OpLoad, OpStore, OpCopyMemory, atomics, OpArrayLength: from pointers to IR memory ops and variables. */
import { Fail, fail, failed } from "../../base/index.ts";
import { DYNAMIC_SET, InstrFlag, Op } from "../../gen/ir-ops.ts";
import { SpvBuiltIn, SpvMemoryAccess, SpvScope } from "../../gen/spirv.ts";
import { bindingRow } from "../io.ts";
import {
  constant,
  constantBool,
  cursorAtStart,
  cursorBack,
  effect,
  extract,
  ldsBytes,
  loadVar,
  localSize,
  newInstr,
  place0,
  STAGE_FRAGMENT,
  STAGE_VERTEX,
  setFlags,
  setImm,
  setLdsBytes,
  setSrc,
  stage,
  storeVar,
  system,
  tableWord,
  varWidth,
} from "../ir/index.ts";
import { addI, bin, scaleI, sel, tri, un } from "./fold-build.ts";
import {
  Dec,
  decBinding,
  decBuiltIn,
  decSet,
  idAt,
  idLeaf,
  idType,
  leafPool,
  malformed,
  memberOffset,
  newLeaves,
  ptrConst,
  ptrDyn,
  ptrElem,
  ptrFlags,
  ptrRange,
  ptrStride,
  ptrVar,
  scratchA,
  scratchB,
  setValue,
  typeA,
  typeAlign,
  typeB,
  typeKind,
  typeLeaves,
  typeSize,
  unsupported,
  wordAt,
} from "./ids.ts";
import { fragmentInput, vertexInput } from "./interface.ts";
import { subgroupBuiltIn, subgroupId } from "./lanes.ts";
import {
  describe,
  dynamicOffset,
  explicitBytes,
  isLocalKind,
  isPhysicalPointer,
  isSharedBlock,
  kindOfVar,
  layoutOf,
  localBase,
  PtrKind,
  pointerAt,
} from "./pointers.ts";
import { scratchBase } from "./scratch.ts";
import { tableBase } from "./tables.ts";
import { Unsupported } from "./texts.ts";
import { arrayStride, partType, TypeKind } from "./types.ts";
import { pair } from "./wide.ts";

/** Most candidates of a dynamic access to a local variable, times its scalars. */
const MAX_SELECTS: u32 = 1024;

/** Far above what drivers offer (256), and within the reach of a scalar load's offset. */
const MAX_PUSH_BYTES: u32 = 4096;

/** Access flags of a memory op from pointer flags and memory operands at word k (0: none). */
export function accessFlags(p: u32, operands: u32): u32 {
  const dec = ptrFlags[p];
  let flags: u32 = 0;
  if ((dec & Dec.COHERENT) != 0) flags |= InstrFlag.COHERENT;
  if ((dec & Dec.VOLATILE) != 0) flags |= InstrFlag.VOLATILE | InstrFlag.COHERENT;
  if ((dec & Dec.NON_WRITABLE) != 0) flags |= InstrFlag.NONWRITABLE;
  if ((dec & Dec.ALIASED) != 0) flags |= InstrFlag.ALIASED;
  if ((dec & Dec.NON_UNIFORM) != 0) flags |= InstrFlag.NONUNIFORM;
  if (operands != 0) {
    const bits = wordAt(operands);
    if ((bits & SpvMemoryAccess.Volatile) != 0) flags |= InstrFlag.VOLATILE | InstrFlag.COHERENT;
    if ((bits & (SpvMemoryAccess.MakePointerAvailable | SpvMemoryAccess.MakePointerVisible)) != 0)
      flags |= InstrFlag.COHERENT;
  }
  return flags;
}

/** Some storage buffer of the module + 1: null pointers are read through its descriptor. */
let anyBuffer: u32 = 0;

/** The module has a storage buffer variable. */
export function noteBuffer(variable: u32): void {
  if (bindingRow(setOf(variable), bindingOf(variable)) >= 0) anyBuffer = variable + 1;
}

/** The address of a descriptor: that of a null pointer becomes one that can be read. */
function someBuffer(descriptor: u32): u32 {
  if (anyBuffer == 0) return descriptor;
  const other = newInstr(Op.DESCRIPTOR_ADDRESS, 32, 1, 0);
  setBinding(other, anyBuffer - 1);
  place0(other);
  return sel(bin(Op.IEQ, descriptor, constant(0)), other, descriptor);
}

/** Byte offset of a workgroup variable, assigned at its first use. */
export function sharedBase(variable: u32): u32 {
  if (idLeaf[variable] != 0) return idLeaf[variable] - 1;
  const type = idType[variable];
  const block = isSharedBlock(variable);
  const align = typeAlign[type];
  const start = block ? 0 : (ldsBytes() + align - 1) & ~(align - 1);
  const end = block ? <u64>explicitBytes(type) : <u64>start + typeSize[type];
  // 64 KiB is what one workgroup may have (gfx1030.md §3).
  if (end > 65536) {
    fail(Fail.LIMIT, 13, end > 0xffff_ffff ? 0xffff_ffff : <u32>end, 65536);
    return 0;
  }
  setLdsBytes(max(ldsBytes(), <u32>end));
  idLeaf[variable] = start + 1;
  return start;
}

/** Bytes from the start of workgroup memory that begin as zero. */
let zeroBytes: u32 = 0;

export function resetShared(): void {
  ownSubgroupId = 0;
  zeroBytes = 0;
  anyBuffer = 0;
}

/** A workgroup variable that begins as zero. Those get their places before any other, so that they lie together. */
export function zeroShared(variable: u32): void {
  sharedBase(variable);
  zeroBytes = ldsBytes();
}

/** Before everything else the invocations share out the zeros, dword by dword, and wait for each other. */
export function startShared(): void {
  if (zeroBytes == 0) return;
  const invocations = localSize(0) * localSize(1) * localSize(2);
  const last = ((zeroBytes + 3) >> 2) - 1;
  const first = scaleI(localIndex(), 4);
  for (let from: u32 = 0; from <= last; from += invocations) {
    const at = addI(first, constant(from * 4));
    const store = newInstr(Op.STORE_SHARED, 0, 0, 2);
    setSrc(store, 0, constant(0));
    // the last round writes the last dword more than once
    setSrc(store, 1, from + invocations - 1 > last ? bin(Op.UMIN, at, constant(last * 4)) : at);
    place0(store);
  }
  effect(Op.BARRIER, <u32>SpvScope.Workgroup, 2);
}

export function setOf(variable: u32): u32 {
  return decSet[variable] == 0 ? 0 : decSet[variable] - 1;
}
export function bindingOf(variable: u32): u32 {
  return decBinding[variable] == 0 ? 0 : decBinding[variable] - 1;
}

/** Fails for a resource that the request has no place for. */
export function checkBinding(variable: u32): void {
  if (bindingRow(setOf(variable), bindingOf(variable)) < 0) unsupported(Unsupported.BINDING, bindingOf(variable));
}

/** Set and binding of a buffer variable as the first immediates; one that the request has no place for fails. */
export function setBinding(i: u32, variable: u32): void {
  const set = setOf(variable);
  const binding = bindingOf(variable);
  if (bindingRow(set, binding) < 0) unsupported(Unsupported.BINDING, binding);
  setImm(i, 0, set);
  setImm(i, 1, binding);
}

/** What an instruction adds to an address by itself; the parts of an access follow. */
const MAX_PHYSICAL_BASE: u32 = 1024;

/** The address of a physical pointer without its constant part, and `more` bytes. */
export function physicalAddress(p: u32, more: u32): u32 {
  let at = ptrElem[p];
  const dyn = ptrDyn[p];
  if (dyn != 0) at = bin(Op.IADD, at, pair(dyn, bin(Op.ISHR, dyn, constant(31))));
  return more == 0 ? at : bin(Op.IADD, at, pair(constant(more), constant(0)));
}

/** The dynamic offset of a pointer into scratch memory, kept within its variable: a wrong index must not reach others. */
function insideVariable(p: u32): u32 {
  if (ptrDyn[p] == 0) return constant(0);
  const last = typeSize[idType[ptrVar[p]]] - ptrConst[p] - typeSize[idType[p]];
  return bin(Op.UMIN, ptrDyn[p], constant(last));
}

/** A memory op's immediates and trailing sources for pointer p; `base` in bytes. */
function address(i: u32, p: u32, firstSource: u32, elemSource: u32, base: u32): void {
  if (isPhysicalPointer(p)) {
    setSrc(i, firstSource, constant(0));
    setSrc(i, elemSource, physicalAddress(p, base < MAX_PHYSICAL_BASE ? 0 : base));
    setImm(i, 0, DYNAMIC_SET);
    setImm(i, 2, base < MAX_PHYSICAL_BASE ? base : 0);
    return;
  }
  const variable = ptrVar[p];
  const kind = kindOfVar(variable);
  let offset = dynamicOffset(p);
  let constBase = base;
  // The byte address is source + base without wrapping; in general the sum may wrap, so it is added.
  const ours = kind == PtrKind.SCRATCH || kind == PtrKind.TABLE;
  if (kind != PtrKind.SHARED && !ours && ptrDyn[p] != 0 && base != 0) {
    const align = ptrFlags[p] >> 16;
    const fits = align >= 32 ? false : base < (<u32>1) << align;
    if (!fits) {
      offset = addI(offset, constant(base));
      constBase = 0;
    }
  }
  setSrc(i, firstSource, ours ? insideVariable(p) : offset);
  if (kind == PtrKind.SHARED || kind == PtrKind.PUSH || ours) {
    setImm(i, 0, constBase);
    return;
  }
  if ((ptrFlags[p] & Dec.DYNAMIC) != 0) {
    setSrc(i, elemSource, someBuffer(ptrElem[p]));
    setImm(i, 0, DYNAMIC_SET);
  } else {
    if (ptrElem[p] != 0) setSrc(i, elemSource, ptrElem[p]);
    setBinding(i, variable);
  }
  setImm(i, 2, constBase);
}

/** Address of an atomic: as `address`, with the pointer's own constant offset. */
export function memoryAddress(i: u32, p: u32, firstSource: u32, elemSource: u32): void {
  const base = kindOfVar(ptrVar[p]) == PtrKind.SHARED ? sharedBase(ptrVar[p]) : 0;
  address(i, p, firstSource, elemSource, ptrConst[p] + base);
}

/** Leaf k is smaller than a word in memory. */
function isNarrow(k: u32): bool {
  return scratchB[2 * k + 1] == 8 || scratchB[2 * k + 1] == 16;
}
/** Sets the `bits` immediate for leaf k. */
function setBits(i: u32, k: u32, kind: u32): void {
  setImm(i, kind == PtrKind.SHARED || kind == PtrKind.SCRATCH ? 1 : 3, isNarrow(k) ? scratchB[2 * k + 1] : 0);
}

/** A narrow push constant: its word, shifted. Words of push constants are always there. */
function loadNarrowPush(p: u32, offset: u32, bits: u32): u32 {
  const known = ptrDyn[p] == 0;
  const at = known ? 0 : addI(dynamicOffset(p), constant(offset));
  const i = newInstr(Op.LOAD_PUSH, 32, 1, known ? 0 : 1);
  if (known) setImm(i, 0, offset & ~3);
  else setSrc(i, 0, bin(Op.IAND, at, constant(0xffff_fffc)));
  place0(i);
  const shift = known ? constant(8 * (offset & 3)) : bin(Op.ISHL, bin(Op.IAND, at, constant(3)), constant(3));
  return tri(Op.UBFE, i, shift, constant(bits));
}

/** How many of `left` scalars from k on stand side by side in bytes, at most 4, as alignment allows. */
function runLength(kind: u32, p: u32, k: u32, count: u32): u32 {
  const start = scratchB[2 * k];
  if (isNarrow(k)) return 1;
  let n: u32 = 1;
  while (k + n < count && n < 4 && !isNarrow(k + n) && scratchB[2 * (k + n)] == start + 4 * n) n++;
  if (kind != PtrKind.SHARED) return n;
  // DS wants b64 at 8 and b128 at 16 bytes (gfx1030.md §3); three together would need 16 as well.
  const align = min<u32>(ptrFlags[p] >> 16, start == 0 ? 16 : ctz<u32>(start));
  if (n == 4 && align >= 4) return 4;
  return n >= 2 && align >= 3 ? 2 : 1;
}

/** Where a variable begins in its memory, for memories that are shared out here. */
function startOf(kind: u32, variable: u32): u32 {
  if (kind == PtrKind.SHARED) return sharedBase(variable);
  if (kind == PtrKind.TABLE) return tableBase(variable);
  return kind == PtrKind.SCRATCH ? scratchBase(variable) : 0;
}

function loadMemory(p: u32, leaf: u32, flags: u32): void {
  const kind = kindOfVar(ptrVar[p]);
  const base = startOf(kind, ptrVar[p]);
  const count = describe(idType[p], ptrConst[p] + base, layoutOf(ptrVar[p]), ptrStride[p], 0);
  for (let k: u32 = 0; kind == PtrKind.PUSH && k < count; k++) {
    if (scratchB[2 * k] <= MAX_PUSH_BYTES - 4) continue;
    fail(Fail.LIMIT, 15, scratchB[2 * k], MAX_PUSH_BYTES);
    return;
  }
  const op: u32 =
    kind == PtrKind.UBO
      ? Op.LOAD_UBO
      : kind == PtrKind.SSBO
        ? Op.LOAD_SSBO
        : kind == PtrKind.PUSH
          ? Op.LOAD_PUSH
          : kind == PtrKind.SCRATCH
            ? Op.LOAD_SCRATCH
            : kind == PtrKind.TABLE
              ? Op.LOAD_TABLE
              : Op.LOAD_SHARED;
  let k: u32 = 0;
  while (k < count && !failed()) {
    if (kind == PtrKind.PUSH && isNarrow(k)) {
      leafPool[leaf + k] = loadNarrowPush(p, scratchB[2 * k], scratchB[2 * k + 1]);
      k++;
      continue;
    }
    if (kind == PtrKind.TABLE && ptrDyn[p] == 0) {
      const word = tableWord[scratchB[2 * k] >> 2];
      leafPool[leaf + k] = scratchB[2 * k + 1] == 1 ? constantBool(word != 0) : constant(word);
      k++;
      continue;
    }
    const n = runLength(kind, p, k, count);
    let sources: u32 = ptrElem[p] != 0 ? 2 : 1;
    if (kind == PtrKind.PUSH && ptrDyn[p] == 0) sources = 0;
    const i = newInstr(op, 32, n, sources);
    setFlags(i, flags);
    if (sources == 0) setImm(i, 0, scratchB[2 * k]);
    else address(i, p, 0, 1, scratchB[2 * k]);
    if (kind != PtrKind.PUSH && kind != PtrKind.TABLE) setBits(i, k, kind);
    place0(i);
    for (let m: u32 = 0; m < n; m++) {
      const value = n == 1 ? i : extract(i, m);
      leafPool[leaf + k + m] = scratchB[2 * (k + m) + 1] == 1 ? bin(Op.INE, value, constant(0)) : value;
    }
    k += n;
  }
}

function storeMemory(p: u32, leaf: u32, flags: u32): void {
  const kind = kindOfVar(ptrVar[p]);
  // Its constant, which it has already.
  if (kind == PtrKind.TABLE) return;
  if (kind != PtrKind.SHARED && kind != PtrKind.SCRATCH && kind != PtrKind.SSBO) {
    malformed(0);
    return;
  }
  const base = startOf(kind, ptrVar[p]);
  const op: u32 = kind == PtrKind.SHARED ? Op.STORE_SHARED : kind == PtrKind.SCRATCH ? Op.STORE_SCRATCH : Op.STORE_SSBO;
  const count = describe(idType[p], ptrConst[p] + base, layoutOf(ptrVar[p]), ptrStride[p], 0);
  let k: u32 = 0;
  while (k < count && !failed()) {
    const n = runLength(kind, p, k, count);
    let data: u32 = 0;
    if (n == 1) {
      const v = leafPool[leaf + k];
      data = scratchB[2 * k + 1] == 1 ? un(Op.B2I, v) : v;
    } else {
      data = newInstr(Op.VEC, 32, n, n);
      for (let m: u32 = 0; m < n; m++) {
        const v = leafPool[leaf + k + m];
        setSrc(data, m, scratchB[2 * (k + m) + 1] == 1 ? un(Op.B2I, v) : v);
      }
      place0(data);
    }
    const i = newInstr(op, 0, 0, ptrElem[p] != 0 ? 3 : 2);
    setFlags(i, flags);
    setSrc(i, 0, data);
    address(i, p, 1, 2, scratchB[2 * k]);
    setBits(i, k, kind);
    place0(i);
    k += n;
  }
}

/** gl_GlobalInvocationID component: workgroup id * size + local id. */
function globalId(k: u32): u32 {
  return addI(scaleI(system(Op.LOAD_WORKGROUP_ID, k), localSize(k)), localId(k));
}
function localId(k: u32): u32 {
  return localSize(k) == 1 ? constant(0) : system(Op.LOAD_LOCAL_ID, k);
}

function localIndex(): u32 {
  return addI(addI(scaleI(localId(2), localSize(0) * localSize(1)), scaleI(localId(1), localSize(0))), localId(0));
}

let ownSubgroupId: u32 = 0;
/** gl_SubgroupID, once and where all lanes are active, which makes it one value for all readers. */
function wholeSubgroupId(): u32 {
  if (ownSubgroupId != 0) return ownSubgroupId;
  cursorAtStart();
  ownSubgroupId = subgroupId(localIndex());
  cursorBack();
  return ownSubgroupId;
}

/** Scalar k of an input variable. */
function inputLeaf(variable: u32, k: u32): u32 {
  if (decBuiltIn[variable] != 0) {
    const value = subgroupBuiltIn(decBuiltIn[variable] - 1, k);
    if (value != 0) return value;
  }
  if (stage() == STAGE_FRAGMENT) return fragmentInput(variable, k, -1);
  if (stage() == STAGE_VERTEX) return vertexInput(variable, k);
  switch (decBuiltIn[variable]) {
    case SpvBuiltIn.GlobalInvocationId + 1:
      return globalId(k);
    case SpvBuiltIn.LocalInvocationId + 1:
      return localId(k);
    case SpvBuiltIn.WorkgroupId + 1:
      return system(Op.LOAD_WORKGROUP_ID, k);
    case SpvBuiltIn.NumWorkgroups + 1:
      return system(Op.LOAD_NUM_WORKGROUPS, k);
    case SpvBuiltIn.WorkgroupSize + 1:
      return constant(localSize(k));
    case SpvBuiltIn.LocalInvocationIndex + 1:
      return localIndex();
    case SpvBuiltIn.DeviceIndex + 1:
      return constant(0);
    case SpvBuiltIn.SubgroupId + 1:
      return wholeSubgroupId();
    default:
      unsupported(Unsupported.BUILTIN, decBuiltIn[variable] - 1);
      return constant(0);
  }
}

function localLeaf(variable: u32, base: u32, k: u32): u32 {
  return kindOfVar(variable) == PtrKind.INPUT ? inputLeaf(variable, k) : loadVar(base + k, varWidth[base + k]);
}

/** Conditions `dynamic offset == step * j` for all candidates, in scratchA; their number. */
function candidates(p: u32, scalars: u32): u32 {
  const step = ptrStride[p];
  const n = ptrRange[p] / step;
  if (n * scalars > MAX_SELECTS) {
    unsupported(Unsupported.DYNAMIC_LOCAL, n * scalars);
    return 0;
  }
  for (let j: u32 = 0; j < n; j++) scratchA[j] = bin(Op.IEQ, ptrDyn[p], constant(j * step));
  return n;
}

function loadLocal(p: u32, leaf: u32, count: u32): void {
  const variable = ptrVar[p];
  const base = kindOfVar(variable) == PtrKind.INPUT ? 0 : localBase(variable);
  const total = typeLeaves[idType[variable]];
  if (failed()) return;
  const first = ptrConst[p];
  if (ptrDyn[p] == 0) {
    for (let k: u32 = 0; k < count && !failed(); k++) leafPool[leaf + k] = localLeaf(variable, base, first + k);
    return;
  }
  const n = candidates(p, count);
  for (let k: u32 = 0; k < count && !failed(); k++) {
    let value = localLeaf(variable, base, first + k);
    for (let j: u32 = 1; j < n && !failed(); j++) {
      const at = first + j * ptrStride[p] + k;
      if (at < total) value = sel(scratchA[j], localLeaf(variable, base, at), value);
    }
    leafPool[leaf + k] = value;
  }
}

function storeLocal(p: u32, leaf: u32, count: u32): void {
  const variable = ptrVar[p];
  if (kindOfVar(variable) == PtrKind.INPUT) {
    malformed(0);
    return;
  }
  const base = localBase(variable);
  const total = typeLeaves[idType[variable]];
  const first = ptrConst[p];
  if (ptrDyn[p] == 0) {
    for (let k: u32 = 0; k < count && !failed(); k++) storeVar(base + first + k, leafPool[leaf + k]);
    return;
  }
  const n = candidates(p, count);
  for (let k: u32 = 0; k < count && !failed(); k++) {
    for (let j: u32 = 0; j < n && !failed(); j++) {
      const at = first + j * ptrStride[p] + k;
      if (at < total) storeVar(base + at, sel(scratchA[j], leafPool[leaf + k], localLeaf(variable, base, at)));
    }
  }
}

/** Loads what pointer p points at into fresh leaves; the first one. `operands`: word of memory operands, 0 for none;
 * `flags`: further access flags. */
export function loadPointer(p: u32, operands: u32, flags: u32): u32 {
  const count = typeLeaves[idType[p]];
  const leaf = newLeaves(count);
  if (failed()) return leaf;
  const kind = kindOfVar(ptrVar[p]);
  if (isLocalKind(kind)) loadLocal(p, leaf, count);
  else loadMemory(p, leaf, accessFlags(p, operands) | flags);
  return leaf;
}

export function storePointer(p: u32, leaf: u32, operands: u32, flags: u32): void {
  const kind = kindOfVar(ptrVar[p]);
  if (isLocalKind(kind)) storeLocal(p, leaf, typeLeaves[idType[p]]);
  else storeMemory(p, leaf, accessFlags(p, operands) | flags);
}

/** OpArrayLength: (bytes of the range - offset of the array) / stride. */
export function arrayLength(at: u32): void {
  const p = pointerAt(at + 3);
  const type = idType[p];
  const member = wordAt(at + 4);
  if (failed() || typeKind[type] != TypeKind.STRUCT || member >= typeB[type] || kindOfVar(ptrVar[p]) != PtrKind.SSBO) {
    malformed(at);
    return;
  }
  const row = typeA[type] + member;
  const stride = arrayStride(partType(type, member));
  if (stride == 0) {
    malformed(at);
    return;
  }
  const size = newInstr(Op.SSBO_SIZE, 32, 1, ptrElem[p] != 0 ? 1 : 0);
  if (ptrElem[p] != 0) setSrc(size, 0, ptrElem[p]);
  if ((ptrFlags[p] & Dec.DYNAMIC) != 0) {
    setSrc(size, 0, someBuffer(ptrElem[p]));
    setImm(size, 0, DYNAMIC_SET);
    setFlags(size, InstrFlag.NONUNIFORM);
  } else {
    setBinding(size, ptrVar[p]);
  }
  place0(size);
  const offset = memberOffset[row];
  const bytes = offset == 0 ? size : bin(Op.ISUB, bin(Op.UMAX, size, constant(offset)), constant(offset));
  const leaf = newLeaves(1);
  leafPool[leaf] =
    (stride & (stride - 1)) == 0
      ? bin(Op.USHR, bytes, constant(ctz<u32>(stride)))
      : bin(Op.UDIV, bytes, constant(stride));
  setValue(idAt(at + 2), idAt(at + 1), leaf);
}
