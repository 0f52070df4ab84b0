/**
 * Writes `assembly/gen` and the generated reference pages from the rows. `--check` writes nothing and exits 1 where
 * a file on disk differs: the test that generated files are true.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** A generated file: path from the repository's root, whole text. */
export interface GeneratedFile {
  readonly path: string;
  readonly text: string;
}

interface Generator {
  generate(): readonly GeneratedFile[];
}

/** All generated files, by running each module of `scripts/generate`. */
export async function generateAll(): Promise<readonly GeneratedFile[]> {
  const folder = new URL("./generate/", import.meta.url);
  const names = (await readdir(folder)).filter((name) => name.endsWith(".ts")).sort();
  const files: GeneratedFile[] = [];
  for (const name of names) {
    const generator = (await import(new URL(name, folder).href)) as Generator;
    files.push(...generator.generate());
  }
  return files;
}

async function current(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return undefined;
  }
}

if (process.argv[1]?.endsWith("generate.ts")) {
  const check = process.argv.includes("--check");
  let stale = 0;
  for (const file of await generateAll()) {
    if ((await current(file.path)) === file.text) continue;
    stale++;
    console.error(`${check ? "stale" : "wrote"}: ${file.path}`);
    if (check) continue;
    await mkdir(dirname(file.path), { recursive: true });
    await writeFile(file.path, file.text);
  }
  if (check && stale > 0) process.exit(1);
}
