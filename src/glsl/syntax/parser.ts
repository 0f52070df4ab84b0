import { Diagnostics } from "../diagnostics.ts";
import { Sources } from "../source.ts";
import { T } from "../token.ts";
import { Tokens } from "../tokens.ts";
import type { Attribute, CompoundStmt, Condition, Decl, Expr, Stmt, TranslationUnit } from "./ast.ts";
import { SyntaxFailure } from "./cursor.ts";
import { DeclarationParser } from "./declarations.ts";

/** Parses a preprocessed shader. Errors go to `diagnostics`; the tree holds what could be read. */
export function parse(tokens: Tokens, diagnostics: Diagnostics): TranslationUnit {
  const parser = spare ?? new Parser();
  // one that a failure cuts short is left to the collector
  spare = undefined;
  const unit = parser.parse(tokens, diagnostics);
  spare = parser;
  return unit;
}

/** The parser of a compile before: making one costs as much as reading some lines. */
let spare: Parser | undefined;

/** What a parser holds that reads nothing, so that it keeps nothing of a compile alive. */
const noTokens = new Tokens();
const noDiagnostics = new Diagnostics(new Sources(), 0);
const noStrays: TranslationUnit["strays"] = [];
const noAttributes: readonly Attribute[] = [];

class Parser extends DeclarationParser {
  parse(tokens: Tokens, diagnostics: Diagnostics): TranslationUnit {
    this.begin(tokens, diagnostics);
    const unit = this.unit();
    this.begin(noTokens, noDiagnostics);
    return unit;
  }

  private unit(): TranslationUnit {
    let strays: TranslationUnit["strays"][number][] | undefined;
    while (this.kind !== T.Eof && !this.diagnostics.full) {
      if (this.kindAt(0) === T.Semicolon) {
        strays ??= [];
        strays.push({ position: this.position, end: this.end });
        this.take();
        continue;
      }
      if (this.kindAt(0) === T.RightBrace) {
        this.diagnostics.error("GLSL_STRAY_BRACE", {}, this.position, this.end);
        this.take();
        continue;
      }
      const start = this.at;
      const { top } = this.lists;
      try {
        this.lists.add(this.declaration());
      } catch (failure) {
        if (!(failure instanceof SyntaxFailure)) throw failure;
        this.depth = 0;
        this.lists.top = top;
        this.recover(start);
        // a stray `}` closes nothing here
        if (this.kind === T.RightBrace) this.take();
      }
    }
    return { decls: this.lists.end<Decl>(0), lostNames: this.lostNames, strays: strays ?? noStrays };
  }

  protected override compound(): CompoundStmt {
    const { position } = this;
    this.expect(T.LeftBrace, "'{'");
    const body = this.statements();
    return { kind: "compound", body, position, end: this.previousEnd };
  }

  /**
   * What a selection or loop holds: one level with the braces around it. It calls `statements` itself, as what nests in
   * each other should take few frames of the stack.
   */
  private body(): Stmt {
    if (this.kind !== T.LeftBrace) return this.statement();
    const { position } = this;
    this.take();
    const body = this.statements();
    return { kind: "compound", body, position, end: this.previousEnd };
  }

  /** Statements up to and with the `}`, each recovered on its own. */
  private statements(): readonly Stmt[] {
    const first = this.lists.top;
    while (this.kind !== T.RightBrace) {
      if (this.kind === T.Eof || this.diagnostics.full) this.fail("'}'");
      const start = this.at;
      const depth = this.depth;
      const { top } = this.lists;
      try {
        this.lists.add(this.statement());
      } catch (failure) {
        if (!(failure instanceof SyntaxFailure)) throw failure;
        if (this.kindAt(0) === T.Eof || this.diagnostics.full) throw failure;
        this.depth = depth;
        this.lists.top = top;
        this.recover(start);
      }
    }
    this.take();
    return this.lists.end<Stmt>(first);
  }

  private statement(): Stmt {
    const { position } = this;
    switch (this.kind) {
      case T.LeftBrace: {
        this.enter();
        const block = this.compound();
        this.leave();
        return block;
      }
      case T.Semicolon:
        this.take();
        return { kind: "empty", position, end: this.previousEnd };
      case T.LeftBracket:
        return this.attributed(position);
      case T.If:
        return this.ifStatement(position, noAttributes);
      case T.For:
        return this.forStatement(position, noAttributes);
      case T.Switch:
      case T.While:
      case T.Do:
        return this.control(position, noAttributes);
      case T.Case:
      case T.Default: {
        const isCase = this.kind === T.Case;
        this.take();
        const value = isCase ? this.expression() : undefined;
        this.expect(T.Colon, "':'");
        return { kind: "case", value, position, end: this.previousEnd };
      }
      case T.Break:
      case T.Continue:
      case T.Discard: {
        const kind = this.takeText() as "break" | "continue" | "discard";
        this.expect(T.Semicolon, "';'");
        return { kind, position, end: this.previousEnd };
      }
      case T.Return: {
        this.take();
        const value = this.kindAt(0) === T.Semicolon ? undefined : this.expression();
        this.expect(T.Semicolon, "';'");
        return { kind: "return", value, position, end: this.previousEnd };
      }
      default:
        return this.simpleStatement(position);
    }
  }

