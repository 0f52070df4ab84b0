/**
 * `npx tsx bench/store.ts [--entries N] [--store files|segments|lmdb] [--bytes N] [--folder D] [--from N]
 * [--lmdb PACKAGE_FOLDER]`:
 * a store by itself with many entries. Put and hit latency, file-system bytes, eviction, and how long a new process takes
 * until it can answer (`open`) and until it knows all (`ready`). `files` is the disk tier that the service uses.
 */
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Key } from "../src/cache/index.ts";
import { cpuMsOf, percentile, rounded } from "../src/cli/http-load.ts";
import { type Opener, openFiles, openLmdb, openSegments } from "./store-candidates.ts";

const text = (name: string) => process.argv[process.argv.indexOf(name) + 1];
const argument = (name: string, otherwise: string) =>
  process.argv.includes(name) ? (text(name) ?? otherwise) : otherwise;
const entries = Number(argument("--entries", "10000"));
const bytes = Number(argument("--bytes", "4000"));
/** With `--folder`: so many are there from a run before. */
const already = Number(argument("--from", "0"));
const name = argument("--store", "files");
const openers: Readonly<Record<string, Opener>> = {
  files: openFiles,
  segments: openSegments,
  lmdb: openLmdb(argument("--lmdb", "")),
};
const opener = openers[name];
if (opener === undefined) throw new Error(`no store ${name}`);

const keyOf = (n: number) => createHash("sha256").update(String(n)).digest("hex") as Key;
const capacityBytes = 64 * 2 ** 30;
const noise = randomBytes(bytes + 65_536);
/** Sizes from a half to one and a half of `bytes`, as records differ. */
const contentOf = (n: number) => {
  const length = Math.floor(bytes * (0.5 + ((n * 7919) % 1000) / 1000));
  const value = Buffer.from(noise.subarray(n % 65_536).subarray(0, length));
  value.writeUInt32LE(n, 0);
  return value;
};
const figures = (times: number[]) => {
  times.sort((a, b) => a - b);
  return { p50Ms: rounded(percentile(times, 0.5)), p99Ms: rounded(percentile(times, 0.99)) };
};
const diskUse = (folder: string) =>
  Number(execFileSync("du", ["-s", "--block-size=1", folder]).toString().split("\t")[0]);

const folder = argument("--folder", "") || mkdtempSync(join(tmpdir(), "kiln-store-"));
try {
  const cpu = cpuMsOf(process.pid);
  const first = await opener(folder, capacityBytes);
  await first.ready;
  const puts: number[] = [];
  for (let n = already; n < entries; n++) {
    const [key, value] = [keyOf(n), contentOf(n)];
    const from = performance.now();
    await first.put(key, value);
    puts.push(performance.now() - from);
  }
  const putCpuUs = ((cpuMsOf(process.pid) - cpu) * 1000) / (entries - already);
  await first.close();
  const storedBytes = Array.from({ length: entries }, (_, n) => Math.floor(bytes * (0.5 + ((n * 7919) % 1000) / 1000)));
  const valueBytes = storedBytes.reduce((sum, length) => sum + length, 0);
  const duBytes = diskUse(folder);

  const [openCpu, from] = [cpuMsOf(process.pid), performance.now()];
  const again = await opener(folder, capacityBytes);
  const openMs = performance.now() - from;
  const early = performance.now();
  if ((await again.get(keyOf(entries >> 1))) === undefined) throw new Error("lost");
  const firstHitMs = performance.now() - early;
  await again.ready;
  const readyMs = performance.now() - from;
  const readyCpuMs = cpuMsOf(process.pid) - openCpu;
  const hits: number[] = [];
  for (let n = 0; n < 20_000; n++) {
    const key = keyOf((n * 7919) % entries);
    const at = performance.now();
    if ((await again.get(key)) === undefined) throw new Error("lost");
    hits.push(performance.now() - at);
  }
  const rssBytes = process.memoryUsage().rss;
  const evicting = performance.now();
  const evictCount = Math.min(entries >> 1, 20_000);
  await again.evict(evictCount);
  const evictUs = ((performance.now() - evicting) * 1000) / evictCount;
  await again.close();
  console.log(
    JSON.stringify({
      store: name,
      entries,
      valueBytes,
      duBytes,
      duRatio: rounded(duBytes / valueBytes, 2),
      put: { ...figures(puts), cpuUs: Math.round(putCpuUs) },
      hit: figures(hits),
      openMs: rounded(openMs, 1),
      firstHitMs: rounded(firstHitMs, 1),
      readyMs: Math.round(readyMs),
      readyCpuMs: Math.round(readyCpuMs),
      evictUsAnEntry: rounded(evictUs, 1),
      rssMb: rssBytes >> 20,
    }),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
