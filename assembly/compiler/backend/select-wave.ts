/** Selection of what passes between the lanes of a wave. */
import { Op } from "../../gen/ir-ops.ts";
import { Op as Isa } from "../../gen/isa-ops.ts";
import { blockOf, constBits, firstUse, isConst, nextUse, opOf, src, userOf } from "../ir/index.ts";
import { constantOperand, copy, inSgpr, inVgpr, raw, salu, valu, valuNew } from "./build.ts";
import { mDst0, mSrc0, mSrc1, valueOperand } from "./columns.ts";
import { Hw, hw, isVgprOperand } from "./machine.ts";
import { Sel, selOf } from "./sel.ts";
import { define, EXEC, maskOf, operandOf } from "./values.ts";

/**
 * Whether all that read a value count or find its bits, in its own block: they are selected where they stand, with the
 * EXEC that the block has.
 */
function isCountedInBlock(i: u32): bool {
  for (let slot = firstUse(i); slot != 0; slot = nextUse(slot)) {
    const user = userOf(slot);
    const op = opOf(user);
    if (op != Op.FIND_LSB && op != Op.UFFBH && op != Op.BITCOUNT) return false;
    if (blockOf(user) != blockOf(i) || selOf(user) != Sel.PLAIN) return false;
  }
  return true;
}

export function selectWave(i: u32): void {
  switch (opOf(i)) {
    case Op.BALLOT: {
      if (isConst(src(i, 0)) && constBits(src(i, 0)) != 0 && isCountedInBlock(i)) {
        valueOperand[i] = EXEC;
        return;
      }
      // Bits of inactive lanes are undefined in a mask.
      const mask = maskOf(src(i, 0));
      salu(Isa.s_and_b32, define(i), mask, EXEC);
      return;
    }
    case Op.READ_FIRST_LANE: {
      // From a VGPR the copy is v_readfirstlane.
      const value = operandOf(src(i, 0));
      copy(define(i), value);
      return;
    }
    case Op.READ_LANE: {
      const value = operandOf(src(i, 0));
      if (!isVgprOperand(value)) {
        copy(define(i), value);
        return;
      }
      const lane = inSgpr(operandOf(src(i, 1)));
      const dst = define(i);
      const j = raw(Isa.v_readlane_b32);
      mDst0[j] = dst;
      mSrc0[j] = value;
      mSrc1[j] = lane;
      return;
    }
    case Op.SHUFFLE: {
      const value = inVgpr(operandOf(src(i, 0)));
      // A byte address: lane * 4, its upper bits ignored.
      const at = valuNew(Isa.v_lshlrev_b32_e64, constantOperand(2), operandOf(src(i, 1)), 0);
      const dst = define(i);
      const j = raw(Isa.ds_bpermute_b32);
      mDst0[j] = dst;
      mSrc0[j] = at;
      mSrc1[j] = value;
      return;
    }
    default:
      valu(Isa.v_mbcnt_lo_u32_b32, define(i), hw(Hw.MINUS_ONE, 1), hw(Hw.ZERO, 1), 0, 0);
      return;
  }
}
