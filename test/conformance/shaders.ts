import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";

const stages = { ".comp": "compute", ".vert": "vertex", ".frag": "fragment" } as const;

/** A shader file of a corpus. */
export interface ShaderFile {
  readonly path: string;
  readonly stage: "compute" | "vertex" | "fragment";
  /** `comp`, `vert` or `frag`. */
  readonly suffix: string;
}

/** The compute, vertex and fragment shaders under a folder (or the one file), in the order of their paths. */
export function shaderFiles(root: string): ShaderFile[] {
  if (!statSync(root).isDirectory()) return shaderFile(root);
  const files: ShaderFile[] = [];
  for (const name of readdirSync(root).sort()) files.push(...shaderFiles(join(root, name)));
  return files;
}

function shaderFile(path: string): ShaderFile[] {
  const suffix = extname(path);
  if (!Object.hasOwn(stages, suffix)) return [];
  return [{ path, stage: stages[suffix as keyof typeof stages], suffix: suffix.slice(1) }];
}

/** The files that a shader's `#include` lines name and that are there, with theirs, by the name in the line. */
export function includesOf(path: string, source: string): Record<string, string> {
  const found: Record<string, string> = {};
  const queue = [{ folder: dirname(path), text: source }];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    for (const [, name] of next.text.matchAll(/^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]/gm)) {
      const file = join(next.folder, name!);
      if (Object.hasOwn(found, name!) || basename(file) === "") continue;
      try {
        found[name!] = readFileSync(file, "utf8");
      } catch {
        continue;
      }
      queue.push({ folder: dirname(file), text: found[name!]! });
    }
  }
  return found;
}
