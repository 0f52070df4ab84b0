/**
 * Threads paths whose next decision is known: within the arms of an if its condition is a constant, and an if behind
 * another whose arms decide it moves into them. Where both arms decide, its arms are appended to theirs; where one does and
 * leads to nothing, the whole if moves into the other. Nothing is copied. Between the two ifs only phis may stand.
 * `if %a { A } else { B }; %f = phi true, %c; if %f { } else { D }` → `if %a { A } else { B; if %c { } else { D } }`.
 * O(ifs * (depth + readers of the phis between them)).
 */
import { spend } from "../../base/index.ts";
import { Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import {
  blockOf,
  componentsOf,
  condition,
  constantBool,
  constBits,
  entryBlock,
  erase,
  firstInstr,
  firstUse,
  hasIfs,
  ifInstr,
  insertInstr,
  isConst,
  Kind,
  kindOf,
  lastBlock,
  listFirst,
  listLast,
  moveToEnd,
  newInstr,
  nextBlock,
  nextInstr,
  nextNode,
  nextUse,
  opOf,
  parentOf,
  pred,
  predCount,
  predIndex,
  prevBlock,
  setPred,
  setSrc,
  sideOf,
  sourceIndex,
  spliceList,
  unlinkInstr,
  unlinkNode,
  useBlock,
  useCount,
  userOf,
  widthOf,
} from "../ir/index.ts";
import { isSingleBlock, mergeBlocks, phiSource } from "./edit-tree.ts";

const UNKNOWN: u32 = 2;
/** Instructions and blocks of arms that are cheaper as selects. */
const MAX_COST: u32 = 16;

/** What a condition is behind arm `side` of the if `node` before block `mid`: 0, 1 or UNKNOWN. */
function decided(value: u32, node: u32, mid: u32, side: u32): u32 {
  if (value == condition(node)) return 1 - side;
  if (opOf(value) != Op.PHI || blockOf(value) != mid) return UNKNOWN;
  const given = phiSource(value, mid, listLast(node, side));
  if (isConst(given)) return constBits(given) & 1;
  return given == condition(node) ? 1 - side : UNKNOWN;
}

/** Side of the if `node` that a block stands below; UNKNOWN where it does not. */
function sideBelow(block: u32, node: u32): u32 {
  let n = block;
  while (n != 0 && parentOf(n) != node && spend(1)) n = parentOf(n);
  return n == 0 ? UNKNOWN : sideOf(n);
}

/** Readers of the if's condition in its arms read a constant; phis go on with it, which needs no move. */
function knowInArms(node: u32): bool {
  const cond = condition(node);
  let progress = false;
  let next: u32 = 0;
  for (let slot = firstUse(cond); slot != 0 && spend(1); slot = next) {
    next = nextUse(slot);
    const user = userOf(slot);
    if (user == ifInstr(node) || opOf(user) == Op.PHI) continue;
    const side = sideBelow(useBlock(slot), node);
    if (side == UNKNOWN) continue;
    setSrc(user, sourceIndex(slot), constantBool(side == 0));
    progress = true;
  }
  return progress;
}

/** What phi `i` of block `mid` is behind arm `side` of the if `node`; another value stays what it is. */
function behind(i: u32, node: u32, mid: u32, side: u32): u32 {
  return opOf(i) == Op.PHI && blockOf(i) == mid ? phiSource(i, mid, listLast(node, side)) : i;
}

/** Readers below the if `second` of the phis of `mid` before `until` read what they are behind arm `arm0` or `arm1` of `first`, by their side. */
function substitute(first: u32, mid: u32, until: u32, second: u32, arm0: u32, arm1: u32): void {
  for (let i = firstInstr(mid); i != until; i = nextInstr(i)) {
    let next: u32 = 0;
    for (let slot = firstUse(i); slot != 0 && spend(1); slot = next) {
      next = nextUse(slot);
      const side = sideBelow(useBlock(slot), second);
      if (side == UNKNOWN) continue;
      setSrc(userOf(slot), sourceIndex(slot), behind(i, first, mid, side == 0 ? arm0 : arm1));
    }
  }
}

/** Moves the phis of `mid` before `until` to the front of `to`, whose predecessors come from arm `side0` of `node` and the other. */
function movePhis(node: u32, mid: u32, until: u32, to: u32, side0: u32): void {
  for (let i = firstInstr(mid); i != until && spend(1); i = firstInstr(mid)) {
    const a = behind(i, node, mid, side0);
    const b = behind(i, node, mid, 1 - side0);
    unlinkInstr(i);
    if (useCount(i) == 0) {
      erase(i);
      continue;
    }
    setSrc(i, 0, a);
    setSrc(i, 1, b);
    insertInstr(i, to, firstInstr(to));
  }
}

/** Both arms of `first` decide `second`: arm 0 goes on with its arm `taken`, arm 1 with the other. */
function append(first: u32, mid: u32, second: u32, taken: u32): void {
  const after = nextNode(second);
  const end0 = listLast(first, 0);
  const end1 = listLast(first, 1);
  const start0 = listFirst(second, taken);
  const start1 = listFirst(second, 1 - taken);
  setSrc(ifInstr(second), 0, 0);
  substitute(first, mid, 0, second, taken, 1 - taken);
  movePhis(first, mid, 0, after, pred(after, 0) == listLast(second, taken) ? 0 : 1);
  spliceList(second, taken, end0);
  spliceList(second, 1 - taken, end1);
  unlinkNode(second);
  unlinkNode(mid);
  mergeBlocks(end0, start0);
  mergeBlocks(end1, start1);
}

/** Arm `known` of `first` decides `second`, by its empty arm `taken`: the other arm takes `second` in, and `mid` behind it. */
function nest(first: u32, mid: u32, second: u32, known: u32, taken: u32): void {
  const other: u32 = 1 - known;
  const after = nextNode(second);
  const end = listLast(first, other);
  const empty = listLast(second, taken);
  setSrc(ifInstr(second), 0, behind(condition(second), first, mid, other));
  // What both arms of `second` give the block after it now comes from a phi of `mid`.
  let inner: u32 = 0;
  for (let i = firstInstr(after); i != 0 && opOf(i) == Op.PHI && spend(1); i = nextInstr(i)) {
    const direct = behind(phiSource(i, after, empty), first, mid, known);
    const phi = newInstr(Op.PHI, widthOf(i), componentsOf(i), 2);
    for (let side: u32 = 0; side < 2; side++) {
      setSrc(phi, side, behind(phiSource(i, after, listLast(second, side)), first, mid, other));
    }
    setSrc(i, 0, direct);
    setSrc(i, 1, phi);
    insertInstr(phi, mid, 0);
    if (inner == 0) inner = phi;
  }
  substitute(first, mid, inner, second, other, other);
  movePhis(first, mid, inner, after, known);
  setPred(after, 0, listLast(first, known));
  setPred(after, 1, mid);
  setPred(listFirst(second, 0), 0, end);
  setPred(listFirst(second, 1), 0, end);
  setPred(mid, 0, listLast(second, 0));
  setPred(mid, 1, listLast(second, 1));
  moveToEnd(second, first, other);
  moveToEnd(mid, first, other);
}

/** Both arms fall into the block behind. */
function fallsThrough(node: u32, after: u32): bool {
  return predCount(after) == 2 && predIndex(after, listLast(node, 0)) >= 0 && predIndex(after, listLast(node, 1)) >= 0;
}

function onlyPhis(block: u32): bool {
  let i = firstInstr(block);
  while (i != 0 && opOf(i) == Op.PHI) i = nextInstr(i);
  return i == 0;
}

function isEmptyArm(node: u32, side: u32): bool {
  return isSingleBlock(node, side) && firstInstr(listFirst(node, side)) == 0;
}

/** True where the arms of an if are more than opt-if-convert can make values of in the end. */
function isHeavy(node: u32): bool {
  const end = nextNode(node);
  let cost: u32 = 0;
  for (let b = listFirst(node, 0); b != end; b = nextBlock(b)) {
    const inner = nextNode(b);
    if (inner != 0 && kindOf(inner) == Kind.LOOP) return true;
    cost++;
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      const flags = opFlags(opOf(i));
      if ((flags & OpFlag.PURE) == 0 || (flags & OpFlag.OFFSET) != 0 || ++cost > MAX_COST) return true;
    }
    if (cost > MAX_COST) return true;
  }
  return false;
}

