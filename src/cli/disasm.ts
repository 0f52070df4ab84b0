import { readFileSync } from "node:fs";
import { fileProblem } from "../base/index.ts";
import { assemblerText } from "../service/index.ts";
import { CliError, print } from "./environment.ts";

/** Prints a code object's assembler text. */
export function disasm(file: string): void {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file === "-" ? 0 : file);
  } catch (error) {
    throw new CliError(1, `${file}: ${fileProblem(error)}`);
  }
  const read = assemblerText(bytes);
  if (!read.ok) throw new CliError(1, `${file}: ${read.message}`);
  print(read.text);
}
