import { expect, it } from "vitest";
import { createKmd, type Kmd } from "../../src/kmd/index.ts";
import { ContextState, Control, Domain, encodePacket, PacketValue, PhysicalMap } from "../../src/uapi/index.ts";
import { FakeClock, FakeGpu } from "./fake-gpu.ts";
import { Process } from "./process.ts";

const PROCESSES = 3;
const STEPS = 4000;
const PAGE = 4096;
/** Few addresses and few pages, so that maps, unmaps, frees and stores meet. */
const SLOTS = 12;
const BASE = 0x40_0000n;

/** Seeded numbers below `n`. */
function generator(seed: number): (n: number) => number {
  let state = seed >>> 0;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

/** A process that does anything, right or wrong, and tries to store its number everywhere. */
class Rogue {
  readonly process: Process;
  readonly #kmd: Kmd;
  readonly #id: number;
  readonly #ib: ReturnType<Process["buffer"]>;
  #context: number;
  #ibSlot = 0;
  /** Handles given out and not closed, with their sizes. */
  readonly live = new Map<number, number>();

  constructor(kmd: Kmd, id: number) {
    this.#kmd = kmd;
    this.#id = id;
    this.process = new Process(kmd, `rogue ${id}`);
    this.#ib = this.process.buffer(0x10_0000n, PAGE * 16);
    this.#context = this.process.context();
  }

  #handle(random: (n: number) => number): number {
    const own = [...this.live.keys()];
    return random(5) === 0 || own.length === 0 ? random(300) : (own[random(own.length)] ?? 0);
  }

  step(random: (n: number) => number): void {
    const p = this.process;
    const va = BASE + BigInt(random(SLOTS)) * BigInt(PAGE) + (random(20) === 0 ? 8n : 0n);
    const size = BigInt(PAGE * (1 + random(3)));
    switch (random(6)) {
      case 0: {
        const { result, out } = p.call("GEM_CREATE", { size, domain: random(2) ? Domain.VRAM : Domain.GTT });
        if (result === 0) this.live.set(out.handle, Number(size));
        break;
      }
      case 1: {
        const handle = this.#handle(random);
        if (handle !== this.#ib.handle && p.call("GEM_CLOSE", { handle }).result === 0) this.live.delete(handle);
        break;
      }
      case 2:
      case 3:
        p.call("VA_MAP", {
          handle: this.#handle(random),
          flags: random(8),
          va,
          boOffset: BigInt(PAGE * random(3)),
          size,
        });
        break;
      case 4:
        p.call("VA_UNMAP", { va, size });
        break;
      default: {
        if (p.call("CTX_QUERY", { context: this.#context }).out.state !== ContextState.GOOD) {
          p.call("CTX_DESTROY", { context: this.#context });
          this.#context = p.context();
        }
        // Physical-looking addresses too: a job must never reach memory by them.
        const target = random(6) === 0 ? BigInt(PhysicalMap.CONTROL + random(1 << 27) * 4) : va & ~7n;
        const words = encodePacket("WRITE_DATA", { dstSel: PacketValue.DST_MEMORY, address: target }, [this.#id]);
        this.#ibSlot = (this.#ibSlot + 1) % 512;
        this.#ib.words.set(words, this.#ibSlot * 32);
        const ibVa = this.#ib.va + BigInt(this.#ibSlot * 128);
        const listed = random(2) ? [...this.live.keys()].slice(0, 3) : [];
        const input = { context: this.#context, queueKind: 1, ibVa, ibDwords: words.length };
        p.call("SUBMIT", input, [this.#ib.handle, ...listed]);
      }
    }
  }

  /** Physical extents of the process's BOs. */
  extents(): { start: number; end: number }[] {
    return [...this.live].map(([handle, bytes]) => {
      const { offset } = this.process.call("GEM_MMAP", { handle }).out;
      const view = this.#kmd.mmap(this.process.fd, offset, bytes) as Uint8Array;
      this.#kmd.munmap(this.process.fd, offset);
      return { start: view.byteOffset, end: view.byteOffset + bytes };
    });
  }
}

async function settle(): Promise<void> {
  for (let i = 0; i < 400; i++) await Promise.resolve();
}

for (const seed of [1, 2, 3]) {
  it(`no sequence of ioctls and stores reaches another process's memory (seed ${seed}, ${STEPS} steps)`, async () => {
    const gpu = new FakeGpu(0x0600_0000);
    const kmd = createKmd({ gpu, clock: new FakeClock(), computeQueues: 2 });
    const random = generator(seed);
    const rogues = Array.from({ length: PROCESSES }, (_, i) => new Rogue(kmd, 0x1000 + i));
    const words = new Uint32Array(gpu.memory);
    let written = 0;
    for (let step = 1; step <= STEPS; step++) {
      rogues[random(PROCESSES)]?.step(random);
      if (random(8) === 0) await settle();
      if (step % 250 !== 0) continue;
      await settle();
      const all = rogues.flatMap((rogue, owner) => rogue.extents().map((extent) => ({ ...extent, owner })));
      all.sort((a, b) => a.start - b.start);
      for (const [i, extent] of all.entries()) {
        expect(extent.start).toBeGreaterThanOrEqual(i === 0 ? PhysicalMap.VRAM : (all[i - 1]?.end ?? 0));
        for (let at = extent.start; at < extent.end; at += PAGE) {
          for (const word of words.subarray(at / 4, (at + PAGE) / 4)) {
            if (word === 0) continue;
            written++;
            if (word !== 0x1000 + extent.owner) throw new Error(`${word.toString(16)} in memory of ${extent.owner}`);
          }
        }
      }
      expect(words[(PhysicalMap.CONTROL + Control.MAGIC) / 4]).toBe(0x4b49_4c4e);
    }
    // The test means something: stores did arrive, and faults did happen.
    expect(written).toBeGreaterThan(20);
    expect(kmd.usage().reduce((sum, process) => sum + process.faults, 0)).toBeGreaterThan(20);
    for (const rogue of rogues) kmd.close(rogue.process.fd);
    await settle();
    const probe = new Process(kmd, "probe").call("QUERY_INFO", {}).out;
    // One root table is the probe's own; ring and fence pages of two compute queues and of the copy engine are the kernel's.
    expect(probe.vramBytes - probe.vramFreeBytes).toBe(4096n);
    expect(probe.gttBytes - probe.gttFreeBytes).toBe(6n * 4096n);
  });
}
