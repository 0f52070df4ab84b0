import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { distFile } from "../base/index.ts";
import { Control, type GpuPort, GpuState, MachineLimits, PhysicalMap } from "../uapi/index.ts";
import { createMemory, Engine } from "./engine.ts";
import { hasFusedMultiplyAdd } from "./fused.ts";
import type { WorkerStart } from "./worker.ts";

export interface GpuOptions {
  /** All of physical memory, bytes; default `MachineLimits.DEFAULT_MEMORY_BYTES`. */
  readonly memoryBytes?: number;
  /** True (default): a thread of its own (`dist/gpu-worker.js` must be built). False: in turns of the caller's event loop. */
  readonly worker?: boolean;
  /**
   * Which build of gpu.wasm; all give the same bits. Default: `fused` where the host multiplies and adds with one
   * rounding, else `release`, which emulates that. The checked one traps on internal errors and is slow.
   */
  readonly build?: "fused" | "release" | "checked";
}

/** Instructions per queue and turn of the event loop, in-thread. */
const TURN = 200_000;
/** How often memory that a queue waits on is looked at. */
const POLL_MS = 1;

/** A simulated GPU over a fresh memory. It idles until the kernel has filled the control block and rings the doorbell. */
export function createGpu(options: GpuOptions = {}): GpuPort {
  const memory = createMemory(options.memoryBytes ?? MachineLimits.DEFAULT_MEMORY_BYTES);
  const build = options.build ?? (hasFusedMultiplyAdd() ? "fused" : "release");
  const module = new WebAssembly.Module(readFileSync(distFile(`wasm/gpu.${build}.wasm`)));
  return options.worker === false ? new ThreadlessGpu(module, memory) : new WorkerGpu(module, memory);
}

class WorkerGpu implements GpuPort {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  #handler: () => void = () => {};
  #failure: Error | undefined;

  constructor(module: WebAssembly.Module, memory: WebAssembly.Memory) {
    this.memory = memory.buffer as unknown as SharedArrayBuffer;
    this.#words = new Int32Array(this.memory);
    const workerData: WorkerStart = { module, memory };
    this.#worker = new Worker(distFile("gpu-worker.js"), { workerData });
    this.#worker.on("message", () => this.#handler());
    this.#exited = new Promise((resolve) => {
      // A dead engine answers no more: the kernel's own timeout finds out, and close() reports why.
      this.#worker.on("error", (error) => {
        this.#failure = error;
      });
      this.#worker.on("exit", () => resolve());
    });
  }

  doorbell(): void {
    Atomics.notify(this.#words, (PhysicalMap.CONTROL + Control.DOORBELL) / 4);
  }

  onInterrupt(handler: () => void): void {
    this.#handler = handler;
  }

  async close(): Promise<void> {
    stop(this.#words);
    this.doorbell();
    await this.#exited;
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** Sets STOP and moves the doorbell, so that a GPU about to sleep wakes. */
function stop(words: Int32Array): void {
  Atomics.store(words, (PhysicalMap.CONTROL + Control.STOP) / 4, 1);
  Atomics.add(words, (PhysicalMap.CONTROL + Control.DOORBELL) / 4, 1);
}

class ThreadlessGpu implements GpuPort {
  readonly memory: SharedArrayBuffer;
  readonly #engine: Engine;
  #handler: () => void = () => {};
  #turn: NodeJS.Immediate | undefined;
  #poll: NodeJS.Timeout | undefined;
  #raised = 0;

  constructor(module: WebAssembly.Module, memory: WebAssembly.Memory) {
    this.memory = memory.buffer as unknown as SharedArrayBuffer;
    this.#engine = new Engine(module, memory);
    this.#engine.setState(GpuState.IDLE);
  }

  doorbell(): void {
    this.#turn ??= setImmediate(() => this.#step());
  }

  turn(): void {
    this.#step();
  }

  #step(): void {
    this.#turn = undefined;
    if (this.#engine.stopped()) return;
    const more = this.#engine.run(TURN);
    const now = this.#engine.interrupts();
    if (more && this.#engine.waiting) this.#poll ??= setTimeout(() => this.#polled(), POLL_MS);
    else if (more) this.doorbell();
    if (now !== this.#raised) {
      this.#raised = now;
      this.#handler();
    }
  }

  #polled(): void {
    this.#poll = undefined;
    this.doorbell();
  }

  onInterrupt(handler: () => void): void {
    this.#handler = handler;
  }

  close(): Promise<void> {
    clearTimeout(this.#poll);
    stop(new Int32Array(this.memory));
    if (this.#turn !== undefined) clearImmediate(this.#turn);
    this.#turn = undefined;
    this.#engine.setState(GpuState.STOPPED);
    return Promise.resolve();
  }
}
