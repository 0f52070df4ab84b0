// Generated from the rows of src/isa by scripts/generate/isa.ts. Do not edit.

/** Entry of the module by which tests check isa-encode.ts and isa-decode.ts; not part of the product. */

import { baseDwords, decodeOp, instructionDwords } from "./isa-decode.ts";
import { packSop1, packSopc, packSopp, packSopk, packSop2, packVop1, packVopc, packVop3p, packVop3, packVop3b, packSmem, packDs, packMubuf, packMtbuf, packMimg, packExp, packVintrp, packFlat, packScratch, packGlobal, packVop2 } from "./isa-encode.ts";
import { Format, opFormat } from "./isa-ops.ts";

const ARGS = memory.data(128);

/** Address of the argument words: field values in the order of the packing function's parameters. */
export function args(): usize {
  return ARGS;
}

function a(i: i32): u32 {
  return load<u32>(ARGS + (<usize>i << 2));
}

/** The packed base dwords, the first in the low half. */
export function pack(op: u32): u64 {
  switch (opFormat(op)) {
    case Format.SOP1:
      return packSop1(op, a(0), a(1));
    case Format.SOPC:
      return packSopc(op, a(0), a(1));
    case Format.SOPP:
      return packSopp(op, a(0));
    case Format.SOPK:
      return packSopk(op, a(0), a(1));
    case Format.SOP2:
      return packSop2(op, a(0), a(1), a(2));
    case Format.VOP1:
      return packVop1(op, a(0), a(1));
    case Format.VOPC:
      return packVopc(op, a(0), a(1));
    case Format.VOP3P:
      return packVop3p(op, a(0), a(1), a(2), a(3), a(4), a(5), a(6), a(7), a(8), a(9));
    case Format.VOP3:
      return packVop3(op, a(0), a(1), a(2), a(3), a(4), a(5), a(6), a(7), a(8));
    case Format.VOP3B:
      return packVop3b(op, a(0), a(1), a(2), a(3), a(4), a(5), a(6), a(7));
    case Format.SMEM:
      return packSmem(op, a(0), a(1), a(2), a(3), a(4), a(5));
    case Format.DS:
      return packDs(op, a(0), a(1), a(2), a(3), a(4), a(5), a(6));
    case Format.MUBUF:
      return packMubuf(op, a(0), a(1), a(2), a(3), a(4), a(5), a(6), a(7), a(8), a(9), a(10), a(11));
    case Format.MTBUF:
      return packMtbuf(op, a(0), a(1), a(2), a(3), a(4), a(5), a(6), a(7), a(8), a(9), a(10), a(11), a(12));
    case Format.MIMG:
      return packMimg(op, a(0), a(1), a(2), a(3), a(4), a(5), a(6), a(7), a(8), a(9), a(10), a(11), a(12), a(13), a(14), a(15), a(16));
    case Format.EXP:
      return packExp(op, a(0), a(1), a(2), a(3), a(4), a(5), a(6), a(7), a(8));
    case Format.VINTRP:
      return packVintrp(op, a(0), a(1), a(2), a(3));
    case Format.FLAT:
      return packFlat(op, a(0), a(1), a(2), a(3), a(4), a(5), a(6), a(7), a(8));
    case Format.SCRATCH:
      return packScratch(op, a(0), a(1), a(2), a(3), a(4), a(5), a(6), a(7), a(8));
    case Format.GLOBAL:
      return packGlobal(op, a(0), a(1), a(2), a(3), a(4), a(5), a(6), a(7), a(8));
    case Format.VOP2:
      return packVop2(op, a(0), a(1), a(2));
    default:
      return 0;
  }
}

/** The op of a first dword. */
export function lookUp(w: u32): u32 {
  return decodeOp(w);
}

/** Base dwords in the high half, all dwords in the low half. */
export function lengths(op: u32, lo: u32, hi: u32): u32 {
  return (baseDwords(op) << 16) | instructionDwords(op, lo, hi);
}
