import { execFileSync, spawnSync } from "node:child_process";
import { createHash, randomInt } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Key, ShaderCache } from "../../src/cache/index.ts";
import { startRedis, stopRedis } from "./redis-process.ts";
import {
  buildWriter,
  diskUse,
  largestEntryBytes,
  type Recount,
  recordFiles,
  recount,
  recountAgrees,
  startWriter,
  type Writer,
} from "./writers.ts";

/** What a fault did: figures to print, and whether all was as it has to be. */
export interface Outcome {
  readonly good: boolean;
  readonly figures: Readonly<Record<string, unknown>>;
}

const keyOf = (text: string | number) => createHash("sha256").update(String(text)).digest("hex") as Key;
/** A record's bytes follow from its key. */
const contentOf = (key: Key, bytes = 3000) => Buffer.alloc(bytes, createHash("sha512").update(key).digest());
const isWrong = (key: Key, value: Uint8Array | undefined, bytes?: number) =>
  value !== undefined && !contentOf(key, bytes).equals(value);

const folderIn = (base: string, name: string) => {
  const folder = join(base, name);
  mkdirSync(folder, { recursive: true });
  return folder;
};

/** Kills writers at random moments, two on a folder that is small enough to evict; a recount every 100 kills. */
export async function killRounds(base: string, writer: string, kills: number): Promise<Outcome> {
  const folder = folderIn(base, "kills");
  const capacity = 4 << 20;
  let [killed, lines, hits, disagreed] = [0, 0, 0, 0];
  const wrong: string[] = [];
  let last: Recount | undefined;
  for (let seed = 0; killed < kills; seed++) {
    const pair = [0, 1].map((n) => startWriter(writer, [folder, String(capacity), String(seed * 2 + n), "600"]));
    await Promise.all(
      pair.map(async (one) => {
        await one.reached(1 + randomInt(40));
        await sleep(randomInt(8));
        await one.kill();
      }),
    );
    killed += pair.length;
    for (const one of pair) {
      lines += one.lines.length;
      hits += one.lines.filter(({ word }) => word === "hit").length;
      wrong.push(...one.lines.map(({ word }) => word).filter((word) => word.startsWith("wrong")));
    }
    if (killed % 100 === 0 || killed >= kills) {
      last = await recount(folder, capacity);
      if (!recountAgrees(last)) disagreed++;
    }
  }
  return {
    good: wrong.length === 0 && disagreed === 0 && hits > 0,
    figures: { killed, lines, hits, wrong, disagreed, last },
  };
}

/** The most that `du` says while `writers` write at once: they are stopped for each look. */
export async function limitHolds(base: string, writer: string, writers: number, seconds: number): Promise<Outcome> {
  const folder = folderIn(base, "limit");
  const capacity = 4 << 20;
  const all = Array.from({ length: writers }, (_, n) =>
    startWriter(writer, [folder, String(capacity), String(n + 1), "4000"]),
  );
  await Promise.all(all.map((one) => one.reached(50)));
  let [largest, looks] = [0, 0];
  const putCount = () => all.reduce((sum, { lines }) => sum + lines.filter(({ word }) => word === "ok").length, 0);
  // As long as it takes to fill the folder twice, on a slow machine too.
  const enough = (2 * capacity) / (largestEntryBytes / 2);
  for (const until = performance.now() + seconds * 1000; performance.now() < until || putCount() < enough; looks++) {
    await sleep(20 + randomInt(60));
    for (const { child } of all) child.kill("SIGSTOP");
    await sleep(5);
    largest = Math.max(largest, diskUse(folder));
    for (const { child } of all) child.kill("SIGCONT");
  }
  const puts = putCount();
  await Promise.all(all.map((one) => one.kill()));
  const bound = capacity + writers * largestEntryBytes;
  const counted = await recount(folder, capacity);
  return {
    good: largest <= bound && largest > 0.9 * capacity && recountAgrees(counted),
    figures: { capacity, writers, puts, looks, largestDu: largest, overBytes: largest - capacity, bound, ...counted },
  };
}

