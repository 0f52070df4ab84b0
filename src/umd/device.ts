import type { SourceMapEntry } from "../codeobj/index.ts";
import { Errno, errnoName, type KernelPort, QueueKind, VaFlag, VirtualMap } from "../uapi/index.ts";
import { CommandBuffer, type CommandBufferOptions, type CommandOwner } from "./command-buffer.ts";
import { DescriptorPool, DescriptorSetLayout } from "./descriptors.ts";
import { DriverError } from "./errors.ts";
import { KernelFile, kernelError } from "./kernel.ts";
import {
  type AddressRange,
  Buffer,
  DeviceMemory,
  type MemoryOptions,
  type MemoryOwner,
  type MemoryType,
} from "./memory.ts";
import { type ComputePipeline, type ComputePipelineOptions, compileCompute } from "./pipeline.ts";
import { CommandPool, Event, QueryPool } from "./sync.ts";
import { VaHeap } from "./va-heap.ts";

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
}

export interface DeviceOptions {
  readonly processName: string;
  /** Watchdog of this device's work, milliseconds; the kernel's default where absent. */
  readonly timeoutMs?: number;
}

export interface Instance {
  createDevice(options: DeviceOptions): Device;
}

/** The driver's entry. Devices are simulated processes: each has its own address space. */
export function createInstance(options: InstanceOptions): Instance {
  return { createDevice: (deviceOptions) => new Device(options, deviceOptions) };
}

/** Code that is loaded, for fault reports. */
export interface DeviceCode {
  readonly va: bigint;
  readonly sizeBytes: number;
  readonly name: string;
  readonly sourceMap: readonly SourceMapEntry[];
}

/** A submission's completion. */
export class Fence {
  readonly value: bigint;
  readonly #device: Device;

  constructor(device: Device, value: bigint) {
    this.#device = device;
    this.value = value;
  }

  /** Waits at most `timeoutMs` (for ever where absent). Throws DEVICE_LOST. */
  wait(timeoutMs?: number): Promise<"SUCCESS" | "TIMEOUT"> {
    return this.#device.waitFence(this.value, timeoutMs);
  }
}

export class Device implements MemoryOwner, CommandOwner {
  readonly kernel: KernelFile;
  readonly limits: { readonly maxIbDwords: number; readonly vramBytes: number; readonly gttBytes: number };
  readonly #trace: (event: DriverEvent) => void;
  readonly #heaps: Readonly<Record<AddressRange, VaHeap>>;
  readonly #context: number;
  readonly #ring: DeviceMemory;
  readonly #memories = new Set<DeviceMemory>();
  readonly #codes = new Map<ComputePipeline, DeviceCode>();
  readonly #retired: { readonly after: bigint; readonly action: () => void }[] = [];
  #lastFence = 0n;
  #signalled = 0n;
  #lost = false;

  constructor({ kernel, trace }: InstanceOptions, { processName, timeoutMs }: DeviceOptions) {
    this.#trace = trace ?? (() => {});
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
    this.#context = this.kernel.call("CTX_CREATE", { priority: 0, timeoutMs: timeoutMs ?? 0 }).context;
    this.#ring = this.allocateMemory({ sizeBytes: 4096, type: "host", access: VaFlag.READ });
  }

  get lost(): boolean {
    return this.#lost;
  }

  get fd(): number {
    return this.kernel.fd;
  }

  get ringVa(): bigint {
    return this.#ring.va;
  }

  heapOf(range: AddressRange): VaHeap {
    return this.#heaps[range];
  }

  /** A BO and its addresses. Throws OUT_OF_DEVICE_MEMORY. */
  allocateMemory(options: MemoryOptions): DeviceMemory {
    const memory = new DeviceMemory(this, options);
    this.#memories.add(memory);
    const where = `BO ${memory.handle}, ${memory.sizeBytes} bytes of ${memory.type} memory`;
    this.#trace({ kind: "memory", text: `${where} at ${hex(memory.va)}`, va: memory.va });
    return memory;
  }

  forget(memory: DeviceMemory): void {
    this.#memories.delete(memory);
  }

  createBuffer(sizeBytes: number): Buffer {
    return new Buffer(sizeBytes);
  }

  /** A buffer with memory of its own. */
  createBoundBuffer(sizeBytes: number, type: MemoryType = "device"): Buffer {
    const buffer = new Buffer(sizeBytes);
    return buffer.bind(this.allocateMemory({ sizeBytes: buffer.requirements.sizeBytes, type }));
  }

  createDescriptorSetLayout(bindings: ConstructorParameters<typeof DescriptorSetLayout>[0]): DescriptorSetLayout {
    return new DescriptorSetLayout(bindings);
  }

  createDescriptorPool(sizeBytes = 65536): DescriptorPool {
    return new DescriptorPool(this.allocateMemory({ sizeBytes, type: "host", range: "window", access: VaFlag.READ }));
  }

