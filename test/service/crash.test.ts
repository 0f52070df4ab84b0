import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { crashRounds } from "./crash-rounds.ts";

// The store itself is killed 20 times in test/cache/crash.test.ts; here the whole server, whose start is the cost.
it("a server survives kill -9 during writes: starts again, never a wrong byte", { timeout: 240_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "kiln-crash-"));
  try {
    const report = await crashRounds(folder, 3, 40, 1);
    expect(report).toMatchObject({ kills: 3, wrong: [], corrupt: 0, errors: 0 });
    expect(report.answers).toBeGreaterThan(15);
    expect(report.diskHits).toBeGreaterThan(3);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
