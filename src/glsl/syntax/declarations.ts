import { T, type TokenKind } from "../token.ts";
import type {
  Attribute,
  CompoundStmt,
  Decl,
  Declarator,
  Dimensions,
  FunctionDecl,
  LayoutId,
  Parameter,
  PrecisionDecl,
  Qualifier,
  QualifierDecl,
  StructSpecifier,
  TypeSpecifier,
  VariableDecl,
} from "./ast.ts";
import { SyntaxFailure } from "./cursor.ts";
import { ExpressionParser } from "./expressions.ts";
import { nameExpr } from "./nodes.ts";

const noDimensions: Dimensions = [];

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
    const start = this.token.position;
    const qualifiers = this.qualifiers();
    if (qualifiers.length > 0) {
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
    const { position } = this.take();
    const precision = this.expect(T.Qualifier, "highp, mediump or lowp");
    const type = this.typeSpecifier();
    this.expect(T.Semicolon, "';'");
    return { kind: "precision", precision: precision.text, type, position, end: this.previousEnd };
  }

  private qualifierDecl(position: number, qualifiers: readonly Qualifier[], named: boolean): QualifierDecl {
    const names: QualifierDecl["names"][number][] = [];
    if (named) {
      do {
        const name = this.expect(T.Identifier, "a name");
        names.push(nameExpr(name.text, name.position, name.end));
      } while (this.accept(T.Comma));
    }
    this.expect(T.Semicolon, "';'");
    return { kind: "qualifiers", qualifiers, names, position, end: this.previousEnd };
  }

  /** `nonuniformEXT` is a name, and a qualifier where no parenthesis follows. */
  private isNonUniformQualifier(): boolean {
    const { kind, text } = this.token;
    return kind === T.Identifier && text === "nonuniformEXT" && this.kindAt(1) !== T.LeftParen;
  }

  protected qualifiers(): Qualifier[] {
    const result: Qualifier[] = [];
    for (;;) {
      const token = this.token;
      const { position } = token;
      if (token.kind === T.Qualifier || this.isNonUniformQualifier()) {
        this.take();
        result.push({ name: token.text, layout: undefined, position, end: token.end });
      } else if (token.kind === T.Layout) {
        this.take();
        const layout = this.layoutIds();
        result.push({ name: "layout", layout, position, end: this.previousEnd });
      } else {
        return result;
      }
    }
  }

  private layoutIds(): LayoutId[] {
    this.expect(T.LeftParen, "'('");
    const ids: LayoutId[] = [];
    do {
      const token = this.take();
      // `shared` is a keyword and a layout name
      if (token.kind !== T.Identifier && token.text !== "shared") {
        this.at--;
        this.fail("a layout qualifier");
      }
      const value = this.accept(T.Equal) ? this.conditional() : undefined;
      ids.push({ name: token.text, value, position: token.position, end: this.previousEnd });
    } while (this.accept(T.Comma));
    this.expect(T.RightParen, "',' or ')'");
    return ids;
  }

  protected typeSpecifier(): TypeSpecifier {
    const { kind, position } = this.token;
    if (kind === T.Struct) {
      const struct = this.struct();
      const dimensions = this.dimensions();
      return { name: struct.name, builtin: false, struct, dimensions, position, end: this.previousEnd };
    }
    if (kind === T.TypeName || kind === T.Void || kind === T.Identifier) return this.typeName();
    return this.fail("a type");
  }

  private struct(): StructSpecifier {
    const { position } = this.take();
    const name = this.kind === T.Identifier ? this.take().text : "";
    if (name !== "") this.addTypeName(name);
    this.expect(T.LeftBrace, "'{'");
    const members = this.memberList();
    return { name, members, position, end: this.previousEnd };
  }

  /** Members up to and with the `}`. */
  private memberList(): VariableDecl[] {
    const members: VariableDecl[] = [];
    this.enter();
    if (this.kind === T.RightBrace) {
      this.diagnostics.error("GLSL_EMPTY_STRUCT", {}, this.token.position, this.token.end);
    }
    while (this.kindAt(0) !== T.RightBrace) {
      const start = this.at;
      const depth = this.depth;
      try {
        const position = this.token.position;
        const qualifiers = this.qualifiers();
        members.push(this.variables(position, qualifiers, this.typeSpecifier()));
      } catch (failure) {
        if (!(failure instanceof SyntaxFailure)) throw failure;
        this.depth = depth;
        this.recover(start);
        if (this.kind === T.Eof) this.fail("'}'");
      }
    }
    this.take();
    this.leave();
    return members;
  }

  private block(position: number, qualifiers: readonly Qualifier[]): Decl {
    const name = this.take();
    this.addTypeName(name.text);
    this.expect(T.LeftBrace, "'{'");
    const members = this.memberList();
    let instance: Declarator | undefined;
    if (this.kind === T.Identifier) {
      const token = this.take();
      const dimensions = this.dimensions();
      const { text, position: at } = token;
      instance = { name: text, dimensions, initializer: undefined, position: at, end: token.end };
    }
    this.expect(T.Semicolon, "';'");
    return {
      kind: "block",
      qualifiers,
      name: name.text,
      namePosition: name.position,
      members,
      instance,
      position,
      end: this.previousEnd,
    };
  }

  private variables(position: number, qualifiers: readonly Qualifier[], type: TypeSpecifier): VariableDecl {
    const declarators: Declarator[] = [];
    if (this.kind !== T.Semicolon) {
      do declarators.push(this.declarator());
      while (this.accept(T.Comma));
    }
    this.expect(T.Semicolon, declarators.length === 0 ? "a name or ';'" : "',' or ';'");
    return { kind: "variables", qualifiers, type, declarators, position, end: this.previousEnd };
  }

  protected declarator(): Declarator {
    const name = this.expect(T.Identifier, "a name");
    const dimensions = this.kind === T.LeftBracket ? this.dimensions() : noDimensions;
    const initializer = this.accept(T.Equal) ? this.initializer() : undefined;
    return { name: name.text, dimensions, initializer, position: name.position, end: name.end };
  }

  private functionDecl(position: number, qualifiers: readonly Qualifier[], returns: TypeSpecifier): FunctionDecl {
    const name = this.take();
    this.take();
    const parameters: Parameter[] = [];
    if (this.kind === T.Void && this.kindAt(1) === T.RightParen) this.take();
    if (!this.accept(T.RightParen)) {
      do parameters.push(this.parameter());
      while (this.accept(T.Comma));
      this.expect(T.RightParen, "',' or ')'");
    }
    // how invocations come together again: structured control flow on a mask gives what these ask for
    if (this.kind === T.LeftBracket) this.attributes();
    let end = this.previousEnd;
    let body: CompoundStmt | undefined;
    if (this.kind === T.LeftBrace) {
      body = this.compound();
    } else {
      this.expect(T.Semicolon, "'{' or ';'");
      end = this.previousEnd;
    }
    const { text, position: namePosition } = name;
    return { kind: "function", qualifiers, returns, name: text, namePosition, parameters, position, body, end };
  }

  private parameter(): Parameter {
    const { position } = this.token;
    const qualifiers = this.qualifiers();
    const type = this.typeSpecifier();
    const name = this.kind === T.Identifier ? this.take().text : undefined;
    const dimensions = name === undefined ? noDimensions : this.dimensions();
    return { qualifiers, type, name, dimensions, position, end: this.previousEnd };
  }
}
