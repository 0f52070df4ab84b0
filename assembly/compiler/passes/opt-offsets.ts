/**
 * Moves a constant out of an address into `base`, where the sum of both cannot wrap: because the addition is marked
 * `nuw`, because the other part is a multiple of 2^k above the constant, or because it is known to be small.
 * `iadd %0, 4` of `%0 = ishl %i, 3` → `%0 base=4`. O(memory ops).
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
  upperBound,
  zeroBits,
} from "../ir/index.ts";

/** Largest base that is formed: below the range where a 33-bit sum could matter to the bounds check. */
const MAX_BASE: u32 = 0x4000_0000;

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
