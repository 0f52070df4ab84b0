/**
 * The lifter's builders for words and booleans: as the IR builder's, but folding when all sources are constants (so that spec constants and
 * addresses come out as constants at each level), and with the `exact` flag of the instruction being lifted.
 */
import { foldOp, InstrFlag, Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import {
  alu1,
  alu2,
  alu3,
  select as buildSelect,
  constant,
  constantBool,
  constBits,
  flagsOf,
  isConst,
  opOf,
  setFlags,
  widthOf,
} from "../ir/index.ts";

let exact = false;
let preserving = false;

/** Whether float instructions from here on are marked `exact`. */
export function setExact(value: bool): void {
  exact = value || preserving;
}

/** Whether the entry point keeps signed zeros, infinities and NaNs: then all float instructions are `exact`. */
export function setPreserving(value: bool): void {
  preserving = value;
}

function canFold(op: u32): bool {
  return (opFlags(op) & OpFlag.FOLDABLE) != 0;
}

function folded(op: u32, width: u32, a: u32, b: u32, c: u32): u32 {
  const bits = foldOp(op, a, b, c);
  return width == 1 ? constantBool((bits & 1) != 0) : constant(bits);
}

function isCompare(op: u32): bool {
  return op >= <u32>Op.IEQ && op <= <u32>Op.FGE;
}

function mark(i: u32): u32 {
  if (exact && (opFlags(opOf(i)) & OpFlag.FLOAT) != 0) setFlags(i, flagsOf(i) | InstrFlag.EXACT);
  return i;
}

export function unWord(op: u32, a: u32): u32 {
  if (isConst(a) && canFold(op)) return folded(op, op == Op.INOT ? widthOf(a) : 32, constBits(a), 0, 0);
  return mark(alu1(op, a));
}

export function binWord(op: u32, a: u32, b: u32): u32 {
  if (isConst(a) && isConst(b) && canFold(op)) {
    const width: u32 = isCompare(op) ? 1 : widthOf(a);
    return folded(op, width, constBits(a), constBits(b), 0);
  }
  return mark(alu2(op, a, b));
}

export function triWord(op: u32, a: u32, b: u32, c: u32): u32 {
  if (op == Op.SELECT) return selWord(a, b, c);
  if (isConst(a) && isConst(b) && isConst(c) && canFold(op))
    return folded(op, 32, constBits(a), constBits(b), constBits(c));
  return mark(alu3(op, a, b, c));
}

export function selWord(cond: u32, a: u32, b: u32): u32 {
  if (a == b) return a;
  if (isConst(cond)) return constBits(cond) != 0 ? a : b;
  return buildSelect(cond, a, b);
}
