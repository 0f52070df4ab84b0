/**
 * Address translation: 48-bit virtual addresses through four levels of tables, remembered in a direct-mapped TLB.
 * VMID 0 is untranslated. A physical address is an offset in this very memory; 0 stands for "faulted".
 */
import {
  Control,
  FaultAccess,
  FaultKind,
  MachineLimits,
  PageTable,
  PDE_PTE,
  PhysicalMap,
  PTE_ADDRESS_MASK,
  PTE_PRT,
  Pte,
  Vmid,
} from "../../gen/uapi.ts";
import { raiseMemory } from "../fault.ts";
import { HOLE_BASE, TLB_BASE, TLB_ENTRIES } from "../layout.ts";

/** Access needs, as permission bits of an entry. */
export const READ: u32 = Pte.READABLE;
export const WRITE: u32 = Pte.WRITABLE;
export const READ_WRITE: u32 = Pte.READABLE | Pte.WRITABLE;
export const EXECUTE: u32 = Pte.EXECUTABLE;

const PAGE_MASK: u64 = PageTable.PAGE_BYTES - 1;
const TAG_VALID: u64 = 1 << 60;

let vmid: u32 = 0;
let memoryEnd: u64 = 0;

/** VMID of what runs now. */
export function useVmid(id: u32): void {
  vmid = id;
}

export function currentVmid(): u32 {
  return vmid;
}

export function setMemoryEnd(bytes: u64): void {
  memoryEnd = bytes;
}

/** TLB entry: u64 tag (page number << 4 | vmid | valid), u32 physical page, u32 permissions. */
export function dropTranslations(vmids: u32): void {
  for (let i: u32 = 0; i < TLB_ENTRIES; i++) {
    const entry = TLB_BASE + ((<usize>i) << 4);
    const tag = load<u64>(entry);
    if (tag & TAG_VALID && vmids & (1 << (<u32>tag & 15))) store<u64>(entry, 0);
  }
}

function accessOf(need: u32): u32 {
  if (need == READ_WRITE) return FaultAccess.ATOMIC;
  if (need == WRITE) return FaultAccess.WRITE;
  return need == EXECUTE ? FaultAccess.EXECUTE : FaultAccess.READ;
}

function refuse(permissions: u32, need: u32, va: u64): usize {
  const kind =
    need == EXECUTE
      ? FaultKind.NOT_EXECUTABLE
      : need & WRITE && !(permissions & WRITE)
        ? FaultKind.NOT_WRITABLE
        : FaultKind.NOT_READABLE;
  raiseMemory(kind, accessOf(need), va, 0);
  return 0;
}

/** Physical address of virtual `va` for an access that needs `need`, or 0 with a fault raised. Good up to the end of the page. */
export function translate(va: u64, need: u32): usize {
  const page = (va << 16) >> 28;
  const entry = TLB_BASE + ((<usize>(<u32>page & (TLB_ENTRIES - 1))) << 4);
  if (load<u64>(entry) == ((page << 4) | <u64>vmid | TAG_VALID)) {
    // The tag ignores the sign extension: check it here as well.
    if (<i64>(va << 16) >> 16 == <i64>va) {
      const permissions = load<u32>(entry, 12);
      if ((permissions & need) == need) return <usize>load<u32>(entry, 8) | <usize>(va & PAGE_MASK);
      return refuse(permissions, need, va);
    }
  }
  return walk(va, need, page, entry);
}

/** The page behind a hole. Never remembered in the TLB, so that each access finds zeros. */
function hole(need: u32): usize {
  const count = PhysicalMap.CONTROL + Control.VMID_TABLE + vmid * Control.VMID_BYTES;
  store<u32>(count, load<u32>(count, Vmid.HOLE_ACCESSES) + 1, Vmid.HOLE_ACCESSES);
  if (need == READ) return HOLE_BASE;
  const sink = HOLE_BASE + PageTable.PAGE_BYTES;
  memory.fill(sink, 0, PageTable.PAGE_BYTES);
  return sink;
}

