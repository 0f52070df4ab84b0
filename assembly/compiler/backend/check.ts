/**
 * Proves registers, lanes and scratch slots by abstract execution of the final code, with the values as selection named
 * them (`named`). A place is an SGPR, a VGPR, a lane of a spill register, a dword of a lane's scratch; the state is the
 * set of pairs (place, value) of which the place holds the value now. A write takes all values out of its place and its
 * own value out of all others; a copy, and a move of `spill`, carries along what its source holds; where edges meet, only
 * what both sides hold stays. Each read must find its value where it reads. What a write, a move and a slot's address mean is
 * read off the final instruction; names say what is meant to be there.
 *
 * SGPRs and lanes are followed along control's edges, VGPRs and scratch along lanes' edges. Values that no copy connects
 * don't touch each other: those whose states fit in the room at once are proved together, the others after them.
 *
 * Control's edges include some that nobody takes: where all lanes left a loop, the branch to its cont passes by what the
 * body computes for the lanes that stay. What was never written counts as held there, as for `liveness`.
 *
 * Not followed: SCC, EXEC (see `check-lanes`) and M0, and values of constants. That control goes along the kept edges is for
 * `check-branches`.
 */
import { BitSet, Fail, fail, failAt, failed, Limit } from "../../base/index.ts";
import { OP_COUNT, Op, OpFlag, opFlags, opOtherForm, opSwap } from "../../gen/isa-ops.ts";
import {
  bitCount,
  carried,
  collectPairs,
  findPair,
  firstBit,
  pairBit,
  pairOfPlace,
  pairOfUnit,
  pairPlace,
  pairUnit,
  placePairs,
  STATES_AT,
  STATES_BYTES,
  unitNext,
  unitPairs,
  unitProved,
  unitRoot,
} from "./check-pairs.ts";
import {
  bFirst,
  bIndex,
  bLane0,
  bLane1,
  bOrder,
  bSucc0,
  bSucc1,
  mDst0,
  mDst1,
  mNext,
  mOp,
  mPlace,
  mSrc0,
  mSrc1,
  mSrc2,
  vFixed,
  vUnit,
} from "./columns.ts";
import { P_ARGUMENT, P_UNDEFINED } from "./launch.ts";
import {
  isVreg,
  layoutLength,
  NO_REG,
  operandSize,
  operandUnit,
  operandVreg,
  RegClass,
  source,
  units,
  vregClass,
  vregSize,
  vregs,
} from "./machine.ts";
import {
  DST0,
  DST1,
  firstGhost,
  firstTailGhost,
  isNamed,
  isSpillMove,
  joinedMove,
  namedOp,
  nameOf,
  nextGhost,
  SRC0,
} from "./named.ts";
import {
  argumentPlace,
  behind,
  halfOf,
  isCopy,
  isSlotLoad,
  LANES,
  movedRegister,
  NOWHERE,
  pairedSource,
  placeOf,
  SLOTS,
  slotOf,
  VGPRS,
} from "./places.ts";
import { laneRegisters } from "./spill.ts";

let stateWords: u32 = 0;
let classAtHand: u32 = 0;
let state: BitSet = changetype<BitSet>(0);

/** The set on entry of the block at place k; the running one is at place `layoutLength()`. */
function stateAt(k: u32): BitSet {
  return changetype<BitSet>(STATES_AT + ((<usize>k * <usize>stateWords) << 2));
}

function isUp(p: u32): bool {
  return p != 0 && pairBit[p] != 0 && state.has(pairBit[p] - 1);
}
function raise(p: u32): void {
  if (pairBit[p] != 0) state.add(pairBit[p] - 1);
}
function drop(p: u32): void {
  if (pairBit[p] != 0) state.remove(pairBit[p] - 1);
}

function isOf(operand: u32, regClass: u32): bool {
  return isVreg(operand) && vregClass(operandVreg(operand)) == regClass;
}

// The state.

