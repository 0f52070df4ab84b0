/** PM4 packets of the compute path. What is no row, or malformed, faults with the packet's address and header. */
import {
  AcquireMemBody,
  Control,
  CopyDataBody,
  DispatchDirectBody,
  DispatchIndirectBody,
  DmaDataBody,
  EventWriteBody,
  FaultKind,
  IndirectBufferBody,
  NopBody,
  PacketValue,
  Pm4,
  Pm4Header,
  pm4EventWriteEventIndex,
  pm4EventWriteEventType,
  pm4IndirectBufferChain,
  pm4IndirectBufferSizeDwords,
  pm4IndirectBufferValid,
  pm4IndirectBufferVmid,
  pm4SetContextRegOffset,
  pm4SetShRegOffset,
  pm4SetUconfigRegOffset,
  Queue,
  RegisterSpace,
  ReleaseMemBody,
  SetBaseBody,
  SetContextRegBody,
  SetShRegBody,
  SetUconfigRegBody,
  WaitRegMemBody,
  WriteDataBody,
} from "../../gen/uapi.ts";
import { faultKind, raise, raiseDetail } from "../fault.ts";
import { Context, FILE_BYTES, REGISTER_FILES } from "../layout.ts";
import { cached } from "../mem/cache-state.ts";
import { settleQueue } from "../mem/stores.ts";
import { dropTranslations } from "../mem/translate.ts";
import { readSettled, storeVisible64 } from "../sdma/copy.ts";
import { setQueueWord, takeControlWord } from "./control.ts";
import { acquireMem, copyData, dmaData, releaseMem, waitRegMem, writeData } from "./data.ts";
import { startDispatch } from "./dispatch.ts";
import { setShRegister } from "./registers.ts";
import { available, block, consume, context, inRing, openPacket, queue, word, word64 } from "./stream.ts";

const MAX_DEPTH: u32 = 2;

/** Body dword `i`. */
function body(i: u32): u32 {
  return word(i + 1);
}

function body64(i: u32): u64 {
  return word64(i + 1);
}

/** Runs the queue's next packet. A fault is left raised. */
export function runPacket(index: u32): void {
  const header = openPacket(index);
  if (faultKind != 0) return;
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
  if (opcode == Pm4.WAIT_REG_MEM) {
    if (!fits(size, WaitRegMemBody.MIN_DWORDS, WaitRegMemBody.MAX_DWORDS)) return;
    if (waitRegMem()) consume(size + 1);
    else if (faultKind == 0) block();
    return;
  }
  // Nested buffers and dispatches change where the queue goes on, so step over the packet first.
  consume(size + 1);
  execute(opcode, size);
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
    case Pm4.SET_CONTEXT_REG:
      if (fits(size, SetContextRegBody.MIN_DWORDS, SetContextRegBody.MAX_DWORDS))
        setFile(size, pm4SetContextRegOffset(body(SetContextRegBody.REGISTER)), RegisterSpace.CONTEXT, 0);
      return;
    case Pm4.SET_UCONFIG_REG:
      if (fits(size, SetUconfigRegBody.MIN_DWORDS, SetUconfigRegBody.MAX_DWORDS))
        setFile(size, pm4SetUconfigRegOffset(body(SetUconfigRegBody.REGISTER)), RegisterSpace.UCONFIG, FILE_BYTES);
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
    case Pm4.DISPATCH_INDIRECT:
      if (fits(size, DispatchIndirectBody.MIN_DWORDS, DispatchIndirectBody.MAX_DWORDS)) dispatchIndirect();
      return;
    case Pm4.INDIRECT_BUFFER:
      if (fits(size, IndirectBufferBody.MIN_DWORDS, IndirectBufferBody.MAX_DWORDS)) indirectBuffer();
      return;
    case Pm4.WRITE_DATA:
      if (fits(size, WriteDataBody.MIN_DWORDS, WriteDataBody.MAX_DWORDS)) writeData(size);
      return;
    case Pm4.COPY_DATA:
      if (fits(size, CopyDataBody.MIN_DWORDS, CopyDataBody.MAX_DWORDS)) copyData();
      return;
    case Pm4.DMA_DATA:
      if (fits(size, DmaDataBody.MIN_DWORDS, DmaDataBody.MAX_DWORDS)) dmaData();
      return;
    case Pm4.RELEASE_MEM:
      if (fits(size, ReleaseMemBody.MIN_DWORDS, ReleaseMemBody.MAX_DWORDS)) releaseMem();
      return;
    case Pm4.ACQUIRE_MEM:
      if (fits(size, AcquireMemBody.MIN_DWORDS, AcquireMemBody.MAX_DWORDS)) acquireMem();
      return;
    case Pm4.EVENT_WRITE:
      if (fits(size, EventWriteBody.MIN_DWORDS, EventWriteBody.MAX_DWORDS)) eventWrite(size);
      return;
    default:
      raise(FaultKind.UNKNOWN_PACKET);
      return;
  }
}

