// Generated from the rows of src/isa by scripts/generate/isa.ts. Do not edit.

/** Field packing for the compiler's back end. The simulator must not import this file. */

import { Format, opCode, opFormat } from "./isa-ops.ts";

/** SOP1, one dword. */
export function packSop1(op: u32, sdst: u32, src0: u32): u32 {
  assert(opFormat(op) == Format.SOP1);
  assert(sdst <= 0x7f);
  assert(src0 <= 0xff);
  return 0xbe800000 | (opCode(op) << 8) | (sdst << 16) | src0;
}

/** SOPC, one dword. */
export function packSopc(op: u32, src0: u32, src1: u32): u32 {
  assert(opFormat(op) == Format.SOPC);
  assert(src0 <= 0xff);
  assert(src1 <= 0xff);
  return 0xbf000000 | (opCode(op) << 16) | src0 | (src1 << 8);
}

/** SOPP, one dword. */
export function packSopp(op: u32, simm16: u32): u32 {
  assert(opFormat(op) == Format.SOPP);
  assert(simm16 <= 0xffff);
  return 0xbf800000 | (opCode(op) << 16) | simm16;
}

/** SOPK, one dword. */
export function packSopk(op: u32, sdst: u32, simm16: u32): u32 {
  assert(opFormat(op) == Format.SOPK);
  assert(sdst <= 0x7f);
  assert(simm16 <= 0xffff);
  return 0xb0000000 | (opCode(op) << 23) | (sdst << 16) | simm16;
}

/** SOP2, one dword. */
export function packSop2(op: u32, sdst: u32, src0: u32, src1: u32): u32 {
  assert(opFormat(op) == Format.SOP2);
  assert(sdst <= 0x7f);
  assert(src0 <= 0xff);
  assert(src1 <= 0xff);
  return 0x80000000 | (opCode(op) << 23) | (sdst << 16) | src0 | (src1 << 8);
}

/** VOP1, one dword. */
export function packVop1(op: u32, vdst: u32, src0: u32): u32 {
  assert(opFormat(op) == Format.VOP1);
  assert(vdst <= 0xff);
  assert(src0 <= 0x1ff);
  return 0x7e000000 | (opCode(op) << 9) | (vdst << 17) | src0;
}

/** VOPC, one dword. */
export function packVopc(op: u32, src0: u32, src1: u32): u32 {
  assert(opFormat(op) == Format.VOPC);
  assert(src0 <= 0x1ff);
  assert(src1 <= 0xff);
  return 0x7c000000 | (opCode(op) << 17) | src0 | (src1 << 9);
}

/** VOP3P, first dword in the low half. */
export function packVop3p(op: u32, vdst: u32, src0: u32, src1: u32, src2: u32, neg: u32, abs: u32, clamp: u32, opSel: u32, opSelHi: u32, opSelHi2: u32): u64 {
  assert(opFormat(op) == Format.VOP3P);
  assert(vdst <= 0xff);
  assert(src0 <= 0x1ff);
  assert(src1 <= 0x1ff);
  assert(src2 <= 0x1ff);
  assert(neg <= 0x7);
  assert(abs <= 0x7);
  assert(clamp <= 0x1);
  assert(opSel <= 0x7);
  assert(opSelHi <= 0x3);
  assert(opSelHi2 <= 0x1);
  return 0xcc000000 | (<u64>opCode(op) << 16) | <u64>vdst | (<u64>src0 << 32) | (<u64>src1 << 41) | (<u64>src2 << 50) | (<u64>neg << 61) | (<u64>abs << 8) | (<u64>clamp << 15) | (<u64>opSel << 11) | (<u64>opSelHi << 59) | (<u64>opSelHi2 << 14);
}

/** VOP3, first dword in the low half. */
export function packVop3(op: u32, vdst: u32, src0: u32, src1: u32, src2: u32, neg: u32, abs: u32, clamp: u32, omod: u32, opSel: u32): u64 {
  assert(opFormat(op) == Format.VOP3);
  assert(vdst <= 0xff);
  assert(src0 <= 0x1ff);
  assert(src1 <= 0x1ff);
  assert(src2 <= 0x1ff);
  assert(neg <= 0x7);
  assert(abs <= 0x7);
  assert(clamp <= 0x1);
  assert(omod <= 0x3);
  assert(opSel <= 0xf);
  return 0xd4000000 | (<u64>opCode(op) << 16) | <u64>vdst | (<u64>src0 << 32) | (<u64>src1 << 41) | (<u64>src2 << 50) | (<u64>neg << 61) | (<u64>abs << 8) | (<u64>clamp << 15) | (<u64>omod << 59) | (<u64>opSel << 11);
}