/** Threads the if behind `first`; true when that changed the tree or its condition. */
function thread(first: u32): bool {
  const mid = nextNode(first);
  const second = nextNode(mid);
  if (second == 0 || kindOf(second) != Kind.IF || !onlyPhis(mid)) return false;
  if (!fallsThrough(first, mid) || !fallsThrough(second, nextNode(second))) return false;
  const cond = condition(second);
  if (isConst(cond)) return false;
  const on0 = decided(cond, first, mid, 0);
  const on1 = decided(cond, first, mid, 1);
  if (on0 == UNKNOWN && on1 == UNKNOWN) return false;
  if (on0 == on1) {
    setSrc(ifInstr(second), 0, constantBool(on0 != 0));
    return true;
  }
  if (on0 != UNKNOWN && on1 != UNKNOWN) {
    append(first, mid, second, 1 - on0);
    return true;
  }
  const known: u32 = on0 != UNKNOWN ? 0 : 1;
  const taken: u32 = 1 - (known == 0 ? on0 : on1);
  if (!isEmptyArm(second, taken) || !isHeavy(first)) return false;
  nest(first, mid, second, known, taken);
  return true;
}

export function optJumpThread(): bool {
  if (!hasIfs()) return false;
  let progress = false;
  // From the end first: an if that moves has taken in what stood behind it, so that in a chain each moves once.
  for (let b = lastBlock(); b != 0 && spend(1); b = prevBlock(b)) {
    const n = nextNode(b);
    if (n == 0 || kindOf(n) != Kind.IF) continue;
    while (thread(n) && spend(1)) progress = true;
  }
  for (let b = entryBlock(); b != 0 && spend(1); b = nextBlock(b)) {
    const n = nextNode(b);
    if (n == 0 || kindOf(n) != Kind.IF) continue;
    const cond = condition(n);
    if (useCount(cond) > 1 && !isConst(cond) && knowInArms(n)) progress = true;
    while (thread(n) && spend(1)) progress = true;
  }
  return progress;
}
