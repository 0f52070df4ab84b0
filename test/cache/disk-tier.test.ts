import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Counters } from "../../src/cache/counters.ts";
import { DiskTier } from "../../src/cache/disk-tier.ts";
import type { Key, Lookup } from "../../src/cache/index.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kiln-cache-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const keyOf = (text: string | number) => createHash("sha256").update(String(text)).digest("hex") as Key;
const open = (capacityBytes = 64 << 20) => new DiskTier({ folder, capacityBytes, counters: new Counters() });
const fileOf = (key: Key) => join(folder, "v1", key.slice(0, 2), key);
const lookup = (): Lookup => ({ corrupt: false });
/** What the file system says that the folder takes, apparent size aside. */
const diskUse = () => Number(execFileSync("du", ["-s", "--block-size=1", folder], { encoding: "utf8" }).split("\t")[0]);
const filesIn = () =>
  readdirSync(join(folder, "v1"))
    .filter((name) => /^[0-9a-f]{2}$/.test(name))
    .flatMap((shard) => readdirSync(join(folder, "v1", shard)));

describe("disk tier", () => {
  it("gives back what was put, in the next process too", async () => {
    const first = open();
    const value = randomBytes(5000);
    await first.put(keyOf("a"), value);
    expect(Buffer.from((await first.get(keyOf("a"))) ?? [])).toEqual(value);
    await first.close();
    const second = open();
    expect(Buffer.from((await second.get(keyOf("a"))) ?? [])).toEqual(value);
    expect(await second.get(keyOf("b"))).toBeUndefined();
    expect(second.stats()).toMatchObject({ hits: 1, misses: 1, corrupt: 0, errors: 0 });
    await second.close();
  });

  it("never serves a record with any one byte changed; counts it corrupt and drops it", async () => {
    const tier = open();
    const value = randomBytes(60);
    const key = keyOf("flip");
    await tier.put(key, value);
    const good = readFileSync(fileOf(key));
    for (let at = 0; at < good.length; at++) {
      const bad = Buffer.from(good);
      bad[at] = (bad[at] as number) ^ (1 << (at % 8));
      writeFileSync(fileOf(key), bad);
      const seen = lookup();
      expect(await tier.get(key, seen), `byte ${at}`).toBeUndefined();
      expect(seen.corrupt).toBe(true);
      expect(filesIn()).toEqual([]);
    }
    expect(tier.stats().corrupt).toBe(good.length);
    await tier.close();
  });

  it("never serves a record cut short, lengthened, or stored under another key", async () => {
    const tier = open();
    const key = keyOf("cut");
    await tier.put(key, randomBytes(100));
    const good = readFileSync(fileOf(key));
    for (let length = 0; length < good.length; length++) {
      writeFileSync(fileOf(key), good.subarray(0, length));
      expect(await tier.get(key)).toBeUndefined();
    }
    writeFileSync(fileOf(key), Buffer.concat([good, Buffer.alloc(1)]));
    expect(await tier.get(key)).toBeUndefined();
    const other = keyOf("other");
    writeFileSync(fileOf(other), good);
    expect(await tier.get(other)).toBeUndefined();
    await tier.close();
  });

  it("stays within its capacity by du, and evicts the least recently used", async () => {
    const capacityBytes = 4 << 20;
    const tier = open(capacityBytes);
    await tier.ready;
    const kept = keyOf("kept");
    await tier.put(kept, randomBytes(9000));
    for (let i = 0; i < 800; i++) {
      await tier.put(keyOf(i), randomBytes(1000 + ((i * 37) % 12_000)));
      if (i % 50 === 0) {
        expect(await tier.get(kept), `after ${i}`).toBeDefined();
        expect(diskUse()).toBeLessThanOrEqual(capacityBytes);
      }
    }
    expect(diskUse()).toBeLessThanOrEqual(capacityBytes);
    const stats = tier.stats();
    expect(stats.evictions).toBeGreaterThan(200);
    expect(stats.entries).toBe(filesIn().length);
    expect(Math.abs(stats.bytes - diskUse())).toBeLessThan(0.1 * diskUse());
    expect(await tier.get(keyOf(0))).toBeUndefined();
    const oldest = Array.from({ length: 800 }, (_, i) => i).findIndex((i) => filesIn().includes(keyOf(i)));
    expect(tier.wasEvicted(keyOf(oldest - 1))).toBe(true);
    expect(tier.wasEvicted(keyOf(oldest))).toBe(false);
    expect(await tier.get(keyOf(799))).toBeDefined();
    await tier.close();
  });

  it("evicts down to a smaller capacity after a restart", async () => {
    const first = open();
    for (let i = 0; i < 600; i++) await first.put(keyOf(i), randomBytes(8000));
    await first.close();
    const second = open(4 << 20);
    await second.ready;
    expect(diskUse()).toBeLessThanOrEqual(4 << 20);
    expect(await second.get(keyOf(599))).toBeDefined();
    await second.close();
  });

  it("rebuilds a lost, torn or overwritten journal from the files", async () => {
    const first = open();
    for (let i = 0; i < 30; i++) await first.put(keyOf(i), randomBytes(500));
    await first.close();
    const journal = join(folder, "v1", "journal");
    const bytes = readFileSync(journal);
    for (const damage of [
      () => rmSync(journal),
      () => truncateSync(journal, 48 * 7 + 13),
      () => writeFileSync(journal, randomBytes(10_000)),
      () => writeFileSync(journal, Buffer.concat([bytes.subarray(0, 100), randomBytes(7), bytes.subarray(100)])),
    ]) {
      damage();
      const tier = open();
      await tier.ready;
      expect(tier.stats().entries).toBe(30);
      expect(await tier.get(keyOf(3))).toBeDefined();
      await tier.put(keyOf("more"), randomBytes(10));
      await tier.delete(keyOf("more"));
      await tier.close();
    }
  });

  it("forgets rows whose file is gone", async () => {
    const first = open();
    for (let i = 0; i < 5; i++) await first.put(keyOf(i), randomBytes(500));
    await first.close();
    rmSync(fileOf(keyOf(2)));
    const second = open();
    await second.ready;
    expect(second.stats().entries).toBe(4);
    await second.close();
  });

  it("shares one folder between two instances: each sees the other's entries and sizes", async () => {
    const [a, b] = [open(6 << 20), open(6 << 20)];
    await Promise.all([a.ready, b.ready]);
    for (let i = 0; i < 500; i++) {
      await Promise.all([a.put(keyOf(`a${i}`), randomBytes(9000)), b.put(keyOf(`b${i}`), randomBytes(9000))]);
    }
    expect(await b.get(keyOf("a499"))).toBeDefined();
    expect(await a.get(keyOf("b499"))).toBeDefined();
    expect(a.stats().entries).toBe(b.stats().entries);
    expect(a.stats().entries).toBe(filesIn().length);
    // at most one entry of each writer above the limit
    expect(diskUse()).toBeLessThanOrEqual((6 << 20) + 2 * 16_384);
    await a.close();
    await b.close();
  });

  it("keeps its journal short under rewrites of the same keys", async () => {
    const tier = open();
    await tier.ready;
    for (let i = 0; i < 1500; i++) await tier.put(keyOf(i % 10), Buffer.from([i & 255]));
    expect(readFileSync(join(folder, "v1", "journal")).length).toBeLessThan(48 * 1200);
    expect(tier.stats().entries).toBe(10);
    await tier.close();
  });

  it("moves aside what stands in its place, and says so", async () => {
    writeFileSync(join(folder, "v1"), "not a folder");
    const tier = open();
    await tier.put(keyOf(1), randomBytes(10));
    expect(await tier.get(keyOf(1))).toBeDefined();
    expect(tier.stats().errors).toBe(1);
    await tier.close();
  });

  it("goes on when the folder is emptied under it", async () => {
    const tier = open();
    await tier.put(keyOf(1), randomBytes(10));
    rmSync(join(folder, "v1"), { recursive: true });
    expect(await tier.get(keyOf(1))).toBeUndefined();
    await tier.put(keyOf(2), randomBytes(10));
    await tier.put(keyOf(3), randomBytes(10));
    expect(await tier.get(keyOf(3))).toBeDefined();
    await tier.close();
  });

  it("answers a put that cannot be stored with an error count, not a failure", async () => {
    const tier = open();
    await tier.put(keyOf(1), randomBytes(10));
    // A file where a shard's folder should be: fails for root too, unlike permissions.
    const shard = join(folder, "v1", keyOf("x").slice(0, 2));
    rmSync(shard, { recursive: true });
    writeFileSync(shard, "");
    await tier.put(keyOf("x"), randomBytes(10));
    expect(tier.stats()).toMatchObject({ errors: 1 });
    expect(await tier.get(keyOf("x"))).toBeUndefined();
    rmSync(shard);
    mkdirSync(shard);
    chmodSync(shard, 0o755);
    await tier.put(keyOf("x"), randomBytes(10));
    expect(await tier.get(keyOf("x"))).toBeDefined();
    await tier.close();
  });

  it("verify finds exactly the damaged entries; clear leaves nothing", async () => {
    const tier = open();
    for (let i = 0; i < 20; i++) await tier.put(keyOf(i), randomBytes(100));
    const bytes = readFileSync(fileOf(keyOf(7)));
    bytes[60] = (bytes[60] as number) ^ 4;
    writeFileSync(fileOf(keyOf(7)), bytes);
    expect(await tier.verify()).toEqual({ entries: 20, corrupt: [keyOf(7)] });
    expect(await tier.clear()).toBe(19);
    expect(filesIn()).toEqual([]);
    expect(tier.stats().entries).toBe(0);
    await tier.close();
  });
});
