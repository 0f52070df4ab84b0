/**
 * Accesses through addresses in memory: buffer ops whose last source is a pair of words. A uniform address stays in SGPRs,
 * with a VGPR for the offset.
 */
import { DYNAMIC_SET, InstrFlag, Op } from "../../gen/ir-ops.ts";
import { Op as Isa } from "../../gen/isa-ops.ts";
import { componentsOf, constBits, flagsOf, imm, isConst, opOf, src, srcCount, stage, useCount } from "../ir/index.ts";
import { buildBlock, copy, inVgpr, raw, valuCarry } from "./build.ts";
import { classOf, ValueClass } from "./classes.ts";
import { mDst0, mImm, mMods, mSrc0, mSrc1, mSrc2, valueOperand, vHint } from "./columns.ts";
import { constantRegister } from "./constants.ts";
import { storedHigh } from "./half-patterns.ts";
import { component, Hw, hw, isVreg, Mod, newVreg, operandSize, operandVreg, RegClass } from "./machine.ts";
import { dataOperand, slice, swapTuple } from "./select-memory.ts";
import { define, operandOf } from "./values.ts";

/** The access is through an address, not a descriptor. */
export function isGlobal(i: u32): bool {
  return imm(i, 0) == DYNAMIC_SET && componentsOf(src(i, srcCount(i) - 1)) == 2;
}

// What `findAddress` found: the VGPRs with the address, or with the offset from a pair of SGPRs.
let addressVgpr: u32 = 0;
let addressPair: u32 = 0;

/** The pair that was made last, its block, and what it was made of. */
let knownPair: u32 = 0;
let knownBlock: u32 = 0;
let knownLow: u32 = 0;
let knownHigh: u32 = 0;
export function resetAddresses(): void {
  knownPair = 0;
}

/** A uniform address as a pair of SGPRs; 0 where it is in VGPRs. */
function scalarPair(address: u32): u32 {
  if (opOf(address) != Op.VEC) return classOf(address) == ValueClass.SGPR ? operandOf(address) : 0;
  for (let k: u32 = 0; k < 2; k++) {
    const c = classOf(src(address, k));
    if (c != ValueClass.SGPR && c != ValueClass.CONSTANT) return 0;
  }
  // Several accesses of a block from one address read the same registers.
  const low = operandOf(src(address, 0));
  const high = operandOf(src(address, 1));
  if (knownPair != 0 && knownBlock == buildBlock() && knownLow == low && knownHigh == high) return knownPair;
  const pair = newVreg(RegClass.SGPR, 2);
  copy(component(pair, 0), low);
  copy(component(pair, 1), high);
  if (isVreg(low)) vHint[operandVreg(pair)] = low;
  knownPair = pair;
  knownBlock = buildBlock();
  knownLow = low;
  knownHigh = high;
  return pair;
}

/** address + offset, in VGPRs. */
function wholeAddress(address: u32, offset: u32): u32 {
  const start = dataOperand(address);
  if (isConst(offset) && constBits(offset) == 0) return start;
  const sum = newVreg(RegClass.VGPR, 2);
  const carry = newVreg(RegClass.SGPR, 1);
  valuCarry(Isa.v_add_co_u32, component(sum, 0), carry, component(start, 0), operandOf(offset), 0);
  const zero = hw(Hw.ZERO, 1);
  valuCarry(Isa.v_add_co_ci_u32_e64, component(sum, 1), newVreg(RegClass.SGPR, 1), zero, component(start, 1), carry);
  return sum;
}

/** The address of an access whose offset is source `k`. */
function findAddress(i: u32, k: u32): void {
  const address = src(i, srcCount(i) - 1);
  const offset = src(i, k);
  // A register with an offset of 0 costs as much as the address: it must serve several accesses.
  addressPair = isConst(offset) && stage() != 0 ? 0 : scalarPair(address);
  if (addressPair == 0) {
    addressVgpr = wholeAddress(address, offset);
    return;
  }
  const known = isConst(offset) ? constantRegister(constBits(offset)) : 0;
  addressVgpr = known != 0 ? known : inVgpr(operandOf(offset));
}

