/**
 * Moves a constant out of an address into `base`, where the sum of both cannot wrap: because the addition is marked
 * `nuw`, or because the other part is a multiple of 2^k above the constant. `iadd %0, 4` of `%0 = ishl %i, 3` → `%0 base=4`. O(memory ops).
 */
import { spend } from "../../base/index.ts";
import { InstrFlag, Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import {
  constant,
  constBits,
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
} from "../ir/index.ts";

/** Largest base that is formed: below the range where a 33-bit sum could matter to the bounds check. */
const MAX_BASE: u32 = 0x4000_0000;

/** A lower bound for the number of trailing zero bits of a value. Looks a few instructions deep. */
export function trailingZeros(value: u32, depth: i32): u32 {
  const op = opOf(value);
  if (op == Op.CONST) return constBits(value) == 0 ? 32 : ctz<u32>(constBits(value));
  if (depth == 0) return 0;
  if (op == Op.ISHL && isConst(src(value, 1))) {
    return min<u32>(32, trailingZeros(src(value, 0), depth - 1) + (constBits(src(value, 1)) & 31));
  }
  if (op == Op.IMUL)
    return min<u32>(32, trailingZeros(src(value, 0), depth - 1) + trailingZeros(src(value, 1), depth - 1));
  if (op == Op.IADD || op == Op.ISUB || op == Op.IOR) {
    return min<u32>(trailingZeros(src(value, 0), depth - 1), trailingZeros(src(value, 1), depth - 1));
  }
  return 0;
}

function offsetSource(op: u32): u32 {
  return op == Op.STORE_SSBO || op == Op.STORE_SHARED ? 1 : 0;
}

function baseImm(op: u32): u32 {
  return op == Op.LOAD_PUSH ||
    op == Op.LOAD_SHARED ||
    op == Op.STORE_SHARED ||
    op == Op.SHARED_ATOMIC ||
    op == Op.SHARED_ATOMIC_CMPSWAP
    ? 0
    : 2;
}

function fold(i: u32): bool {
  const op = opOf(i);
  const k = offsetSource(op);
  if (srcCount(i) <= k) return false;
  const offset = src(i, k);
  const slot = baseImm(op);
  const base = imm(i, slot);
  if (isConst(offset)) {
    if (constBits(offset) == 0 || <u64>base + constBits(offset) > MAX_BASE) return false;
    setImm(i, slot, base + constBits(offset));
    setSrc(i, k, constant(0));
    return true;
  }
  if (opOf(offset) != Op.IADD) return false;
  const c: u32 = isConst(src(offset, 1)) ? 1 : 0;
  const part = src(offset, c);
  if (!isConst(part) || <u64>base + constBits(part) > MAX_BASE) return false;
  const other = src(offset, 1 - c);
  const zeros = trailingZeros(other, 4);
  const fits = zeros >= 32 || constBits(part) < (<u32>1) << zeros;
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
