/** Selection of accesses to workgroup memory, its atomics, and ordering. */
import { InstrFlag, Op } from "../../gen/ir-ops.ts";
import { Op as Isa } from "../../gen/isa-ops.ts";
import {
  componentsOf,
  constBits,
  flagsOf,
  imm,
  isConst,
  localSize,
  opOf,
  src,
  useCount,
  zeroBits,
} from "../ir/index.ts";
import { constantOperand, inVgpr, raw, sopp, valu } from "./build.ts";
import { mDst0, mImm, mSrc0, mSrc1, mSrc2 } from "./columns.ts";
import { constantRegister } from "./constants.ts";
import { storedHigh } from "./half-patterns.ts";
import { P_RELEASE } from "./launch.ts";
import { Mod, newVreg, operandSize, RegClass } from "./machine.ts";
import { dataOperand, slice, unsupported } from "./select-memory.ts";
import { define, operandOf } from "./values.ts";

const DS_OFFSET_MAX: u32 = 65535;

// The address that `sharedAddress` found.
let addressVgpr: u32 = 0;
let addressImm: u32 = 0;

function sharedAddress(offset: u32, base: u32, room: u32, limit: u32): void {
  if (isConst(offset)) {
    const at = <u64>constBits(offset) + <u64>base;
    const fits = at + room <= <u64>limit;
    const first = fits ? 0 : at > 0xffffffff ? 0xffffffff : <u32>at;
    const known = constantRegister(first);
    addressVgpr = known != 0 ? known : inVgpr(constantOperand(first));
    addressImm = fits ? <u32>at : 0;
    return;
  }
  let operand = operandOf(offset);
  addressImm = base;
  if (base + room > limit || base + room < base) {
    const sum = newVreg(RegClass.VGPR, 1);
    valu(Isa.v_add_nc_u32_e64, sum, operand, constantOperand(base), 0, Mod.CLAMP);
    operand = sum;
    addressImm = 0;
  }
  addressVgpr = inVgpr(operand);
}

function dsInstr(op: u32, offset: u32): u32 {
  const j = raw(op);
  mSrc0[j] = addressVgpr;
  mImm[j] = offset;
  return j;
}

/** Whether the address is certainly a multiple of 2^bits. */
function aligned(offset: u32, base: u32, bits: u32): bool {
  return zeroBits(offset, 0) >= bits && ctz<u32>(base) >= bits;
}

/** A pair that goes in one instruction: loads and stores of 64-bit atomics, which lifting aligns to 8 bytes. */
function isWhole(i: u32, count: u32): bool {
  return count == 2 && (flagsOf(i) & InstrFlag.COHERENT) != 0;
}

/** How many dwords the next DS instruction of an access takes: 16-byte ones need alignment, two dwords go as a pair. */
function dsPart(left: u32, done: u32, wide: bool): u32 {
  if (left >= 4 && wide && (done & 3) == 0) return 4;
  return left >= 2 ? 2 : 1;
}

export function selectSharedLoad(i: u32): void {
  const count = componentsOf(i);
  const wide = aligned(src(i, 0), imm(i, 0), 4);
  const whole = isWhole(i, count);
  // read2 has element offsets of 8 bits: 1020 bytes, with the second element in reach.
  sharedAddress(
    src(i, 0),
    imm(i, 0),
    count > 1 ? count * 4 : 0,
    count == 1 || whole || (wide && count == 4) ? DS_OFFSET_MAX : 1020,
  );
  const dst = define(i);
  if (imm(i, 1) != 0) {
    const op: u32 = imm(i, 1) == 8 ? Isa.ds_read_u8 : Isa.ds_read_u16;
    mDst0[dsInstr(op, addressImm)] = dst;
    return;
  }
  if (whole) {
    mDst0[dsInstr(Isa.ds_read_b64, addressImm)] = dst;
    return;
  }
  for (let done: u32 = 0; done < count; ) {
    const part = dsPart(count - done, done, wide);
    const at = addressImm + done * 4;
    if (part == 2 && (at & 3) != 0) {
      unsupported(i, 3);
      return;
    }
    const op: u32 = part == 4 ? Isa.ds_read_b128 : part == 2 ? Isa.ds_read2_b32 : Isa.ds_read_b32;
    const j = dsInstr(op, part == 2 ? pairOffset(at) : at);
    mDst0[j] = slice(dst, done, part);
    done += part;
  }
}

/** offset0, offset1 of two neighbouring dwords. */
function pairOffset(at: u32): u32 {
  return (at >> 2) | (((at >> 2) + 1) << 8);
}

/** Data of a DS instruction, which only reads it. */
function sharedData(value: u32): u32 {
  const known = isConst(value) ? constantRegister(constBits(value)) : 0;
  return known != 0 ? known : dataOperand(value);
}

