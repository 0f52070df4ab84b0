import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Access, type AppOptions, createApp, hashKey } from "../../src/http/index.ts";
import type { CompileService } from "../../src/service/index.ts";
import { removeTemporaryFolders, startService, temporaryFolder } from "../service/harness.ts";
import { Answers } from "./documented.ts";

const limits = { bodyBytes: 8 << 20, timeLimitMs: 1000, memoryLimitMb: 64, maxWaiting: 100, workers: 2 };
let service: CompileService;
const optionsOf = (access: Partial<Access> = {}): AppOptions => ({
  service,
  limits,
  access: { loopback: true, keys: undefined, ...access },
});
type App = ReturnType<typeof createApp>;
const answers = new Answers();
const watched = (options: AppOptions) => answers.watch(createApp(options));
let app: App;

beforeAll(async () => {
  service = await startService({ folder: temporaryFolder(), pool: { timeLimitMs: limits.timeLimitMs } });
  app = watched(optionsOf());
});
afterAll(async () => {
  await app.close();
  await service.close();
  removeTemporaryFolders();
});

const json = { "content-type": "application/json" };
const post = (payload: unknown, to: App = app, headers: Record<string, string> = {}) =>
  to.inject({ method: "POST", url: "/compile", headers: { ...json, ...headers }, payload: JSON.stringify(payload) });

type Answer = Awaited<ReturnType<typeof post>>;

