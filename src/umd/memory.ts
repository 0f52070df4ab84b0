import { Domain, PageTable, VaFlag } from "../uapi/index.ts";
import { DriverError, oneOf, valid } from "./errors.ts";
import { type KernelFile, kernelError } from "./kernel.ts";
import { Lifetime } from "./lifetime.ts";
import { type DeviceOwner, ofDevice } from "./owner.ts";
import type { VaHeap } from "./va-heap.ts";
import type { ApiLayer } from "./validate/index.ts";

/**
 * `device` is VRAM, `host` is GTT; both can be mapped (the model's whole VRAM is visible to the CPU) and are coherent.
 * `cached` is GTT behind a cache of the CPU: a map shows the cache, `flush` and `invalidate` move bytes.
 */
export type MemoryType = (typeof memoryTypes)[number];
export const memoryTypes = ["device", "host", "cached"] as const;

/** nonCoherentAtomSize: ranges of flush and invalidate are multiples of it. */
const atomBytes = 64;

/** Addresses a shader reaches by 64-bit pointers or V#, or the 4 GiB window of 32-bit pointers. */
export type AddressRange = (typeof addressRanges)[number];
const addressRanges = ["general", "window"] as const;

/** Where memory goes when it is freed: its addresses wait until no submission can use them. */
export interface MemoryOwner extends DeviceOwner {
  readonly kernel: KernelFile;
  /** Validation of calls, where it is on. */
  readonly layer: ApiLayer | undefined;
  heapOf(range: AddressRange): VaHeap;
  retire(action: () => void): void;
  forget(memory: DeviceMemory): void;
}

export interface MemoryOptions {
  readonly sizeBytes: number;
  readonly type: MemoryType;
  readonly range?: AddressRange;
  /** `VaFlag` bits; read and write where absent. */
  readonly access?: number;
  readonly alignBytes?: number;
}

const { BIG_PAGE_BYTES: BIG, HUGE_PAGE_BYTES: HUGE } = PageTable;

/** One allocation: a BO mapped at one virtual address for its whole life. */
export class DeviceMemory {
  readonly sizeBytes: number;
  readonly type: MemoryType;
  readonly va: bigint;
  readonly handle: number;
  /** Its device. */
  readonly owner: DeviceOwner;
  readonly #owner: MemoryOwner;
  readonly #range: AddressRange;
  #view: Uint8Array | undefined;
  /** The CPU's cache of `cached` memory, and what it held when it last agreed with memory (with validation only). */
  #cache: Uint8Array | undefined;
  #agreed: Uint8Array | undefined;
  #freed = false;
  #freedAt = "";

  /** Throws OUT_OF_DEVICE_MEMORY where the domain or the address range is full. */
  constructor(owner: MemoryOwner, options: MemoryOptions) {
    const { sizeBytes, type, range = "general", access = VaFlag.READ | VaFlag.WRITE } = options;
    valid(Number.isSafeInteger(sizeBytes) && sizeBytes > 0, `allocation of ${sizeBytes} bytes`);
    oneOf(type, memoryTypes, "a memory type");
    oneOf(range, addressRanges, "an address range");
    this.owner = owner;
    this.#owner = owner;
    this.#range = range;
    this.type = type;
    this.sizeBytes = Math.ceil(sizeBytes / 4096) * 4096;
    const { kernel } = owner;
    const domain = type === "device" ? Domain.VRAM : Domain.GTT;
    this.handle = kernel.call("GEM_CREATE", { size: BigInt(this.sizeBytes), domain }).handle;
    const heap = owner.heapOf(range);
    // Large pages want addresses as aligned as the kernel's memory is.
    const pageBytes = this.sizeBytes >= HUGE ? HUGE : this.sizeBytes >= BIG ? BIG : PageTable.PAGE_BYTES;
    const va = heap.alloc(this.sizeBytes, Math.max(options.alignBytes ?? 0, pageBytes));
    if (va === undefined) {
      kernel.call("GEM_CLOSE", { handle: this.handle });
      throw new DriverError("OUT_OF_DEVICE_MEMORY", `no ${range} addresses for ${this.sizeBytes} bytes`);
    }
    this.va = va;
    const arg = { handle: this.handle, flags: access, va, boOffset: 0n, size: BigInt(this.sizeBytes) };
    const { result } = kernel.try("VA_MAP", arg);
    if (result === 0) return;
    heap.free(va, this.sizeBytes);
    kernel.call("GEM_CLOSE", { handle: this.handle });
    throw kernelError(result, "VA_MAP");
  }

  get freed(): boolean {
    return this.#freed;
  }

  /** ` at file:line:column` of the call that freed it, where validation is on. */
  get freedAt(): string {
    return this.#freedAt;
  }

