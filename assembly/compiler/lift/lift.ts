/**
 * SPIR-V words to IR: one pass over the module's declarations, then the entry point's function with its calls inlined.
 * What it cannot lift fails with a code and the place; nothing is guessed. Ids are checked here, dominance by
 * `src/spirv` before; `repair.ts` carries it over to the tree, and the IR validator runs right after.
 */
import { Fail, fail, failed, Limit, spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  SpvBuiltIn,
  SpvDecoration,
  SpvExecutionMode,
  SpvExecutionModel,
  SpvOp,
  SpvStorageClass,
} from "../../gen/spirv.ts";
import { MAX_WORDS, Option, option, specRows, words } from "../io.ts";
import {
  appendBlock,
  buildPreds,
  clearSources,
  constant,
  constantBool,
  constBits,
  cursorAtEnd,
  effect,
  enterPlace,
  entryBlock,
  erase,
  firstInstr,
  ifInstr,
  isConst,
  isReachable,
  Kind,
  kindOf,
  localSize,
  nameBytes,
  newInstr,
  nextBlock,
  nextInstr,
  nextNode,
  place0,
  resetShader,
  setLocalSize,
  setShaderNameLength,
  setStage,
  stage,
  unlinkNode,
} from "../ir/index.ts";
import { isAtomic, liftAtomic } from "./atomics.ts";
import {
  advance,
  branchTo,
  endPath,
  enterMain,
  hasEnded,
  isRunning,
  liftBranchConditional,
  liftCall,
  liftKill,
  liftPhi,
  liftReturn,
  liftSwitch,
  programCounter,
  selectionMerge,
  setInterface,
  unwind,
} from "./control.ts";
import { resetFrames } from "./frames.ts";
import {
  addMemberDecoration,
  decBinding,
  decBuiltIn,
  decSet,
  decSpecId,
  decStride,
  IdClass,
  idAt,
  idClass,
  idDec,
  idLeaf,
  idType,
  leafPool,
  MAX_IDS,
  malformed,
  newLeaves,
  ptrConst,
  ptrVar,
  resetIds,
  setValue,
  typeA,
  typeKind,
  typeLeaves,
  unsupported,
  wordAt,
} from "./ids.ts";
import { liftImage, loadOpaque } from "./images.ts";
import { STAGE_FRAGMENT, STAGE_VERTEX } from "./interface.ts";
import { arrayLength, noteBuffer, resetShared, startShared, storePointer, zeroShared } from "./memory.ts";
import { liftBarrier } from "./ordering.ts";
import { resetOutputs } from "./outputs.ts";
import { liftPointerPair } from "./pointer-values.ts";
import { accessChain, copyPointer, declareVariable, decorationBit, resetPointers } from "./pointers.ts";
import { repairDominance } from "./repair.ts";
import { isSubgroupOp, liftSubgroup } from "./subgroups.ts";
import { Unsupported } from "./texts.ts";
import { forwardPointer, isPointerValue, liftType, TypeKind } from "./types.ts";
import { liftCopyMemory, liftLoad, liftStore, liftValue, nullLeaves, operand, undefLeaves, valueAt } from "./values.ts";

const SPIRV_MAGIC: u32 = 0x0723_0203;

let main: u32 = 0;
let sizeIds: u32 = 0;
/** The function being scanned and the label being scanned. */
let scanFunction: u32 = 0;
let scanLabel: u32 = 0;

function wordsEqualName(at: u32, count: u32): bool {
  const length = option(Option.NAME_BYTES);
  for (let k: u32 = 0; k <= length; k++) {
    if (k >> 2 >= count) return false;
    const byte = (wordAt(at + (k >> 2)) >> (8 * (k & 3))) & 0xff;
    if (byte != (k < length ? nameBytes[k] : 0)) return false;
  }
  return true;
}

function liftEntryPoint(at: u32, count: u32): void {
  if (wordAt(at + 1) != option(Option.MODEL) || !wordsEqualName(at + 3, count - 3)) return;
  main = idAt(at + 2);
  let name: u32 = at + 3;
  // The name ends with the first word that holds a zero byte.
  for (; name < at + count; name++) {
    const w = wordAt(name);
    if ((w & 0xff) == 0 || (w & 0xff00) == 0 || (w & 0xff_0000) == 0 || (w & 0xff00_0000) == 0) break;
  }
  setInterface(name + 1, at + count - name - 1);
}

