/**
 * Launch state: which user SGPRs the shader wants and where the hardware puts workgroup and thread ids.
 * Order of user SGPRs: docs/abi.md. The ring pointer is always passed.
 */
import { Fail, fail } from "../../base/index.ts";
import { DYNAMIC_SET, Op } from "../../gen/ir-ops.ts";
import { OP_COUNT } from "../../gen/isa-ops.ts";
import {
  componentsOf,
  constBits,
  entryBlock,
  firstInstr,
  imm,
  isConst,
  nextBlock,
  nextInstr,
  opOf,
  src,
  srcCount,
} from "../ir/index.ts";
import { raw } from "./build.ts";
import { mDst0, vFixed } from "./columns.ts";
import { newVreg, operandVreg, RegClass } from "./machine.ts";

/** Pseudo instruction: defines a launch argument in its fixed register, from the first moment on. */
export const P_ARGUMENT: u32 = OP_COUNT;
/** Pseudo instruction of `waitcnt`: imm is the storage whose accesses must be done (1 buffers, 2 workgroup). */
export const P_RELEASE: u32 = OP_COUNT + 1;
/** Pseudo instruction: its destination starts to live with whatever the register holds. */
export const P_UNDEFINED: u32 = OP_COUNT + 2;

const MAX_USER_SGPRS: u32 = 16;
/** Vulkan's guaranteed push-constant size is 128; more than this never fits in SGPRs. */
const MAX_PUSH_DWORDS: u32 = 64;
const MAX_SETS: u32 = 32;

// Bits and operands, rewritten by `scanLaunch` at each run.
let setsUsed: u32 = 0;
let pushUsed: u64 = 0;
let pushAny: bool = false;
let pushInlined: bool = false;
let countsUsed: bool = false;
let groupUsed: u32 = 0;
let threadTop: u32 = 0;
let userCount: u32 = 0;
let pushBase: u32 = 0;
let countsBase: u32 = 0;
let groupsEnd: u32 = 0;

const operands = memory.data(4 * (32 + 64 + 3 + 3 + 3 + 1), 4);
const SETS: usize = 0;
const PUSH: usize = 32;
const COUNTS: usize = 96;
const GROUPS: usize = 99;
const THREADS: usize = 102;
const PUSH_POINTER: usize = 105;
function put(slot: usize, operand: u32): void {
  store<u32>(operands + (slot << 2), operand);
}
function get(slot: usize): u32 {
  return load<u32>(operands + (slot << 2));
}

export function setPointer(set: u32): u32 {
  return get(SETS + <usize>set);
}
/** Operand of an inlined push-constant dword. */
export function pushDword(dword: u32): u32 {
  return get(PUSH + <usize>dword);
}
export function pushPointer(): u32 {
  return get(PUSH_POINTER);
}
export function isPushInlined(): bool {
  return pushInlined;
}
export function workgroupCount(component: u32): u32 {
  return get(COUNTS + <usize>component);
}
export function workgroupId(component: u32): u32 {
  return get(GROUPS + <usize>component);
}
export function threadId(component: u32): u32 {
  return get(THREADS + <usize>component);
}

/** Bit c: workgroup id c is wanted. */
export function groupBits(): u32 {
  return groupUsed;
}
/** Highest thread id component used. */
export function threadComponents(): u32 {
  return threadTop;
}

function setOf(i: u32): i32 {
  switch (opOf(i)) {
    case Op.LOAD_UBO:
    case Op.LOAD_SSBO:
    case Op.STORE_SSBO:
    case Op.SSBO_ATOMIC:
    case Op.SSBO_ATOMIC_CMPSWAP:
    case Op.SSBO_SIZE:
      return imm(i, 0) == DYNAMIC_SET ? -1 : <i32>imm(i, 0);
    case Op.DESCRIPTOR_ADDRESS:
      return <i32>imm(i, 0);
    default:
      return -1;
  }
}

/** Byte offset of a push-constant load when constant, else -1. */
export function pushOffset(i: u32): i64 {
  if (srcCount(i) == 0 || src(i, 0) == 0) return <i64>imm(i, 0);
  if (isConst(src(i, 0))) return <i64>imm(i, 0) + <i64>constBits(src(i, 0));
  return -1;
}

