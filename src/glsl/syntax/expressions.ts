import { T } from "../token.ts";
import type { BinaryOp, Dimensions, Expr, TypeSpecifier, UnaryOp } from "./ast.ts";
import { Cursor, SyntaxFailure } from "./cursor.ts";
import {
  assignExpr,
  binaryExpr,
  callExpr,
  conditionalExpr,
  incrementExpr,
  indexExpr,
  itemsExpr,
  literalExpr,
  memberExpr,
  nameExpr,
  textExpr,
  typeExpr,
  unaryExpr,
} from "./nodes.ts";
import { parseNumber } from "./number.ts";

/** Precedence by token kind; higher binds tighter, 0 is no binary operator. Source: GLSL 4.60 section 5.1. */
const precedence = new Uint8Array(128);
for (const [level, kinds] of [
  [1, [T.OrOr]],
  [2, [T.XorXor]],
  [3, [T.AndAnd]],
  [4, [T.Pipe]],
  [5, [T.Caret]],
  [6, [T.Ampersand]],
  [7, [T.EqualEqual, T.BangEqual]],
  [8, [T.Less, T.Greater, T.LessEqual, T.GreaterEqual]],
  [9, [T.ShiftLeft, T.ShiftRight]],
  [10, [T.Plus, T.Minus]],
  [11, [T.Star, T.Slash, T.Percent]],
] as const) {
  for (const kind of kinds) precedence[kind] = level;
}

export const noDimensions: Dimensions = [];

/** Parses expressions. The order of the methods is that of precedence, loosest first. */
export class ExpressionParser extends Cursor {
  protected expression(): Expr {
    const first = this.assignment();
    if (this.kind !== T.Comma) return first;
    const start = this.lists.top;
    this.lists.add(first);
    while (this.accept(T.Comma)) this.lists.add(this.assignment());
    return itemsExpr("comma", this.lists.end(start), first.position, this.previousEnd);
  }

  protected assignment(): Expr {
    this.enter();
    const target = this.conditional();
    const kind = this.kind;
    let result = target;
    if (kind >= T.Equal && kind <= T.XorEqual) {
      const { position } = this;
      const text = this.takeText();
      const value = this.assignment();
      const op = kind === T.Equal ? undefined : (text.slice(0, -1) as BinaryOp);
      result = assignExpr(op, target, value, position);
    }
    this.leave();
    return result;
  }

  protected conditional(): Expr {
    const condition = this.binary(0);
    if (this.kind !== T.Question) return condition;
    this.take();
    this.enter();
    const yes = this.expression();
    this.expect(T.Colon, "':'");
    const no = this.assignment();
    this.leave();
    return conditionalExpr(condition, yes, no);
  }

  private binary(floor: number): Expr {
    let left = this.unary();
    for (;;) {
      const level = precedence[this.kind]!;
      if (level <= floor) return left;
      const { position } = this;
      const op = this.takeText() as BinaryOp;
      const right = this.binary(level);
      left = binaryExpr(op, left, right, position);
    }
  }

  private unary(): Expr {
    const { kind, position } = this;
    if (kind === T.PlusPlus || kind === T.MinusMinus) {
      this.take();
      this.enter();
      const operand = this.unary();
      this.leave();
      const op = kind === T.PlusPlus ? "++" : "--";
      return incrementExpr(op, true, operand, position, operand.end);
    }
    if (kind === T.Plus || kind === T.Minus || kind === T.Bang || kind === T.Tilde) {
      const op = this.takeText() as UnaryOp;
      this.enter();
      const operand = this.unary();
      this.leave();
      return unaryExpr(op, operand, position);
    }
    return this.postfix();
  }

  private postfix(): Expr {
    let expr = this.primary();
    const position = expr.position;
    const depth = this.depth;
    for (;;) {
      const kind = this.kind;
      if (kind === T.LeftBracket) {
        this.enter();
        this.take();
        const index = this.kind === T.RightBracket ? undefined : this.expression();
        this.expect(T.RightBracket, "']'");
        expr = indexExpr(expr, index, position, this.previousEnd);
      } else if (kind === T.Dot) {
        this.enter();
        this.take();
        const namePosition = this.position;
        const name = this.expectName("a member name");
        expr = memberExpr(expr, name, namePosition, position, this.previousEnd);
      } else if (kind === T.LeftParen) {
        this.enter();
        const args = this.callArguments();
        expr = callExpr(expr, args, position, this.previousEnd);
      } else if (kind === T.PlusPlus || kind === T.MinusMinus) {
        this.enter();
        this.take();
        const op = kind === T.PlusPlus ? "++" : "--";
        expr = incrementExpr(op, false, expr, position, this.previousEnd);
      } else {
        this.depth = depth;
        return expr;
      }
    }
  }

