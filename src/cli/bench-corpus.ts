import { type Dirent, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileProblem, packageRoot } from "../base/index.ts";
import type { CompileRequest } from "../codeobj/index.ts";
import { CliError } from "./environment.ts";
import { requestOf } from "./source-files.ts";

/** One shader of a bench: `id` is unique and fit for a file name. */
export interface BenchShader {
  readonly id: string;
  readonly file: string;
  readonly stage: BenchStage;
  readonly request: CompileRequest;
}

function filesBelow(folder: string): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw new CliError(1, `${folder}: ${fileProblem(error)}`);
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : [path];
  });
}

export const benchStages = ["comp", "vert", "frag"] as const;
export type BenchStage = (typeof benchStages)[number];

/** A `.spv` file counts as compute: nothing but its words says otherwise. */
const stageOfName = (file: string) => /\.(comp|vert|frag|spv)$/.exec(file)?.[1]?.replace("spv", "comp");

/**
 * The shaders of the stages below the folders (`.comp`, `.vert`, `.frag` text, of SPIR-V too where it begins with its
 * `; SPIR-V`; `.spv`), each text once. Without folders: the example kernels.
 * Errors: `CliError` 1 for a folder that cannot be read, 3 without any shader.
 */
export function benchShaders(folders: readonly string[], wanted: readonly BenchStage[] = benchStages): BenchShader[] {
  const roots = folders.length > 0 ? folders : [join(packageRoot(), "examples/kernels")];
  const seen = new Set<string>();
  const shaders: BenchShader[] = [];
  for (const root of roots) {
    for (const file of filesBelow(root)) {
      const stage = wanted.find((name) => name === stageOfName(file));
      if (stage === undefined) continue;
      const content = readFileSync(file).toString("latin1");
      if (seen.has(content)) continue;
      seen.add(content);
      const id = file
        .slice(root.length)
        .replace(/^\/+/, "")
        .replace(/[^\w.-]/g, "_");
      const request = requestOf(file, { stage });
      const isAssembly = request.source?.startsWith("; SPIR-V") === true;
      shaders.push({
        id: `${shaders.length}-${id}`,
        file,
        stage,
        request: isAssembly ? { ...request, language: "spirv-asm" } : request,
      });
    }
  }
  if (shaders.length === 0) throw new CliError(3, "no shaders to measure: give --corpus DIR");
  return shaders;
}
