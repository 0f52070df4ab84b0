/**
 * Proves EXEC: one lane, any lane, is followed through the final code. It stands in the block where the program as selection
 * made it has it (`bLane0`, `bLane1`); where an instruction looks at EXEC, the lane's bit must be set if it stands in that
 * block and clear if it waits elsewhere; where the program ends it must wait nowhere. Of masks in SGPRs the lane's bit
 * is followed: 0, 1 or unknown, where both are tried. A state is a block, where the lane stands, its bit of
 * EXEC; states that meet keep of their masks what both know.
 *
 * Not proved: fragment shaders that change EXEC for the sake of helpers, shaders whose masks stand in lanes of VGPRs, and those
 * with too many states for the room.
 */
import { Fail, failAt, failed, U32Column } from "../../base/index.ts";
import { Format, OP_COUNT, Op, OpFlag, opCode, opFlags, opFormat, opOtherForm } from "../../gen/isa-ops.ts";
import { localSize, stage } from "../ir/index.ts";
import { ENDED, EXECZ, finalNext, isCompare, isHollow, SCC1, selectedNext } from "./check-branches.ts";
import {
  bFirst,
  bLane0,
  bLane1,
  bOrder,
  flowBytes,
  mDst0,
  mDst1,
  mNext,
  mOp,
  mPlace,
  mSrc0,
  mSrc1,
} from "./columns.ts";
import { keepsHelpers } from "./exact.ts";
import { Hw, hasDeep, hwCode, isVreg, layoutLength, operandSize } from "./machine.ts";
import { endCompares, endNarrows, isNamed, namedOp } from "./named.ts";
import { spilledSgprs } from "./spill.ts";

const COMPUTE: u32 = 0;
const SGPRS: u32 = 108;
const EXEC: u32 = Hw.EXEC_LO;

// A lane's bit of a mask.
const ZERO: u32 = 0;
const ONE: u32 = 1;
const UNKNOWN: u32 = 2;

// A state: block, where the lane stands (ENDED: nowhere) shifted left by its bit of EXEC, next in its chain, whether it is to be
// looked at, then two bits of each SGPR.
const STATE_WORDS: u32 = 12;
const BLOCK: u32 = 0;
const STANDS: u32 = 1;
const ACTIVE: u32 = 2;
const CHAIN: u32 = 3;
const MASKS: u32 = 4;
const MASK_WORDS: u32 = 7;
const PENDING: u32 = 11;
const MAX_STATES: u32 = 1 << 17;
const HASH: u32 = 1 << 15;
const heads = changetype<U32Column>(changetype<usize>(flowBytes) + (4 << 20));
const queue = changetype<U32Column>(changetype<usize>(flowBytes) + (4 << 20) + ((<usize>HASH) << 2));
const states = changetype<U32Column>(
  changetype<usize>(flowBytes) + (4 << 20) + ((<usize>HASH) << 2) + ((<usize>MAX_STATES) << 2),
);
let stateCount: u32 = 1;
let queued: u32 = 0;
let isFull: bool = false;

/** The masks of the state that is being run: two bits an SGPR. */
const bits = memory.data(32, 4);
/** Bits that decide what an unknown bit of EXEC is, and how many were needed. */
let choices: u32 = 0;
let chosen: u32 = 0;
const MAX_CHOSEN: u32 = 6;
/** All lanes are on for an operation of the whole wave. */
let isWhole: bool = false;

function bitOf(register: u32): u32 {
  if (register >= SGPRS) return UNKNOWN;
  return (load<u32>(bits + ((<usize>register >> 4) << 2)) >> ((register & 15) * 2)) & 3;
}
function setBit(register: u32, bit: u32): void {
  if (register >= SGPRS) return;
  const at = bits + ((<usize>register >> 4) << 2);
  const shift = (register & 15) * 2;
  store<u32>(at, (load<u32>(at) & ~(3 << shift)) | (bit << shift));
}

/** The lane's bit of a scalar source; `active`: that of EXEC. */
function read(operand: u32, active: u32): u32 {
  if (operand == 0 || isVreg(operand)) return UNKNOWN;
  const code = hwCode(operand);
  if (code == EXEC) return active;
  if (code == <u32>Hw.ZERO) return ZERO;
  if (code == <u32>Hw.MINUS_ONE) return ONE;
  return bitOf(code);
}
function not(a: u32): u32 {
  return a == UNKNOWN ? UNKNOWN : 1 - a;
}
function and(a: u32, b: u32): u32 {
  if (a == ZERO || b == ZERO) return ZERO;
  return a == ONE && b == ONE ? ONE : UNKNOWN;
}
function or(a: u32, b: u32): u32 {
  return not(and(not(a), not(b)));
}
function xor(a: u32, b: u32): u32 {
  return a == UNKNOWN || b == UNKNOWN ? UNKNOWN : a ^ b;
}

