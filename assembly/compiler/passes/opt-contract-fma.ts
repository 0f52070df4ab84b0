/**
 * Fuses a product and a sum into one rounding: `a * b + c`, `a * b - c`, `c - a * b`, `c + -(a * b)` become ffma where
 * neither instruction is `exact`. Of two products the one read only here is fused, else the first. Each fusion counts as
 * a contraction; so do those of halves (hadd, hmul: hfma). `%2 = fmul %0, %1; %3 = fadd %2, %c` → `%3 = ffma %0, %1, %c`. The product goes when nobody else reads it.
 */
import { spend } from "../../base/index.ts";
import { InstrFlag, Op } from "../../gen/ir-ops.ts";
import {
  addContraction,
  alu1,
  alu2,
  alu3,
  constant,
  constBits,
  cursorBefore,
  entryBlock,
  firstInstr,
  flagsOf,
  hasMade,
  isConst,
  nextBlock,
  nextInstr,
  opOf,
  replaceUses,
  setFlags,
  src,
  useCount,
} from "../ir/index.ts";

function isExact(i: u32): bool {
  return (flagsOf(i) & InstrFlag.EXACT) != 0;
}

/** The product that source k of a sum is, directly or negated; 0 for none. */
function productOf(value: u32): u32 {
  if (opOf(value) == Op.FNEG) {
    const inner = src(value, 0);
    return opOf(inner) == Op.FMUL && !isExact(inner) ? inner : 0;
  }
  return opOf(value) == Op.FMUL && !isExact(value) ? value : 0;
}

/** True where the product is read only by this sum (through its negation or not). */
function onlyHere(value: u32): bool {
  return useCount(value) == 1 && (opOf(value) != Op.FNEG || useCount(src(value, 0)) == 1);
}

function fuse(i: u32): bool {
  const a = src(i, 0);
  const b = src(i, 1);
  const pa = productOf(a);
  const pb = productOf(b);
  if (pa == 0 && pb == 0) return false;
  const second: bool = pa == 0 || (pb != 0 && !onlyHere(a) && onlyHere(b));
  const value = second ? b : a;
  const product = second ? pb : pa;
  const isSub = opOf(i) == Op.FSUB;
  // The product is negated by an fneg of its own, or by being what is subtracted; the other side by being subtracted.
  const negated: bool = (opOf(value) == Op.FNEG) != (isSub && second);
  cursorBefore(i);
  let x = src(product, 0);
  if (negated) x = alu1(Op.FNEG, x);
  let addend = second ? a : b;
  if (isSub && !second) addend = alu1(Op.FNEG, addend);
  replaceUses(i, alu3(Op.FFMA, x, src(product, 1), addend));
  addContraction();
  return true;
}

/** An hmul by -1 changes a sign, that of the value that is answered; 0 for other instructions. */
function signChanged(v: u32): u32 {
  if (opOf(v) != Op.HMUL) return 0;
  for (let k: u32 = 0; k < 2; k++) {
    if (isConst(src(v, k)) && (constBits(src(v, k)) == 0xbc00 || constBits(src(v, k)) == 0xbc00bc00))
      return src(v, 1 - k);
  }
  return 0;
}

/** As `fuse` for sums of halves. */
function fuseHalves(i: u32): bool {
  for (let k: u32 = 0; k < 2; k++) {
    const value = src(i, k);
    const inner = signChanged(value);
    const product = inner != 0 ? inner : value;
    if (opOf(product) != Op.HMUL || signChanged(product) != 0 || isExact(product)) continue;
    // Another reader keeps the product: then the other side may be better.
    if (k == 0 && useCount(product) > 1 && opOf(src(i, 1)) == Op.HMUL) continue;
    cursorBefore(i);
    let x = src(product, 0);
    const isScalar = flagsOf(i) & InstrFlag.NUW;
    if (inner != 0) {
      x = alu2(Op.HMUL, x, constant(isScalar != 0 ? 0xbc00 : 0xbc00bc00));
      setFlags(x, isScalar);
    }
    const sum = alu3(Op.HFMA, x, src(product, 1), src(i, 1 - k));
    setFlags(sum, isScalar);
    replaceUses(i, sum);
    addContraction();
    return true;
  }
  return false;
}

export function optContractFma(): bool {
  if (!hasMade(Op.FADD) && !hasMade(Op.FSUB) && !hasMade(Op.HADD)) return false;
  let progress = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      const op = opOf(i);
      if ((op != Op.FADD && op != Op.FSUB && op != Op.HADD) || isExact(i) || useCount(i) == 0) continue;
      if (op == Op.HADD ? fuseHalves(i) : fuse(i)) progress = true;
    }
  }
  return progress;
}
