/** Decodes one instruction into a record. Opcode numbers and fields come from the generated tables only. */
import * as d from "../../gen/isa-decode.ts";
import {
  Counter,
  Format,
  Op,
  OperandKind,
  OpFlag,
  opCounter,
  opDst,
  operandDwords,
  operandKind,
  operandType,
  opFlags,
  opFormat,
  opOtherForm,
  opSrc,
  SourceCode,
  ValueType,
} from "../../gen/isa-ops.ts";
import { Control, FaultKind, PhysicalMap, RegisterClass } from "../../gen/uapi.ts";
import { faultKind, raise, raiseDetail } from "../fault.ts";
import { Class, LoadKind, Mod, Rec, TALLY_BITS, Unit, Wave } from "../layout.ts";
import { EXECUTE, read32 } from "../mem/translate.ts";
import { ldsMove } from "./lds.ts";
import { usedBits } from "./pending.ts";
import { recognise } from "./quick.ts";
import { moveOf } from "./vmem.ts";

const VCC: u32 = SourceCode.vccLo;
const NULL: u32 = SourceCode.nullReg;
const VGPR0: u32 = SourceCode.vgpr0;
/** Field value of "no such source": VGPR 0's row, which is always valid to read. */
const ABSENT: u32 = VGPR0;

let vgprLimit: u32 = 0;
let vRanges: u32 = 0;
let sRanges: u32 = 0;
let sWrites: u32 = 0;

/** VGPRs that the dispatch's waves have. */
export function setVgprLimit(count: u32): void {
  vgprLimit = count;
}

function checkVgprs(first: u32, count: u32): void {
  if (first + count > vgprLimit) raiseDetail(FaultKind.BAD_REGISTER, first + count - 1, RegisterClass.VGPR);
}

function checkSgprs(first: u32, count: u32): void {
  // Pairs start even, longer ones at multiples of 4; the last is VCC's high half or, for single registers, EXEC's.
  const alignment: u32 = count >= 4 ? 4 : count;
  if (first % alignment != 0 || (count > 2 && first + count > <u32>SourceCode.m0)) {
    raiseDetail(FaultKind.BAD_REGISTER, first + count - 1, RegisterClass.SGPR);
  }
}

/** Notes the use of registers; `base` is 0 for VGPRs, 32 for SGPRs. */
function use(rec: usize, base: u32, first: u32, count: u32): void {
  store<u64>(rec, load<u64>(rec, Rec.USES) | usedBits(base, first, count), Rec.USES);
}

function readVgprs(rec: usize, first: u32, count: u32): void {
  checkVgprs(first, count);
  use(rec, 0, first, count);
  if (vRanges >= 4) return;
  store<u8>(rec + (vRanges << 1), first, Rec.READ_V);
  store<u8>(rec + (vRanges << 1), count, Rec.READ_V + 1);
  vRanges++;
}

function readSgprs(rec: usize, first: u32, count: u32): void {
  if (first >= <u32>SourceCode.zero || first == NULL) return;
  checkSgprs(first, count);
  use(rec, 32, first, count);
  if (sRanges >= 4) return;
  store<u8>(rec + (sRanges << 1), first, Rec.READ_S);
  store<u8>(rec + (sRanges << 1), count, Rec.READ_S + 1);
  sRanges++;
}

function writeVgprs(rec: usize, first: u32, count: u32): void {
  checkVgprs(first, count);
  use(rec, 0, first, count);
  store<u8>(rec, first, Rec.WRITE_V);
  store<u8>(rec, count, Rec.WRITE_V + 1);
}

function writeSgprs(rec: usize, first: u32, count: u32): void {
  if (first == NULL) return;
  checkSgprs(first, count);
  use(rec, 32, first, count);
  if (sWrites >= 2) return;
  store<u8>(rec + (sWrites << 1), first, Rec.WRITE_S);
  store<u8>(rec + (sWrites << 1), count, Rec.WRITE_S + 1);
  sWrites++;
}