export function selectSharedStore(i: u32): void {
  const word = imm(i, 1) == 16 ? storedHigh(src(i, 0)) : 0;
  const data = sharedData(word != 0 ? word : src(i, 0));
  const count = operandSize(data);
  const wide = aligned(src(i, 1), imm(i, 0), 4);
  const whole = isWhole(i, count);
  sharedAddress(
    src(i, 1),
    imm(i, 0),
    count > 1 ? count * 4 : 0,
    count == 1 || whole || (wide && count == 4) ? DS_OFFSET_MAX : 1020,
  );
  if (imm(i, 1) != 0) {
    let op: u32 = imm(i, 1) == 8 ? Isa.ds_write_b8 : Isa.ds_write_b16;
    if (word != 0) op = Isa.ds_write_b16_d16_hi;
    mSrc1[dsInstr(op, addressImm)] = data;
    return;
  }
  if (whole) {
    mSrc1[dsInstr(Isa.ds_write_b64, addressImm)] = data;
    return;
  }
  for (let done: u32 = 0; done < count; ) {
    const part = dsPart(count - done, done, wide);
    const at = addressImm + done * 4;
    if (part == 2 && (at & 3) != 0) {
      unsupported(i, 3);
      return;
    }
    const op: u32 = part == 4 ? Isa.ds_write_b128 : part == 2 ? Isa.ds_write2_b32 : Isa.ds_write_b32;
    const j = dsInstr(op, part == 2 ? pairOffset(at) : at);
    if (part == 2) {
      mSrc1[j] = slice(data, done, 1);
      mSrc2[j] = slice(data, done + 1, 1);
    } else {
      mSrc1[j] = slice(data, done, part);
    }
    done += part;
  }
}

function sharedAtomicOp(kind: u32, returns: bool): u32 {
  switch (kind) {
    case 0:
      return returns ? Isa.ds_add_rtn_u32 : Isa.ds_add_u32;
    case 1:
      return returns ? Isa.ds_min_rtn_u32 : Isa.ds_min_u32;
    case 2:
      return returns ? Isa.ds_max_rtn_u32 : Isa.ds_max_u32;
    case 3:
      return returns ? Isa.ds_min_rtn_i32 : Isa.ds_min_i32;
    case 4:
      return returns ? Isa.ds_max_rtn_i32 : Isa.ds_max_i32;
    case 5:
      return returns ? Isa.ds_and_rtn_b32 : Isa.ds_and_b32;
    case 6:
      return returns ? Isa.ds_or_rtn_b32 : Isa.ds_or_b32;
    case 7:
      return returns ? Isa.ds_xor_rtn_b32 : Isa.ds_xor_b32;
    default:
      return Isa.ds_wrxchg_rtn_b32;
  }
}

function sharedPairAtomicOp(kind: u32, returns: bool): u32 {
  switch (kind) {
    case 0:
      return returns ? Isa.ds_add_rtn_u64 : Isa.ds_add_u64;
    case 1:
      return returns ? Isa.ds_min_rtn_u64 : Isa.ds_min_u64;
    case 2:
      return returns ? Isa.ds_max_rtn_u64 : Isa.ds_max_u64;
    case 3:
      return returns ? Isa.ds_min_rtn_i64 : Isa.ds_min_i64;
    case 4:
      return returns ? Isa.ds_max_rtn_i64 : Isa.ds_max_i64;
    case 5:
      return returns ? Isa.ds_and_rtn_b64 : Isa.ds_and_b64;
    case 6:
      return returns ? Isa.ds_or_rtn_b64 : Isa.ds_or_b64;
    case 7:
      return returns ? Isa.ds_xor_rtn_b64 : Isa.ds_xor_b64;
    default:
      return Isa.ds_wrxchg_rtn_b64;
  }
}

export function selectSharedAtomic(i: u32): void {
  const compareSwap = opOf(i) == Op.SHARED_ATOMIC_CMPSWAP;
  const used = useCount(i) > 0;
  const wide = componentsOf(i) == 2;
  const first = sharedData(src(i, 1));
  const second = compareSwap ? sharedData(src(i, 2)) : 0;
  sharedAddress(src(i, 0), imm(i, 0), 0, DS_OFFSET_MAX);
  let op: u32 = wide
    ? used
      ? Isa.ds_cmpst_rtn_b64
      : Isa.ds_cmpst_b64
    : used
      ? Isa.ds_cmpst_rtn_b32
      : Isa.ds_cmpst_b32;
  if (!compareSwap) op = wide ? sharedPairAtomicOp(imm(i, 1), used) : sharedAtomicOp(imm(i, 1), used);
  const returns = used || op == <u32>Isa.ds_wrxchg_rtn_b32 || op == <u32>Isa.ds_wrxchg_rtn_b64;
  const j = dsInstr(op, addressImm);
  // DS compares with data0 and stores data1.
  mSrc1[j] = first;
  mSrc2[j] = second;
  if (returns) mDst0[j] = define(i);
}

// Ordering. Scopes are SPIR-V's: 1 device, 2 workgroup, 5 queue family; the others order nothing between invocations.

const STORAGE_BUFFERS: u32 = 1;

const WAVE_LANES: u32 = 32;

/** The scope holds one wave, whose accesses happen in order. */
function isAlone(scope: u32): bool {
  return scope == 2 && localSize(0) * localSize(1) * localSize(2) <= WAVE_LANES;
}

function release(scope: u32, storage: u32): void {
  if (scope == 3 || scope == 4 || isAlone(scope)) return;
  const wanted = storage & 3;
  if (wanted != 0) mImm[raw(P_RELEASE)] = wanted;
}

/** In WGP mode the two CUs of a workgroup have an L0 each, so a workgroup's acquire must empty it too. */
function acquire(scope: u32, storage: u32): void {
  if (scope == 3 || scope == 4 || isAlone(scope) || (storage & STORAGE_BUFFERS) == 0) return;
  raw(Isa.buffer_gl0_inv);
  if (scope != 2) raw(Isa.buffer_gl1_inv);
}

export function selectBarrier(i: u32): void {
  release(imm(i, 0), imm(i, 1));
  // One wave is always in step with itself, and LDS works in order.
  if (opOf(i) == Op.BARRIER && localSize(0) * localSize(1) * localSize(2) > WAVE_LANES) sopp(Isa.s_barrier, 0);
  acquire(imm(i, 0), imm(i, 1));
}
