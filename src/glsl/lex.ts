import type { SourceFile } from "./source.ts";
import { FIRST_ON_LINE, SPACE_BEFORE, T, type Token, type TokenKind } from "./token.ts";
import { wordOf } from "./words.ts";

/** Character classes by code below 128. */
const SPACE = 1;
const NEWLINE = 2;
const DIGIT = 4;
const LETTER = 8;
const classes = new Uint8Array(128);
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
}

const noRows: readonly OperatorRow[] = [];
const operatorsByFirst: OperatorRow[][] = [];
for (let c = 0; c < 128; c++) operatorsByFirst.push([]);
for (const [text, kind] of operatorRows) operatorsByFirst[text.charCodeAt(0)]!.push({ text, kind });

/** Operators of one character that no other starts with. */
const onlyOperators: readonly (OperatorRow | undefined)[] = operatorsByFirst.map((rows) =>
  rows.length === 1 && rows[0]!.text.length === 1 ? rows[0] : undefined,
);

/** Splits a file into preprocessing tokens, one call each. Comments and white space become flags. Never fails. */
export class Lexer {
  private at = 0;
  /** The first of the file's continuations that no comment before has passed. */
  private splice = 0;
  private readonly text: string;
  private readonly base: number;
  readonly file: SourceFile;
  private readonly continued: ((position: number) => void) | undefined;

  /** `continued` is told where a comment begins that a backslash at the end of its line carries on to the next. */
  constructor(file: SourceFile, continued?: (position: number) => void) {
    this.continued = continued;
    this.file = file;
    this.text = file.text;
    this.base = file.base;
  }

  next(): Token {
    const text = this.text;
    const length = text.length;
    let at = this.at;
    let flags = at === 0 ? FIRST_ON_LINE : 0;
    for (;;) {
      if (at >= length) {
        this.at = at;
        return this.token(T.Eof, length, length, flags | FIRST_ON_LINE);
      }
      const c = text.charCodeAt(at);
      const kind = c < 128 ? classes[c]! : 0;
      if (kind === SPACE) {
        at++;
        flags |= SPACE_BEFORE;
      } else if (kind === NEWLINE) {
        at++;
        flags |= FIRST_ON_LINE | SPACE_BEFORE;
      } else if (c === 47 && text.charCodeAt(at + 1) === 47) {
        const start = at;
        at += 2;
        while (at < length && text.charCodeAt(at) !== 10 && text.charCodeAt(at) !== 13) at++;
        flags |= SPACE_BEFORE;
        const splices = this.file.spliceOffsets;
        while (this.splice < splices.length && splices[this.splice]! < start + 2) this.splice++;
        if (this.splice < splices.length && splices[this.splice]! <= at) this.continued?.(this.base + start);
      } else if (c === 47 && text.charCodeAt(at + 1) === 42) {
        const close = text.indexOf("*/", at + 2);
        if (close < 0) {
          this.at = length;
          return this.token(T.OpenComment, at, at + 2, flags);
        }
        at = close + 2;
        flags |= SPACE_BEFORE;
      } else if (kind === LETTER) {
        const start = at++;
        let hash = c;
        for (; at < length; at++) {
          const letter = text.charCodeAt(at);
          if (letter >= 128 || (classes[letter]! & (LETTER | DIGIT)) === 0) break;
          hash = (Math.imul(hash, 31) + letter) | 0;
        }
        this.at = at;
        const { base } = this;
        const { text: word, keyword } = wordOf(text, start, at, hash);
        return { kind: T.Identifier, text: word, keyword, position: base + start, end: base + at, flags };
      } else if (kind === DIGIT || (c === 46 && isDigit(text.charCodeAt(at + 1)))) {
        const end = numberEnd(text, at);
        this.at = end;
        return this.token(T.Number, at, end, flags);
      } else if (c === 34) {
        return this.string(at, flags);
      } else {
        return this.operator(at, c, flags);
      }
    }
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
    const only = c < 128 ? onlyOperators[c] : undefined;
    if (only !== undefined) {
      this.at = at + 1;
      const position = this.base + at;
      const { kind } = only;
      return { kind, text: only.text, keyword: kind, position, end: position + 1, flags };
    }
    const rows = c < 128 ? operatorsByFirst[c]! : noRows;
    for (let row = 0; row < rows.length; row++) {
      const { text, kind } = rows[row]!;
      const width = text.length;
      if (width > 1 && this.text.charCodeAt(at + 1) !== text.charCodeAt(1)) continue;
      if (width > 2 && this.text.charCodeAt(at + 2) !== text.charCodeAt(2)) continue;
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
  return c >= 48 && c < 58;
}

function isWord(c: number): boolean {
  return c < 128 && (classes[c]! & (LETTER | DIGIT)) !== 0;
}

/** End of a numeric literal with its suffix, and of any letters glued to it (an error for the parser to name). */
function numberEnd(text: string, start: number): number {
  let at = start;
  if (text.charCodeAt(at) === 48 && (text.charCodeAt(at + 1) | 32) === 120) {
    at += 2;
    while (isWord(text.charCodeAt(at))) at++;
    return at;
  }
  while (isDigit(text.charCodeAt(at))) at++;
  if (text.charCodeAt(at) === 46) {
    at++;
    while (isDigit(text.charCodeAt(at))) at++;
  }
  if ((text.charCodeAt(at) | 32) === 101) {
    const sign = text.charCodeAt(at + 1);
    const digits = sign === 43 || sign === 45 ? at + 2 : at + 1;
    if (isDigit(text.charCodeAt(digits))) {
      at = digits;
      while (isDigit(text.charCodeAt(at))) at++;
    }
  }
  while (isWord(text.charCodeAt(at))) at++;
  return at;
}
