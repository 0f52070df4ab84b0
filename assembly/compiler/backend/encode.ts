/** Branch offsets and machine words. The packing functions are generated from the rows of src/isa. */
import { Fail, fail, failAt, Limit, U32Column } from "../../base/index.ts";
import {
  packDs,
  packExp,
  packGlobal,
  packMimg,
  packMtbuf,
  packMubuf,
  packScratch,
  packSmem,
  packSop1,
  packSop2,
  packSopc,
  packSopk,
  packSopp,
  packVintrp,
  packVop1,
  packVop2,
  packVop3,
  packVop3b,
  packVop3p,
  packVopc,
} from "../../gen/isa-encode.ts";
import { Format, OP_COUNT, Op, OpFlag, opFlags, opFormat, opLiteralFields } from "../../gen/isa-ops.ts";
import {
  bFirst,
  bOffset,
  bOrder,
  codeWords,
  flowBytes,
  lineOffset,
  linePlace,
  MAX_CODE_WORDS,
  mDst0,
  mDst1,
  mImm,
  mLit,
  mMods,
  mNext,
  mOp,
  mPlace,
  mSrc0,
  mSrc1,
  mSrc2,
  mSrc3,
} from "./columns.ts";
import { AddressIn } from "./image-addresses.ts";
import { Hw, hwCode, layoutLength, Mod, operandSize, source } from "./machine.ts";

/** The source code that a DPP16 dword follows. Source: RDNA2 ISA, scalar operand table. */
const DPP16: u32 = 250;

/** What there is to export to, and to interpolate. Source: RDNA2 ISA, EXP and VINTRP. */
const LAST_TARGET: u32 = 63;
const LAST_ATTRIBUTE: u32 = 31;

/** Of a block that has no place yet. */
const NO_OFFSET: u32 = 0xffffffff;

let codeCount: u32 = 0;
let lineCount: u32 = 0;

export function codeLength(): u32 {
  return codeCount;
}
export function lineRows(): u32 {
  return lineCount;
}

function usesLiteral(i: u32): bool {
  if ((opLiteralFields(mOp[i]) & 8) != 0) return true;
  for (let k: u32 = 0; k < 4; k++) if (source(i, k) == Hw.LITERAL + 1) return true;
  return false;
}

function baseWords(format: u32): u32 {
  switch (format) {
    case Format.SOP1:
    case Format.SOP2:
    case Format.SOPC:
    case Format.SOPK:
    case Format.SOPP:
    case Format.VOP1:
    case Format.VOP2:
    case Format.VOPC:
    case Format.VINTRP:
      return 1;
    default:
      return 2;
  }
}

// The VGPRs of an image's address, in order.
const addressVgprs = memory.data(16);
let addressCount: u32 = 0;

function addAddress(operand: u32): void {
  const first = hwCode(operand) - Hw.VGPR0;
  for (let k: u32 = 0; k < operandSize(operand) && addressCount < 16; k++)
    store<u8>(addressVgprs + addressCount++, <u8>(first + k));
}
/** Fills the above; the dwords that name them one by one, 0 where they are neighbours. Source: RDNA2 ISA, MIMG, NSA. */
function addressWords(i: u32): u32 {
  if ((mImm[i] & (AddressIn.SOURCE_0 | AddressIn.SOURCE_3)) == 0) return 0;
  addressCount = 0;
  addAddress(mSrc1[i]);
  if ((mImm[i] & AddressIn.SOURCE_0) != 0) addAddress(mSrc0[i]);
  if ((mImm[i] & AddressIn.SOURCE_3) != 0) addAddress(mSrc3[i]);
  const first: u32 = load<u8>(addressVgprs);
  for (let k: u32 = 1; k < addressCount; k++)
    if (load<u8>(addressVgprs + k) != first + k) return (addressCount + 2) / 4;
  return 0;
}

/** Dwords of an instruction. */
export function instrWords(i: u32): u32 {
  if (opFormat(mOp[i]) == Format.MIMG) return 2 + addressWords(i);
  return baseWords(opFormat(mOp[i])) + (usesLiteral(i) || (mMods[i] & Mod.DPP) != 0 ? 1 : 0);
}

function isBranch(op: u32): bool {
  return opFormat(op) == Format.SOPP && (opFlags(op) & OpFlag.Branch) != 0;
}

function scalar(operand: u32): u32 {
  return operand == 0 ? <u32>Hw.NULL : hwCode(operand);
}
function vector(operand: u32): u32 {
  return operand == 0 ? 0 : hwCode(operand);
}
/** Number of a VGPR operand; 0 when absent. */
function vgpr(operand: u32): u32 {
  return operand == 0 ? 0 : hwCode(operand) - Hw.VGPR0;
}

