/**
 * Where each IR value lives: constants in no register, booleans as lane masks in one SGPR, uniform integers in SGPRs where
 * SALU can make them, all else in VGPRs (a uniform float too: gfx1030 has no scalar float arithmetic).
 */
import { spend } from "../../base/index.ts";
import { InstrFlag, Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import {
  componentsOf,
  entryBlock,
  firstInstr,
  flagsOf,
  imm,
  isDivergent,
  nextBlock,
  nextInstr,
  opOf,
  src,
  srcCount,
  widthOf,
} from "../ir/index.ts";
import { valueClass } from "./columns.ts";
import { isScalarLoad } from "./scalar-loads.ts";

export const enum ValueClass {
  NONE = 0,
  CONSTANT = 1,
  /** Lane mask, one SGPR; the bits of inactive lanes are undefined. */
  MASK = 2,
  SGPR = 3,
  VGPR = 4,
}

export function classOf(value: u32): u32 {
  return valueClass[value];
}
/** SALU can read the value as it is. */
function isScalarValue(value: u32): bool {
  const c = valueClass[value];
  return c == ValueClass.SGPR || c == ValueClass.CONSTANT;
}

function scalarSources(i: u32): bool {
  const count = srcCount(i);
  for (let k: u32 = 0; k < count; k++) {
    const c = valueClass[src(i, k)];
    if (c == ValueClass.VGPR) return false;
  }
  return true;
}

/** Class of a 32-bit uniform value from those of its sources. */
function uniformClass(i: u32): u32 {
  switch (opOf(i)) {
    case Op.LOAD_WORKGROUP_ID:
    case Op.LOAD_NUM_WORKGROUPS:
    case Op.LOAD_DRAW:
    case Op.LOAD_PUSH:
    case Op.LOAD_TABLE:
    case Op.SSBO_SIZE:
    case Op.TEXEL_COUNT:
    case Op.IMAGE_SAMPLES:
    case Op.BALLOT:
    case Op.READ_FIRST_LANE:
    case Op.READ_LANE:
    case Op.WAVE_REDUCE:
      return ValueClass.SGPR;
    case Op.LOAD_UBO:
      // SMEM has no loads below a word.
      return imm(i, 3) == 0 ? ValueClass.SGPR : ValueClass.VGPR;
    case Op.LOAD_SSBO:
      return imm(i, 3) == 0 && isScalarLoad(i) ? ValueClass.SGPR : ValueClass.VGPR;
    case Op.DESCRIPTOR_ADDRESS:
    case Op.PHI:
    case Op.EXTRACT:
    case Op.SELECT:
    case Op.IADD:
    case Op.ISUB:
    case Op.IMUL:
    case Op.UMUL_HI:
    case Op.IMUL_HI:
    case Op.INEG:
    case Op.IABS:
    case Op.IAND:
    case Op.IOR:
    case Op.IXOR:
    case Op.INOT:
    case Op.ISHL:
    case Op.ISHR:
    case Op.USHR:
    case Op.IMIN:
    case Op.IMAX:
    case Op.UMIN:
    case Op.UMAX:
    case Op.UBFE:
    case Op.PACK_HALVES:
    case Op.BFM:
    case Op.BFI:
    case Op.BITREV:
    case Op.BITCOUNT:
    case Op.FIND_LSB:
    case Op.UFFBH:
    case Op.IFFBH:
    case Op.FNEG:
    case Op.FABS:
    case Op.B2I:
    case Op.B2F:
      return scalarSources(i) ? ValueClass.SGPR : ValueClass.VGPR;
    case Op.IBFE:
      // s_bfe_i32 takes offset and width packed: worth it for constants only.
      return scalarSources(i) && opOf(src(i, 1)) == Op.CONST && opOf(src(i, 2)) == Op.CONST
        ? ValueClass.SGPR
        : ValueClass.VGPR;
    default:
      return ValueClass.VGPR;
  }
}

function classify(i: u32): u32 {
  if (componentsOf(i) == 0) return ValueClass.NONE;
  const op = opOf(i);
  if (op == Op.CONST || op == Op.UNDEF) return ValueClass.CONSTANT;
  if (widthOf(i) == 1) return ValueClass.MASK;
  return isDivergent(i) ? ValueClass.VGPR : uniformClass(i);
}

/** Fills `valueClass` where there are no loops: sources come before their readers, those of phis too. */
export function classifyValues(): void {
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) valueClass[i] = classify(i);
  }
}

/**
 * Fills `valueClass`, all `NONE` before, where there are loops: sources may come behind their readers. Phis start as SGPRs;
 * one that has a VGPR source becomes a VGPR, with what hangs on it.
 */
export function classifyLoops(): void {
  let changed = true;
  while (changed) {
    changed = false;
    for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
      for (let i = firstInstr(b); i != 0; i = nextInstr(i)) {
        if (!spend(1)) return;
        const c = classify(i);
        if (c == valueClass[i]) continue;
        // The first round only sees sources before their users, so the class of a phi may rise once more.
        changed = changed || valueClass[i] != ValueClass.NONE || opOf(i) == Op.PHI;
        valueClass[i] = c;
      }
    }
  }
}

/** A float operation of VALU whose sources take neg and abs. */
export function takesModifiers(i: u32): bool {
  const op = opOf(i);
  return (opFlags(op) & OpFlag.FLOAT) != 0 && op != Op.FNEG && op != Op.FABS;
}

/** A comparison that SALU makes. */
export function isScalarCompare(i: u32): bool {
  const op = opOf(i);
  if (op != Op.IEQ && op != Op.INE && op != Op.ILT && op != Op.IGE && op != Op.ULT && op != Op.UGE) return false;
  if (widthOf(src(i, 0)) != 32) return false;
  return (flagsOf(i) & InstrFlag.DIV) == 0 && isScalarValue(src(i, 0)) && isScalarValue(src(i, 1));
}