function liftExecutionMode(at: u32, count: u32): void {
  if (idAt(at + 1) != main) return;
  const mode = wordAt(at + 2);
  if (mode == SpvExecutionMode.LocalSize && count >= 6) setLocalSize(wordAt(at + 3), wordAt(at + 4), wordAt(at + 5));
  else if (mode == SpvExecutionMode.LocalSizeId && count >= 6) sizeIds = at + 3;
}

function liftDecorate(at: u32, count: u32): void {
  const id = idAt(at + 1);
  const value = count > 3 ? wordAt(at + 3) : 0;
  switch (wordAt(at + 2)) {
    case SpvDecoration.Binding:
      decBinding[id] = value + 1;
      break;
    case SpvDecoration.DescriptorSet:
      decSet[id] = value + 1;
      break;
    case SpvDecoration.BuiltIn:
      decBuiltIn[id] = value + 1;
      break;
    case SpvDecoration.SpecId:
      decSpecId[id] = value + 1;
      break;
    case SpvDecoration.ArrayStride:
      decStride[id] = value;
      break;
    case SpvDecoration.Location:
      decStride[id] = decStride[id] | ((value + 1) & 0xffff);
      break;
    case SpvDecoration.Component:
      decStride[id] = decStride[id] | ((value & 3) << 16);
      break;
    case SpvDecoration.Index:
      decStride[id] = decStride[id] | (value << 24);
      break;
    default:
      idDec[id] = idDec[id] | decorationBit(wordAt(at + 2));
      break;
  }
}

/** OpGroupDecorate: the group's decorations, which stand before, are copied. */
function liftGroup(at: u32, count: u32): void {
  const group = idAt(at + 1);
  for (let k: u32 = 2; k < count && !failed(); k++) {
    const id = idAt(at + k);
    if (decBinding[group] != 0) decBinding[id] = decBinding[group];
    if (decSet[group] != 0) decSet[id] = decSet[group];
    if (decBuiltIn[group] != 0) decBuiltIn[id] = decBuiltIn[group];
    if (decSpecId[group] != 0) decSpecId[id] = decSpecId[group];
    if (decStride[group] != 0) decStride[id] = decStride[group];
    idDec[id] = idDec[id] | idDec[group];
  }
}

/** OpGroupMemberDecorate: the group's decorations, which stand before, become the members'. */
function liftGroupMembers(at: u32, count: u32): void {
  const group = idAt(at + 1);
  for (let k: u32 = 5; k < at && !failed(); k += max<u32>(wordAt(k) >> 16, 1)) {
    if ((wordAt(k) & 0xffff) != SpvOp.OpDecorate || wordAt(k + 1) != group || !spend(1)) continue;
    const value = wordAt(k) >> 16 > 3 ? wordAt(k + 3) : 0;
    for (let m: u32 = 2; m + 1 < count && !failed(); m += 2) {
      addMemberDecoration(idAt(at + m), wordAt(at + m + 1), wordAt(k + 2), value);
    }
  }
}

/** Row of a specialisation value for a constant, or -1. */
function specRow(id: u32): i32 {
  if (decSpecId[id] == 0) return -1;
  const count = option(Option.SPEC_COUNT);
  for (let k: u32 = 0; k < count; k++) if (specRows[3 * k] == decSpecId[id] - 1) return <i32>k;
  return -1;
}

