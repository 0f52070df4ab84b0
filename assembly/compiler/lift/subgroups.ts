/**
 * OpGroupNonUniform* and the subgroup built-ins, on waves of 32. Scans and reductions jump over inactive lanes: each lane
 * knows the one before it that is active, and takes its partial result in log2(32) steps.
 */
import { failed } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { SpvGroupOperation, SpvOp, SpvScope } from "../../gen/spirv.ts";
import { alu1, alu2, constant, constantBool, constBits, isConst, widthOf } from "../ir/index.ts";
import { addI, bin, notB, sel, un } from "./fold-build.ts";
import {
  idAt,
  idLeaf,
  idType,
  leafPool,
  malformed,
  newLeaves,
  setValue,
  typeA,
  typeKind,
  typeLeaves,
  unsupported,
  wordAt,
} from "./ids.ts";
import { LANES, laneId, lanesBelow } from "./lanes.ts";
import { Unsupported } from "./texts.ts";
import { scalarWidth, TypeKind } from "./types.ts";
import { operand, result, valueAt } from "./values.ts";

export function isSubgroupOp(op: u32): bool {
  return op >= <u32>SpvOp.OpGroupNonUniformElect && op <= <u32>SpvOp.OpGroupNonUniformQuadSwap;
}

function ballot(condition: u32): u32 {
  return alu1(Op.BALLOT, condition);
}
/** Number of the highest one bit; -1 for 0. */
function highest(word: u32): u32 {
  const zeros = un(Op.UFFBH, word);
  return sel(bin(Op.IEQ, word, constant(0)), constant(0xffff_ffff), bin(Op.ISUB, constant(31), zeros));
}
function isSame(a: u32, b: u32, float: bool): u32 {
  if (widthOf(a) == 1) return notB(bin(Op.IXOR, a, b));
  return bin(float ? Op.FEQ : Op.IEQ, a, b);
}
/** A leaf as 32 bits, and back. */
function word(leaf: u32): u32 {
  return widthOf(leaf) == 1 ? un(Op.B2I, leaf) : leaf;
}
function unword(value: u32, like: u32): u32 {
  return widthOf(like) == 1 ? bin(Op.INE, value, constant(0)) : value;
}

/** IR op of a scan, and its identity as bits; op 0 for another opcode. */
let identity: u32 = 0;
function scanOp(op: u32): u32 {
  identity = 0;
  switch (op) {
    case SpvOp.OpGroupNonUniformIAdd:
      return Op.IADD;
    case SpvOp.OpGroupNonUniformFAdd:
      // -0 + x is x for each x.
      identity = 0x8000_0000;
      return Op.FADD;
    case SpvOp.OpGroupNonUniformIMul:
      identity = 1;
      return Op.IMUL;
    case SpvOp.OpGroupNonUniformFMul:
      identity = 0x3f80_0000;
      return Op.FMUL;
    case SpvOp.OpGroupNonUniformSMin:
      identity = 0x7fff_ffff;
      return Op.IMIN;
    case SpvOp.OpGroupNonUniformUMin:
      identity = 0xffff_ffff;
      return Op.UMIN;
    case SpvOp.OpGroupNonUniformFMin:
      identity = 0x7f80_0000;
      return Op.FMIN;
    case SpvOp.OpGroupNonUniformSMax:
      identity = 0x8000_0000;
      return Op.IMAX;
    case SpvOp.OpGroupNonUniformUMax:
      return Op.UMAX;
    case SpvOp.OpGroupNonUniformFMax:
      identity = 0xff80_0000;
      return Op.FMAX;
    case SpvOp.OpGroupNonUniformBitwiseAnd:
      identity = 0xffff_ffff;
      return Op.IAND;
    case SpvOp.OpGroupNonUniformLogicalAnd:
      identity = 1;
      return Op.IAND;
    case SpvOp.OpGroupNonUniformBitwiseOr:
    case SpvOp.OpGroupNonUniformLogicalOr:
      return Op.IOR;
    case SpvOp.OpGroupNonUniformBitwiseXor:
    case SpvOp.OpGroupNonUniformLogicalXor:
      return Op.IXOR;
    default:
      return 0;
  }
}

