/** A place in a source file. Lines and columns count from 1; columns count Unicode code points. */
export interface Span {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

export type Severity = "error" | "warning" | "note";

/** One message to the caller. `code` is stable and names a row of some folder's code table. */
export interface Diagnostic extends Span {
  readonly severity: Severity;
  readonly code: string;
  readonly message: string;
  readonly notes?: readonly DiagnosticNote[];
}

/** A related place: the previous declaration, a candidate overload. */
export interface DiagnosticNote extends Span {
  readonly message: string;
}

export type Blame = "caller" | "host" | "bug";

/** One row of an error table: HTTP status, whose fault it is, and the text with `{holes}`. */
export interface CodeRow {
  readonly status: number;
  readonly blame: Blame;
  readonly text: string;
}

type Holes<Text extends string> = Text extends `${string}{${infer Hole}}${infer Rest}` ? Hole | Holes<Rest> : never;

/** The values of a row's holes: a missing or misspelt hole is a type error. */
export type HoleValues<Text extends string> = { readonly [K in Holes<Text>]: string | number };

/** Keeps each row's text as a literal type, so that `HoleValues` can read its holes. */
export function defineCodes<const T extends Record<string, CodeRow>>(rows: T): T {
  return rows;
}

/** Fills the `{holes}` of a row's text. A hole without a value is left as it stands. */
export function fillHoles(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, hole: string) => (hole in values ? String(values[hole]) : whole));
}

/** A reporter bound to one code table: `report("GLSL_BAD_CONVERSION", { from, to }, span)`. */
export function reporter<T extends Record<string, CodeRow>>(codes: T, severity: Severity = "error") {
  return <K extends keyof T & string>(code: K, values: HoleValues<T[K]["text"]>, span: Span): Diagnostic => {
    const { file, line, column, endLine, endColumn } = span;
    const message = fillHoles((codes[code] as CodeRow).text, values);
    return { severity, code, message, file, line, column, endLine, endColumn };
  };
}

/** The span of a whole file, for messages that have no better place. */
export function fileSpan(file: string): Span {
  return { file, line: 1, column: 1, endLine: 1, endColumn: 1 };
}

/** `file:line:column: error: message [CODE]`, as compilers print it. */
export function formatDiagnostic(d: Diagnostic): string {
  return `${d.file}:${d.line}:${d.column}: ${d.severity}: ${d.message} [${d.code}]`;
}
