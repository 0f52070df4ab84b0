import { createHash, randomBytes } from "node:crypto";
import { createServer, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Counters } from "../../src/cache/counters.ts";
import type { Key, Lookup } from "../../src/cache/index.ts";
import { loadStore } from "../../src/cache/open-store.ts";
import { SharedTier } from "../../src/cache/shared-tier.ts";
import { oracle } from "../oracles.ts";
import { startBazelRemote } from "./bazel-remote.ts";
import { startRedis, stopRedis } from "./redis-process.ts";

const keyOf = (text: string | number) => createHash("sha256").update(String(text)).digest("hex") as Key;
const lookup = (): Lookup => ({ corrupt: false });
/** Longer than any test: where the store answers, no clock decides. */
const patientMs = 300_000;
const tierOf = (url: string, secret?: string, timeoutMs = patientMs) =>
  new SharedTier({
    load: () => loadStore(url, timeoutMs),
    counters: new Counters(),
    timeoutMs,
    ...(secret !== undefined && { secret }),
  });

describe("the shared tier over bazel-remote's HTTP form", () => {
  let remote: Awaited<ReturnType<typeof startBazelRemote>>;
  beforeAll(async () => {
    remote = await startBazelRemote();
  });
  afterAll(() => {
    remote.server.close();
  });

  it("gives another machine what one put; a deleted key is a miss", async () => {
    const [one, other] = [tierOf(remote.url), tierOf(remote.url)];
    const value = randomBytes(5000);
    await one.put(keyOf("a"), value);
    expect(Buffer.from((await other.get(keyOf("a"))) ?? []).equals(value)).toBe(true);
    expect(await other.get(keyOf("b"))).toBeUndefined();
    expect(await other.delete(keyOf("a"))).toBe(true);
    expect(await other.delete(keyOf("a"))).toBe(false);
    expect(await one.get(keyOf("a"))).toBeUndefined();
    expect(other.stats()).toMatchObject({ hits: 1, misses: 1, corrupt: 0, errors: 0 });
    expect(one.stats()).toMatchObject({ puts: 1 });
  });

  it("takes no record that another key's entry names, nor one with a changed byte", async () => {
    const tier = tierOf(remote.url);
    await tier.put(keyOf("x"), randomBytes(50));
    const named = remote.files.get(`/ac/${keyOf("x")}`) as Buffer;
    remote.files.set(`/ac/${keyOf("y")}`, named);
    const seen = lookup();
    expect(await tier.get(keyOf("y"), seen)).toBeUndefined();
    expect(seen.corrupt).toBe(true);
    const record = remote.files.get(`/cas/${named}`) as Buffer;
    for (let at = 0; at < record.length; at += 7) {
      const bad = Buffer.from(record);
      bad[at] = (bad[at] as number) ^ 1;
      remote.files.set(`/ac/${keyOf("x")}`, named);
      remote.files.set(`/cas/${named}`, bad);
      expect(await tier.get(keyOf("x")), `byte ${at}`).toBeUndefined();
    }
  });

  it("with a secret takes only what was signed with it", async () => {
    const [signed, plain, otherSecret] = [tierOf(remote.url, "s1"), tierOf(remote.url), tierOf(remote.url, "s2")];
    const value = randomBytes(100);
    await signed.put(keyOf("m"), value);
    expect(Buffer.from((await signed.get(keyOf("m"))) ?? []).equals(value)).toBe(true);
    await plain.put(keyOf("n"), value);
    expect(await signed.get(keyOf("n"))).toBeUndefined();
    await otherSecret.put(keyOf("o"), value);
    expect(await signed.get(keyOf("o"))).toBeUndefined();
    expect(signed.stats()).toMatchObject({ hits: 1, corrupt: 2 });
  });
});

describe("a shared store in trouble", () => {
  it("that refuses connections or never answers: misses and counted errors, and soon no more waiting", async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket)).listen(0, "127.0.0.1");
    await new Promise((resolve) => silent.on("listening", resolve));
    const { port } = silent.address() as { port: number };
    for (const url of [
      `redis://127.0.0.1:${port}`,
      `http://127.0.0.1:${port}`,
      "redis://127.0.0.1:1",
      "http://127.0.0.1:1",
    ]) {
      const tier = tierOf(url, undefined, 60);
      const started = performance.now();
      for (let i = 0; i < 200; i++) {
        expect(await tier.get(keyOf(i))).toBeUndefined();
        await tier.put(keyOf(i), randomBytes(10));
        // No lease can be had: each goes on alone.
        expect(await tier.acquire(keyOf(i))).toBeDefined();
      }
      // Three that fail open the circuit, and one tries again every 2 s: the other calls of the 600 wait for nothing.
      const triedAgain = Math.ceil((performance.now() - started) / 2000);
      expect(tier.stats().errors, url).toBeGreaterThanOrEqual(3);
      expect(tier.stats().errors, url).toBeLessThanOrEqual(3 + triedAgain);
      expect(tier.stats()).toMatchObject({ puts: 0, hits: 0, misses: 200 });
      await tier.close();
    }
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
});

describe.skipIf(!oracle("redis-server"))("the shared tier over Redis", () => {
  it("shares records and leases, counts, clears, and comes back after Redis was gone", {
    timeout: 60_000,
  }, async () => {
    const redis = await startRedis();
    const [one, other] = [tierOf(redis.url, "secret"), tierOf(redis.url, "secret")];
    const value = randomBytes(3000);
    await one.put(keyOf("a"), value);
    expect(Buffer.from((await other.get(keyOf("a"))) ?? []).equals(value)).toBe(true);
    const lease = await one.acquire(keyOf("l"));
    expect(lease).toBeDefined();
    expect(await other.acquire(keyOf("l"))).toBeUndefined();
    await lease?.release();
    const second = await other.acquire(keyOf("l"));
    expect(second).toBeDefined();
    await second?.release();
    expect(await one.delete(keyOf("a"))).toBe(true);
    for (let i = 0; i < 20; i++) await one.put(keyOf(i), value);
    expect(await other.clear()).toBe(20);
    expect(await one.get(keyOf(3))).toBeUndefined();
    expect(one.stats()).toMatchObject({ errors: 0, corrupt: 0, puts: 21 });

    await stopRedis(redis);
    for (let i = 0; i < 5; i++) expect(await one.get(keyOf("a"))).toBeUndefined();
    expect(one.stats().errors).toBeGreaterThan(0);
    const again = await startRedis(redis.port);
    const until = performance.now() + 15_000;
    let back: Uint8Array | undefined;
    while (back === undefined && performance.now() < until) {
      await one.put(keyOf("b"), value);
      back = await one.get(keyOf("b"));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(Buffer.from(back ?? []).equals(value)).toBe(true);
    await Promise.all([one.close(), other.close()]);
    await stopRedis(again);
  });
});
