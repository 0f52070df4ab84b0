/**
 * Launch state: which user SGPRs the shader wants and where the hardware puts workgroup and thread ids.
 * Order of user SGPRs: docs/abi.md. The ring pointer is always passed.
 */
import { Fail, fail, failAt } from "../../base/index.ts";
import { DYNAMIC_SET, Op } from "../../gen/ir-ops.ts";
import { Op as Isa, OP_COUNT } from "../../gen/isa-ops.ts";
import {
  componentsOf,
  constBits,
  imm,
  instrPlace,
  isConst,
  opOf,
  privateBytes,
  STAGE_FRAGMENT,
  src,
  srcCount,
  stage,
} from "../ir/index.ts";
import { raw, salu, saluNew } from "./build.ts";
import { mDst0, mImm, mSrc0, vFixed } from "./columns.ts";
import { Hw, hw, newVreg, operandVreg, RegClass } from "./machine.ts";

/** Pseudo instruction: defines a launch argument in its fixed register, from the first moment on. */
export const P_ARGUMENT: u32 = OP_COUNT;
/** Pseudo instruction of `waitcnt`: imm is the storage whose accesses must be done (1 buffers, 2 workgroup). */
export const P_RELEASE: u32 = OP_COUNT + 1;
/** Pseudo instruction: its destination starts to live with whatever the register holds. */
export const P_UNDEFINED: u32 = OP_COUNT + 2;

const MAX_USER_SGPRS: u32 = 16;
const MAX_GRAPHICS_SGPRS: u32 = 32;
const VERTEX: u32 = 1;
/** Vulkan's guaranteed push-constant size is 128; more than this never fits in SGPRs. */
const MAX_PUSH_DWORDS: u32 = 64;
const MAX_SETS: u32 = 32;
/** Export targets 32 to 63, attributes 0 to 31. Source: RDNA2 ISA, EXP and VINTRP. */
const MAX_PARAMETERS: u32 = 32;

// Bits and operands, rewritten by `startLaunch` and what follows at each run.
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

const OPERANDS: usize = 128;
const operands = memory.data(4 * 128, 4);
const SETS: usize = 0;
const PUSH: usize = 32;
const COUNTS: usize = 96;
const GROUPS: usize = 99;
const THREADS: usize = 102;
const PUSH_POINTER: usize = 105;
/** Base vertex, draw number, first instance, pointer to the vertex buffers. */
const DRAW: usize = 106;
/** i, j by kind. */
const BARY: usize = 110;
// Fragment: bits of SPI_PS_INPUT_ADDR. Vertex: bit 0 vertex id, bit 1 instance id.
let stageUsed: u32 = 0;
/** Fragment: bits as well, with those that must be there. */
let stageAddress: u32 = 0;
/** Bits of DRAW that are used. */
let drawUsed: u32 = 0;
let drawBase: u32 = 0;
let locationsLow: u64 = 0;
let locationsHigh: u64 = 0;
let flatLow: u64 = 0;
let flatHigh: u64 = 0;
const stageOperands = memory.data(4 * 16, 4);
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
    case Op.LOAD_TEXEL:
    case Op.STORE_TEXEL:
    case Op.TEXEL_ATOMIC:
    case Op.TEXEL_COUNT:
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

/** SPI_PS_INPUT_ADDR and ENA of the fragment stage; bit 1 of the vertex stage: the instance id is wanted. */
export function stageInputs(): u32 {
  return stage() == STAGE_FRAGMENT ? stageAddress : stageUsed;
}
/** Bits: base vertex, draw number, first instance, pointer to the vertex buffers. */
export function drawBits(): u32 {
  return drawUsed;
}
export function drawSgpr(): u32 {
  return drawBase;
}
/** Locations of attributes (fragment) or parameters (vertex), as bits. */
export function locationBits(high: bool): u64 {
  return high ? locationsHigh : locationsLow;
}

/** Of `locationBits` those that are not interpolated. */
export function flatBits(high: bool): u64 {
  return high ? flatHigh : flatLow;
}

/** Rank of a location among those that are used: number of the attribute or parameter. */
function rankOf(location: u32): u32 {
  if (location < 64) return <u32>popcnt<u64>(locationsLow & (((<u64>1) << (<u64>location)) - 1));
  const above = locationsHigh & (((<u64>1) << (<u64>location - 64)) - 1);
  return <u32>popcnt<u64>(locationsLow) + <u32>popcnt<u64>(above);
}
export function attributeOf(location: u32): u32 {
  return rankOf(location);
}
export function parameterOf(location: u32): u32 {
  return rankOf(location);
}
/** A parameter is exported or read by `i`: by location, whatever components. */
function useLocation(i: u32, location: u32): void {
  if (location < 64) locationsLow |= (<u64>1) << (<u64>location);
  else locationsHigh |= (<u64>1) << (<u64>location - 64);
  if (<u32>(popcnt<u64>(locationsLow) + popcnt<u64>(locationsHigh)) > MAX_PARAMETERS) {
    failAt(instrPlace[i], Fail.BACKEND_UNSUPPORTED, opOf(i), 1, location);
  }
}

