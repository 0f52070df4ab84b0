/**
 * Makes divergent boolean phis 32-bit, as a lane mask has no value in lanes that come along other edges: each source
 * becomes 0 or 1 at the end of its predecessor, readers compare with 0. Wants divergence, and sets it on what it makes.
 * `%2:1 = phi %0, %1 div` → `%3:32 = phi (b2i %0), (b2i %1) div; %4:1 = ine %3, 0 div`.
 */
import { spend } from "../../base/index.ts";
import { InstrFlag, Op } from "../../gen/ir-ops.ts";
import {
  alu1,
  alu2,
  constant,
  constBits,
  cursorAfterPhis,
  cursorAtEnd,
  cursorBefore,
  entryBlock,
  erase,
  firstInstr,
  flagsOf,
  hasMade,
  insertInstr,
  isConst,
  isDivergent,
  jumpOf,
  newInstr,
  nextBlock,
  nextInstr,
  opOf,
  pred,
  replaceUses,
  setFlags,
  setSrc,
  src,
  srcCount,
  widthOf,
} from "../ir/index.ts";

function widened(value: u32, from: u32): u32 {
  if (isConst(value)) return constant(constBits(value));
  const jump = jumpOf(from);
  if (jump != 0) cursorBefore(jump);
  else cursorAtEnd(from);
  const i = alu1(Op.B2I, value);
  setFlags(i, flagsOf(value) & InstrFlag.DIV);
  return i;
}

export function lowerBoolPhis(): bool {
  if (!hasMade(Op.PHI)) return false;
  let progress = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    let next: u32 = 0;
    for (let i = firstInstr(b); i != 0 && opOf(i) == Op.PHI && spend(1); i = next) {
      next = nextInstr(i);
      if (widthOf(i) != 1 || !isDivergent(i)) continue;
      const count = srcCount(i);
      const phi = newInstr(Op.PHI, 32, 1, count);
      setFlags(phi, InstrFlag.DIV);
      insertInstr(phi, b, i);
      cursorAfterPhis(b);
      const zero = constant(0);
      cursorAfterPhis(b);
      const back = alu2(Op.INE, phi, zero);
      setFlags(back, InstrFlag.DIV);
      // First the readers: a source may be this very phi.
      replaceUses(i, back);
      for (let k: u32 = 0; k < count; k++) setSrc(phi, k, widened(src(i, k), pred(b, k)));
      erase(i);
      progress = true;
    }
  }
  return progress;
}
