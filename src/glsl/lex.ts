import type { SourceFile } from "./source.ts";
import { FIRST_ON_LINE, SPACE_BEFORE, T, type Token, type TokenKind } from "./token.ts";
import { wordOf } from "./words.ts";

/** Character classes by code, those beyond ASCII as one (`BEYOND`). */
const SPACE = 1;
const NEWLINE = 2;
const DIGIT = 4;
const LETTER = 8;
const classes = new Uint8Array(129);
for (const c of " \t\v\f") classes[c.charCodeAt(0)] = SPACE;
for (const c of "\n\r") classes[c.charCodeAt(0)] = NEWLINE;
for (let c = 48; c < 58; c++) classes[c] = DIGIT;
for (let c = 65; c < 91; c++) classes[c] = classes[c + 32] = LETTER;
classes[95] = LETTER;

/** Operators by their text, longest first for each first character. */
const operatorRows: readonly (readonly [string, TokenKind])[] = [
  ["<<=", T.ShiftLeftEqual],
  [">>=", T.ShiftRightEqual],
  ["<<", T.ShiftLeft],
  [">>", T.ShiftRight],
  ["<=", T.LessEqual],
  [">=", T.GreaterEqual],
  ["==", T.EqualEqual],
  ["!=", T.BangEqual],
  ["&&", T.AndAnd],
  ["||", T.OrOr],
  ["^^", T.XorXor],
  ["++", T.PlusPlus],
  ["--", T.MinusMinus],
  ["+=", T.PlusEqual],
  ["-=", T.MinusEqual],
  ["*=", T.StarEqual],
  ["/=", T.SlashEqual],
  ["%=", T.PercentEqual],
  ["&=", T.AndEqual],
  ["|=", T.OrEqual],
  ["^=", T.XorEqual],
  ["##", T.HashHash],
  ["(", T.LeftParen],
  [")", T.RightParen],
  ["[", T.LeftBracket],
  ["]", T.RightBracket],
  ["{", T.LeftBrace],
  ["}", T.RightBrace],
  [".", T.Dot],
  [",", T.Comma],
  [";", T.Semicolon],
  [":", T.Colon],
  ["?", T.Question],
  ["+", T.Plus],
  ["-", T.Minus],
  ["*", T.Star],
  ["/", T.Slash],
  ["%", T.Percent],
  ["<", T.Less],
  [">", T.Greater],
  ["&", T.Ampersand],
  ["|", T.Pipe],
  ["^", T.Caret],
  ["!", T.Bang],
  ["~", T.Tilde],
  ["=", T.Equal],
  ["#", T.Hash],
];

interface OperatorRow {
  readonly text: string;
  readonly kind: TokenKind;
  readonly width: number;
  /** Its second and third character, 0 where it has none. */
  readonly second: number;
  readonly third: number;
}

const noRows: readonly OperatorRow[] = [];
const operatorsByFirst: OperatorRow[][] = [];
for (let c = 0; c < 128; c++) operatorsByFirst.push([]);
for (const [text, kind] of operatorRows) {
  const [first, second, third] = [0, 1, 2].map((at) => (at < text.length ? text.charCodeAt(at) : 0));
  operatorsByFirst[first!]!.push({ text, kind, width: text.length, second: second!, third: third! });
}

/** Operators of one character that no other starts with. */
const onlyOperators: readonly (OperatorRow | undefined)[] = operatorsByFirst.map((rows) =>
  rows.length === 1 && rows[0]!.text.length === 1 ? rows[0] : undefined,
);

/** Stands for every character beyond ASCII, none of which starts or carries on a token. */
const BEYOND = 128;
const encoder = new TextEncoder();
const noCodes = new Uint8Array(2);
/** Arrays of lexers that are done: making one costs as much as filling it. */
const spareCodes: Uint8Array[] = [];
const SPARE_COUNT = 4;
const SPARE_LENGTH = 1 << 18;

/**
 * The characters of a text as bytes, which are read faster than a string's: ASCII as it is, others `BEYOND`, then two
 * zeros at least, so that what looks ahead needs no bounds.
 */
function codesOf(text: string): Uint8Array {
  const { length } = text;
  let codes = spareCodes.pop();
  if (codes === undefined || codes.length < length + 2) codes = new Uint8Array(Math.max(8192, 2 * length + 2));
  // all read into as many bytes as characters is ASCII all through; the array may be too short for other texts
  const encoded = length > 64 ? encoder.encodeInto(text, codes) : undefined;
  const isAscii = encoded?.read === length && encoded.written === length;
  if (!isAscii) for (let at = 0; at < length; at++) codes[at] = Math.min(text.charCodeAt(at), BEYOND);
  codes[length] = 0;
  codes[length + 1] = 0;
  return codes;
}

/** Splits a file into preprocessing tokens, one call each. Comments and white space become flags. Never fails. */
export class Lexer {
  private at = 0;
  /** The first of the file's continuations that no comment before has passed. */
  private splice = 0;
  private readonly text: string;
  /** The text's `codesOf` up to its end, which gives them to a later lexer. */
  private codes: Uint8Array;
  private readonly base: number;
  readonly file: SourceFile;
  private readonly continued: ((position: number) => void) | undefined;

  /** `continued` is told where a comment begins that a backslash at the end of its line carries on to the next. */
  constructor(file: SourceFile, continued?: (position: number) => void) {
    this.continued = continued;
    this.file = file;
    this.text = file.text;
    this.codes = codesOf(file.text);
    this.base = file.base;
  }

