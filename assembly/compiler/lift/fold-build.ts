/** The lifter's builders over scalars of all widths: words go to `fold-words.ts`, pairs to `wide.ts`. */
import { Op } from "../../gen/ir-ops.ts";
import { constant, constBits, isConst } from "../ir/index.ts";
import { binWord, selWord, triWord, unWord } from "./fold-words.ts";
import { isPair, wide1, wide2, wide3, widened, wideSelect } from "./wide.ts";

export function un(op: u32, a: u32): u32 {
  return isPair(a) ? wide1(op, a) : unWord(op, a);
}
export function bin(op: u32, a: u32, b: u32): u32 {
  return isPair(a) || isPair(b) ? wide2(op, a, b) : binWord(op, a, b);
}
export function tri(op: u32, a: u32, b: u32, c: u32): u32 {
  return isPair(a) || isPair(b) || isPair(c) ? wide3(op, a, b, c) : triWord(op, a, b, c);
}
export function sel(cond: u32, a: u32, b: u32): u32 {
  if (isPair(a) || isPair(b)) return wideSelect(cond, widened(a, true), widened(b, true));
  return selWord(cond, a, b);
}

export function addI(a: u32, b: u32): u32 {
  if (isConst(a) && constBits(a) == 0) return b;
  if (isConst(b) && constBits(b) == 0) return a;
  return bin(Op.IADD, a, b);
}

/** a times a constant: a shift where it is a power of two. */
export function scaleI(a: u32, factor: u32): u32 {
  if (factor == 1) return a;
  if (factor == 0) return constant(0);
  if ((factor & (factor - 1)) == 0) return bin(Op.ISHL, a, constant(ctz<u32>(factor)));
  return bin(Op.IMUL, a, constant(factor));
}

export function notB(a: u32): u32 {
  return un(Op.INOT, a);
}
export function fadd(a: u32, b: u32): u32 {
  return bin(Op.FADD, a, b);
}
export function fsub(a: u32, b: u32): u32 {
  return bin(Op.FSUB, a, b);
}
export function fmul(a: u32, b: u32): u32 {
  return bin(Op.FMUL, a, b);
}
