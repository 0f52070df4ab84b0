/** One instance of gpu.wasm over the machine's memory: what the worker and the in-thread host both drive. */
import {
  Control,
  Fault,
  FaultKind,
  Interrupt,
  InterruptSource,
  MachineLimits,
  PhysicalMap,
  Queue,
  QueueState,
  queueWord,
} from "../uapi/index.ts";

interface GpuExports {
  initialise(memoryBytes: number): void;
  run(budget: number): number;
  dispatchCount(queue: number, unit: number): number;
}

const PAGE_BYTES = 65_536;
/** Answer of `run`: work is left, but all of it waits on memory. */
const WAITS = 2;

/** Physical memory of a machine: shared, at its final size. Bytes: a multiple of 64 KiB within `MachineLimits`. */
export function createMemory(memoryBytes: number): WebAssembly.Memory {
  const { MIN_MEMORY_BYTES, MAX_MEMORY_BYTES } = MachineLimits;
  if (memoryBytes % PAGE_BYTES !== 0 || memoryBytes < MIN_MEMORY_BYTES || memoryBytes > MAX_MEMORY_BYTES) {
    throw new RangeError(
      `GPU memory of ${memoryBytes} bytes: must be a multiple of 64 KiB from ${MIN_MEMORY_BYTES} to ${MAX_MEMORY_BYTES}`,
    );
  }
  const pages = memoryBytes / PAGE_BYTES;
  return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
}

/** Runs the GPU's code in the calling thread. A trap of the code halts the busy queues with a record of kind INTERNAL. */
export class Engine {
  readonly #module: WebAssembly.Module;
  readonly #memory: WebAssembly.Memory;
  readonly #words: Int32Array;
  #gpu: GpuExports;
  #waiting = false;

  constructor(module: WebAssembly.Module, memory: WebAssembly.Memory) {
    this.#module = module;
    this.#memory = memory;
    this.#words = new Int32Array(memory.buffer);
    this.#gpu = this.#instantiate();
  }

  #instantiate(): GpuExports {
    const env = { memory: this.#memory, abort: () => {} };
    const instance = new WebAssembly.Instance(this.#module, { env });
    const gpu = instance.exports as unknown as GpuExports;
    gpu.initialise(this.#memory.buffer.byteLength);
    return gpu;
  }

  #word(address: number): number {
    return Atomics.load(this.#words, address / 4) >>> 0;
  }

  #setWord(address: number, value: number): void {
    Atomics.store(this.#words, address / 4, value | 0);
  }

  /** Value of the doorbell: read it before `run`, wait for a change after. */
  doorbell(): number {
    return this.#word(PhysicalMap.CONTROL + Control.DOORBELL);
  }

  /** Sleeps until the doorbell differs from `seen`, at most `milliseconds`. */
  waitForDoorbell(seen: number, milliseconds?: number): void {
    Atomics.wait(this.#words, (PhysicalMap.CONTROL + Control.DOORBELL) / 4, seen | 0, milliseconds);
  }

  stopped(): boolean {
    return this.#word(PhysicalMap.CONTROL + Control.STOP) !== 0;
  }

  setState(state: number): void {
    this.#setWord(PhysicalMap.CONTROL + Control.GPU_STATE, state);
  }

  /** Entries put in the interrupt ring since start. */
  interrupts(): number {
    return this.#word(PhysicalMap.CONTROL + Control.INTERRUPT_WPTR);
  }

  /** After `run`: every busy queue waits on a value in memory, which may come from the CPU without a doorbell. */
  get waiting(): boolean {
    return this.#waiting;
  }

  /** Each busy queue runs about `budget` instructions. True: there is more to do. */
  run(budget: number): boolean {
    try {
      const state = this.#gpu.run(budget);
      this.#waiting = state === WAITS;
      return state !== 0;
    } catch (error) {
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      this.#failed();
      return true;
    }
  }

  /** Instructions of class `unit` in the queue's last dispatch: 0 SALU, 1 VALU, 2 SMEM, 3 VMEM, 4 LDS, 5 flow. */
  dispatchCount(queue: number, unit: number): number {
    return this.#gpu.dispatchCount(queue, unit);
  }

  /** After a trap: a fresh instance (the registers live in memory), and the queues that were running stop. */
  #failed(): void {
    this.#gpu = this.#instantiate();
    for (let queue = 0; queue < MachineLimits.QUEUES; queue++) {
      const state = PhysicalMap.CONTROL + queueWord(queue, Queue.STATE);
      if (this.#word(state) !== QueueState.RUNNING) continue;
      const vmid = this.#word(PhysicalMap.CONTROL + queueWord(queue, Queue.VMID));
      const record = PhysicalMap.FAULTS + queue * Fault.SLOT_BYTES;
      for (let at = 0; at < Fault.WAVES; at += 4) this.#setWord(record + at, 0);
      this.#setWord(record + Fault.KIND, FaultKind.INTERNAL);
      this.#setWord(record + Fault.VMID, vmid);
      this.#setWord(record + Fault.QUEUE, queue);
      this.#setWord(record + Fault.WAVE_INDEX, -1);
      this.#setWord(record + Fault.LANE, -1);
      this.#setWord(state, QueueState.HALTED);
      this.#interrupt(queue, vmid);
    }
  }

  #interrupt(queue: number, vmid: number): void {
    const wptr = this.interrupts();
    const entry = PhysicalMap.INTERRUPTS + (wptr % Interrupt.ENTRIES) * Interrupt.ENTRY_BYTES;
    this.#setWord(entry + Interrupt.SOURCE, InterruptSource.FAULT);
    this.#setWord(entry + Interrupt.QUEUE, queue);
    this.#setWord(entry + Interrupt.VMID, vmid);
    this.#setWord(entry + Interrupt.DATA, FaultKind.INTERNAL);
    this.#setWord(PhysicalMap.CONTROL + Control.INTERRUPT_WPTR, wptr + 1);
  }
}
