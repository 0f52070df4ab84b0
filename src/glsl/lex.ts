import { keywordKind } from "./keywords.ts";
import type { SourceFile } from "./source.ts";
import { FIRST_ON_LINE, SPACE_BEFORE, T, type Token, type TokenKind } from "./token.ts";
import { kindOf, NO_WORD, textOf, wordAt } from "./words.ts";

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
 * The characters of a file as bytes, which are read faster than a string's: ASCII as it is, others `BEYOND`, then two
 * zeros at least, so that what looks ahead needs no bounds.
 */
function codesOf(file: SourceFile): Uint8Array {
  const { text } = file;
  const { length } = text;
  let codes = spareCodes.pop();
  if (codes === undefined || codes.length < length + 2) codes = new Uint8Array(Math.max(8192, 2 * length + 2));
  // all read into as many bytes as characters is ASCII all through; the array may be too short for other texts
  const encoded = length > 64 ? encoder.encodeInto(text, codes) : undefined;
  const isAscii = encoded?.read === length && encoded.written === length;
  if (isAscii) file.plain = true;
  else for (let at = 0; at < length; at++) codes[at] = Math.min(text.charCodeAt(at), BEYOND);
  codes[length] = 0;
  codes[length + 1] = 0;
  return codes;
}

/** Is told where a comment begins that a backslash at the end of its line carries on to the next. */
interface CommentListener {
  commentContinued(position: number): void;
}

/**
 * Splits a file into preprocessing tokens, one call each. Comments and white space become flags. Never fails. The token
 * read last is in the fields that a `Token` has: most go on into columns, and need no object.
 */
export class Lexer {
  kind: TokenKind = T.Eof;
  word = "";
  keyword: TokenKind = T.Eof;
  position = 0;
  end = 0;
  flags = 0;
  /** The code of a word's first letter. */
  initial = 0;
  private at = 0;
  /** The first of the file's continuations that no comment before has passed. */
  private splice = 0;
  private readonly text: string;
  /** The text's `codesOf` up to its end, which gives them to a later lexer. */
  private codes: Uint8Array;
  private readonly base: number;
  readonly file: SourceFile;
  private readonly listener: CommentListener | undefined;

  constructor(file: SourceFile, listener?: CommentListener) {
    this.listener = listener;
    this.file = file;
    this.text = file.text;
    this.codes = codesOf(file);
    this.base = file.base;
  }

  /** Reads a token and makes it an object. */
  next(): Token {
    this.advance();
    return this.token();
  }

  /** The token read last, as an object. */
  token(): Token {
    const { kind, word, keyword, position, end, flags } = this;
    return { kind, text: word, keyword, position, end, flags };
  }

  /** Reads the next token into the fields; past the end it is the end of the file, again and again. */
  advance(): void {
    const { text, codes } = this;
    const length = text.length;
    let at = this.at;
    let flags = at === 0 ? FIRST_ON_LINE : 0;
    if (codes === noCodes) {
      this.set(T.Eof, "", T.Eof, length, length, flags | FIRST_ON_LINE);
      return;
    }
    for (;;) {
      const c = codes[at]!;
      const kind = classes[c]!;
      // behind the text stands a character without class
      if (kind === LETTER) {
        const start = at++;
        let hash = c;
        for (;;) {
          const letter = codes[at]!;
          if ((classes[letter]! & (LETTER | DIGIT)) === 0) break;
          hash = (Math.imul(hash, 31) + letter) | 0;
          at++;
        }
        this.at = at;
        this.initial = c;
        this.setWord(T.Identifier, wordAt(text, codes, start, at, hash), start, at, flags);
        return;
      }
      if (kind === SPACE) {
        at++;
        flags |= SPACE_BEFORE;
      } else if (kind === NEWLINE) {
        at++;
        flags |= FIRST_ON_LINE | SPACE_BEFORE;
      } else if (at >= length) {
        this.at = at;
        this.release();
        this.set(T.Eof, "", T.Eof, length, length, flags | FIRST_ON_LINE);
        return;
      } else if (c === 47 && codes[at + 1] === 47) {
        const start = at;
        at += 2;
        while (at < length && codes[at] !== 10 && codes[at] !== 13) at++;
        flags |= SPACE_BEFORE;
        const splices = this.file.spliceOffsets;
        while (this.splice < splices.length && splices[this.splice]! < start + 2) this.splice++;
        if (this.splice < splices.length && splices[this.splice]! <= at)
          this.listener?.commentContinued(this.base + start);
      } else if (c === 47 && codes[at + 1] === 42) {
        const close = text.indexOf("*/", at + 2);
        if (close < 0) {
          this.at = length;
          this.set(T.OpenComment, "/*", T.OpenComment, at, at + 2, flags);
          return;
        }
        at = close + 2;
        flags |= SPACE_BEFORE;
      } else if (kind === DIGIT || (c === 46 && classes[codes[at + 1]!] === DIGIT)) {
        const end = numberEnd(codes, at);
        this.at = end;
        let hash = 0;
        for (let digit = at; digit < end; digit++) hash = (Math.imul(hash, 31) + codes[digit]!) | 0;
        this.setWord(T.Number, wordAt(text, codes, at, end, hash), at, end, flags);
        return;
      } else if (c === 34) {
        this.string(at, flags);
        return;
      } else {
        this.operator(at, c, flags);
        return;
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

  private string(start: number, flags: number): void {
    let at = start + 1;
    for (; at < this.text.length; at++) {
      const c = this.text.charCodeAt(at);
      if (c === 10 || c === 13) break;
      if (c === 34) {
        this.at = at + 1;
        this.set(T.String, this.text.slice(start, at + 1), T.String, start, at + 1, flags);
        return;
      }
    }
    this.at = start + 1;
    this.set(T.Bad, '"', T.Bad, start, start + 1, flags);
  }

  private operator(at: number, c: number, flags: number): void {
    const only = c < BEYOND ? onlyOperators[c] : undefined;
    if (only !== undefined) {
      this.at = at + 1;
      this.set(only.kind, only.text, only.kind, at, at + 1, flags);
      return;
    }
    const { codes } = this;
    const rows = c < BEYOND ? operatorsByFirst[c]! : noRows;
    for (let row = 0; row < rows.length; row++) {
      const { text, kind, width, second, third } = rows[row]!;
      if (width > 1 && codes[at + 1] !== second) continue;
      if (width > 2 && codes[at + 2] !== third) continue;
      this.at = at + width;
      this.set(kind, text, kind, at, at + width, flags);
      return;
    }
    const width = (this.text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
    this.at = at + width;
    this.set(T.Bad, this.text.slice(at, at + width), T.Bad, at, at + width, flags);
  }

  private setWord(kind: TokenKind, word: number, start: number, end: number, flags: number): void {
    if (word !== NO_WORD) {
      this.set(kind, textOf(word), kindOf(word), start, end, flags);
      return;
    }
    const text = this.text.slice(start, end);
    this.set(kind, text, keywordKind(text), start, end, flags);
  }

  private set(kind: TokenKind, word: string, keyword: TokenKind, start: number, end: number, flags: number): void {
    this.kind = kind;
    this.word = word;
    this.keyword = keyword;
    this.position = this.base + start;
    this.end = this.base + end;
    this.flags = flags;
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
