import type { BinaryOp, Expr, IncrementExpr, LiteralExpr, TypeSpecifier, UnaryOp } from "./ast.ts";

/** What an expression without operands may have. */
interface Leaf {
  readonly kind: Expr["kind"];
  readonly position: number;
  readonly end: number;
  name: string;
  scalar: LiteralExpr["scalar"] | undefined;
  value: number;
  high: number | undefined;
  type: TypeSpecifier | undefined;
  text: string;
}

/** What any other expression may have. */
interface Inner {
  readonly kind: Expr["kind"];
  readonly position: number;
  readonly end: number;
  name: string;
  namePosition: number;
  value: Expr | undefined;
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
}

/**
 * Expressions of which only kind and place are set. All are made of these two, with the same fields in the same order:
 * the engine finds a field of an expression at one of two places then, where a mix of shapes would make each access a
 * search.
 */
function leaf(kind: Expr["kind"], position: number, end: number): Leaf {
  return {
    kind,
    position,
    end,
    name: "",
    scalar: undefined,
    value: 0,
    high: undefined,
    type: undefined,
    text: "",
  };
}

function inner(kind: Expr["kind"], position: number, end: number): Inner {
  return {
    kind,
    position,
    end,
    name: "",
    namePosition: 0,
    value: undefined,
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
  };
}

type Of<K extends Expr["kind"]> = Extract<Expr, { readonly kind: K }>;

export function nameExpr(name: string, position: number, end: number): Of<"name"> {
  const expr = leaf("name", position, end);
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
  const expr = leaf("literal", position, end);
  expr.scalar = scalar;
  expr.value = value;
  expr.high = high;
  return expr as Of<"literal">;
}

export function typeExpr(type: TypeSpecifier, position: number): Of<"type"> {
  const expr = leaf("type", position, type.end);
  expr.type = type;
  return expr as Of<"type">;
}

export function textExpr(text: string, position: number, end: number): Of<"text"> {
  const expr = leaf("text", position, end);
  expr.text = text;
  return expr as Of<"text">;
}

export function callExpr(callee: Expr, args: readonly Expr[], position: number, end: number): Of<"call"> {
  const expr = inner("call", position, end);
  expr.callee = callee;
  expr.args = args;
  return expr as Of<"call">;
}

export function indexExpr(base: Expr, index: Expr | undefined, position: number, end: number): Of<"index"> {
  const expr = inner("index", position, end);
  expr.base = base;
  expr.index = index;
  return expr as Of<"index">;
}

export function memberExpr(base: Expr, name: string, namePosition: number, position: number, end: number): Expr {
  const expr = inner("member", position, end);
  expr.base = base;
  expr.name = name;
  expr.namePosition = namePosition;
  return expr as Of<"member">;
}

export function unaryExpr(op: UnaryOp, operand: Expr, position: number): Of<"unary"> {
  const expr = inner("unary", position, operand.end);
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
  const expr = inner("increment", position, end);
  expr.op = op;
  expr.prefix = prefix;
  expr.operand = operand;
  return expr as Of<"increment">;
}

export function binaryExpr(op: BinaryOp, left: Expr, right: Expr, opPosition: number): Of<"binary"> {
  const expr = inner("binary", left.position, right.end);
  expr.op = op;
  expr.left = left;
  expr.right = right;
  expr.opPosition = opPosition;
  return expr as Of<"binary">;
}

export function assignExpr(op: BinaryOp | undefined, target: Expr, value: Expr, opPosition: number): Of<"assign"> {
  const expr = inner("assign", target.position, value.end);
  expr.op = op;
  expr.target = target;
  expr.value = value;
  expr.opPosition = opPosition;
  return expr as Of<"assign">;
}

export function conditionalExpr(condition: Expr, yes: Expr, no: Expr): Of<"conditional"> {
  const expr = inner("conditional", condition.position, no.end);
  expr.condition = condition;
  expr.yes = yes;
  expr.no = no;
  return expr as Of<"conditional">;
}

export function itemsExpr(kind: "comma" | "list", items: readonly Expr[], position: number, end: number): Expr {
  const expr = inner(kind, position, end);
  expr.items = items;
  return expr as Of<"comma" | "list">;
}
