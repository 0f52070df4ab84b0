import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defaultRequest, type ShaderCompiler } from "../../src/codeobj/index.ts";
import { compileShader } from "../../src/compile/index.ts";
import { createCore } from "../../src/core/index.ts";
import { createMachine, type Machine } from "../../src/service/index.ts";
import { runKernel } from "./run-kernel.ts";

/** Shaders with more values than registers go the whole way, driver and scratch memory included. */
let machine: Machine;
let compiler: ShaderCompiler;
beforeAll(async () => {
  const core = await createCore();
  compiler = { compile: async (request) => compileShader(request, core) };
  machine = createMachine({ memoryBytes: 256 << 20 });
});
afterAll(() => machine.close());

describe("a shader with 400 live floats", () => {
  it("spills to scratch and computes what it should, in each wave of each workgroup", async () => {
    const n = 400;
    const numbers = Array.from({ length: n }, (_, k) => k);
    const source = `#version 450
layout(local_size_x = 96) in;
layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) buffer R { float r[]; };
void main() {
  uint i = gl_GlobalInvocationID.x;
${numbers.map((k) => `  float v${k} = a[i + ${7 * k}u];`).join("\n")}
  float t = 0.0;
${numbers.map((k) => `  t = v${k} - t;`).join("\n")}
  if ((i & 1u) == 0u) {
${numbers.map((k) => `    t = abs(v${n - 1 - k} - t);`).join("\n")}
  }
  r[i] = t;
}
`;
    const groups = 3;
    const threads = 96 * groups;
    // Whole numbers far below 2^24, so that every sum is exact.
    const a = Float32Array.from({ length: threads + 7 * n }, (_, k) => (k * 7919) % 1009);
    const { buffers, stats } = await runKernel(
      machine,
      compiler,
      { ...defaultRequest, language: "glsl", stage: "compute", source, filename: "spill.comp" },
      {
        buffers: [new Uint32Array(a.buffer), new Uint32Array(threads)],
        push: new Uint32Array(0),
        groups: [groups, 1, 1],
      },
    );
    expect(stats.spilledVgprs).toBeGreaterThan(n - 256);
    expect(stats.scratchBytes).toBe(4 * stats.spilledVgprs);
    const want = Float32Array.from({ length: threads }, (_, i) => {
      const v = numbers.map((k) => a[i + 7 * k] as number);
      let t = 0;
      for (const x of v) t = x - t;
      if (i % 2 === 0) for (const x of v.reverse()) t = Math.abs(x - t);
      return t;
    });
    const out = buffers[1] as Uint32Array;
    expect([...new Float32Array(out.buffer, out.byteOffset, threads)]).toEqual([...want]);
  });
});
