import { Domain, Errno, PageTable, VaFlag } from "../uapi/index.ts";
import { type Heap, pageAlign } from "./heap.ts";
import type { Bo, Extent, File, HeapBlock, Mapping } from "./objects.ts";

/** What `Residency` needs of its kernel. */
export interface ResidencyOptions {
  readonly memory: SharedArrayBuffer;
  readonly vram: Heap;
  readonly gtt: Heap;
  /** Tells the GPU to drop a file's translations. */
  readonly invalidate: (file: File) => void;
  readonly log: (text: string) => void;
}

/** Runs `action` now, or once no job of the file is on the hardware: the GPU may still hold translations. */
export function whenIdle(file: File, action: () => void): void {
  if (file.running > 0) file.graveyard.push(action);
  else action();
}

/** Addresses and places of BOs this long start at whole pages of 64 KiB or 2 MiB. */
function pageSizeFor(sizeBytes: number): number {
  const { PAGE_BYTES, BIG_PAGE_BYTES, HUGE_PAGE_BYTES } = PageTable;
  return sizeBytes >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : sizeBytes >= BIG_PAGE_BYTES ? BIG_PAGE_BYTES : PAGE_BYTES;
}

/**
 * Where BOs are: physical extents in VRAM and GTT, eviction of what was least recently used, and extents that clones
 * share until one of them may be written. A BO with a CPU view, a job or part of a process's heap stays where it is.
 */
export class Residency {
  readonly vram: Heap;
  readonly gtt: Heap;
  readonly #bytes: Uint8Array;
  readonly #options: ResidencyOptions;
  readonly #bos = new Set<Bo>();
  #tick = 0;
  evictions = 0;

  constructor(options: ResidencyOptions) {
    this.#options = options;
    this.vram = options.vram;
    this.gtt = options.gtt;
    this.#bytes = new Uint8Array(options.memory);
  }

  heapOf(domain: number): Heap | undefined {
    return domain === Domain.VRAM ? this.vram : domain === Domain.GTT ? this.gtt : undefined;
  }

  /** A page of VRAM for a page table; others make room where there is none. */
  allocTable(bytes: number): number | undefined {
    return this.#alloc(this.vram, bytes);
  }

  /** Memory for a new BO, not yet referred to; undefined where there is none, also not by eviction. */
  create(file: File, domain: number, sizeBytes: number): Bo | undefined {
    const heap = this.heapOf(domain);
    const bytes = pageAlign(sizeBytes);
    const physical = heap === undefined ? undefined : this.#alloc(heap, bytes);
    if (heap === undefined || physical === undefined) return undefined;
    return this.#bo(domain, { heap, physical, sizeBytes: bytes, users: new Set(), payer: file, block: undefined });
  }

  /** A BO over part of a process's heap. */
  wrap(file: File, block: HeapBlock, offset: number, sizeBytes: number): Bo {
    block.references++;
    const physical = block.physical + offset;
    return this.#bo(Domain.GTT, { heap: this.gtt, physical, sizeBytes, users: new Set(), payer: file, block });
  }

