import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { ShaderCache } from "../../src/cache/index.ts";

/** The largest record of `crash-writer.ts`, in blocks, with a folder that grows for it. */
export const largestEntryBytes = 24 << 10;

/** Bundles `crash-writer.ts`; answers its path. */
export async function buildWriter(folder: string): Promise<string> {
  const outfile = join(folder, "writer.mjs");
  await build({
    entryPoints: [new URL("./crash-writer.ts", import.meta.url).pathname],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
  });
  return outfile;
}

export interface Writer {
  readonly child: ChildProcess;
  /** When each line came, by its word. */
  readonly lines: { readonly word: string; readonly atMs: number }[];
  /** Resolves when so many lines have come; rejects where the writer ends. */
  reached(lines: number): Promise<void>;
  kill(): Promise<void>;
}

export function startWriter(file: string, args: readonly string[]): Writer {
  const child = spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const lines: { word: string; atMs: number }[] = [];
  let onLine = () => {};
  let rest = "";
  child.stdout?.on("data", (data) => {
    const parts = (rest + String(data)).split("\n");
    rest = parts.pop() ?? "";
    const atMs = performance.now();
    for (const word of parts) lines.push({ word, atMs });
    onLine();
  });
  const ended = once(child, "exit");
  return {
    child,
    lines,
    reached: (count) =>
      new Promise((resolve, reject) => {
        onLine = () => {
          if (lines.length >= count) resolve();
        };
        onLine();
        ended.then(([code]) => reject(new Error(`the writer ended with ${code}: ${lines.at(-1)?.word}`)), reject);
      }),
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** What the file system says that a folder takes. */
export const diskUse = (folder: string): number =>
  Number(execFileSync("du", ["-s", "--block-size=1", folder], { encoding: "utf8" }).split("\t")[0]);

export function recordFiles(folder: string): string[] {
  const root = join(folder, "v1");
  return readdirSync(root)
    .filter((name) => /^[0-9a-f]{2}$/.test(name))
    .flatMap((shard) => readdirSync(join(root, shard)).map((name) => join(root, shard, name)));
}

export interface Recount {
  readonly entries: number;
  readonly files: number;
  readonly bytes: number;
  readonly du: number;
  readonly corrupt: number;
}

/** What the cache says that it has, and what there is; each record read back. Nobody else may use the folder. */
export async function recount(folder: string, capacityBytes: number): Promise<Recount> {
  const cache = new ShaderCache({ memoryBytes: 0, disk: { folder, capacityBytes } });
  try {
    await cache.disk?.ready;
    const verified = await cache.disk?.verify();
    await cache.counters.flush();
    const [files, du, stats] = [recordFiles(folder).length, diskUse(folder), cache.tierStats()[1]];
    return {
      entries: stats?.entries ?? -1,
      files,
      bytes: stats?.bytes ?? -1,
      du,
      corrupt: verified?.corrupt.length ?? -1,
    };
  } finally {
    await cache.close();
  }
}

/** Entries to the last; bytes but for a lease, a lock, and a record whose blocks the file system rounds another way. */
export function recountAgrees({ entries, files, bytes, du, corrupt }: Recount): boolean {
  return entries === files && corrupt === 0 && Math.abs(du - bytes) <= largestEntryBytes;
}
