import {
  answerIoctl,
  ContextState,
  Domain,
  decodeIoctl,
  decodeIoctlList,
  Errno,
  type IoctlName,
  PageTable,
  QueueKind,
  SdmaValue,
  SYNC_POINT_WORDS,
  SyncobjKind,
  SyncobjWait,
} from "../uapi/index.ts";
import type { Heap } from "./heap.ts";
import { closeBo, createBo, mapVa, readableFrom, unmapVa } from "./memory.ts";
import type { Bo, Context, File, Waiter } from "./objects.ts";
import type { KernelClock, Scheduler } from "./scheduler.ts";
import { readPoints, risingPoints, SyncFence, Syncobj, type SyncPoint } from "./syncobj.ts";

const API_VERSION = 1;
const LOWEST_PRIORITY = -1;
/** Above what any process may have. */
const REALTIME_PRIORITY = 2;
const MAX_CONTEXTS = 256;
const MAX_QUEUED_JOBS = 1024;
const MAX_BO_LIST = 4096;
const MAX_SYNCOBJS = 1 << 14;
/** INDIRECT_BUFFER's size field has 20 bits. */
const MAX_IB_DWORDS = 0xf_ffff;
const WAIT_FOREVER = 0xffff_ffff;
const MMAP_SHIFT = 40n;

/** What the handlers work on. */
export interface Kernel {
  readonly vram: Heap;
  readonly gtt: Heap;
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
      vramBytes: BigInt(kernel.vram.sizeBytes),
      vramFreeBytes: BigInt(kernel.vram.freeBytes),
      gttBytes: BigInt(kernel.gtt.sizeBytes),
      gttFreeBytes: BigInt(kernel.gtt.freeBytes),
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
    const heap = domain === Domain.VRAM ? kernel.vram : domain === Domain.GTT ? kernel.gtt : undefined;
    if (flags !== 0) return Errno.EINVAL;
    const handle = createBo(file, heap, domain, size);
    if (handle < 0) return handle;
    answerIoctl("GEM_CREATE", arg, { handle });
    return 0;
  },
  GEM_CLOSE(kernel, file, arg) {
    const result = closeBo(file, decodeIoctl("GEM_CLOSE", arg).handle);
    if (result === 0) kernel.scheduler.invalidate(file);
    return result;
  },
  GEM_MMAP(_kernel, file, arg) {
    const bo = file.handles.get(decodeIoctl("GEM_MMAP", arg).handle);
    if (bo === undefined) return Errno.ENOENT;
    answerIoctl("GEM_MMAP", arg, { offset: mmapOffset(bo.handle), size: BigInt(bo.sizeBytes) });
    return 0;
  },
  VA_MAP(kernel, file, arg) {
    const result = mapVa(file, decodeIoctl("VA_MAP", arg));
    if (result === 0) kernel.scheduler.invalidate(file);
    return result;
  },
  VA_UNMAP(kernel, file, arg) {
    const { va, size } = decodeIoctl("VA_UNMAP", arg);
    const result = unmapVa(file, va, size);
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
    if (context.jobs.length > 0) return Errno.EBUSY;
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

interface SubmitInput {
  readonly context: number;
  readonly queueKind: number;
  readonly ibVa: bigint;
  readonly ibDwords: number;
  readonly handles: readonly number[];
  readonly waits: readonly SyncPoint[];
  readonly signals: readonly SyncPoint[];
}

/** Checks a submission and queues it: its fence, or a negative errno with nothing changed. */
function submit(kernel: Kernel, file: File, input: SubmitInput): bigint | number {
  const { context: id, queueKind, ibVa, ibDwords, handles } = input;
  const context = file.contexts.get(id);
  if (context === undefined) return Errno.ENOENT;
  if (queueKind !== QueueKind.COMPUTE && queueKind !== QueueKind.SDMA) return Errno.EINVAL;
  const align = queueKind === QueueKind.SDMA ? BigInt(SdmaValue.IB_ALIGN) : 4n;
  if (ibDwords === 0 || ibDwords > MAX_IB_DWORDS || ibVa % align !== 0n) return Errno.EINVAL;
  if (handles.length > MAX_BO_LIST) return Errno.EINVAL;
  const bos = new Set<Bo>();
  for (const handle of handles) {
    const bo = file.handles.get(handle);
    if (bo === undefined) return Errno.ENOENT;
    bos.add(bo);
  }
  if (!readableFrom(file, ibVa, ibDwords * 4, bos)) return Errno.EPERM;
  if (context.state !== ContextState.GOOD || kernel.scheduler.dead) return Errno.ECANCELED;
  if (file.queuedJobs >= MAX_QUEUED_JOBS) return Errno.EBUSY;
  const fence = ++context.lastFence;
  const awaited = input.waits.map(({ syncobj, point }) => syncobj.awaited(point)).filter((wait) => !wait.done);
  const waits = new Map(awaited.map((wait) => [wait, () => {}]));
  const signals = input.signals.map(({ syncobj, point }) => {
    if (syncobj.timeline) {
      syncobj.promise(point);
      return () => syncobj.advance(point);
    }
    const done = new SyncFence();
    syncobj.setFence(done);
    return () => done.signal();
  });
  kernel.scheduler.enqueue({ context, fence, queueKind, ibVa, ibDwords, bos: [...bos], waits, signals });
  return fence;
}

/** SYNCOBJ_WAIT: 0 at once where enough points are there, else when they come, -ETIME after the timeout. */
function waitForPoints(
  kernel: Kernel,
  file: File,
  points: readonly SyncPoint[],
  all: boolean,
  timeoutMs: number,
): number | Promise<number> {
  const fences = points.map(({ syncobj, point }) => syncobj.awaited(point));
  const over = () => (all ? fences.every((fence) => fence.done) : fences.some((fence) => fence.done));
  const forget = () => {
    for (const [i, fence] of fences.entries()) points[i]?.syncobj.forget(points[i].point, fence);
  };
  if (over() || timeoutMs === 0) {
    forget();
    return over() ? 0 : Errno.ETIME;
  }
  return new Promise((resolve) => {
    let cancel = () => {};
    const done = (result: number): void => {
      cancel();
      file.waits.delete(done);
      for (const stop of stops) stop();
      forget();
      resolve(result);
    };
    const look = () => {
      if (over()) done(0);
    };
    const stops = fences.map((fence) => fence.listen(look));
    if (timeoutMs !== WAIT_FOREVER) cancel = kernel.clock.after(timeoutMs, () => done(Errno.ETIME));
    file.waits.add(done);
  });
}

function waitFor(kernel: Kernel, context: Context, fence: bigint, timeoutMs: number): Promise<number> {
  return new Promise((resolve) => {
    let cancel = () => {};
    const waiter: Waiter = {
      fence,
      done: (result) => {
        cancel();
        context.waiters.delete(waiter);
        resolve(result);
      },
    };
    if (timeoutMs !== WAIT_FOREVER) cancel = kernel.clock.after(timeoutMs, () => waiter.done(Errno.ETIME));
    context.waiters.add(waiter);
  });
}
