/** Steps of physical pointers, whose offsets have 64 bits as their addresses do. */
import { Op } from "../../gen/ir-ops.ts";
import { constant, constBits, isConst, opOf, src } from "../ir/index.ts";
import { bin, scaleI, tri } from "./fold-build.ts";
import { idLeaf, idType, leafPool, ptrConst, ptrElem, typeA, typeB } from "./ids.ts";
import { pair, pairOf } from "./wide.ts";

/** No unsigned index of a known small range is greater. */
function mostOf(index: u32): u32 {
  if (opOf(index) == Op.IAND && isConst(src(index, 1))) return constBits(src(index, 1));
  return 0xffff_ffff;
}

/**
 * Moves a physical pointer by the index `id` times `stride` bytes: addresses have 64 bits, so the index is widened, by the
 * sign of its type, before it is multiplied.
 */
export function farAway(p: u32, id: u32, stride: u32): void {
  const width = typeA[idType[id]];
  const signed = typeB[idType[id]] != 0;
  const leaf = idLeaf[id];
  let index = leafPool[leaf];
  // Narrow integers are kept with zeros above.
  if (width < 32 && signed) index = tri(Op.IBFE, index, constant(0), constant(width));
  if (isConst(index) && (width <= 32 || isConst(leafPool[leaf + 1]))) {
    const bits = constBits(index);
    const top: u32 = width > 32 ? constBits(leafPool[leaf + 1]) : signed ? <u32>(<i32>bits >> 31) : 0;
    const bytes = (((<u64>top) << 32) | bits) * stride;
    const offset = bytes + ptrConst[p];
    // The constant is an offset that the parts of an access still add to.
    if (offset < 0x8000_0000) ptrConst[p] = <u32>offset;
    else ptrElem[p] = bin(Op.IADD, ptrElem[p], pairOf(bytes));
    return;
  }
  let bytes: u32;
  if (width > 32) {
    const whole = pair(index, leafPool[leaf + 1]);
    bytes =
      (stride & (stride - 1)) == 0
        ? bin(Op.ISHL, whole, constant(ctz<u32>(stride)))
        : bin(Op.IMUL, whole, pairOf(stride));
  } else bytes = pair(scaleI(index, stride), upperBytes(index, stride, signed, width));
  ptrElem[p] = bin(Op.IADD, ptrElem[p], bytes);
}

/** High word of a word's index times a stride. */
function upperBytes(index: u32, stride: u32, signed: bool, width: u32): u32 {
  const most: u32 = width < 32 && !signed ? ((<u32>1) << width) - 1 : mostOf(index);
  if (most < 0x8000_0000 && <u64>most * stride <= 0xffff_ffff) return constant(0);
  if (stride == 0) return constant(0);
  if ((stride & (stride - 1)) != 0) return bin(signed ? Op.IMUL_HI : Op.UMUL_HI, index, constant(stride));
  const log = ctz<u32>(stride);
  if (log == 0) return signed ? bin(Op.ISHR, index, constant(31)) : constant(0);
  return bin(signed ? Op.ISHR : Op.USHR, index, constant(32 - log));
}