/** Notes a source operand field and returns its slot offset. */
function source(rec: usize, operand: u32, code: u32): u32 {
  // An instruction without the operand: its field says nothing.
  if (operand == 0) return Wave.SCALARS;
  const kind = operandKind(operand);
  const dwords = operandDwords(operand);
  if (kind == OperandKind.vgpr || (code >= VGPR0 && kind == OperandKind.vsrc)) {
    const number = code & 255;
    readVgprs(rec, number, dwords);
    return Wave.VGPR_FILE + (number << 7);
  }
  if (code >= VGPR0) raise(FaultKind.ILLEGAL_INSTRUCTION);
  readSgprs(rec, code, dwords);
  if (code == SourceCode.vccz || code == SourceCode.execz || code == SourceCode.scc) setMod(rec, Mod.SPECIAL);
  else if (code >= 209 && code < <u32>SourceCode.half) raise(FaultKind.NOT_MODELLED);
  else if (code > <u32>SourceCode.inverseTwoPi && code != SourceCode.literal) raise(FaultKind.ILLEGAL_INSTRUCTION);
  if (operandType(operand) == ValueType.f16 && code >= <u32>SourceCode.half && code <= <u32>SourceCode.inverseTwoPi) {
    return Wave.SCALARS + ((256 + code - SourceCode.half) << 2);
  }
  return Wave.SCALARS + (code << 2);
}

function setMod(rec: usize, bits: u32): void {
  store<u32>(rec, load<u32>(rec, Rec.MODS) | bits, Rec.MODS);
}

/** Decodes the instruction at `pc` into the zeroed record `rec`; raises a fault and returns false where it can't. */
export function decode(pc: u64, rec: usize): bool {
  vRanges = 0;
  sRanges = 0;
  sWrites = 0;
  const w = read32(pc, EXECUTE);
  if (faultKind != 0) return false;
  const op = d.decodeOp(w);
  if (op == Op.none) {
    raise(knownFormat(w) ? FaultKind.NOT_MODELLED : FaultKind.ILLEGAL_INSTRUCTION);
    return false;
  }
  let hi: u32 = 0;
  let dwords = d.baseDwords(op);
  if (dwords == 2) hi = read32(pc + 4, EXECUTE);
  const literal = d.hasLiteral(op, w, hi);
  const second = d.hasSecondDword(op, w);
  let extra: u32 = 0;
  if (literal || second) {
    extra = read32(pc + 4 * dwords, EXECUTE);
    store<u32>(rec, extra, Rec.EXTRA);
    if (literal) setMod(rec, Mod.LITERAL);
    dwords++;
  }
  if (faultKind != 0) return false;
  store<u8>(rec, dwords, Rec.DWORDS);
  store<u16>(rec, op, Rec.OP);
  switch (opFormat(op)) {
    case Format.SOP1:
    case Format.SOP2:
    case Format.SOPC:
    case Format.SOPK:
      decodeScalar(rec, op, w);
      break;
    case Format.SOPP:
      decodeFlow(rec, op, w);
      break;
    case Format.SMEM:
      decodeSmem(rec, op, w, hi);
      break;
    case Format.MUBUF:
      decodeBuffer(rec, op, w, hi);
      break;
    case Format.DS:
      decodeLds(rec, op, w, hi);
      break;
    case Format.FLAT:
    case Format.GLOBAL:
    case Format.SCRATCH:
      decodeFlat(rec, op, w, hi);
      break;
    case Format.VOP3P:
      decodePacked(rec, op, w, hi);
      break;
    default:
      decodeVector(rec, op, w, hi, second ? extra : 0);
      break;
  }
  if (faultKind != 0) return false;
  recognise(rec);
  executed(op);
  return true;
}

let opsTable: usize = <usize>PhysicalMap.CONTROL + <usize>Control.OPS_TABLE;

/** Where the instructions that `queue` meets are remembered. */
export function rememberOps(queue: u32): void {
  opsTable = <usize>PhysicalMap.CONTROL + <usize>(Control.OPS_TABLE + queue * Control.OPS_BYTES);
}

