/**
 * Front end speed, warm, one thread: GLSL text to SPIR-V words, megabytes of source a second of CPU time, summed over
 * all `.comp`, `.vert` and `.frag` files of a folder that compile; whole and by phase. It runs in a worker thread with
 * the limits of the service's compile workers (their young generation is larger than Node's), and once more with Node's
 * own, which is the row `default`. `whole` is the CPU time of the process in the fastest round (four times over all
 * files), with the garbage collector's threads; `each` sums the fastest wall time of every file, which is how the peer
 * is measured, and has of the collector only what every run of a file has. `--peer COMMAND` times the same files in the
 * same run, in a process of its own, with a program that takes a list of `id stage file spirv` lines (tab between) and
 * prints a JSON line for each with `id` and `glslang_min_us`. `--hash` prints a hash of each file's words instead.
 * `--young MB` tries another young generation than the service's.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { type ResourceLimits, Worker } from "node:worker_threads";
import { build } from "esbuild";
import { compileWorkerLimits } from "../src/service/index.ts";
import type { Shader, Stage } from "./front-phases.ts";
import type { FrontTask, FrontTimes } from "./front-worker.ts";

const stages: Readonly<Record<string, Stage>> = { ".comp": "compute", ".vert": "vertex", ".frag": "fragment" };

/** A file of the bench with the front end in it, without names kept for tools, as the shipped bundle has it. */
async function bundle(entry: string, folder: string): Promise<string> {
  const outfile = join(folder, entry.replace(/ts$/, "mjs"));
  const entryPoints = [resolve(import.meta.dirname, entry)];
  await build({ entryPoints, outfile, bundle: true, platform: "node", format: "esm", target: "node20" });
  return outfile;
}

/** What a worker of these limits measures. */
function times(file: string, task: FrontTask, resourceLimits: ResourceLimits): Promise<FrontTimes> {
  return new Promise((done, failed) => {
    const worker = new Worker(file, { workerData: task, resourceLimits });
    worker.once("message", done);
    worker.once("error", failed);
    worker.once("exit", (code) => failed(new Error(`the worker ended with ${code} before it had measured`)));
  });
}

/** Microseconds of the peer's fastest run of each file. */
function peerTimes(command: string, root: string, shaders: readonly Shader[], folder: string): Map<string, number> {
  const list = join(folder, "list.tsv");
  // the peer also validates: an empty module costs it nothing
  const empty = join(folder, "empty.spv");
  writeFileSync(empty, Uint32Array.of(0x07230203, 0x10500, 0, 1, 0));
  const lines = shaders.map(({ name }) => [name, extname(name).slice(1), resolve(root, name), empty].join("\t"));
  writeFileSync(list, `${lines.join("\n")}\n`);
  const { status, stdout } = spawnSync(command, [list, "-n", "15"], { encoding: "utf8", maxBuffer: 1 << 28 });
  if (status !== 0) throw new Error(`${command}: exit ${status}`);
  const times = new Map<string, number>();
  for (const line of stdout.trim().split("\n")) {
    const row = JSON.parse(line) as { id: string; glslang_mode: number; glslang_min_us: number };
    if (row.glslang_mode >= 0) times.set(row.id, row.glslang_min_us);
  }
  return times;
}

export async function benchFront(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      files: { type: "string", default: "examples/kernels" },
      peer: { type: "string" },
      rounds: { type: "string", default: "60" },
      hash: { type: "boolean", default: false },
      young: { type: "string" },
    },
  });
  const folder = mkdtempSync(join(tmpdir(), "kiln-front-"));
  try {
    const phasesFile = pathToFileURL(await bundle("front-phases.ts", folder)).href;
    const { compileGlsl } = (await import(phasesFile)) as typeof import("./front-phases.ts");
    const compile = ({ name, stage, source }: Shader) =>
      compileGlsl({ source, filename: name, stage, targetEnv: "vulkan1.2" });
    const names = readdirSync(values.files).filter((name) => stages[extname(name)] !== undefined);
    const all = names.sort().map((name): Shader => {
      return { name, stage: stages[extname(name)]!, source: readFileSync(join(values.files, name), "utf8") };
    });
    if (values.hash) {
      for (const shader of all) {
        const result = compile(shader);
        const what = result.ok ? result.words : JSON.stringify(result.diagnostics);
        console.log(shader.name, result.ok, createHash("sha256").update(what).digest("hex").slice(0, 16));
      }
      return;
    }
    let shaders = all.filter((shader) => compile(shader).ok);
    const peer = values.peer === undefined ? undefined : peerTimes(values.peer, values.files, shaders, folder);
    if (peer !== undefined) shaders = shaders.filter(({ name }) => peer.has(name));
    const bytes = shaders.reduce((sum, { source }) => sum + Buffer.byteLength(source), 0);
    const file = await bundle("front-worker.ts", folder);
    const rounds = Number(values.rounds);
    const limits = compileWorkerLimits(512);
    if (values.young !== undefined) limits.maxYoungGenerationSizeMb = Number(values.young);
    const { whole: best, each: fastest, phases } = await times(file, { shaders, rounds }, limits);
    const plain = await times(file, { shaders, rounds: rounds >> 1 }, {});
    const rate = (ms: number): string => `${(bytes / 1000 / ms).toFixed(2).padStart(7)} MB/s`;
    console.log(`front end: ${shaders.length} of ${all.length} files compile, ${bytes} bytes`);
    const whose = values.young === undefined ? "as the service's compile workers have it" : "by --young";
    console.log(`young generation: ${limits.maxYoungGenerationSizeMb} MB, ${whose}`);
    const perFile = (ms: number): string => `${((ms * 1000) / shaders.length).toFixed(1)} us a file`;
    console.log(`whole       ${rate(best)}  ${perFile(best)} (CPU)`);
    console.log(`default     ${rate(plain.whole)}  ${perFile(plain.whole)} (CPU, Node's own young generation)`);
    const eachMs = fastest.reduce((sum, ms) => sum + ms);
    console.log(`each        ${rate(eachMs)}  ${perFile(eachMs)}`);
    for (const [at, name] of ["preprocess", "parse", "check", "emit"].entries()) {
      console.log(`${name.padEnd(11)} ${rate(phases[at]!)}  ${perFile(phases[at]!)}`);
    }
    if (peer === undefined) return console.log("peer        not asked for (--peer COMMAND)");
    const peerMs = shaders.reduce((sum, { name }) => sum + peer.get(name)!, 0) / 1000;
    const ratios = `${(peerMs / best).toFixed(2)} times as fast by the whole, ${(peerMs / eachMs).toFixed(2)} by each`;
    console.log(`peer        ${rate(peerMs)}  ours is ${ratios}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
