import { expect, it } from "vitest";
import { memoryCycles } from "./memory-cycles.ts";

it("the driver's cycles of allocation and free leave nothing behind (a million: npm run soak -- memory)", async () => {
  const left = await memoryCycles(3000, 3);
  expect(Object.values(left).every((amount) => amount === 0)).toBe(true);
});
