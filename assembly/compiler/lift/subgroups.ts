/**
 * OpGroupNonUniform* and the subgroup built-ins, on waves of 32.
 */
import { failed } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { SpvGroupOperation, SpvOp, SpvScope } from "../../gen/spirv.ts";
import { alu1, alu2, constant, constantBool, constBits, isConst, setImm, widthOf } from "../ir/index.ts";
import { addI, bin, notB, un } from "./fold-build.ts";
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
  wordAt,
} from "./ids.ts";
import { highest, LANES, laneId, lanesBelow } from "./lanes.ts";
import { operand, result, valueAt } from "./operands.ts";
import { scalars, scalarsOf, setSigned, storeScalars } from "./scalars.ts";
import { scalarWidth, TypeKind } from "./types.ts";
import { high, isPair, low, pair } from "./wide.ts";
import { combinedPair } from "./wide-lanes.ts";

export function isSubgroupOp(op: u32): bool {
  return op >= <u32>SpvOp.OpGroupNonUniformElect && op <= <u32>SpvOp.OpGroupNonUniformQuadSwap;
}

function ballot(condition: u32): u32 {
  return alu1(Op.BALLOT, condition);
}
function isSame(a: u32, b: u32, float: bool): u32 {
  if (!isPair(a) && widthOf(a) == 1) return notB(bin(Op.IXOR, a, b));
  return bin(float ? Op.FEQ : Op.IEQ, a, b);
}
/** A leaf as 32 bits, and back. */
function word(leaf: u32): u32 {
  return widthOf(leaf) == 1 ? un(Op.B2I, leaf) : leaf;
}
function unword(value: u32, like: u32): u32 {
  return widthOf(like) == 1 ? bin(Op.INE, value, constant(0)) : value;
}

/** The `index` of wave_reduce and wave_scan for an opcode; -1 for another one. */
function combination(op: u32): i32 {
  switch (op) {
    case SpvOp.OpGroupNonUniformIAdd:
      return 0;
    case SpvOp.OpGroupNonUniformIMul:
      return 1;
    case SpvOp.OpGroupNonUniformSMin:
      return 2;
    case SpvOp.OpGroupNonUniformSMax:
      return 3;
    case SpvOp.OpGroupNonUniformUMin:
      return 4;
    case SpvOp.OpGroupNonUniformUMax:
      return 5;
    case SpvOp.OpGroupNonUniformBitwiseAnd:
    case SpvOp.OpGroupNonUniformLogicalAnd:
      return 6;
    case SpvOp.OpGroupNonUniformBitwiseOr:
    case SpvOp.OpGroupNonUniformLogicalOr:
      return 7;
    case SpvOp.OpGroupNonUniformBitwiseXor:
    case SpvOp.OpGroupNonUniformLogicalXor:
      return 8;
    case SpvOp.OpGroupNonUniformFAdd:
      return 9;
    case SpvOp.OpGroupNonUniformFMul:
      return 10;
    case SpvOp.OpGroupNonUniformFMin:
      return 11;
    case SpvOp.OpGroupNonUniformFMax:
      return 12;
    default:
      return -1;
  }
}

/** A boolean of all active lanes combined: and, or, exclusive or. */
function combinedBool(kind: u32, value: u32): u32 {
  if (kind == 6) return all(value);
  const lanes = ballot(value);
  if (kind == 7) return bin(Op.INE, lanes, constant(0));
  return bin(Op.INE, bin(Op.IAND, un(Op.BITCOUNT, lanes), constant(1)), constant(0));
}

/** Lanes of a clustered reduction: 32 for the whole wave; 0 when it is malformed. */
function clusterOf(at: u32): u32 {
  const size = leafPool[operand(at + 6, 1)];
  if (failed()) return 0;
  if (isConst(size) && constBits(size) != 0 && (constBits(size) & (constBits(size) - 1)) == 0)
    return min<u32>(constBits(size), LANES);
  malformed(at);
  return 0;
}

/** A word combined over the lanes: `mode` as `bits` of wave_scan, 32 for the whole wave. */
function combinedWord(kind: u32, value: u32, mode: u32): u32 {
  const combined = alu1(mode == LANES ? Op.WAVE_REDUCE : Op.WAVE_SCAN, value);
  setImm(combined, 0, kind);
  if (mode != LANES) setImm(combined, 1, mode);
  return combined;
}

