/**
 * Constants side by side in VGPRs, for operands that are only read: one set of registers for all that ask for the same
 * ones in a block. Compute only: elsewhere EXEC changes within a block.
 */
import { constBits, isConst, src, stage } from "../ir/index.ts";
import { buildBlock, constantOperand, copy } from "./build.ts";
import { component, newVreg, RegClass } from "./machine.ts";

const ENTRIES: u32 = 8;
const MAX_COUNT: u32 = 4;
/** By entry: block, operand, number of constants, the constants. */
const ENTRY_WORDS: u32 = 3 + MAX_COUNT;
const entries = memory.data(8 * 7 * 4, 4);
let oldest: u32 = 0;

function word(entry: u32, k: u32): usize {
  return entries + ((<usize>(entry * ENTRY_WORDS + k)) << 2);
}

export function resetConstantTuples(): void {
  for (let k: u32 = 0; k < ENTRIES; k++) store<u32>(word(k, 0), 0);
  oldest = 0;
}

function find(i: u32, first: u32, count: u32): u32 {
  for (let e: u32 = 0; e < ENTRIES; e++) {
    if (load<u32>(word(e, 0)) != buildBlock() || load<u32>(word(e, 2)) != count) continue;
    let same = true;
    for (let k: u32 = 0; k < count && same; k++) same = load<u32>(word(e, 3 + k)) == constBits(src(i, first + k));
    if (same) return load<u32>(word(e, 1));
  }
  return 0;
}

/** A register with one constant, shared as above; 0 in stages where EXEC changes within a block. */
export function constantRegister(bits: u32): u32 {
  if (stage() != 0) return 0;
  for (let e: u32 = 0; e < ENTRIES; e++) {
    if (load<u32>(word(e, 0)) == buildBlock() && load<u32>(word(e, 2)) == 1 && load<u32>(word(e, 3)) == bits)
      return load<u32>(word(e, 1));
  }
  const operand = newVreg(RegClass.VGPR, 1);
  copy(operand, constantOperand(bits));
  const e = oldest;
  oldest = (oldest + 1) % ENTRIES;
  store<u32>(word(e, 0), buildBlock());
  store<u32>(word(e, 1), operand);
  store<u32>(word(e, 2), 1);
  store<u32>(word(e, 3), bits);
  return operand;
}

/** Registers with the constant sources [first, first + count) of `i`, or 0 where not all are constants. */
export function constantTuple(i: u32, first: u32, count: u32): u32 {
  if (stage() != 0 || count > MAX_COUNT) return 0;
  for (let k: u32 = 0; k < count; k++) if (!isConst(src(i, first + k))) return 0;
  const known = find(i, first, count);
  if (known != 0) return known;
  const operand = newVreg(RegClass.VGPR, count);
  const e = oldest;
  oldest = (oldest + 1) % ENTRIES;
  store<u32>(word(e, 0), buildBlock());
  store<u32>(word(e, 1), operand);
  store<u32>(word(e, 2), count);
  for (let k: u32 = 0; k < count; k++) {
    copy(count == 1 ? operand : component(operand, k), constantOperand(constBits(src(i, first + k))));
    store<u32>(word(e, 3 + k), constBits(src(i, first + k)));
  }
  return operand;
}
