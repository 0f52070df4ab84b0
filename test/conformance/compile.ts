import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type CompileRequest, defaultRequest, type Stage } from "../../src/codeobj/index.ts";
import { compileShader } from "../../src/compile/index.ts";
import { type CoreTools, createCore } from "../../src/core/index.ts";
import { opName } from "../../src/spirv/index.ts";

const stages: Readonly<Record<string, Stage>> = { comp: "compute", vert: "vertex", frag: "fragment" };

function shaderFiles(root: string): string[] {
  if (statSync(root).isFile()) return [root];
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => stageOf(name) !== undefined)
    .map((name) => join(root, name))
    .sort();
}

function stageOf(name: string): Stage | undefined {
  return stages[name.slice(name.lastIndexOf(".") + 1)];
}

function requestOf(path: string, optimization: 0 | 1 | 2): CompileRequest {
  const source = readFileSync(path, "utf8");
  const isAssembly = /^\s*(;|Op[A-Z]|%\w+\s*=\s*Op)/.test(source);
  const stage = stageOf(path);
  return {
    ...defaultRequest,
    language: isAssembly ? "spirv-asm" : "glsl",
    source,
    ...(stage !== undefined && { stage }),
    filename: path,
    options: { ...defaultRequest.options, optimization },
  };
}

/** What one shader came to at one level. */
type Outcome =
  | { readonly kind: "compiled"; readonly elf: Uint8Array }
  | { readonly kind: "refused" | "lacking" | "bug"; readonly message: string };

function compileOnce(path: string, level: 0 | 1 | 2, core: CoreTools): Outcome {
  try {
    const done = compileShader(requestOf(path, level), core);
    if (done.ok) return { kind: "compiled", elf: done.record.elf };
    const [first] = done.diagnostics.filter((d) => d.severity === "error");
    const lacking = first !== undefined && /^(SPIRV_UNSUPPORTED|CORE_)/.test(first.code);
    return { kind: lacking ? "lacking" : "refused", message: `${first?.code}: ${first?.message}` };
  } catch (error) {
    return { kind: "bug", message: error instanceof Error ? error.message : String(error) };
  }
}

/** Files whose disassembly by llvm-objdump has an unknown instruction; undefined where there is no such tool. */
function undecoded(files: readonly string[], tool: string): string[] | undefined {
  const bad: string[] = [];
  for (let k = 0; k < files.length; k += 200) {
    const run = spawnSync(tool, ["-d", ...files.slice(k, k + 200)], { encoding: "utf8", maxBuffer: 1 << 30 });
    if (run.error !== undefined) return undefined;
    for (const part of run.stdout.split(/^(?=\S+:\tfile format)/m)) {
      if (part.includes("<unknown>")) bad.push(part.slice(0, part.indexOf(":")));
    }
  }
  return bad;
}

/**
 * Compiles every comp, vert and frag file below `--root` (may be given several times) with our own front end at levels
 * 0, 1, 2, by default with the checked core (IR validator, allocation checker), and counts. False where something broke:
 * a bug, or code that llvm-objdump does not decode. Shaders that the front end refuses are counted, not judged.
 */
export async function compileConformance(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      root: { type: "string", multiple: true, default: [] },
      release: { type: "boolean", default: false },
      level: { type: "string", multiple: true, default: ["0", "1", "2"] },
      objdump: { type: "string", default: "llvm-objdump-19" },
      verbose: { type: "boolean", default: false },
    },
  });
  const make = (): Promise<CoreTools> => createCore({ checked: !values.release, opName });
  let core = await make();
  const files = values.root.flatMap(shaderFiles);
  const out = mkdtempSync(join(tmpdir(), "kiln-compile-"));
  const written: string[] = [];
  const counts = new Map<string, number>();
  const reasons = new Map<string, number>();
  let broken = 0;
  for (const file of files) {
    for (const level of values.level.map(Number) as (0 | 1 | 2)[]) {
      const outcome = compileOnce(file, level, core);
      const key = `${stageOf(file)} level ${level} ${outcome.kind}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      if (outcome.kind === "compiled") {
        const elf = join(out, `${written.length}.elf`);
        writeFileSync(elf, outcome.elf);
        written.push(elf);
        continue;
      }
      if (outcome.kind === "bug") {
        core = await make();
        broken++;
      }
      if (outcome.kind !== "refused") {
        reasons.set(outcome.message, (reasons.get(outcome.message) ?? 0) + 1);
        if (values.verbose || outcome.kind === "bug") console.log(`${file} (level ${level}): ${outcome.message}`);
      }
    }
  }
  for (const [key, n] of [...counts].sort()) console.log(`${key}: ${n}`);
  for (const [reason, n] of [...reasons].sort((a, b) => b[1] - a[1]).slice(0, 40)) console.log(`${n} × ${reason}`);
  const bad = undecoded(written, values.objdump);
  console.log(
    bad === undefined
      ? `${values.objdump} is not installed`
      : `${written.length} code objects, ${bad.length} not decoded`,
  );
  rmSync(out, { recursive: true, force: true });
  return files.length > 0 && broken === 0 && (bad === undefined || bad.length === 0);
}
