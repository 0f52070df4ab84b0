/**
 * Arithmetic of 64 bits, which the IR has in words: additions and subtractions whose carry is a comparison beside them,
 * what takes that carry in, products of which both halves are wanted, and comparisons of pairs.
 * `%s = iadd %a, %b; %c = ult %s, %a` → one v_add_co_u32; `iadd (iadd %x, %y), (b2i %c)` → v_add_co_ci_u32, s_addc_u32.
 */
import { Op } from "../../gen/ir-ops.ts";
import { Op as Isa } from "../../gen/isa-ops.ts";
import { blockOf, constBits, firstUse, imm, isConst, nextUse, opOf, src, userOf, widthOf } from "../ir/index.ts";
import { constantOperand, copy, lastScc, salu, valu, valuCarry } from "./build.ts";
import { classOf, isScalarCompare, ValueClass } from "./classes.ts";
import { mDst0, mOp, mSrc0, mSrc1, valueOperand, valueSel, vHint } from "./columns.ts";
import {
  component,
  Hw,
  hw,
  isVgprOperand,
  isVreg,
  newVreg,
  operandComponent,
  operandVreg,
  RegClass,
  vregOperand,
} from "./machine.ts";
import { isAbsorbable, Sel, selOf } from "./sel.ts";
import { conditionInScc, define, maskOf, operandOf } from "./values.ts";

/** Readers of a value that are looked at for a twin. */
const MAX_READERS: u32 = 16;
const ZERO: u32 = Hw.ZERO + 1;

function isFree(v: u32, i: u32): bool {
  return v != i && blockOf(v) == blockOf(i) && selOf(v) == Sel.PLAIN;
}

/** The vector `op` of `a` and `b` in the block of `i` that nothing has taken yet, or 0. */
function twinOf(i: u32, op: u32, a: u32, b: u32): u32 {
  // A constant has readers everywhere.
  let u = firstUse(isConst(a) ? b : a);
  for (let left = MAX_READERS; u != 0 && left > 0; left--) {
    const v = userOf(u);
    u = nextUse(u);
    if (opOf(v) != op || !isFree(v, i)) continue;
    if (op == Op.INEG) return v;
    if (src(v, 0) == a && src(v, 1) == b) return v;
    if ((op == Op.IMUL || op == Op.UMUL_HI) && src(v, 0) == b && src(v, 1) == a) return v;
  }
  return 0;
}

/** The subtraction of the constant `b` from `a` in the block of `i`: an addition of its opposite. */
function lessConstant(i: u32, a: u32, b: u32): u32 {
  let u = firstUse(a);
  for (let left = MAX_READERS; u != 0 && left > 0; left--) {
    const v = userOf(u);
    u = nextUse(u);
    if (opOf(v) != Op.IADD || !isFree(v, i) || src(v, 0) != a || !isConst(src(v, 1))) continue;
    if (constBits(src(v, 1)) == 0 - constBits(b)) return v;
  }
  return 0;
}

/** The sum or difference of which a comparison is the carry or borrow, or 0. */
function sumOf(i: u32): u32 {
  const a = src(i, 0);
  const b = src(i, 1);
  if (opOf(i) == Op.INE) return isConst(b) && constBits(b) == 0 ? twinOf(i, Op.INEG, a, b) : 0;
  if (opOf(a) == Op.IADD && isFree(a, i) && (src(a, 0) == b || src(a, 1) == b)) return a;
  return isConst(b) && constBits(b) != 0 ? lessConstant(i, a, b) : twinOf(i, Op.ISUB, a, b);
}

/** A reader of the comparison counts with it: it is a carry. Branches have forms of comparisons of their own. */
function isCounted(i: u32): bool {
  let u = firstUse(i);
  for (let left = MAX_READERS; u != 0 && left > 0; left--) {
    if (opOf(userOf(u)) == Op.B2I) return true;
    u = nextUse(u);
  }
  return false;
}

