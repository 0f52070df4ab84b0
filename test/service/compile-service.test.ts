import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { ShaderCache } from "../../src/cache/index.ts";
import type { CompileAnswer, CompileService, CompileSuccess } from "../../src/service/index.ts";
import { startRedis, stopRedis } from "../cache/redis-process.ts";
import { oracle } from "../oracles.ts";
import { glsl, type HarnessOptions, removeTemporaryFolders, startService, temporaryFolder } from "./harness.ts";

const running: { close(): Promise<void> }[] = [];
async function start(options: HarnessOptions = {}): Promise<CompileService> {
  const service = await startService(options);
  running.push(service);
  return service;
}
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.close()));
});
afterAll(removeTemporaryFolders);

function good(answer: CompileAnswer): CompileSuccess {
  if (!answer.ok) throw new Error("refused");
  return answer;
}
const outcome = async (service: CompileService, ...of: Parameters<CompileService["compile"]>) =>
  good(await service.compile(...of)).cache;

const isolations = ["thread", "process"] as const;

describe("compile service", () => {
  it("compiles once, then answers from memory, and after a restart from disk", async () => {
    const folder = temporaryFolder();
    const first = await start({ folder });
    const missed = good(await first.compile(glsl("a")));
    expect(missed.cache).toBe("miss");
    const hit = good(await first.compile(glsl("a")));
    expect(hit).toEqual({ ...missed, cache: "memory", missReason: undefined });
    await first.close();
    const second = await start({ folder });
    const fromDisk = good(await second.compile(glsl("a")));
    expect(fromDisk).toEqual({ ...missed, cache: "disk", missReason: undefined });
    expect(await outcome(second, glsl("a"))).toBe("memory");
    expect(second.stats()).toMatchObject({ requests: 4, hitRate: 0.75, compiles: 1, misses: { cold: 1 } });
  });

  it("compiles once for requests that come together: one miss, the others joined", async () => {
    const service = await start();
    const answers = await Promise.all(Array.from({ length: 20 }, () => outcome(service, glsl("sleep 50"))));
    expect(answers.filter((cache) => cache === "miss")).toHaveLength(1);
    expect(answers.filter((cache) => cache === "joined")).toHaveLength(19);
    expect(service.stats()).toMatchObject({ compiles: 1, joined: 19, requests: 20 });
  });

  it("counts each request as one thing, over two servers on a folder too", async () => {
    const folder = temporaryFolder();
    const pool = { timeLimitMs: 500, workers: 1, maxWaiting: 1 };
    const services = [await start({ folder, pool }), await start({ folder, pool })];
    const seen: Record<string, number> = {};
    const ask = async (service: CompileService, source: string) => {
      const kind = await service.compile(glsl(source)).then(
        ({ cache }) => cache,
        () => "failed",
      );
      seen[kind] = (seen[kind] ?? 0) + 1;
    };
    const both = (source: string, each = 8) =>
      Promise.all(services.flatMap((service) => Array.from({ length: each }, () => ask(service, source))));
    // One compiles; the other waits for it, with all that join the waiting.
    await both("sleep 60");
    expect(seen).toEqual({ miss: 1, joined: 7, disk: 8 });
    await both("sleep 60", 2);
    await both("errors 1", 3);
    await Promise.all([0, 1, 2].map((i) => both(`hang ${i}`, 1)));
    const stats = services.map((service) => service.stats());
    for (const { requests, hitRate } of stats) expect(hitRate).toBeGreaterThan(requests === 0 ? -1 : 0);
    const [one, other] = services as [CompileService, CompileService];
    await one.close();
    const { requests, hitRate, joined, failed, misses, tiers, compiles } = other.stats();
    const hits = Object.fromEntries(tiers.map(({ name, hits }) => [name, hits]));
    const missed = Object.values(misses).reduce((sum, count) => sum + count, 0);
    expect({ ...hits, miss: missed, joined, failed }).toEqual({ memory: 0, ...seen });
    expect(requests).toBe(Object.values(seen).reduce((sum, count) => sum + count, 0));
    expect(hitRate).toBe(((seen.memory ?? 0) + (seen.disk ?? 0)) / requests);
    expect(compiles).toBe(missed);
  });

  it("counts what a farm did as what it was there", async () => {
    const service = await start();
    const first = good(await service.compile(glsl("a"), [], "none"));
    expect([first.cache, first.missReason, service.stats().requests]).toEqual(["miss", "cold", 0]);
    await service.compile(glsl("a"), [], { cache: "miss", missReason: "optionsChanged" });
    await service.compile(glsl("a"), [], { cache: "shared" });
    await service.compile(glsl("a"));
    // It was lost since, and is compiled here.
    await service.compile(glsl("b"), [], { cache: "miss", missReason: "cold" });
    const { requests, hitRate, misses, farmCompiles, compiles, tiers } = service.stats();
    expect({ requests, hitRate, farmCompiles, compiles }).toEqual({
      requests: 4,
      hitRate: 0.5,
      farmCompiles: 1,
      compiles: 2,
    });
    expect(misses).toMatchObject({ cold: 1, optionsChanged: 1 });
    expect(tiers).toMatchObject([{ name: "memory", hits: 1 }]);
  });

  it("has another key for each field that changes code", async () => {
    const service = await start();
    const variants = [
      glsl("a"),
      glsl("b"),
      glsl("a", { language: "spirv-asm" }),
      glsl("a", { entryPoint: "other" }),
      glsl("a", { defines: { A: "1" } }),
      glsl("a", { specialization: [{ id: 1, value: 1 }] }),
      glsl("a", { specialization: [{ id: 1, value: "1" }] }),
      glsl("a", { specialization: [{ id: 1, value: true }] }),
      glsl("a", { targetEnv: "vulkan1.1" }),
      glsl("a", { robustness: "none" }),
      glsl("a", { pipeline: { floatControls: { contraction: false } } }),
      glsl("a", { options: { optimization: 1, dialect: "vulkan", debugInfo: true, warningsAsErrors: false } }),
    ];
    const keys = new Set<string>();
    for (const variant of variants) keys.add(good(await service.compile(variant)).key);
    expect(keys.size).toBe(variants.length);
    expect(service.stats().compiles).toBe(variants.length);
  });

  it("has one key whatever the order of defines and specialisation", async () => {
    const service = await start();
    const one = glsl("a", {
      defines: { A: "1", B: "2" },
      specialization: [
        { id: 1, value: 1 },
        { id: 2, value: 2 },
      ],
    });
    const two = glsl("a", {
      defines: { B: "2", A: "1" },
      specialization: [
        { id: 2, value: 2 },
        { id: 1, value: 1 },
      ],
    });
    expect(await outcome(service, one)).toBe("miss");
    expect(await outcome(service, two)).toBe("memory");
  });

  it("keeps file names out of key and code, and answers with the request's own", async () => {
    const service = await start();
    const one = good(await service.compile(glsl("a", { filename: "one.comp" })));
    const two = good(await service.compile(glsl("a", { filename: "dir/two.comp" })));
    expect(two.cache).toBe("memory");
    expect(two.key).toBe(one.key);
    expect(two.record.elf).toEqual(one.record.elf);
    expect([one, two].map(({ record }) => record.sourceMap[0]?.file)).toEqual(["one.comp", "dir/two.comp"]);
    expect(two.record.diagnostics[0]?.file).toBe("dir/two.comp");
    const refused = await service.compile(glsl("errors 2", { filename: "bad.comp" }));
    expect(refused.ok ? [] : refused.diagnostics.map(({ file }) => file)).toEqual(["bad.comp", "bad.comp"]);
  });

  it("depends only on the includes that were read", async () => {
    const service = await start();
    const source = "include a.h";
    const base = { includes: { "a.h": "1", "unread.h": "x" } };
    expect(await outcome(service, glsl(source, base))).toBe("miss");
    expect(await outcome(service, glsl(source, { includes: { "a.h": "1", "unread.h": "changed" } }))).toBe("memory");
    expect(await outcome(service, glsl(source, { includes: { "a.h": "1" } }))).toBe("memory");
    expect(await outcome(service, glsl(source, { includes: { "a.h": "2" } }))).toBe("miss");
    expect(await outcome(service, glsl(source, { includes: { "a.h": "1" } }))).toBe("memory");
    // A file of the same name in another folder could be the one that an include finds.
    expect(await outcome(service, glsl(source, { includes: { "a.h": "1", "dir/a.h": "1" } }))).toBe("miss");
  });

  it("says why it missed", async () => {
    const folder = temporaryFolder();
    const first = await start({ folder });
    const { key } = good(await first.compile(glsl("a")));
    await first.compile(glsl("a", { defines: { X: "1" } }));
    await first.close();
    const other = await start({ folder, buildId: "build-2" });
    expect(await outcome(other, glsl("a"))).toBe("miss");
    await other.close();
    const path = join(folder, "v1", key.slice(0, 2), key);
    const bytes = readFileSync(path);
    bytes[100] = (bytes[100] as number) ^ 1;
    writeFileSync(path, bytes);
    const again = await start({ folder });
    expect(await outcome(again, glsl("a"))).toBe("miss");
    expect(again.stats().misses).toEqual({ cold: 1, optionsChanged: 1, compilerChanged: 1, corrupt: 1, evicted: 0 });
    expect(again.stats().tiers[1]).toMatchObject({ name: "disk", corrupt: 1 });
  });

  it("never caches a refusal, and lists at most 100 diagnostics", async () => {
    const service = await start();
    for (let i = 0; i < 2; i++) {
      const answer = await service.compile(glsl("errors 150"));
      expect(answer.ok ? 0 : answer.diagnostics.length).toBe(100);
    }
    expect(service.stats()).toMatchObject({ compiles: 2, requests: 2, hitRate: 0 });
  });

  it("recomputes reports and leaves the cache's answer alone", async () => {
    const service = await start();
    const first = good(await service.compile(glsl("a", { filename: "f" }), ["ir"]));
    const second = good(await service.compile(glsl("a", { filename: "f" }), ["ir"]));
    expect([first.cache, second.cache]).toEqual(["miss", "memory"]);
    expect(second.reports?.ir).toBe("file f");
    expect(good(await service.compile(glsl("a"))).reports).toBeUndefined();
  });

  it.each(isolations)("ends a compile at its time limit, replaces the worker and goes on (%s)", async (isolate) => {
    const service = await start({ pool: { isolate, workers: 1, timeLimitMs: 400 } });
    await service.compile(glsl("warm"));
    await expect(service.compile(glsl("hang"))).rejects.toMatchObject({ code: "COMPILE_TIME_LIMIT" });
    expect(await outcome(service, glsl("after"))).toBe("miss");
    expect(service.poolStats()).toMatchObject({ restarts: 1, running: 0, waiting: 0 });
    expect(service.stats().recentFailures[0]).toMatchObject({ code: "COMPILE_TIME_LIMIT" });
  });

  it.each(isolations)("ends a compile at its memory limit and goes on (%s)", async (isolate) => {
    const service = await start({ pool: { isolate, workers: 1, memoryLimitMb: 32, timeLimitMs: 20_000 } });
    await expect(service.compile(glsl("eat"))).rejects.toMatchObject({ code: "COMPILE_MEMORY_LIMIT" });
    expect(await outcome(service, glsl("after"))).toBe("miss");
  });

  it.each(isolations)(
    "survives workers that exit or throw, and keeps a bug's detail for the log (%s)",
    async (isolate) => {
      const bugs: string[] = [];
      const service = await start({ bugs, pool: { isolate } });
      await expect(service.compile(glsl("exit"))).rejects.toMatchObject({ code: "WORKER_LOST" });
      await expect(service.compile(glsl("throw"))).rejects.toMatchObject({ code: "WORKER_LOST" });
      const failure = await service.compile(glsl("bug")).catch((error: Error) => error);
      expect(failure).toMatchObject({ code: "COMPILER_BUG" });
      expect((failure as Error).message).not.toContain("secret");
      expect(bugs.some((bug) => bug.includes("secret stack trace"))).toBe(true);
      expect(await outcome(service, glsl("after"))).toBe("miss");
    },
  );

  it("keeps compiles in processes from the files and the environment of the server", async () => {
    const bugs: string[] = [];
    const service = await start({ bugs, pool: { isolate: "process" } });
    const file = join(temporaryFolder(), "written");
    await expect(service.compile(glsl(`write ${file}`))).rejects.toMatchObject({ code: "WORKER_LOST" });
    await expect(service.compile(glsl("read /etc/hostname"))).rejects.toMatchObject({ code: "WORKER_LOST" });
    await expect(service.compile(glsl("environment"))).rejects.toMatchObject({ code: "COMPILER_BUG" });
    // What Node itself needs to talk to its parent, at most.
    expect(
      bugs
        .at(-1)
        ?.split(" ")
        .slice(1)
        .filter((name) => !name.startsWith("NODE_")),
    ).toEqual([""]);
    expect(existsSync(file)).toBe(false);
    expect(await outcome(service, glsl("after"))).toBe("miss");
  });

  it("refuses above its queue, and serves what waited", async () => {
    const service = await start({ pool: { workers: 1, maxWaiting: 2 } });
    const results = await Promise.allSettled([1, 2, 3, 4, 5].map((n) => service.compile(glsl(`sleep 20\n${n}`))));
    const refused = results.filter((result) => result.status === "rejected");
    expect(refused.map((result) => result.reason.code)).toEqual(["QUEUE_FULL", "QUEUE_FULL"]);
    expect(await outcome(service, glsl("after"))).toBe("miss");
  });

  it("is ready after a good probe only, also while all workers are busy", async () => {
    const service = await start({ pool: { workers: 1 } });
    expect(service.isReady()).toBe(false);
    const slow = service.compile(glsl("sleep 300"));
    expect(await service.checkHealth()).toBe(true);
    expect(service.isReady()).toBe(true);
    await slow;
  });

  it("finishes what runs when it closes, and takes nothing more", async () => {
    const folder = temporaryFolder();
    const service = await startService({ folder });
    const answer = service.compile(glsl("sleep 100"));
    while (service.poolStats().running === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const closed = service.close(5000);
    await expect(service.compile(glsl("late"))).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
    expect(good(await answer).cache).toBe("miss");
    await closed;
    expect(await outcome(await start({ folder }), glsl("sleep 100"))).toBe("disk");
  });

  it("purges one key and all keys", async () => {
    const service = await start({ folder: temporaryFolder() });
    const { key } = good(await service.compile(glsl("a")));
    await service.compile(glsl("b"));
    expect((await service.artifact(key))?.elf).toBeInstanceOf(Uint8Array);
    expect(await service.deleteArtifact(key)).toBe(true);
    expect(await service.deleteArtifact(key)).toBe(false);
    expect(await service.artifact(key)).toBeUndefined();
    expect(await service.clearCache()).toBe(1);
    expect(await outcome(service, glsl("b"))).toBe("miss");
    expect(service.stats().misses.cold).toBe(3);
  });

  it("compiles once for two services on one folder", async () => {
    const folder = temporaryFolder();
    const services = [await start({ folder }), await start({ folder })];
    const all = Array.from({ length: 16 }, (_, i) => outcome(services[i % 2] as CompileService, glsl("sleep 100")));
    const answers = await Promise.all(all);
    expect(answers.filter((cache) => cache === "miss")).toHaveLength(1);
    // The statistics of both say what the answers said.
    const said = (cache: string) => answers.filter((each) => each === cache).length;
    const counted = () => {
      const { requests, hitRate, joined, misses, tiers } = (services[0] as CompileService).stats();
      const hits = tiers.reduce((sum, tier) => sum + tier.hits, 0);
      return { requests, hitRate, joined, cold: misses.cold, hits };
    };
    const hits = said("disk") + said("memory");
    const joined = said("joined");
    expect(hits + joined).toBe(15);
    await expect
      .poll(counted, { timeout: 5000 })
      .toEqual({ requests: 16, hitRate: expect.closeTo(hits / 16, 9), joined, cold: 1, hits });
    // Includes: the record's own key is not known before the compile.
    const read = glsl("include a.h\nsleep 100", { includes: { "a.h": "1", "unread.h": "2" } });
    const both = await Promise.all(services.map((service) => outcome(service, read)));
    expect(both.sort()).toEqual(["disk", "miss"]);
    expect(services.map((service) => service.poolStats().restarts)).toEqual([0, 0]);
  });

  it.skipIf(!oracle("redis-server"))(
    "compiles once for two hosts on one Redis; without it each on its own",
    async () => {
      const redis = await startRedis();
      const hosts = [await start({ sharedUrl: redis.url }), await start({ sharedUrl: redis.url })];
      const ask = (source: string) => Promise.all(hosts.map((host) => outcome(host, glsl(source))));
      expect((await ask("sleep 200")).sort()).toEqual(["miss", "shared"]);
      expect(await ask("sleep 200")).toEqual(["memory", "memory"]);
      await stopRedis(redis);
      expect(await ask("without")).toEqual(["miss", "miss"]);
    },
  );

  it("knows a hit by the bytes it was answered with, as long as the memory tier has them", async () => {
    const service = await start();
    const { key, stored } = good(await service.compile(glsl("a")));
    const before = service.stats();
    expect(service.hitAgain(key, stored.bytes)).toBe(true);
    expect(service.hitAgain(key, Uint8Array.from(stored.bytes))).toBe(false);
    const after = service.stats();
    expect(after.requests - before.requests).toBe(1);
    expect((after.tiers[0]?.hits ?? 0) - (before.tiers[0]?.hits ?? 0)).toBe(1);
    expect(after.hitRate).toBe(0.5);
    await service.deleteArtifact(key);
    expect(service.hitAgain(key, stored.bytes)).toBe(false);
    expect(service.stats().requests).toBe(after.requests);
    // Where each hit is to be sampled, none is answered without `compile`.
    const sampling = await start({ verifyRate: 1 });
    const sampled = good(await sampling.compile(glsl("a")));
    expect(sampling.hitAgain(sampled.key, sampled.stored.bytes)).toBe(false);
  });

  it("compiles a sample of hits again: a record that differs is told and goes", async () => {
    const bugs: string[] = [];
    const folder = temporaryFolder();
    const service = await start({ folder, verifyRate: 1, bugs });
    const { key } = good(await service.compile(glsl("a")));
    const other = good(await service.compile(glsl("b\nc")));
    const checked = async (count: number) => {
      while (service.stats().verify.checked < count) await new Promise((resolve) => setTimeout(resolve, 5));
      return service.stats().verify;
    };
    expect(await outcome(service, glsl("a"))).toBe("memory");
    expect(await checked(1)).toEqual({ checked: 1, wrong: 0 });
    await service.close();
    // Another shader's record under the key, checksum and all: what no checksum can see.
    const cache = new ShaderCache({ memoryBytes: 0, disk: { folder, capacityBytes: 64 << 20 } });
    const wrong = await cache.get(other.key);
    await cache.put(key, wrong?.value as Uint8Array);
    await cache.close();
    const again = await start({ folder, verifyRate: 1, bugs });
    expect(await outcome(again, glsl("a"))).toBe("disk");
    while (again.stats().verify.checked < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(again.stats().verify).toEqual({ checked: 2, wrong: 1 });
    expect(bugs[0]).toContain(key);
    expect(await outcome(again, glsl("a"))).toBe("miss");
  });
});
