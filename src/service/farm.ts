import { randomUUID } from "node:crypto";
import type { Queue, QueueEvents } from "bullmq";
import type { Redis } from "ioredis";
import type { Diagnostic } from "../base/index.ts";
import type { CompileRequest } from "../codeobj/index.ts";
import { BatchBoard } from "./batch-board.ts";
import type { Elsewhere } from "./compile-service.ts";
import { EndingClients } from "./ending-clients.ts";
import {
  FarmBlobs,
  type FarmJobData,
  type FarmOutcome,
  type FarmProgress,
  farmPlace,
  loadFarmPackages,
  shadersPerJob,
} from "./farm-queue.ts";

const connectMs = 2000;
/** Without news for this long, and without a worker that could bring any, the rest of a batch is compiled here. */
const patienceMs = 15_000;
const lookEveryMs = 2500;
const uploadsAtOnce = 64;

/** What became of one shader of a batch on the farm. */
export type FarmResult =
  | { readonly kind: "compiled"; readonly was: Elsewhere }
  | { readonly kind: "refused"; readonly was: Elsewhere; readonly diagnostics: readonly Diagnostic[] }
  | { readonly kind: "failed"; readonly code: string; readonly message: string };

export interface FarmItem {
  readonly index: number;
  readonly request: CompileRequest;
}

export interface FarmCounts {
  readonly waiting: number;
  readonly active: number;
  readonly failed: number;
  readonly workers: number;
}

export interface FarmOptions {
  readonly url: string;
  readonly secret?: string;
  readonly buildId: string;
  readonly onTrouble: (message: string) => void;
}

interface Connection {
  readonly clients: EndingClients;
  readonly redis: Redis;
  readonly blobs: FarmBlobs;
  readonly queue: Queue<FarmJobData, readonly FarmOutcome[]>;
  readonly events: QueueEvents;
}

/** A batch on its way through the queue. */
interface Run {
  readonly left: Set<number>;
  readonly jobs: Map<string, FarmJobData>;
  readonly take: (outcome: FarmOutcome) => void;
  readonly jobEnded: (id: string, reason: string | undefined) => void;
  /** Waits for no more news. */
  readonly finish: () => void;
  newsAt: number;
}