/** Pairs a comparison with its sum, a low product with its high one; true when it did. */
export function chooseTwin(i: u32): bool {
  const op = opOf(i);
  let twin: u32 = 0;
  if (op == Op.ULT || op == Op.INE) {
    if (widthOf(src(i, 0)) == 32 && !isScalarCompare(i) && isCounted(i)) twin = sumOf(i);
  } else if (classOf(i) == ValueClass.VGPR) {
    twin = twinOf(i, op == Op.IMUL ? Op.UMUL_HI : Op.IMUL, src(i, 0), src(i, 1));
  }
  if (twin == 0 || classOf(twin) != ValueClass.VGPR) return false;
  valueSel[i] = Sel.TWIN | (twin << 8);
  valueSel[twin] = Sel.TWIN | (i << 8);
  return true;
}

/** Both of a pair, when the first of them is reached. */
function selectTwin(i: u32): void {
  if (valueOperand[i] != 0) return;
  const other = valueSel[i] >> 8;
  const op = opOf(i);
  if (op == Op.IMUL || op == Op.UMUL_HI) {
    const whole = newVreg(RegClass.VGPR, 2);
    const spare = newVreg(RegClass.SGPR, 1);
    valuCarry(Isa.v_mad_u64_u32, whole, spare, operandOf(src(i, 0)), operandOf(src(i, 1)), ZERO);
    valueOperand[op == Op.IMUL ? i : other] = component(whole, 0);
    valueOperand[op == Op.IMUL ? other : i] = component(whole, 1);
    return;
  }
  const compares = op == Op.ULT || op == Op.INE;
  const compare = compares ? i : other;
  const sum = compares ? other : i;
  const adds = opOf(sum) == Op.IADD && src(compare, 0) == sum;
  let a = ZERO;
  let b: u32;
  if (opOf(compare) == Op.INE) {
    b = operandOf(src(compare, 0));
  } else {
    a = operandOf(src(adds ? sum : compare, 0));
    b = operandOf(src(adds ? sum : compare, 1));
  }
  valuCarry(adds ? Isa.v_add_co_u32 : Isa.v_sub_co_u32, define(sum), define(compare), a, b, 0);
}

/** A sum or difference that takes a carry in, and what is added beside it where that is a sum of its own. */
export function chooseCarryIn(i: u32): bool {
  const op = opOf(i);
  for (let k: u32 = op == Op.ISUB ? 1 : 0; k < 2; k++) {
    const carry = src(i, k);
    if (opOf(carry) != Op.B2I || classOf(carry) != classOf(i) || !isAbsorbable(i, carry)) continue;
    // SCC is taken as it is.
    if (classOf(i) == ValueClass.SGPR && opOf(src(carry, 0)) == Op.INOT) continue;
    const other = src(i, 1 - k);
    const negates = op == Op.ISUB && opOf(other) == Op.INEG;
    const inner = (opOf(other) == op || negates) && classOf(other) == classOf(i) && isAbsorbable(i, other);
    valueSel[i] = Sel.CARRY_IN | (k << 8) | ((inner ? 1 : 0) << 9);
    valueSel[carry] = Sel.ABSORBED;
    if (inner) valueSel[other] = Sel.ABSORBED;
    return true;
  }
  return false;
}

/** SCC as the carry of a condition: it is there already where the sum was made last. */
function carryInScc(condition: u32): void {
  const i = lastScc();
  if (i != 0 && opOf(condition) == Op.ULT && isScalarCompare(condition)) {
    const a = operandOf(src(condition, 0));
    const b = operandOf(src(condition, 1));
    if (mOp[i] == <u32>Isa.s_add_u32 && mDst0[i] == a && (mSrc0[i] == b || mSrc1[i] == b)) return;
    if (mOp[i] == <u32>Isa.s_sub_u32 && mSrc0[i] == a && mSrc1[i] == b) return;
  }
  conditionInScc(condition);
}