function liftScan(op: u32, at: u32, count: u32): void {
  const id = valueAt(at + 5);
  const type = idAt(at + 1);
  if (failed()) return;
  const kind = combination(op);
  const group = wordAt(at + 4);
  const clustered = group == SpvGroupOperation.ClusteredReduce;
  if (kind < 0 || idType[id] != type || group > <u32>SpvGroupOperation.ClusteredReduce || (clustered && count < 7)) {
    malformed(at);
    return;
  }
  const width = scalarWidth(type);
  setSigned(kind == 2 || kind == 3);
  const values = scalars(id);
  const n = scalarsOf(type);
  const run = newLeaves(n);
  const out = newLeaves(typeLeaves[type]);
  const cluster = clustered ? clusterOf(at) : LANES;
  if (failed()) return;
  const scans = group == SpvGroupOperation.InclusiveScan || group == SpvGroupOperation.ExclusiveScan;
  let mode = cluster;
  if (scans) mode = group == SpvGroupOperation.InclusiveScan ? 0 : 1;
  for (let k: u32 = 0; k < n && !failed(); k++) {
    const value = leafPool[values + k];
    if (cluster == 1) {
      leafPool[run + k] = value;
    } else if (width == 64 && kind >= 6 && kind <= 8) {
      // Bit by bit: each half for itself.
      leafPool[run + k] = pair(combinedWord(<u32>kind, low(value), mode), combinedWord(<u32>kind, high(value), mode));
    } else if (width == 64) {
      leafPool[run + k] = combinedPair(<u32>kind, value, mode);
    } else if (mode == LANES && width == 1) {
      leafPool[run + k] = combinedBool(<u32>kind, value);
    } else {
      leafPool[run + k] = unword(combinedWord(<u32>kind, word(value), mode), value);
    }
  }
  if (failed()) return;
  storeScalars(type, run, out);
  setValue(idAt(at + 2), type, out);
}

/** The permutation of a quad that the operation is, as QUAD_PERM has it; -1 for none. */
function quadPermutation(op: u32, by: u32): i32 {
  if (!isConst(by)) return -1;
  const n = constBits(by);
  switch (op) {
    case SpvOp.OpGroupNonUniformQuadBroadcast:
      return <i32>((n & 3) * 0x55);
    case SpvOp.OpGroupNonUniformShuffleXor:
      return n < 4 ? swapped(n) : -1;
    case SpvOp.OpGroupNonUniformQuadSwap:
      // 0 horizontal, 1 vertical, 2 diagonal.
      return swapped((n & 3) + 1);
    default:
      return -1;
  }
}
function swapped(by: u32): i32 {
  return <i32>(by | ((1 ^ by) << 2) | ((2 ^ by) << 4) | ((3 ^ by) << 6));
}
/** A shuffle by xor with a constant that leads out of the quad: which; 0 for none. */
function xorOf(op: u32, by: u32): u32 {
  return op == SpvOp.OpGroupNonUniformShuffleXor && isConst(by) && constBits(by) < 32 ? constBits(by) : 0;
}
/** Each leaf of the operand in word 4 from another lane, by `op` with an immediate. */
function permuted(at: u32, op: u32, permutation: u32): void {
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
    const moved = alu1(op, word(v));
    setImm(moved, 0, permutation);
    leafPool[out + k] = unword(moved, v);
  }
  setValue(idAt(at + 2), type, out);
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

function firstLane(v: u32): u32 {
  if (isPair(v)) return pair(alu1(Op.READ_FIRST_LANE, low(v)), alu1(Op.READ_FIRST_LANE, high(v)));
  return unword(alu1(Op.READ_FIRST_LANE, word(v)), v);
}

function liftAllEqual(at: u32): u32 {
  const id = valueAt(at + 4);
  if (failed()) return 0;
  const type = idType[id];
  const scalar = typeKind[type] == TypeKind.VECTOR ? typeA[type] : type;
  const float = typeKind[scalar] == TypeKind.FLOAT;
  setSigned(false);
  const values = scalars(id);
  let same = constantBool(true);
  for (let k: u32 = 0; k < scalarsOf(type) && !failed(); k++) {
    const v = leafPool[values + k];
    const equal = isSame(v, firstLane(v), float);
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
      if (failed()) return;
      const permutation = quadPermutation(op, by);
      if (permutation >= 0) permuted(at, Op.QUAD_PERM, <u32>permutation);
      else if (xorOf(op, by) != 0) permuted(at, Op.LANE_XOR, xorOf(op, by));
      else moved(at, sourceLane(op, by), false);
      return;
    }
    default:
      liftScan(op, at, count);
  }
}
