import { readFileSync } from "node:fs";
import { distFile } from "../../src/base/index.ts";
import { createMemory, Engine } from "../../src/gpu/index.ts";
import { type GpuPort, PhysicalMap, Queue, queueWord, vmidWord } from "../../src/uapi/index.ts";

/** The real engine in this thread, run until it has nothing to do. */
export class EnginePort implements GpuPort {
  readonly memory: SharedArrayBuffer;
  readonly #engine: Engine;
  #handler: () => void = () => {};

  constructor(memoryBytes: number) {
    const memory = createMemory(memoryBytes);
    this.memory = memory.buffer as unknown as SharedArrayBuffer;
    this.#engine = new Engine(new WebAssembly.Module(readFileSync(distFile("wasm/gpu.release.wasm"))), memory);
  }

  doorbell(): void {}

  onInterrupt(handler: () => void): void {
    this.#handler = handler;
  }

  async close(): Promise<void> {}

  /** A few instructions: jobs stand in their middle, with translations that they have used. */
  nudge(instructions: number): void {
    this.#engine.run(instructions);
    this.#handler();
  }

  /** The address space that each queue runs in now: VMID, and its page directory. */
  spaces(): readonly (readonly [vmid: number, root: number])[] {
    const words = new Uint32Array(this.memory, PhysicalMap.CONTROL);
    return [1, 2, 3, 4, 5].flatMap((queue) => {
      const vmid = words[queueWord(queue, Queue.VMID) / 4] ?? 0;
      return vmid === 0 ? [] : [[vmid, words[vmidWord(vmid, 0) / 4] ?? 0]];
    });
  }

  drain(): void {
    for (let before = -1; this.#engine.run(100_000) || before !== this.#engine.interrupts(); this.#handler()) {
      before = this.#engine.interrupts();
    }
  }
}
