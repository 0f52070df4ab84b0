/** The copy engine's packets. What is no row, or malformed, faults with the packet's address and header. */
import {
  Control,
  FaultKind,
  InterruptSource,
  Queue,
  Sdma,
  SdmaConstFillWord,
  SdmaCopyLinearWord,
  SdmaCopySubWindowWord,
  SdmaFenceWord,
  SdmaIndirectWord,
  SdmaNopWord,
  SdmaPollRegmemWord,
  SdmaTimestampGetWord,
  SdmaTrapWord,
  SdmaValue,
  SdmaWriteLinearWord,
  sdmaConstFillCount,
  sdmaConstFillFillSize,
  sdmaCopyLinearCount,
  sdmaCopyLinearDstSwap,
  sdmaCopyLinearSrcSwap,
  sdmaCopySubWindowDstPitch,
  sdmaCopySubWindowDstSlicePitch,
  sdmaCopySubWindowDstSwap,
  sdmaCopySubWindowDstX,
  sdmaCopySubWindowDstY,
  sdmaCopySubWindowDstZ,
  sdmaCopySubWindowElementSize,
  sdmaCopySubWindowRectX,
  sdmaCopySubWindowRectY,
  sdmaCopySubWindowRectZ,
  sdmaCopySubWindowSrcPitch,
  sdmaCopySubWindowSrcSlicePitch,
  sdmaCopySubWindowSrcSwap,
  sdmaCopySubWindowSrcX,
  sdmaCopySubWindowSrcY,
  sdmaCopySubWindowSrcZ,
  sdmaIndirectSizeDwords,
  sdmaIndirectVmid,
  sdmaNopCount,
  sdmaPollRegmemFunction,
  sdmaPollRegmemMemPoll,
  sdmaPollRegmemRetryCount,
  sdmaTrapContextId,
  sdmaWriteLinearCount,
} from "../../gen/uapi.ts";
import { interrupt, setQueueWord, takeControlWord } from "../cp/control.ts";
import { available, block, consume, context, inRing, openPacket, queue, word, word64 } from "../cp/stream.ts";
import { now } from "../cu/smem.ts";
import { faultKind, raise } from "../fault.ts";
import { Context } from "../layout.ts";
import { dropTranslations } from "../mem/translate.ts";
import { compareMemory, copyBytes, fillBytes, storeVisible, storeVisible64 } from "./copy.ts";

/** Rows of a sub-window copy that one turn does. */
const ROWS_PER_TURN: u32 = 1024;
/** Largest element: 16 bytes. */
const MAX_ELEMENT_SHIFT: u32 = 4;

/** Dwords of the packet at hand; 0: no such packet. */
function dwordsOf(header: u32): u32 {
  switch (header & 0xffff) {
    case Sdma.NOP:
      return SdmaNopWord.DWORDS + sdmaNopCount(header);
    case Sdma.COPY_LINEAR:
      return SdmaCopyLinearWord.DWORDS;
    case Sdma.COPY_SUB_WINDOW:
      return SdmaCopySubWindowWord.DWORDS;
    case Sdma.WRITE_LINEAR:
      return available < <u32>SdmaWriteLinearWord.DWORDS
        ? SdmaWriteLinearWord.DWORDS
        : SdmaWriteLinearWord.DWORDS + sdmaWriteLinearCount(word(SdmaWriteLinearWord.SIZE)) + 1;
    case Sdma.INDIRECT:
      return SdmaIndirectWord.DWORDS;
    case Sdma.FENCE:
      return SdmaFenceWord.DWORDS;
    case Sdma.TRAP:
      return SdmaTrapWord.DWORDS;
    case Sdma.POLL_REGMEM:
      return SdmaPollRegmemWord.DWORDS;
    case Sdma.CONST_FILL:
      return SdmaConstFillWord.DWORDS;
    case Sdma.TIMESTAMP_GET:
      return SdmaTimestampGetWord.DWORDS;
    default:
      return 0;
  }
}