/** The server's end of a farm: batches become jobs of many shaders that workers on any host take. */
export class Farm {
  readonly #options: FarmOptions;
  #connection: Promise<Connection> | undefined;
  readonly #runs = new Set<Run>();
  /** Batches of all the servers of the farm. */
  readonly board = new BatchBoard(async () => (await this.#connected())?.redis);
  #stopped = false;
  #lastTrouble = "";

  constructor(options: FarmOptions) {
    this.#options = options;
  }

  #tell(message: string): void {
    if (message !== this.#lastTrouble) this.#options.onTrouble(message);
    this.#lastTrouble = message;
  }

  /** Connects at the first use; a failed try is told and made again at the next. */
  async #connected(): Promise<Connection | undefined> {
    this.#connection ??= this.#connect();
    try {
      return await this.#connection;
    } catch (error) {
      this.#connection = undefined;
      this.#tell(`farm: ${(error as Error).message}`);
      return undefined;
    }
  }

  async #connect(): Promise<Connection> {
    const { url, secret, buildId } = this.#options;
    const { bullmq, Client } = await loadFarmPackages();
    const tell = (error: Error) => this.#tell(`farm: ${error.message}`);
    const clients = new EndingClients(Client, url);
    const redis = clients.make({ connectTimeout: connectMs, maxRetriesPerRequest: 1 });
    redis.on("error", tell);
    try {
      await redis.connect();
    } catch (error) {
      clients.end();
      throw error;
    }
    const { name, prefix } = farmPlace(buildId);
    const queue: Connection["queue"] = new bullmq.Queue(name, {
      prefix,
      connection: redis,
      defaultJobOptions: {
        attempts: 3,
        backoff: { type: "exponential", delay: 500 },
        removeOnComplete: { age: 3600 },
        removeOnFail: { age: 24 * 3600 },
      },
    });
    const events = new bullmq.QueueEvents(name, { prefix, connection: clients.make({ maxRetriesPerRequest: null }) });
    queue.on("error", tell);
    events.on("error", tell);
    const runOf = (jobId: string) => [...this.#runs].find((run) => run.jobs.has(jobId));
    events.on("progress", ({ jobId, data }) => {
      const run = runOf(jobId);
      for (const outcome of (data as FarmProgress).news) run?.take(outcome);
    });
    events.on("completed", ({ jobId, returnvalue }) => {
      const run = runOf(jobId);
      for (const outcome of returnvalue as unknown as readonly FarmOutcome[]) run?.take(outcome);
      run?.jobEnded(jobId, undefined);
    });
    events.on("failed", ({ jobId, failedReason }) => runOf(jobId)?.jobEnded(jobId, failedReason));
    await events.waitUntilReady();
    return { clients, redis, blobs: new FarmBlobs(redis, secret), queue, events };
  }

  /** Jobs and workers of this build; undefined where Redis does not answer. */
  async counts(): Promise<FarmCounts | undefined> {
    const connection = await this.#connected();
    if (connection === undefined) return undefined;
    try {
      const { queue } = connection;
      const [jobs, workers] = await Promise.all([
        queue.getJobCounts("waiting", "active", "delayed", "failed"),
        queue.getWorkersCount(),
      ]);
      const { waiting = 0, active = 0, delayed = 0, failed = 0 } = jobs;
      return { waiting: waiting + delayed, active, failed, workers };
    } catch (error) {
      this.#tell(`farm: ${(error as Error).message}`);
      return undefined;
    }
  }

  /**
   * Compiles a batch on the farm; `onResult` sees each shader once. Answers the indices that nobody compiled, which the
   * caller has to: few shaders, no worker, no Redis, a job that failed for a reason that is not the shaders'.
   */
  async run(
    items: AsyncIterable<FarmItem>,
    total: number,
    onResult: (index: number, result: FarmResult) => Promise<void>,
  ): Promise<ReadonlySet<number>> {
    const all = () => new Set(Array.from({ length: total }, (_, index) => index));
    if (total < shadersPerJob || this.#stopped) return all();
    const counts = await this.counts();
    const connection = await this.#connected();
    if (connection === undefined || counts === undefined || counts.workers === 0) return all();
    const left = all();
    try {
      await this.#through(connection, items, left, onResult);
    } catch (error) {
      this.#tell(`farm: ${(error as Error).message}`);
    }
    return left;
  }

  async #through(
    connection: Connection,
    items: AsyncIterable<FarmItem>,
    left: Set<number>,
    onResult: (index: number, result: FarmResult) => Promise<void>,
  ): Promise<void> {
    const { blobs, queue } = connection;
    const names = new Set<string>();
    const answers = new Set<Promise<void>>();
    let [finish, isUploaded]: [() => void, boolean] = [() => {}, false];
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const answer = (outcome: FarmOutcome) => {
      const { index } = outcome;
      if (!left.delete(index)) return;
      const telling = resultOf(outcome, blobs, names)
        .then((result) => onResult(index, result))
        // What a refusal said is gone, or the answer could not be made: the caller compiles it.
        .catch((error: Error) => {
          this.#tell(`farm: ${error.message}`);
          left.add(index);
        })
        .finally(() => answers.delete(telling));
      answers.add(telling);
    };
    const run: Run = {
      left,
      jobs: new Map(),
      newsAt: performance.now(),
      take: (outcome) => {
        run.newsAt = performance.now();
        answer(outcome);
      },
      jobEnded: (id, reason) => {
        run.newsAt = performance.now();
        const data = run.jobs.get(id);
        run.jobs.delete(id);
        // A job that took worker after worker with it may do so here, too.
        if (reason !== undefined && /stalled/.test(reason)) {
          const message = "the farm's workers ended under the job that this shader was in";
          for (const [index] of data?.shaders ?? []) answer({ index, code: "WORKER_LOST", message });
        }
        if (isUploaded && run.jobs.size === 0) finish();
      },
      finish,
    };
    this.#runs.add(run);
    const watch = setInterval(() => void this.#look(connection, run), lookEveryMs);
    try {
      for await (const shaders of uploaded(items, blobs, jobSize(left.size))) {
        if (this.#stopped) return;
        for (const [, name] of shaders) names.add(name);
        const id = randomUUID();
        // Known before it is queued: a worker may be done before we hear that it is.
        run.jobs.set(id, { shaders });
        await queue.add("compile", { shaders }, { jobId: id });
      }
      isUploaded = true;
      if (run.jobs.size > 0) await finished;
      await Promise.all(answers);
    } finally {
      clearInterval(watch);
      this.#runs.delete(run);
      await this.#tidy(connection, run, [...names]);
    }
  }

  /** Takes note of jobs whose end was not heard of, and gives up on a farm that is gone. */
  async #look({ queue }: Connection, run: Run): Promise<void> {
    const silentMs = performance.now() - run.newsAt;
    if (silentMs < lookEveryMs) return;
    try {
      for (const id of [...run.jobs.keys()]) {
        const job = await queue.getJob(id);
        if (job === undefined) run.jobEnded(id, "the job is gone");
        else if (await job.isCompleted()) {
          for (const outcome of job.returnvalue) run.take(outcome);
          run.jobEnded(id, undefined);
        } else if (await job.isFailed()) run.jobEnded(id, job.failedReason);
      }
      if (silentMs > patienceMs && (await queue.getWorkersCount()) === 0) run.finish();
    } catch (error) {
      this.#tell(`farm: ${(error as Error).message}`);
      if (silentMs > patienceMs) run.finish();
    }
  }

  /** Nobody shall work on what nobody waits for. */
  async #tidy({ queue, blobs }: Connection, run: Run, names: readonly string[]): Promise<void> {
    try {
      for (const id of run.jobs.keys()) {
        const job = await queue.getJob(id);
        // A running job is its worker's: it ends by itself, its inputs being gone.
        await job?.remove().catch(() => {});
      }
      await blobs.drop(names);
    } catch (error) {
      this.#tell(`farm: ${(error as Error).message}`);
    }
  }

  /** Ends the batches that run; they answer what is left. */
  stop(): void {
    this.#stopped = true;
    for (const run of this.#runs) run.finish();
  }

  /** Errors: none; what Redis does not answer until the deadline is left. */
  async close(deadlineMs: number): Promise<void> {
    this.stop();
    const connection = await this.#connection?.catch(() => undefined);
    if (connection === undefined) return;
    const { clients, events, queue } = connection;
    const close = async () => {
      await this.board.close();
      await events.close();
      await queue.close();
    };
    await clients.endAfter(close, deadlineMs);
  }
}

/** Jobs of one size that is at least `shadersPerJob`, and not so many that a worker gets just one. */
const jobSize = (total: number) => Math.ceil(total / Math.max(1, Math.floor(total / shadersPerJob)));

async function* uploaded(items: AsyncIterable<FarmItem>, blobs: FarmBlobs, size: number) {
  const batch = randomUUID();
  let shaders: Promise<readonly [number, string]>[] = [];
  for await (const { index, request } of items) {
    shaders.push(blobs.putRequest(batch, request).then((name) => [index, name] as const));
    if (shaders.length % uploadsAtOnce === 0) await Promise.all(shaders);
    if (shaders.length < size) continue;
    yield await Promise.all(shaders);
    shaders = [];
  }
  if (shaders.length > 0) yield await Promise.all(shaders);
}

async function resultOf(outcome: FarmOutcome, blobs: FarmBlobs, names: Set<string>): Promise<FarmResult> {
  if ("code" in outcome) return { kind: "failed", code: outcome.code, message: outcome.message };
  if (!("refused" in outcome)) return { kind: "compiled", was: outcome };
  names.add(outcome.refused);
  return { kind: "refused", was: outcome, diagnostics: await blobs.getRefusal(outcome.refused) };
}
