import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readAmberScript } from "./amber-script.ts";
import { scriptFromComments } from "./from-comments.ts";
import { type RunOptions, runScript } from "./run.ts";
import type { ReadScriptFile, Script } from "./script.ts";
import { ScriptError, UnsupportedError } from "./source.ts";
import { readVkScript } from "./vk-script.ts";

/** How one script ended. `reason` stands with `line` (0 where no line is to blame) for all but a plain PASS. */
export interface ScriptResult {
  readonly file: string;
  readonly status: "PASS" | "FAIL" | "SKIP";
  readonly line: number;
  readonly reason: string;
  readonly milliseconds: number;
}

export interface FileOptions extends RunOptions {
  /** The file is a shader with its script in comments `// amber: …`, where it has any. */
  readonly fromComments?: boolean;
}

/** A script named so must fail to pass. */
const mustFail = /\.expect_fail\.(amber|vkscript)$/;

/** Reads a script of either dialect: AmberScript starts with `#!amber`. Errors: `ScriptError`. */
export function readScript(file: string, text: string, readFile: ReadScriptFile): Script {
  // Nothing would fail in it, and nobody meant that.
  const isEmpty = text.split("\n").every((line) => /^(#|$)/.test(line.trim()));
  if (isEmpty) throw new ScriptError(1, "the script is empty");
  return text.startsWith("#!amber") ? readAmberScript(file, text, readFile) : readVkScript(file, text);
}

/** Reads and runs the script at `path`, which is called `file` in the answer. Never throws: a mistake of ours is a FAIL that says so. */
export async function runFile(path: string, file: string, options: FileOptions): Promise<ScriptResult> {
  const start = performance.now();
  const result = await judge(path, file, options);
  const milliseconds = performance.now() - start;
  if (!mustFail.test(file) || result.status === "SKIP") return { file, milliseconds, ...result };
  if (result.status === "FAIL") return { file, milliseconds, ...result, status: "PASS" };
  return { file, milliseconds, status: "FAIL", line: 0, reason: "passes, but its name says that it must fail" };
}

async function judge(
  path: string,
  file: string,
  options: FileOptions,
): Promise<Pick<ScriptResult, "status" | "line" | "reason">> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    return { status: "FAIL", line: 0, reason: `cannot be read: ${(error as NodeJS.ErrnoException).code ?? error}` };
  }
  const comments = options.fromComments === true ? scriptFromComments(text) : undefined;
  const lineOf = (line: number) => comments?.lineOf(line) ?? line;
  try {
    const script = readScript(file, comments?.text ?? text, (name) => readFileSync(join(dirname(path), name)));
    if (script.unsupported !== undefined) {
      return { status: "SKIP", ...script.unsupported, line: lineOf(script.unsupported.line) };
    }
    await runScript(script, options);
    return { status: "PASS", line: 0, reason: "" };
  } catch (error) {
    if (error instanceof UnsupportedError) return { status: "SKIP", line: lineOf(error.line), reason: error.message };
    if (error instanceof ScriptError) return { status: "FAIL", line: lineOf(error.line), reason: error.message };
    // one script must not end the run of the others, whatever it brought to light
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { status: "FAIL", line: 0, reason: `this is a mistake of ours: ${text}` };
  }
}