  private callArguments(): readonly Expr[] {
    this.take();
    if (this.kind === T.Void && this.kindAt(1) === T.RightParen) this.take();
    const start = this.lists.top;
    if (this.accept(T.RightParen)) return this.lists.end(start);
    do {
      this.lists.add(this.assignment());
    } while (this.accept(T.Comma));
    this.expect(T.RightParen, "',' or ')'");
    return this.lists.end(start);
  }

  private primary(): Expr {
    const { kind, position, end } = this;
    switch (kind) {
      case T.Identifier:
        return nameExpr(this.takeText(), position, end);
      case T.Number:
        return this.number(this.takeText(), position, end);
      case T.String: {
        const text = this.takeText();
        if (/\\x(?![0-9a-fA-F])/.test(text)) this.diagnostics.error("GLSL_BAD_ESCAPE", {}, position, end);
        return textExpr(resolveEscapes(text.slice(1, -1)), position, end);
      }
      case T.True:
      case T.False:
        this.take();
        return literalExpr("bool", kind === T.True ? 1 : 0, undefined, position, end);
      case T.TypeName: {
        const type = this.typeName();
        if (this.kind !== T.LeftParen) this.fail("'(' after the type name");
        return typeExpr(type, position);
      }
      case T.LeftParen: {
        this.take();
        this.enter();
        const inner = this.expression();
        this.leave();
        this.expect(T.RightParen, "')'");
        return inner;
      }
      case T.LeftBrace:
        this.diagnostics.error("GLSL_STRAY_LIST", {}, position, end);
        throw new SyntaxFailure();
      default:
        return this.fail("an expression");
    }
  }

  private number(text: string, position: number, end: number): Expr {
    const parsed = parseNumber(text);
    if (parsed.ok) {
      return literalExpr(parsed.scalar, parsed.value, parsed.high, position, end);
    }
    if (parsed.problem === "too large") {
      this.diagnostics.error("GLSL_LITERAL_TOO_LARGE", { text }, position, end);
    } else {
      this.diagnostics.error("GLSL_BAD_NUMBER", { text }, position, end);
    }
    return literalExpr("int", 0, undefined, position, end);
  }

  /** A built-in or struct type's name with its array sizes. */
  protected typeName(): TypeSpecifier {
    const { kind, position } = this;
    const name = this.takeText();
    const dimensions = this.dimensions();
    const builtin = kind !== T.Identifier;
    return { name, builtin, struct: undefined, dimensions, position, end: this.previousEnd };
  }

  protected dimensions(): Dimensions {
    if (this.kind !== T.LeftBracket) return noDimensions;
    const start = this.lists.top;
    while (this.accept(T.LeftBracket)) {
      this.lists.add(this.kindAt(0) === T.RightBracket ? undefined : this.conditional());
      this.expect(T.RightBracket, "']'");
    }
    return this.lists.end<Expr | undefined>(start);
  }

  /** What may stand after `=` in a declaration: an expression or `{ … }`. */
  protected initializer(): Expr {
    if (this.kind !== T.LeftBrace) return this.assignment();
    const { position } = this;
    this.take();
    this.enter();
    const start = this.lists.top;
    while (this.kindAt(0) !== T.RightBrace) {
      this.lists.add(this.initializer());
      if (!this.accept(T.Comma)) break;
    }
    this.expect(T.RightBrace, "',' or '}'");
    this.leave();
    return itemsExpr("list", this.lists.end(start), position, this.previousEnd);
  }
}

const escapes: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** Resolves the escapes of a text, as C has them. */
function resolveEscapes(text: string): string {
  return text.replace(/\\(x[0-9a-fA-F]+|[0-7]{1,3}|[\s\S])/g, (_, code: string) => {
    if (/^x./.test(code)) return String.fromCharCode(Number.parseInt(code.slice(1), 16) & 0xff);
    if (/^[0-7]/.test(code)) return String.fromCharCode(Number.parseInt(code, 8) & 0xff);
    return escapes[code] ?? code;
  });
}
