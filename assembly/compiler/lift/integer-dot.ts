/**
 * OpSDot, OpUDot, OpSUDot and the forms that add to an accumulator and saturate: products and sums in the width of the
 * result, which is no less than that of a component. Where one of them does not fit there the saturating forms are
 * undefined, so they have one sum to watch: the last one.
 */
import { failed } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { SpvOp } from "../../gen/spirv.ts";
import { constant } from "../ir/index.ts";
import { bin, sel, tri } from "./fold-build.ts";
import { idAt, idType, leafPool, malformed, newLeaves, typeA, typeKind } from "./ids.ts";
import { countAt, leaves, operand, result } from "./operands.ts";
import { convert, setSigned } from "./scalars.ts";
import { scalarWidth, TypeKind, typeAt } from "./types.ts";
import { isPair, pairOf } from "./wide.ts";

export function isIntegerDot(op: u32): bool {
  return op >= <u32>SpvOp.OpSDot && op <= <u32>SpvOp.OpSUDotAccSat;
}

/** The components in word k, each as wide as the result; a 32-bit scalar is four bytes. */
function components(k: u32, n: u32, packed: bool, signed: bool, width: u32): u32 {
  setSigned(signed);
  const from = packed ? leaves(k, 1) : operand(k, n);
  const run = newLeaves(n);
  for (let c: u32 = 0; c < n && !failed(); c++) {
    const value = packed
      ? tri(signed ? Op.IBFE : Op.UBFE, leafPool[from], constant(8 * c), constant(8))
      : leafPool[from + c];
    leafPool[run + c] = convert(signed ? SpvOp.OpSConvert : SpvOp.OpUConvert, value, width);
  }
  return run;
}

/** The sum of two integers of `width` bits, held at the ends of their range. */
function saturated(a: u32, b: u32, width: u32, signed: bool): u32 {
  const sum = bin(Op.IADD, a, b);
  if (width < 32) {
    // It fits into a word.
    const most: u32 = ((<u32>1) << (signed ? width - 1 : width)) - 1;
    return signed
      ? bin(Op.IMAX, bin(Op.IMIN, sum, constant(most)), constant(~most))
      : bin(Op.UMIN, sum, constant(most));
  }
  const wide = isPair(sum);
  if (!signed) {
    const all = wide ? pairOf(0xffff_ffff_ffff_ffff) : constant(0xffff_ffff);
    return sel(bin(Op.ULT, sum, a), all, sum);
  }
  // Both have the sign that the sum has not.
  const turned = bin(Op.IAND, bin(Op.IXOR, sum, a), bin(Op.IXOR, sum, b));
  const most = wide ? pairOf(0x7fff_ffff_ffff_ffff) : constant(0x7fff_ffff);
  const end = bin(Op.IXOR, bin(Op.ISHR, a, constant(width - 1)), most);
  return sel(bin(Op.ILT, turned, wide ? pairOf(0) : constant(0)), end, sum);
}

export function liftIntegerDot(op: u32, at: u32): void {
  const saturates = op >= <u32>SpvOp.OpSDotAccSat;
  const signed = op != SpvOp.OpUDot && op != SpvOp.OpUDotAccSat;
  const bothSigned = op == SpvOp.OpSDot || op == SpvOp.OpSDotAccSat;
  const type = typeAt(at + 1);
  const vector = idType[idAt(at + 3)];
  if (failed()) return;
  const packed = typeKind[vector] == TypeKind.INT && typeA[vector] == 32;
  const width = scalarWidth(type);
  if (
    typeKind[type] != TypeKind.INT ||
    (!packed && (typeKind[vector] != TypeKind.VECTOR || scalarWidth(vector) > width))
  ) {
    malformed(at);
    return;
  }
  const n: u32 = packed ? 4 : countAt(at + 3);
  const a = components(at + 3, n, packed, signed, width);
  const b = components(at + 4, n, packed, bothSigned, width);
  if (failed()) return;
  let sum = bin(Op.IMUL, leafPool[a], leafPool[b]);
  for (let c: u32 = 1; c < n && !failed(); c++) sum = bin(Op.IADD, sum, bin(Op.IMUL, leafPool[a + c], leafPool[b + c]));
  setSigned(signed);
  const to = saturates ? operand(at + 5, 1) : 0;
  const out = result(at);
  if (!failed()) leafPool[out] = saturates ? saturated(leafPool[to], sum, width, signed) : sum;
}
