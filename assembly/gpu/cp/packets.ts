/** PM4 packets of the compute path. What is no row, or malformed, faults with the packet's address and header. */
import {
  AcquireMemBody,
  Control,
  DispatchDirectBody,
  EventWriteBody,
  FaultKind,
  IndirectBufferBody,
  InterruptSource,
  NopBody,
  PacketValue,
  Pm4,
  Pm4Header,
  pm4IndirectBufferChain,
  pm4IndirectBufferSizeDwords,
  pm4IndirectBufferValid,
  pm4IndirectBufferVmid,
  pm4ReleaseMemDataSel,
  pm4ReleaseMemDstSel,
  pm4ReleaseMemIntSel,
  pm4SetShRegOffset,
  pm4WriteDataDstSel,
  pm4WriteDataOneAddress,
  Queue,
  QueueState,
  RegisterSpace,
  ReleaseMemBody,
  SetBaseBody,
  SetShRegBody,
  ShReg,
  WriteDataBody,
} from "../../gen/uapi.ts";
import { now } from "../cu/smem.ts";
import { faultKind, raise, raiseDetail } from "../fault.ts";
import { Context } from "../layout.ts";
import { dropTranslations, READ, read32, translate, useVmid, WRITE, write32 } from "../mem/translate.ts";
import { contextOf, interrupt, queueWord, setQueueWord, takeControlWord } from "./control.ts";
import { startDispatch } from "./dispatch.ts";

const MAX_DEPTH: u32 = 2;

let context: usize = 0;
let queue: u32 = 0;
let inRing: bool = false;
/** Ring position or virtual address of the running packet's first body dword. */
let ringAt: u32 = 0;
let bodyAt: u64 = 0;
let ringBase: usize = 0;
let ringMask: u32 = 0;

function ringWord(index: u32): u32 {
  return load<u32>(ringBase + ((<usize>(index & ringMask)) << 2));
}

/** Body dword `i`. */
function body(i: u32): u32 {
  return inRing ? ringWord(ringAt + i) : read32(bodyAt + 4 * i, READ);
}

function body64(i: u32): u64 {
  return <u64>body(i) | ((<u64>body(i + 1)) << 32);
}

/** Has this queue packets to run? */
export function hasPackets(index: u32): bool {
  const at = contextOf(index);
  return load<u32>(at, Context.IB_LEFT) != 0 || queueWord(index, Queue.RPTR) != queueWord(index, Queue.WPTR);
}

/** Runs the queue's next packet. A fault is left raised. */
export function runPacket(index: u32): void {
  queue = index;
  context = contextOf(index);
  const left = load<u32>(context, Context.IB_LEFT);
  inRing = left == 0;
  let available = left;
  let header: u32;
  if (inRing) {
    useVmid(0);
    store<u32>(context, 0, Context.DEPTH);
    setQueueWord(queue, Queue.VMID, 0);
    ringBase = queueWord(queue, Queue.RING_BASE);
    const dwords = queueWord(queue, Queue.RING_DWORDS);
    ringMask = dwords - 1;
    const rptr = queueWord(queue, Queue.RPTR);
    available = queueWord(queue, Queue.WPTR) - rptr;
    const start = ringBase + ((<usize>(rptr & ringMask)) << 2);
    store<u64>(context, start, Context.PACKET);
    store<u32>(context, 0, Context.PACKET_HEADER);
    // The ring is the kernel's: a base outside memory or a size that is no power of two is its bug.
    if (dwords == 0 || dwords & ringMask || available > dwords || !ringReadable(dwords)) {
      raise(FaultKind.MALFORMED_PACKET);
      return;
    }
    header = ringWord(rptr);
    ringAt = rptr + 1;
  } else {
    useVmid(load<u32>(context, Context.VMID));
    const at = load<u64>(context, Context.IB_ADDRESS);
    store<u64>(context, at, Context.PACKET);
    store<u32>(context, 0, Context.PACKET_HEADER);
    header = read32(at, READ);
    if (faultKind != 0) return;
    bodyAt = at + 4;
  }
  store<u32>(context, header, Context.PACKET_HEADER);
  const count = (header >> Pm4Header.COUNT_LSB) & Pm4Header.COUNT_MASK;
  const opcode = (header >> Pm4Header.OPCODE_LSB) & 0xff;
  if (header == <u32>Pm4Header.TYPE2_FILLER) {
    consume(1);
    return;
  }
  if (header >> Pm4Header.TYPE_LSB != 3) {
    raise(FaultKind.UNKNOWN_PACKET);
    return;
  }
  if (opcode == Pm4.NOP && count == Pm4Header.ONE_DWORD_NOP_COUNT) {
    consume(1);
    return;
  }
  const size = count + 1;
  if (size + 1 > available) {
    raise(FaultKind.MALFORMED_PACKET);
    return;
  }
  // Nested buffers and dispatches change where the queue goes on, so step over the packet first.
  consume(size + 1);
  execute(opcode, size);
}

