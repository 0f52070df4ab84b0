import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Plugin } from "esbuild";

const reexport = /^export (type )?\{([^}]*)\} from "(\.\/[^"]+)";$/gm;
const reexportAll = /^export \* from "(\.\/[^"]+)";$/gm;
const ownConst = /^export const (\w+)/gm;
const importOf = /^import \{([^}]*)\} from "(\.\.?\/(?:[\w-]+\/)*index\.ts)";$/gm;

const namesOf = (list: string) =>
  list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

/** What a folder's `index.ts` gives: for each name the file it comes from, and its name there. */
async function readBarrel(
  path: string,
): Promise<ReadonlyMap<string, { readonly file: string; readonly name: string }>> {
  const found = new Map<string, { readonly file: string; readonly name: string }>();
  for (const [, , list = "", file = ""] of (await readFile(path, "utf8")).matchAll(reexport)) {
    for (const entry of namesOf(list)) {
      const [name = "", alias = name] = entry.replace(/^type /, "").split(" as ");
      found.set(alias, { file: join(dirname(path), file), name });
    }
  }
  for (const [, file = ""] of (await readFile(path, "utf8")).matchAll(reexportAll)) {
    const source = join(dirname(path), file);
    for (const [, name = ""] of (await readFile(source, "utf8")).matchAll(ownConst))
      found.set(name, { file: source, name });
  }
  return found;
}

/**
 * Imports through a folder's `index.ts` become imports of the files that the names come from. For the bundler whoever
 * imports an index reaches all of its folder, used or not: a server would parse the simulator at its start. `change` is
 * what is done to a file's text before.
 */
export function directImports(root: string, change: (text: string) => string = (text) => text): Plugin {
  const barrels = new Map<string, ReturnType<typeof readBarrel>>();
  const rewrite = async (path: string, text: string): Promise<string> => {
    const parts: string[] = [];
    let end = 0;
    for (const match of text.matchAll(importOf)) {
      const [whole, list = "", from = ""] = match;
      const barrel = join(dirname(path), from);
      const known = barrels.get(barrel) ?? readBarrel(barrel);
      barrels.set(barrel, known);
      const sources = await known;
      const lines = namesOf(list)
        .filter((entry) => !entry.startsWith("type "))
        .map((entry) => {
          const [name = "", alias = name] = entry.split(" as ");
          const source = sources.get(name) ?? { file: barrel, name };
          return `import { ${source.name} as ${alias} } from ${JSON.stringify(source.file)};`;
        });
      // On as many lines as before: places in stacks stay true.
      parts.push(text.slice(end, match.index), lines.join(" "), "\n".repeat(whole.split("\n").length - 1));
      end = match.index + whole.length;
    }
    return parts.join("") + text.slice(end);
  };
  return {
    name: "direct-imports",
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (!path.startsWith(join(root, "src/"))) return undefined;
        return { contents: await rewrite(path, change(await readFile(path, "utf8"))), loader: "ts" };
      });
    },
  };
}
