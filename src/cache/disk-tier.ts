import { randomInt } from "node:crypto";
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import type { Counters } from "./counters.ts";
import { makeFolder, makeShards, shardCount, shardName, unlinkFile, unlinkQuietly } from "./disk-folder.ts";
import { DiskIndex } from "./disk-index.ts";
import { reconcile } from "./disk-reconcile.ts";
import { DiskSpace } from "./disk-space.ts";
import { FolderLock } from "./folder-lock.ts";
import { buildTag, type History, type Identity } from "./history.ts";
import { Journal } from "./journal.ts";
import { type Row, RowKind, rowBytes } from "./journal-row.ts";
import { openRecord, RecordReader, sealRecord } from "./record-file.ts";
import { isKey, type Key, type Lookup, type Tier, type TierEvent, type TierStats } from "./tier.ts";
import { counterNames, countersOf } from "./tier-counters.ts";

const names = counterNames("disk");
/** Uses of one key within this time are one touch. */
const touchEveryMs = 1000;
/** What a full disk makes room for, in records of the size that did not fit. */
const spareRecords = 4;
/** Entries that one put drops at most, beside what it needs itself: where the limit was lowered, the rest goes meanwhile. */
const evictAtOnce = 64;
/** Rows that a compaction writes at a time. */
const sliceRows = 8192;
/**
 * A read is quicker here than by way of a thread, as long as the file system answers from memory or a near disk. Where
 * reads take this long, many together, they go to threads for a while; now and then one does on a busy machine.
 */
const slowReadMs = 8;
const slowReads = 8;
const slowForMs = 1000;

const allKeys = "0".repeat(64) as Key;
/** How often a folder that could not be opened is tried again. */
const tryAgainMs = 5000;

export interface DiskTierOptions {
  readonly folder: string;
  /** Bound of everything in the folder, as the file system counts it. */
  readonly capacityBytes: number;
  readonly counters: Counters;
  /** Somebody, this process or another of the folder, purged this key, or without one all of them. */
  readonly onPurge?: (key: Key | undefined) => void;
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
  readonly #space: DiskSpace;
  readonly #lock: FolderLock;
  readonly #reader = new RecordReader();
  /** One up with each slow read, a sixteenth down with each other one. */
  #slowness = 0;
  #slowUntil = 0;
  #journal: Journal | undefined;
  readonly #touched = new Set<Key>();
  #touchTimer: NodeJS.Timeout | undefined;
  #temporary = 0;
  #isCompacting = false;
  /** The last purge of all keys that was noted: a journal that is written anew repeats it. */
  #purgedAll = 0;
  /** The journal's first reading is over. */
  #isOpened = false;
  #triedAt = performance.now();
  #closed = false;
  /** Why nothing can be stored, from when the folder was opened: an errno. What is there may be read all the same. */
  problem: string | undefined;
  /** Settles when the journal has been read: before that a put waits, since nobody knows what there is. */
  #known: Promise<void> = Promise.resolve();
  /** Settles when the journal has been read and compared with the files. */
  readonly ready: Promise<void>;

  constructor(options: DiskTierOptions) {
    this.#options = options;
    this.#root = join(options.folder, "v1");
    this.#index = new DiskIndex(Math.max(256, Math.min(100_000, Math.floor(options.capacityBytes / (16 * 4096)))));
    this.#space = new DiskSpace(this.#root);
    this.#lock = new FolderLock(join(this.#root, "lock"));
    this.#open();
    this.ready = this.#known.then(() => this.#compareWithFiles()).catch(() => this.#count("errors"));
  }

