import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const root = "assembly/compiler";

/** `file NAME` of each place of the compiler that refuses a shader, with how many there are. */
function inSource(): Map<string, number> {
  const found = new Map<string, number>();
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name));
  for (const path of files) {
    const text = readFileSync(path, "utf8");
    const note = (name: string): void => {
      const site = `${relative(root, path)} ${name}`;
      found.set(site, (found.get(site) ?? 0) + 1);
    };
    // `lift/ids.ts` has the functions that the lifter's places call.
    if (!path.endsWith("lift/ids.ts")) {
      for (const [, name = ""] of text.matchAll(/\bunsupported(?:Width)?\(Unsupported\.(\w+)/g)) note(name);
      for (const [, name = ""] of text.matchAll(/\bFail\.(UNSUPPORTED|UNSUPPORTED_OP|BACKEND_UNSUPPORTED)\b/g))
        note(name);
      for (const _ of text.matchAll(/(?<!function )\bunsupported\(i\b/g)) note("BACKEND_UNSUPPORTED");
    }
  }
  return found;
}

/** The same of the tables of the document. */
function inDocument(): Map<string, number> {
  const listed = new Map<string, number>();
  for (const line of readFileSync("docs/unsupported.md", "utf8").split("\n")) {
    if (!line.startsWith("| `")) continue;
    const cell = line.split("|")[1] ?? "";
    for (const [, file, name, times] of cell.matchAll(/`([\w/-]+\.ts)` (\w+)(?: × (\d+))?/g)) {
      const site = `${file} ${name}`;
      expect(listed.has(site), `${site} stands there once`).toBe(false);
      listed.set(site, Number(times ?? 1));
    }
  }
  return listed;
}

const sorted = (sites: ReadonlyMap<string, number>): [string, number][] =>
  [...sites].sort(([a], [b]) => (a < b ? -1 : 1));

describe("what the compiler refuses", () => {
  it("stands in docs/unsupported.md, each place with its reason, and no other", () => {
    const source = inSource();
    expect(source.size).toBeGreaterThan(30);
    expect(sorted(inDocument())).toEqual(sorted(source));
  });

  it("has a text for each name", () => {
    const names = [...readFileSync(join(root, "lift/texts.ts"), "utf8").matchAll(/^ {2}(\w+) = \d+,$/gm)].map(
      ([, n]) => n,
    );
    const used = [...inSource().keys()].map((site) => site.split(" ")[1]);
    expect(names.filter((name) => !used.includes(name))).toEqual([]);
  });
});
