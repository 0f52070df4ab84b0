import { Errno, PageTable } from "../uapi/index.ts";
import { addHandle } from "./memory.ts";
import type { File, HeapBlock } from "./objects.ts";
import type { Residency } from "./residency.ts";

const PAGE = BigInt(PageTable.PAGE_BYTES);
const MAX_BLOCKS = 4096;

/** A zeroed block of a process's own memory, whole pages; -EINVAL, -ENOMEM, -ENOSPC. */
export function allocateBlock(residency: Residency, file: File, sizeBytes: number): HeapBlock | number {
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes <= 0) return Errno.EINVAL;
  if (file.blocks.size >= MAX_BLOCKS) return Errno.ENOSPC;
  const bytes = Math.ceil(sizeBytes / PageTable.PAGE_BYTES) * PageTable.PAGE_BYTES;
  const physical = bytes > residency.gtt.sizeBytes ? undefined : residency.gtt.alloc(bytes);
  if (physical === undefined) return Errno.ENOMEM;
  const block: HeapBlock = { address: file.nextBlock, sizeBytes: bytes, physical, references: 1 };
  // A page between blocks belongs to nobody.
  file.nextBlock += BigInt(bytes) + PAGE;
  file.blocks.set(block.address, block);
  file.gttBytes += bytes;
  return block;
}

/** Frees a block; BOs over it keep its memory. -ENOENT. */
export function freeBlock(residency: Residency, file: File, address: bigint): number {
  const block = file.blocks.get(address);
  if (block === undefined) return Errno.ENOENT;
  file.blocks.delete(address);
  file.gttBytes -= block.sizeBytes;
  residency.releaseBlock(block);
  return 0;
}

/** GEM_USERPTR: a BO over whole pages of one block of the process's heap. A handle, or -EINVAL, -EFAULT, -ENOSPC. */
export function wrapMemory(residency: Residency, file: File, address: bigint, size: bigint): number {
  if (size === 0n || address % PAGE !== 0n || size % PAGE !== 0n) return Errno.EINVAL;
  for (const block of file.blocks.values()) {
    const end = block.address + BigInt(block.sizeBytes);
    if (address < block.address || address >= end) continue;
    if (address + size > end) return Errno.EFAULT;
    const bo = residency.wrap(file, block, Number(address - block.address), Number(size));
    const handle = addHandle(file, bo);
    if (handle < 0) residency.release(bo);
    return handle;
  }
  return Errno.EFAULT;
}
