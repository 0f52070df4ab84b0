/**
 * The dependence graph of a region: instructions of one block that `schedule` may reorder. Built from the last instruction
 * to the first, so that a node's edges (all to later instructions) stand side by side and its height, the longest way to
 * the end of the region in cycles, is known at once. Nodes are numbered from the end.
 *
 * Edges: a register's write to its reads, reads to the next write, writes in order; memory by class (`alias`), a load only
 * against stores; SCC's write to its reads, with no other write of SCC between them. VCC and M0 are one register more.
 * O(operands): lists of readers are emptied by the write that comes before them.
 */
import { Latency } from "../../gen/isa-latencies.ts";
import { Format, opFormat } from "../../gen/isa-ops.ts";
import { ALIAS_FIRST, ALIAS_UNSET } from "./alias.ts";
import { bDepth, flowBytes, mAlias, mDst0, mDst1, mMods, mOp, mSrc0, uEvents } from "./columns.ts";
import { Trait, traits } from "./latency.ts";
import {
  Hw,
  hwCode,
  isVreg,
  Mod,
  operandSize,
  operandUnit,
  operandVreg,
  RegClass,
  source,
  units,
  vregClass,
} from "./machine.ts";

/** Instructions of a region; longer ones are cut. */
export const MAX_NODES: u32 = 512;

// A node: 32 bytes.
const NODES: usize = changetype<usize>(flowBytes);
/** Instruction. */
export const N_INSTR: usize = 0;
/** Cycles from its issue to the end of the region. */
export const N_HEIGHT: usize = 4;
/** First edge; one past the last is the first of node + 1. */
export const N_EDGES: usize = 8;
/** Edges to it from nodes that are not yet scheduled; bit 31: it is scheduled. */
export const N_WAITING: usize = 12;
/** Cycle from which on it may issue without a stall. */
export const N_READY: usize = 16;
export const N_TRAITS: usize = 20;
/** Units that it defines: VGPRs in [7:0], SGPRs in [15:8]. */
export const N_DEFINES: usize = 24;

/** Edges: node in [15:0], latency in [31:16]. */
const EDGES: usize = NODES + 0x1_0000;
/** Links: node in [15:0], next link in [31:16]. */
const LINKS: usize = NODES + 0x20_0000;

// A unit: words of its row that `liveness` fills later.
const U_REGION: usize = 0;
/** Next write in the region: node + 1. */
const U_WRITER: usize = 4;
/** Reads up to that write: link. */
const U_READERS: usize = 8;
/** Reads that are not yet scheduled, from `LIVE_OUT` on where it is read behind the region. */
const U_READS: usize = 12;
/** It is read below, as far as the layout says. */
const U_LIVE: usize = 16;
/** Written in the region. */
const U_WRITTEN: usize = 20;
/** The unit that a copy in the region gives this one's value to, + 1. */
const U_COPY: usize = 24;
const LIVE_OUT: u32 = 0x8000_0000;

/** The unit that stands for VCC and M0; no register has it. */
const FIXED_UNIT: u32 = 0;

export let nodeCount: u32 = 0;
/** Units that live at the place that the walk has reached, by class; most of them in the region. */
let liveVgprs: i32 = 0;
let liveSgprs: i32 = 0;
export let peakVgprs: i32 = 0;
export let peakSgprs: i32 = 0;

let region: u32 = 0;
let looped: bool = false;
let edgeEnd: usize = 0;
let linkEnd: u32 = 0;
let height: u32 = 0;
let latency: u32 = 0;
let node: u32 = 0;

export function nodeAt(k: u32): usize {
  return NODES + ((<usize>k) << 5);
}
export function edgeAt(k: u32): usize {
  return EDGES + ((<usize>k) << 2);
}
function unitAt(u: u32): usize {
  return changetype<usize>(uEvents) + ((<usize>u) << 5);
}

/** Begins the walk over a function's blocks, which goes from the last one to the first. */
export function resetGraph(): void {
  memory.fill(unitAt(0), 0, (<usize>units()) << 5);
  region = 0;
  liveVgprs = 0;
  liveSgprs = 0;
}

