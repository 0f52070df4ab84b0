import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { distFile } from "../base/index.ts";
import { startFloor } from "../http/index.ts";
import { benchStart, type StartFigures } from "./bench-start.ts";
import { CliError, print } from "./environment.ts";
import { Connection, type Loaded, load, median, prepared, rounded } from "./http-load.ts";

const connections = 32;

/** What scripts read of `kiln bench service`; ratios are ours over the bare route's, and disk over memory. */
export interface ServiceFigures extends StartFigures {
  readonly requestsPerSecond: number;
  readonly floorRequestsPerSecond: number;
  readonly rateRatio: number;
  readonly p99Ms: number;
  readonly floorP99Ms: number;
  readonly p99Ratio: number;
  /** CPU time of the server a request, all threads; steadier than rates on a machine that does other things. */
  readonly cpuUs: number;
  readonly floorCpuUs: number;
  readonly memoryP50Ms: number;
  readonly diskP50Ms: number;
  readonly diskRatio: number;
  readonly bodyBytes: number;
  readonly answerBytes: number;
}

/** A `kiln` process that listens; its address comes from what it prints. @public */
export interface Listening {
  readonly child: ChildProcess;
  readonly address: string;
}

/** Starts the installed command with these arguments and waits until it listens. Errors: `CliError` 3. */
export async function startKiln(args: readonly string[], input?: string): Promise<Listening> {
  const child = spawn(process.execPath, [distFile("kiln.js"), ...args], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(input);
  const address = await new Promise<string>((resolve, reject) => {
    child.on("exit", (code) => reject(new CliError(3, `kiln ${args[0]} ended with ${code}`)));
    child.stdout.on("data", (data) => {
      const match = /listens on (\S+)/.exec(String(data));
      if (match?.[1] !== undefined) resolve(match[1]);
    });
  });
  return { child, address };
}

export async function stopKiln({ child }: Listening): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

/** A compute shader that no other variant's cache entry answers, padded to a size. */
export const benchShader = (variant: number, padding = 0): string => `#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer B { uint x[]; };
void main() { x[gl_GlobalInvocationID.x] += ${variant}u; }
//${"-".repeat(padding)}`;

const bodyOf = (variant: number, padding: number) =>
  JSON.stringify({ source: benchShader(variant, padding), stage: "compute" });

/** Cached compiles beside a bare Fastify route that validates the same body and sends an answer of the same size. */
async function throughput(folder: string, seconds: number) {
  const body = bodyOf(1, 1800);
  const kiln = await startKiln(["serve", "--port", "0", "--cache-dir", join(folder, "rate")]);
  const first = await Connection.open(kiln.address);
  const answer = (await first.ask(prepared(kiln.address, body))).toString();
  first.close();
  const floor = await startKiln(["bench-floor"], answer);
  // In turns, so that what else the machine does weighs on both.
  const rounds = { kiln: [] as Loaded[], floor: [] as Loaded[] };
  for (let round = 0; round < 3; round++) {
    rounds.floor.push(await load(floor.address, floor.child.pid, body, connections, seconds));
    rounds.kiln.push(await load(kiln.address, kiln.child.pid, body, connections, seconds));
  }
  await stopKiln(floor);
  await stopKiln(kiln);
  const both = (field: keyof Loaded) =>
    [median(rounds.kiln.map((row) => row[field])), median(rounds.floor.map((row) => row[field]))] as const;
  const [[rate, floorRate], [p99, floorP99], [cpu, floorCpu]] = [both("perSecond"), both("p99Ms"), both("cpuUs")];
  return {
    requestsPerSecond: Math.round(rate),
    floorRequestsPerSecond: Math.round(floorRate),
    rateRatio: rounded(rate / floorRate, 2),
    p99Ms: rounded(p99, 2),
    floorP99Ms: rounded(floorP99, 2),
    p99Ratio: rounded(p99 / floorP99, 2),
    cpuUs: Math.round(cpu),
    floorCpuUs: Math.round(floorCpu),
    bodyBytes: body.length,
    answerBytes: answer.length,
  };
}

/** p50 of one request after the other, each another shader: all in memory, and all on disk only. */
async function hits(folder: string) {
  const bodies = Array.from({ length: 300 }, (_, variant) => bodyOf(variant, 1500));
  const round = async (server: Listening, outcome: string) => {
    const times: number[] = [];
    const lane = await Connection.open(server.address);
    for (const body of bodies) {
      const request = prepared(server.address, body);
      const from = performance.now();
      const text = await lane.ask(request);
      times.push(performance.now() - from);
      const { cache } = JSON.parse(text.toString()) as { cache: string };
      if (cache !== outcome) throw new CliError(3, `a hit was answered from ${cache}, not ${outcome}`);
    }
    lane.close();
    return median(times);
  };
  const serve = ["serve", "--port", "0", "--cache-dir", join(folder, "hits")];
  const inMemory = await startKiln(serve);
  await round(inMemory, "miss");
  const onDisk = await startKiln([...serve, "--memory-bytes", "0"]);
  const [memory, disk]: [number[], number[]] = [[], []];
  // In turns; the first rounds warm both up.
  for (let i = 0; i < 9; i++) {
    memory.push(await round(inMemory, "memory"));
    disk.push(await round(onDisk, "disk"));
  }
  await stopKiln(inMemory);
  await stopKiln(onDisk);
  const [memoryMs, diskMs] = [median(memory.slice(2)), median(disk.slice(2))];
  return { memoryP50Ms: rounded(memoryMs), diskP50Ms: rounded(diskMs), diskRatio: rounded(diskMs / memoryMs, 2) };
}

/** Servers of this installation on loopback, each load for `seconds`, three times. */
export async function benchService(seconds = 3): Promise<ServiceFigures> {
  const folder = mkdtempSync(join(tmpdir(), "kiln-bench-"));
  try {
    const serve = ["serve", "--port", "0", "--cache-dir", join(folder, "hits")];
    const [rates, latencies] = [await throughput(folder, seconds), await hits(folder)];
    return { ...rates, ...latencies, ...(await benchStart(() => startKiln(serve), stopKiln)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The bare route as a process: its answer comes on standard input; ends with SIGTERM. */
export async function benchFloor(): Promise<void> {
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(part as Buffer);
  print(`the floor listens on ${await startFloor(JSON.parse(Buffer.concat(parts).toString()) as object)}`);
  process.once("SIGTERM", () => process.exit(0));
}

/** What a server is held to: beside the bare route, and hits from disk beside those from memory. */
export function missedBars({ rateRatio, p99Ratio, diskRatio }: ServiceFigures): string[] {
  const bars = [
    { isMet: rateRatio >= 0.7, text: `requests a second: ${rateRatio} of the bare route's, at least 0.7` },
    { isMet: p99Ratio <= 1.5, text: `p99: ${p99Ratio} of the bare route's, at most 1.5` },
    { isMet: diskRatio <= 2, text: `hits from disk: ${diskRatio} of those from memory, at most 2` },
  ];
  return bars.filter(({ isMet }) => !isMet).map(({ text }) => text);
}

export function serviceTable(figures: ServiceFigures): string {
  const row = (name: string, ours: number, other: number, ratio: number) =>
    `${name.padEnd(34)} ${String(ours).padStart(8)} ${String(other).padStart(8)} ${ratio.toFixed(2).padStart(6)}`;
  const { cpuUs, floorCpuUs } = figures;
  return [
    `cached POST /compile, ${connections} connections, beside a bare Fastify route`,
    row("requests a second", figures.requestsPerSecond, figures.floorRequestsPerSecond, figures.rateRatio),
    row("p99 ms", figures.p99Ms, figures.floorP99Ms, figures.p99Ratio),
    row("server's CPU us a request", cpuUs, floorCpuUs, cpuUs / floorCpuUs),
    "one request after the other, from disk beside from memory",
    row("p50 ms", figures.diskP50Ms, figures.memoryP50Ms, figures.diskRatio),
    `start to listening: ${figures.startCpuMs} ms of CPU, node -e alone ${figures.nodeCpuMs}: ${figures.startAboveMs} above, ${figures.startAboveMinMs} at the quickest`,
  ].join("\n");
}
