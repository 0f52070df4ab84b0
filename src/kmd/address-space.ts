import { PageTable, PTE_ADDRESS_MASK, Pte, VaFlag } from "../uapi/index.ts";
import type { Heap } from "./heap.ts";

const ENTRIES = 1 << PageTable.INDEX_BITS;

/** Page number of a canonical address: its low 48 bits without the offset in the page. */
function pageNumber(va: bigint): number {
  return Number(BigInt.asUintN(48, va) >> BigInt(PageTable.PAGE_SHIFT));
}

function indexAt(page: number, level: number): number {
  return Math.floor(page / 2 ** (PageTable.INDEX_BITS * level)) % ENTRIES;
}

/**
 * One process's page tables in VRAM. Entries are written high half first and read by the GPU at any time; whoever
 * changes them invalidates the TLB and keeps freed pages and tables from re-use while a job of the process runs.
 */
export class AddressSpace {
  readonly root: number;
  readonly #heap: Heap;
  readonly #words: Int32Array;
  /** Used entries of each table but the root. */
  readonly #used = new Map<number, number>();
  readonly #release: (table: number) => void;

  /** `release` gets tables that are no longer linked. Undefined where VRAM has no page for the root. */
  static create(heap: Heap, memory: SharedArrayBuffer, release: (table: number) => void): AddressSpace | undefined {
    const root = heap.alloc(PageTable.TABLE_BYTES);
    return root === undefined ? undefined : new AddressSpace(heap, memory, root, release);
  }

  private constructor(heap: Heap, memory: SharedArrayBuffer, root: number, release: (table: number) => void) {
    this.#heap = heap;
    this.#words = new Int32Array(memory);
    this.root = root;
    this.#release = release;
  }

  /** Bytes of VRAM that the tables take. */
  get tableBytes(): number {
    return (this.#used.size + 1) * PageTable.TABLE_BYTES;
  }

  #read(table: number, index: number): bigint {
    const at = (table + index * PageTable.ENTRY_BYTES) / 4;
    const low = Atomics.load(this.#words, at) >>> 0;
    return (BigInt(Atomics.load(this.#words, at + 1) >>> 0) << 32n) | BigInt(low);
  }

  #write(table: number, index: number, low: number): void {
    // Physical addresses stay below 4 GiB, so the high half is always 0 and the low half decides.
    const at = (table + index * PageTable.ENTRY_BYTES) / 4;
    Atomics.store(this.#words, at + 1, 0);
    Atomics.store(this.#words, at, low | 0);
  }

  /** The table below `table`'s entry, or 0. */
  #child(table: number, index: number): number {
    const entry = this.#read(table, index);
    return entry & BigInt(Pte.VALID) ? Number(entry & PTE_ADDRESS_MASK) : 0;
  }

  /** The level 0 table of a page, made where it is missing; undefined when VRAM is out. `made` collects new tables. */
  #leaf(page: number): number | undefined {
    let table = this.root;
    for (let level = PageTable.LEVELS - 1; level > 0; level--) {
      const index = indexAt(page, level);
      let child = this.#child(table, index);
      if (child === 0) {
        const fresh = this.#heap.alloc(PageTable.TABLE_BYTES);
        if (fresh === undefined) return undefined;
        this.#used.set(fresh, 0);
        this.#write(table, index, fresh | Pte.VALID);
        this.#count(table, 1);
        child = fresh;
      }
      table = child;
    }
    return table;
  }

  #count(table: number, by: number): number {
    if (table === this.root) return 1;
    const count = (this.#used.get(table) ?? 0) + by;
    this.#used.set(table, count);
    return count;
  }

  /** Maps `bytes` from page-aligned `va` to `physical`. False, with nothing changed, when VRAM has no page for tables. */
  map(va: bigint, physical: number, bytes: number, flags: number, system: boolean): boolean {
    const bits =
      Pte.VALID |
      (system ? Pte.SYSTEM : 0) |
      (flags & VaFlag.READ ? Pte.READABLE : 0) |
      (flags & VaFlag.WRITE ? Pte.WRITABLE : 0) |
      (flags & VaFlag.EXECUTE ? Pte.EXECUTABLE : 0);
    const first = pageNumber(va);
    const pages = bytes / PageTable.PAGE_BYTES;
    for (let i = 0; i < pages; ) {
      const page = first + i;
      const leaf = this.#leaf(page);
      if (leaf === undefined) {
        this.#clear(first, i);
        this.#prune(page);
        return false;
      }
      const start = page % ENTRIES;
      const run = Math.min(ENTRIES - start, pages - i);
      for (let k = 0; k < run; k++) {
        this.#write(leaf, start + k, (physical + (i + k) * PageTable.PAGE_BYTES) | bits);
      }
      this.#count(leaf, run);
      i += run;
    }
    return true;
  }

  /** Clears the entries of a mapped range and releases tables that became empty. */
  unmap(va: bigint, bytes: number): void {
    this.#clear(pageNumber(va), bytes / PageTable.PAGE_BYTES);
  }

  #clear(first: number, pages: number): void {
    for (let i = 0; i < pages; ) {
      const page = first + i;
      const leaf = this.#tableOf(page, 0);
      const start = page % ENTRIES;
      const run = Math.min(ENTRIES - start, pages - i);
      for (let k = 0; k < run; k++) this.#write(leaf, start + k, 0);
      this.#count(leaf, -run);
      this.#prune(page);
      i += run;
    }
  }

  /** The table that holds the page's entry at `level`, 0 where the walk ends before. */
  #tableOf(page: number, level: number): number {
    let table = this.root;
    for (let l = PageTable.LEVELS - 1; l > level && table !== 0; l--) table = this.#child(table, indexAt(page, l));
    return table;
  }

  /** Unlinks empty tables on the page's path, lowest first. */
  #prune(page: number): void {
    for (let level = 0; level < PageTable.LEVELS - 1; level++) {
      const table = this.#tableOf(page, level);
      if (table === 0) continue;
      if (this.#used.get(table) !== 0) return;
      const parent = this.#tableOf(page, level + 1);
      this.#write(parent, indexAt(page, level + 1), 0);
      this.#count(parent, -1);
      this.#used.delete(table);
      this.#release(table);
    }
  }

  /** Entries of the walk for `va`, root first, up to the first that is not valid. */
  walk(va: bigint): { readonly level: number; readonly entry: bigint }[] {
    const page = pageNumber(va);
    const steps: { level: number; entry: bigint }[] = [];
    let table = this.root;
    for (let level = PageTable.LEVELS - 1; level >= 0; level--) {
      const entry = this.#read(table, indexAt(page, level));
      steps.push({ level, entry });
      if (!(entry & BigInt(Pte.VALID))) break;
      table = Number(entry & PTE_ADDRESS_MASK);
    }
    return steps;
  }

  /** Physical address behind `va`, whatever its permissions. */
  translate(va: bigint): number | undefined {
    const steps = this.walk(va);
    const last = steps[PageTable.LEVELS - 1];
    if (last === undefined || !(last.entry & BigInt(Pte.VALID))) return undefined;
    return Number(last.entry & PTE_ADDRESS_MASK) + Number(va & BigInt(PageTable.PAGE_BYTES - 1));
  }

  /** Gives all tables back to `release`; the space must not be used after. */
  destroy(): void {
    for (const table of this.#used.keys()) this.#release(table);
    this.#used.clear();
    this.#release(this.root);
  }
}