// Memory: by slot the next store, node + 1, and the loads before it.
const ANY_SLOT: u32 = 0;
const BUFFER_SLOTS: u32 = 16;
const LDS_SLOT: u32 = 16;
const SCRATCH_SLOT: u32 = 17;
const SLOTS: u32 = 18;
const NO_SLOT: u32 = 0xff;
const slotStore = memory.data(18 * 4, 4);
const slotLoads = memory.data(18 * 4, 4);
let stored: bool = false;

/** First reader of SCC below, node + 1, or `SCC_BEHIND` the region; 0: the next writer writes for nobody. */
let sccReader: u32 = 0;
const SCC_BEHIND: u32 = 0xffff;
/** The next writer whose SCC is read, node + 1; the writers before it that nobody reads. */
let sccWriter: u32 = 0;
let sccIdle: u32 = 0;
/** SCC is read behind the place that the walk has reached. */
let sccLive: bool = false;

/** Begins a region of block `b` that ends where the walk stands. */
export function openRegion(b: u32): void {
  region++;
  nodeCount = 0;
  edgeEnd = EDGES;
  linkEnd = 1;
  looped = bDepth[b] != 0;
  peakVgprs = liveVgprs;
  peakSgprs = liveSgprs;
  memory.fill(slotStore, 0, SLOTS * 4);
  memory.fill(slotLoads, 0, SLOTS * 4);
  stored = false;
  sccReader = sccLive ? SCC_BEHIND : 0;
  sccWriter = 0;
  sccIdle = 0;
}
/** Ends it; nodes know where their edges end. */
export function closeRegion(): void {
  store<u32>(nodeAt(nodeCount), <u32>((edgeEnd - EDGES) >> 2), N_EDGES);
  sccLive = sccReader != 0;
}
/** SCC is read by nobody at the end of a block. */
export function openBlock(): void {
  sccLive = false;
}

function edge(to: u32, cycles: u32): void {
  const at = nodeAt(to);
  height = max<u32>(height, cycles + load<u32>(at, N_HEIGHT));
  // The components of a tuple: one edge is enough, the latency is the same.
  if (edgeEnd > firstEdge && load<u32>(edgeEnd - 4) == (to | (cycles << 16))) return;
  store<u32>(at, load<u32>(at, N_WAITING) + 1, N_WAITING);
  store<u32>(edgeEnd, to | (cycles << 16));
  edgeEnd += 4;
}
let firstEdge: usize = 0;

function link(to: u32, next: u32): u32 {
  store<u32>(LINKS + ((<usize>linkEnd) << 2), to | (next << 16));
  return linkEnd++;
}
/** Edges to all of a list but the node itself. */
function edgesTo(list: u32, cycles: u32): void {
  for (let l = list; l != 0; ) {
    const entry = load<u32>(LINKS + ((<usize>l) << 2));
    if ((entry & 0xffff) != node) edge(entry & 0xffff, cycles);
    l = entry >> 16;
  }
}

function touch(at: usize): void {
  if (load<u32>(at, U_REGION) == region) return;
  store<u32>(at, region, U_REGION);
  store<u32>(at, 0, U_WRITER);
  store<u32>(at, 0, U_READERS);
  store<u32>(at, load<u32>(at, U_LIVE) != 0 ? LIVE_OUT : 0, U_READS);
  store<u32>(at, 0, U_WRITTEN);
  store<u32>(at, 0, U_COPY);
}

function count(regClass: u32, change: i32): void {
  if (regClass == RegClass.VGPR) liveVgprs += change;
  else liveSgprs += change;
}

/** The unit of an operand that is no virtual register; units() where it is no register at all. */
function isFixed(operand: u32): bool {
  const code = hwCode(operand);
  return code < <u32>Hw.NULL || (code >= <u32>Hw.VGPR0 && code < <u32>Hw.VGPR0 + 256);
}

