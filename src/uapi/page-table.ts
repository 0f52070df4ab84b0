/**
 * Page tables: 4 levels of 512 64-bit entries, 4 KiB pages, so 48 bits of virtual address. Level 3 (the root) is
 * indexed by VA[47:39], level 2 by [38:30], level 1 by [29:21], level 0 by [20:12]. An entry's address bits hold a
 * physical byte offset (`PhysicalMap`). Bit numbers follow the public amdgpu definitions; the rest is our model.
 */
export const PageTable = {
  LEVELS: 4,
  INDEX_BITS: 9,
  PAGE_SHIFT: 12,
  PAGE_BYTES: 4096,
  ENTRY_BYTES: 8,
  TABLE_BYTES: 4096,
} as const;

/** Bits of the low half of an entry. Directory entries use VALID and the address only. */
export const Pte = {
  VALID: 1 << 0,
  /** The page is system memory (GTT). */
  SYSTEM: 1 << 1,
  EXECUTABLE: 1 << 4,
  READABLE: 1 << 5,
  WRITABLE: 1 << 6,
} as const;

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
