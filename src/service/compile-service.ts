import { Bug, type Diagnostic } from "../base/index.ts";
import {
  countsUpTo,
  durationBucket,
  isKey,
  type Key,
  type Lookup,
  type MissReason,
  percentile,
  ReadOnlyFolder,
  type ShaderCache,
  type TierName,
  type TierStats,
} from "../cache/index.ts";
import { type CompileRecord, type CompileRequest, defaultRequest, StoredRecord } from "../codeobj/index.ts";
import type { BuildInfo } from "./build-id.ts";
import { ServiceError, serviceError } from "./codes.ts";
import type { CompilePool, PoolStats } from "./compile-pool.ts";
import { neutralFilename, neutralLinkedFilename, renameDiagnostics, renameRecord } from "./file-names.ts";
import { addWay, CanonicalTexts, type Manifest, RequestKeys, readManifest } from "./request-key.ts";
import type { CompileTask, ReportName, TaskReports } from "./task.ts";

export type CacheOutcome = "miss" | "joined" | TierName;

export interface CompileSuccess {
  readonly ok: true;
  readonly key: Key;
  readonly cache: CacheOutcome;
  /** Of a miss. */
  readonly missReason?: MissReason;
  /** The record as the cache keeps it: places in it name no file of the request. Its bytes are for `hitAgain`. */
  readonly stored: StoredRecord;
  /** All of it, with the request's file name; read when it is asked for. */
  readonly record: CompileRecord;
  readonly reports?: TaskReports;
}

class Success implements CompileSuccess {
  readonly ok = true;
  readonly key: Key;
  readonly cache: CacheOutcome;
  readonly stored: StoredRecord;
  readonly #filename: string;
  readonly missReason?: MissReason;
  readonly reports?: TaskReports;

  constructor(
    found: Pick<CompileSuccess, "key" | "cache" | "stored" | "missReason">,
    filename: string,
    reports?: TaskReports,
  ) {
    this.key = found.key;
    this.cache = found.cache;
    this.stored = found.stored;
    this.#filename = filename;
    if (found.missReason !== undefined) this.missReason = found.missReason;
    if (reports !== undefined) this.reports = reports;
  }

