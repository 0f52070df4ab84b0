import { type BindingLayout, type DescriptorBinding, layoutSets } from "../codeobj/index.ts";
import { rawBufferResource } from "../uapi/index.ts";
import { DriverError, valid } from "./errors.ts";
import type { Buffer, DeviceMemory } from "./memory.ts";

/** Sets start at multiples of this: a cache line of the scalar cache. */
const SET_ALIGN_BYTES = 64;
const bufferTypes: readonly string[] = ["uniformBuffer", "storageBuffer"];

/** Offsets of a set's descriptors: `layoutSets` of `src/codeobj`, which the compiler uses too. */
export class DescriptorSetLayout {
  readonly sizeBytes: number;
  readonly bindings: readonly BindingLayout[];
  readonly source: readonly DescriptorBinding[];

  constructor(bindings: readonly DescriptorBinding[]) {
    const [layout] = layoutSets([{ set: 0, bindings }]);
    this.source = bindings;
    this.sizeBytes = layout?.sizeBytes ?? 0;
    this.bindings = layout?.bindings ?? [];
  }

  find(binding: number): BindingLayout | undefined {
    return this.bindings.find((row) => row.binding === binding);
  }
}

/** A buffer range for one descriptor; without a range the buffer from `offsetBytes` on. */
export interface BufferRange {
  readonly buffer: Buffer;
  readonly offsetBytes?: number;
  readonly rangeBytes?: number;
  /** Array element of the binding. */
  readonly element?: number;
}

/** Descriptors of one set in the 32-bit window. */
export class DescriptorSet {
  readonly layout: DescriptorSetLayout;
  readonly va: bigint;
  readonly memory: DeviceMemory;
  readonly #offsetBytes: number;
  readonly #buffers = new Map<string, Buffer>();

  constructor(layout: DescriptorSetLayout, memory: DeviceMemory, offsetBytes: number) {
    this.layout = layout;
    this.memory = memory;
    this.#offsetBytes = offsetBytes;
    this.va = memory.va + BigInt(offsetBytes);
  }

  /** Writes a raw buffer V# (OOB_SELECT 3). VALIDATION on a binding, element or range that the layout does not have. */
  write(binding: number, range: BufferRange): void {
    const { buffer, offsetBytes = 0, element = 0 } = range;
    const rangeBytes = range.rangeBytes ?? buffer.sizeBytes - offsetBytes;
    const row = this.layout.find(binding);
    if (row === undefined) throw new DriverError("VALIDATION", `the set layout has no binding ${binding}`);
    valid(bufferTypes.includes(row.type), `binding ${binding} is a ${row.type}, not a buffer`);
    valid(element >= 0 && element < row.count, `binding ${binding} has no element ${element}`);
    valid(
      offsetBytes >= 0 && rangeBytes >= 0 && offsetBytes + rangeBytes <= buffer.sizeBytes,
      `range ${offsetBytes}+${rangeBytes} leaves the buffer of ${buffer.sizeBytes} bytes`,
    );
    const words = rawBufferResource(buffer.va + BigInt(offsetBytes), rangeBytes);
    const at = this.#offsetBytes + row.offsetBytes + element * row.strideBytes;
    const view = this.memory.map();
    new Uint32Array(view.buffer, view.byteOffset + at, 4).set(words);
    this.#buffers.set(`${binding}.${element}`, buffer);
  }

  /** Memory that the written descriptors point at. VALIDATION where one was freed. */
  memories(): DeviceMemory[] {
    return [...this.#buffers.values()].map((buffer) => buffer.memory);
  }

  written(binding: number, element: number): boolean {
    return this.#buffers.has(`${binding}.${element}`);
  }

  /** The descriptor's four dwords as they stand in memory. */
  words(binding: number, element = 0): Uint32Array {
    const row = this.layout.find(binding);
    if (row === undefined) throw new DriverError("VALIDATION", `the set layout has no binding ${binding}`);
    const at = this.#offsetBytes + row.offsetBytes + element * row.strideBytes;
    const view = this.memory.map();
    return new Uint32Array(view.buffer, view.byteOffset + at, 4).slice();
  }
}

/** Memory in the 32-bit window that sets are cut from, given back all at once. */
export class DescriptorPool {
  readonly #memory: DeviceMemory;
  #next = 0;

  constructor(memory: DeviceMemory) {
    this.#memory = memory;
  }

  /** OUT_OF_POOL_MEMORY where the set does not fit any more. */
  allocate(layout: DescriptorSetLayout): DescriptorSet {
    const bytes = Math.max(SET_ALIGN_BYTES, Math.ceil(layout.sizeBytes / SET_ALIGN_BYTES) * SET_ALIGN_BYTES);
    if (this.#next + bytes > this.#memory.sizeBytes) {
      throw new DriverError("OUT_OF_POOL_MEMORY", `no ${bytes} bytes left of ${this.#memory.sizeBytes}`);
    }
    const set = new DescriptorSet(layout, this.#memory, this.#next);
    const view = this.#memory.map();
    view.fill(0, this.#next, this.#next + bytes);
    this.#next += bytes;
    return set;
  }

  /** Frees every set of the pool. */
  reset(): void {
    this.#next = 0;
  }

  destroy(): void {
    this.#memory.destroy();
  }
}
