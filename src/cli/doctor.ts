import { accessSync, constants, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileProblem } from "../base/index.ts";
import { makeFolder } from "../cache/index.ts";
import { type CompileRequest, defaultRequest } from "../codeobj/index.ts";
import { createLocalCompiler, createMachine, readBuildInfo } from "../service/index.ts";
import type { CliEnvironment } from "./environment.ts";
import { print } from "./environment.ts";

interface Finding {
  readonly what: string;
  /** `missing` is worth knowing and no failure. */
  readonly state: "good" | "missing" | "FAILED";
  readonly detail: string;
}

const oracleTools = [
  "glslangValidator",
  "spirv-val",
  "spirv-as",
  "spirv-dis",
  "llvm-mc-19",
  "llvm-objdump-19",
  "clang-19",
  "ld.lld-19",
  "redis-server",
  "chromium",
] as const;

/** Bodies of `(func)` modules that validate only where the feature exists. */
const wasm = (...body: number[]) =>
  new Uint8Array([
    0,
    97,
    115,
    109,
    1,
    0,
    0,
    0,
    1,
    4,
    1,
    96,
    0,
    0,
    3,
    2,
    1,
    0,
    10,
    body.length + 4,
    1,
    body.length + 2,
    0,
    ...body,
    11,
  ]);
const features: Readonly<Record<string, Uint8Array>> = {
  // i32.const 0, i8x16.splat, drop
  SIMD: wasm(0x41, 0, 0xfd, 15, 0x1a),
  // atomic.fence
  threads: wasm(0xfe, 3, 0),
  // three v128 zeros, f32x4.relaxed_madd, drop
  "fused multiply-add": wasm(0x41, 0, 0xfd, 15, 0x41, 0, 0xfd, 15, 0x41, 0, 0xfd, 15, 0xfd, 0x85, 2, 0x1a),
};
/** The simulator emulates it where the engine has none. */
const optionalFeatures: ReadonlySet<string> = new Set(["fused multiply-add"]);

const source = `#version 450
layout(local_size_x = 32) in;
layout(std430, binding = 0) buffer Data { uint x[]; };
void main() { x[gl_GlobalInvocationID.x] = gl_GlobalInvocationID.x * 3u + x[gl_GlobalInvocationID.x]; }
`;
const lanes = 64;

/** Checks the installation. Answers the exit status: 3 where something that must work does not. */
export async function doctor(environment: CliEnvironment, cacheDir: string, asJson: boolean): Promise<0 | 3> {
  const findings: Finding[] = [nodeVersion(), build(), ...wasmFeatures(), cacheFolder(cacheDir)];
  findings.push(...oracleTools.map((name) => oracle(name, environment.searchPath)));
  findings.push(await compileAndDispatch());
  const isGood = findings.every(({ state }) => state !== "FAILED");
  if (asJson) print(JSON.stringify({ ok: isGood, findings }));
  else for (const { what, state, detail } of findings) print(`${state.padEnd(8)} ${what}: ${detail}`);
  return isGood ? 0 : 3;
}

function nodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isGood = major > 20 || (major === 20 && minor >= 19);
  return {
    what: "Node",
    state: isGood ? "good" : "FAILED",
    detail: `${process.versions.node}, 20.19 or later is needed`,
  };
}

function build(): Finding {
  try {
    const { version, buildId } = readBuildInfo();
    return { what: "build", state: "good", detail: `${version} ${buildId}` };
  } catch (error) {
    return { what: "build", state: "FAILED", detail: (error as Error).message };
  }
}

function wasmFeatures(): Finding[] {
  return Object.entries(features).map(([name, module]) => {
    const has = WebAssembly.validate(module as BufferSource);
    const state = has ? "good" : optionalFeatures.has(name) ? "missing" : "FAILED";
    return { what: `WASM ${name}`, state, detail: has ? "in this engine" : "not in this engine" };
  });
}

function cacheFolder(folder: string): Finding {
  try {
    makeFolder(folder);
    const probe = join(folder, `.doctor-${process.pid}`);
    writeFileSync(probe, "");
    rmSync(probe);
    return { what: "cache folder", state: "good", detail: folder };
  } catch (error) {
    return {
      what: "cache folder",
      state: "FAILED",
      detail: `${folder}: cannot make or write it: ${fileProblem(error)}`,
    };
  }
}

function oracle(name: string, folders: readonly string[]): Finding {
  const what = `oracle ${name}`;
  for (const folder of folders) {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return { what, state: "good", detail: join(folder, name) };
    } catch {
      // not in this folder: look in the next one
    }
  }
  return { what, state: "missing", detail: "not found; only its tests need it" };
}

async function compileAndDispatch(): Promise<Finding> {
  const what = "compile and dispatch";
  try {
    const wrong = await firstWrongLane();
    if (wrong === undefined) return { what, state: "good", detail: `${lanes} lanes gave the right values` };
    return { what, state: "FAILED", detail: `lane ${wrong} has a wrong value` };
  } catch (error) {
    return { what, state: "FAILED", detail: (error as Error).message };
  }
}

async function firstWrongLane(): Promise<number | undefined> {
  const request: CompileRequest = {
    ...defaultRequest,
    language: "glsl",
    stage: "compute",
    filename: "doctor.comp",
    source,
  };
  const machine = createMachine({ memoryBytes: 256 << 20 });
  try {
    const device = machine.openProcess("doctor", { timeoutMs: 10_000 });
    const pipeline = await device.createComputePipeline({ compiler: createLocalCompiler(), request });
    const buffer = device.createBoundBuffer(lanes * 4);
    const view = buffer.map();
    const values = new DataView(view.buffer, view.byteOffset, view.byteLength);
    for (let lane = 0; lane < lanes; lane++) values.setUint32(lane * 4, 1000 - lane, true);
    const [layout] = pipeline.record.reflection.sets;
    const set = device.createDescriptorPool().allocate(device.createDescriptorSetLayout(layout?.bindings ?? []));
    set.write(0, { buffer });
    const commands = device.createCommandBuffer().begin().bindPipeline(pipeline).bindDescriptorSet(0, set);
    await device.submit([commands.dispatch(lanes / 32).end()]).wait();
    for (let lane = 0; lane < lanes; lane++)
      if (values.getUint32(lane * 4, true) !== lane * 3 + 1000 - lane) return lane;
    return undefined;
  } finally {
    await machine.close();
  }
}