/** VOP3B, first dword in the low half. */
export function packVop3b(op: u32, vdst: u32, sdst: u32, src0: u32, src1: u32, src2: u32, neg: u32, clamp: u32, omod: u32): u64 {
  assert(opFormat(op) == Format.VOP3B);
  assert(vdst <= 0xff);
  assert(sdst <= 0x7f);
  assert(src0 <= 0x1ff);
  assert(src1 <= 0x1ff);
  assert(src2 <= 0x1ff);
  assert(neg <= 0x7);
  assert(clamp <= 0x1);
  assert(omod <= 0x3);
  return 0xd4000000 | (<u64>opCode(op) << 16) | <u64>vdst | (<u64>sdst << 8) | (<u64>src0 << 32) | (<u64>src1 << 41) | (<u64>src2 << 50) | (<u64>neg << 61) | (<u64>clamp << 15) | (<u64>omod << 59);
}

/** SMEM, first dword in the low half. */
export function packSmem(op: u32, sdata: u32, sbase: u32, offset: i32, soffset: u32, glc: u32, dlc: u32): u64 {
  assert(opFormat(op) == Format.SMEM);
  assert(sdata <= 0x7f);
  assert(sbase <= 0x3f);
  assert(offset >= -1048576 && offset < 1048576);
  assert(soffset <= 0x7f);
  assert(glc <= 0x1);
  assert(dlc <= 0x1);
  return 0xf4000000 | (<u64>opCode(op) << 18) | (<u64>sdata << 6) | <u64>sbase | (<u64>(offset & 0x1fffff) << 32) | (<u64>soffset << 57) | (<u64>glc << 16) | (<u64>dlc << 14);
}

/** DS, first dword in the low half. */
export function packDs(op: u32, vdst: u32, addr: u32, data0: u32, data1: u32, offset0: u32, offset1: u32, gds: u32): u64 {
  assert(opFormat(op) == Format.DS);
  assert(vdst <= 0xff);
  assert(addr <= 0xff);
  assert(data0 <= 0xff);
  assert(data1 <= 0xff);
  assert(offset0 <= 0xff);
  assert(offset1 <= 0xff);
  assert(gds <= 0x1);
  return 0xd8000000 | (<u64>opCode(op) << 18) | (<u64>vdst << 56) | (<u64>addr << 32) | (<u64>data0 << 40) | (<u64>data1 << 48) | <u64>offset0 | (<u64>offset1 << 8) | (<u64>gds << 17);
}

/** MUBUF, first dword in the low half. */
export function packMubuf(op: u32, vdata: u32, vaddr: u32, srsrc: u32, soffset: u32, offset: u32, offen: u32, idxen: u32, glc: u32, slc: u32, dlc: u32, tfe: u32, lds: u32): u64 {
  assert(opFormat(op) == Format.MUBUF);
  assert(vdata <= 0xff);
  assert(vaddr <= 0xff);
  assert(srsrc <= 0x1f);
  assert(soffset <= 0xff);
  assert(offset <= 0xfff);
  assert(offen <= 0x1);
  assert(idxen <= 0x1);
  assert(glc <= 0x1);
  assert(slc <= 0x1);
  assert(dlc <= 0x1);
  assert(tfe <= 0x1);
  assert(lds <= 0x1);
  return 0xe0000000 | (<u64>opCode(op) << 18) | (<u64>vdata << 40) | (<u64>vaddr << 32) | (<u64>srsrc << 48) | (<u64>soffset << 56) | <u64>offset | (<u64>offen << 12) | (<u64>idxen << 13) | (<u64>glc << 14) | (<u64>slc << 54) | (<u64>dlc << 15) | (<u64>tfe << 55) | (<u64>lds << 16);
}

/** MTBUF, first dword in the low half. */
export function packMtbuf(op: u32, vdata: u32, vaddr: u32, srsrc: u32, soffset: u32, offset: u32, offen: u32, idxen: u32, format: u32, glc: u32, slc: u32, dlc: u32, tfe: u32, d16: u32): u64 {
  assert(opFormat(op) == Format.MTBUF);
  assert(vdata <= 0xff);
  assert(vaddr <= 0xff);
  assert(srsrc <= 0x1f);
  assert(soffset <= 0xff);
  assert(offset <= 0xfff);
  assert(offen <= 0x1);
  assert(idxen <= 0x1);
  assert(format <= 0x7f);
  assert(glc <= 0x1);
  assert(slc <= 0x1);
  assert(dlc <= 0x1);
  assert(tfe <= 0x1);
  assert(d16 <= 0x1);
  return 0xe8000000 | (<u64>opCode(op) << 16) | (<u64>vdata << 40) | (<u64>vaddr << 32) | (<u64>srsrc << 48) | (<u64>soffset << 56) | <u64>offset | (<u64>offen << 12) | (<u64>idxen << 13) | (<u64>format << 19) | (<u64>glc << 14) | (<u64>slc << 54) | (<u64>dlc << 15) | (<u64>tfe << 55) | (<u64>d16 << 53);
}