  #count(event: TierEvent): void {
    this.#options.counters.add(names[event]);
  }

  #open(): void {
    try {
      this.#openJournal();
      this.problem = this.#journal?.readOnly;
      if (this.problem !== undefined) this.#count("errors");
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
    this.#space.open();
    const path = join(this.#root, "journal");
    const journal = new Journal(
      path,
      (kind, bytes, at, value) => {
        this.#index.apply(kind, bytes, at, value);
        if (kind === RowKind.purge) this.#notePurge(bytes.toString("hex", at, at + 32) as Key, value);
      },
      () => {
        this.#index.reset();
        if (!journal.isCaughtUp) this.#catchUp(journal);
      },
    );
    this.#journal = journal;
    this.#catchUp(journal);
  }

  #notePurge(key: Key, value: number): void {
    const isOld = key === allKeys && value === this.#purgedAll;
    if (key === allKeys) this.#purgedAll = value;
    // What the first reading finds of the past concerns nobody's memory.
    if (!isOld && this.#isOpened) this.#options.onPurge?.(key === allKeys ? undefined : key);
  }

  /** There is a folder, and it cannot be written. */
  get isReadOnly(): boolean {
    return this.#journal?.readOnly !== undefined;
  }

  /** Reads what other processes wrote: what they purged shall not wait for the next put. */
  follow(): void {
    if (this.#closed || this.#journal?.isCaughtUp !== true) return;
    try {
      this.#journal.follow();
    } catch {
      this.#count("errors");
    }
  }

  #catchUp(journal: Journal): void {
    this.#known = journal
      .catchUp(() => this.#closed)
      .catch(() => this.#count("errors"))
      .then(() => {
        this.#isOpened = true;
      });
  }

  #path(key: Key): string {
    // As `join` puts it, without its looking through the root for what it could shorten, at every hit.
    return `${this.#root}${sep}${key.slice(0, 2)}${sep}${key}`;
  }

  /** What the entries may take, so that the whole folder stays within the capacity. */
  #budgetBytes(): number {
    // A journal that is being compacted stands beside its successor.
    const journals = this.#journalBytes() + this.#space.fileBytes(this.#index.rowCount * rowBytes);
    return Math.max(0, this.#options.capacityBytes - this.#space.otherBytes - journals);
  }

  #journalBytes(): number {
    return this.#space.fileBytes(this.#journal?.sizeBytes ?? 0);
  }

  async get(key: Key, lookup?: Lookup): Promise<Uint8Array | undefined> {
    const value = performance.now() < this.#slowUntil ? await this.#readInThread(key) : this.#readNow(key);
    if (lookup?.quiet !== true) this.#count(value instanceof Uint8Array ? "hits" : "misses");
    if (value instanceof Uint8Array) {
      this.#touch(key);
      return value;
    }
    if (value === "corrupt") {
      if (lookup !== undefined) lookup.corrupt = true;
      await this.reject(key);
    } else if (value === "gone" && this.#journal?.isCaughtUp === true && this.#index.has(key)) {
      // A process was killed between its row and its file, or somebody deletes files.
      this.#append([{ kind: RowKind.remove, key, value: 0 }]);
    }
    return undefined;
  }

  #readNow(key: Key): Uint8Array | "corrupt" | "gone" | undefined {
    const from = performance.now();
    try {
      return this.#reader.read(key, this.#path(key));
    } catch (error) {
      return this.#unreadable(error);
    } finally {
      const now = performance.now();
      this.#slowness = Math.max(0, this.#slowness + (now - from > slowReadMs ? 1 : -1 / 16));
      if (this.#slowness > slowReads) [this.#slowness, this.#slowUntil] = [0, now + slowForMs];
    }
  }

  async #readInThread(key: Key): Promise<Uint8Array | "corrupt" | "gone" | undefined> {
    try {
      return openRecord(key, await readFile(this.#path(key))) ?? "corrupt";
    } catch (error) {
      return this.#unreadable(error);
    }
  }

  #unreadable(error: unknown): "gone" | undefined {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return "gone";
    this.#count("errors");
    return undefined;
  }

  #touch(key: Key): void {
    this.#index.touch(key);
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
      if (this.#journal === undefined || this.isReadOnly) return false;
      this.#journal.append(rows);
      return true;
    } catch {
      this.#count("errors");
      return false;
    }
  }

  async put(key: Key, value: Uint8Array): Promise<void> {
    if (this.#journal === undefined || this.isReadOnly) this.#tryAgain();
    while (this.#journal?.isCaughtUp === false && !this.#closed) await this.#known;
    if (this.#journal === undefined || this.isReadOnly || this.#closed) {
      this.#count("errors");
      return;
    }
    const file = sealRecord(key, value);
    const bytes = this.#space.fileBytes(file.byteLength);
    try {
      this.#store(key, file, bytes);
    } catch (error) {
      this.#count("errors");
      if (this.#storeAfterAll(key, file, bytes, error as NodeJS.ErrnoException)) return;
      this.#append([{ kind: RowKind.remove, key, value: 0 }]);
    }
    await this.#compactIfLong();
  }

  /** A folder that could not be made or written to at first may be by now. */
  #tryAgain(): void {
    if (this.#closed || performance.now() - this.#triedAt < tryAgainMs) return;
    this.#triedAt = performance.now();
    if (!this.isReadOnly) this.#open();
    else if (this.#journal?.canWrite() === true) this.#openJournalAgain();
  }

  /** Without a pause from the look at the sum to the record in its place: no other put of this process comes between. */
  #store(key: Key, file: Uint8Array, bytes: number): void {
    const journal = this.#journal;
    if (journal === undefined) return;
    journal.follow();
    if (bytes > this.#budgetBytes() / 2) throw new RangeError("larger than half the cache");
    this.#evictDownTo(this.#budgetBytes() - bytes, evictAtOnce + bytes / this.#space.blockBytes);
    const rows = [{ kind: RowKind.put, key, value: bytes }] as const;
    // The row comes first: a process killed between the two leaves an entry too many in the sum, never one too few.
    journal.append(rows);
    this.#writeRecord(key, file);
    this.#count("puts");
    this.#space.noteStored(Number.parseInt(key.slice(0, 2), 16));
    journal.follow();
    // Another process evicted or dropped it between its row and its file.
    if (journal.isCaughtUp && !this.#index.has(key)) journal.append(rows);
  }

  /** Mends what kept a put from storing, where that can be, and stores again. */
  #storeAfterAll(key: Key, file: Uint8Array, bytes: number, { code }: NodeJS.ErrnoException): boolean {
    // The disk is fuller than our limit knows of: give back some of our own.
    const isFull = code === "ENOSPC" || code === "EDQUOT";
    if (isFull && this.#evictDownTo(this.#index.entryBytes - spareRecords * bytes, evictAtOnce) > 0) {
      try {
        this.#store(key, file, bytes);
        return true;
      } catch {
        return false;
      }
    }
    // Somebody emptied the folder under us: make it again for the next put.
    if (code === "ENOENT") this.#openJournalAgain();
    return false;
  }

  #writeRecord(key: Key, file: Uint8Array): void {
    const temporary = join(this.#root, "tmp", `${process.pid}-${this.#temporary++}-${key.slice(0, 16)}`);
    try {
      writeFileSync(temporary, file);
      renameSync(temporary, this.#path(key));
    } catch (error) {
      rmSync(temporary, { force: true });
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

  /** Drops the least recently used until the entries take `budgetBytes`, but at most `atMost` of them. */
  #evictDownTo(budgetBytes: number, atMost: number): number {
    if (this.isReadOnly) return 0;
    const rows: Row[] = [];
    const { entries } = this.#index;
    let bytes = this.#index.entryBytes;
    for (let id = entries.oldest; id >= 0 && bytes > budgetBytes && rows.length < atMost; id = entries.newer(id)) {
      rows.push({ kind: RowKind.evict, key: entries.hex(id) as Key, value: 0 });
      bytes -= entries.value(id);
    }
    for (const { key } of rows) {
      unlinkQuietly(this.#path(key));
      this.#count("evictions");
    }
    // Where the journal takes no more rows, a full disk for one, the files are gone all the same.
    if (rows.length > 0 && !this.#append(rows)) this.#index.applyRows(rows);
    return rows.length;
  }

  /** Drops this many of the least recently used. */
  evictOldest(count: number): void {
    for (let left = count; left > 0; left -= evictAtOnce) this.#evictDownTo(0, Math.min(left, evictAtOnce));
  }

  async #compactIfLong(): Promise<void> {
    const journal = this.#journal;
    const tooLong = (this.#index.rowCount * 2 + 1024) * rowBytes;
    if (journal === undefined || this.isReadOnly || this.#isCompacting || this.#closed || journal.sizeBytes < tooLong)
      return;
    this.#isCompacting = true;
    try {
      await this.#lock.run(0, () => journal.replace(this.#index.slices(sliceRows)));
    } catch {
      this.#count("errors");
    } finally {
      this.#isCompacting = false;
    }
  }

  /** Errors: `ReadOnlyFolder` for a record that stays. */
  async delete(key: Key): Promise<boolean> {
    const had = unlinkFile(this.#path(key));
    this.#touched.delete(key);
    this.#append([{ kind: RowKind.purge, key, value: 0 }]);
    return had;
  }

  async reject(key: Key): Promise<void> {
    this.#count("corrupt");
    unlinkQuietly(this.#path(key));
    this.#touched.delete(key);
    if (this.#index.has(key)) this.#append([{ kind: RowKind.remove, key, value: 0 }]);
  }

  /** Errors: `ReadOnlyFolder` where a record stays. */
  async clear(): Promise<number> {
    let count = 0;
    for await (const key of this.keys()) if (await this.delete(key)) count++;
    // The history goes too: what is compiled next is cold.
    const journal = this.#journal;
    if (journal !== undefined && !this.isReadOnly) {
      await this.#lock.run(200, () => {
        this.#index.reset();
        return journal.replace([]);
      });
      this.#append([{ kind: RowKind.purge, key: allKeys, value: randomInt(1, 2 ** 32) }]);
      // What others stored meanwhile.
      await this.#compareWithFiles();
    }
    return count;
  }

  /** All stored keys, by the files. */
  async *keys(): AsyncGenerator<Key> {
    for (let shard = 0; shard < shardCount; shard++) {
      const found = await readdir(join(this.#root, shardName(shard))).catch(() => []);
      for (const name of found) if (isKey(name)) yield name;
    }
  }

  /** Reads every entry back. Damaged ones are counted and dropped. */
  async verify(): Promise<{ readonly entries: number; readonly corrupt: readonly Key[] }> {
    const corrupt: Key[] = [];
    let entries = 0;
    for await (const key of this.keys()) {
      const value = await this.#readInThread(key);
      if (value === "gone" || value === undefined) continue;
      entries++;
      if (value !== "corrupt") continue;
      corrupt.push(key);
      await this.reject(key);
    }
    return { entries, corrupt };
  }

  /** Compares the journal with the files, and evicts what a smaller capacity no longer holds. */
  async #compareWithFiles(): Promise<void> {
    if (this.#journal === undefined) return;
    await reconcile({
      root: this.#root,
      index: this.#index,
      isOver: () => this.#closed,
      append: (rows) => {
        if (!this.#append(rows) && this.isReadOnly) this.#index.applyRows(rows);
      },
      chargeBytes: (length) => this.#space.fileBytes(length),
      trim: () => {
        this.#space.lookAtAll();
        return this.#evictDownTo(this.#budgetBytes(), evictAtOnce) > 0;
      },
    });
    await this.#compactIfLong();
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
      this.#space.lookAtAll();
    } catch {
      this.#count("errors");
    }
    return {
      name: this.name,
      entries: this.#index.entries.size,
      // Without a journal there is no folder: it could not be made.
      bytes: this.#journal === undefined ? 0 : this.#index.entryBytes + this.#journalBytes() + this.#space.folderBytes,
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