  next(): Token {
    const { text, codes, base } = this;
    const length = text.length;
    let at = this.at;
    let flags = at === 0 ? FIRST_ON_LINE : 0;
    for (;;) {
      if (at >= length) {
        this.at = at;
        this.release();
        return this.token(T.Eof, length, length, flags | FIRST_ON_LINE);
      }
      const c = codes[at]!;
      const kind = classes[c]!;
      if (kind === SPACE) {
        at++;
        flags |= SPACE_BEFORE;
      } else if (kind === NEWLINE) {
        at++;
        flags |= FIRST_ON_LINE | SPACE_BEFORE;
      } else if (kind === LETTER) {
        const start = at++;
        let hash = c;
        for (;;) {
          const letter = codes[at]!;
          if ((classes[letter]! & (LETTER | DIGIT)) === 0) break;
          hash = (Math.imul(hash, 31) + letter) | 0;
          at++;
        }
        this.at = at;
        const { text: word, keyword } = wordOf(text, codes, start, at, hash);
        return { kind: T.Identifier, text: word, keyword, position: base + start, end: base + at, flags };
      } else if (c === 47 && codes[at + 1] === 47) {
        const start = at;
        at += 2;
        while (at < length && codes[at] !== 10 && codes[at] !== 13) at++;
        flags |= SPACE_BEFORE;
        const splices = this.file.spliceOffsets;
        while (this.splice < splices.length && splices[this.splice]! < start + 2) this.splice++;
        if (this.splice < splices.length && splices[this.splice]! <= at) this.continued?.(base + start);
      } else if (c === 47 && codes[at + 1] === 42) {
        const close = text.indexOf("*/", at + 2);
        if (close < 0) {
          this.at = length;
          return this.token(T.OpenComment, at, at + 2, flags);
        }
        at = close + 2;
        flags |= SPACE_BEFORE;
      } else if (kind === DIGIT || (c === 46 && classes[codes[at + 1]!] === DIGIT)) {
        const end = numberEnd(codes, at);
        this.at = end;
        let hash = 0;
        for (let digit = at; digit < end; digit++) hash = (Math.imul(hash, 31) + codes[digit]!) | 0;
        const { text: word } = wordOf(text, codes, at, end, hash);
        return { kind: T.Number, text: word, keyword: T.Number, position: base + at, end: base + end, flags };
      } else if (c === 34) {
        return this.string(at, flags);
      } else {
        return this.operator(at, c, flags);
      }
    }
  }

  private release(): void {
    const { codes } = this;
    if (codes === noCodes) return;
    this.codes = noCodes;
    if (codes.length <= SPARE_LENGTH && spareCodes.length < SPARE_COUNT) spareCodes.push(codes);
  }

  /** The rest of the line at `position`, comments and all; the lexer goes on at the line's end. */
  restOfLine(position: number): string {
    const start = position - this.base;
    let end = start;
    while (end < this.text.length && this.text.charCodeAt(end) !== 10 && this.text.charCodeAt(end) !== 13) end++;
    this.at = Math.max(this.at, end);
    return this.text.slice(start, end);
  }

  private string(start: number, flags: number): Token {
    let at = start + 1;
    for (; at < this.text.length; at++) {
      const c = this.text.charCodeAt(at);
      if (c === 10 || c === 13) break;
      if (c === 34) {
        this.at = at + 1;
        return this.token(T.String, start, at + 1, flags);
      }
    }
    this.at = start + 1;
    return this.token(T.Bad, start, start + 1, flags);
  }

  private operator(at: number, c: number, flags: number): Token {
    const only = c < BEYOND ? onlyOperators[c] : undefined;
    if (only !== undefined) {
      this.at = at + 1;
      const position = this.base + at;
      const { kind } = only;
      return { kind, text: only.text, keyword: kind, position, end: position + 1, flags };
    }
    const { codes } = this;
    const rows = c < BEYOND ? operatorsByFirst[c]! : noRows;
    for (let row = 0; row < rows.length; row++) {
      const { text, kind, width, second, third } = rows[row]!;
      if (width > 1 && codes[at + 1] !== second) continue;
      if (width > 2 && codes[at + 2] !== third) continue;
      this.at = at + width;
      return { kind, text, keyword: kind, position: this.base + at, end: this.base + at + width, flags };
    }
    const width = (this.text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
    this.at = at + width;
    return this.token(T.Bad, at, at + width, flags);
  }

  private token(kind: TokenKind, start: number, end: number, flags: number): Token {
    const { base } = this;
    return { kind, text: this.text.slice(start, end), keyword: kind, position: base + start, end: base + end, flags };
  }
}

function isDigit(c: number): boolean {
  return classes[c] === DIGIT;
}

function isWord(c: number): boolean {
  return (classes[c]! & (LETTER | DIGIT)) !== 0;
}

/** End of a numeric literal with its suffix, and of any letters glued to it (an error for the parser to name). */
function numberEnd(codes: Uint8Array, start: number): number {
  let at = start;
  if (codes[at] === 48 && (codes[at + 1]! | 32) === 120) {
    at += 2;
    while (isWord(codes[at]!)) at++;
    return at;
  }
  while (isDigit(codes[at]!)) at++;
  if (codes[at] === 46) {
    at++;
    while (isDigit(codes[at]!)) at++;
  }
  if ((codes[at]! | 32) === 101) {
    const sign = codes[at + 1]!;
    const digits = sign === 43 || sign === 45 ? at + 2 : at + 1;
    if (isDigit(codes[digits]!)) {
      at = digits;
      while (isDigit(codes[at]!)) at++;
    }
  }
  while (isWord(codes[at]!)) at++;
  return at;
}