function access(i: u32, op: u32, offset: u32, mods: u32): u32 {
  const j = raw(op);
  mSrc0[j] = addressVgpr;
  mSrc2[j] = addressPair;
  mImm[j] = imm(i, 2) + offset;
  mMods[j] = mods;
  return j;
}

export function globalLoadOp(count: u32): u32 {
  return count == 1
    ? Isa.global_load_dword
    : count == 2
      ? Isa.global_load_dwordx2
      : count == 3
        ? Isa.global_load_dwordx3
        : Isa.global_load_dwordx4;
}
function storeOp(count: u32): u32 {
  return count == 1
    ? Isa.global_store_dword
    : count == 2
      ? Isa.global_store_dwordx2
      : count == 3
        ? Isa.global_store_dwordx3
        : Isa.global_store_dwordx4;
}

export function selectGlobalLoad(i: u32): void {
  findAddress(i, 0);
  const count = componentsOf(i);
  const mods: u32 = (flagsOf(i) & (InstrFlag.COHERENT | InstrFlag.VOLATILE)) != 0 ? Mod.GLC | Mod.DLC : 0;
  const dst = define(i);
  if (imm(i, 3) != 0) {
    const op: u32 = imm(i, 3) == 8 ? Isa.global_load_ubyte : Isa.global_load_ushort;
    mDst0[access(i, op, 0, mods)] = dst;
    return;
  }
  for (let done: u32 = 0; done < count; done += 4) {
    const part = min<u32>(4, count - done);
    mDst0[access(i, globalLoadOp(part), done * 4, mods)] = slice(dst, done, part);
  }
}

export function selectGlobalStore(i: u32): void {
  findAddress(i, 1);
  const word = imm(i, 3) == 16 ? storedHigh(src(i, 0)) : 0;
  const data = dataOperand(word != 0 ? word : src(i, 0));
  const count = operandSize(data);
  if (imm(i, 3) != 0) {
    let op: u32 = imm(i, 3) == 8 ? Isa.global_store_byte : Isa.global_store_short;
    if (word != 0) op = Isa.global_store_short_d16_hi;
    mSrc1[access(i, op, 0, 0)] = data;
    return;
  }
  for (let done: u32 = 0; done < count; done += 4) {
    const part = min<u32>(4, count - done);
    mSrc1[access(i, storeOp(part), done * 4, 0)] = slice(data, done, part);
  }
}

/** The `atomic` immediate of src/ir: add umin umax imin imax and or xor swap. */
function atomicOp(kind: u32, wide: bool): u32 {
  switch (kind) {
    case 0:
      return wide ? Isa.global_atomic_add_x2 : Isa.global_atomic_add;
    case 1:
      return wide ? Isa.global_atomic_umin_x2 : Isa.global_atomic_umin;
    case 2:
      return wide ? Isa.global_atomic_umax_x2 : Isa.global_atomic_umax;
    case 3:
      return wide ? Isa.global_atomic_smin_x2 : Isa.global_atomic_smin;
    case 4:
      return wide ? Isa.global_atomic_smax_x2 : Isa.global_atomic_smax;
    case 5:
      return wide ? Isa.global_atomic_and_x2 : Isa.global_atomic_and;
    case 6:
      return wide ? Isa.global_atomic_or_x2 : Isa.global_atomic_or;
    case 7:
      return wide ? Isa.global_atomic_xor_x2 : Isa.global_atomic_xor;
    default:
      return wide ? Isa.global_atomic_swap_x2 : Isa.global_atomic_swap;
  }
}

export function selectGlobalAtomic(i: u32): void {
  const compareSwap = opOf(i) == Op.SSBO_ATOMIC_CMPSWAP;
  findAddress(i, 0);
  const used = useCount(i) > 0;
  const words = componentsOf(i);
  const data = compareSwap ? swapTuple(i) : dataOperand(src(i, 1));
  const swap: u32 = words == 2 ? Isa.global_atomic_cmpswap_x2 : Isa.global_atomic_cmpswap;
  const op = compareSwap ? swap : atomicOp(imm(i, 3), words == 2);
  const j = access(i, op, 0, used ? Mod.GLC : 0);
  mSrc1[j] = data;
  if (!used) return;
  mDst0[j] = newVreg(RegClass.VGPR, words);
  valueOperand[i] = mDst0[j];
}
