/**
 * Helper lanes of the fragment stage. A shader that looks at its quad neighbours starts with EXEC as whole quads. One that
 * also writes memory, or that lanes may leave (demote), keeps the mask of the lanes that are pixels of the primitive in an
 * SGPR, and writes under it. Exports go by the mask where lanes may have left; else helpers may export, as the hardware
 * draws nothing outside what the primitive covers. Where nothing is asked of helpers and all lanes come to each demote, lanes
 * that leave just end: EXEC loses them. Source: RDNA2 ISA, "Whole quad mode"; ACO exports with helpers too.
 */
import { Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import { Op as Isa } from "../../gen/isa-ops.ts";
import { hasLoops, isNodeDivergent, parentOf } from "../ir/index.ts";
import { constantOperand, salu, saluNew } from "./build.ts";
import { newVreg, RegClass } from "./machine.ts";
import { EXEC } from "./values.ts";

let quads: bool = false;
/** Lanes that leave end. */
let ending: bool = false;
let masked: bool = false;
let writes: bool = false;
/** Somebody asks which lanes help. */
let helpers: bool = false;
/** Other lanes see which are active, or what an address or a loop hangs on comes behind a demote. */
let others: bool = false;
let live: u32 = 0;
let demoting: bool = false;

/** Lanes may become helpers. */
export function demotes(): bool {
  return demoting;
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
  others = false;
}

/** What an op of the fragment stage, in a block, needs. */
export function noteExact(op: u32, block: u32): void {
  const flags = opFlags(op);
  if ((flags & OpFlag.WRITES) != 0 && op != Op.EXPORT && op != Op.STORE_SCRATCH) writes = true;
  if ((flags & OpFlag.WAVE) != 0) others = true;
  if (op == Op.QUAD_PERM || op == Op.IMAGE_SAMPLE_QUAD || op == Op.IMAGE_QUERY_LOD) quads = true;
  if (op == Op.LOAD_HELPER) helpers = true;
  if (demoting && reaches(op)) others = true;
  if (op != Op.DEMOTE) return;
  demoting = true;
  if (!isUniformFlow(block)) others = true;
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
  // With no lane left what looks uniform may be wrong: no loop and no address may depend on it.
  ending = demoting && !quads && !others && !hasLoops();
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

/** demote of all active lanes, or of those in the mask `where` (not 0). Bits of it outside EXEC may be anything. */
export function demote(where: u32, block: u32): void {
  if (ending) {
    if (where == 0) salu(Isa.s_mov_b32, EXEC, constantOperand(0), 0);
    else salu(Isa.s_andn2_b32, EXEC, EXEC, where);
    return;
  }
  let lost = where == 0 ? EXEC : where;
  if (where != 0 && !isUniformFlow(block)) lost = saluNew(Isa.s_and_b32, where, EXEC);
  salu(Isa.s_andn2_b32, live, live, lost);
}
/** The lanes that are helpers, as a mask. */
export function helperMask(dst: u32): void {
  salu(Isa.s_not_b32, dst, live, 0);
}
