import type { BinaryOp, Expr, IncrementExpr, LiteralExpr, TypeSpecifier, UnaryOp } from "./ast.ts";

/** What any expression may have. */
interface Shape {
  readonly kind: Expr["kind"];
  readonly position: number;
  readonly end: number;
  name: string;
  namePosition: number;
  scalar: LiteralExpr["scalar"] | undefined;
  value: number | Expr | undefined;
  high: number | undefined;
  type: TypeSpecifier | undefined;
  callee: Expr | undefined;
  args: readonly Expr[] | undefined;
  base: Expr | undefined;
  index: Expr | undefined;
  op: BinaryOp | UnaryOp | IncrementExpr["op"] | undefined;
  opPosition: number;
  operand: Expr | undefined;
  prefix: boolean;
  left: Expr | undefined;
  right: Expr | undefined;
  target: Expr | undefined;
  condition: Expr | undefined;
  yes: Expr | undefined;
  no: Expr | undefined;
  items: readonly Expr[] | undefined;
  text: string;
}

/**
 * An expression of which only kind and place are set. All are made of it, with the same fields in the same order: the
 * engine finds a field of any expression at one place then, where a mix of shapes would make each access a search.
 */
function blank(kind: Expr["kind"], position: number, end: number): Shape {
  return {
    kind,
    position,
    end,
    name: "",
    namePosition: 0,
    scalar: undefined,
    value: undefined,
    high: undefined,
    type: undefined,
    callee: undefined,
    args: undefined,
    base: undefined,
    index: undefined,
    op: undefined,
    opPosition: 0,
    operand: undefined,
    prefix: false,
    left: undefined,
    right: undefined,
    target: undefined,
    condition: undefined,
    yes: undefined,
    no: undefined,
    items: undefined,
    text: "",
  };
}

type Of<K extends Expr["kind"]> = Extract<Expr, { readonly kind: K }>;

export function nameExpr(name: string, position: number, end: number): Of<"name"> {
  const expr = blank("name", position, end);
  expr.name = name;
  return expr as Of<"name">;
}

export function literalExpr(
  scalar: LiteralExpr["scalar"],
  value: number,
  high: number | undefined,
  position: number,
  end: number,
): Of<"literal"> {
  const expr = blank("literal", position, end);
  expr.scalar = scalar;
  expr.value = value;
  expr.high = high;
  return expr as Of<"literal">;
}

export function typeExpr(type: TypeSpecifier, position: number): Of<"type"> {
  const expr = blank("type", position, type.end);
  expr.type = type;
  return expr as Of<"type">;
}

export function textExpr(text: string, position: number, end: number): Of<"text"> {
  const expr = blank("text", position, end);
  expr.text = text;
  return expr as Of<"text">;
}

export function callExpr(callee: Expr, args: readonly Expr[], position: number, end: number): Of<"call"> {
  const expr = blank("call", position, end);
  expr.callee = callee;
  expr.args = args;
  return expr as Of<"call">;
}

export function indexExpr(base: Expr, index: Expr | undefined, position: number, end: number): Of<"index"> {
  const expr = blank("index", position, end);
  expr.base = base;
  expr.index = index;
  return expr as Of<"index">;
}

export function memberExpr(base: Expr, name: string, namePosition: number, position: number, end: number): Expr {
  const expr = blank("member", position, end);
  expr.base = base;
  expr.name = name;
  expr.namePosition = namePosition;
  return expr as Of<"member">;
}

export function unaryExpr(op: UnaryOp, operand: Expr, position: number): Of<"unary"> {
  const expr = blank("unary", position, operand.end);
  expr.op = op;
  expr.operand = operand;
  return expr as Of<"unary">;
}

export function incrementExpr(
  op: IncrementExpr["op"],
  prefix: boolean,
  operand: Expr,
  position: number,
  end: number,
): Of<"increment"> {
  const expr = blank("increment", position, end);
  expr.op = op;
  expr.prefix = prefix;
  expr.operand = operand;
  return expr as Of<"increment">;
}

export function binaryExpr(op: BinaryOp, left: Expr, right: Expr, opPosition: number): Of<"binary"> {
  const expr = blank("binary", left.position, right.end);
  expr.op = op;
  expr.left = left;
  expr.right = right;
  expr.opPosition = opPosition;
  return expr as Of<"binary">;
}

export function assignExpr(op: BinaryOp | undefined, target: Expr, value: Expr, opPosition: number): Of<"assign"> {
  const expr = blank("assign", target.position, value.end);
  expr.op = op;
  expr.target = target;
  expr.value = value;
  expr.opPosition = opPosition;
  return expr as Of<"assign">;
}

export function conditionalExpr(condition: Expr, yes: Expr, no: Expr): Of<"conditional"> {
  const expr = blank("conditional", condition.position, no.end);
  expr.condition = condition;
  expr.yes = yes;
  expr.no = no;
  return expr as Of<"conditional">;
}

export function itemsExpr(kind: "comma" | "list", items: readonly Expr[], position: number, end: number): Expr {
  const expr = blank(kind, position, end);
  expr.items = items;
  return expr as Of<"comma" | "list">;
}