function liftScan(op: u32, at: u32, count: u32): void {
  const id = valueAt(at + 5);
  if (failed()) return;
  const width = scalarWidth(idType[id]);
  if (width != 32 && width != 1) {
    unsupported(Unsupported.WIDTH, width);
    return;
  }
  const irOp = scanOp(op);
  const kind = wordAt(at + 4);
  const clustered = kind == SpvGroupOperation.ClusteredReduce;
  if (irOp == 0 || kind > <u32>SpvGroupOperation.ClusteredReduce || (clustered && count < 7)) {
    malformed(at);
    return;
  }
  const out = result(at);
  const n = typeLeaves[idAt(at + 1)];
  const a = operand(at + 5, n);
  let cluster: u32 = LANES;
  if (clustered) {
    const size = leafPool[operand(at + 6, 1)];
    if (failed() || !isConst(size) || constBits(size) == 0 || (constBits(size) & (constBits(size) - 1)) != 0) {
      malformed(at);
      return;
    }
    cluster = min<u32>(constBits(size), LANES);
  }
  if (failed()) return;
  const lane = laneId();
  let active = ballot(constantBool(true));
  if (cluster < LANES) {
    const first = bin(Op.IAND, lane, constant(~(cluster - 1)));
    const ones = ((<u32>1) << cluster) - 1;
    active = bin(Op.IAND, active, bin(Op.ISHL, constant(ones), first));
  }
  const before = highest(bin(Op.IAND, active, lanesBelow(lane, false)));
  const start = identity;
  for (let k: u32 = 0; k < n && !failed(); k++) {
    let sum = word(leafPool[a + k]);
    let previous = before;
    for (let reach: u32 = 1; reach < cluster; reach <<= 1) {
      const other = alu2(Op.SHUFFLE, sum, previous);
      const hop = alu2(Op.SHUFFLE, previous, previous);
      const none = bin(Op.ILT, previous, constant(0));
      sum = sel(none, sum, bin(irOp, other, sum));
      previous = sel(none, previous, hop);
    }
    if (kind == SpvGroupOperation.ExclusiveScan) {
      const other = alu2(Op.SHUFFLE, sum, before);
      sum = sel(bin(Op.ILT, before, constant(0)), constant(start), other);
    } else if (kind != SpvGroupOperation.InclusiveScan) {
      const last = highest(active);
      sum = alu2(cluster < LANES ? Op.SHUFFLE : Op.READ_LANE, sum, last);
    }
    leafPool[out + k] = unword(sum, leafPool[a + k]);
  }
}

/** Moves each leaf of the operand in word 4 from another lane; `lane` the same for all, `uniform` when it is for all lanes. */
function moved(at: u32, lane: u32, uniform: bool): void {
  const id = valueAt(at + 4);
  const type = idAt(at + 1);
  if (failed() || idType[id] != type) {
    malformed(at);
    return;
  }
  const n = typeLeaves[type];
  const out = newLeaves(n);
  for (let k: u32 = 0; k < n && !failed(); k++) {
    const v = leafPool[idLeaf[id] + k];
    leafPool[out + k] = unword(alu2(uniform ? Op.READ_LANE : Op.SHUFFLE, word(v), lane), v);
  }
  setValue(idAt(at + 2), type, out);
}

function broadcastFirst(at: u32): void {
  const id = valueAt(at + 4);
  const type = idAt(at + 1);
  if (failed() || idType[id] != type) {
    malformed(at);
    return;
  }
  const n = typeLeaves[type];
  const out = newLeaves(n);
  for (let k: u32 = 0; k < n && !failed(); k++) {
    const v = leafPool[idLeaf[id] + k];
    leafPool[out + k] = unword(alu1(Op.READ_FIRST_LANE, word(v)), v);
  }
  setValue(idAt(at + 2), type, out);
}

/** First word of a ballot operand. */
function ballotWord(k: u32): u32 {
  return leafPool[operand(k, 4)];
}

function all(condition: u32): u32 {
  return bin(Op.IEQ, ballot(notB(condition)), constant(0));
}

function liftAllEqual(at: u32): u32 {
  const id = valueAt(at + 4);
  if (failed()) return 0;
  const type = idType[id];
  const scalar = typeKind[type] == TypeKind.VECTOR ? typeA[type] : type;
  const float = typeKind[scalar] == TypeKind.FLOAT;
  const width = scalarWidth(type);
  if (float && width != 32) {
    unsupported(Unsupported.WIDTH, width);
    return 0;
  }
  let same = constantBool(true);
  for (let k: u32 = 0; k < typeLeaves[type] && !failed(); k++) {
    const v = leafPool[idLeaf[id] + k];
    const first = unword(alu1(Op.READ_FIRST_LANE, word(v)), v);
    const equal = isSame(v, first, float);
    same = k == 0 ? equal : bin(Op.IAND, same, equal);
  }
  return all(same);
}

