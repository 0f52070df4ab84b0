/**
 * Simulation time of the six example kernels at full size: CPU milliseconds of all threads of this process from submit
 * to fence, the least of several runs after one that warms up and whose results are looked at. The peer is a Vulkan
 * implementation on the CPU, measured by a command of the caller's in the same run.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { packageRoot } from "../base/index.ts";
import { formatReport } from "../debug/index.ts";
import { createLocalCompiler, createMachine, type Machine } from "../service/index.ts";
import { geomean } from "./bench-codegen.ts";
import { CliError } from "./environment.ts";
import { requestOf } from "./source-files.ts";

interface SimulateRow {
  readonly name: string;
  readonly cpuMs: number;
  /** Undefined without a peer command, or where it has no figure for the kernel. */
  readonly peerCpuMs: number | undefined;
  /** Ours over the peer's. */
  readonly ratio: number | undefined;
}

export interface SimulateBenchResult {
  readonly kernels: readonly SimulateRow[];
  /** Geometric mean of the ratios. */
  readonly geomean: number | undefined;
}

interface Case {
  readonly name: string;
  /** Words of each binding. */
  readonly words: readonly number[];
  readonly groups: readonly [number, number, number];
  readonly push: Uint32Array;
  /** Says what is wrong with the buffers after one run from fresh inputs, if anything is. */
  readonly wrong: (after: readonly Uint32Array[], before: readonly Float32Array[]) => string | undefined;
}

const MEBI = 1 << 20;
const f32 = (value: number): number => new Uint32Array(new Float32Array([value]).buffer)[0] as number;
const floats = (words: Uint32Array | undefined): Float32Array => new Float32Array((words as Uint32Array).buffer);
const at = (values: Float32Array | undefined, i: number): number => values?.[i] ?? Number.NaN;

function within(name: string, got: number, want: number, relative: number): string | undefined {
  const good = Math.abs(got - want) <= relative * Math.max(1, Math.abs(want));
  return good ? undefined : `${name} is ${got}, not ${want}`;
}

/** One element of a product of 512 by 512 matrices. */
const matmul = (name: string): Case => ({
  name,
  words: [512 * 512, 512 * 512, 512 * 512],
  groups: [32, 32, 1],
  push: Uint32Array.of(512, 0),
  wrong: (after, [a, b]) => {
    let sum = 0;
    for (let k = 0; k < 512; k++) sum += at(a, 7 * 512 + k) * at(b, k * 512 + 9);
    return within("c[7][9]", at(floats(after[2]), 7 * 512 + 9), sum, 1e-4);
  },
});

const cases: readonly Case[] = [
  {
    name: "saxpy",
    words: [16 * MEBI, 16 * MEBI],
    // One group short of 16 Mi: a dispatch's limit.
    groups: [65535, 1, 1],
    push: Uint32Array.of(16 * MEBI, f32(2.5)),
    wrong: (after, [x, y]) => within("y[12345]", at(floats(after[1]), 12345), 2.5 * at(x, 12345) + at(y, 12345), 1e-6),
  },
  matmul("matmul_naive"),
  matmul("matmul_tiled"),
  {
    name: "mandelbrot",
    words: [MEBI],
    groups: [64, 64, 1],
    push: Uint32Array.of(1024, 0),
    // The point (0, 0) never leaves; the corner (-2, -1.5) is outside after one step.
    wrong: ([counts]) => within("count at 0", (counts?.[512 * 1024 + 683] as number) + (counts?.[0] as number), 257, 0),
  },
  {
    name: "reduce",
    words: [16 * MEBI, 16384],
    groups: [16384, 1, 1],
    push: Uint32Array.of(16 * MEBI, 0),
    wrong: (after, [x]) => {
      let sum = 0;
      for (let i = 5 * 1024; i < 6 * 1024; i++) sum += at(x, i);
      return within("sum of block 5", at(floats(after[1]), 5), sum, 1e-4);
    },
  },
  {
    name: "nbody",
    words: [16384, 16384, 16384],
    groups: [16, 1, 1],
    push: Uint32Array.of(4096, f32(0.01)),
    wrong: (after, [position]) => {
      const moved = Math.abs(at(floats(after[2]), 0) - at(position, 0));
      return moved > 0 && moved < 1000 ? undefined : `body 0 moved by ${moved}`;
    },
  },
];

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Uniform in [-1, 1) from a seed: xorshift32, 24 random bits a value. */
function uniform(count: number, seed: number): Float32Array {
  const out = new Float32Array(count);
  let state = seed >>> 0 || 1;
  for (let i = 0; i < count; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    out[i] = (state >>> 8) / 0x800000 - 1;
  }
  return out;
}