function put(word: u32): void {
  if (codeCount >= MAX_CODE_WORDS) {
    fail(Fail.LIMIT, Limit.MACHINE, MAX_CODE_WORDS, 0);
    return;
  }
  codeWords[codeCount++] = word;
}
function put64(words: u64): void {
  put(<u32>words);
  put(<u32>(words >> 32));
}
function bit(mods: u32, flag: u32): u32 {
  return (mods & flag) != 0 ? 1 : 0;
}

// Branches to blocks that have no place yet: word of the branch, the branch. Rows of two words.
const forward = changetype<U32Column>(changetype<usize>(flowBytes));
let forwardCount: u32 = 0;

/** Dwords between a branch and its target, at most. */
let longest: u32 = 0;
export function longestBranch(): u32 {
  return longest;
}

/** SIMM16 of the branch at word `at`: dwords from the next instruction to the target. */
function branchOffset(i: u32, at: u32): u32 {
  const delta = <i32>(bOffset[mImm[i]] >> 2) - <i32>at;
  longest = max<u32>(longest, abs<i32>(delta));
  return <u32>(delta - 1) & 0xffff;
}
/** SIMM16 of a branch, or 0 until `closeBranches` where the target comes later. */
function branchField(i: u32): u32 {
  if (bOffset[mImm[i]] != NO_OFFSET) return branchOffset(i, codeCount);
  forward[2 * forwardCount] = codeCount;
  forward[2 * forwardCount + 1] = i;
  forwardCount++;
  return 0;
}
function closeBranches(): void {
  for (let k: u32 = 0; k < forwardCount; k++) {
    const at = forward[2 * k];
    codeWords[at] = codeWords[at] | branchOffset(forward[2 * k + 1], at);
  }
}

function encodeVop3(i: u32): void {
  const mods = mMods[i];
  const neg = mods & 7;
  const abs = (mods >> 3) & 7;
  const clamp = bit(mods, Mod.CLAMP);
  const dst = mDst0[i];
  // A compare's destination is an SGPR in the field of a VGPR.
  const field = dst == 0 ? 0 : hwCode(dst) & 0xff;
  put64(packVop3(mOp[i], field, vector(mSrc0[i]), vector(mSrc1[i]), vector(mSrc2[i]), neg, abs, clamp, 0, 0));
}

function encodeVop3p(i: u32): void {
  const op = mOp[i];
  const mods = mMods[i];
  const isMix = op == <u32>Op.v_fma_mix_f32 || op == <u32>Op.v_fma_mixlo_f16 || op == <u32>Op.v_fma_mixhi_f16;
  const low = (mods / Mod.HIGH0) & 7;
  const half = (mods / Mod.HALF0) & 7;
  const high = isMix ? half : ~half & 7;
  put64(
    packVop3p(
      op,
      vgpr(mDst0[i]),
      vector(mSrc0[i]),
      vector(mSrc1[i]),
      vector(mSrc2[i]),
      mods & 7,
      (mods >> 3) & 7,
      bit(mods, Mod.CLAMP),
      low,
      high & 3,
      high >> 2,
    ),
  );
}

function encodeMubuf(i: u32): void {
  const mods = mMods[i];
  const data = mDst0[i] != 0 ? mDst0[i] : mSrc0[i];
  const resource = mSrc2[i] == 0 ? 0 : hwCode(mSrc2[i]) >> 2;
  const soffset = mSrc3[i] == 0 ? 0 : hwCode(mSrc3[i]);
  put64(
    packMubuf(
      mOp[i],
      vgpr(data),
      vgpr(mSrc1[i]),
      resource,
      soffset,
      mImm[i],
      bit(mods, Mod.OFFEN),
      bit(mods, Mod.IDXEN),
      bit(mods, Mod.GLC),
      0,
      bit(mods, Mod.DLC),
      0,
      0,
    ),
  );
}

/** mImm: offset [11:0], format [22:16]. */
function encodeMtbuf(i: u32): void {
  const mods = mMods[i];
  const data = mDst0[i] != 0 ? mDst0[i] : mSrc0[i];
  put64(
    packMtbuf(
      mOp[i],
      vgpr(data),
      vgpr(mSrc1[i]),
      hwCode(mSrc2[i]) >> 2,
      mSrc3[i] == 0 ? 0 : hwCode(mSrc3[i]),
      mImm[i] & 0xfff,
      bit(mods, Mod.OFFEN),
      bit(mods, Mod.IDXEN),
      mImm[i] >> 16,
      bit(mods, Mod.GLC),
      0,
      bit(mods, Mod.DLC),
      0,
      0,
    ),
  );
}

