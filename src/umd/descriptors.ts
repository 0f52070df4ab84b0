import {
  type BindingLayout,
  type DescriptorBinding,
  type DescriptorType,
  descriptorTypes,
  layoutSets,
} from "../codeobj/index.ts";
import { rawBufferResource } from "../uapi/index.ts";
import type { BufferView } from "./buffer-view.ts";
import { DriverError, oneOf, valid } from "./errors.ts";
import { Lifetime } from "./lifetime.ts";
import type { Buffer, DeviceMemory } from "./memory.ts";
import { ofDevice } from "./owner.ts";
import type { ApiLayer } from "./validate/index.ts";

/** Sets start at multiples of this: a cache line of the scalar cache. */
const SET_ALIGN_BYTES = 64;
const bufferTypes: readonly string[] = ["uniformBuffer", "storageBuffer"];
const texelTypes: readonly string[] = ["uniformTexelBuffer", "storageTexelBuffer"];
/** min(Uniform|Storage)BufferOffsetAlignment: scalar loads ignore the low two bits of a base. */
const offsetAlignmentBytes = 4;

const staticTypes: Readonly<Partial<Record<DescriptorType, DescriptorType>>> = {
  uniformBufferDynamic: "uniformBuffer",
  storageBufferDynamic: "storageBuffer",
};

/**
 * Offsets of a set's descriptors: `layoutSets` of `src/codeobj`, which the compiler uses too. A dynamic buffer has its
 * V# in the set like a static one: binding a set with dynamic offsets binds a copy of it with those V#s moved.
 */
export class DescriptorSetLayout {
  readonly sizeBytes: number;
  readonly bindings: readonly BindingLayout[];
  /** As the compiler sees it: dynamic buffers are static ones. */
  readonly source: readonly DescriptorBinding[];
  /** Binding numbers of dynamic buffers, ascending. */
  readonly dynamic: readonly number[];
  /** Bindings that may be written after a command buffer has bound the set. */
  readonly updateAfterBind: ReadonlySet<number>;
  /** Bindings whose elements may stay unwritten: they read as empty buffers. */
  readonly partiallyBound: ReadonlySet<number>;

  constructor(bindings: readonly DescriptorBinding[], flags: DescriptorFlags = {}) {
    this.updateAfterBind = new Set(flags.updateAfterBind);
    this.partiallyBound = new Set(flags.partiallyBound);
    const numbers = new Set<number>();
    for (const { binding, type, count } of bindings) {
      valid(Number.isInteger(binding) && binding >= 0, `a set layout with binding ${binding}`);
      valid(!numbers.has(binding), `binding ${binding} stands twice in the set layout`);
      oneOf(type, descriptorTypes, `binding ${binding}: a descriptor type`);
      valid(Number.isInteger(count) && count > 0, `binding ${binding} of ${count} descriptors`);
      numbers.add(binding);
    }
    for (const [flag, list] of Object.entries(flags) as [string, readonly number[] | undefined][]) {
      for (const binding of list ?? [])
        valid(numbers.has(binding), `${flag}: the set layout has no binding ${binding}`);
    }
    this.source = bindings.map((row) => ({ ...row, type: staticTypes[row.type] ?? row.type }));
    this.dynamic = bindings
      .filter((row) => staticTypes[row.type] !== undefined)
      .map((row) => row.binding)
      .sort((a, b) => a - b);
    for (const binding of this.dynamic) {
      valid(
        !this.updateAfterBind.has(binding),
        `binding ${binding}: a dynamic buffer cannot be updated after it is bound`,
      );
    }
    const [layout] = layoutSets([{ set: 0, bindings: this.source }]);
    this.sizeBytes = layout?.sizeBytes ?? 0;
    this.bindings = layout?.bindings ?? [];
  }

  find(binding: number): BindingLayout | undefined {
    return this.bindings.find((row) => row.binding === binding);
  }
}

/** Binding numbers with Vulkan's binding flags of the same names. */
export interface DescriptorFlags {
  readonly updateAfterBind?: readonly number[];
  readonly partiallyBound?: readonly number[];
}

/** A buffer range for one descriptor; without a range the buffer from `offsetBytes` on. */
export interface BufferRange {
  readonly buffer: Buffer;
  readonly offsetBytes?: number;
  readonly rangeBytes?: number;
  /** Array element of the binding. */
  readonly element?: number;
}

