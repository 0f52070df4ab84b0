/**
 * What the checker of allocations (`check`) knows beside the final code, kept in checked builds only: the operands of
 * each instruction as selection named them, whatever registers, slots and forms they got since. An instruction that was
 * removed because its effect is there without it leaves a ghost in front of what comes next, so that the checker meets it
 * in its place. The lifter's tables, which are dead, have the room.
 */
import { Field4, Field8, U32Column } from "../../base/index.ts";
import { OP_COUNT, Op, OpFlag, opFlags } from "../../gen/isa-ops.ts";
import { LIFT_BASE } from "../memory-map.ts";
import {
  bFirst,
  bLast,
  bOrder,
  MAX_MBLOCKS,
  MAX_MINSTRS,
  mBlock,
  mDst0,
  mDst1,
  mImm,
  mMods,
  mNext,
  mOp,
  mPlace,
  mPrev,
  mSrc0,
  mSrc1,
  mSrc2,
  mSrc3,
} from "./columns.ts";

const NAMES: usize = LIFT_BASE;
const GHOSTS: usize = NAMES + ((<usize>MAX_MINSTRS) << 5);
const BLOCK_GHOSTS: usize = GHOSTS + ((<usize>MAX_MINSTRS) << 4);
const ENDS: usize = BLOCK_GHOSTS + ((<usize>MAX_MBLOCKS) << 3);
export const NAMED_END: usize = ENDS + 5 * ((<usize>MAX_MBLOCKS) << 2);

/** Words of a row of names: `mDst0`, `mDst1`, then the sources. */
export const DST0: u32 = 0;
export const DST1: u32 = 1;
export const SRC0: u32 = 2;
const OP: u32 = 6;
/** The move whose work this one does as well; 0 for none. */
const names6 = changetype<Field8>(NAMES + 4 * 6);
const names7 = changetype<Field8>(NAMES + 4 * 7);

/** Of `OP`: nothing is known of it. */
const UNNAMED: u32 = 0;
/** A move between a register and a slot, made by `spill`; its names are the value that it moves. */
const MOVE: u32 = 0xffffffff;

/** First and last ghost in front of an instruction; the next ghost of its list; whether it is to leave one. */
const ghostFirst = changetype<Field4>(GHOSTS);
const ghostLast = changetype<Field4>(GHOSTS + 4);
const ghostNext = changetype<Field4>(GHOSTS + 8);
const ghostKept = changetype<Field4>(GHOSTS + 12);
/** Ghosts behind the last instruction of a block. */
const tailFirst = changetype<U32Column>(BLOCK_GHOSTS);
const tailLast = changetype<U32Column>(BLOCK_GHOSTS + ((<usize>MAX_MBLOCKS) << 2));

/** How selection ended a block: its branch (or s_endpgm) and the block that it goes to; 0 where control falls on. */
export const endOp = changetype<U32Column>(ENDS);
export const endTarget = changetype<U32Column>(ENDS + ((<usize>MAX_MBLOCKS) << 2));
/** What narrows EXEC in front of that end, and the comparison that makes its mask where that stands in front of it; or 0. */
export const endNarrows = changetype<U32Column>(ENDS + 2 * ((<usize>MAX_MBLOCKS) << 2));
export const endCompares = changetype<U32Column>(ENDS + 3 * ((<usize>MAX_MBLOCKS) << 2));
/** The block whose instructions stand at the end of this one as well, as its branch went there; 0 for none. */
export const endRepeats = changetype<U32Column>(ENDS + 4 * ((<usize>MAX_MBLOCKS) << 2));

function nameAt(i: u32, word: u32): usize {
  return NAMES + ((<usize>i) << 5) + ((<usize>word) << 2);
}

/** The operand of this word of the row as it was named. */
export function nameOf(i: u32, word: u32): u32 {
  return load<u32>(nameAt(i, word));
}
/** Which op it was when it was named; of named instructions only. */
export function namedOp(i: u32): u32 {
  return names6[i] - 1;
}
export function isNamed(i: u32): bool {
  return names6[i] != UNNAMED && names6[i] != MOVE;
}
export function isSpillMove(i: u32): bool {
  return names6[i] == MOVE;
}
export function joinedMove(i: u32): u32 {
  return names7[i];
}
export function firstGhost(i: u32): u32 {
  return ghostFirst[i];
}
export function nextGhost(ghost: u32): u32 {
  return ghostNext[ghost];
}
export function firstTailGhost(b: u32): u32 {
  return tailFirst[b];
}

export function newNames(i: u32): void {
  names6[i] = UNNAMED;
  names7[i] = 0;
  ghostFirst[i] = 0;
  ghostLast[i] = 0;
  ghostNext[i] = 0;
  ghostKept[i] = 0;
}
export function newBlockNames(b: u32): void {
  tailFirst[b] = 0;
  tailLast[b] = 0;
  endOp[b] = 0;
  endTarget[b] = 0;
  endNarrows[b] = 0;
  endCompares[b] = 0;
  endRepeats[b] = 0;
}

