import { describe, expect, it } from "vitest";
import { soakLitmus } from "../gpu/litmus.ts";
import { apiLitmusTests } from "./litmus.ts";

/** `npm run soak -- litmus` runs 5,000. */
const SEEDS = 6;

describe("litmus tests through the driver", () => {
  for (const test of apiLitmusTests) {
    it(`${test.isRight ? "holds for every seed" : "fails for some seed, which replays it"}: ${test.name}`, async () => {
      const { failing, isReplayed } = await soakLitmus(test, 1, SEEDS);
      expect(failing.length === 0, `failing seeds ${failing}`).toBe(test.isRight);
      expect(isReplayed).toBe(true);
    });
  }
});
