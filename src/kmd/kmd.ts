import { invariant } from "../base/index.ts";
import {
  ContextState,
  Errno,
  faultKinds,
  type GpuPort,
  type IoctlTrace,
  ioctlByNumber,
  type KernelPort,
  QueueKind,
  type RawDump,
  type SharedSyncobj,
} from "../uapi/index.ts";
import { AddressSpace } from "./address-space.ts";
import { GpuDevice } from "./device.ts";
import { Heap } from "./heap.ts";
import { addSyncobj, handlers, type Kernel, mmapHandle } from "./ioctls.ts";
import { KernelLog } from "./log.ts";
import { unmapAll, unreference } from "./memory.ts";
import type { File, ProcessUsage } from "./objects.ts";
import { type KernelClock, Scheduler } from "./scheduler.ts";
import { Syncobj } from "./syncobj.ts";

/** Hardware queue slots: 0 is graphics, then compute, then the copy engine. */
const FIRST_COMPUTE_QUEUE = 1;
const MAX_COMPUTE_QUEUES = 4;
const SDMA_QUEUE = FIRST_COMPUTE_QUEUE + MAX_COMPUTE_QUEUES;
const MAX_FILES = 4096;
const DUMPS_KEPT = 16;

export interface KmdOptions {
  readonly gpu: GpuPort;
  readonly clock: KernelClock;
  /** Compute queues to open, 1 to 4. */
  readonly computeQueues?: number;
  /** Watchdog of contexts that give none. */
  readonly defaultTimeoutMs?: number;
  readonly seed?: number;
  /** Sees every ioctl. */
  readonly trace?: (event: IoctlTrace) => void;
  /** Sees every dump as it is made. */
  readonly onDump?: (dump: RawDump) => void;
}

export interface Kmd extends KernelPort {
  dmesg(): readonly string[];
  /** The last dumps, oldest first. */
  dumps(): readonly RawDump[];
  usage(): readonly ProcessUsage[];
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
    const scheduler = new Scheduler({
      device: this.#device,
      gtt,
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
      vram,
      gtt,
      clock: options.clock,
      scheduler,
      computeQueues,
      defaultTimeoutMs: options.defaultTimeoutMs ?? 10_000,
    };
    options.gpu.onInterrupt(() => {
      if (!this.#closed) scheduler.interrupt();
    });
    this.#device.start(options.seed ?? 0);
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
    const space = AddressSpace.create(this.#kernel.vram, this.#device.memory, (table) => {
      const free = () => this.#kernel.vram.free(table, 4096);
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
      submits: 0,
      faults: 0,
      lastFault: 0,
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
      for (const { bo, count } of file.mmaps.values()) for (let i = 0; i < count; i++) unreference(file, bo);
      for (const bo of [...file.handles.values()]) {
        unmapAll(file, bo);
        unreference(file, bo);
      }
      for (const mapping of [...file.mappings]) unmapAll(file, mapping.bo);
      file.space.destroy();
    });
    return 0;
  }

  ioctl(fd: number, number: number, arg: DataView): number {
    const result = this.#call(fd, number, arg, false);
    return typeof result === "number" ? result : Errno.EINVAL;
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
    bo.references++;
    const views = file.mmaps.get(bo.handle) ?? { bo, count: 0 };
    views.count++;
    file.mmaps.set(bo.handle, views);
    return new Uint8Array(this.#device.memory, bo.physical, sizeBytes);
  }

  munmap(fd: number, offset: bigint): number {
    const file = this.#files.get(fd);
    if (file === undefined) return this.#closed ? Errno.ENODEV : Errno.EBADF;
    const handle = mmapHandle(offset);
    const views = file.mmaps.get(handle);
    if (views === undefined) return Errno.ENOENT;
    if (--views.count === 0) file.mmaps.delete(handle);
    unreference(file, views.bo);
    return 0;
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
        ...(lastFault === undefined ? {} : { lastFault }),
        queuedJobs: file.queuedJobs,
        runningJobs: file.running,
        bos: file.handles.size,
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
