import { performance } from "node:perf_hooks";
import type { CompileRequest } from "../codeobj/index.ts";
import { ServiceError } from "./codes.ts";
import type { CompileService } from "./compile-service.ts";
import { EndingClients } from "./ending-clients.ts";
import {
  batchOf,
  FarmBlobs,
  type FarmJob,
  type FarmJobData,
  type FarmOutcome,
  type FarmProgress,
  farmPlace,
  loadFarmPackages,
} from "./farm-queue.ts";

const progressEveryMs = 250;
/** Inputs of a job that are fetched together. */
const inputsAtOnce = 16;
/** A worker that has not said for this long that it lives loses its job to another. */
const lockMs = 5000;
const stalledEveryMs = 2500;
/** A job that took this many workers with it is given up. */
const maxStalls = 3;

export interface FarmWorkerOptions {
  readonly url: string;
  readonly secret?: string;
  /** Compiles, and keeps records where the servers find them: with a shared cache. */
  readonly service: CompileService;
  /** Shaders that are compiled side by side. */
  readonly width: number;
  /** Sees what goes wrong beside the shaders: the connection, a job that fails. */
  readonly onTrouble: (message: string) => void;
}

export interface FarmWorker {
  readonly jobsDone: () => number;
  /** The queue's Redis answers. */
  readonly isConnected: () => boolean;
  /** Stops taking shaders; what is left of a running job goes back to the queue: by a Redis that is gone, after the deadline not at all. */
  close(deadlineMs: number): Promise<void>;
}

/** Takes jobs of the farm until closed. Errors: a Redis that cannot be reached at the start. */
export async function startFarmWorker(options: FarmWorkerOptions): Promise<FarmWorker> {
  const { url, secret, service, onTrouble } = options;
  const { bullmq, Client } = await loadFarmPackages();
  const clients = new EndingClients(Client, url);
  const redis = clients.make({ maxRetriesPerRequest: null });
  let lastTrouble = "";
  const tell = (error: Error) => {
    const { message } = error;
    // A lost connection says the same at every try to get it back.
    if (message !== lastTrouble) onTrouble(message);
    lastTrouble = message;
  };
  redis.on("error", tell);
  redis.on("ready", () => {
    lastTrouble = "";
  });
  await redis.connect().catch((error: Error) => {
    clients.end();
    throw error;
  });
  const blobs = new FarmBlobs(redis, secret);
  const { name, prefix } = farmPlace(service.build.buildId);
  const stopping = new AbortController();
  let done = 0;
  const worker = new bullmq.Worker<FarmJobData, readonly FarmOutcome[]>(
    name,
    async (job, token) => {
      const outcomes = await runJob(job, blobs, options, stopping.signal);
      if (outcomes === undefined) {
        await job.moveToWait(token);
        throw new bullmq.WaitingError();
      }
      done++;
      return outcomes;
    },
    {
      prefix,
      connection: redis,
      concurrency: 1,
      lockDuration: lockMs,
      stalledInterval: stalledEveryMs,
      maxStalledCount: maxStalls,
    },
  );
  worker.on("error", tell);
  worker.on("failed", (job, error) => onTrouble(`job ${job?.id ?? "?"}: ${error.message}`));
  return {
    jobsDone: () => done,
    isConnected: () => redis.status === "ready",
    close: async (deadlineMs) => {
      stopping.abort();
      await clients.endAfter(() => worker.close(), deadlineMs);
    },
  };
}

/** The outcome of each shader of a job; undefined where the worker stops before its end. */
async function runJob(
  job: FarmJob,
  blobs: FarmBlobs,
  { service, width }: FarmWorkerOptions,
  stop: AbortSignal,
): Promise<readonly FarmOutcome[] | undefined> {
  const { shaders } = job.data;
  const outcomes: FarmOutcome[] = [];
  let [next, told, toldAt] = [0, 0, performance.now()];
  const inputs = inputsOf(shaders, blobs);
  const lane = async () => {
    while (next < shaders.length && !stop.aborted) {
      const at = next++;
      const [index, name] = shaders[at] as FarmJobData["shaders"][number];
      outcomes.push(await compileOne(index, batchOf(name), await inputs(at), blobs, service));
      if (performance.now() - toldAt < progressEveryMs) continue;
      const progress: FarmProgress = { news: outcomes.slice(told) };
      [told, toldAt] = [outcomes.length, performance.now()];
      await job.updateProgress(progress);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return outcomes.length === shaders.length ? outcomes : undefined;
}

/**
 * A job's inputs by their place in it, asked for in ascending order: several come at a time, the next before they are needed.
 * Errors: those of the connection and of a blob that is gone, which are no fault of the shader: the job is tried again.
 */
function inputsOf(shaders: FarmJobData["shaders"], blobs: FarmBlobs): (at: number) => Promise<CompileRequest> {
  const parts = new Map<number, Promise<CompileRequest[]>>();
  const part = (number: number) => {
    const from = number * inputsAtOnce;
    let coming = parts.get(number);
    if (coming === undefined && from < shaders.length) {
      coming = blobs.getRequests(shaders.slice(from, from + inputsAtOnce).map(([, name]) => name));
      // Told to whoever needs it.
      coming.catch(() => {});
      parts.set(number, coming);
      // A lane asks as soon as it takes a place: nobody looks that far back.
      parts.delete(number - 2);
    }
    return coming;
  };
  return async (at) => {
    const number = Math.floor(at / inputsAtOnce);
    const coming = part(number);
    if (at % inputsAtOnce >= inputsAtOnce / 2) part(number + 1);
    return (await coming)?.[at % inputsAtOnce] as CompileRequest;
  };
}

/** Errors: those of the connection. */
async function compileOne(
  index: number,
  batch: string,
  request: CompileRequest,
  blobs: FarmBlobs,
  service: CompileService,
): Promise<FarmOutcome> {
  try {
    // The server counts it, which may use the same folder.
    const answer = await service.compile(request, [], "none");
    const { cache, missReason } = answer;
    const was = { cache, ...(missReason !== undefined && { missReason }) };
    return answer.ok
      ? { index, ...was }
      : { index, ...was, refused: await blobs.putRefusal(batch, answer.diagnostics) };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.row.blame === "host") throw error;
    return { index, code: error.code, message: error.message };
  }
}
