/**
 * Arithmetic of which the low 16 bits alone are read, by stores and conversions of halves at its end: masks and extensions of
 * 16 bits inside it go, and minima, maxima and shifts that need them become those of halves. Part of `opt-pack`.
 * `store bits=16 (umin (iand %0, 0xffff), %1)` → `store bits=16 (humin %0, %1)` where %1 is small. One walk from the last
 * instruction on: a value's readers have been looked at, save phis, which count as readers of all bits. O(uses).
 */
import { spend } from "../../base/index.ts";
import { InstrFlag, Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import {
  alu2,
  constBits,
  cursorBefore,
  firstUse,
  flagsOf,
  instrScratch,
  isConst,
  isHalfOp,
  isLowHalfOp,
  lastBlock,
  lastInstr,
  nextUse,
  opOf,
  prevBlock,
  prevInstr,
  replaceUses,
  setFlags,
  setSrc,
  sourceIndex,
  src,
  useCount,
  userOf,
  widthOf,
} from "../ir/index.ts";
import { halfOp, halfSource, isNarrowStore, low } from "./halves.ts";

/** The reader of slot `u` looks at no bit above the low 16 of the source. `instrScratch` of readers: so do theirs. */
function readsLow(u: u32): bool {
  const user = userOf(u);
  const op = opOf(user);
  const k = sourceIndex(u);
  // Nobody reads what has been replaced.
  if (useCount(user) == 0 && (opFlags(op) & OpFlag.PURE) != 0) return true;
  if (op == Op.F162F || op == Op.PACK_HALVES || isLowHalfOp(op)) return true;
  if (isNarrowStore(user)) return k == 0;
  switch (op) {
    case Op.UBFE:
    case Op.IBFE:
      if (k != 0 || !isConst(src(user, 1)) || !isConst(src(user, 2))) return false;
      return (constBits(src(user, 1)) & 31) + (constBits(src(user, 2)) & 31) <= 16;
    case Op.IAND:
      if (isConst(src(user, 1 - k)) && constBits(src(user, 1 - k)) <= 0xffff) return true;
      break;
    case Op.ISHL:
      if (k != 0) return false;
      break;
    case Op.SELECT:
      if (k == 0) return false;
      break;
    case Op.IADD:
    case Op.ISUB:
    case Op.IMUL:
    case Op.INEG:
    case Op.INOT:
    case Op.IOR:
    case Op.IXOR:
      break;
    default:
      if (!isHalfOp(op)) return false;
      break;
  }
  return instrScratch[user] != 0;
}

function isReadLow(v: u32): bool {
  for (let u = firstUse(v); u != 0; u = nextUse(u)) if (!readsLow(u)) return false;
  return true;
}

/** An op on halves for a minimum, maximum or shift of extended ones of which one is read by it alone; 0 for another. */
function ofHalves(i: u32): u32 {
  const op = opOf(i);
  if (op != Op.IMIN && op != Op.IMAX && op != Op.UMIN && op != Op.UMAX && op != Op.ISHR) return 0;
  const narrow = halfOp(i);
  if (narrow == Op.NONE) return 0;
  let saves = false;
  const count: u32 = op == Op.ISHR ? 1 : 2;
  for (let k: u32 = 0; k < count; k++) saves = saves || (low(src(i, k)) != src(i, k) && useCount(src(i, k)) == 1);
  if (!saves) return 0;
  const a = low(halfSource(0));
  const b = low(halfSource(1));
  cursorBefore(i);
  return alu2(narrow, a, b);
}

/** Lets the readers of `v` that look at low halves read `value` in its place. */
function redirect(v: u32, value: u32): bool {
  let progress = false;
  let u = firstUse(v);
  while (u != 0 && spend(1)) {
    const next = nextUse(u);
    if (readsLow(u)) {
      setSrc(userOf(u), sourceIndex(u), value);
      progress = true;
    }
    u = next;
  }
  return progress;
}

export function narrowReads(): bool {
  let progress = false;
  for (let b = lastBlock(); b != 0; b = prevBlock(b)) {
    for (let i = lastInstr(b); i != 0 && spend(1); i = prevInstr(i)) {
      instrScratch[i] = 0;
      if (useCount(i) == 0 || widthOf(i) != 32) continue;
      const value = low(i);
      if (value != i) {
        if (redirect(i, value)) progress = true;
        continue;
      }
      if (!isReadLow(i)) continue;
      instrScratch[i] = 1;
      // Its high half need not be 0 any more.
      if (isHalfOp(opOf(i))) setFlags(i, flagsOf(i) & ~InstrFlag.NUW);
      const other = ofHalves(i);
      if (other == 0) continue;
      // What was made stands in front and is looked at next.
      replaceUses(i, other);
      progress = true;
    }
  }
  return progress;
}