/** MIMG, first dword in the low half. */
export function packMimg(op: u32, vdata: u32, vaddr: u32, srsrc: u32, ssamp: u32, dmask: u32, dim: u32, unorm: u32, glc: u32, slc: u32, dlc: u32, nsa: u32, r128: u32, tfe: u32, lwe: u32, a16: u32, d16: u32, opHigh: u32): u64 {
  assert(opFormat(op) == Format.MIMG);
  assert(vdata <= 0xff);
  assert(vaddr <= 0xff);
  assert(srsrc <= 0x1f);
  assert(ssamp <= 0x1f);
  assert(dmask <= 0xf);
  assert(dim <= 0x7);
  assert(unorm <= 0x1);
  assert(glc <= 0x1);
  assert(slc <= 0x1);
  assert(dlc <= 0x1);
  assert(nsa <= 0x3);
  assert(r128 <= 0x1);
  assert(tfe <= 0x1);
  assert(lwe <= 0x1);
  assert(a16 <= 0x1);
  assert(d16 <= 0x1);
  assert(opHigh <= 0x1);
  return 0xf0000000 | (<u64>opCode(op) << 18) | (<u64>vdata << 40) | (<u64>vaddr << 32) | (<u64>srsrc << 48) | (<u64>ssamp << 53) | (<u64>dmask << 8) | (<u64>dim << 3) | (<u64>unorm << 12) | (<u64>glc << 13) | (<u64>slc << 25) | (<u64>dlc << 7) | (<u64>nsa << 1) | (<u64>r128 << 15) | (<u64>tfe << 16) | (<u64>lwe << 17) | (<u64>a16 << 62) | (<u64>d16 << 63) | <u64>opHigh;
}

/** EXP, first dword in the low half. */
export function packExp(op: u32, target: u32, src0: u32, src1: u32, src2: u32, src3: u32, en: u32, compr: u32, done: u32, vm: u32): u64 {
  assert(opFormat(op) == Format.EXP);
  assert(target <= 0x3f);
  assert(src0 <= 0xff);
  assert(src1 <= 0xff);
  assert(src2 <= 0xff);
  assert(src3 <= 0xff);
  assert(en <= 0xf);
  assert(compr <= 0x1);
  assert(done <= 0x1);
  assert(vm <= 0x1);
  return 0xf8000000 | (<u64>opCode(op) << 24) | (<u64>target << 4) | (<u64>src0 << 32) | (<u64>src1 << 40) | (<u64>src2 << 48) | (<u64>src3 << 56) | <u64>en | (<u64>compr << 10) | (<u64>done << 11) | (<u64>vm << 12);
}

/** VINTRP, one dword. */
export function packVintrp(op: u32, vdst: u32, vsrc: u32, attr: u32, attrchan: u32): u32 {
  assert(opFormat(op) == Format.VINTRP);
  assert(vdst <= 0xff);
  assert(vsrc <= 0xff);
  assert(attr <= 0x3f);
  assert(attrchan <= 0x3);
  return 0xc8000000 | (opCode(op) << 16) | (vdst << 18) | vsrc | (attr << 10) | (attrchan << 8);
}

/** FLAT, first dword in the low half. */
export function packFlat(op: u32, vdst: u32, addr: u32, data: u32, saddr: u32, offset: i32, glc: u32, slc: u32, dlc: u32, lds: u32): u64 {
  assert(opFormat(op) == Format.FLAT);
  assert(vdst <= 0xff);
  assert(addr <= 0xff);
  assert(data <= 0xff);
  assert(saddr <= 0x7f);
  assert(offset >= -2048 && offset < 2048);
  assert(glc <= 0x1);
  assert(slc <= 0x1);
  assert(dlc <= 0x1);
  assert(lds <= 0x1);
  return 0xdc000000 | (<u64>opCode(op) << 18) | (<u64>vdst << 56) | (<u64>addr << 32) | (<u64>data << 40) | (<u64>saddr << 48) | <u64>(offset & 0xfff) | (<u64>glc << 16) | (<u64>slc << 17) | (<u64>dlc << 12) | (<u64>lds << 13);
}