/** Every error has the shape of RFC 9457 and says nothing of its insides. */
function expectProblem(answer: Answer, status: number, code: string): void {
  expect(answer.statusCode, answer.body).toBe(status);
  expect(answer.headers["content-type"]).toBe("application/problem+json");
  const body = answer.json();
  expect(body).toMatchObject({ status, code, type: `urn:kiln:problem:${code}` });
  expect(body.requestId).toBe(answer.headers["x-request-id"]);
  expect(answer.body).not.toMatch(/\.ts:|\.js:|node_modules|at \w+ \(/);
}

describe("POST /compile", () => {
  it("answers with what the contract lists", async () => {
    const answer = await post({ source: "one", stage: "compute" });
    expect(answer.statusCode).toBe(200);
    const body = answer.json();
    expect(body).toMatchObject({
      cache: "miss",
      target: "gfx1030",
      stage: "compute",
      entryPoint: "main",
      codeSizeBytes: 4,
      compiler: { version: "1.2.3", buildId: "build-1" },
      stats: { instructions: 1, vgprs: 1 },
      reflection: { workgroupSize: [64, 1, 1] },
      pipeline: { layout: { sets: [{ set: 0, bindings: [{ binding: 0, type: "storageBuffer", count: 1 }] }] } },
    });
    expect(body.key).toMatch(/^[0-9a-f]{64}$/);
    expect(Object.keys(body)).not.toContain("asm");
    const elf = Buffer.from(body.code, "base64");
    expect(elf.subarray(0, 4).toString("latin1")).toBe("\x7fELF");
    expect(body.codeSha256).toBe(createHash("sha256").update(elf).digest("hex"));
    expect((await post({ source: "one", stage: "compute" })).json()).toEqual({
      ...body,
      cache: "memory",
      microseconds: expect.any(Number),
    });
  });

  it("answers the same body again with the same bytes, counted as hits, until its record goes", async () => {
    const payload = { source: "again", stage: "compute", filename: "größe.comp", emit: ["code", "sourceMap"] };
    const counts = async () => {
      const { requests, hitRate, tiers } = (await app.inject({ url: "/cache/stats" })).json();
      return { requests, hits: Math.round(hitRate * requests), inMemory: tiers[0].hits };
    };
    const first = await post(payload);
    const before = await counts();
    const answers = [];
    for (let i = 0; i < 5; i++) answers.push(await post(payload));
    const after = await counts();
    expect(after).toEqual({ requests: before.requests + 5, hits: before.hits + 5, inMemory: before.inMemory + 5 });
    for (const answer of answers) {
      expect(answer.headers["content-type"]).toBe(first.headers["content-type"]);
      expect(answer.headers["content-length"]).toBe(String(answer.rawPayload.length));
      expect(answer.json()).toEqual({ ...first.json(), cache: "memory", microseconds: expect.any(Number) });
      expect(answer.json().sourceMap[0].file).toBe("größe.comp");
    }
    expect((await post({ ...payload, emit: ["stats"] })).json()).not.toHaveProperty("code");
    const asElf = await post(payload, app, { accept: "application/x-elf" });
    expect(asElf.headers["content-type"]).toBe("application/x-elf");
    const squeezed = await post(payload, app, { "accept-encoding": "gzip" });
    expect(squeezed.headers["content-encoding"]).toBe("gzip");
    expect(JSON.parse(gunzipSync(squeezed.rawPayload).toString())).toMatchObject({ cache: "memory" });
    await app.inject({ method: "DELETE", url: `/artifacts/${first.json().key}` });
    expect((await post(payload)).json().cache).toBe("miss");
    expect((await post(payload)).json().cache).toBe("memory");
    await app.inject({ method: "DELETE", url: "/cache" });
    expect((await post(payload)).json().cache).toBe("miss");
  });

  it("guards an answer that is at hand like any other", async () => {
    const payload = { source: "guarded", stage: "compute" };
    for (let i = 0; i < 3; i++) expect((await post(payload)).statusCode).toBe(200);
    expectProblem(await post(payload, app, { host: "evil.example" }), 403, "HOST_REFUSED");
    const keyed = watched(optionsOf({ loopback: false, keys: [{ role: "write", sha256: hashKey("k") }] }));
    for (let i = 0; i < 3; i++) await post(payload, keyed, { authorization: "Bearer k" });
    expectProblem(await post(payload, keyed), 401, "KEY_MISSING");
    await keyed.close();
  });

  it("emits just what is asked for", async () => {
    const emit = ["asm", "sourceMap", "spirv", "ir", "passes"];
    const body = (await post({ source: "emit", stage: "compute", filename: "f.comp", emit })).json();
    expect(body.asm).toContain("s_endpgm");
    expect(body.sourceMap[0]).toMatchObject({ file: "f.comp", offset: 0 });
    expect(Buffer.from(body.spirv, "base64")).toEqual(Buffer.from([3, 2, 35, 7]));
    expect(body).toMatchObject({ ir: "file f.comp", passes: [] });
    for (const name of ["code", "stats", "reflection"]) expect(body).not.toHaveProperty(name);
  });

  it("emits the flow of the code and its live registers, from the cached record", async () => {
    const { key } = (await post({ source: "flow", stage: "compute" })).json();
    const body = (await post({ source: "flow", stage: "compute", emit: ["cfg", "liveRegisters"] })).json();
    // The code is one s_endpgm.
    expect(body).toMatchObject({
      key,
      cache: "memory",
      cfg: { blocks: [{ offset: 0, endOffset: 4 }], edges: [] },
      liveRegisters: [{ offset: 0, vgprs: 0, sgprs: 0 }],
    });
    expect(body).not.toHaveProperty("code");
  });

  it("compiles the stages of a pipeline with what they share, one answer a stage in order", async () => {
    const shared = { options: { optimization: 1 }, pipeline: { colorFormats: [] }, emit: ["asm"] };
    const [vertex, fragment] = [
      { stage: "vertex", source: "of vertices", defines: { A: "1" } },
      { stage: "fragment", source: "of fragments" },
    ];
    const answer = await post({ stages: [vertex, fragment], ...shared });
    expect(answer.statusCode, answer.body).toBe(200);
    const { stages } = answer.json();
    expect(stages).toHaveLength(2);
    for (const [i, stage] of [vertex, fragment].entries()) {
      expect(stages[i]).toMatchObject({ cache: "miss", asm: expect.any(String), pipeline: { colorFormats: [] } });
      expect(stages[i]).not.toHaveProperty("code");
      // Alone it is another compile: the stages are linked.
      const alone = (await post({ ...stage, ...shared })).json();
      expect(alone.cache).toBe("miss");
      expect(alone.key).not.toBe(stages[i].key);
    }
    const cachesAndKeys = async (body: object) =>
      (await post(body)).json().stages.map(({ cache, key }: { cache: string; key: string }) => [cache, key]);
    const [v, f] = [stages[0].key, stages[1].key];
    expect(await cachesAndKeys({ stages: [fragment, vertex], ...shared })).toEqual([
      ["memory", f],
      ["memory", v],
    ]);
    // The name of a file is no part of a key, not even of the other stage's; its text is part of both.
    const moved = [vertex, { ...fragment, filename: "moved.frag" }];
    expect(await cachesAndKeys({ stages: moved, ...shared })).toEqual([
      ["memory", v],
      ["memory", f],
    ]);
    const other = await cachesAndKeys({ stages: [vertex, { ...fragment, source: "others" }], ...shared });
    expect(other.map(([cache]: [string]) => cache)).toEqual(["miss", "miss"]);
  });

  it("names the stage of each diagnostic, and refuses lists that are no pipeline", async () => {
    const stages = [
      { stage: "vertex", source: "errors 2", filename: "a.vert" },
      { stage: "fragment", source: "errors 1" },
    ];
    const failed = await post({ stages });
    expectProblem(failed, 422, "COMPILE_FAILED");
    expect(failed.json().diagnostics.map(({ stage, line }: { stage: string; line: number }) => [stage, line])).toEqual([
      ["vertex", 1],
      ["vertex", 2],
      ["fragment", 1],
    ]);
    expect(failed.json().detail).toBe("the shader has 3 errors");
    const good = { stage: "vertex", source: "v" };
    const half = await post({ stages: [good, { stage: "fragment", source: "errors 1" }] });
    expectProblem(half, 422, "COMPILE_FAILED");
    expect(half.json().diagnostics).toMatchObject([{ stage: "fragment" }]);
    for (const payload of [
      { stages: [] },
      { stages: [{ source: "no stage" }] },
      { stages: [{ stage: "vertex" }] },
      { stages: [good, good] },
      { stages: [good, { stage: "compute", source: "c" }] },
      { stages: [good], source: "s" },
      { stages: [{ ...good, options: {} }] },
    ]) {
      expectProblem(await post(payload), 400, "BAD_REQUEST");
    }
    expectProblem(await post({ stages: [good] }, app, { accept: "application/x-elf" }), 400, "BAD_REQUEST");
  });

  it("takes raw bodies, the same key as JSON", async () => {
    const raw = (type: string, payload: Buffer | string, query = "") =>
      app.inject({ method: "POST", url: `/compile${query}`, headers: { "content-type": type }, payload });
    const asJson = await post({ source: "raw", stage: "compute", options: { optimization: 1 }, defines: { A: "b" } });
    const query = `?stage=compute&optimization=1&defines=${encodeURIComponent('{"A":"b"}')}&emit=stats,asm`;
    const asText = await raw("text/x-glsl; charset=utf-8", "raw", query);
    expect(asText.json()).toMatchObject({ key: asJson.json().key, cache: "memory" });
    expect(Object.keys(asText.json())).toEqual(expect.arrayContaining(["asm", "stats"]));
    const words = Buffer.from([3, 2, 35, 7]);
    const spirv = await raw("application/x-spirv", words);
    expect(spirv.statusCode).toBe(200);
    expect((await post({ spirv: words.toString("base64") })).json()).toMatchObject({ key: spirv.json().key });
    for (const [bad, code] of [
      [await raw("text/x-glsl", "x", "?optimization=9"), "BAD_REQUEST"],
      [await raw("text/x-glsl", "x", "?nonsense=1"), "BAD_REQUEST"],
      [await raw("text/x-glsl", "x", "?defines=x"), "BAD_REQUEST"],
      [await raw("text/x-glsl", "x", "?source=y"), "BAD_REQUEST"],
      [await raw("text/x-glsl", Buffer.from([0xff, 0xfe, 0x80])), "BAD_REQUEST"],
    ] as const) {
      expectProblem(bad, 400, code);
    }
  });

  it("answers a shader's errors with 422 and their diagnostics", async () => {
    const answer = await post({ source: "errors 20", stage: "compute", filename: "bad.comp" });
    expectProblem(answer, 422, "COMPILE_FAILED");
    expect(answer.json().diagnostics).toHaveLength(20);
    expect(answer.json().diagnostics[0]).toMatchObject({ severity: "error", code: "FAKE", file: "bad.comp", line: 1 });
  });

  it("refuses malformed requests with 400", async () => {
    for (const payload of [
      {},
      [],
      "text",
      null,
      { source: "a", spirv: "AAAA" },
      { source: 1 },
      { source: "a", stage: "compute", unknown: 1 },
      { source: "a", stage: "geometry" },
      { source: "a", language: "spirv" },
      { spirv: "AAAA", language: "glsl" },
      { spirv: "not base64!" },
      { spirv: "AAA" },
      { source: "a", options: { optimization: 3 } },
      { source: "a", emit: ["everything"] },
      { source: "a", defines: { A: 1 } },
      { source: "a", defines: Object.fromEntries(Array.from({ length: 4097 }, (_, i) => [`N${i}`, ""])) },
      { source: "a", specialization: [{ id: -1, value: 1 }] },
      { source: "a", specialization: [{ id: 1, value: "1.5" }] },
      { source: "a", specialization: [1, 2, 1].map((id) => ({ id, value: id })) },
      { source: "a", target: "gfx900" },
    ]) {
      expectProblem(await post(payload), 400, "BAD_REQUEST");
    }
    for (const payload of ["", "{", '{"source":', "\u0000\u0001", '{"__proto__":{"a":1},"source":"a"}']) {
      const answer = await app.inject({ method: "POST", url: "/compile", headers: json, payload });
      expectProblem(answer, 400, "BAD_REQUEST");
    }
    expectProblem(await app.inject({ method: "POST", url: "/compile" }), 400, "BAD_REQUEST");
  });

  it("refuses encoded bodies with 415, and says how they must come", async () => {
    const answer = await post({ source: "one", stage: "compute" }, app, { "content-encoding": "gzip" });
    expectProblem(answer, 415, "CONTENT_ENCODING");
    expect(answer.headers["accept-encoding"]).toBe("identity");
    const plain = await post({ source: "one", stage: "compute" }, app, { "content-encoding": "identity" });
    expect(plain.statusCode).toBe(200);
  });

  it("names a field that it does not know", async () => {
    const answer = await post({ source: "one", stage: "compute", sauce: 1 });
    expectProblem(answer, 400, "BAD_REQUEST");
    expect(answer.json().detail).toContain("sauce");
  });

  it("refuses 10 MiB with 413, and other types with 415", async () => {
    const large = Buffer.alloc(10 << 20, "a");
    for (const type of ["application/json", "application/x-spirv", "text/x-glsl"]) {
      const answer = await app.inject({
        method: "POST",
        url: "/compile",
        headers: { "content-type": type },
        payload: large,
      });
      expectProblem(answer, 413, "BODY_TOO_LARGE");
    }
    for (const type of ["application/xml", "text/plain", "nonsense"]) {
      const answer = await app.inject({
        method: "POST",
        url: "/compile",
        headers: { "content-type": type },
        payload: "x",
      });
      expectProblem(answer, 415, "MEDIA_TYPE");
    }
  });

  it("answers 504 past the time limit, 500 for a bug, and stays up", async () => {
    expectProblem(await post({ source: "hang", stage: "compute" }), 504, "COMPILE_TIME_LIMIT");
    const bug = await post({ source: "bug", stage: "compute" });
    expectProblem(bug, 500, "COMPILER_BUG");
    expect(bug.body).not.toContain("secret");
    expectProblem(await post({ source: "throw", stage: "compute" }), 500, "WORKER_LOST");
    expect((await post({ source: "fine", stage: "compute" })).statusCode).toBe(200);
  });

  it("answers 503 with Retry-After when the queue is full", async () => {
    const small = await startService({ pool: { workers: 1, maxWaiting: 0 } });
    const busy = watched({ ...optionsOf(), service: small });
    const [first, second] = await Promise.all([
      post({ source: "sleep 100", stage: "compute" }, busy),
      post({ source: "sleep 101", stage: "compute" }, busy),
    ]);
    expect(first.statusCode).toBe(200);
    expectProblem(second, 503, "QUEUE_FULL");
    expect(second.headers["retry-after"]).toBe("1");
    await busy.close();
    await small.close();
  });
});

describe("artifacts and cache", () => {
  const compiled = async (source: string) => (await post({ source, stage: "compute" })).json();

  it("serves the code object with ETag, 304, HEAD and ranges", async () => {
    const { key, code, codeSha256 } = await compiled("artifact");
    const elf = Buffer.from(code, "base64");
    const url = `/artifacts/${key}`;
    const whole = await app.inject({ url });
    expect(whole.rawPayload).toEqual(elf);
    expect(whole.headers).toMatchObject({ etag: `"${codeSha256}"`, "accept-ranges": "bytes" });
    expect(whole.headers["cache-control"]).toContain("immutable");
    const head = await app.inject({ method: "HEAD", url });
    expect(head.statusCode).toBe(200);
    expect(head.rawPayload).toHaveLength(0);
    expect(head.headers).toMatchObject({ etag: `"${codeSha256}"`, "content-length": String(elf.length) });
    for (const tag of [`"${codeSha256}"`, `"x", W/"${codeSha256}"`, "*"]) {
      const same = await app.inject({ url, headers: { "if-none-match": tag } });
      expect(same.statusCode).toBe(304);
      expect(same.rawPayload).toHaveLength(0);
    }
    expect((await app.inject({ url, headers: { "if-none-match": '"x"' } })).statusCode).toBe(200);
    const size = elf.length;
    for (const [range, first, last] of [
      ["bytes=0-3", 0, 3],
      ["bytes=10-", 10, size - 1],
      ["bytes=-8", size - 8, size - 1],
      [`bytes=4-${size + 100}`, 4, size - 1],
    ] as const) {
      const part = await app.inject({ url, headers: { range } });
      expect(part.statusCode).toBe(206);
      expect(part.headers["content-range"]).toBe(`bytes ${first}-${last}/${size}`);
      expect(part.rawPayload).toEqual(elf.subarray(first, last + 1));
    }
    const outside = await app.inject({ url, headers: { range: `bytes=${size}-` } });
    expectProblem(outside, 416, "RANGE");
    expect(outside.headers["content-range"]).toBe(`bytes */${size}`);
    expect((await app.inject({ url, headers: { range: "bytes=0-3", "if-range": '"other"' } })).statusCode).toBe(200);
  });

  it("answers 404 for keys that are not cached or are no keys", async () => {
    for (const key of ["0".repeat(64), "xyz", "..%2f..%2fetc%2fpasswd", "A".repeat(64)]) {
      expectProblem(await app.inject({ url: `/artifacts/${key}` }), 404, "KEY_NOT_CACHED");
      expectProblem(await app.inject({ method: "DELETE", url: `/artifacts/${key}` }), 404, "KEY_NOT_CACHED");
    }
  });

  it("purges one record and all", async () => {
    const { key } = await compiled("purge");
    expect((await app.inject({ method: "DELETE", url: `/artifacts/${key}` })).json()).toEqual({ removed: 1 });
    expectProblem(await app.inject({ url: `/artifacts/${key}` }), 404, "KEY_NOT_CACHED");
    expect((await compiled("purge")).cache).toBe("miss");
    expect((await app.inject({ method: "DELETE", url: "/cache" })).json().removed).toBeGreaterThan(0);
    expect((await compiled("purge")).cache).toBe("miss");
  });

  it("counts in /cache/stats", async () => {
    const before = (await app.inject({ url: "/cache/stats" })).json();
    await compiled("stats");
    await compiled("stats");
    const after = (await app.inject({ url: "/cache/stats" })).json();
    expect(after.requests - before.requests).toBe(2);
    expect(after.compiles - before.compiles).toBe(1);
    expect(after.misses.cold - before.misses.cold).toBe(1);
    expect(after.tiers.map(({ name }: { name: string }) => name)).toEqual(["memory", "disk"]);
    expect(after.tiers[0].hits - before.tiers[0].hits).toBe(1);
    expect(after.tiers[1].entries - before.tiers[1].entries).toBe(1);
    expect(Object.keys(after.compileMicroseconds)).toEqual(["p50", "p90", "p99"]);
    expect(Date.parse(after.since)).toBeLessThanOrEqual(Date.now());
    expect(after.recentFailures.length).toBeGreaterThan(0);
  });
});

describe("every route", () => {
  it("answers health, version, metrics and the OpenAPI document", async () => {
    expect((await app.inject({ url: "/health/live" })).json()).toEqual({ status: "live" });
    const fresh = await startService();
    const freshApp = watched({ ...optionsOf(), service: fresh });
    expectProblem(await freshApp.inject({ url: "/health/ready" }), 503, "NOT_READY");
    await fresh.checkHealth();
    expect((await freshApp.inject({ url: "/health/ready" })).json()).toEqual({ status: "ready" });
    await freshApp.close();
    await fresh.close();
    expect((await app.inject({ url: "/version" })).json()).toEqual({
      version: "1.2.3",
      buildId: "build-1",
      targets: ["gfx1030"],
      limits,
    });
    const metrics = await app.inject({ url: "/metrics" });
    expect(metrics.headers["content-type"]).toContain("text/plain");
    expect(metrics.body).toMatch(/^kiln_compiles_total [1-9]/m);
    expect(metrics.body).toMatch(/^kiln_event_loop_delay_seconds\{quantile="0.99"\} /m);
    const compiles = /^kiln_compiles_total (\d+)$/m.exec(metrics.body)?.[1];
    expect(metrics.body).toContain(`kiln_compile_duration_seconds_bucket{le="+Inf"} ${compiles}\n`);
    expect(metrics.body).toMatch(/^kiln_compile_duration_seconds_sum [\d.]+$/m);
    expect(metrics.body).toMatch(/^kiln_http_requests_total\{method="POST",route="\/compile",status="200"\} [1-9]/m);
    const document = (await app.inject({ url: "/openapi.json" })).json();
    expect(document.openapi).toMatch(/^3\./);
    expect(Object.keys(document.paths).sort()).toEqual([
      "/artifacts/{key}",
      "/batch",
      "/batch/{id}",
      "/batch/{id}/events",
      "/cache",
      "/cache/stats",
      "/compile",
      "/health/live",
      "/health/ready",
      "/metrics",
      "/version",
    ]);
    const fields = document.paths["/compile"].post.requestBody.content["application/json"].schema.properties;
    expect(Object.keys(fields)).toEqual(expect.arrayContaining(["source", "spirv", "stage", "options", "emit"]));
  });

  it("answers unknown paths, methods and broken URLs with problems", async () => {
    expectProblem(await app.inject({ url: "/nothing" }), 404, "NOT_FOUND");
    expectProblem(await app.inject({ url: "/" }), 404, "NOT_FOUND");
    expectProblem(await app.inject({ url: "/%zz" }), 400, "BAD_REQUEST");
    for (const [method, url, allow] of [
      ["GET", "/compile", "POST"],
      ["POST", "/cache/stats", "GET, HEAD"],
      ["DELETE", "/health/live", "GET, HEAD"],
      ["PUT", `/artifacts/${"0".repeat(64)}`, "GET, HEAD, DELETE"],
    ] as const) {
      const answer = await app.inject({ method, url });
      expectProblem(answer, 405, "METHOD_NOT_ALLOWED");
      expect(answer.headers.allow).toBe(allow);
    }
  });

  it("echoes a request id, or makes one, and sets the security headers", async () => {
    const given = await app.inject({ url: "/health/live", headers: { "x-request-id": "abc-123" } });
    expect(given.headers["x-request-id"]).toBe("abc-123");
    expect(given.headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });
    for (const id of ["", "a".repeat(200), "a b"]) {
      const made = await app.inject({ url: "/health/live", headers: { "x-request-id": id } });
      expect(made.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    }
  });
});

describe("who may ask", () => {
  it("checks Host and Origin on a loopback listener", async () => {
    for (const host of ["localhost", "localhost:7420", "127.0.0.1:7420", "[::1]:7420", "127.3.2.1"]) {
      expect((await app.inject({ url: "/version", headers: { host } })).statusCode, host).toBe(200);
    }
    for (const host of ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:7420", "10.0.0.1"]) {
      expectProblem(await app.inject({ url: "/version", headers: { host } }), 403, "HOST_REFUSED");
      expectProblem(await app.inject({ url: "/health/live", headers: { host } }), 403, "HOST_REFUSED");
    }
    const from = (origin: string) => app.inject({ url: "/version", headers: { host: "localhost:7420", origin } });
    expect((await from("http://localhost:3000")).statusCode).toBe(200);
    for (const origin of ["http://evil.example", "null", "http://localhost.evil.example"]) {
      expectProblem(await from(origin), 403, "HOST_REFUSED");
    }
  });

  it("asks for a key elsewhere, for everything but health; roles bound what it may", async () => {
    const keys = (["read", "write", "admin"] as const).map((role) => ({ role, sha256: hashKey(`${role}-key`) }));
    const keyed = watched(optionsOf({ loopback: false, keys }));
    const headers = { host: "kiln.example" };
    const as = (role: string) => ({ ...headers, authorization: `Bearer ${role}-key` });
    expect((await keyed.inject({ url: "/health/live", headers })).statusCode).toBe(200);
    for (const url of ["/version", "/cache/stats", "/metrics", "/openapi.json", "/nothing", "/artifacts/x"]) {
      const answer = await keyed.inject({ url, headers });
      expectProblem(answer, 401, "KEY_MISSING");
      expect(answer.headers["www-authenticate"]).toBe("Bearer");
    }
    expectProblem(await post({ source: "a", stage: "compute" }, keyed, headers), 401, "KEY_MISSING");
    expectProblem(await keyed.inject({ url: "/version", headers: as("wrong") }), 401, "KEY_UNKNOWN");
    expect((await keyed.inject({ url: "/version", headers: as("read") })).statusCode).toBe(200);
    expectProblem(await post({ source: "a", stage: "compute" }, keyed, as("read")), 403, "KEY_ROLE");
    expect((await post({ source: "a", stage: "compute" }, keyed, as("write"))).statusCode).toBe(200);
    const purge = (role: string) => keyed.inject({ method: "DELETE", url: "/cache", headers: as(role) });
    expectProblem(await purge("write"), 403, "KEY_ROLE");
    expect((await purge("admin")).statusCode).toBe(200);
    await keyed.close();
  });
});

describe("the OpenAPI document", () => {
  it("has every status and media type that the tests above were answered with", async () => {
    const document = (await app.inject({ url: "/openapi.json" })).json();
    expect(answers.count).toBeGreaterThan(30);
    expect(answers.undocumented(document)).toEqual([]);
  });

  it("leaves no hole open in what it says, and names the problems of each route", async () => {
    const document = (await app.inject({ url: "/openapi.json" })).json();
    expect(document.info.description).not.toMatch(/\{\w+\}/);
    const statuses = (path: string, method: string) => Object.keys(document.paths[path][method].responses).sort();
    expect(statuses("/compile", "post")).toEqual("200 400 401 403 413 415 422 429 500 503 504".split(" "));
    expect(statuses("/batch", "post")).toEqual("202 400 401 403 413 415 429 500 503".split(" "));
    expect(statuses("/artifacts/{key}", "get")).toEqual("200 206 304 400 401 403 404 416 500 503".split(" "));
    expect(statuses("/cache", "delete")).toEqual("200 400 401 403 413 415 500 503".split(" "));
    expect(statuses("/health/live", "get")).toEqual("200 400 403 500 503".split(" "));
    const types = (path: string, method: string, status: number) =>
      Object.keys(document.paths[path][method].responses[status].content);
    expect(types("/batch/{id}", "get", 200)).toEqual(["application/json", "application/x-ndjson"]);
    expect(types("/batch/{id}/events", "get", 200)).toEqual(["text/event-stream"]);
    expect(Object.keys(document.paths["/batch"].post.requestBody.content)).toEqual([
      "application/json",
      "application/x-ndjson",
    ]);
    for (const path of Object.values(document.paths) as Record<string, { responses: object }>[]) {
      for (const { responses } of Object.values(path)) {
        for (const [status, response] of Object.entries(responses)) {
          if (Number(status) < 400) continue;
          expect(Object.keys(response.content)).toEqual(["application/problem+json"]);
        }
      }
    }
  });
});