/** Nothing that was in the place is. */
function clearPlace(place: u32): void {
  if (place == NOWHERE || bitCount[place] == 0) return;
  let bit = firstBit[place];
  const to = bit + bitCount[place];
  while (bit < to && (bit & 31) != 0) state.remove(bit++);
  const words = (to - bit) >> 5;
  memory.fill(changetype<usize>(state) + ((<usize>bit >> 5) << 2), 0, (<usize>words) << 2);
  bit += words << 5;
  while (bit < to) state.remove(bit++);
}
/** Of all registers that the operand names; SGPRs may stand in lanes of a VGPR. */
function clobber(operand: u32): void {
  if (operand == 0) return;
  const size = operandSize(operand);
  for (let k: u32 = 0; k < size; k++) {
    const place = placeOf(operand, k);
    clearPlace(place);
    if (place == NOWHERE || place < VGPRS || laneRegisters() == 0) continue;
    for (let lane: u32 = 0; lane < 32; lane++) clearPlace(LANES + (place - VGPRS) * 32 + lane);
  }
}
/** The value is there, and nowhere else. */
function define(operand: u32, first: u32, name: u32): void {
  if (!isOf(name, classAtHand)) return;
  const size = operandSize(name);
  for (let k: u32 = 0; k < size; k++) {
    const place = placeOf(operand, first + k);
    for (let p = unitPairs[operandUnit(name) + k]; p != 0; p = pairOfUnit[p]) {
      if (pairPlace[p] == place) raise(p);
      else drop(p);
    }
  }
}
/** `dst` holds what `src` holds. */
function equate(dst: u32, src: u32): void {
  if (dst == src) return;
  for (let p = unitPairs[dst]; p != 0; p = pairOfUnit[p]) {
    const from = findPair(pairPlace[p], src);
    if (from != 0 && isUp(from)) raise(p);
    else drop(p);
  }
}
/** Notes what place `from` holds as held at `to` from `carry` on; the number noted in all. */
function note(to: u32, from: u32, count: u32): u32 {
  if (to == NOWHERE || from == NOWHERE) return count;
  for (let p = placePairs[from]; p != 0; p = pairOfPlace[p]) {
    if (!isUp(p)) continue;
    const there = findPair(to, pairUnit[p]);
    if (there != 0) carried[count++] = there;
  }
  return count;
}
function carry(count: u32): void {
  for (let k: u32 = 0; k < count; k++) raise(carried[k]);
}

/** Whether each component of the value is where the operand reads it. */
function holds(operand: u32, first: u32, name: u32): bool {
  if (!isOf(name, classAtHand)) return true;
  const size = operandSize(name);
  for (let k: u32 = 0; k < size; k++) {
    const unit = operandUnit(name) + k;
    // A value that no place ever gets is held nowhere.
    if (unitProved[unit] == 0 && unitPairs[unit] != 0) continue;
    const p = findPair(placeOf(operand, first + k), unit);
    if (p == 0 || !isUp(p)) return false;
  }
  return true;
}
function mustHold(i: u32, operand: u32, first: u32, name: u32): void {
  if (!holds(operand, first, name)) failAt(mPlace[i], Fail.BACKEND_INVALID, 7, operandVreg(name), i);
}

/** Whether sources a, b, c read what was named x, y, z. */
function sourcesHold(i: u32, x: u32, y: u32, z: u32): bool {
  return holds(mSrc0[i], 0, x) && holds(mSrc1[i], 0, y) && holds(mSrc2[i], 0, z);
}
/** Whether the op may have exchanged sources 0 and 1 since it was named. */
function mayExchange(was: u32, op: u32): bool {
  const swapped = opSwap(was);
  return swapped != Op.none && (op == swapped || op == opOtherForm(swapped));
}
/** Whether each source is where the final instruction reads it. */
function readsHold(i: u32): bool {
  const op = mOp[i];
  const was = namedOp(i);
  const x = nameOf(i, SRC0);
  const y = nameOf(i, SRC0 + 1);
  const z = nameOf(i, SRC0 + 2);
  if (!holds(source(i, 3), 0, nameOf(i, SRC0 + 3))) return false;
  if (op == was || was >= OP_COUNT) return sourcesHold(i, x, y, z);
  switch (op) {
    case Op.v_fmac_f32_e32:
    case Op.v_fmac_f16_e32:
      return holds(mDst0[i], 0, z) && (sourcesHold(i, x, y, 0) || sourcesHold(i, y, x, 0));
    case Op.v_fmaak_f32:
    case Op.v_fmaak_f16:
      return sourcesHold(i, x, y, 0) || sourcesHold(i, y, x, 0);
    case Op.v_fmamk_f32:
    case Op.v_fmamk_f16:
      // One factor is the literal.
      return sourcesHold(i, isVreg(x) ? x : y, z, 0);
    case Op.s_and_b32:
    case Op.s_andn2_b32:
      // EXEC is narrowed without being saved.
      if ((opFlags(was) & OpFlag.WritesExec) != 0) return sourcesHold(i, 0, x, 0);
  }
  if (sourcesHold(i, x, y, z)) return true;
  return mayExchange(was, op) && sourcesHold(i, y, x, z);
}

// Execution.

