/**
 * Replaces all local variables by values. A load takes the value of the last store on its path; where paths join, a phi.
 * `store_var %0 var=0; %1 = load_var var=0; iadd %1, %1` → `iadd %0, %0`. A load before any store is undef.
 *
 * The tree says where phis can be needed: after an if or loop, in a loop header or cont, only for variables that the if
 * or loop stores; anything else is the value before the construct. Phis that turn out equal on all paths are removed;
 * unused ones are left to opt-dce. First it is found out, one variable after the other, what each load reads
 * (`var-values.ts`), then the code is changed in its order. Cost: one row per load, store and block that a value is
 * looked for in, and as many steps back as there are constructs in between; with many of them one step for all that do
 * not store the variable.
 */
import { failed, spend, U32Column } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import {
  compact,
  constant,
  cursorBefore,
  entryBlock,
  erase,
  firstInstr,
  firstUse,
  imm,
  insertInstr,
  isConst,
  newInstr,
  nextInstr,
  nextUse,
  opOf,
  predCount,
  replaceUses,
  setSrc,
  src,
  srcCount,
  undef,
  userOf,
  varCount,
  varWidth,
} from "../ir/index.ts";
import { BACKEND_BASE } from "../memory-map.ts";
import { collectEvents, eventDef, eventInstr, eventLimit, LOAD } from "./var-events.ts";
import {
  findValues,
  MAX_PHIS,
  PHI,
  phiBlock,
  phiInstr,
  phiSources,
  phiVariable,
  resetValues,
  sources,
  UNDEFINED,
  VALUES_END,
} from "./var-values.ts";

/** Instructions of phis in the order in which they are made; behind them those to look at again. */
const phis = changetype<U32Column>(VALUES_END);
/** Their numbers of `var-values.ts`. */
const phiNumbers = changetype<U32Column>(VALUES_END + ((<usize>MAX_PHIS) << 2));
const undefs = changetype<U32Column>(VALUES_END + 2 * ((<usize>MAX_PHIS) << 2));
const TABLES_END: usize = VALUES_END + 2 * ((<usize>MAX_PHIS) << 2) + 64;

let phiCount: u32 = 0;

function undefOf(width: u32): u32 {
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

function makePhi(number: u32): u32 {
  const block = phiBlock[number];
  const i = newInstr(Op.PHI, varWidth[phiVariable[number]], 1, predCount(block));
  let at = firstInstr(block);
  while (at != 0 && opOf(at) == Op.PHI) at = nextInstr(at);
  insertInstr(i, block, at);
  phis[phiCount] = i;
  phiNumbers[phiCount] = number;
  phiCount++;
  phiInstr[number] = i;
  return i;
}

/** The value that `var-values.ts` speaks of. Stores that come before, and the phis made so far, have theirs. */
function valueRead(read: u32, variable: u32): u32 {
  if ((read & PHI) != 0) {
    const made = phiInstr[read & ~PHI];
    return made != 0 ? made : makePhi(read & ~PHI);
  }
  return read == UNDEFINED ? undefOf(varWidth[variable]) : eventDef[read];
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
  assert(TABLES_END <= BACKEND_BASE);
  phiCount = 0;
  undefs[0] = 0;
  undefs[1] = 0;
  collectEvents();
  resetValues();
  for (let v: u32 = 0; v < varCount() && !failed(); v++) findValues(v);
  for (let e: u32 = 1; e < eventLimit() && !failed(); e++) {
    const i = eventInstr[e] & ~LOAD;
    if ((eventInstr[e] & LOAD) != 0) replaceUses(i, valueRead(eventDef[e], imm(i, 0)));
    else eventDef[e] = src(i, 0);
    erase(i);
  }
  // Filling one phi's sources may make further ones.
  for (let k: u32 = 0; k < phiCount && spend(1) && !failed(); k++) {
    const number = phiNumbers[k];
    const at = phiSources[number];
    for (let m: u32 = 0; m < srcCount(phis[k]); m++)
      setSrc(phis[k], m, valueRead(sources[at + m], phiVariable[number]));
  }
  if (!failed()) removeTrivial();
  // Loads and stores are gone: half of what the lifter made.
  if (!failed()) compact();
  return true;
}
