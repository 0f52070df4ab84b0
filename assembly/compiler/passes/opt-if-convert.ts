/**
 * Turns small ifs into selects: both arms one block of at most a few cheap pure instructions, the rest phis.
 * `if %c { %1 = iadd … } else { } %2 = phi %1, %0` → `%1 = iadd …; %2 = select %c, %1, %0`. Loads stay where they are; a demote becomes
 * one under a condition. The lanes of an arm that only discards go the other way, as helpers. Ways out of loops: `exits.ts`.
 * Cost counts instructions moved; 8 is where a skipped branch begins to pay (as in Mesa's peephole for this back end).
 */
import { spend } from "../../base/index.ts";
import { DYNAMIC_SET, Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import { OptionFlag, optionFlag } from "../io.ts";
import {
  addSrc,
  alu1,
  alu2,
  condition,
  cursorAtEnd,
  entryBlock,
  erase,
  firstInstr,
  hasIfs,
  hasLoops,
  hasMade,
  hasMadeAny,
  imm,
  insertInstr,
  isConst,
  Kind,
  kindOf,
  lastBlock,
  listFirst,
  loopOf,
  nextBlock,
  nextInstr,
  nextNode,
  opOf,
  parentOf,
  predCount,
  predIndex,
  prevBlock,
  replaceUses,
  STAGE_FRAGMENT,
  select,
  setSrc,
  src,
  srcCount,
  stage,
  unlinkInstr,
} from "../ir/index.ts";
import { isSingleBlock, keepArm, phiSource } from "./edit-tree.ts";
import { joinExits } from "./exits.ts";

const MAX_MOVED = 8;

/** Instructions that running an arm's block always would cost, or a large number where it must stay conditional. */
function costOf(block: u32): i32 {
  let cost = 0;
  for (let i = firstInstr(block); i != 0; i = nextInstr(i)) {
    const flags = opFlags(opOf(i));
    if (opOf(i) == Op.DEMOTE) {
      cost++;
      continue;
    }
    // Offset ops are memory accesses: also pure ones are not worth running for nothing.
    if ((flags & OpFlag.PURE) == 0 || (flags & OpFlag.OFFSET) != 0 || opOf(i) == Op.PHI) return 1000;
    cost++;
    if (cost > MAX_MOVED) return cost;
  }
  return cost;
}

function negated(cond: u32, at: u32): u32 {
  cursorAtEnd(at);
  return alu1(Op.INOT, cond);
}

/** A demote of an arm becomes one of the lanes that would have come there. */
function demoteWhere(i: u32, cond: u32, at: u32): void {
  if (srcCount(i) == 0) {
    addSrc(i, cond);
    return;
  }
  cursorAtEnd(at);
  setSrc(i, 0, alu2(Op.IAND, cond, src(i, 0)));
}

function convert(node: u32, before: u32): bool {
  if (!isSingleBlock(node, 0) || !isSingleBlock(node, 1)) return false;
  const yes = listFirst(node, 0);
  const no = listFirst(node, 1);
  const after = nextNode(node);
  if (predCount(after) != 2 || costOf(yes) + costOf(no) > MAX_MOVED) return false;
  const cond = condition(node);
  for (let side: u32 = 0; side < 2; side++) {
    const arm = listFirst(node, side);
    for (let i = firstInstr(arm); i != 0; i = firstInstr(arm)) {
      unlinkInstr(i);
      if (opOf(i) == Op.DEMOTE) demoteWhere(i, side == 0 ? cond : negated(cond, before), before);
      insertInstr(i, before, 0);
    }
  }
  cursorAtEnd(before);
  for (let i = firstInstr(after); i != 0 && opOf(i) == Op.PHI; i = firstInstr(after)) {
    replaceUses(i, select(cond, phiSource(i, after, yes), phiSource(i, after, no)));
    erase(i);
  }
  keepArm(node, 0);
  return true;
}

/** Instructions behind a discard that are looked at. */
const MAX_BEHIND: u32 = 512;

/** No lane sees another one: what leaves the shader ends, where all lanes come to the demote (`backend/exact.ts`). */
function isAlone(): bool {
  return (
    !hasMadeAny(Op.BALLOT, Op.WAVE_SCAN) &&
    !hasMade(Op.QUAD_PERM) &&
    !hasMadeAny(Op.IMAGE_SAMPLE_QUAD, Op.IMAGE_QUERY_LOD)
  );
}

/** A load whose bounds the hardware checks, whatever lane makes up its address. */
function isChecked(i: u32): bool {
  const op = opOf(i);
  if (op == Op.IMAGE_LOAD || op == Op.LOAD_TEXEL) return isConst(src(i, op == Op.LOAD_TEXEL ? 1 : 0));
  if ((op != Op.LOAD_SSBO && op != Op.LOAD_UBO) || !optionFlag(OptionFlag.ROBUST)) return false;
  return imm(i, 0) != DYNAMIC_SET && (srcCount(i) == 1 || isConst(src(i, 1)));
}

/**
 * True where a lane that has left may go through all blocks from `first` on as a helper: no loop, nothing that other lanes
 * would see of it, and no load whose address it makes up.
 */
function harmlessFrom(first: u32): bool {
  let count: u32 = 0;
  for (let b = first; b != 0; b = nextBlock(b)) {
    const n = nextNode(b);
    if ((n != 0 && kindOf(n) == Kind.LOOP) || ++count > MAX_BEHIND) return false;
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      if (++count > MAX_BEHIND) return false;
      const op = opOf(i);
      const flags = opFlags(op);
      if ((flags & OpFlag.WAVE) != 0 && op != Op.QUAD_PERM && op != Op.IMAGE_SAMPLE_QUAD) return false;
      if (isChecked(i)) continue;
      if ((flags & OpFlag.READS) != 0) return false;
      if ((flags & (OpFlag.OFFSET | OpFlag.WRITES)) == OpFlag.OFFSET && (srcCount(i) != 1 || !isConst(src(i, 0))))
        return false;
      if (op >= <u32>Op.IMAGE_SAMPLE && op <= <u32>Op.IMAGE_SAMPLES && (!isConst(src(i, 0)) || !isConst(src(i, 1))))
        return false;
      if ((op == Op.SSBO_SIZE || op == Op.TEXEL_COUNT) && srcCount(i) > 0) return false;
    }
  }
  return true;
}

