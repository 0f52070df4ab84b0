/** Hits over HTTP of a server whose cache folder has many entries, from disk beside from memory. */
import { join } from "node:path";
import { type Key, ShaderCache } from "../src/cache/index.ts";
import { benchShader, type Listening, startKiln, stopKiln } from "../src/cli/bench-service.ts";
import { Connection, cpuMsOf, median, percentile, prepared, rounded } from "../src/cli/http-load.ts";
import { defaultRequest } from "../src/codeobj/index.ts";
import { neutralFilename, RequestKeys, readBuildInfo } from "../src/service/index.ts";

/** Shaders that are compiled; the entries beyond are their records again, each under the key of a shader of its own. */
const compiled = 300;
const padding = 1500;
const capacityBytes = 64 * 2 ** 30;
const rounds = 9;
const sourceOf = (variant: number) => benchShader(variant, padding);
const bodyOf = (variant: number) => JSON.stringify({ source: sourceOf(variant), stage: "compute" });

const { buildId } = readBuildInfo();
const keyOf = (variant: number): Key =>
  new RequestKeys(
    { ...defaultRequest, filename: neutralFilename, language: "glsl", stage: "compute", source: sourceOf(variant) },
    buildId,
  ).flightKey;

interface Round {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuUs: number;
}

/** One request after the other; each has to be answered from where `outcome` says. */
async function ask(server: Listening, variants: readonly number[], outcome: string): Promise<Round> {
  const lane = await Connection.open(server.address);
  const cpu = cpuMsOf(server.child.pid);
  const times: number[] = [];
  for (const variant of variants) {
    const request = prepared(server.address, bodyOf(variant));
    const from = performance.now();
    const text = await lane.ask(request);
    times.push(performance.now() - from);
    const { cache, key } = JSON.parse(text.toString()) as { cache: string; key: string };
    if (cache !== outcome || key !== keyOf(variant)) throw new Error(`variant ${variant}: ${cache}, not ${outcome}`);
  }
  lane.close();
  const cpuUs = ((cpuMsOf(server.child.pid) - cpu) * 1000) / times.length;
  times.sort((a, b) => a - b);
  return { p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99), cpuUs };
}

/** The folder filled by the tier's own puts; answers the CPU time of one, us. */
async function fill(folder: string, entries: number): Promise<number> {
  const cache = new ShaderCache({ memoryBytes: 0, disk: { folder, capacityBytes } });
  await cache.disk?.ready;
  const records: Uint8Array[] = [];
  for (let n = 0; n < compiled; n++) {
    const found = await cache.get(keyOf(n));
    if (found === undefined)
      throw new Error(`the server did not keep shader ${n} under the key that is worked out here`);
    records.push(found.value);
  }
  const cpu = cpuMsOf(process.pid);
  for (let n = compiled; n < entries; n++) {
    await cache.put(keyOf(n), records[n % compiled] as Uint8Array);
    if (n % 100_000 === 0) console.error(`${n} entries`);
  }
  await cache.close();
  return ((cpuMsOf(process.pid) - cpu) * 1000) / Math.max(1, entries - compiled);
}

/** CPU time until a server on the folder listens, and until it knows all of the folder. */
async function open(serve: readonly string[], entries: number) {
  const server = await startKiln(serve);
  const startCpuMs = cpuMsOf(server.child.pid);
  for (;;) {
    const stats = (await (await fetch(`${server.address}/cache/stats`)).json()) as {
      tiers: { name: string; entries: number }[];
    };
    if ((stats.tiers.find(({ name }) => name === "disk")?.entries ?? 0) >= entries) break;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return { server, startCpuMs, readyCpuMs: cpuMsOf(server.child.pid) };
}

/** Hits of shaders drawn from all entries, from disk, and of the compiled ones from memory, in turns. */
export async function diskHits(base: string, entries: number): Promise<object> {
  const folder = join(base, "many");
  const serve = ["serve", "--port", "0", "--cache-dir", folder, "--cache-bytes", String(capacityBytes)];
  const first = await startKiln(serve);
  const some = Array.from({ length: compiled }, (_, n) => n);
  await ask(first, some, "miss");
  await stopKiln(first);
  const putCpuUs = await fill(folder, entries);
  const inMemory = await open(serve, entries);
  const onDisk = await open([...serve, "--memory-bytes", "0"], entries);
  await ask(inMemory.server, some, "disk");
  const [memory, disk]: [Round[], Round[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    memory.push(await ask(inMemory.server, some, "memory"));
    const drawn = some.map(() => Math.floor(Math.random() * entries));
    disk.push(await ask(onDisk.server, drawn, "disk"));
  }
  await stopKiln(inMemory.server);
  await stopKiln(onDisk.server);
  // The first rounds warm both up.
  const of = (list: readonly Round[], field: keyof Round) => rounded(median(list.slice(2).map((row) => row[field])));
  const [memoryP50Ms, diskP50Ms] = [of(memory, "p50Ms"), of(disk, "p50Ms")];
  return {
    entries,
    putCpuUs: Math.round(putCpuUs),
    startCpuMs: onDisk.startCpuMs,
    readyCpuMs: onDisk.readyCpuMs,
    memory: { p50Ms: memoryP50Ms, p99Ms: of(memory, "p99Ms"), cpuUs: of(memory, "cpuUs") },
    disk: { p50Ms: diskP50Ms, p99Ms: of(disk, "p99Ms"), cpuUs: of(disk, "cpuUs") },
    ratio: rounded(diskP50Ms / memoryP50Ms, 2),
  };
}
