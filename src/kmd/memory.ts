import { Errno, isCanonical, PageTable, VaFlag, VirtualMap } from "../uapi/index.ts";
import type { Bo, File, Mapping, Reservation } from "./objects.ts";
import { type Residency, whenIdle } from "./residency.ts";

const PAGE = BigInt(PageTable.PAGE_BYTES);
const MAX_HANDLES = 1 << 16;
const UNMAPPED_HISTORY = 64;

/** Drops one reference; the last one frees the memory. */
export function unreference(residency: Residency, bo: Bo): void {
  if (--bo.references === 0) residency.release(bo);
}

/** A handle of the file for a BO, or -ENOSPC. A file has one handle of a BO. */
export function addHandle(file: File, bo: Bo): number {
  const known = bo.holders.get(file);
  if (known !== undefined) return known;
  if (file.handles.size >= MAX_HANDLES) return Errno.ENOSPC;
  // Handles are reused from the low end only after 2^31 of them, as a positive result is the handle.
  let handle = file.nextHandle;
  while (file.handles.has(handle) || file.mmaps.has(handle)) handle = handle >= 0x7fff_ffff ? 1 : handle + 1;
  file.nextHandle = handle >= 0x7fff_ffff ? 1 : handle + 1;
  file.handles.set(handle, bo);
  bo.holders.set(file, handle);
  bo.references++;
  return handle;
}

/** GEM_CREATE: a new handle, or a negative errno. */
export function createBo(residency: Residency, file: File, domain: number, sizeBytes: bigint): number {
  const heap = residency.heapOf(domain);
  if (heap === undefined || sizeBytes === 0n) return Errno.EINVAL;
  if (file.handles.size >= MAX_HANDLES) return Errno.ENOSPC;
  if (sizeBytes > BigInt(heap.sizeBytes)) return Errno.ENOMEM;
  const bo = residency.create(file, domain, Number(sizeBytes));
  return bo === undefined ? Errno.ENOMEM : addHandle(file, bo);
}

/** GEM_CLOSE. Mappings of a BO that a job of the file lists stay until that job ends. */
export function closeBo(residency: Residency, file: File, handle: number): number {
  const bo = file.handles.get(handle);
  if (bo === undefined) return Errno.ENOENT;
  file.handles.delete(handle);
  bo.holders.delete(file);
  const listing = file.listings.get(bo);
  if (listing === undefined) unmapAll(residency, file, bo);
  else for (const mapping of bo.mappings) if (mapping.file === file) listing.closing.add(mapping);
  residency.settle(bo.extent);
  unreference(residency, bo);
  return 0;
}

