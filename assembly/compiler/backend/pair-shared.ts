/**
 * Two accesses of one word each in workgroup memory, from one address and at two offsets, become one instruction: loads
 * where the first of them stands, stores where the last does, when no other access or order is between them (loads may
 * have loads between them).
 * `ds_read_b32 %1, %a offset:0; … ds_read_b32 %2, %a offset:2048` → `ds_read2st64_b32 %3, %a offset1:8`, `%1` and `%2` its
 * halves. Where two pairs would fit but for offsets that are too large, one addition gives them a nearer address:
 * four loads at 1024, 1088, 1152 and 1216 → `v_add_nc_u32 %b, 1024, %a`, two `ds_read2_b32 %b`.
 * Runs on virtual registers in the order of selection; coalescing takes the copies away. O(instructions * OPEN).
 */
import { failed, spend } from "../../base/index.ts";
import { Format, OP_COUNT, Op, OpFlag, opFlags, opFormat } from "../../gen/isa-ops.ts";
import { buildBehind, constantOperand, valu } from "./build.ts";
import { bFirst, bOrder, mDst0, mDst1, mImm, mMods, mNext, mOp, mPrev, mSrc0, mSrc1, mSrc2 } from "./columns.ts";
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

/** The address that an addition made in this block: `nearAddress` is `nearFrom` + `nearStart`. 0: none. */
let nearAddress: u32 = 0;
let nearFrom: u32 = 0;
let nearStart: u32 = 0;

/** Two accesses that would be a pair from a nearer address, and wait for a second such pair. 0: none. */
let waiting: u32 = 0;
let waitingNext: u32 = 0;

/** Accesses that may still be joined; all loads, or all stores. */
const OPEN: u32 = 16;
const open = memory.data(16 * 4, 4);
let openCount: u32 = 0;
let openOp: u32 = 0;

