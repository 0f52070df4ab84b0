/**
 * SPIR-V words to IR: one pass over the module's declarations, then the entry point's function with its calls inlined.
 * What it cannot lift fails with a code and the place; nothing is guessed. Ids are checked here, dominance by
 * `src/spirv` before; the IR validator runs right after, and `repair.ts` carries dominance over to the tree where it must.
 */
import { Fail, fail, failed, Limit, spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { SpvExecutionModel, SpvOp } from "../../gen/spirv.ts";
import { MAX_WORDS, Option, option, words } from "../io.ts";
import {
  appendBlock,
  buildPreds,
  clearSources,
  computeDominance,
  cursorAtEnd,
  effect,
  enterPlace,
  entryBlock,
  erase,
  firstInstr,
  ifInstr,
  isReachable,
  Kind,
  kindOf,
  localSize,
  newInstr,
  nextBlock,
  nextInstr,
  nextNode,
  place0,
  resetShader,
  STAGE_FRAGMENT,
  STAGE_VERTEX,
  setLocalSize,
  setShaderNameLength,
  setStage,
  stage,
  unlinkNode,
} from "../ir/index.ts";
import { isAtomic, liftAtomic } from "./atomics.ts";
import { enterMain, isRunning, liftCall, liftKill, liftReturn, setInterface } from "./calls.ts";
import { liftBranchConditional, liftPhi, unwind } from "./control.ts";
import {
  liftNull,
  liftVariable,
  main,
  resetDeclarations,
  scan,
  scanFunction,
  sizeIds,
  sizeOf,
} from "./declarations.ts";
import { resetFrames } from "./frames.ts";
import {
  IdClass,
  idAt,
  idClass,
  leafPool,
  MAX_IDS,
  malformed,
  newLeaves,
  ptrConst,
  resetIds,
  setValue,
  unsupported,
  wordAt,
} from "./ids.ts";
import { liftImage, loadOpaque } from "./images.ts";
import { arrayLength, resetShared, startShared } from "./memory.ts";
import { operand } from "./operands.ts";
import { liftBarrier } from "./ordering.ts";
import { resetOutputs } from "./outputs.ts";
import { advance, branchTo, endPath, hasEnded, programCounter, selectionMerge } from "./paths.ts";
import { liftPointerPair } from "./pointer-values.ts";
import { accessChain, copyPointer, resetPointers } from "./pointers.ts";
import { isSubgroupOp, liftSubgroup } from "./subgroups.ts";
import { liftSwitch } from "./switches.ts";
import { Unsupported } from "./texts.ts";
import { liftCopyMemory, liftLoad, liftStore, liftValue } from "./values.ts";

const SPIRV_MAGIC: u32 = 0x0723_0203;

/** One instruction of a block. */
function liftInstr(op: u32, at: u32, count: u32): void {
  switch (op) {
    case SpvOp.OpNop:
    case SpvOp.OpNoLine:
    case SpvOp.OpLoopMerge:
    case SpvOp.OpLabel:
      return;
    case SpvOp.OpLine:
      enterPlace(wordAt(at + 1), wordAt(at + 2), wordAt(at + 3));
      return;
    case SpvOp.OpSelectionMerge:
      selectionMerge(idAt(at + 1));
      if (idClass[idAt(at + 1)] != IdClass.LABEL) malformed(at);
      return;
    case SpvOp.OpPhi:
      liftPhi(at);
      return;
    case SpvOp.OpVariable:
      liftVariable(at, count);
      return;
    case SpvOp.OpLoad:
      if (!loadOpaque(at)) liftLoad(at, count);
      return;
    case SpvOp.OpStore:
      liftStore(at, count);
      return;
    case SpvOp.OpCopyMemory:
      liftCopyMemory(at, count);
      return;
    case SpvOp.OpAccessChain:
    case SpvOp.OpInBoundsAccessChain:
      accessChain(at, count, false);
      return;
    case SpvOp.OpPtrAccessChain:
    case SpvOp.OpInBoundsPtrAccessChain:
      accessChain(at, count, true);
      return;
    case SpvOp.OpPtrEqual:
    case SpvOp.OpPtrNotEqual:
    case SpvOp.OpPtrDiff:
      liftPointerPair(op, at);
      return;
    case SpvOp.OpArrayLength:
      arrayLength(at);
      return;
    case SpvOp.OpFunctionCall:
      liftCall(at, count);
      return;
    case SpvOp.OpControlBarrier:
    case SpvOp.OpMemoryBarrier:
      liftBarrier(op, at);
      return;
    case SpvOp.OpBranch: {
      const to = idAt(at + 1);
      if (idClass[to] != IdClass.LABEL) malformed(at);
      else branchTo(to);
      return;
    }
    case SpvOp.OpBranchConditional:
      liftBranchConditional(at);
      return;
    case SpvOp.OpSwitch:
      liftSwitch(at, count);
      return;
    case SpvOp.OpReturn:
      liftReturn(at, false);
      return;
    case SpvOp.OpReturnValue:
      liftReturn(at, true);
      return;
    case SpvOp.OpUnreachable:
      endPath();
      return;
    case SpvOp.OpKill:
    case SpvOp.OpTerminateInvocation:
      liftKill();
      return;
    case SpvOp.OpDemoteToHelperInvocation:
      effect(Op.DEMOTE, 0, 0);
      return;
    case SpvOp.OpConstantNull:
      liftNull(op, at);
      return;
    default:
      break;
  }
  if (op == SpvOp.OpCopyObject && idClass[idAt(at + 3)] == IdClass.POINTER) {
    copyPointer(idAt(at + 2), idAt(at + 3));
    return;
  }
  if (op == SpvOp.OpIsHelperInvocationEXT) {
    const leaf = newLeaves(1);
    leafPool[leaf] = place0(newInstr(Op.LOAD_HELPER, 1, 1, 0));
    setValue(idAt(at + 2), idAt(at + 1), leaf);
    return;
  }
  if (liftImage(op, at, count)) return;
  if (isSubgroupOp(op)) {
    liftSubgroup(op, at, count);
    return;
  }
  if (isAtomic(op)) {
    liftAtomic(op, at);
    return;
  }
  if (!liftValue(op, at, count, 3)) fail(Fail.UNSUPPORTED_OP, op, at, 0);
}

/** Empties unreachable blocks and takes out what follows them in their lists. */
function dropUnreachable(): void {
  buildPreds();
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    if (isReachable(b)) continue;
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) clearSources(i);
    // Also of those that go with what is around them, which nobody looks into then.
    const next = nextNode(b);
    if (next != 0 && kindOf(next) == Kind.IF) clearSources(ifInstr(next));
  }
  let changed = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    if (isReachable(b)) continue;
    for (let i = firstInstr(b); i != 0; i = firstInstr(b)) erase(i);
    while (nextNode(b) != 0) {
      unlinkNode(nextNode(b));
      changed = true;
    }
  }
  if (changed) buildPreds();
}

