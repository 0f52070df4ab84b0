import { LRUCache } from "lru-cache";
import type { Counters } from "./counters.ts";
import type { Key, Lookup, Tier, TierEvent, TierStats } from "./tier.ts";
import { counterNames, countersOf } from "./tier-counters.ts";

const names = counterNames("memory");

/** Bytes that an entry takes beside its value: key string, list node, map slot (measured on V8, rounded up). */
const entryOverheadBytes = 256;

export interface MemoryTierOptions {
  readonly capacityBytes: number;
  readonly counters: Counters;
  readonly onEvict?: (key: Key) => void;
}

/** The first level: values by reference, bounded by bytes, least recently used out first. */
export class MemoryTier implements Tier {
  readonly name = "memory";
  readonly #entries: LRUCache<Key, Uint8Array>;
  readonly #options: MemoryTierOptions;

  constructor(options: MemoryTierOptions) {
    this.#options = options;
    this.#entries = new LRUCache<Key, Uint8Array>({
      maxSize: Math.max(1, options.capacityBytes),
      sizeCalculation: (value) => value.byteLength + entryOverheadBytes,
      dispose: (_value, key, reason) => {
        if (reason !== "evict") return;
        this.#count("evictions");
        options.onEvict?.(key);
      },
    });
  }

  #count(event: TierEvent): void {
    this.#options.counters.add(names[event]);
  }

  /** True where `key` still has these very bytes: a hit, counted and used like that of `get`. Else nothing is counted. */
  hitAgain(key: Key, value: Uint8Array): boolean {
    if (this.#entries.get(key) !== value) return false;
    this.#count("hits");
    return true;
  }

  async get(key: Key, lookup?: Lookup): Promise<Uint8Array | undefined> {
    const value = this.#entries.get(key);
    if (lookup?.quiet !== true) this.#count(value === undefined ? "misses" : "hits");
    return value;
  }

  async put(key: Key, value: Uint8Array): Promise<void> {
    this.#entries.set(key, value);
    if (this.#entries.has(key)) this.#count("puts");
  }

  async delete(key: Key): Promise<boolean> {
    return this.#entries.delete(key);
  }

  async clear(): Promise<number> {
    const count = this.#entries.size;
    this.#entries.clear();
    return count;
  }

  async reject(key: Key): Promise<void> {
    this.#count("corrupt");
    this.#entries.delete(key);
  }

  stats(): TierStats {
    return {
      name: this.name,
      entries: this.#entries.size,
      bytes: this.#entries.calculatedSize,
      capacityBytes: this.#options.capacityBytes,
      ...countersOf(this.#options.counters.read(), this.name),
    };
  }

  async close(): Promise<void> {
    this.#entries.clear();
  }
}
