import {
  ContextState,
  Control,
  Errno,
  encodePacket,
  encodeSdma,
  faultKinds,
  InterruptSource,
  PacketValue,
  PageTable,
  Queue,
  QueueKind,
  type RawDump,
  Vmid,
} from "../uapi/index.ts";
import { closeCounters, createCounters, openCounters, type ProcessCounters } from "./counters.ts";
import { type GpuDevice, type InterruptEntry, VmidPool } from "./device.ts";
import { makeDump } from "./dump.ts";
import type { KernelLog } from "./log.ts";
import { unmapAll, unreference } from "./memory.ts";
import type { Bo, Context, File, Job } from "./objects.ts";
import type { Residency } from "./residency.ts";

/** Time as the kernel sees it: milliseconds, monotonic. `after` answers a function that cancels the call. */
export interface KernelClock {
  now(): number;
  after(ms: number, action: () => void): () => void;
  /** Runs what is due now, where the caller's event loop cannot. */
  runDue?(): void;
}

/** Dwords of ring that each job takes: its packets, filled up with a NOP, so that no packet straddles the ring's end. */
const SLOT_DWORDS = 32;
const RING_DWORDS = PageTable.PAGE_BYTES / 4;
/** What the GPU counts of accesses that are legal but go nowhere. */
const strays = [
  [Vmid.LDS_OUTSIDE, "LDS accesses beyond the workgroup's allocation"],
  [Vmid.HOLE_ACCESSES, "accesses to holes of sparse ranges"],
] as const;

/** How long a halt or a reset may take before the engine counts as wedged. */
const ENGINE_TIMEOUT_MS = 10_000;

interface Engine {
  readonly queue: number;
  /** `QueueKind`. */
  readonly kind: number;
  readonly ringBase: number;
  readonly fenceAddress: number;
  wptr: number;
  sequence: bigint;
  job: Job | undefined;
  startedMs: number;
  /** The queue's counters when its job started. */
  counters: readonly number[];
  /** Why the job is being stopped, once it is. */
  stopping: RawDump["reason"] | undefined;
  /** RESET_ACK to wait for, while a reset runs. */
  resetting: number | undefined;
  cancelTimer: () => void;
}

export interface SchedulerOptions {
  readonly device: GpuDevice;
  readonly residency: Residency;
  readonly clock: KernelClock;
  readonly log: KernelLog;
  readonly engines: readonly { readonly queue: number; readonly kind: number }[];
  readonly onDump: (dump: RawDump) => void;
}

