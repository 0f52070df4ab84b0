/**
 * `npx tsx bench/service.ts [--seconds N] [--entries N]`: figures of the service, against `dist` (build first), servers
 * on loopback. Cached compiles a second beside a bare Fastify route with the same body, validation and answer size; hits
 * from disk beside hits from memory; 64 clients that want one cold shader from four servers on one folder.
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Key, ShaderCache } from "../src/cache/index.ts";

const argument = (name: string, otherwise: number) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const seconds = argument("--seconds", 4);
const connections = 32;

interface Running {
  readonly child: ChildProcess;
  readonly address: string;
}

async function startServer(args: readonly string[]): Promise<Running> {
  const child = spawn(process.execPath, ["dist/kiln.js", "serve", "--port", "0", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const address = await new Promise<string>((resolve, reject) => {
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    child.stdout.on("data", (data) => {
      const match = /listens on (\S+)/.exec(String(data));
      if (match?.[1] !== undefined) resolve(match[1]);
    });
  });
  return { child, address };
}

async function stop({ child }: Running): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

const percentile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

/** One POST; answers status and body. */
function post(agent: Agent, url: string, body: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const asked = request(url, { method: "POST", agent, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

/** Requests a second and latency of `connections` clients that ask without pause. */
async function load(url: string, body: string): Promise<{ perSecond: number; p50Ms: number; p99Ms: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  const run = async (until: number, kept: number[]) => {
    while (performance.now() < until) {
      const from = performance.now();
      const { status } = await post(agent, url, body);
      if (status !== 200) throw new Error(`status ${status}`);
      kept.push(performance.now() - from);
    }
  };
  const lanes = (ms: number, kept: number[]) =>
    Promise.all(Array.from({ length: connections }, () => run(performance.now() + ms, kept)));
  await lanes(1000, []);
  const from = performance.now();
  await lanes(seconds * 1000, times);
  const took = (performance.now() - from) / 1000;
  agent.destroy();
  times.sort((a, b) => a - b);
  return { perSecond: times.length / took, p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) };
}

const shader = (variant: number, padding = 0) => `#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer B { uint x[]; };
void main() { x[gl_GlobalInvocationID.x] += ${variant}u; }
//${"-".repeat(padding)}`;

const folder = mkdtempSync(join(tmpdir(), "kiln-bench-"));

async function throughput(): Promise<object> {
  const body = JSON.stringify({ source: shader(1, 1800), stage: "compute" });
  const kiln = await startServer(["--cache-dir", join(folder, "rate"), "--verify-rate", "0"]);
  const agent = new Agent({ keepAlive: false });
  const { text: answer } = await post(agent, `${kiln.address}/compile`, body);
  const child = fork(new URL("./service-floor.ts", import.meta.url), { execArgv: ["--import", "tsx"] });
  child.send(answer);
  const [port] = (await once(child, "message")) as [number];
  const floorUrl = `http://127.0.0.1:${port}/compile`;
  // In turns, so that what else the machine does weighs on both.
  const rounds = { kiln: [] as Loaded[], floor: [] as Loaded[] };
  for (let round = 0; round < 3; round++) {
    rounds.floor.push(await load(floorUrl, body));
    rounds.kiln.push(await load(`${kiln.address}/compile`, body));
  }
  child.kill();
  await stop(kiln);
  const middle = (rows: readonly Loaded[], field: keyof Loaded) =>
    percentile(
      rows.map((row) => row[field]).sort((a, b) => a - b),
      0.5,
    );
  const figures = {
    bodyBytes: body.length,
    answerBytes: answer.length,
    requestsPerSecond: Math.round(middle(rounds.kiln, "perSecond")),
    floorRequestsPerSecond: Math.round(middle(rounds.floor, "perSecond")),
    p99Ms: Number(middle(rounds.kiln, "p99Ms").toFixed(2)),
    floorP99Ms: Number(middle(rounds.floor, "p99Ms").toFixed(2)),
  };
  return {
    ...figures,
    rateRatio: Number((figures.requestsPerSecond / figures.floorRequestsPerSecond).toFixed(2)),
    p99Ratio: Number((figures.p99Ms / figures.floorP99Ms).toFixed(2)),
  };
}
type Loaded = Awaited<ReturnType<typeof load>>;

/** p50 of one request after the other, each another shader: all in memory, then all on disk only. */
async function hits(): Promise<object> {
  const count = 300;
  const disk = join(folder, "hits");
  const bodies = Array.from({ length: count }, (_, i) => JSON.stringify({ source: shader(i, 1500), stage: "compute" }));
  const agent = new Agent({ keepAlive: true });
  const round = async (server: Running, outcome: string) => {
    const times: number[] = [];
    for (const body of bodies) {
      const from = performance.now();
      const { text } = await post(agent, `${server.address}/compile`, body);
      times.push(performance.now() - from);
      const { cache } = JSON.parse(text) as { cache: string };
      if (cache !== outcome) throw new Error(`expected ${outcome}, not ${cache}`);
    }
    return percentile(
      times.sort((a, b) => a - b),
      0.5,
    );
  };
  const first = await startServer(["--cache-dir", disk, "--verify-rate", "0"]);
  await round(first, "miss");
  await round(first, "memory");
  const memoryMs = await round(first, "memory");
  await stop(first);
  const second = await startServer(["--cache-dir", disk, "--memory-bytes", "0", "--verify-rate", "0"]);
  await round(second, "disk");
  const diskMs = await round(second, "disk");
  await stop(second);
  agent.destroy();
  const ratio = Number((diskMs / memoryMs).toFixed(2));
  return { memoryP50Ms: Number(memoryMs.toFixed(3)), diskP50Ms: Number(diskMs.toFixed(3)), ratio };
}

async function oneCompile(): Promise<object> {
  const disk = join(folder, "one");
  const servers = await Promise.all([1, 2, 3, 4].map(() => startServer(["--cache-dir", disk, "--workers", "1"])));
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const body = JSON.stringify({ source: shader(424_242), stage: "compute" });
  const outcomes: Record<string, number> = {};
  const ask = async (client: number) => {
    const { text } = await post(agent, `${servers[client % 4]?.address}/compile`, body);
    const { cache } = JSON.parse(text) as { cache: string };
    outcomes[cache] = (outcomes[cache] ?? 0) + 1;
  };
  await Promise.all(Array.from({ length: 64 }, (_, client) => ask(client)));
  await Promise.all(servers.map(stop));
  agent.destroy();
  const cache = new ShaderCache({ memoryBytes: 0, disk: { folder: disk, capacityBytes: 1 << 30 } });
  const { compiles } = cache.counters.read();
  await cache.close();
  return { clients: 64, servers: 4, compiles, outcomes };
}

/** The store by itself with many entries: put and hit p50, time until a fresh process has read its journal, bytes. */
async function store(entries: number): Promise<object> {
  const disk = { folder: join(folder, "store"), capacityBytes: 64 * 2 ** 30 };
  const keyOf = (n: number) => createHash("sha256").update(String(n)).digest("hex") as Key;
  const value = randomBytes(3000);
  const cache = new ShaderCache({ memoryBytes: 0, disk });
  const puts: number[] = [];
  for (let n = 0; n < entries; n++) {
    const from = performance.now();
    await cache.put(keyOf(n), value);
    puts.push(performance.now() - from);
  }
  await cache.close();
  const from = performance.now();
  const again = new ShaderCache({ memoryBytes: 0, disk });
  const openMs = performance.now() - from;
  const times: number[] = [];
  for (let n = 0; n < 2000; n++) {
    const at = performance.now();
    if ((await again.get(keyOf((n * 7919) % entries))) === undefined) throw new Error("lost");
    times.push(performance.now() - at);
  }
  await again.disk?.ready;
  const readyMs = performance.now() - from;
  const bytes = again.tierStats()[1]?.bytes;
  await again.close();
  const p50 = (all: number[]) =>
    Number(
      percentile(
        all.sort((a, b) => a - b),
        0.5,
      ).toFixed(3),
    );
  const rounded = { openMs: Math.round(openMs), readyMs: Math.round(readyMs) };
  return { entries, putP50Ms: p50(puts), hitP50Ms: p50(times), ...rounded, bytes };
}

try {
  console.log(JSON.stringify({ throughput: await throughput() }));
  console.log(JSON.stringify({ hits: await hits() }));
  console.log(JSON.stringify({ oneCompile: await oneCompile() }));
  const entries = argument("--entries", 10_000);
  if (entries > 0) console.log(JSON.stringify({ store: await store(entries) }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