/** Runs the queue's next packet, or a turn of it; a fault is left raised. */
export function runSdmaPacket(index: u32): void {
  const header = openPacket(index);
  if (faultKind != 0) return;
  const size = dwordsOf(header);
  if (faultKind != 0) return;
  if (size == 0) {
    raise(FaultKind.UNKNOWN_PACKET);
    return;
  }
  if (size > available) {
    raise(FaultKind.MALFORMED_PACKET);
    return;
  }
  if (execute(header)) {
    store<u32>(context, 0, Context.PROGRESS);
    // INDIRECT has set where the queue goes on: its own dwords are stepped over there.
    if ((header & 0xffff) != Sdma.INDIRECT) consume(size);
  }
}

/** True: the packet is done. */
function execute(header: u32): bool {
  switch (header & 0xffff) {
    case Sdma.COPY_LINEAR:
      return copyLinear();
    case Sdma.COPY_SUB_WINDOW:
      return copySubWindow(header);
    case Sdma.WRITE_LINEAR:
      return writeLinear();
    case Sdma.INDIRECT:
      return indirect(header);
    case Sdma.FENCE: {
      const address = word64(SdmaFenceWord.ADDRESS_LO);
      const data = word(SdmaFenceWord.DATA);
      if (address & 3) raise(FaultKind.MALFORMED_PACKET);
      else if (faultKind == 0) storeVisible(address, data);
      return faultKind == 0;
    }
    case Sdma.TRAP: {
      const id = sdmaTrapContextId(word(SdmaTrapWord.CONTEXT));
      if (faultKind == 0) interrupt(InterruptSource.TRAP, queue, load<u32>(context, Context.VMID), id, 0);
      return faultKind == 0;
    }
    case Sdma.POLL_REGMEM:
      return poll(header);
    case Sdma.CONST_FILL:
      return constFill(header);
    case Sdma.TIMESTAMP_GET: {
      const address = word64(SdmaTimestampGetWord.ADDRESS_LO);
      if (address & 7) raise(FaultKind.MALFORMED_PACKET);
      else if (faultKind == 0) storeVisible64(address, now());
      return faultKind == 0;
    }
    default:
      return true;
  }
}

function copyLinear(): bool {
  const bytes = sdmaCopyLinearCount(word(SdmaCopyLinearWord.SIZE)) + 1;
  const parameter = word(SdmaCopyLinearWord.PARAMETER);
  const src = word64(SdmaCopyLinearWord.SRC_LO);
  const dst = word64(SdmaCopyLinearWord.DST_LO);
  if (sdmaCopyLinearDstSwap(parameter) || sdmaCopyLinearSrcSwap(parameter)) raise(FaultKind.MALFORMED_PACKET);
  return faultKind == 0 && copyBytes(dst, src, bytes);
}

function copySubWindow(header: u32): bool {
  const shift = sdmaCopySubWindowElementSize(header);
  const src = word64(SdmaCopySubWindowWord.SRC_LO);
  const dst = word64(SdmaCopySubWindowWord.DST_LO);
  const srcPlace = word(SdmaCopySubWindowWord.SRC_PLACE);
  const dstPlace = word(SdmaCopySubWindowWord.DST_PLACE);
  const srcPitchZ = word(SdmaCopySubWindowWord.SRC_PITCH_Z);
  const dstPitchZ = word(SdmaCopySubWindowWord.DST_PITCH_Z);
  const rect = word(SdmaCopySubWindowWord.RECT);
  const depth = word(SdmaCopySubWindowWord.RECT_DEPTH);
  const srcSlice = <u64>sdmaCopySubWindowSrcSlicePitch(word(SdmaCopySubWindowWord.SRC_SLICE)) + 1;
  const dstSlice = <u64>sdmaCopySubWindowDstSlicePitch(word(SdmaCopySubWindowWord.DST_SLICE)) + 1;
  if (faultKind != 0) return false;
  const srcPitch = <u64>sdmaCopySubWindowSrcPitch(srcPitchZ) + 1;
  const dstPitch = <u64>sdmaCopySubWindowDstPitch(dstPitchZ) + 1;
  const width = <u64>sdmaCopySubWindowRectX(rect) + 1;
  const height = sdmaCopySubWindowRectY(rect) + 1;
  const rows = height * (sdmaCopySubWindowRectZ(depth) + 1);
  if (
    shift > MAX_ELEMENT_SHIFT ||
    sdmaCopySubWindowDstSwap(depth) ||
    sdmaCopySubWindowSrcSwap(depth) ||
    width > srcPitch ||
    width > dstPitch
  ) {
    raise(FaultKind.MALFORMED_PACKET);
    return false;
  }
  const first = load<u32>(context, Context.PROGRESS);
  const end = min<u32>(rows, first + ROWS_PER_TURN);
  for (let row = first; row < end; row++) {
    const y = row % height;
    const z = row / height;
    const from =
      <u64>sdmaCopySubWindowSrcX(srcPlace) +
      <u64>(sdmaCopySubWindowSrcY(srcPlace) + y) * srcPitch +
      <u64>(sdmaCopySubWindowSrcZ(srcPitchZ) + z) * srcSlice;
    const to =
      <u64>sdmaCopySubWindowDstX(dstPlace) +
      <u64>(sdmaCopySubWindowDstY(dstPlace) + y) * dstPitch +
      <u64>(sdmaCopySubWindowDstZ(dstPitchZ) + z) * dstSlice;
    if (!copyBytes(dst + (to << shift), src + (from << shift), width << shift)) return false;
  }
  store<u32>(context, end, Context.PROGRESS);
  return end == rows;
}

