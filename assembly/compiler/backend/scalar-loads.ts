/**
 * Which storage-buffer loads may go through the scalar cache, which sees no vector store of this dispatch. Legal where
 * nothing that this invocation did before, nor a synchronisation with another one, can have changed the memory: the load
 * is uniform, not coherent, and no buffer write, atomic or ordering of buffer memory stands before it in tree order or in
 * a loop around it. What other invocations write without synchronisation is a data race, whatever aliases what.
 */
import { spend } from "../../base/index.ts";
import { InstrFlag, Op } from "../../gen/ir-ops.ts";
import {
  blockOf,
  entryBlock,
  firstInstr,
  flagsOf,
  imm,
  Kind,
  kindOf,
  nextBlock,
  nextInstr,
  opOf,
  parentOf,
} from "../ir/index.ts";
import { nodeInfo, valueNeed } from "./columns.ts";

let firstWrite: u32 = 0;

/** Writes buffer memory or orders it. */
function writesBuffers(i: u32): bool {
  switch (opOf(i)) {
    case Op.STORE_SSBO:
    case Op.SSBO_ATOMIC:
    case Op.SSBO_ATOMIC_CMPSWAP:
    case Op.STORE_TEXEL:
    case Op.TEXEL_ATOMIC:
      return true;
    case Op.BARRIER:
    case Op.MEMORY_BARRIER:
      return (imm(i, 1) & 1) != 0;
    default:
      return false;
  }
}

/** Bit of `nodeInfo`: a loop in which buffers are written. Set here, kept by `control`. */
const LOOP_WRITES: u32 = 0x100;

/** Numbers instructions in tree order and marks the loops that write buffers. */
export function findBufferWrites(): void {
  firstWrite = 0xffffffff;
  let order: u32 = 0;
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    nodeInfo[b] = 0;
    if (parentOf(b) != 0) nodeInfo[parentOf(b)] = 0;
  }
  for (let b = entryBlock(); b != 0; b = nextBlock(b)) {
    for (let i = firstInstr(b); i != 0; i = nextInstr(i)) {
      valueNeed[i] = ++order;
      if (!writesBuffers(i)) continue;
      if (firstWrite == 0xffffffff) firstWrite = order;
      for (let n = parentOf(b); n != 0 && spend(1); n = parentOf(n)) {
        if (kindOf(n) == Kind.LOOP) nodeInfo[n] = nodeInfo[n] | LOOP_WRITES;
      }
    }
  }
}

/** A uniform `load_ssbo` may use SMEM. */
export function isScalarLoad(i: u32): bool {
  if ((flagsOf(i) & (InstrFlag.COHERENT | InstrFlag.VOLATILE)) != 0) return false;
  if (valueNeed[i] > firstWrite) return false;
  for (let n = parentOf(blockOf(i)); n != 0 && spend(1); n = parentOf(n)) {
    if (kindOf(n) == Kind.LOOP && (nodeInfo[n] & LOOP_WRITES) != 0) return false;
  }
  return true;
}