/**
 * Data is the destination or source 0. mImm: dmask [3:0], dim [6:4], unorm 7; sources 0 and 3 go on with the address of
 * source 1: bits 8 and 9.
 */
function encodeImage(i: u32): void {
  const mods = mMods[i];
  const data = mSrc0[i] != 0 && (mImm[i] & AddressIn.SOURCE_0) == 0 ? mSrc0[i] : mDst0[i];
  const words = addressWords(i);
  put64(
    packMimg(
      mOp[i],
      vgpr(data),
      vgpr(mSrc1[i]),
      hwCode(mSrc2[i]) >> 2,
      mSrc3[i] == 0 || (mImm[i] & AddressIn.SOURCE_3) != 0 ? 0 : hwCode(mSrc3[i]) >> 2,
      mImm[i] & 15,
      (mImm[i] >> 4) & 7,
      (mImm[i] >> 7) & 1,
      bit(mods, Mod.GLC),
      0,
      bit(mods, Mod.DLC),
      words,
      0,
      0,
      0,
      0,
      0,
      0,
    ),
  );
  // Behind the last address: zeros.
  for (let w: u32 = 0; w < words; w++) {
    let word: u32 = 0;
    for (let k: u32 = 0; k < 4; k++) {
      const at: u32 = 1 + 4 * w + k;
      if (at < addressCount) word |= (<u32>load<u8>(addressVgprs + at)) << (8 * k);
    }
    put(word);
  }
}

/** mImm: target [7:0], components [11:8], compr 12, done 13, vm 14. */
function encodeExport(i: u32): void {
  const word = mImm[i];
  // The next bit of the word is COMPR's.
  if ((word & 0xff) > LAST_TARGET) failAt(mPlace[i], Fail.BACKEND_INVALID, 5, mOp[i], word & 0xff);
  put64(
    packExp(
      mOp[i],
      word & 0xff,
      vgpr(mSrc0[i]),
      vgpr(mSrc1[i]),
      vgpr(mSrc2[i]),
      vgpr(mSrc3[i]),
      (word >> 8) & 15,
      (word >> 12) & 1,
      (word >> 13) & 1,
      (word >> 14) & 1,
    ),
  );
}

function encodeDs(i: u32): void {
  put64(
    packDs(
      mOp[i],
      vgpr(mDst0[i]),
      vgpr(mSrc0[i]),
      vgpr(mSrc1[i]),
      vgpr(mSrc2[i]),
      mImm[i] & 0xff,
      (mImm[i] >> 8) & 0xff,
      0,
    ),
  );
}