/** What a scalar instruction makes of the lane's bits. */
function combined(op: u32, a: u32, b: u32): u32 {
  switch (op) {
    case Op.s_mov_b32:
      return a;
    case Op.s_not_b32:
      return not(a);
    case Op.s_and_b32:
    case Op.s_and_saveexec_b32:
      return and(a, b);
    case Op.s_or_b32:
    case Op.s_or_saveexec_b32:
      return or(a, b);
    case Op.s_xor_b32:
    case Op.s_xor_saveexec_b32:
      return xor(a, b);
    case Op.s_andn2_b32:
    case Op.s_andn2_saveexec_b32:
      return and(a, not(b));
    case Op.s_orn2_b32:
    case Op.s_orn2_saveexec_b32:
      return or(a, not(b));
    case Op.s_andn1_saveexec_b32:
      return and(not(a), b);
    case Op.s_orn1_saveexec_b32:
      return or(not(a), b);
    case Op.s_nand_b32:
      return not(and(a, b));
    case Op.s_nor_b32:
      return not(or(a, b));
    case Op.s_xnor_b32:
      return not(xor(a, b));
    case Op.s_cselect_b32:
      return a == b ? a : UNKNOWN;
    default:
      return UNKNOWN;
  }
}
function savesExec(op: u32): bool {
  return op >= <u32>Op.s_and_saveexec_b32 && op <= <u32>Op.s_orn1_saveexec_b32;
}
function isScalar(op: u32): bool {
  const format = opFormat(op);
  return format == Format.SOP1 || format == Format.SOP2 || format == Format.SOPK || format == Format.SOPC;
}

/** EXEC's bit, chosen where it is not known; what it came from is then known, too. */
function decide(bit: u32, source: u32): u32 {
  if (bit != UNKNOWN) return bit;
  const is = (choices >> chosen++) & 1;
  if (source != 0 && !isVreg(source)) setBit(hwCode(source), is);
  return is;
}

function forget(operand: u32): void {
  if (operand == 0 || isVreg(operand)) return;
  for (let k: u32 = 0; k < operandSize(operand); k++) setBit(hwCode(operand) + k, UNKNOWN);
}
function writesExec(operand: u32): bool {
  return operand != 0 && !isVreg(operand) && hwCode(operand) == EXEC;
}

/** The lane's bit of EXEC behind instruction i. */
function execute(i: u32, active: u32): u32 {
  const op = mOp[i];
  if (op >= OP_COUNT) return active;
  const dst = mDst0[i];
  if (isCompare(op)) {
    if ((opFlags(op) & OpFlag.WritesExec) != 0) return active == ZERO ? ZERO : decide(UNKNOWN, 0);
    forget(dst);
    if (active == ZERO && dst != 0) setBit(hwCode(dst), ZERO);
    return active;
  }
  if (!isScalar(op)) {
    forget(dst);
    forget(mDst1[i]);
    return active;
  }
  if (op == <u32>Op.s_mov_b64) {
    const pair = mSrc0[i];
    const from = pair == 0 || isVreg(pair) ? SGPRS : hwCode(pair);
    const low = bitOf(from);
    const high = from < SGPRS ? bitOf(from + 1) : UNKNOWN;
    setBit(hwCode(dst), low);
    setBit(hwCode(dst) + 1, high);
    return active;
  }
  if (savesExec(op)) {
    const result = combined(op, read(mSrc0[i], active), active);
    isWhole = op == <u32>Op.s_or_saveexec_b32 && hwCode(mSrc0[i]) == <u32>Hw.MINUS_ONE;
    const now = decide(result, active == ONE && op == <u32>Op.s_and_saveexec_b32 ? mSrc0[i] : 0);
    forget(dst);
    setBit(hwCode(dst), active);
    return now;
  }
  const result = combined(op, read(mSrc0[i], active), read(mSrc1[i], active));
  if (writesExec(dst)) {
    isWhole = false;
    return decide(result, op == <u32>Op.s_mov_b32 ? mSrc0[i] : 0);
  }
  forget(dst);
  if (dst != 0 && operandSize(dst) == 1) setBit(hwCode(dst), result);
  return active;
}

/** Whether the instruction looks at EXEC. */
function looks(op: u32): bool {
  return op < OP_COUNT && !isScalar(op) && opFormat(op) != Format.SOPP && (opFlags(op) & OpFlag.ReadsExec) != 0;
}