/** Bit of SPI_PS_INPUT_ADDR (fragment), of `stageUsed` (vertex), for an op. */
function argumentBit(op: u32, component: u32): u32 {
  switch (op) {
    case Op.LOAD_FRAG_COORD:
      return 8 + component;
    case Op.LOAD_FRONT_FACE:
      return 12;
    case Op.LOAD_ANCILLARY:
      return 13;
    case Op.LOAD_SAMPLE_COVERAGE:
      return 14;
    case Op.LOAD_INSTANCE_ID:
      return 1;
    default:
      return 0;
  }
}
export function stageArgument(op: u32, component: u32): u32 {
  return load<u32>(stageOperands + ((<usize>argumentBit(op, component)) << 2));
}
export function barycentricArgument(kind: u32, component: u32): u32 {
  return get(BARY + <usize>(2 * kind + component));
}
export function drawArgument(component: u32): u32 {
  return get(DRAW + <usize>component);
}
export function vertexBuffers(): u32 {
  return get(DRAW + 3);
}

function scanGraphics(i: u32): void {
  const op = opOf(i);
  switch (op) {
    case Op.LOAD_BARY:
      stageUsed |= (<u32>1) << imm(i, 0);
      return;
    case Op.INTERP_FLAT:
      if (imm(i, 0) < 64) flatLow |= (<u64>1) << (<u64>imm(i, 0));
      else flatHigh |= (<u64>1) << (<u64>imm(i, 0) - 64);
      interpolates = true;
      useLocation(i, imm(i, 0));
      return;
    case Op.INTERP:
      interpolates = true;
      useLocation(i, imm(i, 0));
      return;
    case Op.EXPORT:
      if (imm(i, 0) >= 256) useLocation(i, imm(i, 0) - 256);
      return;
    case Op.LOAD_DRAW:
      drawUsed |= (<u32>1) << imm(i, 0);
      return;
    case Op.LOAD_VERTEX:
      drawUsed |= 8;
      return;
    case Op.LOAD_FRAG_COORD:
    case Op.LOAD_FRONT_FACE:
    case Op.LOAD_ANCILLARY:
    case Op.LOAD_SAMPLE_COVERAGE:
    case Op.LOAD_VERTEX_ID:
    case Op.LOAD_INSTANCE_ID:
      stageUsed |= (<u32>1) << argumentBit(op, imm(i, 0));
      return;
    default:
      return;
  }
}
/** M0 must hold the primitive mask. */
let interpolates: bool = false;

function useSet(op: u32, set: u32): void {
  if (set >= MAX_SETS) fail(Fail.BACKEND_UNSUPPORTED, op, set, 0);
  else setsUsed |= (<u32>1) << set;
}

/** Nothing is used yet; `noteLaunch` finds what is. */
export function startLaunch(): void {
  stageUsed = 0;
  drawUsed = 0;
  locationsLow = 0;
  locationsHigh = 0;
  flatLow = 0;
  flatHigh = 0;
  interpolates = false;
  setsUsed = 0;
  pushUsed = 0;
  pushAny = false;
  pushInlined = true;
  countsUsed = false;
  groupUsed = 0;
  threadTop = 0;
}

/** What an instruction wants at the launch. */
export function noteLaunch(i: u32): void {
  const op = opOf(i);
  if (op >= <u32>Op.IMAGE_SAMPLE && op <= <u32>Op.IMAGE_SAMPLES) {
    useSet(op, imm(i, 1) & 0xffff);
    useSet(op, imm(i, 1) >> 16);
    return;
  }
  const set = setOf(i);
  if (set >= <i32>MAX_SETS) fail(Fail.BACKEND_UNSUPPORTED, op, set, 0);
  else if (set >= 0) setsUsed |= (<u32>1) << set;
  else if (op == Op.LOAD_WORKGROUP_ID) groupUsed |= (<u32>1) << imm(i, 0);
  else if (op == Op.LOAD_NUM_WORKGROUPS) countsUsed = true;
  else if (op == Op.LOAD_LOCAL_ID) threadTop = max<u32>(threadTop, imm(i, 0));
  else if (op == Op.LOAD_PUSH) scanPush(i);
  else if (stage() != 0) scanGraphics(i);
}