function liftScalarConstant(op: u32, at: u32): void {
  const type = idAt(at + 1);
  const id = idAt(at + 2);
  const kind = typeKind[type];
  if (kind != TypeKind.BOOL && kind != TypeKind.INT && kind != TypeKind.FLOAT) {
    malformed(at);
    return;
  }
  const isBool = kind == TypeKind.BOOL;
  const width: u32 = isBool ? 1 : typeA[type];
  if (width != 1 && width != 8 && width != 16 && width != 32 && width != 64) {
    unsupported(Unsupported.WIDTH, width);
    return;
  }
  let bits: u32 = isBool ? (op == SpvOp.OpConstantTrue || op == SpvOp.OpSpecConstantTrue ? 1 : 0) : wordAt(at + 3);
  let upper: u32 = width == 64 ? wordAt(at + 4) : 0;
  const row = op >= <u32>SpvOp.OpSpecConstantTrue ? specRow(id) : -1;
  if (row >= 0) {
    bits = isBool ? (specRows[3 * row + 1] != 0 ? 1 : 0) : specRows[3 * row + 1];
    upper = specRows[3 * row + 2];
  }
  // Narrow literals are sign-extended in the module; leaves have zeros above.
  if (width == 8 || width == 16) bits &= ((<u32>1) << width) - 1;
  const leaf = newLeaves(width == 64 ? 2 : 1);
  leafPool[leaf] = isBool ? constantBool(bits != 0) : constant(bits);
  if (width == 64) leafPool[leaf + 1] = constant(upper);
  setValue(id, type, leaf);
}

function liftCompositeConstant(at: u32, count: u32): void {
  const id = idAt(at + 2);
  for (let k: u32 = 3; k < count && !failed(); k++) {
    if (idClass[idAt(at + k)] == IdClass.UNSUPPORTED) {
      idClass[id] = IdClass.UNSUPPORTED;
      return;
    }
  }
  liftValue(SpvOp.OpCompositeConstruct, at, count, 3);
  if (failed() || decBuiltIn[id] != SpvBuiltIn.WorkgroupSize + 1 || typeLeaves[idType[id]] != 3) return;
  sizeIds = 0;
  const leaf = idLeaf[id];
  setLocalSize(sizeOf(leafPool[leaf]), sizeOf(leafPool[leaf + 1]), sizeOf(leafPool[leaf + 2]));
}

function sizeOf(value: u32): u32 {
  return isConst(value) ? constBits(value) : 0;
}

/** OpSpecConstantOp: the op's operands start one word later; all are constants, so it folds. */
function liftSpecOp(at: u32, count: u32): void {
  const op = wordAt(at + 3);
  const id = idAt(at + 2);
  if (op == SpvOp.OpAccessChain || op == SpvOp.OpInBoundsAccessChain || op == SpvOp.OpPtrAccessChain) {
    unsupported(Unsupported.SPEC_OP, op);
    return;
  }
  const type = idAt(at + 1);
  if (!liftValue(op, at, count, 4)) unsupported(Unsupported.SPEC_OP, op);
  if (failed() || idClass[id] != IdClass.VALUE) return;
  for (let k: u32 = 0; k < typeLeaves[type]; k++) {
    if (!isConst(leafPool[idLeaf[id] + k])) {
      unsupported(Unsupported.SPEC_OP, op);
      return;
    }
  }
}

function liftNull(op: u32, at: u32): void {
  const type = idAt(at + 1);
  const id = idAt(at + 2);
  if (idClass[type] != IdClass.TYPE) {
    malformed(at);
    return;
  }
  if (typeKind[type] >= <u32>TypeKind.POINTER && !isPointerValue(type)) {
    idClass[id] = IdClass.UNSUPPORTED;
    return;
  }
  const leaf = newLeaves(typeLeaves[type]);
  if (failed()) return;
  if (op == SpvOp.OpUndef) undefLeaves(type, leaf);
  else nullLeaves(type, leaf);
  setValue(id, type, leaf);
}

/** OpVariable of the module or of a function (its initializer is stored where the cursor is). */
function liftVariable(at: u32, count: u32): void {
  const pointer = idAt(at + 1);
  const id = idAt(at + 2);
  if (typeKind[pointer] != TypeKind.POINTER || idClass[typeA[pointer]] != IdClass.TYPE) {
    malformed(at);
    return;
  }
  // A function's variable keeps its IR variables when the function is inlined again.
  if (idClass[id] != IdClass.POINTER) {
    declareVariable(id, pointer, wordAt(at + 3));
    if (wordAt(at + 3) == SpvStorageClass.StorageBuffer) noteBuffer(id);
  }
  if (count < 5) return;
  const value = valueAt(at + 4);
  if (failed()) return;
  if (typeLeaves[idType[value]] != typeLeaves[idType[id]]) malformed(at);
  else if (wordAt(at + 3) == SpvStorageClass.Workgroup) zeroShared(id);
  else storePointer(id, idLeaf[value], 0, 0);
}

