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

  /** A zeroed extent of `bytes` (a multiple of the page size), or undefined where none is long enough. */
  alloc(bytes: number): number | undefined {
    const i = this.#lengths.findIndex((length) => length >= bytes);
    if (i < 0) return undefined;
    const start = this.#starts[i] as number;
    const length = this.#lengths[i] as number;
    if (length === bytes) {
      this.#starts.splice(i, 1);
      this.#lengths.splice(i, 1);
    } else {
      this.#starts[i] = start + bytes;
      this.#lengths[i] = length - bytes;
    }
    this.#freeBytes -= bytes;
    const end = start + bytes;
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