function writeUnit(u: u32, regClass: u32): void {
  const at = unitAt(u);
  touch(at);
  const readers = load<u32>(at, U_READERS);
  const writer = load<u32>(at, U_WRITER);
  if (readers != 0) edgesTo(readers, latency);
  else if (writer != 0) edge(writer - 1, 1);
  // A register that a copy hands on to one of other writers (a phi's): its old readers come before this write, so that both can be one register.
  const copied = load<u32>(at, U_COPY);
  if (copied != 0) {
    const phi = unitAt(copied - 1);
    if (load<u32>(phi, U_READERS) == 0) store<u32>(phi, node + 1, U_WRITER);
    store<u32>(at, 0, U_COPY);
  }
  store<u32>(at, node + 1, U_WRITER);
  store<u32>(at, 0, U_READERS);
  store<u32>(at, 1, U_WRITTEN);
  if (load<u32>(at, U_LIVE) != 0) {
    store<u32>(at, 0, U_LIVE);
    count(regClass, -1);
  } else if (looped && load<u32>(at, U_READS) == 0) {
    // Read in the next round.
    store<u32>(at, LIVE_OUT, U_READS);
  }
}

function readUnit(u: u32, regClass: u32): void {
  const at = unitAt(u);
  touch(at);
  const writer = load<u32>(at, U_WRITER);
  if (writer != 0 && writer != node + 1) edge(writer - 1, 0);
  store<u32>(at, link(node, load<u32>(at, U_READERS)), U_READERS);
  store<u32>(at, load<u32>(at, U_READS) + 1, U_READS);
  if (load<u32>(at, U_LIVE) == 0) {
    store<u32>(at, 1, U_LIVE);
    count(regClass, 1);
  }
}

function writes(operand: u32): void {
  if (operand == 0) return;
  if (!isVreg(operand)) {
    if (isFixed(operand)) writeUnit(FIXED_UNIT, RegClass.SGPR);
    return;
  }
  const regClass = vregClass(operandVreg(operand));
  const first = operandUnit(operand);
  const size = operandSize(operand);
  for (let k: u32 = 0; k < size; k++) writeUnit(first + k, regClass);
  const row = nodeAt(node);
  store<u32>(row, load<u32>(row, N_DEFINES) + (regClass == RegClass.VGPR ? size : size << 8), N_DEFINES);
}
function reads(operand: u32): void {
  if (operand == 0) return;
  if (!isVreg(operand)) {
    if (isFixed(operand)) readUnit(FIXED_UNIT, RegClass.SGPR);
    return;
  }
  const regClass = vregClass(operandVreg(operand));
  const first = operandUnit(operand);
  const size = operandSize(operand);
  for (let k: u32 = 0; k < size; k++) readUnit(first + k, regClass);
}

function slotWord(table: usize, slot: u32): usize {
  return table + ((<usize>slot) << 2);
}
function slotEdges(slot: u32, withLoads: bool): void {
  const next = load<u32>(slotWord(slotStore, slot));
  if (next != 0) edge(next - 1, 1);
  if (withLoads) edgesTo(load<u32>(slotWord(slotLoads, slot)), 1);
}

/** The place of an access among those that may meet; `NO_SLOT` for what nothing writes. */
function slotOf(i: u32, t: u32): u32 {
  if ((t & Trait.LDS) != 0) return LDS_SLOT;
  if ((t & Trait.SCRATCH) != 0) return SCRATCH_SLOT;
  const alias = mAlias[i];
  if (alias == ALIAS_UNSET && opFormat(mOp[i]) == Format.SMEM) return NO_SLOT;
  return alias < ALIAS_FIRST ? ANY_SLOT : alias - ALIAS_FIRST + 1;
}

