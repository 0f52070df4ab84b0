import { PageTable } from "../uapi/index.ts";

const PAGE = BigInt(PageTable.PAGE_BYTES);

/** Virtual addresses of one range, given out first fit, with an unmapped guard page after each allocation. */
export class VaHeap {
  /** Free extents in pages from the base, ascending. */
  readonly #free: { start: number; pages: number }[];
  readonly #base: bigint;

  /** `base` and `end` are page aligned. */
  constructor(base: bigint, end: bigint) {
    this.#base = base;
    this.#free = [{ start: 0, pages: Number((end - base) / PAGE) }];
  }

  /** Number of free extents: 1 when nothing is fragmented. */
  get extents(): number {
    return this.#free.length;
  }

  static #pages(sizeBytes: number): number {
    return Math.ceil(sizeBytes / PageTable.PAGE_BYTES) + 1;
  }

  /** An address for `sizeBytes` bytes at a multiple of `alignBytes` (a power of two, from a page on). */
  alloc(sizeBytes: number, alignBytes: number = PageTable.PAGE_BYTES): bigint | undefined {
    const pages = VaHeap.#pages(sizeBytes);
    const align = alignBytes / PageTable.PAGE_BYTES;
    const basePage = Number(BigInt.asUintN(48, this.#base) / PAGE);
    for (const [i, extent] of this.#free.entries()) {
      const start = Math.ceil((basePage + extent.start) / align) * align - basePage;
      const left = extent.start + extent.pages - (start + pages);
      if (left < 0) continue;
      const pieces = [
        { start: extent.start, pages: start - extent.start },
        { start: start + pages, pages: left },
      ].filter((piece) => piece.pages > 0);
      this.#free.splice(i, 1, ...pieces);
      return this.#base + BigInt(start) * PAGE;
    }
    return undefined;
  }

  /** Gives back what `alloc(sizeBytes)` answered. */
  free(va: bigint, sizeBytes: number): void {
    const start = Number((va - this.#base) / PAGE);
    const pages = VaHeap.#pages(sizeBytes);
    const after = this.#free.findIndex((extent) => extent.start > start);
    const at = after < 0 ? this.#free.length : after;
    this.#free.splice(at, 0, { start, pages });
    this.#merge(at);
    this.#merge(at - 1);
  }

  #merge(at: number): void {
    const first = this.#free[at];
    const second = this.#free[at + 1];
    if (first === undefined || second === undefined || first.start + first.pages !== second.start) return;
    first.pages += second.pages;
    this.#free.splice(at + 1, 1);
  }
}
