import { invariant } from "../base/index.ts";
import {
  ContextState,
  Domain,
  Errno,
  faultKinds,
  type GpuPort,
  type HeapView,
  type IoctlTrace,
  ioctlByNumber,
  type KernelPort,
  PageTable,
  QueueKind,
  type RawDump,
  type SharedBo,
  type SharedSyncobj,
} from "../uapi/index.ts";
import { AddressSpace } from "./address-space.ts";
import { createCounters, type ProcessCounters } from "./counters.ts";
import { GpuDevice } from "./device.ts";
import { Heap } from "./heap.ts";
import { addSyncobj, handlers, type Kernel, mmapHandle } from "./ioctls.ts";
import { KernelLog } from "./log.ts";
import { addHandle, unmapAll, unreference } from "./memory.ts";
import type { Bo, File, ProcessUsage } from "./objects.ts";
import { allocateBlock, freeBlock } from "./process-heap.ts";
import { Residency } from "./residency.ts";
import { type KernelClock, Scheduler } from "./scheduler.ts";
import { Syncobj } from "./syncobj.ts";

/** Hardware queue slots: 0 is graphics, then compute, then the copy engine. */
const FIRST_COMPUTE_QUEUE = 1;
const MAX_COMPUTE_QUEUES = 4;
const SDMA_QUEUE = FIRST_COMPUTE_QUEUE + MAX_COMPUTE_QUEUES;
const MAX_FILES = 4096;
const DUMPS_KEPT = 16;
/** Where heaps of processes start: addresses of the CPU, unlike any of the GPU's. */
const HEAP_START = 0x5555_0000_0000n;

/** A BO on its way between files. */
class PassedBo implements SharedBo {
  readonly kind = "bo";
  readonly bo: Bo;
  readonly residency: Residency;

  constructor(bo: Bo, residency: Residency) {
    this.bo = bo;
    this.residency = residency;
  }
}

export interface KmdOptions {
  readonly gpu: GpuPort;
  readonly clock: KernelClock;
  /** Compute queues to open, 1 to 4. */
  readonly computeQueues?: number;
  /** Watchdog of contexts that give none. */
  readonly defaultTimeoutMs?: number;
  readonly seed?: number;
  /** The machine's shape and switches: its WGPs (0: navi21's 40), `ControlFlag` bits. */
  readonly machine?: { readonly wgps?: number; readonly flags?: number };
  /** Sees every ioctl. */
  readonly trace?: (event: IoctlTrace) => void;
  /** Sees every dump as it is made. */
  readonly onDump?: (dump: RawDump) => void;
}

/** Memory of the whole machine. */
export interface MachineMemory {
  readonly vramBytes: number;
  readonly vramFreeBytes: number;
  readonly gttBytes: number;
  readonly gttFreeBytes: number;
  readonly resets: number;
  /** BOs that had to leave VRAM, since start. */
  readonly evictions: number;
}

export interface Kmd extends KernelPort {
  dmesg(): readonly string[];
  /** The last dumps, oldest first. */
  dumps(): readonly RawDump[];
  usage(): readonly ProcessUsage[];
  /** Performance counters of a file's jobs that have ended; undefined where there is no such file. */
  counters(fd: number): ProcessCounters | undefined;
  /** The counters of all processes since the last call. */
  takeCounters(): ProcessCounters;
  /** Sizes of the domains and what is free of them, bytes; resets so far. */
  memory(): MachineMemory;
  /** Stops scheduling; every later call answers -ENODEV. */
  shutdown(): void;
}

/** The kernel-driver model over one GPU. It owns protection and ordering; it never looks into shaders. */
export function createKmd(options: KmdOptions): Kmd {
  return new KernelDriver(options);
}

class KernelDriver implements Kmd {
  readonly #options: KmdOptions;
  readonly #device: GpuDevice;
  readonly #log: KernelLog;
  readonly #kernel: Kernel;
  readonly #files = new Map<number, File>();
  readonly #dumps: RawDump[] = [];
  #nextFd = 3;
  #closed = false;