function encodeInstr(i: u32): void {
  const op = mOp[i];
  switch (opFormat(op)) {
    case Format.SOP1:
      put(packSop1(op, scalar(mDst0[i]), scalar(mSrc0[i])));
      break;
    case Format.SOP2:
      put(packSop2(op, scalar(mDst0[i]), scalar(mSrc0[i]), scalar(mSrc1[i])));
      break;
    case Format.SOPC:
      put(packSopc(op, scalar(mSrc0[i]), scalar(mSrc1[i])));
      break;
    case Format.SOPK:
      if (op == <u32>Op.s_setreg_b32) put(packSopk(op, scalar(mSrc0[i]), mImm[i] & 0xffff));
      else put(packSopk(op, scalar(mDst0[i]), op == <u32>Op.s_movk_i32 ? mLit[i] & 0xffff : mImm[i] & 0xffff));
      break;
    case Format.SOPP:
      put(packSopp(op, isBranch(op) ? branchField(i) : mImm[i] & 0xffff));
      break;
    case Format.VOP1:
      if ((mMods[i] & Mod.DPP) != 0) {
        put(packVop1(op, vgpr(mDst0[i]), DPP16));
        put(mLit[i] | vgpr(mSrc0[i]));
        return;
      }
      // v_readfirstlane writes an SGPR.
      put(packVop1(op, mDst0[i] == 0 ? 0 : hwCode(mDst0[i]) & 0xff, vector(mSrc0[i])));
      break;
    case Format.VOP2:
      if ((mMods[i] & Mod.DPP) != 0) {
        put(packVop2(op, vgpr(mDst0[i]), DPP16, vgpr(mSrc1[i])));
        put(mLit[i] | vgpr(mSrc0[i]));
        return;
      }
      put(packVop2(op, vgpr(mDst0[i]), vector(mSrc0[i]), vgpr(mSrc1[i])));
      break;
    case Format.VOPC:
      put(packVopc(op, vector(mSrc0[i]), vgpr(mSrc1[i])));
      break;
    case Format.VOP3:
      encodeVop3(i);
      break;
    case Format.VOP3P:
      encodeVop3p(i);
      break;
    case Format.VOP3B:
      put64(
        packVop3b(
          op,
          vgpr(mDst0[i]),
          scalar(mDst1[i]),
          vector(mSrc0[i]),
          vector(mSrc1[i]),
          vector(mSrc2[i]),
          mMods[i] & 7,
          bit(mMods[i], Mod.CLAMP),
          0,
        ),
      );
      break;
    case Format.SMEM:
      put64(
        packSmem(
          op,
          scalar(mDst0[i]),
          hwCode(mSrc0[i]) >> 1,
          mImm[i],
          scalar(mSrc1[i]),
          bit(mMods[i], Mod.GLC),
          bit(mMods[i], Mod.DLC),
        ),
      );
      break;
    case Format.DS:
      encodeDs(i);
      break;
    case Format.MUBUF:
      encodeMubuf(i);
      break;
    case Format.MTBUF:
      encodeMtbuf(i);
      break;
    case Format.MIMG:
      encodeImage(i);
      break;
    case Format.EXP:
      encodeExport(i);
      break;
    case Format.VINTRP:
      // mImm: attribute [7:0], component [9:8], slot of v_interp_mov [17:16].
      if ((mImm[i] & 0xff) > LAST_ATTRIBUTE) failAt(mPlace[i], Fail.BACKEND_INVALID, 5, op, mImm[i] & 0xff);
      put(
        packVintrp(
          op,
          vgpr(mDst0[i]),
          mSrc0[i] != 0 ? vgpr(mSrc0[i]) : (mImm[i] >> 16) & 3,
          mImm[i] & 0xff,
          (mImm[i] >> 8) & 3,
        ),
      );
      break;
    case Format.SCRATCH:
      // The address is a VGPR, an SGPR (EXEC_HI stands for none), or the immediate alone.
      put64(
        packScratch(
          op,
          vgpr(mDst0[i]),
          vgpr(mSrc0[i]),
          vgpr(mSrc1[i]),
          mSrc0[i] != 0 ? <u32>Hw.NULL : mSrc2[i] == 0 ? <u32>Hw.EXEC_LO + 1 : scalar(mSrc2[i]),
          mImm[i],
          bit(mMods[i], Mod.GLC),
          0,
          bit(mMods[i], Mod.DLC),
          0,
        ),
      );
      break;
    case Format.GLOBAL:
      put64(
        packGlobal(
          op,
          vgpr(mDst0[i]),
          vgpr(mSrc0[i]),
          vgpr(mSrc1[i]),
          scalar(mSrc2[i]),
          mImm[i],
          bit(mMods[i], Mod.GLC),
          0,
          bit(mMods[i], Mod.DLC),
          0,
        ),
      );
      break;
    default:
      failAt(mPlace[i], Fail.BACKEND_INVALID, 5, op, opFormat(op));
      return;
  }
  if (op == <u32>Op.s_getpc_b64) counterAt = codeCount * 4;
  if ((mMods[i] & Mod.TABLE) != 0) tableLiteral = codeCount;
  if (usesLiteral(i)) put(mLit[i]);
}

/** Bytes of `s_code_end` between the code and its tables, which begin at a multiple of 64. Source: docs/abi.md. */
const TABLE_GAP: u32 = 256;
/** Behind `s_getpc_b64`, and the word that says how far the tables are from there; 0: there are none. */
let counterAt: u32 = 0;
let tableLiteral: u32 = 0;

/** A branch that does not reach its target is a limit, never a wrong target. */
export function checkReach(): void {
  if (longest > 0x7fff) fail(Fail.LIMIT, Limit.MACHINE, 0x8000, 0);
}

/** Words and line table of the whole function. Branches that are too far (`longestBranch`) have the wrong target. */
export function encode(): void {
  codeCount = 0;
  longest = 0;
  lineCount = 0;
  tableLiteral = 0;
  forwardCount = 0;
  for (let k: u32 = 0; k < layoutLength(); k++) bOffset[bOrder[k]] = NO_OFFSET;
  let place: u32 = 0;
  for (let k: u32 = 0; k < layoutLength(); k++) {
    bOffset[bOrder[k]] = codeCount * 4;
    for (let i = bFirst[bOrder[k]]; i != 0; i = mNext[i]) {
      if (mOp[i] >= OP_COUNT) {
        failAt(mPlace[i], Fail.BACKEND_INVALID, 6, mOp[i], 0);
        return;
      }
      if (mPlace[i] != place) {
        place = mPlace[i];
        lineOffset[lineCount] = codeCount * 4;
        linePlace[lineCount++] = place;
      }
      encodeInstr(i);
    }
  }
  closeBranches();
  if (tableLiteral != 0) codeWords[tableLiteral] = ((codeCount * 4 + TABLE_GAP + 63) & ~63) - counterAt;
}
