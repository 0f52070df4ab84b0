/** The path that is being lifted: where it goes on, the stores for phis, exits from constructs. `frames.ts` has the scheme. */
import { failed } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { SpvOp } from "../../gen/spirv.ts";
import {
  appendBlock,
  appendIf,
  appendLoop,
  constantBool,
  currentBlock,
  cursorAtEnd,
  effect,
  listFirst,
  loadVar,
  newVar,
  parentOf,
  sideOf,
  storeVar,
} from "../ir/index.ts";
import { bin } from "./fold-build.ts";
import {
  exitOf,
  FrameKind,
  frameBlock,
  frameDepth,
  frameFlag,
  frameFunction,
  frameHeader,
  frameKind,
  frameLoop,
  frameMerge,
  frameNext,
  framePhase,
  frameReach,
  frameResult,
  frameReturn,
  nextExit,
  noteExit,
  pushFrame,
  realFrame,
} from "./frames.ts";
import {
  IdClass,
  idAt,
  idClass,
  idStamp,
  idType,
  labelFrame,
  labelSwitch,
  leafPool,
  malformed,
  ptrConst,
  ptrVar,
  scratchB,
  typeLeaves,
  unsupported,
  wordAt,
} from "./ids.ts";
import { leaves } from "./operands.ts";
import { describe, irWidth, Layout } from "./pointers.ts";
import { Unsupported } from "./texts.ts";

/** Word of the instruction to lift next. */
let pc: u32 = 0;

/** The label whose block is being emitted. */
export let label: u32 = 0;

/** True when the path being emitted has ended and frames are to be unwound. */
let ended = false;

/** Stamp of the current function instance, and the last one given. */
export let instance: u32 = 0;

/** Merge label of the selection merge in this block, 0 for none. */
export let merge: u32 = 0;

export function hasEnded(): bool {
  return ended;
}

export function programCounter(): u32 {
  return pc;
}

export function advance(words: u32): void {
  pc += words;
}

export function selectionMerge(id: u32): void {
  merge = id;
}

export function endPath(): void {
  ended = true;
}

/** Code comes behind an exit that only some lanes take. */
export function reopen(): void {
  ended = false;
}
/** The label whose block the branches from here on come from. */
export function setLabel(id: u32): void {
  label = id;
}
export function setInstance(stamp: u32): void {
  instance = stamp;
}
/** Goes on lifting at a word. */
export function goOnAt(word: u32): void {
  pc = word;
  ended = false;
}
/** Before the entry point. */
export function resetPath(): void {
  pc = 0;
  label = 0;
  merge = 0;
  instance = 0;
  ended = false;
}

/** Labels keep: idType the word of OpLabel, ptrVar the word of an OpLoopMerge in the block (0: none). */
export function labelAt(k: u32): u32 {
  const id = idAt(k);
  if (idClass[id] == IdClass.LABEL) return id;
  malformed(k);
  return 0;
}

// Phis: a run of IR variables each, stored at the ends of the predecessors and loaded at the start of the block.

export function phiBase(phi: u32, type: u32): u32 {
  if (idStamp[phi] != 0) return idStamp[phi] - 1;
  const first = newVarsOf(type);
  idStamp[phi] = first + 1;
  return first;
}

/** Fresh IR variables for the scalars of a type; the first one. */
export function newVarsOf(type: u32): u32 {
  const count = describe(type, 0, Layout.NONE, 0, 0);
  let first: u32 = 0;
  for (let k: u32 = 0; k < count && !failed(); k++) {
    const v = newVar(irWidth(scratchB[2 * k + 1]));
    if (k == 0) first = v;
  }
  return first;
}

/** Stores what the phis at the start of `to` take from `from`. */
export function phiStores(from: u32, to: u32): void {
  let at = idType[to] + 2;
  while (!failed()) {
    const word = wordAt(at);
    const op = word & 0xffff;
    const count = word >> 16;
    if (op == SpvOp.OpPhi) {
      const type = idAt(at + 1);
      const phi = idAt(at + 2);
      let k: u32 = 3;
      while (k + 1 < count && idAt(at + k + 1) != from) k += 2;
      if (k + 1 >= count || idClass[type] != IdClass.TYPE) {
        malformed(at);
        return;
      }
      const base = phiBase(phi, type);
      const leaf = leaves(at + k, typeLeaves[type]);
      for (let m: u32 = 0; m < typeLeaves[type] && !failed(); m++) storeVar(base + m, leafPool[leaf + m]);
    } else if (op != SpvOp.OpLine && op != SpvOp.OpNoLine) {
      return;
    }
    at += max<u32>(count, 1);
  }
}

/** An if at the end of the current list with empty arms and the block after it; the cursor stays. */
export function openIf(cond: u32): u32 {
  const b = currentBlock();
  const n = appendIf(parentOf(b), sideOf(b), cond);
  appendBlock(n, 0);
  appendBlock(n, 1);
  appendBlock(parentOf(b), sideOf(b));
  return n;
}

/** Goes on with the block of a label that is no exit. */
export function enter(to: u32): void {
  if (failed()) return;
  if (idStamp[to] == instance) {
    unsupported(Unsupported.UNSTRUCTURED, 0);
    return;
  }
  idStamp[to] = instance;
  label = to;
  merge = 0;
  pc = idType[to] + 2;
  ended = false;
  const loopMerge = ptrVar[to];
  if (loopMerge == 0) return;
  const b = currentBlock();
  const n = appendLoop(parentOf(b), sideOf(b));
  const header = appendBlock(n, 0);
  appendBlock(n, 1);
  appendBlock(parentOf(b), sideOf(b));
  pushFrame(FrameKind.LOOP, n, labelAt(loopMerge + 1), labelAt(loopMerge + 2), to, b);
  cursorAtEnd(header);
}

