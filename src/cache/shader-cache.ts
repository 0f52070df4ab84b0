import { CounterFile } from "./counter-file.ts";
import { Counters } from "./counters.ts";
import { ReadOnlyFolder } from "./disk-folder.ts";
import { DiskTier } from "./disk-tier.ts";
import { FolderLeases } from "./folder-leases.ts";
import { type History, type Identity, MemoryHistory, type MissReason, missReason, missReasons } from "./history.ts";
import { type Leases, leadOrWait } from "./lease.ts";
import { MemoryTier } from "./memory-tier.ts";
import { loadStore } from "./open-store.ts";
import { SharedTier } from "./shared-tier.ts";
import type { Key, Lookup, Tier, TierName, TierStats } from "./tier.ts";

/** What a killed process loses of its counts, and some time for the flush itself: within a second in all. */
const flushEveryMs = 400;

export interface ShaderCacheOptions {
  readonly memoryBytes: number;
  /** Without a folder the cache is in memory only. */
  readonly disk?: { readonly folder: string; readonly capacityBytes: number };
  /** A store that other machines use too; `secret` signs what goes there. */
  readonly shared?: { readonly url: string; readonly secret?: string; readonly timeoutMs?: number };
}

const sharedTimeoutMs = 500;

function ignoreReadOnly(error: unknown): void {
  if (!(error instanceof ReadOnlyFolder)) throw error;
}

/** The tiers in order, nearest first, with their counters and the history that explains misses. */
export class ShaderCache {
  readonly tiers: readonly Tier[];
  readonly #memory: MemoryTier;
  readonly disk: DiskTier | undefined = undefined;
  readonly counters: Counters;
  readonly #far: SharedTier | undefined;
  readonly #history: History;
  readonly #leases: readonly Leases[];
  readonly #folderLeases: FolderLeases | undefined = undefined;
  readonly #flushTimer: NodeJS.Timeout;

  constructor(options: ShaderCacheOptions) {
    this.counters = new Counters(options.disk === undefined ? undefined : new CounterFile(options.disk.folder));
    const { counters, disk } = { counters: this.counters, disk: options.disk };
    const bounds = { capacityBytes: options.memoryBytes, counters };
    const shared = options.shared && this.#shared(options.shared);
    const far = shared === undefined ? [] : [shared];
    this.#far = shared;
    if (disk === undefined) {
      const history = new MemoryHistory();
      this.#history = history;
      this.#memory = new MemoryTier({ ...bounds, onEvict: (key) => history.markEvicted(key) });
      this.tiers = [this.#memory, ...far];
      this.#leases = far;
    } else {
      const memory = new MemoryTier(bounds);
      // Any process of the folder may purge, and none serves from its memory what is gone.
      const onPurge = (key: Key | undefined) => void (key === undefined ? memory.clear() : memory.delete(key));
      this.disk = new DiskTier({ ...disk, counters, onPurge });
      this.#history = this.disk;
      this.#memory = memory;
      this.tiers = [this.#memory, this.disk, ...far];
      this.#folderLeases = new FolderLeases(disk.folder);
      this.#leases = [this.#folderLeases, ...far];
    }
    this.#flushTimer = setInterval(() => {
      this.disk?.follow();
      void this.counters.flush();
    }, flushEveryMs).unref();
  }

