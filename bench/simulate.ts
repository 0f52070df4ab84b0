/**
 * Simulation time of the six kernels on the interpreter, CPU milliseconds of all threads. The peer is the same
 * computation as plain double-precision JavaScript loops in this process.
 */
import { createLocalCompiler, createMachine } from "../src/service/index.ts";
import { dwordsOf, uniformFloats } from "../test/e2e/float.ts";
import { mandelbrotExact, matmulPlain, nbodyPlain, reduceExact } from "../test/e2e/reference.ts";
import { type KernelName, type KernelRun, kernelRequest, runKernel } from "../test/e2e/run-kernel.ts";
import { cpuMs } from "./compile.ts";

export interface SimulateRow {
  readonly name: string;
  readonly cpuMs: number;
  readonly peerCpuMs: number;
}

interface Case extends KernelRun {
  readonly name: KernelName;
  readonly peer: () => unknown;
}

const f32 = (value: number): number => new Uint32Array(new Float32Array([value]).buffer)[0] as number;

function cases(): Case[] {
  const million = 1 << 20;
  const x = uniformFloats(million, 1);
  const y = uniformFloats(million, 2);
  const n = 256;
  const a = x.subarray(0, n * n);
  const b = y.subarray(0, n * n);
  const matrices = [dwordsOf(a), dwordsOf(b), new Uint32Array(n * n)];
  const bodies = { positions: x.subarray(0, 4096), velocities: y.subarray(0, 4096) };
  const matmul = { buffers: matrices, push: Uint32Array.of(n, 0), groups: [16, 16, 1] as const };
  return [
    {
      name: "saxpy",
      buffers: [dwordsOf(x), dwordsOf(y)],
      push: Uint32Array.of(million, f32(2)),
      groups: [4096, 1, 1],
      peer: () => x.map((value, i) => 2 * value + (y[i] as number)),
    },
    { name: "matmul_naive", ...matmul, peer: () => matmulPlain(n, a, b) },
    { name: "matmul_tiled", ...matmul, peer: () => matmulPlain(n, a, b) },
    {
      name: "mandelbrot",
      buffers: [new Uint32Array(n * n)],
      push: Uint32Array.of(n, 0),
      groups: [16, 16, 1],
      peer: () => mandelbrotExact(n, false),
    },
    {
      name: "reduce",
      buffers: [dwordsOf(x), new Uint32Array(1024)],
      push: Uint32Array.of(million, 0),
      groups: [1024, 1, 1],
      peer: () => reduceExact(x),
    },
    {
      name: "nbody",
      buffers: [dwordsOf(bodies.positions), dwordsOf(bodies.velocities), new Uint32Array(4096)],
      push: Uint32Array.of(1024, f32(0.01)),
      groups: [4, 1, 1],
      peer: () => nbodyPlain(1024, 0.01, bodies),
    },
  ];
}

export async function benchSimulate(): Promise<SimulateRow[]> {
  const machine = createMachine({ memoryBytes: 512 << 20 });
  const compiler = createLocalCompiler();
  const rows: SimulateRow[] = [];
  try {
    for (const { name, peer, ...run } of cases()) {
      const request = kernelRequest(name);
      await runKernel(machine, compiler, request, run);
      const start = cpuMs();
      await runKernel(machine, compiler, request, run);
      const middle = cpuMs();
      peer();
      rows.push({ name, cpuMs: middle - start, peerCpuMs: cpuMs() - middle });
    }
  } finally {
    await machine.close();
  }
  return rows;
}
