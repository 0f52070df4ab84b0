/**
 * Unrolls loops that go round a known, small number of times: an exit whose test stands in no other if or loop, and no
 * continue. Where there are other ways out, the copies stand in a loop that never goes round. The test's condition is
 * computed for one round after the other by the fold expressions, from the constants that the header's phis start with.
 * `loop { %1 = phi 0, %3; … %1 < 4 … }` → four copies of the body in front of what
 * follows. Inner loops come first. A loop whose end does not show within MAX_ROUNDS stays as it is.
 * O(instructions of the loop * rounds).
 */
import { failed, spend, U32Column } from "../../base/index.ts";
import { foldOp, Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import {
  addPred,
  addSrc,
  appendBlock,
  appendLoop,
  condition,
  constBits,
  entryBlock,
  erase,
  firstInstr,
  firstUse,
  hasLoops,
  insertInstr,
  instrScratch,
  isConst,
  jumpOf,
  Kind,
  kindOf,
  lastBlock,
  listFirst,
  listLast,
  newInstr,
  newList,
  nextBlock,
  nextInstr,
  nextNode,
  nextUse,
  nodeLimit,
  nodeScratch,
  opOf,
  parentOf,
  pred,
  predCount,
  predIndex,
  prevBlock,
  prevNode,
  replaceUses,
  setSrc,
  sideOf,
  sourceIndex,
  spliceList,
  src,
  srcCount,
  useBlock,
  userOf,
  widthOf,
} from "../ir/index.ts";
import { PASS_BASE } from "../memory-map.ts";
import { beginCopies, copiesEnd, copyNodes, endCopies, isOriginal, mapped, placeCopies } from "./copy-nodes.ts";
import { isSingleBlock, removeLoop, removeNode } from "./edit-tree.ts";

const MAX_ROUNDS: u32 = 32;
/** Instructions that the unrolled loop may have. */
const MAX_COPIES: u32 = 800;
/**
 * Instructions that all unrolled loops of a shader may have: about what the 32 KB instruction cache holds. What is more
 * runs slower, and a shader of thousands of loops would grow over the core's limits.
 */
const MAX_ALL_COPIES: u32 = 6000;

/** By instruction: the value where it is known, and the round in which it is. */
const bits = changetype<U32Column>(PASS_BASE);
const knownIn = changetype<U32Column>(PASS_BASE + 0x40_0000);
/** Values of the header's phis for the next round. */
const incoming = changetype<U32Column>(PASS_BASE + 0x80_0000);
const MAX_PHIS: u32 = 64;

let header: u32 = 0;
/** The if whose one arm breaks, and the condition's value that does so. */
let exit: u32 = 0;
let exitsOn: u32 = 0;
let round: u32 = 0;
/** Instructions of the loops unrolled so far. */
let copied: u32 = 0;

/** Before the first pass over a shader. */
export function resetUnrolled(): void {
  copied = 0;
}

/** True when the block's only instruction is a break. */
function breaksAtOnce(block: u32): bool {
  const first = firstInstr(block);
  return first != 0 && opOf(first) == Op.BREAK;
}

/** True for an if that leaves the loop on one side and does nothing on the other; sets `exitsOn`. */
function isExit(test: u32): bool {
  if (kindOf(test) != Kind.IF || !isSingleBlock(test, 0) || !isSingleBlock(test, 1)) return false;
  const yes = listFirst(test, 0);
  const no = listFirst(test, 1);
  if (breaksAtOnce(yes) && firstInstr(no) == 0) exitsOn = 1;
  else if (breaksAtOnce(no) && firstInstr(yes) == 0) exitsOn = 0;
  else return false;
  return true;
}

/** Finds header and exit of a loop of the shape above. */
function hasShape(loop: u32): bool {
  header = listFirst(loop, 0);
  const cont = listFirst(loop, 1);
  // Each continue is an edge to cont, the only one where the body's end cannot be reached.
  if (predCount(header) != 2 || predCount(cont) != 1 || pred(cont, 0) != listLast(loop, 0)) return false;
  if (jumpOf(listLast(loop, 0)) != 0 || jumpOf(listLast(loop, 1)) != 0) return false;
  exit = 0;
  for (let side: u32 = 0; side < 2; side++) {
    for (let n = listFirst(loop, side); n != 0 && exit == 0 && spend(1); n = nextNode(n)) if (isExit(n)) exit = n;
  }
  return exit != 0;
}
function firstPhi(block: u32): u32 {
  const first = firstInstr(block);
  return first != 0 && opOf(first) == Op.PHI ? first : 0;
}

function isKnown(value: u32): bool {
  return isConst(value) || knownIn[value] == round;
}
function knownBits(value: u32): u32 {
  return isConst(value) ? constBits(value) : bits[value];
}
function learn(value: u32, known: u32): void {
  bits[value] = known;
  knownIn[value] = round;
}

/** Computes what is known of a block's instructions. */
function compute(block: u32): void {
  for (let i = firstInstr(block); i != 0 && spend(1); i = nextInstr(i)) {
    if (opOf(i) == Op.PHI) {
      if (predCount(block) == 1 && isKnown(src(i, 0))) learn(i, knownBits(src(i, 0)));
      continue;
    }
    if ((opFlags(opOf(i)) & OpFlag.FOLDABLE) == 0) continue;
    const count = srcCount(i);
    let known = true;
    for (let k: u32 = 0; k < count && known; k++) known = isKnown(src(i, k));
    if (!known) continue;
    const a = knownBits(src(i, 0));
    const b = count > 1 ? knownBits(src(i, 1)) : 0;
    const c = count > 2 ? knownBits(src(i, 2)) : 0;
    const result = foldOp(opOf(i), a, b, c);
    learn(i, widthOf(i) == 1 ? result & 1 : result);
  }
}

/** The blocks of a list that run in each round, from `first` to before `stop` (0: to the end). */
function computeList(first: u32, stop: u32): void {
  for (let n = first; n != 0 && n != stop; n = nextNode(n)) if (kindOf(n) == Kind.BLOCK) compute(n);
}

/** The phis' values on the edge of predecessor k, for round `next`. */
function enterRound(k: u32, next: u32): void {
  let count: u32 = 0;
  for (let i = firstPhi(header); i != 0 && opOf(i) == Op.PHI && count < MAX_PHIS; i = nextInstr(i), count++) {
    const v = src(i, k);
    incoming[2 * count] = isKnown(v) ? 1 : 0;
    incoming[2 * count + 1] = isKnown(v) ? knownBits(v) : 0;
  }
  round = next;
  let n: u32 = 0;
  for (let i = firstPhi(header); i != 0 && opOf(i) == Op.PHI && n < count; i = nextInstr(i), n++) {
    if (incoming[2 * n] != 0) learn(i, incoming[2 * n + 1]);
  }
}

/** How many rounds are whole, or -1. Rounds are numbered on from `round`, which no value is known in yet. */
function trips(loop: u32): i32 {
  const cont = listFirst(loop, 1);
  const inCont = sideOf(exit) == 1;
  round++;
  enterRound(<u32>predIndex(header, prevNode(loop)), round + 1);
  const back = <u32>predIndex(header, listLast(loop, 1));
  const test = condition(exit);
  for (let n: u32 = 0; n <= MAX_ROUNDS; n++) {
    computeList(header, inCont ? 0 : exit);
    if (inCont) computeList(cont, exit);
    if (!isKnown(test)) return -1;
    if (knownBits(test) == exitsOn) return <i32>n;
    computeList(nextNode(exit), 0);
    if (!inCont) computeList(cont, 0);
    enterRound(back, round + 1);
  }
  return -1;
}

/** Instructions and branches of the loop; above MAX_COPIES it stops counting. */
function sizeOf(loop: u32): u32 {
  let size: u32 = 0;
  const end = nextNode(loop);
  for (let b = header; b != end && size <= MAX_COPIES && spend(1); b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) if (opOf(i) != Op.PHI) size++;
    if (nextNode(b) != 0) size++;
  }
  return size;
}

