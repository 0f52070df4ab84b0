/** The subgroup built-ins, on waves of 32. */
import { Op } from "../../gen/ir-ops.ts";
import { SpvBuiltIn } from "../../gen/spirv.ts";
import { alu1, constant, isConst, localSize, system } from "../ir/index.ts";
import { bin, sel, un } from "./fold-build.ts";

export const LANES: u32 = 32;

export function laneId(): u32 {
  return system(Op.LOAD_LANE_ID, 0);
}
/** A word with bits of the lanes below `lane`; with `self`, of the lane too. */
export function lanesBelow(lane: u32, self: bool): u32 {
  // 2 << 31 is 0, and 0 - 1 all ones.
  return bin(Op.ISUB, bin(Op.ISHL, constant(self ? 2 : 1), lane), constant(1));
}
/** Value of the built-in's scalar k, or 0 where it is none of these. */
export function subgroupBuiltIn(builtIn: u32, k: u32): u32 {
  const lane = laneId();
  switch (builtIn) {
    case SpvBuiltIn.SubgroupSize:
      return constant(LANES);
    case SpvBuiltIn.SubgroupLocalInvocationId:
      return lane;
    case SpvBuiltIn.NumSubgroups:
      return constant((localSize(0) * localSize(1) * localSize(2) + LANES - 1) / LANES);
    case SpvBuiltIn.SubgroupEqMask:
      return k != 0 ? constant(0) : bin(Op.ISHL, constant(1), lane);
    case SpvBuiltIn.SubgroupGeMask:
      return k != 0 ? constant(0) : bin(Op.ISHL, constant(0xffff_ffff), lane);
    case SpvBuiltIn.SubgroupGtMask:
      return k != 0 ? constant(0) : bin(Op.ISHL, constant(0xffff_fffe), lane);
    case SpvBuiltIn.SubgroupLeMask:
      return k != 0 ? constant(0) : lanesBelow(lane, true);
    case SpvBuiltIn.SubgroupLtMask:
      return k != 0 ? constant(0) : lanesBelow(lane, false);
    default:
      return 0;
  }
}

/** A wave holds 32 neighbours in the order of gl_LocalInvocationIndex. */
export function subgroupId(invocationIndex: u32): u32 {
  return bin(
    Op.USHR,
    isConst(invocationIndex) ? invocationIndex : alu1(Op.READ_FIRST_LANE, invocationIndex),
    constant(5),
  );
}

/** Number of the highest one bit; -1 for 0. */
export function highest(word: u32): u32 {
  const zeros = un(Op.UFFBH, word);
  return sel(bin(Op.IEQ, word, constant(0)), constant(0xffff_ffff), bin(Op.ISUB, constant(31), zeros));
}
