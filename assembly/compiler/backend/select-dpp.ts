/**
 * Values of other lanes of the quad or row by DPP16, alone or in the instruction that reads them, as source 0 of a VOP2.
 * `fsub (quad_perm %0), %1` → `v_sub_f32_dpp`; where the permuted value is the second source, the exchanged form.
 */
import { Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import { Op as Isa, opOtherForm, opSwap } from "../../gen/isa-ops.ts";
import { blockOf, hasMade, imm, opOf, src, useCount } from "../ir/index.ts";
import { constantOperand, inVgpr, raw, saluNew } from "./build.ts";
import { classOf, ValueClass } from "./classes.ts";
import { mDst0, mLit, mMods, mSrc0, mSrc1, mSrc2, valueSel } from "./columns.ts";
import { P_UNDEFINED } from "./launch.ts";
import { Mod } from "./machine.ts";
import { absorbedSource, Sel, selOf } from "./sel.ts";
import { define, floatOperand, modifiers, operandOf } from "./values.ts";
import { floatOp, integerOp } from "./vector-ops.ts";

/** Whole rows and banks take part. Source: RDNA2 ISA, DPP16. */
const DPP_ALL: u32 = 0xff << 24;
/** Lanes without a source read 0, so no old value is kept. */
const DPP_BOUND: u32 = 1 << 19;
/** Control: lane ^ n in each row. */
const ROW_XMASK: u32 = 0x160;
/** Lanes of a row. */
const ROW: u32 = 16;
/** Of source 1; its abs is the next bit. */
const DPP_NEG1: u32 = 1 << 22;

/** The VOP3 form of a two-source op that has a VOP2 form; 0 else. */
function twoSourceOp(op: u32): u32 {
  switch (op) {
    case Op.FADD:
    case Op.FSUB:
    case Op.FMUL:
    case Op.FMIN:
    case Op.FMAX:
      return floatOp(op);
    case Op.IADD:
    case Op.ISUB:
    case Op.IAND:
    case Op.IOR:
    case Op.IXOR:
    case Op.IMIN:
    case Op.IMAX:
    case Op.UMIN:
    case Op.UMAX:
      return integerOp(op);
    default:
      return 0;
  }
}

/** What DPP does alone: within quads, or by xor within the 16 lanes of a row. */
function isPermutation(i: u32): bool {
  return opOf(i) == Op.QUAD_PERM || (opOf(i) == Op.LANE_XOR && imm(i, 0) < ROW);
}

/** Marks a value that may compute its one-reader permuted source with itself: other lanes are the same only in its block. */
export function absorbPermutation(i: u32): bool {
  if ((!hasMade(Op.QUAD_PERM) && !hasMade(Op.LANE_XOR)) || twoSourceOp(opOf(i)) == 0) return false;
  for (let k: u32 = 0; k < 2; k++) {
    const inner = src(i, k);
    if (!isPermutation(inner) || useCount(inner) != 1 || selOf(inner) != Sel.PLAIN) continue;
    if (blockOf(inner) != blockOf(i) || classOf(src(i, 1 - k)) != ValueClass.VGPR) continue;
    valueSel[i] = Sel.PERMUTED | (k << 8);
    valueSel[inner] = Sel.ABSORBED;
    return true;
  }
  return false;
}

/** The dword behind a DPP instruction, without its source. */
function dppDword(permutation: u32): u32 {
  const control = (opOf(permutation) == Op.LANE_XOR ? ROW_XMASK : 0) | imm(permutation, 0);
  return (control << 8) | DPP_BOUND | DPP_ALL;
}

/** A quad_perm or lane_xor of its own. */
export function selectPermutation(i: u32): void {
  const value = inVgpr(operandOf(src(i, 0)));
  if (!isPermutation(i)) {
    otherRow(i, value);
    return;
  }
  const dst = define(i);
  const j = raw(Isa.v_mov_b32_e32);
  mDst0[j] = dst;
  mSrc0[j] = value;
  mMods[j] = Mod.DPP;
  mLit[j] = dppDword(i);
}

/** From the other row: a selector of four bits for each lane. Source: RDNA2 ISA, V_PERMLANEX16_B32. */
function otherRow(i: u32, value: u32): void {
  let low: u32 = 0;
  let high: u32 = 0;
  for (let l: u32 = 0; l < ROW / 2; l++) {
    low |= ((l ^ imm(i, 0)) & (ROW - 1)) << (4 * l);
    high |= (((l + ROW / 2) ^ imm(i, 0)) & (ROW - 1)) << (4 * l);
  }
  const first = saluNew(Isa.s_mov_b32, constantOperand(low), 0);
  const second = saluNew(Isa.s_mov_b32, constantOperand(high), 0);
  const dst = define(i);
  // Lanes whose partner is not active keep what they had.
  mDst0[raw(P_UNDEFINED)] = dst;
  const j = raw(Isa.v_permlanex16_b32);
  mDst0[j] = dst;
  mSrc0[j] = value;
  mSrc1[j] = first;
  mSrc2[j] = second;
}

/** A value that `absorbPermutation` has marked. */
export function selectPermuted(i: u32): void {
  const op = opOf(i);
  const k = absorbedSource(i);
  const inner = src(i, k);
  const value = inVgpr(operandOf(src(inner, 0)));
  const isFloat = (opFlags(op) & OpFlag.FLOAT) != 0;
  const other = isFloat ? floatOperand(src(i, 1 - k)) : operandOf(src(i, 1 - k));
  const changes = isFloat ? modifiers() : 0;
  const second = inVgpr(other);
  const long = twoSourceOp(op);
  const dst = define(i);
  const j = raw(opOtherForm(k == 0 ? long : opSwap(long)));
  mDst0[j] = dst;
  mSrc0[j] = value;
  mSrc1[j] = second;
  mMods[j] = Mod.DPP;
  mLit[j] = dppDword(inner) | (changes * DPP_NEG1);
}
