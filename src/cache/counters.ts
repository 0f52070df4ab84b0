/** Where counters outlive the process. Several processes may add to one store. */
export interface CounterStore {
  /** Sums of all processes, as last committed. */
  read(): Readonly<Record<string, number>>;
  /** Adds the deltas in one transaction. Throws where the store cannot write. */
  add(deltas: Readonly<Record<string, number>>): Promise<void>;
}

/**
 * Named counters: what a store holds, plus what this process has counted since its last flush. At most the time between
 * two flushes is lost when the process is killed.
 */
export class Counters {
  #pending: Record<string, number> = {};
  #flushing: Record<string, number> = {};
  #running: Promise<void> | undefined;
  readonly #store: CounterStore | undefined;
  readonly #own: Record<string, number> = {};

  constructor(store?: CounterStore) {
    this.#store = store;
  }

  add(name: string, amount = 1): void {
    this.#pending[name] = (this.#pending[name] ?? 0) + amount;
  }

  /** All counters: stored and not yet stored. */
  read(): Readonly<Record<string, number>> {
    const sums = { ...(this.#store === undefined ? this.#own : this.#store.read()) };
    for (const part of [this.#flushing, this.#pending]) {
      for (const [name, amount] of Object.entries(part)) sums[name] = (sums[name] ?? 0) + amount;
    }
    return sums;
  }

  /** Commits what is pending. A store that cannot write keeps it pending for the next flush. */
  async flush(): Promise<void> {
    if (this.#running !== undefined) await this.#running;
    if (Object.keys(this.#pending).length === 0) return;
    this.#running = this.#flushOnce();
    await this.#running;
    this.#running = undefined;
  }

  async #flushOnce(): Promise<void> {
    this.#flushing = this.#pending;
    this.#pending = {};
    const deltas = this.#flushing;
    if (this.#store === undefined) {
      for (const [name, amount] of Object.entries(deltas)) this.#own[name] = (this.#own[name] ?? 0) + amount;
      this.#flushing = {};
      return;
    }
    try {
      await this.#store.add(deltas);
      this.#flushing = {};
    } catch {
      // The disk is full or read-only: the tier counts that error where it stores records; here the sums are kept.
      this.#flushing = {};
      for (const [name, amount] of Object.entries(deltas)) this.add(name, amount);
    }
  }
}

/** Buckets of a duration histogram: eight to the octave, from 1 µs; a percentile is right to 9%. */
const bucketsPerOctave = 8;

export function durationBucket(microseconds: number): number {
  return Math.round(Math.log2(Math.max(1, microseconds)) * bucketsPerOctave);
}

/** The percentile of a histogram whose counters are `<prefix><bucket>`; 0 without samples. Microseconds. */
export function percentile(counters: Readonly<Record<string, number>>, prefix: string, fraction: number): number {
  const buckets = Object.entries(counters)
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, count]) => [Number(name.slice(prefix.length)), count] as const)
    .sort((a, b) => a[0] - b[0]);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [bucket, count] of buckets) {
    seen += count;
    if (seen >= fraction * total) return Math.round(2 ** (bucket / bucketsPerOctave));
  }
  return 0;
}

/** How many samples of such a histogram are at most each of the ascending limits. Microseconds. */
export function countsUpTo(
  counters: Readonly<Record<string, number>>,
  prefix: string,
  limits: readonly number[],
): { readonly counts: readonly number[]; readonly total: number } {
  const counts = limits.map(() => 0);
  let total = 0;
  for (const [name, count] of Object.entries(counters)) {
    if (!name.startsWith(prefix)) continue;
    const value = 2 ** (Number(name.slice(prefix.length)) / bucketsPerOctave);
    total += count;
    for (const [i, limit] of limits.entries()) if (value <= limit) counts[i] = (counts[i] as number) + count;
  }
  return { counts, total };
}
