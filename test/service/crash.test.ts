import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { crashRounds } from "./crash-rounds.ts";

// So many shaders that nearly every answer is a write. The store alone is killed in test/cache/crash.test.ts too.
it("a server survives 20 × kill -9 during writes: starts again, never a wrong byte", { timeout: 400_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "kiln-crash-"));
  try {
    const report = await crashRounds({ folder, kills: 20, variants: 400, seed: 1 });
    expect(report).toMatchObject({ kills: 20, wrong: [], corrupt: 0, errors: 0, uncounted: 0 });
    expect(report.counted).toBeLessThanOrEqual(report.sent);
    expect(report.answers).toBeGreaterThan(100);
    expect(report.diskHits).toBeGreaterThan(50);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
