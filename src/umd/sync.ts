import { valid } from "./errors.ts";
import type { DeviceMemory } from "./memory.ts";

/** A flag in memory that command buffers and the host set, reset, and (command buffers) wait on. */
export class Event {
  readonly memory: DeviceMemory;

  constructor(memory: DeviceMemory) {
    this.memory = memory;
  }

  get va(): bigint {
    return this.memory.va;
  }

  #word(): Int32Array {
    const view = this.memory.map();
    return new Int32Array(view.buffer, view.byteOffset, 1);
  }

  status(): "SET" | "RESET" {
    return Atomics.load(this.#word(), 0) === 0 ? "RESET" : "SET";
  }

  set(): void {
    Atomics.store(this.#word(), 0, 1);
  }

  reset(): void {
    Atomics.store(this.#word(), 0, 0);
  }

  destroy(): void {
    this.memory.destroy();
  }
}

/** Bytes of one query: the value, then whether it is there; 64 bits each. */
const QUERY_BYTES = 16;

/** Timestamps, in ticks of the machine's clock: a tick is an instruction, or 64 bytes moved by a copy. */
export class QueryPool {
  readonly memory: DeviceMemory;
  readonly count: number;

  constructor(memory: DeviceMemory, count: number) {
    this.memory = memory;
    this.count = count;
  }

  static sizeBytes(count: number): number {
    return count * QUERY_BYTES;
  }

  /** Address of a query's value, and of its availability. */
  place(index: number): { readonly value: bigint; readonly available: bigint } {
    valid(Number.isInteger(index) && index >= 0 && index < this.count, `query ${index} of ${this.count}`);
    const value = this.memory.va + BigInt(index * QUERY_BYTES);
    return { value, available: value + 8n };
  }

  /** The query's value; undefined while it is not available. */
  result(index: number): bigint | undefined {
    this.place(index);
    const view = this.memory.map();
    const words = new BigUint64Array(view.buffer, view.byteOffset + index * QUERY_BYTES, 2);
    return Atomics.load(words, 1) === 0n ? undefined : Atomics.load(words, 0);
  }

  /** Host reset of all queries. */
  reset(): void {
    this.memory.map().fill(0);
  }

  destroy(): void {
    this.memory.destroy();
  }
}
