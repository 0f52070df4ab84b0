/**
 * Clean-up of control flow after allocation, when empty parts show: skip branches that don't pay, EXEC changes for empty
 * parts, restores that nothing needs, branches to the next instruction.
 */
import { Fail, fail, Limit, spend, U32Column } from "../../base/index.ts";
import { Format, OP_COUNT, Op, OpFlag, opCounter, opFlags, opFormat } from "../../gen/isa-ops.ts";
import { Option, option } from "../io.ts";
import {
  bFirst,
  bIndex,
  bLast,
  bOrder,
  bScratch,
  bSucc0,
  bSucc1,
  flowBytes,
  mBlock,
  mDst0,
  mImm,
  mNext,
  mOp,
  mPrev,
  mSrc0,
  mSrc1,
  nodeMachine,
  nodeTarget,
} from "./columns.ts";
import { Hw, layoutLength, removeInstr } from "./machine.ts";
import { nameOp } from "./named.ts";

/** A skip branch over fewer vector and scalar ALU instructions than this costs more than it saves. */
const SKIP_MINIMUM: u32 = 8;
const EXEC: u32 = Hw.EXEC_LO + 1;

// Divergent ifs in the order of entry.
const records = changetype<U32Column>(changetype<usize>(flowBytes) + (4 << 20));
const MAX_RECORDS: u32 = 1 << 17;
const RECORD_WORDS: u32 = 5;
/** The if node. */
const NODE: u32 = 0;
/** The instruction that saves EXEC. */
const SAVE: u32 = 1;
/** `Record` bits. */
const BITS: u32 = 2;
/** The v_cmp in front of it whose mask nothing else reads, or 0. */
const COMPARE: u32 = 3;
/** The instruction that restores EXEC; set by `cleanIf`. */
const RESTORE: u32 = 4;
let recordCount: u32 = 0;

export const enum Record {
  /** Behind the if EXEC is what else had: see `control`. */
  DROPS_THEN = 1,
  /** Jumps inside change the saved mask. */
  JUMPS = 2,
}

export function resetRecords(): void {
  recordCount = 0;
}
/** A divergent if, the instruction that saved its EXEC, and a compare that only that one reads. */
export function recordIf(node: u32, save: u32, bits: u32, compare: u32): void {
  if (recordCount >= MAX_RECORDS) {
    fail(Fail.LIMIT, Limit.MACHINE, MAX_RECORDS, 0);
    return;
  }
  const at = recordCount++ * RECORD_WORDS;
  records[at + NODE] = node;
  records[at + SAVE] = save;
  records[at + BITS] = bits;
  records[at + COMPARE] = compare;
  records[at + RESTORE] = 0;
}

/** Whether the blocks at places [from, to) of the layout hold no instruction. */
function isEmpty(from: u32, to: u32): bool {
  for (let k = from; k < to; k++) if (bFirst[bOrder[k]] != 0) return false;
  return true;
}

/** Few ALU instructions and nothing else: harmless and cheap with no lane active. */
function isTiny(from: u32, to: u32): bool {
  let count: u32 = 0;
  for (let k = from; k < to; k++) {
    for (let i = bFirst[bOrder[k]]; i != 0; i = mNext[i]) {
      const op = mOp[i];
      if (op >= OP_COUNT || opCounter(op) != 0 || opFormat(op) == Format.SOPP) return false;
      if (++count >= SKIP_MINIMUM) return false;
    }
  }
  return true;
}

/** The branch at the end of a block, 0 for none. */
function branchOf(b: u32): u32 {
  const last = bLast[b];
  return last != 0 && opFormat(mOp[last]) == Format.SOPP && (opFlags(mOp[last]) & OpFlag.Branch) != 0 ? last : 0;
}

function removeEdge(b: u32, to: u32): void {
  if (bSucc0[b] == to) {
    bSucc0[b] = bSucc1[b];
    bSucc1[b] = 0;
  } else if (bSucc1[b] == to) {
    bSucc1[b] = 0;
  }
}

/** Deletes a branch; its edge goes unless the target is the next block anyway. */
function removeBranch(branch: u32): void {
  const b = mBlock[branch];
  const target = mImm[branch];
  removeInstr(branch);
  if (bIndex[target] != bIndex[b] + 1) removeEdge(b, target);
}

