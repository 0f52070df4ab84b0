/**
 * Makes instructions at a cursor. Constants are pooled: one instruction per (bits, width), in a run at the start of the
 * entry block, so that each dominates everything.
 */
import { setPlace, U32Column } from "../../base/index.ts";
import { Op, opDst } from "../../gen/ir-ops.ts";
import { IR_END, instrBlock, instrImm0, instrNext, instrPlace, MAX_INSTRS } from "./columns.ts";
import {
  firstInstr,
  firstSource,
  insertInstr,
  newInstr,
  newInstrWith,
  nextInstr,
  opOf,
  setImm,
  setSrc,
  widthOf,
} from "./instr.ts";
import { entryBlock } from "./nodes.ts";

const MAX_POOL: u32 = 1 << 14;
const FIRST_POOL: u32 = 1 << 8;
/**
 * Hash table of the constants: an instruction in the low bits, of its hash the others. Where those differ nobody looks at
 * the instruction. Few shaders need more of it than is cleared at the start.
 */
const pool = changetype<U32Column>(IR_END);

let poolMask: u32 = FIRST_POOL - 1;
let pooled: u32 = 0;
let lastConstant: u32 = 0;
let cursorBlock: u32 = 0;
let cursorAt: u32 = 0;

export function resetConstants(): void {
  pool.clear(0, FIRST_POOL);
  poolMask = FIRST_POOL - 1;
  pooled = 0;
  lastConstant = 0;
  cursorBlock = 0;
  cursorAt = 0;
}

/** New instructions go to the end of a block. */
export function cursorAtEnd(block: u32): void {
  cursorBlock = block;
  cursorAt = 0;
}
/** New instructions go before `i`, and get its source place. */
export function cursorBefore(i: u32): void {
  setPlace(instrPlace[i]);
  cursorBlock = instrBlock[i];
  cursorAt = i;
}
/** New instructions go after the phis of a block. */
export function cursorAfterPhis(block: u32): void {
  let i = firstInstr(block);
  while (i != 0 && opOf(i) == Op.PHI) i = nextInstr(i);
  cursorBlock = block;
  cursorAt = i;
}
let keptBlock: u32 = 0;
let keptAt: u32 = 0;
/** New instructions go to the start of the shader, behind its constants, until `cursorBack`. */
export function cursorAtStart(): void {
  keptBlock = cursorBlock;
  keptAt = cursorAt;
  cursorBlock = entryBlock();
  cursorAt = firstInstr(cursorBlock);
  while (cursorAt != 0 && opOf(cursorAt) == Op.CONST) cursorAt = nextInstr(cursorAt);
}
export function cursorBack(): void {
  cursorBlock = keptBlock;
  cursorAt = keptAt;
}
/** The block the cursor is in. */
export function currentBlock(): u32 {
  return cursorBlock;
}

const ID: u32 = MAX_INSTRS - 1;
/** What an entry of the last `poolSlot` has beside its instruction. */
let poolTag: u32 = 0;

/** The place of a constant in the table, or where it would be. */
function poolSlot(bits: u32, width: u32): u32 {
  const hash = (bits ^ (width << 27)) * 0x9e3779b1;
  poolTag = hash & ~ID;
  let h = (hash ^ (hash >> 15)) & poolMask;
  for (let word = pool[h]; word != 0; word = pool[h]) {
    const i = word & ID;
    if ((word & ~ID) == poolTag && instrImm0[i] == bits && opOf(i) == Op.CONST && widthOf(i) == width) break;
    h = (h + 1) & poolMask;
  }
  return h;
}

/** Puts a constant into its slot of the table, which grows when half of it is in use; at its full size others are left out. */
function enter(h: u32, i: u32): void {
  if (pooled <= poolMask >> 1) {
    pool[h] = i | poolTag;
    pooled++;
    return;
  }
  if (poolMask + 1 >= MAX_POOL) return;
  poolMask = poolMask * 4 + 3;
  poolRun();
}

/** Fills the table with the run of constants, as far as it takes them. */
function poolRun(): void {
  pool.clear(0, poolMask + 1);
  pooled = 0;
  for (let k = firstInstr(entryBlock()); k != 0 && opOf(k) == Op.CONST && pooled <= poolMask >> 1; k = nextInstr(k)) {
    const slot = poolSlot(instrImm0[k], widthOf(k));
    if (pool[slot] != 0) continue;
    pool[slot] = k | poolTag;
    pooled++;
  }
}

