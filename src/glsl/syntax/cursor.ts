import type { Diagnostics } from "../diagnostics.ts";
import { Lists } from "../lists.ts";
import { T, type TokenKind } from "../token.ts";
import type { Tokens } from "../tokens.ts";

/**
 * How deep statements and expressions may nest: a selection or loop with its braces is one level, a pair of parentheses or a
 * call two. SPIR-V wants 1,023 levels of control flow, which are to have expressions in them. A level takes up to 0.7 kB
 * of the stack in the parser, the checker or the emitter, of the 984 kB that Node gives a thread by itself.
 */
const NESTING_LIMIT = 1050;

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
  protected readonly lists = new Lists();
  private lost: Set<string> | undefined;
  /** Syntax errors that were recovered from. */
  protected recovered = 0;
  /** The columns of the tokens, side by side here to be found fast. */
  private kinds!: Uint8Array;
  private texts!: readonly string[];
  private positions!: Int32Array;
  private ends!: Int32Array;
  private count = 0;
  protected diagnostics!: Diagnostics;

  /** Goes to the first of the tokens, as if nothing was read before. */
  protected begin(tokens: Tokens, diagnostics: Diagnostics): void {
    this.kinds = tokens.kinds;
    this.texts = tokens.texts;
    this.positions = tokens.positions;
    this.ends = tokens.ends;
    this.count = tokens.length;
    this.diagnostics = diagnostics;
    this.at = 0;
    this.depth = 0;
    this.lists.clear();
    this.lost = undefined;
    this.recovered = 0;
    this.typeNames = undefined;
  }

  protected get kind(): TokenKind {
    return this.kinds[this.at] as TokenKind;
  }

  protected get text(): string {
    return this.texts[this.at]!;
  }

  protected get position(): number {
    return this.positions[this.at]!;
  }

  protected get end(): number {
    return this.ends[this.at]!;
  }

  private kindOf(at: number): TokenKind {
    return at < this.count ? (this.kinds[at] as TokenKind) : T.Eof;
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
    return this.kindOf(this.at + ahead);
  }

  /** End of the token that was taken last. */
  protected get previousEnd(): number {
    return this.ends[Math.max(0, this.at - 1)]!;
  }

  /** Goes past the token; past the end of the file there is none. */
  protected take(): void {
    if (this.kind !== T.Eof) this.at++;
  }

  /** Goes past the token, whose text it is. */
  protected takeText(): string {
    const { text } = this;
    this.take();
    return text;
  }

  protected accept(kind: TokenKind): boolean {
    if (this.kind !== kind) return false;
    this.at++;
    return true;
  }

  protected expect(kind: TokenKind, wanted: string): void {
    if (this.kind !== kind) this.fail(wanted);
    this.take();
  }

  /** Goes past an identifier, which it is. */
  protected expectName(wanted: string): string {
    if (this.kind !== T.Identifier) this.fail(wanted);
    return this.takeText();
  }

  /** Reports the token in the way and leaves the statement. */
  protected fail(wanted: string): never {
    this.complain(wanted);
    throw new SyntaxFailure();
  }

  /** Reports the token in the way. */
  protected complain(wanted: string): void {
    const { kind, text, position, end } = this;
    if (kind === T.Bad) {
      this.diagnostics.error("GLSL_BAD_CHARACTER", { text }, position, end);
    } else if (kind === T.OpenComment) {
      this.diagnostics.error("GLSL_OPEN_COMMENT", {}, position, end);
    } else if (kind === T.Reserved) {
      this.diagnostics.error("GLSL_RESERVED_WORD", { name: text }, position, end);
    } else {
      // a keyword of a refused extension is read as a name, and in the way of what follows
      const previous = this.texts[Math.max(0, this.at - 1)]!;
      if (this.diagnostics.isOfRefused(text) || this.diagnostics.isOfRefused(previous)) return;
      const found = kind === T.Eof ? "the end of the file" : `'${text}'`;
      this.diagnostics.error("GLSL_SYNTAX", { wanted, found }, position, end);
    }
  }

  /** Runs one more level of nesting. */
  protected enter(): void {
    if (++this.depth <= NESTING_LIMIT) return;
    const { position, end } = this;
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
    this.recovered++;
    this.reportUnknownTypes(start);
    let opened = 0;
    for (let at = start; at < this.at; at++) {
      this.lose(at);
      const kind = this.kindOf(at);
      if (kind === T.LeftBrace) opened++;
      else if (kind === T.RightBrace) opened--;
    }
    // inside a list the text goes on behind its `}`
    let nesting = Math.max(0, opened);
    for (; this.kind !== T.Eof; this.at++) {
      const { kind } = this;
      this.lose(this.at);
      if (kind === T.LeftBrace) nesting++;
      else if (kind === T.RightBrace) {
        if (nesting === 0) return;
        if (--nesting === 0 && opened <= 0) {
          this.at++;
          this.accept(T.Semicolon);
          return;
        }
      } else if (kind === T.Semicolon && nesting === 0) {
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
      if (this.kindOf(at) !== T.Identifier || this.kindOf(at + 1) !== T.Identifier) continue;
      const name = this.texts[at]!;
      const isTag = at > 0 && this.kindOf(at - 1) === T.Struct;
      if (this.diagnostics.isOfRefused(name)) continue;
      if (isTag || this.typeNames?.has(name) === true || this.lostNames.has(name)) continue;
      this.diagnostics.error("GLSL_UNKNOWN_TYPE", { name }, this.positions[at]!, this.ends[at]!);
    }
  }

  /** Remembers a name that seems to be declared: one behind a type, a comma or `struct`. */
  private lose(at: number): void {
    if (this.kindOf(at) !== T.Identifier || this.kindOf(at + 1) === T.Identifier) return;
    if (at > 0 && declaresAfter.has(this.kindOf(at - 1))) this.loseName(this.texts[at]!);
  }
}