/** Remembers that the queue at hand has met instruction `op`. */
function executed(op: u32): void {
  const at = opsTable + (<usize>op >> 3);
  store<u8>(at, <u32>load<u8>(at) | ((<u32>1) << (op & 7)));
}

/** Encodings of formats that the rows do not hold in part or that are not modelled: VOP3P, VINTRP, MTBUF, MIMG, EXP. */
function knownFormat(w: u32): bool {
  const top = w >> 26;
  return top == 0x33 || top == 0x32 || top == 0x3a || top == 0x3c || top == 0x3e;
}

function finish(rec: usize, cls: u32, unit: u32): void {
  store<u8>(rec, cls, Rec.CLASS);
  store<u8>(rec, unit, Rec.UNIT);
  store<u8>(rec, unit * TALLY_BITS, Rec.TALLY);
}

function decodeScalar(rec: usize, op: u32, w: u32): void {
  const format = opFormat(op);
  const flags = opFlags(op);
  const hasDst = format != Format.SOPC;
  const sdst = hasDst ? d.sop1Sdst(w) : 0;
  store<u16>(rec, sdst, Rec.DST);
  if (format == Format.SOPK) {
    store<i32>(rec, <i32>(<i16>(w & 0xffff)), Rec.IMM);
    const reads = operandKind(opSrc(op, 0)) == OperandKind.sgpr || operandKind(opSrc(op, 1)) == OperandKind.sgpr;
    if (reads || flags & OpFlag.TiedDst) readSgprs(rec, sdst, 1);
  } else {
    store<u16>(rec, source(rec, opSrc(op, 0), d.sop2Src0(w)), Rec.SRC0);
    if (opSrc(op, 1) != 0 && format != Format.SOP1) store<u16>(rec, source(rec, opSrc(op, 1), d.sop2Src1(w)), Rec.SRC1);
  }
  if (operandKind(opDst(op, 0)) == OperandKind.sgpr) {
    writeSgprs(rec, sdst, operandDwords(opDst(op, 0)));
    if (flags & OpFlag.TiedDst) readSgprs(rec, sdst, operandDwords(opDst(op, 0)));
  }
  const flow = (flags & (OpFlag.Branch | OpFlag.Wait)) != 0;
  finish(rec, flow ? Class.FLOW : Class.SALU, flow ? Unit.FLOW : Unit.SALU);
}

function decodeFlow(rec: usize, op: u32, w: u32): void {
  store<i32>(rec, <i32>(<i16>(w & 0xffff)), Rec.IMM);
  if (opFlags(op) & OpFlag.ReadsVcc) readSgprs(rec, VCC, 1);
  finish(rec, Class.FLOW, Unit.FLOW);
}

function decodeSmem(rec: usize, op: u32, w: u32, hi: u32): void {
  const data = d.smemSdata(w);
  const base = d.smemSbase(w) << 1;
  const dst = operandDwords(opDst(op, 0));
  setMod(rec, (d.smemGlc(w) ? Mod.GLC : 0) | (d.smemDlc(w) ? Mod.DLC : 0));
  store<u16>(rec, data, Rec.DST);
  store<u16>(rec, dst, Rec.DST2);
  store<u16>(rec, base, Rec.SRC0);
  store<u16>(rec, d.smemSoffset(hi), Rec.SRC1);
  store<i32>(rec, d.smemOffset(hi), Rec.IMM);
  const baseDwords = operandDwords(opSrc(op, 0));
  if (baseDwords > 0) readSgprs(rec, base, baseDwords);
  readSgprs(rec, d.smemSoffset(hi), 1);
  if (dst > 0) {
    writeSgprs(rec, data, dst);
    store<u8>(rec, LoadKind.SMEM, Rec.LOAD);
  }
  finish(rec, Class.SMEM, Unit.SMEM);
}