/** Two moves as one: both read before either writes. */
function executeJoined(i: u32, report: bool): void {
  let count: u32 = 0;
  for (let n: u32 = 0; n < 2; n++) {
    const half = n == 0 ? i : joinedMove(i);
    const at = halfOf(i, half);
    const name = nameOf(half, SRC0);
    if (!isVreg(name)) continue;
    if (report) mustHold(i, pairedSource(i), at, name);
    count = note(placeOf(mDst0[i], at), placeOf(pairedSource(i), at), count);
  }
  clobber(mDst0[i]);
  carry(count);
  for (let n: u32 = 0; n < 2; n++) {
    const half = n == 0 ? i : joinedMove(i);
    if (isCopy(half)) equateNames(half);
    else define(mDst0[i], halfOf(i, half), nameOf(half, DST0));
  }
}
function equateNames(i: u32): void {
  if (!isOf(nameOf(i, DST0), classAtHand)) return;
  const size = operandSize(nameOf(i, DST0));
  for (let k: u32 = 0; k < size; k++) equate(operandUnit(nameOf(i, DST0)) + k, operandUnit(nameOf(i, SRC0)) + k);
}

function executeSpillMove(i: u32): void {
  const size = operandSize(nameOf(i, SRC0));
  const loads = isSlotLoad(i);
  const slot = slotOf(i);
  let count: u32 = 0;
  for (let k: u32 = 0; k < size; k++) {
    if (loads) count = note(movedRegister(i, k), behind(slot, k), count);
    else count = note(behind(slot, k), movedRegister(i, k), count);
  }
  if (loads) {
    clobber(mDst0[i]);
  } else {
    // A store whose slot is not known could be anywhere.
    if (slot == NOWHERE) failAt(mPlace[i], Fail.BACKEND_INVALID, 8, 0, i);
    for (let k: u32 = 0; k < size; k++) clearPlace(behind(slot, k));
    if (mOp[i] == <u32>Op.v_writelane_b32) clearPlace(placeOf(mDst0[i], 0));
  }
  carry(count);
}

/**
 * Of instructions that are no more: copies within a place, arguments of the launch, registers that hold anything, reads
 * that the next branch does by itself.
 */
function executeGhost(i: u32, report: bool): void {
  const op = namedOp(i);
  const name = nameOf(i, DST0);
  if (op == P_UNDEFINED) {
    if (!isOf(name, classAtHand)) return;
    for (let k: u32 = 0; k < operandSize(name); k++) {
      for (let p = unitPairs[operandUnit(name) + k]; p != 0; p = pairOfUnit[p]) raise(p);
    }
  } else if (isCopy(i)) {
    equateNames(i);
  } else if (op == P_ARGUMENT && vFixed[operandVreg(name)] != NO_REG) {
    if (!isOf(name, classAtHand)) return;
    // What stood in front of it must have left the argument alone.
    for (let k: u32 = 0; k < operandSize(name); k++) {
      const unit = operandUnit(name) + k;
      const place = argumentPlace(operandVreg(name)) + k;
      if (unitProved[unit] != 0 && !isUp(findPair(place, unit)))
        failAt(mPlace[i], Fail.BACKEND_INVALID, 9, operandVreg(name), i);
      for (let p = unitPairs[unit]; p != 0; p = pairOfUnit[p]) if (pairPlace[p] != place) drop(p);
    }
  } else if (report) {
    mustHold(i, mSrc0[i], 0, nameOf(i, SRC0));
  }
}

function executeGhosts(first: u32, report: bool): void {
  for (let g = first; g != 0; g = nextGhost(g)) executeGhost(g, report);
}

function execute(i: u32, report: bool): void {
  if (isSpillMove(i)) {
    executeSpillMove(i);
    return;
  }
  if (!isNamed(i)) {
    clobber(mDst0[i]);
    clobber(mDst1[i]);
    return;
  }
  if (joinedMove(i) != 0) {
    executeJoined(i, report);
    return;
  }
  const tied = namedOp(i) < OP_COUNT && (opFlags(namedOp(i)) & OpFlag.TiedDst) != 0;
  if (report) {
    if (!readsHold(i)) reportRead(i);
    if (tied) mustHold(i, mDst0[i], 0, nameOf(i, DST0));
  }
  let count: u32 = 0;
  const copies = isCopy(i);
  if (copies) {
    for (let k: u32 = 0; k < operandSize(nameOf(i, DST0)); k++)
      count = note(placeOf(mDst0[i], k), placeOf(mSrc0[i], k), count);
  }
  clobber(mDst0[i]);
  clobber(mDst1[i]);
  carry(count);
  if (copies) {
    equateNames(i);
  } else {
    define(mDst0[i], 0, nameOf(i, DST0));
    define(mDst1[i], 0, nameOf(i, DST1));
  }
}

/** Names the source that is not held, the first where that depends on the form. */
function reportRead(i: u32): void {
  for (let k: u32 = 0; k < 4; k++) mustHold(i, source(i, k), 0, nameOf(i, SRC0 + k));
  failAt(mPlace[i], Fail.BACKEND_INVALID, 7, operandVreg(nameOf(i, SRC0)), i);
}

