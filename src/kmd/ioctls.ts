import {
  answerIoctl,
  ContextState,
  Domain,
  decodeIoctl,
  decodeIoctlList,
  Errno,
  type IoctlName,
  PageTable,
  SYNC_POINT_WORDS,
  SyncobjKind,
  SyncobjWait,
} from "../uapi/index.ts";
import { addHandle, bindSparse, closeBo, createBo, mapVa, unmapVa } from "./memory.ts";
import type { File } from "./objects.ts";
import { wrapMemory } from "./process-heap.ts";
import type { Residency } from "./residency.ts";
import type { KernelClock, Scheduler } from "./scheduler.ts";
import { MAX_BO_LIST, MAX_IB_DWORDS, submit, waitFor, waitForPoints } from "./submit.ts";
import { readPoints, risingPoints, SyncFence, Syncobj } from "./syncobj.ts";

const API_VERSION = 1;
const LOWEST_PRIORITY = -1;
/** Above what any process may have. */
const REALTIME_PRIORITY = 2;
const MAX_CONTEXTS = 256;
const MAX_SYNCOBJS = 1 << 14;
const MMAP_SHIFT = 40n;

/** What the handlers work on. */
export interface Kernel {
  readonly residency: Residency;
  readonly clock: KernelClock;
  readonly scheduler: Scheduler;
  readonly computeQueues: number;
  readonly defaultTimeoutMs: number;
}

type Handler = (kernel: Kernel, file: File, arg: DataView) => number | Promise<number>;

/** The offset that mmap() takes for a BO handle. */
function mmapOffset(handle: number): bigint {
  return BigInt(handle) << MMAP_SHIFT;
}

/** The handle behind an mmap offset; 0 where it is none. */
export function mmapHandle(offset: bigint): number {
  return offset === (offset >> MMAP_SHIFT) << MMAP_SHIFT ? Number(offset >> MMAP_SHIFT) : 0;
}

