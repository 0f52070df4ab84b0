import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { startProcess, stopProcess } from "./crash-rounds.ts";
import { bombs, goodShader, malformed, type Shot } from "./mixed-shots.ts";

export interface MixedOptions {
  readonly minutes: number;
  readonly clients: number;
  readonly cacheDir: string;
  readonly seed: number;
}

export interface MemoryWindow {
  /** Its end. */
  readonly minute: number;
  readonly rss: number;
  readonly heap: number;
}

export interface MixedReport {
  readonly requests: number;
  /** Answers by kind of request and status. */
  readonly answers: Readonly<Record<string, number>>;
  /** Answers of a status that the request's kind may not have. */
  readonly unexpected: readonly string[];
  /** Of each half minute: the most resident memory, the least heap in use (what a collection leaves), all at most. */
  readonly memoryMb: readonly MemoryWindow[];
  readonly threads: { readonly settled: number; readonly end: number };
  readonly workerRestarts: number;
  readonly loopDelayMs: { readonly p50: number; readonly p99: number; readonly max: number };
  /** The same of this process's own idle thread: what the machine adds. */
  readonly machineDelayMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly serverCpuSeconds: number;
}

const sampleEveryMs = 2000;
const samplesAWindow = 15;
/** The share of the run in which caches and heaps fill. */
const warmShare = 0.3;

/** 0 to 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const statusField = (pid: number, name: string) =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** What `/metrics` says by name now; NaN for what it has not. */
async function metricsOf(address: string): Promise<(name: string) => number> {
  const lines = (await (await fetch(`${address}/metrics`)).text()).split("\n");
  return (name) => Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? Number.NaN);
}

/** Good requests with a tenth of malformed ones and a hundredth of compile bombs, against a server of its own. */
export async function mixedLoad({ minutes, clients, cacheDir, seed }: MixedOptions): Promise<MixedReport> {
  const server = await startProcess(["--cache-dir", cacheDir, "--time-limit-ms", "2000", "--memory-bytes", "33554432"]);
  const pid = server.child.pid as number;
  const own = monitorEventLoopDelay({ resolution: 10 });
  own.enable();
  const random = randomOf(seed);
  const answers: Record<string, number> = {};
  const unexpected: string[] = [];
  let requests = 0;
  const until = performance.now() + minutes * 60_000;
  const fire = async (kind: string, { path = "/compile", method = "POST", type, body, allowed }: Shot) => {
    requests++;
    const headers = type === undefined ? {} : { "content-type": type };
    const answer = await fetch(`${server.address}${path}`, { method, headers, ...(body !== undefined && { body }) });
    const text = await answer.text();
    const name = `${kind} ${answer.status}`;
    answers[name] = (answers[name] ?? 0) + 1;
    if (allowed.includes(answer.status) || unexpected.length >= 20) return;
    unexpected.push(`${name}: ${String(body).slice(0, 120)} -> ${text.slice(0, 300)}`);
  };
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)] as T;
  const client = async () => {
    while (performance.now() < until) {
      const roll = random();
      if (roll < 0.01) await fire("bomb", pick(bombs)());
      else if (roll < 0.11) await fire("malformed", pick(malformed)(random));
      else await fire("good", goodShader(Math.floor(random() * 4000)));
    }
  };
  const samples: (MemoryWindow & { readonly threads: number })[] = [];
  const started = performance.now();
  const watch = async () => {
    while (performance.now() < until) {
      await sleep(sampleEveryMs);
      const metric = await metricsOf(server.address);
      samples.push({
        minute: (performance.now() - started) / 60_000,
        rss: statusField(pid, "VmRSS") / 1024,
        heap: metric("kiln_nodejs_heap_size_used_bytes") / 2 ** 20,
        threads: statusField(pid, "Threads"),
      });
    }
  };
  await Promise.all([watch(), ...Array.from({ length: clients }, client)]);
  own.disable();
  const metric = await metricsOf(server.address);
  const quantile = (q: string) => round(metric(`kiln_event_loop_delay_seconds{quantile="${q}"}`) * 1000);
  const settled = samples.filter(({ minute }) => minute > minutes * warmShare);
  const [first, last] = [settled[0], settled.at(-1)];
  const serverCpuSeconds = cpuSeconds(pid);
  await stopProcess(server, "SIGTERM");
  if (first === undefined || last === undefined) throw new Error("the run was too short for a sample");
  return {
    requests,
    answers,
    unexpected,
    memoryMb: windows(samples),
    threads: { settled: first.threads, end: last.threads },
    workerRestarts: metric("kiln_worker_restarts_total"),
    loopDelayMs: { p50: quantile("0.5"), p99: quantile("0.99"), max: quantile("1") },
    machineDelayMs: {
      p50: round(own.percentile(50) / 1e6 - 10),
      p99: round(own.percentile(99) / 1e6 - 10),
      max: round(own.max / 1e6 - 10),
    },
    serverCpuSeconds,
  };
}

function windows(samples: readonly MemoryWindow[]): MemoryWindow[] {
  return Array.from({ length: Math.ceil(samples.length / samplesAWindow) }, (_, i) => {
    const window = samples.slice(i * samplesAWindow, (i + 1) * samplesAWindow);
    return {
      minute: round(window.at(-1)?.minute ?? 0),
      rss: round(Math.max(...window.map(({ rss }) => rss))),
      heap: round(Math.min(...window.map(({ heap }) => heap))),
    };
  });
}

/** How much more the last third of a run holds than the third before: resident on average, heap after a collection. */
export function memoryGrowthMb(memory: readonly MemoryWindow[]): { readonly rss: number; readonly heap: number } {
  const minutes = memory.at(-1)?.minute ?? 0;
  const between = (from: number, to: number) =>
    memory.filter(({ minute }) => minute > minutes * from && minute <= minutes * to);
  const [middle, last] = [between(1 / 3, 2 / 3), between(2 / 3, 1)];
  const mean = (list: readonly MemoryWindow[]) => list.reduce((sum, { rss }) => sum + rss, 0) / list.length;
  const least = (list: readonly MemoryWindow[]) => Math.min(...list.map(({ heap }) => heap));
  return { rss: round(mean(last) - mean(middle)), heap: round(least(last) - least(middle)) };
}

const round = (value: number) => Math.round(value * 10) / 10;
