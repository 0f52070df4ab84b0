import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { type CoreRequest, type CoreTools, coreCodes, createCore } from "../../src/core/index.ts";
import { asmToWords, glslToWords } from "./spirv-source.ts";

const kernels = ["saxpy", "matmul_naive", "matmul_tiled", "mandelbrot", "reduce", "nbody"];

function request(words: Uint32Array): CoreRequest {
  const bindings = [0, 1, 2].map((b) => ({ set: 0, binding: b, offsetBytes: 16 * b, strideBytes: 16, count: 1 }));
  return {
    words,
    stage: "compute",
    entryPoint: "main",
    specialization: [],
    bindings,
    optimization: 2,
    contraction: true,
    robust: true,
    limits: { timeMs: 2000 },
  };
}

/** xorshift32: the same mutations in each run. */
function random(seed: number): () => number {
  let s = seed;
  return () => {
    s ^= s << 13;
    s ^= s >>> 17;
    s ^= s << 5;
    return s >>> 0;
  };
}

describe("broken SPIR-V", () => {
  let core: CoreTools;
  let modules: Uint32Array[];
  beforeAll(async () => {
    core = await createCore({ checked: true });
    modules = kernels.map((name) => glslToWords(readFileSync(`examples/kernels/${name}.comp`, "utf8")));
  });

  /** A failure must be a row of the table; a bug or a trap throws. Answers whether the words compiled. */
  function attempt(words: Uint32Array): boolean {
    const result = core.compile(request(words));
    if (result.ok) return true;
    for (const failure of result.failures) expect(Object.keys(coreCodes)).toContain(failure.code);
    return false;
  }

  it("a module cut at each word is refused", () => {
    const words = modules[0] ?? new Uint32Array();
    for (let length = 0; length < words.length; length++)
      expect(attempt(words.slice(0, length)), `${length}`).toBe(false);
  });

  it.each([
    ["a label", "%end", []],
    ["a variable of the module", "%v", ["CORE_MALFORMED"]],
    ["a type", "%void", ["CORE_MALFORMED"]],
    ["a function", "%f", ["CORE_MALFORMED"]],
  ])("a function that nobody calls branches to %s", (_, target, codes) => {
    const result = core.compile(
      request(
        asmToWords(`OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
%void = OpTypeVoid
%fn = OpTypeFunction %void
%uint = OpTypeInt 32 0
%ptr = OpTypePointer Private %uint
%v = OpVariable %ptr Private
%f = OpFunction %void None %fn
%start = OpLabel
OpBranch ${target}
%end = OpLabel
OpReturn
OpFunctionEnd
%main = OpFunction %void None %fn
%entry = OpLabel
%x = OpLoad %uint %v
OpStore %v %x
OpReturn
OpFunctionEnd`),
      ),
    );
    expect(result.ok ? [] : result.failures.map(({ code }) => code)).toEqual(codes);
  });

  it("hundreds of short loops are not all unrolled", () => {
    const loop = "for (uint i = 0u; i < 32u; i++) x = x * 3u + a[i + x];\n";
    const source = `#version 450\nlayout(local_size_x = 1) in;
      layout(std430, binding = 0) buffer B { uint n; uint a[]; };\nvoid main() { uint x = n;\n${loop.repeat(300)}a[0] = x; }`;
    const result = core.compile(request(glslToWords(source)));
    // each unrolled: 32 times 5 instructions, 48,000 in all
    expect(result.ok && result.output.code.length).toBeLessThan(30_000);
  });

  it("one or two changed words give code or a failure", () => {
    const next = random(0x1234567);
    let refused = 0;
    for (let round = 0; round < 3000; round++) {
      const words = (modules[round % modules.length] ?? new Uint32Array()).slice();
      for (let k = 0; k < 1 + (round & 1); k++) {
        const at = 5 + (next() % (words.length - 5));
        const old = words[at] ?? 0;
        const kind = next() % 4;
        words[at] = kind === 0 ? next() : kind === 1 ? old ^ (1 << (next() & 31)) : kind === 2 ? next() % 160 : old + 1;
      }
      if (!attempt(words)) refused++;
    }
    expect(refused).toBeGreaterThan(1000);
  });

  it("noise with a good header is refused", () => {
    const next = random(99);
    for (let round = 0; round < 200; round++) {
      const words = Uint32Array.from({ length: 60 }, () => next() & 0x0007_00ff);
      words.set([0x07230203, 0x10300, 0, 200, 0]);
      expect(attempt(words)).toBe(false);
    }
  });
});
