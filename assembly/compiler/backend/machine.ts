/**
 * Machine IR: one record per gfx1030 instruction, in doubly linked lists per block; operands are virtual registers until
 * `allocate`, hardware operand codes after it. Not SSA: phis are copies into one register, exec masks are updated in place.
 *
 * An operand is a word. 0: none. Bit 31 clear: a hardware operand code + 1, size - 1 in [30:27].
 * Bit 31 set: virtual register, size - 1 in [30:27], first component in [26:23], register number in [22:0].
 */
import { Fail, fail, failAt, Limit } from "../../base/index.ts";
import {
  bBehind,
  bFirst,
  bHead,
  bIndex,
  bLane0,
  bLane1,
  bLanePreds,
  bLast,
  bOrder,
  bPreds,
  bStamp,
  bSucc0,
  bSucc1,
  linkNext,
  linkValue,
  MAX_LINKS,
  MAX_MBLOCKS,
  MAX_MINSTRS,
  MAX_UNITS,
  MAX_VREGS,
  mBlock,
  mMods,
  mNext,
  mOp,
  mPlace,
  mPrev,
  mSrc0,
  vFixed,
  vHint,
  vInfo,
  vLeader,
  vReg,
  vShift,
  vUnit,
} from "./columns.ts";
import { appendedInstr, insertedInstr, newBlockNames, newNames, removedInstr } from "./named.ts";

/** Hardware operand codes. Source: RDNA2 ISA, scalar operand table. */
export const enum Hw {
  VCC_LO = 106,
  VCC_HI = 107,
  M0 = 124,
  NULL = 125,
  EXEC_LO = 126,
  ZERO = 128,
  MINUS_ONE = 193,
  HALF = 240,
  ONE_F = 242,
  INV_2PI = 248,
  LITERAL = 255,
  VGPR0 = 256,
}

export const enum RegClass {
  SGPR = 0,
  VGPR = 1,
}

/** Bits of an instruction's `mods`. */
export const enum Mod {
  NEG0 = 1,
  NEG1 = 2,
  NEG2 = 4,
  ABS0 = 8,
  ABS1 = 16,
  ABS2 = 32,
  CLAMP = 64,
  GLC = 128,
  DLC = 256,
  OFFEN = 512,
  /** A copy that coalescing may make into nothing. */
  COPY = 1024,
  /** A scalar instruction that is there for its SCC alone. */
  TEST = 2048,
  IDXEN = 4096,
  /** A VOP1 or VOP2 whose source 0 goes through DPP16; `mLit` is the second dword without the source. */
  DPP = 8192,
  /** A scalar addition whose literal is the way from behind `s_getpc_b64` to the tables behind the code. */
  TABLE = 16384,
  /** VOP3P: the low result takes the high half of source 0; two more bits are those of sources 1 and 2. */
  HIGH0 = 0x8000,
  /** VOP3P: the high result takes the low half; v_fma_mix: the source is a half. */
  HALF0 = 0x40000,
}

export const NO_REG: u32 = 0xffffffff;

let instrCount: u32 = 1;
let blockCount: u32 = 1;
let laidOut: u32 = 0;
let vregCount: u32 = 1;
let unitCount: u32 = 1;
let linkCount: u32 = 1;
let wholeWave0: u32 = 0;
let wholeWave1: u32 = 0;
let place: u32 = 0;
let alias: u32 = 0;

export function resetMachine(): void {
  deepMasks = 0;
  instrCount = 1;
  blockCount = 1;
  laidOut = 0;
  vregCount = 1;
  unitCount = 1;
  linkCount = 1;
  wholeWave0 = 0;
  wholeWave1 = 0;
  place = 0;
  alias = 0;
}

/** Blocks in the layout. */
export function layoutLength(): u32 {
  return laidOut;
}
export function vregs(): u32 {
  return vregCount;
}
export function units(): u32 {
  return unitCount;
}

/** Source place of the instructions made from here on; 0 (what the compiler made up) keeps the one before. */
export function setMachinePlace(p: u32): void {
  if (p != 0) place = p;
}

/** Class of memory (`alias`) of the instructions made from here on. */
export function setMachineAlias(a: u32): void {
  alias = a;
}

// Operands.

/** A hardware operand code as an operand of `size` dwords. */
export function hw(code: u32, size: u32): u32 {
  return ((size - 1) << 27) | (code + 1);
}
export function isVreg(operand: u32): bool {
  return (operand & 0x80000000) != 0;
}
/** Code of a hardware operand; the operand must be one. */
export function hwCode(operand: u32): u32 {
  return (operand & 0x7ffffff) - 1;
}
export function operandSize(operand: u32): u32 {
  return ((operand >> 27) & 15) + 1;
}
export function operandVreg(operand: u32): u32 {
  return operand & 0x7fffff;
}
export function operandComponent(operand: u32): u32 {
  return (operand >> 23) & 15;
}
export function vregOperand(v: u32, size: u32, component: u32): u32 {
  return 0x80000000 | ((size - 1) << 27) | (component << 23) | v;
}
/** One component of a tuple operand. */
export function component(operand: u32, index: u32): u32 {
  if (isVreg(operand)) return vregOperand(operandVreg(operand), 1, operandComponent(operand) + index);
  return hw(hwCode(operand) + index, 1);
}
/** First unit of a virtual-register operand. */
export function operandUnit(operand: u32): u32 {
  return vUnit[operandVreg(operand)] + operandComponent(operand);
}

