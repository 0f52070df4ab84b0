/**
 * From SPIR-V's structured control flow to the tree, by a stack of open constructs.
 *
 * A frame is a construct of SPIR-V (function, loop, selection, switch case) whose parts are being emitted in order. A
 * TAIL is an if of ours that holds the rest of the code up to the end of the frame below it.
 * A branch to where its frame ends anyway is nothing; to the innermost loop's merge or continue target it is `break` or
 * `continue`. Any other exit (return from inside a construct, break out of a switch from inside an if) sets the flag of
 * the frame that it goes to, and what would follow on the way there is guarded: placed in the arm that does not exit, or
 * under `if (!flag)`, with the flags of all frames that such exits go to.
 */
import { Fail, fail, Limit, spend, U32Column } from "../../base/index.ts";
import { LIFT_TABLES_END, labelFrame } from "./ids.ts";

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
/** LOOP, IF, SWITCH: header label. FUNCTION: function id. */
export const frameHeader = changetype<U32Column>(LIFT_TABLES_END + 4 * F);
/** 0 first part (then, body), 1 second (else, cont). */
export const framePhase = changetype<U32Column>(LIFT_TABLES_END + 5 * F);
/** Bit 0: part 0 reaches the merge, bit 1: part 1 does; LOOP bit 2: something goes to the continue target. */
export const frameReach = changetype<U32Column>(LIFT_TABLES_END + 6 * F);
/** First row of the frames that flagged exits from part 0, 1 go to; 0 for none. */
export const frameExit0 = changetype<U32Column>(LIFT_TABLES_END + 7 * F);
export const frameExit1 = changetype<U32Column>(LIFT_TABLES_END + 8 * F);
/** IR variable that says whether a flagged exit to this frame has happened, + 1; 0 for none yet. */
export const frameFlag = changetype<U32Column>(LIFT_TABLES_END + 9 * F);
/** Block where the frame was opened: flags are cleared at its end. */
export const frameBlock = changetype<U32Column>(LIFT_TABLES_END + 10 * F);
/** FUNCTION: result id of the call, first variable of the returned value + 1. SWITCH: first row, number of the cases. */
export const frameResult = changetype<U32Column>(LIFT_TABLES_END + 11 * F);
export const frameReturn = changetype<U32Column>(LIFT_TABLES_END + 12 * F);
/** Innermost LOOP and FUNCTION frame at or below this one + 1, 0 for none (loops of the same function only). */
export const frameLoop = changetype<U32Column>(LIFT_TABLES_END + 13 * F);
export const frameFunction = changetype<U32Column>(LIFT_TABLES_END + 14 * F);

/** The innermost frame up to this one that is no TAIL. */
const frameReal = changetype<U32Column>(LIFT_TABLES_END + 15 * F);
// `labelFrame` of merge, continue target and header before this frame.
const oldOfMerge = changetype<U32Column>(LIFT_TABLES_END + 16 * F);
const oldOfNext = changetype<U32Column>(LIFT_TABLES_END + 17 * F);
const oldOfHeader = changetype<U32Column>(LIFT_TABLES_END + 18 * F);

/** Rows of exits: frame, next row. Free ones are a list too. */
const MAX_EXITS: u32 = 1 << 14;
const exitTarget = changetype<U32Column>(LIFT_TABLES_END + 19 * F);
const exitNext = changetype<U32Column>(LIFT_TABLES_END + 19 * F + ((<usize>MAX_EXITS) << 2));
let freeExit: u32 = 0;
let exitCount: u32 = 1;

let depth: u32 = 0;

export function resetFrames(): void {
  depth = 0;
  freeExit = 0;
  exitCount = 1;
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
  frameExit0[f] = 0;
  frameExit1[f] = 0;
  frameFlag[f] = 0;
  frameBlock[f] = block;
  frameResult[f] = 0;
  frameReturn[f] = 0;
  frameLoop[f] = kind == FrameKind.LOOP ? f + 1 : kind == FrameKind.FUNCTION || f == 0 ? 0 : frameLoop[f - 1];
  frameFunction[f] = kind == FrameKind.FUNCTION ? f + 1 : f == 0 ? 0 : frameFunction[f - 1];
  frameReal[f] = kind == FrameKind.TAIL && f > 0 ? frameReal[f - 1] : f;
  if (kind == FrameKind.FUNCTION || kind == FrameKind.TAIL) return f;
  oldOfMerge[f] = labelFrame[merge];
  labelFrame[merge] = f + 1;
  if (kind != FrameKind.LOOP) return f;
  oldOfNext[f] = labelFrame[next];
  labelFrame[next] = f + 1;
  oldOfHeader[f] = labelFrame[header];
  labelFrame[header] = f + 1;
  return f;
}

/** Closes the innermost frame. What it knows stays until the next one opens, but for its exits. */
export function popFrame(): void {
  const f = --depth;
  dropExits(frameExit0[f]);
  dropExits(frameExit1[f]);
  const kind = frameKind[f];
  if (kind == FrameKind.FUNCTION || kind == FrameKind.TAIL) return;
  if (kind == FrameKind.LOOP) {
    labelFrame[frameHeader[f]] = oldOfHeader[f];
    labelFrame[frameNext[f]] = oldOfNext[f];
  }
  labelFrame[frameMerge[f]] = oldOfMerge[f];
}

/** The innermost frame that is no TAIL. */
export function realFrame(): u32 {
  return frameReal[depth - 1];
}

// Sets of frames that exits go to: mostly one of them, the function or the innermost switch.

/** The set with one frame more. */
function withExit(exits: u32, target: u32): u32 {
  for (let e = exits; e != 0 && spend(1); e = exitNext[e]) if (exitTarget[e] == target) return exits;
  let e = freeExit;
  if (e != 0) {
    freeExit = exitNext[e];
  } else if (exitCount < MAX_EXITS) {
    e = exitCount++;
  } else {
    fail(Fail.LIMIT, Limit.CALL_DEPTH, MAX_EXITS, 0);
    return exits;
  }
  exitTarget[e] = target;
  exitNext[e] = exits;
  return e;
}
/** The set is no longer used. */
export function dropExits(exits: u32): void {
  for (let e = exits; e != 0; ) {
    const next = exitNext[e];
    exitNext[e] = freeExit;
    freeExit = e;
    e = next;
  }
}
export function exitOf(exits: u32): u32 {
  return exitTarget[exits];
}
export function nextExit(exits: u32): u32 {
  return exitNext[exits];
}

/** An exit to `target` from the part of frame f that is being emitted. */
export function noteExit(f: u32, target: u32): void {
  if (framePhase[f] == 0) frameExit0[f] = withExit(frameExit0[f], target);
  else frameExit1[f] = withExit(frameExit1[f], target);
}

/** A set of the exits of frame f that go to frames from `low` on and below `high`. */
export function exitsBetween(f: u32, low: u32, high: u32): u32 {
  let result: u32 = 0;
  for (let part: u32 = 0; part < 2; part++) {
    for (let e = part == 0 ? frameExit0[f] : frameExit1[f]; e != 0; e = exitNext[e]) {
      if (exitTarget[e] >= low && exitTarget[e] < high) result = withExit(result, exitTarget[e]);
    }
  }
  return result;
}

/** Notes all exits of a set. */
export function noteExits(f: u32, exits: u32): void {
  for (let e = exits; e != 0; e = exitNext[e]) noteExit(f, exitTarget[e]);
}
