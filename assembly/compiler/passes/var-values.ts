/**
 * For `lower-vars-to-ssa`: finds for each load of one variable, and for each source of the phis that it needs, the store,
 * the phi or nothing at all (undefined) that it reads. What is known of a node stands in the node's row, with the
 * variable that it is about: rows of variables before count as empty.
 */
import { Fail, Field2, Field4, fail, failed, Limit, spend, U32Column } from "../../base/index.ts";
import { nodeScratch } from "../ir/columns.ts";
import {
  Kind,
  kindOf,
  listFirst,
  MAX_NODES,
  nextNode,
  nodeLimit,
  parentOf,
  pred,
  predCount,
  prevNode,
  sideOf,
} from "../ir/index.ts";
import {
  EVENTS_END,
  eventBlock,
  eventDef,
  eventInstr,
  eventNext,
  firstEvent,
  isNumbered,
  LOAD,
  lastEvent,
} from "./var-events.ts";
import { scopeOf } from "./var-scopes.ts";

/** What is read: a store by its event, PHI and the number of the phi, or UNDEFINED. 0 is not known. */
export const PHI: u32 = 0x8000_0000;
export const UNDEFINED: u32 = 0x4000_0000;

export const MAX_PHIS: u32 = 1 << 19;
const MAX_SOURCES: u32 = 9 << 18;

// By node: the variable + 1. Block: what the variable has at its end. If, loop: SOME of one that stores it; with many
// nodes, once the walk has come to a store in it, 2 + the node before it in its list that was the last to store it.
const ROWS = EVENTS_END;
const rowVariable = changetype<Field2>(ROWS);
const rowValue = changetype<Field2>(ROWS + 4);
const SOME: u32 = 1;
// By list, as owner * 2 + side, with many nodes: the variable + 1, and the last node so far to store it.
const LISTS: usize = ROWS + ((<usize>MAX_NODES) << 3);
const listVariable = changetype<Field2>(LISTS);
const listLastStore = changetype<Field2>(LISTS + 4);
// By phi: block, variable, where its sources begin, and its instruction once there is one.
const PHIS: usize = LISTS + ((<usize>MAX_NODES) << 4);
export const phiBlock = changetype<Field4>(PHIS);
export const phiVariable = changetype<Field4>(PHIS + 4);
export const phiSources = changetype<Field4>(PHIS + 8);
export const phiInstr = changetype<Field4>(PHIS + 12);
const SOURCES: usize = PHIS + ((<usize>MAX_PHIS) << 4);
/** What the phis read, in the order of the predecessors. */
export const sources = changetype<U32Column>(SOURCES);
const PATH: usize = SOURCES + ((<usize>MAX_SOURCES) << 2);
const path = changetype<U32Column>(PATH);
const MAX_PATH: u32 = 1 << 19;
export const VALUES_END: usize = PATH + ((<usize>MAX_PATH) << 2);

let phis: u32 = 0;
let sourceTop: u32 = 0;
/** The running variable + 1. */
let stamp: u32 = 0;
/** Constructs from here on outwards have no row. */
let scope: u32 = 0;

export function resetValues(): void {
  phis = 0;
  sourceTop = 0;
  memory.fill(ROWS, 0, (<usize>nodeLimit()) << 3);
  if (isNumbered()) memory.fill(LISTS, 0, (<usize>nodeLimit()) << 4);
}

function stores(node: u32): bool {
  return rowVariable[node] == stamp;
}
function endOf(block: u32): u32 {
  return rowVariable[block] == stamp ? rowValue[block] : 0;
}
function setRow(node: u32, value: u32): void {
  rowVariable[node] = stamp;
  rowValue[node] = value;
}

function noteStore(block: u32): void {
  for (let n = parentOf(block); n != scope && !stores(n) && spend(1); n = parentOf(n)) setRow(n, SOME);
}

function listOf(node: u32): u32 {
  return parentOf(node) * 2 + sideOf(node);
}
function lastStoreOf(list: u32): u32 {
  return listVariable[list] == stamp ? listLastStore[list] : 0;
}
function setLastStore(list: u32, node: u32): void {
  listVariable[list] = stamp;
  listLastStore[list] = node;
}

/** The walk is at a store: it and the constructs around it are the last to store the variable in their lists. */
function comeTo(block: u32): void {
  setLastStore(listOf(block), block);
  for (let n = parentOf(block); n != scope && spend(1); n = parentOf(n)) {
    const list = listOf(n);
    const before = lastStoreOf(list);
    if (before == n) return;
    rowValue[n] = 2 + before;
    setLastStore(list, n);
  }
}

/** Answer of `lastStore` where the list's last store is behind that place. */
const NOT_KNOWN: u32 = 0xffff_ffff;