function cleanIf(at: u32): void {
  const node = records[at + NODE];
  const save = records[at + SAVE];
  const dropsThen = (records[at + BITS] & Record.DROPS_THEN) != 0;
  const before = mBlock[save];
  const skipThen = branchOf(before);
  const elseBlock = nodeTarget[node];
  const merge = nodeMachine[node];
  const switchExec = bFirst[elseBlock];
  const skipElse = branchOf(elseBlock);
  // A spilled mask is read back first: such ifs stay as they are.
  if (skipThen == 0 || switchExec == 0 || mDst0[switchExec] != EXEC || skipElse == 0) return;
  if (!dropsThen && isRestore(bFirst[merge])) records[at + RESTORE] = bFirst[merge];
  const thenStart = bIndex[before] + 1;
  const elseStart = bIndex[elseBlock] + 1;
  const thenEmpty = isEmpty(thenStart, bIndex[elseBlock]);
  const elseEmpty = isEmpty(elseStart, bIndex[merge]);
  if (elseEmpty || isTiny(elseStart, bIndex[merge])) removeBranch(skipElse);
  if (thenEmpty || isTiny(thenStart, bIndex[elseBlock])) removeBranch(skipThen);
  if (dropsThen) {
    // Only the lanes of else stay: nothing to save when then has no instructions.
    if (!thenEmpty) return;
    const saveexec = mOp[save];
    mOp[save] = saveexec == <u32>Op.s_and_saveexec_b32 ? Op.s_andn2_b32 : Op.s_and_b32;
    mDst0[save] = EXEC;
    mSrc1[save] = mSrc0[save];
    mSrc0[save] = EXEC;
    removeInstr(switchExec);
    return;
  }
  if (elseEmpty) {
    removeInstr(switchExec);
    if (thenEmpty) {
      removeInstr(save);
      const restore = bFirst[merge];
      if (restore != 0 && isRestore(restore)) removeInstr(restore);
    }
    return;
  }
  if (!thenEmpty) return;
  // Else alone: narrow EXEC to it at once.
  mOp[save] = mOp[save] == <u32>Op.s_and_saveexec_b32 ? Op.s_andn1_saveexec_b32 : Op.s_and_saveexec_b32;
  removeInstr(switchExec);
}

function isRestore(i: u32): bool {
  return i != 0 && mOp[i] == <u32>Op.s_mov_b32 && mDst0[i] == EXEC;
}

/** Where the if around ends right behind an if, what restores EXEC there does for both. */
function dropDoubleRestores(): void {
  for (let k: u32 = 0; k < layoutLength(); k++) {
    const last = bLast[bOrder[k]];
    if (last == 0 || !isRestore(last)) continue;
    const next = nextFilled(k + 1);
    if (next < layoutLength() && isRestore(bFirst[bOrder[next]])) removeInstr(last);
  }
}

/** EXEC no longer matters where the program ends. */
function dropLastRestores(): void {
  for (let k = layoutLength(); k-- > 0; ) {
    const i = bLast[bOrder[k]];
    if (i == 0 || mOp[i] != <u32>Op.s_endpgm) continue;
    for (let j = k + 1; j-- > 0; ) {
      const b = bOrder[j];
      const last = j == k ? beforeLast(b) : bLast[b];
      if (last == 0) continue;
      if (!isRestore(last)) break;
      removeInstr(last);
      j++;
    }
  }
}
function beforeLast(b: u32): u32 {
  return mPrev[bLast[b]];
}

/** The v_cmpx that writes EXEC itself, for a v_cmp; with `inverted`, for the opposite comparison (NaN included). */
function execCompare(op: u32, inverted: bool): u32 {
  switch (op) {
    case Op.v_cmp_eq_u32_e64:
      return inverted ? Op.v_cmpx_ne_u32_e64 : Op.v_cmpx_eq_u32_e64;
    case Op.v_cmp_ne_u32_e64:
      return inverted ? Op.v_cmpx_eq_u32_e64 : Op.v_cmpx_ne_u32_e64;
    case Op.v_cmp_lt_i32_e64:
      return inverted ? Op.v_cmpx_ge_i32_e64 : Op.v_cmpx_lt_i32_e64;
    case Op.v_cmp_ge_i32_e64:
      return inverted ? Op.v_cmpx_lt_i32_e64 : Op.v_cmpx_ge_i32_e64;
    case Op.v_cmp_lt_u32_e64:
      return inverted ? Op.v_cmpx_ge_u32_e64 : Op.v_cmpx_lt_u32_e64;
    case Op.v_cmp_ge_u32_e64:
      return inverted ? Op.v_cmpx_lt_u32_e64 : Op.v_cmpx_ge_u32_e64;
    case Op.v_cmp_eq_f32_e64:
      return inverted ? Op.v_cmpx_neq_f32_e64 : Op.v_cmpx_eq_f32_e64;
    case Op.v_cmp_neq_f32_e64:
      return inverted ? Op.v_cmpx_eq_f32_e64 : Op.v_cmpx_neq_f32_e64;
    case Op.v_cmp_lt_f32_e64:
      return inverted ? Op.v_cmpx_nlt_f32_e64 : Op.v_cmpx_lt_f32_e64;
    case Op.v_cmp_ge_f32_e64:
      return inverted ? Op.v_cmpx_nge_f32_e64 : Op.v_cmpx_ge_f32_e64;
    default:
      return Op.none;
  }
}

