import type { Overload } from "../builtins/index.ts";
import type { BinaryOp } from "../syntax/index.ts";
import { errorType, type Type } from "../types/index.ts";
import type { Constness, ConstructExpr, Expr, FunctionSymbol, UnaryExpr, Variable } from "./tree.ts";

/** What any node may have. */
interface Shape {
  readonly kind: Expr["kind"];
  readonly type: Type;
  readonly constness: Constness;
  readonly position: number;
  readonly end: number;
  values: readonly number[] | undefined;
  variable: Variable | undefined;
  base: Expr | undefined;
  index: Expr | undefined;
  member: number;
  components: readonly number[] | undefined;
  operand: Expr | undefined;
  op: BinaryOp | UnaryExpr["op"] | undefined;
  left: Expr | undefined;
  right: Expr | undefined;
  form: ConstructExpr["form"] | undefined;
  args: readonly Expr[] | undefined;
  callee: FunctionSymbol | undefined;
  overload: Overload | undefined;
  target: Expr | undefined;
  value: Expr | undefined;
  prefix: boolean;
  condition: Expr | undefined;
  yes: Expr | undefined;
  no: Expr | undefined;
  items: readonly Expr[] | undefined;
  text: string;
}

export interface Range {
  readonly position: number;
  readonly end: number;
}

/**
 * A node of which only the common part is set. All are made of it, with the same fields in the same order: the engine
 * finds a field of any node at one place then, where a mix of shapes would make each access a search.
 */
function blank(kind: Expr["kind"], type: Type, constness: Constness, position: number, end: number): Shape {
  return {
    kind,
    type,
    constness,
    position,
    end,
    values: undefined,
    variable: undefined,
    base: undefined,
    index: undefined,
    member: 0,
    components: undefined,
    operand: undefined,
    op: undefined,
    left: undefined,
    right: undefined,
    form: undefined,
    args: undefined,
    callee: undefined,
    overload: undefined,
    target: undefined,
    value: undefined,
    prefix: false,
    condition: undefined,
    yes: undefined,
    no: undefined,
    items: undefined,
    text: "",
  };
}

type Of<K extends Expr["kind"]> = Extract<Expr, { readonly kind: K }>;

export function errorNode(place: Range, type: Type = errorType): Of<"error"> {
  return blank("error", type, 1, place.position, place.end) as Of<"error">;
}

export function constantNode(type: Type, values: readonly number[], position: number, end: number): Of<"constant"> {
  const node = blank("constant", type, 1, position, end);
  node.values = values;
  return node as Of<"constant">;
}

export function variableNode(variable: Variable, type: Type, constness: Constness, place: Range): Of<"variable"> {
  const node = blank("variable", type, constness, place.position, place.end);
  node.variable = variable;
  return node as Of<"variable">;
}

export function indexNode(base: Expr, index: Expr, type: Type, constness: Constness, place: Range): Of<"index"> {
  const node = blank("index", type, constness, place.position, place.end);
  node.base = base;
  node.index = index;
  return node as Of<"index">;
}

export function memberNode(base: Expr, member: number, type: Type, constness: Constness, place: Range): Of<"member"> {
  const node = blank("member", type, constness, place.position, place.end);
  node.base = base;
  node.member = member;
  return node as Of<"member">;
}

export function swizzleNode(base: Expr, components: readonly number[], type: Type, place: Range): Of<"swizzle"> {
  const node = blank("swizzle", type, base.constness, place.position, place.end);
  node.base = base;
  node.components = components;
  return node as Of<"swizzle">;
}

export function baseNode(kind: "deref" | "length", base: Expr, type: Type, place: Range): Of<"deref" | "length"> {
  const node = blank(kind, type, 0, place.position, place.end);
  node.base = base;
  return node as Of<"deref" | "length">;
}

export function unaryNode(op: UnaryExpr["op"], operand: Expr, constness: Constness, place: Range): Of<"unary"> {
  const node = blank("unary", operand.type, constness, place.position, place.end);
  node.op = op;
  node.operand = operand;
  return node as Of<"unary">;
}

export function convertNode(operand: Expr, type: Type, constness: Constness, place: Range): Of<"convert"> {
  const node = blank("convert", type, constness, place.position, place.end);
  node.operand = operand;
  return node as Of<"convert">;
}

export function binaryNode(
  op: BinaryOp,
  left: Expr,
  right: Expr,
  type: Type,
  constness: Constness,
  place: Range,
): Of<"binary"> {
  const node = blank("binary", type, constness, place.position, place.end);
  node.op = op;
  node.left = left;
  node.right = right;
  return node as Of<"binary">;
}

export function constructNode(
  form: ConstructExpr["form"],
  args: readonly Expr[],
  type: Type,
  constness: Constness,
  place: Range,
): Of<"construct"> {
  const node = blank("construct", type, constness, place.position, place.end);
  node.form = form;
  node.args = args;
  return node as Of<"construct">;
}

export function callNode(callee: FunctionSymbol, args: readonly Expr[], place: Range): Of<"call"> {
  const node = blank("call", callee.returns, 0, place.position, place.end);
  node.callee = callee;
  node.args = args;
  return node as Of<"call">;
}

export function builtinNode(
  overload: Overload,
  args: readonly Expr[],
  constness: Constness,
  place: Range,
): Of<"builtin"> {
  const node = blank("builtin", overload.returns, constness, place.position, place.end);
  node.overload = overload;
  node.args = args;
  return node as Of<"builtin">;
}

export function assignNode(op: BinaryOp | undefined, target: Expr, value: Expr, place: Range): Of<"assign"> {
  const node = blank("assign", target.type, 0, place.position, place.end);
  node.op = op;
  node.target = target;
  node.value = value;
  return node as Of<"assign">;
}

export function incrementNode(op: "+" | "-", prefix: boolean, target: Expr, place: Range): Of<"increment"> {
  const node = blank("increment", target.type, 0, place.position, place.end);
  node.op = op;
  node.prefix = prefix;
  node.target = target;
  return node as Of<"increment">;
}

/** The type is that of `yes`. */
export function conditionalNode(
  condition: Expr,
  yes: Expr,
  no: Expr,
  constness: Constness,
  place: Range,
): Of<"conditional"> {
  const node = blank("conditional", yes.type, constness, place.position, place.end);
  node.condition = condition;
  node.yes = yes;
  node.no = no;
  return node as Of<"conditional">;
}

export function commaNode(items: readonly Expr[], type: Type, place: Range): Of<"comma"> {
  const node = blank("comma", type, 0, place.position, place.end);
  node.items = items;
  return node as Of<"comma">;
}

export function textNode(text: string, type: Type, place: Range): Of<"text"> {
  const node = blank("text", type, 0, place.position, place.end);
  node.text = text;
  return node as Of<"text">;
}

/** The same expression at another place. */
export function movedNode(expr: Expr, place: Range): Expr {
  const from = expr as unknown as Shape;
  const node = blank(from.kind, from.type, from.constness, place.position, place.end);
  node.values = from.values;
  node.variable = from.variable;
  node.base = from.base;
  node.index = from.index;
  node.member = from.member;
  node.components = from.components;
  node.operand = from.operand;
  node.op = from.op;
  node.left = from.left;
  node.right = from.right;
  node.form = from.form;
  node.args = from.args;
  node.callee = from.callee;
  node.overload = from.overload;
  node.target = from.target;
  node.value = from.value;
  node.prefix = from.prefix;
  node.condition = from.condition;
  node.yes = from.yes;
  node.no = from.no;
  node.items = from.items;
  node.text = from.text;
  return node as unknown as Expr;
}
