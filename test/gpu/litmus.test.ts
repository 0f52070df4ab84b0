import { describe, expect, it } from "vitest";
import { oracle } from "../oracles.ts";
import { litmusTests, soakLitmus } from "./litmus.ts";

/** `npm run soak -- litmus` runs 5,000. */
const SEEDS = 24;

describe.skipIf(!oracle("llvm-mc-19"))("litmus tests in coherence mode", () => {
  for (const test of litmusTests) {
    it(`${test.isRight ? "holds for every seed" : "fails for some seed, which replays it"}: ${test.name}`, async () => {
      const { failing, isReplayed } = await soakLitmus(test, 1, SEEDS);
      expect(failing.length === 0, `failing seeds ${failing}`).toBe(test.isRight);
      expect(isReplayed).toBe(true);
    });
  }
});
