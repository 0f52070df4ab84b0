/** Selection of one IR block, and the phi copies at its end. */
import { Fail, failAt } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  blockOf,
  componentsOf,
  firstInstr,
  firstUse,
  imm,
  instrPlace,
  Kind,
  kindOf,
  nextInstr,
  nextNode,
  nextUse,
  opOf,
  parentOf,
  pred,
  predCount,
  predIndex,
  src,
  useCount,
  userOf,
  widthOf,
} from "../ir/index.ts";
import { aliasOf } from "./alias.ts";
import { copy, inVgpr, raw } from "./build.ts";
import { selectCarries } from "./carries.ts";
import { classOf, ValueClass } from "./classes.ts";
import { mDst0, valueNeed, valueOperand } from "./columns.ts";
import { selectDescriptorAddress } from "./descriptors.ts";
import { endPixels, startPixels } from "./exact.ts";
import { isPushInlined, P_UNDEFINED, pushDword, pushOffset, threadId, workgroupCount, workgroupId } from "./launch.ts";
import {
  component,
  isVreg,
  newVreg,
  operandComponent,
  operandSize,
  operandVreg,
  RegClass,
  setMachineAlias,
  setMachinePlace,
  vregOperand,
} from "./machine.ts";
import { Sel, selOf } from "./sel.ts";
import { selectMask, selectScalar, selectVector } from "./select-alu.ts";
import { selectCombined } from "./select-combined.ts";
import { isDouble, selectDouble } from "./select-double.ts";
import { isGlobal, selectGlobalAtomic, selectGlobalLoad, selectGlobalStore } from "./select-global.ts";
import { selectGraphics } from "./select-graphics.ts";
import { selectImages } from "./select-images.ts";
import {
  selectBufferAtomic,
  selectBufferLoad,
  selectBufferSize,
  selectBufferStore,
  selectPush,
} from "./select-memory.ts";
import { selectScratchLoad, selectScratchStore } from "./select-scratch.ts";
import { selectBarrier, selectSharedAtomic, selectSharedLoad, selectSharedStore } from "./select-shared.ts";
import { selectTableLoad } from "./select-table.ts";
import { selectWave } from "./select-wave.ts";
import { maskOf, operandOf, phiOperand } from "./values.ts";
import { closeWaterfall } from "./waterfall.ts";

/** The register of a system value, moved where the value's class wants it. */
function system(i: u32, operand: u32): void {
  valueOperand[i] = classOf(i) == ValueClass.VGPR ? inVgpr(operand) : operand;
}

function extract(i: u32): void {
  const tuple = src(i, 0);
  const k = imm(i, 0);
  if (opOf(tuple) == Op.VEC) {
    valueOperand[i] = operandOf(src(tuple, k));
    return;
  }
  if (opOf(tuple) == Op.LOAD_PUSH && isPushInlined() && classOf(i) == ValueClass.SGPR) {
    valueOperand[i] = pushDword(<u32>pushOffset(tuple) / 4 + k);
    return;
  }
  const operand = operandOf(tuple);
  valueOperand[i] = isVreg(operand)
    ? vregOperand(operandVreg(operand), 1, operandComponent(operand) + k)
    : component(operand, operandSize(operand) == 1 ? 0 : k);
}

/** Every reader takes a component that stays in SGPRs. */
function isOnlyExtracted(i: u32): bool {
  if (componentsOf(i) == 1) return false;
  for (let slot = firstUse(i); slot != 0; slot = nextUse(slot)) {
    if (opOf(userOf(slot)) != Op.EXTRACT || classOf(userOf(slot)) != ValueClass.SGPR) return false;
  }
  return true;
}

