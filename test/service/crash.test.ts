import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { crashRounds } from "./crash-rounds.ts";

it("survives 20 × kill -9 during writes: always starts again, never a wrong byte", { timeout: 240_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "kiln-crash-"));
  try {
    const report = await crashRounds(folder, 20, 150, 1);
    expect(report).toMatchObject({ kills: 20, wrong: [], corrupt: 0, errors: 0 });
    // The rounds were not idle: there were writes to be killed in, and hits on what earlier rounds had written.
    expect(report.answers).toBeGreaterThan(100);
    expect(report.diskHits).toBeGreaterThan(20);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
