import { type Diagnostic, type DiagnosticNote, fillHoles, type HoleValues } from "../base/index.ts";
import { codeRows, type GlslCodes } from "./codes.ts";
import { mayBring } from "./refused.ts";
import type { Sources } from "./source.ts";

export type GlslCode = keyof GlslCodes;

/** A related place for a message, before positions become lines. */
export interface Note {
  readonly message: string;
  readonly position: number;
  readonly end: number;
}

/** Collects the messages of one compile; at most one a place and code, at most `limit` errors. */
export class Diagnostics {
  private readonly found: { readonly order: number; readonly item: Diagnostic }[] = [];
  private seen: Set<string> | undefined;
  private readonly sources: Sources;
  private readonly limit: number;
  private errors = 0;

  constructor(sources: Sources, limit: number) {
    this.sources = sources;
    this.limit = limit;
  }

  /** All messages in source order; those of included files follow those of the shader. */
  get items(): Diagnostic[] {
    if (this.found.length === 0) return [];
    return this.found.toSorted((a, b) => (a.order === b.order ? 0 : a.order - b.order)).map(({ item }) => item);
  }

  get hasErrors(): boolean {
    return this.errors > 0;
  }

  /** No further message is kept: whoever loops may stop. */
  get full(): boolean {
    return this.errors >= this.limit;
  }

  private refused: string[] | undefined;

  /** Notes an extension that the shader requires and this compiler lacks: that is reported, what follows of it is not. */
  refuse(extension: string): void {
    this.refused ??= [];
    this.refused.push(extension);
  }

  /** Whether the name may be of an extension that was refused. */
  isOfRefused(name: string): boolean {
    return this.refused?.some((extension) => mayBring(extension, name)) === true;
  }

  error<K extends GlslCode>(
    code: K,
    values: HoleValues<GlslCodes[K]["text"]>,
    position: number,
    end: number,
    notes: readonly Note[] = [],
  ): void {
    this.add("error", code, values, position, end, notes);
  }

  /** An error that stands last in the list whatever its place: the messages before it hold without it. */
  errorLast<K extends GlslCode>(
    code: K,
    values: HoleValues<GlslCodes[K]["text"]>,
    position: number,
    end: number,
  ): void {
    this.add("error", code, values, position, end, [], Number.POSITIVE_INFINITY);
  }

  warn<K extends GlslCode>(code: K, values: HoleValues<GlslCodes[K]["text"]>, position: number, end: number): void {
    this.add("warning", code, values, position, end, []);
  }

  private add(
    severity: "error" | "warning",
    code: GlslCode,
    values: Readonly<Record<string, string | number>>,
    position: number,
    end: number,
    notes: readonly Note[],
    order = position,
  ): void {
    const key = `${position}:${code}`;
    this.seen ??= new Set();
    if (this.seen.has(key)) return;
    if (severity === "error" ? this.errors >= this.limit : this.found.length >= 2 * this.limit) return;
    this.seen.add(key);
    if (severity === "error") this.errors++;
    const message = fillHoles(codeRows()[code].text, values);
    const place = this.sources.span(position, end);
    const placed: DiagnosticNote[] = notes
      .filter((note) => note.position >= 0)
      .map((note) => ({ message: note.message, ...this.sources.span(note.position, note.end) }));
    const item = { severity, code, message, ...place, ...(placed.length > 0 ? { notes: placed } : {}) };
    this.found.push({ order, item });
  }
}
