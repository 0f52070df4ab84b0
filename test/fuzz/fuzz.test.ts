import { expect, it } from "vitest";
import { createCore } from "../../src/core/index.ts";
import { validShaders } from "../glsl/tools.ts";
import { fuzz } from "./run.ts";

it("answers mutated sources and modules in time, with good modules or errors", () => {
  const report = fuzz(
    validShaders.map(({ source }) => ({ source, stage: "compute" as const })),
    1500,
    7,
  );
  expect(report.failures).toEqual([]);
  // mutations that all fail at the first token would test nothing
  expect(report.sourcesAccepted).toBeGreaterThan(10);
  expect(report.modulesAccepted).toBeGreaterThan(10);
});

it("gives the core valid modules that it compiles or refuses", async () => {
  const shaders = validShaders.map(({ source }) => ({ source, stage: "compute" as const }));
  const report = fuzz(shaders, 300, 11, await createCore());
  expect(report.failures).toEqual([]);
  expect(report.toCore).toBe(report.sourcesAccepted + report.modulesAccepted);
  expect(report.coreAccepted).toBeGreaterThan(10);
});