function bitCount(at: u32): u32 {
  const bits = ballotWord(at + 5);
  const kind = wordAt(at + 4);
  if (failed()) return 0;
  if (kind == SpvGroupOperation.Reduce) return un(Op.BITCOUNT, bits);
  return un(Op.BITCOUNT, bin(Op.IAND, bits, lanesBelow(laneId(), kind == SpvGroupOperation.InclusiveScan)));
}

/** Bit of a ballot's first word. */
function bitOf(bits: u32, index: u32): u32 {
  return bin(Op.INE, bin(Op.IAND, bin(Op.USHR, bits, index), constant(1)), constant(0));
}

/** The one scalar of an instruction whose result is a scalar; 0 for another op. */
function scalarResult(op: u32, at: u32): u32 {
  switch (op) {
    case SpvOp.OpGroupNonUniformElect:
      return bin(Op.IEQ, laneId(), un(Op.FIND_LSB, ballot(constantBool(true))));
    case SpvOp.OpGroupNonUniformAll:
      return all(leafPool[operand(at + 4, 1)]);
    case SpvOp.OpGroupNonUniformAny:
      return bin(Op.INE, ballot(leafPool[operand(at + 4, 1)]), constant(0));
    case SpvOp.OpGroupNonUniformAllEqual:
      return liftAllEqual(at);
    case SpvOp.OpGroupNonUniformInverseBallot:
      return bitOf(ballotWord(at + 4), laneId());
    case SpvOp.OpGroupNonUniformBallotBitExtract:
      return bitOf(ballotWord(at + 4), leafPool[operand(at + 5, 1)]);
    case SpvOp.OpGroupNonUniformBallotBitCount:
      return bitCount(at);
    case SpvOp.OpGroupNonUniformBallotFindLSB:
      return un(Op.FIND_LSB, ballotWord(at + 4));
    case SpvOp.OpGroupNonUniformBallotFindMSB:
      return highest(ballotWord(at + 4));
    default:
      return 0;
  }
}

/** Lane that a shuffle or quad operation reads. */
function sourceLane(op: u32, by: u32): u32 {
  switch (op) {
    case SpvOp.OpGroupNonUniformShuffle:
      return by;
    case SpvOp.OpGroupNonUniformShuffleXor:
      return bin(Op.IXOR, laneId(), by);
    case SpvOp.OpGroupNonUniformShuffleUp:
      return bin(Op.ISUB, laneId(), by);
    case SpvOp.OpGroupNonUniformShuffleDown:
      return addI(laneId(), by);
    case SpvOp.OpGroupNonUniformQuadBroadcast:
      return addI(bin(Op.IAND, laneId(), constant(0xffff_fffc)), by);
    default:
      // QuadSwap: 0 horizontal, 1 vertical, 2 diagonal.
      return bin(Op.IXOR, laneId(), addI(by, constant(1)));
  }
}

export function liftSubgroup(op: u32, at: u32, count: u32): void {
  const scope = leafPool[operand(at + 3, 1)];
  if (failed()) return;
  if (!isConst(scope) || constBits(scope) != <u32>SpvScope.Subgroup) {
    malformed(at + 3);
    return;
  }
  const value = scalarResult(op, at);
  if (failed()) return;
  if (value != 0) {
    const out = result(at);
    if (!failed()) leafPool[out] = value;
    return;
  }
  switch (op) {
    case SpvOp.OpGroupNonUniformBallot: {
      const bits = ballot(leafPool[operand(at + 4, 1)]);
      const out = result(at);
      if (failed()) return;
      leafPool[out] = bits;
      for (let k: u32 = 1; k < 4; k++) leafPool[out + k] = constant(0);
      return;
    }
    case SpvOp.OpGroupNonUniformBroadcastFirst:
      broadcastFirst(at);
      return;
    case SpvOp.OpGroupNonUniformBroadcast:
      moved(at, leafPool[operand(at + 5, 1)], true);
      return;
    case SpvOp.OpGroupNonUniformShuffle:
    case SpvOp.OpGroupNonUniformShuffleXor:
    case SpvOp.OpGroupNonUniformShuffleUp:
    case SpvOp.OpGroupNonUniformShuffleDown:
    case SpvOp.OpGroupNonUniformQuadBroadcast:
    case SpvOp.OpGroupNonUniformQuadSwap: {
      const by = leafPool[operand(at + 5, 1)];
      if (!failed()) moved(at, sourceLane(op, by), false);
      return;
    }
    default:
      liftScan(op, at, count);
  }
}
