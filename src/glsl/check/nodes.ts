import type { Overload } from "../builtins/index.ts";
import type { BinaryOp } from "../syntax/index.ts";
import { errorType, type Type } from "../types/index.ts";
import type { Component, Constness, ConstructExpr, Expr, FunctionSymbol, UnaryExpr, Variable } from "./tree.ts";

/** What any node has. */
interface Shape {
  readonly kind: Expr["kind"];
  readonly type: Type;
  readonly constness: Constness;
  readonly position: number;
  readonly end: number;
}

/** What a node without operands may have. */
interface Leaf extends Shape {
  values: readonly Component[] | undefined;
  variable: Variable | undefined;
  text: string;
}

/** What a node of an access chain may have. */
interface Access extends Shape {
  base: Expr | undefined;
  index: Expr | undefined;
  member: number;
  components: readonly number[] | undefined;
}

/** What an operator's node may have. */
interface Operation extends Shape {
  op: BinaryOp | UnaryExpr["op"] | undefined;
  operand: Expr | undefined;
  left: Expr | undefined;
  right: Expr | undefined;
  target: Expr | undefined;
  value: Expr | undefined;
  prefix: boolean;
}

/** What any other node may have. */
interface Inner extends Shape {
  form: ConstructExpr["form"] | undefined;
  args: readonly Expr[] | undefined;
  callee: FunctionSymbol | undefined;
  overload: Overload | undefined;
  condition: Expr | undefined;
  yes: Expr | undefined;
  no: Expr | undefined;
  items: readonly Expr[] | undefined;
}

export interface Range {
  readonly position: number;
  readonly end: number;
}

/**
 * Nodes of which only the common part is set. All are made of these four, each with the same fields in the same order:
 * the engine finds a field of a node at one of so few places then, where a mix of shapes would make each access a
 * search. One shape for all would be large.
 */
function leaf(kind: Expr["kind"], type: Type, constness: Constness, position: number, end: number): Leaf {
  return { kind, type, constness, position, end, values: undefined, variable: undefined, text: "" };
}

function access(kind: Expr["kind"], type: Type, constness: Constness, base: Expr, { position, end }: Range): Access {
  return { kind, type, constness, position, end, base, index: undefined, member: 0, components: undefined };
}

function operation(kind: Expr["kind"], type: Type, constness: Constness, { position, end }: Range): Operation {
  return {
    kind,
    type,
    constness,
    position,
    end,
    op: undefined,
    operand: undefined,
    left: undefined,
    right: undefined,
    target: undefined,
    value: undefined,
    prefix: false,
  };
}

function inner(kind: Expr["kind"], type: Type, constness: Constness, { position, end }: Range): Inner {
  return {
    kind,
    type,
    constness,
    position,
    end,
    form: undefined,
    args: undefined,
    callee: undefined,
    overload: undefined,
    condition: undefined,
    yes: undefined,
    no: undefined,
    items: undefined,
  };
}

type Of<K extends Expr["kind"]> = Extract<Expr, { readonly kind: K }>;

export function errorNode(place: Range, type: Type = errorType): Of<"error"> {
  return leaf("error", type, 1, place.position, place.end) as Of<"error">;
}

export function constantNode(type: Type, values: readonly Component[], position: number, end: number): Of<"constant"> {
  const node = leaf("constant", type, 1, position, end);
  node.values = values;
  return node as Of<"constant">;
}

export function variableNode(variable: Variable, type: Type, constness: Constness, place: Range): Of<"variable"> {
  const node = leaf("variable", type, constness, place.position, place.end);
  node.variable = variable;
  return node as Of<"variable">;
}

export function indexNode(base: Expr, index: Expr, type: Type, constness: Constness, place: Range): Of<"index"> {
  const node = access("index", type, constness, base, place);
  node.index = index;
  return node as Of<"index">;
}

export function memberNode(base: Expr, member: number, type: Type, constness: Constness, place: Range): Of<"member"> {
  const node = access("member", type, constness, base, place);
  node.member = member;
  return node as Of<"member">;
}

export function swizzleNode(base: Expr, components: readonly number[], type: Type, place: Range): Of<"swizzle"> {
  const node = access("swizzle", type, base.constness, base, place);
  node.components = components;
  return node as Of<"swizzle">;
}

export function baseNode(kind: "deref" | "length", base: Expr, type: Type, place: Range): Of<"deref" | "length"> {
  return access(kind, type, 0, base, place) as Of<"deref" | "length">;
}

export function unaryNode(op: UnaryExpr["op"], operand: Expr, constness: Constness, place: Range): Of<"unary"> {
  const node = operation("unary", operand.type, constness, place);
  node.op = op;
  node.operand = operand;
  return node as Of<"unary">;
}

export function convertNode(operand: Expr, type: Type, constness: Constness, place: Range): Of<"convert"> {
  const node = operation("convert", type, constness, place);
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
  const node = operation("binary", type, constness, place);
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
  const node = inner("construct", type, constness, place);
  node.form = form;
  node.args = args;
  return node as Of<"construct">;
}

export function callNode(callee: FunctionSymbol, args: readonly Expr[], place: Range): Of<"call"> {
  const node = inner("call", callee.returns, 0, place);
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
  const node = inner("builtin", overload.returns, constness, place);
  node.overload = overload;
  node.args = args;
  return node as Of<"builtin">;
}

export function assignNode(op: BinaryOp | undefined, target: Expr, value: Expr, place: Range): Of<"assign"> {
  const node = operation("assign", target.type, 0, place);
  node.op = op;
  node.target = target;
  node.value = value;
  return node as Of<"assign">;
}

export function incrementNode(op: "+" | "-", prefix: boolean, target: Expr, place: Range): Of<"increment"> {
  const node = operation("increment", target.type, 0, place);
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
  const node = inner("conditional", yes.type, constness, place);
  node.condition = condition;
  node.yes = yes;
  node.no = no;
  return node as Of<"conditional">;
}

export function commaNode(items: readonly Expr[], type: Type, place: Range): Of<"comma"> {
  const node = inner("comma", type, 0, place);
  node.items = items;
  return node as Of<"comma">;
}

export function textNode(text: string, type: Type, place: Range): Of<"text"> {
  const node = leaf("text", type, 0, place.position, place.end);
  node.text = text;
  return node as Of<"text">;
}

/** The same expression at another place. */
export function movedNode(expr: Expr, place: Range): Expr {
  const { kind, type, constness } = expr;
  const { position, end } = place;
  if (kind === "constant") return constantNode(type, expr.values, position, end);
  if (kind === "convert") return convertNode(expr.operand, type, constness, place);
  if (kind === "variable") return variableNode(expr.variable, type, constness, place);
  return Object.assign(blankLike(expr, place), expr, { position, end }) as Expr;
}

/** A node of the shape that a node of the kind has. */
function blankLike({ kind, type, constness }: Expr, place: Range): Shape {
  switch (kind) {
    case "error":
    case "text":
    case "constant":
    case "variable":
      return leaf(kind, type, constness, place.position, place.end);
    case "index":
    case "member":
    case "swizzle":
    case "deref":
    case "length":
      return access(kind, type, constness, noBase, place);
    case "unary":
    case "convert":
    case "binary":
    case "assign":
    case "increment":
      return operation(kind, type, constness, place);
    default:
      return inner(kind, type, constness, place);
  }
}

/** Stands where the base is still to come. */
const noBase = leaf("error", errorType, 1, -1, -1) as Of<"error">;