  get record(): CompileRecord {
    return renameRecord(this.stored.record, neutralFilename, this.#filename);
  }
}

interface CompileRefusal {
  readonly ok: false;
  readonly diagnostics: readonly Diagnostic[];
  readonly cache: "miss" | "joined";
  readonly missReason?: MissReason;
}

export type CompileAnswer = CompileSuccess | CompileRefusal;

/** What a farm's worker found a request to be. */
export interface Elsewhere {
  readonly cache: CacheOutcome;
  readonly missReason?: MissReason;
}

/**
 * Who counts a request: `own`, this process, as what it is here; `none`, the process that it is compiled for; else this
 * process, as what it was on the farm.
 */
type Ledger = "own" | "none" | Elsewhere;

interface RecentFailure {
  readonly at: string;
  readonly code: string;
  readonly message: string;
  readonly id: string;
}

/**
 * What `GET /cache/stats` answers. Each request that ended is one of these: a hit of a tier, a miss, joined, failed. Their
 * sum is `requests`, at any moment and after any kill.
 */
interface CacheStatistics {
  readonly tiers: readonly TierStats[];
  readonly requests: number;
  readonly hitRate: number;
  readonly joined: number;
  readonly misses: Readonly<Record<string, number>>;
  /** Requests that ended with an error that is not the shader's: a full queue, a limit. */
  readonly failed: number;
  /** Done by this process's workers, or by those of others on the folder. */
  readonly compiles: number;
  /** Done by a farm for requests of this server. */
  readonly farmCompiles: number;
  readonly compileMicroseconds: { readonly p50: number; readonly p90: number; readonly p99: number };
  /** Hits that were compiled again, and those that differed. */
  readonly verify: { readonly checked: number; readonly wrong: number };
  readonly since: string;
  readonly recentFailures: readonly RecentFailure[];
}

interface CompileTimes {
  readonly counts: readonly number[];
  readonly total: number;
  readonly sumMicroseconds: number;
}

interface CompileServiceOptions {
  readonly cache: ShaderCache;
  readonly pool: CompilePool;
  readonly build: BuildInfo;
  /** Share of the hits that are compiled again and compared, as far as `verifyShare` goes; default none. */
  readonly verifyRate?: number;
  /** Sees each compile that was done here, for whoever debugs. */
  readonly onCompiled?: (key: Key, record: CompileRecord, microseconds: number, reports?: TaskReports) => void;
  /** What is added to each compile's task, for whoever debugs. */
  readonly debugTask?: Pick<CompileTask, "reports" | "dumpAfter" | "checked">;
  /** A mistake of ours, for the operator's log. */
  readonly onBug?: (id: string, detail: string) => void;
}

interface Hit {
  readonly key: Key;
  readonly cache: TierName;
  readonly stored: StoredRecord;
  /** The tier has counted it. */
  readonly isCounted: boolean;
}

type Flight =
  | Hit
  | { readonly key: Key; readonly cache: "miss"; readonly stored: StoredRecord; readonly missReason: MissReason }
  | { readonly cache: "miss"; readonly diagnostics: readonly Diagnostic[]; readonly missReason: MissReason };

const maxFailures = 20;
/** Verifying takes this share of one processor at most, however many hits there are. */
const verifyShare = 0.02;
/** Names no pass: the core then reports the last IR only. */
const finalIr = ["none"];
const maxDiagnostics = 100;

/** Cache, else compile; one compile for requests that come at the same time. */
export class CompileService {
  readonly build: BuildInfo;
  readonly #options: CompileServiceOptions;
  readonly #flights = new Map<Key, Promise<Flight>>();
  /** Opened records, kept as long as the memory tier keeps their bytes. */
  readonly #opened = new WeakMap<Uint8Array, StoredRecord>();
  readonly #failures: RecentFailure[] = [];
  readonly #started = Date.now();
  #isHealthy = false;
  readonly #texts = new CanonicalTexts();
  /** Hits until the next one is compiled again. */
  #untilSample: number;
  #isVerifying = false;
  #verifyAgainAt = 0;

  constructor(options: CompileServiceOptions) {
    this.#options = options;
    this.#untilSample = hitsToSample(options.verifyRate);
    this.build = options.build;
  }

  /** Errors: `ServiceError`. `reports` are compiled for anew and leave the `cache` of the answer alone. */
  async compile(
    request: CompileRequest,
    reports: readonly ReportName[] = [],
    ledger: Ledger = "own",
  ): Promise<CompileAnswer> {
    const keys = new RequestKeys(request, this.build.buildId, this.#texts);
    const running = this.#flights.get(keys.flightKey);
    const done = await (running ?? this.#start(request, keys, ledger)).catch((error) => {
      if (ledger !== "none") this.countFailure();
      throw error;
    });
    const isFirst = running === undefined;
    if (ledger !== "none") this.#count(done, isFirst, ledger);
    const joined = !isFirst && done.cache === "miss" ? ({ cache: "joined", missReason: undefined } as const) : {};
    if ("diagnostics" in done) {
      const { filename, linked } = request;
      const named = renameDiagnostics(done.diagnostics, neutralFilename, filename);
      const diagnostics = renameDiagnostics(named, neutralLinkedFilename, linked?.filename ?? filename);
      return { ok: false, cache: done.cache, missReason: done.missReason, ...joined, diagnostics } as CompileRefusal;
    }
    const found = { ...done, ...joined } as Pick<CompileSuccess, "key" | "cache" | "stored" | "missReason">;
    const asked = reports.length === 0 ? undefined : await this.#reports(request, reports, done.key);
    return new Success(found, request.filename, asked);
  }

  /** In one turn with `requests`, so that no flush comes between, and no kill. */
  #count(done: Flight, isFirst: boolean, ledger: "own" | Elsewhere): void {
    if (done.cache === "miss") {
      this.#countOutcome(isFirst ? done : { cache: "joined" });
      return;
    }
    if (ledger !== "own") {
      this.countElsewhere(ledger);
      return;
    }
    this.#countOutcome(done);
    if (!isFirst || !done.isCounted) this.#options.cache.countHit(done.cache);
  }

