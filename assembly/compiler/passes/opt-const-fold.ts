/**
 * Computes instructions whose sources are all constants, by the fold expressions of the op rows (exact IEEE f32 and
 * integer arithmetic only; a NaN becomes 0x7fc00000). `iadd 2, 3` → `const 5`. O(instructions).
 */
import { spend } from "../../base/index.ts";
import { foldOp, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import {
  constant,
  constantBool,
  constBits,
  entryBlock,
  firstInstr,
  isConst,
  nextBlock,
  nextInstr,
  opOf,
  replaceUses,
  src,
  srcCount,
  useCount,
  widthOf,
} from "../ir/index.ts";

export function optConstFold(): bool {
  let progress = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      const op = opOf(i);
      if (useCount(i) == 0 || (opFlags(op) & OpFlag.FOLDABLE) == 0) continue;
      const count = srcCount(i);
      let known = true;
      for (let k: u32 = 0; k < count && known; k++) known = isConst(src(i, k));
      if (!known) continue;
      const x = constBits(src(i, 0));
      const y = count > 1 ? constBits(src(i, 1)) : 0;
      const z = count > 2 ? constBits(src(i, 2)) : 0;
      const bits = foldOp(op, x, y, z);
      replaceUses(i, widthOf(i) == 1 ? constantBool((bits & 1) != 0) : constant(bits));
      progress = true;
    }
  }
  return progress;
}
