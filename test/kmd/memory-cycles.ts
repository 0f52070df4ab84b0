import { createKmd, type Kmd } from "../../src/kmd/index.ts";
import {
  ContextState,
  Domain,
  Errno,
  encodePacket,
  encodeSdma,
  type IoctlName,
  PacketValue,
  QueueKind,
  SdmaValue,
  type SharedBo,
  SyncobjKind,
  VaFlag,
} from "../../src/uapi/index.ts";
import { EnginePort } from "./engine-port.ts";
import { FakeClock } from "./fake-gpu.ts";
import { generator, type Random } from "./isolation-fuzz.ts";
import { Process } from "./process.ts";

const PAGE = 4096;
const RW = VaFlag.READ | VaFlag.WRITE;
const IB = 0x10_0000n;
/** Where a process maps what it has: a place of 8 MiB for each, far enough apart to need tables of their own. */
const BASE = 0x1_0000_0000n;
const PLACES = 40;
const PLACE_BYTES = 0x80_0000n;
const NOWHERE = 0x7000_0000_0000n;
const PROCESSES = 3;

interface Live {
  readonly handle: number;
  readonly bytes: number;
  readonly place: number;
  /** Reserved as holes, with the BO bound in them. */
  readonly sparse: boolean;
}

/** A process that allocates, maps, uses on the GPU and frees. */
class Cycler {
  readonly process: Process;
  readonly #kmd: Kmd;
  readonly #gpu: EnginePort;
  readonly #ib: ReturnType<Process["buffer"]>;
  readonly #live: Live[] = [];
  readonly #free: number[] = Array.from({ length: PLACES }, (_, place) => place);
  readonly #heaps = new Map<number, bigint>();
  #contexts: number[];
  #jobs = 0;
  /** What became of its calls and jobs. */
  readonly tally: Tally;

  constructor(kmd: Kmd, gpu: EnginePort, tally: Tally) {
    this.#kmd = kmd;
    this.#gpu = gpu;
    this.tally = tally;
    this.process = new Process(kmd, "cycles");
    this.#ib = this.process.buffer(IB, PAGE, RW, Domain.GTT);
    this.#contexts = [this.process.context(), this.process.context()];
  }

  /** One allocation of some kind; before it a free where places are short. */
  cycle(random: Random, passed: SharedBo[]): void {
    if (this.#free.length === 0 || random(PLACES) > this.#free.length + PLACES / 2) this.release(random);
    if (this.#free.length === 0) return;
    const made = this.#allocate(random, passed);
    if (made === undefined) return;
    const [handle, bytes] = made;
    const place = this.#free.pop() as number;
    const va = BASE + BigInt(place) * PLACE_BYTES;
    const sparse = random(12) === 0;
    const map = sparse
      ? { flags: VaFlag.PRT, va, size: BigInt(bytes) }
      : { handle, flags: RW, va, size: BigInt(bytes) };
    let { result } = this.process.call("VA_MAP", map);
    if (result === Errno.EEXIST) {
      // What was closed there stays mapped until its jobs have ended.
      this.#gpu.drain();
      result = this.process.call("VA_MAP", map).result;
    }
    if (result === 0 && sparse) {
      const bind = { handle, flags: RW, va, size: BigInt(bytes) };
      result = this.process.call("SPARSE_BIND", bind).result;
      if (result !== 0) this.#must("VA_UNMAP", this.process.call("VA_UNMAP", { va, size: BigInt(bytes) }).result);
    }
    if (result !== 0) {
      // No room for page tables.
      this.#full(result);
      this.#close(handle);
      this.#free.push(place);
      return;
    }
    this.#live.push({ handle, bytes, place, sparse });
    this.tally.allocations++;
    if (random(8) === 0) this.#look(handle, bytes);
    if (random(4) === 0) this.#use(random);
    if (random(16) === 0) this.#others(random);
  }

  #allocate(random: Random, passed: SharedBo[]): readonly [handle: number, bytes: number] | undefined {
    const p = this.process;
    const other = this.#live[random(Math.max(1, this.#live.length))];
    const bytes = PAGE * (1 + random(random(10) === 0 ? 700 : 6));
    switch (random(16)) {
      case 0: {
        if (other === undefined) return undefined;
        const { result, out } = p.call("GEM_CLONE", { handle: other.handle });
        // Jobs that list it still run.
        if (result === Errno.EBUSY) return undefined;
        return result === 0 ? [out.clone, other.bytes] : this.#full(result);
      }
      case 1: {
        const block = this.#kmd.allocateHeap(p.fd, bytes);
        if (typeof block === "number") return this.#full(block);
        const { result, out } = p.call("GEM_USERPTR", { address: block.address, size: BigInt(bytes) });
        if (result !== 0) throw new Error(`GEM_USERPTR: ${result}`);
        this.#heaps.set(out.handle, block.address);
        return [out.handle, bytes];
      }
      case 2: {
        const shared = passed[random(Math.max(1, passed.length))];
        if (shared === undefined) return undefined;
        const handle = this.#kmd.importBo(p.fd, shared);
        // Nobody has it any more.
        if (handle === Errno.EINVAL) return undefined;
        if (handle <= 0) throw new Error(`importBo: ${handle}`);
        // The same BO comes by the handle that it has here.
        if (this.#live.some((live) => live.handle === handle)) return undefined;
        return [handle, Number(p.call("GEM_INFO", { handle }).out.size)];
      }
      default: {
        const domain = random(2) ? Domain.VRAM : Domain.GTT;
        const { result, out } = p.call("GEM_CREATE", { size: BigInt(bytes), domain });
        if (result !== 0) return this.#full(result);
        if (random(30) === 0) {
          const made = this.#kmd.exportBo(p.fd, out.handle);
          if (typeof made === "number") throw new Error(`exportBo: ${made}`);
          passed.push(made);
          if (passed.length > 4) passed.shift();
        }
        return [out.handle, bytes];
      }
    }
  }

  /** Memory may be short; anything else is a mistake. */
  #full(result: number): undefined {
    if (result !== Errno.ENOMEM) throw new Error(`an allocation: ${result}`);
    this.tally.full++;
    return undefined;
  }

  #must(name: IoctlName, result: number): void {
    if (result !== 0) throw new Error(`${name}: ${result}`);
  }

