import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkMatrix } from "../../scripts/import-matrix.ts";

describe("the import matrix", () => {
  it("holds for the whole tree, and the check has read it", async () => {
    const { modules, violations } = await checkMatrix(process.cwd());
    expect(violations).toEqual([]);
    expect(modules).toBeGreaterThan(50);
  });

  it.each([
    ["src/umd/planted.ts", "src-umd", 'import "../kmd/index.ts";\n', "src/kmd/index.ts"],
    ["src/cli/planted.ts", "front-door", 'import "../base/bug.ts";\n', "src/base/bug.ts"],
    ["src/base/planted.ts", "no-cycles", 'import "./target.ts";\n', "src/base/target.ts", 'import "./planted.ts";\n'],
    [
      "assembly/gpu/planted.ts",
      "gpu-trusts-no-encoder",
      'import "../gen/isa-encode.ts";\n',
      "assembly/gen/isa-encode.ts",
    ],
  ])("sees a forbidden import planted in %s", async (path, rule, text, target, targetText = "export {};\n") => {
    const folder = mkdtempSync(join(tmpdir(), "kiln-matrix-"));
    try {
      for (const name of ["src", "assembly", "tsconfig.json", "package.json"]) {
        cpSync(name, join(folder, name), { recursive: true });
      }
      mkdirSync(join(folder, path, ".."), { recursive: true });
      mkdirSync(join(folder, target, ".."), { recursive: true });
      writeFileSync(join(folder, target), targetText, { flag: "a" });
      writeFileSync(join(folder, path), text);
      const { violations } = await checkMatrix(folder);
      expect(violations).toContain(`${rule}: ${path} -> ${target}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