/** Runs jobs of contexts on compute queues: one job a queue at a time, highest priority first, then the least recently served. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #engines: Engine[] = [];
  readonly #ready = new Set<Context>();
  readonly #vmids = new VmidPool<File>();
  /** Counters of each VMID as they were seen last, by their place in its table. */
  readonly #strays = new Map<number, number>();
  #tick = 0;
  #counters = createCounters();
  resets = 0;
  /** The engine no longer answers: nothing runs any more. */
  dead = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    for (const { queue, kind } of options.engines) this.#engines.push(this.#openQueue(queue, kind));
  }

  #openQueue(queue: number, kind: number): Engine {
    const { device, residency } = this.#options;
    const { gtt } = residency;
    const ringBase = gtt.alloc(PageTable.PAGE_BYTES);
    const fenceAddress = gtt.alloc(PageTable.PAGE_BYTES);
    if (ringBase === undefined || fenceAddress === undefined) throw new Error("GTT has no room for a ring");
    device.queueSet(queue, Queue.KIND, kind);
    device.queueSet(queue, Queue.RING_BASE, ringBase);
    device.queueSet(queue, Queue.RING_DWORDS, RING_DWORDS);
    device.queueSet(queue, Queue.ENABLED, 1);
    return {
      queue,
      kind,
      ringBase,
      fenceAddress,
      wptr: 0,
      sequence: 0n,
      job: undefined,
      startedMs: 0,
      counters: [],
      stopping: undefined,
      resetting: undefined,
      cancelTimer: () => {},
    };
  }

  enqueue(job: Job): void {
    job.context.jobs.push(job);
    job.context.file.queuedJobs++;
    job.context.file.submits++;
    const { listings } = job.context.file;
    for (const bo of job.bos) {
      bo.jobs++;
      bo.references++;
      const listing = listings.get(bo) ?? { jobs: 0, closing: new Set() };
      listing.jobs++;
      listings.set(bo, listing);
    }
    for (const wait of job.waits.keys()) {
      const stop = wait.listen(() => {
        job.waits.delete(wait);
        this.#offer(job.context);
        this.#pump();
      });
      job.waits.set(wait, stop);
    }
    this.#offer(job.context);
    this.#pump();
  }

  /** Makes a context ready where its next job may start. */
  #offer(context: Context): void {
    const job = context.jobs[0];
    if (context.running || context.state !== ContextState.GOOD || job === undefined || job.waits.size > 0) return;
    this.#ready.add(context);
  }

  #pump(): void {
    for (const engine of this.#engines) {
      if (engine.job !== undefined || engine.resetting !== undefined || this.dead) continue;
      const context = this.#next(engine.kind);
      if (context === undefined) continue;
      const slot = this.#vmids.acquire(context.file);
      if (slot === undefined) return;
      if (slot.fresh) this.#options.device.setPageDirectory(slot.vmid, context.file.space.root);
      this.#options.device.invalidate(slot.vmid);
      this.#ready.delete(context);
      const job = context.jobs[0];
      if (job !== undefined) this.#start(engine, job, slot.vmid);
    }
  }

  #next(kind: number): Context | undefined {
    let best: Context | undefined;
    for (const context of this.#ready) {
      if (context.jobs[0]?.queueKind !== kind) continue;
      if (
        best === undefined ||
        context.priority > best.priority ||
        (context.priority === best.priority && context.served < best.served)
      ) {
        best = context;
      }
    }
    return best;
  }

  #start(engine: Engine, job: Job, vmid: number): void {
    const { device, clock } = this.#options;
    engine.sequence++;
    const packets = engine.kind === QueueKind.SDMA ? copyJob(engine, job, vmid) : computeJob(engine, job, vmid);
    device.writeWords(engine.ringBase + (engine.wptr % RING_DWORDS) * 4, packets);
    engine.wptr = (engine.wptr + SLOT_DWORDS) >>> 0;
    engine.job = job;
    engine.startedMs = clock.now();
    engine.counters = openCounters(device, engine.queue);
    engine.stopping = undefined;
    job.context.served = ++this.#tick;
    job.context.running = true;
    job.context.file.running++;
    this.#watch(engine, job, ENGINE_TIMEOUT_MS);
    device.queueSet(engine.queue, Queue.WPTR, engine.wptr);
    device.ring();
  }

  /**
   * Halts a job that has run for its context's time. The time of one whose packets the GPU has not fetched yet (its thread
   * waits for a processor of the host) starts anew, for `patienceMs` at most.
   */
  #watch(engine: Engine, job: Job, patienceMs: number): void {
    const { device, clock } = this.#options;
    const { timeoutMs } = job.context;
    const start = (engine.wptr - SLOT_DWORDS) >>> 0;
    engine.cancelTimer = clock.after(timeoutMs, () => {
      const isUnfetched = device.queueGet(engine.queue, Queue.RPTR) === start;
      if (isUnfetched && patienceMs > 0) this.#watch(engine, job, patienceMs - timeoutMs);
      else this.#halt(engine, "timeout");
    });
  }

  /** Asks the GPU to stop the engine's job; HALTED answers. */
  #halt(engine: Engine, reason: RawDump["reason"]): void {
    const { device, clock, log } = this.#options;
    const job = engine.job;
    // A reset that runs will end the job; a halt request after it would stop the queue's next one.
    if (job === undefined || engine.stopping !== undefined || engine.resetting !== undefined) return;
    engine.stopping = reason;
    log.write(
      reason === "timeout"
        ? `queue ${engine.queue}: fence ${job.fence} of ${label(job.context)} runs longer than ${job.context.timeoutMs} ms; halts it`
        : `queue ${engine.queue}: stops fence ${job.fence} of ${label(job.context)}`,
    );
    engine.cancelTimer();
    engine.cancelTimer = clock.after(ENGINE_TIMEOUT_MS, () => this.#wedged(engine));
    device.queueSet(engine.queue, Queue.HALT_REQUEST, 1);
    device.ring();
  }

  /** Counters of all jobs that have ended since the last call. */
  takeCounters(): ProcessCounters {
    const taken = this.#counters;
    this.#counters = createCounters();
    return taken;
  }

  /** Handles whatever the interrupt ring holds, and fences that signalled. */
  interrupt(): void {
    for (const entry of this.#options.device.takeInterrupts()) {
      const engine = this.#engines.find((candidate) => candidate.queue === entry.queue);
      if (engine === undefined) this.#options.log.write(`interrupt ${entry.source} of unknown queue ${entry.queue}`);
      else this.#handle(engine, entry);
    }
    this.#pump();
  }

  #handle(engine: Engine, entry: InterruptEntry): void {
    if (entry.source === InterruptSource.END_OF_PIPE || entry.source === InterruptSource.TRAP) this.#poll(engine);
    else if (entry.source === InterruptSource.FAULT || entry.source === InterruptSource.HALTED) {
      this.#poll(engine);
      this.#halted(engine, entry);
    } else if (entry.source === InterruptSource.RESET_DONE) this.#resetDone(engine);
    else this.#options.log.write(`queue ${engine.queue}: unexpected interrupt source ${entry.source}`);
  }

  #poll(engine: Engine): void {
    if (engine.job === undefined || engine.resetting !== undefined) return;
    if (this.#options.device.readU64(engine.fenceAddress) < engine.sequence) return;
    const job = engine.job;
    const halting = engine.stopping !== undefined;
    this.#leave(engine);
    job.context.signalled = job.fence;
    this.#retire(job);
    this.#wake(job.context);
    // The job ended just before the halt: the queue may or may not have seen the request, so reset it either way.
    if (halting) this.#reset(engine);
  }

  /** The engine's job is off the hardware. */
  #leave(engine: Engine): void {
    const job = engine.job;
    if (job === undefined) return;
    engine.cancelTimer();
    engine.cancelTimer = () => {};
    engine.job = undefined;
    engine.stopping = undefined;
    const file = job.context.file;
    job.context.running = false;
    file.running--;
    for (const to of [file.counters, this.#counters])
      closeCounters(this.#options.device, engine.queue, engine.counters, to);
    file.busyMs[busyOf(engine)] += this.#options.clock.now() - engine.startedMs;
    this.#countStrays(engine, job);
  }

  /** Takes over what the GPU counted under the file's VMID since the last look. */
  #countStrays(engine: Engine, { context, fence }: Job): void {
    const { device, log } = this.#options;
    const { file } = context;
    for (const [word, what] of strays) {
      const key = file.vmid * Control.VMID_BYTES + word;
      const now = device.vmidGet(file.vmid, word);
      const more = (now - (this.#strays.get(key) ?? 0)) >>> 0;
      this.#strays.set(key, now);
      if (more === 0) continue;
      if (word === Vmid.LDS_OUTSIDE) file.ldsOutside += more;
      log.write(
        `queue ${engine.queue}: fence ${fence} of ${label(context)}: ${more} ${what}: reads gave 0, writes were dropped`,
      );
    }
  }

  /** Takes an ended or cancelled job off its context and drops what it held. */
  #retire(job: Job): void {
    const { context } = job;
    const { file } = context;
    context.jobs.splice(context.jobs.indexOf(job), 1);
    file.queuedJobs--;
    for (const stop of job.waits.values()) stop();
    for (const bo of job.bos) this.#dropBo(file, bo);
    if (file.running === 0) for (const action of file.graveyard.splice(0)) action();
    this.#ready.delete(context);
    this.#offer(context);
    // Signals come last: they may start jobs that wait for this one, here or on another machine.
    for (const signal of job.signals) signal();
  }

  #dropBo(file: File, bo: Bo): void {
    const { residency } = this.#options;
    bo.jobs--;
    const listing = file.listings.get(bo);
    if (listing !== undefined && --listing.jobs === 0) {
      file.listings.delete(bo);
      // The file may have got a handle of it again, with mappings of its own.
      if (listing.closing.size > 0) unmapAll(residency, file, bo, listing.closing);
    }
    unreference(residency, bo);
  }

  #wake(context: Context): void {
    for (const waiter of [...context.waiters]) {
      if (waiter.fence <= context.signalled) waiter.done(0);
      else if (context.state !== ContextState.GOOD) waiter.done(Errno.ECANCELED);
    }
  }

  #halted(engine: Engine, entry: InterruptEntry): void {
    const { device, clock, log, onDump } = this.#options;
    const job = engine.job;
    if (job === undefined || engine.resetting !== undefined) return;
    const ownFault = entry.source === InterruptSource.FAULT && engine.stopping !== "closed";
    const reason = ownFault ? "fault" : (engine.stopping ?? "fault");
    const { context } = job;
    context.faultKind = entry.data;
    context.file.faults++;
    context.file.lastFault = entry.data;
    log.write(
      `queue ${engine.queue}: ${label(context)} fence ${job.fence}: ${reason}, ${faultName(entry.data)}; resets`,
    );
    if (reason !== "closed") onDump(makeDump({ device, job, reason, engine, timeMs: clock.now() }));
    this.lose(context, ContextState.GUILTY);
    this.#reset(engine);
  }

  #reset(engine: Engine): void {
    const { device, clock } = this.#options;
    this.resets++;
    engine.resetting = device.requestReset(engine.queue);
    engine.cancelTimer();
    engine.cancelTimer = clock.after(ENGINE_TIMEOUT_MS, () => this.#wedged(engine));
    device.ring();
  }

  #resetDone(engine: Engine): void {
    if (engine.resetting === undefined) return;
    if (this.#options.device.queueGet(engine.queue, Queue.RESET_ACK) !== engine.resetting) return;
    engine.resetting = undefined;
    engine.cancelTimer();
    engine.cancelTimer = () => {};
    const job = engine.job;
    this.#leave(engine);
    if (job !== undefined) this.#retire(job);
    this.#options.log.write(`queue ${engine.queue}: reset done`);
  }

  /** Marks a context lost, cancels its waiting jobs, wakes its waiters. A job on the hardware stays until the reset. */
  lose(context: Context, state: number): void {
    if (context.state === ContextState.GOOD) context.state = state;
    const onHardware = new Set(this.#engines.map((engine) => engine.job));
    for (const job of context.jobs.filter((candidate) => !onHardware.has(candidate))) this.#retire(job);
    this.#ready.delete(context);
    this.#wake(context);
  }

  #wedged(engine: Engine): void {
    const { clock, device, log, onDump } = this.#options;
    this.dead = true;
    log.write(`queue ${engine.queue}: the engine does not answer; the machine is lost`);
    if (engine.job !== undefined) {
      onDump(makeDump({ device, job: engine.job, reason: "wedged", engine, timeMs: clock.now() }));
    }
    for (const other of this.#engines) {
      other.cancelTimer();
      if (other.job !== undefined) this.lose(other.job.context, ContextState.GUILTY);
    }
    for (const context of [...this.#ready]) this.lose(context, ContextState.INNOCENT);
  }

  /** Cancels everything of a closing file; `done` runs when none of its jobs is on the hardware. */
  closeFile(file: File, done: () => void): void {
    for (const context of file.contexts.values()) this.lose(context, ContextState.INNOCENT);
    for (const engine of this.#engines) if (engine.job?.context.file === file) this.#halt(engine, "closed");
    const finish = () => {
      this.#vmids.release(file);
      done();
    };
    if (file.running > 0) file.graveyard.push(finish);
    else finish();
  }

  /** Tells the GPU to drop a file's translations, where it has any. */
  invalidate(file: File): void {
    if (file.vmid !== 0) this.#options.device.invalidate(file.vmid);
  }

  /** Milliseconds that a file's jobs on the hardware have taken so far. */
  runningMs(file: File): { readonly compute: number; readonly transfer: number } {
    const sum = { compute: 0, transfer: 0 };
    for (const engine of this.#engines) {
      if (engine.job?.context.file !== file) continue;
      sum[busyOf(engine)] += this.#options.clock.now() - engine.startedMs;
    }
    return sum;
  }

  /** Cancels timers; the machine goes away. */
  close(): void {
    this.dead = true;
    for (const engine of this.#engines) engine.cancelTimer();
  }
}

function busyOf(engine: Engine): "compute" | "transfer" {
  return engine.kind === QueueKind.SDMA ? "transfer" : "compute";
}

/** A slot of the ring: the job's packets, filled up. */
function slot(packets: readonly number[], filler: (dwords: number) => readonly number[]): number[] {
  return [...packets, ...filler(SLOT_DWORDS - packets.length)];
}

/** Caches invalidated, the job's buffer, then the engine's fence and interrupt. */
function computeJob(engine: Engine, job: Job, vmid: number): number[] {
  const packets = [
    ...encodePacket("ACQUIRE_MEM", {
      coherSize: 0xff_ffff_ffffn,
      pollInterval: 10,
      gliInv: 1,
      glkInv: 1,
      glvInv: 1,
      gl1Inv: 1,
      gl2Inv: 1,
    }),
    ...encodePacket("INDIRECT_BUFFER", { address: job.ibVa, sizeDwords: job.ibDwords, valid: 1, vmid }),
    ...encodePacket("RELEASE_MEM", {
      eventType: PacketValue.EVENT_CACHE_FLUSH_TS,
      eventIndex: PacketValue.EVENT_INDEX_END_OF_PIPE,
      gl2Wb: 1,
      intSel: PacketValue.INT_AFTER_WRITE_CONFIRM,
      dataSel: PacketValue.DATA_64,
      address: BigInt(engine.fenceAddress),
      data: engine.sequence,
      contextId: engine.queue,
    }),
  ];
  return slot(packets, (dwords) => encodePacket("NOP", {}, new Array(dwords - 1).fill(0)));
}

/** The same for the copy engine, whose fence packet writes 32 bits: the high half goes first. */
function copyJob(engine: Engine, job: Job, vmid: number): number[] {
  const address = BigInt(engine.fenceAddress);
  const packets = [
    ...encodeSdma("INDIRECT", { vmid, address: job.ibVa, sizeDwords: job.ibDwords }),
    ...encodeSdma("FENCE", { address: address + 4n, data: Number(engine.sequence >> 32n) }),
    ...encodeSdma("FENCE", { address, data: Number(engine.sequence & 0xffff_ffffn) }),
    ...encodeSdma("TRAP", { contextId: engine.queue }),
  ];
  return slot(packets, (dwords) => encodeSdma("NOP", {}, new Array(dwords - 1).fill(0)));
}

function faultName(kind: number): string {
  return faultKinds.find((row) => row.kind === kind)?.name ?? `fault kind ${kind}`;
}

function label(context: Context): string {
  return `context ${context.id} of ${context.file.processName} (fd ${context.file.fd})`;
}
