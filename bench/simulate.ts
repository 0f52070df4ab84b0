/**
 * Simulation time of the six kernels at full size: CPU milliseconds of all threads of this process from submit to fence,
 * the least of several runs after one that warms up. The peer is a Vulkan implementation on the CPU, run by a command of
 * the caller's in the same session.
 */
import { spawnSync } from "node:child_process";
import { formatReport } from "../src/debug/index.ts";
import { createLocalCompiler, createMachine, type Machine } from "../src/service/index.ts";
import { uniformFloats } from "../test/e2e/float.ts";
import { type KernelName, kernelRequest } from "../test/e2e/run-kernel.ts";
import { cpuMs } from "./compile.ts";

export interface SimulateRow {
  readonly name: string;
  readonly cpuMs: number;
  /** Undefined without a peer command, or where it has no line for the kernel. */
  readonly peerCpuMs: number | undefined;
}

interface Case {
  readonly name: KernelName;
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
const matmul = (name: KernelName): Case => ({
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

export interface SimulateOptions {
  /** Timed runs of each kernel. */
  readonly runs: number;
  /** Shell command that prints a JSON line `{"kernel": …, "cpu_min_ms": …}` for each kernel. */
  readonly peer?: string;
  /** Kernels whose name holds this. */
  readonly only?: string;
}

/** The least CPU time of `runs` runs. */
async function timeCase(machine: Machine, test: Case, runs: number): Promise<number> {
  const device = machine.openProcess("bench", { timeoutMs: 600_000 });
  try {
    const request = kernelRequest(test.name);
    const pipeline = await device.createComputePipeline({ compiler: createLocalCompiler(), request });
    const before = test.words.map((count, i) => uniformFloats(count, i + 1));
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
      if (buffer === undefined) throw new Error(`${test.name} has a binding ${binding}`);
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
      throw fault === undefined ? error : new Error(formatReport(fault));
    }
    const after = buffers.map((buffer, i) => {
      const bytes = buffer.map();
      return new Uint32Array(bytes.buffer, bytes.byteOffset, test.words[i] as number).slice();
    });
    const problem = test.wrong(after, before);
    if (problem !== undefined) throw new Error(`${test.name}: ${problem}`);
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

/** The peer's figures by kernel. A command that fails or prints no figure throws with what it said. */
export function peerFigures(command: string): Map<string, number> {
  const { status, stdout, stderr } = spawnSync("bash", ["-c", command], { encoding: "utf8" });
  const figures = new Map<string, number>();
  for (const line of stdout.split("\n").filter((text) => text.startsWith("{"))) {
    const { kernel, cpu_min_ms: ms } = JSON.parse(line) as { kernel?: unknown; cpu_min_ms?: unknown };
    if (typeof kernel === "string" && typeof ms === "number") figures.set(kernel, ms);
  }
  if (status !== 0 || figures.size === 0) throw new Error(`the peer command ended with ${status}: ${stderr}`);
  return figures;
}

export async function benchSimulate({ runs, peer, only = "" }: SimulateOptions): Promise<SimulateRow[]> {
  const machine = createMachine({ memoryBytes: 512 * MEBI });
  const rows: SimulateRow[] = [];
  const figures = peer === undefined ? undefined : peerFigures(peer);
  try {
    for (const test of cases.filter(({ name }) => name.includes(only)))
      rows.push({ name: test.name, cpuMs: await timeCase(machine, test, runs), peerCpuMs: figures?.get(test.name) });
  } finally {
    await machine.close();
  }
  return rows;
}

/** Geometric mean of the ratios to the peer; undefined without a peer. */
export function geomean(rows: readonly SimulateRow[]): number | undefined {
  const logs = rows.flatMap(({ cpuMs: ours, peerCpuMs }) => (peerCpuMs ? [Math.log(ours / peerCpuMs)] : []));
  return logs.length === 0 ? undefined : Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
}
