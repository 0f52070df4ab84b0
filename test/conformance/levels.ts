import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type CompileRequest, defaultRequest, type EntryPoint, readCodeObject } from "../../src/codeobj/index.ts";
import { compileShader } from "../../src/compile/index.ts";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { opName } from "../../src/spirv/index.ts";
import { type Fill, KernelRun, type RunResult } from "./aco-run.ts";
import { includesOf, shaderFiles } from "./shaders.ts";

const levels = [0, 1, 2] as const;
const fills: readonly Fill[] = ["small integers", "floats"];
const groups = [2, 2, 1] as const;

function entryAt(path: string, source: string, optimization: 0 | 1 | 2, core: CoreTools): EntryPoint | string {
  const request: CompileRequest = {
    ...defaultRequest,
    language: /^\s*(;|Op[A-Z]|%\w+\s*=\s*Op)/.test(source) ? "spirv-asm" : "glsl",
    source,
    includes: includesOf(path, source),
    stage: "compute",
    filename: path,
    options: { ...defaultRequest.options, optimization },
    pipeline: { floatControls: { contraction: false } },
  };
  const done = compileShader(request, core);
  if (!done.ok) return done.diagnostics[0]?.message ?? "refused";
  const read = readCodeObject(done.record.elf);
  return read.ok ? (read.object.entries[0] ?? "no entry") : read.message;
}

/** What the machine of the runs has no place for. */
function unsuited(entry: EntryPoint): string | undefined {
  const other = entry.reflection.resources.find(({ type }) => !/^(uniform|storage)Buffer$/.test(type));
  return other?.type;
}

/** First word in which two runs differ, or undefined. */
function difference(a: RunResult, b: RunResult): string | undefined {
  if (typeof a === "string" || typeof b === "string") {
    return a === b ? undefined : `one ends with ${typeof a === "string" ? a : String(b)}`;
  }
  for (const [k, words] of a.buffers.entries()) {
    const at = words.findIndex((word, i) => word !== b.buffers[k]![i]);
    if (at >= 0) return `buffer ${k} word ${at}: ${words[at]!.toString(16)} and ${b.buffers[k]![at]!.toString(16)}`;
  }
  return undefined;
}

/**
 * Runs every compute shader below `--root` that has no bindings but buffers, compiled at levels 0, 1 and 2 with the checked
 * core and contraction off, over the same memory: small integers, then floats. Prints those whose bits differ; shaders of
 * undefined results may, and stand in undefined-results.txt with the reason. True where nothing else differs.
 */
export async function levelsConformance(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: { root: { type: "string", multiple: true, default: [] } },
  });
  const listed = readFileSync(new URL("undefined-results.txt", import.meta.url), "utf8");
  const undefinedResults = listed.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const core = await createCore({ checked: true, opName });
  const counts = { run: 0, refused: 0, unsuited: 0, faulted: 0, undefined: 0, differ: 0 };
  for (const { path, stage } of values.root.flatMap((root) => shaderFiles(root))) {
    if (stage !== "compute") continue;
    const source = readFileSync(path, "utf8");
    const entries = levels.map((level) => entryAt(path, source, level, core));
    const good = entries.filter((entry) => typeof entry !== "string");
    if (good.length < levels.length) {
      counts.refused++;
      if (good.length > 0) console.log(`${path}: some levels only: ${entries.filter((e) => typeof e === "string")[0]}`);
      continue;
    }
    if (unsuited(good[0]!) !== undefined) {
      counts.unsuited++;
      continue;
    }
    let differs: string | undefined;
    let fault: string | undefined;
    for (const fill of fills) {
      const [first, ...others] = good.map((entry) => new KernelRun(entry, { groups, fill }).run(entry.code));
      if (typeof first === "string") fault ??= first;
      for (const [k, other] of others.entries()) {
        const found = difference(first!, other);
        if (found !== undefined) differs ??= `${fill}, level 0 and ${k + 1}: ${found}`;
      }
    }
    const isUndefined = undefinedResults.some((line) => path.endsWith(line));
    if (differs === undefined && fault !== undefined) counts.faulted++;
    else if (differs === undefined) counts.run++;
    else if (isUndefined) counts.undefined++;
    else counts.differ++;
    if (fault !== undefined) console.log(`${path}: ${fault}`);
    if (differs !== undefined && !isUndefined) console.log(`${path}: ${differs}`);
  }
  console.log(
    `${counts.run} shaders give the same bits at levels 0, 1, 2; ${counts.differ} differ, ${counts.undefined} of undefined results do; ` +
      `${counts.faulted} fault or run too long at all levels, ${counts.unsuited} have images, ${counts.refused} are refused`,
  );
  return counts.run > 0 && counts.differ === 0;
}
