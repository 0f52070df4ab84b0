/** Packets that move data or wait on it. Body dwords count from the one after the header. */
import {
  AcquireMemBody,
  CopyDataBody,
  DmaDataBody,
  FaultKind,
  InterruptSource,
  PacketValue,
  pm4AcquireMemGl1Inv,
  pm4AcquireMemGl2Inv,
  pm4AcquireMemGl2Wb,
  pm4AcquireMemGlkInv,
  pm4AcquireMemGlvInv,
  pm4CopyDataCountSel,
  pm4CopyDataDstSel,
  pm4CopyDataSrcSel,
  pm4DmaDataByteCount,
  pm4DmaDataDstSel,
  pm4DmaDataSrcSel,
  pm4ReleaseMemDataSel,
  pm4ReleaseMemDstSel,
  pm4ReleaseMemGl1Inv,
  pm4ReleaseMemGl2Inv,
  pm4ReleaseMemGl2Wb,
  pm4ReleaseMemGlvInv,
  pm4ReleaseMemIntSel,
  pm4WaitRegMemFunction,
  pm4WaitRegMemMemSpace,
  pm4WriteDataDstSel,
  pm4WriteDataOneAddress,
  ReleaseMemBody,
  WaitRegMemBody,
  WriteDataBody,
} from "../../gen/uapi.ts";
import { now } from "../cu/smem.ts";
import { faultKind, raise } from "../fault.ts";
import { Context } from "../layout.ts";
import { cached } from "../mem/cache-state.ts";
import { invalidateAllGl0, invalidateAllGl1, invalidateAllScalar } from "../mem/hierarchy.ts";
import { l2Invalidate, l2WriteBack } from "../mem/l2.ts";
import { settleQueue } from "../mem/stores.ts";
import { translate, WRITE } from "../mem/translate.ts";
import { compareMemory, copyBytes, fillBytes, readSettled, storeVisible, storeVisible64 } from "../sdma/copy.ts";
import { interrupt } from "./control.ts";
import { setShRegister } from "./registers.ts";
import { context, queue, word, word64 } from "./stream.ts";

function body(i: u32): u32 {
  return word(i + 1);
}

function body64(i: u32): u64 {
  return word64(i + 1);
}

export function writeData(size: u32): void {
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
    storeVisible(oneAddress ? address : address + 4 * i, value);
    if (faultKind != 0) return;
  }
}

export function copyData(): void {
  const control = body(CopyDataBody.CONTROL);
  const src = body64(CopyDataBody.SRC_LO);
  const dst = body64(CopyDataBody.DST_LO);
  if (faultKind != 0) return;
  const wide = pm4CopyDataCountSel(control) != 0;
  const toRegister = pm4CopyDataDstSel(control) == PacketValue.COPY_REGISTER;
  const dstSel = pm4CopyDataDstSel(control);
  const dstMemory = dstSel == PacketValue.COPY_L2 || dstSel == PacketValue.COPY_DST_MEMORY;
  let value: u64 = 0;
  switch (pm4CopyDataSrcSel(control)) {
    case PacketValue.COPY_MEMORY:
    case PacketValue.COPY_L2:
      if (src & 3) {
        raise(FaultKind.MALFORMED_PACKET);
        return;
      }
      value = <u64>readSettled(src);
      if (wide) value |= (<u64>readSettled(src + 4)) << 32;
      break;
    case PacketValue.COPY_IMMEDIATE:
      value = src;
      break;
    case PacketValue.COPY_TIMESTAMP:
      value = now();
      break;
    default:
      raise(FaultKind.MALFORMED_PACKET);
      return;
  }
  if (faultKind != 0) return;
  if (toRegister) {
    setShRegister((<u32>dst) << 2, <u32>value);
    if (wide) setShRegister((<u32>dst + 1) << 2, <u32>(value >> 32));
  } else if (!dstMemory || dst & 3) raise(FaultKind.MALFORMED_PACKET);
  else if (wide) storeVisible64(dst, value);
  else storeVisible(dst, <u32>value);
}

export function dmaData(): void {
  const control = body(DmaDataBody.CONTROL);
  const src = body64(DmaDataBody.SRC_LO);
  const dst = body64(DmaDataBody.DST_LO);
  const bytes = pm4DmaDataByteCount(body(DmaDataBody.COMMAND));
  if (faultKind != 0) return;
  const from = pm4DmaDataSrcSel(control);
  const to = pm4DmaDataDstSel(control);
  if (to != PacketValue.DMA_ADDRESS && to != PacketValue.DMA_L2) raise(FaultKind.MALFORMED_PACKET);
  else if (from == PacketValue.DMA_DATA) {
    if (bytes & 3 || dst & 3) raise(FaultKind.MALFORMED_PACKET);
    else fillBytes(dst, <u32>src, 2, bytes);
  } else if (from == PacketValue.DMA_ADDRESS || from == PacketValue.DMA_L2) copyBytes(dst, src, bytes);
  else raise(FaultKind.MALFORMED_PACKET);
}

/** True: the wait is over. */
export function waitRegMem(): bool {
  const control = body(WaitRegMemBody.CONTROL);
  const address = body64(WaitRegMemBody.ADDRESS_LO);
  const reference = body(WaitRegMemBody.REFERENCE);
  const mask = body(WaitRegMemBody.MASK);
  if (faultKind != 0) return false;
  if (pm4WaitRegMemMemSpace(control) != PacketValue.WAIT_MEMORY) {
    raise(FaultKind.MALFORMED_PACKET);
    return false;
  }
  return compareMemory(pm4WaitRegMemFunction(control), address, reference, mask);
}

/** Invalidations and write-backs act on whole caches, whatever the range: a GPU may always do more. */
export function acquireMem(): void {
  const gcr = body(AcquireMemBody.GCR_CONTROL);
  if (faultKind != 0 || !cached) return;
  if (pm4AcquireMemGlkInv(gcr)) invalidateAllScalar();
  if (pm4AcquireMemGlvInv(gcr)) invalidateAllGl0();
  if (pm4AcquireMemGl1Inv(gcr)) invalidateAllGl1();
  if (pm4AcquireMemGl2Wb(gcr)) l2WriteBack();
  if (pm4AcquireMemGl2Inv(gcr)) l2Invalidate();
}

export function releaseMem(): void {
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
  const event = body(ReleaseMemBody.EVENT);
  // The pipe is empty first, then the caches are seen to, then the data is written.
  if (cached) {
    settleQueue(queue);
    if (pm4ReleaseMemGlvInv(event)) invalidateAllGl0();
    if (pm4ReleaseMemGl1Inv(event)) invalidateAllGl1();
    if (pm4ReleaseMemGl2Wb(event)) l2WriteBack();
    if (pm4ReleaseMemGl2Inv(event)) l2Invalidate();
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
