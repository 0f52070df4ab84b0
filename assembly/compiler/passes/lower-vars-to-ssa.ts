/**
 * Replaces all local variables by values. A load takes the value of the last store on its path; where paths join, a phi.
 * `store_var %0 var=0; %1 = load_var var=0; iadd %1, %1` → `iadd %0, %0`. A load before any store is undef.
 *
 * The tree says where phis can be needed: after an if or loop, in a loop header or cont, only for variables that the if
 * or loop stores; anything else is the value before the construct. Phis that turn out equal on all paths are removed;
 * unused ones are left to opt-dce. Cost: one map entry per (block, variable) read or stored, and as many steps back as
 * there are constructs in between; with many of them (`last-stores.ts`) one step for all that do not store the variable.
 */
import { Fail, fail, failed, Limit, spend, U32Column } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  blockOf,
  compact,
  constant,
  cursorBefore,
  entryBlock,
  erase,
  firstInstr,
  firstUse,
  imm,
  insertInstr,
  instrLimit,
  isConst,
  Kind,
  kindOf,
  listFirst,
  newInstr,
  nextBlock,
  nextInstr,
  nextNode,
  nextUse,
  opOf,
  parentOf,
  pred,
  predCount,
  prevNode,
  replaceUses,
  setSrc,
  sideOf,
  src,
  srcCount,
  undef,
  userOf,
  varCount,
  varWidth,
} from "../ir/index.ts";
import { BACKEND_BASE } from "../memory-map.ts";
import { mapClear, mapGet, mapSet } from "./hash.ts";
import {
  addStore,
  enterBlock,
  isTracked,
  LAST_STORES_END,
  NOT_KNOWN,
  nearestStore,
  STORES,
  startTracking,
  storedIn,
  stores,
} from "./last-stores.ts";
import { findScopes, SCOPE_BYTES, scopeOf } from "./var-scopes.ts";

const MAX_PHIS: u32 = 1 << 19;
const phis = changetype<U32Column>(LAST_STORES_END);
const phiVars = changetype<U32Column>(LAST_STORES_END + ((<usize>MAX_PHIS) << 2));
const path = changetype<U32Column>(LAST_STORES_END + 2 * ((<usize>MAX_PHIS) << 2));
const undefs = changetype<U32Column>(LAST_STORES_END + 3 * ((<usize>MAX_PHIS) << 2));
const SCOPES: usize = LAST_STORES_END + 3 * ((<usize>MAX_PHIS) << 2) + 64;

let phiCount: u32 = 0;
/** Whether the variables' scopes are known. */
let scoped: bool = false;

function noteStore(block: u32, variable: u32): void {
  const stop = scoped ? scopeOf(variable) : 0;
  for (let n = parentOf(block); n != stop && spend(1); n = parentOf(n)) {
    if (mapGet(n, variable | STORES) != 0) return;
    mapSet(n, variable | STORES, 1);
    addStore(n, variable);
  }
}

function undefOf(variable: u32): u32 {
  const width = varWidth[variable];
  const k: u32 = width == 1 ? 1 : 0;
  if (undefs[k] != 0) return undefs[k];
  // After the constants of the entry block.
  constant(0);
  let at = firstInstr(entryBlock());
  while (at != 0 && isConst(at)) at = nextInstr(at);
  let i: u32 = 0;
  if (at != 0) {
    cursorBefore(at);
    i = undef(width);
  } else {
    i = newInstr(Op.UNDEF, width, 1, 0);
    insertInstr(i, entryBlock(), 0);
  }
  undefs[k] = i;
  return i;
}

function newPhi(block: u32, variable: u32): u32 {
  if (phiCount >= MAX_PHIS) {
    fail(Fail.LIMIT, Limit.INSTRUCTIONS, MAX_PHIS, 0);
    return phis[0];
  }
  const i = newInstr(Op.PHI, varWidth[variable], 1, predCount(block));
  let at = firstInstr(block);
  while (at != 0 && opOf(at) == Op.PHI) at = nextInstr(at);
  insertInstr(i, block, at);
  phis[phiCount] = i;
  phiVars[phiCount] = variable;
  phiCount++;
  return i;
}

/** The block whose end value a block without phi starts with; 0 at the entry or where a phi is needed. */
function source(block: u32, variable: u32): u32 {
  const before = prevNode(block);
  if (before != 0)
    return stores(before, variable) && predCount(block) > 1
      ? 0
      : predCount(block) == 1
        ? pred(block, 0)
        : prevNode(before);
  const owner = parentOf(block);
  if (owner == 0) return 0;
  if (kindOf(owner) == Kind.IF) return prevNode(owner);
  if (!stores(owner, variable)) return prevNode(owner);
  return predCount(block) == 1 ? pred(block, 0) : 0;
}

