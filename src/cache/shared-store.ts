import type { Lease } from "./lease.ts";
import type { Key } from "./tier.ts";

/** What a store says of itself; it may hold more than our records. */
export interface StoreSize {
  readonly entries: number;
  readonly bytes: number;
  readonly capacityBytes: number;
}

/**
 * A store on another machine. Bytes as they are: checks are the tier's. Every operation may throw or take long; the tier
 * bounds and counts that.
 */
export interface SharedStore {
  get(key: Key): Promise<Uint8Array | undefined>;
  put(key: Key, bytes: Uint8Array): Promise<void>;
  delete(key: Key): Promise<boolean>;
  /** Drops every record of ours; answers how many. */
  clear(): Promise<number>;
  size(): Promise<StoreSize>;
  /** Undefined while another holds it. Absent where the store knows no leases. */
  acquire?(key: Key): Promise<Lease | undefined>;
  close(): Promise<void>;
}

/** Connects, within the time that the tier gives any operation. */
export type StoreOpener = () => Promise<SharedStore>;
