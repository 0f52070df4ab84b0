/** Calls, which are inlined, and returns; invocations that end. */
import { Fail, fail, failed, Limit } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { SpvOp } from "../../gen/spirv.ts";
import {
  constantBool,
  currentBlock,
  cursorAtEnd,
  cursorBefore,
  effect,
  entryBlock,
  firstInstr,
  listFirst,
  loadVar,
  newVar,
  nextInstr,
  opOf,
  stage,
  storeVar,
  varWidth,
} from "../ir/index.ts";
import {
  FrameKind,
  frameDepth,
  frameFunction,
  frameHeader,
  frameMerge,
  frameNext,
  frameNode,
  frameReach,
  frameResult,
  frameReturn,
  popFrame,
  pushFrame,
  realFrame,
} from "./frames.ts";
import {
  IdClass,
  idAt,
  idClass,
  idLeaf,
  idStamp,
  idType,
  leafPool,
  malformed,
  newLeaves,
  ptrConst,
  setValue,
  typeKind,
  typeLeaves,
  unsupported,
  wordAt,
} from "./ids.ts";
import { valueAt } from "./operands.ts";
import { exportOutputs } from "./outputs.ts";
import {
  endPath,
  enter,
  flaggedExit,
  goOnAt,
  instance,
  label,
  newVarsOf,
  openIf,
  reopen,
  resetPath,
  setInstance,
  setLabel,
} from "./paths.ts";
import { copyPointer } from "./pointers.ts";
import { resetSwitches } from "./switches.ts";
import { Unsupported } from "./texts.ts";
import { TypeKind } from "./types.ts";

let running = false;

let stamps: u32 = 0;

export function isRunning(): bool {
  return running;
}

/** Calls a function: its parameters become the arguments, its body is lifted here. */
export function liftCall(at: u32, count: u32): void {
  const callee = idAt(at + 3);
  if (idClass[callee] != IdClass.FUNCTION || ptrConst[callee] == 0) {
    malformed(at + 3);
    return;
  }
  if (idStamp[callee] != 0) {
    unsupported(Unsupported.RECURSION, 0);
    return;
  }
  let param = idType[callee] + 5;
  for (let k: u32 = 4; k < count && !failed(); k++) {
    while ((wordAt(param) & 0xffff) == SpvOp.OpLine || (wordAt(param) & 0xffff) == SpvOp.OpNoLine) {
      param += max<u32>(wordAt(param) >> 16, 1);
    }
    if (wordAt(param) != ((3 << 16) | SpvOp.OpFunctionParameter)) {
      malformed(param);
      return;
    }
    const from = idAt(at + k);
    const to = idAt(param + 2);
    if (idClass[from] == IdClass.POINTER) {
      copyPointer(to, from);
    } else {
      const value = valueAt(at + k);
      if (failed() || idType[value] != idAt(param + 1)) {
        malformed(at + k);
        return;
      }
      setValue(to, idType[value], idLeaf[value]);
    }
    param += 3;
  }
  if ((wordAt(param) & 0xffff) == SpvOp.OpFunctionParameter) malformed(at);
  enterFunction(callee, at + count, idAt(at + 2));
}

/** Starts lifting a function's body at the cursor. */
function enterFunction(callee: u32, returnTo: u32, result: u32): void {
  if (failed()) return;
  const f = pushFrame(FrameKind.FUNCTION, instance, label, returnTo, callee, currentBlock());
  frameResult[f] = result;
  idStamp[callee] = 1;
  if (stamps >= 0xffff_fff0) fail(Fail.LIMIT, Limit.CALL_DEPTH, stamps, 0);
  setInstance(++stamps);
  enter(ptrConst[callee]);
}

/** Starts with the entry point's function. Functions keep: idType the word of OpFunction, ptrConst the first label. */
/** Words of the entry point's interface ids. */
let interfaceFirst: u32 = 0;

let interfaceCount: u32 = 0;

export function setInterface(first: u32, count: u32): void {
  interfaceFirst = first;
  interfaceCount = count;
}

