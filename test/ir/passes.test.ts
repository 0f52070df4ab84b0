import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { passRows } from "../../src/ir/index.ts";

const folder = "test/ir";
const files = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .flatMap((entry) => readdirSync(join(folder, entry.name)).map((name) => join(folder, entry.name, name)))
  .filter((path) => path.endsWith(".ir"))
  .sort();

/** `; test PASS`, the input, `; expect`, the exact text after the pass. */
function readCase(path: string): { pass: string; input: string; expected: string } {
  const text = readFileSync(path, "utf8");
  const pass = /^; test ([\w-]+)$/m.exec(text)?.[1];
  const [input, expected] = text.split(/^; expect\n/m);
  if (pass === undefined || input === undefined || expected === undefined) throw new Error(`${path}: not a pass test`);
  return { pass, input, expected };
}

/** `BLESS=1` rewrites the expected text; refused where `CI` is set. */
const bless = process.env.BLESS === "1" && !process.env.CI;

describe("IR passes", () => {
  let core: CoreTools;
  beforeAll(async () => {
    core = await createCore({ checked: true });
  });

  for (const path of files) {
    it(path.slice(folder.length + 1), () => {
      const { pass, input, expected } = readCase(path);
      const result = core.runPass(input, pass);
      if (!result.ok) throw new Error(JSON.stringify(result.failures));
      if (bless)
        writeFileSync(
          path,
          readFileSync(path, "utf8").replace(expected, () => result.ir),
        );
      else expect(result.ir).toBe(expected);
      // What a pass has done it need not do again, and the result reads back the same.
      const read = core.runPass(result.ir, "none");
      expect(read.ok && read.ir).toBe(result.ir);
    });
  }

  it("each pass has a basic, an edge and a no-change case", () => {
    for (const { name } of passRows.slice(1)) {
      const names = files
        .filter((path) => path.startsWith(join(folder, name, "/")))
        .map((path) => path.split("/").at(-1) ?? "");
      expect(names, name).toContain("basic.ir");
      expect(names, name).toContain("no-change.ir");
      expect(
        names.some((file) => file.startsWith("edge")),
        name,
      ).toBe(true);
    }
  });
});