function decodeBuffer(rec: usize, op: u32, w: u32, hi: u32): void {
  const flags = opFlags(op);
  store<u32>(rec, moveOf(op), Rec.EXTRA);
  const offen = d.mubufOffen(w);
  const idxen = d.mubufIdxen(w);
  const glc = d.mubufGlc(w);
  const mods: u32 =
    (offen ? Mod.OFFEN : 0) | (idxen ? Mod.IDXEN : 0) | (glc ? Mod.GLC : 0) | (d.mubufDlc(w) ? Mod.DLC : 0);
  if (d.mubufTfe(hi) || d.mubufLds(w)) raise(FaultKind.NOT_MODELLED);
  setMod(rec, mods);
  const data = d.mubufVdata(hi);
  const address = d.mubufVaddr(hi);
  const resource = d.mubufSrsrc(hi) << 2;
  store<u16>(rec, data, Rec.DST);
  store<u16>(rec, address, Rec.DST2);
  store<u16>(rec, resource, Rec.SRC0);
  store<i32>(rec, d.mubufOffset(w), Rec.IMM);
  if (flags & OpFlag.Cache) {
    finish(rec, Class.BUFFER, Unit.VMEM);
    return;
  }
  const soffset = d.mubufSoffset(hi);
  readSgprs(rec, soffset, 1);
  if (soffset == SourceCode.literal) raise(FaultKind.ILLEGAL_INSTRUCTION);
  store<u16>(rec, Wave.SCALARS + (soffset << 2), Rec.SRC1);
  if (offen + idxen > 0) readVgprs(rec, address, offen + idxen);
  readSgprs(rec, resource, 4);
  memoryData(rec, op, data, data, glc != 0);
  finish(rec, Class.BUFFER, Unit.VMEM);
}

/** Data operands of a buffer or flat instruction, and what they wait for. */
function memoryData(rec: usize, op: u32, data: u32, dst: u32, glc: bool): void {
  const flags = opFlags(op);
  const flat = opCounter(op) >= <u32>Counter.vmLgkm;
  const kind: u32 = flat ? LoadKind.BOTH : LoadKind.VM;
  if (flags & OpFlag.Load) {
    const count = operandDwords(opDst(op, 0));
    if (flags & OpFlag.TiedDst) store<u16>(rec, 1, Rec.SRC3);
    writeVgprs(rec, dst, count);
    store<u8>(rec, kind, Rec.LOAD);
    return;
  }
  const count = operandDwords(opSrc(op, 0));
  readVgprs(rec, data, count);
  if (flags & OpFlag.Atomic && glc) {
    writeVgprs(rec, dst, operandDwords(opDst(op, 0)));
    store<u8>(rec, kind, Rec.LOAD);
  }
}

function decodeFlat(rec: usize, op: u32, w: u32, hi: u32): void {
  const format = opFormat(op);
  store<u32>(rec, moveOf(op), Rec.EXTRA);
  const glc = d.flatGlc(w);
  setMod(rec, (glc ? Mod.GLC : 0) | (d.flatDlc(w) ? Mod.DLC : 0));
  if (d.flatLds(w)) raise(FaultKind.NOT_MODELLED);
  const saddr = d.flatSaddr(hi);
  const address = d.flatAddr(hi);
  store<u16>(rec, d.flatVdst(hi), Rec.DST);
  store<u16>(rec, address, Rec.SRC0);
  store<u16>(rec, d.flatData(hi), Rec.SRC1);
  store<u16>(rec, saddr, Rec.DST2);
  store<i32>(rec, d.flatOffset(w), Rec.IMM);
  if (format == Format.GLOBAL) {
    if (saddr == NULL || saddr == SourceCode.execHi) readVgprs(rec, address, 2);
    else {
      readVgprs(rec, address, 1);
      readSgprs(rec, saddr, 2);
    }
  } else if (format == Format.SCRATCH) {
    if (saddr == NULL) readVgprs(rec, address, 1);
    else if (saddr != SourceCode.execHi) readSgprs(rec, saddr, 1);
  } else readVgprs(rec, address, 2);
  memoryData(rec, op, d.flatData(hi), d.flatVdst(hi), glc != 0);
  finish(rec, Class.FLAT, Unit.VMEM);
}

