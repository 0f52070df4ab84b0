/**
 * Moves a constant out of an address into `base`, where the sum of both cannot wrap: because the addition is marked
 * `nuw`, because the other part is a multiple of 2^k above the constant, or because it is known to be small.
 * `iadd %0, 4` of `%0 = ishl %i, 3` → `%0 base=4`. Also from below shifts, products and sums, where what is left is known
 * to be small: `ishl (iadd %i, 1), 3` with `%i` below 2^28 → `ishl %i, 3 base=8`. Of an address in memory that is a sum
 * of 64 bits with a word, the word becomes the offset. O(memory ops).
 */
import { spend } from "../../base/index.ts";
import { DYNAMIC_SET, InstrFlag, Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import {
  alu2,
  componentsOf,
  constant,
  constBits,
  cursorBefore,
  entryBlock,
  firstInstr,
  flagsOf,
  imm,
  isConst,
  nextBlock,
  nextInstr,
  opOf,
  setImm,
  setSrc,
  src,
  srcCount,
  upperBound,
  vec2,
  widthOf,
  zeroBits,
} from "../ir/index.ts";

/** Largest base that is formed: below the range where a 33-bit sum could matter to the bounds check. */
const MAX_BASE: u32 = 0x4000_0000;

/** Largest base of an access through an address; the parts of an access add to it. */
const MAX_ADDRESS_BASE: u32 = 1024;

/** The access is through an address in memory: its last source. */
function hasAddress(i: u32): bool {
  const op = opOf(i);
  if (op != Op.LOAD_SSBO && op != Op.STORE_SSBO && op != Op.SSBO_ATOMIC && op != Op.SSBO_ATOMIC_CMPSWAP) return false;
  return imm(i, 0) == DYNAMIC_SET && componentsOf(src(i, srcCount(i) - 1)) == 2;
}

function maxBase(i: u32): u32 {
  return hasAddress(i) ? MAX_ADDRESS_BASE : MAX_BASE;
}

function offsetSource(op: u32): u32 {
  return op == Op.STORE_SSBO || op == Op.STORE_SHARED || op == Op.STORE_SCRATCH ? 1 : 0;
}

function baseImm(op: u32): u32 {
  return op == Op.LOAD_PUSH ||
    op == Op.LOAD_TABLE ||
    op == Op.LOAD_SHARED ||
    op == Op.LOAD_SCRATCH ||
    op == Op.STORE_SCRATCH ||
    op == Op.STORE_SHARED ||
    op == Op.SHARED_ATOMIC ||
    op == Op.SHARED_ATOMIC_CMPSWAP
    ? 0
    : 2;
}

/** Largest base that instructions of the op have room for; above it an addition of its own would come back. */
function roomOf(i: u32): u32 {
  if (hasAddress(i)) return MAX_ADDRESS_BASE;
  switch (opOf(i)) {
    case Op.LOAD_SHARED:
    case Op.STORE_SHARED:
    case Op.SHARED_ATOMIC:
    case Op.SHARED_ATOMIC_CMPSWAP:
      return 0xffff;
    case Op.LOAD_PUSH:
    case Op.LOAD_TABLE:
      return 0xf_ffff;
    case Op.LOAD_SCRATCH:
    case Op.STORE_SCRATCH:
      return 2047;
    default:
      return 4095;
  }
}

/** Levels of sums, shifts and products that are looked through. */
const DEPTH: u32 = 4;
/** More than any address, and small enough to be added and multiplied. */
const TOO_LARGE: u64 = 0x1_0000_0000;

/** By how much a shift or a product with a constant multiplies its first source; 0 for another op. */
function factorOf(v: u32): u32 {
  const op = opOf(v);
  if ((op != Op.ISHL && op != Op.IMUL) || !isConst(src(v, 1))) return 0;
  const bits = constBits(src(v, 1));
  return op == Op.IMUL ? bits : (<u32>1) << (bits & 31);
}

function scaled(value: u64, factor: u32): u64 {
  const product = value * <u64>factor;
  return value > TOO_LARGE || product > TOO_LARGE ? TOO_LARGE : product;
}

/** The constant part of a value, modulo 2^32, or more than there is room for. */
function constantIn(v: u32, depth: u32): u64 {
  if (isConst(v)) return <u64>constBits(v);
  if (depth == DEPTH || widthOf(v) != 32) return 0;
  if (opOf(v) == Op.IADD) {
    const sum = constantIn(src(v, 0), depth + 1) + constantIn(src(v, 1), depth + 1);
    return min<u64>(sum, TOO_LARGE);
  }
  const factor = factorOf(v);
  return factor == 0 ? 0 : scaled(constantIn(src(v, 0), depth + 1), factor);
}

/** No value of what `without` leaves is above this, before it is cut to 32 bits. */
function boundWithout(v: u32, depth: u32): u64 {
  if (isConst(v)) return 0;
  if (constantIn(v, depth) == 0) return <u64>upperBound(v, 0);
  if (opOf(v) == Op.IADD) return boundWithout(src(v, 0), depth + 1) + boundWithout(src(v, 1), depth + 1);
  return scaled(boundWithout(src(v, 0), depth + 1), factorOf(v));
}

/** The value less its constant part, before the cursor; 0 for nothing. */
function without(v: u32, depth: u32): u32 {
  if (isConst(v)) return 0;
  if (constantIn(v, depth) == 0) return v;
  const a = without(src(v, 0), depth + 1);
  if (opOf(v) != Op.IADD) return a == 0 ? 0 : alu2(opOf(v), a, src(v, 1));
  const b = without(src(v, 1), depth + 1);
  return a == 0 ? b : b == 0 ? a : alu2(Op.IADD, a, b);
}

/** Takes the constant part out of source k, from anywhere in the sum; true when it did. */
function distribute(i: u32, k: u32): bool {
  const slot = baseImm(opOf(i));
  const base = imm(i, slot);
  const offset = src(i, k);
  const part = constantIn(offset, 0);
  if (part == 0 || <u64>base + part > <u64>roomOf(i)) return false;
  if (boundWithout(offset, 0) + part >= TOO_LARGE) return false;
  cursorBefore(i);
  const rest = without(offset, 0);
  if (rest == 0) return false;
  setImm(i, slot, base + <u32>part);
  setSrc(i, k, rest);
  return true;
}

function fold(i: u32): bool {
  const op = opOf(i);
  const k = offsetSource(op);
  if (srcCount(i) <= k) return false;
  if (hasAddress(i) && splitAddress(i, k)) return true;
  const offset = src(i, k);
  const slot = baseImm(op);
  const base = imm(i, slot);
  if (isConst(offset)) {
    if (constBits(offset) == 0 || <u64>base + constBits(offset) > <u64>maxBase(i)) return false;
    setImm(i, slot, base + constBits(offset));
    setSrc(i, k, constant(0));
    return true;
  }
  return foldSum(i, k) || distribute(i, k);
}

/** The carry out of the addition `sum`, as a word. */
function isCarry(v: u32, sum: u32): bool {
  if (opOf(v) != Op.B2I) return false;
  const wrapped = src(v, 0);
  return (
    opOf(wrapped) == Op.ULT &&
    src(wrapped, 0) == sum &&
    (src(wrapped, 1) == src(sum, 0) || src(wrapped, 1) == src(sum, 1))
  );
}

/** Which of two words is always 0; 2 for neither. */
function zeroOf(a: u32, b: u32): u32 {
  return upperBound(b, 0) == 0 ? 1 : upperBound(a, 0) == 0 ? 0 : 2;
}

/**
 * An address that is a pair and a word is the pair, and the word goes into the offset, of which it must not make more
 * than 32 bits; true when it did.
 */
function splitAddress(i: u32, k: u32): bool {
  const last = srcCount(i) - 1;
  const address = src(i, last);
  if (opOf(address) != Op.VEC) return false;
  const sum = src(address, 0);
  const top = src(address, 1);
  if (opOf(sum) != Op.IADD || opOf(top) != Op.IADD) return false;
  const c: u32 = isCarry(src(top, 0), sum) ? 0 : 1;
  if (!isCarry(src(top, c), sum)) return false;
  // What the sum was compared with is the pair's low word, as it was written.
  const start = src(src(src(top, c), 0), 1);
  const word = src(sum, src(sum, 0) == start ? 1 : 0);
  let high = src(top, 1 - c);
  if (opOf(high) == Op.IADD) {
    const zero = zeroOf(src(high, 0), src(high, 1));
    if (zero != 2) high = src(high, 1 - zero);
  }
  // A high word of its own is added: the sum is made for this address alone, and as well as a whole.
  if (opOf(high) == Op.IADD && !isCarry(src(high, 0), start) && !isCarry(src(high, 1), start)) return false;
  let offset = src(i, k);
  cursorBefore(i);
  if (isConst(offset) && constBits(offset) == 0) {
    offset = word;
  } else {
    if (<u64>upperBound(offset, 0) + <u64>upperBound(word, 0) >= TOO_LARGE) return false;
    offset = alu2(Op.IADD, offset, word);
  }
  setSrc(i, k, offset);
  setSrc(i, last, vec2(start, high));
  return true;
}

/** A constant that is added last. */
function foldSum(i: u32, k: u32): bool {
  const offset = src(i, k);
  const slot = baseImm(opOf(i));
  const base = imm(i, slot);
  if (opOf(offset) != Op.IADD) return false;
  const c: u32 = isConst(src(offset, 1)) ? 1 : 0;
  const part = src(offset, c);
  if (!isConst(part) || <u64>base + constBits(part) > <u64>maxBase(i)) return false;
  const other = src(offset, 1 - c);
  const zeros = zeroBits(other, 0);
  const fits =
    zeros >= 32 ||
    constBits(part) < (<u32>1) << zeros ||
    <u64>upperBound(other, 0) + <u64>constBits(part) <= 0xffff_ffff;
  if (!fits && (flagsOf(offset) & InstrFlag.NUW) == 0) return false;
  setImm(i, slot, base + constBits(part));
  setSrc(i, k, other);
  return true;
}

export function optOffsets(): bool {
  let progress = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      if ((opFlags(opOf(i)) & OpFlag.OFFSET) == 0) continue;
      while (spend(1) && fold(i)) progress = true;
    }
  }
  return progress;
}
