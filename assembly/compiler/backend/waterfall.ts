/**
 * Waterfall loops: an access whose descriptor differs from lane to lane runs once for each index that is among the lanes,
 * for the lanes that have it. In a lane's eyes it goes round the header until its index is the one that was read, then
 * through the body once: VGPRs that the body writes don't disturb the lanes that still wait.
 */
import { Op } from "../../gen/isa-ops.ts";
import { buildAt, buildBlock, inScalar, salu, saluNew, sopp, valu } from "./build.ts";
import { bDepth } from "./columns.ts";
import { addEdge, addLaneEdge, layOut, newBlock, newVreg, RegClass } from "./machine.ts";
import { EXEC } from "./values.ts";

let header: u32 = 0;
let saved: u32 = 0;
let waiting: u32 = 0;

function start(b: u32, depth: u32): void {
  bDepth[b] = depth;
  layOut(b);
  buildAt(b);
}

/** A loop has been started for this instruction. */
export function isWatering(): bool {
  return header != 0;
}

/** Starts the loop over the values of a VGPR; the scalar that the body works with. What is built next is the body. */
export function openWaterfall(index: u32): u32 {
  const before = buildBlock();
  const depth = bDepth[before] + 1;
  saved = newVreg(RegClass.SGPR, 1);
  salu(Op.s_mov_b32, saved, EXEC, 0);
  header = newBlock();
  addEdge(before, header);
  addLaneEdge(before, header);
  start(header, depth);
  const scalar = inScalar(index);
  const mask = newVreg(RegClass.SGPR, 1);
  valu(Op.v_cmp_eq_u32_e64, mask, scalar, index, 0, 0);
  waiting = saluNew(Op.s_and_saveexec_b32, mask, 0);
  const body = newBlock();
  addEdge(header, body);
  addLaneEdge(header, body);
  addLaneEdge(header, header);
  start(body, depth);
  return scalar;
}

/**
 * Of the lanes that the body works for, keeps those that share the value of a second VGPR, too: the others go on waiting.
 * The scalar that the rest of the body works with.
 */
export function narrowWaterfall(index: u32): u32 {
  const before = buildBlock();
  const scalar = inScalar(index);
  const mask = newVreg(RegClass.SGPR, 1);
  valu(Op.v_cmp_eq_u32_e64, mask, scalar, index, 0, 0);
  salu(Op.s_and_b32, EXEC, EXEC, mask);
  const body = newBlock();
  addEdge(before, body);
  addLaneEdge(before, body);
  addLaneEdge(before, header);
  start(body, bDepth[before]);
  return scalar;
}

/** Ends the loop if one was opened since the last call. */
export function closeWaterfall(): void {
  if (header == 0) return;
  const body = buildBlock();
  salu(Op.s_andn2_b32, EXEC, waiting, EXEC);
  sopp(Op.s_cbranch_execnz, header);
  addEdge(body, header);
  const after = newBlock();
  addEdge(body, after);
  addLaneEdge(body, after);
  start(after, bDepth[header] - 1);
  salu(Op.s_mov_b32, EXEC, saved, 0);
  header = 0;
}

export function resetWaterfall(): void {
  header = 0;
}
