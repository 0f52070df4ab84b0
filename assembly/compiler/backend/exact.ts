/**
 * Helper lanes of the fragment stage. A shader that looks at its quad neighbours starts with EXEC as whole quads. One that
 * also writes memory, or that lanes may leave (demote), keeps the mask of the lanes that are pixels of the primitive in an
 * SGPR, and writes under it. Exports go by the mask where lanes may have left; else helpers may export, as the hardware
 * draws nothing outside what the primitive covers. Source: RDNA2 ISA, "Whole quad mode"; ACO exports with helpers too.
 */
import { Op, OpFlag, opFlags } from "../../gen/ir-ops.ts";
import { Op as Isa } from "../../gen/isa-ops.ts";
import { salu, saluNew } from "./build.ts";
import { newVreg, RegClass } from "./machine.ts";
import { EXEC } from "./values.ts";

const _FRAGMENT: u32 = 2;

let quads: bool = false;
let masked: bool = false;
let writes: bool = false;
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
  demoting = false;
  live = 0;
  open = false;
  writes = false;
}

/** What an op of the fragment stage needs. */
export function noteExact(op: u32): void {
  if ((opFlags(op) & OpFlag.WRITES) != 0 && op != Op.EXPORT && op != Op.STORE_SCRATCH) writes = true;
  if (op == Op.QUAD_PERM || op == Op.IMAGE_SAMPLE_QUAD || op == Op.IMAGE_QUERY_LOD) quads = true;
  if (op == Op.DEMOTE) demoting = true;
  if (op == Op.DEMOTE || op == Op.LOAD_HELPER) masked = true;
  if (quads && writes) masked = true;
}

/** Behind the arguments of the entry block. */
export function startExact(): void {
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
  if (demoting) salu(Isa.s_mov_b32, EXEC, live, 0);
}

/** demote. */
export function demote(): void {
  salu(Isa.s_andn2_b32, live, live, EXEC);
}
/** The lanes that are helpers, as a mask. */
export function helperMask(dst: u32): void {
  salu(Isa.s_not_b32, dst, live, 0);
}
