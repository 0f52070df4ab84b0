import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { Bug } from "./bug.ts";

let root: string | undefined;

/** The folder that holds our package.json, whether we run from `src` or bundled in `dist`. */
export function packageRoot(): string {
  if (root !== undefined) return root;
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json"))) {
      root = folder;
      return folder;
    }
    if (folder === dirname(folder)) throw new Bug("no package.json above this module");
  }
}

/** A built file: `distFile("wasm/compiler.release.wasm")`. It need not exist. */
export function distFile(path: string): string {
  return join(packageRoot(), "dist", path);
}