/** Removes every mapping of a BO that a file has, or those of a set; parts of reservations become holes. */
export function unmapAll(residency: Residency, file: File, bo: Bo, which?: ReadonlySet<Mapping>): void {
  for (const mapping of [...bo.mappings]) {
    if (mapping.file !== file || which?.has(mapping) === false) continue;
    const at = lowerBound(file.mappings, mapping.va);
    if (mapping.reservation === undefined) removeAt(residency, file, at);
    else replace(residency, file, at, hole(mapping, mapping.va, mapping.sizeBytes));
  }
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

const ACCESS = VaFlag.READ | VaFlag.WRITE | VaFlag.EXECUTE;

interface MapInput {
  readonly handle: number;
  readonly flags: number;
  readonly va: bigint;
  readonly boOffset: bigint;
  readonly size: bigint;
}

/** VA_MAP. Permissions are the page-table entry's (`Pte`); a mapping without any is refused. */
export function mapVa(residency: Residency, file: File, { handle, flags, va, boOffset, size }: MapInput): number {
  const holes = flags === VaFlag.PRT;
  const bo = file.handles.get(handle);
  if (!holes && bo === undefined) return Errno.ENOENT;
  if (size === 0n || va % PAGE !== 0n || boOffset % PAGE !== 0n || size % PAGE !== 0n) return Errno.EINVAL;
  if (!inSpace(va, size) || (holes && (handle !== 0 || boOffset !== 0n))) return Errno.EINVAL;
  if (bo !== undefined && boOffset + size > BigInt(bo.sizeBytes)) return Errno.EINVAL;
  if (!holes && (flags === 0 || (flags & ~ACCESS) !== 0)) return Errno.EINVAL;
  const at = lowerBound(file.mappings, va);
  const before = file.mappings[at - 1];
  const after = file.mappings[at];
  if (before !== undefined && before.va + BigInt(before.sizeBytes) > va) return Errno.EEXIST;
  if (after !== undefined && after.va < va + size) return Errno.EEXIST;
  const sizeBytes = Number(size);
  const place = { file, va, sizeBytes, flags, handle, boOffset: Number(boOffset) };
  if (bo === undefined) {
    if (!file.space.mapHoles(va, sizeBytes)) return Errno.ENOMEM;
    file.mappings.splice(at, 0, { ...place, bo: undefined, reservation: { va, sizeBytes } });
    return 0;
  }
  // Memory for the tables may be made by eviction, which must leave this BO alone.
  bo.views++;
  const good = file.space.map(va, sizeBytes, residency.backing(place, bo));
  bo.views--;
  if (!good) return Errno.ENOMEM;
  link(file, at, { ...place, bo, reservation: undefined });
  return 0;
}

function link(file: File, at: number, mapping: Mapping): void {
  file.mappings.splice(at, 0, mapping);
  const { bo } = mapping;
  if (bo === undefined) return;
  bo.mappings.add(mapping);
  bo.references++;
}

/** Takes a mapping out of the lists; the page tables are the caller's. The memory stays until no translation can be left. */
function unlink(residency: Residency, file: File, at: number): Mapping {
  const [mapping] = file.mappings.splice(at, 1) as [Mapping];
  const { bo } = mapping;
  if (bo === undefined) return mapping;
  bo.mappings.delete(mapping);
  file.unmapped.push(mapping);
  if (file.unmapped.length > UNMAPPED_HISTORY) file.unmapped.shift();
  whenIdle(file, () => unreference(residency, bo));
  return mapping;
}

function removeAt(residency: Residency, file: File, at: number): void {
  const { va, sizeBytes } = file.mappings[at] as Mapping;
  file.space.unmap(va, sizeBytes);
  unlink(residency, file, at);
}

/** Puts a part of a reservation in another one's place. */
function replace(residency: Residency, file: File, at: number, mapping: Mapping): void {
  const { va, sizeBytes, bo } = mapping;
  file.space.bind(va, sizeBytes, bo === undefined ? undefined : residency.backing(mapping, bo));
  unlink(residency, file, at);
  link(file, at, mapping);
}

function hole({ file, reservation }: Mapping, va: bigint, sizeBytes: number): Mapping {
  return { file, va, sizeBytes, flags: VaFlag.PRT, bo: undefined, handle: 0, boOffset: 0, reservation };
}

const isBusy = ({ file, bo }: Mapping): boolean => bo !== undefined && file.listings.has(bo);

/** VA_UNMAP of exactly one mapping, or one whole reservation. */
export function unmapVa(residency: Residency, file: File, va: bigint, size: bigint): number {
  if (size === 0n || va % PAGE !== 0n || size % PAGE !== 0n) return Errno.EINVAL;
  const at = lowerBound(file.mappings, va);
  const mapping = file.mappings[at];
  if (mapping === undefined || mapping.va !== va) return Errno.ENOENT;
  const { reservation } = mapping;
  const whole: { readonly va: bigint; readonly sizeBytes: number } = reservation ?? mapping;
  if (whole.va !== va || BigInt(whole.sizeBytes) !== size) return Errno.ENOENT;
  const parts = partsOf(file, at, mapping, reservation);
  if (parts.some(isBusy)) return Errno.EBUSY;
  for (let i = 0; i < parts.length; i++) removeAt(residency, file, at);
  return 0;
}

function partsOf(file: File, at: number, first: Mapping, reservation: Reservation | undefined): Mapping[] {
  if (reservation === undefined) return [first];
  let end = at;
  while (file.mappings[end]?.reservation === reservation) end++;
  return file.mappings.slice(at, end);
}

/** SPARSE_BIND: pages of a BO, or holes again (handle 0), in part of one reservation. */
export function bindSparse(residency: Residency, file: File, input: MapInput): number {
  const { handle, flags, va, boOffset, size } = input;
  const bo = handle === 0 ? undefined : file.handles.get(handle);
  if (handle !== 0 && bo === undefined) return Errno.ENOENT;
  if (size === 0n || va % PAGE !== 0n || boOffset % PAGE !== 0n || size % PAGE !== 0n) return Errno.EINVAL;
  if (bo === undefined ? flags !== 0 : flags === 0 || (flags & ~ACCESS) !== 0) return Errno.EINVAL;
  if (bo !== undefined && boOffset + size > BigInt(bo.sizeBytes)) return Errno.EINVAL;
  const end = va + size;
  let at = lowerBound(file.mappings, va + 1n) - 1;
  const reservation = file.mappings[at]?.reservation;
  if (reservation === undefined || end > reservation.va + BigInt(reservation.sizeBytes)) return Errno.ENOENT;
  if (va >= reservation.va + BigInt(reservation.sizeBytes)) return Errno.ENOENT;
  const parts: Mapping[] = [];
  for (let i = at; ; i++) {
    const part = file.mappings[i];
    if (part === undefined || part.va >= end) break;
    parts.push(part);
  }
  if (parts.some(isBusy)) return Errno.EBUSY;
  // The new part's reference comes first: it may be the BO that leaves.
  if (bo !== undefined) bo.references++;
  const kept: Mapping[] = [];
  for (const part of parts) {
    const partEnd = part.va + BigInt(part.sizeBytes);
    if (part.va < va) kept.push({ ...part, sizeBytes: Number(va - part.va) });
    if (partEnd > end) {
      const skipped = Number(end - part.va);
      kept.push({ ...part, va: end, sizeBytes: Number(partEnd - end), boOffset: part.boOffset + skipped });
    }
  }
  for (const part of kept) if (part.bo !== undefined) part.bo.references++;
  for (let i = 0; i < parts.length; i++) unlink(residency, file, at);
  const fresh: Mapping = {
    file,
    va,
    sizeBytes: Number(size),
    flags: bo === undefined ? VaFlag.PRT : flags,
    bo,
    handle,
    boOffset: Number(boOffset),
    reservation,
  };
  file.space.bind(va, Number(size), bo === undefined ? undefined : residency.backing(fresh, bo));
  const all = [...kept, fresh].sort((a, b) => (a.va < b.va ? -1 : 1));
  for (const mapping of all) link(file, at++, mapping);
  for (const { bo: held } of all) if (held !== undefined) unreference(residency, held);
  return 0;
}

/** True where every byte of [va, va + bytes) is mapped readable from BOs of the list. */
export function readableFrom(file: File, va: bigint, bytes: number, bos: ReadonlySet<Bo>): boolean {
  const end = va + BigInt(bytes);
  let next = va;
  for (let i = lowerBound(file.mappings, va + 1n) - 1; next < end; i++) {
    const mapping = file.mappings[i];
    if (mapping === undefined || mapping.va > next || mapping.va + BigInt(mapping.sizeBytes) <= next) return false;
    if (!(mapping.flags & VaFlag.READ) || mapping.bo === undefined || !bos.has(mapping.bo)) return false;
    next = mapping.va + BigInt(mapping.sizeBytes);
  }
  return true;
}
