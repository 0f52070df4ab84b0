/**
 * Checks the invariants of the IR (`src/ir/invariants.ts`). `validate` answers 0 or the number of the first rule that is
 * broken; `brokenAt` says where (an instruction or node id). O(instructions + sources).
 */
import { spend } from "../../base/index.ts";
import { immediateFits, Rule } from "../../gen/ir-invariants.ts";
import { Op, OpFlag, opDst, opFlags, opImms, opMaxSources, opMinSources, opSourceKinds } from "../../gen/ir-ops.ts";
import { instrHead, instrPlace, instrScratch, nodePlace, varWidth } from "./columns.ts";
import { computeDominance, dominates } from "./dominance.ts";
import {
  blockOf,
  componentsOf,
  firstInstr,
  firstUse,
  imm,
  instrLimit,
  lastInstr,
  nextInstr,
  nextUse,
  opOf,
  prevInstr,
  src,
  srcCount,
  useCount,
  userOf,
  widthOf,
} from "./instr.ts";
import {
  condition,
  entryBlock,
  ifInstr,
  isReachable,
  Kind,
  kindOf,
  listFirst,
  listLast,
  loopOf,
  nextBlock,
  nextNode,
  parentOf,
  pred,
  predCount,
  predIndex,
  prevNode,
  sideOf,
  successor0,
  successor1,
} from "./nodes.ts";
import { varCount } from "./shader.ts";

let where: u32 = 0;
/** Source place of the instruction or the node at `where`. */
let wherePlace: u32 = 0;

export function brokenAt(): u32 {
  return where;
}
/** Source place of what breaks the rule, 0 where it has none. */
export function brokenPlace(): u32 {
  return wherePlace;
}

/** Finds the place of what is at `where` before a rule is reported. */
function broken(rule: u32, isNode: bool): u32 {
  wherePlace = where == 0 ? 0 : isNode ? nodePlace[where] : instrPlace[where];
  return rule;
}

function checkLists(): bool {
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    where = b;
    if (kindOf(b) != Kind.BLOCK) return false;
    const next = nextNode(b);
    if (prevNode(b) == 0 && listFirst(parentOf(b), sideOf(b)) != b) return false;
    if (next == 0) {
      if (listLast(parentOf(b), sideOf(b)) != b) return false;
      continue;
    }
    if (kindOf(next) != Kind.IF && kindOf(next) != Kind.LOOP) return false;
    if (prevNode(next) != b || nextNode(next) == 0 || prevNode(nextNode(next)) != next) return false;
    for (let side: u32 = 0; side < 2; side++) {
      const first = listFirst(next, side);
      if (first == 0 || parentOf(first) != next || sideOf(first) != side) return false;
    }
  }
  return true;
}

function checkEdges(): bool {
  let edges: u32 = 0;
  let entries: u32 = 0;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    where = b;
    entries += predCount(b);
    if (!isReachable(b)) continue;
    const s0 = successor0(b);
    const s1 = successor1(b);
    if (s0 != 0) {
      edges++;
      if (predIndex(s0, b) < 0) return false;
    }
    if (s1 != 0) {
      edges++;
      if (predIndex(s1, b) < 0) return false;
    }
  }
  return edges == entries;
}

function checkUnreachable(): bool {
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    where = b;
    if (!isReachable(b) && (firstInstr(b) != 0 || nextNode(b) != 0)) return false;
  }
  return true;
}

function checkJump(i: u32, b: u32): bool {
  if (lastInstr(b) != i || nextNode(b) != 0) return false;
  const op = opOf(i);
  if (op == Op.END) return parentOf(b) == 0;
  const loop = loopOf(b);
  if (loop == 0) return false;
  if (op == Op.BREAK) return true;
  // Which part of the loop the block is in.
  let n = b;
  while (parentOf(n) != loop) n = parentOf(n);
  return sideOf(n) == 0;
}

/** Checks a source of kind 0 (as the instruction), 1 boolean, 2 32-bit scalar, 3 vector or scalar of 32 bits. */
function sourceFits(i: u32, v: u32, kind: u32): bool {
  const width = widthOf(v);
  const components = componentsOf(v);
  if (kind == 3) return width == 32;
  if (components != 1) return false;
  if (kind == 1) return width == 1;
  if (kind == 2) return width == 32;
  return width == widthOf(i);
}

