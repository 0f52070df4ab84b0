declare const keyBrand: unique symbol;

/** 64 lower-case hex digits: the SHA-256 that names a cached record. */
export type Key = string & { readonly [keyBrand]: true };

export type TierName = "memory" | "disk" | "shared";

/** Counters of one tier. `bytes` is what the tier really takes: heap bytes in memory, file-system bytes on disk. */
export interface TierStats {
  readonly name: TierName;
  readonly entries: number;
  readonly bytes: number;
  readonly capacityBytes: number;
  readonly hits: number;
  readonly misses: number;
  readonly puts: number;
  readonly evictions: number;
  readonly corrupt: number;
  /** Operations that the tier could not do: a full or read-only disk, a lost connection. */
  readonly errors: number;
}

/** What a lookup found besides the value; the caller owns it, tiers set it. */
export interface Lookup {
  /** A tier held the key but its bytes were damaged. */
  corrupt: boolean;
  /** Not a request's lookup: leaves the hit and miss counters alone. */
  readonly quiet?: boolean;
  /** This machine's tiers only: the shared one was asked just now. */
  readonly near?: boolean;
  /** The value is for one answer, as of thousands: the disk keeps no copy of what the shared tier has. */
  readonly passing?: boolean;
}

/** One level of the shader cache. Keys are 64 hex digits; values are whole cached records. */
export interface Tier {
  readonly name: TierName;
  /** Undefined on a miss. A corrupt entry is a miss: counted, dropped, never thrown. */
  get(key: Key, lookup?: Lookup): Promise<Uint8Array | undefined>;
  /** Idempotent; does not fail the caller. A tier that cannot store says so in stats(). */
  put(key: Key, value: Uint8Array): Promise<void>;
  /** True when the key was there. */
  delete(key: Key): Promise<boolean>;
  /** Drops every entry; answers how many there were. */
  clear(): Promise<number>;
  /** Counts an entry whose bytes the reader could not decode, and drops it. */
  reject(key: Key): Promise<void>;
  stats(): TierStats;
  close(): Promise<void>;
}

/** The events that a tier counts; each is one counter `tier.<name>.<event>`. */
export const tierEvents = ["hits", "misses", "puts", "evictions", "corrupt", "errors"] as const;
export type TierEvent = (typeof tierEvents)[number];

export function isKey(text: string): text is Key {
  return /^[0-9a-f]{64}$/.test(text);
}