/** What stands for the header's phis in the next copy: their sources on the edge of predecessor k. */
function advance(k: u32): void {
  let n: u32 = 0;
  for (let i = firstPhi(header); i != 0 && opOf(i) == Op.PHI; i = nextInstr(i)) incoming[n++] = mapped(src(i, k));
  n = 0;
  for (let i = firstPhi(header); i != 0 && opOf(i) == Op.PHI; i = nextInstr(i)) instrScratch[i] = incoming[n++];
}

/** Readers outside the loop of what a block makes read the last copy. */
function redirect(block: u32): void {
  for (let i = firstInstr(block); i != 0; i = nextInstr(i)) {
    let next: u32 = 0;
    for (let slot = firstUse(i); slot != 0 && spend(1); slot = next) {
      next = nextUse(slot);
      if (!isOriginal(useBlock(slot))) setSrc(userOf(slot), sourceIndex(slot), instrScratch[i]);
    }
  }
}
/**
 * What runs before the exit may be read behind the loop, and so may what inner loops make there: their headers dominate
 * what follows them.
 */
function redirectBlocks(first: u32, last: u32): void {
  for (let b = first; b != 0 && spend(1); b = nextBlock(b)) {
    redirect(b);
    if (b == last) return;
  }
}

function unroll(loop: u32, count: u32): void {
  const after = nextNode(loop);
  const cont = listFirst(loop, 1);
  const inCont = sideOf(exit) == 1;
  const back = <u32>predIndex(header, listLast(loop, 1));
  beginCopies(loop, prevNode(loop));
  advance(<u32>predIndex(header, prevNode(loop)));
  for (let n: u32 = 0; !failed(); n++) {
    copyNodes(header, inCont ? 0 : exit, true);
    if (inCont) copyNodes(cont, exit, false);
    if (n == count) break;
    copyNodes(nextNode(exit), 0, false);
    if (!inCont) copyNodes(cont, 0, false);
    advance(back);
  }
  if (failed()) return;
  endCopies(loop);
  for (let i = firstPhi(after); i != 0; i = firstPhi(after)) {
    replaceUses(i, src(i, 0));
    erase(i);
  }
  redirectBlocks(header, inCont ? listLast(loop, 0) : prevNode(exit));
  if (inCont) redirectBlocks(cont, prevNode(exit));
  removeLoop(loop);
}