/** Instructions have new numbers. The cursor is lost. */
export function poolAgain(): void {
  lastConstant = 0;
  cursorBlock = entryBlock();
  cursorAt = 0;
  poolRun();
}

/** Enters an instruction of the leading run of constants into the pool (after a snapshot was read). */
export function poolConstant(i: u32): void {
  lastConstant = i;
  const h = poolSlot(instrImm0[i], widthOf(i));
  if (pool[h] == 0) enter(h, i);
}

function constantOf(bits: u32, width: u32): u32 {
  const h = poolSlot(bits, width);
  if (pool[h] != 0) return pool[h] & ID;
  const i = newInstrWith(Op.CONST, SCALAR | width, 0);
  instrImm0[i] = bits;
  instrPlace[i] = 0;
  const entry = entryBlock();
  // The last constant may have been erased since: then the run's end is found again.
  let last = lastConstant;
  if (last == 0 || instrBlock[last] != entry || opOf(last) != Op.CONST) {
    last = 0;
    for (let k = firstInstr(entry); k != 0 && opOf(k) == Op.CONST; k = nextInstr(k)) last = k;
  }
  const at = last == 0 ? firstInstr(entry) : instrNext[last];
  insertInstr(i, entry, at);
  lastConstant = i;
  enter(h, i);
  return i;
}

/** A 32-bit constant. */
export function constant(bits: u32): u32 {
  return constantOf(bits, 32);
}
export function constantF(value: f32): u32 {
  return constantOf(reinterpret<u32>(value), 32);
}
/** A boolean constant. */
export function constantBool(value: bool): u32 {
  return constantOf(value ? 1 : 0, 1);
}

/** Links an instruction made by `newInstr` at the cursor. */
export function place0(i: u32): u32 {
  insertInstr(i, cursorBlock, cursorAt);
  return i;
}

/** Result width of an op whose row says it; `any` ops take the width of the value `like`. */
function resultWidth(op: u32, like: u32): u32 {
  const dst = opDst(op);
  return dst == 0 ? 0 : dst == 1 ? 1 : dst == 3 ? widthOf(like) : 32;
}

/** Shape of one component, without its bits. */
const SCALAR: u32 = 1 << 8;

/** A scalar ALU instruction of one, two, three sources at the cursor. */
export function alu1(op: u32, a: u32): u32 {
  const i = newInstrWith(op, SCALAR | resultWidth(op, a), 1);
  firstSource(i, 0, a);
  return place0(i);
}
export function alu2(op: u32, a: u32, b: u32): u32 {
  const i = newInstrWith(op, SCALAR | resultWidth(op, a), 2);
  firstSource(i, 0, a);
  firstSource(i, 1, b);
  return place0(i);
}
export function alu3(op: u32, a: u32, b: u32, c: u32): u32 {
  const i = newInstrWith(op, SCALAR | resultWidth(op, c), 3);
  firstSource(i, 0, a);
  firstSource(i, 1, b);
  firstSource(i, 2, c);
  return place0(i);
}
export function select(cond: u32, a: u32, b: u32): u32 {
  return alu3(Op.SELECT, cond, a, b);
}
/** Two words as a value of two components. */
export function vec2(a: u32, b: u32): u32 {
  const i = newInstr(Op.VEC, 32, 2, 2);
  setSrc(i, 0, a);
  setSrc(i, 1, b);
  return place0(i);
}
export function undef(width: u32): u32 {
  return place0(newInstr(Op.UNDEF, width, 1, 0));
}
export function extract(vector: u32, index: u32): u32 {
  const i = newInstrWith(Op.EXTRACT, SCALAR | 32, 1);
  firstSource(i, 0, vector);
  instrImm0[i] = index;
  return place0(i);
}
/** An instruction without sources and results: jumps, barriers. */
export function effect(op: u32, imm0: u32, imm1: u32): u32 {
  const i = newInstr(op, 0, 0, 0);
  setImm(i, 0, imm0);
  setImm(i, 1, imm1);
  return place0(i);
}
/** A system value: no sources, one immediate. */
export function system(op: u32, imm0: u32): u32 {
  const i = newInstr(op, 32, 1, 0);
  setImm(i, 0, imm0);
  return place0(i);
}
export function loadVar(variable: u32, width: u32): u32 {
  const i = newInstrWith(Op.LOAD_VAR, SCALAR | width, 0);
  instrImm0[i] = variable;
  return place0(i);
}
export function storeVar(variable: u32, value: u32): u32 {
  const i = newInstrWith(Op.STORE_VAR, 0, 1);
  firstSource(i, 0, value);
  instrImm0[i] = variable;
  return place0(i);
}
