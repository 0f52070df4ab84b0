/**
 * Marks values that may differ between the lanes of a wave, ifs whose lanes may disagree and loops that lanes may leave
 * at different times. Wants loop-closed SSA. Starts from nothing and adds until nothing changes.
 *
 * A phi is divergent when a source is, or when lanes may come along different edges at once: after an if with a
 * divergent condition; after a loop, or in its cont, when a jump that leads there stands under a divergent if of the
 * loop. With a divergent continue the breaks count as divergent too: the lanes that continued are not there.
 * A header's phi has no rule of its own: the lanes still in the loop go round together.
 */
import { spend } from "../../base/index.ts";
import { InstrFlag, Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import {
  condition,
  entryBlock,
  firstInstr,
  flagsOf,
  hasLoops,
  isConst,
  isDivergent,
  isNodeDivergent,
  jumpOf,
  Kind,
  kindOf,
  loopOf,
  nextBlock,
  nextInstr,
  nextNode,
  nodeScratch,
  opOf,
  parentOf,
  predCount,
  prevNode,
  setFlags,
  setNodeDivergent,
  sideOf,
  src,
  srcCount,
  widthOf,
} from "../ir/index.ts";

/** nodeScratch of a loop: bit 0 a divergent break, bit 1 a divergent continue. */
function noteJumps(): bool {
  let changed = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    const jump = jumpOf(b);
    if (jump == 0 || opOf(jump) == Op.END || !spend(1)) continue;
    const loop = loopOf(b);
    const bit: u32 = opOf(jump) == Op.BREAK ? 1 : 2;
    if (loop == 0 || (nodeScratch[loop] & bit) != 0) continue;
    for (let n = parentOf(b); n != loop; n = parentOf(n)) {
      if (kindOf(n) != Kind.IF || !isNodeDivergent(n)) continue;
      nodeScratch[loop] = nodeScratch[loop] | bit;
      changed = true;
      break;
    }
  }
  return changed;
}

/** True where lanes may enter the block along different edges at once. */
function joinsDivergently(block: u32): bool {
  const before = prevNode(block);
  if (before != 0) {
    // Lanes leave a loop at different times also where there is one break only.
    if (kindOf(before) == Kind.LOOP) return nodeScratch[before] != 0;
    return predCount(block) > 1 && isNodeDivergent(before);
  }
  if (predCount(block) < 2) return false;
  const owner = parentOf(block);
  return owner != 0 && kindOf(owner) == Kind.LOOP && sideOf(block) == 1 && (nodeScratch[owner] & 2) != 0;
}

function diverges(i: u32, joins: bool): bool {
  const op = opOf(i);
  const flags = opFlags(op);
  if ((flags & OpFlag.DIVERGENT) != 0) return true;
  if ((flags & OpFlag.UNIFORM) != 0 || isConst(i)) return false;
  if (op == Op.PHI && joins) return true;
  // What other invocations write meanwhile may be seen by one lane and not by another.
  if ((flags & OpFlag.READS) != 0 && (flagsOf(i) & (InstrFlag.COHERENT | InstrFlag.VOLATILE)) != 0) return true;
  const count = srcCount(i);
  for (let k: u32 = 0; k < count; k++) if (isDivergent(src(i, k))) return true;
  return false;
}

function clear(): void {
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) setFlags(i, flagsOf(i) & ~(<u32>InstrFlag.DIV));
    const n = nextNode(b);
    if (n == 0) continue;
    setNodeDivergent(n, false);
    nodeScratch[n] = 0;
  }
}

/** Without loops sources come before their readers, so that one walk tells all. */
function inOrder(): void {
  for (let b = entryBlock(); b != 0 && spend(1); b = nextBlock(b)) {
    const joins = joinsDivergently(b);
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      const rest = flagsOf(i) & ~(<u32>InstrFlag.DIV);
      setFlags(i, widthOf(i) != 0 && diverges(i, joins) ? rest | InstrFlag.DIV : rest);
    }
    const n = nextNode(b);
    if (n != 0) setNodeDivergent(n, isDivergent(condition(n)));
  }
}

export function divergence(): bool {
  if (!hasLoops()) {
    inOrder();
    return false;
  }
  clear();
  let changed = true;
  while (changed && spend(1)) {
    changed = false;
    for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
      const joins = joinsDivergently(b);
      for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
        if (widthOf(i) == 0 || isDivergent(i) || !diverges(i, joins)) continue;
        setFlags(i, flagsOf(i) | InstrFlag.DIV);
        changed = true;
      }
      const n = nextNode(b);
      if (n == 0) continue;
      if (kindOf(n) == Kind.IF && !isNodeDivergent(n) && isDivergent(condition(n))) {
        setNodeDivergent(n, true);
        changed = true;
      }
    }
    if (noteJumps()) changed = true;
  }
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    const n = nextNode(b);
    if (n != 0 && kindOf(n) == Kind.LOOP) setNodeDivergent(n, nodeScratch[n] != 0);
  }
  return false;
}