function descriptorOf({ buffer, offsetBytes = 0, rangeBytes }: BufferRange, dynamicBytes: number): readonly number[] {
  const start = offsetBytes + dynamicBytes;
  const range = rangeBytes ?? buffer.sizeBytes - start;
  valid(start % offsetAlignmentBytes === 0, `buffer offset ${start} is no multiple of ${offsetAlignmentBytes}`);
  valid(
    offsetBytes >= 0 && dynamicBytes >= 0 && Number.isInteger(range) && range >= 0 && start + range <= buffer.sizeBytes,
    `range ${start}+${range} leaves the buffer of ${buffer.sizeBytes} bytes`,
  );
  return rawBufferResource(buffer.va + BigInt(start), range);
}

/** Descriptors of one set in the 32-bit window. */
export class DescriptorSet {
  readonly layout: DescriptorSetLayout;
  readonly va: bigint;
  readonly memory: DeviceMemory;
  /** Its bytes in the pool's memory. */
  readonly offsetBytes: number;
  readonly sizeBytes: number;
  readonly life: Lifetime;
  readonly #layer: ApiLayer | undefined;
  readonly #ranges = new Map<string, BufferRange>();
  /** Writes to bindings that may not change once they are bound, and where the last one was. */
  version = 0;
  writtenAt = "";

  constructor(layout: DescriptorSetLayout, memory: DeviceMemory, place: SetPlace, layer: ApiLayer | undefined) {
    this.layout = layout;
    this.memory = memory;
    this.offsetBytes = place.offsetBytes;
    this.sizeBytes = place.sizeBytes;
    this.#layer = layer;
    this.life = new Lifetime("a descriptor set", layer, this);
    this.va = memory.va + BigInt(place.offsetBytes);
  }

  /** Writes a raw buffer V# (OOB_SELECT 3). VALIDATION on a binding, element or range that the layout does not have. */
  write(binding: number, range: BufferRange): void {
    this.life.use();
    this.#put(binding, range, bufferTypes, () => descriptorOf(range, 0));
  }

  /** Writes the V# of a texel buffer. VALIDATION on a binding or element that the layout does not have, and after the view's end. */
  writeView(binding: number, view: BufferView, element = 0): void {
    this.life.use();
    const { buffer, offsetBytes, rangeBytes } = view;
    this.#put(binding, { buffer, offsetBytes, rangeBytes, element }, texelTypes, () => view.words());
  }

  #put(binding: number, range: BufferRange, types: readonly string[], words: () => readonly number[]): void {
    const { element = 0 } = range;
    const row = this.#row(binding);
    const wanted = types === texelTypes ? "texel buffer" : "buffer";
    valid(types.includes(row.type), `binding ${binding} is a ${row.type}, not a ${wanted}`);
    valid(
      Number.isInteger(element) && element >= 0 && element < row.count,
      `binding ${binding} has no element ${element}`,
    );
    ofDevice(
      this.memory.owner,
      range.buffer.memory.owner,
      `descriptor write of a buffer of ${range.buffer.sizeBytes} bytes`,
    );
    const dwords = words();
    const view = this.memory.map();
    new Uint32Array(view.buffer, view.byteOffset + this.offsetBytes + this.#at(row, element), 4).set(dwords);
    this.#ranges.set(`${binding}.${element}`, range);
    if (this.layout.updateAfterBind.has(binding)) return;
    this.#layer?.written(this);
    this.version++;
    if (this.#layer !== undefined) this.writtenAt = this.#layer.place();
  }

  #row(binding: number): BindingLayout {
    const row = this.layout.find(binding);
    if (row === undefined) throw new DriverError("VALIDATION", `the set layout has no binding ${binding}`);
    return row;
  }