// Virtual registers.

/**
 * Of `vInfo`: written in front of an if or loop, or where its body starts, and read up to behind it or where cont starts: it
 * lives from its first mention to its last one.
 */
const NESTED: u32 = 256;
/** An SGPR for the lanes of an if or loop. */
export function newLaneMask(): u32 {
  const operand = newVreg(RegClass.SGPR, 1);
  vInfo[operandVreg(operand)] = vInfo[operandVreg(operand)] | NESTED;
  return operand;
}
export function isNested(v: u32): bool {
  return (vInfo[v] & NESTED) != 0;
}

/** Of `vInfo`, bit 16 on: 0, or for a mask in so many others that the SGPRs would not hold them 1 + the lane that does. */
const DEEP_SHIFT: u32 = 16;
let deepMasks: u32 = 0;
export function setDeep(mask: u32, lane: u32): void {
  vInfo[operandVreg(mask)] = vInfo[operandVreg(mask)] | ((lane + 1) << DEEP_SHIFT);
  deepMasks++;
}
export function deepLane(v: u32): u32 {
  return vInfo[v] >> DEEP_SHIFT;
}
export function hasDeep(): bool {
  return deepMasks > 0;
}

/** Of `vInfo`: size in [4:0], class in bit 5; `slots` has bits 6 and 7, bit 8 is `NESTED`, from bit 16 on `deepLane`. */
export function vregSize(v: u32): u32 {
  return vInfo[v] & 31;
}
export function vregClass(v: u32): u32 {
  return (vInfo[v] >> 5) & 1;
}

/** A new virtual register of `size` dwords, as a whole operand. Over capacity: fails, and gives register 0. */
export function newVreg(regClass: u32, size: u32): u32 {
  if (vregCount >= MAX_VREGS || unitCount + size > MAX_UNITS) {
    fail(Fail.LIMIT, Limit.MACHINE, vregCount >= MAX_VREGS ? MAX_VREGS : MAX_UNITS, 0);
    return vregOperand(0, size, 0);
  }
  const v = vregCount++;
  vInfo[v] = size | (regClass << 5);
  vUnit[v] = unitCount;
  unitCount += size;
  vReg[v] = NO_REG;
  vFixed[v] = NO_REG;
  vHint[v] = 0;
  vLeader[v] = v;
  vShift[v] = 0;
  return vregOperand(v, size, 0);
}

/**
 * One of two VGPRs that nothing else shares a register with, so that they may be written in lanes that are not active:
 * there other registers hold values that live along lanes' edges only.
 */
export function wholeWaveVreg(k: u32): u32 {
  const known = k == 0 ? wholeWave0 : wholeWave1;
  if (known != 0) return known;
  const operand = newVreg(RegClass.VGPR, 1);
  if (k == 0) wholeWave0 = operand;
  else wholeWave1 = operand;
  return operand;
}
/** The register above if it was asked for, else 0. */
export function madeWholeWave(k: u32): u32 {
  return k == 0 ? wholeWave0 : wholeWave1;
}

/** True for operands that live in VGPRs. */
export function isVgprOperand(operand: u32): bool {
  if (isVreg(operand)) return vregClass(operandVreg(operand)) == RegClass.VGPR;
  if (operand == 0) return false;
  const code = hwCode(operand);
  return code >= <u32>Hw.VGPR0 && code < <u32>Hw.VGPR0 + 256;
}
/** SGPRs, VCC, EXEC, M0: what the constant bus counts beside literals. */
export function isScalarOperand(operand: u32): bool {
  if (operand == 0) return false;
  if (isVreg(operand)) return vregClass(operandVreg(operand)) == RegClass.SGPR;
  return hwCode(operand) < <u32>Hw.NULL || hwCode(operand) == Hw.EXEC_LO;
}

// Links: singly linked lists of words.

/** A list with `value` in front of `next`. Over capacity: fails, and gives `next`. */
export function link(value: u32, next: u32): u32 {
  if (linkCount >= MAX_LINKS) {
    fail(Fail.LIMIT, Limit.MACHINE, MAX_LINKS, 0);
    return next;
  }
  linkValue[linkCount] = value;
  linkNext[linkCount] = next;
  return linkCount++;
}
/** Marks, to give back all links made after it. */
export function linkMark(): u32 {
  return linkCount;
}
export function linkRelease(mark: u32): void {
  linkCount = mark;
}

// Blocks.

