import type { FaultName } from "../uapi/index.ts";
import type { AddressSpace } from "./address-space.ts";
import type { ProcessCounters } from "./counters.ts";
import type { Heap } from "./heap.ts";
import type { SyncFence, Syncobj } from "./syncobj.ts";

/** Physical memory of one BO, or of several that were cloned and not written since. */
export interface Extent {
  heap: Heap;
  physical: number;
  readonly sizeBytes: number;
  readonly users: Set<Bo>;
  /** Whose account it is on. */
  payer: File;
  /** The heap block of a process that it is part of (userptr): freed with that, never moved. */
  readonly block: HeapBlock | undefined;
}

/** Memory of one BO. It lives while a handle, a mapping, an mmap or a job of any file refers to it. */
export interface Bo {
  readonly sizeBytes: number;
  /** Where it wants to be (`Domain`); `extent.heap` says where it is. */
  readonly domain: number;
  extent: Extent;
  references: number;
  /** Unfinished jobs that list it, of all files. */
  jobs: number;
  /** CPU views: they see physical memory, so it stays where it is. */
  views: number;
  readonly mappings: Set<Mapping>;
  /** The files that have it, with their handle. */
  readonly holders: Map<File, number>;
  /** Tick of the last submission that listed it: who is least recently used is evicted first. */
  used: number;
}

/** A range of addresses for pages that come and go. */
export interface Reservation {
  readonly va: bigint;
  readonly sizeBytes: number;
}

/** A mapped range; of a reservation, a part of it, where no BO stands for a hole. */
export interface Mapping {
  readonly file: File;
  readonly va: bigint;
  readonly sizeBytes: number;
  readonly flags: number;
  readonly bo: Bo | undefined;
  /** The file's handle when it was mapped. */
  readonly handle: number;
  readonly boOffset: number;
  readonly reservation: Reservation | undefined;
}

/** A block of a process's own heap: memory as from malloc, in system memory. */
export interface HeapBlock {
  readonly address: bigint;
  readonly sizeBytes: number;
  readonly physical: number;
  /** The process itself, and BOs over parts of it. */
  references: number;
}

/** A file's jobs that list a BO, and its mappings that go when the last one ends: those of a closed handle. */
interface Listing {
  jobs: number;
  readonly closing: Set<Mapping>;
}

export interface Context {
  readonly id: number;
  readonly file: File;
  readonly priority: number;
  readonly timeoutMs: number;
  /** Last fence number given out, and last that signalled. Jobs of a context end in order. */
  lastFence: bigint;
  signalled: bigint;
  /** `ContextState`. */
  state: number;
  faultKind: number;
  readonly jobs: Job[];
  /** `jobs[0]` is on the hardware: the next one waits, whatever queue is free. */
  running: boolean;
  /** Scheduler tick at which a job of it last started. */
  served: number;
  readonly waiters: Set<Waiter>;
}

export interface Waiter {
  readonly fence: bigint;
  readonly done: (result: number) => void;
}

export interface Job {
  readonly context: Context;
  readonly fence: bigint;
  readonly queueKind: number;
  readonly ibVa: bigint;
  readonly ibDwords: number;
  readonly bos: readonly Bo[];
  /** What must happen before it may start, each with what stops listening; empty once it has. */
  readonly waits: Map<SyncFence, () => void>;
  /** What its end signals. */
  readonly signals: readonly (() => void)[];
}

/** One simulated process: its handles, its address space, its contexts. */
export interface File {
  readonly fd: number;
  readonly processName: string;
  readonly space: AddressSpace;
  /** Hardware slot of the address space, 0 while it has none. */
  vmid: number;
  readonly handles: Map<number, Bo>;
  readonly listings: Map<Bo, Listing>;
  readonly blocks: Map<bigint, HeapBlock>;
  nextBlock: bigint;
  nextHandle: number;
  /** Ascending by address as unsigned 64-bit values. */
  readonly mappings: Mapping[];
  /** The last ranges that were unmapped, for dumps. */
  readonly unmapped: Mapping[];
  /** CPU views by handle; they outlive the handle. */
  readonly mmaps: Map<number, { readonly bo: Bo; count: number }>;
  readonly syncobjs: Map<number, Syncobj>;
  nextSyncobj: number;
  /** Waits for sync objects that go on; the close of the file or machine ends them. */
  readonly waits: Set<(result: number) => void>;
  readonly contexts: Map<number, Context>;
  nextContext: number;
  /** Jobs on the hardware now. While there are any, freed pages wait in `graveyard`. */
  running: number;
  readonly graveyard: (() => void)[];
  closed: boolean;
  queuedJobs: number;
  vramBytes: number;
  gttBytes: number;
  /** Milliseconds of jobs on queues of each kind (`QueueKind`). */
  readonly busyMs: { compute: number; transfer: number };
  readonly counters: ProcessCounters;
  submits: number;
  faults: number;
  /** `FaultKind` of the last fault; 0: none. */
  lastFault: number;
  /** LDS accesses beyond their workgroup's allocation. */
  ldsOutside: number;
}

/** What `kiln smi` prints of a process. */
export interface ProcessUsage {
  readonly fd: number;
  readonly processName: string;
  readonly vramBytes: number;
  readonly gttBytes: number;
  /** VRAM of its page tables. */
  readonly tableBytes: number;
  /** Time on the hardware: all queues, and of these the copy engine. A job that runs now counts up to now. */
  readonly busyMs: number;
  readonly transferBusyMs: number;
  readonly submits: number;
  readonly faults: number;
  /** LDS accesses beyond their workgroup's allocation: reads gave 0, writes were dropped. */
  readonly ldsOutside: number;
  /** Name of the last fault's kind. */
  readonly lastFault?: FaultName;
  readonly queuedJobs: number;
  readonly runningJobs: number;
  readonly bos: number;
  /** BOs of VRAM that stand in GTT until a job needs them. */
  readonly evictedBos: number;
  readonly mappings: number;
  readonly contexts: number;
  /** Contexts that are lost. */
  readonly lostContexts: number;
  readonly syncobjs: number;
}