  #at(row: BindingLayout, element: number): number {
    return row.offsetBytes + element * row.strideBytes;
  }

  /** Memory that the written descriptors point at. VALIDATION where one was freed. */
  memories(): DeviceMemory[] {
    this.life.use();
    return [...this.#ranges.values()].map(({ buffer }) => buffer.memory);
  }

  /** What its descriptors point at. */
  ranges(): Iterable<BufferRange> {
    return this.#ranges.values();
  }

  /** What was written to the elements of a binding. */
  rangesOf(binding: number): BufferRange[] {
    return [...this.#ranges].filter(([key]) => key.startsWith(`${binding}.`)).map(([, range]) => range);
  }

  written(binding: number, element: number): boolean {
    return this.#ranges.has(`${binding}.${element}`);
  }

  /**
   * The set's bytes with its dynamic buffers moved: one offset (bytes) an element, bindings ascending. VALIDATION on
   * the wrong number of offsets, a misaligned one, or one that leaves its buffer.
   */
  withDynamicOffsets(offsets: readonly number[]): Uint8Array {
    const view = this.memory.map();
    const copy = view.slice(this.offsetBytes, this.offsetBytes + this.layout.sizeBytes);
    const words = new Uint32Array(copy.buffer);
    let next = 0;
    for (const binding of this.layout.dynamic) {
      const row = this.#row(binding);
      for (let element = 0; element < row.count; element++) {
        const offset = offsets[next++];
        valid(offset !== undefined, `${offsets.length} dynamic offsets, the set has more`);
        const range = this.#ranges.get(`${binding}.${element}`);
        if (range !== undefined) words.set(descriptorOf(range, offset ?? 0), this.#at(row, element) / 4);
      }
    }
    valid(next === offsets.length, `${offsets.length} dynamic offsets, the set has ${next}`);
    return copy;
  }

  /** The descriptor's four dwords as they stand in memory. */
  words(binding: number, element = 0): Uint32Array {
    const at = this.offsetBytes + this.#at(this.#row(binding), element);
    const view = this.memory.map();
    return new Uint32Array(view.buffer, view.byteOffset + at, 4).slice();
  }
}

/** Where a set lies in its pool. */
interface SetPlace {
  readonly offsetBytes: number;
  readonly sizeBytes: number;
}

/** Memory in the 32-bit window that sets are cut from, given back one by one or all at once. */
export class DescriptorPool {
  readonly #memory: DeviceMemory;
  readonly #layer: ApiLayer | undefined;
  readonly #sets = new Set<DescriptorSet>();
  readonly #life: Lifetime;
  /** Free places, ascending, merged. */
  #free: SetPlace[];

  constructor(memory: DeviceMemory, layer: ApiLayer | undefined) {
    this.#memory = memory;
    this.#layer = layer;
    this.#life = new Lifetime(`a descriptor pool of ${memory.sizeBytes} bytes`, layer, this);
    this.#free = [{ offsetBytes: 0, sizeBytes: memory.sizeBytes }];
  }

  /** OUT_OF_POOL_MEMORY where the set does not fit any more. */
  allocate(layout: DescriptorSetLayout): DescriptorSet {
    this.#life.use();
    const bytes = Math.max(SET_ALIGN_BYTES, Math.ceil(layout.sizeBytes / SET_ALIGN_BYTES) * SET_ALIGN_BYTES);
    const at = this.#free.findIndex(({ sizeBytes }) => sizeBytes >= bytes);
    const place = this.#free[at];
    if (place === undefined) {
      const left = this.#free.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      const why = left >= bytes ? ` in one piece, ${left} in all,` : "";
      throw new DriverError("OUT_OF_POOL_MEMORY", `no ${bytes} bytes left${why} of ${this.#memory.sizeBytes}`);
    }
    const rest = { offsetBytes: place.offsetBytes + bytes, sizeBytes: place.sizeBytes - bytes };
    this.#free.splice(at, 1, ...(rest.sizeBytes > 0 ? [rest] : []));
    const set = new DescriptorSet(
      layout,
      this.#memory,
      { offsetBytes: place.offsetBytes, sizeBytes: bytes },
      this.#layer,
    );
    this.#memory.map().fill(0, place.offsetBytes, place.offsetBytes + bytes);
    this.#sets.add(set);
    return set;
  }

  /** Frees one set. VALIDATION on a double free and on another pool's set. */
  free(set: DescriptorSet): void {
    valid(set.life.over || this.#sets.has(set), "free of another pool's descriptor set");
    set.life.end(set);
    this.#sets.delete(set);
    this.#free.push({ offsetBytes: set.offsetBytes, sizeBytes: set.sizeBytes });
    this.#free.sort((a, b) => a.offsetBytes - b.offsetBytes);
    const merged: SetPlace[] = [];
    for (const place of this.#free) {
      const last = merged.at(-1);
      if (last !== undefined && last.offsetBytes + last.sizeBytes === place.offsetBytes) {
        merged[merged.length - 1] = { ...last, sizeBytes: last.sizeBytes + place.sizeBytes };
      } else merged.push(place);
    }
    this.#free = merged;
  }

  /** Frees every set of the pool. */
  reset(): void {
    this.#life.use();
    this.#freeAll();
  }

  #freeAll(): void {
    for (const set of this.#sets) set.life.end(set);
    this.#sets.clear();
    this.#free = [{ offsetBytes: 0, sizeBytes: this.#memory.sizeBytes }];
  }

  destroy(): void {
    this.#life.end(this);
    this.#freeAll();
    this.#memory.destroy();
  }
}
