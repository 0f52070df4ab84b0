import { type Diagnostic, formatDiagnostic } from "../base/index.ts";
import { complain } from "./environment.ts";

/** Prints diagnostics and their notes on standard error. */
export function showDiagnostics(diagnostics: readonly Diagnostic[]): void {
  for (const diagnostic of diagnostics) {
    complain(formatDiagnostic(diagnostic));
    for (const note of diagnostic.notes ?? []) {
      complain(`${note.file}:${note.line}:${note.column}: note: ${note.message}`);
    }
  }
}
