import { expect, it } from "vitest";
import { memoryCycles } from "./memory-cycles.ts";

it("cycles of allocation and free leave nothing behind (a million: npm run soak -- memory)", () => {
  const left = memoryCycles(5000, 3);
  expect(Object.values(left).every((amount) => amount === 0)).toBe(true);
});
