import { execFileSync, spawnSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Counters } from "../../src/cache/counters.ts";
import { DiskTier } from "../../src/cache/disk-tier.ts";
import { type Key, ReadOnlyFolder, ShaderCache } from "../../src/cache/index.ts";

let folder: string;
let isMounted = false;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kiln-trouble-"));
});
afterEach(() => {
  if (isMounted) execFileSync("umount", [folder]);
  isMounted = false;
  rmSync(folder, { recursive: true, force: true });
});

const keyOf = (text: string | number) => createHash("sha256").update(String(text)).digest("hex") as Key;
const mount = (options: string) => {
  execFileSync("mount", [...(isMounted ? [] : ["-t", "tmpfs"]), "-o", options, "tmpfs", folder]);
  isMounted = true;
};
/** Whether this user may mount a tmpfs: root outside of most sandboxes. */
const mayMount = (() => {
  const probe = mkdtempSync(join(tmpdir(), "kiln-mount-"));
  const done = spawnSync("mount", ["-t", "tmpfs", "tmpfs", probe]).status === 0;
  if (done) spawnSync("umount", [probe]);
  rmSync(probe, { recursive: true });
  return done;
})();

describe.skipIf(!mayMount)("a disk in trouble", () => {
  it("that is smaller than the limit: makes room, serves only what was put", async () => {
    mount("size=1m");
    const tier = new DiskTier({ folder, capacityBytes: 64 << 20, counters: new Counters() });
    await tier.ready;
    const values = Array.from({ length: 400 }, () => randomBytes(9000));
    for (const [i, value] of values.entries()) await tier.put(keyOf(i), value);
    const found = await Promise.all(values.map((_, i) => tier.get(keyOf(i))));
    for (const [i, value] of found.entries()) {
      if (value !== undefined) expect(Buffer.from(value).equals(values[i] as Buffer), `record ${i}`).toBe(true);
    }
    const kept = found.filter((value) => value !== undefined).length;
    // 1 MiB holds some 80 records of 12 KiB; the newest is among them.
    expect(kept).toBeGreaterThan(40);
    expect(found.at(-1)).toBeDefined();
    const stats = tier.stats();
    expect(stats).toMatchObject({ corrupt: 0, entries: kept });
    expect(stats.errors).toBeGreaterThan(0);
    await tier.close();
    const again = new DiskTier({ folder, capacityBytes: 64 << 20, counters: new Counters() });
    await again.ready;
    expect(again.stats().entries).toBe(kept);
    await again.close();
  });

  it("that turned read-only: old records are hits, new ones counted errors", async () => {
    mount("size=4m");
    const first = new ShaderCache({ memoryBytes: 0, disk: { folder, capacityBytes: 8 << 20 } });
    await first.put(keyOf("old"), Buffer.from("old"));
    const { bytes, entries } = first.tierStats()[1] as { bytes: number; entries: number };
    await first.close();
    mount("remount,ro");
    const cache = new ShaderCache({ memoryBytes: 0, disk: { folder, capacityBytes: 8 << 20 } });
    expect(cache.disk?.problem).toBe("EROFS");
    expect(await cache.get(keyOf("old"))).toMatchObject({ tier: "disk" });
    await cache.put(keyOf("new"), Buffer.from("new"));
    expect(await cache.get(keyOf("new"))).toBeUndefined();
    expect(cache.tierStats()[1]).toMatchObject({ hits: 1, misses: 1, corrupt: 0, puts: 1, errors: 2 });
    expect(cache.disk?.isReadOnly).toBe(true);
    expect(cache.tierStats()[1]).toMatchObject({ bytes, entries });
    // A purge that does not purge says so.
    await expect(cache.delete(keyOf("old"))).rejects.toBeInstanceOf(ReadOnlyFolder);
    await expect(cache.clear()).rejects.toBeInstanceOf(ReadOnlyFolder);
    expect(await cache.delete(keyOf("none"))).toBe(false);
    expect(await cache.get(keyOf("old"))).toMatchObject({ tier: "disk" });
    await cache.close();
  });
});

describe("a folder that cannot be made", () => {
  it("says why, and counts what it could not store", async () => {
    const file = join(folder, "file");
    writeFileSync(file, "");
    for (const [path, problem] of [
      ["/proc/nope", "ENOENT"],
      [file, "ENOTDIR"],
    ] as const) {
      const cache = new ShaderCache({ memoryBytes: 1 << 20, disk: { folder: path, capacityBytes: 8 << 20 } });
      expect(cache.disk?.problem).toBe(problem);
      await cache.put(keyOf(1), Buffer.from("a"));
      expect(await cache.get(keyOf(1))).toMatchObject({ tier: "memory" });
      expect(cache.tierStats()[1]?.errors).toBeGreaterThan(0);
      await cache.close();
    }
  });
});