function accesses(i: u32, t: u32): void {
  let slot = slotOf(i, t);
  if (slot == NO_SLOT) return;
  // A coherent or volatile load keeps its place among all accesses.
  const strict = (t & Trait.WRITES) == 0 && (mMods[i] & (Mod.GLC | Mod.DLC)) != 0;
  if ((t & Trait.WRITES) == 0 && !strict) {
    if (stored) {
      if (slot == ANY_SLOT) for (let s: u32 = 0; s < BUFFER_SLOTS; s++) slotEdges(s, false);
      else slotEdges(slot, false);
      if (slot < BUFFER_SLOTS && slot != ANY_SLOT) slotEdges(ANY_SLOT, false);
    }
    store<u32>(slotWord(slotLoads, slot), link(node, load<u32>(slotWord(slotLoads, slot))));
    return;
  }
  stored = true;
  if (strict || (slot < BUFFER_SLOTS && load<u32>(slotWord(slotLoads, ANY_SLOT)) != 0)) slot = ANY_SLOT;
  if (slot != ANY_SLOT) {
    slotEdges(slot, true);
    if (slot < BUFFER_SLOTS) slotEdges(ANY_SLOT, false);
  } else {
    for (let s: u32 = 0; s < BUFFER_SLOTS; s++) {
      slotEdges(s, true);
      store<u32>(slotWord(slotStore, s), 0);
      store<u32>(slotWord(slotLoads, s), 0);
    }
  }
  store<u32>(slotWord(slotStore, slot), node + 1);
  store<u32>(slotWord(slotLoads, slot), 0);
}

function writesScc(): void {
  if (sccReader != 0) {
    // Readers are in order: the first of them is enough.
    if (sccReader != SCC_BEHIND) edge(sccReader - 1, Latency.SCALAR);
    sccReader = 0;
    sccWriter = node + 1;
    return;
  }
  if (sccWriter != 0) edge(sccWriter - 1, 1);
  sccIdle = link(node, sccIdle);
}
function readsScc(): void {
  if (sccReader == 0) {
    edgesTo(sccIdle, 0);
    if (sccWriter != 0 && sccWriter != node + 1) edge(sccWriter - 1, 0);
    sccIdle = 0;
    sccWriter = 0;
  } else if (sccReader != SCC_BEHIND) {
    edge(sccReader - 1, 0);
  }
  sccReader = node + 1;
}

/** Adds an instruction in front of the region. */
export function addNode(i: u32): void {
  const op = mOp[i];
  const t = traits(op);
  const isCopy = (mMods[i] & Mod.COPY) != 0;
  node = nodeCount++;
  const row = nodeAt(node);
  latency = isCopy ? 0 : t & Trait.LATENCY;
  height = latency;
  firstEdge = edgeEnd;
  store<u32>(row, i, N_INSTR);
  store<u32>(row, <u32>((edgeEnd - EDGES) >> 2), N_EDGES);
  store<u32>(row, 0, N_WAITING);
  store<u32>(row, 0, N_READY);
  store<u32>(row, isCopy ? t & ~((<u32>Trait.ISSUE) << Trait.ISSUE_SHIFT) : t, N_TRAITS);
  store<u32>(row, 0, N_DEFINES);
  if (isCopy && isVreg(mSrc0[i]) && isVreg(mDst0[i])) {
    writes(mDst0[i]);
    reads(mSrc0[i]);
    store<u32>(unitAt(operandUnit(mSrc0[i])), operandUnit(mDst0[i]) + 1, U_COPY);
  } else {
    writes(mDst0[i]);
    writes(mDst1[i]);
    if ((t & Trait.WRITES_FIXED) != 0) writeUnit(FIXED_UNIT, RegClass.SGPR);
    if ((t & Trait.TIED) != 0) reads(mDst0[i]);
    for (let s: u32 = 0; s < 4; s++) reads(source(i, s));
    if ((t & Trait.READS_FIXED) != 0) readUnit(FIXED_UNIT, RegClass.SGPR);
    if ((t & (Trait.READS | Trait.WRITES)) != 0) accesses(i, t);
    if ((t & Trait.WRITES_SCC) != 0) writesScc();
    if ((t & Trait.READS_SCC) != 0) readsScc();
  }
  store<u32>(row, height, N_HEIGHT);
  peakVgprs = max<i32>(peakVgprs, liveVgprs);
  peakSgprs = max<i32>(peakSgprs, liveSgprs);
}

