/**
 * Replaces fdiv by a multiplication with the reciprocal (Vulkan: 2.5 ulp for |b| in [2^-126, 2^126]; rcp within 1 ulp and
 * one rounding make 1.5 + 0.5), and fsin, fcos by their hardware forms over turns, which want their argument in [0, 1).
 * `fdiv %a, %b` → `fmul %a, (frcp %b)`; by a power of two the product with its inverse, which is exact.
 */
import { spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  alu1,
  alu2,
  constant,
  constantF,
  constBits,
  cursorBefore,
  entryBlock,
  erase,
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
} from "../ir/index.ts";

const INVERSE_TWO_PI: f32 = 0.15915494;

/** The reciprocal as an exact constant where b is a power of two in the normal range, else frcp. */
function reciprocal(b: u32): u32 {
  if (isConst(b)) {
    const bits = constBits(b);
    const exponent = (bits >> 23) & 0xff;
    if ((bits & 0x7f_ffff) == 0 && exponent >= 1 && exponent <= 253) {
      return constant((bits & 0x8000_0000) | ((254 - exponent) << 23));
    }
  }
  return alu1(Op.FRCP, b);
}

export function lowerTranscendentals(): bool {
  if (!hasMade(Op.FDIV) && !hasMade(Op.FSIN) && !hasMade(Op.FCOS)) return false;
  let progress = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    let next: u32 = 0;
    for (let i = firstInstr(b); i != 0 && spend(1); i = next) {
      next = nextInstr(i);
      const op = opOf(i);
      if (op != Op.FDIV && op != Op.FSIN && op != Op.FCOS) continue;
      cursorBefore(i);
      let value: u32 = 0;
      if (op == Op.FDIV) {
        value = alu2(Op.FMUL, src(i, 0), reciprocal(src(i, 1)));
      } else {
        const turns = alu1(Op.FFRACT, alu2(Op.FMUL, src(i, 0), constantF(INVERSE_TWO_PI)));
        value = alu1(op == Op.FSIN ? Op.FSIN_TURNS : Op.FCOS_TURNS, turns);
      }
      setFlags(value, flagsOf(i));
      replaceUses(i, value);
      erase(i);
      progress = true;
    }
  }
  return progress;
}
