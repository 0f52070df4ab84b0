/**
 * After allocation: operands become register numbers, copies of a register to itself go, and VOP3 forms become the short
 * ones where operands, modifiers and VCC allow. Source: RDNA2 ISA, VOP1, VOP2, VOPC and VOP3 encodings.
 */
import { Format, Op, OpFlag, opFlags, opFormat, opOtherForm, opSwap } from "../../gen/isa-ops.ts";
import { registerOf } from "./allocate.ts";
import {
  bFirst,
  bOrder,
  mDst0,
  mDst1,
  mLit,
  mMods,
  mNext,
  mOp,
  mSrc0,
  mSrc1,
  mSrc2,
  mSrc3,
  vStart,
} from "./columns.ts";
import { P_ARGUMENT, P_UNDEFINED } from "./launch.ts";
import {
  Hw,
  hw,
  hwCode,
  isVreg,
  layoutLength,
  Mod,
  operandComponent,
  operandSize,
  operandVreg,
  removeInstr,
  vregOperand,
  vregs,
} from "./machine.ts";
import { leaveGhost } from "./named.ts";

const MODIFIERS: u32 = Mod.NEG0 | Mod.NEG1 | Mod.NEG2 | Mod.ABS0 | Mod.ABS1 | Mod.ABS2 | Mod.CLAMP;
const LITERAL: u32 = Hw.LITERAL + 1;

/** By virtual register: the operand of its component 0. */
const finalOperand = vStart;
function physical(operand: u32): u32 {
  if (!isVreg(operand)) return operand;
  return ((operandSize(operand) - 1) << 27) + finalOperand[operandVreg(operand)] + operandComponent(operand);
}

function isVgpr(operand: u32): bool {
  return operand != 0 && hwCode(operand) >= <u32>Hw.VGPR0;
}

function isMove(i: u32): bool {
  return (mOp[i] == <u32>Op.v_mov_b32_e32 && (mMods[i] & Mod.DPP) == 0) || mOp[i] == <u32>Op.s_mov_b32;
}

/** Operands to registers; deletes pseudo instructions and moves to self. */
export function assignOperands(): void {
  for (let v: u32 = 1; v < vregs(); v++) finalOperand[v] = hw(registerOf(vregOperand(v, 1, 0)) & 0xffff, 1);
  for (let k: u32 = 0; k < layoutLength(); k++) {
    for (let i = bFirst[bOrder[k]]; i != 0; ) {
      const next = mNext[i];
      mDst0[i] = physical(mDst0[i]);
      mDst1[i] = physical(mDst1[i]);
      mSrc0[i] = physical(mSrc0[i]);
      mSrc1[i] = physical(mSrc1[i]);
      mSrc2[i] = physical(mSrc2[i]);
      mSrc3[i] = physical(mSrc3[i]);
      const op = mOp[i];
      if (op == P_ARGUMENT || op == P_UNDEFINED || (isMove(i) && mDst0[i] == mSrc0[i])) {
        if (!ASC_NO_ASSERT) leaveGhost(i);
        removeInstr(i);
      }
      i = next;
    }
  }
}

/** Makes source 1 a VGPR by exchanging the sources, when source 0 is one and the op has an exchanged form. */
function vgprSecond(i: u32): bool {
  if (isVgpr(mSrc1[i])) return true;
  if (!isVgpr(mSrc0[i])) return false;
  const swapped = opSwap(mOp[i]);
  if (swapped == Op.none) return false;
  const a = mSrc0[i];
  mSrc0[i] = mSrc1[i];
  mSrc1[i] = a;
  mOp[i] = swapped;
  return true;
}

/** v_fma into its own addend, or with a literal: the two-source forms. */
function shrinkFma(i: u32): void {
  if ((mMods[i] & MODIFIERS) != 0) return;
  const half = mOp[i] == <u32>Op.v_fma_f16;
  if (mDst0[i] == mSrc2[i] && vgprSecond(i)) {
    mOp[i] = half ? Op.v_fmac_f16_e32 : Op.v_fmac_f32_e32;
    mSrc2[i] = 0;
    return;
  }
  if (mSrc2[i] == LITERAL && mSrc0[i] != LITERAL && mSrc1[i] != LITERAL && vgprSecond(i)) {
    mOp[i] = half ? Op.v_fmaak_f16 : Op.v_fmaak_f32;
    mSrc2[i] = 0;
    return;
  }
  // src0 * K + src1
  if (!isVgpr(mSrc2[i])) return;
  if (mSrc0[i] == LITERAL && mSrc1[i] != LITERAL) mSrc0[i] = mSrc1[i];
  else if (mSrc1[i] != LITERAL || mSrc0[i] == LITERAL) return;
  mOp[i] = half ? Op.v_fmamk_f16 : Op.v_fmamk_f32;
  mSrc1[i] = mSrc2[i];
  mSrc2[i] = 0;
}

/** The short forms take their carry from VCC and leave it there. */
function shrinkCarry(i: u32): void {
  if (hwCode(mDst1[i]) != Hw.VCC_LO || hwCode(mSrc2[i]) != Hw.VCC_LO || (mMods[i] & MODIFIERS) != 0) return;
  if (vgprSecond(i)) mOp[i] = opOtherForm(mOp[i]);
}

function shrink(i: u32): void {
  const op = mOp[i];
  if (op == Op.v_fma_f32 || op == Op.v_fma_f16) {
    shrinkFma(i);
    return;
  }
  if (op == Op.s_mov_b32 && mSrc0[i] == LITERAL && <i32>mLit[i] >= -32768 && <i32>mLit[i] <= 32767) {
    mOp[i] = Op.s_movk_i32;
    mSrc0[i] = 0;
    return;
  }
  if (op == Op.v_add_co_ci_u32_e64 || op == Op.v_sub_co_ci_u32_e64) {
    shrinkCarry(i);
    return;
  }
  if (opFormat(op) != Format.VOP3 || (mMods[i] & MODIFIERS) != 0) return;
  const short = opOtherForm(op);
  if (short == Op.none) return;
  const format = opFormat(short);
  if (format == Format.VOP1) {
    mOp[i] = short;
    return;
  }
  if (format == Format.VOPC) {
    // The short form writes VCC, or EXEC where the compare does so.
    const implied = (opFlags(op) & OpFlag.WritesExec) != 0 ? Hw.EXEC_LO : Hw.VCC_LO;
    if (hwCode(mDst0[i]) == <u32>implied && vgprSecond(i)) mOp[i] = opOtherForm(mOp[i]);
    return;
  }
  if (format != Format.VOP2 || (opFlags(short) & OpFlag.TiedDst) != 0) return;
  // v_cndmask takes its mask from VCC in the short form.
  if (mSrc2[i] != 0 && (hwCode(mSrc2[i]) != Hw.VCC_LO || !isVgpr(mSrc1[i]))) return;
  if (vgprSecond(i)) mOp[i] = opOtherForm(mOp[i]);
}

export function shrinkForms(): void {
  for (let k: u32 = 0; k < layoutLength(); k++) {
    for (let i = bFirst[bOrder[k]]; i != 0; i = mNext[i]) shrink(i);
  }
}
