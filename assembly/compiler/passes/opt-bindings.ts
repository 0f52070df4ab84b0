/**
 * Buffer accesses through the address of a descriptor that is known: they name the binding again, so that descriptors are
 * shared and loaded early. `load_ssbo %o, %d set=4294967295` of `%d = descriptor_address %e set=0 binding=3` →
 * `load_ssbo %o, %e set=0 binding=3`. O(instructions).
 */
import { spend } from "../../base/index.ts";
import { DYNAMIC_SET, Op } from "../../gen/ir-ops.ts";
import {
  constant,
  constBits,
  entryBlock,
  firstInstr,
  hasMade,
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

function usesBuffer(op: u32): bool {
  switch (op) {
    case Op.LOAD_SSBO:
    case Op.STORE_SSBO:
    case Op.SSBO_ATOMIC:
    case Op.SSBO_ATOMIC_CMPSWAP:
    case Op.SSBO_SIZE:
      return true;
    default:
      return false;
  }
}

/** Reads through "or another one where it is null": no descriptor stands at address 0 (docs/abi.md). */
function notNull(address: u32): u32 {
  if (opOf(address) != Op.SELECT) return address;
  const test = src(address, 0);
  const given = src(address, 2);
  if (opOf(given) != Op.DESCRIPTOR_ADDRESS || opOf(test) != Op.IEQ) return address;
  const zero = isConst(src(test, 0)) ? src(test, 0) : src(test, 1);
  const isTest = isConst(zero) && constBits(zero) == 0 && (src(test, 0) == given || src(test, 1) == given);
  return isTest ? given : address;
}

export function optBindings(): bool {
  if (!hasMade(Op.DESCRIPTOR_ADDRESS)) return false;
  let progress = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      if (!usesBuffer(opOf(i)) || imm(i, 0) != DYNAMIC_SET) continue;
      const last = srcCount(i) - 1;
      const address = notNull(src(i, last));
      if (opOf(address) != Op.DESCRIPTOR_ADDRESS) continue;
      setImm(i, 0, imm(address, 0));
      setImm(i, 1, imm(address, 1));
      setSrc(i, last, srcCount(address) != 0 ? src(address, 0) : constant(0));
      progress = true;
    }
  }
  return progress;
}
