import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { defaultRequest } from "../../src/codeobj/index.ts";
import { type ServerProcess, startProcess, stopProcess } from "../service/crash-rounds.ts";

let folder: string;
let server: ServerProcess;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "kiln-serve-"));
  server = await startProcess(["--cache-dir", folder]);
});
afterAll(async () => {
  await stopProcess(server, "SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

const source = readFileSync("examples/kernels/saxpy.comp", "utf8");
const request = (text = source) =>
  ({ ...defaultRequest, language: "glsl", stage: "compute", filename: "saxpy.comp", source: text }) as const;

async function post(body: BodyInit, type = "application/json", query = ""): Promise<{ status: number; body: Answer }> {
  const response = await fetch(`${server.address}/compile${query}`, {
    method: "POST",
    headers: { "content-type": type },
    body,
  });
  return { status: response.status, body: (await response.json()) as Answer };
}
interface Answer {
  readonly cache: string;
  readonly diagnostics: readonly { line: number; code: string; severity: string }[];
  readonly code: string;
  readonly spirv: string;
}
const compile = (text: string, fields: object = {}) =>
  post(JSON.stringify({ source: text, stage: "compute", ...fields }));

describe("kiln serve", () => {
  it("misses, hits memory, and after a restart hits disk; two at once: one miss, one joined", async () => {
    const fresh = source.replace("p.a *", "2.0 * p.a *");
    const together = await Promise.all([compile(fresh), compile(fresh)]);
    expect(together.map(({ body }) => body.cache).sort()).toEqual(["joined", "miss"]);
    expect((await compile(source)).body.cache).toBe("miss");
    expect((await compile(source)).body.cache).toBe("memory");
    await stopProcess(server, "SIGTERM");
    expect(server.child.exitCode).toBe(0);
    server = await startProcess(["--cache-dir", folder]);
    expect((await compile(source)).body.cache).toBe("disk");
  });

  it("gives the client the record of a local compile", async () => {
    const client = createClient({ baseUrl: server.address });
    const remote = await client.compile(request());
    if (!remote.ok) throw new Error("refused");
    const local = spawnSync(process.execPath, ["dist/kiln.js", "compile", "examples/kernels/saxpy.comp", "-o", "-"]);
    expect(Buffer.from(remote.record.elf).equals(local.stdout)).toBe(true);
    expect(remote.record.sourceMap.some(({ file }) => file === "saxpy.comp")).toBe(true);
    const refused = await client.compile(request("#version 450\nvoid main() { x = 1; }"));
    expect(refused.ok ? [] : refused.diagnostics.map(({ file, line }) => [file, line])).toContainEqual([
      "saxpy.comp",
      2,
    ]);
    expect(await client.version()).toMatchObject(JSON.parse(readFileSync("dist/build-id.json", "utf8")));
    await expect(createClient({ baseUrl: "http://127.0.0.1:1" }).version()).rejects.toMatchObject({
      code: "UNREACHABLE",
    });
  });

  it("compiles for `--server` as a local command does", () => {
    const run = (...args: string[]) => {
      const done = spawnSync(process.execPath, ["dist/kiln.js", ...args], { encoding: "utf8" });
      return { status: done.status, stdout: done.stdout, stderr: done.stderr };
    };
    const file = "examples/kernels/saxpy.comp";
    for (const emit of ["asm", "spirv-asm", "ir"]) {
      const remote = run("compile", file, "--emit", emit, "--server", server.address);
      expect(remote).toEqual(run("compile", file, "--emit", emit));
      expect(remote.status).toBe(0);
    }
    expect(run("cache", "stats", "--json", "--server", server.address).stdout).toContain('"compiles":');
    const bad = join(folder, "bad.comp");
    writeFileSync(bad, "#version 450\nvoid main() { x = 1; }\n");
    const refused = run("compile", bad, "--server", server.address);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(new RegExp(`^${bad}:2:`, "m"));
    expect(run("compile", file, "--server", "http://127.0.0.1:1")).toMatchObject({ status: 3, stdout: "" });
    const words = join(folder, "words.bin");
    writeFileSync(words, new Uint8Array(new Float32Array([1, 2, 3, 4]).buffer));
    const binds = ["--bind", `0=${words}`, "--bind", `1=${words}`, "--push", "u32 4 f32 2.0", "--out", "1=-"];
    const executed = spawnSync(process.execPath, ["dist/kiln.js", "exec", file, ...binds, "--server", server.address]);
    expect([...new Float32Array(new Uint8Array(executed.stdout).buffer)]).toEqual([3, 6, 9, 12]);
    expect(run("exec", file, ...binds, "--server", "http://127.0.0.1:1")).toMatchObject({ status: 3, stdout: "" });
  });

  it("answers /metrics in Prometheus' text format, counting compiles", async () => {
    const text = async () => {
      const response = await fetch(`${server.address}/metrics`);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toMatch(/^text\/plain/);
      return response.text();
    };
    const requests = (metrics: string) => Number(/^kiln_compile_requests_total (\d+)$/m.exec(metrics)?.[1]);
    const before = requests(await text());
    expect((await compile(source)).status).toBe(200);
    expect(requests(await text())).toBe(before + 1);
  });

  it("answers bad input clearly and stays up", async () => {
    expect((await compile("")).status).toBe(422);
    expect((await post("")).status).toBe(400);
    expect((await post(Buffer.alloc(10 << 20, 97), "text/x-glsl", "?stage=compute")).status).toBe(413);
    const noise = Buffer.from(Array.from({ length: 4096 }, (_, i) => (Math.imul(i, 2654435761) >>> 13) & 255));
    expect((await post(noise, "text/x-glsl", "?stage=compute")).status).toBe(400);
    expect((await post(noise, "application/x-spirv")).status).toBe(422);
    expect((await compile(noise.toString("latin1"))).status).toBe(422);
    expect((await post(new Uint8Array(), "application/x-spirv")).status).toBe(422);
    const lines = Array.from({ length: 20 }, (_, i) => `  int v${i} = undeclared_${i};`);
    const twenty = await compile(`#version 450\nlayout(local_size_x=1) in;\nvoid main() {\n${lines.join("\n")}\n}\n`);
    expect(twenty.status).toBe(422);
    const errors = twenty.body.diagnostics.filter(({ severity }) => severity === "error");
    expect(errors.map(({ line }) => line)).toEqual(lines.map((_, i) => i + 4));
    expect((await compile(source)).status).toBe(200);
  });

  it("answers SPIR-V cut at every word with 422", { timeout: 60_000 }, async () => {
    const { body } = await compile(source, { emit: ["spirv"] });
    const words = Buffer.from(body.spirv, "base64");
    expect((await post(words, "application/x-spirv")).status).toBe(200);
    const cuts = Array.from({ length: words.length / 4 }, (_, i) => i * 4);
    const accepted: number[] = [];
    const cut = async () => {
      for (let at = cuts.pop(); at !== undefined; at = cuts.pop()) {
        const answer = await post(words.subarray(0, at), "application/x-spirv");
        if (answer.status !== 422 || answer.body.diagnostics.length === 0) accepted.push(at);
      }
    };
    await Promise.all([cut(), cut(), cut(), cut()]);
    expect(accepted).toEqual([]);
    expect((await compile(source)).status).toBe(200);
  });

  it("lets `kiln cache` read, verify and clear the folder beside it", async () => {
    const cache = (action: string) => {
      const args = ["dist/kiln.js", "cache", action, "--json", "--cache-dir", folder];
      const done = spawnSync(process.execPath, args, { encoding: "utf8" });
      return { status: done.status, answer: JSON.parse(done.stdout) };
    };
    const { entries } = cache("stats").answer;
    expect(entries).toBeGreaterThan(2);
    expect(cache("verify")).toEqual({ status: 0, answer: { entries, corrupt: [] } });
    const { key } = (await compile(source)).body as unknown as { key: string };
    const path = join(folder, "v1", key.slice(0, 2), key);
    const bytes = readFileSync(path);
    bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) ^ 1;
    writeFileSync(path, bytes);
    expect(cache("verify")).toEqual({ status: 1, answer: { entries, corrupt: [key] } });
    expect(cache("clear")).toEqual({ status: 0, answer: { removed: entries - 1 } });
    // Out of the server's memory, too.
    await expect.poll(async () => (await compile(source)).body.cache, { timeout: 5000 }).toBe("miss");
  });

  it("asks for a key off loopback: the given one, or one it makes and prints", async () => {
    const given = await startProcess(["--cache-dir", folder, "--host", "0.0.0.0"], { KILN_API_KEY: "check" });
    const address = given.address.replace("0.0.0.0", "127.0.0.1");
    const status = async (key?: string) =>
      (await fetch(`${address}/version`, { headers: key === undefined ? {} : { authorization: `Bearer ${key}` } }))
        .status;
    expect([await status(), await status("wrong"), await status("check")]).toEqual([401, 401, 200]);
    expect((await fetch(`${address}/health/live`)).status).toBe(200);
    await stopProcess(given, "SIGTERM");
    const open = await startProcess(["--cache-dir", folder, "--host", "0.0.0.0", "--insecure"]);
    expect((await fetch(`${open.address.replace("0.0.0.0", "127.0.0.1")}/version`)).status).toBe(200);
    await stopProcess(open, "SIGTERM");
  });

  it("prints what KILN_DEBUG names, and serves without a disk where the folder cannot be made", async () => {
    const debugged = await startProcess(["--cache-dir", "/proc/nope"], { KILN_DEBUG: "shaders,time" });
    let printed = "";
    debugged.child.stderr?.on("data", (data) => {
      printed += String(data);
    });
    const body = JSON.stringify({ source, stage: "compute" });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${debugged.address}/compile`, { method: "POST", headers, body });
    expect(answer.status).toBe(200);
    const { key } = (await answer.json()) as { key: string };
    await stopProcess(debugged, "SIGTERM");
    expect(printed).toMatch(new RegExp(`^compiled ${key} compute main: \\d+ us$`, "m"));
    expect(printed).toContain("s_endpgm");
  });

  it("says that a port is taken, with status 3", () => {
    const port = new URL(server.address).port;
    const done = spawnSync(process.execPath, ["dist/kiln.js", "serve", "--port", port, "--cache-dir", folder], {
      encoding: "utf8",
      timeout: 20_000,
    });
    expect(done.status).toBe(3);
    expect(done.stderr).toContain(`port ${port} is taken`);
  });
});
