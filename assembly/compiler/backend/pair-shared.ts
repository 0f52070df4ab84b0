/**
 * Two accesses of one word each in workgroup memory, from one address and at two offsets, become one instruction: loads
 * where the first of them stands, stores where the last does, when no other access or order is between them.
 * `ds_read_b32 %1, %a offset:0; … ds_read_b32 %2, %a offset:2048` → `ds_read2st64_b32 %3, %a offset1:8`, `%1` and `%2` its
 * halves. Runs on virtual registers, after `schedule`; coalescing takes the copies away. O(instructions * OPEN).
 */
import { failed, spend } from "../../base/index.ts";
import { Format, OP_COUNT, Op, OpFlag, opFlags, opFormat } from "../../gen/isa-ops.ts";
import { bFirst, bOrder, mDst0, mDst1, mImm, mMods, mNext, mOp, mSrc0, mSrc1, mSrc2 } from "./columns.ts";
import {
  component,
  insertBefore,
  isVreg,
  layoutLength,
  Mod,
  newInstr,
  newVreg,
  operandComponent,
  operandSize,
  operandVreg,
  RegClass,
  removeInstr,
} from "./machine.ts";

/** Accesses that may still be joined; all loads, or all stores. */
const OPEN: u32 = 8;
const open = memory.data(8 * 4, 4);
let openCount: u32 = 0;
let openOp: u32 = 0;

function opened(k: u32): u32 {
  return load<u32>(open + ((<usize>k) << 2));
}
function drop(k: u32): void {
  openCount--;
  for (let j = k; j < openCount; j++) store<u32>(open + ((<usize>j) << 2), opened(j + 1));
}

/** offset0 and offset1 of a pair in units of `unit` bytes, or 0xffffffff. */
function offsets(a: u32, b: u32, unit: u32): u32 {
  if (a % unit != 0 || b % unit != 0 || a / unit > 255 || b / unit > 255) return 0xffffffff;
  return (a / unit) | ((b / unit) << 8);
}

function overlaps(a: u32, b: u32): bool {
  if (!isVreg(a) || !isVreg(b)) return a == b && a != 0;
  if (operandVreg(a) != operandVreg(b)) return false;
  const x = operandComponent(a);
  const y = operandComponent(b);
  return x < y + operandSize(b) && y < x + operandSize(a);
}
function writes(i: u32, operand: u32): bool {
  return overlaps(mDst0[i], operand) || overlaps(mDst1[i], operand);
}

/** Joins i with the open access j before it; true when it did. */
function join(b: u32, j: u32, i: u32): bool {
  if (mSrc0[i] != mSrc0[j] || mImm[i] == mImm[j]) return false;
  const words = offsets(mImm[j], mImm[i], 4);
  const rows = offsets(mImm[j], mImm[i], 256);
  if (words == 0xffffffff && rows == 0xffffffff) return false;
  const far = words == 0xffffffff;
  const isLoad = mOp[i] == <u32>Op.ds_read_b32;
  let op: u32 = isLoad ? Op.ds_read2_b32 : Op.ds_write2_b32;
  if (far) op = isLoad ? Op.ds_read2st64_b32 : Op.ds_write2st64_b32;
  const pair = newInstr(op);
  if (failed()) return false;
  mSrc0[pair] = mSrc0[i];
  mImm[pair] = far ? rows : words;
  if (!isLoad) {
    mSrc1[pair] = mSrc1[j];
    mSrc2[pair] = mSrc1[i];
    insertBefore(b, i, pair);
  } else {
    const both = newVreg(RegClass.VGPR, 2);
    mDst0[pair] = both;
    insertBefore(b, j, pair);
    for (let k: u32 = 0; k < 2; k++) {
      const from = k == 0 ? j : i;
      const half = newInstr(Op.v_mov_b32_e32);
      mDst0[half] = mDst0[from];
      mSrc0[half] = component(both, k);
      mMods[half] = Mod.COPY;
      insertBefore(b, j, half);
    }
  }
  removeInstr(i);
  removeInstr(j);
  return true;
}

/** Whether an open access can no longer move over i, or i over it. */
function closes(i: u32): bool {
  const op = mOp[i];
  if (op >= OP_COUNT) return true;
  const format = opFormat(op);
  return format == Format.DS || format == Format.SOPP || (opFlags(op) & (OpFlag.WritesExec | OpFlag.Cache)) != 0;
}

function pairBlock(b: u32): void {
  openCount = 0;
  let next: u32 = 0;
  for (let i = bFirst[b]; i != 0 && spend(1); i = next) {
    next = mNext[i];
    const op = mOp[i];
    if (op == <u32>Op.ds_read_b32 || op == <u32>Op.ds_write_b32) {
      if (op != openOp) openCount = 0;
      openOp = op;
      let joined = false;
      for (let k: u32 = 0; k < openCount && !joined; k++) {
        if (!join(b, opened(k), i)) continue;
        drop(k);
        joined = true;
      }
      if (joined) continue;
      if (openCount == OPEN) drop(0);
      store<u32>(open + ((<usize>openCount) << 2), i);
      openCount++;
      if (op == <u32>Op.ds_write_b32) continue;
    } else if (closes(i)) {
      openCount = 0;
      continue;
    }
    // A load moves up over what stands between, a store down: neither may meet a write of what it reads, nor of its result.
    for (let k: u32 = openCount; k-- > 0; ) {
      const j = opened(k);
      if (j == i) continue;
      if (writes(i, mSrc0[j]) || (mSrc1[j] != 0 && writes(i, mSrc1[j]))) drop(k);
    }
  }
}

export function pairShared(): void {
  for (let k: u32 = 0; k < layoutLength() && !failed(); k++) pairBlock(bOrder[k]);
}