  #countOutcome({ cache: outcome, missReason }: Elsewhere): void {
    const { cache } = this.#options;
    cache.counters.add("requests");
    if (outcome === "joined") cache.counters.add("joined");
    else if (outcome === "miss") cache.countMiss(missReason ?? "cold");
    else cache.counters.add("hits");
  }

  /** A request whose answer came from the farm alone, as what it was there. */
  countElsewhere(outcome: Elsewhere): void {
    const { cache } = this.#options;
    this.#countOutcome(outcome);
    if (outcome.cache === "miss") cache.counters.add("farmCompiles");
    else if (outcome.cache !== "joined") cache.countHit(outcome.cache);
  }

  /** A request that ended with an error. */
  countFailure(): void {
    const { counters } = this.#options.cache;
    counters.add("requests");
    counters.add("failed");
  }

  /**
   * For a request that is the same as one that was answered with `stored` under `key`. True: it is a hit in memory, and
   * counted as one. False: nothing is counted, and `compile` has to say what it is.
   */
  hitAgain(key: Key, stored: Uint8Array): boolean {
    const { cache } = this.#options;
    if (this.#untilSample <= 1 || !cache.hitAgain(key, stored)) return false;
    this.#untilSample--;
    cache.counters.add("requests");
    cache.counters.add("hits");
    return true;
  }

  #start(request: CompileRequest, keys: RequestKeys, ledger: Ledger): Promise<Flight> {
    const flight = this.#findOrCompile(request, keys, ledger).finally(() => this.#flights.delete(keys.flightKey));
    this.#flights.set(keys.flightKey, flight);
    return flight;
  }

  async #findOrCompile(request: CompileRequest, keys: RequestKeys, ledger: Ledger): Promise<Flight> {
    const { cache, pool } = this.#options;
    const lookup: Lookup = { corrupt: false, quiet: ledger !== "own", passing: ledger !== "own" };
    const hit = await this.#lookUp(request, keys, lookup);
    if (hit !== undefined) {
      this.#sample(request, hit);
      return hit;
    }
    // The misses are counted: while it waits for another process, a request looks without counting.
    const again = (sawNoRecord: boolean) => {
      // With includes the record stands under another key than the lease.
      const near = sawNoRecord && !keys.hasIncludes;
      const { passing } = lookup;
      return this.#lookUp(request, keys, { corrupt: false, quiet: true, near, ...(passing === true && { passing }) });
    };
    const patienceMs = pool.options.timeLimitMs * 2;
    return cache.lead(keys.flightKey, patienceMs, again, () => this.#compile(request, keys, lookup));
  }

  async #lookUp(request: CompileRequest, keys: RequestKeys, lookup: Lookup): Promise<Hit | undefined> {
    const ways = keys.hasIncludes ? await this.#manifest(keys) : [[]];
    for (const way of ways) {
      if (way.some((file) => request.includes[file] === undefined)) continue;
      const { key } = keys.identity(way);
      const found = await this.#find(key, lookup);
      if (found === undefined) continue;
      return { key, cache: found.tier, stored: found.stored, isCounted: lookup.quiet !== true };
    }
    return undefined;
  }

  /** Compiles some of the hits again, while the workers have nothing to do, and compares: a wrong record is told and goes. */
  #sample(request: CompileRequest, hit: Hit): void {
    if (--this.#untilSample > 0) return;
    const { pool, verifyRate } = this.#options;
    this.#untilSample = hitsToSample(verifyRate);
    const { running, waiting } = pool.stats();
    const started = performance.now();
    if (this.#isVerifying || running + waiting > 0 || started < this.#verifyAgainAt) return;
    this.#isVerifying = true;
    // No answer waits for it; what fails here fails a request that asks for the same, too.
    void this.#verify(request, hit)
      .catch(() => {})
      .finally(() => {
        this.#isVerifying = false;
        const ended = performance.now();
        this.#verifyAgainAt = ended + (ended - started) * (1 / verifyShare - 1);
      });
  }

  async #verify(request: CompileRequest, { key, stored }: Hit): Promise<void> {
    const { cache, pool, onBug } = this.#options;
    const answer = await pool.run({ request: neutral(request) }, key.slice(0, 16));
    const fresh = answer.kind === "record" ? StoredRecord.open(answer.record) : undefined;
    cache.counters.add("verify.checked");
    if (fresh !== undefined && Buffer.compare(fresh.elf, stored.elf) === 0) return;
    cache.counters.add("verify.wrong");
    onBug?.(key.slice(0, 16), `a hit differs from what compiles now: ${key}`);
    await cache.delete(key);
  }

  async #manifest(keys: RequestKeys): Promise<Manifest> {
    const found = await this.#options.cache.get(keys.manifestKey, { corrupt: false, quiet: true });
    return found === undefined ? [] : readManifest(found.value);
  }

  async #find(key: Key, lookup: Lookup) {
    const { cache } = this.#options;
    const found = await cache.get(key, lookup);
    if (found === undefined) return undefined;
    const stored = this.#open(found.value, found.tier);
    if (stored !== undefined) return { tier: found.tier, stored };
    lookup.corrupt = true;
    await cache.reject(key, found.tier, lookup);
    return undefined;
  }

  /**
   * The tiers have compared a checksum over the bytes. What other machines wrote is read whole once besides: with the
   * store in other hands the checksum may be theirs.
   */
  #open(value: Uint8Array, tier?: TierName): StoredRecord | undefined {
    const known = this.#opened.get(value);
    if (known !== undefined) return known;
    const stored = StoredRecord.open(value);
    if (stored === undefined || (tier === "shared" && !stored.isSound())) return undefined;
    this.#opened.set(value, stored);
    return stored;
  }

  async #compile(request: CompileRequest, keys: RequestKeys, lookup: Lookup): Promise<Flight> {
    const { cache, pool } = this.#options;
    const id = keys.flightKey.slice(0, 16);
    try {
      const answer = await pool.run({ request: neutral(request), ...this.#options.debugTask }, id);
      if (answer.kind === "bug") throw serviceError("COMPILER_BUG", { id }, answer.detail);
      cache.counters.add("compiles");
      cache.counters.add(`compileMicroseconds.${durationBucket(answer.microseconds)}`);
      cache.counters.add("compileMicrosecondsTotal", answer.microseconds);
      const identity = keys.identity(answer.kind === "record" ? answer.filesRead : []);
      const missReason = cache.missReason(identity, lookup);
      if (answer.kind === "refused") {
        return { cache: "miss", missReason, diagnostics: answer.diagnostics.slice(0, maxDiagnostics) };
      }
      const stored = this.#open(answer.record);
      if (stored === undefined) throw new Bug("a worker's record cannot be opened");
      if (keys.hasIncludes) {
        const manifest = addWay(await this.#manifest(keys), answer.filesRead);
        await cache.put(keys.manifestKey, manifest, lookup.passing);
      }
      await cache.put(identity.key, answer.record, lookup.passing);
      cache.remember(identity);
      this.#options.onCompiled?.(identity.key, stored.record, answer.microseconds, answer.reports);
      return { key: identity.key, cache: "miss", stored, missReason };
    } catch (error) {
      this.#noteFailure(id, error);
      throw error;
    }
  }

  #noteFailure(id: string, error: unknown): void {
    const code = error instanceof ServiceError ? error.code : "INTERNAL";
    const message = error instanceof ServiceError ? error.message : "internal error";
    this.#failures.unshift({ at: new Date().toISOString(), code, message, id });
    this.#failures.length = Math.min(this.#failures.length, maxFailures);
    if (error instanceof ServiceError && error.detail !== undefined) this.#options.onBug?.(id, error.detail);
  }

  async #reports(request: CompileRequest, reports: readonly ReportName[], key: Key): Promise<TaskReports> {
    const id = key.slice(0, 16);
    const dumpAfter = reports.includes("passes") ? ["all"] : reports.includes("ir") ? finalIr : undefined;
    const answer = await this.#options.pool.run({ request, reports, ...(dumpAfter && { dumpAfter }) }, id);
    if (answer.kind === "record" && answer.reports !== undefined) return answer.reports;
    throw serviceError("COMPILER_BUG", { id }, answer.kind === "bug" ? answer.detail : "a hit that no longer compiles");
  }

  /** The record under a key, or undefined. Counts as no request. */
  async artifact(key: string): Promise<StoredRecord | undefined> {
    if (!isKey(key)) return undefined;
    return (await this.#find(key, { corrupt: false, quiet: true }))?.stored;
  }

  /** Errors: CACHE_READ_ONLY. */
  async deleteArtifact(key: string): Promise<boolean> {
    return isKey(key) ? this.#options.cache.delete(key).catch(asServiceError) : false;
  }

  /** Errors: CACHE_READ_ONLY. */
  clearCache(): Promise<number> {
    return this.#options.cache.clear().catch(asServiceError);
  }

  stats(): CacheStatistics {
    const { cache } = this.#options;
    const all = cache.counters.read();
    const requests = all.requests ?? 0;
    const joined = all.joined ?? 0;
    const of = (fraction: number) => percentile(all, "compileMicroseconds.", fraction);
    return {
      tiers: cache.tierStats(),
      requests,
      hitRate: requests === 0 ? 0 : (all.hits ?? 0) / requests,
      joined,
      misses: cache.missCounts(),
      failed: all.failed ?? 0,
      compiles: all.compiles ?? 0,
      farmCompiles: all.farmCompiles ?? 0,
      compileMicroseconds: { p50: of(0.5), p90: of(0.9), p99: of(0.99) },
      verify: { checked: all["verify.checked"] ?? 0, wrong: all["verify.wrong"] ?? 0 },
      since: new Date(all.since ?? this.#started).toISOString(),
      recentFailures: this.#failures,
    };
  }

  /** How many compiles took at most each of the ascending limits, how many there were, and how long they took in all. */
  compileTimes(limitsMicroseconds: readonly number[]): CompileTimes {
    const all = this.#options.cache.counters.read();
    const sumMicroseconds = all.compileMicrosecondsTotal ?? 0;
    return { ...countsUpTo(all, "compileMicroseconds.", limitsMicroseconds), sumMicroseconds };
  }

  poolStats(): PoolStats {
    return this.#options.pool.stats();
  }

  /** Compiles a small shader beside the queue and remembers how that went. */
  async checkHealth(): Promise<boolean> {
    let ok = false;
    try {
      ok = (await this.#options.pool.probe({ request: probeRequest })).kind === "record";
    } catch (error) {
      this.#noteFailure("probe", error);
      // Too slow is load, which does not make the service unready; whether workers answer at all is seen elsewhere.
      if (error instanceof ServiceError && error.code === "COMPILE_TIME_LIMIT") return this.isReady();
    }
    this.#isHealthy = ok;
    return ok;
  }

  /** Up and able: the last check was good, and workers have answered lately (a check may be waiting behind load). */
  isReady(): boolean {
    const patienceMs = 30_000 + 2 * this.#options.pool.options.timeLimitMs;
    return this.#isHealthy && this.#options.pool.sinceLastAnswerMs() < patienceMs;
  }

  /** Stops taking compiles, finishes those that run, and closes the cache. */
  async close(deadlineMs = 0): Promise<void> {
    await this.#options.pool.close(deadlineMs);
    await Promise.allSettled(this.#flights.values());
    await this.#options.cache.close();
  }
}

function asServiceError(error: unknown): never {
  throw error instanceof ReadOnlyFolder ? serviceError("CACHE_READ_ONLY", { reason: error.code }) : error;
}

/** What a record is made of: it belongs to every request that differs in the file's name only. */
const neutral = (request: CompileRequest): CompileRequest => ({
  ...request,
  filename: neutralFilename,
  ...(request.linked !== undefined && { linked: { ...request.linked, filename: neutralLinkedFilename } }),
});

/** After how many hits one is sampled, when each is with this chance: drawn once instead of for each. */
function hitsToSample(rate = 0): number {
  if (rate <= 0) return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.ceil(Math.log(1 - Math.random()) / Math.log(1 - Math.min(rate, 1))));
}

const probeRequest: CompileRequest = {
  ...defaultRequest,
  language: "glsl",
  stage: "compute",
  source: "#version 450\nlayout(local_size_x = 1) in;\nvoid main() {}\n",
};
