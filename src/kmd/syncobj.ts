import { Errno, type SharedSyncobj, SYNC_POINT_WORDS, SyncobjKind } from "../uapi/index.ts";

/** Something that will happen once: a job's end, or a signal by the CPU. */
export class SyncFence {
  #done = false;
  readonly #listeners = new Set<() => void>();

  get done(): boolean {
    return this.#done;
  }

  /** Runs the listeners, once. */
  signal(): void {
    if (this.#done) return;
    this.#done = true;
    for (const listener of [...this.#listeners]) listener();
    this.#listeners.clear();
  }

  get idle(): boolean {
    return this.#listeners.size === 0;
  }

  /** Calls `listener` when it happens (never where it has happened); the answer takes it back. */
  listen(listener: () => void): () => void {
    if (!this.#done) this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/**
 * A sync object. It may outlive its files and be shared by several machines' kernels: it knows neither jobs nor files.
 * A binary one holds at most one fence; a timeline is a counter that only rises.
 */
export class Syncobj implements SharedSyncobj {
  readonly kind = "syncobj";
  readonly timeline: boolean;
  #value: bigint;
  /** Highest point that was signalled or that a submitted job will signal. */
  #submitted: bigint;
  #fence: SyncFence | undefined;
  /** Points asked for: each fence fires when the value has come that far. */
  readonly #asked = new Map<bigint, SyncFence>();
  /** Waiters of a binary object that has no fence yet. */
  readonly #hopeful = new Set<SyncFence>();

  constructor(kind: number, value: bigint) {
    this.timeline = kind === SyncobjKind.TIMELINE;
    this.#value = this.timeline ? value : 0n;
    this.#submitted = this.#value;
    if (!this.timeline && value === 1n) this.setFence(doneFence());
  }

  get value(): bigint {
    return this.timeline ? this.#value : this.#fence?.done ? 1n : 0n;
  }

  get submitted(): bigint {
    return this.timeline ? this.#submitted : this.#fence === undefined ? 0n : 1n;
  }

  /** A binary object's fence; undefined: nobody has submitted a signal. */
  get fence(): SyncFence | undefined {
    return this.#fence;
  }

  /** Binary: replaces the fence. Who waits for the old one still does. */
  setFence(fence: SyncFence | undefined): void {
    this.#fence = fence;
    if (fence === undefined) return;
    const waiting = [...this.#hopeful];
    this.#hopeful.clear();
    const wake = () => {
      for (const waiter of waiting) waiter.signal();
    };
    if (fence.done) wake();
    else fence.listen(wake);
  }

  /** Timeline: a job will signal `point`. False where it is not above the value; jobs may be submitted in any order. */
  promise(point: bigint): boolean {
    if (point <= this.#value) return false;
    if (point > this.#submitted) this.#submitted = point;
    return true;
  }

  /** Timeline: the counter comes to `point`, or stays where it is beyond. */
  advance(point: bigint): void {
    if (point <= this.#value) return;
    this.#value = point;
    for (const [asked, fence] of [...this.#asked]) {
      if (asked > point) continue;
      this.#asked.delete(asked);
      fence.signal();
    }
  }

  /** What to wait for: a timeline's point, or the binary object's fence, or the next one it will get. */
  awaited(point: bigint): SyncFence {
    if (!this.timeline) {
      if (this.#fence !== undefined) return this.#fence;
      const waiter = new SyncFence();
      this.#hopeful.add(waiter);
      return waiter;
    }
    if (point <= this.#value) return doneFence();
    let fence = this.#asked.get(point);
    if (fence === undefined) {
      fence = new SyncFence();
      this.#asked.set(point, fence);
    }
    return fence;
  }

  /** Somebody who asked for `point` gave up. */
  forget(point: bigint, fence: SyncFence): void {
    if (!fence.idle) return;
    this.#hopeful.delete(fence);
    if (this.#asked.get(point) === fence) this.#asked.delete(point);
  }
}

function doneFence(): SyncFence {
  const fence = new SyncFence();
  fence.signal();
  return fence;
}

/** One entry of a list of sync points. */
export interface SyncPoint {
  readonly syncobj: Syncobj;
  readonly point: bigint;
}

/** Reads entries (handle, low, high); an errno on a handle that is none. */
export function readPoints(syncobjs: ReadonlyMap<number, Syncobj>, words: readonly number[]): SyncPoint[] | number {
  const points: SyncPoint[] = [];
  for (let i = 0; i < words.length; i += SYNC_POINT_WORDS) {
    const [handle, low, high] = words.slice(i, i + SYNC_POINT_WORDS) as [number, number, number];
    const syncobj = syncobjs.get(handle);
    if (syncobj === undefined) return Errno.ENOENT;
    points.push({ syncobj, point: (BigInt(high) << 32n) | BigInt(low) });
  }
  return points;
}

/** Whether every signal of the list may be submitted: timelines rise, also within the list. */
export function risingPoints(points: readonly SyncPoint[]): boolean {
  const tops = new Map<Syncobj, bigint>();
  for (const { syncobj, point } of points) {
    if (!syncobj.timeline) continue;
    if (point <= (tops.get(syncobj) ?? syncobj.value)) return false;
    tops.set(syncobj, point);
  }
  return true;
}
