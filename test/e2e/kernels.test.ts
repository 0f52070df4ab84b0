import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../src/client/index.ts";
import { createMachine, type Machine } from "../../src/service/index.ts";
import { oracle, runOracle } from "../oracles.ts";
import { type ServerProcess, startProcess, stopProcess } from "../service/crash-rounds.ts";
import { dwordsOf, ulp, uniformFloats } from "./float.ts";
import {
  type Bodies,
  mandelbrotExact,
  matmulExact,
  matmulPlain,
  nbodyExact,
  nbodyPlain,
  reduceExact,
  saxpyExact,
} from "./reference.ts";
import { type KernelName, kernelNames, kernelRequest, runKernel } from "./run-kernel.ts";

/** Each kernel goes the whole way: text over HTTP to a server process, its code object through the driver to the GPU. */
let folder: string;
let server: ServerProcess;
let client: Client;
let machine: Machine;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "kiln-e2e-"));
  server = await startProcess(["--cache-dir", join(folder, "cache")]);
  client = createClient({ baseUrl: server.address });
  machine = createMachine({ memoryBytes: 512 << 20 });
});
afterAll(async () => {
  await machine.close();
  await stopProcess(server, "SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

const floatsOf = (words: Uint32Array | undefined): Float32Array => {
  if (words === undefined) throw new Error("no such buffer");
  return new Float32Array(words.buffer, words.byteOffset, words.length);
};
const f32 = (value: number): number => new Uint32Array(new Float32Array([value]).buffer)[0] as number;

const run = (
  name: KernelName,
  buffers: readonly Uint32Array[],
  push: readonly number[],
  groups: readonly [number, number, number],
) => runKernel(machine, client, kernelRequest(name), { buffers, push: Uint32Array.from(push), groups });

/** Bit for bit; says where and how the first difference is. A zero's sign counts, a NaN equals itself. */
function expectBits(got: Float32Array | Uint32Array, want: Float32Array | Uint32Array): void {
  const a = new Uint32Array(got.buffer, got.byteOffset, got.length);
  const b = new Uint32Array(want.buffer, want.byteOffset, want.length);
  expect(a.length).toBe(b.length);
  const at = a.findIndex((word, i) => word !== b[i]);
  expect(at, `element ${at}: got ${got[at]}, want ${want[at]}`).toBe(-1);
}

/** |got - want| <= bound, element by element. */
function expectWithin(got: Float32Array, want: Float64Array, bound: (i: number) => number): void {
  expect(got.length).toBe(want.length);
  // Not `>`: a NaN has to fail.
  const at = got.findIndex((value, i) => !(Math.abs(value - (want[i] as number)) <= bound(i)));
  expect(at, `element ${at}: got ${got[at]}, want ${want[at]} within ${bound(at)}`).toBe(-1);
}

describe("code of the kernels", () => {
  it.skipIf(!oracle("llvm-objdump-19"))("is what llvm-objdump reads, and statistics count it", async () => {
    for (const name of kernelNames) {
      const result = await client.compile(kernelRequest(name));
      if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
      const file = join(folder, `${name}.elf`);
      writeFileSync(file, result.record.elf);
      for (const args of [
        ["-d", file],
        ["-d", "--mcpu=gfx1030", file],
      ]) {
        const { status, stdout, stderr } = runOracle("llvm-objdump-19", args);
        expect(status, stderr).toBe(0);
        expect(stdout).not.toMatch(/unknown|\.long|<invalid/i);
        const lines = stdout.split("\n").filter((line) => /\/\/ [0-9A-F]{12}:/.test(line));
        const padding = lines.filter((line) => line.includes("s_code_end"));
        expect(padding.length).toBeGreaterThanOrEqual(1);
        expect(lines.length - padding.length, name).toBe(result.record.stats.instructions);
      }
    }
  });
});

describe("saxpy", () => {
  const n = 1 << 20;
  const a = Math.fround(0.7531);
  const x = uniformFloats(n, 1);
  const y = uniformFloats(n, 2);

  it("of 1 Mi elements is exact with its one multiply-add, and near the plain sum", async () => {
    const { buffers, stats } = await run("saxpy", [dwordsOf(x), dwordsOf(y)], [n, f32(a)], [n / 256, 1, 1]);
    expect(stats.contractions).toBe(1);
    const got = floatsOf(buffers[1]);
    expectBits(got, saxpyExact(a, x, y));
    const plain = Float64Array.from(x, (value, i) => a * value + (y[i] as number));
    expectWithin(got, plain, (i) => ulp(Math.max(Math.abs(a * (x[i] as number)), Math.abs(y[i] as number))));
    expectBits(buffers[0] as Uint32Array, dwordsOf(x));
  });

  it("leaves alone what is past n", async () => {
    const { buffers } = await run(
      "saxpy",
      [dwordsOf(x.subarray(0, 512)), dwordsOf(y.subarray(0, 512))],
      [300, f32(a)],
      [2, 1, 1],
    );
    const want = y.slice(0, 512);
    want.set(saxpyExact(a, x.subarray(0, 300), y.subarray(0, 300)));
    expectBits(floatsOf(buffers[1]), want);
  });
});

describe.each(["matmul_naive", "matmul_tiled"] as const)("%s", (name) => {
  it.each([64, 256])("of %i squared is exact in its order, and near the plain product", async (n) => {
    const a = uniformFloats(n * n, 3);
    const b = uniformFloats(n * n, 4);
    const c = new Uint32Array(n * n);
    const { buffers, stats } = await run(name, [dwordsOf(a), dwordsOf(b), c], [n, 0], [n / 16, n / 16, 1]);
    // The tiled one's inner loop of 16 rounds is unrolled.
    expect(stats.contractions).toBe(name === "matmul_tiled" ? 16 : 1);
    const got = floatsOf(buffers[2]);
    expectBits(got, matmulExact(n, a, b));
    const plain = matmulPlain(n, a, b);
    expectWithin(got, plain.c, (i) => 1e-6 * (plain.magnitude[i] as number));
  });
});

describe("mandelbrot", () => {
  const n = 256;
  const sum = (counts: Uint32Array) => counts.reduce((total, count) => total + count, 0);

  it("of 256 x 256 is exact with its multiply-adds", async () => {
    const { buffers, stats } = await run("mandelbrot", [new Uint32Array(n * n)], [n, 0], [16, 16, 1]);
    // cx, cy, the test, the new x and the new y.
    expect(stats.contractions).toBe(5);
    expectBits(buffers[0] as Uint32Array, mandelbrotExact(n, true));
    expect(sum(buffers[0] as Uint32Array)).toBe(3_123_600);
  });

  it("of 256 x 256 is exact without contraction", async () => {
    const request = { ...kernelRequest("mandelbrot"), pipeline: { floatControls: { contraction: false } } };
    const options = { buffers: [new Uint32Array(n * n)], push: Uint32Array.of(n, 0), groups: [16, 16, 1] as const };
    const { buffers, stats } = await runKernel(machine, client, request, options);
    expect(stats.contractions).toBe(0);
    expectBits(buffers[0] as Uint32Array, mandelbrotExact(n, false));
    expect(sum(buffers[0] as Uint32Array)).toBe(3_124_284);
  });
});

describe("reduce", () => {
  it.each([1 << 20, 5000])("of %i elements is exact in its order, and near the plain sums", async (n) => {
    const groups = Math.ceil(n / 1024);
    const x = uniformFloats(n, 5);
    const { buffers, stats } = await run("reduce", [dwordsOf(x), new Uint32Array(groups)], [n, 0], [groups, 1, 1]);
    expect(stats.contractions).toBe(0);
    const got = floatsOf(buffers[1]);
    expectBits(got, reduceExact(x));
    const block = (i: number) => x.subarray(i * 1024, (i + 1) * 1024);
    const plain = Float64Array.from(got, (_, i) => block(i).reduce((total, value) => total + value, 0));
    expectWithin(got, plain, (i) => 1e-6 * block(i).reduce((total, value) => total + Math.abs(value), 0));
  });
});

describe("nbody", () => {
  it("of 1,024 bodies is exact in its order, and near the plain step", async () => {
    const n = 1024;
    const dt = Math.fround(0.01);
    const bodies: Bodies = { positions: uniformFloats(n * 4, 6), velocities: uniformFloats(n * 4, 7) };
    const { buffers, stats } = await run(
      "nbody",
      [dwordsOf(bodies.positions), dwordsOf(bodies.velocities), new Uint32Array(n * 4)],
      [n, f32(dt)],
      [n / 256, 1, 1],
    );
    // Two of dot(d, d), and three each of acc, v and the new position.
    expect(stats.contractions).toBe(11);
    const exact = nbodyExact(n, dt, bodies);
    expectBits(floatsOf(buffers[1]), exact.velocities);
    expectBits(floatsOf(buffers[2]), exact.positions);
    const plain = nbodyPlain(n, dt, bodies);
    const bound = 1e-5 * plain.largestAcceleration * dt;
    expectWithin(floatsOf(buffers[1]), plain.velocities, () => bound);
    expectWithin(floatsOf(buffers[2]), plain.positions, () => bound);
  });
});
