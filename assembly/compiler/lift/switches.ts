/** Switches: an if for each case, in the order in which they fall into each other. */
import { failed, spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { SpvOp } from "../../gen/spirv.ts";
import {
  constant,
  constantBool,
  currentBlock,
  cursorAtEnd,
  listFirst,
  loadVar,
  nextNode,
  storeVar,
} from "../ir/index.ts";
import { bin, notB, tri } from "./fold-build.ts";
import {
  dropExits,
  exitsBetween,
  FrameKind,
  frameFlag,
  frameHeader,
  frameMerge,
  frameNext,
  frameNode,
  frameReach,
  frameResult,
  frameReturn,
  noteExits,
  popFrame,
  pushFrame,
  realFrame,
} from "./frames.ts";
import {
  IdClass,
  idAt,
  idClass,
  idLeaf,
  idType,
  isId,
  labelBranches,
  labelSwitch,
  leafPool,
  MAX_LEAVES,
  malformed,
  newPool,
  ptrConst,
  ptrRange,
  ptrVar,
  scratchA,
  typeB,
  typeKind,
  wordAt,
} from "./ids.ts";
import { valueAt } from "./operands.ts";
import {
  caseRow,
  endPath,
  enter,
  exitFrame,
  goOn,
  isCase,
  label,
  labelAt,
  merge,
  openIf,
  phiStores,
  resolve,
  setLabel,
} from "./paths.ts";
import { scalarWidth, TypeKind } from "./types.ts";
import { isPair, pair } from "./wide.ts";

/** Switches walked so far in this compile. */
let switches: u32 = 0;
/** Bit of the stamps that a walk leaves. */
const STAMPED: u32 = 1 << 31;

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
 * cases and exits of constructs around. `stamp` marks what this switch has walked. Without `whole` it goes from the
 * headers of the constructs inside to their merges at once, where what they hold falls into no case by itself.
 */
function fallsInto(from: u32, otherwise: u32, rows: u32, n: u32, end: u32, stamp: u32, whole: bool): u32 {
  let top: u32 = 0;
  scratchA[top++] = from;
  while (top > 0 && spend(1)) {
    const block = scratchA[--top];
    const at = terminatorOf(block);
    if (failed()) return 0;
    if (!whole) {
      const inner = mergeOf(block, at);
      if (inner != 0) {
        if (ptrRange[inner] != stamp && exitFrame(inner) == 0) {
          ptrRange[inner] = stamp;
          scratchA[top++] = inner;
        }
        continue;
      }
    }
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

/** The merge label of the construct that starts with the block of a label, 0 for none. `end`: the word of its branch. */
function mergeOf(block: u32, end: u32): u32 {
  if (ptrVar[block] != 0) return labelAt(ptrVar[block] + 1);
  // OpSelectionMerge has three words and stands right in front of the branch.
  const before = end - 3;
  return before > idType[block] && wordAt(before) == ((3 << 16) | SpvOp.OpSelectionMerge) ? labelAt(before + 1) : 0;
}

/** Row before which the default belongs so that each fall-through goes forward. */
function defaultPlace(otherwise: u32, rows: u32, n: u32, end: u32): u32 {
  // Mostly no branch but the switch itself goes to a case.
  let falls = labelBranches[otherwise];
  for (let k: u32 = 0; k < n && spend(1); k++) falls |= labelBranches[leafPool[rows + 4 * k]];
  if (falls == 0) return n;
  const place = placeOf(otherwise, rows, n, end, false);
  return place <= n ? place : min<u32>(placeOf(otherwise, rows, n, end, true), n);
}

/** As `defaultPlace`; n + 1 where neither the default falls nor a case into it. */
function placeOf(otherwise: u32, rows: u32, n: u32, end: u32, whole: bool): u32 {
  // The column holds numbers of branches, too.
  const stamp = STAMPED | ++switches;
  const next = fallsInto(otherwise, otherwise, rows, n, end, stamp, whole);
  for (let k: u32 = 0; k < n && !failed(); k++) {
    const row = leafPool[rows + 4 * k];
    if (row == next) return k;
    if (next == 0 && fallsInto(row, otherwise, rows, n, end, stamp, whole) == otherwise) return k + 1;
  }
  return n + 1;
}

/** Before the first switch of a module. */
export function resetSwitches(): void {
  switches = 0;
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
  const pool = newPool(4 * (literals + 1) + 3);
  const rows = pool + 3;
  if (failed()) return;
  const value = width == 64 ? wideLeaf(idLeaf[selector]) : leafPool[idLeaf[selector]];
  // Literals of a narrow signed selector are sign-extended words.
  leafPool[pool] = at;
  leafPool[pool + 1] =
    width < 32 && typeB[idType[selector]] != 0 ? tri(Op.IBFE, value, constant(0), constant(width)) : value;
  leafPool[pool + 2] = 0;
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
  for (let k: u32 = 0; k < n; k++) labelSwitch[leafPool[rows + 4 * k]] = f + 1;
  // A selector that fits no case goes to the merge where that is the default; else a case does.
  frameReach[f] = 1;
  endPath();
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

/** The word of a switch frame's OpSwitch. */
function programCounterOfSwitch(f: u32): u32 {
  return leafPool[frameResult[f] - 3];
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

/** The next case of a switch, or its end. */
export function nextCase(f: u32): void {
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
    // Exits from earlier cases that fell into this one.
    if (leafPool[row + 3] != 0 && frameFlag[f] != 0) storeVar(frameFlag[f] - 1, constantBool(false));
    // The target may be an exit of a construct around the switch: then this is its branch.
    setLabel(frameHeader[f]);
    const to = leafPool[row];
    leafPool[row] = 0;
    const outside = exitFrame(to) != 0;
    leafPool[row] = to;
    if (outside) resolve(to);
    else enter(to);
    return;
  }
  const to = frameMerge[f];
  const exits = exitsBetween(f, 0, f);
  popFrame();
  noteExits(realFrame(), exits);
  goOn(to, exits);
  dropExits(exits);
}
