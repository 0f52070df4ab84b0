import { afterAll, beforeAll, expect, it } from "vitest";
import { bitFlips, clockJumps, countersAfterKill, faultFolder, limitHolds } from "./faults.ts";

// The same at length, with kills, bad disks and Redis: `npm run soak -- faults`.
let folder: Awaited<ReturnType<typeof faultFolder>>;
beforeAll(async () => {
  folder = await faultFolder();
});
afterAll(() => folder.remove());

it("three writers at once stay within the limit by du, one entry each aside", async () => {
  const { good, figures } = await limitHolds(folder.base, folder.writer, 3, 1.5);
  expect(good, JSON.stringify(figures)).toBe(true);
});

it("clocks that jump by hours change no byte and no count", async () => {
  const { good, figures } = await clockJumps(folder.base, folder.writer, 0.7);
  expect(good, JSON.stringify(figures)).toBe(true);
});

it("a killed process loses the counts of its last second at most", async () => {
  const { good, figures } = await countersAfterKill(folder.base, folder.writer, 1);
  expect(good, JSON.stringify(figures)).toBe(true);
});

it("a flipped bit in 1% of the entries is a miss, counted corrupt", async () => {
  const { good, figures } = await bitFlips(folder.base, 400);
  expect(good, JSON.stringify(figures)).toBe(true);
});