/** Behind all `noteLaunch`. */
export function endLaunch(): void {
  const limit = stage() == 0 ? MAX_USER_SGPRS : MAX_GRAPHICS_SGPRS;
  const fixed: u32 = 2 + <u32>popcnt<u32>(setsUsed) + (countsUsed ? 3 : 0) + <u32>popcnt<u32>(drawUsed);
  const dwords = <u32>popcnt<u64>(pushUsed);
  if (pushAny && fixed + dwords > limit) pushInlined = false;
  if (fixed + <u32>(pushAny && !pushInlined ? 1 : 0) > limit) fail(Fail.OUT_OF_REGISTERS, 0, limit, 0);
  stageAddress = stageUsed;
  // The hardware wants one of i, j at least.
  if (stage() == STAGE_FRAGMENT && (stageUsed & 0x7f) == 0) stageAddress |= 2;
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
  memory.fill(operands, 0, 4 * OPERANDS);
  memory.fill(stageOperands, 0, 4 * 16);
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
  drawBase = sgpr;
  // The pointer to the vertex buffers comes first.
  if ((drawUsed & 8) != 0) put(DRAW + 3, argument(RegClass.SGPR, sgpr++));
  for (let c: u32 = 0; c < 3; c++)
    if (((drawUsed >> c) & 1) != 0) put(DRAW + <usize>c, argument(RegClass.SGPR, sgpr++));
  if (countsUsed) for (let c: u32 = 0; c < 3; c++) put(COUNTS + <usize>c, argument(RegClass.SGPR, sgpr++));
  userCount = sgpr;
  for (let c: u32 = 0; c < 3; c++) {
    if (((groupUsed >> c) & 1) != 0) put(GROUPS + <usize>c, argument(RegClass.SGPR, sgpr++));
  }
  if (stage() == STAGE_FRAGMENT) {
    const mask = argument(RegClass.SGPR, sgpr++);
    groupsEnd = sgpr;
    fragmentArguments();
    if (interpolates) salu(Isa.s_mov_b32, hw(Hw.M0, 1), mask, 0);
    return;
  }
  groupsEnd = sgpr;
  if (stage() == VERTEX) {
    if ((stageUsed & 1) != 0) store<u32>(stageOperands, argument(RegClass.VGPR, 0));
    if ((stageUsed & 2) != 0) store<u32>(stageOperands + 4, argument(RegClass.VGPR, 3));
    return;
  }
  for (let c: u32 = 0; c <= threadTop; c++) put(THREADS + <usize>c, argument(RegClass.VGPR, c));
}

/** Immediate of S_SETREG_B32 for all 32 bits of FLAT_SCRATCH's low (0) or high half: hardware registers 20 and 21. */
export function flatScratchField(half: u32): u32 {
  return (20 + half) | (31 << 11);
}

/**
 * FLAT_SCRATCH = s[0:1] + the wave's offset, behind the arguments, where the shader has arrays in scratch memory.
 * Source: RDNA2 ISA, flat scratch; docs/abi.md.
 */
export function startScratch(): void {
  if (privateBytes() == 0) return;
  const low = argument(RegClass.SGPR, 0);
  const high = argument(RegClass.SGPR, 1);
  const offset = argument(RegClass.SGPR, groupsEnd);
  const sum = saluNew(Isa.s_add_u32, low, offset);
  const carried = saluNew(Isa.s_addc_u32, high, hw(Hw.ZERO, 1));
  for (let k: u32 = 0; k < 2; k++) {
    const i = raw(Isa.s_setreg_b32);
    mSrc0[i] = k == 0 ? sum : carried;
    mImm[i] = flatScratchField(k);
  }
}

/** VGPRs in the order of the bits of SPI_PS_INPUT_ADDR. */
function fragmentArguments(): void {
  let vgpr: u32 = 0;
  for (let bit: u32 = 0; bit < 16; bit++) {
    if (((stageAddress >> bit) & 1) == 0) continue;
    const used = ((stageUsed >> bit) & 1) != 0;
    if (bit < 7) {
      if (used) {
        put(BARY + <usize>(2 * bit), argument(RegClass.VGPR, vgpr));
        put(BARY + <usize>(2 * bit + 1), argument(RegClass.VGPR, vgpr + 1));
      }
      vgpr += 2;
    } else {
      if (used) store<u32>(stageOperands + ((<usize>bit) << 2), argument(RegClass.VGPR, vgpr));
      vgpr++;
    }
  }
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
