/**
 * Proves that the final branches go where selection's branches went (`endOp`, `endTarget`), for each value of SCC and each of
 * EXECZ that a block can end with. Blocks that hold no instruction any more are passed by on both sides. Where EXEC is 0 the final code
 * may run through blocks that selection jumped over, as long as nothing there does anything without lanes. And each way
 * that control finally takes must be an edge of those along which `check` follows the values (`bSucc0`, `bSucc1`).
 *
 * VCCZ stands for SCC where a comparison under the same EXEC made VCC. Islands of far branches come later (`relax`).
 */
import { Fail, failAt, failed, U32Column } from "../../base/index.ts";
import { Counter, Format, OP_COUNT, Op, OpFlag, opCounter, opFlags, opFormat, opOtherForm } from "../../gen/isa-ops.ts";
import {
  bFirst,
  bIndex,
  bLast,
  bOrder,
  bSucc0,
  bSucc1,
  flowBytes,
  MAX_MBLOCKS,
  mDst0,
  mImm,
  mNext,
  mOp,
  mPlace,
  mPrev,
  mSrc0,
  mSrc1,
  mSrc2,
} from "./columns.ts";
import { Hw, hwCode, isVreg, layoutLength } from "./machine.ts";
import { endOp, endRepeats, endsBlock, endTarget } from "./named.ts";

/** In place of a block: the program ends; control goes round without doing anything. */
export const ENDED: u32 = 0xffffffff;
const SPINS: u32 = 0xfffffffe;
/** Of an outcome. */
export const SCC1: u32 = 1;
export const EXECZ: u32 = 2;

/** By place: whether control comes there; blocks to be looked at. */
const seen = changetype<U32Column>(changetype<usize>(flowBytes));
const stack = changetype<U32Column>(changetype<usize>(flowBytes) + ((<usize>MAX_MBLOCKS) << 2));
/** By place: number of the last search that came there. */
const stamps = changetype<U32Column>(changetype<usize>(flowBytes) + 2 * ((<usize>MAX_MBLOCKS) << 2));
const found = changetype<U32Column>(changetype<usize>(flowBytes) + 3 * ((<usize>MAX_MBLOCKS) << 2));
let searches: u32 = 0;

/** The branch or end at the end of a block, 0 where control falls on. */
function endOf(b: u32): u32 {
  const last = bLast[b];
  return last != 0 && endsBlock(mOp[last]) ? last : 0;
}

function isWait(op: u32): bool {
  switch (op) {
    case Op.s_waitcnt:
    case Op.s_waitcnt_vscnt:
    case Op.s_nop:
    case Op.s_clause:
      return true;
    default:
      return false;
  }
}

/** Whether nothing happens in the block but that control goes on. */
export function isHollow(b: u32): bool {
  for (let i = bFirst[b]; i != 0; i = mNext[i]) {
    if (!isWait(mOp[i]) && (!endsBlock(mOp[i]) || mOp[i] == <u32>Op.s_endpgm)) return false;
  }
  return true;
}

/** Where control goes from a block at whose end stands `op`, to `target` where it jumps. */
function after(b: u32, op: u32, target: u32, outcome: u32): u32 {
  const scc = (outcome & SCC1) != 0;
  const execz = (outcome & EXECZ) != 0;
  let taken = false;
  switch (op) {
    case 0:
      break;
    case Op.s_endpgm:
      return ENDED;
    case Op.s_branch:
      taken = true;
      break;
    case Op.s_cbranch_scc0:
    case Op.s_cbranch_vccz:
      taken = !scc;
      break;
    case Op.s_cbranch_scc1:
    case Op.s_cbranch_vccnz:
      taken = scc;
      break;
    case Op.s_cbranch_execz:
      taken = execz;
      break;
    case Op.s_cbranch_execnz:
      taken = !execz;
      break;
    default:
      failAt(0, Fail.BACKEND_INVALID, 10, op, b);
  }
  if (taken) return target;
  const next = bIndex[b] + 1;
  return next < layoutLength() ? bOrder[next] : ENDED;
}
function afterFinal(b: u32, outcome: u32): u32 {
  const end = endOf(b);
  return after(b, end == 0 ? 0 : mOp[end], end == 0 ? 0 : mImm[end], outcome);
}
function afterSelected(b: u32, outcome: u32): u32 {
  return after(b, endOp[b], endTarget[b], outcome);
}

/** The first block from `b` on where something happens. */
function landing(b: u32, outcome: u32, final: bool): u32 {
  let n: u32 = 0;
  while (b != ENDED && isHollow(b)) {
    b = final ? afterFinal(b, outcome) : afterSelected(b, outcome);
    if (++n > layoutLength()) return SPINS;
  }
  return b;
}
/** Where something happens next behind block `b`. */
export function finalNext(b: u32, outcome: u32): u32 {
  return landing(afterFinal(b, outcome), outcome, true);
}

/** The block behind block `b` in what selection made. */
export function selectedNext(b: u32, outcome: u32): u32 {
  return afterSelected(endRepeats[b] != 0 ? endRepeats[b] : b, outcome);
}

/** Whether an instruction does nothing with no lane active: it may write registers, which `check` follows. */
function isIdle(op: u32): bool {
  if (isWait(op)) return true;
  return op < OP_COUNT && opCounter(op) == Counter.none && opFormat(op) != Format.SOPP;
}

