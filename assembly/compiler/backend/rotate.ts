/**
 * Loops whose header only tests whether to go on: the test is repeated at the end of the loop, whose branch then goes
 * behind the header. One branch a round instead of two. Runs after `cleanUp`, before waits are placed.
 * `H: s_cmp …; s_cbranch_scc1 X; B: … s_branch H; X:` → `H: …; B: … s_cmp …; s_cbranch_scc0 B; X:`.
 */
import { failed, spend } from "../../base/index.ts";
import { Format, OP_COUNT, Op, opCounter, opFormat } from "../../gen/isa-ops.ts";
import { inverted, nextFilled } from "./cleanup.ts";
import {
  bFirst,
  bIndex,
  bLane0,
  bLane1,
  bLast,
  bOrder,
  bSucc0,
  bSucc1,
  mDst0,
  mDst1,
  mImm,
  mLit,
  mMods,
  mNext,
  mOp,
  mPlace,
  mSrc0,
  mSrc1,
  mSrc2,
  mSrc3,
} from "./columns.ts";
import { appendInstr, layoutLength, newInstr, removeInstr } from "./machine.ts";
import { copyGhost, copyNames, endRepeats, firstGhost, firstTailGhost, nextGhost } from "./named.ts";

/** Instructions of a test that are worth a second copy, the branch left out. */
const MAX_TEST: u32 = 3;

/** Whether the block is a short test: ALU instructions and a conditional branch. */
function isTest(b: u32): bool {
  const branch = bLast[b];
  if (branch == 0 || inverted(mOp[branch]) == <u32>Op.none) return false;
  let count: u32 = 0;
  for (let i = bFirst[b]; i != branch; i = mNext[i]) {
    const op = mOp[i];
    if (op >= OP_COUNT || opCounter(op) != 0 || opFormat(op) == Format.SOPP) return false;
    if (++count > MAX_TEST) return false;
  }
  return true;
}

function copyInstr(i: u32, to: u32): void {
  const copy = newInstr(mOp[i]);
  if (copy == 0) return;
  if (!ASC_NO_ASSERT) {
    copyGhosts(firstGhost(i), to);
    copyNames(i, copy);
  }
  mDst0[copy] = mDst0[i];
  mDst1[copy] = mDst1[i];
  mSrc0[copy] = mSrc0[i];
  mSrc1[copy] = mSrc1[i];
  mSrc2[copy] = mSrc2[i];
  mSrc3[copy] = mSrc3[i];
  mLit[copy] = mLit[i];
  mImm[copy] = mImm[i];
  mMods[copy] = mMods[i];
  mPlace[copy] = mPlace[i];
  appendInstr(to, copy);
}
function copyGhosts(first: u32, to: u32): void {
  for (let g = first; g != 0 && !failed(); g = nextGhost(g)) copyGhost(g, newInstr(mOp[g]), to);
}

function rotate(k: u32): void {
  const b = bOrder[k];
  const jump = bLast[b];
  if (jump == 0 || mOp[jump] != <u32>Op.s_branch || bIndex[mImm[jump]] > k) return;
  const at = nextFilled(bIndex[mImm[jump]]);
  if (at >= k) return;
  const head = bOrder[at];
  // The edges of the block must be the jump alone.
  if (bSucc1[b] != 0 || bSucc0[b] != mImm[jump] || !isTest(head)) return;
  const branch = bLast[head];
  const out = mImm[branch];
  if (nextFilled(bIndex[out]) != nextFilled(k + 1)) return;
  const target = mImm[jump];
  removeInstr(jump);
  if (!ASC_NO_ASSERT) {
    for (let j = bIndex[target]; j < at; j++) copyGhosts(firstTailGhost(bOrder[j]), b);
  }
  for (let i = bFirst[head]; i != 0 && !failed(); i = mNext[i]) copyInstr(i, b);
  const body = bOrder[at + 1];
  mOp[bLast[b]] = inverted(mOp[branch]);
  mImm[bLast[b]] = body;
  if (!ASC_NO_ASSERT) endRepeats[b] = head;
  // Control and lanes go on as behind the header.
  bSucc0[b] = bSucc0[head];
  bSucc1[b] = bSucc1[head];
  if (bLane0[b] != target || bLane1[b] != 0) return;
  bLane0[b] = bLane0[head];
  bLane1[b] = bLane1[head];
}

export function rotateLoops(): void {
  for (let k: u32 = 0; k < layoutLength() && spend(1); k++) rotate(k);
}
