import type { Reflection, SourceMapEntry } from "../codeobj/index.ts";
import { Errno, type KernelPort, type SharedSyncobj, SyncobjWait, VaFlag, VirtualMap } from "../uapi/index.ts";
import { BufferView, type BufferViewOptions } from "./buffer-view.ts";
import { CommandBuffer, type CommandBufferOptions, type CommandOwner } from "./command-buffer.ts";
import { CommandPool } from "./command-pool.ts";
import { DescriptorPool, DescriptorSetLayout } from "./descriptors.ts";
import { type QueueName, queueNames } from "./encode.ts";
import { DriverError, oneOf, valid } from "./errors.ts";
import { Fence, type FenceOwner } from "./fence.ts";
import { KernelFile, kernelError } from "./kernel.ts";
import { Lifetime } from "./lifetime.ts";
import { API_VERSION, negotiate } from "./loader.ts";
import {
  type AddressRange,
  Buffer,
  DeviceMemory,
  type MemoryOptions,
  type MemoryOwner,
  type MemoryType,
} from "./memory.ts";
import { ofDevice } from "./owner.ts";
import { type ComputePipeline, type ComputePipelineOptions, compileCompute } from "./pipeline.ts";
import { PipelineCache } from "./pipeline-cache.ts";
import { DeviceQueue, type SubmitOptions } from "./queue.ts";
import { checkPoints, pointWords, Semaphore, type SemaphorePoint } from "./semaphore.ts";
import { Suballocator, type SuballocatorOptions } from "./suballocator.ts";
import { Event, type QueryKind, QueryPool } from "./sync.ts";
import { VaHeap } from "./va-heap.ts";
import { ApiLayer, type ApiMessage } from "./validate/index.ts";

/** The API version this driver speaks with kernels (`QUERY_INFO`). */
const KERNEL_API_VERSION = 1;
/** Where the driver starts to give out addresses: easy to tell from sizes and offsets in a log. */
const GENERAL_START = 0x1_0000_0000n;
const POLL = 0;
const FOREVER = 0xffff_ffff;

/** One thing the driver did, for a reader. `words` are packets at `va`, or code, or a descriptor. */
export interface DriverEvent {
  readonly kind: "memory" | "descriptor" | "pipeline" | "commands" | "submit" | "fence";
  readonly text: string;
  readonly va?: bigint;
  readonly words?: Uint32Array;
}

export interface InstanceOptions {
  readonly kernel: KernelPort;
  readonly trace?: (event: DriverEvent) => void;
  /** What the application was written for, major.minor; the driver's own where absent. */
  readonly apiVersion?: string;
  /** Turns the validation layer on: it tells of misuse that works by luck. */
  readonly validate?: (message: ApiMessage) => void;
}

export interface DeviceOptions {
  readonly processName: string;
  /** Watchdog of this device's work, milliseconds; the kernel's default where absent. */
  readonly timeoutMs?: number;
  /** Each submission returns when it is done, and throws where it was lost: faults show at their submit. */
  readonly launchBlocking?: boolean;
}

export interface Instance {
  createDevice(options: DeviceOptions): Device;
}

/** The driver's entry. Devices are simulated processes: each has its own address space. INITIALIZATION_FAILED on a version it does not have. */
export function createInstance(options: InstanceOptions): Instance {
  negotiate(options.apiVersion ?? API_VERSION, "the application");
  return { createDevice: (deviceOptions) => new Device(options, deviceOptions) };
}

/** Code that is loaded, for fault reports. */
export interface DeviceCode {
  readonly va: bigint;
  readonly sizeBytes: number;
  readonly name: string;
  readonly sourceMap: readonly SourceMapEntry[];
  readonly reflection: Reflection;
}