  constructor(options: KmdOptions) {
    this.#options = options;
    this.#device = new GpuDevice(options.gpu);
    const { vramBase, vramBytes, gttBase, gttBytes } = this.#device.regions;
    const memory = this.#device.memory;
    const vram = new Heap(memory, vramBase, vramBytes);
    const gtt = new Heap(memory, gttBase, gttBytes);
    this.#log = new KernelLog(() => options.clock.now());
    const computeQueues = options.computeQueues ?? 1;
    invariant(computeQueues >= 1 && computeQueues <= MAX_COMPUTE_QUEUES, `${computeQueues} compute queues`);
    const residency = new Residency({
      memory,
      vram,
      gtt,
      invalidate: (file) => scheduler.invalidate(file),
      log: (text) => this.#log.write(text),
    });
    const scheduler: Scheduler = new Scheduler({
      device: this.#device,
      residency,
      clock: options.clock,
      log: this.#log,
      engines: [
        ...Array.from({ length: computeQueues }, (_, i) => ({
          queue: FIRST_COMPUTE_QUEUE + i,
          kind: QueueKind.COMPUTE,
        })),
        { queue: SDMA_QUEUE, kind: QueueKind.SDMA },
      ],
      onDump: (dump) => this.#keep(dump),
    });
    this.#kernel = {
      residency,
      clock: options.clock,
      scheduler,
      computeQueues,
      defaultTimeoutMs: options.defaultTimeoutMs ?? 10_000,
    };
    options.gpu.onInterrupt(() => {
      if (!this.#closed) scheduler.interrupt();
    });
    this.#device.start({ seed: options.seed ?? 0, ...options.machine });
    this.#log.write(`VRAM ${vramBytes >> 20} MiB, GTT ${gttBytes >> 20} MiB, ${computeQueues} compute queue(s)`);
  }

  #keep(dump: RawDump): void {
    this.#dumps.push(dump);
    if (this.#dumps.length > DUMPS_KEPT) this.#dumps.shift();
    this.#options.onDump?.(dump);
  }

