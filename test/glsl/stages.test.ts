import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { formatDiagnostic } from "../../src/base/index.ts";
import { oracle } from "../oracles.ts";
import { bytes, compile, failuresOf, referenceRejects, words } from "./tools.ts";

const folder = join(dirname(fileURLToPath(import.meta.url)), "stages");
const stages = { comp: "compute", vert: "vertex", frag: "fragment" } as const;

const shaders = readdirSync(folder).map((name) => ({
  name,
  stage: stages[name.split(".").at(-1) as keyof typeof stages],
  source: readFileSync(join(folder, name), "utf8"),
}));

describe("shaders of the three stages", () => {
  it("has the fixtures", () => {
    expect(new Set(shaders.map(({ stage }) => stage))).toEqual(new Set(["compute", "vertex", "fragment"]));
  });

  it.each(shaders)("$name compiles without a message", ({ source, stage }) => {
    const result = compile(source, { stage });
    expect(result.diagnostics.map(formatDiagnostic)).toEqual([]);
    expect(result.ok).toBe(true);
  });

  it.skipIf(!oracle("spirv-val"))("gives modules that spirv-val accepts", () => {
    const files = shaders.map(({ name, source, stage }) => ({
      name: `${name}.spv`,
      data: bytes(words(source, { stage, targetEnv: "vulkan1.3" })),
    }));
    expect(failuresOf("spirv-val --target-env vulkan1.3 --scalar-block-layout", files)).toEqual(new Map());
  });

  it.skipIf(!oracle("spirv-val"))("gives valid modules for an older environment", () => {
    const files = shaders.map(({ name, source, stage }) => ({
      name: `${name}.spv`,
      data: bytes(words(source, { stage, targetEnv: "vulkan1.1" })),
    }));
    expect(failuresOf("spirv-val --target-env vulkan1.1 --scalar-block-layout", files)).toEqual(new Map());
  });

  it.skipIf(!oracle("glslangValidator"))("are right for the reference compiler too", () => {
    const files = shaders.map(({ name, source }) => ({ name, data: source }));
    expect(referenceRejects(files, new Set(), "--target-env vulkan1.2")).toEqual(new Map());
  });
});
