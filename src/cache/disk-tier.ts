import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Counters } from "./counters.ts";
import { makeFolder, makeShards, shardCount, shardName, unlinkQuietly } from "./disk-folder.ts";
import { DiskIndex } from "./disk-index.ts";
import { withLock } from "./folder-lock.ts";
import { buildTag, type History, type Identity } from "./history.ts";
import { Journal, type Row, RowKind, rowBytes } from "./journal.ts";
import { headerBytes, openRecord, sealRecord } from "./record-file.ts";
import { isKey, type Key, type Lookup, type Tier, type TierEvent, type TierStats } from "./tier.ts";
import { countersOf } from "./tier-counters.ts";

/** A file takes whole blocks, and its name a share of the folder's block. */
const blockBytes = 4096;
const nameBytes = 128;
/** Uses of one key within this time are one touch. */
const touchEveryMs = 1000;
/** What a full disk makes room for, in records of the size that did not fit. */
const spareRecords = 4;
/** A temporary file this old belongs to a process that was killed. */
const staleTemporaryMs = 60_000;

export interface DiskTierOptions {
  readonly folder: string;
  /** Bound of everything in the folder, as the file system counts it. */
  readonly capacityBytes: number;
  readonly counters: Counters;
}

function chargeBytes(valueBytes: number): number {
  return Math.ceil((headerBytes + valueBytes) / blockBytes) * blockBytes + nameBytes;
}

/**
 * The second level: one checksummed file a record, found by its name alone, so a hit needs no index and no start-up
 * work. A shared journal holds sizes and order of use; it is only needed to evict, and is rebuilt from the files where
 * it lost something. Several processes may use one folder; a process may be killed at any moment.
 */
export class DiskTier implements Tier, History {
  readonly name = "disk";
  readonly #options: DiskTierOptions;
  readonly #root: string;
  readonly #index: DiskIndex;
  #journal: Journal | undefined;
  readonly #touched = new Set<Key>();
  #touchTimer: NodeJS.Timeout | undefined;
  #temporary = 0;
  #closed = false;
  /** Why nothing can be stored, from when the folder was opened: an errno. */
  problem: string | undefined;
  /** Settles when the journal has been read and compared with the files. */
  readonly ready: Promise<void>;

