/**
 * From SPIR-V's structured control flow to the tree, by a stack of open constructs.
 *
 * A frame is a construct of SPIR-V (function, loop, selection, switch case) whose parts are being emitted in order. A
 * TAIL is an if of ours that holds the rest of the code up to the end of the frame below it.
 * A branch to where its frame ends anyway is nothing; to the innermost loop's merge or continue target it is `break` or
 * `continue`. Any other exit (return from inside a construct, break out of a switch from inside an if) sets the flags of
 * the frames that it leaves, and what would follow is guarded: placed in the arm that does not exit, or under `if (!flag)`.
 */
import { Fail, fail, Limit, U32Column } from "../../base/index.ts";
import { LIFT_TABLES_END } from "./ids.ts";

export const enum FrameKind {
  FUNCTION = 1,
  LOOP = 2,
  IF = 3,
  SWITCH = 4,
  TAIL = 5,
}

const MAX_FRAMES: u32 = 4096;
const F: usize = (<usize>MAX_FRAMES) << 2;

export const frameKind = changetype<U32Column>(LIFT_TABLES_END);
/** The IR node of an IF, LOOP, TAIL, switch case (0 before its first case). */
export const frameNode = changetype<U32Column>(LIFT_TABLES_END + F);
/** Label that ends the frame; 0 for none. */
export const frameMerge = changetype<U32Column>(LIFT_TABLES_END + 2 * F);
/** LOOP: continue target. IF: else label. SWITCH: number of the current case. FUNCTION: word to go on at. */
export const frameNext = changetype<U32Column>(LIFT_TABLES_END + 3 * F);
/** LOOP: header label. SWITCH: word index of the OpSwitch. FUNCTION: function id. */
export const frameHeader = changetype<U32Column>(LIFT_TABLES_END + 4 * F);
/** 0 first part (then, body), 1 second (else, cont). */
export const framePhase = changetype<U32Column>(LIFT_TABLES_END + 5 * F);
/** Bit 0: part 0 reaches the merge, bit 1: part 1 does; LOOP bit 2: something goes to the continue target. */
export const frameReach = changetype<U32Column>(LIFT_TABLES_END + 6 * F);
/** Lowest frame that a flagged exit from part 0, 1 goes to; NO_EXIT for none. */
export const frameExit0 = changetype<U32Column>(LIFT_TABLES_END + 7 * F);
export const frameExit1 = changetype<U32Column>(LIFT_TABLES_END + 8 * F);
/** IR variable of the flag + 1, 0 for none yet. */
export const frameFlag = changetype<U32Column>(LIFT_TABLES_END + 9 * F);
/** Block where the frame was opened: flags are cleared at its end. */
export const frameBlock = changetype<U32Column>(LIFT_TABLES_END + 10 * F);
/** FUNCTION: result id of the call, first variable of the returned value + 1. SWITCH: fall-through variables. */
export const frameResult = changetype<U32Column>(LIFT_TABLES_END + 11 * F);
export const frameReturn = changetype<U32Column>(LIFT_TABLES_END + 12 * F);
/** Innermost LOOP and FUNCTION frame at or below this one + 1, 0 for none (loops of the same function only). */
export const frameLoop = changetype<U32Column>(LIFT_TABLES_END + 13 * F);
export const frameFunction = changetype<U32Column>(LIFT_TABLES_END + 14 * F);

export const NO_EXIT: u32 = 0xffff_ffff;

let depth: u32 = 0;

export function resetFrames(): void {
  depth = 0;
}
export function frameDepth(): u32 {
  return depth;
}

/** Opens a frame; its index. Over capacity the run fails and the top one is used again. */
export function pushFrame(kind: u32, node: u32, merge: u32, next: u32, header: u32, block: u32): u32 {
  if (depth >= MAX_FRAMES) {
    fail(Fail.LIMIT, Limit.CALL_DEPTH, MAX_FRAMES, 0);
    return depth - 1;
  }
  const f = depth++;
  frameKind[f] = kind;
  frameNode[f] = node;
  frameMerge[f] = merge;
  frameNext[f] = next;
  frameHeader[f] = header;
  framePhase[f] = 0;
  frameReach[f] = 0;
  frameExit0[f] = NO_EXIT;
  frameExit1[f] = NO_EXIT;
  frameFlag[f] = 0;
  frameBlock[f] = block;
  frameResult[f] = 0;
  frameReturn[f] = 0;
  frameLoop[f] = kind == FrameKind.LOOP ? f + 1 : kind == FrameKind.FUNCTION || f == 0 ? 0 : frameLoop[f - 1];
  frameFunction[f] = kind == FrameKind.FUNCTION ? f + 1 : f == 0 ? 0 : frameFunction[f - 1];
  return f;
}

export function popFrame(): void {
  depth--;
}

/** The innermost frame that is no TAIL. */
export function realFrame(): u32 {
  let f = depth - 1;
  while (f > 0 && frameKind[f] == FrameKind.TAIL) f--;
  return f;
}

/** Exits of the part that is being emitted. */
export function noteExit(f: u32, target: u32): void {
  if (framePhase[f] == 0) {
    if (target < frameExit0[f]) frameExit0[f] = target;
  } else if (target < frameExit1[f]) {
    frameExit1[f] = target;
  }
}
export function lowestExit(f: u32): u32 {
  return min<u32>(frameExit0[f], frameExit1[f]);
}
