import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compileCodes } from "../../src/compile/index.ts";
import { coreCodes } from "../../src/core/index.ts";
import { glslCodes } from "../../src/glsl/index.ts";
import { type AppOptions, createApp, type Server, startServer } from "../../src/http/index.ts";
import type { CompileService } from "../../src/service/index.ts";
import { spirvCodes } from "../../src/spirv/index.ts";
import { removeTemporaryFolders, startService, temporaryFolder } from "../service/harness.ts";

const limits = { bodyBytes: 8 << 20, timeLimitMs: 5000, memoryLimitMb: 64, maxWaiting: 100, workers: 2 };
let service: CompileService;
let server: Server;
let app: ReturnType<typeof createApp>;
const options = (): AppOptions => ({ service, limits, access: { loopback: true, keys: undefined } });
beforeAll(async () => {
  service = await startService({ folder: temporaryFolder() });
  server = await startServer(options(), "127.0.0.1", 0);
  app = createApp(options());
});
afterAll(async () => {
  await server.close(1000);
  await app.close();
  await service.close();
  removeTemporaryFolders();
});

const send = (body: string, type = "application/json") =>
  fetch(`${server.address}/batch`, { method: "POST", headers: { "content-type": type }, body });
const shaders = (sources: readonly string[]) => sources.map((source) => ({ source, stage: "compute" }));
async function started(body: object): Promise<string> {
  const answer = await send(JSON.stringify(body));
  expect(answer.status).toBe(202);
  const { id } = (await answer.json()) as { id: string };
  expect(answer.headers.get("location")).toBe(`/batch/${id}`);
  return id;
}
const progress = async (id: string) => (await (await fetch(`${server.address}/batch/${id}`)).json()) as Progress;
interface Progress {
  readonly state: string;
  readonly total: number;
  readonly done: number;
  readonly failed: number;
}
async function finished(id: string): Promise<Progress> {
  for (;;) {
    const now = await progress(id);
    if (now.state !== "running") return now;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
async function results(id: string) {
  const answer = await fetch(`${server.address}/batch/${id}`, { headers: { accept: "application/x-ndjson" } });
  expect(answer.headers.get("content-type")).toContain("application/x-ndjson");
  const lines = (await answer.text()).trim().split("\n");
  return lines.map((line) => JSON.parse(line)).sort((a, b) => a.index - b.index);
}

describe("batches", () => {
  it("compile each shader once; one bad shader fails alone", async () => {
    const sources = ["one", "two", "errors 2", "one", "three"];
    const list = [...shaders(sources), { source: "x", nonsense: 1 }, 7];
    const id = await started({ shaders: list });
    expect(await finished(id)).toEqual({ id, state: "done", total: 7, done: 7, failed: 3 });
    const all = await results(id);
    expect(all.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(all.map(({ status }) => status)).toEqual([undefined, undefined, 422, undefined, undefined, 400, 400]);
    expect(all[2].diagnostics).toHaveLength(2);
    expect(all[0].key).toBe(all[3].key);
    expect(all[0]).toMatchObject({ stats: { instructions: 1 } });
    expect(all[0]).not.toHaveProperty("code");
    expect(service.stats().compiles).toBe(4);
  });

  it("come as lines too, and may ask for more than statistics", async () => {
    const lines = [
      { source: "n1", stage: "compute", emit: ["code"] },
      { source: "n2", stage: "compute" },
    ];
    const answer = await send(
      `${lines.map((line) => JSON.stringify(line)).join("\n")}\n{bad\n`,
      "application/x-ndjson",
    );
    const { id } = (await answer.json()) as { id: string };
    expect(await finished(id)).toMatchObject({ total: 3, done: 3, failed: 1 });
    const all = await results(id);
    expect(Buffer.from(all[0].code, "base64").subarray(1, 4).toString()).toBe("ELF");
    expect(all[2]).toMatchObject({ status: 400, code: "BAD_REQUEST" });
  });

  it("are taken apart where their values end, whatever stands in them", async () => {
    const sources = ['a\\"', "b]},{", 'c\\\\"[', "d\\", "é\u2028", '"'];
    const list = sources.map((source) => ({ source, stage: "compute", defines: { "x]": "}" }, includes: {} }));
    const odd = `{ "shaders" :\n[ ${list.map((shader) => JSON.stringify(shader, undefined, 1)).join("\t,\r\n")} ] } \n`;
    for (const [body, type] of [
      [odd, "application/json"],
      [`\n\n${list.map((shader) => JSON.stringify(shader)).join("\r\n \n")}`, "application/x-ndjson"],
    ] as const) {
      const { id } = (await (await send(body, type)).json()) as { id: string };
      expect(await finished(id)).toMatchObject({ total: sources.length, done: sources.length });
      const keys = (await results(id)).map(({ key }) => key);
      const single = await Promise.all(
        list.map(async (shader) => {
          const answer = await fetch(`${server.address}/compile`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify(shader),
          });
          return ((await answer.json()) as { key: string }).key;
        }),
      );
      expect(keys).toEqual(single);
    }
  });

  it("refuse a shader above the limit of one by itself, and compile the rest", async () => {
    const big = { source: `x${"//".repeat(5 << 20)}`, stage: "compute" };
    const body = JSON.stringify({ shaders: [{ source: "l1", stage: "compute" }, big] });
    const { id } = (await (await send(body)).json()) as { id: string };
    expect(await finished(id)).toMatchObject({ total: 2, done: 2, failed: 1 });
    expect((await results(id))[1]).toMatchObject({ index: 1, status: 413, code: "BODY_TOO_LARGE" });
  });

  it("refuse what is none, is empty or too long, and unknown ids", async () => {
    for (const [body, status] of [
      ['{"shaders":[1,]}', 400],
      ['{"shaders":[1}', 400],
      ['{"shaders":[{]}', 400],
      ['{"shaders":["x]}', 400],
      ['{"shaders":[1]} x', 400],
      ['{"shaders":[1],"more":1}', 400],
      ['{"shaders":[{"__proto__":{}}]}', 400],
      [`${" ".repeat(2 << 20)}{"other":[]}`, 400],
      // A parser takes a second for the whole of it.
      ["[".repeat(4 << 20), 400],
      [`{"shaders":${"[".repeat(1 << 17)}${"]".repeat(1 << 17)}}`, 400],
      ["{}", 400],
      ['{"shaders":[]}', 400],
      ['{"shaders":"x"}', 400],
      [JSON.stringify({ shaders: Array(10_001).fill(0) }), 413],
    ] as const) {
      const answer = await send(body);
      expect(answer.status).toBe(status);
      expect(answer.headers.get("content-type")).toBe("application/problem+json");
    }
    expect((await fetch(`${server.address}/batch`, { method: "POST" })).status).toBe(400);
    for (const path of ["/batch/x", "/batch/x/events"]) expect((await fetch(server.address + path)).status).toBe(404);
  });

  it("tell their progress as events, and go on after the last one that was seen", async () => {
    const id = await started({ shaders: shaders(["e1", "sleep 60", "e3", "errors 1"]) });
    const url = `${server.address}/batch/${id}/events`;
    const live = await fetch(url);
    expect(live.headers.get("content-type")).toBe("text/event-stream");
    const text = await live.text();
    const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, n]) => Number(n));
    expect(ids).toEqual([1, 2, 3, 4]);
    const seen = [...text.matchAll(/^event: shader\ndata: (.+)$/gm)].map(
      ([, data]) => JSON.parse(data as string).index,
    );
    expect(seen.sort()).toEqual([0, 1, 2, 3]);
    expect(text).toMatch(/event: done\ndata: {"total":4,"done":4,"failed":1}\n\n$/);
    const rest = await (await fetch(url, { headers: { "last-event-id": "3" } })).text();
    expect([...rest.matchAll(/^id: (\d+)$/gm)].map(([, n]) => Number(n))).toEqual([4]);
    expect(rest).toContain("event: done");
    expect((await fetch(url, { headers: { "last-event-id": "x" } })).status).toBe(400);
  });

  it("end their streams when the server stops", async () => {
    const own = await startServer(options(), "127.0.0.1", 0);
    const list = shaders(Array.from({ length: 50 }, (_, i) => `sleep 40\n${i}`));
    const answer = await fetch(`${own.address}/batch`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ shaders: list }),
    });
    const { id } = (await answer.json()) as { id: string };
    const stream = await fetch(`${own.address}/batch/${id}/events`);
    const started = performance.now();
    const text = stream.text();
    await own.close(5000);
    expect(performance.now() - started).toBeLessThan(4000);
    expect(await text).not.toContain("event: done");
  });
});

