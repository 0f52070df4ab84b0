import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { generateAll } from "../../scripts/generate.ts";

describe("generated files", async () => {
  const files = await generateAll();

  it("exist", () => {
    expect(files.length).toBeGreaterThan(3);
  });

  it.each(files.map((file) => [file.path, file.text] as const))("%s is what its rows say", (path, text) => {
    // Not toEqual: a difference of two large files would take minutes to print.
    expect(readFileSync(path, "utf8") === text, `${path} is stale: run npm run generate`).toBe(true);
  });
});
