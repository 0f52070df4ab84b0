import type { Key } from "./tier.ts";

/**
 * What a row says of its key. Rows are idempotent: reading one twice changes nothing. `purge`: removed because somebody
 * wanted it gone, from every memory, too; of the key of zeros: all of them.
 */
export const RowKind = { put: 1, touch: 2, remove: 3, evict: 4, input: 5, source: 6, purge: 7 } as const;
export type RowKind = (typeof RowKind)[keyof typeof RowKind];

/** `value`: bytes on disk for `put`, a tag of the build for `input`, else 0. */
export interface Row {
  readonly kind: RowKind;
  readonly key: Key;
  readonly value: number;
}

/** magic u16, kind u8, 0, check u32, value u64 (below 2^32), key 32 bytes. */
export const rowBytes = 48;
export const keyAt = 16;
const magic = 0x4b4a;

/** FNV-1a, a word at a time, over a row without its check field. */
function check(bytes: Buffer, at: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < rowBytes; i += 4) {
    if (i === 4) continue;
    hash = Math.imul(hash ^ bytes.readInt32LE(at + i), 0x01000193);
    hash ^= hash >>> 15;
  }
  return hash >>> 0;
}

/** Writes a row whose key stands in its place already. */
export function encodeRow(bytes: Buffer, at: number, kind: RowKind, value: number): void {
  bytes.writeUInt16LE(magic, at);
  bytes.writeUInt16LE(kind, at + 2);
  bytes.writeUInt32LE(value, at + 8);
  bytes.writeUInt32LE(0, at + 12);
  bytes.writeUInt32LE(check(bytes, at), at + 4);
}

export function encodeRows(rows: readonly Row[]): Buffer {
  const bytes = Buffer.alloc(rows.length * rowBytes);
  rows.forEach(({ kind, key, value }, index) => {
    bytes.write(key, index * rowBytes + keyAt, "hex");
    encodeRow(bytes, index * rowBytes, kind, value);
  });
  return bytes;
}

export type OnRow = (kind: RowKind, bytes: Buffer, keyAt: number, value: number) => void;

/** Reads whole rows; damaged or torn bytes are stepped over. Answers how many bytes are used up. */
export function decodeRows(bytes: Buffer, onRow: OnRow): number {
  let at = 0;
  while (at + rowBytes <= bytes.length) {
    const kind = bytes.readUInt8(at + 2);
    const good =
      bytes.readUInt16LE(at) === magic &&
      kind >= RowKind.put &&
      kind <= RowKind.purge &&
      bytes.readUInt32LE(at + 4) === check(bytes, at);
    if (!good) {
      at++;
      continue;
    }
    onRow(kind as RowKind, bytes, at + keyAt, bytes.readUInt32LE(at + 8));
    at += rowBytes;
  }
  return at;
}
