/**
 * Unrolls loops that go round a known, small number of times: header, one exit there, and a body and cont of one block
 * each. The header's condition is computed for one round after the other by the fold expressions, from the constants that
 * its phis start with. `loop { %1 = phi 0, %3; … %1 < 4 … }` → four copies of the body in front of what follows. A loop
 * whose end does not show within MAX_ROUNDS stays as it is. O(instructions of the loop * rounds).
 */
import { failed, spend, U32Column } from "../../base/index.ts";
import { foldOp, Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import {
  blockOf,
  componentsOf,
  condition,
  constBits,
  entryBlock,
  erase,
  firstInstr,
  firstUse,
  flagsOf,
  imm,
  insertInstr,
  instrPlace,
  instrScratch,
  isConst,
  jumpOf,
  Kind,
  kindOf,
  listFirst,
  listLast,
  newInstr,
  nextBlock,
  nextInstr,
  nextNode,
  nextUse,
  opOf,
  parentOf,
  predCount,
  predIndex,
  prevNode,
  replaceUses,
  setFlags,
  setImm,
  setSrc,
  sourceIndex,
  src,
  srcCount,
  useBlock,
  userOf,
  widthOf,
} from "../ir/index.ts";
import { PASS_BASE } from "../memory-map.ts";
import { isSingleBlock, removeLoop } from "./edit-tree.ts";

const MAX_ROUNDS: u32 = 32;
/** Instructions that the unrolled loop may have. */
const MAX_COPIES: u32 = 400;

/** By instruction: the value where it is known, and the round in which it is. */
const bits = changetype<U32Column>(PASS_BASE);
const knownIn = changetype<U32Column>(PASS_BASE + 0x40_0000);
/** Values of the header's phis for the next round. */
const incoming = changetype<U32Column>(PASS_BASE + 0x80_0000);
const MAX_PHIS: u32 = 64;

let header: u32 = 0;
let body: u32 = 0;
let cont: u32 = 0;
/** The condition's value that leaves the loop. */
let exitsOn: u32 = 0;
let round: u32 = 0;

/** True when the block's only instruction is a break. */
function breaksAtOnce(block: u32): bool {
  const first = firstInstr(block);
  return first != 0 && opOf(first) == Op.BREAK;
}

/** Finds header, body, cont and exit of a loop of the shape above. */
function hasShape(loop: u32): bool {
  header = listFirst(loop, 0);
  const test = nextNode(header);
  if (test == 0 || kindOf(test) != Kind.IF || !isSingleBlock(test, 0) || !isSingleBlock(test, 1)) return false;
  body = nextNode(test);
  cont = listFirst(loop, 1);
  if (body != listLast(loop, 0) || jumpOf(body) != 0 || !isSingleBlock(loop, 1) || jumpOf(cont) != 0) return false;
  const yes = listFirst(test, 0);
  const no = listFirst(test, 1);
  if (breaksAtOnce(yes) && firstInstr(no) == 0) exitsOn = 1;
  else if (breaksAtOnce(no) && firstInstr(yes) == 0) exitsOn = 0;
  else return false;
  if (predCount(nextNode(loop)) != 1 || predCount(header) != 2 || predCount(cont) != 1) return false;
  return firstPhi(body) == 0 && firstPhi(cont) == 0;
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
    if (opOf(i) == Op.PHI || (opFlags(opOf(i)) & OpFlag.FOLDABLE) == 0) continue;
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

/** How many times the body runs, or -1. Rounds are numbered on from `round`, which no value is known in yet. */
function trips(loop: u32): i32 {
  const first = round + 1;
  round = first;
  enterRound(<u32>predIndex(header, prevNode(loop)), first + 1);
  const back = <u32>predIndex(header, cont);
  const test = condition(nextNode(header));
  for (let n: u32 = 0; n <= MAX_ROUNDS; n++) {
    compute(header);
    if (!isKnown(test)) return -1;
    if (knownBits(test) == exitsOn) return <i32>n;
    compute(body);
    compute(cont);
    enterRound(back, round + 1);
  }
  return -1;
}

/** Instructions of a block that have copies; a large number where one cannot be copied. */
function sizeOf(block: u32): u32 {
  let size: u32 = 0;
  for (let i = firstInstr(block); i != 0; i = nextInstr(i)) if (opOf(i) != Op.PHI) size++;
  return size;
}

/** Whether a value is made in the loop; instrScratch is then what stands for it in the current copy. */
function isInside(value: u32): bool {
  const b = blockOf(value);
  return b == header || b == body || b == cont;
}
function mapped(value: u32): u32 {
  return isInside(value) ? instrScratch[value] : value;
}

function copyBlock(block: u32, to: u32): void {
  for (let i = firstInstr(block); i != 0 && spend(1) && !failed(); i = nextInstr(i)) {
    if (opOf(i) == Op.PHI) continue;
    const count = srcCount(i);
    const copy = newInstr(opOf(i), widthOf(i), componentsOf(i), count);
    for (let k: u32 = 0; k < 4; k++) setImm(copy, k, imm(i, k));
    for (let k: u32 = 0; k < count; k++) if (src(i, k) != 0) setSrc(copy, k, mapped(src(i, k)));
    setFlags(copy, flagsOf(i));
    instrPlace[copy] = instrPlace[i];
    insertInstr(copy, to, 0);
    instrScratch[i] = copy;
    knownIn[copy] = 0;
  }
}

/** What stands for the phis in the next copy: their sources on the edge of predecessor k. */
function advance(k: u32): void {
  let n: u32 = 0;
  for (let i = firstPhi(header); i != 0 && opOf(i) == Op.PHI; i = nextInstr(i)) incoming[n++] = mapped(src(i, k));
  n = 0;
  for (let i = firstPhi(header); i != 0 && opOf(i) == Op.PHI; i = nextInstr(i)) instrScratch[i] = incoming[n++];
}

/** Readers outside the loop of what the header makes read the last copy. */
function redirect(loop: u32): void {
  for (let i = firstInstr(header); i != 0; i = nextInstr(i)) {
    let next: u32 = 0;
    for (let slot = firstUse(i); slot != 0 && spend(1); slot = next) {
      next = nextUse(slot);
      let n = useBlock(slot);
      while (n != 0 && n != loop) n = parentOf(n);
      if (n != loop) setSrc(userOf(slot), sourceIndex(slot), instrScratch[i]);
    }
  }
}

function unroll(loop: u32, count: u32): void {
  const before = prevNode(loop);
  const after = nextNode(loop);
  advance(<u32>predIndex(header, before));
  const back = <u32>predIndex(header, cont);
  for (let n: u32 = 0; n < count && !failed(); n++) {
    copyBlock(header, before);
    copyBlock(body, before);
    copyBlock(cont, before);
    advance(back);
  }
  copyBlock(header, before);
  for (let i = firstPhi(after); i != 0; i = firstPhi(after)) {
    replaceUses(i, src(i, 0));
    erase(i);
  }
  redirect(loop);
  removeLoop(loop);
}

function countPhis(): u32 {
  let n: u32 = 0;
  for (let i = firstPhi(header); i != 0 && opOf(i) == Op.PHI; i = nextInstr(i)) n++;
  return n;
}

function tryLoop(loop: u32): bool {
  if (!hasShape(loop) || countPhis() > MAX_PHIS) return false;
  const size = sizeOf(header) + sizeOf(body) + sizeOf(cont);
  if (size > MAX_COPIES) return false;
  const count = trips(loop);
  if (count < 0 || <u32>count * size > MAX_COPIES) return false;
  unroll(loop, <u32>count);
  return true;
}

export function optUnroll(): bool {
  let progress = false;
  round = 0;
  let any = false;
  for (let b = entryBlock(); b != 0 && spend(1); b = nextBlock(b)) {
    const n = nextNode(b);
    if (n != 0 && kindOf(n) == Kind.LOOP) any = true;
  }
  if (!any) return false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b))
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) knownIn[i] = 0;
  for (let b = entryBlock(); b != 0 && spend(1) && !failed(); b = nextBlock(b)) {
    // The block takes in what followed the loop: look at it again.
    for (let n = nextNode(b); n != 0 && kindOf(n) == Kind.LOOP && !failed(); n = nextNode(b)) {
      if (!tryLoop(n)) break;
      progress = true;
    }
  }
  return progress;
}
