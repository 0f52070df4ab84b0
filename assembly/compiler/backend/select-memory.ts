/** Selection of memory operations: buffers, push constants, atomics of buffers. */
import { Fail, failAt } from "../../base/index.ts";
import { InstrFlag, Op } from "../../gen/ir-ops.ts";
import { Op as Isa } from "../../gen/isa-ops.ts";
import { OptionFlag, optionFlag } from "../io.ts";
import {
  componentsOf,
  constBits,
  flagsOf,
  imm,
  instrPlace,
  isConst,
  opOf,
  src,
  srcCount,
  useCount,
} from "../ir/index.ts";
import { buildBlock, constantOperand, copy, inSgpr, inVgpr, raw, saluNew, valu, valuNew } from "./build.ts";
import { classOf, ValueClass } from "./classes.ts";
import { mDst0, mImm, mMods, mSrc0, mSrc1, mSrc2, mSrc3, valueNeed, valueOperand } from "./columns.ts";
import { constantTuple } from "./constants.ts";
import { descriptorOf, pushPair } from "./descriptors.ts";
import { storedHigh } from "./half-patterns.ts";
import { isPushInlined, pushDword, pushOffset } from "./launch.ts";
import {
  component,
  Hw,
  hw,
  isScalarOperand,
  isVgprOperand,
  Mod,
  newVreg,
  operandSize,
  operandVreg,
  RegClass,
  vregOperand,
} from "./machine.ts";
import { define, operandOf } from "./values.ts";

const MUBUF_OFFSET_MAX: u32 = 4095;

/** SMEM immediates are signed 21-bit; buffer forms must not be negative. */
const SMEM_OFFSET_MAX: u32 = (1 << 20) - 1;

/** Inline constant -4: as an offset, out of every range. */
const FAR: u32 = Hw.MINUS_ONE + 3;

export function unsupported(i: u32, detail: u32): void {
  failAt(instrPlace[i], Fail.BACKEND_UNSUPPORTED, opOf(i), detail, 0);
}

// The address that `bufferAddress` found.
let addressVgpr: u32 = 0;
let addressScalar: u32 = 0;
let addressImm: u32 = 0;

/** A value as a tuple of VGPRs: vec sources are copied side by side, which coalescing makes nothing where it can. */
export function dataOperand(value: u32): u32 {
  if (opOf(value) != Op.VEC) return inVgprs(operandOf(value));
  // A second store of the same vector in a block reads the same registers.
  if (valueOperand[value] != 0 && valueNeed[value] == buildBlock()) return valueOperand[value];
  const count = srcCount(value);
  const tuple = newVreg(RegClass.VGPR, count);
  for (let k: u32 = 0; k < count; k++) copy(component(tuple, k), operandOf(src(value, k)));
  if (useCount(value) > 1) {
    valueOperand[value] = tuple;
    valueNeed[value] = buildBlock();
  }
  return tuple;
}

function inVgprs(operand: u32): u32 {
  const size = operandSize(operand);
  if (size == 1) return inVgpr(operand);
  if (isVgprOperand(operand)) return operand;
  const tuple = newVreg(RegClass.VGPR, size);
  for (let k: u32 = 0; k < size; k++) copy(component(tuple, k), component(operand, k));
  return tuple;
}

/** Components [first, first + count) of a tuple operand. */
export function slice(operand: u32, first: u32, count: u32): u32 {
  if (first == 0 && count == operandSize(operand)) return operand;
  return vregOperand(operandVreg(operand), count, ((operand >> 23) & 15) + first);
}

/** Bytes from the first instruction of an access to its last one: four words each. */
function laterParts(count: u32): u32 {
  return ((count - 1) & ~3) << 2;
}

/**
 * Offset + base for MUBUF: the bounds check sees VGPR + immediate, not the scalar offset, so with robust buffers the
 * scalar one stays 0. `room`: bytes that further parts of the access add to the immediate.
 */
