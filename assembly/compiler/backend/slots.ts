/**
 * What is known of the registers that go to memory, or may: their places and costs, and which ones spilling made itself.
 * `pressure` weighs and marks, `allocate` marks, `spill` gives places.
 */
import { U32Column } from "../../base/index.ts";
import { PASS_BASE } from "../memory-map.ts";
import { MAX_VREGS, uEnd, vInfo, vUnit } from "./columns.ts";
import { vregSize } from "./machine.ts";

/** By leader: 0, or 1 + where its values are: dword of a lane's scratch, or lane of the spill VGPRs. The passes' tables are dead. */
export const vSlot = changetype<U32Column>(PASS_BASE);
/** By leader: reads and writes, weighed by the loops around them. */
export const vCost = changetype<U32Column>(PASS_BASE + ((<usize>MAX_VREGS) << 2));
/** By leader: the last look of `allocate` that counted it. */
export const vSeen = changetype<U32Column>(PASS_BASE + 2 * ((<usize>MAX_VREGS) << 2));
/** By register: the one that stands for it in the running instruction, its first component. */
export const vTemp = changetype<U32Column>(PASS_BASE + 3 * ((<usize>MAX_VREGS) << 2));

// Bits of `vInfo`.
/** Made by `spill`: spilling it would gain nothing. */
const TEMPORARY: u32 = 64;
/** Its lanes hold SGPRs. */
const LANES: u32 = 128;

/** Notes that spilling made the register. */
export function markTemporary(v: u32): void {
  vInfo[v] = vInfo[v] | TEMPORARY;
}
export function isTemporary(v: u32): bool {
  return (vInfo[v] & TEMPORARY) != 0;
}
/** Notes that the lanes of a VGPR hold SGPRs. */
export function markLaneRegister(v: u32): void {
  vInfo[v] = vInfo[v] | LANES | TEMPORARY;
}
export function isLaneRegister(v: u32): bool {
  return (vInfo[v] & LANES) != 0;
}

/** End of the last of a register's segments. */
export function endOf(v: u32): u32 {
  let end: u32 = 0;
  const size = vregSize(v);
  for (let k: u32 = 0; k < size; k++) end = max<u32>(end, uEnd[vUnit[v] + k]);
  return end;
}