function executeBlock(b: u32, report: bool): void {
  for (let i = bFirst[b]; i != 0; i = mNext[i]) {
    executeGhosts(firstGhost(i), report);
    execute(i, report);
  }
  executeGhosts(firstTailGhost(b), report);
}

/** target = target and the running state; true when that took something away. */
function meet(target: BitSet): bool {
  let changed = false;
  for (let w: u32 = 0; w < stateWords; w++) {
    const at = changetype<usize>(target) + ((<usize>w) << 2);
    const old = load<u32>(at);
    const both = old & load<u32>(changetype<usize>(state) + ((<usize>w) << 2));
    if (both == old) continue;
    store<u32>(at, both);
    changed = true;
  }
  return changed;
}

/** Of VGPRs the launch's arguments alone are there on entry. */
function enter(): void {
  const bytes = (<usize>stateWords) << 2;
  if (classAtHand == RegClass.SGPR) return;
  state = stateAt(0);
  memory.fill(changetype<usize>(state), 0, bytes);
  for (let v: u32 = 1; v < vregs(); v++) {
    if (vFixed[v] == NO_REG || vregClass(v) != RegClass.VGPR) continue;
    for (let k: u32 = 0; k < vregSize(v); k++) {
      const p = findPair(argumentPlace(v) + k, vUnit[v] + k);
      if (p != 0) raise(p);
    }
  }
}

function proveChunk(): void {
  const count = layoutLength();
  const bytes = (<usize>stateWords) << 2;
  memory.fill(changetype<usize>(stateAt(0)), 0xff, bytes * <usize>count);
  enter();
  state = stateAt(count);
  const vector = classAtHand == RegClass.VGPR;
  for (let changed = true; changed && !failed(); ) {
    changed = false;
    for (let k: u32 = 0; k < count; k++) {
      const b = bOrder[k];
      memory.copy(changetype<usize>(state), changetype<usize>(stateAt(k)), bytes);
      executeBlock(b, false);
      const s0 = vector ? bLane0[b] : bSucc0[b];
      const s1 = vector ? bLane1[b] : bSucc1[b];
      if (s0 != 0 && meet(stateAt(bIndex[s0]))) changed = true;
      if (s1 != 0 && meet(stateAt(bIndex[s1]))) changed = true;
    }
  }
  for (let k: u32 = 0; k < count; k++) {
    memory.copy(changetype<usize>(state), changetype<usize>(stateAt(k)), bytes);
    executeBlock(bOrder[k], true);
  }
}

/** Numbers the bits of the units under proof, those of one place side by side. */
function numberBits(places: u32): u32 {
  let bits: u32 = 0;
  for (let place: u32 = 0; place < places; place++) {
    firstBit[place] = bits;
    for (let p = placePairs[place]; p != 0; p = pairOfPlace[p]) {
      pairBit[p] = unitProved[pairUnit[p]] != 0 ? ++bits : 0;
    }
    bitCount[place] = bits - firstBit[place];
  }
  return bits;
}

/** Proves the units of one class, as many groups at a time as the room has. */
function proveClass(regClass: u32, places: u32): void {
  classAtHand = regClass;
  const room = <u32>min<usize>(STATES_BYTES / (<usize>layoutLength() + 1) / 4, 1 << 20) * 32;
  let u: u32 = 1;
  while (u < units() && !failed()) {
    unitProved.clear(0, units());
    let bits: u32 = 0;
    for (; u < units(); u++) {
      if (unitRoot[u] != u) continue;
      let more: u32 = 0;
      let last: u32 = 0;
      for (let x = u; x != 0; x = unitNext[x]) {
        for (let p = unitPairs[x]; p != 0; p = pairOfUnit[p]) {
          more++;
          last = p;
        }
      }
      if (more == 0 || classOf(last) != regClass) continue;
      if (more > room) {
        fail(Fail.LIMIT, Limit.MACHINE, room, 0);
        return;
      }
      if (bits + more > room) break;
      bits += more;
      for (let x = u; x != 0; x = unitNext[x]) unitProved[x] = 1;
    }
    if (bits == 0) return;
    numberBits(places);
    stateWords = (bits + 31) >> 5;
    proveChunk();
  }
}
function classOf(pair: u32): u32 {
  const place = pairPlace[pair];
  return place < VGPRS || (place >= LANES && place < SLOTS) ? RegClass.SGPR : RegClass.VGPR;
}

/** Fails with BACKEND_INVALID where a read would see another value; with a limit where a group of values needs too much room. */
export function checkAllocation(): void {
  const places = collectPairs();
  if (failed()) return;
  proveClass(RegClass.SGPR, places);
  proveClass(RegClass.VGPR, places);
}