/** Whether control may come from `from` to `to` without lanes through blocks that then do nothing. */
function passes(from: u32, to: u32): bool {
  for (let n: u32 = 0; n < layoutLength(); n++) {
    if (from == to) return true;
    if (from >= SPINS) return false;
    const end = endOf(from);
    for (let i = bFirst[from]; i != end; i = mNext[i]) if (!isIdle(mOp[i])) return false;
    const op: u32 = end == 0 ? 0 : mOp[end];
    if (op != 0 && op != <u32>Op.s_branch && op != <u32>Op.s_cbranch_execz && op != <u32>Op.s_cbranch_execnz)
      return false;
    from = finalNext(from, EXECZ);
  }
  return false;
}

/** Whether values are followed from `b` to `to`: by an edge, or through blocks where nothing happens. */
function isFollowed(b: u32, to: u32): bool {
  searches++;
  let top: u32 = 0;
  found[top++] = b;
  while (top > 0) {
    const from = found[--top];
    for (let side: u32 = 0; side < 2; side++) {
      const s = side == 0 ? bSucc0[from] : bSucc1[from];
      if (s == 0) continue;
      if (s == to) return true;
      if (stamps[bIndex[s]] == searches || !isHollow(s)) continue;
      stamps[bIndex[s]] = searches;
      found[top++] = s;
    }
  }
  return false;
}

function isSame(i: u32, j: u32): bool {
  return (
    mOp[i] == mOp[j] && mDst0[i] == mDst0[j] && mSrc0[i] == mSrc0[j] && mSrc1[i] == mSrc1[j] && mSrc2[i] == mSrc2[j]
  );
}
/** Whether block `b` ends in all that stands in `head` before its branch. */
function repeats(b: u32, head: u32): bool {
  if (bLast[b] == 0 || bLast[head] == 0) return false;
  let i = mPrev[bLast[b]];
  for (let j = mPrev[bLast[head]]; j != 0; j = mPrev[j]) {
    if (isWait(mOp[j])) continue;
    while (i != 0 && isWait(mOp[i])) i = mPrev[i];
    if (i == 0 || !isSame(i, j)) return false;
    i = mPrev[i];
  }
  return true;
}

/** Whether it is a vector comparison, in whichever form. */
export function isCompare(op: u32): bool {
  if (opFormat(op) == Format.VOPC) return true;
  return opFormat(op) == Format.VOP3 && opOtherForm(op) != <u32>Op.none && opFormat(opOtherForm(op)) == Format.VOPC;
}
/** VCC is the comparison's: that of the lanes that are active at the branch. */
function comparesForVcc(branch: u32): bool {
  for (let i = mPrev[branch]; i != 0; i = mPrev[i]) {
    const op = mOp[i];
    const dst = mDst0[i] == 0 || isVreg(mDst0[i]) ? <u32>Hw.NULL : hwCode(mDst0[i]);
    if (dst == <u32>Hw.VCC_LO) return isCompare(op);
    if (dst == <u32>Hw.EXEC_LO || (opFlags(op) & OpFlag.WritesExec) != 0) return false;
  }
  return false;
}

function visit(b: u32, top: u32): u32 {
  if (b >= SPINS || seen[bIndex[b]] != 0) return top;
  seen[bIndex[b]] = 1;
  stack[top] = b;
  return top + 1;
}

/** Fails with BACKEND_INVALID 10 where control goes elsewhere than selection had it, 11 where values are not followed. */
export function checkBranches(): void {
  const count = layoutLength();
  if (count == 0) return;
  seen.clear(0, count);
  stamps.clear(0, count);
  searches = 0;
  const entry = landing(bOrder[0], 0, true);
  if (entry != landing(bOrder[0], 0, false)) failAt(0, Fail.BACKEND_INVALID, 10, 0, 0);
  let top = visit(entry, 0);
  while (top > 0 && !failed()) {
    const b = stack[--top];
    const end = endOf(b);
    const place = end == 0 ? 0 : mPlace[end];
    let ends = b;
    if (endRepeats[b] != 0) {
      ends = endRepeats[b];
      if (landing(afterSelected(b, 0), 0, false) != ends || !repeats(b, ends))
        failAt(place, Fail.BACKEND_INVALID, 10, 0, b);
    }
    if (end != 0 && (mOp[end] == <u32>Op.s_cbranch_vccz || mOp[end] == <u32>Op.s_cbranch_vccnz) && !comparesForVcc(end))
      failAt(place, Fail.BACKEND_INVALID, 10, mOp[end], b);
    for (let outcome: u32 = 0; outcome < 4; outcome++) {
      const to = finalNext(b, outcome);
      const selected = landing(afterSelected(ends, outcome), outcome, false);
      if (to != selected && ((outcome & EXECZ) == 0 || !passes(to, selected))) {
        failAt(place, Fail.BACKEND_INVALID, 10, outcome, b);
        return;
      }
      if (to < SPINS && !isFollowed(b, to)) {
        failAt(place, Fail.BACKEND_INVALID, 11, outcome, b);
        return;
      }
      top = visit(to, top);
    }
  }
}
