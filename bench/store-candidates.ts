/**
 * What the disk tier could be instead, as small as will do for measuring: append-only segments that are evicted whole,
 * and LMDB. Both check each record on reading, as the disk tier does. Neither takes several processes or crashes.
 */
import { createHash } from "node:crypto";
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, readSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Key } from "../src/cache/index.ts";

export interface Candidate {
  /** The file of this candidate is open; `ready`: it can answer every key. */
  readonly ready: Promise<void>;
  put(key: Key, value: Uint8Array): Promise<void> | void;
  get(key: Key): Promise<Uint8Array | undefined> | Uint8Array | undefined;
  /** Drops about this many of the oldest entries. */
  evict(count: number): Promise<void> | void;
  close(): Promise<void>;
}

export type Opener = (folder: string, capacityBytes: number) => Promise<Candidate>;

const sha = (key: Key, value: Uint8Array) => createHash("sha256").update(key).update(value).digest();
const sumBytes = 32;

export const openFiles: Opener = async (folder, capacityBytes) => {
  const { DiskTier } = await import("../src/cache/disk-tier.ts");
  const { Counters } = await import("../src/cache/counters.ts");
  const tier = new DiskTier({ folder, capacityBytes, counters: new Counters() });
  return {
    ready: tier.ready,
    put: (key, value) => tier.put(key, value),
    get: (key) => tier.get(key),
    evict: (count) => tier.evictOldest(count),
    close: () => tier.close(),
  };
};

const segmentBytes = 64 << 20;
/** key 32, offset u32, length u32. */
const rowBytes = 40;

export const openSegments: Opener = async (folder) => {
  mkdirSync(folder, { recursive: true });
  const index = new Map<Key, readonly [segment: number, at: number, length: number]>();
  const files = new Map<
    number,
    { readonly data: number; readonly rows: number; readonly keys: Key[]; bytes: number }
  >();
  const path = (segment: number, what: string) => join(folder, `${segment}.${what}`);
  const open = (segment: number) => {
    const [data, rows] = [openSync(path(segment, "data"), "a+"), openSync(path(segment, "rows"), "a+")];
    const file = { data, rows, keys: [] as Key[], bytes: 0 };
    files.set(segment, file);
    return file;
  };
  const known = readdirSync(folder)
    .filter((name) => name.endsWith(".rows"))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b);
  for (const segment of known) {
    const file = open(segment);
    const rows = readFileSync(path(segment, "rows"));
    for (let at = 0; at + rowBytes <= rows.length; at += rowBytes) {
      const key = rows.toString("hex", at, at + 32) as Key;
      const [offset, length] = [rows.readUInt32LE(at + 32), rows.readUInt32LE(at + 36)];
      index.set(key, [segment, offset, length]);
      file.keys.push(key);
      file.bytes = offset + length;
    }
  }
  let last = known.at(-1) ?? 0;
  if (!files.has(last)) open(last);
  return {
    ready: Promise.resolve(),
    put: (key, value) => {
      let file = files.get(last) as ReturnType<typeof open>;
      if (file.bytes + value.length + sumBytes > segmentBytes) file = open(++last);
      const record = Buffer.concat([sha(key, value), value]);
      writeSync(file.data, record);
      const row = Buffer.alloc(rowBytes);
      row.write(key, 0, "hex");
      row.writeUInt32LE(file.bytes, 32);
      row.writeUInt32LE(record.length, 36);
      writeSync(file.rows, row);
      index.set(key, [last, file.bytes, record.length]);
      file.keys.push(key);
      file.bytes += record.length;
    },
    get: (key) => {
      const place = index.get(key);
      const file = place && files.get(place[0]);
      if (place === undefined || file === undefined) return undefined;
      const record = Buffer.allocUnsafe(place[2]);
      readSync(file.data, record, 0, place[2], place[1]);
      const value = record.subarray(sumBytes);
      return sha(key, value).equals(record.subarray(0, sumBytes)) ? new Uint8Array(value) : undefined;
    },
    evict: (count) => {
      let left = count;
      for (const [segment, file] of files) {
        if (left <= 0) break;
        for (const key of file.keys) if (index.get(key)?.[0] === segment) index.delete(key);
        left -= file.keys.length;
        closeSync(file.data);
        closeSync(file.rows);
        for (const what of ["data", "rows"]) unlinkSync(path(segment, what));
        files.delete(segment);
      }
    },
    close: async () => {
      for (const { data, rows } of files.values()) for (const file of [data, rows]) closeSync(file);
    },
  };
};

interface LmdbModule {
  open(options: object): {
    putSync(key: Buffer, value: Buffer): void;
    getBinary(key: Buffer): Buffer | undefined;
    getKeys(options: object): Iterable<Buffer>;
    removeSync(key: Buffer): void;
    transactionSync(work: () => void): void;
    close(): Promise<void>;
  };
}

/** `packageFolder`: where lmdb was installed to be measured; it is no dependency. */
export const openLmdb =
  (packageFolder: string): Opener =>
  async (folder, capacityBytes) => {
    const { open } = (await import(join(packageFolder, "index.js"))) as LmdbModule;
    // Not flushed at each put: the files of the disk tier are not either.
    const options = { mapSize: capacityBytes, keyEncoding: "binary", encoding: "binary", noSync: true };
    const database = open({ path: folder, ...options, compression: false });
    const keyOf = (key: Key) => Buffer.from(key, "hex");
    return {
      ready: Promise.resolve(),
      put: (key, value) => database.putSync(keyOf(key), Buffer.concat([sha(key, value), value])),
      get: (key) => {
        const record = database.getBinary(keyOf(key));
        if (record === undefined) return undefined;
        const value = record.subarray(sumBytes);
        return sha(key, value).equals(record.subarray(0, sumBytes)) ? new Uint8Array(value) : undefined;
      },
      evict: (count) =>
        database.transactionSync(() => {
          for (const key of [...database.getKeys({ limit: count })]) database.removeSync(key);
        }),
      close: () => database.close(),
    };
  };
