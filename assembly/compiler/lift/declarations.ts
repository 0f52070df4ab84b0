/**
 * Declarations of a module: entry point, decorations, types, constants, variables; of functions only where they and their
 * blocks stand.
 */
import { failed, spend } from "../../base/index.ts";
import { SpvBuiltIn, SpvDecoration, SpvExecutionMode, SpvOp, SpvStorageClass } from "../../gen/spirv.ts";
import { Option, option, specRows } from "../io.ts";
import { constant, constantBool, constBits, isConst, nameBytes, setLocalSize } from "../ir/index.ts";
import { setInterface } from "./calls.ts";
import { setPreserving } from "./fold-words.ts";
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
  labelBranches,
  leafPool,
  malformed,
  newLeaves,
  ptrConst,
  ptrVar,
  setValue,
  typeA,
  typeKind,
  typeLeaves,
  unsupported,
  wordAt,
} from "./ids.ts";
import { noteBuffer, storePointer, zeroShared } from "./memory.ts";
import { nullLeaves, undefLeaves, valueAt } from "./operands.ts";
import { declareVariable, decorationBit } from "./pointers.ts";
import { Unsupported } from "./texts.ts";
import { forwardPointer, isPointerValue, liftType, TypeKind } from "./types.ts";
import { liftValue } from "./values.ts";

export let main: u32 = 0;

export let sizeIds: u32 = 0;

/** The function being scanned and the label being scanned. */
export let scanFunction: u32 = 0;

let scanLabel: u32 = 0;

/** Before the first declaration of a module. */
export function resetDeclarations(): void {
  main = 0;
  setPreserving(false);
  sizeIds = 0;
  scanFunction = 0;
  scanLabel = 0;
}

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
  else if (mode == SpvExecutionMode.SignedZeroInfNanPreserve) setPreserving(true);
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
      decStride[id] = decStride[id] | (min<u32>(value, 255) << 24);
      break;
    default: {
      const bit = decorationBit(wordAt(at + 2));
      if (bit != 0) idDec[id] = idDec[id] | bit;
      break;
    }
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
    if (idDec[group] != 0) idDec[id] = idDec[id] | idDec[group];
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

export function sizeOf(value: u32): u32 {
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

export function liftNull(op: u32, at: u32): void {
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
export function liftVariable(at: u32, count: u32): void {
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
export function scan(op: u32, at: u32, count: u32): void {
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
    } else if (op == SpvOp.OpBranch || op == SpvOp.OpBranchConditional) {
      for (let k: u32 = op == SpvOp.OpBranch ? 1 : 2; k < min<u32>(count, 4); k++) {
        const to = idAt(at + k);
        if (idClass[to] != IdClass.NONE && idClass[to] != IdClass.LABEL) malformed(at);
        labelBranches[to] = labelBranches[to] + 1;
      }
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
