import { T, type TokenKind } from "../token.ts";
import type {
  Attribute,
  CompoundStmt,
  Decl,
  Declarator,
  FunctionDecl,
  LayoutId,
  NameExpr,
  Parameter,
  PrecisionDecl,
  Qualifier,
  QualifierDecl,
  StructSpecifier,
  TypeSpecifier,
  VariableDecl,
} from "./ast.ts";
import { SyntaxFailure } from "./cursor.ts";
import { ExpressionParser, noDimensions } from "./expressions.ts";
import { nameExpr } from "./nodes.ts";

const noNames: readonly NameExpr[] = [];

function isLocalSizeId({ name }: LayoutId): boolean {
  return name.startsWith("local_size_");
}

/** Whether the qualifiers are a whole declaration: the workgroup's size. */
function isLocalSize(qualifiers: readonly Qualifier[]): boolean {
  return qualifiers.at(-1)?.name === "in" && qualifiers.at(-2)?.layout?.some(isLocalSizeId) === true;
}

/** Parses declarations: variables, blocks, functions, qualifiers alone. */
export abstract class DeclarationParser extends ExpressionParser {
  protected abstract compound(): CompoundStmt;
  protected abstract attributes(): readonly Attribute[];

  /** Whether a declaration starts here; anything else is an expression or a control statement. */
  protected startsDeclaration(): boolean {
    switch (this.kind) {
      case T.Qualifier:
      case T.Layout:
      case T.Struct:
      case T.Void:
      case T.Precision:
        return true;
      case T.TypeName:
        return this.kindAfterDimensions() !== T.LeftParen;
      case T.Identifier:
        return this.isNonUniformQualifier() || this.kindAfterDimensions() === T.Identifier;
      default:
        return false;
    }
  }

  /** Kind of the token behind a type name and its `[…]`. */
  private kindAfterDimensions(): TokenKind {
    let ahead = 1;
    while (this.kindAt(ahead) === T.LeftBracket) {
      let nesting = 0;
      for (; ; ahead++) {
        const kind = this.kindAt(ahead);
        if (kind === T.LeftBracket) nesting++;
        else if (kind === T.RightBracket && --nesting === 0) break;
        else if (kind === T.Eof || kind === T.Semicolon || kind === T.LeftBrace) return T.Eof;
      }
      ahead++;
    }
    return this.kindAt(ahead);
  }

  protected declaration(): Decl {
    if (this.kind === T.Precision) return this.precision();
    // attributes of a function say nothing that code here depends on
    if (this.kindAt(0) === T.LeftBracket && this.kindAt(1) === T.LeftBracket) this.attributes();
    const start = this.position;
    const qualifiers = this.qualifiers();
    if (qualifiers.length > 0) {
      if (this.kind !== T.Semicolon && isLocalSize(qualifiers) && this.startsDeclaration()) {
        // what follows is a declaration of its own
        this.complain("';'");
        return { kind: "qualifiers", qualifiers, names: noNames, position: start, end: this.previousEnd };
      }
      if (this.kind === T.Semicolon) return this.qualifierDecl(start, qualifiers, false);
      if (this.kind === T.Identifier) {
        const next = this.kindAt(1);
        if (next === T.LeftBrace) return this.block(start, qualifiers);
        if (next === T.Semicolon || next === T.Comma) return this.qualifierDecl(start, qualifiers, true);
      }
    }
    const type = this.typeSpecifier();
    if (this.kind === T.Identifier && this.kindAt(1) === T.LeftParen) return this.functionDecl(start, qualifiers, type);
    return this.variables(start, qualifiers, type);
  }

  private precision(): PrecisionDecl {
    const { position } = this;
    this.take();
    const precision = this.text;
    this.expect(T.Qualifier, "highp, mediump or lowp");
    const type = this.typeSpecifier();
    this.expect(T.Semicolon, "';'");
    return { kind: "precision", precision, type, position, end: this.previousEnd };
  }

  private qualifierDecl(position: number, qualifiers: readonly Qualifier[], named: boolean): QualifierDecl {
    const first = this.lists.top;
    if (named) {
      do {
        const { position: at, end } = this;
        this.lists.add(nameExpr(this.expectName("a name"), at, end));
      } while (this.accept(T.Comma));
    }
    const names = this.lists.end<NameExpr>(first);
    this.expect(T.Semicolon, "';'");
    return { kind: "qualifiers", qualifiers, names, position, end: this.previousEnd };
  }

  /** `nonuniformEXT` is a name, and a qualifier where no parenthesis follows. */
  private isNonUniformQualifier(): boolean {
    return this.kind === T.Identifier && this.text === "nonuniformEXT" && this.kindAt(1) !== T.LeftParen;
  }

  protected qualifiers(): readonly Qualifier[] {
    const start = this.lists.top;
    let sized: readonly LayoutId[] | undefined;
    for (;;) {
      const { kind, position } = this;
      if (kind === T.Qualifier || this.isNonUniformQualifier()) {
        const name = this.takeText();
        this.lists.add({ name, layout: undefined, position, end: this.previousEnd });
        if (name === "in" && sized?.some(isLocalSizeId) === true) return this.lists.end<Qualifier>(start);
      } else if (kind === T.Layout) {
        this.take();
        const layout = this.layoutIds();
        sized = layout;
        this.lists.add({ name: "layout", layout, position, end: this.previousEnd });
      } else {
        return this.lists.end<Qualifier>(start);
      }
    }
  }