/** The least CPU time of `runs` runs. Errors: `CliError` 3 for a fault or a wrong result. */
async function timeCase(machine: Machine, test: Case, runs: number): Promise<number> {
  const device = machine.openProcess("bench", { timeoutMs: 600_000 });
  try {
    const request = requestOf(join(packageRoot(), `examples/kernels/${test.name}.comp`), { stage: "comp" });
    const pipeline = await device.createComputePipeline({ compiler: createLocalCompiler(), request });
    const before = test.words.map((count, i) => uniform(count, i + 1));
    const buffers = before.map((values) => {
      const buffer = device.createBoundBuffer(values.byteLength);
      const bytes = buffer.map();
      new Float32Array(bytes.buffer, bytes.byteOffset, values.length).set(values);
      return buffer;
    });
    const bindings = pipeline.record.reflection.sets[0]?.bindings ?? [];
    const set = device.createDescriptorPool().allocate(device.createDescriptorSetLayout(bindings));
    for (const { binding } of bindings) {
      const buffer = buffers[binding];
      if (buffer === undefined) throw new CliError(3, `${test.name}: no contents for binding ${binding}`);
      set.write(binding, { buffer });
    }
    const { push } = test;
    const command = device.createCommandBuffer().begin();
    command.bindPipeline(pipeline).bindDescriptorSet(0, set);
    command.pushConstants(0, new Uint8Array(push.buffer, push.byteOffset, push.byteLength));
    command.dispatch(...test.groups).end();
    try {
      await device.submit([command]).wait();
    } catch (error) {
      const fault = machine.faultOf(device);
      throw fault === undefined ? error : new CliError(3, formatReport(fault));
    }
    const after = buffers.map((buffer, i) => {
      const bytes = buffer.map();
      return new Uint32Array(bytes.buffer, bytes.byteOffset, test.words[i] as number).slice();
    });
    const problem = test.wrong(after, before);
    if (problem !== undefined) throw new CliError(3, `${test.name}: ${problem}`);
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < runs; i++) {
      const start = cpuMs();
      await device.submit([command]).wait();
      least = Math.min(least, cpuMs() - start);
    }
    return least;
  } finally {
    device.destroy();
  }
}

/** The peer's figures by kernel: the command prints a JSON line `{"kernel": …, "cpu_min_ms": …}` for each. */
export function simulatePeer(command: string): Map<string, number> {
  const { status, signal, stdout, stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
  const figures = new Map<string, number>();
  for (const line of stdout.split("\n").filter((text) => text.startsWith("{"))) {
    let figure: { kernel?: unknown; cpu_min_ms?: unknown };
    try {
      figure = JSON.parse(line);
    } catch {
      throw new CliError(3, `${command}: printed a line that is no JSON: ${line}`);
    }
    const { kernel, cpu_min_ms: ms } = figure;
    if (typeof kernel === "string" && typeof ms === "number" && ms > 0) figures.set(kernel, ms);
  }
  if (status !== 0) {
    const detail = `${stderr}`.trim().split("\n").at(-1) ?? "";
    throw new CliError(3, `${command}: ended with ${status ?? signal}: ${detail}`);
  }
  if (figures.size === 0) throw new CliError(3, `${command}: printed no figures`);
  return figures;
}

/** Runs the kernels `runs` times each, on one machine. `peer`: the command, without it only our own figures. */
export async function benchSimulate(runs: number, peer: string | undefined): Promise<SimulateBenchResult> {
  const figures = peer === undefined ? undefined : simulatePeer(peer);
  const machine = createMachine({ memoryBytes: 512 * MEBI });
  const kernels: SimulateRow[] = [];
  try {
    for (const test of cases) {
      const ours = await timeCase(machine, test, runs);
      const peerCpuMs = figures?.get(test.name);
      kernels.push({ name: test.name, cpuMs: ours, peerCpuMs, ratio: peerCpuMs && ours / peerCpuMs });
    }
  } finally {
    await machine.close();
  }
  return { kernels, geomean: geomean(kernels.flatMap(({ ratio }) => (ratio === undefined ? [] : [ratio]))) };
}

/** The result as a table. */
export function simulateTable({ kernels, geomean: mean }: SimulateBenchResult): string {
  const figure = (value: number | undefined, digits: number) => (value?.toFixed(digits) ?? "-").padStart(10);
  const lines = kernels.map(
    ({ name, cpuMs: ours, peerCpuMs, ratio }) =>
      `${name.padEnd(14)}${figure(ours, 1)}${figure(peerCpuMs, 1)}${figure(ratio, 2)}`,
  );
  return [
    "simulation of the kernels, CPU ms from submit to fence; ratio: ours over the peer's",
    `${"kernel".padEnd(14)}${"ours".padStart(10)}${"peer".padStart(10)}${"ratio".padStart(10)}`,
    ...lines,
    `${"geometric mean".padEnd(34)}${figure(mean, 2)}`,
    "",
  ].join("\n");
}
