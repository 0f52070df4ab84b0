import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { passRows } from "../../src/ir/index.ts";

const text = readFileSync("docs/passes.md", "utf8");
const named = [...text.matchAll(/`([^`\s]+)`/g)].map(([, name = ""]) => name);

/** `a/{b,c}-*` as the patterns without braces. */
function alternatives(path: string): string[] {
  const braces = /^(.*)\{([^}]*)\}(.*)$/.exec(path);
  if (braces === null) return [path];
  const [, before = "", list = "", after = ""] = braces;
  return list.split(",").flatMap((one) => alternatives(before + one + after));
}

/** Whether a path, with `*` in its last part, is there. */
function isThere(path: string): boolean {
  if (!path.includes("*")) return existsSync(path);
  const at = path.lastIndexOf("/");
  const [start = "", end = ""] = path.slice(at + 1).split("*");
  const folder = path.slice(0, at);
  return existsSync(folder) && readdirSync(folder).some((name) => name.startsWith(start) && name.endsWith(end));
}

describe("docs/passes.md", () => {
  it("names each pass, and files that are there", () => {
    const missing = passRows
      .slice(1)
      .map(({ name }) => name)
      .filter((name) => !named.includes(name));
    expect(missing).toEqual([]);
    const paths = named.filter((name) => name.includes("/") || name.endsWith(".ts")).flatMap(alternatives);
    expect(paths.length).toBeGreaterThan(60);
    // Beside `lift/x.ts` and `test/…`: in a row of the back end's files the folder is said once, of a test's it is not.
    const folders = ["", "assembly/compiler", "assembly/compiler/backend", "assembly/compiler/passes", "test/core"];
    expect(paths.filter((path) => !/\bx[./]/.test(path) && !folders.some((at) => isThere(join(at, path))))).toEqual([]);
  });
});