  private layoutIds(): readonly LayoutId[] {
    this.expect(T.LeftParen, "'('");
    const start = this.lists.top;
    do {
      const { kind, position } = this;
      const name = this.takeText();
      // `shared` is a keyword and a layout name
      if (kind !== T.Identifier && name !== "shared") {
        this.at--;
        this.fail("a layout qualifier");
      }
      const value = this.accept(T.Equal) ? this.conditional() : undefined;
      this.lists.add({ name, value, position, end: this.previousEnd });
    } while (this.accept(T.Comma));
    this.expect(T.RightParen, "',' or ')'");
    return this.lists.end<LayoutId>(start);
  }

  protected typeSpecifier(): TypeSpecifier {
    const { kind, position } = this;
    if (kind === T.Struct) {
      const struct = this.struct();
      const dimensions = this.dimensions();
      return { name: struct.name, builtin: false, struct, dimensions, position, end: this.previousEnd };
    }
    if (kind === T.TypeName || kind === T.Void || kind === T.Identifier) return this.typeName();
    return this.fail("a type");
  }

  private struct(): StructSpecifier {
    const { position } = this;
    this.take();
    const name = this.kind === T.Identifier ? this.takeText() : "";
    if (name !== "") this.addTypeName(name);
    this.expect(T.LeftBrace, "'{'");
    const members = this.memberList();
    return { name, members, position, end: this.previousEnd };
  }

  /** Members up to and with the `}`. */
  private memberList(): readonly VariableDecl[] {
    const first = this.lists.top;
    this.enter();
    if (this.kind === T.RightBrace) {
      this.diagnostics.error("GLSL_EMPTY_STRUCT", {}, this.position, this.end);
    }
    while (this.kindAt(0) !== T.RightBrace) {
      const start = this.at;
      const depth = this.depth;
      const { top } = this.lists;
      try {
        const { position } = this;
        const qualifiers = this.qualifiers();
        this.lists.add(this.variables(position, qualifiers, this.typeSpecifier()));
      } catch (failure) {
        if (!(failure instanceof SyntaxFailure)) throw failure;
        this.depth = depth;
        this.lists.top = top;
        this.recover(start);
        if (this.kind === T.Eof) this.fail("'}'");
      }
    }
    this.take();
    this.leave();
    return this.lists.end<VariableDecl>(first);
  }

  private block(position: number, qualifiers: readonly Qualifier[]): Decl {
    const namePosition = this.position;
    const name = this.takeText();
    this.addTypeName(name);
    this.expect(T.LeftBrace, "'{'");
    const members = this.memberList();
    let instance: Declarator | undefined;
    if (this.kind === T.Identifier) {
      const { text, position: at, end } = this;
      this.take();
      const dimensions = this.dimensions();
      instance = { name: text, dimensions, initializer: undefined, position: at, end };
    }
    this.expect(T.Semicolon, "';'");
    return { kind: "block", qualifiers, name, namePosition, members, instance, position, end: this.previousEnd };
  }

  private variables(position: number, qualifiers: readonly Qualifier[], type: TypeSpecifier): VariableDecl {
    const first = this.lists.top;
    if (this.kind !== T.Semicolon) {
      do this.lists.add(this.declarator());
      while (this.accept(T.Comma));
    }
    const declarators = this.lists.end<Declarator>(first);
    this.expect(T.Semicolon, declarators.length === 0 ? "a name or ';'" : "',' or ';'");
    return { kind: "variables", qualifiers, type, declarators, position, end: this.previousEnd };
  }

  protected declarator(): Declarator {
    const { position, end } = this;
    const name = this.expectName("a name");
    const dimensions = this.dimensions();
    const initializer = this.accept(T.Equal) ? this.initializer() : undefined;
    return { name, dimensions, initializer, position, end };
  }

  private functionDecl(position: number, qualifiers: readonly Qualifier[], returns: TypeSpecifier): FunctionDecl {
    const namePosition = this.position;
    const name = this.takeText();
    this.take();
    const first = this.lists.top;
    if (this.kind === T.Void && this.kindAt(1) === T.RightParen) this.take();
    if (!this.accept(T.RightParen)) {
      do this.lists.add(this.parameter());
      while (this.accept(T.Comma));
      this.expect(T.RightParen, "',' or ')'");
    }
    const parameters = this.lists.end<Parameter>(first);
    // how invocations come together again: structured control flow on a mask gives what these ask for
    if (this.kind === T.LeftBracket) this.attributes();
    let end = this.previousEnd;
    let body: CompoundStmt | undefined;
    const { recovered } = this;
    if (this.kind === T.LeftBrace) {
      body = this.compound();
    } else {
      this.expect(T.Semicolon, "'{' or ';'");
      end = this.previousEnd;
    }
    const broken = this.recovered > recovered;
    return { kind: "function", qualifiers, returns, name, namePosition, parameters, position, body, broken, end };
  }

  private parameter(): Parameter {
    const { position } = this;
    const qualifiers = this.qualifiers();
    const type = this.typeSpecifier();
    const name = this.kind === T.Identifier ? this.takeText() : undefined;
    const dimensions = name === undefined ? noDimensions : this.dimensions();
    return { qualifiers, type, name, dimensions, position, end: this.previousEnd };
  }
}
