/**
 * Builds `dist`: both WASM modules in their targets, the bundled CLI and workers, the declarations, the build id.
 * `tsx scripts/build.ts [wasm:compiler|wasm:gpu|js|types]…` builds just those; `--if-stale` builds all of it unless
 * `dist` was built from the same sources.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, type Metafile } from "esbuild";
import { directImports } from "./direct-imports.ts";
import { inlineEnums } from "./inline-enums.ts";
import { staticImports } from "./static-imports.ts";

interface WasmModule {
  readonly entry: string;
  /** asc flags beyond asconfig.json's. */
  readonly flags: readonly string[];
  readonly targets: readonly ("release" | "checked" | "fused")[];
}

/** The AssemblyScript modules. Target `fused` is the release build with relaxed SIMD. */
const wasmModules: Readonly<Record<string, WasmModule>> = {
  compiler: {
    entry: "assembly/compiler/index.ts",
    flags: [
      ...["--sharedMemory", "--initialMemory", "9216", "--maximumMemory", "9216", "--enable", "threads"],
      ...["--transform", "./scripts/inline-limits.mjs"],
    ],
    targets: ["release", "checked"],
  },
  gpu: {
    entry: "assembly/gpu/index.ts",
    flags: ["--sharedMemory", "--initialMemory", "1024", "--maximumMemory", "49152", "--enable", "threads"],
    targets: ["release", "checked", "fused"],
  },
};

/** Bundles; each becomes `dist/<name>.js`. Workers are entries of their own: a worker starts from a file. */
const entries: Readonly<Record<string, string>> = {
  kiln: "src/kiln.ts",
  "kiln-all": "src/kiln-all.ts",
  index: "src/index.ts",
  "compile-worker": "src/service/compile-worker.ts",
  "compile-process": "src/service/compile-process.ts",
  "gpu-worker": "src/gpu/worker.ts",
  "bench-worker": "src/cli/bench-compile-worker.ts",
};

const stampFile = "dist/stamp";

function run(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: "inherit" });
    child.on("error", reject);
    child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`${args[0]}: exit ${code}`))));
  });
}

async function filesBelow(folder: string): Promise<string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** A hash over everything that the build reads. */
async function sourcesHash(): Promise<string> {
  const hash = createHash("sha256");
  const files = [
    "package.json",
    "package-lock.json",
    "asconfig.json",
    "tsconfig.json",
    "scripts/build.ts",
    "scripts/direct-imports.ts",
    "scripts/inline-limits.mjs",
    "scripts/inline-enums.ts",
    "scripts/static-imports.ts",
  ];
  for (const folder of ["src", "assembly"]) files.push(...(await filesBelow(folder)));
  for (const file of files)
    hash
      .update(file)
      .update("\0")
      .update(await readFile(file))
      .update("\0");
  return hash.digest("hex");
}

async function buildWasm(name: string): Promise<void> {
  const module = wasmModules[name];
  if (module === undefined) throw new Error(`no module ${name}`);
  await mkdir("dist/wasm", { recursive: true });
  const asc = (target: string) =>
    run(process.execPath, [
      "node_modules/assemblyscript/bin/asc.js",
      module.entry,
      "--target",
      target,
      "-o",
      `dist/wasm/${name}.${target}.wasm`,
      ...module.flags,
    ]);
  await Promise.all(module.targets.map(asc));
}

async function buildJs(): Promise<Metafile> {
  await rm("dist/chunks", { recursive: true, force: true });
  const result = await build({
    entryPoints: entries,
    outdir: "dist",
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    splitting: true,
    chunkNames: "chunks/[name]-[hash]",
    sourcemap: true,
    // Each start parses it; names stay, for stacks.
    minifyWhitespace: true,
    minifySyntax: true,
    metafile: true,
    // Fastify's makers of validators and writers are loaded when used, if at all: bundled, each start would parse them.
    external: ["piscina", "@fastify/ajv-compiler", "@fastify/fast-json-stringify-compiler"],
    // Bundled CommonJS packages call require() for Node's own modules.
    banner: {
      js: 'import { createRequire as kilnRequire } from "node:module"; const require = kilnRequire(import.meta.url);',
    },
    plugins: [inlineEnums(process.cwd()), directImports(process.cwd())],
    logLevel: "warning",
  });
  return result.metafile;
}

/** Modules that a compile to an ELF file on this machine does not need. */
const elsewhere = ["compile-warm.ts", "compile-emit.ts", "remote.ts", "debug-output.ts", "ir/index.ts"];

/**
 * Second line of the command, a string and a comment to node. Where NODE_EXTRA_CA_CERTS is set, node reads those
 * certificates at every start, for longer than a compile takes: a compile on this machine goes without them.
 */
