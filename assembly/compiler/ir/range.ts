/** What is known of a value's bits from how it is made: a few instructions deep, so cheap and bounded. */
import { Op } from "../../gen/ir-ops.ts";
import { constBits, imm, isConst, opOf, src, widthOf } from "./instr.ts";
import { localSize } from "./shader.ts";

/** What a load of so many bits gives at most; 0 stands for words. */
function narrow(bits: u32): u32 {
  return bits == 0 ? 0xffffffff : ((<u32>1) << bits) - 1;
}

/** No value of the IR value is above this. Depth-limited: an unknown one is 0xffffffff. */
export function upperBound(v: u32, depth: u32): u32 {
  const unknown: u32 = 0xffffffff;
  if (depth > 6) return unknown;
  switch (opOf(v)) {
    case Op.CONST:
      return constBits(v);
    case Op.LOAD_LOCAL_ID:
      return localSize(imm(v, 0)) - 1;
    case Op.B2I:
      return 1;
    case Op.LOAD_UBO:
    case Op.LOAD_SSBO:
      return narrow(imm(v, 3));
    case Op.LOAD_SHARED:
    case Op.LOAD_SCRATCH:
      return narrow(imm(v, 1));
    case Op.F2F16:
      return 0xffff;
    case Op.UMOD:
      return isConst(src(v, 1)) && constBits(src(v, 1)) != 0 ? constBits(src(v, 1)) - 1 : unknown;
    case Op.IAND:
    case Op.UMIN:
      return min<u32>(upperBound(src(v, 0), depth + 1), upperBound(src(v, 1), depth + 1));
    case Op.USHR:
      return isConst(src(v, 1)) ? upperBound(src(v, 0), depth + 1) >> (constBits(src(v, 1)) & 31) : unknown;
    case Op.UBFE:
      return isConst(src(v, 2)) ? ((<u32>1) << (constBits(src(v, 2)) & 31)) - 1 : unknown;
    case Op.IADD: {
      const sum = <u64>upperBound(src(v, 0), depth + 1) + <u64>upperBound(src(v, 1), depth + 1);
      return sum > 0xffffffff ? unknown : <u32>sum;
    }
    case Op.IMUL: {
      const product = <u64>upperBound(src(v, 0), depth + 1) * <u64>upperBound(src(v, 1), depth + 1);
      return product > 0xffffffff ? unknown : <u32>product;
    }
    case Op.ISHL: {
      if (!isConst(src(v, 1))) return unknown;
      const shifted = (<u64>upperBound(src(v, 0), depth + 1)) << (<u64>(constBits(src(v, 1)) & 31));
      return shifted > 0xffffffff ? unknown : <u32>shifted;
    }
    case Op.SELECT:
      return widthOf(v) == 1 ? unknown : max<u32>(upperBound(src(v, 1), depth + 1), upperBound(src(v, 2), depth + 1));
    default:
      return unknown;
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
    case Op.IOR:
      return min<u32>(zeroBits(src(v, 0), depth + 1), zeroBits(src(v, 1), depth + 1));
    default:
      return 0;
  }
}
