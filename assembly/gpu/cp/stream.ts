/** The dwords of a queue's command stream: its ring, or the indirect buffer that runs. PM4 and SDMA queues share it. */
import { FaultKind, Queue, QueueState } from "../../gen/uapi.ts";
import { faultKind, raise } from "../fault.ts";
import { Context } from "../layout.ts";
import { READ, read32, translate, useVmid } from "../mem/translate.ts";
import { contextOf, queueWord, setQueueWord } from "./control.ts";

export let queue: u32 = 0;
export let context: usize = 0;
export let inRing: bool = false;
/** Dwords from the header to the end of the ring's contents or of the buffer. */
export let available: u32 = 0;
/** The queue waits on memory: its packet is not consumed and runs again. */
export let blocked: bool = false;

let ringAt: u32 = 0;
let bufferAt: u64 = 0;
let ringBase: usize = 0;
let ringMask: u32 = 0;

function ringWord(index: u32): u32 {
  return load<u32>(ringBase + ((<usize>(index & ringMask)) << 2));
}

/** Dword `i` of the packet; 0 is its header. A fault is left raised. */
export function word(i: u32): u32 {
  return inRing ? ringWord(ringAt + i) : read32(bufferAt + 4 * i, READ);
}

export function word64(i: u32): u64 {
  return <u64>word(i) | ((<u64>word(i + 1)) << 32);
}

/** Has this queue packets to run? */
export function hasPackets(index: u32): bool {
  const at = contextOf(index);
  return load<u32>(at, Context.IB_LEFT) != 0 || queueWord(index, Queue.RPTR) != queueWord(index, Queue.WPTR);
}

export function block(): void {
  blocked = true;
}

function ringReadable(dwords: u32): bool {
  for (let at: u32 = 0; at < dwords; at += 1024) if (translate(ringBase + ((<usize>at) << 2), READ) == 0) return false;
  return true;
}

/** Goes to the queue's next packet and answers its header; a fault is left raised. */
export function openPacket(index: u32): u32 {
  queue = index;
  context = contextOf(index);
  blocked = false;
  const left = load<u32>(context, Context.IB_LEFT);
  inRing = left == 0;
  available = left;
  let header: u32;
  if (inRing) {
    useVmid(0);
    store<u32>(context, 0, Context.DEPTH);
    setQueueWord(queue, Queue.VMID, 0);
    ringBase = queueWord(queue, Queue.RING_BASE);
    const dwords = queueWord(queue, Queue.RING_DWORDS);
    ringMask = dwords - 1;
    ringAt = queueWord(queue, Queue.RPTR);
    available = queueWord(queue, Queue.WPTR) - ringAt;
    store<u64>(context, ringBase + ((<usize>(ringAt & ringMask)) << 2), Context.PACKET);
    store<u32>(context, 0, Context.PACKET_HEADER);
    // The ring is the kernel's: a base outside memory or a size that is no power of two is its bug.
    if (dwords == 0 || dwords & ringMask || available > dwords || !ringReadable(dwords)) {
      raise(FaultKind.MALFORMED_PACKET);
      return 0;
    }
    header = ringWord(ringAt);
  } else {
    useVmid(load<u32>(context, Context.VMID));
    bufferAt = load<u64>(context, Context.IB_ADDRESS);
    store<u64>(context, bufferAt, Context.PACKET);
    store<u32>(context, 0, Context.PACKET_HEADER);
    header = read32(bufferAt, READ);
    if (faultKind != 0) return 0;
  }
  store<u32>(context, header, Context.PACKET_HEADER);
  return header;
}

/** Steps over `dwords` of the stream; at an inner buffer's end goes on in the outer one. */
export function consume(dwords: u32): void {
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

/** Forgets everything of a queue but its registers' memory; the ring is drained. */
export function resetPackets(index: u32): void {
  const at = contextOf(index);
  memory.fill(at, 0, Context.CODE_TAGS);
  setQueueWord(index, Queue.RPTR, queueWord(index, Queue.WPTR));
  setQueueWord(index, Queue.STATE, QueueState.IDLE);
  setQueueWord(index, Queue.VMID, 0);
}
