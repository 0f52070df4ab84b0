import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { freePort, type RedisProcess, startRedis, stopRedis } from "../cache/redis-process.ts";
import { type ServerProcess, startProcess, stopProcess } from "../service/crash-rounds.ts";

/** A program's path, or undefined where it is not installed. */
export function findProgram(name: string): string | undefined {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      // not in this folder: look in the next one
    }
  }
  return undefined;
}

/** Starts `dist/kiln.js worker` and waits until it takes jobs. */
export async function startWorker(args: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["dist/kiln.js", "worker", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on("data", (data) => {
      if (String(data).includes("compiles at a time")) resolve();
    });
    child.on("exit", (code) => reject(new Error(`the worker ended (${code})`)));
  });
  return child;
}

export async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}

/** Spreads connections over the servers in turn, and asks each whether it is ready. */
async function startProxy(program: string, folder: string, addresses: readonly string[]) {
  const port = await freePort();
  const file = join(folder, "haproxy.cfg");
  const servers = addresses.map((address, i) => `  server s${i} ${new URL(address).host} check inter 500ms`);
  const lines = [
    "defaults",
    "  mode http",
    "  timeout connect 2s",
    "  timeout client 60s",
    "  timeout server 60s",
    "frontend in",
    `  bind 127.0.0.1:${port}`,
    "  default_backend kiln",
    "backend kiln",
    "  balance roundrobin",
    "  option httpchk GET /health/ready",
    "  http-check send hdr Host localhost",
    ...servers,
  ];
  writeFileSync(file, `${lines.join("\n")}\n`);
  const child = spawn(program, ["-f", file, "-db", "-q"], { stdio: ["ignore", "ignore", "inherit"] });
  for (let tries = 0; ; tries++) {
    const socket = connect(port, "127.0.0.1");
    const isUp = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isUp) break;
    if (tries > 100 || child.exitCode !== null) throw new Error("the proxy does not listen");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { child, address: `http://127.0.0.1:${port}` };
}

export interface Topology {
  readonly redis: RedisProcess;
  readonly servers: readonly ServerProcess[];
  readonly workers: readonly ChildProcess[];
  /** Where a client goes: the proxy, or the first server where none is installed. */
  readonly address: string;
  readonly hasProxy: boolean;
  /** One more farm worker, with a cache folder of its own. */
  addWorker(): Promise<ChildProcess>;
  close(): Promise<void>;
}

/** Servers and farm workers, each with a folder of its own as on a host of its own, over one Redis and behind a proxy. */
export async function startTopology(servers: number, workers: number): Promise<Topology> {
  const folder = mkdtempSync(join(tmpdir(), "kiln-farm-"));
  const serving: ServerProcess[] = [];
  const working: ChildProcess[] = [];
  let proxy: { readonly child: ChildProcess; readonly address: string } | undefined;
  const redis = await startRedis();
  const close = async () => {
    if (proxy !== undefined) await endChild(proxy.child, "SIGTERM");
    await Promise.all(working.map((child) => endChild(child, "SIGTERM")));
    await Promise.all(serving.map((server) => stopProcess(server, "SIGTERM")));
    await stopRedis(redis);
    rmSync(folder, { recursive: true, force: true });
  };
  let hosts = 0;
  const flags = () => ["--redis", redis.url, "--cache-dir", join(folder, `host${hosts++}`)];
  const addWorker = async () => {
    const child = await startWorker([...flags(), "--workers", "1"]);
    working.push(child);
    return child;
  };
  try {
    await Promise.all(
      Array.from({ length: servers }, async () => {
        serving.push(await startProcess(flags()));
      }),
    );
    await Promise.all(Array.from({ length: workers }, addWorker));
    const program = findProgram("haproxy");
    const addresses = serving.map(({ address }) => address);
    if (program !== undefined) proxy = await startProxy(program, folder, addresses);
    const address = proxy?.address ?? (addresses[0] as string);
    return { redis, servers: serving, workers: working, address, hasProxy: proxy !== undefined, addWorker, close };
  } catch (error) {
    await close();
    throw error;
  }
}

export interface Progress {
  readonly id: string;
  readonly state: string;
  readonly total: number;
  readonly done: number;
  readonly failed: number;
}

export async function sendBatch(address: string, shaders: readonly object[]): Promise<string> {
  const answer = await fetch(`${address}/batch`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ shaders }),
  });
  if (answer.status !== 202) throw new Error(`POST /batch: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as Progress).id;
}

export async function progressOf(address: string, id: string): Promise<Progress> {
  const answer = await fetch(`${address}/batch/${id}`);
  if (answer.status !== 200) throw new Error(`GET /batch/${id}: ${answer.status}`);
  return (await answer.json()) as Progress;
}

/** Waits until `isEnough` of the progress; asks ten times a second. */
export async function waitFor(address: string, id: string, isEnough: (now: Progress) => boolean): Promise<Progress> {
  for (;;) {
    const now = await progressOf(address, id);
    if (isEnough(now)) return now;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

export interface ResultLine {
  readonly index: number;
  readonly key?: string;
  readonly cache?: string;
  readonly status?: number;
  readonly diagnostics?: readonly { readonly line: number }[];
}

/** The results of a batch, in the order of its shaders. */
export async function resultsOf(address: string, id: string): Promise<ResultLine[]> {
  const answer = await fetch(`${address}/batch/${id}`, { headers: { accept: "application/x-ndjson" } });
  const lines = (await answer.text()).trim().split("\n");
  return lines.map((line) => JSON.parse(line) as ResultLine).sort((a, b) => a.index - b.index);
}

interface Statistics {
  readonly requests: number;
  readonly compiles: number;
  readonly farmCompiles: number;
  /** What the requests were, by name. */
  readonly outcomes: Readonly<Record<string, number>>;
}

/** What a server counts. */
export async function statisticsOf({ address }: Pick<ServerProcess, "address">): Promise<Statistics> {
  const { requests, compiles, farmCompiles, joined, failed, misses, tiers } = (await (
    await fetch(`${address}/cache/stats`)
  ).json()) as Statistics & {
    readonly joined: number;
    readonly failed: number;
    readonly misses: Readonly<Record<string, number>>;
    readonly tiers: readonly { readonly name: string; readonly hits: number }[];
  };
  const miss = Object.values(misses).reduce((sum, count) => sum + count, 0);
  const hits = Object.fromEntries(tiers.map(({ name, hits }) => [name, hits]));
  return { requests, compiles, farmCompiles, outcomes: { miss, joined, failed, ...hits } };
}

export const compilesOf = async (server: ServerProcess): Promise<number> => (await statisticsOf(server)).compiles;