  private simpleStatement(position: number): Stmt {
    if (this.startsDeclaration()) {
      const decl = this.declaration();
      if (decl.kind !== "block") return { kind: "declaration", decl, position, end: this.previousEnd };
      this.diagnostics.error("GLSL_BLOCK_NOT_GLOBAL", { name: decl.name }, decl.position, decl.end);
      return { kind: "empty", position, end: this.previousEnd };
    }
    const expr = this.expression();
    this.expect(T.Semicolon, "';'");
    return { kind: "expression", expr, position, end: this.previousEnd };
  }

  private attributed(position: number): Stmt {
    return this.control(position, this.attributes());
  }

  /** `[[name, name(value)]]`. */
  protected override attributes(): Attribute[] {
    this.take();
    this.expect(T.LeftBracket, "'[['");
    const attributes: Attribute[] = [];
    do {
      const at = this.position;
      const name = this.expectName("an attribute name");
      let value: Expr | undefined;
      if (this.accept(T.LeftParen)) {
        value = this.conditional();
        this.expect(T.RightParen, "')'");
      }
      attributes.push({ name, value, position: at, end: this.previousEnd });
    } while (this.accept(T.Comma));
    this.expect(T.RightBracket, "']]'");
    this.expect(T.RightBracket, "']]'");
    return attributes;
  }

  /** Selections and loops. */
  private control(position: number, attributes: readonly Attribute[]): Stmt {
    switch (this.kind) {
      case T.If:
        return this.ifStatement(position, attributes);
      case T.Switch: {
        this.enter();
        this.take();
        const selector = this.parenthesised();
        this.expect(T.LeftBrace, "'{'");
        const body = this.statements();
        this.leave();
        return { kind: "switch", selector, body, attributes, position, end: this.previousEnd };
      }
      case T.While: {
        this.enter();
        this.take();
        this.expect(T.LeftParen, "'('");
        const condition = this.condition();
        this.expect(T.RightParen, "')'");
        const body = this.body();
        this.leave();
        return { kind: "while", condition, body, attributes, position, end: this.previousEnd };
      }
      case T.Do: {
        this.enter();
        this.take();
        const body = this.body();
        this.leave();
        this.expect(T.While, "'while'");
        const condition = this.parenthesised();
        this.expect(T.Semicolon, "';'");
        return { kind: "do", condition, body, attributes, position, end: this.previousEnd };
      }
      case T.For:
        return this.forStatement(position, attributes);
      default:
        return this.fail("if, switch or a loop after the attribute");
    }
  }

  private ifStatement(position: number, attributes: readonly Attribute[]): Stmt {
    const arms: { condition: Expr; body: Stmt }[] = [];
    let otherwise: Stmt | undefined;
    this.enter();
    for (;;) {
      this.expect(T.If, "'if'");
      const condition = this.parenthesised();
      arms.push({ condition, body: this.body() });
      if (!this.accept(T.Else)) break;
      if (this.kind === T.If) continue;
      otherwise = this.body();
      break;
    }
    this.leave();
    return { kind: "if", arms, otherwise, attributes, position, end: this.previousEnd };
  }

  private forStatement(position: number, attributes: readonly Attribute[]): Stmt {
    this.enter();
    this.take();
    this.expect(T.LeftParen, "'('");
    const initPosition = this.position;
    const init = this.accept(T.Semicolon) ? undefined : this.simpleStatement(initPosition);
    const condition = this.kind === T.Semicolon ? undefined : this.condition();
    this.expect(T.Semicolon, "';'");
    const step = this.kind === T.RightParen ? undefined : this.expression();
    this.expect(T.RightParen, "')'");
    const body = this.body();
    this.leave();
    return { kind: "for", init, condition, step, body, attributes, position, end: this.previousEnd };
  }

  private parenthesised(): Expr {
    this.expect(T.LeftParen, "'('");
    const inner = this.expression();
    this.expect(T.RightParen, "')'");
    return inner;
  }

  /** A loop's condition: an expression, or the declaration of one variable. */
  private condition(): Condition {
    if (!this.startsDeclaration()) return this.expression();
    const { position } = this;
    const qualifiers = this.qualifiers();
    const type = this.typeSpecifier();
    const declarator = this.declarator();
    if (declarator.initializer === undefined) this.fail("'='");
    return { kind: "variables", qualifiers, type, declarators: [declarator], position, end: this.previousEnd };
  }
}
