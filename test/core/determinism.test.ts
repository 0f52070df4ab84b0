import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import type { CoreTools } from "../../src/core/index.ts";
import { createCore } from "../../src/core/index.ts";
import { glslToWords } from "./spirv-source.ts";

const kernels = ["saxpy", "matmul_naive", "matmul_tiled", "mandelbrot", "reduce", "nbody"];

describe("same input, same bytes", () => {
  let modules: Uint32Array[];
  let core: CoreTools;
  beforeAll(async () => {
    core = await createCore({ checked: true });
    modules = kernels.map((name) => glslToWords(readFileSync(`examples/kernels/${name}.comp`, "utf8")));
  });

  function compile(with_: CoreTools, words: Uint32Array): string {
    const bindings = [0, 1, 2].map((b) => ({ set: 0, binding: b, offsetBytes: 16 * b, strideBytes: 16, count: 1 }));
    const result = with_.compile({
      words,
      stage: "compute",
      entryPoint: "main",
      specialization: [],
      bindings,
      optimization: 2,
      contraction: true,
      robust: true,
      dumpAfter: [],
    });
    if (!result.ok) throw new Error(JSON.stringify(result.failures));
    const { passes, ...rest } = result.output;
    return JSON.stringify({ ...rest, code: [...rest.code], passes: passes.map((p) => [p.name, p.instructions]) });
  }

  it("whatever was compiled before, good or bad", () => {
    const first = modules.map((words) => compile(core, words));
    for (const words of modules) expect(compile(core, words)).toBe(first[modules.indexOf(words)]);
    for (const [k, words] of [...modules.entries()].reverse()) {
      core.compile({
        words: words.slice(0, words.length - 40),
        stage: "compute",
        entryPoint: "main",
        specialization: [],
        bindings: [],
        optimization: 1,
        contraction: true,
        robust: true,
      });
      expect(compile(core, words)).toBe(first[k]);
    }
  });

  it("in the release build and in another instance", async () => {
    const release = await createCore();
    for (const words of modules) expect(compile(release, words)).toBe(compile(core, words));
  });
});