/** Packets run in order and a dispatch ends before the next packet: a partial flush has nothing to wait for. */
function eventWrite(size: u32): void {
  const event = body(EventWriteBody.EVENT);
  const type = pm4EventWriteEventType(event);
  if (type == PacketValue.EVENT_SAMPLE_PIPELINESTAT) {
    const isSample = pm4EventWriteEventIndex(event) == PacketValue.EVENT_INDEX_SAMPLE_PIPELINESTAT;
    if (isSample && size == EventWriteBody.MAX_DWORDS) samplePipelineStatistics();
    else raise(FaultKind.MALFORMED_PACKET);
    return;
  }
  const flush =
    type == PacketValue.EVENT_CS_PARTIAL_FLUSH ||
    type == PacketValue.EVENT_VS_PARTIAL_FLUSH ||
    type == PacketValue.EVENT_PS_PARTIAL_FLUSH;
  const index = pm4EventWriteEventIndex(event);
  if (!flush || size != EventWriteBody.FIXED_DWORDS || index != PacketValue.EVENT_INDEX_CS_PARTIAL_FLUSH)
    raise(FaultKind.MALFORMED_PACKET);
  else if (cached) settleQueue(queue);
}

/** The queue's statistics to memory; there are no graphics stages to count. */
function samplePipelineStatistics(): void {
  const address = body64(EventWriteBody.FIXED_DWORDS);
  if (address & 7) raise(FaultKind.MALFORMED_PACKET);
  for (let i: u32 = 0; i < <u32>PacketValue.PIPELINESTAT_COUNTERS; i++) {
    if (faultKind != 0) return;
    const isCompute = i == <u32>PacketValue.PIPELINESTAT_CS_INVOCATIONS;
    storeVisible64(address + ((<u64>i) << 3), isCompute ? load<u64>(context, Context.INVOCATIONS) : 0);
  }
}

function dispatchIndirect(): void {
  const address = body64(DispatchIndirectBody.ADDRESS_LO);
  const initiator = body(DispatchIndirectBody.INITIATOR);
  if (address & 3) raise(FaultKind.MALFORMED_PACKET);
  if (faultKind != 0) return;
  const x = readSettled(address);
  const y = readSettled(address + 4);
  const z = readSettled(address + 8);
  if (faultKind == 0) startDispatch(queue, x, y, z, initiator);
}

/** Values into a queue's file of context or user configuration registers; nothing reads them before there is graphics. */
function setFile(size: u32, first: u32, space: u32, file: u32): void {
  const registers = REGISTER_FILES + <usize>(queue * 2 * FILE_BYTES + file);
  for (let i: u32 = 0; i < size - SetShRegBody.FIXED_DWORDS; i++) {
    const value = body(SetShRegBody.FIXED_DWORDS + i);
    if (faultKind != 0) return;
    const offset: u32 = 4 * (first + i);
    if (offset >= FILE_BYTES) {
      raiseDetail(FaultKind.BAD_REGISTER_OFFSET, space + offset, 0);
      return;
    }
    store<u32>(registers + <usize>offset, value);
  }
}

function setShRegisters(size: u32): void {
  const first = RegisterSpace.SH + 4 * pm4SetShRegOffset(body(SetShRegBody.REGISTER));
  for (let i: u32 = 0; i < size - SetShRegBody.FIXED_DWORDS; i++) {
    const value = body(SetShRegBody.FIXED_DWORDS + i);
    if (faultKind != 0) return;
    setShRegister(first + 4 * i, value);
    if (faultKind != 0) return;
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
