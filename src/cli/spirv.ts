import { readFileSync, writeFileSync } from "node:fs";
import { fileProblem } from "../base/index.ts";
import { assemble, printModule, readModule, type SpirvTarget, validateModule } from "../spirv/index.ts";
import { showDiagnostics } from "./diagnostics.ts";
import { CliError, print } from "./environment.ts";

export type SpirvAction = "as" | "dis" | "val";

export interface SpirvFlags {
  readonly target?: SpirvTarget;
  readonly output?: string;
}

/**
 * The SPIR-V text tools: text to words, words to text, and the checks that a module must pass before it is compiled.
 * Answers the exit status: 1 where the input is not what the tool wants, with diagnostics on standard error.
 */
export function spirvTool(action: SpirvAction, file: string, flags: SpirvFlags): 0 | 1 {
  const bytes = input(file);
  const name = file === "-" ? "stdin" : file;
  if (action === "as") {
    const options = { file: name, ...(flags.target !== undefined && { target: flags.target }) };
    const assembled = assemble(bytes.toString("utf8"), options);
    if (!assembled.ok) return refused(assembled.diagnostics);
    const { buffer, byteOffset, byteLength } = assembled.words;
    output(flags.output, new Uint8Array(buffer, byteOffset, byteLength));
    return 0;
  }
  const read = readModule(bytes, { file: name });
  if (!read.ok) return refused(read.diagnostics);
  if (action === "dis") {
    output(flags.output, printModule(read.module));
    return 0;
  }
  const diagnostics = validateModule(read.module);
  return diagnostics.length === 0 ? 0 : refused(diagnostics);
}

function input(file: string): Buffer {
  try {
    return readFileSync(file === "-" ? 0 : file);
  } catch (error) {
    throw new CliError(1, `${file}: ${fileProblem(error)}`);
  }
}

function refused(diagnostics: Parameters<typeof showDiagnostics>[0]): 1 {
  showDiagnostics(diagnostics);
  return 1;
}

function output(target: string | undefined, content: string | Uint8Array): void {
  if (target !== undefined && target !== "-") {
    try {
      writeFileSync(target, content);
    } catch (error) {
      throw new CliError(3, `${target}: cannot write it: ${fileProblem(error)}`);
    }
  } else if (typeof content === "string") print(content);
  else process.stdout.write(content);
}
