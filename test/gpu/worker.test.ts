import { existsSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { distFile } from "../../src/base/index.ts";
import { createGpu } from "../../src/gpu/index.ts";
import {
  CONTROL_MAGIC,
  Control,
  encodePacket,
  Fault,
  FaultKind,
  type GpuPort,
  Interrupt,
  InterruptSource,
  MachineLimits,
  PhysicalMap,
  Queue,
  QueueState,
  queueWord,
} from "../../src/uapi/index.ts";

const QUEUE = 2;
const RING = PhysicalMap.VRAM;
const FENCE = PhysicalMap.VRAM + 0x1000;

/** The kernel's side, by hand: a ring in VRAM, addressed physically (VMID 0). */
class Host {
  readonly gpu: GpuPort;
  readonly words: Int32Array;
  #interrupted: () => void = () => {};

  constructor(worker: boolean) {
    this.gpu = createGpu({ memoryBytes: MachineLimits.MIN_MEMORY_BYTES, worker });
    this.words = new Int32Array(this.gpu.memory);
    this.gpu.onInterrupt(() => this.#interrupted());
    this.set(queueWord(QUEUE, Queue.RING_BASE), RING);
    this.set(queueWord(QUEUE, Queue.RING_DWORDS), 1024);
    this.set(queueWord(QUEUE, Queue.ENABLED), 1);
    this.set(Control.MAGIC, CONTROL_MAGIC);
  }

  get(offset: number): number {
    return Atomics.load(this.words, (PhysicalMap.CONTROL + offset) / 4);
  }

  set(offset: number, value: number): void {
    Atomics.store(this.words, (PhysicalMap.CONTROL + offset) / 4, value);
  }

  ring(): void {
    Atomics.add(this.words, (PhysicalMap.CONTROL + Control.DOORBELL) / 4, 1);
    this.gpu.doorbell();
  }

  submit(packets: readonly number[]): void {
    const at = this.get(queueWord(QUEUE, Queue.WPTR));
    packets.forEach((word, i) => {
      this.words[RING / 4 + at + i] = word;
    });
    this.set(queueWord(QUEUE, Queue.WPTR), at + packets.length);
    this.ring();
  }

  /** Source of the next interrupt. */
  async interrupt(): Promise<number> {
    const rptr = this.get(Control.INTERRUPT_RPTR);
    while (this.get(Control.INTERRUPT_WPTR) === rptr) {
      await new Promise<void>((resolve) => {
        this.#interrupted = resolve;
        if (this.get(Control.INTERRUPT_WPTR) !== rptr) resolve();
      });
    }
    this.set(Control.INTERRUPT_RPTR, rptr + 1);
    return this.words[(PhysicalMap.INTERRUPTS + (rptr % Interrupt.ENTRIES) * Interrupt.ENTRY_BYTES) / 4]!;
  }
}

const fence = (value: number) =>
  encodePacket("RELEASE_MEM", {
    eventType: 0x14,
    eventIndex: 5,
    intSel: 2,
    dataSel: 1,
    address: BigInt(FENCE),
    data: BigInt(value),
  });

describe.each([
  ["in this thread", false],
  ["in its worker", true],
] as const)("the GPU %s", (_, worker) => {
  let host: Host | undefined;
  afterEach(async () => {
    await host?.gpu.close();
    host = undefined;
  });

  it.skipIf(worker && !existsSync(distFile("gpu-worker.js")))(
    "wakes on the doorbell, raises interrupts, faults on bad packets and goes on after a reset",
    async () => {
      host = new Host(worker);
      for (let i = 1; i <= 3; i++) {
        host.submit(fence(i));
        expect(await host.interrupt()).toBe(InterruptSource.END_OF_PIPE);
        expect(Atomics.load(host.words, FENCE / 4)).toBe(i);
      }
      host.submit([0xc0009900, 0]);
      expect(await host.interrupt()).toBe(InterruptSource.FAULT);
      expect(host.words[(PhysicalMap.FAULTS + QUEUE * Fault.SLOT_BYTES + Fault.KIND) / 4]).toBe(
        FaultKind.UNKNOWN_PACKET,
      );
      expect(host.get(queueWord(QUEUE, Queue.STATE))).toBe(QueueState.HALTED);
      host.set(queueWord(QUEUE, Queue.RESET_REQUEST), 1);
      host.ring();
      expect(await host.interrupt()).toBe(InterruptSource.RESET_DONE);
      expect(host.get(queueWord(QUEUE, Queue.RESET_ACK))).toBe(1);
      host.submit(fence(9));
      expect(await host.interrupt()).toBe(InterruptSource.END_OF_PIPE);
      expect(Atomics.load(host.words, FENCE / 4)).toBe(9);
    },
  );
});