/** Declarations, in module order; inside functions only where things are. */
function scan(op: u32, at: u32, count: u32): void {
  if (scanFunction != 0) {
    if (op == SpvOp.OpLabel) {
      scanLabel = idAt(at + 1);
      if (idClass[scanLabel] != IdClass.NONE) malformed(at);
      idClass[scanLabel] = IdClass.LABEL;
      idType[scanLabel] = at;
      if (ptrConst[scanFunction] == 0) ptrConst[scanFunction] = scanLabel;
    } else if (op == SpvOp.OpLoopMerge) {
      if (count < 4) malformed(at);
      ptrVar[scanLabel] = at;
    } else if (op == SpvOp.OpFunctionEnd) {
      scanFunction = 0;
    }
    return;
  }
  switch (op) {
    case SpvOp.OpExtInstImport: {
      // "GLSL.std.450", "NonSemantic.…"
      const glsl = wordAt(at + 2) == 0x4c53_4c47 && wordAt(at + 3) == 0x6474_732e && wordAt(at + 4) == 0x3035_342e;
      const other = wordAt(at + 2) == 0x536e_6f4e && wordAt(at + 3) == 0x6e61_6d65;
      idClass[idAt(at + 1)] = glsl ? IdClass.EXT_GLSL : other ? IdClass.EXT_OTHER : IdClass.UNSUPPORTED;
      break;
    }
    case SpvOp.OpEntryPoint:
      liftEntryPoint(at, count);
      break;
    case SpvOp.OpExecutionMode:
    case SpvOp.OpExecutionModeId:
      liftExecutionMode(at, count);
      break;
    case SpvOp.OpDecorate:
    case SpvOp.OpDecorateId:
      liftDecorate(at, count);
      break;
    case SpvOp.OpMemberDecorate:
      addMemberDecoration(idAt(at + 1), wordAt(at + 2), wordAt(at + 3), count > 4 ? wordAt(at + 4) : 0);
      break;
    case SpvOp.OpGroupDecorate:
      liftGroup(at, count);
      break;
    case SpvOp.OpGroupMemberDecorate:
      liftGroupMembers(at, count);
      break;
    case SpvOp.OpConstantTrue:
    case SpvOp.OpConstantFalse:
    case SpvOp.OpConstant:
    case SpvOp.OpSpecConstantTrue:
    case SpvOp.OpSpecConstantFalse:
    case SpvOp.OpSpecConstant:
      liftScalarConstant(op, at);
      break;
    case SpvOp.OpConstantComposite:
    case SpvOp.OpSpecConstantComposite:
      liftCompositeConstant(at, count);
      break;
    case SpvOp.OpSpecConstantOp:
      liftSpecOp(at, count);
      break;
    case SpvOp.OpConstantNull:
    case SpvOp.OpUndef:
      liftNull(op, at);
      break;
    case SpvOp.OpVariable:
      liftVariable(at, count);
      break;
    case SpvOp.OpFunction:
      scanFunction = idAt(at + 2);
      if (count != 5 || idClass[scanFunction] != IdClass.NONE) malformed(at);
      idClass[scanFunction] = IdClass.FUNCTION;
      idType[scanFunction] = at;
      scanLabel = 0;
      break;
    default:
      if (op == SpvOp.OpTypeForwardPointer) forwardPointer(at);
      else if (op >= <u32>SpvOp.OpTypeVoid && op <= <u32>SpvOp.OpTypeFunction) liftType(op, at, count);
      else if (op > <u32>SpvOp.OpTypeFunction && op <= <u32>SpvOp.OpTypePipe)
        idClass[idAt(at + 1)] = IdClass.UNSUPPORTED;
      break;
  }
}

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
  main = 0;
  sizeIds = 0;
  scanFunction = 0;
  scanLabel = 0;
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
  repairDominance();
}
