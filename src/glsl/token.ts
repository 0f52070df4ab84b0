/** Token kinds. Numbers, not strings: the parser compares one for each token it looks at. */
export const T = {
  Eof: 0,
  Identifier: 1,
  /** Numeric literal, unchecked text. */
  Number: 2,
  String: 3,
  /** A character that starts no token. */
  Bad: 4,
  /** `#` that starts a directive or stands in a macro body. */
  Hash: 5,
  HashHash: 6,
  /** A comment that the file's end cut short. */
  OpenComment: 7,
  /** Preprocessor only: nothing, where an empty macro argument stood. */
  Placemarker: 8,

  LeftParen: 10,
  RightParen: 11,
  LeftBracket: 12,
  RightBracket: 13,
  LeftBrace: 14,
  RightBrace: 15,
  Dot: 16,
  Comma: 17,
  Semicolon: 18,
  Colon: 19,
  Question: 20,
  Plus: 21,
  Minus: 22,
  Star: 23,
  Slash: 24,
  Percent: 25,
  Less: 26,
  Greater: 27,
  LessEqual: 28,
  GreaterEqual: 29,
  EqualEqual: 30,
  BangEqual: 31,
  ShiftLeft: 32,
  ShiftRight: 33,
  Ampersand: 34,
  Pipe: 35,
  Caret: 36,
  AndAnd: 37,
  OrOr: 38,
  XorXor: 39,
  Bang: 40,
  Tilde: 41,
  PlusPlus: 42,
  MinusMinus: 43,
  Equal: 44,
  PlusEqual: 45,
  MinusEqual: 46,
  StarEqual: 47,
  SlashEqual: 48,
  PercentEqual: 49,
  ShiftLeftEqual: 50,
  ShiftRightEqual: 51,
  AndEqual: 52,
  OrEqual: 53,
  XorEqual: 54,

  /** Name of a built-in type. */
  TypeName: 60,
  /** Storage, precision, interpolation, memory qualifier: one kind, told apart by text. */
  Qualifier: 61,
  Layout: 62,
  Struct: 63,
  If: 64,
  Else: 65,
  For: 66,
  While: 67,
  Do: 68,
  Switch: 69,
  Case: 70,
  Default: 71,
  Break: 72,
  Continue: 73,
  Return: 74,
  Discard: 75,
  Precision: 76,
  Void: 77,
  True: 78,
  False: 79,
  /** A word that the specification keeps for later. */
  Reserved: 80,
  /** Lexer only: name of a type of some width, a keyword where an extension brings it. */
  SizedName: 81,
} as const;

export type TokenKind = (typeof T)[keyof typeof T];

/** First token of its line: only there does `#` start a directive. */
export const FIRST_ON_LINE = 1;
export const SPACE_BEFORE = 2;
/** A macro's own name inside its expansion: never expanded again. */
export const NO_EXPAND = 4;

/**
 * `position` and `end` are positions of `Sources`; a token out of a macro has those of the macro's use. Keywords are
 * identifiers here.
 */
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** What an identifier is to the parser where it is no macro; of other tokens their own kind. */
  readonly keyword: TokenKind;
  readonly position: number;
  readonly end: number;
  readonly flags: number;
}
