/**
 * Reads through instructions that only pass a value on: extract of a vec, a select with equal sides, a phi with one
 * source. `%2 = extract %1 index=0` of `%1 = vec %0, %0` → `%0`. Leaves the dead ones to opt-dce. O(instructions).
 */
import { spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  entryBlock,
  firstInstr,
  imm,
  nextBlock,
  nextInstr,
  opOf,
  replaceUses,
  src,
  srcCount,
  useCount,
} from "../ir/index.ts";

/** What the instruction passes on, or 0. */
function passedOn(i: u32): u32 {
  switch (opOf(i)) {
    case Op.EXTRACT: {
      const v = src(i, 0);
      return opOf(v) == Op.VEC ? src(v, imm(i, 0)) : 0;
    }
    case Op.SELECT:
      return src(i, 1) == src(i, 2) ? src(i, 1) : 0;
    case Op.PHI: {
      let value: u32 = 0;
      for (let k: u32 = 0; k < srcCount(i); k++) {
        const v = src(i, k);
        if (v == i || v == value) continue;
        if (value != 0) return 0;
        value = v;
      }
      return value;
    }
    default:
      return 0;
  }
}

export function optCopyProp(): bool {
  let progress = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      if (useCount(i) == 0) continue;
      const value = passedOn(i);
      if (value == 0) continue;
      replaceUses(i, value);
      progress = true;
    }
  }
  return progress;
}
