/**
 * What shows only when registers are known: tests of a comparison's mask that VCC itself answers, and pairs of moves that
 * one 64-bit instruction does; and invalidations of caches that no load comes between. Runs after `cleanUp`, before short forms and waits.
 */
import { Counter, Format, OP_COUNT, Op, OpFlag, opCounter, opFlags, opFormat, opOtherForm } from "../../gen/isa-ops.ts";
import { bFirst, bLast, bOrder, mDst0, mDst1, mLit, mMods, mNext, mOp, mPrev, mSrc0, mSrc1 } from "./columns.ts";
import { P_RELEASE } from "./launch.ts";
import { Hw, hw, hwCode, layoutLength, Mod, removeInstr } from "./machine.ts";
import { joinMoves, leaveGhost } from "./named.ts";

const VCC: u32 = Hw.VCC_LO;
const EXEC: u32 = Hw.EXEC_LO;
const LITERAL: u32 = Hw.LITERAL;
/** Inline integers: 0 to 64, then -1 to -16. */
const LAST_POSITIVE: u32 = Hw.ZERO + 64;
const LAST_NEGATIVE: u32 = Hw.MINUS_ONE + 15;
/** SGPRs that may stand in pairs. */
const PAIR_SGPRS: u32 = 106;

function code(operand: u32): u32 {
  return operand == 0 ? 0xffff : hwCode(operand);
}

/**
 * `v_cmp vcc; s_and s, vcc, exec; s_cbranch_scc` → `v_cmp vcc; s_cbranch_vcc`: a comparison clears the bits of inactive
 * lanes, so VCC is 0 exactly when no active lane's bit is set. The s_and is one that was made for its SCC alone.
 */
function testVcc(branch: u32): void {
  const test = mPrev[branch];
  if (test == 0 || mOp[test] != <u32>Op.s_and_b32 || (mMods[test] & Mod.TEST) == 0) return;
  if (code(mSrc0[test]) != VCC || code(mSrc1[test]) != EXEC) return;
  for (let i = mPrev[test]; i != 0; i = mPrev[i]) {
    const op = mOp[i];
    if (code(mDst0[i]) == VCC && opFormat(op) == Format.VOP3 && isCompare(op)) {
      mOp[branch] = mOp[branch] == <u32>Op.s_cbranch_scc0 ? Op.s_cbranch_vccz : Op.s_cbranch_vccnz;
      if (!ASC_NO_ASSERT) leaveGhost(test);
      removeInstr(test);
      return;
    }
    if (code(mDst0[i]) == VCC || code(mDst1[i]) == VCC) return;
    if (code(mDst0[i]) == EXEC || (opFlags(op) & OpFlag.WritesExec) != 0) return;
  }
}
/** Compares are the VOP3 forms that have a VOPC form. */
function isCompare(op: u32): bool {
  return opOtherForm(op) != Op.none && opFormat(opOtherForm(op)) == Format.VOPC;
}

/** The operand that moves `low` and `high` at once, its literal left in `pairLiteral`; 0 where there is none. */
let pairLiteral: u32 = 0;
function pairSource(first: u32, low: u32, high: u32, vector: bool): u32 {
  const a = code(mSrc0[low]);
  const b = code(mSrc0[high]);
  pairLiteral = 0;
  if (a < PAIR_SGPRS) return (a & 1) == 0 && b == a + 1 ? hw(a, 2) : 0;
  if (a >= <u32>Hw.VGPR0) {
    // The second move must not read what the first one wrote.
    const second = first == low ? high : low;
    return vector && b == a + 1 && code(mSrc0[second]) != code(mDst0[first]) ? hw(a, 2) : 0;
  }
  if (a >= <u32>Hw.ZERO && a <= LAST_POSITIVE) return b == <u32>Hw.ZERO ? hw(a, 1) : 0;
  if (a >= <u32>Hw.MINUS_ONE && a <= LAST_NEGATIVE) return b == <u32>Hw.MINUS_ONE ? hw(a, 1) : 0;
  if (a != LITERAL || b != <u32>Hw.ZERO || !vector) return 0;
  pairLiteral = mLit[low];
  return hw(LITERAL, 1);
}

/** Two neighbouring moves as one of 64 bits in the place of the first; true when they were. */
function pairMoves(i: u32, j: u32, vector: bool): bool {
  const a = code(mDst0[i]);
  const b = code(mDst0[j]);
  const low = a < b ? i : j;
  const high = a < b ? j : i;
  const dst = a < b ? a : b;
  if ((a < b ? b - a : a - b) != 1) return false;
  if (!vector && ((dst & 1) != 0 || dst + 1 >= PAIR_SGPRS)) return false;
  // A scalar move that reads what the other one writes.
  if (!vector && code(mSrc0[j]) == a) return false;
  const source = pairSource(i, low, high, vector);
  if (source == 0) return false;
  mLit[i] = pairLiteral;
  mDst0[i] = hw(dst, 2);
  if (vector) {
    mOp[i] = Op.v_lshrrev_b64;
    mSrc0[i] = hw(Hw.ZERO, 1);
    mSrc1[i] = source;
  } else {
    mOp[i] = Op.s_mov_b64;
    mSrc0[i] = source;
  }
  if (!ASC_NO_ASSERT) joinMoves(i, j);
  removeInstr(j);
  return true;
}

/** Takes away an invalidation that is followed by another one of the same cache before anything is loaded. */
function dropInvalidations(b: u32): void {
  let vector: u32 = 0;
  let shared: u32 = 0;
  let next: u32 = 0;
  for (let i = bFirst[b]; i != 0; i = next) {
    next = mNext[i];
    const op = mOp[i];
    if (op == Op.buffer_gl0_inv) {
      if (vector != 0) removeInstr(vector);
      vector = i;
    } else if (op == Op.buffer_gl1_inv) {
      if (shared != 0) removeInstr(shared);
      shared = i;
    } else if (op >= OP_COUNT || loads(op)) {
      vector = op == P_RELEASE ? vector : 0;
      shared = op == P_RELEASE ? shared : 0;
    }
  }
}
/** Whether the instruction may bring something into a cache. */
function loads(op: u32): bool {
  return opCounter(op) != Counter.none && opCounter(op) != Counter.vs && opFormat(op) != Format.DS;
}

export function peephole(): void {
  for (let k: u32 = 0; k < layoutLength(); k++) {
    const b = bOrder[k];
    dropInvalidations(b);
    for (let i = bFirst[b]; i != 0; i = mNext[i]) {
      const vector = mOp[i] == <u32>Op.v_mov_b32_e32;
      const j = mNext[i];
      if (
        j == 0 ||
        mOp[j] != mOp[i] ||
        ((mMods[i] | mMods[j]) & Mod.DPP) != 0 ||
        (!vector && mOp[i] != <u32>Op.s_mov_b32)
      )
        continue;
      pairMoves(i, j, vector);
    }
    const last = bLast[b];
    if (last != 0 && (mOp[last] == <u32>Op.s_cbranch_scc0 || mOp[last] == <u32>Op.s_cbranch_scc1)) testVcc(last);
  }
}
