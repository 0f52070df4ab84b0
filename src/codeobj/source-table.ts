import type { SourceMapEntry } from "./compile-interface.ts";

/**
 * A source map as the compiler leaves it: rows of four words, which are byte offset in the code, file, line, column.
 * Its files are ids; those without a name are the shader's own text. Entries are made of it when somebody asks.
 */
export interface SourceTable {
  readonly rows: Uint32Array;
  readonly files: ReadonlyMap<number, string>;
  /** Of files without a name. */
  readonly ownFile: string;
}

export const sourceRowWords = 4;

/** The rows as entries. */
export function sourceEntries({ rows, files, ownFile }: SourceTable): SourceMapEntry[] {
  const entries: SourceMapEntry[] = [];
  for (let k = 0; k < rows.length; k += sourceRowWords) {
    const file = files.get(rows[k + 1]!) ?? ownFile;
    entries.push({ offset: rows[k]!, file, line: rows[k + 2]!, column: rows[k + 3]! });
  }
  return entries;
}

/** Entries as a table. */
export function sourceTable(entries: readonly SourceMapEntry[]): SourceTable {
  const ids = new Map<string, number>();
  const rows = new Uint32Array(entries.length * sourceRowWords);
  entries.forEach(({ offset, file, line, column }, i) => {
    const id = ids.get(file) ?? ids.size + 1;
    ids.set(file, id);
    rows.set([offset, id, line, column], i * sourceRowWords);
  });
  return { rows, files: new Map([...ids].map(([file, id]) => [id, file])), ownFile: "" };
}