/** A block that is not yet in the layout. Over capacity: fails, and gives block 0. */
export function newBlock(): u32 {
  if (blockCount >= MAX_MBLOCKS) {
    fail(Fail.LIMIT, Limit.MACHINE, MAX_MBLOCKS, 0);
    return 0;
  }
  const b = blockCount++;
  bFirst[b] = 0;
  bLast[b] = 0;
  bSucc0[b] = 0;
  bSucc1[b] = 0;
  bLane0[b] = 0;
  bLane1[b] = 0;
  bPreds[b] = 0;
  bLanePreds[b] = 0;
  bStamp[b] = 0;
  bHead[b] = 0;
  bBehind[b] = 0;
  bIndex[b] = 0xffffffff;
  if (!ASC_NO_ASSERT) newBlockNames(b);
  return b;
}
/** What an if or loop consists of stands between `head` and `behind` in the layout, `first` first. */
export function noteNest(head: u32, first: u32, behind: u32): void {
  bHead[behind] = head;
  bBehind[first] = behind;
}
/** Takes all blocks out of the layout. */
export function resetLayout(): void {
  laidOut = 0;
}
export function layOut(b: u32): void {
  bIndex[b] = laidOut;
  bOrder[laidOut++] = b;
}
/** Control goes from `a` to `b`; at most two a block, the same one counts once. */
export function addEdge(a: u32, b: u32): void {
  if (bSucc0[a] == 0) bSucc0[a] = b;
  else if (bSucc0[a] != b) bSucc1[a] = b;
}
/** A lane may go from `a` to `b`. */
export function addLaneEdge(a: u32, b: u32): void {
  if (bLane0[a] == 0) bLane0[a] = b;
  else if (bLane0[a] != b) bLane1[a] = b;
}
/** Fills the predecessor lists from the successors. */
export function linkPredecessors(): void {
  for (let i: u32 = 0; i < laidOut; i++) {
    bPreds[bOrder[i]] = 0;
    bLanePreds[bOrder[i]] = 0;
  }
  for (let i: u32 = 0; i < laidOut; i++) {
    const b = bOrder[i];
    if (bSucc0[b] != 0) bPreds[bSucc0[b]] = link(b, bPreds[bSucc0[b]]);
    if (bSucc1[b] != 0) bPreds[bSucc1[b]] = link(b, bPreds[bSucc1[b]]);
    if (bLane0[b] != 0) bLanePreds[bLane0[b]] = link(b, bLanePreds[bLane0[b]]);
    if (bLane1[b] != 0) bLanePreds[bLane1[b]] = link(b, bLanePreds[bLane1[b]]);
  }
}

// Instructions.

/** A new instruction in no block. Over capacity: fails, and gives 0. */
export function newInstr(op: u32): u32 {
  if (instrCount >= MAX_MINSTRS) {
    failAt(place, Fail.LIMIT, Limit.MACHINE, MAX_MINSTRS, 0);
    return 0;
  }
  const i = instrCount++;
  // Two fields a store, in the order of `columns.ts`: op, next; destinations; sources.
  const row = changetype<usize>(mOp) + ((<usize>i) << 5);
  store<u64>(row, <u64>op);
  store<u64>(row, 0, 8);
  store<u64>(row, 0, 16);
  store<u64>(row, 0, 24);
  // mods, literal; immediate, alias
  const coding = changetype<usize>(mMods) + ((<usize>i) << 4);
  store<u64>(coding, 0);
  store<u64>(coding, (<u64>alias) << 32, 8);
  // previous one, block; place
  store<u64>(changetype<usize>(mPrev) + ((<usize>i) << 4), 0);
  mPlace[i] = place;
  if (!ASC_NO_ASSERT) newNames(i);
  return i;
}
export function appendInstr(b: u32, i: u32): void {
  const last = bLast[b];
  mBlock[i] = b;
  mPrev[i] = last;
  mNext[i] = 0;
  if (last == 0) bFirst[b] = i;
  else mNext[last] = i;
  bLast[b] = i;
  if (!ASC_NO_ASSERT) appendedInstr(b, i);
}
/** Puts `i` in front of `before` of block `b`; at the end when `before` is 0. */
export function insertBefore(b: u32, before: u32, i: u32): void {
  if (before == 0) {
    appendInstr(b, i);
    return;
  }
  const prev = mPrev[before];
  mBlock[i] = b;
  mPrev[i] = prev;
  mNext[i] = before;
  mPrev[before] = i;
  if (prev == 0) bFirst[b] = i;
  else mNext[prev] = i;
  if (!ASC_NO_ASSERT) insertedInstr(before, i);
}
export function removeInstr(i: u32): void {
  if (!ASC_NO_ASSERT) removedInstr(i);
  const b = mBlock[i];
  const prev = mPrev[i];
  const next = mNext[i];
  if (prev == 0) bFirst[b] = next;
  else mNext[prev] = next;
  if (next == 0) bLast[b] = prev;
  else mPrev[next] = prev;
  mBlock[i] = 0;
}
/** Source operand `k` (0 to 3): four words of the row, one behind the other. */
export function source(i: u32, k: u32): u32 {
  return load<u32>(changetype<usize>(mSrc0) + ((<usize>i) << 5) + ((<usize>k) << 2));
}
export function setSource(i: u32, k: u32, operand: u32): void {
  store<u32>(changetype<usize>(mSrc0) + ((<usize>i) << 5) + ((<usize>k) << 2), operand);
}
