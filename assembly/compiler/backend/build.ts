/**
 * Makes legal machine instructions at the end of the current block (or behind an anchor): constants become inline operands
 * or literals, and what breaks the literal rule or the constant-bus limit goes through a register.
 * Source: RDNA2 ISA, "Operands" and "VALU constant bus".
 */
import { OP_COUNT, Op, OpFlag, opFlags } from "../../gen/isa-ops.ts";
import { bFirst, linkValue, mDst0, mDst1, mImm, mLit, mMods, mNext, mOp, mSrc0, mSrc1, vHint } from "./columns.ts";
import {
  appendInstr,
  Hw,
  hw,
  hwCode,
  insertBefore,
  isScalarOperand,
  isVgprOperand,
  isVreg,
  link,
  Mod,
  newInstr,
  newVreg,
  operandVreg,
  RegClass,
  setSource,
  source,
} from "./machine.ts";

/** Operand codes from here on name a constant that needs a literal: link number + LITERAL_BASE, value in the link. */
const LITERAL_BASE: u32 = 0x1000;

let block: u32 = 0;
/** When not 0, instructions go behind this one. */
let anchor: u32 = 0;
let anchored: bool = false;

export function buildAt(b: u32): void {
  block = b;
  anchored = false;
  sccWriter = 0;
}
/** Instructions go behind `after` (0: to the start) of block `b`, in the order in which they are made. */
export function buildBehind(b: u32, after: u32): void {
  block = b;
  anchor = after;
  sccWriter = 0;
  anchored = true;
}
/** The instruction that was made last behind the anchor. */
export function buildAnchor(): u32 {
  return anchor;
}
export function buildBlock(): u32 {
  return block;
}

/** The operand of a 32-bit constant: an inline one where the bits have a code. Source: RDNA2 ISA, scalar operand table. */
export function constantOperand(bits: u32): u32 {
  const n = <i32>bits;
  if (n >= 0 && n <= 64) return hw(Hw.ZERO + n, 1);
  if (n >= -16 && n < 0) return hw(<u32>(192 - n), 1);
  switch (bits) {
    case 0x3f000000:
      return hw(240, 1);
    case 0xbf000000:
      return hw(241, 1);
    case 0x3f800000:
      return hw(242, 1);
    case 0xbf800000:
      return hw(243, 1);
    case 0x40000000:
      return hw(244, 1);
    case 0xc0000000:
      return hw(245, 1);
    case 0x40800000:
      return hw(246, 1);
    case 0xc0800000:
      return hw(247, 1);
    case 0x3e22f983:
      return hw(248, 1);
    default:
      return hw(LITERAL_BASE + link(bits, 0), 1);
  }
}
function isLiteral(operand: u32): bool {
  return operand != 0 && !isVreg(operand) && hwCode(operand) >= LITERAL_BASE;
}
function literalBits(operand: u32): u32 {
  return linkValue[hwCode(operand) - LITERAL_BASE];
}

/** The instruction that was made last, and the last one of the block that writes SCC. */
let last: u32 = 0;
let sccWriter: u32 = 0;
export function lastScc(): u32 {
  return sccWriter;
}

function put(i: u32): u32 {
  last = i;
  if (i == 0) return 0;
  if (!anchored) {
    const op = mOp[i];
    // What a pseudo instruction becomes is not known here.
    if (op >= OP_COUNT) sccWriter = 0;
    else if ((opFlags(op) & OpFlag.WritesScc) != 0) sccWriter = i;
    appendInstr(block, i);
    return i;
  }
  insertBefore(block, anchor == 0 ? bFirst[block] : mNext[anchor], i);
  anchor = i;
  return i;
}

/** Replaces literal operands by the literal code; all literals of the instruction must have the same value. */
function fixLiterals(i: u32): void {
  for (let k: u32 = 0; k < 4; k++) {
    const o = source(i, k);
    if (!isLiteral(o)) continue;
    mLit[i] = literalBits(o);
    setSource(i, k, hw(Hw.LITERAL, 1));
  }
}

/** A scalar instruction; `dst` 0 for compares. Literals that differ from the first go through an SGPR. */
export function salu(op: u32, dst: u32, a: u32, b: u32): u32 {
  let second = b;
  if (isLiteral(a) && isLiteral(b) && literalBits(a) != literalBits(b))
    second = salu(Op.s_mov_b32, newVreg(RegClass.SGPR, 1), b, 0);
  const i = newInstr(op);
  mDst0[i] = dst;
  mSrc0[i] = a;
  mSrc1[i] = second;
  fixLiterals(i);
  put(i);
  return dst;
}