/** Whether control does not simply go on behind the instruction. */
export function endsBlock(op: u32): bool {
  return op < OP_COUNT && (opFlags(op) & (OpFlag.Branch | OpFlag.Terminator)) != 0;
}

/** Takes down how the blocks end, before anything but selection has touched them. */
export function nameEnds(layoutLength: u32): void {
  for (let k: u32 = 0; k < layoutLength; k++) {
    const b = bOrder[k];
    let i = bLast[b];
    if (i != 0 && endsBlock(mOp[i])) {
      endOp[b] = mOp[i];
      endTarget[b] = mImm[i];
      i = mPrev[i];
    }
    if (i == 0 || (mOp[i] != <u32>Op.s_and_saveexec_b32 && mOp[i] != <u32>Op.s_andn1_saveexec_b32)) continue;
    endNarrows[b] = mOp[i];
    const compare = mPrev[i];
    if (compare != 0 && mDst0[compare] == mSrc0[i]) endCompares[b] = mOp[compare];
  }
}

function nameInstr(i: u32): void {
  store<u32>(nameAt(i, DST0), mDst0[i]);
  store<u32>(nameAt(i, DST1), mDst1[i]);
  store<u32>(nameAt(i, SRC0), mSrc0[i]);
  store<u32>(nameAt(i, SRC0 + 1), mSrc1[i]);
  store<u32>(nameAt(i, SRC0 + 2), mSrc2[i]);
  store<u32>(nameAt(i, SRC0 + 3), mSrc3[i]);
  store<u32>(nameAt(i, OP), mOp[i] + 1);
}

/** Takes down the operands of all instructions that have no names yet. */
export function nameOperands(layoutLength: u32): void {
  for (let k: u32 = 0; k < layoutLength; k++) {
    for (let i = bFirst[bOrder[k]]; i != 0; i = mNext[i]) if (names6[i] == UNNAMED) nameInstr(i);
  }
}

/** `i` moves the value that was named `operand`. */
export function nameMove(i: u32, operand: u32): void {
  for (let word = DST0; word < OP; word++) store<u32>(nameAt(i, word), operand);
  store<u32>(nameAt(i, OP), MOVE);
}

/** `i` got another op that reads the same sources. */
export function nameOp(i: u32): void {
  if (isNamed(i)) names6[i] = mOp[i] + 1;
}
/** `i` is about to be removed, as what it does holds without it. */
export function leaveGhost(i: u32): void {
  ghostKept[i] = 1;
}
/** `i` does what `j` did, too. */
export function joinMoves(i: u32, j: u32): void {
  names7[i] = j;
}

/** Hands the ghosts of an instruction, and itself where it leaves one, to what comes behind it in its block. */
export function removedInstr(i: u32): void {
  let first = ghostFirst[i];
  let last = ghostLast[i];
  if (ghostKept[i] != 0) {
    ghostNext[i] = 0;
    if (last == 0) first = i;
    else ghostNext[last] = i;
    last = i;
  }
  ghostFirst[i] = 0;
  ghostLast[i] = 0;
  if (first == 0) return;
  const next = mNext[i];
  const b = mBlock[i];
  if (next == 0) {
    ghostNext[last] = tailFirst[b];
    tailFirst[b] = first;
    if (tailLast[b] == 0) tailLast[b] = last;
    return;
  }
  ghostNext[last] = ghostFirst[next];
  ghostFirst[next] = first;
  if (ghostLast[next] == 0) ghostLast[next] = last;
}

/** What stood in front of `before` stands in front of `i`, which was put there. */
export function insertedInstr(before: u32, i: u32): void {
  ghostFirst[i] = ghostFirst[before];
  ghostLast[i] = ghostLast[before];
  ghostFirst[before] = 0;
  ghostLast[before] = 0;
}

/** What stood at the block's end stands in front of its new last instruction. */
export function appendedInstr(b: u32, i: u32): void {
  if (tailFirst[b] == 0) return;
  ghostFirst[i] = tailFirst[b];
  ghostLast[i] = tailLast[b];
  tailFirst[b] = 0;
  tailLast[b] = 0;
}

/** Names and work of `to` are those of `from`; of its ghosts see `copyGhost`. */
export function copyNames(from: u32, to: u32): void {
  memory.copy(NAMES + ((<usize>to) << 5), NAMES + ((<usize>from) << 5), 32);
}

/** `to`, which stands in no block, becomes a ghost at the end of block `b` that does what ghost `from` does. */
export function copyGhost(from: u32, to: u32, b: u32): void {
  copyNames(from, to);
  mOp[to] = mOp[from];
  mDst0[to] = mDst0[from];
  mDst1[to] = mDst1[from];
  mSrc0[to] = mSrc0[from];
  mMods[to] = mMods[from];
  mPlace[to] = mPlace[from];
  ghostNext[to] = 0;
  if (tailLast[b] == 0) tailFirst[b] = to;
  else ghostNext[tailLast[b]] = to;
  tailLast[b] = to;
}