function walk(va: u64, need: u32, page: u64, entry: usize): usize {
  if (vmid == 0) {
    if (va < <u64>PhysicalMap.VRAM || va >= memoryEnd) {
      raiseMemory(FaultKind.NOT_MAPPED, accessOf(need), va, PageTable.LEVELS);
      return 0;
    }
    return <usize>va;
  }
  if (<i64>(va << 16) >> 16 != <i64>va) {
    raiseMemory(FaultKind.NOT_CANONICAL, accessOf(need), va, 0);
    return 0;
  }
  let table: u64 = load<u32>(
    PhysicalMap.CONTROL + Control.VMID_TABLE + vmid * Control.VMID_BYTES + Vmid.PAGE_DIRECTORY,
  );
  if (table == 0 || vmid >= <u32>MachineLimits.VMIDS) {
    raiseMemory(FaultKind.NOT_MAPPED, accessOf(need), va, PageTable.LEVELS - 1);
    return 0;
  }
  let pte: u64 = 0;
  for (let level: i32 = PageTable.LEVELS - 1; level >= 0; level--) {
    if (table < <u64>PhysicalMap.VRAM || table + PageTable.TABLE_BYTES > memoryEnd) {
      raiseMemory(FaultKind.BAD_PTE, accessOf(need), va, level);
      return 0;
    }
    const index = (va >> (PageTable.PAGE_SHIFT + level * PageTable.INDEX_BITS)) & 511;
    pte = load<u64>(<usize>(table + index * PageTable.ENTRY_BYTES));
    if (!(pte & Pte.VALID)) {
      if (pte & PTE_PRT && need != EXECUTE) return hole(need) | <usize>(va & PAGE_MASK);
      raiseMemory(FaultKind.NOT_MAPPED, accessOf(need), va, level);
      return 0;
    }
    table = pte & PTE_ADDRESS_MASK;
    if (level == 1 && pte & PDE_PTE) {
      table += va & <u64>(PageTable.HUGE_PAGE_BYTES - PageTable.PAGE_BYTES);
      break;
    }
  }
  if (table < <u64>PhysicalMap.VRAM || table + PageTable.PAGE_BYTES > memoryEnd) {
    raiseMemory(FaultKind.BAD_PTE, accessOf(need), va, 0);
    return 0;
  }
  const permissions = <u32>pte & (Pte.READABLE | Pte.WRITABLE | Pte.EXECUTABLE);
  store<u64>(entry, (page << 4) | <u64>vmid | TAG_VALID);
  store<u32>(entry, <u32>table, 8);
  store<u32>(entry, permissions, 12);
  if ((permissions & need) != need) return refuse(permissions, need, va);
  return <usize>table | <usize>(va & PAGE_MASK);
}

/** The dword at `va`, any alignment; 0 after a fault. */
export function read32(va: u64, need: u32): u32 {
  const physical = translate(va, need);
  if (physical == 0) return 0;
  if ((va & PAGE_MASK) <= <u64>PageTable.PAGE_BYTES - 4) return load<u32>(physical);
  let value: u32 = 0;
  for (let i: u32 = 0; i < 4; i++) {
    const at = translate(va + i, need);
    if (at == 0) return 0;
    value |= (<u32>load<u8>(at)) << (8 * i);
  }
  return value;
}

export function read16(va: u64): u32 {
  const physical = translate(va, READ);
  if (physical == 0) return 0;
  if ((va & PAGE_MASK) <= <u64>PageTable.PAGE_BYTES - 2) return load<u16>(physical);
  const second = translate(va + 1, READ);
  return second == 0 ? 0 : <u32>load<u8>(physical) | ((<u32>load<u8>(second)) << 8);
}

export function read8(va: u64): u32 {
  const physical = translate(va, READ);
  return physical == 0 ? 0 : load<u8>(physical);
}

export function write32(va: u64, value: u32): void {
  const physical = translate(va, WRITE);
  if (physical == 0) return;
  if ((va & PAGE_MASK) <= <u64>PageTable.PAGE_BYTES - 4) {
    store<u32>(physical, value);
    return;
  }
  // Both pages first: a store that faults writes nothing.
  if (translate(va + 3, WRITE) == 0) return;
  for (let i: u32 = 0; i < 4; i++) store<u8>(translate(va + i, WRITE), value >> (8 * i));
}

export function write16(va: u64, value: u32): void {
  const physical = translate(va, WRITE);
  if (physical == 0) return;
  if ((va & PAGE_MASK) <= <u64>PageTable.PAGE_BYTES - 2) {
    store<u16>(physical, value);
    return;
  }
  const second = translate(va + 1, WRITE);
  if (second == 0) return;
  store<u8>(physical, value);
  store<u8>(second, value >> 8);
}

export function write8(va: u64, value: u32): void {
  const physical = translate(va, WRITE);
  if (physical != 0) store<u8>(physical, value);
}
