import { PacketValue } from "../uapi/index.ts";
import { oneOf, valid } from "./errors.ts";
import { Lifetime } from "./lifetime.ts";
import type { DeviceMemory } from "./memory.ts";
import type { ApiLayer } from "./validate/index.ts";

/** A flag in memory that command buffers and the host set, reset, and (command buffers) wait on. */
export class Event {
  readonly memory: DeviceMemory;
  readonly life: Lifetime;

  constructor(memory: DeviceMemory, layer: ApiLayer | undefined) {
    this.memory = memory;
    this.life = new Lifetime("an event", layer, this);
  }

  get va(): bigint {
    return this.memory.va;
  }

  #word(): Int32Array {
    this.life.use();
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
    this.life.end(this);
    this.memory.destroy();
  }
}

/**
 * `timestamp`: ticks of the machine's clock; a tick is an instruction, or 64 bytes moved by a copy.
 * `pipelineStatistics`: compute shader invocations of the dispatches between begin and end, all lanes of a workgroup
 * that exist.
 */
export type QueryKind = "timestamp" | "pipelineStatistics";

const sampleBytes = PacketValue.PIPELINESTAT_COUNTERS * 8;

/** Bytes of one query: the value (statistics: the counters at the end, then those at the begin), then whether it is there. */
const queryBytes: Readonly<Record<QueryKind, number>> = { timestamp: 16, pipelineStatistics: 2 * sampleBytes + 8 };

/** Queries of one kind. */
export class QueryPool {
  readonly memory: DeviceMemory;
  readonly count: number;
  readonly kind: QueryKind;
  readonly life: Lifetime;

  constructor(memory: DeviceMemory, count: number, kind: QueryKind, layer: ApiLayer | undefined) {
    this.memory = memory;
    this.count = count;
    this.kind = kind;
    this.life = new Lifetime(`a query pool of ${count} ${kind} queries`, layer, this);
  }

  /** VALIDATION on a kind that there is not, and on a number of queries that no pool has. */
  static sizeBytes(count: number, kind: QueryKind): number {
    oneOf(kind, Object.keys(queryBytes), "a query pool's kind");
    valid(Number.isSafeInteger(count) && count > 0, `a query pool of ${count} queries`);
    return count * queryBytes[kind];
  }

  /** Address of a query's value, of the counters at its begin (statistics), and of its availability. */
  place(index: number): { readonly value: bigint; readonly begin: bigint; readonly available: bigint } {
    valid(Number.isInteger(index) && index >= 0 && index < this.count, `query ${index} of ${this.count}`);
    const bytes = queryBytes[this.kind];
    const value = this.memory.va + BigInt(index * bytes);
    return { value, begin: value + BigInt(sampleBytes), available: value + BigInt(bytes - 8) };
  }

  /** The query's value; undefined while it is not available. */
  result(index: number): bigint | undefined {
    this.life.use();
    this.place(index);
    const view = this.memory.map();
    const bytes = queryBytes[this.kind];
    const words = new BigUint64Array(view.buffer, view.byteOffset + index * bytes, bytes / 8);
    if (Atomics.load(words, bytes / 8 - 1) === 0n) return undefined;
    if (this.kind === "timestamp") return Atomics.load(words, 0);
    const at = PacketValue.PIPELINESTAT_CS_INVOCATIONS;
    return BigInt.asUintN(64, Atomics.load(words, at) - Atomics.load(words, PacketValue.PIPELINESTAT_COUNTERS + at));
  }

  /** Host reset of all queries. */
  reset(): void {
    this.life.use();
    this.memory.map().fill(0);
  }

  destroy(): void {
    this.life.end(this);
    this.memory.destroy();
  }
}