function opened(k: u32): u32 {
  return load<u32>(open + ((<usize>k) << 2));
}
function drop(k: u32): void {
  const access = opened(k);
  if (access == waiting || access == waitingNext) waiting = 0;
  openCount--;
  for (let j = k; j < openCount; j++) store<u32>(open + ((<usize>j) << 2), opened(j + 1));
}
function closeAll(): void {
  openCount = 0;
  waiting = 0;
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

/** How far read2's offsets of words reach, in bytes. */
const REACH: u32 = 255 * 4;

/** Whether `offset` can be reached from the address `start`. */
function isNear(offset: u32, start: u32): bool {
  return offset >= start && offset - start <= REACH && ((offset - start) & 3) == 0;
}

/** One instruction for the access j and the access i behind it, from `address` and with both offsets in `imm`. */
function pair(b: u32, j: u32, i: u32, address: u32, imm: u32, rows: bool): void {
  const isLoad = mOp[i] == <u32>Op.ds_read_b32;
  let op: u32 = isLoad ? Op.ds_read2_b32 : Op.ds_write2_b32;
  if (rows) op = isLoad ? Op.ds_read2st64_b32 : Op.ds_write2st64_b32;
  const both = newInstr(op);
  if (failed()) return;
  mSrc0[both] = address;
  mImm[both] = imm;
  if (!isLoad) {
    mSrc1[both] = mSrc1[j];
    mSrc2[both] = mSrc1[i];
    insertBefore(b, i, both);
  } else {
    const tuple = newVreg(RegClass.VGPR, 2);
    mDst0[both] = tuple;
    insertBefore(b, j, both);
    for (let k: u32 = 0; k < 2; k++) {
      const from = k == 0 ? j : i;
      const half = newInstr(Op.v_mov_b32_e32);
      mDst0[half] = mDst0[from];
      mSrc0[half] = component(tuple, k);
      mMods[half] = Mod.COPY;
      insertBefore(b, j, half);
    }
  }
  removeInstr(i);
  removeInstr(j);
  for (let k: u32 = openCount; k-- > 0; ) if (opened(k) == i || opened(k) == j) drop(k);
}
function pairNear(b: u32, j: u32, i: u32): void {
  pair(b, j, i, nearAddress, ((mImm[j] - nearStart) >> 2) | (((mImm[i] - nearStart) >> 2) << 8), false);
}

/** Joins i with the open access j before it, from their own address; true when it did. */
function join(b: u32, j: u32, i: u32): bool {
  if (mSrc0[i] != mSrc0[j] || mImm[i] == mImm[j]) return false;
  const words = offsets(mImm[j], mImm[i], 4);
  const rows = offsets(mImm[j], mImm[i], 256);
  if (words == 0xffffffff && rows == 0xffffffff) return false;
  const far = words == 0xffffffff;
  pair(b, j, i, mSrc0[i], far ? rows : words, far);
  return true;
}

/** Joins i with the open access j from an address nearer to both; true when it did. The first such pair waits. */
function joinNear(b: u32, j: u32, i: u32): bool {
  const address = mSrc0[i];
  if (address != mSrc0[j] || mImm[i] == mImm[j] || !isVreg(address)) return false;
  if (nearAddress != 0) {
    if (nearFrom != address || !isNear(mImm[i], nearStart) || !isNear(mImm[j], nearStart)) return false;
    pairNear(b, j, i);
    return true;
  }
  const least = min(mImm[i], mImm[j]);
  if (waiting == 0) {
    if (!isNear(max(mImm[i], mImm[j]), least)) return false;
    waiting = j;
    waitingNext = i;
    return false;
  }
  if (i == waitingNext || j == waiting || j == waitingNext || mSrc0[waiting] != address) return false;
  const start = min(least, min(mImm[waiting], mImm[waitingNext]));
  if (
    !isNear(mImm[i], start) ||
    !isNear(mImm[j], start) ||
    !isNear(mImm[waiting], start) ||
    !isNear(mImm[waitingNext], start)
  )
    return false;
  nearFrom = address;
  nearStart = start;
  nearAddress = newVreg(RegClass.VGPR, 1);
  let behind = waitingNext;
  // Each open load of this address may later become one of a pair that stands at its place.
  if (mOp[i] == <u32>Op.ds_read_b32)
    for (let k: u32 = openCount; k-- > 0; ) if (mSrc0[opened(k)] == address) behind = opened(k);
  buildBehind(b, mPrev[behind]);
  // Offsets beyond the end do not wrap around: no more does the sum.
  valu(Op.v_add_nc_u32_e64, nearAddress, address, constantOperand(start), 0, Mod.CLAMP);
  pairNear(b, waiting, waitingNext);
  pairNear(b, j, i);
  return true;
}

/** Whether an open access can no longer move over i, or i over it. */
function closes(i: u32): bool {
  const op = mOp[i];
  if (op >= OP_COUNT) return true;
  const format = opFormat(op);
  if (format == Format.SOPP || (opFlags(op) & (OpFlag.WritesExec | OpFlag.Cache)) != 0) return true;
  if (format != Format.DS) return false;
  return (
    openOp != <u32>Op.ds_read_b32 || (opFlags(op) & (OpFlag.Load | OpFlag.Store | OpFlag.Atomic)) != <u32>OpFlag.Load
  );
}

/** Joins i with an open access; true when it did. */
function joinAny(b: u32, i: u32): bool {
  for (let k: u32 = 0; k < openCount; k++) if (join(b, opened(k), i)) return true;
  for (let k: u32 = 0; k < openCount; k++) if (joinNear(b, opened(k), i)) return true;
  return false;
}

/** A store moves down only over those that certainly go to other words: from the same address, four bytes and more away. */
function dropOverwritten(i: u32): void {
  for (let k: u32 = openCount; k-- > 0; ) {
    const j = opened(k);
    if (mSrc0[j] != mSrc0[i] || max(mImm[j], mImm[i]) - min(mImm[j], mImm[i]) < 4) drop(k);
  }
}

function pairBlock(b: u32): void {
  closeAll();
  nearAddress = 0;
  let next: u32 = 0;
  for (let i = bFirst[b]; i != 0 && spend(1); i = next) {
    next = mNext[i];
    const op = mOp[i];
    if (op == <u32>Op.ds_read_b32 || op == <u32>Op.ds_write_b32) {
      if (op != openOp) closeAll();
      openOp = op;
      if (op == <u32>Op.ds_write_b32) dropOverwritten(i);
      if (joinAny(b, i)) continue;
      if (openCount == OPEN) drop(0);
      store<u32>(open + ((<usize>openCount) << 2), i);
      openCount++;
      if (op == <u32>Op.ds_write_b32) continue;
    } else if (closes(i)) {
      closeAll();
      continue;
    }
    if (nearAddress != 0 && writes(i, nearFrom)) nearAddress = 0;
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
