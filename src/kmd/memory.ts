import { Domain, Errno, isCanonical, PageTable, VaFlag, VirtualMap } from "../uapi/index.ts";
import type { Heap } from "./heap.ts";
import { pageAlign } from "./heap.ts";
import type { Bo, File, Mapping } from "./objects.ts";

const PAGE = BigInt(PageTable.PAGE_BYTES);
const MAX_HANDLES = 1 << 16;
const UNMAPPED_HISTORY = 64;

/** Runs `action` now, or once no job of the file is on the hardware: the GPU may still hold translations. */
function whenIdle(file: File, action: () => void): void {
  if (file.running > 0) file.graveyard.push(action);
  else action();
}

/** Drops one reference; the last one frees the memory once the file is idle. */
export function unreference(file: File, bo: Bo): void {
  if (--bo.references > 0) return;
  if (bo.domain === Domain.VRAM) file.vramBytes -= bo.sizeBytes;
  else file.gttBytes -= bo.sizeBytes;
  whenIdle(file, () => bo.heap.free(bo.physical, bo.sizeBytes));
}

/** GEM_CREATE: a new handle, or a negative errno. */
export function createBo(file: File, heap: Heap | undefined, domain: number, sizeBytes: bigint): number {
  if (heap === undefined || sizeBytes === 0n) return Errno.EINVAL;
  if (file.handles.size >= MAX_HANDLES) return Errno.ENOSPC;
  if (sizeBytes > BigInt(heap.sizeBytes)) return Errno.ENOMEM;
  const bytes = pageAlign(Number(sizeBytes));
  const physical = heap.alloc(bytes);
  if (physical === undefined) return Errno.ENOMEM;
  // Handles are reused from the low end only after 2^31 of them, as a positive result is the handle.
  let handle = file.nextHandle;
  while (file.handles.has(handle) || file.mmaps.has(handle)) handle = handle >= 0x7fff_ffff ? 1 : handle + 1;
  file.nextHandle = handle >= 0x7fff_ffff ? 1 : handle + 1;
  file.handles.set(handle, {
    handle,
    domain,
    heap,
    physical,
    sizeBytes: bytes,
    references: 1,
    jobs: 0,
    closePending: false,
  });
  if (domain === Domain.VRAM) file.vramBytes += bytes;
  else file.gttBytes += bytes;
  return handle;
}

/** GEM_CLOSE. Mappings of a BO that a job lists stay until that job ends. */
export function closeBo(file: File, handle: number): number {
  const bo = file.handles.get(handle);
  if (bo === undefined) return Errno.ENOENT;
  file.handles.delete(handle);
  if (bo.jobs > 0) bo.closePending = true;
  else unmapAll(file, bo);
  unreference(file, bo);
  return 0;
}

/** Removes every mapping of a BO. */
export function unmapAll(file: File, bo: Bo): void {
  for (let i = file.mappings.length - 1; i >= 0; i--) if (file.mappings[i]?.bo === bo) removeAt(file, i);
}

/** Index of the first mapping at or above `va`. */
function lowerBound(mappings: readonly Mapping[], va: bigint): number {
  let low = 0;
  let high = mappings.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((mappings[middle] as Mapping).va < va) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** True where [va, va + bytes) lies in one half of the address space that may be mapped. */
function inSpace(va: bigint, bytes: bigint): boolean {
  const end = va + bytes;
  if (!isCanonical(va)) return false;
  return va < VirtualMap.LOW_END
    ? va >= VirtualMap.LOW_START && end <= VirtualMap.LOW_END
    : va >= VirtualMap.WINDOW_START && end <= 1n << 64n;
}

const ALL_FLAGS = VaFlag.READ | VaFlag.WRITE | VaFlag.EXECUTE;

/** VA_MAP. Permissions are the page-table entry's (`Pte`); a mapping without any is refused. */
export function mapVa(
  file: File,
  arg: { handle: number; flags: number; va: bigint; boOffset: bigint; size: bigint },
): number {
  const { handle, flags, va, boOffset, size } = arg;
  const bo = file.handles.get(handle);
  if (bo === undefined) return Errno.ENOENT;
  if (size === 0n || va % PAGE !== 0n || boOffset % PAGE !== 0n || size % PAGE !== 0n) return Errno.EINVAL;
  if (boOffset + size > BigInt(bo.sizeBytes) || !inSpace(va, size)) return Errno.EINVAL;
  if (flags === 0 || (flags & ~ALL_FLAGS) !== 0) return Errno.EINVAL;
  const at = lowerBound(file.mappings, va);
  const before = file.mappings[at - 1];
  const after = file.mappings[at];
  if (before !== undefined && before.va + BigInt(before.sizeBytes) > va) return Errno.EEXIST;
  if (after !== undefined && after.va < va + size) return Errno.EEXIST;
  const offset = Number(boOffset);
  const bytes = Number(size);
  if (!file.space.map(va, bo.physical + offset, bytes, flags, bo.domain === Domain.GTT)) return Errno.ENOMEM;
  file.mappings.splice(at, 0, { va, sizeBytes: bytes, flags, bo, boOffset: offset });
  bo.references++;
  return 0;
}

function removeAt(file: File, index: number): void {
  const [mapping] = file.mappings.splice(index, 1);
  if (mapping === undefined) return;
  file.space.unmap(mapping.va, mapping.sizeBytes);
  file.unmapped.push(mapping);
  if (file.unmapped.length > UNMAPPED_HISTORY) file.unmapped.shift();
  unreference(file, mapping.bo);
}

/** VA_UNMAP of exactly one mapping. */
export function unmapVa(file: File, va: bigint, size: bigint): number {
  if (size === 0n || va % PAGE !== 0n || size % PAGE !== 0n) return Errno.EINVAL;
  const at = lowerBound(file.mappings, va);
  const mapping = file.mappings[at];
  if (mapping === undefined || mapping.va !== va || BigInt(mapping.sizeBytes) !== size) return Errno.ENOENT;
  if (mapping.bo.jobs > 0) return Errno.EBUSY;
  removeAt(file, at);
  return 0;
}

/** True where every byte of [va, va + bytes) is mapped readable from BOs of the list. */
export function readableFrom(file: File, va: bigint, bytes: number, bos: ReadonlySet<Bo>): boolean {
  const end = va + BigInt(bytes);
  let next = va;
  for (let i = lowerBound(file.mappings, va + 1n) - 1; next < end; i++) {
    const mapping = file.mappings[i];
    if (mapping === undefined || mapping.va > next || mapping.va + BigInt(mapping.sizeBytes) <= next) return false;
    if (!(mapping.flags & VaFlag.READ) || !bos.has(mapping.bo)) return false;
    next = mapping.va + BigInt(mapping.sizeBytes);
  }
  return true;
}