export class Device implements MemoryOwner, CommandOwner, FenceOwner {
  readonly kernel: KernelFile;
  readonly layer: ApiLayer | undefined;
  readonly limits: { readonly maxIbDwords: number; readonly vramBytes: number; readonly gttBytes: number };
  readonly #trace: (event: DriverEvent) => void;
  readonly #heaps: Readonly<Record<AddressRange, VaHeap>>;
  readonly #queues: Readonly<Record<QueueName, DeviceQueue>>;
  /** Command buffers of nothing, for submissions that only wait and signal. */
  readonly #empty = new Map<QueueName, CommandBuffer>();
  readonly #ring: DeviceMemory;
  readonly #memories = new Set<DeviceMemory>();
  readonly #codes = new Map<ComputePipeline, DeviceCode>();
  readonly #retired: { readonly after: ReadonlyMap<DeviceQueue, bigint>; readonly action: () => void }[] = [];
  readonly #blocking: boolean;
  #lost = false;

  constructor({ kernel, trace, validate }: InstanceOptions, options: DeviceOptions) {
    const { processName, timeoutMs, launchBlocking = false } = options;
    if (timeoutMs !== undefined) {
      const isTime = Number.isInteger(timeoutMs) && timeoutMs >= 0 && timeoutMs <= FOREVER;
      valid(isTime, `a device with a watchdog of ${timeoutMs} ms`);
    }
    this.#blocking = launchBlocking;
    this.#trace = trace ?? (() => {});
    this.layer = validate === undefined ? undefined : new ApiLayer(validate);
    this.kernel = new KernelFile(kernel, processName);
    const info = this.kernel.call("QUERY_INFO", {});
    if (info.apiVersion !== KERNEL_API_VERSION) {
      throw new DriverError(
        "INITIALIZATION_FAILED",
        `the kernel speaks version ${info.apiVersion}, this driver ${KERNEL_API_VERSION}`,
      );
    }
    this.limits = {
      maxIbDwords: info.maxIbDwords,
      vramBytes: Number(info.vramBytes),
      gttBytes: Number(info.gttBytes),
    };
    this.#heaps = {
      general: new VaHeap(GENERAL_START, VirtualMap.LOW_END),
      window: new VaHeap(VirtualMap.WINDOW_START + 0x1_0000n, VirtualMap.WINDOW_END),
    };
    const queue = (name: QueueName) => new DeviceQueue(this.kernel, name, timeoutMs ?? 0);
    this.#queues = { compute: queue("compute"), transfer: queue("transfer") };
    this.#ring = this.#allocate({ sizeBytes: 4096, type: "host", access: VaFlag.READ });
  }

  get lost(): boolean {
    return this.#lost;
  }

  get fd(): number {
    return this.kernel.fd;
  }

  /** For messages: the process and the kernel file. */
  get name(): string {
    return this.kernel.name;
  }

  get ringVa(): bigint {
    return this.#ring.va;
  }

  heapOf(range: AddressRange): VaHeap {
    return this.#heaps[range];
  }

  /** A BO and its addresses. Throws OUT_OF_DEVICE_MEMORY. */
  allocateMemory(options: MemoryOptions): DeviceMemory {
    const memory = this.#allocate(options);
    this.layer?.created(memory, `memory of ${memory.sizeBytes} bytes (BO ${memory.handle})`);
    return memory;
  }

  #allocate(options: MemoryOptions): DeviceMemory {
    const before = this.kernel.ioctls;
    const memory = new DeviceMemory(this, options);
    this.#memories.add(memory);
    const where = `BO ${memory.handle}, ${memory.sizeBytes} bytes of ${memory.type} memory`;
    const cost = `${this.kernel.ioctls - before} ioctls, ${this.#memories.size} mapped in all`;
    this.#trace({ kind: "memory", text: `${where} at ${hex(memory.va)}: ${cost}`, va: memory.va });
    return memory;
  }

  forget(memory: DeviceMemory): void {
    this.#memories.delete(memory);
  }

  /** Pieces of few large allocations. */
  createSuballocator(options: SuballocatorOptions): Suballocator {
    return new Suballocator((memory) => this.allocateMemory(memory), options);
  }

  /** With `initial` data of another run; what does not fit this driver is rejected as a whole (`rejected` says why). */
  createPipelineCache(initial?: Uint8Array, tag?: string): PipelineCache {
    return new PipelineCache(initial, tag);
  }

  createBuffer(sizeBytes: number): Buffer {
    return new Buffer(sizeBytes, this, this.layer);
  }

  /** A buffer with memory of its own. */
  createBoundBuffer(sizeBytes: number, type: MemoryType = "device"): Buffer {
    const buffer = this.createBuffer(sizeBytes);
    return buffer.own(this.#allocate({ sizeBytes: buffer.requirements.sizeBytes, type }));
  }

  /** Elements of a format in a buffer, for texel buffers. */
  createBufferView(options: BufferViewOptions): BufferView {
    ofDevice(this, options.buffer.memory.owner, "a view of a buffer");
    return new BufferView(options, this.layer);
  }

  createDescriptorSetLayout(...args: ConstructorParameters<typeof DescriptorSetLayout>): DescriptorSetLayout {
    return new DescriptorSetLayout(...args);
  }

  createDescriptorPool(sizeBytes = 65536): DescriptorPool {
    return new DescriptorPool(this.uploadMemory(sizeBytes), this.layer);
  }

  /** Compiles through the given compiler and uploads the code. Throws INVALID_SHADER with the diagnostics. */
  async createComputePipeline(options: ComputePipelineOptions): Promise<ComputePipeline> {
    const place = this.layer?.place();
    const { record, entry, words } = await compileCompute(options);
    const memory = this.#allocate({
      sizeBytes: words.byteLength,
      type: "device",
      access: VaFlag.READ | VaFlag.EXECUTE,
    });
    const view = memory.map();
    new Uint32Array(view.buffer, view.byteOffset, words.length).set(words);
    const name = `${options.request.filename}:${entry.name}`;
    const what = `a compute pipeline (${name})`;
    const pipeline: ComputePipeline = {
      record,
      entry,
      memory,
      life: new Lifetime(what, this.layer),
      codeVa: memory.va,
      codeBytes: entry.code.length * 4,
      destroy: () => {
        pipeline.life.end(pipeline);
        this.#codes.delete(pipeline);
        memory.destroy();
      },
    };
    this.layer?.created(pipeline, what, place);
    this.#codes.set(pipeline, {
      va: memory.va,
      sizeBytes: pipeline.codeBytes,
      name,
      sourceMap: record.sourceMap,
      reflection: entry.reflection,
    });
    this.#trace({
      kind: "pipeline",
      text: `${name}: ${pipeline.codeBytes} bytes of code at ${hex(memory.va)}`,
      va: memory.va,
      words: entry.code,
    });
    return pipeline;
  }

  /** What is loaded now, for `decodeDump` of `src/debug`. */
  loadedCode(): readonly DeviceCode[] {
    return [...this.#codes.values()];
  }

  createCommandBuffer(options?: CommandBufferOptions): CommandBuffer {
    return new CommandBuffer(this, options);
  }

  createCommandPool(options?: CommandBufferOptions): CommandPool {
    return new CommandPool(() => this.createCommandBuffer(options), this.layer);
  }

  createEvent(): Event {
    return new Event(this.#allocate({ sizeBytes: 4, type: "host" }), this.layer);
  }

  /** Queries of one kind, not available at first. */
  createQueryPool(count: number, kind: QueryKind = "timestamp"): QueryPool {
    const memory = this.#allocate({ sizeBytes: QueryPool.sizeBytes(count, kind), type: "host" });
    return new QueryPool(memory, count, kind, this.layer);
  }

  commandMemory(sizeBytes: number): DeviceMemory {
    if (sizeBytes / 4 > this.limits.maxIbDwords) {
      throw new DriverError("OUT_OF_DEVICE_MEMORY", `${sizeBytes / 4} dwords of commands in one buffer`);
    }
    return this.#allocate({ sizeBytes, type: "host", access: VaFlag.READ });
  }

  uploadMemory(sizeBytes: number): DeviceMemory {
    return this.#allocate({ sizeBytes, type: "host", range: "window", access: VaFlag.READ });
  }

  scratchMemory(sizeBytes: number): DeviceMemory {
    return this.#allocate({ sizeBytes, type: "device", access: VaFlag.READ | VaFlag.WRITE });
  }

  traceCommands(va: bigint, words: Uint32Array): void {
    this.#trace({ kind: "commands", text: `${words.length} dwords of packets at ${hex(va)}`, va, words });
  }

  /** Submits command buffers of one queue in order; the fence is the last one's. Throws DEVICE_LOST. */
  submit(commands: readonly CommandBuffer[], options: SubmitOptions = {}): Fence {
    const { wait, fence } = options;
    for (const { semaphore } of [...(wait ?? []), ...(options.signal ?? [])])
      ofDevice(this, semaphore.owner, "submit with a semaphore");
    for (const command of commands) ofDevice(this, command.owner, "submit of a command buffer");
    if (fence !== undefined) ofDevice(this, fence.owner, "submit with a fence");
    const signal = fence === undefined ? options.signal : [...(options.signal ?? []), ...fence.submitted()];
    const name = options.queue ?? commands[0]?.queue ?? "compute";
    oneOf(name, queueNames, "a queue");
    const queue = this.#queues[name];
    const syncs = (wait?.length ?? 0) + (signal?.length ?? 0) > 0;
    checkPoints(wait ?? [], "wait");
    checkPoints(signal ?? [], "signal");
    const list = commands.length === 0 && syncs ? [this.#emptyCommands(name)] : commands;
    for (const [i, command] of list.entries()) {
      const { va, dwords, memories } = command.submission();
      this.layer?.reached(memories);
      const handles = [...memories, this.#ring].map((memory) => memory.handle);
      const error = queue.submit(command, handles, {
        ...(i === 0 && wait ? { wait } : {}),
        ...(i === list.length - 1 && signal ? { signal } : {}),
      });
      if (error !== undefined) throw this.#noted(error);
      this.#trace({
        kind: "submit",
        text: `indirect buffer ${hex(va)}, ${dwords} dwords, ${handles.length} BOs: fence ${queue.lastFence}`,
        va,
      });
    }
    if (this.layer !== undefined) {
      const semaphores = [...(wait ?? []), ...(signal ?? [])].map(({ semaphore }) => semaphore);
      const used = [...list.flatMap((command) => [...command.reached()]), ...semaphores, ...(fence ? [fence] : [])];
      this.layer.submitted({ queue: name, list, fence: queue.lastFence, wait: wait ?? [], used });
    }
    if (this.#blocking && canBlock(wait ?? [])) {
      this.kernel.block(queue.context, queue.lastFence);
      if (!queue.refresh()) throw this.#noted(kernelError(Errno.ECANCELED, `fence ${queue.lastFence}`));
    }
    fence?.attach(name, queue.lastFence);
    return fence ?? Fence.of(this, name, queue.lastFence);
  }

  #emptyCommands(name: QueueName): CommandBuffer {
    let commands = this.#empty.get(name);
    if (commands === undefined) {
      commands = new CommandBuffer(this, { queue: name, simultaneousUse: true, hidden: true }).begin().end();
      this.#empty.set(name, commands);
    }
    return commands;
  }

  createSemaphore(): Semaphore {
    return Semaphore.create(this.kernel, { timeline: false, layer: this.layer, owner: this }, 0n);
  }

  createTimelineSemaphore(value = 0n): Semaphore {
    return Semaphore.create(this.kernel, { timeline: true, layer: this.layer, owner: this }, value);
  }

  /** A fence that submissions are given, one at a time. */
  createFence(signalled = false): Fence {
    const options = { timeline: false, layer: this.layer, owner: this, hidden: true };
    return Fence.create(this, Semaphore.create(this.kernel, options, signalled ? 1n : 0n));
  }

  /** A semaphore that another device exported. */
  importSemaphore(shared: SharedSyncobj, kind: "binary" | "timeline"): Semaphore {
    oneOf(kind, ["binary", "timeline"], "a semaphore's kind");
    return Semaphore.import(this.kernel, shared, { timeline: kind === "timeline", layer: this.layer, owner: this });
  }

  /** Waits on the host for timelines (all, or any). Throws DEVICE_LOST where a queue of this device was lost. */
  async waitSemaphores(
    points: readonly SemaphorePoint[],
    { all = true, timeoutMs = FOREVER }: { readonly all?: boolean; readonly timeoutMs?: number } = {},
  ): Promise<"SUCCESS" | "TIMEOUT"> {
    for (const { semaphore } of points) ofDevice(this, semaphore.owner, "wait for a semaphore");
    checkPoints(points, "wait");
    if (this.layer !== undefined) {
      for (const point of points) this.layer.awaited(point, point.semaphore.submitted());
    }
    const flags = all ? SyncobjWait.ALL : 0;
    const result = await this.kernel.waitPoints(pointWords(points), flags, wholeMs(timeoutMs));
    if (result < 0 && result !== Errno.ETIME) throw this.#noted(kernelError(result, "SYNCOBJ_WAIT"));
    const good = Object.values(this.#queues).map((queue) => queue.refresh());
    if (good.includes(false)) throw this.#noted(kernelError(Errno.ECANCELED, "SYNCOBJ_WAIT"));
    for (const { name, signalled } of Object.values(this.#queues)) this.layer?.completed(name, signalled);
    this.#runRetired();
    return result === 0 ? "SUCCESS" : "TIMEOUT";
  }

  /** What `Fence.wait` does. */
  async waitFence(fence: bigint, timeoutMs = FOREVER, queue: QueueName = "compute"): Promise<"SUCCESS" | "TIMEOUT"> {
    this.layer?.waiting(queue, fence);
    const done = await this.#queues[queue].wait(fence, wholeMs(timeoutMs));
    if (done instanceof DriverError) throw this.#noted(done);
    if (!done) return "TIMEOUT";
    this.layer?.completed(queue, fence);
    this.#trace({ kind: "fence", text: `fence ${fence} signalled` });
    this.#runRetired();
    return "SUCCESS";
  }

  /** Waits until all submitted work has ended. Throws DEVICE_LOST. */
  async waitIdle(): Promise<void> {
    for (const { name, lastFence } of Object.values(this.#queues)) await this.waitFence(lastFence, FOREVER, name);
  }

  /** Remembers that the device is lost, where the error says so. */
  #noted(error: DriverError): DriverError {
    if (error.result === "DEVICE_LOST") {
      this.#lost = true;
      this.layer?.lost();
    }
    return error;
  }

  /** Runs `action` once nothing that was submitted so far can still use what it gives back. */
  retire(action: () => void): void {
    const busy = Object.values(this.#queues).filter((queue) => !queue.idle);
    if (busy.length === 0) action();
    else this.#retired.push({ after: new Map(busy.map((queue) => [queue, queue.lastFence])), action });
  }

  #runRetired(): void {
    const over = (after: ReadonlyMap<DeviceQueue, bigint>) =>
      [...after].every(([queue, fence]) => fence <= queue.signalled);
    while (this.#retired[0] !== undefined && over(this.#retired[0].after)) this.#retired.shift()?.action();
  }

  /** Asks the kernel whether all submissions have ended; does not wait. */
  async idle(): Promise<boolean> {
    let all = true;
    for (const queue of Object.values(this.#queues)) {
      const done = await queue.wait(queue.lastFence, POLL);
      if (done instanceof DriverError) throw this.#noted(done);
      if (done) this.layer?.completed(queue.name, queue.lastFence);
      all &&= done;
    }
    return all;
  }

  /** Closes the file: the kernel takes back everything, even of a lost device. */
  destroy(): void {
    this.layer?.closed();
    this.kernel.close(this.layer === undefined ? "" : ` at ${this.layer.place()}`);
    this.#memories.clear();
    this.#codes.clear();
  }
}

/** A wait for what nobody has submitted yet can only come true after the submit has returned. */
function canBlock(wait: readonly SemaphorePoint[]): boolean {
  return wait.every(({ semaphore, value = 0n }) => !semaphore.timeline || value <= semaphore.submitted());
}

/** The kernel's timeout: whole milliseconds, at least those that were asked for. VALIDATION on what is no time. */
function wholeMs(timeoutMs: number): number {
  valid(timeoutMs >= 0, `a timeout of ${timeoutMs} ms`);
  return Math.min(Math.ceil(timeoutMs), FOREVER);
}

function hex(va: bigint): string {
  return `0x${va.toString(16)}`;
}
