import type { Span } from "../base/index.ts";

/** Characters that a search for a line goes through at most; further ones are looked up. */
const WALK_LIMIT = 4096;

interface LineOverride {
  /** Offset of the first character that the override holds for. */
  readonly offset: number;
  /** Physical line (from 0) that `line` stands for. */
  readonly physicalLine: number;
  readonly line: number;
  readonly name: string | undefined;
}

/** One file of a compile: text after joining continued lines, with what is needed to find the original places. */
export interface SourceFile {
  readonly name: string;
  readonly original: string;
  /** The text that the lexer reads: backslash-newline pairs are taken out. */
  readonly text: string;
  /** Position of the first character in the position space that all files of the compile share. */
  readonly base: number;
  /** Offsets in `text` where a continuation was taken out, and the characters taken out up to there. */
  readonly spliceOffsets: readonly number[];
  readonly spliceRemoved: readonly number[];
  /** Undefined where no `#line` stands. */
  lineOverrides: LineOverride[] | undefined;
  lineStarts: number[] | undefined;
  /** Physical line of the last place that was asked for. */
  lastLine: number;
  /** Every character is one code unit; undefined before it is asked. */
  plain: boolean | undefined;
}

/** A file of which nothing was asked yet; `base` is the position of its first character. */
export function sourceFile(name: string, original: string, base: number): SourceFile {
  const spliced = original.includes("\\") ? splice(original) : undefined;
  return {
    name,
    original,
    text: spliced === undefined ? original : spliced.text,
    base,
    spliceOffsets: spliced === undefined ? noNumbers : spliced.offsets,
    spliceRemoved: spliced === undefined ? noNumbers : spliced.removed,
    lineOverrides: undefined,
    lineStarts: undefined,
    lastLine: 0,
    plain: undefined,
  };
}

/**
 * All files of one compile. A position is one number: the file's `base` plus an offset in its spliced text; so tokens
 * and nodes carry two numbers, and lines and columns are worked out only for what is reported.
 */
export class Sources {
  /** In order of their bases. */
  files: SourceFile[] = [];
  private nextBase = 0;
  private lastFile: SourceFile | undefined;

  add(name: string, original: string): SourceFile {
    const file = sourceFile(name, original, this.nextBase);
    this.nextBase += file.text.length + 1;
    // an array that grows has room for seventeen, and most shaders are one file
    if (this.files.length === 0) this.files = [file];
    else this.files.push(file);
    return file;
  }