/** Finds what the shader uses. */
export function scanLaunch(): void {
  setsUsed = 0;
  pushUsed = 0;
  pushAny = false;
  pushInlined = true;
  countsUsed = false;
  groupUsed = 0;
  threadTop = 0;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) {
      const op = opOf(i);
      const set = setOf(i);
      if (set >= <i32>MAX_SETS) fail(Fail.BACKEND_UNSUPPORTED, op, set, 0);
      else if (set >= 0) setsUsed |= (<u32>1) << set;
      else if (op == Op.LOAD_WORKGROUP_ID) groupUsed |= (<u32>1) << imm(i, 0);
      else if (op == Op.LOAD_NUM_WORKGROUPS) countsUsed = true;
      else if (op == Op.LOAD_LOCAL_ID) threadTop = max<u32>(threadTop, imm(i, 0));
      else if (op == Op.LOAD_PUSH) scanPush(i);
    }
  }
  const fixed: u32 = 2 + <u32>popcnt<u32>(setsUsed) + (countsUsed ? 3 : 0);
  const dwords = <u32>popcnt<u64>(pushUsed);
  if (pushAny && fixed + dwords > MAX_USER_SGPRS) pushInlined = false;
  if (fixed + <u32>(pushAny && !pushInlined ? 1 : 0) > MAX_USER_SGPRS)
    fail(Fail.OUT_OF_REGISTERS, 0, MAX_USER_SGPRS, 0);
}

function scanPush(i: u32): void {
  pushAny = true;
  const offset = pushOffset(i);
  const count = componentsOf(i);
  if (offset < 0 || (offset & 3) != 0 || offset / 4 + <i64>count > <i64>MAX_PUSH_DWORDS) {
    pushInlined = false;
    return;
  }
  for (let k: u32 = 0; k < count; k++) pushUsed |= (<u64>1) << (<u64>offset / 4 + <u64>k);
}

function argument(regClass: u32, register: u32): u32 {
  const operand = newVreg(regClass, 1);
  vFixed[operandVreg(operand)] = register;
  mDst0[raw(P_ARGUMENT)] = operand;
  return operand;
}

/** Makes the launch arguments at the start of the entry block (where `build` stands). */
export function makeArguments(): void {
  let sgpr: u32 = 2;
  for (let set: u32 = 0; set < MAX_SETS; set++) {
    if (((setsUsed >> set) & 1) != 0) put(SETS + <usize>set, argument(RegClass.SGPR, sgpr++));
  }
  pushBase = sgpr;
  if (pushAny && !pushInlined) {
    put(PUSH_POINTER, argument(RegClass.SGPR, sgpr++));
  } else {
    for (let d: u32 = 0; d < MAX_PUSH_DWORDS; d++) {
      if (((pushUsed >> <u64>d) & 1) != 0) put(PUSH + <usize>d, argument(RegClass.SGPR, sgpr++));
    }
  }
  countsBase = sgpr;
  if (countsUsed) for (let c: u32 = 0; c < 3; c++) put(COUNTS + <usize>c, argument(RegClass.SGPR, sgpr++));
  userCount = sgpr;
  for (let c: u32 = 0; c < 3; c++) {
    if (((groupUsed >> c) & 1) != 0) put(GROUPS + <usize>c, argument(RegClass.SGPR, sgpr++));
  }
  groupsEnd = sgpr;
  for (let c: u32 = 0; c <= threadTop; c++) put(THREADS + <usize>c, argument(RegClass.VGPR, c));
}

/** Where the wave's scratch offset comes, when scratch is used. */
export function scratchOffsetSgpr(): u32 {
  return groupsEnd;
}

/** Kinds of user data rows: `UserDataEntry.kind` in its order. */
export const enum UserData {
  RING_POINTER = 0,
  DESCRIPTOR_SET = 1,
  PUSH_POINTER = 2,
  INLINE_PUSH = 3,
  WORKGROUP_COUNTS = 4,
}

/** User SGPRs in all. */
export function userSgprs(): u32 {
  return userCount;
}
export function setBits(): u32 {
  return setsUsed;
}
/** Bit d: push-constant dword d is inlined; 0 when none is. */
export function inlinedPushDwords(): u64 {
  return pushAny && pushInlined ? pushUsed : 0;
}
/** First SGPR of the push constants or their pointer. */
export function pushSgpr(): u32 {
  return pushBase;
}
export function usesPushPointer(): bool {
  return pushAny && !pushInlined;
}
export function usesWorkgroupCounts(): bool {
  return countsUsed;
}
export function workgroupCountSgpr(): u32 {
  return countsBase;
}
