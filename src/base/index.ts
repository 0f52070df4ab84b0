export { Bug, invariant, unreachable } from "./bug.ts";
export { clockUs } from "./clock.ts";
export type { Blame, CodeRow, Diagnostic, DiagnosticNote, HoleValues, Severity, Span } from "./diagnostic.ts";
export { defineCodes, fileSpan, fillHoles, formatDiagnostic, reporter } from "./diagnostic.ts";
export { fileProblem, isFileError } from "./file-error.ts";
export { distFile, packageRoot } from "./package-files.ts";
export { suggest } from "./suggest.ts";
export { takeWords } from "./word-pool.ts";
