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
import { Connection, type Loaded, load, median, percentile, prepared, rounded } from "./http-load.ts";

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

const shader = (variant: number, padding = 0) => `#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer B { uint x[]; };
void main() { x[gl_GlobalInvocationID.x] += ${variant}u; }
//${"-".repeat(padding)}`;

const folder = mkdtempSync(join(tmpdir(), "kiln-bench-"));

async function throughput(): Promise<object> {
  const body = JSON.stringify({ source: shader(1, 1800), stage: "compute" });
  const kiln = await startServer([
    "--cache-dir",
    join(folder, "rate"),
    ...process.argv.slice(2).filter((a) => a.startsWith("--verify-rate=")),
  ]);
  const agent = new Agent({ keepAlive: false });
  const { text: answer } = await post(agent, `${kiln.address}/compile`, body);
  const child = fork(new URL("./service-floor.ts", import.meta.url), { execArgv: ["--import", "tsx"] });
  child.send(answer);
  const [port] = (await once(child, "message")) as [number];
  const floorAddress = `http://127.0.0.1:${port}`;
  // In turns, so that what else the machine does weighs on both.
  const rounds = { kiln: [] as Loaded[], floor: [] as Loaded[] };
  for (let round = 0; round < 3; round++) {
    rounds.floor.push(await load(floorAddress, child.pid, body, connections, seconds));
    rounds.kiln.push(await load(kiln.address, kiln.child.pid, body, connections, seconds));
  }
  child.kill();
  await stop(kiln);
  const of = (rows: readonly Loaded[], field: keyof Loaded) => median(rows.map((row) => row[field]));
  const both = (field: keyof Loaded) => [of(rounds.kiln, field), of(rounds.floor, field)] as const;
  const [[rate, floorRate], [p99, floorP99], [cpu, floorCpu]] = [both("perSecond"), both("p99Ms"), both("cpuUs")];
  return {
    bodyBytes: body.length,
    answerBytes: answer.length,
    requestsPerSecond: Math.round(rate),
    floorRequestsPerSecond: Math.round(floorRate),
    rateRatio: rounded(rate / floorRate, 2),
    p99Ms: rounded(p99, 2),
    floorP99Ms: rounded(floorP99, 2),
    p99Ratio: rounded(p99 / floorP99, 2),
    cpuUs: Math.round(cpu),
    floorCpuUs: Math.round(floorCpu),
  };
}

/** p50 of one request after the other, each another shader: all in memory, then all on disk only. */
async function hits(): Promise<object> {
  const count = 300;
  const disk = join(folder, "hits");
  const bodies = Array.from({ length: count }, (_, i) => JSON.stringify({ source: shader(i, 1500), stage: "compute" }));
  const round = async (server: Running, outcome: string) => {
    const times: number[] = [];
    const lane = await Connection.open(server.address);
    for (const body of bodies) {
      const request = prepared(server.address, body);
      const from = performance.now();
      const text = await lane.ask(request);
      times.push(performance.now() - from);
      const { cache } = JSON.parse(text.toString()) as { cache: string };
      if (cache !== outcome) throw new Error(`expected ${outcome}, not ${cache}`);
    }
    lane.close();
    return median(times);
  };
  const first = await startServer(["--cache-dir", disk]);
  await round(first, "miss");
  const second = await startServer(["--cache-dir", disk, "--memory-bytes", "0"]);
  const [memory, onDisk]: [number[], number[]] = [[], []];
  // In turns, for a machine that does other things too; the first round of each warms it up.
  for (let i = 0; i < 6; i++) {
    memory.push(await round(first, "memory"));
    onDisk.push(await round(second, "disk"));
  }
  await stop(first);
  await stop(second);
  const [memoryMs, diskMs] = [median(memory.slice(1)), median(onDisk.slice(1))];
  return { memoryP50Ms: rounded(memoryMs), diskP50Ms: rounded(diskMs), ratio: rounded(diskMs / memoryMs, 2) };
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
