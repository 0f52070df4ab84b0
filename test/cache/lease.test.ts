import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readlinkSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Counters } from "../../src/cache/counters.ts";
import { DiskTier } from "../../src/cache/disk-tier.ts";
import { FolderLeases } from "../../src/cache/folder-leases.ts";
import type { Key } from "../../src/cache/index.ts";
import { leadOrWait } from "../../src/cache/lease.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kiln-lease-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const key = createHash("sha256").update("k").digest("hex") as Key;
const file = () => join(folder, "v1", "leases", key);

describe("leases of a folder", () => {
  it("go to one at a time", async () => {
    const [a, b] = [new FolderLeases(folder), new FolderLeases(folder)];
    const lease = await a.acquire(key);
    expect(lease).toBeDefined();
    expect(await b.acquire(key)).toBeUndefined();
    expect(await a.acquire(key)).toBeUndefined();
    await lease?.release();
    const next = await b.acquire(key);
    expect(next).toBeDefined();
    await next?.release();
  });

  it("of a holder that was killed, or whose clock jumped, are taken", async () => {
    for (const offsetSeconds of [-60, 3600]) {
      const [dead, live] = [new FolderLeases(folder), new FolderLeases(folder)];
      const lost = await dead.acquire(key);
      const time = Date.now() / 1000 + offsetSeconds;
      utimesSync(file(), time, time);
      // The first look takes the stale file away, the next gets the lease.
      const got = (await live.acquire(key)) ?? (await live.acquire(key));
      expect(got, `${offsetSeconds} s`).toBeDefined();
      // The old holder, should it still live, gives back nothing that is not its own.
      await lost?.release();
      expect(await dead.acquire(key)).toBeUndefined();
      await got?.release();
    }
  });

  it("of a killed holder are counted, and gone with the next start, whether their key is asked for again or not", async () => {
    const bytesAndFiles = async () => {
      const tier = new DiskTier({ folder, capacityBytes: 1 << 26, counters: new Counters() });
      await tier.ready;
      const { bytes } = tier.stats();
      await tier.close();
      return [bytes, readdirSync(join(folder, "v1", "leases")).length];
    };
    await (await new FolderLeases(folder).acquire(key))?.release();
    const [before = 0] = await bytesAndFiles();
    // A live holder keeps its own, which takes no block of the disk.
    const lease = await new FolderLeases(folder).acquire(key);
    expect(await bytesAndFiles()).toEqual([before, 1]);
    await lease?.release();
    writeFileSync(file(), "a dead one's");
    const time = Date.now() / 1000 - 60;
    utimesSync(file(), time, time);
    expect(await bytesAndFiles()).toEqual([before, 0]);
  });

  it("of one process share its file, which goes with it; where it was taken away it is made again", async () => {
    const [one, other] = [new FolderLeases(folder), new FolderLeases(folder)];
    const second = createHash("sha256").update("second").digest("hex") as Key;
    const held = [await one.acquire(key), await one.acquire(second)];
    const inodes = [key, second].map((name) => statSync(join(folder, "v1", "leases", name)).ino);
    expect(inodes[0]).toBe(inodes[1]);
    rmSync(join(folder, "v1"), { recursive: true });
    const again = await one.acquire(key);
    expect(await other.acquire(key)).toBeUndefined();
    for (const lease of held) await lease?.release();
    // What was granted before the folder was emptied is not what is there now.
    expect(await other.acquire(key)).toBeUndefined();
    await again?.release();
    expect(await other.acquire(key)).toBeDefined();
    one.close();
    expect(readdirSync(join(folder, "v1", "tmp"))).toHaveLength(1);
    // Nor does a file of it stay open, that which was taken away while it was lent as little.
    const open = readdirSync("/proc/self/fd").map((name) => {
      try {
        return readlinkSync(`/proc/self/fd/${name}`);
      } catch {
        return "";
      }
    });
    expect(
      open.filter((path) => path.includes("holder-") && path.startsWith(folder) && path.endsWith("(deleted)")),
    ).toEqual([]);
  });

  it("are granted to everybody where the folder cannot be written", async () => {
    const nowhere = new FolderLeases("/proc/nope");
    expect(await nowhere.acquire(key)).toBeDefined();
    expect(await nowhere.acquire(key)).toBeDefined();
  });
});

describe("leadOrWait", () => {
  const places = () => [new FolderLeases(folder)];

  it("works once, the others get what was found", async () => {
    let result: number | undefined;
    let works = 0;
    const work = async () => {
      works++;
      await new Promise((resolve) => setTimeout(resolve, 100));
      result = 7;
      return 7;
    };
    const all = Array.from({ length: 12 }, () => leadOrWait(places(), key, 10_000, async () => result, work));
    expect(await Promise.all(all)).toEqual(Array(12).fill(7));
    expect(works).toBe(1);
  });

  it("lets the next work where the first failed, and none wait longer than its patience", async () => {
    const failing = leadOrWait(
      places(),
      key,
      10_000,
      async () => undefined,
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        throw new Error("no");
      },
    );
    const second = leadOrWait(
      places(),
      key,
      10_000,
      async () => undefined,
      async () => "second",
    );
    await expect(failing).rejects.toThrow("no");
    expect(await second).toBe("second");
    const held = await new FolderLeases(folder).acquire(key);
    const started = performance.now();
    expect(
      await leadOrWait(
        places(),
        key,
        200,
        async () => undefined,
        async () => "alone",
      ),
    ).toBe("alone");
    expect(performance.now() - started).toBeGreaterThan(190);
    await held?.release();
  });
});
