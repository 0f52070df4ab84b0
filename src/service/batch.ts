import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { BatchBoard } from "./batch-board.ts";
import { ServiceError } from "./codes.ts";

/** Finished batches are kept for their results up to this many bytes, oldest out first. */
const keptBytes = 256 << 20;
const keptBatches = 64;
const queueFullPauseMs = 50;

/** What one shader of a batch came to. `line` is the answer as one line of JSON, without its end. */
export interface BatchItem {
  readonly ok: boolean;
  readonly line: string;
}

export interface BatchProgress {
  readonly id: string;
  readonly state: "running" | "done" | "stopped";
  readonly total: number;
  readonly done: number;
  readonly failed: number;
}

/** What can be seen of a batch, wherever it runs. */
export interface BatchView {
  readonly total: number;
  /** Those that `load` or `changed` took in. */
  readonly results: readonly string[];
  load(): Promise<void>;
  progress(): BatchProgress;
  /** Settles at the next result, or the end. */
  changed(): Promise<void>;
}

/** Many shaders of one request. Results come in the order in which they finish; each names its index. */
export class Batch implements BatchView {
  readonly id = randomUUID();
  readonly total: number;
  readonly results: string[] = [];
  bytes = 0;
  #failed = 0;
  #state: BatchProgress["state"] = "running";
  readonly #listeners = new Set<() => void>();

  constructor(total: number) {
    this.total = total;
  }

  add({ ok, line }: BatchItem): void {
    if (!ok) this.#failed++;
    this.results.push(line);
    this.bytes += line.length;
    this.#tell();
  }

  end(state: "done" | "stopped"): void {
    this.#state = state;
    this.#tell();
  }

  progress(): BatchProgress {
    const { id, total } = this;
    return { id, state: this.#state, total, done: this.results.length, failed: this.#failed };
  }

  /** Results of a batch of this process are always here. */
  async load(): Promise<void> {}

  changed(): Promise<void> {
    return new Promise((resolve) => this.#listeners.add(resolve));
  }

  #tell(): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }
}

/** Compiles shaders elsewhere, adds what they came to, and answers the indices that are left. Does not throw. */
export type Spread = (add: (item: BatchItem) => void) => Promise<Iterable<number>>;

export interface BatchesOptions {
  /** Shaders of one batch that are compiled side by side. */
  readonly width: number;
  /** Batches that may run at one time. */
  readonly maxRunning: number;
  /** Where other servers see these batches, and these theirs. */
  readonly board?: BatchBoard;
}

/** The batches of one server. They end with it: a farm's jobs live elsewhere. */
export class Batches {
  readonly #options: BatchesOptions;
  readonly #batches = new Map<string, Batch>();
  #stopped = false;

  constructor(options: BatchesOptions) {
    this.#options = options;
  }

  /**
   * Starts `run` for each index; undefined when as many batches run as may. `run` throws for a full queue only. `spread`
   * may do some of the work elsewhere first: it answers the indices that are left for `run`.
   */
  async start(total: number, run: (index: number) => Promise<BatchItem>, spread?: Spread): Promise<Batch | undefined> {
    const running = [...this.#batches.values()].filter((batch) => batch.progress().state === "running");
    if (this.#stopped || running.length >= this.#options.maxRunning) return undefined;
    const batch = new Batch(total);
    this.#batches.set(batch.id, batch);
    this.#dropOld();
    const shown = this.#options.board?.follow(batch);
    void this.#run(batch, run, spread);
    await shown;
    return batch;
  }

  async find(id: string): Promise<BatchView | undefined> {
    return this.#batches.get(id) ?? (await this.#options.board?.find(id).catch(() => undefined));
  }

  async #run(batch: Batch, run: (index: number) => Promise<BatchItem>, spread?: Spread): Promise<void> {
    const left = spread === undefined ? undefined : [...(await spread((item) => batch.add(item)))];
    const count = left?.length ?? batch.total;
    let next = 0;
    const lane = async () => {
      while (next < count && !this.#stopped) {
        const at = next++;
        const index = left?.[at] ?? at;
        const item = await this.#patiently(() => run(index));
        if (item !== undefined) batch.add(item);
      }
    };
    await Promise.all(Array.from({ length: this.#options.width }, lane));
    batch.end(batch.results.length === batch.total ? "done" : "stopped");
    this.#dropOld();
  }

  /** Waits while single requests fill the queue: they go first. */
  async #patiently(run: () => Promise<BatchItem>): Promise<BatchItem | undefined> {
    while (!this.#stopped) {
      try {
        return await run();
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== "QUEUE_FULL") return undefined;
        await sleep(queueFullPauseMs);
      }
    }
    return undefined;
  }

  #dropOld(): void {
    let bytes = 0;
    for (const batch of this.#batches.values()) bytes += batch.bytes;
    for (const [id, batch] of this.#batches) {
      if (bytes <= keptBytes && this.#batches.size <= keptBatches) return;
      if (batch.progress().state === "running") continue;
      this.#batches.delete(id);
      bytes -= batch.bytes;
    }
  }

  /** Starts no more shaders; those that run end, and then their batches. */
  stop(): void {
    this.#stopped = true;
  }
}
