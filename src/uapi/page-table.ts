/**
 * Page tables: 4 levels of 512 64-bit entries, 4 KiB pages, so 48 bits of virtual address. Level 3 (the root) is
 * indexed by VA[47:39], level 2 by [38:30], level 1 by [29:21], level 0 by [20:12]. An entry's address bits hold a
 * physical byte offset (`PhysicalMap`). A level 1 entry with PDE_PTE is itself a page of 2 MiB; 16 aligned level 0
 * entries whose FRAGMENT is 4 are one page of 64 KiB, contiguous in physical memory. An entry that is not VALID but has
 * PTE_PRT is a hole: reads and atomics give 0, writes are dropped. Bit numbers follow the public amdgpu definitions;
 * the rest is our model.
 */
export const PageTable = {
  LEVELS: 4,
  INDEX_BITS: 9,
  PAGE_SHIFT: 12,
  PAGE_BYTES: 4096,
  ENTRY_BYTES: 8,
  TABLE_BYTES: 4096,
  BIG_PAGE_BYTES: 0x1_0000,
  HUGE_PAGE_BYTES: 0x20_0000,
} as const;

/** Bits of the low half of an entry. Directory entries use VALID and the address only. */
export const Pte = {
  VALID: 1 << 0,
  /** The page is system memory (GTT). */
  SYSTEM: 1 << 1,
  EXECUTABLE: 1 << 4,
  READABLE: 1 << 5,
  WRITABLE: 1 << 6,
  /** FRAGMENT, bits 11:7: the entry is one of 2^n contiguous, aligned ones with the same permissions. */
  FRAGMENT_SHIFT: 7,
} as const;

/** Not VALID, but bound to nothing on purpose. */
export const PTE_PRT = 1n << 51n;

/** A directory entry of level 1 that maps 2 MiB itself. */
export const PDE_PTE = 1n << 54n;

/** Address bits of an entry: [47:12]. */
export const PTE_ADDRESS_MASK = 0x0000_ffff_ffff_f000n;

/** Sign-extends a 48-bit address to 64 bits, unsigned representation. */
function canonical(va: bigint): bigint {
  return BigInt.asUintN(64, BigInt.asIntN(48, va));
}

/** True where bits 63:47 all agree. */
export function isCanonical(va: bigint): boolean {
  return canonical(va) === BigInt.asUintN(64, va);
}