function selectCarryIn(i: u32): void {
  const k = (valueSel[i] >> 8) & 1;
  const adds = opOf(i) == Op.IADD;
  const other = src(i, 1 - k);
  const condition = src(src(i, k), 0);
  let a: u32;
  let b = ZERO;
  if (((valueSel[i] >> 9) & 1) == 0) {
    a = operandOf(other);
  } else if (opOf(other) == Op.INEG) {
    a = ZERO;
    b = operandOf(src(other, 0));
  } else {
    a = operandOf(src(other, 0));
    b = operandOf(src(other, 1));
  }
  if (classOf(i) == ValueClass.SGPR) {
    carryInScc(condition);
    salu(adds ? Isa.s_addc_u32 : Isa.s_subb_u32, define(i), a, b);
    return;
  }
  const mask = maskOf(condition);
  const op: u32 = adds ? Isa.v_add_co_ci_u32_e64 : Isa.v_sub_co_ci_u32_e64;
  valuCarry(op, define(i), newVreg(RegClass.SGPR, 1), a, b, mask);
}

/** Two words that are one pair of registers, or a small constant. */
function isPair(low: u32, high: u32): bool {
  if (isConst(low)) return constBits(low) <= 64 && isConst(high) && constBits(high) == 0;
  return (
    opOf(low) == Op.EXTRACT &&
    opOf(high) == Op.EXTRACT &&
    src(low, 0) == src(high, 0) &&
    imm(low, 0) + 1 == imm(high, 0) &&
    classOf(low) == ValueClass.VGPR &&
    opOf(src(low, 0)) != Op.VEC
  );
}

/** The four words of a comparison of pairs. */
let lowA: u32 = 0;
let highA: u32 = 0;
let lowB: u32 = 0;
let highB: u32 = 0;

/** The words of `high a < high b or (high a == high b and low a < low b)` with its parts in that order; false for others. */
function findLess(i: u32, k: u32): bool {
  const above = src(i, k);
  const both = src(i, 1 - k);
  if ((opOf(above) != Op.ULT && opOf(above) != Op.ILT) || opOf(both) != Op.IAND) return false;
  highA = src(above, 0);
  highB = src(above, 1);
  for (let e: u32 = 0; e < 2; e++) {
    const same = src(both, e);
    const below = src(both, 1 - e);
    if (opOf(same) != Op.IEQ || opOf(below) != Op.ULT) continue;
    const straight = src(same, 0) == highA && src(same, 1) == highB;
    if (!straight && (src(same, 0) != highB || src(same, 1) != highA)) continue;
    lowA = src(below, 0);
    lowB = src(below, 1);
    return true;
  }
  return false;
}

/** The words of two equalities (or inequalities) that are one of pairs. */
function findSame(i: u32): bool {
  const first = src(i, 0);
  const second = src(i, 1);
  const op: u32 = opOf(i) == Op.IAND ? Op.IEQ : Op.INE;
  if (opOf(first) != op || opOf(second) != op || widthOf(src(first, 0)) != 32) return false;
  for (let k: u32 = 0; k < 4; k++) {
    const low = (k & 1) == 0 ? first : second;
    const high = (k & 1) == 0 ? second : first;
    const turned = k >> 1;
    lowA = src(low, 0);
    lowB = src(low, 1);
    highA = src(high, turned);
    highB = src(high, 1 - turned);
    if (isPair(lowA, highA) && isPair(lowB, highB)) return true;
  }
  return false;
}

