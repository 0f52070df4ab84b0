import { expect, it } from "vitest";
import { removeTemporaryFolders, temporaryFolder } from "./harness.ts";
import { mixedLoad } from "./mixed-load.ts";

it("gives each of good, malformed and explosive requests an answer that is right for it", async () => {
  const report = await mixedLoad({ minutes: 0.08, clients: 4, cacheDir: temporaryFolder(), seed: 7 });
  removeTemporaryFolders();
  expect(report.unexpected).toEqual([]);
  expect(report.answers["good 200"]).toBeGreaterThan(0);
  expect(Object.keys(report.answers).some((name) => name.startsWith("malformed 4"))).toBe(true);
});