/** One handler a row. The block is long enough for the row's struct when a handler runs. */
export const handlers: { readonly [N in IoctlName]: Handler } = {
  QUERY_INFO(kernel, _file, arg) {
    answerIoctl("QUERY_INFO", arg, {
      apiVersion: API_VERSION,
      pageBytes: PageTable.PAGE_BYTES,
      vramBytes: BigInt(kernel.residency.vram.sizeBytes),
      vramFreeBytes: BigInt(kernel.residency.vram.freeBytes),
      gttBytes: BigInt(kernel.residency.gtt.sizeBytes),
      gttFreeBytes: BigInt(kernel.residency.gtt.freeBytes),
      computeQueues: kernel.computeQueues,
      maxIbDwords: MAX_IB_DWORDS,
      resets: kernel.scheduler.resets,
      maxBoList: MAX_BO_LIST,
      transferQueues: 1,
    });
    return 0;
  },
  GEM_CREATE(kernel, file, arg) {
    const { size, domain, flags } = decodeIoctl("GEM_CREATE", arg);
    if (flags !== 0) return Errno.EINVAL;
    const handle = createBo(kernel.residency, file, domain, size);
    if (handle < 0) return handle;
    answerIoctl("GEM_CREATE", arg, { handle });
    return 0;
  },
  GEM_CLOSE(kernel, file, arg) {
    const result = closeBo(kernel.residency, file, decodeIoctl("GEM_CLOSE", arg).handle);
    if (result === 0) kernel.scheduler.invalidate(file);
    return result;
  },
  GEM_MMAP(_kernel, file, arg) {
    const { handle } = decodeIoctl("GEM_MMAP", arg);
    const bo = file.handles.get(handle);
    if (bo === undefined) return Errno.ENOENT;
    answerIoctl("GEM_MMAP", arg, { offset: mmapOffset(handle), size: BigInt(bo.sizeBytes) });
    return 0;
  },
  VA_MAP(kernel, file, arg) {
    const result = mapVa(kernel.residency, file, decodeIoctl("VA_MAP", arg));
    if (result === 0) kernel.scheduler.invalidate(file);
    return result;
  },
  VA_UNMAP(kernel, file, arg) {
    const { va, size } = decodeIoctl("VA_UNMAP", arg);
    const result = unmapVa(kernel.residency, file, va, size);
    if (result === 0) kernel.scheduler.invalidate(file);
    return result;
  },
  CTX_CREATE(kernel, file, arg) {
    const { priority, timeoutMs } = decodeIoctl("CTX_CREATE", arg);
    if (priority < LOWEST_PRIORITY || priority > REALTIME_PRIORITY) return Errno.EINVAL;
    if (priority === REALTIME_PRIORITY) return Errno.EPERM;
    if (file.contexts.size >= MAX_CONTEXTS) return Errno.ENOSPC;
    const id = file.nextContext++;
    file.contexts.set(id, {
      id,
      file,
      priority,
      timeoutMs: timeoutMs === 0 ? kernel.defaultTimeoutMs : timeoutMs,
      lastFence: 0n,
      signalled: 0n,
      state: ContextState.GOOD,
      faultKind: 0,
      jobs: [],
      running: false,
      served: 0,
      waiters: new Set(),
    });
    answerIoctl("CTX_CREATE", arg, { context: id });
    return 0;
  },
  CTX_DESTROY(_kernel, file, arg) {
    const { context: id } = decodeIoctl("CTX_DESTROY", arg);
    const context = file.contexts.get(id);
    if (context === undefined) return Errno.ENOENT;
    // The jobs of a lost context are over for who waits; one that still leaves the hardware needs no context.
    if (context.state === ContextState.GOOD && context.jobs.length > 0) return Errno.EBUSY;
    file.contexts.delete(id);
    return 0;
  },
  CTX_QUERY(_kernel, file, arg) {
    const context = file.contexts.get(decodeIoctl("CTX_QUERY", arg).context);
    if (context === undefined) return Errno.ENOENT;
    const { state, signalled, faultKind } = context;
    answerIoctl("CTX_QUERY", arg, { state, lastFence: signalled, faultKind });
    return 0;
  },
  SUBMIT(kernel, file, arg) {
    const input = decodeIoctl("SUBMIT", arg);
    const handles = decodeIoctlList("SUBMIT", arg);
    if (handles === undefined) return Errno.EFAULT;
    const fence = submit(kernel, file, { ...input, handles, waits: [], signals: [] });
    if (typeof fence === "number") return fence;
    answerIoctl("SUBMIT", arg, { fence });
    return 0;
  },
  WAIT_FENCE(kernel, file, arg) {
    const { context: id, fence, timeoutMs } = decodeIoctl("WAIT_FENCE", arg);
    const context = file.contexts.get(id);
    if (context === undefined) return Errno.ENOENT;
    if (fence > context.lastFence) return Errno.EINVAL;
    if (fence <= context.signalled) return 0;
    if (context.state !== ContextState.GOOD) return Errno.ECANCELED;
    return timeoutMs === 0 ? Errno.ETIME : waitFor(kernel, context, fence, timeoutMs);
  },
  SYNCOBJ_CREATE(_kernel, file, arg) {
    const { kind, value } = decodeIoctl("SYNCOBJ_CREATE", arg);
    if (kind !== SyncobjKind.BINARY && kind !== SyncobjKind.TIMELINE) return Errno.EINVAL;
    if (kind === SyncobjKind.BINARY && value > 1n) return Errno.EINVAL;
    const handle = addSyncobj(file, new Syncobj(kind, value));
    if (handle < 0) return handle;
    answerIoctl("SYNCOBJ_CREATE", arg, { handle });
    return 0;
  },
  SYNCOBJ_DESTROY(_kernel, file, arg) {
    return file.syncobjs.delete(decodeIoctl("SYNCOBJ_DESTROY", arg).handle) ? 0 : Errno.ENOENT;
  },
  SYNCOBJ_SIGNAL(_kernel, file, arg) {
    const { handle, point } = decodeIoctl("SYNCOBJ_SIGNAL", arg);
    const syncobj = file.syncobjs.get(handle);
    if (syncobj === undefined) return Errno.ENOENT;
    if (syncobj.timeline) {
      if (!syncobj.promise(point)) return Errno.EINVAL;
      syncobj.advance(point);
    } else {
      const fence = new SyncFence();
      fence.signal();
      syncobj.setFence(fence);
    }
    return 0;
  },
  SYNCOBJ_RESET(_kernel, file, arg) {
    const syncobj = file.syncobjs.get(decodeIoctl("SYNCOBJ_RESET", arg).handle);
    if (syncobj === undefined) return Errno.ENOENT;
    if (syncobj.timeline) return Errno.EINVAL;
    syncobj.setFence(undefined);
    return 0;
  },
  SYNCOBJ_QUERY(_kernel, file, arg) {
    const syncobj = file.syncobjs.get(decodeIoctl("SYNCOBJ_QUERY", arg).handle);
    if (syncobj === undefined) return Errno.ENOENT;
    answerIoctl("SYNCOBJ_QUERY", arg, { value: syncobj.value, submitted: syncobj.submitted });
    return 0;
  },
  SYNCOBJ_WAIT(kernel, file, arg) {
    const { words, flags, timeoutMs } = decodeIoctl("SYNCOBJ_WAIT", arg);
    if (words === 0 || words % SYNC_POINT_WORDS !== 0 || (flags & ~SyncobjWait.ALL) !== 0) return Errno.EINVAL;
    const list = decodeIoctlList("SYNCOBJ_WAIT", arg);
    if (list === undefined) return Errno.EFAULT;
    const points = readPoints(file.syncobjs, list);
    if (typeof points === "number") return points;
    return waitForPoints(kernel, file, points, (flags & SyncobjWait.ALL) !== 0, timeoutMs);
  },
  SUBMIT_SYNC(kernel, file, arg) {
    const input = decodeIoctl("SUBMIT_SYNC", arg);
    const { boCount, waitCount, signalCount, words } = input;
    if (words !== boCount + (waitCount + signalCount) * SYNC_POINT_WORDS) return Errno.EINVAL;
    const list = decodeIoctlList("SUBMIT_SYNC", arg);
    if (list === undefined) return Errno.EFAULT;
    const signalsAt = boCount + waitCount * SYNC_POINT_WORDS;
    const waits = readPoints(file.syncobjs, list.slice(boCount, signalsAt));
    const signals = readPoints(file.syncobjs, list.slice(signalsAt));
    if (typeof waits === "number" || typeof signals === "number") return Errno.ENOENT;
    if (waits.some(({ syncobj }) => !syncobj.timeline && syncobj.fence === undefined)) return Errno.EINVAL;
    if (!risingPoints(signals)) return Errno.EINVAL;
    const fence = submit(kernel, file, { ...input, handles: list.slice(0, boCount), waits, signals });
    if (typeof fence === "number") return fence;
    answerIoctl("SUBMIT_SYNC", arg, { fence });
    return 0;
  },
  GEM_USERPTR(kernel, file, arg) {
    const { address, size } = decodeIoctl("GEM_USERPTR", arg);
    const handle = wrapMemory(kernel.residency, file, address, size);
    if (handle < 0) return handle;
    answerIoctl("GEM_USERPTR", arg, { handle });
    return 0;
  },
  GEM_CLONE({ residency }, file, arg) {
    const source = file.handles.get(decodeIoctl("GEM_CLONE", arg).handle);
    if (source === undefined) return Errno.ENOENT;
    const bo = residency.clone(file, source);
    if (typeof bo === "number") return bo;
    const clone = addHandle(file, bo);
    if (clone < 0) residency.release(bo);
    else answerIoctl("GEM_CLONE", arg, { clone });
    return Math.min(clone, 0);
  },
  SPARSE_BIND(kernel, file, arg) {
    const result = bindSparse(kernel.residency, file, decodeIoctl("SPARSE_BIND", arg));
    if (result === 0) kernel.scheduler.invalidate(file);
    return result;
  },
  GEM_INFO({ residency }, file, arg) {
    const bo = file.handles.get(decodeIoctl("GEM_INFO", arg).handle);
    if (bo === undefined) return Errno.ENOENT;
    answerIoctl("GEM_INFO", arg, {
      domain: bo.domain,
      size: BigInt(bo.sizeBytes),
      placement: bo.extent.heap === residency.vram ? Domain.VRAM : Domain.GTT,
      sharedBy: bo.extent.users.size,
      holders: bo.holders.size,
      mappings: bo.mappings.size,
    });
    return 0;
  },
};

/** A new handle for a sync object, or -ENOSPC. */
export function addSyncobj(file: File, syncobj: Syncobj): number {
  if (file.syncobjs.size >= MAX_SYNCOBJS) return Errno.ENOSPC;
  while (file.syncobjs.has(file.nextSyncobj)) file.nextSyncobj = (file.nextSyncobj % 0x7fff_ffff) + 1;
  const handle = file.nextSyncobj;
  file.nextSyncobj = (handle % 0x7fff_ffff) + 1;
  file.syncobjs.set(handle, syncobj);
  return handle;
}
