/**
 * Copies of parts of a loop in front of it, for unrolling. `nodeScratch` of a block of the loop is its copy (first its own
 * id, as a mark), `instrScratch` of a value of the loop what stands for it in the current copy. Nested ifs and loops are
 * copied whole by an explicit walk, phis and edges when everything that they name is there.
 */
import { failed, spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  addPred,
  appendBlock,
  appendIf,
  appendLoop,
  blockOf,
  componentsOf,
  condition,
  firstInstr,
  flagsOf,
  ifInstr,
  imm,
  insertInstr,
  instrPlace,
  instrScratch,
  Kind,
  kindOf,
  listFirst,
  listLast,
  newInstr,
  newList,
  nextBlock,
  nextInstr,
  nextNode,
  nodePlace,
  nodeScratch,
  opOf,
  parentOf,
  pred,
  predCount,
  predIndex,
  prevNode,
  setFlags,
  setImm,
  setPred,
  setSrc,
  sideOf,
  spliceList,
  src,
  srcCount,
  widthOf,
} from "../ir/index.ts";

/** List of copied nodes that have no place yet, and the block whose end the next instruction goes to. */
let holder: u32 = 0;
let tail: u32 = 0;

/** Marks the blocks of a loop; its first copy goes to the end of block `before`. */
export function beginCopies(loop: u32, before: u32): void {
  const end = nextNode(loop);
  for (let b = listFirst(loop, 0); b != end && spend(1); b = nextBlock(b)) nodeScratch[b] = b;
  holder = newList();
  tail = before;
}

/** The block at whose end the copies end. */
export function copiesEnd(): u32 {
  return tail;
}
/** Puts the copies behind block `before`, where they began. */
export function placeCopies(before: u32): void {
  if (tail != before && !failed()) spliceList(holder, 0, before);
}

/** Whether a block stands in the loop. */
export function isOriginal(block: u32): bool {
  return nodeScratch[block] != 0;
}

/** What stands for a value in the current copy. */
export function mapped(value: u32): u32 {
  return isOriginal(blockOf(value)) ? instrScratch[value] : value;
}

/** What becomes of a block's phis. */
const enum Phis {
  /** Phis of the copy; `joinBlock` fills their sources. */
  COPIED = 0,
  /** Each is its one source. */
  ONE_SOURCE = 1,
  /** The caller has said what stands for them. */
  MAPPED = 2,
}

/** Copies instructions to the end of `to`. */
function copyInstrs(block: u32, to: u32, phis: Phis): void {
  nodeScratch[block] = to;
  for (let i = firstInstr(block); i != 0 && spend(1) && !failed(); i = nextInstr(i)) {
    const isPhi = opOf(i) == Op.PHI;
    if (isPhi && phis != Phis.COPIED) {
      if (phis == Phis.ONE_SOURCE) instrScratch[i] = mapped(src(i, 0));
      continue;
    }
    const count = srcCount(i);
    const copy = newInstr(opOf(i), widthOf(i), componentsOf(i), count);
    for (let k: u32 = 0; k < 4; k++) setImm(copy, k, imm(i, k));
    for (let k: u32 = 0; k < count && !isPhi; k++) if (src(i, k) != 0) setSrc(copy, k, mapped(src(i, k)));
    setFlags(copy, flagsOf(i));
    instrPlace[copy] = instrPlace[i];
    insertInstr(copy, to, 0);
    instrScratch[i] = copy;
  }
}

/** An empty copy of an if or loop at the end of a list. */
function copyOwner(n: u32, owner: u32, side: u32): u32 {
  let copy: u32;
  if (kindOf(n) == Kind.IF) {
    copy = appendIf(owner, side, mapped(condition(n)));
    setFlags(ifInstr(copy), flagsOf(ifInstr(n)));
    instrPlace[ifInstr(copy)] = instrPlace[ifInstr(n)];
  } else {
    copy = appendLoop(owner, side);
  }
  nodePlace[copy] = nodePlace[n];
  nodeScratch[n] = copy;
  return copy;
}

/** Copies an if or loop with all that is in it. */
function copyTree(root: u32): void {
  copyOwner(root, holder, 0);
  let n = listFirst(root, 0);
  while (spend(1) && !failed()) {
    const owner = nodeScratch[parentOf(n)];
    if (kindOf(n) != Kind.BLOCK) {
      copyOwner(n, owner, sideOf(n));
      n = listFirst(n, 0);
      continue;
    }
    copyInstrs(n, appendBlock(owner, sideOf(n)), Phis.COPIED);
    let next = nextNode(n);
    while (next == 0) {
      const around = parentOf(n);
      if (sideOf(n) == 0) {
        next = listFirst(around, 1);
      } else {
        n = around;
        if (n == root) return;
        next = nextNode(n);
      }
    }
    n = next;
  }
}

/** Edges into the copy of a block, and the sources of its phis. */
function joinBlock(b: u32): void {
  const copy = nodeScratch[b];
  const count = predCount(b);
  for (let k: u32 = 0; k < count; k++) addPred(copy, nodeScratch[pred(b, k)]);
  for (let i = firstInstr(b); i != 0 && opOf(i) == Op.PHI && spend(1); i = nextInstr(i)) {
    for (let k: u32 = 0; k < count; k++) setSrc(instrScratch[i], k, mapped(src(i, k)));
  }
}

/**
 * Copies the nodes of a list from block `first` to before `stop` (0: to the end), `first` to where the last copy ended:
 * it is entered from there alone, or is the header, whose phis the caller has mapped.
 */
export function copyNodes(first: u32, stop: u32, isHeader: bool): void {
  const last = stop != 0 ? prevNode(stop) : listLast(parentOf(first), sideOf(first));
  copyInstrs(first, tail, isHeader ? Phis.MAPPED : Phis.ONE_SOURCE);
  for (let n = nextNode(first); n != 0 && n != stop && !failed(); n = nextNode(n)) {
    if (kindOf(n) != Kind.BLOCK) {
      copyTree(n);
      continue;
    }
    tail = appendBlock(holder, 0);
    copyInstrs(n, tail, Phis.COPIED);
  }
  const end = nextBlock(last);
  for (let b = nextBlock(first); last != first && b != end && !failed(); b = nextBlock(b)) joinBlock(b);
}

/** Puts the copies in front of the loop. */
export function endCopies(loop: u32): void {
  const before = prevNode(loop);
  if (tail == before || failed()) return;
  placeCopies(before);
  const header = listFirst(loop, 0);
  setPred(header, <u32>predIndex(header, before), tail);
}