/** A comparison of pairs made of comparisons of words; true when `i` is one. */
export function choosePairCompare(i: u32): bool {
  if (widthOf(i) != 1 || isScalarCompare(src(i, 0)) || isScalarCompare(src(i, 1))) return false;
  if (isAbsorbable(i, src(i, 0)) && isAbsorbable(i, src(i, 1)) && findSame(i)) {
    valueSel[i] = Sel.PAIR_SAME;
    valueSel[src(i, 0)] = Sel.ABSORBED;
    valueSel[src(i, 1)] = Sel.ABSORBED;
    return true;
  }
  if (opOf(i) != Op.IOR) return false;
  for (let k: u32 = 0; k < 2; k++) {
    if (!findLess(i, k)) continue;
    // Others go word by word, which only unsigned ones gain by.
    if ((!isPair(lowA, highA) || !isPair(lowB, highB)) && opOf(src(i, k)) != Op.ULT) return false;
    const both = src(i, 1 - k);
    if (!isAbsorbable(i, src(i, k)) || !isAbsorbable(i, both)) return false;
    if (!isAbsorbable(both, src(both, 0)) || !isAbsorbable(both, src(both, 1))) return false;
    valueSel[i] = Sel.PAIR_LESS | (k << 8);
    valueSel[src(i, k)] = Sel.ABSORBED;
    valueSel[both] = Sel.ABSORBED;
    valueSel[src(both, 0)] = Sel.ABSORBED;
    valueSel[src(both, 1)] = Sel.ABSORBED;
    return true;
  }
  return false;
}

/** Registers with both words side by side. */
function pairOperand(low: u32, high: u32): u32 {
  if (isConst(low)) return constantOperand(constBits(low));
  const a = operandOf(low);
  const b = operandOf(high);
  const joined = isVreg(a) && isVreg(b) && operandVreg(a) == operandVreg(b) && isVgprOperand(a);
  if (joined && operandComponent(a) + 1 == operandComponent(b)) {
    return vregOperand(operandVreg(a), 2, operandComponent(a));
  }
  const both = newVreg(RegClass.VGPR, 2);
  copy(component(both, 0), a);
  copy(component(both, 1), b);
  return both;
}

function wideCompare(i: u32, op: u32): void {
  const a = pairOperand(lowA, highA);
  const b = pairOperand(lowB, highB);
  valu(op, maskFor(i), a, b, 0, 0);
}

/** A new mask, in VCC where it can be: the short forms of compare and select. */
function maskFor(i: u32): u32 {
  const mask = define(i);
  vHint[operandVreg(mask)] = hw(Hw.VCC_LO, 1);
  return mask;
}

function selectPairCompare(i: u32): void {
  if (selOf(i) == Sel.PAIR_SAME) {
    findSame(i);
    wideCompare(i, opOf(i) == Op.IAND ? Isa.v_cmp_eq_u64_e64 : Isa.v_cmp_ne_u64_e64);
    return;
  }
  const k = (valueSel[i] >> 8) & 1;
  findLess(i, k);
  const signed = opOf(src(i, k)) == Op.ILT;
  if (isPair(lowA, highA) && isPair(lowB, highB)) {
    wideCompare(i, signed ? Isa.v_cmp_lt_i64_e64 : Isa.v_cmp_lt_u64_e64);
    return;
  }
  // The borrow of the subtraction of 64 bits.
  const borrow = newVreg(RegClass.SGPR, 1);
  vHint[operandVreg(borrow)] = hw(Hw.VCC_LO, 1);
  valu(Isa.v_cmp_lt_u32_e64, borrow, operandOf(lowA), operandOf(lowB), 0, 0);
  const spare = newVreg(RegClass.VGPR, 1);
  const a = operandOf(highA);
  const b = operandOf(highB);
  valuCarry(Isa.v_sub_co_ci_u32_e64, spare, maskFor(i), a, b, borrow);
}

/** What this file chose; false for other values. */
export function selectCarries(i: u32): bool {
  switch (selOf(i)) {
    case Sel.TWIN:
      selectTwin(i);
      return true;
    case Sel.CARRY_IN:
      selectCarryIn(i);
      return true;
    case Sel.PAIR_SAME:
    case Sel.PAIR_LESS:
      selectPairCompare(i);
      return true;
    default:
      return false;
  }
}
