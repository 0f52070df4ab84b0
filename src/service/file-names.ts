import type { Diagnostic } from "../base/index.ts";
import type { CompileRecord } from "../codeobj/index.ts";

/**
 * Compiles see this name instead of the request's own, and answers get the request's: a moved file is no miss and
 * gives the same bytes.
 */
export const neutralFilename = "shader";

const rename = (file: string, to: string) => (file === neutralFilename ? to : file);

export function renameDiagnostics(diagnostics: readonly Diagnostic[], filename: string): Diagnostic[] {
  return diagnostics.map((diagnostic) => ({
    ...diagnostic,
    file: rename(diagnostic.file, filename),
    ...(diagnostic.notes !== undefined && {
      notes: diagnostic.notes.map((note) => ({ ...note, file: rename(note.file, filename) })),
    }),
  }));
}

export function renameRecord(record: CompileRecord, filename: string): CompileRecord {
  if (filename === neutralFilename) return record;
  return {
    ...record,
    diagnostics: renameDiagnostics(record.diagnostics, filename),
    sourceMap: record.sourceMap.map((entry) => ({ ...entry, file: rename(entry.file, filename) })),
  };
}
