/**
 * Helper lanes of the fragment stage. A shader that looks at its quad neighbours starts with EXEC as whole quads. One that
 * also writes memory, or that lanes may leave (demote), keeps the mask of the lanes that are pixels of the primitive in an
 * SGPR, and writes under it. Exports go by the mask where lanes may have left; else helpers may export, as the hardware
 * draws nothing outside what the primitive covers. Where nothing is asked of helpers and all lanes come to each demote, lanes
 * that leave just end: EXEC loses them. Else EXEC loses quads without a pixel, at the demote or where all lanes meet
 * behind it. A wave without a pixel ends there when memory, images or loops come later. Where lanes see which others are
 * active EXEC stays. Source: RDNA2 ISA, "Whole quad mode"; ACO exports with helpers and ends empty waves too.
 */
import { Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import { Op as Isa } from "../../gen/isa-ops.ts";
import { blockOf, firstInstr, hasLoops, isNodeDivergent, nextInstr, opOf, parentOf } from "../ir/index.ts";
import { buildAt, buildBlock, constantOperand, raw, salu, saluNew, sopp } from "./build.ts";
import { bDepth, mImm, valueNeed } from "./columns.ts";
import { addEdge, addLaneEdge, layOut, newBlock, newVreg, RegClass } from "./machine.ts";
import { EXEC } from "./values.ts";

/** The word of an export that says only that there are no more. Source: RDNA2 ISA, EXP. */
const EXPORT_NULL: u32 = 9;
const EXPORT_DONE: u32 = 1 << 13;
const EXPORT_VALID: u32 = 1 << 14;

let quads: bool = false;
/** Lanes that leave end. */
let ending: bool = false;
let masked: bool = false;
let writes: bool = false;
/** Somebody asks which lanes help. */
let helpers: bool = false;
/** Other lanes than those of the quad see which are active. */
let watched: bool = false;
/** A demote that not all lanes come to. */
let branched: bool = false;
/** Number of the last instruction that goes by a descriptor or an address. */
let lastReach: u32 = 0;
let live: u32 = 0;
/** EXEC may hold quads without a pixel. */
let stale: bool = false;
/** Block that ends a wave without pixels; 0: nothing goes there. */
let exit: u32 = 0;
let demoting: bool = false;

/** Lanes may become helpers. */
export function demotes(): bool {
  return demoting;
}
/** A fragment shader that writes memory, which must not be lost where the tests fail later. */
export function writesMemory(): bool {
  return writes;
}
/** EXEC is not the lanes of control flow alone. */
export function keepsHelpers(): bool {
  return quads || masked || ending;
}
let saved: u32 = 0;
/** EXEC is narrowed now. */
let open: bool = false;

/** Nothing is known yet; `noteExact` finds whether the shader needs whole quads and the mask. */
export function startQuads(): void {
  quads = false;
  masked = false;
  ending = false;
  demoting = false;
  live = 0;
  open = false;
  writes = false;
  helpers = false;
  watched = false;
  branched = false;
  lastReach = 0;
  stale = false;
  exit = 0;
}

/** What an op of the fragment stage, in a block, needs; `order`: its number in the shader. */
export function noteExact(op: u32, block: u32, order: u32): void {
  const flags = opFlags(op);
  if ((flags & OpFlag.WRITES) != 0 && op != Op.EXPORT && op != Op.STORE_SCRATCH && op != Op.DEMOTE) writes = true;
  if (op == Op.QUAD_PERM || op == Op.IMAGE_SAMPLE_QUAD || op == Op.IMAGE_QUERY_LOD) quads = true;
  else if (op == Op.LOAD_HELPER) helpers = true;
  else if ((flags & OpFlag.WAVE) != 0) watched = true;
  if (reaches(op)) lastReach = order;
  if (op != Op.DEMOTE) return;
  demoting = true;
  if (!isUniformFlow(block)) branched = true;
}

/** True for what goes by a descriptor or an address. */
function reaches(op: u32): bool {
  if (op == Op.EXPORT || op == Op.DEMOTE) return false;
  if ((opFlags(op) & (OpFlag.READS | OpFlag.WRITES | OpFlag.OFFSET)) != 0) return true;
  return op == Op.SSBO_SIZE || op == Op.DESCRIPTOR_ADDRESS || (op >= <u32>Op.IMAGE_SAMPLE && op <= <u32>Op.TEXEL_COUNT);
}

/** True where all lanes that are left come to a block, each once. */
function isUniformFlow(block: u32): bool {
  for (let n = parentOf(block); n != 0; n = parentOf(n)) if (isNodeDivergent(n)) return false;
  return true;
}

/** Behind the arguments of the entry block. */
export function startExact(): void {
  ending = demoting && !quads && !watched && !branched;
  masked = helpers || (demoting && !ending) || (quads && writes);
  if (masked) {
    live = newVreg(RegClass.SGPR, 1);
    salu(Isa.s_mov_b32, live, EXEC, 0);
  }
  if (quads) salu(Isa.s_wqm_b32, EXEC, EXEC, 0);
}

/** Narrows EXEC to pixels, until `endPixels` behind the instruction. */
export function startPixels(): void {
  if (!masked) return;
  open = true;
  saved = saluNew(Isa.s_mov_b32, EXEC, 0);
  salu(Isa.s_and_b32, EXEC, EXEC, live);
}
export function endPixels(): void {
  if (open) salu(Isa.s_mov_b32, EXEC, saved, 0);
  open = false;
}
/** EXEC is the pixels that are left from here on: the end of the program. */
export function lastPixels(): void {
  if (demoting && !ending) salu(Isa.s_mov_b32, EXEC, live, 0);
}

/** With no lane left what looks uniform may be wrong: no loop and no address may depend on it behind number `order`. */
function mustExit(order: u32): bool {
  return hasLoops() || order < lastReach;
}

/** Goes on in a new block where EXEC has a lane, else ends the wave. */
function exitIfEmpty(): void {
  const before = buildBlock();
  if (exit == 0) exit = newBlock();
  sopp(Isa.s_cbranch_execz, exit);
  addEdge(before, exit);
  const after = newBlock();
  addEdge(before, after);
  addLaneEdge(before, after);
  startMachineBlock(after, bDepth[before]);
}
function startMachineBlock(b: u32, depth: u32): void {
  bDepth[b] = depth;
  layOut(b);
  buildAt(b);
}
/** Behind the last block: where waves without pixels end. */
export function finishExact(): void {
  if (exit == 0) return;
  startMachineBlock(exit, 0);
  const i = raw(Isa.exp);
  mImm[i] = EXPORT_NULL | EXPORT_DONE | EXPORT_VALID;
  sopp(Isa.s_endpgm, 0);
}

/** EXEC to the quads that still have a pixel, or the pixels. */
function narrow(): void {
  stale = false;
  if (quads) salu(Isa.s_wqm_b32, EXEC, live, 0);
  else salu(Isa.s_and_b32, EXEC, EXEC, live);
  exitIfEmpty();
}

/** At the start of an IR block, where all lanes may meet again behind a demote. */
export function meetAgain(block: u32): void {
  if (!stale) return;
  let first = firstInstr(block);
  while (first != 0 && opOf(first) == Op.PHI) first = nextInstr(first);
  if (first != 0 && mustExit(valueNeed[first]) && isUniformFlow(block)) narrow();
}

/** demote `i` of all active lanes, or of those in the mask `where` (not 0). Bits of it outside EXEC may be anything. */
export function demote(i: u32, where: u32): void {
  const block = blockOf(i);
  const exits = mustExit(valueNeed[i]);
  if (ending) {
    if (where == 0) salu(Isa.s_mov_b32, EXEC, constantOperand(0), 0);
    else salu(Isa.s_andn2_b32, EXEC, EXEC, where);
    if (exits) exitIfEmpty();
    return;
  }
  const uniform = isUniformFlow(block);
  let lost = where == 0 ? EXEC : where;
  if (where != 0 && !uniform) lost = saluNew(Isa.s_and_b32, where, EXEC);
  salu(Isa.s_andn2_b32, live, live, lost);
  stale = !watched;
  if (stale && uniform && exits) narrow();
}
/** The lanes that are helpers, as a mask. */
export function helperMask(dst: u32): void {
  salu(Isa.s_not_b32, dst, live, 0);
}
