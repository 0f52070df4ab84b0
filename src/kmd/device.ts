import {
  CONTROL_MAGIC,
  CONTROL_VERSION,
  Control,
  type GpuPort,
  Interrupt,
  MachineLimits,
  PhysicalMap,
  Queue,
  queueWord,
  splitMemory,
  Vmid,
  vmidWord,
} from "../uapi/index.ts";

/** An entry of the interrupt ring. */
export interface InterruptEntry {
  readonly source: number;
  readonly queue: number;
  readonly vmid: number;
  readonly data: number;
}

/** The control block and the interrupt ring of one GPU, from the kernel's side. */
export class GpuDevice {
  readonly memory: SharedArrayBuffer;
  readonly regions: ReturnType<typeof splitMemory>;
  readonly #words: Int32Array;
  readonly #port: GpuPort;

  constructor(port: GpuPort) {
    this.memory = port.memory;
    this.#port = port;
    this.#words = new Int32Array(port.memory);
    this.regions = splitMemory(port.memory.byteLength);
  }

  /** Fills the header; the GPU starts to look at queues when the magic is there. */
  start({ seed = 0, wgps = 0, flags = 0 }: { seed?: number; wgps?: number; flags?: number }): void {
    const { vramBase, vramBytes, gttBase, gttBytes } = this.regions;
    this.#set(Control.VERSION, CONTROL_VERSION);
    this.#set(Control.MEMORY_BYTES, this.memory.byteLength);
    this.#set(Control.VRAM_BASE, vramBase);
    this.#set(Control.VRAM_BYTES, vramBytes);
    this.#set(Control.GTT_BASE, gttBase);
    this.#set(Control.GTT_BYTES, gttBytes);
    this.#set(Control.SEED, seed);
    this.#set(Control.WGPS, wgps);
    this.#set(Control.FLAGS, flags);
    this.#set(Control.MAGIC, CONTROL_MAGIC);
    this.ring();
  }

  #at(offset: number): number {
    return (PhysicalMap.CONTROL + offset) / 4;
  }

  #set(offset: number, value: number): void {
    Atomics.store(this.#words, this.#at(offset), value | 0);
  }

  queueGet(queue: number, word: number): number {
    return Atomics.load(this.#words, this.#at(queueWord(queue, word))) >>> 0;
  }

  queueSet(queue: number, word: number, value: number): void {
    this.#set(queueWord(queue, word), value);
  }

  /** Adds 1 to the queue's reset request and answers the new number, which RESET_ACK will show. */
  requestReset(queue: number): number {
    return (Atomics.add(this.#words, this.#at(queueWord(queue, Queue.RESET_REQUEST)), 1) + 1) >>> 0;
  }

  vmidGet(vmid: number, word: number): number {
    return Atomics.load(this.#words, this.#at(vmidWord(vmid, word))) >>> 0;
  }

  setPageDirectory(vmid: number, root: number): void {
    this.#set(vmidWord(vmid, Vmid.PAGE_DIRECTORY), root);
  }

  /** The GPU drops the VMID's translations before its next slice. */
  invalidate(vmid: number): void {
    if (vmid === 0) return;
    Atomics.or(this.#words, this.#at(Control.TLB_INVALIDATE), 1 << vmid);
    this.ring();
  }

  stop(): void {
    this.#set(Control.STOP, 1);
    this.ring();
  }

  /** Tells the GPU to look at the control block. */
  ring(): void {
    Atomics.add(this.#words, this.#at(Control.DOORBELL), 1);
    this.#port.doorbell();
  }

  writeWords(physical: number, words: ArrayLike<number>): void {
    for (let i = 0; i < words.length; i++) Atomics.store(this.#words, physical / 4 + i, (words[i] as number) | 0);
  }

  readWord(physical: number): number {
    return Atomics.load(this.#words, physical / 4) >>> 0;
  }

  readU64(physical: number): bigint {
    // The GPU writes the low half first: read until the high half stands still around it.
    for (;;) {
      const high = this.readWord(physical + 4);
      const low = this.readWord(physical);
      if (this.readWord(physical + 4) === high) return (BigInt(high) << 32n) | BigInt(low);
    }
  }

  copy(physical: number, bytes: number): Uint8Array {
    return new Uint8Array(this.memory, physical, bytes).slice();
  }

  /** Takes what the interrupt ring holds, oldest first. */
  takeInterrupts(): InterruptEntry[] {
    const entries: InterruptEntry[] = [];
    const wptr = Atomics.load(this.#words, this.#at(Control.INTERRUPT_WPTR)) >>> 0;
    let rptr = Atomics.load(this.#words, this.#at(Control.INTERRUPT_RPTR)) >>> 0;
    for (; rptr !== wptr; rptr = (rptr + 1) >>> 0) {
      const at = PhysicalMap.INTERRUPTS + (rptr % Interrupt.ENTRIES) * Interrupt.ENTRY_BYTES;
      entries.push({
        source: this.readWord(at + Interrupt.SOURCE),
        queue: this.readWord(at + Interrupt.QUEUE),
        vmid: this.readWord(at + Interrupt.VMID),
        data: this.readWord(at + Interrupt.DATA),
      });
    }
    this.#set(Control.INTERRUPT_RPTR, rptr);
    return entries;
  }
}

/** Hands out VMIDs 1 up to the limit to address spaces; the least recently used idle owner loses its own. */
export class VmidPool<Owner extends { vmid: number; readonly running: number }> {
  readonly #owners: (Owner | undefined)[] = new Array(MachineLimits.VMIDS).fill(undefined);
  readonly #used: number[] = new Array(MachineLimits.VMIDS).fill(0);
  #tick = 0;

  /** The owner's VMID, and whether it is new to it; undefined while all are on the hardware. */
  acquire(owner: Owner): { readonly vmid: number; readonly fresh: boolean } | undefined {
    if (owner.vmid !== 0) {
      this.#used[owner.vmid] = ++this.#tick;
      return { vmid: owner.vmid, fresh: false };
    }
    let best = 0;
    for (let vmid = 1; vmid < MachineLimits.VMIDS; vmid++) {
      const holder = this.#owners[vmid];
      if (holder !== undefined && holder.running > 0) continue;
      if (best === 0 || this.#rank(vmid) < this.#rank(best)) best = vmid;
    }
    if (best === 0) return undefined;
    const loser = this.#owners[best];
    if (loser !== undefined) loser.vmid = 0;
    this.#owners[best] = owner;
    owner.vmid = best;
    this.#used[best] = ++this.#tick;
    return { vmid: best, fresh: true };
  }

  #rank(vmid: number): number {
    return this.#owners[vmid] === undefined ? 0 : (this.#used[vmid] ?? 0);
  }

  release(owner: Owner): void {
    if (owner.vmid === 0) return;
    this.#owners[owner.vmid] = undefined;
    owner.vmid = 0;
  }
}
