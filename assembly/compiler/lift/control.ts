/** Conditional branches, and what follows where a part of a construct has ended. `frames.ts` has the scheme. */
import { failed } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  constantBool,
  currentBlock,
  cursorAtEnd,
  effect,
  listFirst,
  listLast,
  loadVar,
  nextNode,
  varWidth,
} from "../ir/index.ts";
import { closeFunction } from "./calls.ts";
import {
  dropExits,
  exitsBetween,
  FrameKind,
  frameDepth,
  frameExit0,
  frameExit1,
  frameHeader,
  frameKind,
  frameLoop,
  frameMerge,
  frameNext,
  frameNode,
  framePhase,
  frameReach,
  noteExits,
  popFrame,
  pushFrame,
  realFrame,
} from "./frames.ts";
import {
  IdClass,
  idAt,
  idClass,
  leafPool,
  malformed,
  newLeaves,
  setValue,
  typeKind,
  typeLeaves,
  unsupported,
} from "./ids.ts";
import { operand } from "./operands.ts";
import {
  branchTo,
  enter,
  exited,
  exitFrame,
  goOn,
  label,
  labelAt,
  merge,
  openIf,
  phiBase,
  resolve,
  setLabel,
} from "./paths.ts";
import { nextCase } from "./switches.ts";
import { Unsupported } from "./texts.ts";
import { isPointerValue, TypeKind } from "./types.ts";

export function liftPhi(at: u32): void {
  const type = idAt(at + 1);
  const phi = idAt(at + 2);
  if (failed() || idClass[type] != IdClass.TYPE) {
    malformed(at);
    return;
  }
  if (typeKind[type] == TypeKind.POINTER && !isPointerValue(type)) {
    unsupported(Unsupported.POINTER, 0);
    return;
  }
  const base = phiBase(phi, type);
  const leaf = newLeaves(typeLeaves[type]);
  for (let k: u32 = 0; k < typeLeaves[type] && !failed(); k++)
    leafPool[leaf + k] = loadVar(base + k, varWidth[base + k]);
  setValue(phi, type, leaf);
}

export function liftBranchConditional(at: u32): void {
  const cond = leafPool[operand(at + 1, 1)];
  const yes = labelAt(at + 2);
  const no = labelAt(at + 3);
  if (failed()) return;
  if (yes == no) {
    if (merge == 0 || yes == merge) {
      branchTo(yes);
      return;
    }
    // Still a selection: blocks inside it may leave for its merge. It has one arm, and nothing goes by it.
    const whole = openIf(constantBool(true));
    pushFrame(FrameKind.IF, whole, merge, 0, label, currentBlock());
    cursorAtEnd(listFirst(whole, 0));
    branchTo(yes);
    return;
  }
  let end = merge;
  if (end == 0) {
    const yesExit = exitFrame(yes) != 0;
    const noExit = exitFrame(no) != 0;
    if (!yesExit && !noExit) {
      unsupported(Unsupported.UNSTRUCTURED, 0);
      return;
    }
    end = yesExit ? (noExit ? 0 : no) : yes;
  }
  const b = currentBlock();
  const n = openIf(cond);
  pushFrame(FrameKind.IF, n, end, no, label, b);
  cursorAtEnd(listFirst(n, 0));
  branchTo(yes);
}

function closeIf(f: u32): void {
  const n = frameNode[f];
  const reach = frameReach[f] & 3;
  const to = frameMerge[f];
  // Exactly one arm goes on, and only the other one exits: the rest belongs into the first.
  const arm: u32 = reach == 1 && frameExit0[f] == 0 ? 0 : reach == 2 && frameExit1[f] == 0 ? 1 : 2;
  const exits = exitsBetween(f, 0, f);
  popFrame();
  cursorAtEnd(nextNode(n));
  noteExits(realFrame(), exits);
  if (reach != 0 && exits != 0 && arm != 2) {
    pushFrame(FrameKind.TAIL, n, 0, 0, 0, currentBlock());
    cursorAtEnd(listLast(n, arm));
    resolve(to);
  } else if (reach != 0) {
    goOn(to, exits);
  }
  dropExits(exits);
}

function closeLoop(f: u32): void {
  const n = frameNode[f];
  const reached = (frameReach[f] & 1) != 0;
  const to = frameMerge[f];
  // Those that leave the loop around as well, and the others.
  const outer = f == 0 ? 0 : frameLoop[f - 1];
  const far = outer == 0 ? 0 : exitsBetween(f, 0, outer - 1);
  const near = exitsBetween(f, outer == 0 ? 0 : outer - 1, f);
  popFrame();
  cursorAtEnd(nextNode(n));
  noteExits(realFrame(), near);
  if (far != 0) {
    noteExits(outer - 1, far);
    if (!reached && near == 0) {
      effect(Op.BREAK, 0, 0);
    } else {
      const leave = openIf(exited(far));
      const after = nextNode(leave);
      cursorAtEnd(listFirst(leave, 0));
      effect(Op.BREAK, 0, 0);
      cursorAtEnd(after);
    }
  }
  if (reached) goOn(to, near);
  dropExits(far);
  dropExits(near);
}

/** The path has ended: goes to the next part of the innermost construct, or closes it. */
export function unwind(): void {
  const f = frameDepth() - 1;
  switch (frameKind[f]) {
    case FrameKind.TAIL:
      popFrame();
      cursorAtEnd(nextNode(frameNode[f]));
      break;
    case FrameKind.IF:
      if (framePhase[f] != 0 || frameNext[f] == 0) {
        closeIf(f);
        break;
      }
      framePhase[f] = 1;
      cursorAtEnd(listLast(frameNode[f], 1));
      setLabel(frameHeader[f]);
      branchTo(frameNext[f]);
      break;
    case FrameKind.LOOP:
      if (framePhase[f] != 0) {
        closeLoop(f);
        break;
      }
      framePhase[f] = 1;
      cursorAtEnd(listFirst(frameNode[f], 1));
      if ((frameReach[f] & 4) != 0 && frameNext[f] != frameHeader[f]) enter(frameNext[f]);
      break;
    case FrameKind.SWITCH:
      nextCase(f);
      break;
    default:
      closeFunction(f);
      break;
  }
}