  /** Compiles through the given compiler and uploads the code. Throws INVALID_SHADER with the diagnostics. */
  async createComputePipeline(options: ComputePipelineOptions): Promise<ComputePipeline> {
    const { record, entry, words } = await compileCompute(options);
    const memory = this.allocateMemory({
      sizeBytes: words.byteLength,
      type: "device",
      access: VaFlag.READ | VaFlag.EXECUTE,
    });
    const view = memory.map();
    new Uint32Array(view.buffer, view.byteOffset, words.length).set(words);
    const pipeline: ComputePipeline = {
      record,
      entry,
      memory,
      codeVa: memory.va,
      codeBytes: entry.code.length * 4,
      destroy: () => {
        this.#codes.delete(pipeline);
        memory.destroy();
      },
    };
    const name = `${options.request.filename}:${entry.name}`;
    this.#codes.set(pipeline, {
      va: memory.va,
      sizeBytes: pipeline.codeBytes,
      name,
      sourceMap: record.sourceMap,
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
    return new CommandPool(() => this.createCommandBuffer(options));
  }

  createEvent(): Event {
    return new Event(this.allocateMemory({ sizeBytes: 4, type: "host" }));
  }

  /** Timestamp queries, not available at first. */
  createQueryPool(count: number): QueryPool {
    return new QueryPool(this.allocateMemory({ sizeBytes: QueryPool.sizeBytes(count), type: "host" }), count);
  }

  commandMemory(sizeBytes: number): DeviceMemory {
    if (sizeBytes / 4 > this.limits.maxIbDwords) {
      throw new DriverError("OUT_OF_DEVICE_MEMORY", `${sizeBytes / 4} dwords of commands in one buffer`);
    }
    return this.allocateMemory({ sizeBytes, type: "host", access: VaFlag.READ });
  }

  uploadMemory(sizeBytes: number): DeviceMemory {
    return this.allocateMemory({ sizeBytes, type: "host", range: "window", access: VaFlag.READ });
  }

  traceCommands(va: bigint, words: Uint32Array): void {
    this.#trace({ kind: "commands", text: `${words.length} dwords of packets at ${hex(va)}`, va, words });
  }

  /** Submits command buffers in order; the fence is the last one's. Throws DEVICE_LOST. */
  submit(commands: readonly CommandBuffer[]): Fence {
    for (const command of commands) {
      const { va, dwords, memories } = command.submission();
      const handles = [...memories, this.#ring].map((memory) => memory.handle);
      const input = { context: this.#context, queueKind: QueueKind.COMPUTE, ibVa: va, ibDwords: dwords };
      const { result, out } = this.kernel.try("SUBMIT", input, handles);
      if (result < 0) throw this.#failed(result, "SUBMIT");
      this.#lastFence = out.fence;
      this.#trace({
        kind: "submit",
        text: `indirect buffer ${hex(va)}, ${dwords} dwords, ${handles.length} BOs: fence ${out.fence}`,
        va,
      });
    }
    return new Fence(this, this.#lastFence);
  }

  /** What `Fence.wait` does. */
  async waitFence(fence: bigint, timeoutMs = FOREVER): Promise<"SUCCESS" | "TIMEOUT"> {
    const result = await this.kernel.wait(this.#context, fence, Math.min(timeoutMs, FOREVER));
    if (result === Errno.ETIME) return "TIMEOUT";
    if (result < 0) throw this.#failed(result, `fence ${fence}`);
    if (fence > this.#signalled) this.#signalled = fence;
    this.#trace({ kind: "fence", text: `fence ${fence} signalled` });
    this.#runRetired();
    return "SUCCESS";
  }

  /** Waits until all submitted work has ended. Throws DEVICE_LOST. */
  async waitIdle(): Promise<void> {
    await this.waitFence(this.#lastFence);
  }

  #failed(errno: number, what: string): DriverError {
    const error = kernelError(errno, what);
    if (error.result === "DEVICE_LOST") this.#lost = true;
    return error;
  }

  /** Runs `action` once nothing that was submitted so far can still use what it gives back. */
  retire(action: () => void): void {
    if (this.#lastFence <= this.#signalled) action();
    else this.#retired.push({ after: this.#lastFence, action });
  }

  #runRetired(): void {
    while (this.#retired.length > 0 && (this.#retired[0]?.after ?? 0n) <= this.#signalled) {
      this.#retired.shift()?.action();
    }
  }

  /** Asks the kernel whether the last submission has ended; does not wait. */
  async idle(): Promise<boolean> {
    const result = await this.kernel.wait(this.#context, this.#lastFence, POLL);
    if (result !== 0 && result !== Errno.ETIME) throw this.#failed(result, errnoName(result) ?? "poll");
    return result === 0;
  }

  /** Closes the file: the kernel takes back everything, even of a lost device. */
  destroy(): void {
    this.kernel.close();
    this.#memories.clear();
    this.#codes.clear();
  }
}

function hex(va: bigint): string {
  return `0x${va.toString(16)}`;
}
