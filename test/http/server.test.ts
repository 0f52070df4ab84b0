import { createConnection } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startServer } from "../../src/http/index.ts";
import type { CompileService } from "../../src/service/index.ts";
import { removeTemporaryFolders, startService, temporaryFolder } from "../service/harness.ts";

const limits = { bodyBytes: 8 << 20, timeLimitMs: 1000, memoryLimitMb: 64, maxWaiting: 100, workers: 2 };
let service: CompileService;

beforeAll(async () => {
  service = await startService({ folder: temporaryFolder(), pool: { timeLimitMs: limits.timeLimitMs } });
});
afterAll(async () => {
  await service.close();
  removeTemporaryFolders();
});

describe("a listening server", () => {
  it("answers what is not HTTP with a problem, and drains when it closes", async () => {
    const server = await startServer({ service, limits, access: { loopback: true, keys: undefined } }, "127.0.0.1", 0);
    const port = Number(new URL(server.address).port);
    const answerTo = (request: string) =>
      new Promise<string>((resolve, reject) => {
        let text = "";
        const socket = createConnection(port, "127.0.0.1", () => socket.write(request));
        socket.on("data", (data) => {
          text += String(data);
        });
        socket.on("end", () => resolve(text));
        socket.on("error", reject);
      });
    const head = "host: localhost\r\nconnection: close\r\n";
    for (const request of [
      "\x16\x03\x01nonsense\r\n\r\n",
      // Names of other hosts beside the one that is checked.
      `GET http://elsewhere.example/version HTTP/1.1\r\n${head}\r\n`,
      `GET /version HTTP/1.1\r\n${head}Host: elsewhere.example\r\n\r\n`,
    ]) {
      const answer = await answerTo(request);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toContain("application/problem+json");
    }
    expect(await answerTo(`GET /version HTTP/1.1\r\n${head}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    const slow = fetch(`${server.address}/compile`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ source: "sleep 600", stage: "compute" }),
    });
    while (service.poolStats().running === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    // A request that is on its way when the server is told to stop, and whole only afterwards.
    const late = createConnection(port, "127.0.0.1", () => late.write("GET /version HTTP/1.1\r\nhost: 127.0.0.1\r\n"));
    let text = "";
    late.on("data", (data) => {
      text += String(data);
    });
    const ended = new Promise((resolve) => late.on("close", resolve));
    // What was sent on a second connection before is read before what comes on a third.
    while (late.bytesWritten === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await fetch(`${server.address}/health/live`)).status).toBe(200);
    const closing = server.close(5000);
    // For a moment answers still come, on connections that they end: nobody's next request meets a closed one.
    const early = await answerTo("GET /version HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
    expect(early).toMatch(/^HTTP\/1\.1 200 /);
    expect(early).toMatch(/^connection: close\r$/im);
    await new Promise((resolve) => setTimeout(resolve, 200));
    late.write("\r\n");
    expect((await slow).status).toBe(200);
    await ended;
    expect(text).toMatch(/^HTTP\/1\.1 503 /);
    expect(text).toMatch(/content-type: application\/problem\+json/i);
    expect(text).toContain('"code":"SHUTTING_DOWN"');
    await closing;
    await expect(fetch(`${server.address}/health/live`)).rejects.toThrow();
  });
});
