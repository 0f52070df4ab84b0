/**
 * Reductions and scans over the lanes of a wave, by DPP: neighbours by quad_perm, mirrors of half a row and of a row, the
 * other row by v_permlanex16; scans by row_shr of 1, 2, 4 and 8. Lanes that are not active take part with the identity:
 * EXEC is all ones meanwhile. Source: RDNA2 ISA, DPP16 and V_PERMLANEX16_B32.
 */
import { Op } from "../../gen/ir-ops.ts";
import { Op as Isa } from "../../gen/isa-ops.ts";
import { imm, opOf, src } from "../ir/index.ts";
import { constantOperand, copy, inVgpr, raw, salu, saluNew, valu } from "./build.ts";
import { mDst0, mLit, mMods, mSrc0, mSrc1, mSrc2, valueOperand } from "./columns.ts";
import { knownLanes, Lanes } from "./lanes.ts";
import { P_UNDEFINED } from "./launch.ts";
import { Hw, hw, Mod, newVreg, RegClass, wholeWaveVreg } from "./machine.ts";
import { define, EXEC, operandOf } from "./values.ts";

// DPP controls, and the bits above them: all banks; rows; lanes without a source read 0.
const SWAP_NEIGHBOURS: u32 = 0xb1;
const SWAP_PAIRS: u32 = 0x4e;
const SAME_LANE: u32 = 0xe4;
const ROW_SHIFT_RIGHT: u32 = 0x110;
const ROW_MIRROR: u32 = 0x140;
const HALF_MIRROR: u32 = 0x141;
const BANKS: u32 = 0xf << 24;
const ALL_ROWS: u32 = 0xf << 28;
const ODD_ROWS: u32 = 0xa << 28;
/** Lanes of the second row. */
const SECOND_ROW: u32 = 0xffff_0000;

const IMUL: u32 = 1;

/** The two-source op of a combination; none for the product of integers, which has no such form. */
function combineOp(kind: u32): u32 {
  switch (kind) {
    case 0:
      return Isa.v_add_nc_u32_e32;
    case 2:
      return Isa.v_min_i32_e32;
    case 3:
      return Isa.v_max_i32_e32;
    case 4:
      return Isa.v_min_u32_e32;
    case 5:
      return Isa.v_max_u32_e32;
    case 6:
      return Isa.v_and_b32_e32;
    case 7:
      return Isa.v_or_b32_e32;
    case 8:
      return Isa.v_xor_b32_e32;
    case 9:
      return Isa.v_add_f32_e32;
    case 10:
      return Isa.v_mul_f32_e32;
    case 11:
      return Isa.v_min_f32_e32;
    case 12:
      return Isa.v_max_f32_e32;
    default:
      return Isa.none;
  }
}

/** What changes no other value: bits. -0 + x is x for each x. */
function identity(kind: u32): u32 {
  switch (kind) {
    case 1:
      return 1;
    case 2:
      return 0x7fff_ffff;
    case 3:
      return 0x8000_0000;
    case 4:
    case 6:
      return 0xffff_ffff;
    case 9:
      return 0x8000_0000;
    case 10:
      return 0x3f80_0000;
    case 11:
      return 0x7f80_0000;
    case 12:
      return 0xff80_0000;
    default:
      return 0;
  }
}

let kind: u32 = 0;
/** Where the values are, and a second register. */
let sum: u32 = 0;
let other: u32 = 0;

function dpp(op: u32, dst: u32, a: u32, b: u32, control: u32): void {
  const i = raw(op);
  mDst0[i] = dst;
  mSrc0[i] = a;
  mSrc1[i] = b;
  mMods[i] = Mod.DPP;
  mLit[i] = (control << 8) | BANKS;
}
function moveNew(dst: u32, operand: u32): void {
  valu(Isa.v_mov_b32_e64, dst, operand, 0, 0, 0);
}

/** sum = sum of the lane that `control` names, with sum; without such a lane sum stays. */
function combine(control: u32): void {
  if (kind != IMUL) {
    dpp(combineOp(kind), sum, sum, sum, control | (ALL_ROWS >> 8));
    return;
  }
  moveNew(other, constantOperand(1));
  // Source 1 stands for the old value, which lanes without a source keep.
  dpp(Isa.v_mov_b32_e32, other, sum, other, control | (ALL_ROWS >> 8));
  valu(Isa.v_mul_lo_u32, sum, other, sum, 0, 0);
}

