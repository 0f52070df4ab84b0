/**
 * For `lower-vars-to-ssa`, in shaders with many constructs: which node of a list was the last to store a variable. A list
 * of a thousand ifs of which one stores it is then one step back, not a thousand. The pass goes through the tree in
 * order; a list's last stores are as of there, and each construct keeps what they were before it.
 */
import { U32Column } from "../../base/index.ts";
import { nodeScratch } from "../ir/columns.ts";
import { entryBlock, Kind, kindOf, nextBlock, nextNode, nodeLimit, parentOf, prevNode, sideOf } from "../ir/index.ts";
import { MAP_END, mapGet, mapSet } from "./hash.ts";

/**
 * Tags of keys beside (block, variable), of which there are fewer than 2^30. (construct, variable | STORES): 0 where it
 * does not store the variable, 1 while the pass is before or in it, then 2 + the node before it in its list that does.
 */
export const STORES: u32 = 0x8000_0000;
/** (list, variable | LAST): the node that was the last to store it. */
const LAST: u32 = 0x4000_0000;

/** Nodes from which on it pays: below, no way back is long. */
const MANY_NODES: u32 = 256;
const MAX_PAIRS: u32 = 1 << 18;
// What each construct stores: variable, next row.
const pairVar = changetype<U32Column>(MAP_END);
const pairNext = changetype<U32Column>(MAP_END + ((<usize>MAX_PAIRS) << 2));
export const LAST_STORES_END: usize = MAP_END + 2 * ((<usize>MAX_PAIRS) << 2);

let tracked = false;
let pairs: u32 = 1;

/** nodeScratch of a construct: its first row, or that the pass has left it. */
const LEFT: u32 = 0xffff_ffff;
/** Answer of `nearestStore` where the list's last stores are not those of that place. */
export const NOT_KNOWN: u32 = 0xffff_ffff;

export function isTracked(): bool {
  return tracked;
}
export function stores(node: u32, variable: u32): bool {
  return mapGet(node, variable | STORES) != 0;
}

/** Before the first `addStore`: with few nodes nothing is tracked. */
export function startTracking(): void {
  tracked = nodeLimit() >= MANY_NODES;
  pairs = 1;
  if (!tracked) return;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    const next = nextNode(b);
    if (next != 0) nodeScratch[next] = 0;
  }
}

/** A construct stores a variable: once each, before the pass goes through the tree. */
export function addStore(construct: u32, variable: u32): void {
  if (!tracked) return;
  if (pairs >= MAX_PAIRS) {
    // Then the way back is step by step.
    tracked = false;
    return;
  }
  pairVar[pairs] = variable;
  pairNext[pairs] = nodeScratch[construct];
  nodeScratch[construct] = pairs++;
}

/** Key of the list that a node stands in. */
function listOf(node: u32): u32 {
  return parentOf(node) * 2 + sideOf(node) + 1;
}

/** A block stores a variable; the pass is there. */
export function storedIn(block: u32, variable: u32): void {
  mapSet(listOf(block), variable | LAST, block);
}

/** The pass comes to a block: it has left the construct before it. */
export function enterBlock(block: u32): void {
  const before = prevNode(block);
  if (before == 0) return;
  const list = listOf(block);
  for (let row = nodeScratch[before]; row != 0; row = pairNext[row]) {
    const variable = pairVar[row];
    mapSet(before, variable | STORES, 2 + mapGet(list, variable | LAST));
    mapSet(list, variable | LAST, before);
  }
  nodeScratch[before] = LEFT;
}

/** The node at or before a block in its list that was the last to store a variable, 0 for none, or NOT_KNOWN. */
export function nearestStore(block: u32, variable: u32): u32 {
  const next = nextNode(block);
  if (next != 0 && kindOf(next) != Kind.BLOCK) {
    const known = mapGet(next, variable | STORES);
    if (known > 1) return known - 2;
    if (nodeScratch[next] == LEFT) return NOT_KNOWN;
  }
  return mapGet(listOf(block), variable | LAST);
}
