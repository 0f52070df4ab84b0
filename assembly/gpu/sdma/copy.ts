/** Memory to memory, page by page: what the copy engine and the command processor's DMA share. */
import { FaultKind, PacketValue, PageTable } from "../../gen/uapi.ts";
import { tick } from "../cu/smem.ts";
import { raise } from "../fault.ts";
import { afterWrite, beforeRead } from "../mem/l2.ts";
import { READ, translate, WRITE } from "../mem/translate.ts";

const PAGE: u64 = PageTable.PAGE_BYTES;
/** The clock counts instructions; a cache line moved counts as one. */
const TICK_BYTES: u64 = 64;

function leftInPage(va: u64): u64 {
  return PAGE - (va & (PAGE - 1));
}

/** Copies `bytes` upwards; stops at the first page that faults. False: a fault is raised. */
export function copyBytes(dst: u64, src: u64, bytes: u64): bool {
  tick((bytes + TICK_BYTES - 1) / TICK_BYTES);
  while (bytes > 0) {
    const run = min<u64>(bytes, min<u64>(leftInPage(dst), leftInPage(src)));
    const from = translate(src, READ);
    if (from == 0) return false;
    const to = translate(dst, WRITE);
    if (to == 0) return false;
    beforeRead(from, <usize>run);
    memory.copy(to, from, <usize>run);
    afterWrite(to, <usize>run);
    dst += run;
    src += run;
    bytes -= run;
  }
  return true;
}

/** Fills `bytes` (a multiple of the element's) with elements of `1 << shift` bytes, aligned to them. */
export function fillBytes(dst: u64, value: u32, shift: u32, bytes: u64): bool {
  tick((bytes + TICK_BYTES - 1) / TICK_BYTES);
  while (bytes > 0) {
    const run = min<u64>(bytes, leftInPage(dst));
    const to = translate(dst, WRITE);
    if (to == 0) return false;
    const end = to + <usize>run;
    if (shift == 0) memory.fill(to, <u8>value, <usize>run);
    else if (shift == 1) for (let at = to; at < end; at += 2) store<u16>(at, <u16>value);
    else for (let at = to; at < end; at += 4) store<u32>(at, value);
    afterWrite(to, <usize>run);
    dst += run;
    bytes -= run;
  }
  return true;
}

/** A dword that another queue or the CPU may be reading. */
export function storeVisible(address: u64, value: u32): void {
  const at = translate(address, WRITE);
  if (at == 0) return;
  atomic.store<u32>(at, value);
  afterWrite(at, 4);
}

/** Low half last, so that who sees it sees all 64 bits. */
export function storeVisible64(address: u64, value: u64): void {
  if (translate(address + 4, WRITE) == 0 || translate(address, WRITE) == 0) return;
  storeVisible(address + 4, <u32>(value >> 32));
  storeVisible(address, <u32>value);
}

/** The dword at `address` (aligned) as memory and L2 have it. */
export function readSettled(address: u64): u32 {
  const at = translate(address, READ);
  if (at == 0) return 0;
  beforeRead(at, 4);
  return load<u32>(at);
}

/** Whether the dword at `address`, masked, compares with `reference`; an unknown function or misalignment faults. */
export function compareMemory(compare: u32, address: u64, reference: u32, mask: u32): bool {
  if (compare > <u32>PacketValue.WAIT_GREATER || address & 3) {
    raise(FaultKind.MALFORMED_PACKET);
    return false;
  }
  const value = readSettled(address) & mask;
  switch (compare) {
    case PacketValue.WAIT_ALWAYS:
      return true;
    case PacketValue.WAIT_LESS:
      return value < reference;
    case PacketValue.WAIT_LESS_EQUAL:
      return value <= reference;
    case PacketValue.WAIT_EQUAL:
      return value == reference;
    case PacketValue.WAIT_NOT_EQUAL:
      return value != reference;
    case PacketValue.WAIT_GREATER_EQUAL:
      return value >= reference;
    default:
      return value > reference;
  }
}