/** Lifts the module in `words` for the entry point that the options name. */
export function lift(): void {
  resetShader();
  resetFrames();
  resetShared();
  resetPointers();
  const total = option(Option.WORD_COUNT);
  if (total < 5 || total > MAX_WORDS || words[0] != SPIRV_MAGIC) {
    malformed(0);
    return;
  }
  if (words[3] > MAX_IDS) {
    fail(Fail.LIMIT, Limit.IDS, MAX_IDS, 0);
    return;
  }
  const model = option(Option.MODEL);
  if (
    model != SpvExecutionModel.GLCompute &&
    model != SpvExecutionModel.Vertex &&
    model != SpvExecutionModel.Fragment
  ) {
    unsupported(Unsupported.EXECUTION_MODEL, model);
    return;
  }
  resetIds(words[3]);
  setShaderNameLength(option(Option.NAME_BYTES));
  setStage(
    model == SpvExecutionModel.GLCompute ? 0 : model == SpvExecutionModel.Vertex ? STAGE_VERTEX : STAGE_FRAGMENT,
  );
  resetOutputs();
  setInterface(0, 0);
  if (stage() != 0) setLocalSize(1, 1, 1);
  resetDeclarations();
  cursorAtEnd(appendBlock(0, 0));
  for (let at: u32 = 5; at < total && !failed(); ) {
    const op = words[at] & 0xffff;
    const count = words[at] >> 16;
    if (count == 0 || at + count > total) {
      malformed(at);
      return;
    }
    if (!spend(1)) return;
    scan(op, at, count);
    at += count;
  }
  if (failed()) return;
  if (scanFunction != 0) {
    malformed(total);
    return;
  }
  if (main == 0 || idClass[main] != IdClass.FUNCTION || ptrConst[main] == 0) {
    fail(Fail.NO_ENTRY, 0, 0, 0);
    return;
  }
  if (sizeIds != 0) {
    setLocalSize(
      sizeOf(leafPool[operand(sizeIds, 1)]),
      sizeOf(leafPool[operand(sizeIds + 1, 1)]),
      sizeOf(leafPool[operand(sizeIds + 2, 1)]),
    );
  }
  const invocations = <u64>localSize(0) * localSize(1) * localSize(2);
  if (failed()) return;
  // 1024 invocations are what a workgroup may have (gfx1030.md §5).
  if (invocations == 0 || invocations > 1024 || localSize(0) > 1024 || localSize(1) > 1024 || localSize(2) > 1024) {
    fail(Fail.LIMIT, 14, invocations > 0xffff_ffff ? 0xffff_ffff : <u32>invocations, 1024);
    return;
  }
  if (stage() == 0) startShared();
  enterMain(main);
  while (isRunning() && !failed()) {
    if (!spend(1)) return;
    if (hasEnded()) {
      unwind();
      continue;
    }
    const at = programCounter();
    const word = wordAt(at);
    if (failed() || word >> 16 == 0) {
      malformed(at);
      return;
    }
    advance(word >> 16);
    liftInstr(word & 0xffff, at, word >> 16);
  }
  if (failed()) return;
  dropUnreachable();
  computeDominance();
}
