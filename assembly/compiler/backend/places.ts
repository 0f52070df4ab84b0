/**
 * Places of values in the final code, for `check`, and what its moves do: which register or slot they read and write, as
 * far as the instruction itself says it.
 */
import { Op } from "../../gen/isa-ops.ts";
import { mDst0, mImm, mLit, mMods, mOp, mPrev, mSrc0, mSrc1, mSrc2, vFixed } from "./columns.ts";
import { Hw, hwCode, isVreg, Mod, operandSize, operandVreg, RegClass, vregClass } from "./machine.ts";
import { DST0, joinedMove, namedOp, nameOf, SRC0 } from "./named.ts";
import { scratchBytes } from "./spill.ts";

// Places: SGPR n at n (VCC too), VGPR n at 256 + n, lane l of VGPR n at LANES + 32 * n + l, scratch dword n at SLOTS + n.
export const VGPRS: u32 = 256;
export const LANES: u32 = 512;
export const SLOTS: u32 = LANES + 256 * 32;
const TRACKED_SGPRS: u32 = 108;
/** No place: constants, EXEC, M0. */
export const NOWHERE: u32 = 0xffffffff;

/** Place of component k of a final operand. */
export function placeOf(operand: u32, k: u32): u32 {
  if (operand == 0) return NOWHERE;
  const code = hwCode(operand) + k;
  return code < TRACKED_SGPRS || (code >= VGPRS && code < LANES) ? code : NOWHERE;
}
export function argumentPlace(v: u32): u32 {
  return vFixed[v] + (vregClass(v) == RegClass.VGPR ? VGPRS : 0);
}

/** Constant in the SGPR that a scratch access of `spill` takes its base from: the move in front of it. */
function baseOf(i: u32): u32 {
  const operand = mSrc2[i];
  if (operand == 0) return 0;
  for (let j = mPrev[i]; j != 0; j = mPrev[j]) {
    if (mDst0[j] == 0 || isVreg(mDst0[j])) continue;
    const code = hwCode(mDst0[j]);
    if (code > hwCode(operand) || code + operandSize(mDst0[j]) <= hwCode(operand)) continue;
    if (mOp[j] == <u32>Op.s_movk_i32 || (mOp[j] == <u32>Op.s_mov_b32 && hwCode(mSrc0[j]) == <u32>Hw.LITERAL))
      return mLit[j];
    return NOWHERE;
  }
  return NOWHERE;
}
/** The slot of a move of `spill`, of its first component. */
export function slotOf(i: u32): u32 {
  const op = mOp[i];
  if (op == Op.v_writelane_b32 || op == Op.v_readlane_b32) {
    const vgpr = hwCode(op == Op.v_writelane_b32 ? mDst0[i] : mSrc0[i]) - VGPRS;
    return LANES + vgpr * 32 + ((hwCode(mSrc1[i]) - Hw.ZERO) & 31);
  }
  const base = baseOf(i);
  if (base == NOWHERE) return NOWHERE;
  const dword = (base + mImm[i]) >> 2;
  return dword < scratchBytes() >> 2 ? SLOTS + dword : NOWHERE;
}
export function isSlotLoad(i: u32): bool {
  return mDst0[i] != 0 && mOp[i] != <u32>Op.v_writelane_b32;
}
export function behind(slot: u32, k: u32): u32 {
  return slot == NOWHERE ? NOWHERE : slot + k;
}
/** The register of component k of a move of `spill`. */
export function movedRegister(i: u32, k: u32): u32 {
  if (isSlotLoad(i)) return placeOf(mDst0[i], k);
  return placeOf(mOp[i] == <u32>Op.v_writelane_b32 ? mSrc0[i] : mSrc1[i], k);
}

/** Of a move that became half of a 64-bit one: its place among the registers of that. */
export function halfOf(whole: u32, half: u32): u32 {
  const joined = joinedMove(whole);
  const second = hwCode(mDst0[joined]) - hwCode(mDst0[whole]);
  return half == joined ? second : 1 - second;
}
export function pairedSource(i: u32): u32 {
  return mOp[i] == <u32>Op.s_mov_b64 ? mSrc0[i] : mSrc1[i];
}

/** A copy's destination holds what its source holds. */
export function isCopy(i: u32): bool {
  const src = nameOf(i, SRC0);
  const dst = nameOf(i, DST0);
  if (!isVreg(src) || !isVreg(dst) || operandSize(src) != operandSize(dst)) return false;
  if (vregClass(operandVreg(src)) != vregClass(operandVreg(dst))) return false;
  if ((mMods[i] & Mod.COPY) != 0) return true;
  return namedOp(i) == Op.s_mov_b32 || (namedOp(i) == Op.v_mov_b32_e32 && (mMods[i] & Mod.DPP) == 0);
}