describe("forms of an answer", () => {
  const compile = (headers: Record<string, string>, source = "form") =>
    app.inject({
      method: "POST",
      url: "/compile",
      headers: { "content-type": "application/json", ...headers },
      payload: JSON.stringify({ source, stage: "compute", emit: ["code", "stats", "reflection", "sourceMap"] }),
    });

  it("is the ELF itself for those who prefer it", async () => {
    const asJson = (await compile({})).json();
    const elf = await compile({ accept: "application/x-elf" });
    expect(elf.headers).toMatchObject({ "content-type": "application/x-elf", "x-kiln-key": asJson.key });
    expect(elf.rawPayload.toString("base64")).toBe(asJson.code);
    for (const accept of ["*/*", "application/json, application/x-elf;q=0.5", "application/x-elf;q=0, */*"]) {
      expect((await compile({ accept })).headers["content-type"], accept).toContain("application/json");
    }
    const refused = await compile({ accept: "application/x-elf" }, "errors 1");
    expect(refused.statusCode).toBe(422);
    expect(refused.headers["content-type"]).toBe("application/problem+json");
  });

  it("is compressed where it is large and the caller can read that", async () => {
    const { brotliDecompressSync, gunzipSync } = await import("node:zlib");
    const plain = await app.inject({ url: "/openapi.json" });
    expect(plain.headers).not.toHaveProperty("content-encoding");
    for (const [accept, encoding, open] of [
      ["gzip", "gzip", gunzipSync],
      ["gzip;q=0.5, br", "br", brotliDecompressSync],
      ["gzip, br;q=0", "gzip", gunzipSync],
    ] as const) {
      const packed = await app.inject({ url: "/openapi.json", headers: { "accept-encoding": accept } });
      expect(packed.headers).toMatchObject({ "content-encoding": encoding, vary: "accept-encoding" });
      expect(open(packed.rawPayload).toString()).toBe(plain.body);
      expect(packed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2);
    }
    for (const accept of ["identity", "", "nonsense", "gzip;q=0"]) {
      const same = await app.inject({ url: "/openapi.json", headers: { "accept-encoding": accept } });
      expect(same.body).toBe(plain.body);
    }
    const small = await app.inject({ url: "/version", headers: { "accept-encoding": "gzip" } });
    expect(small.headers).not.toHaveProperty("content-encoding");
  });

  it("is a page with the API and every code at /docs", async () => {
    const page = await app.inject({ url: "/docs" });
    const index = page.statusCode === 302 ? await app.inject({ url: String(page.headers.location) }) : page;
    expect(index.statusCode).toBe(200);
    expect(index.headers["content-type"]).toContain("text/html");
    expect(index.headers["content-security-policy"]).toContain("script-src 'self'");
    expect((await app.inject({ url: "/docs/static/swagger-ui.css" })).headers["content-type"]).toContain("text/css");
    expect((await app.inject({ url: "/docs/json" })).json().paths).toHaveProperty("/compile");
    for (const url of ["/docs/..%2f..%2fpackage.json", "/docs/nothing"]) {
      const nothing = await app.inject({ url });
      expect(nothing.statusCode).toBe(404);
      expect(nothing.headers["content-type"]).toBe("application/problem+json");
      expect(nothing.json()).toMatchObject({ code: "NOT_FOUND" });
    }
    const { description } = (await app.inject({ url: "/openapi.json" })).json().info;
    expect(description).toContain("| QUEUE_FULL | 503 |");
    for (const codes of [glslCodes, spirvCodes, compileCodes, coreCodes]) {
      for (const code of Object.keys(codes)) expect(description).toContain(`\n| ${code} | `);
    }
  });
});

describe("a rate limit", () => {
  it("weighs by size, counts each caller for itself, and says how long to wait", async () => {
    const limited = createApp({ ...options(), rateLimit: 10 });
    const ask = (bytes: number, caller: string) =>
      limited.inject({
        method: "POST",
        url: "/compile",
        headers: { "content-type": "application/json", authorization: `Bearer ${caller}` },
        payload: JSON.stringify({ source: " ".repeat(bytes), stage: "compute" }),
      });
    // Two each: one for the request, one for up to 16 KiB.
    for (let i = 0; i < 5; i++) expect((await ask(10, "a")).statusCode).toBe(200);
    const refused = await ask(10, "a");
    expect(refused.statusCode).toBe(429);
    expect(refused.json()).toMatchObject({ code: "RATE_LIMIT", status: 429 });
    // Two of ten a minute come back in 12 s.
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(10);
    expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(12);
    expect((await ask(100_000, "b")).statusCode).toBe(200);
    expect((await ask(40_000, "b")).statusCode).toBe(429);
    expect((await limited.inject({ url: "/version", headers: { authorization: "Bearer a" } })).statusCode).toBe(200);
    await limited.close();
  });
});
