/** What is known of a value's bits from how it is made: a few instructions deep, so cheap and bounded. */
import { InstrFlag, Op } from "../../gen/ir-ops.ts";
import { blockOf, constBits, flagsOf, imm, isConst, lastInstr, opOf, src, srcCount, widthOf } from "./instr.ts";
import { condition, Kind, kindOf, listFirst, listLast, nextNode, parentOf, pred } from "./nodes.ts";
import { localSize } from "./shader.ts";

/** What a load of so many bits gives at most; 0 stands for words. */
function narrow(bits: u32): u32 {
  return bits == 0 ? 0xffffffff : ((<u32>1) << bits) - 1;
}

/** No pixel lies further right or down. */
const MAX_PIXEL: u32 = 0x7fff;

/** No dispatch has more groups in a direction, counted from its base. */
const MAX_GROUPS: u32 = 0xffff;

/** What a load, a system value or a conversion of one gives at most. */
export function loadBound(v: u32): u32 {
  switch (opOf(v)) {
    case Op.LOAD_LOCAL_ID:
      return localSize(imm(v, 0)) - 1;
    case Op.LOAD_LANE_ID:
      return 31;
    case Op.LOAD_WORKGROUP_ID:
      return MAX_GROUPS - 1;
    case Op.LOAD_NUM_WORKGROUPS:
      return MAX_GROUPS;
    case Op.LOAD_UBO:
    case Op.LOAD_SSBO:
      return narrow(imm(v, 3));
    case Op.LOAD_SHARED:
    case Op.LOAD_SCRATCH:
      return narrow(imm(v, 1));
    case Op.F2I:
    case Op.F2U:
      return opOf(src(v, 0)) == Op.LOAD_FRAG_COORD && imm(src(v, 0), 0) < 2 ? MAX_PIXEL : 0xffffffff;
    default:
      return 0xffffffff;
  }
}

/** The comparison without which a round of the loop is not gone on with: of the if right behind its first block; else 0. */
function checkOf(header: u32): u32 {
  const check = nextNode(header);
  if (check == 0 || kindOf(check) != Kind.IF) return 0;
  const cond = condition(check);
  // Out of the loop by the else, or by the then of the negated comparison.
  const negated = opOf(cond) == Op.INOT;
  const out: u32 = negated ? 0 : 1;
  const last = lastInstr(listLast(check, out));
  if (listFirst(check, out) != listLast(check, out) || last == 0 || opOf(last) != Op.BREAK) return 0;
  return negated ? src(cond, 0) : cond;
}

/**
 * Largest value of a loop's counter: a phi of the loop's first block from a constant or bounded value on, in steps of a
 * constant, behind a check at the start of each round that it is below a limit. 0xffffffff for other phis.
 */
export function counterBound(v: u32, depth: u32): u32 {
  const unknown: u32 = 0xffffffff;
  const header = blockOf(v);
  const loop = parentOf(header);
  if (opOf(v) != Op.PHI || srcCount(v) != 2 || widthOf(v) != 32) return unknown;
  if (loop == 0 || kindOf(loop) != Kind.LOOP || listFirst(loop, 0) != header) return unknown;
  const back: u32 = pred(header, 1) == listLast(loop, 1) ? 1 : 0;
  const next = src(v, back);
  if (opOf(next) != Op.IADD || src(next, 0) != v || !isConst(src(next, 1))) return unknown;
  const step = constBits(src(next, 1));
  const start = upperBound(src(v, 1 - back), depth + 1);
  if (step == 0 || step > 0xffff || start > 0x7fffffff) return unknown;
  const check = checkOf(header);
  if ((opOf(check) != Op.ULT && opOf(check) != Op.ILT) || src(check, 0) != v) return unknown;
  const limit = upperBound(src(check, 1), depth + 1);
  // Also the last step before the check fails must not pass the signs.
  return limit > 0x7fff0000 ? unknown : max<u32>(start, limit == 0 ? 0 : limit - 1 + step);
}

/** All bits up to the highest one. */
export function filled(value: u32): u32 {
  return value == 0 ? 0 : <u32>0xffffffff >> clz<u32>(value);
}

/**
 * No value of the IR value is above this. Depth-limited: an unknown one is 0xffffffff. Where one source decides that,
 * the others are not looked at: the number of values looked at would double with each level.
 */
