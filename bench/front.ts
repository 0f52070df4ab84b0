/**
 * Front end speed, warm, one thread: GLSL text to SPIR-V words, megabytes of source a second of CPU time, summed over
 * all `.comp`, `.vert` and `.frag` files of a folder that compile; whole and by phase. `whole` is the CPU time of the
 * fastest round over all files, with the garbage collector's threads; `each` sums the fastest wall time of every file,
 * which is how the peer is measured, and has of the collector only what every run of a file has. `--peer COMMAND` times the same
 * files in the same run with a program that takes a list of `id stage file spirv` lines (tab between) and prints a JSON
 * line for each with `id` and `glslang_min_us`. `--hash` prints a hash of each file's words instead.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { cpuMs } from "./compile.ts";
import type { Shader, Stage } from "./front-phases.ts";

const stages: Readonly<Record<string, Stage>> = { ".comp": "compute", ".vert": "vertex", ".frag": "fragment" };

/** The front end as one file without names kept for tools, as the shipped bundle has it. */
async function frontEnd(folder: string): Promise<typeof import("./front-phases.ts")> {
  const outfile = join(folder, "front.mjs");
  const entry = resolve(import.meta.dirname, "front-phases.ts");
  await build({ entryPoints: [entry], outfile, bundle: true, platform: "node", format: "esm", target: "node20" });
  return (await import(pathToFileURL(outfile).href)) as typeof import("./front-phases.ts");
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
    },
  });
  const folder = mkdtempSync(join(tmpdir(), "kiln-front-"));
  try {
    const { compileGlsl, runPhases } = await frontEnd(folder);
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
    let best = Number.POSITIVE_INFINITY;
    const phases = new Float64Array(4).fill(Number.POSITIVE_INFINITY);
    const wall = (): number => performance.now();
    const fastest = new Float64Array(shaders.length).fill(Number.POSITIVE_INFINITY);
    for (let round = 0; round < Number(values.rounds); round++) {
      const start = cpuMs();
      for (const shader of shaders) compile(shader);
      best = Math.min(best, cpuMs() - start);
      for (const [at, shader] of shaders.entries()) {
        const begun = wall();
        compile(shader);
        fastest[at] = Math.min(fastest[at]!, wall() - begun);
      }
      const sums = new Float64Array(4);
      runPhases(shaders, wall, sums);
      // clock switches between processes hit a phase at random: its fastest round is the one without
      for (const [at, sum] of sums.entries()) phases[at] = Math.min(phases[at]!, sum);
    }
    const rate = (ms: number): string => `${(bytes / 1000 / ms).toFixed(2).padStart(7)} MB/s`;
    console.log(`front end: ${shaders.length} of ${all.length} files compile, ${bytes} bytes`);
    console.log(`whole       ${rate(best)}  ${((best * 1000) / shaders.length).toFixed(1)} us a file (CPU)`);
    const eachMs = fastest.reduce((sum, ms) => sum + ms);
    console.log(`each        ${rate(eachMs)}  ${((eachMs * 1000) / shaders.length).toFixed(1)} us a file`);
    for (const [at, name] of ["preprocess", "parse", "check", "emit"].entries()) {
      console.log(
        `${name.padEnd(11)} ${rate(phases[at]!)}  ${((phases[at]! * 1000) / shaders.length).toFixed(1)} us a file`,
      );
    }
    if (peer === undefined) return console.log("peer        not asked for (--peer COMMAND)");
    const peerMs = shaders.reduce((sum, { name }) => sum + peer.get(name)!, 0) / 1000;
    const ratios = `${(peerMs / best).toFixed(2)} times as fast by the whole, ${(peerMs / eachMs).toFixed(2)} by each`;
    console.log(`peer        ${rate(peerMs)}  ours is ${ratios}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