function checkShape(i: u32): bool {
  const op = opOf(i);
  const width = widthOf(i);
  const components = componentsOf(i);
  switch (opDst(op)) {
    case 0:
      if (width != 0 || components != 0) return false;
      break;
    case 1:
      if (width != 1 || components != 1) return false;
      break;
    case 2:
      if (width != 32 || components != 1) return false;
      break;
    case 3:
      if ((width != 1 && width != 32) || components != 1) return false;
      break;
    default:
      if (width != 32 || components == 0 || components > 16) return false;
      break;
  }
  const kinds = opSourceKinds(op);
  for (let k: u32 = 0; k < srcCount(i); k++) {
    const v = src(i, k);
    if (op == Op.STORE_VAR) {
      if (componentsOf(v) != 1 || widthOf(v) != varWidth[imm(i, 0)]) return false;
      continue;
    }
    // Ops with any number of sources have them all of their first kind.
    const kind = opMaxSources(op) == 255 ? kinds & 15 : (kinds >> (4 * k)) & 15;
    if (!sourceFits(i, v, kind)) return false;
  }
  if (op == Op.VEC) return srcCount(i) == components;
  if (op == Op.SSBO_ATOMIC || op == Op.SHARED_ATOMIC) return componentsOf(src(i, 1)) == components && components <= 2;
  if (op == Op.SSBO_ATOMIC_CMPSWAP || op == Op.SHARED_ATOMIC_CMPSWAP)
    return componentsOf(src(i, 1)) == components && componentsOf(src(i, 2)) == components && components <= 2;
  if (op == Op.EXTRACT) return imm(i, 0) < componentsOf(src(i, 0));
  return true;
}

function checkImmediates(i: u32): bool {
  const op = opOf(i);
  if (op == Op.LOAD_VAR || op == Op.STORE_VAR) {
    if (imm(i, 0) >= varCount()) return false;
    return op == Op.STORE_VAR || widthOf(i) == varWidth[imm(i, 0)];
  }
  if (op == Op.LOAD_LOCAL_ID || op == Op.LOAD_WORKGROUP_ID || op == Op.LOAD_NUM_WORKGROUPS) return imm(i, 0) < 3;
  return op != Op.CONST || widthOf(i) == 32 || imm(i, 0) <= 1;
}

/** Immediates as their rows say, beyond what the input of the lifter can break. */
function checkRanges(i: u32): bool {
  const op = opOf(i);
  const count = opImms(op);
  for (let k: u32 = 0; k < count; k++) if (!immediateFits(op, k, imm(i, k))) return false;
  return checkImmediates(i);
}

/** Source v of a reader in block b (the reader itself is at `position` there; 0xffffffff: at its end). */
function sourceDominates(v: u32, b: u32, position: u32): bool {
  if (v == 0 || opOf(v) == Op.NONE || widthOf(v) == 0) return false;
  const home = blockOf(v);
  if (home == 0 || !isReachable(home)) return false;
  // A source without a number comes behind its reader.
  return home == b ? instrScratch[v] - 1 < position - 1 : dominates(home, b);
}

function checkUses(v: u32): bool {
  let count: u32 = 0;
  for (let slot = firstUse(v); slot != 0; slot = nextUse(slot)) {
    count++;
    if (count > useCount(v) || opOf(userOf(slot)) == Op.NONE) return false;
  }
  return count == useCount(v);
}

/** Checks everything; uses instrScratch, nodeScratch and the dominance columns. */
export function validate(): u32 {
  const rule = check();
  if (rule != Rule.NONE) return rule;
  let uses: u32 = 0;
  for (let i: u32 = 1; i < instrLimit(); i++) if (blockOf(i) != 0) uses += useCount(i);
  where = 0;
  return uses == checkedSources ? Rule.NONE : broken(Rule.USES, false);
}

/** Shape of a scalar without its bits. */
const ONE: u32 = 1 << 8;

/** Immediates, and what belongs together, of the ops from LOAD_VAR to LOAD_NUM_WORKGROUPS. */
function checkNumbers(i: u32): u32 {
  if (!checkImmediates(i)) return Rule.IMMEDIATES;
  const op = opOf(i);
  const atomic =
    op == Op.SSBO_ATOMIC || op == Op.SSBO_ATOMIC_CMPSWAP || op == Op.SHARED_ATOMIC || op == Op.SHARED_ATOMIC_CMPSWAP;
  return atomic && !checkShape(i) ? Rule.SHAPES : Rule.NONE;
}

/**
 * Checks what the input of the lifter can break: sources that do not dominate their readers or have another shape than the
 * op wants, numbers in immediates. The rest is the lifter's own doing, which `validate` checks. The dominance columns must
 * be fresh and there must be no phis; uses instrScratch, where `round` (not 0, another one in each run over the same
 * instructions) marks what has been passed.
 */
