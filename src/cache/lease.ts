import { setTimeout as sleep } from "node:timers/promises";
import type { Key } from "./tier.ts";

/** A holder says that it lives this often, and one that has not for `leaseMs` lost its lease. */
const heartbeatMs = 1000;
export const leaseMs = 4000;

/** The right to compile one input, for as long as the holder lives and has not released it. */
export interface Lease {
  /** When it was granted, its place held no record under its key either. */
  readonly sawNoRecord?: boolean;
  release(): Promise<void>;
}

/** Grants one lease a key among all that use the same place: a folder, a server. */
export interface Leases {
  /** Undefined while another holds it. Does not fail the caller: a place that cannot say grants. */
  acquire(key: Key): Promise<Lease | undefined>;
}

/** A granted lease that others do not see. */
export const freeLease: Lease = { release: async () => {} };

/** Repeats `beat` while the lease is held. */
export function heartbeat(beat: () => Promise<void> | void): { stop(): void } {
  const timer = setInterval(() => void beat(), heartbeatMs).unref();
  return { stop: () => clearInterval(timer) };
}

/** All of them or none. */
async function acquireAll(places: readonly Leases[], key: Key): Promise<Lease | undefined> {
  const held: Lease[] = [];
  const release = async () => {
    for (const lease of held.splice(0).reverse()) await lease.release();
  };
  for (const place of places) {
    const lease = await place.acquire(key);
    if (lease === undefined) {
      await release();
      return undefined;
    }
    held.push(lease);
  }
  return { release, sawNoRecord: held.some((lease) => lease.sawNoRecord === true) };
}

/**
 * `work` by one holder of `key` at a time; the others wait for what `find` then finds. One that waited for `patienceMs`
 * works without a lease: a holder that lives but does not finish blocks nobody. `find` is told whether the places far
 * away were asked for the record together with the lease, and had none.
 */
export async function leadOrWait<T>(
  places: readonly Leases[],
  key: Key,
  patienceMs: number,
  find: (sawNoRecord: boolean) => Promise<T | undefined>,
  work: () => Promise<T>,
): Promise<T> {
  if (places.length === 0) return work();
  const until = performance.now() + patienceMs;
  for (let pauseMs = 5, waited = false; ; pauseMs = Math.min(pauseMs * 1.5, 100), waited = true) {
    const lease = performance.now() < until ? await acquireAll(places, key) : freeLease;
    // Between our look into the cache and the lease another may have finished.
    const found = await find(lease?.sawNoRecord === true);
    if (found !== undefined) {
      await lease?.release();
      return found;
    }
    if (lease !== undefined) {
      try {
        return await work();
      } finally {
        await lease.release();
      }
    }
    await sleep(waited ? pauseMs : 2);
  }
}