function writeLinear(): bool {
  const dst = word64(SdmaWriteLinearWord.DST_LO);
  const count = sdmaWriteLinearCount(word(SdmaWriteLinearWord.SIZE)) + 1;
  if (dst & 3) raise(FaultKind.MALFORMED_PACKET);
  for (let i: u32 = 0; i < count && faultKind == 0; i++) {
    const value = word(SdmaWriteLinearWord.DWORDS + i);
    if (faultKind == 0) storeVisible(dst + 4 * i, value);
  }
  return faultKind == 0;
}

function indirect(header: u32): bool {
  const address = word64(SdmaIndirectWord.ADDRESS_LO);
  const dwords = sdmaIndirectSizeDwords(word(SdmaIndirectWord.SIZE));
  if (faultKind != 0) return false;
  if (!inRing) {
    raise(FaultKind.IB_DEPTH);
    return false;
  }
  if (dwords == 0 || address & (SdmaValue.IB_ALIGN - 1)) {
    raise(FaultKind.MALFORMED_PACKET);
    return false;
  }
  consume(SdmaIndirectWord.DWORDS);
  // As for PM4: the ring write may be newer than this turn's look at the TLB word.
  const stale = takeControlWord(Control.TLB_INVALIDATE);
  if (stale) dropTranslations(stale);
  const vmid = sdmaIndirectVmid(header);
  store<u32>(context, vmid, Context.VMID);
  store<u32>(context, 1, Context.DEPTH);
  setQueueWord(queue, Queue.VMID, vmid);
  store<u64>(context, address, Context.IB_ADDRESS);
  store<u32>(context, dwords, Context.IB_LEFT);
  return true;
}

/** A poll with a finite retry count that runs out goes on, as the hardware does, so that a stream can't hang on it. */
function poll(header: u32): bool {
  const address = word64(SdmaPollRegmemWord.ADDRESS_LO);
  const reference = word(SdmaPollRegmemWord.REFERENCE);
  const mask = word(SdmaPollRegmemWord.MASK);
  const retries = sdmaPollRegmemRetryCount(word(SdmaPollRegmemWord.RETRY));
  if (sdmaPollRegmemMemPoll(header) != SdmaValue.POLL_MEMORY) raise(FaultKind.MALFORMED_PACKET);
  if (faultKind != 0) return false;
  const done = compareMemory(sdmaPollRegmemFunction(header), address, reference, mask);
  if (faultKind != 0) return false;
  if (done) return true;
  const tries = load<u32>(context, Context.PROGRESS);
  if (retries != SdmaValue.RETRY_FOREVER && tries >= retries) return true;
  store<u32>(context, tries + 1, Context.PROGRESS);
  block();
  return false;
}

function constFill(header: u32): bool {
  const dst = word64(SdmaConstFillWord.DST_LO);
  const data = word(SdmaConstFillWord.DATA);
  const bytes = sdmaConstFillCount(word(SdmaConstFillWord.SIZE)) + 1;
  const shift = sdmaConstFillFillSize(header);
  const mask = (1 << shift) - 1;
  if (shift > <u32>SdmaValue.FILL_DWORDS || bytes & mask || dst & mask) raise(FaultKind.MALFORMED_PACKET);
  return faultKind == 0 && fillBytes(dst, data, shift, bytes);
}
