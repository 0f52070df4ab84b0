/**
 * Moves pure arithmetic out of loops that it does not depend on, as far out as its sources allow, to the end of the block
 * before the loop. Leaves memory accesses, booleans (they feed branches directly) and sign changes (they become operand
 * modifiers) where they are, and at most MAX_MOVED values a loop, so that registers do not fill with them.
 * `loop { %1 = imul %a, %b … }` → `%1 = imul %a, %b; loop { … }`. O(instructions * loop depth).
 */
import { spend } from "../../base/index.ts";
import { Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import {
  blockOf,
  entryBlock,
  firstInstr,
  hasLoops,
  insertInstr,
  loopOf,
  nextBlock,
  nextInstr,
  nodeLimit,
  nodeScratch,
  opOf,
  parentOf,
  prevNode,
  src,
  srcCount,
  unlinkInstr,
  widthOf,
} from "../ir/index.ts";

const MAX_MOVED: u32 = 24;

function isMovable(i: u32): bool {
  const op = opOf(i);
  const flags = opFlags(op);
  if ((flags & OpFlag.PURE) == 0 || (flags & OpFlag.OFFSET) != 0 || widthOf(i) != 32) return false;
  return (
    op != Op.PHI &&
    op != Op.CONST &&
    op != Op.UNDEF &&
    op != Op.FNEG &&
    op != Op.FABS &&
    op != Op.EXTRACT &&
    op != Op.VEC
  );
}

function isInside(block: u32, loop: u32): bool {
  let n = block;
  while (n != 0 && n != loop && spend(1)) n = parentOf(n);
  return n == loop;
}

function isInvariant(i: u32, loop: u32): bool {
  for (let k: u32 = 0; k < srcCount(i); k++) if (isInside(blockOf(src(i, k)), loop)) return false;
  return true;
}

export function optLicm(): bool {
  if (!hasLoops()) return false;
  let progress = false;
  // nodeScratch of a loop: values moved out of it.
  for (let n: u32 = 0; n < nodeLimit(); n++) nodeScratch[n] = 0;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    if (loopOf(b) == 0) continue;
    let next: u32 = 0;
    for (let i = firstInstr(b); i != 0 && spend(1); i = next) {
      next = nextInstr(i);
      if (!isMovable(i)) continue;
      let to = b;
      for (
        let loop = loopOf(to);
        loop != 0 && nodeScratch[loop] < MAX_MOVED && isInvariant(i, loop);
        loop = loopOf(to)
      ) {
        nodeScratch[loop] = nodeScratch[loop] + 1;
        to = prevNode(loop);
      }
      if (to == b) continue;
      unlinkInstr(i);
      insertInstr(i, to, 0);
      progress = true;
    }
  }
  return progress;
}
