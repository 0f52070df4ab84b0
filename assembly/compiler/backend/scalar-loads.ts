/**
 * Which storage-buffer loads may go through the scalar cache, which sees no vector store of this dispatch. Legal where
 * nothing that this invocation did before, nor a synchronisation with another one, can have changed the memory: the load
 * is uniform, not coherent, and no buffer write, atomic or ordering of buffer memory stands before it in tree order or in
 * a loop around it; a store to one binding only counts for loads of it, unless one of the two is aliased. What other
 * invocations write without synchronisation is a data race, whatever aliases what.
 */
import { spend } from "../../base/index.ts";
import { DYNAMIC_SET, InstrFlag, Op } from "../../gen/ir-ops.ts";
import { blockOf, componentsOf, flagsOf, imm, Kind, kindOf, opOf, parentOf, src } from "../ir/index.ts";
import { nodeInfo, valueNeed } from "./columns.ts";

/** Numbers in tree order of the first write of any buffer, and of the first that may be of each. */
let firstWrite: u32 = 0;
let firstAny: u32 = 0;

/** Bindings with plain stores: set, binding. Over the capacity every store counts as one to any buffer. */
const MAX_WRITTEN: u32 = 64;
const written = memory.data(64 * 8, 4);
let writtenCount: u32 = 0;

function isWritten(set: u32, binding: u32): bool {
  for (let k: u32 = 0; k < writtenCount; k++) {
    const at = written + ((<usize>k) << 3);
    if (load<u32>(at) == set && load<u32>(at + 4) == binding) return true;
  }
  return false;
}

/** Its own binding is all that the access reaches. */
function isPlain(i: u32): bool {
  return (flagsOf(i) & InstrFlag.ALIASED) == 0 && imm(i, 0) != DYNAMIC_SET;
}

/** 0 for what leaves buffers alone, `LOOP_WRITES` for a store to one binding, with `LOOP_ANY` for what orders or writes others. */
function writesOf(i: u32): u32 {
  switch (opOf(i)) {
    case Op.STORE_SSBO:
      if (!isPlain(i)) return LOOP_WRITES | LOOP_ANY;
      if (isWritten(imm(i, 0), imm(i, 1))) return LOOP_WRITES;
      if (writtenCount == MAX_WRITTEN) return LOOP_WRITES | LOOP_ANY;
      store<u32>(written + ((<usize>writtenCount) << 3), imm(i, 0));
      store<u32>(written + ((<usize>writtenCount) << 3) + 4, imm(i, 1));
      writtenCount++;
      return LOOP_WRITES;
    case Op.SSBO_ATOMIC:
    case Op.SSBO_ATOMIC_CMPSWAP:
    case Op.STORE_TEXEL:
    case Op.TEXEL_ATOMIC:
      return LOOP_WRITES | LOOP_ANY;
    case Op.BARRIER:
    case Op.MEMORY_BARRIER:
      return (imm(i, 1) & 1) != 0 ? LOOP_WRITES | LOOP_ANY : 0;
    default:
      return 0;
  }
}

/** Bits of `nodeInfo`: a loop in which buffers are written, or any buffer may be. Set here, kept by `control`. */
const LOOP_WRITES: u32 = 0x100;
const LOOP_ANY: u32 = 0x200;

/** No writes are known yet. */
export function startWrites(): void {
  firstWrite = 0xffffffff;
  firstAny = 0xffffffff;
  writtenCount = 0;
}

/** Notes what an instruction of block `b`, number `order` in tree order, writes; marks the loops around it. */
export function noteWrite(i: u32, b: u32, order: u32): void {
  const writes = writesOf(i);
  if (writes == 0) return;
  if (firstWrite == 0xffffffff) firstWrite = order;
  if ((writes & LOOP_ANY) != 0 && firstAny == 0xffffffff) firstAny = order;
  for (let n = parentOf(b); n != 0 && spend(1); n = parentOf(n)) {
    if (kindOf(n) == Kind.LOOP) nodeInfo[n] = nodeInfo[n] | writes;
  }
}

/** A uniform `load_ssbo` may use SMEM. */
export function isScalarLoad(i: u32): bool {
  if ((flagsOf(i) & (InstrFlag.COHERENT | InstrFlag.VOLATILE)) != 0) return false;
  // Through an address: vector loads.
  if (imm(i, 0) == DYNAMIC_SET && componentsOf(src(i, 1)) == 2) return false;
  const any = !isPlain(i) || isWritten(imm(i, 0), imm(i, 1));
  if (valueNeed[i] > (any ? firstWrite : firstAny)) return false;
  const writes: u32 = any ? LOOP_WRITES : LOOP_ANY;
  for (let n = parentOf(blockOf(i)); n != 0 && spend(1); n = parentOf(n)) {
    if (kindOf(n) == Kind.LOOP && (nodeInfo[n] & writes) != 0) return false;
  }
  return true;
}