/** other = sum in the other row: in its last lane, or in its first one, which has the row's result like all others. */
function otherRow(last: bool): void {
  mDst0[raw(P_UNDEFINED)] = other;
  const lanes = last ? hw(Hw.MINUS_ONE, 1) : hw(Hw.ZERO, 1);
  const i = raw(Isa.v_permlanex16_b32);
  mDst0[i] = other;
  mSrc0[i] = sum;
  mSrc1[i] = lanes;
  mSrc2[i] = lanes;
}

/** Butterfly over clusters of `size` lanes: each lane gets the result. */
function reduce(size: u32): void {
  if (size > 1) combine(SWAP_NEIGHBOURS);
  if (size > 2) combine(SWAP_PAIRS);
  if (size > 4) combine(HALF_MIRROR);
  if (size > 8) combine(ROW_MIRROR);
  if (size <= 16) return;
  otherRow(false);
  if (kind == IMUL) {
    valu(Isa.v_mul_lo_u32, sum, other, sum, 0, 0);
    return;
  }
  const i = raw(combineOp(kind));
  mDst0[i] = sum;
  mSrc0[i] = other;
  mSrc1[i] = sum;
}

function readLane(operand: u32, lane: u32): u32 {
  const dst = newVreg(RegClass.SGPR, 1);
  const i = raw(Isa.v_readlane_b32);
  mDst0[i] = dst;
  mSrc0[i] = operand;
  mSrc1[i] = constantOperand(lane);
  return dst;
}

/** Each lane gets its value with those of the lanes before it. */
function scan(): void {
  for (let reach: u32 = 1; reach < 16; reach <<= 1) combine(ROW_SHIFT_RIGHT + reach);
  if (kind == IMUL) {
    const first = readLane(sum, 15);
    const rows = saluNew(Isa.s_mov_b32, constantOperand(SECOND_ROW), 0);
    valu(Isa.v_cndmask_b32_e64, other, constantOperand(1), first, rows, 0);
    valu(Isa.v_mul_lo_u32, sum, other, sum, 0, 0);
    return;
  }
  otherRow(true);
  dpp(combineOp(kind), sum, other, sum, SAME_LANE | (ODD_ROWS >> 8));
}

/** Moves all values up by one lane; the first lane gets the identity. */
function shiftUp(): void {
  moveNew(other, constantOperand(identity(kind)));
  dpp(Isa.v_mov_b32_e32, other, sum, other, (ROW_SHIFT_RIGHT + 1) | (ALL_ROWS >> 8));
  const last = readLane(sum, 15);
  const i = raw(Isa.v_writelane_b32);
  mDst0[i] = other;
  mSrc0[i] = last;
  mSrc1[i] = constantOperand(16);
  const shifted = other;
  other = sum;
  sum = shifted;
}

/** wave_reduce, wave_scan. */
export function selectCombined(i: u32): void {
  kind = imm(i, 0);
  const reduces = opOf(i) == Op.WAVE_REDUCE;
  const mode: u32 = reduces ? 32 : imm(i, 1);
  const value = inVgpr(operandOf(src(i, 0)));
  const lanes = knownLanes();
  const apart = lanes == Lanes.OTHERS_HELD;
  sum = apart ? wholeWaveVreg(0) : newVreg(RegClass.VGPR, 1);
  other = apart ? wholeWaveVreg(1) : newVreg(RegClass.VGPR, 1);
  let saved: u32 = 0;
  if (lanes == Lanes.ALL) {
    copy(sum, value);
  } else {
    saved = newVreg(RegClass.SGPR, 1);
    const rest = constantOperand(identity(kind));
    salu(Isa.s_or_saveexec_b32, saved, hw(Hw.MINUS_ONE, 1), 0);
    valu(Isa.v_cndmask_b32_e64, sum, rest, value, saved, 0);
  }
  if (mode == 1) shiftUp();
  if (mode <= 1) scan();
  else reduce(mode);
  if (saved != 0) salu(Isa.s_mov_b32, EXEC, saved, 0);
  if (reduces) {
    const dst = define(i);
    const j = raw(Isa.v_readlane_b32);
    mDst0[j] = dst;
    mSrc0[j] = sum;
    mSrc1[j] = constantOperand(31);
  } else if (apart) {
    moveNew(define(i), sum);
  } else {
    valueOperand[i] = sum;
  }
}
