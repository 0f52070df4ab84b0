import { expect, it } from "vitest";
import { isolationRun } from "./isolation-fuzz.ts";

it("no sequence of ioctls, packets and shaders reads or writes another process's memory, and none leaks any (longer: npm run soak -- isolation)", () => {
  const report = isolationRun(20, 400);
  // The attacks are real: marks arrive in what is the attacker's own, and most others fault.
  expect(report.marks).toBeGreaterThan(1000);
  expect(report.faults).toBeGreaterThan(200);
  expect(report.closedBusy).toBeGreaterThan(3);
});
