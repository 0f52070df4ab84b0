/**
 * The structured control-flow tree. A list (function body, then, else, body, cont) starts and ends with a block and
 * alternates blocks with ifs and loops. Node 0 is the function: its side 0 is the body.
 *
 * Edges: into then and else from the block before the if; into the block after the if from the last blocks of then and
 * else; into the first block of a loop body (the header) from the block before the loop and the last block of cont; into
 * the first block of cont from the last block of the body and each `continue`; into the block after a loop from each
 * `break`. A block without predecessors (but the entry) is unreachable and empty, and its edges do not count.
 */
import { Fail, fail, Limit, place } from "../../base/index.ts";
import { InstrFlag, Op } from "../../gen/ir-ops.ts";
import {
  instrFlagBits,
  instrImm2,
  MAX_NODES,
  MAX_PREDS,
  nodeAux,
  nodeFirst,
  nodeFirst1,
  nodeKind,
  nodeLast,
  nodeLast1,
  nodeNext,
  nodeParent,
  nodePlace,
  nodePrev,
  nodeScratch,
  nodeSide,
  predPool,
} from "./columns.ts";
import { erase, firstInstr, lastInstr, newInstr, nextInstr, opOf, removeSrc, setSrc, src } from "./instr.ts";

export const enum Kind {
  NONE = 0,
  BLOCK = 1,
  IF = 2,
  LOOP = 3,
}

let nodeTop: u32 = 1;
let predTop: u32 = 0;
let ifsMade: u32 = 0;
let loopsMade: u32 = 0;

/** Blocks, their order or their edges have changed since `treeIsRead`. */
let edited: bool = true;

/** Whether the tree and its edges are what they were at the last `treeIsRead`. */
export function treeIsSame(): bool {
  return !edited;
}
export function treeIsRead(): void {
  edited = false;
}

export function resetNodes(): void {
  edited = true;
  nodeTop = 1;
  predTop = 0;
  ifsMade = 0;
  loopsMade = 0;
  nodeKind[0] = Kind.NONE;
  nodeFirst[0] = 0;
  nodeLast[0] = 0;
  nodeFirst1[0] = 0;
  nodeLast1[0] = 0;
}

/** Whether the shader has had an if, a loop. */
export function hasIfs(): bool {
  return ifsMade != 0;
}
export function hasLoops(): bool {
  return loopsMade != 0;
}

/** All node ids are below this. */
export function nodeLimit(): u32 {
  return nodeTop;
}

export function kindOf(node: u32): u32 {
  return nodeKind[node];
}
export function isBlock(node: u32): bool {
  return nodeKind[node] == Kind.BLOCK;
}
/** The if or loop around a node; 0 at the top. */
export function parentOf(node: u32): u32 {
  return nodeParent[node];
}
/** 0: the node stands in the function body, a then or a loop body; 1: in an else or a cont. */
export function sideOf(node: u32): u32 {
  return nodeSide[node];
}
export function nextNode(node: u32): u32 {
  return nodeNext[node];
}
export function prevNode(node: u32): u32 {
  return nodePrev[node];
}
/** First node (a block) of a list: owner 0 is the function; side 0 then or body, side 1 else or cont. */
export function listFirst(owner: u32, side: u32): u32 {
  return side == 0 ? nodeFirst[owner] : nodeFirst1[owner];
}
export function listLast(owner: u32, side: u32): u32 {
  return side == 0 ? nodeLast[owner] : nodeLast1[owner];
}
export function entryBlock(): u32 {
  return nodeFirst[0];
}
/** The `if` instruction of an if node: it stands in no block, its source is the condition. */
export function ifInstr(node: u32): u32 {
  return nodeAux[node];
}
export function condition(node: u32): u32 {
  return src(nodeAux[node], 0);
}
/** The if node of an `if` instruction. */
export function ifNodeOf(instr: u32): u32 {
  return instrImm2[instr];
}
/** If: lanes may disagree on the condition. Loop: lanes may leave it at different times. */
export function isNodeDivergent(node: u32): bool {
  return nodeKind[node] == Kind.IF ? (instrFlagBits[nodeAux[node]] & InstrFlag.DIV) != 0 : nodeAux[node] != 0;
}
export function setNodeDivergent(node: u32, divergent: bool): void {
  if (nodeKind[node] == Kind.LOOP) {
    nodeAux[node] = divergent ? 1 : 0;
    return;
  }
  const i = nodeAux[node];
  const rest = instrFlagBits[i] & ~(<u32>InstrFlag.DIV);
  instrFlagBits[i] = divergent ? rest | InstrFlag.DIV : rest;
}

/** The next block in tree (program) order after `block`; 0 at the end. Start with `entryBlock()`. */
export function nextBlock(block: u32): u32 {
  const next = nodeNext[block];
  if (next != 0) return nodeKind[next] == Kind.BLOCK ? next : nodeFirst[next];
  const owner = nodeParent[block];
  if (owner == 0) return 0;
  return nodeSide[block] == 0 ? nodeFirst1[owner] : nodeNext[owner];
}