function ringReadable(dwords: u32): bool {
  for (let at: u32 = 0; at < dwords; at += 1024) if (translate(ringBase + ((<usize>at) << 2), READ) == 0) return false;
  return true;
}

function consume(dwords: u32): void {
  if (inRing) {
    setQueueWord(queue, Queue.RPTR, queueWord(queue, Queue.RPTR) + dwords);
    return;
  }
  const left = load<u32>(context, Context.IB_LEFT) - dwords;
  store<u64>(context, load<u64>(context, Context.IB_ADDRESS) + 4 * dwords, Context.IB_ADDRESS);
  store<u32>(context, left, Context.IB_LEFT);
  if (left == 0 && load<u32>(context, Context.DEPTH) > 1) {
    store<u32>(context, 1, Context.DEPTH);
    store<u64>(context, load<u64>(context, Context.SAVED_ADDRESS), Context.IB_ADDRESS);
    store<u32>(context, load<u32>(context, Context.SAVED_LEFT), Context.IB_LEFT);
  }
}

/** Does a body of `size` dwords fit the row's bounds? */
function fits(size: u32, least: u32, most: u32): bool {
  if (size >= least && size <= most) return true;
  raise(FaultKind.MALFORMED_PACKET);
  return false;
}

function execute(opcode: u32, size: u32): void {
  switch (opcode) {
    case Pm4.NOP:
      fits(size, NopBody.MIN_DWORDS, NopBody.MAX_DWORDS);
      return;
    case Pm4.SET_BASE:
      if (fits(size, SetBaseBody.MIN_DWORDS, SetBaseBody.MAX_DWORDS))
        store<u64>(context, body64(SetBaseBody.ADDRESS_LO), Context.BASE);
      return;
    case Pm4.SET_SH_REG:
      if (fits(size, SetShRegBody.MIN_DWORDS, SetShRegBody.MAX_DWORDS)) setShRegisters(size);
      return;
    case Pm4.DISPATCH_DIRECT: {
      if (!fits(size, DispatchDirectBody.MIN_DWORDS, DispatchDirectBody.MAX_DWORDS)) return;
      const x = body(DispatchDirectBody.GROUPS_X);
      const y = body(DispatchDirectBody.GROUPS_Y);
      const z = body(DispatchDirectBody.GROUPS_Z);
      const initiator = body(DispatchDirectBody.INITIATOR);
      if (faultKind == 0) startDispatch(queue, x, y, z, initiator);
      return;
    }
    case Pm4.INDIRECT_BUFFER:
      if (fits(size, IndirectBufferBody.MIN_DWORDS, IndirectBufferBody.MAX_DWORDS)) indirectBuffer();
      return;
    case Pm4.WRITE_DATA:
      if (fits(size, WriteDataBody.MIN_DWORDS, WriteDataBody.MAX_DWORDS)) writeData(size);
      return;
    case Pm4.RELEASE_MEM:
      if (fits(size, ReleaseMemBody.MIN_DWORDS, ReleaseMemBody.MAX_DWORDS)) releaseMem();
      return;
    case Pm4.ACQUIRE_MEM:
      // Caches are coherent in this model: nothing to invalidate.
      fits(size, AcquireMemBody.MIN_DWORDS, AcquireMemBody.MAX_DWORDS);
      return;
    case Pm4.EVENT_WRITE:
      // Packets run in order and a dispatch ends before the next packet: a partial flush has nothing to wait for.
      fits(size, EventWriteBody.MIN_DWORDS, EventWriteBody.MAX_DWORDS);
      return;
    default:
      raise(FaultKind.UNKNOWN_PACKET);
      return;
  }
}

/** SH registers that the model has, by byte offset. */
function isShRegister(offset: u32): bool {
  if (
    (offset - ShReg.COMPUTE_USER_DATA_0) >> 2 < <u32>ShReg.COMPUTE_USER_DATA_COUNT &&
    offset >= <u32>ShReg.COMPUTE_USER_DATA_0
  )
    return (offset & 3) == 0;
  switch (offset) {
    case ShReg.COMPUTE_DISPATCH_INITIATOR:
    case ShReg.COMPUTE_START_X:
    case ShReg.COMPUTE_START_Y:
    case ShReg.COMPUTE_START_Z:
    case ShReg.COMPUTE_NUM_THREAD_X:
    case ShReg.COMPUTE_NUM_THREAD_Y:
    case ShReg.COMPUTE_NUM_THREAD_Z:
    case ShReg.COMPUTE_PGM_LO:
    case ShReg.COMPUTE_PGM_HI:
    case ShReg.COMPUTE_DISPATCH_SCRATCH_BASE_LO:
    case ShReg.COMPUTE_DISPATCH_SCRATCH_BASE_HI:
    case ShReg.COMPUTE_PGM_RSRC1:
    case ShReg.COMPUTE_PGM_RSRC2:
    case ShReg.COMPUTE_RESOURCE_LIMITS:
    case ShReg.COMPUTE_TMPRING_SIZE:
    case ShReg.COMPUTE_PGM_RSRC3:
      return true;
    default:
      return false;
  }
}

