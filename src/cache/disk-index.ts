import { Bounded } from "./bounded.ts";
import { type Row, RowKind } from "./journal.ts";
import type { Key } from "./tier.ts";

/** What the journal says: which keys are stored, in order of last use, with their bytes; and the compile history. */
export class DiskIndex {
  /** Least recently used first. */
  readonly entries = new Map<Key, number>();
  entryBytes = 0;
  readonly #evicted: Bounded<true>;
  readonly #inputs: Bounded<number>;
  readonly #sources: Bounded<true>;

  constructor(historyRows: number) {
    this.#evicted = new Bounded(historyRows);
    this.#inputs = new Bounded(historyRows);
    this.#sources = new Bounded(historyRows);
  }

  apply(row: Row): void {
    const had = this.entries.get(row.key);
    switch (row.kind) {
      case RowKind.put:
        this.#drop(row.key, had);
        this.entries.set(row.key, row.value);
        this.entryBytes += row.value;
        this.#evicted.rows.delete(row.key);
        break;
      case RowKind.touch:
        if (had === undefined) break;
        this.entries.delete(row.key);
        this.entries.set(row.key, had);
        break;
      case RowKind.evict:
        this.#evicted.set(row.key, true);
        this.#drop(row.key, had);
        break;
      case RowKind.remove:
        this.#drop(row.key, had);
        break;
      case RowKind.input:
        this.#inputs.set(row.key, row.value);
        break;
      case RowKind.source:
        this.#sources.set(row.key, true);
        break;
    }
  }

  #drop(key: Key, bytes: number | undefined): void {
    if (bytes === undefined) return;
    this.entries.delete(key);
    this.entryBytes -= bytes;
  }

  reset(): void {
    this.entries.clear();
    this.entryBytes = 0;
    for (const table of [this.#evicted, this.#inputs, this.#sources]) table.rows.clear();
  }

  /** The build tag that last compiled this input. */
  buildOf(input: Key): number | undefined {
    return this.#inputs.rows.get(input);
  }

  knowsSource(source: Key): boolean {
    return this.#sources.rows.has(source);
  }

  wasEvicted(key: Key): boolean {
    return this.#evicted.rows.has(key);
  }

  /** The shortest journal that says the same. */
  rows(): Row[] {
    const rows: Row[] = [];
    for (const key of this.#sources.rows.keys()) rows.push({ kind: RowKind.source, key, value: 0 });
    for (const [key, value] of this.#inputs.rows) rows.push({ kind: RowKind.input, key, value });
    for (const key of this.#evicted.rows.keys()) rows.push({ kind: RowKind.evict, key, value: 0 });
    for (const [key, value] of this.entries) rows.push({ kind: RowKind.put, key, value });
    return rows;
  }

  get rowCount(): number {
    return this.entries.size + this.#evicted.rows.size + this.#inputs.rows.size + this.#sources.rows.size;
  }
}
