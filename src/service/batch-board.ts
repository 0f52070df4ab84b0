import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { Batch, BatchProgress, BatchView } from "./batch.ts";

/** Results are kept for this long after the last of them. */
const keptSeconds = 3600;
/** A batch whose server has not told that it lives for this long has stopped. */
const aliveMs = 15_000;
const tellEveryMs = 200;
const linesAtOnce = 500;
/** An answer waits for this long at most until other servers know the batch that it names. */
const firstWordMs = 1000;

const stateName = (id: string) => `kiln:batch:${id}`;
const linesName = (id: string) => `kiln:batch:${id}:lines`;
const aliveName = (id: string) => `kiln:batch:${id}:alive`;

/** Batches where every server of a farm can see them: a proxy may send a question to any. */
export class BatchBoard {
  readonly #connect: () => Promise<Redis | undefined>;
  readonly #following = new Set<Promise<void>>();

  /** `connect` gives undefined where Redis does not answer; does not throw. */
  constructor(connect: () => Promise<Redis | undefined>) {
    this.#connect = connect;
  }

  /**
   * Shows a batch of this server until it ends; settles when the first word on it is there, or is too long in coming.
   * Does not throw: what cannot be shown is known here at least.
   */
  follow(batch: Batch): Promise<void> {
    return new Promise((resolve) => {
      const following = this.#follow(batch, resolve)
        .catch(() => {})
        .finally(() => {
          this.#following.delete(following);
          resolve();
        });
      this.#following.add(following);
      setTimeout(resolve, firstWordMs).unref();
    });
  }

  async #follow(batch: Batch, onShown: () => void): Promise<void> {
    const redis = await this.#connect();
    if (redis === undefined) return;
    for (let shown = 0; ; ) {
      const changed = batch.changed();
      const { state, total, failed } = batch.progress();
      const lines = batch.results.slice(shown, shown + linesAtOnce);
      shown += lines.length;
      const isAll = shown === batch.results.length;
      const tell = redis.multi();
      if (lines.length > 0) tell.rpush(linesName(batch.id), ...lines);
      tell.hset(stateName(batch.id), { state: isAll ? state : "running", total, done: shown, failed });
      for (const name of [linesName(batch.id), stateName(batch.id)]) tell.expire(name, keptSeconds);
      tell.set(aliveName(batch.id), "1", "PX", aliveMs);
      await tell.exec();
      onShown();
      if (state !== "running" && isAll) return;
      if (isAll) await Promise.race([changed, sleep(aliveMs / 3)]);
      await sleep(tellEveryMs);
    }
  }

  /** A batch of another server; undefined where none shows it. */
  async find(id: string): Promise<BatchView | undefined> {
    if (!/^[0-9a-f-]{36}$/.test(id)) return undefined;
    const redis = await this.#connect();
    if (redis === undefined) return undefined;
    const view = new ShownBatch(redis, id);
    return (await view.look()) ? view : undefined;
  }

  /** Waits until the last word on each batch is shown. */
  async close(): Promise<void> {
    await Promise.all(this.#following);
  }
}

class ShownBatch implements BatchView {
  readonly id: string;
  readonly results: string[] = [];
  readonly #redis: Redis;
  #state: BatchProgress["state"] = "running";
  #done = 0;
  #failed = 0;
  total = 0;

  constructor(redis: Redis, id: string) {
    this.#redis = redis;
    this.id = id;
  }

  /** How it stands now; false where the batch is not shown. */
  async look(): Promise<boolean> {
    const fields = await this.#redis.hgetall(stateName(this.id));
    if (fields.state === undefined) return false;
    const isAlive = (await this.#redis.exists(aliveName(this.id))) === 1;
    [this.total, this.#done, this.#failed] = [Number(fields.total), Number(fields.done), Number(fields.failed)];
    const state = fields.state as BatchProgress["state"];
    this.#state = state === "running" && !isAlive ? "stopped" : state;
    return true;
  }

  async load(): Promise<void> {
    this.results.push(...(await this.#redis.lrange(linesName(this.id), this.results.length, -1)));
    this.#done = this.results.length;
  }

  progress(): BatchProgress {
    const { id, total } = this;
    return { id, state: this.#state, total, done: this.#done, failed: this.#failed };
  }

  async changed(): Promise<void> {
    await sleep(tellEveryMs);
    try {
      if (await this.look()) return await this.load();
    } catch {
      // Falls through: what cannot be seen any more has ended for the one who watches; the results so far are true.
    }
    this.#state = "stopped";
  }
}