function bufferAddress(offset: u32, base: u32, room: u32): void {
  addressVgpr = 0;
  addressScalar = hw(Hw.ZERO, 1);
  const robust = optionFlag(OptionFlag.ROBUST);
  if (isConst(offset)) {
    const at = <u64>constBits(offset) + <u64>base;
    if (at + room <= <u64>MUBUF_OFFSET_MAX) {
      addressImm = <u32>at;
      return;
    }
    // Beyond 4 GiB no buffer has bytes: any address out of range stands for it.
    addressVgpr = inVgpr(constantOperand(at > 0xfffffff0 ? 0xfffffff0 : <u32>at));
    addressImm = 0;
    return;
  }
  let operand = operandOf(offset);
  addressImm = base;
  if (base + room > MUBUF_OFFSET_MAX || base + room < base) {
    // Saturating, so that an offset near 4 GiB stays out of range.
    const sum = newVreg(RegClass.VGPR, 1);
    valu(Isa.v_add_nc_u32_e64, sum, operand, constantOperand(base), 0, Mod.CLAMP);
    operand = sum;
    addressImm = 0;
  }
  if (!robust && isScalarOperand(operand)) {
    addressScalar = operand;
    return;
  }
  addressVgpr = inVgpr(operand);
}

function bufferInstr(op: u32, descriptor: u32, imm: u32, mods: u32): u32 {
  const i = raw(op);
  mSrc1[i] = addressVgpr;
  mSrc2[i] = descriptor;
  mSrc3[i] = addressScalar;
  mImm[i] = imm;
  mMods[i] = mods | (addressVgpr != 0 ? Mod.OFFEN : 0);
  return i;
}

function bufferLoadOp(count: u32): u32 {
  switch (count) {
    case 1:
      return Isa.buffer_load_dword;
    case 2:
      return Isa.buffer_load_dwordx2;
    case 3:
      return Isa.buffer_load_dwordx3;
    default:
      return Isa.buffer_load_dwordx4;
  }
}

function bufferStoreOp(count: u32): u32 {
  switch (count) {
    case 1:
      return Isa.buffer_store_dword;
    case 2:
      return Isa.buffer_store_dwordx2;
    case 3:
      return Isa.buffer_store_dwordx3;
    default:
      return Isa.buffer_store_dwordx4;
  }
}

/** Coherent loads miss L0 (glc) and GL1 (dlc). */
function coherence(i: u32): u32 {
  return (flagsOf(i) & (InstrFlag.COHERENT | InstrFlag.VOLATILE)) != 0 ? Mod.GLC | Mod.DLC : 0;
}

export function scalarLoad(i: u32, buffer: bool, base: u32, offset: u32, constant: u32): void {
  const count = componentsOf(i);
  // Through a V# the surplus is checked; through a pointer it might be unmapped.
  const whole = newVreg(RegClass.SGPR, buffer ? roundUp(count) : count);
  valueOperand[i] = count == operandSize(whole) ? whole : slice(whole, 0, count);
  let done: u32 = 0;
  const size = operandSize(whole);
  while (done < size) {
    const part = size - done >= 16 ? 16 : size - done >= 8 ? 8 : size - done >= 4 ? 4 : size - done >= 2 ? 2 : 1;
    const op = scalarLoadOp(part, buffer);
    const j = raw(op);
    mDst0[j] = slice(whole, done, part);
    mSrc0[j] = base;
    mSrc1[j] = offset;
    mImm[j] = constant + done * 4;
    done += part;
  }
}

function roundUp(count: u32): u32 {
  return count <= 2 ? count : count <= 4 ? 4 : count <= 8 ? 8 : 16;
}

function scalarLoadOp(count: u32, buffer: bool): u32 {
  switch (count) {
    case 1:
      return buffer ? Isa.s_buffer_load_dword : Isa.s_load_dword;
    case 2:
      return buffer ? Isa.s_buffer_load_dwordx2 : Isa.s_load_dwordx2;
    case 4:
      return buffer ? Isa.s_buffer_load_dwordx4 : Isa.s_load_dwordx4;
    case 8:
      return buffer ? Isa.s_buffer_load_dwordx8 : Isa.s_load_dwordx8;
    default:
      return buffer ? Isa.s_buffer_load_dwordx16 : Isa.s_load_dwordx16;
  }
}