const shellLine = [
  '":" //; if [ "$1" = compile ] && [ -z "$KILN_SERVER$KILN_CONFIG" ]; then',
  'case " $*" in *" --server"* | *" --config"*) ;; *) unset NODE_EXTRA_CA_CERTS ;; esac; fi;',
  'exec node "$0" "$@"',
].join(" ");

/**
 * `kiln compile` as one script, and the command that runs it: `src/launch.ts`. A compile first, so that the compiled form
 * is there before somebody waits for it.
 */
async function buildLaunch(): Promise<void> {
  for (const name of await readdir("dist")) if (name.startsWith("kiln-compile-")) await rm(join("dist", name));
  const common = { bundle: true, platform: "node", format: "cjs", target: "node20", logLevel: "warning" } as const;
  const whole = await build({
    ...common,
    entryPoints: ["src/kiln-compile.ts"],
    write: false,
    minifyWhitespace: true,
    minifySyntax: true,
    // What `isLoneCompile` leaves to kiln.js.
    external: elsewhere.map((module) => `*/${module}`),
    define: { "import.meta.dirname": "__dirname" },
    minifyIdentifiers: true,
    banner: { js: "(function (require, __dirname, everything, compilerCore) {" },
    footer: { js: "})" },
    plugins: [inlineEnums(process.cwd()), directImports(process.cwd(), (text) => staticImports(text, elsewhere))],
  });
  const text = whole.outputFiles[0]?.text ?? "";
  const script = `kiln-compile-${createHash("sha256").update(text).digest("hex").slice(0, 16)}.cjs`;
  await writeFile(join("dist", script), text);
  await build({
    ...common,
    entryPoints: ["src/launch.ts"],
    outfile: "dist/kiln.cjs",
    banner: { js: shellLine },
    external: ["./kiln.js", "./kiln-all.js"],
    define: { kilnCompileScript: JSON.stringify(script) },
  });
  await chmod("dist/kiln.cjs", 0o755);
  if (!existsSync("dist/wasm/compiler.release.wasm")) return;
  const folder = await mkdtemp(join(tmpdir(), "kiln-build-"));
  try {
    await run(process.execPath, ["dist/kiln.cjs", "compile", "examples/kernels/saxpy.comp", "-o", join(folder, "out")]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * The build id names what compilation depends on: every source file that the compile worker's bundle reaches, and
 * compiler.wasm. A change of the server or the simulator leaves it, and with it the cache, as it is.
 */
async function writeBuildId(metafile: Metafile): Promise<void> {
  const reached = new Set<string>();
  const outputs = ["dist/compile-worker.js"];
  for (let output = outputs.pop(); output !== undefined; output = outputs.pop()) {
    const meta = metafile.outputs[output];
    if (meta === undefined || reached.has(output)) continue;
    reached.add(output);
    for (const input of Object.keys(meta.inputs)) reached.add(input);
    for (const imported of meta.imports) if (!imported.external) outputs.push(imported.path);
  }
  const hash = createHash("sha256");
  const inputs = [...reached].filter((path) => !path.startsWith("dist/")).sort();
  for (const path of [...inputs, "dist/wasm/compiler.release.wasm"]) {
    hash
      .update(path)
      .update("\0")
      .update(await readFile(path))
      .update("\0");
  }
  const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
  const buildId = hash.digest("hex").slice(0, 32);
  await writeFile("dist/build-id.json", `${JSON.stringify({ version, buildId })}\n`);
}

const buildTypes = () => run(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"]);

async function buildAll(): Promise<void> {
  const stamp = await sourcesHash();
  await rm(stampFile, { force: true });
  const wasm = (async () => {
    for (const name of Object.keys(wasmModules)) await buildWasm(name);
  })();
  const [metafile] = await Promise.all([buildJs(), wasm, buildTypes()]);
  await writeBuildId(metafile);
  await buildLaunch();
  await writeFile(stampFile, stamp);
}

async function isFresh(): Promise<boolean> {
  return existsSync(stampFile) && (await readFile(stampFile, "utf8")) === (await sourcesHash());
}

const wanted = process.argv.slice(2);
if (wanted.includes("--if-stale")) {
  if (!(await isFresh())) await buildAll();
} else if (wanted.length === 0) {
  await buildAll();
} else {
  await rm(stampFile, { force: true });
  for (const name of Object.keys(wasmModules)) if (wanted.includes(`wasm:${name}`)) await buildWasm(name);
  if (wanted.includes("js")) {
    await writeBuildId(await buildJs());
    await buildLaunch();
  }
  if (wanted.includes("types")) await buildTypes();
}
