import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort, startRedis, stopRedis } from "../cache/redis-process.ts";
import { findOracle, oracle } from "../oracles.ts";
import { startProcess, stopProcess } from "../service/crash-rounds.ts";
import {
  compilesOf,
  endChild,
  findProgram,
  progressOf,
  resultsOf,
  sendBatch,
  startTopology,
  startWorker,
  statisticsOf,
  type Topology,
  waitFor,
} from "./topology.ts";

const shader = (value: number, isBad = false) => ({
  stage: "compute",
  source: `#version 450
layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer B { uint x[]; };
void main() { x[gl_GlobalInvocationID.x] += ${value}u; }
${isBad ? "nonsense" : ""}`,
});

const hasProxy = findProgram("haproxy") !== undefined;
if (!hasProxy) console.log("haproxy is not installed (Debian package haproxy): the test through a proxy is skipped");

describe.skipIf(!oracle("redis-server"))("a farm of two servers and two workers", () => {
  let farm: Topology;
  beforeAll(async () => {
    farm = await startTopology(2, 2);
  });
  afterAll(() => farm.close());
  const server = (i: number) => farm.servers[i] as Topology["servers"][number];

  it("compiles a cold shader once over hosts", async () => {
    const body = JSON.stringify(shader(1));
    const ask = async (i: number) => {
      const answer = await fetch(`${server(i % 2).address}/compile`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
      });
      return ((await answer.json()) as { codeSha256: string }).codeSha256;
    };
    const hashes = await Promise.all(Array.from({ length: 32 }, (_, i) => ask(i)));
    expect(new Set(hashes).size).toBe(1);
    expect((await compilesOf(server(0))) + (await compilesOf(server(1)))).toBe(1);
  });

  it.skipIf(!hasProxy)("takes and shows batches through a proxy, whichever server is asked", async () => {
    expect(farm.hasProxy).toBe(true);
    const id = await sendBatch(farm.address, [shader(2), shader(3)]);
    const states = [];
    for (let i = 0; i < 4; i++) states.push((await progressOf(farm.address, id)).total);
    expect(states).toEqual([2, 2, 2, 2]);
    await waitFor(farm.address, id, ({ state }) => state === "done");
    expect((await resultsOf(farm.address, id)).map(({ index }) => index)).toEqual([0, 1]);
  });

  it("compiles a batch on the workers, and loses nothing with one that is killed", async () => {
    const before = (await compilesOf(server(0))) + (await compilesOf(server(1)));
    // The document is made by routes of its own, whose end is not the farm's.
    expect((await fetch(`${server(0).address}/openapi.json`)).status).toBe(200);
    const earlier = await statisticsOf(server(0));
    const distinct = 100;
    const shaders = Array.from({ length: 230 }, (_, i) => shader(1000 + (i % distinct), i === 117));
    const id = await sendBatch(server(0).address, shaders);
    await waitFor(server(0).address, id, ({ done }) => done >= 10);
    await endChild(farm.workers[0] as Topology["workers"][number], "SIGKILL");
    // The other server shows it, too.
    const end = await waitFor(server(1).address, id, ({ state }) => state !== "running");
    expect(end).toEqual({ id, state: "done", total: 230, done: 230, failed: 1 });
    const lines = await resultsOf(server(1).address, id);
    expect(lines.map(({ index }) => index)).toEqual(shaders.map((_, i) => i));
    expect(lines.filter(({ status }) => status !== undefined)).toMatchObject([
      { index: 117, status: 422, diagnostics: [{ line: 5 }] },
    ]);
    // Equal shaders have equal keys, others others; the bad one has none.
    for (const [i, { key }] of lines.entries()) if (i !== 117) expect(key).toBe(lines[i % distinct]?.key);
    expect(new Set(lines.map(({ key }) => key)).size).toBe(distinct + 1);
    // All of it was done by the workers.
    expect((await compilesOf(server(0))) + (await compilesOf(server(1)))).toBe(before);
    // The server counts them as what their answers say; the bad one was not cached either.
    const counted = await statisticsOf(server(0));
    const said: Record<string, number> = { miss: 1 };
    for (const { cache } of lines) if (cache !== undefined) said[cache] = (said[cache] ?? 0) + 1;
    for (const [name, count] of Object.entries(counted.outcomes)) {
      expect(count - (earlier.outcomes[name] ?? 0), name).toBe(said[name] ?? 0);
    }
    expect(counted.requests - earlier.requests).toBe(230);
    expect(counted.farmCompiles - earlier.farmCompiles).toBe(said.miss);
    const events = await fetch(`${server(1).address}/batch/${id}/events`, { headers: { "last-event-id": "228" } });
    const text = await events.text();
    expect(text.match(/^id: \d+$/gm)).toEqual(["id: 229", "id: 230"]);
    expect(text).toContain('event: done\ndata: {"total":230,"done":230,"failed":1}');
  });

  it("compiles batches that have shaders in common on the workers, also when one ends before the other", async () => {
    const before = (await compilesOf(server(0))) + (await compilesOf(server(1)));
    const common = Array.from({ length: 100 }, (_, i) => shader(5000 + i));
    const mixed = common.flatMap((each, i) => [each, shader(6000 + i)]);
    const first = await sendBatch(server(0).address, common);
    const second = await sendBatch(server(1).address, mixed);
    const ends = [
      await waitFor(server(0).address, first, ({ state }) => state !== "running"),
      await waitFor(server(1).address, second, ({ state }) => state !== "running"),
    ];
    expect(ends).toMatchObject([
      { state: "done", done: 100, failed: 0 },
      { state: "done", done: 200, failed: 0 },
    ]);
    expect((await compilesOf(server(0))) + (await compilesOf(server(1)))).toBe(before);
  });

  it("compiles a batch without workers or Redis in the server", async () => {
    for (const child of farm.workers) await endChild(child, "SIGTERM");
    expect(farm.workers.map(({ exitCode, signalCode }) => exitCode ?? signalCode)).toEqual(["SIGKILL", 0]);
    const id = await sendBatch(
      server(0).address,
      Array.from({ length: 120 }, () => shader(4)),
    );
    const end = await waitFor(server(0).address, id, ({ state }) => state !== "running");
    expect(end).toMatchObject({ state: "done", done: 120, failed: 0 });
  });
});

