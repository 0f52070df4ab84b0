import { decodeRows, encodeRow, encodeRows, keyAt, type Row, RowKind, rowBytes } from "./journal-row.ts";
import { KeyTable } from "./key-table.ts";
import type { Key } from "./tier.ts";

/** Purges that a new journal repeats, newest: more come in no second. */
const purgeRows = 1024;

/** What the journal says: which keys are stored, in order of last use, with their bytes; and the compile history. */
export class DiskIndex {
  /** Values: bytes on disk. */
  readonly entries = new KeyTable();
  entryBytes = 0;
  readonly #historyRows: number;
  readonly #evicted = new KeyTable();
  /** Values: tags of builds. */
  readonly #inputs = new KeyTable();
  readonly #sources = new KeyTable();
  readonly #purged = new KeyTable();

  constructor(historyRows: number) {
    this.#historyRows = historyRows;
  }

  /** The key's 32 bytes start at `at`. */
  apply(kind: RowKind, bytes: Buffer, at: number, value: number): void {
    switch (kind) {
      case RowKind.put: {
        const id = this.entries.find(bytes, at);
        if (id >= 0) this.entryBytes -= this.entries.value(id);
        this.entries.set(bytes, at, value);
        this.entryBytes += value;
        drop(this.#evicted, bytes, at);
        break;
      }
      case RowKind.touch: {
        const id = this.entries.find(bytes, at);
        if (id >= 0) this.entries.touch(id);
        break;
      }
      case RowKind.evict:
        this.#remember(this.#evicted, bytes, at, 0);
        this.#drop(bytes, at);
        break;
      case RowKind.purge:
        // Kept when the journal is written anew: others may not have read it yet.
        this.#purged.set(bytes, at, value);
        if (this.#purged.size > purgeRows) this.#purged.remove(this.#purged.oldest);
        this.#drop(bytes, at);
        break;
      case RowKind.remove:
        this.#drop(bytes, at);
        break;
      case RowKind.input:
        this.#remember(this.#inputs, bytes, at, value);
        break;
      case RowKind.source:
        this.#remember(this.#sources, bytes, at, 0);
        break;
    }
  }

  #drop(bytes: Buffer, at: number): void {
    const id = this.entries.find(bytes, at);
    if (id < 0) return;
    this.entryBytes -= this.entries.value(id);
    this.entries.remove(id);
  }

  #remember(table: KeyTable, bytes: Buffer, at: number, value: number): void {
    table.set(bytes, at, value);
    if (table.size > this.#historyRows) table.remove(table.oldest);
  }

  reset(): void {
    this.entryBytes = 0;
    for (const table of [this.entries, this.#evicted, this.#inputs, this.#sources, this.#purged]) table.clear();
  }

  applyRows(rows: readonly Row[]): void {
    decodeRows(encodeRows(rows), (kind, bytes, at, value) => this.apply(kind, bytes, at, value));
  }

  touch(key: Key): void {
    const id = this.entries.find(bytesOf(key));
    if (id >= 0) this.entries.touch(id);
  }

  has(key: Key): boolean {
    return this.entries.find(bytesOf(key)) >= 0;
  }

  /** The build tag that last compiled this input. */
  buildOf(input: Key): number | undefined {
    const id = this.#inputs.find(bytesOf(input));
    return id < 0 ? undefined : this.#inputs.value(id);
  }

  knowsSource(source: Key): boolean {
    return this.#sources.find(bytesOf(source)) >= 0;
  }

  wasEvicted(key: Key): boolean {
    return this.#evicted.find(bytesOf(key)) >= 0;
  }

  /** The shortest journal that says the same, in slices of at most `rows` rows. What changes meanwhile may be in or not. */
  *slices(rows: number): Generator<Buffer> {
    const tables = [
      [RowKind.source, this.#sources],
      [RowKind.input, this.#inputs],
      [RowKind.evict, this.#evicted],
      [RowKind.purge, this.#purged],
      [RowKind.put, this.entries],
    ] as const;
    for (const [kind, table] of tables) {
      const ids = table.ids();
      for (let from = 0; from < ids.length; from += rows) {
        const live = ids.subarray(from, from + rows).filter((id) => table.isLive(id));
        const slice = Buffer.alloc(live.length * rowBytes);
        live.forEach((id, index) => {
          table.copyKey(id, slice, index * rowBytes + keyAt);
          encodeRow(slice, index * rowBytes, kind, table.value(id));
        });
        yield slice;
      }
    }
  }

  get rowCount(): number {
    return this.entries.size + this.#evicted.size + this.#inputs.size + this.#sources.size + this.#purged.size;
  }
}

function bytesOf(key: Key): Buffer {
  return Buffer.from(key, "hex");
}

function drop(table: KeyTable, bytes: Buffer, at: number): void {
  const id = table.find(bytes, at);
  if (id >= 0) table.remove(id);
}