  #look(handle: number, bytes: number): void {
    const { offset } = this.process.call("GEM_MMAP", { handle }).out;
    const view = this.#kmd.mmap(this.process.fd, offset, bytes);
    // A clone that is looked at needs memory of its own.
    if (view === Errno.ENOMEM) this.tally.full++;
    else if (typeof view === "number") throw new Error(`mmap: ${view}`);
    else if (this.#kmd.munmap(this.process.fd, offset) !== 0) throw new Error("munmap");
  }

  /** A job that writes to something, or now and then to nothing at all. */
  #use(random: Random): void {
    const p = this.process;
    const target = this.#live[random(this.#live.length)] as Live;
    const lost = random(60) === 0;
    const va = lost ? NOWHERE : BASE + BigInt(target.place) * PLACE_BYTES;
    const sdma = random(2);
    const isRead = !lost && random(8) === 0;
    // The other queue's jobs have no order with this one.
    if (isRead) this.#gpu.drain();
    const words = sdma
      ? encodeSdma("CONST_FILL", { fillSize: SdmaValue.FILL_DWORDS, dst: va, data: ++this.#jobs, count: 63 })
      : encodePacket("WRITE_DATA", { dstSel: PacketValue.DST_MEMORY, address: va }, [++this.#jobs]);
    const context = this.#contexts[sdma] as number;
    if (p.call("CTX_QUERY", { context }).out.state !== ContextState.GOOD) {
      this.#must("CTX_DESTROY", p.call("CTX_DESTROY", { context }).result);
      this.#contexts[sdma] = p.context();
      this.tally.contexts++;
      return;
    }
    // What waits may not be written over.
    const slot = (this.#jobs % 32) * 32;
    this.#ib.words.set(words, slot);
    const queueKind = sdma ? QueueKind.SDMA : QueueKind.COMPUTE;
    const input = { context, queueKind, ibVa: IB + BigInt(slot * 4), ibDwords: words.length };
    const handles = [...new Set([this.#ib.handle, target.handle])];
    const { result } = p.call("SUBMIT", input, handles);
    if (result === Errno.ENOMEM) this.tally.full++;
    else this.#must("SUBMIT", result);
    this.tally.jobs++;
    if (random(3) > 0) this.#gpu.nudge(1 + random(20));
    if (this.#jobs % 24 === 0) this.#gpu.drain();
    // The GPU did what it was told, and not elsewhere.
    if (!isRead || result !== 0) return;
    this.#gpu.drain();
    const { offset } = p.call("GEM_MMAP", { handle: target.handle }).out;
    if (p.call("CTX_QUERY", { context }).out.state !== ContextState.GOOD) return;
    const view = this.#kmd.mmap(p.fd, offset, PAGE);
    if (typeof view === "number") return;
    const got = new DataView(view.buffer, view.byteOffset).getUint32(0, true);
    if (got !== this.#jobs) throw new Error(`job ${this.#jobs} left ${got}`);
    this.#kmd.munmap(p.fd, offset);
    this.tally.seen++;
  }

  /** Sync objects and contexts come and go. */
  #others(random: Random): void {
    const p = this.process;
    const handle = p.syncobj(random(2) ? SyncobjKind.TIMELINE : SyncobjKind.BINARY);
    this.#must("SYNCOBJ_SIGNAL", p.call("SYNCOBJ_SIGNAL", { handle, point: 0n }).result && 0);
    this.#must("SYNCOBJ_DESTROY", p.call("SYNCOBJ_DESTROY", { handle }).result);
    this.#must("CTX_DESTROY", p.call("CTX_DESTROY", { context: p.context() }).result);
  }

  /** Frees something, also while jobs that use it wait. */
  release(random: Random): void {
    const p = this.process;
    const at = random(this.#live.length);
    const { handle, bytes, place, sparse } = this.#live[at] as Live;
    this.#live.splice(at, 1);
    const va = BASE + BigInt(place) * PLACE_BYTES;
    if (sparse || random(2)) {
      const unmap = () => p.call("VA_UNMAP", { va, size: BigInt(bytes) }).result;
      let result = unmap();
      if (result === Errno.EBUSY) {
        this.#gpu.drain();
        result = unmap();
      }
      this.#must("VA_UNMAP", result);
    }
    this.#close(handle);
    this.#free.push(place);
  }

  #close(handle: number): void {
    this.#must("GEM_CLOSE", this.process.call("GEM_CLOSE", { handle }).result);
    const heap = this.#heaps.get(handle);
    if (heap === undefined) return;
    this.#heaps.delete(handle);
    if (this.#kmd.freeHeap(this.process.fd, heap) !== 0) throw new Error("freeHeap");
  }
}

interface Tally {
  allocations: number;
  jobs: number;
  /** Results of jobs that the CPU read. */
  seen: number;
  /** Calls that found no memory. */
  full: number;
  /** Contexts that were lost to a fault. */
  contexts: number;
  /** Processes that ended with all that they had. */
  closed: number;
}

/** What is left when all processes are gone: every number must be 0. */
interface Left {
  readonly vramBytes: number;
  readonly gttBytes: number;
  readonly files: number;
  /** Timers of the watchdog. */
  readonly timers: number;
}

export interface MemoryReport extends Tally {
  readonly left: Left;
  /** BOs that had to leave VRAM. */
  readonly evictions: number;
}

/**
 * `cycles` allocations by processes on the real engine: BOs of both domains, clones, user pointers, imports, sparse ranges;
 * mapped, looked at by the CPU, written by jobs of both kinds of queue, freed while those wait; processes end in the middle.
 * Ten times on the way, and at the end, all processes go; throws where anything is left then, with the seed.
 */
export function kernelMemoryCycles(
  cycles: number,
  seed: number,
  onProgress: (done: number) => void = () => {},
): MemoryReport {
  // Little enough that places of large BOs are fought for.
  const gpu = new EnginePort(0x0600_0000);
  const clock = new FakeClock();
  const kmd = createKmd({ gpu, clock, computeQueues: 2, seed });
  const random = generator(seed);
  const free = kmd.memory();
  const tally: Tally = { allocations: 0, jobs: 0, seen: 0, full: 0, contexts: 0, closed: 0 };
  const make = () => new Cycler(kmd, gpu, tally);
  let processes: Cycler[] = [];
  let passed: SharedBo[] = [];
  let left: Left = { vramBytes: 0, gttBytes: 0, files: 0, timers: 0 };
  const step = Math.ceil(cycles / 10);
  for (let until = step; tally.allocations < cycles; until += step) {
    processes = Array.from({ length: PROCESSES }, make);
    while (tally.allocations < Math.min(until, cycles)) {
      const at = random(PROCESSES);
      (processes[at] as Cycler).cycle(random, passed);
      if (random(3000) > 0) continue;
      kmd.close((processes[at] as Cycler).process.fd);
      tally.closed++;
      processes[at] = make();
    }
    for (const { process } of processes) kmd.close(process.fd);
    passed = [];
    gpu.drain();
    const now = kmd.memory();
    left = {
      vramBytes: free.vramFreeBytes - now.vramFreeBytes,
      gttBytes: free.gttFreeBytes - now.gttFreeBytes,
      files: kmd.usage().length,
      timers: clock.pending,
    };
    if (Object.values(left).some((amount) => amount !== 0))
      throw new Error(`seed ${seed}, ${tally.allocations} allocations: left over: ${JSON.stringify(left)}`);
    onProgress(tally.allocations);
  }
  return { ...tally, left, evictions: kmd.memory().evictions };
}