/** The variable that says whether an exit to frame f has happened; cleared where the frame opens. */
function flagOf(f: u32): u32 {
  if (frameFlag[f] != 0) return frameFlag[f] - 1;
  const v = newVar(1);
  frameFlag[f] = v + 1;
  const here = currentBlock();
  cursorAtEnd(frameBlock[f]);
  storeVar(v, constantBool(false));
  cursorAtEnd(here);
  return v;
}

/** Whether one of the exits of a set has happened. */
export function exited(exits: u32): u32 {
  let cond = loadVar(flagOf(exitOf(exits)), 1);
  for (let e = nextExit(exits); e != 0 && !failed(); e = nextExit(e))
    cond = bin(Op.IOR, cond, loadVar(flagOf(exitOf(e)), 1));
  return cond;
}

/** Leaves for frame `target` by its flag, which guards the code of the frames in between. */
export function flaggedExit(target: u32): void {
  const r = realFrame();
  const loop = frameLoop[frameDepth() - 1];
  const crosses = loop != 0 && loop - 1 > target;
  const top = crosses ? loop - 1 : r;
  storeVar(flagOf(target), constantBool(true));
  noteExit(top, target);
  if (crosses) effect(Op.BREAK, 0, 0);
  ended = true;
}

/**
 * Cases of a switch frame, four words each from `frameResult` on: label, words of the first and last literal (0: the
 * default), fall-through variable + 1. Before them: the selector and a boolean for "an earlier case fits" (0: none).
 * A case label's ptrConst is the place of its row.
 */
export function caseRow(f: u32, to: u32): u32 {
  return isCase(frameResult[f], frameReturn[f], to) ? ptrConst[to] : 0;
}

/** Whether a label starts one of the n cases at `rows`. */
export function isCase(rows: u32, n: u32, to: u32): bool {
  const row = ptrConst[to];
  return row >= rows && row < rows + 4 * n && leafPool[row] == to;
}

/** The frame of this function that a branch to `to` would leave or end, + 1; 0: the label is no exit. */
export function exitFrame(to: u32): u32 {
  const top = frameDepth() - 1;
  // Only the innermost loop's labels and those of constructs inside it may be branched to.
  const least = max<u32>(frameFunction[top] + 1, frameLoop[top]);
  const f = labelFrame[to];
  const s = labelSwitch[to];
  const ends = f >= least && isEnd(f - 1, to);
  const falls = s >= least && s <= top + 1 && frameKind[s - 1] == FrameKind.SWITCH && caseRow(s - 1, to) != 0;
  if (!falls) return ends ? f : 0;
  return ends ? max<u32>(f, s) : s;
}

/** Whether a branch to `to` ends the part of frame g that is being emitted. */
function isEnd(g: u32, to: u32): bool {
  if (frameMerge[g] == to) return true;
  return frameKind[g] == FrameKind.LOOP && (framePhase[g] == 0 ? frameNext[g] == to : frameHeader[g] == to);
}

/** Falls into a later case of the switch frame f. */
function fallInto(f: u32, row: u32): void {
  if ((row - frameResult[f]) / 4 <= frameNext[f]) {
    unsupported(Unsupported.FALLTHROUGH, 0);
    return;
  }
  if (leafPool[row + 3] == 0) {
    const v = newVar(1);
    leafPool[row + 3] = v + 1;
    const here = currentBlock();
    cursorAtEnd(frameBlock[f]);
    storeVar(v, constantBool(false));
    cursorAtEnd(here);
  }
  storeVar(leafPool[row + 3] - 1, constantBool(true));
}

/** Resolves a label without phi stores: ends the path at an exit, else goes on there. */
export function resolve(to: u32): void {
  if (failed()) return;
  const found = exitFrame(to);
  if (found == 0) {
    enter(to);
    return;
  }
  const f = found - 1;
  const natural = f == realFrame();
  if (frameKind[f] == FrameKind.LOOP) {
    const innermost = frameLoop[frameDepth() - 1] == found;
    if (frameMerge[f] == to && innermost) {
      frameReach[f] = frameReach[f] | 1;
      effect(Op.BREAK, 0, 0);
    } else if (framePhase[f] == 0 && frameNext[f] == to && innermost) {
      frameReach[f] = frameReach[f] | 4;
      if (!natural) effect(Op.CONTINUE, 0, 0);
    } else if (!natural) {
      // Back edge from inside a construct of the continue part.
      flaggedExit(f);
    }
    ended = true;
    return;
  }
  if (frameMerge[f] == to) frameReach[f] = frameReach[f] | (1 << framePhase[f]);
  else fallInto(f, caseRow(f, to));
  if (natural) ended = true;
  else flaggedExit(f);
}

/** A branch from the current block. */
export function branchTo(to: u32): void {
  if (failed()) return;
  phiStores(label, to);
  resolve(to);
}

/** Goes on after a closed construct at `to`, unless one of the exits of the set has happened there. */
export function goOn(to: u32, exits: u32): void {
  if (exits != 0) {
    const n = openIf(exited(exits));
    pushFrame(FrameKind.TAIL, n, 0, 0, 0, currentBlock());
    cursorAtEnd(listFirst(n, 1));
  }
  resolve(to);
}
