import {
  ContextState,
  Errno,
  encodePacket,
  InterruptSource,
  PacketValue,
  PageTable,
  Queue,
  QueueKind,
  type RawDump,
} from "../uapi/index.ts";
import { type GpuDevice, type InterruptEntry, VmidPool } from "./device.ts";
import { makeDump } from "./dump.ts";
import type { Heap } from "./heap.ts";
import type { KernelLog } from "./log.ts";
import { unmapAll, unreference } from "./memory.ts";
import type { Bo, Context, File, Job } from "./objects.ts";

/** Time as the kernel sees it: milliseconds, monotonic. `after` answers a function that cancels the call. */
export interface KernelClock {
  now(): number;
  after(ms: number, action: () => void): () => void;
}

/** Dwords of ring that each job takes: its packets, filled up with a NOP, so that no packet straddles the ring's end. */
const SLOT_DWORDS = 32;
const RING_DWORDS = PageTable.PAGE_BYTES / 4;
/** How long a halt or a reset may take before the engine counts as wedged. */
const ENGINE_TIMEOUT_MS = 10_000;

interface Engine {
  readonly queue: number;
  readonly ringBase: number;
  readonly fenceAddress: number;
  wptr: number;
  sequence: bigint;
  job: Job | undefined;
  startedMs: number;
  /** Why the job is being stopped, once it is. */
  stopping: RawDump["reason"] | undefined;
  /** RESET_ACK to wait for, while a reset runs. */
  resetting: number | undefined;
  cancelTimer: () => void;
}

export interface SchedulerOptions {
  readonly device: GpuDevice;
  readonly gtt: Heap;
  readonly clock: KernelClock;
  readonly log: KernelLog;
  readonly engines: readonly number[];
  readonly onDump: (dump: RawDump) => void;
}

/** Runs jobs of contexts on compute queues: one job a queue at a time, highest priority first, then the least recently served. */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #engines: Engine[] = [];
  readonly #ready = new Set<Context>();
  readonly #vmids = new VmidPool<File>();
  #tick = 0;
  resets = 0;
  /** The engine no longer answers: nothing runs any more. */
  dead = false;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    for (const queue of options.engines) this.#engines.push(this.#openQueue(queue));
  }

  #openQueue(queue: number): Engine {
    const { device, gtt } = this.#options;
    const ringBase = gtt.alloc(PageTable.PAGE_BYTES);
    const fenceAddress = gtt.alloc(PageTable.PAGE_BYTES);
    if (ringBase === undefined || fenceAddress === undefined) throw new Error("GTT has no room for a ring");
    device.queueSet(queue, Queue.KIND, QueueKind.COMPUTE);
    device.queueSet(queue, Queue.RING_BASE, ringBase);
    device.queueSet(queue, Queue.RING_DWORDS, RING_DWORDS);
    device.queueSet(queue, Queue.ENABLED, 1);
    return {
      queue,
      ringBase,
      fenceAddress,
      wptr: 0,
      sequence: 0n,
      job: undefined,
      startedMs: 0,
      stopping: undefined,
      resetting: undefined,
      cancelTimer: () => {},
    };
  }

  enqueue(job: Job): void {
    job.context.jobs.push(job);
    job.context.file.queuedJobs++;
    for (const bo of job.bos) {
      bo.jobs++;
      bo.references++;
    }
    if (!job.context.running) this.#ready.add(job.context);
    this.#pump();
  }

  #pump(): void {
    for (const engine of this.#engines) {
      if (engine.job !== undefined || engine.resetting !== undefined || this.dead) continue;
      const context = this.#next();
      if (context === undefined) return;
      const slot = this.#vmids.acquire(context.file);
      if (slot === undefined) return;
      if (slot.fresh) this.#options.device.setPageDirectory(slot.vmid, context.file.space.root);
      this.#options.device.invalidate(slot.vmid);
      this.#ready.delete(context);
      const job = context.jobs[0];
      if (job !== undefined) this.#start(engine, job, slot.vmid);
    }
  }

  #next(): Context | undefined {
    let best: Context | undefined;
    for (const context of this.#ready) {
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
    const sequence = ++engine.sequence;
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
        data: sequence,
        contextId: engine.queue,
      }),
    ];
    packets.push(...encodePacket("NOP", {}, new Array(SLOT_DWORDS - packets.length - 1).fill(0)));
    device.writeWords(engine.ringBase + (engine.wptr % RING_DWORDS) * 4, packets);
    engine.wptr = (engine.wptr + SLOT_DWORDS) >>> 0;
    engine.job = job;
    engine.startedMs = clock.now();
    engine.stopping = undefined;
    job.context.served = ++this.#tick;
    job.context.running = true;
    job.context.file.running++;
    engine.cancelTimer = clock.after(job.context.timeoutMs, () => this.#halt(engine, "timeout"));
    device.queueSet(engine.queue, Queue.WPTR, engine.wptr);
    device.ring();
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
        ? `queue ${engine.queue}: fence ${job.fence} of ${label(job.context)} runs longer than ${job.context.timeoutMs} ms`
        : `queue ${engine.queue}: stops fence ${job.fence} of ${label(job.context)}`,
    );
    engine.cancelTimer();
    engine.cancelTimer = clock.after(ENGINE_TIMEOUT_MS, () => this.#wedged(engine));
    device.queueSet(engine.queue, Queue.HALT_REQUEST, 1);
    device.ring();
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
    if (entry.source === InterruptSource.END_OF_PIPE) this.#poll(engine);
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
    file.busyMs += this.#options.clock.now() - engine.startedMs;
  }

  /** Takes an ended or cancelled job off its context and drops what it held. */
  #retire(job: Job): void {
    const { context } = job;
    const { file } = context;
    context.jobs.splice(context.jobs.indexOf(job), 1);
    file.queuedJobs--;
    for (const bo of job.bos) this.#dropBo(file, bo);
    if (file.running === 0) for (const action of file.graveyard.splice(0)) action();
    if (context.jobs.length > 0 && !context.running && context.state === ContextState.GOOD) this.#ready.add(context);
    else this.#ready.delete(context);
  }

  #dropBo(file: File, bo: Bo): void {
    bo.jobs--;
    if (bo.jobs === 0 && bo.closePending) {
      bo.closePending = false;
      unmapAll(file, bo);
    }
    unreference(file, bo);
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
    log.write(
      `queue ${engine.queue}: ${label(context)} fence ${job.fence}: ${reason}, fault kind ${entry.data}; resets`,
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

  /** Cancels timers; the machine goes away. */
  close(): void {
    this.dead = true;
    for (const engine of this.#engines) engine.cancelTimer();
  }
}

function label(context: Context): string {
  return `context ${context.id} of ${context.file.processName} (fd ${context.file.fd})`;
}