// Where the lane goes.

const MAX_PLACES: u32 = 16;
const places = memory.data(64, 4);
let placeCount: u32 = 0;
function placeAt(k: u32): u32 {
  return load<u32>(places + ((<usize>k) << 2));
}
function addPlace(b: u32): void {
  for (let k: u32 = 0; k < placeCount; k++) if (placeAt(k) == b) return;
  if (placeCount == MAX_PLACES) {
    isFull = true;
    return;
  }
  store<u32>(places + ((<usize>placeCount) << 2), b);
  placeCount++;
}
/** Adds where a lane comes to that goes to block `b`: through blocks in which nothing happens. */
function reach(b: u32): void {
  const first = placeCount;
  if (b == 0) return;
  if (!isHollow(b)) {
    addPlace(b);
    return;
  }
  // The hollow ones stand in the list, too, until all are there.
  addPlace(b);
  for (let k = first; k < placeCount && !isFull; k++) {
    const h = placeAt(k);
    if (!isHollow(h)) continue;
    if (bLane0[h] != 0) addPlace(bLane0[h]);
    if (bLane1[h] != 0) addPlace(bLane1[h]);
  }
}
function isPlace(b: u32): bool {
  for (let k: u32 = 0; k < placeCount; k++) if (placeAt(k) == b) return true;
  return false;
}

/** Whether a comparison into EXEC is the one of opcode `was`, or the opposite one; else the shader is not right. */
function keepsSense(op: u32, was: u32): i32 {
  if (was == 0) return -1;
  const form = opFormat(was) == Format.VOPC ? was : opOtherForm(was);
  const own = opFormat(op) == Format.VOPC ? op : opOtherForm(op);
  if (form == Op.none || own == Op.none) return -1;
  // V_CMPX stands 16 behind V_CMP; of floats conditions 0 to 15 are opposite where they add up to 15, of integers 0 to 7. Source: RDNA2 ISA, VOPC.
  const a = opCode(form);
  const b = opCode(own) - 16;
  if (a == b) return 1;
  const isFloat = a < 0x80;
  const mask: u32 = isFloat ? 15 : 7;
  return (a & ~mask) == (b & ~mask) && ((a & mask) ^ (b & mask)) == mask ? 0 : -1;
}

/** 1 where the lanes that are active behind block `b` are those that selection had active there, 0 where they are the others, -1 where EXEC stays. */
function senseOf(b: u32): i32 {
  const was = endNarrows[b];
  if (was == 0) return -1;
  let sense: i32 = -1;
  for (let i = bFirst[b]; i != 0; i = mNext[i]) {
    const op = mOp[i];
    if (op >= OP_COUNT) continue;
    if (isCompare(op) && (opFlags(op) & OpFlag.WritesExec) != 0) {
      // `check` compares the operands with this op, whatever form the final one has.
      sense = isNamed(i) ? keepsSense(namedOp(i), endCompares[b]) : -1;
      if (sense < 0) failAt(mPlace[i], Fail.BACKEND_INVALID, 12, 1, b);
    } else if (op == <u32>Op.s_and_saveexec_b32) sense = 1;
    else if (op == <u32>Op.s_andn1_saveexec_b32) sense = 0;
    else if (writesExec(mDst0[i])) {
      if (op == <u32>Op.s_and_b32) sense = 1;
      else if (op == <u32>Op.s_andn2_b32 && hwCode(mSrc0[i]) == EXEC) sense = 0;
      else sense = -1;
    }
  }
  if (sense < 0) return -1;
  return was == <u32>Op.s_and_saveexec_b32 ? sense : 1 - sense;
}

// States.