/** SCRATCH, first dword in the low half. */
export function packScratch(op: u32, vdst: u32, addr: u32, data: u32, saddr: u32, offset: i32, glc: u32, slc: u32, dlc: u32, lds: u32): u64 {
  assert(opFormat(op) == Format.SCRATCH);
  assert(vdst <= 0xff);
  assert(addr <= 0xff);
  assert(data <= 0xff);
  assert(saddr <= 0x7f);
  assert(offset >= -2048 && offset < 2048);
  assert(glc <= 0x1);
  assert(slc <= 0x1);
  assert(dlc <= 0x1);
  assert(lds <= 0x1);
  return 0xdc004000 | (<u64>opCode(op) << 18) | (<u64>vdst << 56) | (<u64>addr << 32) | (<u64>data << 40) | (<u64>saddr << 48) | <u64>(offset & 0xfff) | (<u64>glc << 16) | (<u64>slc << 17) | (<u64>dlc << 12) | (<u64>lds << 13);
}

/** GLOBAL, first dword in the low half. */
export function packGlobal(op: u32, vdst: u32, addr: u32, data: u32, saddr: u32, offset: i32, glc: u32, slc: u32, dlc: u32, lds: u32): u64 {
  assert(opFormat(op) == Format.GLOBAL);
  assert(vdst <= 0xff);
  assert(addr <= 0xff);
  assert(data <= 0xff);
  assert(saddr <= 0x7f);
  assert(offset >= -2048 && offset < 2048);
  assert(glc <= 0x1);
  assert(slc <= 0x1);
  assert(dlc <= 0x1);
  assert(lds <= 0x1);
  return 0xdc008000 | (<u64>opCode(op) << 18) | (<u64>vdst << 56) | (<u64>addr << 32) | (<u64>data << 40) | (<u64>saddr << 48) | <u64>(offset & 0xfff) | (<u64>glc << 16) | (<u64>slc << 17) | (<u64>dlc << 12) | (<u64>lds << 13);
}

/** VOP2, one dword. */
export function packVop2(op: u32, vdst: u32, src0: u32, src1: u32): u32 {
  assert(opFormat(op) == Format.VOP2);
  assert(vdst <= 0xff);
  assert(src0 <= 0x1ff);
  assert(src1 <= 0xff);
  return 0x0 | (opCode(op) << 25) | (vdst << 17) | src0 | (src1 << 9);
}

/** The second dword of a DPP16 form. */
export function packDpp16(src0: u32, dppCtrl: u32, fi: u32, boundCtrl: u32, src0Neg: u32, src0Abs: u32, src1Neg: u32, src1Abs: u32, bankMask: u32, rowMask: u32): u32 {
  assert(src0 <= 0xff);
  assert(dppCtrl <= 0x1ff);
  assert(fi <= 0x1);
  assert(boundCtrl <= 0x1);
  assert(src0Neg <= 0x1);
  assert(src0Abs <= 0x1);
  assert(src1Neg <= 0x1);
  assert(src1Abs <= 0x1);
  assert(bankMask <= 0xf);
  assert(rowMask <= 0xf);
  return src0 | (dppCtrl << 8) | (fi << 18) | (boundCtrl << 19) | (src0Neg << 20) | (src0Abs << 21) | (src1Neg << 22) | (src1Abs << 23) | (bankMask << 24) | (rowMask << 28);
}

/** The second dword of a DPP8 form. */
export function packDpp8(src0: u32, selectors: u32): u32 {
  assert(src0 <= 0xff);
  assert(selectors <= 0xffffff);
  return src0 | (selectors << 8);
}

/** The second dword of a SDWA form. */
export function packSdwa(src0: u32, dstSel: u32, dstUnused: u32, clamp: u32, omod: u32, src0Sel: u32, src0Sext: u32, src0Neg: u32, src0Abs: u32, src0Scalar: u32, src1Sel: u32, src1Sext: u32, src1Neg: u32, src1Abs: u32, src1Scalar: u32): u32 {
  assert(src0 <= 0xff);
  assert(dstSel <= 0x7);
  assert(dstUnused <= 0x3);
  assert(clamp <= 0x1);
  assert(omod <= 0x3);
  assert(src0Sel <= 0x7);
  assert(src0Sext <= 0x1);
  assert(src0Neg <= 0x1);
  assert(src0Abs <= 0x1);
  assert(src0Scalar <= 0x1);
  assert(src1Sel <= 0x7);
  assert(src1Sext <= 0x1);
  assert(src1Neg <= 0x1);
  assert(src1Abs <= 0x1);
  assert(src1Scalar <= 0x1);
  return src0 | (dstSel << 8) | (dstUnused << 11) | (clamp << 13) | (omod << 14) | (src0Sel << 16) | (src0Sext << 19) | (src0Neg << 20) | (src0Abs << 21) | (src0Scalar << 23) | (src1Sel << 24) | (src1Sext << 27) | (src1Neg << 28) | (src1Abs << 29) | (src1Scalar << 31);
}
