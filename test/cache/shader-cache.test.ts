import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Counters, durationBucket, percentile } from "../../src/cache/counters.ts";
import { DiskIndex } from "../../src/cache/disk-index.ts";
import { type Identity, type Key, type Lookup, ShaderCache } from "../../src/cache/index.ts";
import { decodeRows, RowKind } from "../../src/cache/journal-row.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kiln-cache-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const keyOf = (text: string) => createHash("sha256").update(text).digest("hex") as Key;
const lookup = (): Lookup => ({ corrupt: false });
const identity = (source: string, options: string, buildId: string): Identity => ({
  key: keyOf(`${source}/${options}/${buildId}`),
  inputKey: keyOf(`${source}/${options}`),
  sourceKey: keyOf(source),
  buildId,
});

/** As a request that missed is counted. */
const countMiss = (cache: ShaderCache, ...of: Parameters<ShaderCache["missReason"]>) => {
  const reason = cache.missReason(...of);
  cache.countMiss(reason);
  return reason;
};

const open = (memoryBytes = 1 << 20, disk = true) =>
  new ShaderCache({ memoryBytes, ...(disk ? { disk: { folder, capacityBytes: 32 << 20 } } : {}) });

describe("shader cache", () => {
  it("answers from memory, after a restart from disk, then from memory again", async () => {
    const key = keyOf("k");
    const first = open();
    await first.put(key, Buffer.from("value"));
    expect((await first.get(key))?.tier).toBe("memory");
    await first.close();
    const second = open();
    expect((await second.get(key))?.tier).toBe("disk");
    expect((await second.get(key))?.tier).toBe("memory");
    await second.close();
  });

  it("drops from every memory of a folder what one of its processes purges", async () => {
    const [one, other] = [open(), open()];
    await one.disk?.ready;
    await other.disk?.ready;
    const [a, b] = [keyOf("a"), keyOf("b")];
    for (const key of [a, b]) await one.put(key, Buffer.from("value"));
    for (const key of [a, b]) await other.get(key);
    expect((await other.get(a))?.tier).toBe("memory");
    await one.delete(a);
    await expect.poll(() => other.get(a), { timeout: 5000 }).toBeUndefined();
    expect((await other.get(b))?.tier).toBe("memory");
    await one.clear();
    await expect.poll(() => other.get(b), { timeout: 5000 }).toBeUndefined();
    // What comes after is there to stay.
    await other.put(a, Buffer.from("again"));
    one.disk?.follow();
    other.disk?.follow();
    expect((await other.get(a))?.tier).toBe("memory");
    await Promise.all([one.close(), other.close()]);
  });

  it("repeats purges in a journal that is written anew: others may not have read them", () => {
    const index = new DiskIndex(100);
    const rows = [
      { kind: RowKind.put, key: keyOf("a"), value: 4096 },
      { kind: RowKind.put, key: keyOf("b"), value: 4096 },
      { kind: RowKind.purge, key: keyOf("a"), value: 0 },
    ] as const;
    index.applyRows(rows);
    const repeated: (readonly [number, string])[] = [];
    for (const slice of index.slices(10)) {
      decodeRows(slice, (kind, bytes, at) => repeated.push([kind, bytes.toString("hex", at, at + 32)]));
    }
    expect(repeated).toEqual([
      [RowKind.purge, keyOf("a")],
      [RowKind.put, keyOf("b")],
    ]);
  });

  it("keeps its counters over a restart", async () => {
    const first = open();
    await first.get(keyOf("x"));
    await first.put(keyOf("x"), Buffer.from("1"));
    await first.get(keyOf("x"));
    await first.close();
    const second = open();
    await second.get(keyOf("x"));
    expect(second.tierStats()).toMatchObject([
      { name: "memory", hits: 1, misses: 2, puts: 2 },
      { name: "disk", hits: 1, misses: 1, puts: 1, entries: 1 },
    ]);
    await second.close();
  });

  it("counts from zero after a damaged counter file", async () => {
    const first = open();
    await first.get(keyOf("x"));
    await first.close();
    const path = join(folder, "v1", "counters");
    writeFileSync(path, readFileSync(path, "utf8").replace('"tier.disk.misses":1', '"tier.disk.misses":7'));
    const second = open();
    expect(second.tierStats()[1]?.misses).toBe(0);
    await second.close();
  });

  it("names the reason of a miss", async () => {
    const cache = open();
    const known = identity("src", "O2", "build1");
    expect(countMiss(cache, known, lookup())).toBe("cold");
    cache.remember(known);
    expect(countMiss(cache, identity("src", "O2", "build2"), lookup())).toBe("compilerChanged");
    expect(countMiss(cache, identity("src", "O0", "build1"), lookup())).toBe("optionsChanged");
    expect(countMiss(cache, identity("other", "O0", "build1"), lookup())).toBe("cold");
    expect(countMiss(cache, known, { corrupt: true })).toBe("corrupt");
    expect(cache.missCounts()).toEqual({ cold: 2, compilerChanged: 1, optionsChanged: 1, corrupt: 1, evicted: 0 });
    await cache.close();
    const next = open();
    await next.disk?.ready;
    expect(countMiss(next, identity("src", "O2", "build2"), lookup())).toBe("compilerChanged");
    await next.close();
  });

  it("knows an evicted key, without a disk too", async () => {
    const cache = open(2000, false);
    const first = identity("a", "", "b");
    await cache.put(first.key, Buffer.alloc(1000));
    cache.remember(first);
    await cache.put(keyOf("b"), Buffer.alloc(1000));
    expect(await cache.get(first.key)).toBeUndefined();
    expect(countMiss(cache, first, lookup())).toBe("evicted");
    expect(cache.tierStats()[0]).toMatchObject({ evictions: 1, entries: 1, bytes: 1256 });
    await cache.close();
  });
});

describe("counters", () => {
  it("keep what a store refused for the next flush", async () => {
    let works = false;
    let stored: Record<string, number> = {};
    const counters = new Counters({
      read: () => stored,
      add: async (deltas) => {
        if (!works) throw new Error("full");
        stored = { ...deltas };
      },
    });
    counters.add("a", 2);
    await counters.flush();
    counters.add("a");
    expect(counters.read()).toEqual({ a: 3 });
    works = true;
    await counters.flush();
    expect(stored).toEqual({ a: 3 });
    expect(counters.read()).toEqual({ a: 3 });
  });

  it("give percentiles within a bucket's width", () => {
    const counters: Record<string, number> = {};
    for (let us = 1; us <= 1000; us++) {
      const name = `d.${durationBucket(us)}`;
      counters[name] = (counters[name] ?? 0) + 1;
    }
    for (const fraction of [0.5, 0.9, 0.99]) {
      const got = percentile(counters, "d.", fraction);
      expect(Math.abs(got / (1000 * fraction) - 1)).toBeLessThan(0.1);
    }
    expect(percentile({}, "d.", 0.5)).toBe(0);
  });
});
