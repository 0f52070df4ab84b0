import { expect, it } from "vitest";
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