function decodeLds(rec: usize, op: u32, w: u32, hi: u32): void {
  if (d.dsGds(w)) raise(FaultKind.NOT_MODELLED);
  const flags = opFlags(op);
  store<u32>(rec, ldsMove(op), Rec.EXTRA);
  store<u16>(rec, d.dsVdst(hi), Rec.DST);
  store<u16>(rec, d.dsAddr(hi), Rec.SRC0);
  store<u16>(rec, d.dsData0(hi), Rec.SRC1);
  store<u16>(rec, d.dsData1(hi), Rec.SRC2);
  // Low 16 bits: offset0; high: offset1. A byte offset is both together.
  const pair = (flags & OpFlag.PairOffset) != 0;
  store<u32>(rec, pair ? d.dsOffset0(w) | (d.dsOffset1(w) << 16) : d.dsOffset0(w) | (d.dsOffset1(w) << 8), Rec.IMM);
  // A row without an address operand (append, addtid) has its data in data0.
  const noAddress = (flags & OpFlag.ReadsM0) != 0;
  if (noAddress) readSgprs(rec, SourceCode.m0, 1);
  for (let i: u32 = 0; i < 3; i++) {
    const operand = opSrc(op, i);
    if (operand == 0) break;
    const field = noAddress ? i + 1 : i;
    const number = field == 0 ? d.dsAddr(hi) : field == 1 ? d.dsData0(hi) : d.dsData1(hi);
    readVgprs(rec, number, operandDwords(operand));
  }
  const dst = operandDwords(opDst(op, 0));
  if (dst > 0) {
    writeVgprs(rec, d.dsVdst(hi), dst);
    store<u8>(rec, LoadKind.LDS, Rec.LOAD);
    if (flags & OpFlag.TiedDst) store<u16>(rec, 1, Rec.SRC3);
  }
  finish(rec, Class.LDS, Unit.LDS);
}

/** VOP3P: which halves are taken stands in IMM, op_sel in [2:0] and op_sel_hi in [5:3]; neg and abs in MODS. */
function decodePacked(rec: usize, op: u32, w: u32, hi: u32): void {
  setMod(rec, d.vop3pNeg(hi) | (d.vop3pAbs(w) << 3) | (d.vop3pClamp(w) ? Mod.CLAMP : 0));
  const high = d.vop3pOpSelHi(hi) | (d.vop3pOpSelHi2(w) << 2);
  store<i32>(rec, d.vop3pOpSel(w) | (high << 3), Rec.IMM);
  store<u16>(rec, source(rec, opSrc(op, 0), d.vop3pSrc0(hi)), Rec.SRC0);
  store<u16>(rec, source(rec, opSrc(op, 1), d.vop3pSrc1(hi)), Rec.SRC1);
  store<u16>(rec, source(rec, opSrc(op, 2), d.vop3pSrc2(hi)), Rec.SRC2);
  const vdst = d.vop3pVdst(w);
  writeVgprs(rec, vdst, 1);
  // These keep the other half of the register.
  if (op == Op.v_fma_mixlo_f16 || op == Op.v_fma_mixhi_f16) readVgprs(rec, vdst, 1);
  store<u16>(rec, vdst, Rec.DST);
  finish(rec, Class.PACKED, Unit.VALU);
}