  #bo(domain: number, extent: Extent): Bo {
    const bo: Bo = {
      sizeBytes: extent.sizeBytes,
      domain,
      extent,
      references: 0,
      jobs: 0,
      views: 0,
      mappings: new Set(),
      holders: new Map(),
      used: ++this.#tick,
    };
    if (extent.users.size === 0) this.#charge(extent, 1);
    extent.users.add(bo);
    this.#bos.add(bo);
    return bo;
  }

  #charge({ heap, payer, sizeBytes, block }: Extent, sign: number): void {
    // The block itself is on its process's account already.
    if (block !== undefined) return;
    if (heap === this.vram) payer.vramBytes += sign * sizeBytes;
    else payer.gttBytes += sign * sizeBytes;
  }

  /** The last reference is gone. */
  release(bo: Bo): void {
    this.#bos.delete(bo);
    this.#leave(bo);
  }

  #leave(bo: Bo): void {
    const { extent } = bo;
    extent.users.delete(bo);
    if (extent.users.size > 0) {
      this.settle(extent);
      if (extent.users.size === 1) this.#rewrite(extent);
      return;
    }
    this.#charge(extent, -1);
    if (extent.block === undefined) extent.heap.free(extent.physical, extent.sizeBytes);
    else this.releaseBlock(extent.block);
  }

  releaseBlock(block: HeapBlock): void {
    if (--block.references === 0) this.gtt.free(block.physical, block.sizeBytes);
  }

  /** Moves the charge to a file that still has the memory, where the payer has it no more. */
  settle(extent: Extent): void {
    let next: File | undefined;
    for (const { holders } of extent.users) {
      if (holders.has(extent.payer)) return;
      next ??= holders.keys().next().value;
    }
    if (next === undefined) return;
    this.#charge(extent, -1);
    extent.payer = next;
    this.#charge(extent, 1);
  }

  /** Aligned for large pages where that goes; eviction comes only when nothing else is left. */
  #alloc(heap: Heap, bytes: number): number | undefined {
    const align = pageSizeFor(bytes);
    const alloc = () => heap.alloc(bytes, align) ?? heap.alloc(bytes);
    return alloc() ?? (heap === this.vram ? this.#makeRoom(bytes, new Set(), alloc) : undefined);
  }

  /** Where memory that is mapped may move to: aligned, so that mapped pages keep their sizes. */
  #allocPlace(heap: Heap, bytes: number, kept: ReadonlySet<Bo>): number | undefined {
    const alloc = () => heap.alloc(bytes, pageSizeFor(bytes));
    return alloc() ?? (heap === this.vram ? this.#makeRoom(bytes, kept, alloc) : undefined);
  }

  #makeRoom(bytes: number, kept: ReadonlySet<Bo>, alloc: () => number | undefined): number | undefined {
    const movable = this.#evictable(kept);
    if (!this.#fits(bytes, movable)) return undefined;
    for (const bo of movable) {
      const place = this.#allocPlace(this.gtt, bo.sizeBytes, kept);
      if (place === undefined) continue;
      this.#move(bo, this.gtt, place);
      this.evictions++;
      this.#options.log(`evicts ${bo.sizeBytes} bytes of ${bo.extent.payer.processName} from VRAM to GTT`);
      const physical = alloc();
      if (physical !== undefined) return physical;
    }
    return undefined;
  }

  /** BOs in VRAM that may be moved away, least recently used first. */
  #evictable(kept: ReadonlySet<Bo>): Bo[] {
    return [...this.#bos]
      .filter((bo) => bo.extent.heap === this.vram && !kept.has(bo) && this.#movable(bo) && this.#idle(bo))
      .sort((a, b) => a.used - b.used);
  }

  #fits(bytes: number, movable: readonly Bo[]): boolean {
    return this.vram.freeBytes + movable.reduce((sum, bo) => sum + bo.sizeBytes, 0) >= bytes;
  }

  #movable({ extent, jobs, views }: Bo): boolean {
    return jobs === 0 && views === 0 && extent.users.size === 1 && extent.block === undefined;
  }

  #idle(bo: Bo): boolean {
    return [...bo.mappings].every(({ file }) => file.running === 0);
  }

  #move(bo: Bo, to: Heap, physical: number): void {
    const { extent } = bo;
    const { heap, physical: old, sizeBytes } = extent;
    this.#bytes.copyWithin(physical, old, old + sizeBytes);
    this.#charge(extent, -1);
    extent.heap = to;
    extent.physical = physical;
    this.#charge(extent, 1);
    this.#rewrite(extent);
    let busy = 1;
    const free = () => {
      if (--busy === 0) heap.free(old, sizeBytes);
    };
    for (const file of new Set([...bo.mappings].map((mapping) => mapping.file))) {
      busy++;
      whenIdle(file, free);
    }
    free();
  }

  /** Writes the entries of every mapping of an extent again. */
  #rewrite(extent: Extent): void {
    for (const bo of extent.users) {
      for (const mapping of bo.mappings) {
        const { file, va, sizeBytes, reservation } = mapping;
        if (reservation === undefined) file.space.remap(va, sizeBytes, this.backing(mapping, bo));
        else file.space.bind(va, sizeBytes, this.backing(mapping, bo));
        this.#options.invalidate(file);
      }
    }
  }

  /** What page-table entries of a mapping say: memory that clones share is read-only. */
  backing({ flags, boOffset }: Pick<Mapping, "flags" | "boOffset">, { extent }: Bo) {
    const shared = extent.users.size > 1;
    return {
      physical: extent.physical + boOffset,
      flags: shared ? flags & ~VaFlag.WRITE : flags,
      system: extent.heap === this.gtt,
      huge: extent.physical % PageTable.HUGE_PAGE_BYTES === 0,
    };
  }

  /** Brings what a job lists to where it belongs, and makes it its own where the job may write it. 0 or -ENOMEM. */
  prepare(bos: ReadonlySet<Bo>): number {
    const tick = ++this.#tick;
    for (const bo of bos) {
      bo.used = tick;
      const writable = [...bo.mappings].some(({ flags }) => flags & VaFlag.WRITE);
      if (writable && !this.unshare(bo, bos)) return Errno.ENOMEM;
      if (bo.domain !== Domain.VRAM || bo.extent.heap === this.vram || !this.#movable(bo)) continue;
      const place = this.#allocPlace(this.vram, bo.sizeBytes, bos);
      // Where VRAM has the bytes but not in one piece, the job takes them from GTT, as slow as that is.
      if (place !== undefined) this.#move(bo, this.vram, place);
      else if (!this.#fits(bo.sizeBytes, this.#evictable(bos))) return Errno.ENOMEM;
    }
    return 0;
  }

  /** A second BO with the same contents: the same memory until one of them may be written. -EBUSY, -ENOMEM. */
  clone(file: File, source: Bo): Bo | number {
    if (source.jobs > 0) return Errno.EBUSY;
    const { extent, domain } = source;
    // A CPU view cannot be told to write elsewhere: then the copy is made at once.
    if (source.views === 0 && extent.block === undefined) {
      const bo = this.#bo(domain, extent);
      if (extent.users.size === 2) this.#rewrite(extent);
      return bo;
    }
    const bo = this.create(file, domain, source.sizeBytes);
    if (bo === undefined) return Errno.ENOMEM;
    this.#bytes.copyWithin(bo.extent.physical, extent.physical, extent.physical + extent.sizeBytes);
    return bo;
  }

  /** Gives a BO memory of its own where clones share it. False where there is none. */
  unshare(bo: Bo, kept: ReadonlySet<Bo> = new Set([bo])): boolean {
    const { extent } = bo;
    if (extent.users.size === 1) return true;
    const physical = this.#allocPlace(extent.heap, extent.sizeBytes, kept);
    if (physical === undefined) return false;
    this.#bytes.copyWithin(physical, extent.physical, extent.physical + extent.sizeBytes);
    this.#leave(bo);
    const [payer = extent.payer] = bo.holders.keys();
    bo.extent = {
      heap: extent.heap,
      physical,
      sizeBytes: extent.sizeBytes,
      users: new Set([bo]),
      payer,
      block: undefined,
    };
    this.#charge(bo.extent, 1);
    this.#rewrite(bo.extent);
    return true;
  }
}