/** Writers whose clocks jump by hours, each its own way; some are killed. */
export async function clockJumps(base: string, writer: string, seconds: number): Promise<Outcome> {
  const folder = folderIn(base, "clock");
  const capacity = 4 << 20;
  const start = (n: number) => startWriter(writer, [folder, String(capacity), String(n), "600", "jumpy"]);
  const writers: Writer[] = [start(1), start(2), start(3)];
  await Promise.all(writers.map((one) => one.reached(100)));
  await writers[0]?.kill();
  await sleep(seconds * 1000);
  await Promise.all(writers.slice(1).map((one) => one.kill()));
  const words = writers.flatMap(({ lines }) => lines.map(({ word }) => word));
  const wrong = words.filter((word) => word.startsWith("wrong"));
  const counted = await recount(folder, capacity);
  const good = wrong.length === 0 && recountAgrees(counted) && words.includes("hit");
  return { good, figures: { answers: words.length, wrong, ...counted } };
}

/** Puts and gets that a writer does at one time. */
const writerLanes = 4;

/** What the counters' file says after a kill: at least what the writer had done a second before, at most what it did. */
export async function countersAfterKill(base: string, writer: string, rounds: number): Promise<Outcome> {
  let [counted, done, early, lost, invented] = [0, 0, 0, 0, 0];
  for (let round = 0; round < rounds; round++) {
    const folder = folderIn(base, `counters-${round}`);
    const one = startWriter(writer, [folder, String(64 << 20), String(round), "300"]);
    await one.reached(1);
    await sleep(2200 + randomInt(1500));
    const at = performance.now();
    await one.kill();
    const cache = new ShaderCache({ memoryBytes: 0, disk: { folder, capacityBytes: 64 << 20 } });
    const { hits = 0, puts = 0 } = cache.tierStats()[1] ?? {};
    await cache.close();
    // A line came here after it was written, so what counts as old enough is a little older still.
    const before = one.lines.filter(({ atMs }) => at - atMs > 1000).length;
    counted += hits + puts;
    done += one.lines.length;
    early += before;
    if (hits + puts < before) lost++;
    if (hits + puts > one.lines.length + writerLanes) invented++;
  }
  const figures = { rounds, done, doneASecondBefore: early, counted, lost, invented };
  return { good: lost === 0 && invented === 0 && early > 0, figures };
}

/** Bits flip in 1% of the entries while they are read. */
export async function bitFlips(base: string, entries: number): Promise<Outcome> {
  const folder = folderIn(base, "flips");
  const cache = new ShaderCache({ memoryBytes: 0, disk: { folder, capacityBytes: 1 << 30 } });
  const keys = Array.from({ length: entries }, (_, n) => keyOf(n));
  for (const key of keys) await cache.put(key, contentOf(key));
  const files = recordFiles(folder);
  const chosen = new Set<string>();
  while (chosen.size < Math.ceil(entries / 100)) chosen.add(files[randomInt(files.length)] as string);
  const toFlip = [...chosen];
  let [wrong, misses, reads] = [0, 0, 0];
  for (let pass = 0; pass < 3; pass++) {
    for (const key of keys) {
      const value = (await cache.get(key))?.value;
      reads++;
      if (value === undefined) misses++;
      if (isWrong(key, value)) wrong++;
      // In the first pass a flip now and then, some before their entry is read and some after.
      if (pass > 0 || reads % 97 !== 0) continue;
      const file = toFlip.pop();
      if (file !== undefined) flipOneBit(file);
    }
    for (const file of toFlip.splice(0)) flipOneBit(file);
  }
  const corrupt = cache.tierStats()[1]?.corrupt ?? -1;
  await cache.close();
  const counted = await recount(folder, 1 << 30);
  const good = wrong === 0 && corrupt === chosen.size && recountAgrees(counted);
  return { good, figures: { stored: entries, flipped: chosen.size, reads, wrong, misses, found: corrupt, ...counted } };
}

function flipOneBit(file: string): void {
  const bytes = readFileSync(file);
  const at = randomInt(bytes.length);
  bytes[at] = (bytes[at] as number) ^ (1 << randomInt(8));
  writeFileSync(file, bytes);
}

/** Mounts a tmpfs; undefined where this user may not. */
function mountTmpfs(folder: string, size: string): boolean {
  return spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder]).status === 0;
}

