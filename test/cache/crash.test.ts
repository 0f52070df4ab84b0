import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ShaderCache } from "../../src/cache/index.ts";

let folder: string;
let writer: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "kiln-crash-"));
  writer = join(folder, "writer.mjs");
  await build({
    entryPoints: [new URL("./crash-writer.ts", import.meta.url).pathname],
    outfile: writer,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs two writers on one folder and kills each after some answers and a moment. Answers what they printed. */
async function round(cacheFolder: string, seed: number): Promise<string> {
  const args = [writer, cacheFolder, String(4 << 20), String(seed), "600"];
  const children = [0, 1].map((n): ChildProcess => {
    const own = [...args.slice(0, 3), String(seed * 2 + n), ...args.slice(4)];
    return spawn(process.execPath, own, { stdio: ["ignore", "pipe", "inherit"] });
  });
  let printed = "";
  const killed = children.map(async (child, n) => {
    const ended = once(child, "exit");
    let lines = 0;
    const enough = new Promise<void>((resolve) => {
      child.stdout?.on("data", (data) => {
        printed += String(data);
        lines += String(data).split("\n").length - 1;
        if (lines > 5 + ((seed * 7 + n * 13) % 40)) resolve();
      });
    });
    await Promise.race([enough, ended]);
    await new Promise((resolve) => setTimeout(resolve, (seed * 3 + n) % 7));
    child.kill("SIGKILL");
    expect((await ended)[1]).toBe("SIGKILL");
  });
  await Promise.all(killed);
  return printed;
}

it("20 × kill -9 in the middle of writes, two processes on a folder: never a wrong byte", {
  timeout: 120_000,
}, async () => {
  const cacheFolder = join(folder, "cache");
  let printed = "";
  for (let seed = 0; seed < 10; seed++) printed += await round(cacheFolder, seed);
  expect(printed).not.toContain("wrong");
  // The rounds were not idle: puts to be killed in, and hits on what earlier rounds had left.
  expect(printed.match(/^ok$/gm)?.length).toBeGreaterThan(100);
  expect(printed.match(/^hit$/gm)?.length).toBeGreaterThan(20);
  const cache = new ShaderCache({ memoryBytes: 0, disk: { folder: cacheFolder, capacityBytes: 4 << 20 } });
  const { disk } = cache;
  await disk?.ready;
  const files = readdirSync(join(cacheFolder, "v1"))
    .filter((name) => /^[0-9a-f]{2}$/.test(name))
    .flatMap((shard) => readdirSync(join(cacheFolder, "v1", shard)));
  expect(await disk?.verify()).toEqual({ entries: files.length, corrupt: [] });
  expect(cache.tierStats()[1]).toMatchObject({ entries: files.length, corrupt: 0, errors: 0 });
  await cache.close();
});
