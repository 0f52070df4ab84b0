import { Bug } from "../base/index.ts";
import { PageTable } from "../uapi/index.ts";

/** Bytes rounded up to whole pages. */
export function pageAlign(bytes: number): number {
  return Math.ceil(bytes / PageTable.PAGE_BYTES) * PageTable.PAGE_BYTES;
}

/**
 * A physical range given out in contiguous, zeroed, page-aligned extents, first fit. Contiguous because a CPU view is
 * one typed array. Free extents stay sorted and merged, so fragmentation is what the free list shows.
 */
export class Heap {
  readonly sizeBytes: number;
  readonly #bytes: Uint8Array;
  /** Free extents, ascending: start and length in bytes. */
  readonly #starts: number[];
  readonly #lengths: number[];
  #freeBytes: number;
  /** Bytes from here on were never given out: still zero, not yet committed by the host. */
  #untouched: number;

  constructor(memory: SharedArrayBuffer, base: number, sizeBytes: number) {
    this.#bytes = new Uint8Array(memory);
    this.sizeBytes = sizeBytes;
    this.#starts = [base];
    this.#lengths = [sizeBytes];
    this.#freeBytes = sizeBytes;
    this.#untouched = base;
  }

  get freeBytes(): number {
    return this.#freeBytes;
  }

  /** Number of free extents: 1 when nothing is fragmented. */
  get extents(): number {
    return this.#starts.length;
  }

  /**
   * A zeroed extent of `bytes` (a multiple of the page size) at a multiple of `alignBytes` (a power of two), or undefined
   * where none is long enough.
   */
  alloc(bytes: number, alignBytes: number = PageTable.PAGE_BYTES): number | undefined {
    const aligned = (at: number) => Math.ceil(at / alignBytes) * alignBytes;
    const i = this.#starts.findIndex((at, k) => at + (this.#lengths[k] as number) - aligned(at) >= bytes);
    if (i < 0) return undefined;
    const from = this.#starts[i] as number;
    const start = aligned(from);
    const end = start + bytes;
    const stop = from + (this.#lengths[i] as number);
    const pieces = [
      [from, start],
      [end, stop],
    ].filter(([a, b]) => (a as number) < (b as number)) as [number, number][];
    this.#starts.splice(i, 1, ...pieces.map(([a]) => a));
    this.#lengths.splice(i, 1, ...pieces.map(([a, b]) => b - a));
    this.#freeBytes -= bytes;
    if (start < this.#untouched) this.#bytes.fill(0, start, Math.min(end, this.#untouched));
    if (end > this.#untouched) this.#untouched = end;
    return start;
  }

  /** Gives an extent back. Throws `Bug` where part of it is free already. */
  free(start: number, bytes: number): void {
    let low = 0;
    let high = this.#starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] as number) < start) low = middle + 1;
      else high = middle;
    }
    const before = low - 1;
    const joinsBefore = before >= 0 && (this.#starts[before] as number) + (this.#lengths[before] as number) === start;
    const overlapsBefore = before >= 0 && (this.#starts[before] as number) + (this.#lengths[before] as number) > start;
    const after = this.#starts[low];
    if (overlapsBefore || (after !== undefined && after < start + bytes)) throw new Bug(`double free at ${start}`);
    const joinsAfter = after === start + bytes;
    this.#freeBytes += bytes;
    if (joinsBefore && joinsAfter) {
      this.#lengths[before] = (this.#lengths[before] as number) + bytes + (this.#lengths[low] as number);
      this.#starts.splice(low, 1);
      this.#lengths.splice(low, 1);
    } else if (joinsBefore) this.#lengths[before] = (this.#lengths[before] as number) + bytes;
    else if (joinsAfter) {
      this.#starts[low] = start;
      this.#lengths[low] = (this.#lengths[low] as number) + bytes;
    } else {
      this.#starts.splice(low, 0, start);
      this.#lengths.splice(low, 0, bytes);
    }
  }
}
