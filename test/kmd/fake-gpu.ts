import {
  type BadPacket,
  CONTROL_MAGIC,
  Control,
  type DecodedPacket,
  decodePacket,
  Fault,
  FaultAccess,
  FaultKind,
  type GpuPort,
  Interrupt,
  InterruptSource,
  PhysicalMap,
  Queue,
  QueueState,
  queueWord,
  vmidWord,
} from "../../src/uapi/index.ts";

/** NOP data that makes the fake run for ever until a halt request. */
export const HANG_MARK = 0xdead_0001;

/** An indirect buffer the fake ran: under which VMID, and its packets. */
export interface RanBuffer {
  readonly queue: number;
  readonly vmid: number;
  readonly packets: readonly DecodedPacket[];
}

/**
 * A GPU that only reads command streams: it walks page tables on its own, follows indirect buffers, does WRITE_DATA and
 * RELEASE_MEM, and faults on any packet that is no row. `deaf` makes it ignore halt and reset requests.
 */
export class FakeGpu implements GpuPort {
  readonly memory: SharedArrayBuffer;
  readonly ran: RanBuffer[] = [];
  readonly invalidated: number[] = [];
  deaf = false;
  paused = false;
  /** Interrupts that still get through; later ones stay in the ring until `deliver`. */
  deliveries = Number.POSITIVE_INFINITY;
  #handler: () => void = () => {};
  #hung: number | undefined;
  readonly #words: Int32Array;

  constructor(memoryBytes: number) {
    this.memory = new SharedArrayBuffer(memoryBytes);
    this.#words = new Int32Array(this.memory);
  }

  onInterrupt(handler: () => void): void {
    this.#handler = handler;
  }

  async close(): Promise<void> {}

  doorbell(): void {
    queueMicrotask(() => this.step());
  }

  /** Interrupts get through again, late ones first. */
  deliver(): void {
    this.deliveries = Number.POSITIVE_INFINITY;
    this.#handler();
  }

  #get(address: number): number {
    return (this.#words[address / 4] as number) >>> 0;
  }

