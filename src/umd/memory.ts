import { Domain, VaFlag } from "../uapi/index.ts";
import { DriverError, valid } from "./errors.ts";
import type { KernelFile } from "./kernel.ts";
import type { VaHeap } from "./va-heap.ts";
import type { ApiLayer } from "./validate/index.ts";

/** `device` is VRAM, `host` is GTT. Both can be mapped: the model's whole VRAM is visible to the CPU. */
export type MemoryType = "device" | "host";

/** Addresses a shader reaches by 64-bit pointers or V#, or the 4 GiB window of 32-bit pointers. */
export type AddressRange = "general" | "window";

/** Where memory goes when it is freed: its addresses wait until no submission can use them. */
export interface MemoryOwner {
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

/** One allocation: a BO mapped at one virtual address for its whole life. */
export class DeviceMemory {
  readonly sizeBytes: number;
  readonly type: MemoryType;
  readonly va: bigint;
  readonly handle: number;
  readonly #owner: MemoryOwner;
  readonly #range: AddressRange;
  #view: Uint8Array | undefined;
  #freed = false;
  #freedAt = "";

  /** Throws OUT_OF_DEVICE_MEMORY where the domain or the address range is full. */
  constructor(owner: MemoryOwner, options: MemoryOptions) {
    const { sizeBytes, type, range = "general", access = VaFlag.READ | VaFlag.WRITE } = options;
    valid(Number.isSafeInteger(sizeBytes) && sizeBytes > 0, `allocation of ${sizeBytes} bytes`);
    this.#owner = owner;
    this.#range = range;
    this.type = type;
    this.sizeBytes = Math.ceil(sizeBytes / 4096) * 4096;
    const { kernel } = owner;
    const domain = type === "device" ? Domain.VRAM : Domain.GTT;
    this.handle = kernel.call("GEM_CREATE", { size: BigInt(this.sizeBytes), domain }).handle;
    const heap = owner.heapOf(range);
    const va = heap.alloc(this.sizeBytes, options.alignBytes);
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
    throw new DriverError("OUT_OF_DEVICE_MEMORY", `VA_MAP: ${result}`);
  }

  get freed(): boolean {
    return this.#freed;
  }

  /** ` at file:line:column` of the call that freed it, where validation is on. */
  get freedAt(): string {
    return this.#freedAt;
  }

  ownedBy(owner: object): boolean {
    return this.#owner === owner;
  }

  /** A live view of the whole allocation. The same view on every call. */
  map(): Uint8Array {
    valid(!this.#freed, `map of freed memory${this.#freedAt}`);
    this.#owner.layer?.mapped(this);
    this.#view ??= this.#owner.kernel.mmap(this.handle, this.sizeBytes);
    return this.#view;
  }

  unmap(): void {
    valid(this.#view !== undefined, "unmap of memory that is not mapped");
    this.#view = undefined;
    this.#owner.kernel.munmap(this.handle);
  }

  /** Frees the memory; work in flight that lists it keeps it alive until its end. */
  destroy(): void {
    valid(!this.#freed, `double free of memory${this.#freedAt === "" ? "" : `, freed${this.#freedAt}`}`);
    if (this.#view !== undefined) this.unmap();
    this.#freed = true;
    if (this.#owner.layer !== undefined) this.#freedAt = ` at ${this.#owner.layer.place()}`;
    this.#owner.layer?.destroyed(this);
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

  constructor(sizeBytes: number) {
    valid(Number.isSafeInteger(sizeBytes) && sizeBytes > 0 && sizeBytes < 2 ** 32, `buffer of ${sizeBytes} bytes`);
    this.sizeBytes = sizeBytes;
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
    valid(offsetBytes % bufferAlignmentBytes === 0, `offset ${offsetBytes} is no multiple of ${bufferAlignmentBytes}`);
    valid(offsetBytes >= 0 && offsetBytes + this.sizeBytes <= memory.sizeBytes, "buffer reaches past its memory");
    this.#memory = memory;
    this.#offsetBytes = offsetBytes;
    return this;
  }

  get memory(): DeviceMemory {
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
