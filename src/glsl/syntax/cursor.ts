import type { Diagnostics } from "../diagnostics.ts";
import { T, type Token, type TokenKind } from "../token.ts";

/** How deep expressions, statements and initialiser lists may nest. */
const NESTING_LIMIT = 256;

/** Kinds of tokens that a declared name stands behind. */
const declaresAfter: ReadonlySet<TokenKind> = new Set<TokenKind>([
  T.Identifier,
  T.TypeName,
  T.Void,
  T.Struct,
  T.Comma,
  T.RightBracket,
  T.RightBrace,
  T.Bad,
]);

/** Most shaders lose no names: theirs are none. */
const noNames: ReadonlySet<string> = new Set();

/** Thrown inside the parser only, from the place of a syntax error to the nearest statement or declaration. */
export class SyntaxFailure extends Error {}

/** The parser's view of the tokens: look, take, complain. */
export class Cursor {
  protected at = 0;
  protected depth = 0;
  private lost: Set<string> | undefined;
  protected readonly tokens: readonly Token[];
  protected readonly diagnostics: Diagnostics;

  constructor(tokens: readonly Token[], diagnostics: Diagnostics) {
    this.tokens = tokens;
    this.diagnostics = diagnostics;
  }

  protected get token(): Token {
    return this.tokens[this.at]!;
  }

  protected get kind(): TokenKind {
    return this.tokens[this.at]!.kind;
  }

  private loseName(name: string): void {
    this.lost ??= new Set();
    this.lost.add(name);
  }

  /** Names whose declarations could not be read. */
  get lostNames(): ReadonlySet<string> {
    return this.lost ?? noNames;
  }

  /** Kind of the token `ahead` places on; the end of file beyond the last. */
  protected kindAt(ahead: number): TokenKind {
    return this.tokens[this.at + ahead]?.kind ?? T.Eof;
  }

  /** End of the token that was taken last. */
  protected get previousEnd(): number {
    return this.tokens[Math.max(0, this.at - 1)]!.end;
  }

  protected take(): Token {
    const token = this.token;
    if (token.kind !== T.Eof) this.at++;
    return token;
  }

  protected accept(kind: TokenKind): boolean {
    if (this.kind !== kind) return false;
    this.at++;
    return true;
  }

  protected expect(kind: TokenKind, wanted: string): Token {
    if (this.kind !== kind) this.fail(wanted);
    return this.take();
  }

  /** Reports the token in the way and leaves the statement. */
  protected fail(wanted: string): never {
    const token = this.token;
    const { position, end } = token;
    if (token.kind === T.Bad) {
      this.diagnostics.error("GLSL_BAD_CHARACTER", { text: token.text }, position, end);
    } else if (token.kind === T.OpenComment) {
      this.diagnostics.error("GLSL_OPEN_COMMENT", {}, position, end);
    } else if (token.kind === T.Reserved) {
      this.diagnostics.error("GLSL_RESERVED_WORD", { name: token.text }, position, end);
    } else {
      const found = token.kind === T.Eof ? "the end of the file" : `'${token.text}'`;
      this.diagnostics.error("GLSL_SYNTAX", { wanted, found }, position, end);
    }
    throw new SyntaxFailure();
  }

  /** Runs one more level of nesting. */
  protected enter(): void {
    if (++this.depth <= NESTING_LIMIT) return;
    const { position, end } = this.token;
    this.diagnostics.error("GLSL_NESTING", { limit: NESTING_LIMIT }, position, end);
    throw new SyntaxFailure();
  }

  protected leave(): void {
    this.depth--;
  }

  /**
   * After a syntax error that began at token `start`: goes past the `;` or the `{ … }` that ends the broken text, or
   * stops before a `}` that closes what is around it. Names passed over are remembered as lost.
   */
  protected recover(start: number): void {
    this.reportUnknownTypes(start);
    let opened = 0;
    for (let at = start; at < this.at; at++) {
      this.lose(at);
      const { kind } = this.tokens[at]!;
      if (kind === T.LeftBrace) opened++;
      else if (kind === T.RightBrace) opened--;
    }
    // inside a list the text goes on behind its `}`
    let nesting = Math.max(0, opened);
    for (; this.kind !== T.Eof; this.at++) {
      const token = this.token;
      this.lose(this.at);
      if (token.kind === T.LeftBrace) nesting++;
      else if (token.kind === T.RightBrace) {
        if (nesting === 0) return;
        if (--nesting === 0 && opened <= 0) {
          this.at++;
          this.accept(T.Semicolon);
          return;
        }
      } else if (token.kind === T.Semicolon && nesting === 0) {
        this.at++;
        return;
      }
    }
  }

  /** Names of the structs and blocks that were read so far. */
  private typeNames: Set<string> | undefined;

  protected addTypeName(name: string): void {
    this.typeNames ??= new Set();
    this.typeNames.add(name);
  }

  /** The broken text is not checked, so a type in front of the error that no struct has is reported here. */
  private reportUnknownTypes(start: number): void {
    for (let at = start; at < this.at; at++) {
      const { kind, text, position, end } = this.tokens[at]!;
      if (kind !== T.Identifier || this.tokens[at + 1]?.kind !== T.Identifier) continue;
      const known =
        this.typeNames?.has(text) === true || this.lostNames.has(text) || this.tokens[at - 1]?.kind === T.Struct;
      if (!known) this.diagnostics.error("GLSL_UNKNOWN_TYPE", { name: text }, position, end);
    }
  }

  /** Remembers a name that seems to be declared: one behind a type, a comma or `struct`. */
  private lose(at: number): void {
    const token = this.tokens[at]!;
    if (token.kind !== T.Identifier || this.tokens[at + 1]?.kind === T.Identifier) return;
    if (declaresAfter.has(this.tokens[at - 1]?.kind ?? T.Eof)) this.loseName(token.text);
  }
}
