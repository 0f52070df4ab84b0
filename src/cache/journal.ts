import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import type { Key } from "./tier.ts";

/** What a row says of its key. Rows are idempotent: reading one twice changes nothing. */
export const RowKind = { put: 1, touch: 2, remove: 3, evict: 4, input: 5, source: 6 } as const;
export type RowKind = (typeof RowKind)[keyof typeof RowKind];

/** `value`: bytes on disk for `put`, a tag of the build for `input`, else 0. */
export interface Row {
  readonly kind: RowKind;
  readonly key: Key;
  readonly value: number;
}

/** magic u16, kind u8, 0, check u32, value u64, key 32 bytes. */
export const rowBytes = 48;
const magic = 0x4b4a;

/** FNV-1a over a row without its check field. */
function check(bytes: Uint8Array, at: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < rowBytes; i++) {
    if (i >= 4 && i < 8) continue;
    hash = Math.imul(hash ^ (bytes[at + i] as number), 0x01000193);
  }
  return hash >>> 0;
}

function encodeRows(rows: readonly Row[]): Buffer {
  const bytes = Buffer.alloc(rows.length * rowBytes);
  rows.forEach((row, index) => {
    const at = index * rowBytes;
    bytes.writeUInt16LE(magic, at);
    bytes.writeUInt8(row.kind, at + 2);
    bytes.writeBigUInt64LE(BigInt(row.value), at + 8);
    bytes.write(row.key, at + 16, "hex");
    bytes.writeUInt32LE(check(bytes, at), at + 4);
  });
  return bytes;
}

/** Reads whole rows; damaged or torn bytes are stepped over. Answers how many bytes are used up. */
function decodeRows(bytes: Buffer, onRow: (row: Row) => void): number {
  let at = 0;
  while (at + rowBytes <= bytes.length) {
    const kind = bytes.readUInt8(at + 2);
    const good =
      bytes.readUInt16LE(at) === magic && kind >= 1 && kind <= 6 && bytes.readUInt32LE(at + 4) === check(bytes, at);
    if (!good) {
      at++;
      continue;
    }
    onRow({
      kind: kind as RowKind,
      key: bytes.toString("hex", at + 16, at + rowBytes) as Key,
      value: Number(bytes.readBigUInt64LE(at + 8)),
    });
    at += rowBytes;
  }
  return at;
}

/** Bytes read at a time: the event loop runs between two reads of a long journal. */
const readBytes = 1 << 20;

/**
 * An append-only file of rows that several processes share. Appends are one `write` on an `O_APPEND` file, which the
 * kernel does whole; each process follows by reading what was added since its last look.
 */
export class Journal {
  readonly #path: string;
  readonly #onRow: (row: Row) => void;
  readonly #onRestart: () => void;
  #file: number;
  #offset = 0;

  /** `onRestart`: another process has compacted the journal, and its rows come again from the first. */
  constructor(path: string, onRow: (row: Row) => void, onRestart: () => void) {
    this.#path = path;
    this.#onRow = onRow;
    this.#onRestart = onRestart;
    this.#file = openSync(path, "a+");
  }

  /** Reads at most `readBytes`; true when there is more. */
  followSome(): boolean {
    this.#reopenIfReplaced();
    const size = fstatSync(this.#file).size;
    if (size <= this.#offset) return false;
    const bytes = Buffer.allocUnsafe(Math.min(readBytes, size - this.#offset));
    const got = readSync(this.#file, bytes, 0, bytes.length, this.#offset);
    const used = decodeRows(bytes.subarray(0, got), this.#onRow);
    this.#offset += used;
    // What is left is shorter than a row: a write in progress, or a torn end that the next row will step over.
    return used > 0 && this.#offset + rowBytes <= size;
  }

  follow(): void {
    while (this.followSome()) {
      // until the end
    }
  }

  /** Appends, then reads up to and over the own rows. Throws where the disk is full or read-only. */
  append(rows: readonly Row[]): void {
    if (rows.length === 0) return;
    const bytes = encodeRows(rows);
    this.#write(bytes);
    // A compaction that read the old file before our rows came would lose them.
    if (this.#reopenIfReplaced()) this.#write(bytes);
    this.follow();
  }

  #write(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
  }

  sizeBytes(): number {
    return fstatSync(this.#file).size;
  }

  /**
   * Puts a new file with just `rows` in place. The caller holds the folder's lock. What others append to the old file
   * meanwhile is carried over: it was written before they could see the new one.
   */
  replace(rows: readonly Row[]): void {
    const fresh = `${this.#path}.new`;
    rmSync(fresh, { force: true });
    const file = openSync(fresh, "a+");
    try {
      const bytes = encodeRows(rows);
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
      fsyncSync(file);
      renameSync(fresh, this.#path);
      const late = fstatSync(this.#file).size - this.#offset;
      if (late > 0) {
        const tail = Buffer.alloc(late);
        readSync(this.#file, tail, 0, late, this.#offset);
        writeSync(file, tail);
      }
    } finally {
      closeSync(file);
    }
    this.#reopenIfReplaced();
    this.follow();
  }

  #reopenIfReplaced(): boolean {
    const mine = fstatSync(this.#file);
    if (existsSync(this.#path)) {
      const there = statSync(this.#path);
      if (there.ino === mine.ino && there.dev === mine.dev) return false;
    }
    const file = openSync(this.#path, "a+");
    closeSync(this.#file);
    this.#file = file;
    this.#offset = 0;
    this.#onRestart();
    return true;
  }

  close(): void {
    closeSync(this.#file);
  }
}
