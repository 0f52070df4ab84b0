/**
 * Fuses a product and a sum into one rounding: `a * b + c`, `a * b - c`, `c - a * b`, `c + -(a * b)` become ffma where
 * neither instruction is `exact`. Of two products the one read only here is fused, else the first. Each fusion counts as
 * a contraction. `%2 = fmul %0, %1; %3 = fadd %2, %c` → `%3 = ffma %0, %1, %c`. The product goes when nobody else reads it.
 */
import { spend } from "../../base/index.ts";
import { InstrFlag, Op } from "../../gen/ir-ops.ts";
import {
  addContraction,
  alu1,
  alu3,
  cursorBefore,
  entryBlock,
  firstInstr,
  flagsOf,
  hasMade,
  nextBlock,
  nextInstr,
  opOf,
  replaceUses,
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

export function optContractFma(): bool {
  if (!hasMade(Op.FADD) && !hasMade(Op.FSUB)) return false;
  let progress = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      const op = opOf(i);
      if ((op != Op.FADD && op != Op.FSUB) || isExact(i) || useCount(i) == 0) continue;
      if (fuse(i)) progress = true;
    }
  }
  return progress;
}
