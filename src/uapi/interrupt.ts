/**
 * Interrupt ring at `PhysicalMap.INTERRUPTS`: ENTRIES entries of ENTRY_BYTES, written by the GPU before it advances
 * `Control.INTERRUPT_WPTR`. Offsets are in bytes inside an entry. Our own model.
 */
export const Interrupt = {
  ENTRIES: 1024,
  ENTRY_BYTES: 32,
  SOURCE: 0,
  QUEUE: 4,
  VMID: 8,
  /** RELEASE_MEM's context id for END_OF_PIPE; the fault kind for FAULT and HALTED; RESET_ACK for RESET_DONE. */
  DATA: 12,
  /** RELEASE_MEM's data, low and high half. */
  PAYLOAD_LO: 16,
  PAYLOAD_HI: 20,
} as const;

export const InterruptSource = {
  /** RELEASE_MEM with int_sel 1, 2 or 3: the memory write, if any, is visible. */
  END_OF_PIPE: 1,
  /** The queue halted on a fault; its record is complete. */
  FAULT: 2,
  /** The queue halted on request; its record is complete. */
  HALTED: 3,
  RESET_DONE: 4,
  /** SDMA TRAP packet. */
  TRAP: 5,
} as const;