/** Blocks that break out of the loop beside the exit's arm, as far as they are few; above MAX_BREAKS their number. */
const MAX_BREAKS: u32 = 8;
const breaks = memory.data(8 * 4, 4);

function countBreaks(after: u32): u32 {
  let n: u32 = 0;
  for (let k: u32 = 0; k < predCount(after); k++) {
    const from = pred(after, k);
    if (parentOf(from) == exit) continue;
    if (n < MAX_BREAKS) store<u32>(breaks + ((<usize>n) << 2), from);
    n++;
  }
  return n;
}

/** Whether what the loop computes is read behind it by the phis of the block that follows alone. */
function leavesByPhis(loop: u32): bool {
  const end = nextNode(loop);
  let all = true;
  for (let b = header; b != end && spend(1); b = nextBlock(b)) nodeScratch[b] = b;
  for (let b = header; b != end && all && spend(1); b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && all; i = nextInstr(i)) {
      for (let slot = firstUse(i); slot != 0 && all; slot = nextUse(slot)) all = isOriginal(useBlock(slot));
    }
  }
  for (let b = header; b != end && spend(1); b = nextBlock(b)) nodeScratch[b] = 0;
  return all;
}

/** A copy of block `original` that breaks, or goes on to what follows in another way. */
function leave(after: u32, original: u32, copy: u32): void {
  const k = <u32>predIndex(after, original);
  addPred(after, copy);
  for (let i = firstPhi(after); i != 0 && opOf(i) == Op.PHI; i = nextInstr(i)) addSrc(i, mapped(src(i, k)));
}