function setShRegisters(size: u32): void {
  const first = RegisterSpace.SH + 4 * pm4SetShRegOffset(body(SetShRegBody.REGISTER));
  for (let i: u32 = 0; i < size - SetShRegBody.FIXED_DWORDS; i++) {
    const offset = first + 4 * i;
    if (!isShRegister(offset)) {
      raiseDetail(FaultKind.BAD_REGISTER_OFFSET, offset, 0);
      return;
    }
    const value = body(SetShRegBody.FIXED_DWORDS + i);
    if (faultKind != 0) return;
    store<u32>(context + Context.SH + <usize>(offset - RegisterSpace.SH), value);
  }
}

function indirectBuffer(): void {
  const address = body64(IndirectBufferBody.ADDRESS_LO);
  const control = body(IndirectBufferBody.CONTROL);
  if (faultKind != 0) return;
  const dwords = pm4IndirectBufferSizeDwords(control);
  if (!pm4IndirectBufferValid(control) || dwords == 0 || address & 3) {
    raise(FaultKind.MALFORMED_PACKET);
    return;
  }
  if (inRing) {
    // The kernel's ring write may be newer than this slice's look at the TLB word: look again before the job's first access.
    const stale = takeControlWord(Control.TLB_INVALIDATE);
    if (stale) dropTranslations(stale);
    const vmid = pm4IndirectBufferVmid(control);
    store<u32>(context, vmid, Context.VMID);
    store<u32>(context, 1, Context.DEPTH);
    setQueueWord(queue, Queue.VMID, vmid);
  } else if (!pm4IndirectBufferChain(control)) {
    if (load<u32>(context, Context.DEPTH) >= MAX_DEPTH) {
      raise(FaultKind.IB_DEPTH);
      return;
    }
    const left = load<u32>(context, Context.IB_LEFT);
    // The last packet of the outer buffer needs no way back.
    if (left != 0) {
      store<u64>(context, load<u64>(context, Context.IB_ADDRESS), Context.SAVED_ADDRESS);
      store<u32>(context, left, Context.SAVED_LEFT);
      store<u32>(context, MAX_DEPTH, Context.DEPTH);
    }
  }
  store<u64>(context, address, Context.IB_ADDRESS);
  store<u32>(context, dwords, Context.IB_LEFT);
}

function writeData(size: u32): void {
  const control = body(WriteDataBody.CONTROL);
  const address = body64(WriteDataBody.ADDRESS_LO);
  if (pm4WriteDataDstSel(control) != PacketValue.DST_MEMORY || address & 3) {
    raise(FaultKind.MALFORMED_PACKET);
    return;
  }
  const oneAddress = pm4WriteDataOneAddress(control) != 0;
  for (let i: u32 = 0; i < size - WriteDataBody.FIXED_DWORDS; i++) {
    const value = body(WriteDataBody.FIXED_DWORDS + i);
    if (faultKind != 0) return;
    write32(oneAddress ? address : address + 4 * i, value);
    if (faultKind != 0) return;
  }
}

function storeVisible(address: u64, value: u32): void {
  const at = translate(address, WRITE);
  if (at != 0) atomic.store<u32>(at, value);
}

function releaseMem(): void {
  const select = body(ReleaseMemBody.SELECT);
  const address = body64(ReleaseMemBody.ADDRESS_LO);
  let data = body64(ReleaseMemBody.DATA_LO);
  const contextId = body(ReleaseMemBody.CONTEXT_ID);
  if (faultKind != 0) return;
  const kind = pm4ReleaseMemDataSel(select);
  if (
    kind > <u32>PacketValue.DATA_TIMESTAMP ||
    pm4ReleaseMemDstSel(select) > 1 ||
    (kind != PacketValue.DATA_NONE && address & 3)
  ) {
    raise(FaultKind.MALFORMED_PACKET);
    return;
  }
  if (kind == PacketValue.DATA_TIMESTAMP) data = now();
  if (kind != PacketValue.DATA_NONE) {
    if (kind != PacketValue.DATA_32 && translate(address + 4, WRITE) == 0) return;
    storeVisible(address, <u32>data);
    if (kind != PacketValue.DATA_32) storeVisible(address + 4, <u32>(data >> 32));
    if (faultKind != 0) return;
  }
  if (pm4ReleaseMemIntSel(select) != PacketValue.INT_NONE) {
    interrupt(InterruptSource.END_OF_PIPE, queue, load<u32>(context, Context.VMID), contextId, data);
  }
}

/** Forgets everything of a queue but its registers' memory; the ring is drained. */
export function resetPackets(index: u32): void {
  const at = contextOf(index);
  memory.fill(at, 0, Context.CODE_TAGS);
  setQueueWord(index, Queue.RPTR, queueWord(index, Queue.WPTR));
  setQueueWord(index, Queue.STATE, QueueState.IDLE);
  setQueueWord(index, Queue.VMID, 0);
}
