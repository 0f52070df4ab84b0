import type { Diagnostic } from "../base/index.ts";
import type { CompileRecord } from "../codeobj/index.ts";

/**
 * Compiles see this name instead of the request's own, and answers get the request's: a moved file is no miss and
 * gives the same bytes. Includes do not depend on it: their names count from the shader's own folder.
 */
export const neutralFilename = "shader";
/** The same for the other stage of a pipeline. */
export const neutralLinkedFilename = "linked shader";

/** Gives places in the file `from` the name `to`. */
export function renameDiagnostics(diagnostics: readonly Diagnostic[], from: string, to: string): Diagnostic[] {
  const rename = (file: string) => (file === from ? to : file);
  return diagnostics.map((diagnostic) => ({
    ...diagnostic,
    file: rename(diagnostic.file),
    ...(diagnostic.notes !== undefined && {
      notes: diagnostic.notes.map((note) => ({ ...note, file: rename(note.file) })),
    }),
  }));
}

export function renameRecord(record: CompileRecord, from: string, to: string): CompileRecord {
  if (from === to) return record;
  return {
    ...record,
    diagnostics: renameDiagnostics(record.diagnostics, from, to),
    sourceMap: record.sourceMap.map((entry) => (entry.file === from ? { ...entry, file: to } : entry)),
  };
}
