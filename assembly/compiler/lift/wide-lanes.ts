/**
 * Reductions and scans over lanes of 64-bit scalars. Each lane knows the one before it that is active, and takes its
 * partial result in log2(32) steps, each half of the pair by a shuffle of its own.
 */
import { failed } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { alu1, alu2, constant, constantBool } from "../ir/index.ts";
import { bin, sel } from "./fold-build.ts";
import { highest, LANES, laneId, lanesBelow } from "./lanes.ts";
import { high, low, pair, pairOf } from "./wide.ts";

/** IR op of a combination by the `index` of wave_reduce. */
function combinationOp(kind: u32): u32 {
  switch (kind) {
    case 0:
      return Op.IADD;
    case 1:
      return Op.IMUL;
    case 2:
      return Op.IMIN;
    case 3:
      return Op.IMAX;
    case 4:
      return Op.UMIN;
    case 5:
      return Op.UMAX;
    case 6:
      return Op.IAND;
    case 7:
      return Op.IOR;
    case 8:
      return Op.IXOR;
    case 9:
      return Op.FADD;
    case 10:
      return Op.FMUL;
    case 11:
      return Op.FMIN;
    default:
      return Op.FMAX;
  }
}

/** What changes no other value: bits. -0 + x is x for each x. */
function identity(kind: u32): u64 {
  switch (kind) {
    case 1:
      return 1;
    case 2:
      return 0x7fff_ffff_ffff_ffff;
    case 3:
    case 9:
      return 0x8000_0000_0000_0000;
    case 4:
    case 6:
      return 0xffff_ffff_ffff_ffff;
    case 10:
      return 0x3ff0_0000_0000_0000;
    case 11:
      return 0x7ff0_0000_0000_0000;
    case 12:
      return 0xfff0_0000_0000_0000;
    default:
      return 0;
  }
}

/** A pair in another lane. */
function shuffledPair(value: u32, lane: u32): u32 {
  return pair(alu2(Op.SHUFFLE, low(value), lane), alu2(Op.SHUFFLE, high(value), lane));
}

/** A pair combined over the active lanes: `mode` as `bits` of wave_scan, 32 for the whole wave. */
export function combinedPair(kind: u32, value: u32, mode: u32): u32 {
  const op = combinationOp(kind);
  const lane = laneId();
  const cluster: u32 = mode <= 1 ? LANES : mode;
  let active = alu1(Op.BALLOT, constantBool(true));
  if (cluster < LANES) {
    const first = bin(Op.IAND, lane, constant(~(cluster - 1)));
    active = bin(Op.IAND, active, bin(Op.ISHL, constant(((<u32>1) << cluster) - 1), first));
  }
  const before = highest(bin(Op.IAND, active, lanesBelow(lane, false)));
  let sum = value;
  let previous = before;
  for (let reach: u32 = 1; reach < cluster && !failed(); reach <<= 1) {
    const other = shuffledPair(sum, previous);
    const hop = alu2(Op.SHUFFLE, previous, previous);
    const none = bin(Op.ILT, previous, constant(0));
    sum = sel(none, sum, bin(op, other, sum));
    previous = sel(none, previous, hop);
  }
  if (mode == 0) return sum;
  if (mode == 1) return sel(bin(Op.ILT, before, constant(0)), pairOf(identity(kind)), shuffledPair(sum, before));
  const last = highest(active);
  if (cluster < LANES) return shuffledPair(sum, last);
  return pair(alu2(Op.READ_LANE, low(sum), last), alu2(Op.READ_LANE, high(sum), last));
}