function passUnits(operand: u32, isWrite: bool): void {
  if (!isVreg(operand)) return;
  const regClass = vregClass(operandVreg(operand));
  const first = operandUnit(operand);
  const size = operandSize(operand);
  for (let k: u32 = 0; k < size; k++) {
    const at = unitAt(first + k);
    if ((load<u32>(at, U_LIVE) != 0) != isWrite) continue;
    store<u32>(at, isWrite ? 0 : 1, U_LIVE);
    count(regClass, isWrite ? -1 : 1);
  }
}
/** Steps over an instruction that belongs to no region. */
export function passInstr(i: u32): void {
  const t = traits(mOp[i]);
  passUnits(mDst0[i], true);
  passUnits(mDst1[i], true);
  for (let s: u32 = 0; s < 4; s++) passUnits(source(i, s), false);
  if ((t & Trait.TIED) != 0) passUnits(mDst0[i], false);
}
/** What such an instruction does with SCC. */
export function passScc(writesIt: bool, readsIt: bool): void {
  if (writesIt) sccLive = false;
  if (readsIt) sccLive = true;
}

// Live units while the new order is made.

export let vgprs: i32 = 0;
export let sgprs: i32 = 0;

/** At the start of the region. */
export function startPressure(): void {
  vgprs = liveVgprs;
  sgprs = liveSgprs;
}

function dies(at: usize): bool {
  return load<u32>(at, U_READS) == 1 && (!looped || load<u32>(at, U_WRITTEN) != 0);
}

/** Units that scheduling the instruction adds, less those that it frees: VGPRs, or SGPRs. */
export function pressureOf(i: u32, regClass: u32): i32 {
  let change: i32 = 0;
  for (let s: u32 = 0; s < 4; s++) {
    const operand = source(i, s);
    if (!isVreg(operand) || vregClass(operandVreg(operand)) != regClass) continue;
    const first = operandUnit(operand);
    const size = operandSize(operand);
    for (let k: u32 = 0; k < size; k++) if (dies(unitAt(first + k))) change--;
  }
  for (let d: u32 = 0; d < 2; d++) {
    const operand = d == 0 ? mDst0[i] : mDst1[i];
    if (!isVreg(operand) || vregClass(operandVreg(operand)) != regClass) continue;
    const first = operandUnit(operand);
    const size = operandSize(operand);
    for (let k: u32 = 0; k < size; k++) if (load<u32>(unitAt(first + k), U_READS) != 0) change++;
  }
  return change;
}

function takeReads(operand: u32): void {
  if (!isVreg(operand)) return;
  const regClass = vregClass(operandVreg(operand));
  const first = operandUnit(operand);
  const size = operandSize(operand);
  for (let k: u32 = 0; k < size; k++) {
    const at = unitAt(first + k);
    if (dies(at)) {
      if (regClass == RegClass.VGPR) vgprs--;
      else sgprs--;
    }
    store<u32>(at, load<u32>(at, U_READS) - 1, U_READS);
  }
}
function takeWrites(operand: u32): void {
  if (!isVreg(operand)) return;
  const regClass = vregClass(operandVreg(operand));
  const first = operandUnit(operand);
  const size = operandSize(operand);
  for (let k: u32 = 0; k < size; k++) {
    if (load<u32>(unitAt(first + k), U_READS) == 0) continue;
    if (regClass == RegClass.VGPR) vgprs++;
    else sgprs++;
  }
}
/** The instruction of a node is scheduled. */
export function takeNode(row: usize): void {
  const i = load<u32>(row, N_INSTR);
  for (let s: u32 = 0; s < 4; s++) takeReads(source(i, s));
  if ((load<u32>(row, N_TRAITS) & Trait.TIED) != 0) takeReads(mDst0[i]);
  takeWrites(mDst0[i]);
  takeWrites(mDst1[i]);
}