/** The block before `block` in tree order; 0 at the start. Start with `lastBlock()`. */
export function prevBlock(block: u32): u32 {
  const prev = nodePrev[block];
  if (prev != 0) return nodeKind[prev] == Kind.BLOCK ? prev : nodeLast1[prev];
  const owner = nodeParent[block];
  if (owner == 0) return 0;
  return nodeSide[block] == 1 ? nodeLast[owner] : nodePrev[owner];
}

export function lastBlock(): u32 {
  return nodeLast[0];
}

/** The innermost loop around a node (a loop is not around itself); 0 for none. */
export function loopOf(node: u32): u32 {
  let n = nodeParent[node];
  while (n != 0 && nodeKind[n] != Kind.LOOP) n = nodeParent[n];
  return n;
}

/** The jump that ends a block, or 0. */
export function jumpOf(block: u32): u32 {
  const last = lastInstr(block);
  if (last == 0) return 0;
  const op = opOf(last);
  return op == Op.BREAK || op == Op.CONTINUE || op == Op.END ? last : 0;
}

/** Successor 0 of a block (0: none). With an if after the block: the first block of then. */
export function successor0(block: u32): u32 {
  const jump = jumpOf(block);
  if (jump != 0) {
    const op = opOf(jump);
    if (op == Op.END) return 0;
    const loop = loopOf(block);
    if (loop == 0) return 0;
    return op == Op.BREAK ? nodeNext[loop] : nodeFirst1[loop];
  }
  const next = nodeNext[block];
  if (next != 0) return nodeFirst[next];
  const owner = nodeParent[block];
  if (owner == 0) return 0;
  if (nodeKind[owner] == Kind.IF) return nodeNext[owner];
  return nodeSide[block] == 0 ? nodeFirst1[owner] : nodeFirst[owner];
}

/** Successor 1: the first block of else where an if follows, else 0. */
export function successor1(block: u32): u32 {
  if (jumpOf(block) != 0) return 0;
  const next = nodeNext[block];
  return next != 0 && nodeKind[next] == Kind.IF ? nodeFirst1[next] : 0;
}

export function predCount(block: u32): u32 {
  return nodeLast1[block];
}
/** Predecessor k; phis' sources stand in this order. */
export function pred(block: u32, k: u32): u32 {
  return predPool[nodeFirst1[block] + k];
}
export function setPred(block: u32, k: u32, from: u32): void {
  edited = true;
  predPool[nodeFirst1[block] + k] = from;
}
/** Where searches in long lists ended, by block modulo 64. Mostly blocks are asked for in the order of the list. */
const hintAt: usize = memory.data(4 * 64, 4);
const LONG: u32 = 16;

/** Index of a predecessor, or -1. No block is in a list twice. */
export function predIndex(block: u32, from: u32): i32 {
  const count = nodeLast1[block];
  if (count >= LONG) return longPredIndex(block, from, count);
  for (let k: u32 = 0; k < count; k++) if (pred(block, k) == from) return <i32>k;
  return -1;
}

/** As `predIndex`, from behind the last one that was found on, round to it. */
function longPredIndex(block: u32, from: u32, count: u32): i32 {
  const hint = hintAt + ((<usize>block & 63) << 2);
  let k = load<u32>(hint);
  for (let left = count; left > 0; left--, k++) {
    if (k >= count) k = 0;
    if (pred(block, k) != from) continue;
    store<u32>(hint, k + 1);
    return <i32>k;
  }
  return -1;
}
export function isReachable(block: u32): bool {
  return nodeLast1[block] != 0 || block == nodeFirst[0];
}

/** Adds an edge at the end of the list; phis of `block` must get a source of their own. */
export function addPred(block: u32, from: u32): void {
  const count = nodeLast1[block];
  const capacity = nodeAux[block];
  if (count == capacity) {
    const grown: u32 = capacity == 0 ? 2 : capacity * 2;
    if (predTop + grown > MAX_PREDS) {
      fail(Fail.LIMIT, Limit.NODES, MAX_PREDS, 0);
      return;
    }
    for (let k: u32 = 0; k < count; k++) predPool[predTop + k] = pred(block, k);
    nodeFirst1[block] = predTop;
    nodeAux[block] = grown;
    predTop += grown;
  }
  nodeLast1[block] = count + 1;
  setPred(block, count, from);
}

/** Removes the edge and the phis' sources for it. */
export function removePred(block: u32, from: u32): void {
  edited = true;
  const k = predIndex(block, from);
  if (k < 0) return;
  const count = nodeLast1[block];
  for (let j = <u32>k; j + 1 < count; j++) setPred(block, j, pred(block, j + 1));
  nodeLast1[block] = count - 1;
  for (let i = firstInstr(block); i != 0 && opOf(i) == Op.PHI; i = nextInstr(i)) removeSrc(i, <u32>k);
}

