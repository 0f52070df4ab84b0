import { Bug } from "../base/index.ts";
import type { FieldRow } from "./registers.ts";

/** The field of `word` at `lsb`, `width` bits, unsigned. */
export function getField(word: number, lsb: number, width: number): number {
  return width === 32 ? word >>> 0 : (word >>> lsb) & (2 ** width - 1);
}

/** Packs named values into one dword; absent fields are 0. Throws `Bug` on an unknown name or a value too wide. */
export function packFields(rows: readonly FieldRow[], values: Readonly<Record<string, number>>): number {
  let word = 0;
  const known = new Set<string>();
  for (const [name, lsb, width] of rows) {
    known.add(name);
    const value = values[name] ?? 0;
    if (!Number.isInteger(value) || value < 0 || value >= 2 ** width) {
      throw new Bug(`field ${name}: ${value} does not fit ${width} bits`);
    }
    word += value * 2 ** lsb;
  }
  for (const name of Object.keys(values)) if (!known.has(name)) throw new Bug(`no field ${name}`);
  return word >>> 0;
}