  open(processName: string): number {
    if (this.#closed) return Errno.ENODEV;
    if (this.#files.size >= MAX_FILES) return Errno.ENOSPC;
    const fd = this.#nextFd++;
    const graveyard: (() => void)[] = [];
    let file: File | undefined;
    // Tables that lost their last entry may still be walked while a job runs.
    const { residency } = this.#kernel;
    const tables = { alloc: (bytes: number) => residency.allocTable(bytes) };
    const space = AddressSpace.create(tables, this.#device.memory, (table) => {
      const free = () => residency.vram.free(table, PageTable.TABLE_BYTES);
      if (file !== undefined && file.running > 0) graveyard.push(free);
      else free();
    });
    if (space === undefined) return Errno.ENOMEM;
    file = {
      fd,
      processName,
      space,
      vmid: 0,
      handles: new Map(),
      listings: new Map(),
      blocks: new Map(),
      nextBlock: HEAP_START,
      nextHandle: 1,
      mappings: [],
      unmapped: [],
      mmaps: new Map(),
      syncobjs: new Map(),
      nextSyncobj: 1,
      waits: new Set(),
      contexts: new Map(),
      nextContext: 1,
      running: 0,
      graveyard,
      closed: false,
      queuedJobs: 0,
      vramBytes: 0,
      gttBytes: 0,
      busyMs: { compute: 0, transfer: 0 },
      counters: createCounters(),
      submits: 0,
      faults: 0,
      lastFault: 0,
      ldsOutside: 0,
    };
    this.#files.set(fd, file);
    return fd;
  }

  close(fd: number): number {
    const file = this.#files.get(fd);
    if (file === undefined) return Errno.EBADF;
    this.#files.delete(fd);
    file.closed = true;
    for (const done of [...file.waits]) done(Errno.EBADF);
    this.#kernel.scheduler.closeFile(file, () => {
      const { residency } = this.#kernel;
      for (const { bo, count } of file.mmaps.values()) {
        bo.views -= count;
        for (let i = 0; i < count; i++) unreference(residency, bo);
      }
      // From the end: taking the first of a long list is slow. Holes go with the tables.
      const mapped = new Set(file.mappings.map(({ bo }) => bo));
      for (const bo of mapped) if (bo !== undefined) unmapAll(residency, file, bo);
      for (const bo of file.handles.values()) {
        bo.holders.delete(file);
        residency.settle(bo.extent);
        unreference(residency, bo);
      }
      for (const address of [...file.blocks.keys()]) freeBlock(residency, file, address);
      file.space.destroy();
    });
    return 0;
  }

  ioctl(fd: number, number: number, arg: DataView): number {
    const result = this.#call(fd, number, arg, false);
    return typeof result === "number" ? result : Errno.EINVAL;
  }

  poll(): void {
    if (this.#closed) return;
    this.#options.gpu.turn?.();
    this.#kernel.scheduler.interrupt();
    this.#options.clock.runDue?.();
  }

  async ioctlWait(fd: number, number: number, arg: DataView): Promise<number> {
    return this.#call(fd, number, arg, true);
  }

  #call(fd: number, number: number, arg: DataView, mayWait: boolean): number | Promise<number> {
    const { trace, clock } = this.#options;
    if (trace === undefined) return this.#run(fd, number, arg, mayWait);
    const start = clock.now();
    const bytes = () => new Uint8Array(arg.buffer, arg.byteOffset, arg.byteLength).slice();
    const before = bytes();
    const report = (result: number): number => {
      trace({
        fd,
        processName: this.#files.get(fd)?.processName ?? "?",
        number,
        name: ioctlByNumber(number)?.[0],
        before,
        after: bytes(),
        result,
        microseconds: Math.round((clock.now() - start) * 1000),
      });
      return result;
    };
    const result = this.#run(fd, number, arg, mayWait);
    return typeof result === "number" ? report(result) : result.then(report);
  }

  #run(fd: number, number: number, arg: DataView, mayWait: boolean): number | Promise<number> {
    if (this.#closed) return Errno.ENODEV;
    const file = this.#files.get(fd);
    if (file === undefined) return Errno.EBADF;
    const entry = ioctlByNumber(number);
    if (entry === undefined) return Errno.ENOTTY;
    const [name, row] = entry;
    if (arg.byteLength < row.sizeBytes) return Errno.EFAULT;
    if (row.blocking && !mayWait) return Errno.EINVAL;
    return handlers[name](this.#kernel, file, arg);
  }

  mmap(fd: number, offset: bigint, sizeBytes: number): Uint8Array | number {
    if (this.#closed) return Errno.ENODEV;
    const file = this.#files.get(fd);
    if (file === undefined) return Errno.EBADF;
    const bo = file.handles.get(mmapHandle(offset));
    if (bo === undefined) return Errno.ENOENT;
    if (!Number.isInteger(sizeBytes) || sizeBytes <= 0 || sizeBytes > bo.sizeBytes) return Errno.EINVAL;
    // A CPU view cannot be moved later: what clones share is parted now.
    if (!this.#kernel.residency.unshare(bo)) return Errno.ENOMEM;
    bo.references++;
    bo.views++;
    const handle = mmapHandle(offset);
    const views = file.mmaps.get(handle) ?? { bo, count: 0 };
    views.count++;
    file.mmaps.set(handle, views);
    return new Uint8Array(this.#device.memory, bo.extent.physical, sizeBytes);
  }

  munmap(fd: number, offset: bigint): number {
    const file = this.#files.get(fd);
    if (file === undefined) return this.#closed ? Errno.ENODEV : Errno.EBADF;
    const handle = mmapHandle(offset);
    const views = file.mmaps.get(handle);
    if (views === undefined) return Errno.ENOENT;
    if (--views.count === 0) file.mmaps.delete(handle);
    views.bo.views--;
    unreference(this.#kernel.residency, views.bo);
    return 0;
  }

  exportBo(fd: number, handle: number): SharedBo | number {
    if (this.#closed) return Errno.ENODEV;
    const file = this.#files.get(fd);
    if (file === undefined) return Errno.EBADF;
    const bo = file.handles.get(handle);
    return bo === undefined ? Errno.ENOENT : new PassedBo(bo, this.#kernel.residency);
  }

  importBo(fd: number, shared: SharedBo): number {
    if (this.#closed) return Errno.ENODEV;
    const file = this.#files.get(fd);
    if (file === undefined) return Errno.EBADF;
    const { residency } = this.#kernel;
    if (!(shared instanceof PassedBo) || shared.residency !== residency) return Errno.EINVAL;
    // What was passed is no reference: where every file has dropped it meanwhile, there is nothing to import.
    return shared.bo.references === 0 ? Errno.EINVAL : addHandle(file, shared.bo);
  }

  allocateHeap(fd: number, sizeBytes: number): HeapView | number {
    if (this.#closed) return Errno.ENODEV;
    const file = this.#files.get(fd);
    if (file === undefined) return Errno.EBADF;
    const block = allocateBlock(this.#kernel.residency, file, sizeBytes);
    if (typeof block === "number") return block;
    return { address: block.address, view: new Uint8Array(this.#device.memory, block.physical, block.sizeBytes) };
  }

  freeHeap(fd: number, address: bigint): number {
    if (this.#closed) return Errno.ENODEV;
    const file = this.#files.get(fd);
    return file === undefined ? Errno.EBADF : freeBlock(this.#kernel.residency, file, address);
  }

  exportSyncobj(fd: number, handle: number): SharedSyncobj | number {
    if (this.#closed) return Errno.ENODEV;
    const file = this.#files.get(fd);
    if (file === undefined) return Errno.EBADF;
    return file.syncobjs.get(handle) ?? Errno.ENOENT;
  }

  importSyncobj(fd: number, shared: SharedSyncobj): number {
    if (this.#closed) return Errno.ENODEV;
    const file = this.#files.get(fd);
    if (file === undefined) return Errno.EBADF;
    return shared instanceof Syncobj ? addSyncobj(file, shared) : Errno.EINVAL;
  }

  dmesg(): readonly string[] {
    return this.#log.lines();
  }

  dumps(): readonly RawDump[] {
    return this.#dumps;
  }

  counters(fd: number): ProcessCounters | undefined {
    return this.#files.get(fd)?.counters;
  }

  takeCounters(): ProcessCounters {
    return this.#kernel.scheduler.takeCounters();
  }

  memory(): MachineMemory {
    const { residency, scheduler } = this.#kernel;
    const { vram, gtt } = residency;
    return {
      vramBytes: vram.sizeBytes,
      vramFreeBytes: vram.freeBytes,
      gttBytes: gtt.sizeBytes,
      gttFreeBytes: gtt.freeBytes,
      resets: scheduler.resets,
      evictions: residency.evictions,
    };
  }

  usage(): readonly ProcessUsage[] {
    return [...this.#files.values()].map((file) => {
      const now = this.#kernel.scheduler.runningMs(file);
      const transferBusyMs = file.busyMs.transfer + now.transfer;
      const lastFault = faultKinds.find(({ kind }) => kind === file.lastFault)?.name;
      return {
        fd: file.fd,
        processName: file.processName,
        vramBytes: file.vramBytes,
        gttBytes: file.gttBytes,
        tableBytes: file.space.tableBytes,
        busyMs: file.busyMs.compute + now.compute + transferBusyMs,
        transferBusyMs,
        submits: file.submits,
        faults: file.faults,
        ldsOutside: file.ldsOutside,
        ...(lastFault === undefined ? {} : { lastFault }),
        queuedJobs: file.queuedJobs,
        runningJobs: file.running,
        bos: file.handles.size,
        evictedBos: [...file.handles.values()].filter(
          ({ domain, extent }) => domain === Domain.VRAM && extent.heap !== this.#kernel.residency.vram,
        ).length,
        mappings: file.mappings.length,
        contexts: file.contexts.size,
        lostContexts: [...file.contexts.values()].filter(({ state }) => state !== ContextState.GOOD).length,
        syncobjs: file.syncobjs.size,
      };
    });
  }

  shutdown(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#kernel.scheduler.close();
    for (const file of this.#files.values()) {
      for (const done of [...file.waits]) done(Errno.ENODEV);
      for (const context of file.contexts.values()) {
        for (const waiter of [...context.waiters]) waiter.done(Errno.ENODEV);
        // Work that will never run holds up no other machine.
        for (const job of context.jobs) for (const signal of job.signals) signal();
      }
    }
    this.#device.stop();
  }
}