/** The node at or before a block in its list that was the last to store the variable, 0 for none, or NOT_KNOWN. */
function lastStore(block: u32): u32 {
  const next = nextNode(block);
  if (next != 0 && stores(next) && rowValue[next] > SOME) return rowValue[next] - 2;
  const last = lastStoreOf(listOf(block));
  if (last == 0) return 0;
  const at = kindOf(last) == Kind.BLOCK ? nodeScratch[last] : nodeScratch[prevNode(last)] + 1;
  return at <= nodeScratch[block] ? last : NOT_KNOWN;
}

/**
 * The block at or before `block` in its list at whose end the variable has the value that it has at the end of `block`,
 * and where it got it: by a store, behind a construct that stores it, at the start of the list. A list of a thousand ifs
 * of which one stores the variable is then one step back, not a thousand.
 */
function nearestBlock(block: u32): u32 {
  const n = lastStore(block);
  if (n == NOT_KNOWN) return block;
  if (n == 0) return listFirst(parentOf(block), sideOf(block));
  return kindOf(n) == Kind.BLOCK ? n : nextNode(n);
}

/** The block whose end value a block without phi starts with; 0 at the entry or where a phi is needed. */
function source(block: u32): u32 {
  const before = prevNode(block);
  if (before != 0)
    return stores(before) && predCount(block) > 1 ? 0 : predCount(block) == 1 ? pred(block, 0) : prevNode(before);
  const owner = parentOf(block);
  if (owner == 0) return 0;
  if (kindOf(owner) == Kind.IF) return prevNode(owner);
  if (!stores(owner)) return prevNode(owner);
  return predCount(block) == 1 ? pred(block, 0) : 0;
}

function newPhi(block: u32): u32 {
  if (phis >= MAX_PHIS) {
    fail(Fail.LIMIT, Limit.INSTRUCTIONS, MAX_PHIS, 0);
    return UNDEFINED;
  }
  phiBlock[phis] = block;
  phiVariable[phis] = stamp - 1;
  phiInstr[phis] = 0;
  return PHI | phis++;
}

/** What a block starts with that takes it from nowhere else. */
function made(block: u32): u32 {
  return predCount(block) == 0 ? UNDEFINED : newPhi(block);
}

/** What is read at the end of a block. Walks back through blocks that neither store nor join the variable. */
function endValue(block: u32): u32 {
  let depth: u32 = 0;
  let b = block;
  let value = endOf(b);
  while (value == 0 && !failed()) {
    if (!spend(1)) return UNDEFINED;
    if (depth < MAX_PATH) path[depth++] = b;
    if (isNumbered()) {
      const at = nearestBlock(b);
      if (at != b) {
        b = at;
        value = endOf(b);
        continue;
      }
    }
    const from = source(b);
    if (from != 0) {
      b = from;
      value = endOf(b);
    } else {
      value = made(b);
    }
  }
  // Blocks passed on the way have it at their ends too.
  for (let k: u32 = 0; k < depth; k++) setRow(path[k], value);
  return value;
}

/** What is read at the start of a block, which stores the variable only behind there. */
function startValue(block: u32): u32 {
  if (isNumbered()) {
    const at = nearestBlock(block);
    if (at != block) return endValue(at);
  }
  const from = source(block);
  return from != 0 ? endValue(from) : made(block);
}

/** What the sources of the phis from `k` on read, which may make further phis. */
function findSources(k: u32): void {
  for (; k < phis && spend(1) && !failed(); k++) {
    const block = phiBlock[k];
    const count = predCount(block);
    if (sourceTop + count > MAX_SOURCES) {
      fail(Fail.LIMIT, Limit.SOURCES, MAX_SOURCES, 0);
      return;
    }
    const at = sourceTop;
    phiSources[k] = at;
    sourceTop += count;
    for (let m: u32 = 0; m < count; m++) sources[at + m] = endValue(pred(block, m));
  }
}

/** Fills `eventDef` of all loads of a variable, and makes the phis that they need with all that these read. */
export function findValues(variable: u32): void {
  const first = firstEvent[variable];
  if (first == 0) return;
  if (eventBlock[first] == eventBlock[lastEvent[variable]] && (eventInstr[first] & LOAD) == 0) {
    // Most variables: stored and then read, in one block.
    let value = first;
    for (let e = eventNext[first]; e != 0; e = eventNext[e]) {
      if ((eventInstr[e] & LOAD) == 0) value = e;
      else eventDef[e] = value;
    }
    return;
  }
  stamp = variable + 1;
  scope = isNumbered() ? scopeOf(variable) : 0;
  for (let e = first; e != 0; e = eventNext[e]) if ((eventInstr[e] & LOAD) == 0) noteStore(eventBlock[e]);
  const firstPhi = phis;
  for (let e = first; e != 0 && !failed(); e = eventNext[e]) {
    const b = eventBlock[e];
    if ((eventInstr[e] & LOAD) == 0) {
      setRow(b, e);
      if (isNumbered()) comeTo(b);
      continue;
    }
    let value = endOf(b);
    if (value == 0) {
      value = startValue(b);
      setRow(b, value);
    }
    eventDef[e] = value;
  }
  findSources(firstPhi);
}