function unmarkBreaks(count: u32): void {
  for (let k: u32 = 0; k < count; k++) {
    const b = load<u32>(breaks + ((<usize>k) << 2));
    nodeScratch[b] = b;
  }
}
function leaveByBreaks(after: u32, count: u32): void {
  for (let k: u32 = 0; k < count; k++) {
    const b = load<u32>(breaks + ((<usize>k) << 2));
    if (nodeScratch[b] != b) leave(after, b, nodeScratch[b]);
  }
}

/** The copies in a loop of one round, out of which the breaks lead. */
function unrollWithin(loop: u32, count: u32, ways: u32): void {
  const before = prevNode(loop);
  const after = nextNode(loop);
  const cont = listFirst(loop, 1);
  const inCont = sideOf(exit) == 1;
  const back = <u32>predIndex(header, listLast(loop, 1));
  const place = newList();
  const around = appendLoop(place, 0);
  const first = appendBlock(around, 0);
  appendBlock(around, 1);
  beginCopies(loop, first);
  advance(<u32>predIndex(header, before));
  for (let n: u32 = 0; !failed(); n++) {
    unmarkBreaks(ways);
    copyNodes(header, inCont ? 0 : exit, true);
    if (inCont) copyNodes(cont, exit, false);
    if (n == count) break;
    copyNodes(nextNode(exit), 0, false);
    if (!inCont) copyNodes(cont, 0, false);
    leaveByBreaks(after, ways);
    advance(back);
  }
  if (failed()) return;
  leaveByBreaks(after, ways);
  leave(after, listFirst(exit, exitsOn != 0 ? 0 : 1), copiesEnd());
  insertInstr(newInstr(Op.BREAK, 0, 0, 0), copiesEnd(), 0);
  placeCopies(first);
  spliceList(place, 0, before);
  addPred(first, before);
  removeNode(loop);
}

function countPhis(): u32 {
  let n: u32 = 0;
  for (let i = firstPhi(header); i != 0 && opOf(i) == Op.PHI; i = nextInstr(i)) n++;
  return n;
}

function tryLoop(loop: u32): bool {
  if (!hasShape(loop) || countPhis() > MAX_PHIS) return false;
  const size = sizeOf(loop);
  if (size > MAX_COPIES) return false;
  const count = trips(loop);
  if (count < 0 || <u32>count * size > MAX_COPIES) return false;
  // a loop that ends in its first round leaves less than there was
  const growth = count > 1 ? <u32>count * size : 0;
  if (copied + growth > MAX_ALL_COPIES) return false;
  const ways = countBreaks(nextNode(loop));
  if (ways == 0) {
    copied += growth;
    unroll(loop, <u32>count);
    return true;
  }
  if (ways > MAX_BREAKS || !leavesByPhis(loop)) return false;
  copied += growth;
  unrollWithin(loop, <u32>count, ways);
  return true;
}

export function optUnroll(): bool {
  if (!hasLoops()) return false;
  let progress = false;
  round = 0;
  let any = false;
  for (let b = entryBlock(); b != 0 && spend(1); b = nextBlock(b)) {
    const n = nextNode(b);
    if (n != 0 && kindOf(n) == Kind.LOOP) any = true;
  }
  if (!any) return false;
  for (let n: u32 = 0; n < nodeLimit(); n++) nodeScratch[n] = 0;
  for (let b = entryBlock(); b != 0; b = nextBlock(b))
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) knownIn[i] = 0;
  // Backwards, so that inner loops and those that follow come before the block in front of them takes their place.
  let prev: u32 = 0;
  for (let b = lastBlock(); b != 0 && spend(1) && !failed(); b = prev) {
    prev = prevBlock(b);
    const n = nextNode(b);
    if (n != 0 && kindOf(n) == Kind.LOOP && tryLoop(n)) progress = true;
  }
  return progress;
}