function selectInstr(i: u32): void {
  switch (opOf(i)) {
    case Op.CONST:
    case Op.UNDEF:
    case Op.PHI:
    case Op.VEC:
    case Op.BREAK:
    case Op.CONTINUE:
    case Op.END:
      return;
    case Op.EXTRACT:
      extract(i);
      return;
    case Op.LOAD_UBO:
    case Op.LOAD_SSBO:
      if (isGlobal(i)) selectGlobalLoad(i);
      else selectBufferLoad(i);
      return;
    case Op.STORE_SSBO:
      startPixels();
      if (isGlobal(i)) selectGlobalStore(i);
      else selectBufferStore(i);
      return;
    case Op.SSBO_ATOMIC:
    case Op.SSBO_ATOMIC_CMPSWAP:
      startPixels();
      if (isGlobal(i)) selectGlobalAtomic(i);
      else selectBufferAtomic(i);
      return;
    case Op.SSBO_SIZE:
      selectBufferSize(i);
      return;
    case Op.DESCRIPTOR_ADDRESS:
      if (useCount(i) > 0) selectDescriptorAddress(i);
      return;
    case Op.LOAD_PUSH:
      if (!isPushInlined() || !isOnlyExtracted(i)) selectPush(i);
      return;
    case Op.LOAD_TABLE:
      if (useCount(i) > 0) selectTableLoad(i);
      return;
    case Op.LOAD_SHARED:
      selectSharedLoad(i);
      return;
    case Op.STORE_SHARED:
      selectSharedStore(i);
      return;
    case Op.LOAD_SCRATCH:
      if (useCount(i) > 0) selectScratchLoad(i);
      return;
    case Op.STORE_SCRATCH:
      selectScratchStore(i);
      return;
    case Op.SHARED_ATOMIC:
    case Op.SHARED_ATOMIC_CMPSWAP:
      selectSharedAtomic(i);
      return;
    case Op.BARRIER:
    case Op.MEMORY_BARRIER:
      selectBarrier(i);
      return;
    case Op.BALLOT:
    case Op.READ_FIRST_LANE:
    case Op.READ_LANE:
    case Op.SHUFFLE:
    case Op.LOAD_LANE_ID:
      selectWave(i);
      return;
    case Op.WAVE_REDUCE:
    case Op.WAVE_SCAN:
      if (useCount(i) > 0) selectCombined(i);
      return;
    case Op.LOAD_LOCAL_ID:
      system(i, threadId(imm(i, 0)));
      return;
    case Op.LOAD_WORKGROUP_ID:
      system(i, workgroupId(imm(i, 0)));
      return;
    case Op.LOAD_NUM_WORKGROUPS:
      system(i, workgroupCount(imm(i, 0)));
      return;
    default:
      break;
  }
  if (selectGraphics(i) || selectImages(i)) return;
  if (isDouble(opOf(i))) {
    if (useCount(i) > 0) selectDouble(i);
    return;
  }
  if (selectCarries(i)) return;
  const c = classOf(i);
  if (c == ValueClass.NONE) failAt(instrPlace[i], Fail.BACKEND_UNSUPPORTED, opOf(i), 0, 0);
  else if (useCount(i) == 0) return;
  else if (c == ValueClass.MASK) selectMask(i);
  else if (c == ValueClass.SGPR) selectScalar(i);
  else selectVector(i);
}

/** Instructions of an IR block; jumps and phi copies are the caller's. */
export function selectBlock(b: u32): void {
  // Phis of a block that an if alone leads to: their one source is theirs at its start.
  const single =
    predCount(b) == 1 && parentOf(b) != 0 && kindOf(parentOf(b)) == Kind.IF && nextNode(pred(b, 0)) == parentOf(b);
  for (let i = firstInstr(b); i != 0; i = nextInstr(i)) {
    const sel = selOf(i);
    if (sel == Sel.LAZY || sel == Sel.ABSORBED || sel == Sel.ABSORBED_MIX) continue;
    setMachinePlace(instrPlace[i]);
    setMachineAlias(aliasOf(i));
    if (single && opOf(i) == Op.PHI) copyValue(phiOperand(i), src(i, 0));
    else selectInstr(i);
    closeWaterfall();
    endPixels();
  }
}

/** dst = the IR value, whatever its width and size. */
function copyValue(dst: u32, value: u32): void {
  if (widthOf(value) == 1) {
    copy(dst, maskOf(value));
    return;
  }
  const size = operandSize(dst);
  if (opOf(value) == Op.VEC) {
    for (let k: u32 = 0; k < size; k++) copy(component(dst, k), operandOf(src(value, k)));
    return;
  }
  const operand = operandOf(value);
  for (let k: u32 = 0; k < size; k++) {
    copy(size == 1 ? dst : component(dst, k), size == 1 || operandSize(operand) == 1 ? operand : component(operand, k));
  }
}

/**
 * Copies the sources of block `s`'s phis for the edge from `b`, at the end of `b`. All phis read at once: a source that
 * is itself a phi of `s` is read into a register of its own first; coalescing takes the needless ones away.
 */
export function copyPhis(b: u32, s: u32): void {
  const k = predIndex(s, b);
  if (k < 0) return;
  for (let phi = firstInstr(s); phi != 0 && opOf(phi) == Op.PHI; phi = nextInstr(phi)) {
    const value = src(phi, k);
    // The column is free by now: it holds the register of a source that was read early.
    valueNeed[phi] = 0;
    if (opOf(value) != Op.PHI || value == phi || blockOf(value) != s) continue;
    const held = newVreg(classOf(phi) == ValueClass.VGPR ? RegClass.VGPR : RegClass.SGPR, componentsOf(phi));
    copyValue(held, value);
    valueNeed[phi] = held;
  }
  for (let phi = firstInstr(s); phi != 0 && opOf(phi) == Op.PHI; phi = nextInstr(phi)) {
    if (useCount(phi) == 0) continue;
    const value = src(phi, k);
    if (value == phi) continue;
    const held = valueNeed[phi];
    if (held != 0) {
      const dst = phiOperand(phi);
      const size = operandSize(dst);
      for (let c: u32 = 0; c < size; c++)
        copy(size == 1 ? dst : component(dst, c), size == 1 ? held : component(held, c));
    } else if (opOf(value) == Op.UNDEF) {
      mDst0[raw(P_UNDEFINED)] = phiOperand(phi);
    } else {
      copyValue(phiOperand(phi), value);
    }
  }
}