  fileOf(position: number): SourceFile {
    const last = this.lastFile;
    if (last !== undefined && position >= last.base && position <= last.base + last.text.length) return last;
    let low = 0;
    let high = this.files.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.files[middle]!.base <= position) low = middle;
      else high = middle - 1;
    }
    const file = this.files[low]!;
    this.lastFile = file;
    return file;
  }

  /** `#line`: from the physical line after `position` on, lines count from `line`. */
  overrideLine(position: number, line: number, name: string | undefined): void {
    const file = this.fileOf(position);
    const offset = position - file.base;
    file.lineOverrides ??= [];
    const previous = file.lineOverrides.at(-1);
    const physicalLine = this.physicalLine(file, offset) + 1;
    file.lineOverrides.push({ offset, physicalLine, line, name: name ?? previous?.name });
  }

  /** `#line` with a source-string number: 0 is the file itself, others are shown beside its name. */
  overrideString(position: number, line: number, number: string): void {
    const file = this.fileOf(position);
    const name = file.lineOverrides?.at(-1)?.name?.replace(/ \(string \d+\)$/, "") ?? file.name;
    this.overrideLine(position, line, /^0+$/.test(number) ? name : `${name} (string ${number})`);
  }

  /** Name and line as `__FILE__` and `__LINE__` see them. */
  line(position: number): { readonly file: string; readonly line: number } {
    const file = this.fileOf(position);
    const offset = position - file.base;
    return this.named(file, offset, this.physicalLine(file, offset));
  }

  private named(file: SourceFile, offset: number, physical: number): { readonly file: string; readonly line: number } {
    if (file.lineOverrides === undefined) return { file: file.name, line: physical + 1 };
    const override = overrideAt(file, offset, physical);
    if (override === undefined) return { file: file.name, line: physical + 1 };
    return { file: override.name ?? file.name, line: override.line + physical - override.physicalLine };
  }

  /** What `locate` found last; columns of all places in [`from`, `until`) count on from `from`, on the same line. */
  readonly found = { file: "", line: 0, column: 0, from: 0, until: 0 };
  /** The file that `locate` walks through line by line, whether it may, and the line it is at: offsets in the text. */
  private walked: SourceFile | undefined;
  private isWalked = false;
  private walkedLine = 0;
  private walkedFrom = 0;
  private walkedUntil = 0;

  /** As `place`, with the answer in `found`: an object for each line of a shader would be many. */
  locate(position: number): void {
    const file = this.fileOf(position);
    const { found } = this;
    if (file.plain !== true || file.lineOverrides !== undefined || !this.walks(file)) {
      const { file: name, line, column } = this.place(position);
      found.file = name;
      found.line = line;
      found.column = column;
      found.from = 0;
      found.until = 0;
      return;
    }
    const offset = position - file.base;
    this.walkTo(file, offset);
    found.file = file.name;
    found.line = this.walkedLine + 1;
    found.column = 1 + offset - this.walkedFrom;
    found.from = file.base + this.walkedFrom;
    found.until = file.base + this.walkedUntil;
  }

  /** Whether the lines of a file end at nothing but line feeds, as those of most do. */
  private walks(file: SourceFile): boolean {
    if (file !== this.walked) {
      this.walked = file;
      this.isWalked = file.spliceOffsets.length === 0 && !file.text.includes("\r");
      this.walkedLine = -1;
      this.walkedFrom = 0;
      this.walkedUntil = 0;
    }
    return this.isWalked;
  }

  private walkTo(file: SourceFile, offset: number): void {
    const { text } = file;
    let line = this.walkedLine;
    let from = this.walkedFrom;
    let until = this.walkedUntil;
    if (offset < from - WALK_LIMIT || offset > until + WALK_LIMIT) {
      line = this.physicalLine(file, offset);
      const starts = this.lineStarts(file);
      from = starts[line]!;
      until = starts[line + 1] ?? text.length + 1;
    }
    for (; offset >= until; line++) {
      from = until;
      until = text.indexOf("\n", from) + 1;
      // the last line ends behind the text
      if (until === 0) until = text.length + 1;
    }
    for (; offset < from; line--) {
      until = from;
      // mostly a few characters, for which this is faster than a search from the end
      for (from = until - 1; from > 0 && text.charCodeAt(from - 1) !== 10; ) from--;
    }
    this.walkedLine = line;
    this.walkedFrom = from;
    this.walkedUntil = until;
  }

  /** Line and column from 1; the column counts code points. */
  place(position: number): { readonly file: string; readonly line: number; readonly column: number } {
    const file = this.fileOf(position);
    const offset = originalOffset(file, position - file.base);
    const physical = this.physicalLine(file, position - file.base);
    const start = this.lineStarts(file)[physical]!;
    file.plain ??= !/[\ud800-\udfff]/.test(file.original);
    let column = 1;
    if (file.plain) column += Math.max(0, offset - start);
    else for (let at = start; at < offset; column++) at += (file.original.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
    const { file: name, line } = this.named(file, position - file.base, physical);
    return { file: name, line, column };
  }

  /** The half-open range of positions as a span; `endColumn` is one past the last character. */
  span(start: number, end: number): Span {
    const from = this.place(start);
    const to = end > start ? this.place(end) : from;
    const { file, line, column } = from;
    if (to.file !== file || to.line < line) return { file, line, column, endLine: line, endColumn: column };
    return { file, line, column, endLine: to.line, endColumn: to.column };
  }

  private lineStarts(file: SourceFile): number[] {
    if (file.lineStarts !== undefined) return file.lineStarts;
    const starts = [0];
    const text = file.original;
    if (!text.includes("\r")) {
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
      file.lineStarts = starts;
      return starts;
    }
    for (let at = 0; at < text.length; at++) {
      const c = text.charCodeAt(at);
      if (c === 13 && text.charCodeAt(at + 1) === 10) at++;
      if (c === 10 || c === 13) starts.push(at + 1);
    }
    file.lineStarts = starts;
    return starts;
  }

  private physicalLine(file: SourceFile, offset: number): number {
    const at = originalOffset(file, offset);
    const starts = this.lineStarts(file);
    const last = file.lastLine;
    if (starts[last]! <= at) {
      // places come mostly in order: the same line, or one of the next
      if (at < (starts[last + 1] ?? Number.POSITIVE_INFINITY)) return last;
      if (at < (starts[last + 2] ?? Number.POSITIVE_INFINITY)) {
        file.lastLine = last + 1;
        return last + 1;
      }
    }
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= at) low = middle;
      else high = middle - 1;
    }
    file.lastLine = low;
    return low;
  }
}

function overrideAt(file: SourceFile, offset: number, physicalLine: number): LineOverride | undefined {
  const overrides = file.lineOverrides ?? [];
  for (let at = overrides.length - 1; at >= 0; at--) {
    const override = overrides[at]!;
    if (override.offset <= offset && override.physicalLine <= physicalLine) return override;
  }
  return undefined;
}

function originalOffset(file: SourceFile, offset: number): number {
  const offsets = file.spliceOffsets;
  if (offsets.length === 0) return offset;
  let low = -1;
  let high = offsets.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (offsets[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return low < 0 ? offset : offset + file.spliceRemoved[low]!;
}

const noNumbers: readonly number[] = [];

/** Takes the continued lines of a text out. */
function splice(original: string): { text: string; offsets: readonly number[]; removed: readonly number[] } {
  const offsets: number[] = [];
  const removed: number[] = [];
  const parts: string[] = [];
  let length = 0;
  let from = 0;
  for (const match of original.matchAll(/\\(?:\r\n|\n|\r)/g)) {
    parts.push(original.slice(from, match.index));
    length += match.index - from;
    from = match.index + match[0].length;
    offsets.push(length);
    removed.push(from - length);
  }
  parts.push(original.slice(from));
  return { text: parts.join(""), offsets, removed };
}