/** A new SGPR with the result of a scalar instruction. */
export function saluNew(op: u32, a: u32, b: u32): u32 {
  return salu(op, newVreg(RegClass.SGPR, 1), a, b);
}

function moved(operand: u32): u32 {
  const dst = newVreg(RegClass.VGPR, 1);
  const i = newInstr(Op.v_mov_b32_e32);
  mDst0[i] = dst;
  mSrc0[i] = operand;
  fixLiterals(i);
  put(i);
  return dst;
}

/** Source 2 is a lane mask. */
function takesMask(op: u32): bool {
  return op == Op.v_cndmask_b32_e64 || op == Op.v_add_co_ci_u32_e64 || op == Op.v_sub_co_ci_u32_e64;
}

/**
 * A vector instruction in its VOP3 form (`shrink` picks the short one). At most two different scalar values, one of them
 * possibly a literal; those over the limit go through VGPRs.
 */
export function valu(op: u32, dst: u32, a: u32, b: u32, c: u32, mods: u32): u32 {
  const i = newInstr(op);
  let scalars: u32 = 0;
  let first: u32 = 0;
  let second: u32 = 0;
  let literal: u32 = 0;
  if (takesMask(op) && isScalarOperand(c)) {
    // The mask can be nowhere but in an SGPR: the others give way.
    first = c;
    scalars = 1;
  }
  for (let k: u32 = 0; k < 3; k++) {
    let o = k == 0 ? a : k == 1 ? b : c;
    if (isLiteral(o)) {
      if (literal != 0 && literalBits(literal) == literalBits(o)) {
        o = literal;
      } else if (literal != 0 || scalars == 2) {
        o = moved(o);
      } else {
        literal = o;
        scalars++;
      }
    } else if (isScalarOperand(o) && o != first && o != second) {
      if (scalars == 2) {
        o = moved(o);
      } else {
        if (first == 0) first = o;
        else second = o;
        scalars++;
      }
    }
    setSource(i, k, o);
  }
  mDst0[i] = dst;
  mMods[i] = mods;
  fixLiterals(i);
  put(i);
  return dst;
}
/** A new VGPR with the result of a vector instruction. */
export function valuNew(op: u32, a: u32, b: u32, c: u32): u32 {
  return valu(op, newVreg(RegClass.VGPR, 1), a, b, c, 0);
}

/** An addition or subtraction that leaves its carry in the lane mask `carry` and, the ones with three sources, takes one. */
export function valuCarry(op: u32, dst: u32, carry: u32, a: u32, b: u32, taken: u32): void {
  valu(op, dst, a, b, taken, 0);
  if (last != 0) mDst1[last] = carry;
  vHint[operandVreg(carry)] = hw(Hw.VCC_LO, 1);
}

/** Any other instruction, operands as they are. */
export function raw(op: u32): u32 {
  return put(newInstr(op));
}

/** Branches and other SOPP: `imm` is the immediate or the target block. */
export function sopp(op: u32, imm: u32): u32 {
  const i = raw(op);
  mImm[i] = imm;
  return i;
}

/** The operand in a VGPR: itself, or a move. */
export function inVgpr(operand: u32): u32 {
  return isVgprOperand(operand) ? operand : moved(operand);
}

/** The operand where SALU and SMEM can read it: a VGPR's first active lane is read. Literals stay. */
export function inScalar(operand: u32): u32 {
  if (!isVgprOperand(operand)) return operand;
  const dst = newVreg(RegClass.SGPR, 1);
  const i = raw(Op.v_readfirstlane_b32);
  mDst0[i] = dst;
  mSrc0[i] = operand;
  return dst;
}
/** As `inScalar`, in a register: constants are moved to one. */
export function inSgpr(operand: u32): u32 {
  const o = inScalar(operand);
  return isVreg(o) ? o : saluNew(Op.s_mov_b32, o, 0);
}

/** dst = src, component by component; coalescing may make it nothing. Classes decide the instruction. */
export function copy(dst: u32, src: u32): void {
  if (dst == src) return;
  const vector = isVgprOperand(dst);
  const op: u32 = vector ? Op.v_mov_b32_e32 : isVgprOperand(src) ? Op.v_readfirstlane_b32 : Op.s_mov_b32;
  const i = newInstr(op);
  mDst0[i] = dst;
  mSrc0[i] = src;
  fixLiterals(i);
  // Only a move between registers of one class can become nothing.
  if (isVreg(src) && isVgprOperand(src) == vector) mMods[i] = Mod.COPY;
  put(i);
}