  #shared({ url, secret, timeoutMs = sharedTimeoutMs }: NonNullable<ShaderCacheOptions["shared"]>): SharedTier {
    const load = () => loadStore(url, timeoutMs);
    return new SharedTier({ load, counters: this.counters, timeoutMs, ...(secret !== undefined && { secret }) });
  }

  /** `work` by one process at a time of all that share a folder or store; the others get what `find` then finds. */
  lead<T>(
    key: Key,
    patienceMs: number,
    find: (sawNoRecord: boolean) => Promise<T | undefined>,
    work: () => Promise<T>,
  ): Promise<T> {
    return leadOrWait(this.#leases, key, patienceMs, find, work);
  }

  /** The nearest tier's value; nearer tiers get a copy. */
  async get(key: Key, lookup?: Lookup): Promise<{ readonly value: Uint8Array; readonly tier: TierName } | undefined> {
    for (const [depth, tier] of this.tiers.entries()) {
      if (tier.name === "shared" && lookup?.near === true) continue;
      const value = await tier.get(key, lookup);
      if (value === undefined) continue;
      for (const nearer of this.tiers.slice(0, depth)) {
        if (nearer.name !== "disk" || lookup?.passing !== true) await nearer.put(key, value);
      }
      return { value, tier: tier.name };
    }
    return undefined;
  }

  /** `get` for a caller that has the value from before: true where the memory tier still holds these very bytes. */
  hitAgain(key: Key, value: Uint8Array): boolean {
    return this.#memory.hitAgain(key, value);
  }

  /** `passing` as of a lookup. */
  async put(key: Key, value: Uint8Array, passing = false): Promise<void> {
    if (passing && this.disk !== undefined && this.#far !== undefined) {
      const [isKept] = await Promise.all([this.#far.keep(key, value), this.#memory.put(key, value)]);
      if (!isKept) await this.disk.put(key, value);
      return;
    }
    await Promise.all(this.tiers.map((tier) => tier.put(key, value)));
  }

  /** For a value that passed the tier's checksum but could not be decoded: counted as corrupt and dropped everywhere. */
  async reject(key: Key, tier: TierName, lookup?: Lookup): Promise<void> {
    if (lookup?.quiet !== true) {
      this.counters.add(`tier.${tier}.hits`, -1);
      this.counters.add(`tier.${tier}.misses`);
    }
    for (const each of this.tiers) {
      if (each.name === tier) await each.reject(key);
      else await each.delete(key).catch(ignoreReadOnly);
    }
  }

  /** Farthest first, so that none gets back what is to go from one behind it. Errors: the first, after all had their turn. */
  async #purge<T>(operation: (tier: Tier) => Promise<T>): Promise<T[]> {
    const [done, failed]: [T[], unknown[]] = [[], []];
    for (const tier of [...this.tiers].reverse()) {
      await operation(tier).then(
        (answer) => done.push(answer),
        (error: unknown) => failed.push(error),
      );
    }
    if (failed.length > 0) throw failed[0];
    return done;
  }

  /** True when a tier had it. Errors: `ReadOnlyFolder` where the disk's record stays. */
  async delete(key: Key): Promise<boolean> {
    return (await this.#purge((tier) => tier.delete(key))).includes(true);
  }

  /** Drops every entry of every tier; answers how many different ones there were at least. Errors: `ReadOnlyFolder`. */
  async clear(): Promise<number> {
    return Math.max(...(await this.#purge((tier) => tier.clear())));
  }

  /** The first reason that fits a miss. */
  missReason(identity: Identity, lookup: Lookup): MissReason {
    return missReason(this.#history, identity, lookup.corrupt);
  }

  /** A request that was a miss; the tiers count for themselves. */
  countMiss(reason: MissReason): void {
    this.counters.add(`misses.${reason}`);
  }

  /** A hit for one that did not ask the tier itself: it waited for who did. */
  countHit(tier: TierName): void {
    this.counters.add(`tier.${tier}.hits`);
  }

  remember(identity: Identity): void {
    this.#history.remember(identity);
  }

  tierStats(): readonly TierStats[] {
    return this.tiers.map((tier) => tier.stats());
  }

  missCounts(): Readonly<Record<MissReason, number>> {
    const all = this.counters.read();
    return Object.fromEntries(missReasons.map((reason) => [reason, all[`misses.${reason}`] ?? 0])) as Record<
      MissReason,
      number
    >;
  }

  async close(): Promise<void> {
    clearInterval(this.#flushTimer);
    for (const tier of this.tiers) await tier.close();
    this.#folderLeases?.close();
    await this.counters.flush();
  }
}
