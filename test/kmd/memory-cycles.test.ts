import { expect, it } from "vitest";
import { kernelMemoryCycles } from "./memory-cycles.ts";

it("processes that allocate, use and free leave nothing behind (a million: npm run soak -- memory)", () => {
  const report = kernelMemoryCycles(3000, 5);
  expect(Object.values(report.left).every((amount) => amount === 0)).toBe(true);
  // It was real: jobs ran and were seen, memory was short, contexts were lost.
  for (const key of ["jobs", "seen", "full", "contexts"] as const) expect(report[key], key).toBeGreaterThan(0);
});
