/** Branches, merges, switches, calls and returns: see `frames.ts` for the scheme. */
import { Fail, fail, failed, Limit, spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { SpvOp } from "../../gen/spirv.ts";
import {
  appendBlock,
  appendIf,
  appendLoop,
  constant,
  constantBool,
  currentBlock,
  cursorAtEnd,
  cursorBefore,
  effect,
  entryBlock,
  firstInstr,
  listFirst,
  listLast,
  loadVar,
  newVar,
  nextInstr,
  nextNode,
  opOf,
  parentOf,
  sideOf,
  stage,
  storeVar,
  varWidth,
} from "../ir/index.ts";
import { bin, notB, tri } from "./fold-build.ts";
import {
  FrameKind,
  frameBlock,
  frameDepth,
  frameExit0,
  frameExit1,
  frameFlag,
  frameFunction,
  frameHeader,
  frameKind,
  frameLoop,
  frameMerge,
  frameNext,
  frameNode,
  framePhase,
  frameReach,
  frameResult,
  frameReturn,
  lowestExit,
  NO_EXIT,
  noteExit,
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
  isId,
  leafPool,
  MAX_LEAVES,
  malformed,
  newLeaves,
  newPool,
  ptrConst,
  ptrRange,
  ptrVar,
  scratchA,
  scratchB,
  setValue,
  typeB,
  typeKind,
  typeLeaves,
  unsupported,
  wordAt,
} from "./ids.ts";
import { exportOutputs } from "./outputs.ts";
import { copyPointer, describe, irWidth, Layout } from "./pointers.ts";
import { Unsupported } from "./texts.ts";
import { isPointerValue, scalarWidth, TypeKind } from "./types.ts";
import { leaves, operand, valueAt } from "./values.ts";
import { isPair, pair } from "./wide.ts";

/** Word of the instruction to lift next. */
let pc: u32 = 0;
/** The label whose block is being emitted. */
let label: u32 = 0;
/** True when the path being emitted has ended and frames are to be unwound. */
let ended = false;
let running = false;
/** Stamp of the current function instance, and the last one given. */
let instance: u32 = 0;
let stamps: u32 = 0;
/** Merge label of the selection merge in this block, 0 for none. */
let merge: u32 = 0;
/** Switches walked so far in this compile. */
let switches: u32 = 0;

export function isRunning(): bool {
  return running;
}
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

/** Labels keep: idType the word of OpLabel, ptrVar the word of an OpLoopMerge in the block (0: none). */
function labelAt(k: u32): u32 {
  const id = idAt(k);
  if (idClass[id] == IdClass.LABEL) return id;
  malformed(k);
  return 0;
}

// Phis: a run of IR variables each, stored at the ends of the predecessors and loaded at the start of the block.

function phiBase(phi: u32, type: u32): u32 {
  if (idStamp[phi] != 0) return idStamp[phi] - 1;
  const first = newVarsOf(type);
  idStamp[phi] = first + 1;
  return first;
}

/** Fresh IR variables for the scalars of a type; the first one. */
function newVarsOf(type: u32): u32 {
  const count = describe(type, 0, Layout.NONE, 0, 0);
  let first: u32 = 0;
  for (let k: u32 = 0; k < count && !failed(); k++) {
    const v = newVar(irWidth(scratchB[2 * k + 1]));
    if (k == 0) first = v;
  }
  return first;
}

/** Stores what the phis at the start of `to` take from `from`. */
function phiStores(from: u32, to: u32): void {
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

/** An if at the end of the current list with empty arms and the block after it; the cursor stays. */
function openIf(cond: u32): u32 {
  const b = currentBlock();
  const n = appendIf(parentOf(b), sideOf(b), cond);
  appendBlock(n, 0);
  appendBlock(n, 1);
  appendBlock(parentOf(b), sideOf(b));
  return n;
}

/** Goes on with the block of a label that is no exit. */
function enter(to: u32): void {
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

/** The variable that says whether an exit to frame f or below has happened; cleared where the frame opens. */
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

/** Leaves by flags for frame `target`: sets the flag of each frame in which code may follow. */
function flaggedExit(target: u32): void {
  const r = realFrame();
  const loop = frameLoop[frameDepth() - 1];
  const crosses = loop != 0 && loop - 1 > target;
  const top = crosses ? loop - 1 : r;
  for (let f = target; f < top && !failed(); f++) {
    if (frameKind[f] != FrameKind.TAIL) storeVar(flagOf(f), constantBool(true));
  }
  noteExit(top, target);
  if (crosses) effect(Op.BREAK, 0, 0);
  ended = true;
}

/**
 * Cases of a switch frame, four words each from `frameResult` on: label, words of the first and last literal (0: the
 * default), fall-through variable + 1. Before them: the selector and a boolean for "an earlier case fits" (0: none).
 * A case label's ptrConst is the place of its row.
 */
function caseRow(f: u32, to: u32): u32 {
  return isCase(frameResult[f], frameReturn[f], to) ? ptrConst[to] : 0;
}

/** Whether a label starts one of the n cases at `rows`. */
function isCase(rows: u32, n: u32, to: u32): bool {
  const row = ptrConst[to];
  return row >= rows && row < rows + 4 * n && leafPool[row] == to;
}

/** The frame of this function that a branch to `to` would leave or end, + 1; 0: the label is no exit. */
function exitFrame(to: u32): u32 {
  const bottom = frameFunction[frameDepth() - 1];
  for (let f = frameDepth(); f > bottom; f--) {
    const g = f - 1;
    const kind = frameKind[g];
    if (kind == FrameKind.TAIL) continue;
    if (frameMerge[g] == to) return f;
    if (kind == FrameKind.LOOP && (framePhase[g] == 0 ? frameNext[g] == to : frameHeader[g] == to)) return f;
    if (kind == FrameKind.SWITCH && caseRow(g, to) != 0) return f;
    // Only the innermost loop's labels and those of constructs inside it may be branched to.
    if (kind == FrameKind.LOOP) return 0;
  }
  return 0;
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
function resolve(to: u32): void {
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

export function liftBranchConditional(at: u32): void {
  const cond = leafPool[operand(at + 1, 1)];
  const yes = labelAt(at + 2);
  const no = labelAt(at + 3);
  if (failed()) return;
  if (yes == no) {
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

/** Ends a block without a branch. */
function isEnd(op: u32): bool {
  switch (op) {
    case SpvOp.OpReturn:
    case SpvOp.OpReturnValue:
    case SpvOp.OpUnreachable:
    case SpvOp.OpKill:
    case SpvOp.OpTerminateInvocation:
    case SpvOp.OpFunctionEnd:
      return true;
    default:
      return false;
  }
}

/** Word of the instruction that ends the block of a label. */
function terminatorOf(block: u32): u32 {
  let at = idType[block];
  while (!failed() && spend(1)) {
    const op = wordAt(at) & 0xffff;
    if (op == SpvOp.OpBranch || op == SpvOp.OpBranchConditional || op == SpvOp.OpSwitch) return at;
    if (isEnd(op)) return at;
    at += max<u32>(wordAt(at) >> 16, 1);
  }
  return at;
}

/** Words of a literal and its label: three for a selector of 64 bits. */
function switchStep(at: u32): u32 {
  const selector = idAt(at + 1);
  if (failed()) return 2;
  if (idClass[selector] == IdClass.VALUE) return scalarWidth(idType[selector]) == 64 ? 3 : 2;
  // Not lifted yet: labels stand where they stand.
  const count = wordAt(at) >> 16;
  for (let k: u32 = 4; k < count; k += 2) {
    if (!isId(at + k) || idClass[wordAt(at + k)] != IdClass.LABEL) return 3;
  }
  return ((count - 3) & 1) != 0 ? 3 : 2;
}

/**
 * The case (or default) that the blocks from `from` on fall into, 0 for none: walks them up to the switch's merge, other
 * cases and exits of constructs around. `stamp` marks what this switch has walked.
 */
function fallsInto(from: u32, otherwise: u32, rows: u32, n: u32, end: u32, stamp: u32): u32 {
  let top: u32 = 0;
  scratchA[top++] = from;
  while (top > 0 && spend(1)) {
    const block = scratchA[--top];
    const at = terminatorOf(block);
    if (failed()) return 0;
    const op = wordAt(at) & 0xffff;
    const count = wordAt(at) >> 16;
    const first: u32 = op == SpvOp.OpBranch ? 1 : 2;
    const step: u32 = op == SpvOp.OpSwitch ? switchStep(at) : 1;
    const last: u32 = op == SpvOp.OpBranchConditional ? 4 : count;
    if (op != SpvOp.OpBranch && op != SpvOp.OpBranchConditional && op != SpvOp.OpSwitch) continue;
    for (let k = first; k < last && !failed(); k += step) {
      const to = labelAt(at + k);
      if (to == end || to == from || ptrRange[to] == stamp) continue;
      if (to == otherwise || isCase(rows, n, to)) return to;
      if (exitFrame(to) != 0 || top >= MAX_LEAVES) continue;
      ptrRange[to] = stamp;
      scratchA[top++] = to;
    }
  }
  return 0;
}

/** Row before which the default belongs so that each fall-through goes forward. */
function defaultPlace(otherwise: u32, rows: u32, n: u32, end: u32): u32 {
  const stamp = ++switches;
  const next = fallsInto(otherwise, otherwise, rows, n, end, stamp);
  for (let k: u32 = 0; k < n && !failed(); k++) {
    const row = leafPool[rows + 4 * k];
    if (row == next) return k;
    if (next == 0 && fallsInto(row, otherwise, rows, n, end, stamp) == otherwise) return k + 1;
  }
  return n;
}

/**
 * Lists the distinct targets of a switch: in the order of the instruction, in which SPIR-V wants a case right before the
 * one it falls into, and the default where its own fall-throughs want it. Each becomes an if of its own, so that no more
 * than one condition is alive at a time.
 */
export function liftSwitch(at: u32, count: u32): void {
  const selector = valueAt(at + 1);
  const otherwise = labelAt(at + 2);
  const end = merge;
  if (failed() || end == 0 || typeKind[idType[selector]] != TypeKind.INT) {
    malformed(at);
    return;
  }
  const width = scalarWidth(idType[selector]);
  const step: u32 = width == 64 ? 3 : 2;
  const literals = (count - 3) / step;
  const pool = newPool(4 * (literals + 1) + 2);
  const rows = pool + 2;
  if (failed()) return;
  const value = width == 64 ? wideLeaf(idLeaf[selector]) : leafPool[idLeaf[selector]];
  // Literals of a narrow signed selector are sign-extended words.
  leafPool[pool] =
    width < 32 && typeB[idType[selector]] != 0 ? tri(Op.IBFE, value, constant(0), constant(width)) : value;
  leafPool[pool + 1] = 0;
  let n: u32 = 0;
  for (let k: u32 = 0; k < literals && spend(1); k++) {
    const literal = at + 3 + step * k;
    const to = labelAt(literal + step - 1);
    if (failed()) return;
    if (to == otherwise || to == end) continue;
    if (isCase(rows, n, to)) {
      leafPool[ptrConst[to] + 2] = literal;
      continue;
    }
    phiStores(label, to);
    addCase(rows + 4 * n, to, literal);
    n++;
  }
  if (otherwise != end) {
    phiStores(label, otherwise);
    const place = defaultPlace(otherwise, rows, n, end);
    for (let m = n; m > place; m--) {
      const row = rows + 4 * (m - 1);
      addCase(row + 4, leafPool[row], leafPool[row + 1]);
      leafPool[row + 6] = leafPool[row + 2];
    }
    addCase(rows + 4 * place, otherwise, 0);
    n++;
  }
  if (failed()) return;
  phiStoresIfAny(end);
  const f = pushFrame(FrameKind.SWITCH, 0, end, 0xffff_ffff, label, currentBlock());
  frameResult[f] = rows;
  frameReturn[f] = n;
  // A selector that fits no case goes to the merge where that is the default; else a case does.
  frameReach[f] = 1;
  ended = true;
}

function addCase(row: u32, to: u32, literal: u32): void {
  leafPool[row] = to;
  leafPool[row + 1] = literal;
  leafPool[row + 2] = literal;
  leafPool[row + 3] = 0;
  ptrConst[to] = row;
}

function literalOf(at: u32, step: u32): u32 {
  const word = constant(wordAt(at));
  return step == 3 ? pair(word, constant(wordAt(at + 1))) : word;
}
function wideLeaf(leaf: u32): u32 {
  return pair(leafPool[leaf], leafPool[leaf + 1]);
}

/** Condition under which the selector picks the case at `row`, not counting what falls into it. */
function caseCondition(f: u32, row: u32): u32 {
  const rows = frameResult[f];
  const selector = leafPool[rows - 2];
  const to = leafPool[row];
  const step: u32 = isPair(selector) ? 3 : 2;
  let cond: u32 = 0;
  if (leafPool[row + 1] != 0) {
    for (let literal = leafPool[row + 1]; literal <= leafPool[row + 2] && spend(1); literal += step) {
      if (wordAt(literal + step - 1) != to) continue;
      const fits = bin(Op.IEQ, selector, literalOf(literal, step));
      cond = cond == 0 ? fits : bin(Op.IOR, cond, fits);
    }
    if (hasDefaultAfter(f, row))
      leafPool[rows - 1] = leafPool[rows - 1] == 0 ? cond : bin(Op.IOR, leafPool[rows - 1], cond);
    return cond;
  }
  // The default: no case before it fits, nor one after it, nor a literal that goes to the merge.
  cond = leafPool[rows - 1];
  const at = programCounterOfSwitch(f);
  const count = wordAt(at) >> 16;
  for (let literal = at + 3; literal + step - 1 < at + count && spend(1); literal += step) {
    const target = wordAt(literal + step - 1);
    if (target == to) continue;
    const known = caseRow(f, target);
    if (known != 0 && known < row) continue;
    const fits = bin(Op.IEQ, selector, literalOf(literal, step));
    cond = cond == 0 ? fits : bin(Op.IOR, cond, fits);
  }
  return cond == 0 ? constantBool(true) : notB(cond);
}

/** The OpSwitch that ends the header block of a switch frame. */
function programCounterOfSwitch(f: u32): u32 {
  return terminatorOf(frameHeader[f]);
}

/** The row of the default, where there is one, has no literals. */
function hasDefaultAfter(f: u32, row: u32): bool {
  const otherwise = wordAt(programCounterOfSwitch(f) + 2);
  return caseRow(f, otherwise) > row;
}

/** Stores for the phis of a switch's merge where the header itself is among their predecessors. */
function phiStoresIfAny(to: u32): void {
  const at = idType[to] + 2;
  const word = wordAt(at);
  if ((word & 0xffff) != SpvOp.OpPhi) return;
  for (let k: u32 = 4; k < word >> 16; k += 2) {
    if (idAt(at + k) == label) {
      phiStores(label, to);
      return;
    }
  }
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
  instance = ++stamps;
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
  pc = 0;
  label = 0;
  merge = 0;
  ended = false;
  running = true;
  instance = 0;
  switches = 0;
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
  if (realFrame() == f) ended = true;
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
  ended = false;
}

function closeFunction(f: u32): void {
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
  instance = frameNode[f];
  label = frameMerge[f];
  pc = frameNext[f];
  ended = false;
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

/** Goes on after a closed construct at `to`, guarded by the flag of the frame around where exits may have passed. */
function goOn(to: u32, guarded: bool): void {
  if (guarded) {
    const p = realFrame();
    const n = openIf(loadVar(flagOf(p), 1));
    pushFrame(FrameKind.TAIL, n, 0, 0, 0, currentBlock());
    cursorAtEnd(listFirst(n, 1));
  }
  resolve(to);
}

function closeIf(f: u32): void {
  const n = frameNode[f];
  const reach = frameReach[f] & 3;
  const to = frameMerge[f];
  const exit0 = frameExit0[f];
  const exit1 = frameExit1[f];
  const exit = lowestExit(f);
  popFrame();
  cursorAtEnd(nextNode(n));
  const pending = exit < f;
  if (pending) noteExit(realFrame(), exit);
  if (reach == 0) return;
  // Exactly one arm goes on, and only the other one exits: the rest belongs into the first.
  const arm: u32 = reach == 1 && exit0 == NO_EXIT ? 0 : reach == 2 && exit1 == NO_EXIT ? 1 : 2;
  if (pending && arm != 2) {
    pushFrame(FrameKind.TAIL, n, 0, 0, 0, currentBlock());
    cursorAtEnd(listLast(n, arm));
    resolve(to);
    return;
  }
  goOn(to, pending);
}

function closeLoop(f: u32): void {
  const n = frameNode[f];
  const reached = (frameReach[f] & 1) != 0;
  const to = frameMerge[f];
  const exit = lowestExit(f);
  popFrame();
  cursorAtEnd(nextNode(n));
  if (exit >= f) {
    if (reached) resolve(to);
    return;
  }
  const outer = frameLoop[frameDepth() - 1];
  if (outer == 0 || outer - 1 <= exit) {
    noteExit(realFrame(), exit);
    if (reached) goOn(to, true);
    return;
  }
  // The exit leaves the loop around as well.
  noteExit(outer - 1, exit);
  if (!reached) {
    effect(Op.BREAK, 0, 0);
    return;
  }
  const leave = openIf(loadVar(flagOf(realFrame()), 1));
  const after = nextNode(leave);
  cursorAtEnd(listFirst(leave, 0));
  effect(Op.BREAK, 0, 0);
  cursorAtEnd(after);
  resolve(to);
}

/** The next case of a switch, or its end. */
function nextCase(f: u32): void {
  if (frameNode[f] != 0) cursorAtEnd(nextNode(frameNode[f]));
  const k = frameNext[f] + 1;
  frameNext[f] = k;
  if (k < frameReturn[f]) {
    const row = frameResult[f] + 4 * k;
    let cond = caseCondition(f, row);
    if (leafPool[row + 3] != 0) cond = bin(Op.IOR, cond, loadVar(leafPool[row + 3] - 1, 1));
    if (failed()) return;
    const n = openIf(cond);
    frameNode[f] = n;
    cursorAtEnd(listFirst(n, 0));
    // The target may be an exit of a construct around the switch: then this is its branch.
    label = frameHeader[f];
    const to = leafPool[row];
    leafPool[row] = 0;
    const outside = exitFrame(to) != 0;
    leafPool[row] = to;
    if (outside) resolve(to);
    else enter(to);
    return;
  }
  const to = frameMerge[f];
  const exit = lowestExit(f);
  popFrame();
  if (exit < f) noteExit(realFrame(), exit);
  goOn(to, exit < f);
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
      if (framePhase[f] != 0) {
        closeIf(f);
        break;
      }
      framePhase[f] = 1;
      cursorAtEnd(listLast(frameNode[f], 1));
      label = frameHeader[f];
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
