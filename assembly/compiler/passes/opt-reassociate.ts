/**
 * Reorders chains of one associative integer op whose parts nobody else reads: constants are combined and come last, equal
 * parts of and, or, xor, minima and maxima meet, and parts from outside a loop are combined first, so that they leave it.
 * Products and sums of f32 only combine constants, and only where contraction is allowed and nothing is `exact`.
 * `%1 = iadd %a, 4; %2 = iadd %1, %b; %3 = iadd %2, 8` → `%1 = iadd %a, %b; %3 = iadd %1, 12`. O(instructions).
 */
import { spend } from "../../base/index.ts";
import { foldOp, InstrFlag, Op } from "../../gen/ir-ops.ts";
import { OptionFlag, optionFlag } from "../io.ts";
import {
  alu2,
  blockOf,
  constant,
  constBits,
  cursorBefore,
  entryBlock,
  firstInstr,
  firstUse,
  flagsOf,
  hasMadeAny,
  isConst,
  loopOf,
  nextBlock,
  nextInstr,
  opOf,
  replaceUses,
  src,
  useCount,
  userOf,
  widthOf,
} from "../ir/index.ts";

/** Parts of a chain looked at; longer ones are cut here. */
const MAX_PARTS: u32 = 16;
const parts: usize = memory.data(4 * 16, 4);
function part(k: u32): u32 {
  return load<u32>(parts + ((<usize>k) << 2));
}
function setPart(k: u32, value: u32): void {
  store<u32>(parts + ((<usize>k) << 2), value);
}

function isInteger(op: u32): bool {
  switch (op) {
    case Op.IADD:
    case Op.IMUL:
    case Op.IAND:
    case Op.IOR:
    case Op.IXOR:
    case Op.UMIN:
    case Op.UMAX:
    case Op.IMIN:
    case Op.IMAX:
      return true;
    default:
      return false;
  }
}
function isFloat(op: u32): bool {
  return op == Op.FADD || op == Op.FMUL;
}

/** True for a link of a chain of `op`s in a block: read by one instruction alone. */
function isLink(v: u32, op: u32, block: u32): bool {
  return opOf(v) == op && blockOf(v) == block && useCount(v) == 1 && (flagsOf(v) & InstrFlag.EXACT) == 0;
}

/** Parts in the table, and how many of them are constants. */
let count: u32 = 0;
let constants: u32 = 0;

/** Collects the parts of the chain below i; the links wait at the end of the table. */
function collect(i: u32, op: u32): void {
  const block = blockOf(i);
  count = 0;
  constants = 0;
  let waiting: u32 = 1;
  setPart(MAX_PARTS - 1, i);
  while (waiting > 0 && spend(1)) {
    const link = part(MAX_PARTS - waiting);
    waiting--;
    for (let k: u32 = 0; k < 2; k++) {
      const v = src(link, 1 - k);
      // Each link that waits brings two parts.
      if (isLink(v, op, block) && count + 2 * waiting + 3 < MAX_PARTS) {
        waiting++;
        setPart(MAX_PARTS - waiting, v);
        continue;
      }
      setPart(count++, v);
      if (isConst(v)) constants++;
    }
  }
}

function depthOf(v: u32): u32 {
  let depth: u32 = 0;
  for (let loop = loopOf(blockOf(v)); loop != 0 && spend(1); loop = loopOf(loop)) depth++;
  return depth;
}

/** Parts that meet an equal one: all but one go, of xor both. True when there were some. */
function meet(op: u32): bool {
  if (op == Op.IADD || op == Op.IMUL || isFloat(op)) return false;
  let met = false;
  for (let k: u32 = 0; k + 1 < count; k++) {
    for (let j = k + 1; j < count; j++) {
      if (part(j) != part(k)) continue;
      met = true;
      setPart(j, part(--count));
      if (op == Op.IXOR) {
        setPart(k, constant(0));
        break;
      }
      j--;
    }
  }
  return met;
}

/** Combines all constants into one, at the end. False where an f32 would be lost. */
function combineConstants(op: u32): bool {
  let bits: u32 = 0;
  let any = false;
  let kept: u32 = 0;
  for (let k: u32 = 0; k < count; k++) {
    const v = part(k);
    if (!isConst(v)) {
      setPart(kept++, v);
      continue;
    }
    bits = any ? foldOp(op, bits, constBits(v), 0) : constBits(v);
    any = true;
  }
  if (any && isFloat(op)) {
    const exponent = (bits >> 23) & 0xff;
    if (exponent == 0 || exponent == 0xff) return false;
  }
  if (any) setPart(kept++, constant(bits));
  count = kept;
  return true;
}

/** Brings parts from outside the loop around i to the front; true where two of them are not combined with each other yet. */
function outerFirst(i: u32, op: u32): bool {
  const inner = depthOf(i);
  if (inner == 0) return false;
  let outer: u32 = 0;
  for (let k: u32 = 0; k < count; k++) {
    const v = part(k);
    if (isConst(v) || depthOf(v) >= inner) continue;
    setPart(k, part(outer));
    setPart(outer++, v);
  }
  if (outer < 2 || outer == count) return false;
  // Where that has been done the innermost link of the chain has two of them.
  let link = i;
  for (let k: u32 = 0; k < MAX_PARTS; k++) {
    const a = src(link, 0);
    const b = src(link, 1);
    if (isLink(a, op, blockOf(i))) link = a;
    else if (isLink(b, op, blockOf(i))) link = b;
    else return depthOf(a) >= inner || depthOf(b) >= inner;
  }
  return false;
}

function build(i: u32, op: u32): void {
  cursorBefore(i);
  let value = part(0);
  for (let k: u32 = 1; k < count; k++) value = alu2(op, value, part(k));
  replaceUses(i, value);
}

function reassociate(i: u32, op: u32): bool {
  collect(i, op);
  if (count < 3) return false;
  const atRoot = isConst(src(i, 0)) || isConst(src(i, 1));
  if (isFloat(op) && constants < 2) return false;
  // A constant in a sum may become part of an address.
  let better: bool = constants > 1 || (constants == 1 && op == Op.IADD && !atRoot);
  if (meet(op)) better = true;
  if (!isFloat(op) && outerFirst(i, op)) better = true;
  if (!better || !combineConstants(op)) return false;
  build(i, op);
  return true;
}

/** True where the chain goes on: its next link is `user`. */
function isReadBy(op: u32, block: u32, user: u32): bool {
  return opOf(user) == op && blockOf(user) == block && (flagsOf(user) & InstrFlag.EXACT) == 0;
}

export function optReassociate(): bool {
  if (!hasMadeAny(Op.IADD, Op.UMAX) && !hasMadeAny(Op.FADD, Op.FMUL)) return false;
  const floats = optionFlag(OptionFlag.CONTRACTION);
  let progress = false;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      const op = opOf(i);
      if (!isInteger(op) && (!floats || !isFloat(op))) continue;
      if (widthOf(i) != 32 || useCount(i) == 0 || (flagsOf(i) & InstrFlag.EXACT) != 0) continue;
      // Only the root of a chain: a link's one reader goes on with it.
      if (useCount(i) == 1 && isReadBy(op, b, userOf(firstUse(i)))) continue;
      if (!isLink(src(i, 0), op, b) && !isLink(src(i, 1), op, b)) continue;
      if (reassociate(i, op)) progress = true;
    }
  }
  return progress;
}
