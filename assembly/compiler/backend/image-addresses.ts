/**
 * Where the address of an image instruction stands: as few groups of registers as there are places for operands, so that
 * as few moves as possible put them together. A value that others read too stands where it is, and so do neighbouring
 * components of one vector; values that nobody else reads are computed side by side. `encode` writes the short form where
 * all registers turn out to be neighbours, else one field for each (NSA). Source: RDNA2 ISA, MIMG, "NSA".
 */
import { Op } from "../../gen/ir-ops.ts";
import { imm, opOf, src, useCount } from "../ir/index.ts";
import { copy, inVgpr } from "./build.ts";
import { classOf, ValueClass } from "./classes.ts";
import { vHint } from "./columns.ts";
import { constantTuple } from "./constants.ts";
import {
  component,
  isVgprOperand,
  isVreg,
  newVreg,
  operandComponent,
  operandSize,
  operandVreg,
  RegClass,
  vregOperand,
} from "./machine.ts";
import { operandOf } from "./values.ts";

/** Of an image instruction's `mImm`: source 0, source 3 goes on with the address of source 1. */
export const enum AddressIn {
  SOURCE_0 = 0x100,
  SOURCE_3 = 0x200,
}

/** A group that needs no move: values that are made for it, or that stand where they are. */
const enum Run {
  MADE = 0,
  STANDS = 1,
}

const MAX_RUNS: u32 = 16;
/** Of each run: first component, number, kind. */
const runs = memory.data(16 * 12, 4);
const groups = memory.data(3 * 4, 4);
let runCount: u32 = 0;

function runWord(run: u32, k: u32): usize {
  return runs + <usize>(run * 3 + k) * 4;
}
/** Group `k` of the last `placeAddress`. */
export function addressGroup(k: u32): u32 {
  return load<u32>(groups + ((<usize>k) << 2));
}

/** In a VGPR that others read too, or part of a vector. */
function stands(value: u32): bool {
  if (classOf(value) != ValueClass.VGPR) return false;
  return useCount(value) > 1 || opOf(value) == Op.EXTRACT;
}

/** The value is the component behind the other one of the same vector. */
function follows(before: u32, value: u32): bool {
  if (opOf(value) != Op.EXTRACT || opOf(before) != Op.EXTRACT) return false;
  const vector = src(value, 0);
  return vector == src(before, 0) && opOf(vector) != Op.VEC && imm(value, 0) == imm(before, 0) + 1;
}

function findRuns(i: u32, first: u32, count: u32): void {
  runCount = 0;
  for (let k: u32 = 0; k < count; k++) {
    const value = src(i, first + k);
    const kind: u32 = stands(value) ? Run.STANDS : Run.MADE;
    if (runCount > 0) {
      const last = runCount - 1;
      const lastKind = load<u32>(runWord(last, 2));
      if (kind == lastKind && (kind == Run.MADE || follows(src(i, first + k - 1), value))) {
        store<u32>(runWord(last, 1), load<u32>(runWord(last, 1)) + 1);
        continue;
      }
    }
    store<u32>(runWord(runCount, 0), k);
    store<u32>(runWord(runCount, 1), 1);
    store<u32>(runWord(runCount, 2), kind);
    runCount++;
  }
}

/** Moves that joining the run with others takes. */
function moves(run: u32): u32 {
  return load<u32>(runWord(run, 2)) == Run.STANDS ? load<u32>(runWord(run, 1)) : 0;
}

/** Joins neighbouring runs, those that take the fewest moves first, until there are no more than `limit`. */
function joinRuns(limit: u32): void {
  while (runCount > limit) {
    let best: u32 = 0;
    let least: u32 = 0xffff;
    for (let r: u32 = 0; r + 1 < runCount; r++) {
      const cost = moves(r) + moves(r + 1);
      if (cost >= least) continue;
      least = cost;
      best = r;
    }
    store<u32>(runWord(best, 1), load<u32>(runWord(best, 1)) + load<u32>(runWord(best + 1, 1)));
    store<u32>(runWord(best, 2), Run.MADE);
    runCount--;
    for (let r = best + 1; r < runCount; r++)
      for (let w: u32 = 0; w < 3; w++) store<u32>(runWord(r, w), load<u32>(runWord(r + 1, w)));
  }
}

/** Sources [first, first + count) side by side in VGPRs. */
export function tuple(i: u32, first: u32, count: u32): u32 {
  const constants = constantTuple(i, first, count);
  if (constants != 0) return constants;
  if (count == 1) return inVgpr(operandOf(src(i, first)));
  const operand = newVreg(RegClass.VGPR, count);
  for (let k: u32 = 0; k < count; k++) copy(component(operand, k), operandOf(src(i, first + k)));
  return operand;
}

/** Components of a vector where they are; 0 where they are in no register of their own. */
function standing(i: u32, first: u32, count: u32): u32 {
  const operand = operandOf(src(i, first));
  if (!isVgprOperand(operand) || !isVreg(operand)) return 0;
  for (let k: u32 = 1; k < count; k++) if (operandOf(src(i, first + k)) != component(operand, k)) return 0;
  return vregOperand(operandVreg(operand), count, operandComponent(operand));
}

/** A register that has no wish yet wants to stand behind the group before it. */
function wish(before: u32, group: u32): void {
  if (!isVreg(before) || !isVreg(group) || operandComponent(group) != 0) return;
  const v = operandVreg(group);
  if (vHint[v] == 0) vHint[v] = vregOperand(operandVreg(before), 1, operandComponent(before) + operandSize(before));
}

/** Puts sources [first, first + count) into at most `limit` groups; the number of groups. */
export function placeAddress(i: u32, first: u32, count: u32, limit: u32): u32 {
  if (count > MAX_RUNS) runCount = 0;
  else findRuns(i, first, count);
  if (count == 1 || runCount < 2) {
    const alone = runCount == 1 && load<u32>(runWord(0, 2)) == Run.STANDS ? standing(i, first, count) : 0;
    store<u32>(groups, alone != 0 ? alone : tuple(i, first, count));
    return 1;
  }
  joinRuns(limit);
  for (let r: u32 = 0; r < runCount; r++) {
    const at = first + load<u32>(runWord(r, 0));
    const size = load<u32>(runWord(r, 1));
    let operand: u32 = load<u32>(runWord(r, 2)) == Run.STANDS ? standing(i, at, size) : 0;
    if (operand == 0) operand = tuple(i, at, size);
    if (r > 0) wish(addressGroup(r - 1), operand);
    store<u32>(groups + ((<usize>r) << 2), operand);
  }
  return runCount;
}