export function upperBound(v: u32, depth: u32): u32 {
  const unknown: u32 = 0xffffffff;
  if (depth > 6) return unknown;
  switch (opOf(v)) {
    case Op.CONST:
      return constBits(v);
    case Op.B2I:
      return 1;
    case Op.BITCOUNT:
      return 32;
    case Op.READ_FIRST_LANE:
      return upperBound(src(v, 0), depth + 1);
    case Op.PHI:
      return counterBound(v, depth);
    case Op.F2F16:
    case Op.HSQRT:
    case Op.HRSQ:
    case Op.HRCP:
    case Op.HEXP2:
    case Op.HLOG2:
    case Op.HSIN_TURNS:
    case Op.HCOS_TURNS:
    case Op.HFRACT:
    case Op.HFLOOR:
    case Op.HCEIL:
    case Op.HTRUNC:
    case Op.HROUND_EVEN:
      return 0xffff;
    case Op.HADD:
    case Op.HMUL:
    case Op.HFMA:
    case Op.HMIN:
    case Op.HMAX:
    case Op.HIADD:
    case Op.HISUB:
    case Op.HIMUL:
    case Op.HISHL:
    case Op.HISHR:
    case Op.HUSHR:
    case Op.HIMIN:
    case Op.HIMAX:
    case Op.HUMIN:
    case Op.HUMAX: {
      if ((flagsOf(v) & InstrFlag.NUW) != 0) return 0xffff;
      // 0 above in all sources: 0 above in the result.
      const count = srcCount(v);
      for (let k: u32 = 0; k < count; k++) if (upperBound(src(v, k), depth + 1) > 0xffff) return unknown;
      return 0xffff;
    }
    case Op.UMOD:
      return isConst(src(v, 1)) && constBits(src(v, 1)) != 0 ? constBits(src(v, 1)) - 1 : unknown;
    case Op.IAND:
    case Op.UMIN:
      return min<u32>(upperBound(src(v, 0), depth + 1), upperBound(src(v, 1), depth + 1));
    case Op.IOR:
    case Op.IXOR: {
      const a = upperBound(src(v, 0), depth + 1);
      return <i32>a < 0 ? unknown : filled(a | upperBound(src(v, 1), depth + 1));
    }
    case Op.UMAX: {
      const a = upperBound(src(v, 0), depth + 1);
      return a == unknown ? unknown : max<u32>(a, upperBound(src(v, 1), depth + 1));
    }
    case Op.UDIV: {
      // Division by 0 gives all ones.
      const divisor: u32 = isConst(src(v, 1)) ? constBits(src(v, 1)) : 0;
      return divisor == 0 ? unknown : upperBound(src(v, 0), depth + 1) / divisor;
    }
    case Op.USHR:
      return isConst(src(v, 1)) ? upperBound(src(v, 0), depth + 1) >> (constBits(src(v, 1)) & 31) : unknown;
    case Op.UBFE:
      return isConst(src(v, 2)) ? ((<u32>1) << (constBits(src(v, 2)) & 31)) - 1 : unknown;
    case Op.IADD: {
      const a = upperBound(src(v, 0), depth + 1);
      if (a == unknown) return unknown;
      const sum = <u64>a + <u64>upperBound(src(v, 1), depth + 1);
      return sum > 0xffffffff ? unknown : <u32>sum;
    }
    case Op.IMUL: {
      const a = upperBound(src(v, 0), depth + 1);
      // Only nothing times that is something known, and no value but a constant is known to be nothing.
      if (a == unknown && !isConst(src(v, 1))) return unknown;
      const product = <u64>a * <u64>upperBound(src(v, 1), depth + 1);
      return product > 0xffffffff ? unknown : <u32>product;
    }
    case Op.ISHL: {
      if (!isConst(src(v, 1))) return unknown;
      const shifted = (<u64>upperBound(src(v, 0), depth + 1)) << (<u64>(constBits(src(v, 1)) & 31));
      return shifted > 0xffffffff ? unknown : <u32>shifted;
    }
    case Op.SELECT: {
      const a = widthOf(v) == 1 ? unknown : upperBound(src(v, 1), depth + 1);
      return a == unknown ? unknown : max<u32>(a, upperBound(src(v, 2), depth + 1));
    }
    default:
      return loadBound(v);
  }
}

/** Low bits of the IR value that are certainly 0; 32 for the constant 0. */
export function zeroBits(v: u32, depth: u32): u32 {
  if (depth > 6) return 0;
  switch (opOf(v)) {
    case Op.CONST:
      return ctz<u32>(constBits(v));
    case Op.ISHL:
      return isConst(src(v, 1))
        ? min<u32>(32, zeroBits(src(v, 0), depth + 1) + (constBits(src(v, 1)) & 31))
        : zeroBits(src(v, 0), depth + 1);
    case Op.IMUL:
      return min<u32>(32, zeroBits(src(v, 0), depth + 1) + zeroBits(src(v, 1), depth + 1));
    case Op.IAND:
      return max<u32>(zeroBits(src(v, 0), depth + 1), zeroBits(src(v, 1), depth + 1));
    case Op.IADD:
    case Op.ISUB:
    case Op.IOR: {
      const a = zeroBits(src(v, 0), depth + 1);
      return a == 0 ? 0 : min<u32>(a, zeroBits(src(v, 1), depth + 1));
    }
    default:
      return 0;
  }
}