describe("kiln worker", () => {
  it.skipIf(!oracle("redis-server"))(
    "tells probes that it is ready, and that it is not without its queue",
    {
      timeout: 60_000,
    },
    async () => {
      const [redis, port] = [await startRedis(), await freePort()];
      const folder = mkdtempSync(join(tmpdir(), "kiln-worker-"));
      const flags = ["--redis", redis.url, "--cache-dir", folder, "--workers", "1", "--health-port", String(port)];
      const deadlineMs = 2000;
      flags.push("--drain-ms", String(deadlineMs));
      const [child, server] = await Promise.all([
        startWorker(flags),
        startProcess(["--redis", redis.url, "--cache-dir", `${folder}-server`, "--drain-ms", String(deadlineMs)]),
      ]);
      // The server's end of the farm connects when it is asked.
      expect((await fetch(`${server.address}/metrics`)).status).toBe(200);
      const ask = async (path: string) => {
        // The port opens a moment after the worker takes jobs.
        const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined);
        return answer && [answer.status, answer.headers.get("content-type")];
      };
      const until = async (path: string, status: number) => {
        for (let now = await ask(path); ; now = await ask(path)) {
          if (now?.[0] === status) return now[1];
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      };
      expect(await until("/health/live", 200)).toBe("application/json");
      expect(await until("/health/ready", 200)).toBe("application/json");
      expect(await until("/", 404)).toBe("application/problem+json");
      await stopRedis(redis);
      expect(await until("/health/ready", 503)).toBe("application/problem+json");
      expect(await ask("/health/live")).toEqual([200, "application/json"]);
      // Back again, and stopped while connections that wait for jobs or their ends may not be.
      const again = await startRedis(redis.port);
      expect(await until("/health/ready", 200)).toBe("application/json");
      const began = performance.now();
      await Promise.all([endChild(child, "SIGTERM"), stopProcess(server, "SIGTERM")]);
      expect([child.exitCode, server.child.exitCode]).toEqual([0, 0]);
      expect(performance.now() - began).toBeLessThan(deadlineMs + 3000);
      await stopRedis(again);
      for (const each of [folder, `${folder}-server`]) rmSync(each, { recursive: true, force: true });
    },
  );

  it.skipIf(!oracle("redis-server"))("ends within its deadline while Redis is down", async () => {
    const redis = await startRedis();
    const folder = mkdtempSync(join(tmpdir(), "kiln-worker-"));
    const flags = ["--redis", redis.url, "--cache-dir", folder, "--workers", "1", "--drain-ms", "1000"];
    const child = await startWorker(flags);
    await stopRedis(redis);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await endChild(child, "SIGTERM");
    expect(child.exitCode).toBe(0);
    rmSync(folder, { recursive: true, force: true });
  });

  it.skipIf(!findOracle("redis-server"))("says what it lacks", () => {
    const run = (...args: string[]) =>
      spawnSync(process.execPath, ["dist/kiln.js", "worker", ...args], { encoding: "utf8" });
    expect(run()).toMatchObject({ status: 2, stderr: "worker: give --redis URL, or set KILN_REDIS\n" });
    expect(run("--redis", "ftp://x")).toMatchObject({ status: 2 });
    const gone = run("--redis", "redis://:secret@127.0.0.1:1");
    expect(gone.status).toBe(3);
    expect(gone.stderr).toContain("cannot reach redis://:***@127.0.0.1:1");
    expect(gone.stderr).not.toContain("secret");
  });
});