/** A uniform load through the scalar cache. */
function scalarBufferLoad(i: u32): void {
  const descriptor = descriptorOf(i);
  const offset = src(i, 0);
  const base = imm(i, 2);
  if (isConst(offset)) {
    const at = <u64>constBits(offset) + <u64>base;
    if (at + 64 <= <u64>SMEM_OFFSET_MAX) {
      scalarLoad(i, true, descriptor, 0, <u32>at);
      return;
    }
    const far = saluNew(Isa.s_mov_b32, constantOperand(at > 0xffffffc0 ? 0xffffffc0 : <u32>at), 0);
    scalarLoad(i, true, descriptor, far, 0);
    return;
  }
  let operand = inSgpr(operandOf(offset));
  if (base + 64 > SMEM_OFFSET_MAX || base + 64 < base) {
    // Saturating: carry out of the sum means out of range.
    const sum = saluNew(Isa.s_add_u32, operand, constantOperand(base));
    operand = saluNew(Isa.s_cselect_b32, hw(FAR, 1), sum);
    scalarLoad(i, true, descriptor, operand, 0);
    return;
  }
  scalarLoad(i, true, descriptor, operand, base);
}

/** load_ubo, load_ssbo. */
export function selectBufferLoad(i: u32): void {
  if (classOf(i) == ValueClass.SGPR) {
    scalarBufferLoad(i);
    return;
  }
  const descriptor = descriptorOf(i);
  const count = componentsOf(i);
  bufferAddress(src(i, 0), imm(i, 2), laterParts(count));
  const dst = define(i);
  if (imm(i, 3) != 0) {
    const op: u32 = imm(i, 3) == 8 ? Isa.buffer_load_ubyte : Isa.buffer_load_ushort;
    mDst0[bufferInstr(op, descriptor, addressImm, coherence(i))] = dst;
    return;
  }
  for (let done: u32 = 0; done < count; done += 4) {
    const part = min<u32>(4, count - done);
    const j = bufferInstr(bufferLoadOp(part), descriptor, addressImm + done * 4, coherence(i));
    mDst0[j] = slice(dst, done, part);
  }
}

export function selectBufferStore(i: u32): void {
  const descriptor = descriptorOf(i);
  const word = imm(i, 3) == 16 ? storedHigh(src(i, 0)) : 0;
  const data = dataOperand(word != 0 ? word : src(i, 0));
  const count = operandSize(data);
  bufferAddress(src(i, 1), imm(i, 2), laterParts(count));
  if (imm(i, 3) != 0) {
    let op: u32 = imm(i, 3) == 8 ? Isa.buffer_store_byte : Isa.buffer_store_short;
    if (word != 0) op = Isa.buffer_store_short_d16_hi;
    mSrc0[bufferInstr(op, descriptor, addressImm, 0)] = data;
    return;
  }
  for (let done: u32 = 0; done < count; done += 4) {
    const part = min<u32>(4, count - done);
    const j = bufferInstr(bufferStoreOp(part), descriptor, addressImm + done * 4, 0);
    mSrc0[j] = slice(data, done, part);
  }
}

/** The `atomic` immediate of src/ir: add umin umax imin imax and or xor swap. */
function bufferAtomicOp(kind: u32, wide: bool): u32 {
  switch (kind) {
    case 0:
      return wide ? Isa.buffer_atomic_add_x2 : Isa.buffer_atomic_add;
    case 1:
      return wide ? Isa.buffer_atomic_umin_x2 : Isa.buffer_atomic_umin;
    case 2:
      return wide ? Isa.buffer_atomic_umax_x2 : Isa.buffer_atomic_umax;
    case 3:
      return wide ? Isa.buffer_atomic_smin_x2 : Isa.buffer_atomic_smin;
    case 4:
      return wide ? Isa.buffer_atomic_smax_x2 : Isa.buffer_atomic_smax;
    case 5:
      return wide ? Isa.buffer_atomic_and_x2 : Isa.buffer_atomic_and;
    case 6:
      return wide ? Isa.buffer_atomic_or_x2 : Isa.buffer_atomic_or;
    case 7:
      return wide ? Isa.buffer_atomic_xor_x2 : Isa.buffer_atomic_xor;
    default:
      return wide ? Isa.buffer_atomic_swap_x2 : Isa.buffer_atomic_swap;
  }
}

