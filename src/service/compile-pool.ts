import type { ResourceLimits } from "node:worker_threads";
import type { Piscina } from "piscina";
import { serviceError } from "./codes.ts";
import { ProcessPool } from "./process-pool.ts";
import { type CompileTask, markStarted, sinceStartedMs, type TaskAnswer } from "./task.ts";
import type { Tracing } from "./tracing.ts";

/** A worker that has not started by then will not. */
const startLimitMs = 30_000;

/**
 * Megabytes of a compile worker's young generation. A compile makes much that dies with it: in a larger one most of it is
 * gone before the collector looks, and the collector's threads cost less of the processor.
 */
const youngGenerationMb = 96;

/** The limits of a thread that compiles; `memoryLimitMb` is that of its old generation. */
export function compileWorkerLimits(memoryLimitMb: number): ResourceLimits {
  return {
    maxOldGenerationSizeMb: memoryLimitMb,
    maxYoungGenerationSizeMb: youngGenerationMb,
    stackSizeMb: 8,
  };
}

export interface CompilePoolOptions {
  /** The worker's file: JavaScript whose default export takes a task. */
  readonly workerFile: string;
  readonly workers: number;
  /** Compiles that may wait for a worker. */
  readonly maxWaiting: number;
  readonly timeLimitMs: number;
  readonly memoryLimitMb: number;
  /** Where compiles run: `process` keeps untrusted input out of the server's memory. Default `thread`. */
  readonly isolate?: "thread" | "process";
  readonly tracing?: Tracing;
}

export interface PoolStats {
  readonly workers: number;
  readonly running: number;
  readonly waiting: number;
  /** Workers replaced because a compile broke a limit or the worker died. */
  readonly restarts: number;
}

/**
 * Compiles in worker threads or processes. The time limit counts from when a worker takes the task, not from when it was queued; a
 * worker that breaks a limit is ended and replaced. Errors: `ServiceError`.
 */
export class CompilePool {
  readonly options: CompilePoolOptions;
  #piscina: Promise<Piscina> | undefined;
  readonly #processes: ProcessPool | undefined;
  #running = 0;
  #restarts = 0;
  #closing = false;
  #lastAnswer = performance.now();
  readonly #waiting: (() => void)[] = [];
  readonly #idle: (() => void)[] = [];

  constructor(options: CompilePoolOptions) {
    this.options = options;
    if (options.isolate === "process") this.#processes = new ProcessPool(options);
  }

  /** The threads, started by the first task: a server listens before they do. */
  #threads(): Promise<Piscina> {
    const { workerFile, workers, memoryLimitMb } = this.options;
    this.#piscina ??= import("piscina").then(
      ({ Piscina }) =>
        new Piscina({
          filename: workerFile,
          // One thread more than compiles run: a probe is answered under full load too.
          minThreads: workers,
          maxThreads: workers + 1,
          idleTimeout: 60_000,
          resourceLimits: compileWorkerLimits(memoryLimitMb),
        }),
    );
    return this.#piscina;
  }

  /** Runs a task when a worker is free. `id` names the request in an error. */
  async run(task: CompileTask, id: string): Promise<TaskAnswer> {
    if (this.#closing) throw serviceError("SHUTTING_DOWN", {});
    const { tracing, workers } = this.options;
    if (this.#running < workers) this.#running++;
    else await (tracing === undefined ? this.#wait() : tracing.within("kiln.queue", {}, () => this.#wait()));
    try {
      if (tracing === undefined) return await this.#runNow(task, id);
      const attributes = { "kiln.stage": task.request.stage ?? "", "kiln.language": task.request.language };
      return await tracing.within("kiln.compile", attributes, () => this.#runNow(task, id));
    } finally {
      this.#release();
    }
  }

  /** Runs a task beside the queue, for the health check. */
  probe(task: CompileTask): Promise<TaskAnswer> {
    return this.#runNow(task, "probe");
  }

  async #wait(): Promise<void> {
    const { maxWaiting } = this.options;
    if (this.#waiting.length >= maxWaiting) {
      throw serviceError("QUEUE_FULL", { waiting: this.#waiting.length, limit: maxWaiting });
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #release(): void {
    const next = this.#waiting.shift();
    // The slot passes on as it is.
    if (next !== undefined) next();
    else if (--this.#running === 0) for (const idle of this.#idle.splice(0)) idle();
  }

  async #runNow(task: CompileTask, id: string): Promise<TaskAnswer> {
    const piscina = this.#processes === undefined ? await this.#threads() : undefined;
    const { timeLimitMs, memoryLimitMb } = this.options;
    const limit = new AbortController();
    const startedAt = new SharedArrayBuffer(8);
    const watch = watchLimit(startedAt, timeLimitMs, () => limit.abort());
    try {
      if (piscina !== undefined) {
        return (await piscina.run({ ...task, startedAt }, { signal: limit.signal })) as TaskAnswer;
      }
      // A process shares no memory: it says when it starts.
      const onStarted = () => markStarted({ ...task, startedAt });
      return await (this.#processes as ProcessPool).run(task, limit.signal, onStarted);
    } catch (error) {
      // The pool ended under the task: at the deadline of a stop, or under a probe.
      if (this.#closing && !limit.signal.aborted) throw serviceError("SHUTTING_DOWN", {});
      this.#restarts++;
      if (limit.signal.aborted) throw serviceError("COMPILE_TIME_LIMIT", { limitMs: timeLimitMs });
      const { code, stack } = error as NodeJS.ErrnoException;
      if (code === "ERR_WORKER_OUT_OF_MEMORY") throw serviceError("COMPILE_MEMORY_LIMIT", { limitMb: memoryLimitMb });
      throw serviceError("WORKER_LOST", { id }, stack);
    } finally {
      watch.stop();
      this.#lastAnswer = performance.now();
    }
  }

  /** Milliseconds since a worker last answered or was replaced. */
  sinceLastAnswerMs(): number {
    return performance.now() - this.#lastAnswer;
  }

  stats(): PoolStats {
    return {
      workers: this.options.workers,
      running: this.#running,
      waiting: this.#waiting.length,
      restarts: this.#restarts,
    };
  }

  /** Takes no more tasks, waits for those it has at most `deadlineMs`, and ends the workers. */
  async close(deadlineMs = 0): Promise<void> {
    this.#closing = true;
    if (this.#running > 0 && deadlineMs > 0) {
      let timer: NodeJS.Timeout | undefined;
      const deadline = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, deadlineMs);
      });
      await Promise.race([deadline, new Promise<void>((resolve) => this.#idle.push(resolve))]);
      clearTimeout(timer);
    }
    await (await this.#piscina)?.destroy();
    await this.#processes?.destroy();
  }
}

/** Calls `onOver` when a task that a worker took up has run for `limitMs`, or none has taken it up for very long. */
function watchLimit(startedAt: SharedArrayBuffer, limitMs: number, onOver: () => void): { stop(): void } {
  const queued = performance.now();
  let timer: NodeJS.Timeout;
  const look = () => {
    const ran = sinceStartedMs(startedAt);
    const left = ran === undefined ? startLimitMs + limitMs - (performance.now() - queued) : limitMs - ran;
    if (left <= 0) onOver();
    else timer = setTimeout(look, ran === undefined ? Math.min(left, limitMs) : left);
  };
  timer = setTimeout(look, limitMs);
  return { stop: () => clearTimeout(timer) };
}
