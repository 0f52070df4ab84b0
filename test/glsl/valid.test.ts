import { describe, expect, it } from "vitest";
import { formatDiagnostic } from "../../src/base/index.ts";
import { oracle } from "../oracles.ts";
import { bytes, compile, failuresOf, referenceRejects, validShaders, words } from "./tools.ts";

describe("shaders that are right", () => {
  it("has the fixtures", () => {
    expect(validShaders.length).toBeGreaterThan(40);
  });

  it.each(validShaders)("$name compiles without a message", ({ source }) => {
    const result = compile(source);
    expect(result.diagnostics.map(formatDiagnostic)).toEqual([]);
    expect(result.ok).toBe(true);
  });

  it("gives the same words each time", () => {
    for (const { source } of validShaders) expect(words(source)).toEqual(words(source));
  });

  it.skipIf(!oracle("spirv-val"))("gives modules that spirv-val accepts, with and without lines", () => {
    const files = validShaders.flatMap(({ name, source }) => [
      { name: `${name}.spv`, data: bytes(words(source)) },
      { name: `${name}.bare.spv`, data: bytes(words(source, { debugInfo: false })) },
    ]);
    expect(failuresOf("spirv-val --target-env vulkan1.3 --scalar-block-layout", files)).toEqual(new Map());
  });

  it.skipIf(!oracle("spirv-val"))("gives valid modules for the oldest environment", () => {
    const files = validShaders.map(({ name, source }) => ({
      name: `${name}.spv`,
      data: bytes(words(source, { targetEnv: "vulkan1.0" })),
    }));
    expect(failuresOf("spirv-val --target-env vulkan1.0 --scalar-block-layout", files)).toEqual(new Map());
  });

  it.skipIf(!oracle("glslangValidator"))("are right for the reference compiler too", () => {
    const files = validShaders.map(({ name, source }) => ({ name, data: source }));
    expect(referenceRejects(files, new Set())).toEqual(new Map());
  });
});
