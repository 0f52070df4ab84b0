import { setTimeout as sleep } from "node:timers/promises";
import type { Redis } from "ioredis";
import type { Batch, BatchProgress, BatchView } from "./batch.ts";

/** Results are kept for this long after the last of them. */
const keptSeconds = 3600;
/** A batch whose server has not told that it lives for this long has stopped. */
const aliveMs = 15_000;
const tellEveryMs = 200;
const linesAtOnce = 500;
/** After a telling that failed the next is tried this much later. */
const retryMs = 500;
/** The end of a batch is told for this long to a Redis that does not take it. */
const lastWordMs = 60_000;
/** A server that ends waits for this long at most for a Redis that does not take the last word. */
const farewellMs = 3000;
/** An answer waits for this long at most until other servers know the batch that it names. */
const firstWordMs = 1000;

const stateName = (id: string) => `kiln:batch:${id}`;
const linesName = (id: string) => `kiln:batch:${id}:lines`;
const aliveName = (id: string) => `kiln:batch:${id}:alive`;

/** Batches where every server of a farm can see them: a proxy may send a question to any. */
export class BatchBoard {
  readonly #connect: () => Promise<Redis | undefined>;
  readonly #following = new Set<Promise<void>>();
  /** Since when the server ends; 0: it does not. */
  #closingSince = 0;

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
      const following = this.#follow(batch, resolve).finally(() => {
        this.#following.delete(following);
        resolve();
      });
      this.#following.add(following);
      setTimeout(resolve, firstWordMs).unref();
    });
  }

  /** Does not throw: what a Redis in trouble did not take is told again when it is back. */
  async #follow(batch: Batch, onShown: () => void): Promise<void> {
    let shown = 0;
    /** When it was last running, or told. */
    let since = performance.now();
    let isSure = true;
    for (;;) {
      const changed = batch.changed();
      const { state } = batch.progress();
      try {
        const redis = await this.#connect();
        if (redis === undefined) throw new Error("Redis does not answer");
        if (!isSure) shown = await this.#stillShown(redis, batch);
        isSure = true;
        const told = await this.#tell(redis, batch, state, shown);
        shown += told;
        since = performance.now();
        onShown();
      } catch {
        isSure = false;
        if (state === "running") since = performance.now();
        else if (this.#hasWaited() || performance.now() - since > lastWordMs) return;
        await sleep(retryMs);
        continue;
      }
      const isAll = shown === batch.results.length;
      if (state !== "running" && isAll) return;
      if (isAll) await Promise.race([changed, sleep(aliveMs / 3)]);
      await sleep(tellEveryMs);
    }
  }

  /** How many results are shown after a telling that failed: nobody else adds lines, so they are a start of them or wrong. */
  async #stillShown(redis: Redis, { id, results }: Batch): Promise<number> {
    const name = linesName(id);
    const [length, first, last] = [await redis.llen(name), await redis.lindex(name, 0), await redis.lindex(name, -1)];
    if (length === 0 || (first === results[0] && last === results[length - 1])) return length;
    await redis.del(name);
    return 0;
  }

  #hasWaited(): boolean {
    return this.#closingSince > 0 && performance.now() - this.#closingSince > farewellMs;
  }

  /**
   * Adds some of the lines behind those that are shown, then tells how the batch stands; answers how many. Errors where
   * other lines are there than were shown: a client repeats by itself what a Redis that has gone did not answer, to one
   * that has come back empty.
   */
  async #tell(redis: Redis, batch: Batch, state: BatchProgress["state"], shown: number): Promise<number> {
    const { total, failed } = batch.progress();
    const lines = batch.results.slice(shown, shown + linesAtOnce);
    const done = shown + lines.length;
    const name = linesName(batch.id);
    const length = lines.length > 0 ? await redis.rpush(name, ...lines) : await redis.llen(name);
    if (length !== done) {
      await redis.del(name);
      throw new Error(`${length} lines are shown in place of ${done}`);
    }
    const tell = redis.multi();
    tell.hset(stateName(batch.id), { state: done === batch.results.length ? state : "running", total, done, failed });
    for (const key of [name, stateName(batch.id)]) tell.expire(key, keptSeconds);
    tell.set(aliveName(batch.id), "1", "PX", aliveMs);
    for (const [error] of (await tell.exec()) ?? []) if (error !== null) throw error;
    return lines.length;
  }

  /** A batch of another server; undefined where none shows it. */
  async find(id: string): Promise<BatchView | undefined> {
    if (!/^[0-9a-f-]{36}$/.test(id)) return undefined;
    const redis = await this.#connect();
    if (redis === undefined) return undefined;
    const view = new ShownBatch(redis, id);
    if (!(await view.look())) return undefined;
    // Its server may be about to tell it anew, to a Redis that has just come back.
    if (!view.isAlive) {
      await sleep(3 * retryMs);
      await view.look();
    }
    return view;
  }

  /** Waits until the last word on each batch is shown, a few seconds at most where Redis does not take it. */
  async close(): Promise<void> {
    this.#closingSince = performance.now();
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
  #seenAt = performance.now();
  total = 0;
  /** Its server lives, or it has ended. */
  isAlive = true;

  constructor(redis: Redis, id: string) {
    this.#redis = redis;
    this.id = id;
  }

  /** How it stands now; false where the batch is not shown. */
  async look(): Promise<boolean> {
    const fields = await this.#redis.hgetall(stateName(this.id));
    if (fields.state === undefined) return false;
    const lives = (await this.#redis.exists(aliveName(this.id))) === 1;
    [this.total, this.#done, this.#failed] = [Number(fields.total), Number(fields.done), Number(fields.failed)];
    const state = fields.state as BatchProgress["state"];
    this.isAlive = lives || state !== "running";
    this.#state = this.isAlive ? state : "stopped";
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

  /** What was not to be seen for long has ended for the one who watches; the results so far are true. */
  async changed(): Promise<void> {
    await sleep(tellEveryMs);
    try {
      if ((await this.look()) && this.isAlive) {
        await this.load();
        this.#seenAt = performance.now();
        return;
      }
    } catch {
      // Falls through: Redis may be back soon.
    }
    this.#state = performance.now() - this.#seenAt > aliveMs ? "stopped" : "running";
  }
}