/** The words of a value into components from `first` on. */
function copyWords(tuple: u32, first: u32, value: u32): void {
  const count = componentsOf(value);
  for (let k: u32 = 0; k < count; k++) {
    const at = operandSize(tuple) == 1 ? tuple : component(tuple, first + k);
    if (opOf(value) == Op.VEC) {
      copy(at, operandOf(src(value, k)));
      continue;
    }
    const operand = operandOf(value);
    copy(at, operandSize(operand) == 1 ? operand : component(operand, k));
  }
}

/** What a compare-and-swap of buffers takes: the new value, then the one to compare with. */
export function swapTuple(i: u32): u32 {
  const words = componentsOf(i);
  const data = newVreg(RegClass.VGPR, 2 * words);
  copyWords(data, 0, src(i, 2));
  copyWords(data, words, src(i, 1));
  return data;
}

/** The data of an atomic that gives nothing back, where it is known: other instructions may read it too. */
function constantData(i: u32): u32 {
  const data = src(i, 1);
  return opOf(data) == Op.VEC ? constantTuple(data, 0, srcCount(data)) : constantTuple(i, 1, 1);
}

/** ssbo_atomic, ssbo_atomic_cmpswap: data and old value share VGPRs, so the data is copied there first. */
export function selectBufferAtomic(i: u32): void {
  const compareSwap = opOf(i) == Op.SSBO_ATOMIC_CMPSWAP;
  const descriptor = descriptorOf(i);
  const used = useCount(i) > 0;
  const words = componentsOf(i);
  let data: u32 = used || compareSwap ? 0 : constantData(i);
  if (compareSwap) {
    data = swapTuple(i);
  } else if (data == 0) {
    data = newVreg(RegClass.VGPR, words);
    copyWords(data, 0, src(i, 1));
  }
  bufferAddress(src(i, 0), imm(i, 2), 0);
  const swap: u32 = words == 2 ? Isa.buffer_atomic_cmpswap_x2 : Isa.buffer_atomic_cmpswap;
  const op = compareSwap ? swap : bufferAtomicOp(imm(i, 3), words == 2);
  const j = bufferInstr(op, descriptor, addressImm, used ? Mod.GLC : 0);
  mSrc0[j] = data;
  if (used) {
    mDst0[j] = slice(data, 0, words);
    valueOperand[i] = mDst0[j];
  }
}

/** num_records of the V#. */
export function selectBufferSize(i: u32): void {
  const size = component(descriptorOf(i), 2);
  valueOperand[i] = classOf(i) == ValueClass.VGPR ? inVgpr(size) : size;
}

export function selectPush(i: u32): void {
  const offset = pushOffset(i);
  const count = componentsOf(i);
  const vector = classOf(i) == ValueClass.VGPR;
  if (isPushInlined()) {
    const first = <u32>offset / 4;
    if (count == 1 && !vector) {
      valueOperand[i] = pushDword(first);
      return;
    }
    const tuple = newVreg(vector ? RegClass.VGPR : RegClass.SGPR, count);
    for (let k: u32 = 0; k < count; k++) copy(component(tuple, k), pushDword(first + k));
    valueOperand[i] = tuple;
    return;
  }
  const pair = pushPair();
  if (!vector) {
    if (offset >= 0) {
      scalarLoad(i, false, pair, 0, <u32>offset);
      return;
    }
    scalarLoad(i, false, pair, inSgpr(operandOf(src(i, 0))), imm(i, 0));
    return;
  }
  // A divergent index: through the vector path, from the pointer in SGPRs.
  const dst = define(i);
  const at = valuNew(Isa.v_add_nc_u32_e64, operandOf(src(i, 0)), constantOperand(imm(i, 0)), 0);
  for (let done: u32 = 0; done < count; done++) {
    const j = raw(Isa.global_load_dword);
    mDst0[j] = slice(dst, done, 1);
    mSrc0[j] = at;
    mSrc2[j] = pair;
    mImm[j] = done * 4;
  }
}

// Workgroup memory.