function stateAt(s: u32): u32 {
  return s * STATE_WORDS;
}
/** Adds the state with the masks at hand, or what it takes from the masks of the one that is there. */
function come(block: u32, stands: u32, active: u32): void {
  const hash = ((block * 0x9e3779b1) ^ (stands * 0x85ebca6b) ^ active) & (HASH - 1);
  for (let s = heads[hash]; s != 0; s = states[stateAt(s) + CHAIN]) {
    const at = stateAt(s);
    if (states[at + BLOCK] != block || states[at + STANDS] != stands || states[at + ACTIVE] != active) continue;
    let changed = false;
    for (let w: u32 = 0; w < MASK_WORDS; w++) {
      const old = states[at + MASKS + w];
      const own = load<u32>(bits + ((<usize>w) << 2));
      // Fields that differ become UNKNOWN.
      const apart = old ^ own;
      const fields = (apart | (apart >> 1)) & 0x5555_5555;
      const joined = (old & ~(fields * 3)) | (fields << 1);
      if (joined == old) continue;
      states[at + MASKS + w] = joined;
      changed = true;
    }
    if (changed && states[at + PENDING] == 0) {
      states[at + PENDING] = 1;
      queue[queued++] = s;
    }
    return;
  }
  if (stateCount == MAX_STATES) {
    isFull = true;
    return;
  }
  const s = stateCount++;
  const at = stateAt(s);
  states[at + BLOCK] = block;
  states[at + STANDS] = stands;
  states[at + ACTIVE] = active;
  states[at + CHAIN] = heads[hash];
  states[at + PENDING] = 1;
  for (let w: u32 = 0; w < MASK_WORDS; w++) states[at + MASKS + w] = load<u32>(bits + ((<usize>w) << 2));
  heads[hash] = s;
  queue[queued++] = s;
}

/** The states behind the block, as its end goes on with the masks at hand. */
function leave(b: u32, stands: u32, active: u32): void {
  for (let outcome: u32 = 0; outcome < 4 && !isFull; outcome++) {
    // With this lane active EXEC is not 0.
    if ((outcome & EXECZ) != 0 && active != 0) continue;
    const to = finalNext(b, outcome);
    if (to == ENDED || bFirst[to] == 0) continue;
    if (stands != b) {
      come(to, stands, active);
      continue;
    }
    const sense = senseOf(b);
    const one = bLane0[b];
    const two = bLane1[b];
    placeCount = 0;
    if (two != 0 && sense >= 0) {
      reach((sense == 1) == (active == 1) ? one : two);
    } else {
      // Where EXEC stays the lane goes where control goes.
      const along = two == 0 || active == 0 ? 0 : selectedNext(b, outcome);
      if (two == 0 || along != two) reach(one);
      if (two != 0 && along != one) reach(two);
    }
    if (active == 1 && isPlace(to)) {
      come(to, to, 1);
      continue;
    }
    let any = false;
    for (let k: u32 = 0; k < placeCount; k++) {
      const place = placeAt(k);
      if (isHollow(place)) continue;
      if (placeCount > 1 && sense < 0 && two != 0 && place == to) continue;
      any = true;
      come(to, place, active);
    }
    if (!any && isPlace(to)) come(to, to, active);
  }
}

function runBlock(s: u32): void {
  const at = stateAt(s);
  const b = states[at + BLOCK];
  const stands = states[at + STANDS];
  const masks = at + MASKS;
  for (let choice: u32 = 0; ; choice++) {
    for (let w: u32 = 0; w < MASK_WORDS; w++) store<u32>(bits + ((<usize>w) << 2), states[masks + w]);
    choices = choice;
    chosen = 0;
    isWhole = false;
    let active = states[at + ACTIVE];
    for (let i = bFirst[b]; i != 0; i = mNext[i]) {
      const op = mOp[i];
      if (looks(op) && !isWhole && (stands == b) != (active == 1)) {
        failAt(mPlace[i], Fail.BACKEND_INVALID, 12, stands == b ? 2 : 3, b);
        return;
      }
      active = execute(i, active);
      if (op == <u32>Op.s_endpgm && stands != b && stands != ENDED) {
        failAt(mPlace[i], Fail.BACKEND_INVALID, 12, 4, b);
        return;
      }
    }
    if (chosen > MAX_CHOSEN) isFull = true;
    if (isFull || failed()) return;
    leave(b, stands, active);
    if (choice + 1 >= (<u32>1) << chosen) return;
  }
}

/** Fails with BACKEND_INVALID 12 where EXEC is not the lanes that are where control is. */
export function checkLanes(): void {
  if (keepsHelpers() || hasDeep() || spilledSgprs() > 0 || layoutLength() == 0) return;
  heads.clear(0, HASH);
  stateCount = 1;
  queued = 0;
  isFull = false;
  // Nothing is known of any register.
  memory.fill(bits, 0xaa, 32);
  const entry = isHollow(bOrder[0]) ? finalNext(bOrder[0], SCC1) : bOrder[0];
  if (entry == ENDED) return;
  come(entry, entry, 1);
  const whole = stage() == COMPUTE && (localSize(0) * localSize(1) * localSize(2)) % 32 == 0;
  if (!whole) come(entry, ENDED, 0);
  while (queued > 0 && !isFull && !failed()) {
    const s = queue[--queued];
    states[stateAt(s) + PENDING] = 0;
    runBlock(s);
  }
}
