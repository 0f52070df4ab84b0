/**
 * For `lower-vars-to-ssa`: all loads and stores of variables, in tree order, and for each variable the chain of its own.
 * What is done variable by variable then goes through rows that stand in the order of the code, and keeps what it knows
 * of a block in that block's row.
 */
import { Field2, Field4, spend } from "../../base/index.ts";
import { Op } from "../../gen/ir-ops.ts";
import { nodeScratch } from "../ir/columns.ts";
import {
  entryBlock,
  firstInstr,
  imm,
  MAX_INSTRS,
  MAX_VARS,
  nextBlock,
  nextInstr,
  nodeLimit,
  opOf,
  varCount,
} from "../ir/index.ts";
import { PASS_BASE } from "../memory-map.ts";

/** Bit of `eventInstr`: a load. */
export const LOAD: u32 = 0x8000_0000;

// By event, from 1 on: the instruction; its block; the variable's next event, 0 for none; what the pass has found for it.
export const eventInstr = changetype<Field4>(PASS_BASE);
export const eventBlock = changetype<Field4>(PASS_BASE + 4);
export const eventNext = changetype<Field4>(PASS_BASE + 8);
export const eventDef = changetype<Field4>(PASS_BASE + 12);
const VARIABLES: usize = PASS_BASE + ((<usize>MAX_INSTRS) << 4);
/** By variable: its first and its last event, 0 for none. */
export const firstEvent = changetype<Field2>(VARIABLES);
export const lastEvent = changetype<Field2>(VARIABLES + 4);
export const EVENTS_END: usize = VARIABLES + ((<usize>MAX_VARS) << 3);

/** Nodes from which on ways back are cut short: below, none is long. */
const MANY_NODES: u32 = 256;

let events: u32 = 1;
let numbered: bool = false;

/** All events are below this. */
export function eventLimit(): u32 {
  return events;
}
/** Whether there are so many nodes that blocks are numbered. */
export function isNumbered(): bool {
  return numbered;
}

/** Lists all events. With many nodes blocks' nodeScratch become their numbers in tree order, even ones. */
export function collectEvents(): void {
  numbered = nodeLimit() >= MANY_NODES;
  memory.fill(VARIABLES, 0, (<usize>varCount()) << 3);
  events = 1;
  let order: u32 = 0;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    if (numbered) nodeScratch[b] = order += 2;
    for (let i = firstInstr(b); i != 0 && spend(1); i = nextInstr(i)) {
      const op = opOf(i);
      if (op != Op.STORE_VAR && op != Op.LOAD_VAR) continue;
      const e = events++;
      eventInstr[e] = op == Op.LOAD_VAR ? i | LOAD : i;
      eventBlock[e] = b;
      eventNext[e] = 0;
      const variable = imm(i, 0);
      const last = lastEvent[variable];
      if (last == 0) firstEvent[variable] = e;
      else eventNext[last] = e;
      lastEvent[variable] = e;
    }
  }
}