/** Where nothing needs the saved EXEC, the compare itself narrows it. */
function compareIntoExec(at: u32): void {
  const save = records[at + SAVE];
  const compare = records[at + COMPARE];
  if (compare == 0 || mBlock[save] == 0 || mPrev[save] != compare) return;
  if ((records[at + BITS] & Record.JUMPS) != 0 && (records[at + BITS] & Record.DROPS_THEN) == 0) return;
  let inverted = false;
  switch (mOp[save]) {
    case Op.s_and_saveexec_b32:
      break;
    case Op.s_andn1_saveexec_b32:
      inverted = true;
      break;
    case Op.s_and_b32:
      break;
    case Op.s_andn2_b32:
      inverted = true;
      break;
    default:
      return;
  }
  if (mDst0[save] != EXEC) {
    // Still a saved mask: is it read?
    const restore = records[at + RESTORE];
    const restores = restore != 0 && mBlock[restore] != 0 && mSrc0[restore] == mDst0[save];
    const first = bFirst[nodeTarget[records[at + NODE]]];
    if ((records[at + BITS] & Record.DROPS_THEN) != 0 || restore == 0 || restores) return;
    if (first != 0 && mSrc0[first] == mDst0[save] && mDst0[first] == EXEC) return;
  }
  const op = execCompare(mOp[compare], inverted);
  if (op == <u32>Op.none) return;
  mOp[compare] = op;
  if (!ASC_NO_ASSERT) nameOp(compare);
  mDst0[compare] = EXEC;
  removeInstr(save);
}

/** The first block from place k on with an instruction; the end counts as place `layoutLength()`. */
export function nextFilled(k: u32): u32 {
  let j = k;
  while (j < layoutLength() && bFirst[bOrder[j]] == 0) j++;
  return j;
}

/** The branch on the opposite condition, or none. */
export function inverted(op: u32): u32 {
  switch (op) {
    case Op.s_cbranch_scc0:
      return Op.s_cbranch_scc1;
    case Op.s_cbranch_scc1:
      return Op.s_cbranch_scc0;
    case Op.s_cbranch_execz:
      return Op.s_cbranch_execnz;
    case Op.s_cbranch_execnz:
      return Op.s_cbranch_execz;
    default:
      return Op.none;
  }
}

/** By block: branches to it. */
const bBranches = bScratch;

/** Improves the branch at the end of the block at place k; true when it may be improved again. */
function straightenBranch(k: u32): bool {
  const b = bOrder[k];
  const branch = branchOf(b);
  if (branch == 0) return false;
  const target = nextFilled(bIndex[mImm[branch]]);
  const next = nextFilled(k + 1);
  if (target == next) {
    bBranches[mImm[branch]] = bBranches[mImm[branch]] - 1;
    removeInstr(branch);
    return false;
  }
  const inverse = inverted(mOp[branch]);
  if (inverse == Op.none || next >= layoutLength()) return false;
  const jump = bFirst[bOrder[next]];
  if (jump == 0 || mOp[jump] != <u32>Op.s_branch || nextFilled(next + 1) != target) return false;
  // Who else comes to the jump still needs it.
  for (let j = k + 1; j <= next; j++) if (bBranches[bOrder[j]] != 0) return false;
  mOp[branch] = inverse;
  // The edges stay: its block counts as passed on the way to where it led, with nothing in it.
  bBranches[mImm[branch]] = bBranches[mImm[branch]] - 1;
  mImm[branch] = mImm[jump];
  removeInstr(jump);
  return true;
}

/** Branches over a lone branch become the inverted branch; branches to what comes next go. */
function straighten(): void {
  for (let k: u32 = 0; k < layoutLength(); k++) bBranches[bOrder[k]] = 0;
  for (let k: u32 = 0; k < layoutLength(); k++) {
    const branch = branchOf(bOrder[k]);
    if (branch != 0) bBranches[mImm[branch]] = bBranches[mImm[branch]] + 1;
  }
  for (let k: u32 = 0; k < layoutLength(); k++) {
    while (straightenBranch(k)) if (!spend(1)) return;
  }
}

/** Runs after `assignOperands`, before waits are placed. */
export function cleanUp(): void {
  for (let r = recordCount; r-- > 0; ) {
    if (!spend(2)) return;
    cleanIf(r * RECORD_WORDS);
  }
  if (option(Option.LEVEL) > 0) dropDoubleRestores();
  dropLastRestores();
  for (let r: u32 = 0; r < recordCount; r++) compareIntoExec(r * RECORD_WORDS);
  straighten();
}
