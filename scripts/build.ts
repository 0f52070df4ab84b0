/**
 * Builds `dist`: both WASM modules in both targets, the bundled CLI and workers, the declarations.
 * `tsx scripts/build.ts [wasm:compiler|wasm:gpu|wasm:math|js|types]…` builds just those.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { build } from "esbuild";

/** One AssemblyScript module: its entry, and asc flags beyond asconfig.json's. */
const wasmModules: Readonly<Record<string, { entry: string; flags: readonly string[] }>> = {
  compiler: { entry: "assembly/compiler/index.ts", flags: [] },
  gpu: {
    entry: "assembly/gpu/index.ts",
    flags: ["--sharedMemory", "--initialMemory", "1024", "--maximumMemory", "49152", "--enable", "threads"],
  },
};

/** Bundles; each becomes `dist/<name>.js`. Workers are entries of their own: a worker starts from a file. */
const entries: Readonly<Record<string, string>> = {
  kiln: "src/kiln.ts",
  index: "src/index.ts",
  "compile-worker": "src/service/compile-worker.ts",
  "gpu-worker": "src/gpu/worker.ts",
};

function run(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: "inherit" });
    child.on("error", reject);
    child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`${command} ${args[0]}: exit ${code}`))));
  });
}

async function buildWasm(name: string): Promise<void> {
  const module = wasmModules[name];
  if (module === undefined) throw new Error(`no module ${name}`);
  await mkdir("dist/wasm", { recursive: true });
  await Promise.all(
    ["release", "checked"].map((target) =>
      run(process.execPath, [
        "node_modules/assemblyscript/bin/asc.js",
        module.entry,
        "--target",
        target,
        "-o",
        `dist/wasm/${name}.${target}.wasm`,
        ...module.flags,
      ]),
    ),
  );
}

async function buildJs(): Promise<void> {
  const entryPoints = Object.fromEntries(Object.entries(entries).filter(([, path]) => existsSync(path)));
  await build({
    entryPoints,
    outdir: "dist",
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    sourcemap: true,
    external: ["lmdb", "piscina"],
    // Bundled CommonJS packages call require() for Node's own modules.
    banner: { js: 'import { createRequire as kilnRequire } from "node:module"; const require = kilnRequire(import.meta.url);' },
    logLevel: "warning",
  });
}

const wanted = process.argv.slice(2);
const all = wanted.length === 0;
for (const name of Object.keys(wasmModules)) {
  if (all || wanted.includes(`wasm:${name}`)) await buildWasm(name);
}
if (all || wanted.includes("js")) await buildJs();