/** An arm that holds a demote alone: its lanes go the other way as helpers, so that no lane waits for others. */
function convertDiscard(node: u32, before: u32): bool {
  for (let side: u32 = 0; side < 2; side++) {
    const arm = listFirst(node, side);
    const i = firstInstr(arm);
    if (!isSingleBlock(node, side) || i == 0 || opOf(i) != Op.DEMOTE || nextInstr(i) != 0) continue;
    if (loopOf(before) != 0 || predIndex(nextNode(node), arm) < 0) return false;
    if (!(parentOf(node) == 0 && isAlone()) && !harmlessFrom(listFirst(node, 1 - side))) return false;
    unlinkInstr(i);
    demoteWhere(i, side == 0 ? condition(node) : negated(condition(node), before), before);
    insertInstr(i, before, 0);
    keepArm(node, 1 - side);
    return true;
  }
  return false;
}

/** From the last loop to the first, so that inner ones come before those around them. */
function joinAllExits(): bool {
  let progress = false;
  let prev: u32 = 0;
  for (let b = lastBlock(); b != 0 && spend(1); b = prev) {
    prev = prevBlock(b);
    const n = nextNode(b);
    if (n != 0 && kindOf(n) == Kind.LOOP && joinExits(n)) progress = true;
  }
  return progress;
}

export function optIfConvert(): bool {
  if (!hasIfs()) return false;
  let progress = hasLoops() && joinAllExits();
  for (let b = entryBlock(); b != 0 && spend(1); b = nextBlock(b)) {
    for (let n = nextNode(b); n != 0 && kindOf(n) == Kind.IF && spend(1); n = nextNode(b)) {
      if (!convert(n, b) && !(stage() == STAGE_FRAGMENT && hasMade(Op.DEMOTE) && convertDiscard(n, b))) break;
      progress = true;
    }
  }
  return progress;
}
