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
} from "../uapi/index.ts";
import type { Heap } from "./heap.ts";
import { closeBo, createBo, mapVa, readableFrom, unmapVa } from "./memory.ts";
import type { Bo, Context, File, Waiter } from "./objects.ts";
import type { KernelClock, Scheduler } from "./scheduler.ts";

const API_VERSION = 1;
const MAX_CONTEXTS = 256;
const MAX_QUEUED_JOBS = 1024;
const MAX_BO_LIST = 4096;
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
    if (priority < -1 || priority > 1) return Errno.EINVAL;
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
    const { context: id, queueKind, ibVa, ibDwords, boCount } = decodeIoctl("SUBMIT", arg);
    const context = file.contexts.get(id);
    if (context === undefined) return Errno.ENOENT;
    if (queueKind !== QueueKind.COMPUTE || ibDwords === 0 || ibDwords > MAX_IB_DWORDS || ibVa % 4n !== 0n) {
      return Errno.EINVAL;
    }
    if (boCount > MAX_BO_LIST) return Errno.EINVAL;
    const list = decodeIoctlList("SUBMIT", arg);
    if (list === undefined) return Errno.EFAULT;
    const bos = new Set<Bo>();
    for (const handle of list) {
      const bo = file.handles.get(handle);
      if (bo === undefined) return Errno.ENOENT;
      bos.add(bo);
    }
    if (!readableFrom(file, ibVa, ibDwords * 4, bos)) return Errno.EPERM;
    if (context.state !== ContextState.GOOD || kernel.scheduler.dead) return Errno.ECANCELED;
    if (file.queuedJobs >= MAX_QUEUED_JOBS) return Errno.EBUSY;
    const fence = ++context.lastFence;
    answerIoctl("SUBMIT", arg, { fence });
    kernel.scheduler.enqueue({ context, fence, queueKind, ibVa, ibDwords, bos: [...bos] });
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
};

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
