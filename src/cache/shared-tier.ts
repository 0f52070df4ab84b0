import { createHmac, timingSafeEqual } from "node:crypto";
import { Breaker } from "./breaker.ts";
import type { Counters } from "./counters.ts";
import { freeLease, type Lease, type Leases } from "./lease.ts";
import { openRecord, sealRecord } from "./record-file.ts";
import type { SharedStore, StoreOpener, StoreSize } from "./shared-store.ts";
import type { Key, Lookup, Tier, TierEvent, TierStats } from "./tier.ts";
import { countersOf } from "./tier-counters.ts";

const macBytes = 32;
const sizeEveryMs = 5000;

export interface SharedTierOptions {
  /** Loads the store's client at the first use, however long that takes. To connect is an operation like any other. */
  readonly load: () => Promise<StoreOpener>;
  readonly counters: Counters;
  /** With it records carry a MAC, and those without a true one are corrupt: the store need not be trusted. */
  readonly secret?: string;
  /** An operation that takes longer failed. Default 500 ms. */
  readonly timeoutMs?: number;
}

/** The third level: a store that several machines share. When it is down the cache is slower, never wrong. */
export class SharedTier implements Tier, Leases {
  readonly name = "shared";
  readonly #options: SharedTierOptions;
  readonly #breaker: Breaker;
  #opener: Promise<StoreOpener> | undefined;
  #store: Promise<SharedStore> | undefined;
  #opened: SharedStore | undefined;
  #size: StoreSize = { entries: 0, bytes: 0, capacityBytes: 0 };
  #sizedAt = Number.NEGATIVE_INFINITY;

  constructor(options: SharedTierOptions) {
    this.#options = options;
    this.#breaker = new Breaker(options.timeoutMs ?? 500, () => this.#count("errors"));
  }

  #count(event: TierEvent): void {
    this.#options.counters.add(`tier.shared.${event}`);
  }

  /** The operation's answer; `otherwise` where the store fails, is slow, or failed lately. */
  async #ask<T>(otherwise: T, operation: (store: SharedStore) => Promise<T>): Promise<T> {
    this.#opener ??= this.#options.load();
    let open: StoreOpener;
    try {
      open = await this.#opener;
    } catch {
      this.#count("errors");
      return otherwise;
    }
    return this.#breaker.run(otherwise, async () => operation(await this.#connected(open)));
  }

  async #connected(open: StoreOpener): Promise<SharedStore> {
    this.#store ??= open();
    const opening = this.#store;
    try {
      this.#opened = await opening;
      return this.#opened;
    } catch (error) {
      if (this.#store === opening) this.#store = undefined;
      throw error;
    }
  }

  #mac(key: Key, sealed: Uint8Array): Buffer {
    return createHmac("sha256", this.#options.secret ?? "")
      .update(key)
      .update(sealed)
      .digest();
  }

  #seal(key: Key, value: Uint8Array): Uint8Array {
    const sealed = sealRecord(key, value);
    return this.#options.secret === undefined ? sealed : Buffer.concat([this.#mac(key, sealed), sealed]);
  }

  #open(key: Key, bytes: Uint8Array): Uint8Array | undefined {
    const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (this.#options.secret === undefined) return openRecord(key, file);
    if (file.byteLength < macBytes) return undefined;
    const sealed = file.subarray(macBytes);
    if (!timingSafeEqual(file.subarray(0, macBytes), this.#mac(key, sealed))) return undefined;
    return openRecord(key, sealed);
  }

  async get(key: Key, lookup?: Lookup): Promise<Uint8Array | undefined> {
    const bytes = await this.#ask(undefined, (store) => store.get(key));
    const value = bytes && this.#open(key, bytes);
    if (lookup?.quiet !== true) this.#count(value === undefined ? "misses" : "hits");
    if (bytes !== undefined && value === undefined) {
      if (lookup !== undefined) lookup.corrupt = true;
      await this.reject(key);
    }
    return value;
  }

  async put(key: Key, value: Uint8Array): Promise<void> {
    await this.keep(key, value);
  }

  /** `put` that answers whether the store has it now. */
  async keep(key: Key, value: Uint8Array): Promise<boolean> {
    const stored = await this.#ask(false, async (store) => {
      await store.put(key, this.#seal(key, value));
      return true;
    });
    if (stored) this.#count("puts");
    return stored;
  }

  delete(key: Key): Promise<boolean> {
    return this.#ask(false, (store) => store.delete(key));
  }

  clear(): Promise<number> {
    return this.#ask(0, (store) => store.clear());
  }

  async reject(key: Key): Promise<void> {
    this.#count("corrupt");
    await this.delete(key);
  }

  async acquire(key: Key): Promise<Lease | undefined> {
    // A lookup came before: what is not open now could not be opened.
    if (this.#opened?.acquire === undefined) return freeLease;
    let isLate = false;
    const lease = await this.#ask<Lease | undefined>(freeLease, async (store) => {
      const granted = await store.acquire?.(key);
      // Nobody waits for it any more, and its heartbeat would keep it for ever.
      if (isLate) await granted?.release();
      return granted;
    });
    isLate = true;
    return lease;
  }

  /** Entries and bytes are what the store last said of itself, some seconds ago. */
  stats(): TierStats {
    if (performance.now() - this.#sizedAt > sizeEveryMs) {
      this.#sizedAt = performance.now();
      void this.#ask(this.#size, (store) => store.size()).then((size) => {
        this.#size = size;
      });
    }
    return { name: this.name, ...this.#size, ...countersOf(this.#options.counters.read(), this.name) };
  }

  async close(): Promise<void> {
    const store = await this.#store?.catch(() => undefined);
    await store?.close();
  }
}