  #set(address: number, value: number): void {
    this.#words[address / 4] = value | 0;
  }

  /** Physical address of `va` under `vmid`, or the fault kind where the walk fails. */
  translate(vmid: number, va: bigint, write: boolean): { physical: number } | { kind: number } {
    if (vmid === 0) return { physical: Number(va) };
    let table = this.#get(PhysicalMap.CONTROL + vmidWord(vmid, 0));
    if (table === 0) return { kind: FaultKind.NOT_MAPPED };
    for (const shift of [39n, 30n, 21n, 12n]) {
      const at = table + Number((va >> shift) & 511n) * 8;
      const low = this.#get(at);
      // Bit 51 of an entry that is not valid: a hole, here two pages that nobody has.
      if (!(low & 1)) return this.#get(at + 4) & (1 << 19) ? { physical: 4096 } : { kind: FaultKind.NOT_MAPPED };
      // Bit 54 at level 1: 2 MiB.
      const huge = shift === 21n && (this.#get(at + 4) & (1 << 22)) !== 0;
      if ((shift === 12n || huge) && !(low & (write ? 64 : 32))) {
        return { kind: write ? FaultKind.NOT_WRITABLE : FaultKind.NOT_READABLE };
      }
      table = (low & 0xffff_f000) >>> 0;
      if (huge) return { physical: table + Number(va & 0x1f_ffffn) };
    }
    return { physical: table + Number(va & 4095n) };
  }

  #interrupt(source: number, queue: number, vmid: number, data: number): void {
    const wptrAt = PhysicalMap.CONTROL + Control.INTERRUPT_WPTR;
    const wptr = this.#get(wptrAt);
    const at = PhysicalMap.INTERRUPTS + (wptr % Interrupt.ENTRIES) * Interrupt.ENTRY_BYTES;
    this.#set(at + Interrupt.SOURCE, source);
    this.#set(at + Interrupt.QUEUE, queue);
    this.#set(at + Interrupt.VMID, vmid);
    this.#set(at + Interrupt.DATA, data);
    this.#set(wptrAt, wptr + 1);
    if (this.deliveries > 0) {
      this.deliveries--;
      this.#handler();
    }
  }

  #halt(queue: number, vmid: number, kind: number, address: bigint, packet: bigint, write: boolean): void {
    const slot = PhysicalMap.FAULTS + queue * Fault.SLOT_BYTES;
    this.#set(slot + Fault.KIND, kind);
    this.#set(slot + Fault.VMID, vmid);
    this.#set(slot + Fault.QUEUE, queue);
    this.#set(slot + Fault.ACCESS, write ? FaultAccess.WRITE : FaultAccess.READ);
    this.#set(slot + Fault.ADDRESS_LO, Number(address & 0xffff_ffffn));
    this.#set(slot + Fault.ADDRESS_HI, Number(BigInt.asUintN(64, address) >> 32n));
    this.#set(slot + Fault.PACKET_LO, Number(packet & 0xffff_ffffn));
    this.#set(slot + Fault.PACKET_HI, Number(BigInt.asUintN(64, packet) >> 32n));
    this.#set(PhysicalMap.CONTROL + queueWord(queue, Queue.STATE), QueueState.HALTED);
    const source = kind === FaultKind.HALTED ? InterruptSource.HALTED : InterruptSource.FAULT;
    this.#interrupt(source, queue, vmid, kind);
  }

  /** Runs packets until one fails; true when all ran. */
  #run(queue: number, vmid: number, words: number[], base: bigint): boolean {
    const packets: DecodedPacket[] = [];
    if (vmid !== 0) this.ran.push({ queue, vmid, packets });
    for (let at = 0; at < words.length; ) {
      const packet: DecodedPacket | BadPacket = decodePacket(words, at);
      const address = base + BigInt(at * 4);
      if ("reason" in packet) {
        this.#halt(queue, vmid, FaultKind.UNKNOWN_PACKET, 0n, address, false);
        return false;
      }
      packets.push(packet);
      at += packet.sizeDwords;
      const { values, tail } = packet;
      if (packet.name === "INDIRECT_BUFFER") {
        const target = values.address as bigint;
        const body: number[] = [];
        for (let i = 0; i < Number(values.sizeDwords); i++) {
          const found = this.translate(Number(values.vmid), target + BigInt(i * 4), false);
          if ("kind" in found) {
            this.#halt(queue, Number(values.vmid), found.kind, target + BigInt(i * 4), address, false);
            return false;
          }
          body.push(this.#get(found.physical));
        }
        if (!this.#run(queue, Number(values.vmid), body, target)) return false;
      } else if (packet.name === "WRITE_DATA" || packet.name === "RELEASE_MEM") {
        const wide = [Number((values.data as bigint | undefined) ?? 0n) >>> 0, 0];
        const data = packet.name === "WRITE_DATA" ? tail : wide.slice(0, Number(values.dataSel));
        for (const [i, value] of data.entries()) {
          const va = (values.address as bigint) + BigInt(i * 4);
          const found = this.translate(vmid, va, true);
          if ("kind" in found) {
            this.#halt(queue, vmid, found.kind, va, address, true);
            return false;
          }
          this.#set(found.physical, value);
        }
        if (values.intSel) this.#interrupt(InterruptSource.END_OF_PIPE, queue, vmid, Number(values.contextId));
      } else if (packet.name === "NOP" && tail[0] === HANG_MARK) {
        this.#hung = queue;
        return false;
      }
    }
    return true;
  }

  /** One look at the control block: requests first, then new ring entries. */
  step(): void {
    if (this.paused || this.#get(PhysicalMap.CONTROL + Control.MAGIC) !== CONTROL_MAGIC) return;
    const tlb = PhysicalMap.CONTROL + Control.TLB_INVALIDATE;
    if (this.#get(tlb) !== 0) this.invalidated.push(this.#get(tlb));
    this.#set(tlb, 0);
    for (let queue = 0; queue < 8; queue++) {
      const at = (word: number) => PhysicalMap.CONTROL + queueWord(queue, word);
      if (!this.#get(at(Queue.ENABLED))) continue;
      if (!this.deaf && this.#get(at(Queue.RESET_REQUEST)) !== this.#get(at(Queue.RESET_ACK))) {
        this.#set(at(Queue.RPTR), this.#get(at(Queue.WPTR)));
        if (this.#hung === queue) this.#hung = undefined;
        this.#set(at(Queue.STATE), QueueState.IDLE);
        this.#set(at(Queue.HALT_REQUEST), 0);
        this.#set(PhysicalMap.FAULTS + queue * Fault.SLOT_BYTES + Fault.KIND, 0);
        this.#set(at(Queue.RESET_ACK), this.#get(at(Queue.RESET_REQUEST)));
        this.#interrupt(InterruptSource.RESET_DONE, queue, 0, 0);
      }
      if (!this.deaf && this.#get(at(Queue.HALT_REQUEST)) && this.#get(at(Queue.STATE)) !== QueueState.HALTED) {
        if (this.#hung === queue) this.#hung = undefined;
        this.#halt(queue, 1, FaultKind.HALTED, 0n, 0n, false);
      }
      if (this.#hung === queue || this.#get(at(Queue.STATE)) === QueueState.HALTED) continue;
      const rptr = this.#get(at(Queue.RPTR));
      const wptr = this.#get(at(Queue.WPTR));
      const words: number[] = [];
      const ring = this.#get(at(Queue.RING_BASE));
      for (let p = rptr; p !== wptr; p = (p + 1) >>> 0) {
        words.push(this.#get(ring + (p % this.#get(at(Queue.RING_DWORDS))) * 4));
      }
      if (words.length > 0) {
        this.#set(at(Queue.RPTR), wptr);
        this.#run(queue, 0, words, 0n);
      }
    }
  }
}

/** A clock that stands still until told. */
export class FakeClock {
  #now = 0;
  #timers: { at: number; action: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, action: () => void): () => void {
    const timer = { at: this.#now + ms, action };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  get pending(): number {
    return this.#timers.length;
  }

  /** Moves time on and runs what is due, in order. */
  advance(ms: number): void {
    this.#now += ms;
    for (;;) {
      const due = this.#timers.filter((timer) => timer.at <= this.#now).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) return;
      this.#timers = this.#timers.filter((timer) => timer !== due);
      due.action();
    }
  }
}
