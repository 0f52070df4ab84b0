import { DriverError, oneOf, valid } from "./errors.ts";
import { type AddressRange, type DeviceMemory, type MemoryOptions, type MemoryType, memoryTypes } from "./memory.ts";

export interface SuballocatorOptions {
  readonly type: MemoryType;
  readonly range?: AddressRange;
  /** Bytes of a block, what one kernel allocation gives. */
  readonly blockBytes?: number;
}

/** A piece of a block. Bind buffers to `memory` at `offsetBytes`. */
export interface Suballocation {
  readonly memory: DeviceMemory;
  readonly offsetBytes: number;
  readonly sizeBytes: number;
  /** VALIDATION on a double free. */
  free(): void;
}

interface Block {
  readonly memory: DeviceMemory;
  /** Free extents, ascending, merged: offset and length in bytes. */
  free: { offsetBytes: number; sizeBytes: number }[];
  used: number;
}

const DEFAULT_BLOCK_BYTES = 1 << 20;
/** Pieces are multiples of this, so that ends do not splinter. */
const GRAIN_BYTES = 64;

/**
 * Cuts pieces out of few large allocations: a piece costs no ioctl but where a new block is needed. Best fit over all
 * blocks; what is over half a block has an allocation of its own. A block that is empty goes back to the kernel, but for
 * one that is kept against back and forth.
 */
export class Suballocator {
  readonly #allocate: (options: MemoryOptions) => DeviceMemory;
  readonly #options: SuballocatorOptions;
  readonly #blockBytes: number;
  readonly #blocks = new Set<Block>();

  constructor(allocate: (options: MemoryOptions) => DeviceMemory, options: SuballocatorOptions) {
    this.#allocate = allocate;
    this.#options = options;
    oneOf(options.type, memoryTypes, "a memory type");
    this.#blockBytes = options.blockBytes ?? DEFAULT_BLOCK_BYTES;
    valid(
      this.#blockBytes >= 4096 && this.#blockBytes % 4096 === 0,
      `blocks of ${this.#blockBytes} bytes: not whole pages`,
    );
  }

  /** `alignBytes` is a power of two, at most a page. Throws OUT_OF_DEVICE_MEMORY. */
  allocate(sizeBytes: number, alignBytes = 256): Suballocation {
    valid(Number.isSafeInteger(sizeBytes) && sizeBytes > 0, `suballocation of ${sizeBytes} bytes`);
    const isPower = alignBytes > 0 && alignBytes <= 4096 && (alignBytes & (alignBytes - 1)) === 0;
    valid(isPower, `alignment ${alignBytes} is no power of two up to 4096`);
    const size = Math.ceil(sizeBytes / GRAIN_BYTES) * GRAIN_BYTES;
    const { type, range } = this.#options;
    const where = { type, ...(range === undefined ? {} : { range }) };
    if (size > this.#blockBytes / 2) {
      const memory = this.#allocate({ sizeBytes: size, ...where });
      return piece(memory, 0, sizeBytes, () => memory.destroy());
    }
    let best: { block: Block; at: number; waste: number } | undefined;
    for (const block of this.#blocks) {
      for (const [at, extent] of block.free.entries()) {
        const waste = extent.offsetBytes + extent.sizeBytes - (alignUp(extent.offsetBytes, alignBytes) + size);
        if (waste >= 0 && (best === undefined || waste < best.waste)) best = { block, at, waste };
      }
    }
    if (best === undefined) {
      const memory = this.#allocate({ sizeBytes: this.#blockBytes, ...where });
      const block: Block = { memory, free: [{ offsetBytes: 0, sizeBytes: memory.sizeBytes }], used: 0 };
      this.#blocks.add(block);
      best = { block, at: 0, waste: 0 };
    }
    const { block, at } = best;
    const extent = block.free[at];
    if (extent === undefined) throw new DriverError("UNKNOWN", "suballocator: no extent");
    const start = alignUp(extent.offsetBytes, alignBytes);
    const end = start + size;
    const pieces = [
      { offsetBytes: extent.offsetBytes, sizeBytes: start - extent.offsetBytes },
      { offsetBytes: end, sizeBytes: extent.offsetBytes + extent.sizeBytes - end },
    ].filter((rest) => rest.sizeBytes > 0);
    block.free.splice(at, 1, ...pieces);
    block.used++;
    return piece(block.memory, start, sizeBytes, () => this.#free(block, start, size));
  }

  #free(block: Block, offsetBytes: number, sizeBytes: number): void {
    const at = block.free.findIndex((extent) => extent.offsetBytes > offsetBytes);
    const index = at < 0 ? block.free.length : at;
    block.free.splice(index, 0, { offsetBytes, sizeBytes });
    for (const first of [index, index - 1]) {
      const [a, b] = [block.free[first], block.free[first + 1]];
      if (a === undefined || b === undefined || a.offsetBytes + a.sizeBytes !== b.offsetBytes) continue;
      a.sizeBytes += b.sizeBytes;
      block.free.splice(first + 1, 1);
    }
    if (--block.used > 0) return;
    if ([...this.#blocks].some((other) => other !== block && other.used === 0)) this.#drop(block);
  }

  #drop(block: Block): void {
    this.#blocks.delete(block);
    block.memory.destroy();
  }

  /** Gives back every block that is empty. */
  trim(): void {
    for (const block of [...this.#blocks]) if (block.used === 0) this.#drop(block);
  }

  /** Blocks held, their bytes, and what is free of these: in all, and in one piece. */
  get statistics() {
    const free = [...this.#blocks].flatMap((block) => block.free.map(({ sizeBytes }) => sizeBytes));
    return {
      blocks: this.#blocks.size,
      bytes: this.#blocks.size * this.#blockBytes,
      freeBytes: free.reduce((sum, bytes) => sum + bytes, 0),
      largestFreeBytes: Math.max(0, ...free),
    };
  }

  /** Frees all blocks; pieces of them must not be used after. */
  destroy(): void {
    for (const block of [...this.#blocks]) this.#drop(block);
  }
}

const alignUp = (at: number, align: number): number => Math.ceil(at / align) * align;

function piece(memory: DeviceMemory, offsetBytes: number, sizeBytes: number, release: () => void): Suballocation {
  let freed = false;
  return {
    memory,
    offsetBytes,
    sizeBytes,
    free() {
      valid(!freed, "double free of a suballocation");
      freed = true;
      release();
    },
  };
}
