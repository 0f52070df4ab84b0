import {
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { isReadOnlyCode } from "./disk-folder.ts";
import { decodeRows, encodeRows, type OnRow, type Row, rowBytes } from "./journal-row.ts";

/** Bytes read at a time: some milliseconds, after which the event loop runs. */
const readBytes = 1 << 19;
/** A journal of this length is read a moment later, when a server that starts has begun to listen. */
const longBytes = 4 << 20;
const startMs = 250;
/** A replaced file has no name left; where a file system says otherwise, the name is looked up this often. */
const lookEveryMs = 1000;

/**
 * An append-only file of rows that several processes share. Appends are one `write` on an `O_APPEND` file, which the
 * kernel does whole; each process follows by reading what was added since its last look.
 */
export class Journal {
  readonly #path: string;
  readonly #onRow: OnRow;
  readonly #onRestart: () => void;
  #file: number;
  #offset = 0;
  #lookedAt = performance.now();
  /** Why it can be read only; undefined where it can be written. */
  readOnly: string | undefined;
  /** True once `catchUp` has read all there was: from then on `follow` has little to do. */
  isCaughtUp = false;

  /**
   * `onRestart`: another process has compacted the journal, and its rows come again from the first; by `catchUp` where
   * they are many.
   */
  constructor(path: string, onRow: OnRow, onRestart: () => void) {
    this.#path = path;
    this.#onRow = onRow;
    this.#onRestart = onRestart;
    this.#file = this.#open();
  }

  #open(): number {
    this.readOnly = undefined;
    try {
      return openSync(this.#path, "a+");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!isReadOnlyCode(code)) throw error;
      const file = openSync(this.#path, "r");
      this.readOnly = code;
      return file;
    }
  }

  /** Whether it could be written now. */
  canWrite(): boolean {
    try {
      closeSync(openSync(this.#path, "a"));
      return true;
    } catch {
      return false;
    }
  }

  /** Reads some; true when there is more. */
  #followSome(): boolean {
    const { size } = this.#current();
    if (size <= this.#offset) return false;
    const bytes = Buffer.allocUnsafe(Math.min(readBytes, size - this.#offset));
    const got = readSync(this.#file, bytes, 0, bytes.length, this.#offset);
    const used = decodeRows(bytes.subarray(0, got), this.#onRow);
    this.#offset += used;
    // What is left is shorter than a row: a write in progress, or a torn end that the next row will step over.
    return used > 0 && this.#offset + rowBytes <= size;
  }

  /** Reads what is new. Nothing, while `catchUp` is still at it. */
  follow(): void {
    if (!this.isCaughtUp) return;
    while (this.#followSome()) {
      // until the end
    }
  }

  /** The first reading of a journal that may be long: in slices, other work between them. */
  async catchUp(isOver: () => boolean): Promise<void> {
    try {
      if (fstatSync(this.#file).size > longBytes) await sleep(startMs);
      while (!isOver() && this.#followSome()) await nextTurn();
    } finally {
      // A journal that cannot be read is as good as empty: the files are compared with it anyway.
      this.isCaughtUp = true;
    }
  }

  /** Appends, then reads up to and over the own rows. Throws where the disk is full or read-only. */
  append(rows: readonly Row[]): void {
    if (rows.length === 0) return;
    const bytes = encodeRows(rows);
    writeAll(this.#file, bytes);
    // A compaction that read the old file before our rows came would lose them.
    const before = this.#file;
    this.#current();
    if (this.#file !== before) writeAll(this.#file, bytes);
    this.follow();
  }

  /** As of the last look. */
  get sizeBytes(): number {
    return Math.max(this.#offset, rowBytes);
  }

  /**
   * Puts a new file with just the rows of `slices` in place: what this process knows. The caller holds the folder's lock.
   * What is appended to the old file meanwhile is carried over: it was written before anybody could see the new one.
   */
  async replace(slices: Iterable<Buffer>): Promise<void> {
    this.#dropLeftOvers();
    this.follow();
    const [old, from] = [this.#file, this.#offset];
    const fresh = `${this.#path}.new-${process.pid}`;
    const file = await open(fresh, "ax+");
    try {
      for (const slice of slices) if (slice.length > 0) await file.appendFile(slice);
      const carried = this.#carry(old, from, file.fd);
      await file.sync();
      // From here to the end without a pause.
      this.follow();
      // Somebody else put another in place: that one is as good.
      if (old !== this.#file) return;
      const known = this.#carry(old, carried, file.fd);
      const end = fstatSync(file.fd).size;
      renameSync(fresh, this.#path);
      this.#carry(old, known, file.fd);
      this.#file = openSync(this.#path, "a+");
      closeSync(old);
      this.#offset = end;
    } finally {
      await file.close();
      rmSync(fresh, { force: true });
    }
    this.follow();
  }

  /** New files of processes that were killed over them. */
  #dropLeftOvers(): void {
    const folder = dirname(this.#path);
    const prefix = `${basename(this.#path)}.new`;
    for (const name of readdirSync(folder)) if (name.startsWith(prefix)) rmSync(join(folder, name), { force: true });
  }

  /** Copies what the old file has from `from` on; answers where it ended. */
  #carry(old: number, from: number, to: number): number {
    if (old !== this.#file) return from;
    const late = fstatSync(old).size - from;
    if (late <= 0) return from;
    const tail = Buffer.alloc(late);
    const got = readSync(old, tail, 0, late, from);
    writeAll(to, tail.subarray(0, got));
    return from + got;
  }

  /** What the file is now; opened anew where it was replaced or removed. */
  #current(): Stats {
    const mine = fstatSync(this.#file);
    const now = performance.now();
    if (mine.nlink > 0 && now - this.#lookedAt < lookEveryMs) return mine;
    this.#lookedAt = now;
    const there = statSync(this.#path, { throwIfNoEntry: false });
    if (there !== undefined && there.ino === mine.ino && there.dev === mine.dev) return mine;
    const file = this.#open();
    closeSync(this.#file);
    this.#file = file;
    this.#offset = 0;
    const fresh = fstatSync(file);
    this.isCaughtUp &&= fresh.size <= readBytes;
    this.#onRestart();
    return fresh;
  }

  close(): void {
    closeSync(this.#file);
    // Its number may soon be another file's.
    this.#file = -1;
  }
}

function writeAll(file: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
}