/**
 * The block at or before `block` in its list at whose end the variable has the value that it has at the end of `block`,
 * and where it got it: by a store, behind a construct that stores it, at the start of the list.
 */
function nearestBlock(block: u32, variable: u32): u32 {
  const n = nearestStore(block, variable);
  if (n == NOT_KNOWN) return block;
  if (n == 0) return listFirst(parentOf(block), sideOf(block));
  return kindOf(n) == Kind.BLOCK ? n : nextNode(n);
}

/** Value of a variable at the end of a block. Walks back through blocks that neither store nor join it. */
function endValue(block: u32, variable: u32): u32 {
  let depth: u32 = 0;
  let b = block;
  let value = mapGet(b, variable);
  while (value == 0 && !failed()) {
    if (!spend(1)) return 0;
    if (depth < MAX_PHIS) path[depth++] = b;
    if (isTracked()) {
      const at = nearestBlock(b, variable);
      if (at != b) {
        b = at;
        value = mapGet(b, variable);
        continue;
      }
    }
    const from = source(b, variable);
    if (from != 0) {
      b = from;
      value = mapGet(b, variable);
    } else if (predCount(b) == 0) {
      value = undefOf(variable);
    } else {
      value = newPhi(b, variable);
    }
  }
  // Blocks passed on the way have the value at their ends too.
  for (let k: u32 = 0; k < depth; k++) mapSet(path[k], variable, value);
  return value;
}

/** Value of a variable at the start of a block. */
function startValue(block: u32, variable: u32): u32 {
  if (isTracked()) {
    const at = nearestBlock(block, variable);
    if (at != block) return endValue(at, variable);
  }
  const from = source(block, variable);
  if (from != 0) return endValue(from, variable);
  return predCount(block) == 0 ? undefOf(variable) : newPhi(block, variable);
}

/** The one value that a phi stands for, or 0. */
function onlySource(phi: u32): u32 {
  let value: u32 = 0;
  for (let k: u32 = 0; k < srcCount(phi); k++) {
    const v = src(phi, k);
    if (v == phi || v == value) continue;
    if (value != 0) return 0;
    value = v;
  }
  return value;
}

function removeTrivial(): void {
  // Removing one may make its users trivial: they go to the end of the list.
  let end = phiCount;
  for (let k: u32 = 0; k < end && spend(1); k++) {
    const phi = phis[k];
    if (opOf(phi) != Op.PHI) continue;
    const value = onlySource(phi);
    if (value == 0) continue;
    for (let slot = firstUse(phi); slot != 0; slot = nextUse(slot)) {
      const user = userOf(slot);
      if (user != phi && opOf(user) == Op.PHI && end < MAX_PHIS) phis[end++] = user;
    }
    replaceUses(phi, value);
    erase(phi);
  }
}

export function lowerVarsToSsa(): bool {
  if (varCount() == 0) return false;
  mapClear(min<u32>(instrLimit() >> 1, 0x8_0000));
  phiCount = 0;
  undefs[0] = 0;
  undefs[1] = 0;
  startTracking();
  scoped = isTracked();
  assert(SCOPES + SCOPE_BYTES <= BACKEND_BASE);
  if (scoped) findScopes(SCOPES);
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) if (opOf(i) == Op.STORE_VAR) noteStore(b, imm(i, 0));
  }
  for (let b = entryBlock(); b != 0 && !failed(); b = nextBlock(b)) {
    let next: u32 = 0;
    if (isTracked()) enterBlock(b);
    for (let i = firstInstr(b); i != 0 && spend(1); i = next) {
      next = nextInstr(i);
      if (opOf(i) == Op.STORE_VAR) {
        mapSet(b, imm(i, 0), src(i, 0));
        if (isTracked()) storedIn(b, imm(i, 0));
        erase(i);
      } else if (opOf(i) == Op.LOAD_VAR) {
        const variable = imm(i, 0);
        let value = mapGet(b, variable);
        if (value == 0) {
          value = startValue(b, variable);
          mapSet(b, variable, value);
        }
        replaceUses(i, value);
        erase(i);
      }
    }
  }
  // Filling one phi's sources may make further phis.
  for (let k: u32 = 0; k < phiCount && spend(1); k++) {
    const block = blockOf(phis[k]);
    for (let m: u32 = 0; m < predCount(block) && !failed(); m++)
      setSrc(phis[k], m, endValue(pred(block, m), phiVars[k]));
  }
  if (!failed()) removeTrivial();
  // Loads and stores are gone: half of what the lifter made.
  if (!failed()) compact();
  return true;
}
