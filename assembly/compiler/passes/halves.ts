/** What 16-bit scalars in words are to the passes: values without what changes their upper bits, and the op on halves for one on words. */
import { Op } from "../../gen/ir-ops.ts";
import { constBits, imm, isConst, isHalfOp, opOf, src, upperBound, widthOf } from "../ir/index.ts";

/** Levels of instructions above the place where halves are joined, and of masks. */
export const DEPTH: u32 = 12;
export const SIXTEEN: u32 = 16;

export function isConstant(v: u32, bits: u32): bool {
  return isConst(v) && constBits(v) == bits;
}

/** `v` without what changes its upper bits alone. */
export function low(v: u32): u32 {
  let value = v;
  for (let k: u32 = 0; k < DEPTH; k++) {
    const op = opOf(value);
    if (op == Op.IAND && widthOf(value) == 32) {
      if (isConst(src(value, 1)) && (constBits(src(value, 1)) & 0xffff) == 0xffff) value = src(value, 0);
      else if (isConst(src(value, 0)) && (constBits(src(value, 0)) & 0xffff) == 0xffff) value = src(value, 1);
      else break;
    } else if ((op == Op.IBFE || op == Op.UBFE) && isConstant(src(value, 1), 0) && isConst(src(value, 2))) {
      if ((constBits(src(value, 2)) & 31) < SIXTEEN) break;
      value = src(value, 0);
    } else {
      break;
    }
  }
  return value;
}

// What `halfOp` found.
let source0: u32 = 0;
let source1: u32 = 0;
let source2: u32 = 0;
/** Source `k` of what `halfOp` found last; 0 for none. */
export function halfSource(k: u32): u32 {
  return k == 0 ? source0 : k == 1 ? source1 : source2;
}

/** A store of 8 or 16 bits of its data. */
export function isNarrowStore(i: u32): bool {
  const op = opOf(i);
  return op == Op.STORE_SSBO ? imm(i, 3) != 0 : (op == Op.STORE_SHARED || op == Op.STORE_SCRATCH) && imm(i, 1) != 0;
}

function binary(op: u32, v: u32): u32 {
  source0 = src(v, 0);
  source1 = src(v, 1);
  return op;
}

/** Shifts by constants below 16. */
function shift(op: u32, value: u32, count: u32): u32 {
  if (!isConst(count) || constBits(count) >= SIXTEEN) return Op.NONE;
  source0 = value;
  source1 = count;
  return op;
}

/** The half that a value is the sign extension of, or 0. */
function extended(v: u32): u32 {
  if (opOf(v) == Op.IBFE && isConstant(src(v, 1), 0) && isConstant(src(v, 2), SIXTEEN)) return src(v, 0);
  if (isConst(v) && <i32>constBits(v) >= -32768 && <i32>constBits(v) <= 32767) return v;
  return 0;
}

export function isSmall(v: u32): bool {
  return upperBound(v, 0) <= 0xffff;
}

/** The op on halves that gives the low half of `v`, its sources in the globals; Op.NONE for none. */
export function halfOp(v: u32): u32 {
  const op = opOf(v);
  if (isHalfOp(op)) {
    source2 = op == Op.HFMA ? src(v, 2) : 0;
    return binary(op, v);
  }
  source2 = 0;
  switch (op) {
    case Op.IADD:
      return binary(Op.HIADD, v);
    case Op.ISUB:
      return binary(Op.HISUB, v);
    case Op.IMUL:
      return binary(Op.HIMUL, v);
    case Op.IAND:
    case Op.IOR:
    case Op.IXOR:
      return binary(op, v);
    case Op.ISHL:
      return shift(Op.HISHL, src(v, 0), src(v, 1));
    case Op.USHR:
      return isSmall(src(v, 0)) ? shift(Op.HUSHR, src(v, 0), src(v, 1)) : Op.NONE;
    case Op.ISHR: {
      const half = extended(src(v, 0));
      return half != 0 ? shift(Op.HISHR, half, src(v, 1)) : Op.NONE;
    }
    case Op.IMIN:
    case Op.IMAX: {
      source0 = extended(src(v, 0));
      source1 = extended(src(v, 1));
      if (source0 == 0 || source1 == 0) return Op.NONE;
      return op == Op.IMIN ? Op.HIMIN : Op.HIMAX;
    }
    case Op.UMIN:
    case Op.UMAX:
      if (!isSmall(src(v, 0)) || !isSmall(src(v, 1))) return Op.NONE;
      return binary(op == Op.UMIN ? Op.HUMIN : Op.HUMAX, v);
    case Op.SELECT:
      source0 = src(v, 1);
      source1 = src(v, 2);
      return op;
    default:
      return Op.NONE;
  }
}
