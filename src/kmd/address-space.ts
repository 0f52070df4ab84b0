import { PageTable, PDE_PTE, PTE_ADDRESS_MASK, PTE_PRT, Pte, VaFlag } from "../uapi/index.ts";

const ENTRIES = 1 << PageTable.INDEX_BITS;
/** Flags in the high half of an entry. */
const HUGE_HIGH = Number(PDE_PTE >> 32n);
const HOLE_HIGH = Number(PTE_PRT >> 32n);
/** FRAGMENT of pages of 64 KiB: 2^4 entries. */
const BIG_PAGES = PageTable.BIG_PAGE_BYTES / PageTable.PAGE_BYTES;
const BIG_FRAGMENT = 4 << Pte.FRAGMENT_SHIFT;

/** Where page tables come from. */
export interface TableMemory {
  alloc(bytes: number): number | undefined;
}

/** What stands behind a range: permissions are `VaFlag` bits. */
export interface Backing {
  readonly physical: number;
  readonly flags: number;
  /** The pages are GTT. */
  readonly system: boolean;
  /** Pages of 2 MiB may be used; false for memory that may move to a place of another alignment. */
  readonly huge?: boolean;
}

function entryBits({ flags, system }: Backing): number {
  return (
    Pte.VALID |
    (system ? Pte.SYSTEM : 0) |
    (flags & VaFlag.READ ? Pte.READABLE : 0) |
    (flags & VaFlag.WRITE ? Pte.WRITABLE : 0) |
    (flags & VaFlag.EXECUTE ? Pte.EXECUTABLE : 0)
  );
}

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
  readonly #tables: TableMemory;
  readonly #words: Int32Array;
  /** Used entries of each table but the root. */
  readonly #used = new Map<number, number>();
  readonly #release: (table: number) => void;

  /** `release` gets tables that are no longer linked. Undefined where VRAM has no page for the root. */
  static create(
    heap: TableMemory,
    memory: SharedArrayBuffer,
    release: (table: number) => void,
  ): AddressSpace | undefined {
    const root = heap.alloc(PageTable.TABLE_BYTES);
    return root === undefined ? undefined : new AddressSpace(heap, memory, root, release);
  }

  private constructor(tables: TableMemory, memory: SharedArrayBuffer, root: number, release: (table: number) => void) {
    this.#tables = tables;
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

  #write(table: number, index: number, low: number, high = 0): void {
    // Physical addresses stay below 4 GiB: the high half holds flags only. The order of the halves keeps an entry that
    // turns from a hole into a page, or back, from being neither for a moment.
    const at = (table + index * PageTable.ENTRY_BYTES) / 4;
    if (high !== 0) Atomics.store(this.#words, at + 1, high);
    Atomics.store(this.#words, at, low | 0);
    if (high === 0) Atomics.store(this.#words, at + 1, 0);
  }

  /** The table below `table`'s entry, or 0. */
  #child(table: number, index: number): number {
    const entry = this.#read(table, index);
    return entry & BigInt(Pte.VALID) && !(entry & PDE_PTE) ? Number(entry & PTE_ADDRESS_MASK) : 0;
  }

  /** The page's table of a level, made where it is missing; undefined when memory for tables is out. */
  #make(page: number, wanted: number): number | undefined {
    let table = this.root;
    for (let level = PageTable.LEVELS - 1; level > wanted; level--) {
      const index = indexAt(page, level);
      let child = this.#child(table, index);
      if (child === 0) {
        const fresh = this.#tables.alloc(PageTable.TABLE_BYTES);
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

  /**
   * Maps `bytes` from page-aligned `va`, with pages of 2 MiB and 64 KiB where both addresses allow. False, with nothing
   * changed, when there is no memory for tables.
   */
  map(va: bigint, bytes: number, backing: Backing): boolean {
    const { physical, huge: mayBeHuge = true } = backing;
    const bits = entryBits(backing);
    const first = pageNumber(va);
    const pages = bytes / PageTable.PAGE_BYTES;
    for (let i = 0; i < pages; ) {
      const page = first + i;
      const place = physical + i * PageTable.PAGE_BYTES;
      const huge = mayBeHuge && page % ENTRIES === 0 && pages - i >= ENTRIES && place % PageTable.HUGE_PAGE_BYTES === 0;
      const table = this.#make(page, huge ? 1 : 0);
      if (table === undefined) {
        this.#clear(first, i);
        this.#prune(page);
        return false;
      }
      if (huge) {
        this.#write(table, indexAt(page, 1), place | bits, HUGE_HIGH);
        this.#count(table, 1);
        i += ENTRIES;
        continue;
      }
      const start = page % ENTRIES;
      const run = Math.min(ENTRIES - start, pages - i);
      this.#writeRun(table, start, run, place, bits);
      this.#count(table, run);
      i += run;
    }
    return true;
  }

  /** `run` entries of a level 0 table; those of whole 64 KiB pages say so. */
  #writeRun(table: number, start: number, run: number, physical: number, bits: number): void {
    for (let k = 0; k < run; k++) {
      const place = physical + k * PageTable.PAGE_BYTES;
      const within = (start + k) % BIG_PAGES;
      const big =
        place % PageTable.BIG_PAGE_BYTES === within * PageTable.PAGE_BYTES &&
        k >= within &&
        run - k + within >= BIG_PAGES;
      this.#write(table, start + k, place | bits | (big ? BIG_FRAGMENT : 0));
    }
  }

  /** Changes what stands behind a mapped range, page sizes kept: `physical` is aligned like the old place. */
  remap(va: bigint, bytes: number, backing: Backing): void {
    const { physical } = backing;
    const bits = entryBits(backing);
    const first = pageNumber(va);
    const pages = bytes / PageTable.PAGE_BYTES;
    for (let i = 0; i < pages; ) {
      const page = first + i;
      const place = physical + i * PageTable.PAGE_BYTES;
      const table = this.#tableOf(page, 0);
      if (table === 0) {
        this.#write(this.#tableOf(page, 1), indexAt(page, 1), place | bits, HUGE_HIGH);
        i += ENTRIES;
        continue;
      }
      const start = page % ENTRIES;
      const run = Math.min(ENTRIES - start, pages - i);
      this.#writeRun(table, start, run, place, bits);
      i += run;
    }
  }

  /** Makes a range holes: level 0 entries, so that pages can be bound one by one. False as `map`. */
  mapHoles(va: bigint, bytes: number): boolean {
    const first = pageNumber(va);
    const pages = bytes / PageTable.PAGE_BYTES;
    for (let i = 0; i < pages; ) {
      const table = this.#make(first + i, 0);
      if (table === undefined) {
        this.#clear(first, i);
        this.#prune(first + i);
        return false;
      }
      const start = (first + i) % ENTRIES;
      const run = Math.min(ENTRIES - start, pages - i);
      for (let k = 0; k < run; k++) this.#write(table, start + k, 0, HOLE_HIGH);
      this.#count(table, run);
      i += run;
    }
    return true;
  }

  /** Binds pages of a range of holes, or makes them holes again where `backing` is absent. */
  bind(va: bigint, bytes: number, backing: Backing | undefined): void {
    const first = pageNumber(va);
    const bits = backing === undefined ? 0 : entryBits(backing);
    for (let i = 0; i < bytes / PageTable.PAGE_BYTES; i++) {
      const table = this.#tableOf(first + i, 0);
      const index = (first + i) % ENTRIES;
      if (backing === undefined) this.#write(table, index, 0, HOLE_HIGH);
      else this.#write(table, index, (backing.physical + i * PageTable.PAGE_BYTES) | bits);
    }
  }

  /** Clears the entries of a mapped range and releases tables that became empty. */
  unmap(va: bigint, bytes: number): void {
    this.#clear(pageNumber(va), bytes / PageTable.PAGE_BYTES);
  }

  #clear(first: number, pages: number): void {
    for (let i = 0; i < pages; ) {
      const page = first + i;
      const leaf = this.#tableOf(page, 0);
      if (leaf === 0) {
        const table = this.#tableOf(page, 1);
        this.#write(table, indexAt(page, 1), 0);
        this.#count(table, -1);
        this.#prune(page);
        i += ENTRIES;
        continue;
      }
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
      if (!(entry & BigInt(Pte.VALID)) || entry & PDE_PTE) break;
      table = Number(entry & PTE_ADDRESS_MASK);
    }
    return steps;
  }

  /** Physical address behind `va`, whatever its permissions. */
  translate(va: bigint): number | undefined {
    const last = this.walk(va).at(-1);
    if (last === undefined || !(last.entry & BigInt(Pte.VALID))) return undefined;
    const huge = (last.entry & PDE_PTE) !== 0n;
    if (last.level > 0 && !huge) return undefined;
    const offset = (huge ? PageTable.HUGE_PAGE_BYTES : PageTable.PAGE_BYTES) - 1;
    return Number(last.entry & PTE_ADDRESS_MASK) + Number(va & BigInt(offset));
  }

  /** Gives all tables back to `release`; the space must not be used after. */
  destroy(): void {
    for (const table of this.#used.keys()) this.#release(table);
    this.#used.clear();
    this.#release(this.root);
  }
}