function newNode(kind: u32): u32 {
  edited = true;
  let n = nodeTop;
  if (n >= MAX_NODES) {
    fail(Fail.LIMIT, Limit.NODES, MAX_NODES, 0);
    n = MAX_NODES - 1;
  } else {
    nodeTop = n + 1;
  }
  nodeKind[n] = kind;
  if (kind == Kind.IF) ifsMade++;
  else if (kind == Kind.LOOP) loopsMade++;
  nodeParent[n] = 0;
  nodeSide[n] = 0;
  nodePrev[n] = 0;
  nodeNext[n] = 0;
  nodeFirst[n] = 0;
  nodeLast[n] = 0;
  nodeFirst1[n] = 0;
  nodeLast1[n] = 0;
  nodeAux[n] = 0;
  nodeScratch[n] = 0;
  nodePlace[n] = place();
  return n;
}

/** Links a free node at the end of a list. */
function appendNode(node: u32, owner: u32, side: u32): void {
  edited = true;
  const last = listLast(owner, side);
  nodeParent[node] = owner;
  nodeSide[node] = side;
  nodePrev[node] = last;
  if (last != 0) nodeNext[last] = node;
  else if (side == 0) nodeFirst[owner] = node;
  else nodeFirst1[owner] = node;
  if (side == 0) nodeLast[owner] = node;
  else nodeLast1[owner] = node;
}

/** A new block at the end of a list. */
export function appendBlock(owner: u32, side: u32): u32 {
  const b = newNode(Kind.BLOCK);
  appendNode(b, owner, side);
  return b;
}

/** A new if at the end of a list, with its `if` instruction; its lists are empty, and no block follows yet. */
export function appendIf(owner: u32, side: u32, cond: u32): u32 {
  const n = newNode(Kind.IF);
  appendNode(n, owner, side);
  const i = newInstr(Op.IF, 0, 0, 1);
  instrImm2[i] = n;
  nodeAux[n] = i;
  setSrc(i, 0, cond);
  return n;
}

/** A new loop at the end of a list; its lists are empty, and no block follows yet. */
export function appendLoop(owner: u32, side: u32): u32 {
  const n = newNode(Kind.LOOP);
  appendNode(n, owner, side);
  return n;
}

/** An owner of a list (side 0) that has no place in the tree yet: `spliceList` gives its nodes one. */
export function newList(): u32 {
  return newNode(Kind.NONE);
}

/** Fills all predecessor lists in tree order from the structure. There must be no phis. */
export function buildPreds(): void {
  edited = true;
  predTop = 0;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    nodeFirst1[b] = 0;
    nodeLast1[b] = 0;
    nodeAux[b] = 0;
  }
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    if (!isReachable(b)) continue;
    const s0 = successor0(b);
    const s1 = successor1(b);
    if (s0 != 0) addPred(s0, b);
    if (s1 != 0) addPred(s1, b);
  }
}

/** Moves all nodes of a list (owner, side) out, to stand after `at` in at's list. Both ends get merged by the caller. */
export function spliceList(owner: u32, side: u32, at: u32): void {
  edited = true;
  const first = listFirst(owner, side);
  const last = listLast(owner, side);
  const toOwner = nodeParent[at];
  const toSide = nodeSide[at];
  for (let n = first; n != 0; n = nodeNext[n]) {
    nodeParent[n] = toOwner;
    nodeSide[n] = toSide;
  }
  const after = nodeNext[at];
  nodeNext[at] = first;
  nodePrev[first] = at;
  nodeNext[last] = after;
  if (after != 0) nodePrev[after] = last;
  else if (toSide == 0) nodeLast[toOwner] = last;
  else nodeLast1[toOwner] = last;
  if (side == 0) {
    nodeFirst[owner] = 0;
    nodeLast[owner] = 0;
  } else {
    nodeFirst1[owner] = 0;
    nodeLast1[owner] = 0;
  }
}

/** Takes a node out of its list. */
function detach(node: u32): void {
  edited = true;
  const owner = nodeParent[node];
  const side = nodeSide[node];
  const prev = nodePrev[node];
  const next = nodeNext[node];
  if (prev != 0) nodeNext[prev] = next;
  else if (side == 0) nodeFirst[owner] = next;
  else nodeFirst1[owner] = next;
  if (next != 0) nodePrev[next] = prev;
  else if (side == 0) nodeLast[owner] = prev;
  else nodeLast1[owner] = prev;
}

/** Takes a node out of its list; of an if, erases its instruction. */
export function unlinkNode(node: u32): void {
  detach(node);
  if (nodeKind[node] == Kind.IF) erase(nodeAux[node]);
  nodeKind[node] = Kind.NONE;
}

/** Moves a node with what is in it from its list to the end of another; edges are the caller's. */
export function moveToEnd(node: u32, owner: u32, side: u32): void {
  detach(node);
  nodeNext[node] = 0;
  appendNode(node, owner, side);
}
