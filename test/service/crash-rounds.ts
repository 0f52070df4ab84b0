import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";

/** A running `dist/kiln.js serve` on a port of its own. */
export interface ServerProcess {
  readonly child: ChildProcess;
  readonly address: string;
}

/** Starts a server and waits until it listens. Throws where it ends instead. */
export async function startProcess(args: readonly string[], env: Record<string, string> = {}): Promise<ServerProcess> {
  const child = spawn(process.execPath, ["dist/kiln.js", "serve", "--port", "0", "--workers", "1", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let text = "";
  const address = new Promise<string>((resolve, reject) => {
    child.stdout?.on("data", (data) => {
      text += String(data);
      const match = /^kiln listens on (\S+)$/m.exec(text);
      if (match?.[1] !== undefined) resolve(match[1]);
    });
    child.stderr?.on("data", (data) => {
      text += String(data);
    });
    child.on("exit", (code, signal) => reject(new Error(`the server ended (${code ?? signal}): ${text}`)));
  });
  return { child, address: await address };
}

export async function stopProcess({ child }: ServerProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}

/** Shaders that differ in a constant, so each has code of its own. */
const shader = (variant: number) => `#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer B { uint x[]; };
void main() { x[gl_GlobalInvocationID.x] += ${variant * 7 + 1000}u; }
`;

interface Compiled {
  readonly cache: string;
  readonly codeSha256: string;
}

/** One compile; checks that the code is what its hash says. */
async function compile(address: string, variant: number): Promise<Compiled> {
  const body = JSON.stringify({ source: shader(variant), stage: "compute", emit: ["code"] });
  const response = await fetch(`${address}/compile`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  const answer = (await response.json()) as Compiled & { code: string };
  if (response.status !== 200) throw new Error(`variant ${variant}: status ${response.status}`);
  const hash = createHash("sha256").update(Buffer.from(answer.code, "base64")).digest("hex");
  if (hash !== answer.codeSha256) throw new Error(`variant ${variant}: the code is not what its hash says`);
  return answer;
}

export interface CrashReport {
  readonly kills: number;
  readonly answers: number;
  readonly diskHits: number;
  /** Variants with an answer that differs from what a server without a cache compiles. */
  readonly wrong: readonly number[];
  /** What the last server counted. */
  readonly corrupt: number;
  readonly errors: number;
  /** Requests of all servers that the statistics have as no hit, miss, joined or failed, or as several; 0 whatever was killed. */
  readonly uncounted: number;
  /** Requests that are counted, at most those that were sent. */
  readonly counted: number;
  readonly sent: number;
}

/** Right answers, nothing damaged, and figures that are what happened. */
export const isGoodReport = ({ wrong, corrupt, errors, diskHits, uncounted, counted, sent }: CrashReport): boolean =>
  wrong.length === 0 && corrupt === 0 && errors === 0 && diskHits > 0 && uncounted === 0 && counted <= sent;

/** Small numbers that look random and repeat from run to run. */
function sequence(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const clients = 4;
export const crashCapacityBytes = 8 << 20;

export interface CrashOptions {
  readonly folder: string;
  readonly kills: number;
  /** Shaders that are asked for. */
  readonly variants: number;
  readonly seed: number;
  /** Servers that use the folder at the same time, each killed for itself. Default 1. */
  readonly servers?: number;
  /** A server is killed after at most so many answers. Default 12. */
  readonly answers?: number;
}

/**
 * Kills servers with SIGKILL while they compile and store, starting another on the same folder each time, and compares
 * every answer of every round with those of a server that has no cache.
 */
export async function crashRounds(options: CrashOptions): Promise<CrashReport> {
  const { folder, kills, variants, seed, servers = 1, answers: mostAnswers = 12 } = options;
  const random = sequence(seed);
  const seen = new Map<number, Set<string>>();
  let [sent, answers, diskHits, started] = [0, 0, 0, 0];
  const flags = ["--cache-dir", folder, "--cache-bytes", String(crashCapacityBytes), "--memory-bytes", "0"];
  const ask = async (address: string, variant: number) => {
    sent++;
    const { cache, codeSha256 } = await compile(address, variant);
    answers++;
    if (cache === "disk") diskHits++;
    seen.set(variant, (seen.get(variant) ?? new Set()).add(codeSha256));
  };
  const round = async () => {
    const server = await startProcess(flags);
    let killed = false;
    // Counted in answers, not in time: a slow machine is killed in its work too.
    let left = 1 + Math.floor(random() * mostAnswers);
    let enough = () => {};
    const answered = new Promise<void>((resolve) => {
      enough = resolve;
    });
    const loops = Array.from({ length: clients }, async () => {
      while (!killed) {
        try {
          await ask(server.address, Math.floor(random() * variants));
          if (--left === 0) enough();
        } catch (error) {
          // The server was killed under the request; any other failure is one of the server.
          if (!killed) throw error;
        }
      }
    });
    const settled = Promise.allSettled(loops);
    await Promise.race([answered, ...loops]);
    await new Promise((resolve) => setTimeout(resolve, random() * 20));
    killed = true;
    await stopProcess(server, "SIGKILL");
    for (const loop of await settled) if (loop.status === "rejected") throw loop.reason;
  };
  const lane = async () => {
    while (started++ < kills) await round();
  };
  await Promise.all(Array.from({ length: servers }, lane));
  const last = await startProcess(flags);
  for (const variant of seen.keys()) await ask(last.address, variant);
  const stats = (await (await fetch(`${last.address}/cache/stats`)).json()) as {
    tiers: { name: string; corrupt: number; errors: number }[];
    requests: number;
    hitRate: number;
    joined: number;
    failed: number;
    misses: Record<string, number>;
  };
  await stopProcess(last, "SIGTERM");
  const wrong: number[] = [];
  const plain = await startProcess([], { KILN_CACHE_DISABLE: "1" });
  for (const [variant, hashes] of seen) {
    const { codeSha256 } = await compile(plain.address, variant);
    if (hashes.size !== 1 || !hashes.has(codeSha256)) wrong.push(variant);
  }
  await stopProcess(plain, "SIGTERM");
  const disk = stats.tiers.find(({ name }) => name === "disk");
  const { requests: counted, hitRate, joined, failed } = stats;
  const missed = Object.values(stats.misses).reduce((sum, count) => sum + count, 0);
  const uncounted = counted - Math.round(hitRate * counted) - missed - joined - failed;
  const { corrupt = -1, errors = -1 } = disk ?? {};
  return { kills, answers, diskHits, wrong, corrupt, errors, uncounted, counted, sent };
}