  constructor(options: DiskTierOptions) {
    this.#options = options;
    this.#root = join(options.folder, "v1");
    this.#index = new DiskIndex(
      Math.max(256, Math.min(100_000, Math.floor(options.capacityBytes / (16 * blockBytes)))),
    );
    this.#open();
    this.ready = this.#reconcile().catch(() => this.#count("errors"));
  }

  #count(event: TierEvent): void {
    this.#options.counters.add(`tier.disk.${event}`);
  }

  #open(): void {
    try {
      this.#openJournal();
      this.problem = undefined;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      this.#count("errors");
      this.problem = code ?? String(error);
      // A file where a folder should be, or the reverse: put it aside and start anew. Read-only or full: serve without.
      if (code !== "ENOTDIR" && code !== "EEXIST" && code !== "EISDIR") return;
      try {
        const aside = `${this.#root}.broken`;
        rmSync(aside, { recursive: true, force: true });
        renameSync(this.#root, aside);
        this.#openJournal();
        this.problem = undefined;
      } catch {
        this.#count("errors");
      }
    }
  }

  #openJournal(): void {
    makeFolder(join(this.#root, "tmp"));
    // The last one stands for all: looking for each would be most of the time that opening takes.
    if (!existsSync(join(this.#root, shardName(shardCount - 1)))) makeShards(this.#root);
    this.#journal = new Journal(
      join(this.#root, "journal"),
      (row) => this.#index.apply(row),
      () => this.#index.reset(),
    );
  }

  #path(key: Key): string {
    return join(this.#root, key.slice(0, 2), key);
  }

  /** What the entries and their bookkeeping may take, so that the whole folder stays within the capacity. */
  #budgetBytes(): number {
    const fixed = (shardCount + 4) * blockBytes;
    // The journal is compacted at twice its live rows plus slack, and for a moment stands beside its successor.
    return Math.max(0, this.#options.capacityBytes - fixed - this.#journalBytes());
  }

  #journalBytes(): number {
    return this.#journal === undefined ? 0 : this.#journal.sizeBytes() + this.#index.rowCount * rowBytes;
  }

  async get(key: Key, lookup?: Lookup): Promise<Uint8Array | undefined> {
    const file = await this.#read(key);
    const value = file && openRecord(key, file);
    if (lookup?.quiet !== true) this.#count(value === undefined ? "misses" : "hits");
    if (file !== undefined && value === undefined) {
      if (lookup !== undefined) lookup.corrupt = true;
      await this.reject(key);
    }
    if (value === undefined) return undefined;
    this.#touch(key);
    return value;
  }

  async #read(key: Key): Promise<Buffer | undefined> {
    try {
      return await readFile(this.#path(key));
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code !== "ENOENT" && code !== "ENOTDIR") this.#count("errors");
      return undefined;
    }
  }

  #touch(key: Key): void {
    this.#index.apply({ kind: RowKind.touch, key, value: 0 });
    this.#touched.add(key);
    this.#touchTimer ??= setTimeout(() => this.#flushTouches(), touchEveryMs).unref();
  }

  #flushTouches(): void {
    this.#touchTimer = undefined;
    const rows = [...this.#touched].map((key): Row => ({ kind: RowKind.touch, key, value: 0 }));
    this.#touched.clear();
    this.#append(rows);
  }

  /** False where the journal cannot be written; counted. */
  #append(rows: readonly Row[]): boolean {
    if (this.#closed) return false;
    try {
      if (this.#journal === undefined) return false;
      this.#journal.append(rows);
      return true;
    } catch {
      this.#count("errors");
      return false;
    }
  }

  async put(key: Key, value: Uint8Array): Promise<void> {
    const bytes = chargeBytes(value.byteLength);
    if (this.#journal === undefined || this.#closed) {
      this.#count("errors");
      return;
    }
    const file = sealRecord(key, value);
    try {
      await this.#store(key, file, bytes);
    } catch (error) {
      this.#count("errors");
      const { code } = error as NodeJS.ErrnoException;
      // The disk is fuller than our limit knows of: give back some of our own and try once more.
      if (code === "ENOSPC" && this.#evictDownTo(this.#index.entryBytes - spareRecords * bytes) > 0) {
        if (
          await this.#store(key, file, bytes).then(
            () => true,
            () => false,
          )
        )
          return;
      }
      // Somebody emptied the folder under us: make it again for the next put.
      if (code === "ENOENT") this.#openJournalAgain();
      this.#append([{ kind: RowKind.remove, key, value: 0 }]);
    }
  }

  async #store(key: Key, file: Uint8Array, bytes: number): Promise<void> {
    const journal = this.#journal;
    if (journal === undefined) return;
    journal.follow();
    if (bytes > this.#budgetBytes() / 2) throw new RangeError("larger than half the cache");
    this.#evictDownTo(this.#budgetBytes() - bytes);
    // The row comes first: a process killed between the two leaves an entry too many in the sum, never one too few.
    journal.append([{ kind: RowKind.put, key, value: bytes }]);
    await this.#writeRecord(key, file);
    this.#count("puts");
    await this.#compactIfLong();
  }

  async #writeRecord(key: Key, file: Uint8Array): Promise<void> {
    const temporary = join(this.#root, "tmp", `${process.pid}-${this.#temporary++}-${key.slice(0, 16)}`);
    try {
      await writeFile(temporary, file);
      await rename(temporary, this.#path(key));
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  #openJournalAgain(): void {
    this.#journal?.close();
    this.#journal = undefined;
    this.#index.reset();
    this.#open();
    if (this.#journal !== undefined) makeShards(this.#root);
  }

  #evictDownTo(budgetBytes: number, atMost = Number.POSITIVE_INFINITY): number {
    if (this.#index.entryBytes <= budgetBytes) return 0;
    const rows: Row[] = [];
    let bytes = this.#index.entryBytes;
    for (const [key, size] of this.#index.entries) {
      if (bytes <= budgetBytes || rows.length >= atMost) break;
      rows.push({ kind: RowKind.evict, key, value: 0 });
      bytes -= size;
    }
    for (const { key } of rows) {
      unlinkQuietly(this.#path(key));
      this.#count("evictions");
    }
    this.#append(rows);
    return rows.length;
  }

  async #compactIfLong(): Promise<void> {
    const journal = this.#journal;
    if (journal === undefined || journal.sizeBytes() < (this.#index.rowCount * 2 + 1024) * rowBytes) return;
    await withLock(join(this.#root, "lock"), 0, () => {
      journal.follow();
      journal.replace(this.#index.rows());
    });
  }

  async delete(key: Key): Promise<boolean> {
    const had = unlinkQuietly(this.#path(key));
    this.#touched.delete(key);
    if (had || this.#index.entries.has(key)) this.#append([{ kind: RowKind.remove, key, value: 0 }]);
    return had;
  }

  async reject(key: Key): Promise<void> {
    this.#count("corrupt");
    await this.delete(key);
  }

  async clear(): Promise<number> {
    let count = 0;
    for await (const key of this.keys()) if (await this.delete(key)) count++;
    // The history goes too: what is compiled next is cold.
    const journal = this.#journal;
    if (journal !== undefined) {
      await withLock(join(this.#root, "lock"), 200, () => {
        this.#index.reset();
        journal.replace([]);
      });
    }
    return count;
  }

  /** All stored keys, by the files. */
  async *keys(): AsyncGenerator<Key> {
    for (let shard = 0; shard < shardCount; shard++) {
      const names = await readdir(join(this.#root, shardName(shard))).catch(() => []);
      for (const name of names) if (isKey(name)) yield name;
    }
  }

  /** Reads every entry back. Damaged ones are counted and dropped. */
  async verify(): Promise<{ readonly entries: number; readonly corrupt: readonly Key[] }> {
    const corrupt: Key[] = [];
    let entries = 0;
    for await (const key of this.keys()) {
      const file = await this.#read(key);
      if (file === undefined) continue;
      entries++;
      if (openRecord(key, file) !== undefined) continue;
      corrupt.push(key);
      await this.reject(key);
    }
    return { entries, corrupt };
  }

  /** Reads the journal in slices, compares it with the files, and evicts what a smaller capacity no longer holds. */
  async #reconcile(): Promise<void> {
    const journal = this.#journal;
    if (journal === undefined) return;
    while (!this.#closed && journal.followSome()) await nextTurn();
    const missing = new Set(this.#index.entries.keys());
    for (let shard = 0; shard < shardCount && !this.#closed; shard++) {
      this.#append(await this.#unlistedFiles(shardName(shard), missing));
    }
    if (missing.size > 0) await this.#dropLost(missing);
    while (!this.#closed && this.#evictDownTo(this.#budgetBytes(), 64) > 0) await nextTurn();
    await this.#dropTemporaries();
    if (!this.#closed) await this.#compactIfLong();
  }

  /** Rows for files that the journal does not know. Takes what it finds out of `missing`. */
  async #unlistedFiles(shard: string, missing: Set<Key>): Promise<Row[]> {
    const rows: Row[] = [];
    for (const name of await readdir(join(this.#root, shard))) {
      if (!isKey(name)) continue;
      missing.delete(name);
      if (this.#index.entries.has(name)) continue;
      const found = statSync(join(this.#root, shard, name), { throwIfNoEntry: false });
      if (found) rows.push({ kind: RowKind.put, key: name, value: chargeBytes(found.size - headerBytes) });
    }
    return rows;
  }

  /** Rows without a file go; not at once, since a file may still be on its way from another process. */
  async #dropLost(missing: ReadonlySet<Key>): Promise<void> {
    await sleep(250);
    const lost = [...missing].filter((key) => !statSync(this.#path(key), { throwIfNoEntry: false }));
    this.#append(lost.map((key): Row => ({ kind: RowKind.remove, key, value: 0 })));
  }

  async #dropTemporaries(): Promise<void> {
    const folder = join(this.#root, "tmp");
    for (const name of await readdir(folder)) {
      const made = statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs;
      if (made !== undefined && Date.now() - made > staleTemporaryMs) unlinkQuietly(join(folder, name));
    }
  }

  buildOf(input: Key): number | undefined {
    return this.#index.buildOf(input);
  }

  knowsSource(source: Key): boolean {
    return this.#index.knowsSource(source);
  }

  wasEvicted(key: Key): boolean {
    return this.#index.wasEvicted(key);
  }

  remember(identity: Identity): void {
    const build = buildTag(identity.buildId);
    const rows: Row[] = [];
    if (this.buildOf(identity.inputKey) !== build)
      rows.push({ kind: RowKind.input, key: identity.inputKey, value: build });
    if (!this.knowsSource(identity.sourceKey)) rows.push({ kind: RowKind.source, key: identity.sourceKey, value: 0 });
    this.#append(rows);
  }

  stats(): TierStats {
    try {
      this.#journal?.follow();
    } catch {
      this.#count("errors");
    }
    return {
      name: this.name,
      entries: this.#index.entries.size,
      // Without a journal there is no folder: it could not be made.
      bytes:
        this.#journal === undefined
          ? 0
          : this.#index.entryBytes + this.#journal.sizeBytes() + (shardCount + 4) * blockBytes,
      capacityBytes: this.#options.capacityBytes,
      ...countersOf(this.#options.counters.read(), this.name),
    };
  }

  async close(): Promise<void> {
    clearTimeout(this.#touchTimer);
    if (!this.#closed) this.#flushTouches();
    this.#closed = true;
    await this.ready;
    this.#journal?.close();
    this.#journal = undefined;
  }
}
