/** The control block as the GPU sees it, and the interrupt ring. */
import { Control, Interrupt, PhysicalMap } from "../../gen/uapi.ts";
import { CONTEXT_BASE, CONTEXT_BYTES, Context, QUEUE_SLOT_BYTES, SLOT_BASE } from "../layout.ts";

export function controlWord(offset: u32): u32 {
  return atomic.load<u32>(<usize>PhysicalMap.CONTROL + <usize>offset);
}

export function setControlWord(offset: u32, value: u32): void {
  atomic.store<u32>(<usize>PhysicalMap.CONTROL + <usize>offset, value);
}

/** Reads a control word and leaves 0. */
export function takeControlWord(offset: u32): u32 {
  return atomic.xchg<u32>(<usize>PhysicalMap.CONTROL + <usize>offset, 0);
}

function queueAddress(queue: u32, word: u32): usize {
  return <usize>PhysicalMap.CONTROL + <usize>(Control.QUEUE_TABLE + queue * Control.QUEUE_BYTES + word);
}

export function queueWord(queue: u32, word: u32): u32 {
  return atomic.load<u32>(queueAddress(queue, word));
}

export function setQueueWord(queue: u32, word: u32, value: u32): void {
  atomic.store<u32>(queueAddress(queue, word), value);
}

/** Adds to a 64-bit counter in two words, low first. */
export function addToQueueCounter(queue: u32, lowWord: u32, amount: u64): void {
  const at = queueAddress(queue, lowWord);
  const sum = (<u64>atomic.load<u32>(at) | ((<u64>atomic.load<u32>(at, 4)) << 32)) + amount;
  atomic.store<u32>(at, <u32>sum);
  atomic.store<u32>(at, <u32>(sum >> 32), 4);
}

export function contextOf(queue: u32): usize {
  return CONTEXT_BASE + <usize>(queue * CONTEXT_BYTES);
}

/** Slot `index` of the queue's running dispatch. */
export function slotOf(queue: u32, index: u32): usize {
  return SLOT_BASE + <usize>(queue * QUEUE_SLOT_BYTES + index * load<u32>(contextOf(queue), Context.SLOT_BYTES));
}

/** Puts an entry into the interrupt ring; where it is full, counts it as lost. */
export function interrupt(source: u32, queue: u32, vmid: u32, data: u32, payload: u64): void {
  const wptr = controlWord(Control.INTERRUPT_WPTR);
  if (wptr - controlWord(Control.INTERRUPT_RPTR) >= <u32>Interrupt.ENTRIES) {
    setControlWord(Control.INTERRUPT_LOST, controlWord(Control.INTERRUPT_LOST) + 1);
    return;
  }
  const entry = <usize>PhysicalMap.INTERRUPTS + <usize>((wptr % Interrupt.ENTRIES) * Interrupt.ENTRY_BYTES);
  store<u32>(entry, source, Interrupt.SOURCE);
  store<u32>(entry, queue, Interrupt.QUEUE);
  store<u32>(entry, vmid, Interrupt.VMID);
  store<u32>(entry, data, Interrupt.DATA);
  store<u32>(entry, <u32>payload, Interrupt.PAYLOAD_LO);
  store<u32>(entry, <u32>(payload >> 32), Interrupt.PAYLOAD_HI);
  setControlWord(Control.INTERRUPT_WPTR, wptr + 1);
}