function decodeVector(rec: usize, op: u32, w: u32, hi: u32, extra: u32): void {
  const format = opFormat(op);
  const e64 = format == Format.VOP3 || format == Format.VOP3B;
  let s0: u32;
  let s1: u32 = ABSENT;
  let s2: u32 = ABSENT;
  let vdst: u32;
  let sdst: u32 = VCC;
  let mods: u32 = 0;
  if (e64) {
    vdst = d.vop3Vdst(w);
    s0 = d.vop3Src0(hi);
    s1 = d.vop3Src1(hi);
    s2 = d.vop3Src2(hi);
    mods = d.vop3Neg(hi) | (d.vop3Omod(hi) << Mod.OMOD_SHIFT) | (d.vop3Clamp(w) ? Mod.CLAMP : 0);
    if (format == Format.VOP3B) sdst = d.vop3bSdst(w);
    else mods |= (d.vop3Abs(w) << 3) | (d.vop3OpSel(w) << Mod.OP_SEL_SHIFT);
  } else {
    s0 = d.vop1Src0(w);
    vdst = d.vop2Vdst(w);
    if (format != Format.VOP1) s1 = VGPR0 + d.vop2Src1(w);
    if (format == Format.VOPC) vdst = VCC;
    s2 = VCC;
    switch (op) {
      case Op.v_fmamk_f32:
      case Op.v_fmamk_f16:
        s2 = s1;
        s1 = SourceCode.literal;
        break;
      case Op.v_fmaak_f32:
      case Op.v_fmaak_f16:
        s2 = SourceCode.literal;
        break;
      default:
        break;
    }
    if (s0 == SourceCode.dpp16) {
      mods =
        Mod.DPP16 |
        d.dpp16Src0Neg(extra) |
        (d.dpp16Src1Neg(extra) << 1) |
        (d.dpp16Src0Abs(extra) << 3) |
        (d.dpp16Src1Abs(extra) << 4);
      s0 = VGPR0 + d.dpp16Src0(extra);
    } else if (s0 == SourceCode.dpp8 || s0 == SourceCode.dpp8FetchInactive) {
      mods = Mod.DPP8;
      // Selector byte of the record keeps which marker it was.
      store<i32>(rec, s0 == SourceCode.dpp8FetchInactive ? 1 : 0, Rec.IMM);
      s0 = VGPR0 + d.dpp8Src0(extra);
    } else if (s0 == SourceCode.sdwa) {
      mods =
        Mod.SDWA |
        d.sdwaSrc0Neg(extra) |
        (d.sdwaSrc1Neg(extra) << 1) |
        (d.sdwaSrc0Abs(extra) << 3) |
        (d.sdwaSrc1Abs(extra) << 4);
      s0 = d.sdwaSrc0Scalar(extra) ? d.sdwaSrc0(extra) : VGPR0 + d.sdwaSrc0(extra);
      if (format != Format.VOP1 && d.sdwaSrc1Scalar(extra)) s1 &= 255;
      if (format == Format.VOPC) {
        if (extra & 0x8000) vdst = (extra >> 8) & 0x7f;
      } else mods |= (d.sdwaOmod(extra) << Mod.OMOD_SHIFT) | (d.sdwaClamp(extra) ? Mod.CLAMP : 0);
    }
  }
  // One form per instruction from here on: VOP3's.
  let base = op;
  if (!e64) {
    const other = opOtherForm(op);
    if (other != Op.none) base = other;
  }
  switch (base) {
    case Op.v_fmamk_f32:
    case Op.v_fmaak_f32:
      base = Op.v_fma_f32;
      break;
    case Op.v_fmamk_f16:
    case Op.v_fmaak_f16:
      base = Op.v_fma_f16;
      break;
    case Op.v_fmac_f32_e64:
      base = Op.v_fma_f32;
      s2 = VGPR0 + vdst;
      break;
    case Op.v_fmac_f16_e64:
      base = Op.v_fma_f16;
      s2 = VGPR0 + vdst;
      break;
    case Op.v_fmac_legacy_f32_e64:
      base = Op.v_fma_legacy_f32;
      s2 = VGPR0 + vdst;
      break;
    default:
      break;
  }
  store<u16>(rec, base, Rec.OP);
  const flags = opFlags(base);
  // Sources by the row; a mask source (cndmask, carry in) is an SGPR number in SRC3.
  store<u16>(rec, Wave.VGPR_FILE, Rec.SRC0);
  store<u16>(rec, Wave.VGPR_FILE, Rec.SRC1);
  store<u16>(rec, Wave.VGPR_FILE, Rec.SRC2);
  let floatIn = false;
  let wide = opFormat(base) == Format.VOP3B;
  for (let i: u32 = 0; i < 3; i++) {
    const operand = opSrc(base, i);
    if (operand == 0) break;
    const code = i == 0 ? s0 : i == 1 ? s1 : s2;
    const kind = operandKind(operand);
    if (kind == OperandKind.mask || kind == OperandKind.vcc) {
      if (code >= <u32>SourceCode.zero) raise(FaultKind.ILLEGAL_INSTRUCTION);
      readSgprs(rec, code, 1);
      store<u16>(rec, code, Rec.SRC3);
      continue;
    }
    const type = operandType(operand);
    if (type == ValueType.f32) floatIn = true;
    if (type == ValueType.f16 || type == ValueType.b16) mods |= Mod.HALF0 << i;
    if (operandDwords(operand) > 1) wide = true;
    store<u16>(rec + (i << 1), source(rec, operand, code), Rec.SRC0);
  }
  if (flags & OpFlag.ReadsVcc) readSgprs(rec, VCC, 1);
  let cls: u32 = Class.VALU;
  for (let i: u32 = 0; i < 2; i++) {
    const operand = opDst(base, i);
    if (operand == 0) break;
    const kind = operandKind(operand);
    if (kind == OperandKind.vgpr) {
      if (operandDwords(operand) > 1) wide = true;
      writeVgprs(rec, vdst, operandDwords(operand));
      if (flags & OpFlag.TiedDst) readVgprs(rec, vdst, operandDwords(operand));
    } else if (kind == OperandKind.sgpr) {
      writeSgprs(rec, vdst, 1);
    } else if (kind == OperandKind.mask || kind == OperandKind.vcc) {
      const mask = i == 0 ? vdst : sdst;
      writeSgprs(rec, mask, 1);
    }
  }
  store<u16>(rec, vdst, Rec.DST);
  store<u16>(rec, sdst, Rec.DST2);
  const short =
    opFormat(op) == Format.VOPC || (e64 && opOtherForm(op) != Op.none && opFormat(opOtherForm(op)) == Format.VOPC);
  if (short) cls = Class.COMPARE;
  else if (wide) cls = Class.WIDE;
  else if (isLaneOp(base)) cls = Class.LANE;
  if (floatIn && flags & OpFlag.ReadsMode) mods |= Mod.FLOAT_IN;
  if (cls == Class.VALU) {
    if (halfResult(base)) {
      // The other half of the register is kept.
      mods |= Mod.HALF_OUT;
      readVgprs(rec, vdst, 1);
    } else if (flags & OpFlag.Omod) mods |= Mod.FLOAT_OUT;
  }
  // These bits steer omod and clamp of float results only; integers have a clamp of their own.
  setMod(rec, mods);
  finish(rec, cls, Unit.VALU);
}

function isLaneOp(op: u32): bool {
  switch (op) {
    case Op.v_readfirstlane_b32:
    case Op.v_readlane_b32:
    case Op.v_writelane_b32:
    case Op.v_permlane16_b32:
    case Op.v_permlanex16_b32:
    case Op.v_swap_b32:
    case Op.v_movreld_b32_e64:
    case Op.v_movrels_b32_e64:
      return true;
    default:
      return false;
  }
}

/** Instructions that write one half of their destination register. */
function halfResult(op: u32): bool {
  switch (op) {
    case Op.v_cvt_f16_f32_e64:
    case Op.v_cvt_f16_u16_e64:
    case Op.v_cvt_f16_i16_e64:
    case Op.v_sat_pk_u8_i16_e64:
      return true;
    case Op.v_cvt_f32_f16_e64:
    case Op.v_mad_u32_u16:
    case Op.v_mad_i32_i16:
    case Op.v_pack_b32_f16:
    case Op.v_cvt_pknorm_i16_f16:
    case Op.v_cvt_pknorm_u16_f16:
      return false;
    default: {
      const type = operandType(opSrc(op, 0));
      return type == ValueType.f16 || type == ValueType.b16;
    }
  }
}