/** A disk of 2 MiB under a limit of 64, then one that is read-only for a while. */
export async function badDisks(base: string): Promise<Outcome | undefined> {
  const folder = folderIn(base, "tmpfs");
  if (!mountTmpfs(folder, "2m")) return undefined;
  const remount = (how: string) => execFileSync("mount", ["-o", `remount,${how}`, folder]);
  const open = () => new ShaderCache({ memoryBytes: 0, disk: { folder, capacityBytes: 64 << 20 } });
  let cache = open();
  try {
    await cache.disk?.ready;
    let [wrong, hits] = [0, 0];
    const work = async (from: number, to: number) => {
      for (let n = from; n < to; n++) {
        const key = keyOf(n);
        await cache.put(key, contentOf(key, 5000));
        const old = keyOf(Math.max(0, n - randomInt(300)));
        const value = (await cache.get(old))?.value;
        if (value !== undefined) hits++;
        if (isWrong(old, value, 5000)) wrong++;
      }
    };
    await work(0, 3000);
    const { errors = 0, entries = 0 } = cache.tierStats()[1] ?? {};
    const full = { hits, errors, entries, files: recordFiles(folder).length };
    await cache.close();
    remount("ro");
    cache = open();
    await work(3000, 3200);
    const readOnly = { hits: hits - full.hits, problem: cache.disk?.problem };
    remount("rw");
    // The folder is tried again by itself.
    await sleep(5200);
    await work(3200, 3400);
    const stored = (await cache.get(keyOf(3399))) !== undefined;
    await cache.close();
    const counted = await recount(folder, 64 << 20);
    const isFull = errors > 0 && entries === full.files && entries > 100;
    return {
      good: wrong === 0 && stored && isFull && readOnly.hits > 0 && recountAgrees(counted),
      figures: { puts: 3400, wrong, full, readOnly, storedAfterwards: stored, ...counted },
    };
  } finally {
    await cache.close();
    execFileSync("umount", [folder]);
  }
}

/** A Redis that is killed and started while it is used: slower, never wrong, used again in the end. */
export async function redisStops(base: string, stops: number): Promise<Outcome> {
  let redis = await startRedis();
  const open = (name: string) =>
    new ShaderCache({
      memoryBytes: 0,
      disk: { folder: folderIn(base, name), capacityBytes: 64 << 20 },
      shared: { url: redis.url, secret: "soak", timeoutMs: 300 },
    });
  const [one, other] = [open("redis-1"), open("redis-2")];
  let [wrong, answers, isOver] = [0, 0, false];
  const work = async (mine: ShaderCache, theirs: ShaderCache) => {
    for (let n = 0; !isOver; n++) {
      const key = keyOf(`redis ${n % 500}`);
      await mine.put(key, contentOf(key));
      const value = (await theirs.get(key))?.value;
      answers++;
      if (isWrong(key, value)) wrong++;
      if (n % 20 === 0) await theirs.delete(key);
      await sleep(1);
    }
  };
  const works = [work(one, other), work(other, one)];
  for (let stop = 0; stop < stops; stop++) {
    await sleep(300 + randomInt(500));
    await stopRedis(redis);
    await sleep(300 + randomInt(500));
    redis = await startRedis(redis.port);
  }
  isOver = true;
  await Promise.all(works);
  let usedAgain = false;
  for (let n = 0; n < 150 && !usedAgain; n++) {
    const key = keyOf(`after ${n}`);
    await one.put(key, contentOf(key));
    usedAgain = (await other.get(key))?.tier === "shared";
    await sleep(100);
  }
  const shared = one.tierStats()[2];
  await one.close();
  await other.close();
  await stopRedis(redis);
  return {
    good: wrong === 0 && usedAgain,
    figures: { stops, answers, wrong, usedAgain, sharedErrors: shared?.errors },
  };
}

/** A folder for all of it, and the writer's bundle in it. */
export async function faultFolder(): Promise<{ base: string; writer: string; remove(): void }> {
  const base = mkdtempSync(join(tmpdir(), "kiln-faults-"));
  const writer = await buildWriter(base);
  return { base, writer, remove: () => rmSync(base, { recursive: true, force: true }) };
}