export function validateLifted(round: u32): u32 {
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) {
      where = i;
      if (!spend(1)) return Rule.NONE;
      instrScratch[i] = round;
      const head = instrHead[i];
      const op = head & 0xffff;
      if (op >= <u32>Op.LOAD_VAR && op <= <u32>Op.LOAD_NUM_WORKGROUPS) {
        const rule = checkNumbers(i);
        if (rule != 0) return rule;
      }
      const count = srcCount(i);
      if (count == 0) continue;
      let kinds = opSourceKinds(op);
      // Ops with any number of sources have them all of their first kind.
      const step: u32 = opMaxSources(op) == 255 ? 0 : 4;
      for (let k: u32 = 0; k < count; k++, kinds >>= step) {
        const v = src(i, k);
        const home = v == 0 ? 0 : blockOf(v);
        if (home == 0) return Rule.DOMINANCE;
        if (home == b ? instrScratch[v] != round : !dominates(home, b)) return Rule.DOMINANCE;
        const shape = instrHead[v] >> 16;
        let ok = false;
        switch (kinds & 15) {
          case 0:
            ok = shape == (op == Op.STORE_VAR ? varWidth[imm(i, 0)] | ONE : head >> 16);
            break;
          case 1:
            ok = shape == (ONE | 1);
            break;
          case 2:
            ok = shape == (ONE | 32);
            break;
          default:
            ok = (shape & 0xff) == 32 && (op != Op.EXTRACT || imm(i, 0) < shape >> 8);
            break;
        }
        if (!ok) return Rule.SHAPES;
      }
    }
    const n = nextNode(b);
    if (n != 0 && kindOf(n) == Kind.IF) {
      where = n;
      const v = condition(n);
      const home = v == 0 ? 0 : blockOf(v);
      if (home == 0) return Rule.DOMINANCE;
      if (home == b ? instrScratch[v] != round : !dominates(home, b)) return Rule.DOMINANCE;
      if (instrHead[v] >> 16 != (ONE | 1)) return Rule.SHAPES;
    }
  }
  return Rule.NONE;
}

let checkedSources: u32 = 0;

function check(): u32 {
  if (!checkLists()) return broken(Rule.LISTS, true);
  if (!checkEdges()) return broken(Rule.EDGES, true);
  if (!checkUnreachable()) return broken(Rule.UNREACHABLE, true);
  computeDominance();
  let position: u32 = 1;
  let sources: u32 = 0;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) instrScratch[i] = position++;
  }
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    let phis = true;
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) {
      where = i;
      if (!spend(1)) return Rule.NONE;
      const op = opOf(i);
      if (op == Op.NONE || op >= <u32>Op.COUNT || op == Op.IF || blockOf(i) != b) return broken(Rule.LISTS, false);
      if (nextInstr(i) != 0 && prevInstr(nextInstr(i)) != i) return broken(Rule.LISTS, false);
      const count = srcCount(i);
      sources += count;
      // 255 stands for any number.
      const most = opMaxSources(op);
      if (count < opMinSources(op) || (count > most && most != 255)) return broken(Rule.SOURCES, false);
      if (op == Op.PHI) {
        if (!phis || count != predCount(b)) return broken(Rule.PHIS, false);
      } else {
        phis = false;
      }
      if ((opFlags(op) & OpFlag.JUMP) != 0 && !checkJump(i, b)) return broken(Rule.JUMPS, false);
      if (!checkRanges(i)) return broken(Rule.IMMEDIATES, false);
      for (let k: u32 = 0; k < count; k++) {
        const v = src(i, k);
        const ok = op == Op.PHI ? sourceDominates(v, pred(b, k), 0xffff_ffff) : sourceDominates(v, b, instrScratch[i]);
        if (!ok) return broken(Rule.DOMINANCE, false);
      }
      if (!checkShape(i)) return broken(Rule.SHAPES, false);
      if (!checkUses(i)) return broken(Rule.USES, false);
    }
    const n = nextNode(b);
    if (n != 0 && kindOf(n) == Kind.IF) {
      where = n;
      sources++;
      if (srcCount(ifInstr(n)) != 1 || !sourceDominates(condition(n), b, 0xffff_ffff))
        return broken(Rule.DOMINANCE, true);
      if (widthOf(condition(n)) != 1) return broken(Rule.SHAPES, true);
    }
  }
  checkedSources = sources;
  return Rule.NONE;
}