export function enterMain(main: u32): void {
  resetPath();
  running = true;
  resetSwitches();
  killed = 0;
  stamps = 1;
  enterFunction(main, 0, 0);
}

/** OpReturn (leaf 0) and OpReturnValue. */
export function liftReturn(at: u32, hasValue: bool): void {
  const f = frameFunction[frameDepth() - 1] - 1;
  if (hasValue) {
    const value = valueAt(at + 1);
    if (failed()) return;
    const type = idType[value];
    if (frameReturn[f] == 0) frameReturn[f] = newVarsOf(type) + 1;
    // idType of the result tells the caller what was returned.
    const base = frameReturn[f] - 1;
    frameMergeType(f, type, at);
    for (let k: u32 = 0; k < typeLeaves[type] && !failed(); k++) storeVar(base + k, leafPool[idLeaf[value] + k]);
  }
  leaveFunction(f);
}

/** All returns of a function have its type. */
function frameMergeType(f: u32, type: u32, at: u32): void {
  if (wordAt(idType[frameHeader[f]] + 1) != type) malformed(at);
}

/** Bit of a FUNCTION frame's `frameReach`: invocations may end inside it. */
const KILLS: u32 = 256;

/** The variable that says whether the invocation has ended inside a called function. */
let killed: u32 = 0;

function killedVar(): u32 {
  if (killed != 0) return killed - 1;
  const v = newVar(1);
  killed = v + 1;
  const here = currentBlock();
  let i = firstInstr(entryBlock());
  while (i != 0 && opOf(i) == Op.CONST) i = nextInstr(i);
  if (i != 0) cursorBefore(i);
  else cursorAtEnd(entryBlock());
  storeVar(v, constantBool(false));
  cursorAtEnd(here);
  return v;
}

/** OpKill, OpTerminateInvocation: the lane becomes a helper and leaves the function, then those around it. */
export function liftKill(): void {
  effect(Op.DEMOTE, 0, 0);
  const f = frameFunction[frameDepth() - 1] - 1;
  if (f != 0) {
    storeVar(killedVar(), constantBool(true));
    frameReach[f] = frameReach[f] | KILLS;
  }
  leaveFunction(f);
}

function leaveFunction(f: u32): void {
  if (realFrame() == f) endPath();
  else flaggedExit(f);
}

/** Behind a call in which invocations may have ended: those leave this function too. */
function leaveKilled(): void {
  const f = frameFunction[frameDepth() - 1] - 1;
  if (f != 0) frameReach[f] = frameReach[f] | KILLS;
  const n = openIf(loadVar(killedVar(), 1));
  cursorAtEnd(listFirst(n, 0));
  if (realFrame() != f) flaggedExit(f);
  pushFrame(FrameKind.TAIL, n, 0, 0, 0, currentBlock());
  cursorAtEnd(listFirst(n, 1));
  reopen();
}

export function closeFunction(f: u32): void {
  const callee = frameHeader[f];
  idStamp[callee] = 0;
  popFrame();
  if (f == 0) {
    if (stage() != 0) exportOutputs(interfaceFirst, interfaceCount);
    effect(Op.END, 0, 0);
    running = false;
    return;
  }
  const kills = (frameReach[f] & KILLS) != 0;
  const result = frameResult[f];
  const returned = frameReturn[f];
  setInstance(frameNode[f]);
  setLabel(frameMerge[f]);
  goOnAt(frameNext[f]);
  const type = wordAt(idType[callee] + 1);
  // Its frame takes the place of this one.
  if (kills) leaveKilled();
  if (typeKind[type] == TypeKind.VOID) return;
  const leaf = newLeaves(typeLeaves[type]);
  if (failed()) return;
  // A function that never returns leaves its result without variables: the code after it is unreachable.
  const base = returned == 0 ? newVarsOf(type) : returned - 1;
  for (let k: u32 = 0; k < typeLeaves[type] && !failed(); k++)
    leafPool[leaf + k] = loadVar(base + k, varWidth[base + k]);
  setValue(result, type, leaf);
}
