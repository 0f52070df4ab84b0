import { ContextState, Errno, QueueKind, SdmaValue } from "../uapi/index.ts";
import type { Kernel } from "./ioctls.ts";
import { readableFrom } from "./memory.ts";
import type { Bo, Context, File, Waiter } from "./objects.ts";
import { SyncFence, type SyncPoint } from "./syncobj.ts";

const MAX_QUEUED_JOBS = 1024;
export const MAX_BO_LIST = 4096;
/** INDIRECT_BUFFER's size field has 20 bits. */
export const MAX_IB_DWORDS = 0xf_ffff;
const WAIT_FOREVER = 0xffff_ffff;

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
export function submit(kernel: Kernel, file: File, input: SubmitInput): bigint | number {
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
    if (![...bo.mappings].some((mapping) => mapping.file === file)) return Errno.EINVAL;
    bos.add(bo);
  }
  if (!readableFrom(file, ibVa, ibDwords * 4, bos)) return Errno.EPERM;
  if (context.state !== ContextState.GOOD || kernel.scheduler.dead) return Errno.ECANCELED;
  if (file.queuedJobs >= MAX_QUEUED_JOBS) return Errno.EBUSY;
  const prepared = kernel.residency.prepare(bos);
  if (prepared !== 0) return prepared;
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
export function waitForPoints(
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

export function waitFor(kernel: Kernel, context: Context, fence: bigint, timeoutMs: number): Promise<number> {
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