  /** A view of the whole allocation, live but for `cached` memory. The same view on every call. */
  map(): Uint8Array {
    valid(!this.#freed, `map of freed memory${this.#freedAt}`);
    this.#owner.layer?.mapped(this);
    this.#view ??= this.#owner.kernel.mmap(this.handle, this.sizeBytes);
    if (this.coherent) return this.#view;
    if (this.#cache === undefined) {
      this.#cache = this.#view.slice();
      if (this.#owner.layer !== undefined) this.#agreed = this.#cache.slice();
    }
    return this.#cache;
  }

  unmap(): void {
    valid(this.#view !== undefined, "unmap of memory that is not mapped");
    this.#view = undefined;
    this.#cache = undefined;
    this.#agreed = undefined;
    this.#owner.kernel.munmap(this.handle);
  }

  get coherent(): boolean {
    return this.type !== "cached";
  }

  /** Writes what the CPU changed back to memory; nothing to do for coherent memory. Whole atoms of 64 bytes. */
  flush(offsetBytes = 0, sizeBytes = this.sizeBytes - offsetBytes): void {
    const [cache, view] = this.#atoms("flush", offsetBytes, sizeBytes);
    if (cache === undefined || view === undefined) return;
    view.set(cache);
    this.#agreed?.set(cache, offsetBytes);
    this.#owner.layer?.flushed(this);
  }

  /** Drops the CPU's cache, so that it sees what the GPU wrote. */
  invalidate(offsetBytes = 0, sizeBytes = this.sizeBytes - offsetBytes): void {
    const [cache, view] = this.#atoms("invalidate", offsetBytes, sizeBytes);
    this.#owner.layer?.invalidated(this);
    if (cache === undefined || view === undefined) return;
    cache.set(view);
    this.#agreed?.set(view, offsetBytes);
  }

  #atoms(what: string, offsetBytes: number, sizeBytes: number): [Uint8Array?, Uint8Array?] {
    valid(!this.#freed, `${what} of freed memory${this.#freedAt}`);
    valid(this.#view !== undefined, `${what} of memory that is not mapped`);
    const whole = offsetBytes % atomBytes === 0 && sizeBytes % atomBytes === 0;
    valid(whole, `${what} of ${sizeBytes} bytes at ${offsetBytes}: not whole atoms of ${atomBytes} bytes`);
    const fits = offsetBytes >= 0 && sizeBytes >= 0 && offsetBytes + sizeBytes <= this.sizeBytes;
    valid(fits, `${what} of bytes past the allocation of ${this.sizeBytes}`);
    return [this.#cache, this.#view].map((all) => all?.subarray(offsetBytes, offsetBytes + sizeBytes)) as [
      Uint8Array?,
      Uint8Array?,
    ];
  }

  /** With validation: whether the CPU's cache holds writes that were not flushed. */
  get unflushed(): boolean {
    const [cache, agreed] = [this.#cache, this.#agreed];
    return cache !== undefined && agreed !== undefined && cache.some((byte, i) => byte !== agreed[i]);
  }

  /** Frees the memory; work in flight that lists it keeps it alive until its end. */
  destroy(): void {
    valid(!this.#freed, `double free of memory${this.#freedAt === "" ? "" : `, freed${this.#freedAt}`}`);
    if (this.#view !== undefined) this.unmap();
    this.#freed = true;
    if (this.#owner.layer !== undefined) this.#freedAt = ` at ${this.#owner.layer.place()}`;
    this.#owner.layer?.destroyed(this, `memory of ${this.sizeBytes} bytes (BO ${this.handle})`);
    this.#owner.kernel.call("GEM_CLOSE", { handle: this.handle });
    this.#owner.forget(this);
    this.#owner.retire(() => this.#owner.heapOf(this.#range).free(this.va, this.sizeBytes));
  }
}

/** Bytes at which buffers may be bound: a V# base has no alignment, but rows of caches like one. */
const bufferAlignmentBytes = 256;

/** A range of memory that descriptors point at. */
export class Buffer {
  readonly sizeBytes: number;
  #memory: DeviceMemory | undefined;
  #offsetBytes = 0;
  readonly life: Lifetime;
  readonly #owner: DeviceOwner;
  #owned = false;

  constructor(sizeBytes: number, owner: DeviceOwner, layer: ApiLayer | undefined) {
    valid(Number.isSafeInteger(sizeBytes) && sizeBytes > 0 && sizeBytes < 2 ** 32, `buffer of ${sizeBytes} bytes`);
    this.sizeBytes = sizeBytes;
    this.#owner = owner;
    this.life = new Lifetime(`a buffer of ${sizeBytes} bytes`, layer, this);
  }

  /** The buffer is no more; so is its memory where `createBoundBuffer` made it, else that is the caller's. */
  destroy(): void {
    this.life.end(this);
    if (this.#owned && this.#memory?.freed === false) this.#memory.destroy();
  }

  /** Binds the buffer to memory that goes with it. */
  own(memory: DeviceMemory): this {
    this.#owned = true;
    return this.bind(memory);
  }

  get requirements(): { readonly sizeBytes: number; readonly alignBytes: number } {
    return {
      sizeBytes: Math.ceil(this.sizeBytes / bufferAlignmentBytes) * bufferAlignmentBytes,
      alignBytes: bufferAlignmentBytes,
    };
  }

  /** Binds the buffer to memory, once. */
  bind(memory: DeviceMemory, offsetBytes = 0): this {
    valid(this.#memory === undefined, "buffer is bound already");
    ofDevice(this.#owner, memory.owner, `bind of memory (BO ${memory.handle})`);
    valid(offsetBytes % bufferAlignmentBytes === 0, `offset ${offsetBytes} is no multiple of ${bufferAlignmentBytes}`);
    valid(offsetBytes >= 0 && offsetBytes + this.sizeBytes <= memory.sizeBytes, "buffer reaches past its memory");
    this.#memory = memory;
    this.#offsetBytes = offsetBytes;
    return this;
  }

  get memory(): DeviceMemory {
    this.life.use();
    if (this.#memory === undefined) throw new DriverError("VALIDATION", "buffer has no memory");
    valid(!this.#memory.freed, `buffer's memory was freed${this.#memory.freedAt}`);
    return this.#memory;
  }

  /** Virtual address of the first byte. */
  get va(): bigint {
    return this.memory.va + BigInt(this.#offsetBytes);
  }

  /** A live view of the buffer's bytes. */
  map(): Uint8Array {
    return this.memory.map().subarray(this.#offsetBytes, this.#offsetBytes + this.sizeBytes);
  }
}
