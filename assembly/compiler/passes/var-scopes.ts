/**
 * For `lower-vars-to-ssa`, in shaders with many constructs: the construct around all that a variable's values are about.
 * Stores need not be noted further out: in a nest each variable would else be noted at each level around it.
 */
import { spend, U32Column } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { nodeScratch } from "../ir/columns.ts";
import {
  entryBlock,
  firstInstr,
  imm,
  Kind,
  kindOf,
  listFirst,
  listLast,
  MAX_VARS,
  nextBlock,
  nextInstr,
  opOf,
  parentOf,
  sideOf,
  varCount,
} from "../ir/index.ts";

/**
 * By variable: the innermost list with all loads and stores, as construct * 2 + side + 1, and whether the first of them is
 * a store in that list itself, behind which all others come. In the end: the construct in which stores need no note, + 1.
 */
let scope: U32Column = changetype<U32Column>(0);
const FIRST: u32 = 0x8000_0000;

/** Bytes of the table. */
export const SCOPE_BYTES: usize = (<usize>MAX_VARS) << 2;

/** Whether a block stands in a list, at whatever depth. nodeScratch of blocks is their number in tree order. */
function holds(list: u32, block: u32): bool {
  const node = (list - 1) >> 1;
  if (node == 0) return true;
  const side = (list - 1) & 1;
  const at = nodeScratch[block];
  return nodeScratch[listFirst(node, side)] <= at && at <= nodeScratch[listLast(node, side)];
}

/** The list around the construct whose list it is. */
function around(list: u32): u32 {
  const node = (list - 1) >> 1;
  return parentOf(node) * 2 + sideOf(node) + 1;
}

function note(block: u32, variable: u32, isStore: bool): void {
  const known = scope[variable];
  if (known == 0) {
    const here = parentOf(block) * 2 + sideOf(block) + 1;
    scope[variable] = isStore ? here | FIRST : here;
    return;
  }
  let list = known & ~FIRST;
  if (holds(list, block)) return;
  while (!holds(list, block) && spend(1)) list = around(list);
  scope[variable] = list;
}

/** The construct up to which, without itself, stores are noted. */
function stopOf(known: u32): u32 {
  let node = ((known & ~FIRST) - 1) >> 1;
  if ((known & FIRST) != 0 || node == 0) return node;
  // A load may read what an earlier round of a loop stored.
  let outermost = node;
  for (; node != 0 && spend(1); node = parentOf(node)) if (kindOf(node) == Kind.LOOP) outermost = node;
  return parentOf(outermost);
}

/** Finds the scopes of all variables, with the table at `table`. Blocks' nodeScratch changes. */
export function findScopes(table: usize): void {
  scope = changetype<U32Column>(table);
  scope.clear(0, varCount());
  let order: u32 = 0;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) nodeScratch[b] = ++order;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) {
      const op = opOf(i);
      if (op == Op.STORE_VAR) note(b, imm(i, 0), true);
      else if (op == Op.LOAD_VAR) note(b, imm(i, 0), false);
    }
  }
  for (let v: u32 = 0; v < varCount(); v++) if (scope[v] != 0) scope[v] = stopOf(scope[v]) + 1;
}

/** The construct around a store from which on outwards it needs no note; 0 for all of them. */
export function scopeOf(variable: u32): u32 {
  return scope[variable] - 1;
}
