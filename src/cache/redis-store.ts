import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import type { Redis } from "ioredis";
import { heartbeat, type Lease, leaseMs } from "./lease.ts";
import type { SharedStore, StoreOpener } from "./shared-store.ts";
import type { Key } from "./tier.ts";

type RedisClass = typeof Redis;

const recordName = (key: Key) => `kiln:record:${key}`;
const leaseName = (key: Key) => `kiln:lease:${key}`;

/** Only the holder's own lease is prolonged or given back. */
const giveBack = 'redis.call("get", KEYS[1]) == ARGV[1] and redis.call("del", KEYS[1]) or 0';
const scripts = {
  kilnProlong: {
    numberOfKeys: 1,
    lua: 'return redis.call("get", KEYS[1]) == ARGV[1] and redis.call("pexpire", KEYS[1], ARGV[2]) or 0',
  },
  kilnGiveBack: { numberOfKeys: 1, lua: `return ${giveBack}` },
  /** A lease where there is neither one nor a record: whoever gets it need not look for the record again. */
  kilnAcquire: {
    numberOfKeys: 2,
    lua: `if redis.call("exists", KEYS[2]) == 1 then return 0 end
return redis.call("set", KEYS[1], ARGV[1], "PX", ARGV[2], "NX") and 1 or 0`,
  },
  /** The record and the end of the lease in one: nobody sees neither. */
  kilnFinish: { numberOfKeys: 2, lua: `redis.call("set", KEYS[2], ARGV[2])\nreturn ${giveBack}` },
} as const;
type Scripts = Readonly<
  Record<keyof typeof scripts, (...args: readonly (string | number | Buffer)[]) => Promise<number>>
>;

/** An optional package, by a name that the bundler does not follow. */
const packageName = "ioredis";

/** Why a Redis store cannot be used here: undefined where its package is installed. Loads nothing. */
export function missingRedisPackage(): string | undefined {
  try {
    createRequire(import.meta.url).resolve(packageName);
    return undefined;
  } catch {
    return `a Redis cache needs the package ${packageName}: npm install ${packageName}`;
  }
}

/** Redis or Valkey. Which records stay is the server's to decide (`maxmemory-policy allkeys-lru`). */
export async function loadRedis(url: string, connectMs: number): Promise<StoreOpener> {
  const { Redis } = (await import(packageName)) as { Redis: RedisClass };
  return () => connect(Redis, url, connectMs);
}

async function connect(Client: RedisClass, url: string, connectMs: number): Promise<SharedStore> {
  const redis = new Client(url, {
    lazyConnect: true,
    connectTimeout: connectMs,
    // A command fails at once while there is no connection; the connection is tried again beside.
    enableOfflineQueue: false,
    // What several requests ask for in one turn goes out together.
    enableAutoPipelining: true,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.min(times * 200, 2000),
  });
  // Told by the command that fails.
  redis.on("error", () => {});
  // `connectTimeout` ends with the connection; a server that says nothing on it is given up here.
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("the server does not answer")), connectMs);
  });
  try {
    await Promise.race([redis.connect(), late]);
  } catch (error) {
    redis.disconnect();
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return new RedisStore(redis);
}

class RedisStore implements SharedStore {
  readonly #redis: Redis & Scripts;
  /** Leases of ours, by key: a record that is stored under one ends it. */
  readonly #held = new Map<Key, { readonly token: string; readonly stop: () => void }>();

  constructor(redis: Redis) {
    for (const [name, script] of Object.entries(scripts)) redis.defineCommand(name, script);
    this.#redis = redis as Redis & Scripts;
  }

  async get(key: Key): Promise<Uint8Array | undefined> {
    return (await this.#redis.getBuffer(recordName(key))) ?? undefined;
  }

  async put(key: Key, bytes: Uint8Array): Promise<void> {
    const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const held = this.#held.get(key);
    if (held === undefined) {
      await this.#redis.set(recordName(key), value);
      return;
    }
    await this.#redis.kilnFinish(leaseName(key), recordName(key), held.token, value);
    held.stop();
  }

  async delete(key: Key): Promise<boolean> {
    return (await this.#redis.unlink(recordName(key))) > 0;
  }

  async clear(): Promise<number> {
    let [cursor, count] = ["0", 0];
    do {
      const [next, names] = await this.#redis.scan(cursor, "MATCH", "kiln:record:*", "COUNT", 1000);
      if (names.length > 0) count += await this.#redis.unlink(names);
      cursor = next;
    } while (cursor !== "0");
    return count;
  }

  async size() {
    const [entries, info] = await Promise.all([this.#redis.dbsize(), this.#redis.info("memory")]);
    const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1] ?? 0);
    return { entries, bytes: field("used_memory"), capacityBytes: field("maxmemory") };
  }

  async acquire(key: Key): Promise<Lease | undefined> {
    const name = leaseName(key);
    const token = randomUUID();
    if ((await this.#redis.kilnAcquire(name, recordName(key), token, leaseMs)) !== 1) return undefined;
    const beat = heartbeat(async () => {
      await this.#redis.kilnProlong(name, token, leaseMs).catch(() => {});
    });
    const held = {
      token,
      stop: () => {
        beat.stop();
        if (this.#held.get(key) === held) this.#held.delete(key);
      },
    };
    this.#held.set(key, held);
    return {
      sawNoRecord: true,
      release: async () => {
        if (this.#held.get(key) !== held) return;
        held.stop();
        // A lease that cannot be given back ends by itself.
        await this.#redis.kilnGiveBack(name, token).catch(() => {});
      },
    };
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
  }
}
