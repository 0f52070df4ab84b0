import type { Diagnostic } from "../base/index.ts";
import type { CompileRecord, CompileRequest } from "../codeobj/index.ts";

/**
 * Compiles see this name instead of the request's own, and answers get the request's: a moved file is no miss and
 * gives the same bytes. The folder stays where there are includes, since they are found beside the file.
 */
export function neutralFilename({ filename, includes }: CompileRequest): string {
  return `${Object.keys(includes).length === 0 ? "" : folderOf(filename)}shader`;
}

/** `a/b/` of `a/b/c`; empty for a bare name. */
export function folderOf(filename: string): string {
  return filename.slice(0, filename.lastIndexOf("/") + 1);
}

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
