import type { BinaryOp } from "../syntax/index.ts";
import { isInteger, isReal, leafCount, type ScalarKind, scalarFacts, scalarOf, type Type } from "../types/index.ts";
import type { ConstantExpr } from "./tree.ts";

/** Leaves that one folded constant may have. */
export const CONSTANT_LEAF_LIMIT = 65536;

/** Brings a number into the range of a component type: ints wrap, floats round to nearest even. */
export function wrap(scalar: ScalarKind, value: number): number {
  const { kind, bits } = scalarFacts[scalar];
  if (bits < 32) {
    if (kind === "float") return roundHalf(value);
    const whole = value & (bits === 8 ? 0xff : 0xffff);
    return kind === "int" && whole >= 2 ** (bits - 1) ? whole - 2 ** bits : whole;
  }
  switch (scalar) {
    case "bool":
      return value === 0 ? 0 : 1;
    case "int":
      return value | 0;
    case "uint":
      return value >>> 0;
    case "float":
      return Math.fround(value);
    default:
      return value;
  }
}

/** The binary16 number nearest to a value, ties to even. */
function roundHalf(value: number): number {
  if (!Number.isFinite(value) || value === 0) return value;
  const exponent = Math.max(-14, Math.floor(Math.log2(Math.abs(value))));
  const unit = 2 ** (exponent - 10);
  const rounded = roundEven(value / unit) * unit;
  return Math.abs(rounded) > 65504 ? Math.sign(value) * Number.POSITIVE_INFINITY : rounded;
}

/** A 64-bit integer that a double cannot hold exactly, or of the wrong sign: left to the machine. */
function isInexact(scalar: ScalarKind, value: number): boolean {
  if (scalar !== "int64" && scalar !== "uint64") return false;
  return !Number.isSafeInteger(value) || (scalar === "uint64" && value < 0);
}

/**
 * A value as a constructor converts it; undefined where a double cannot hold it. Floats out of an integer's range wrap,
 * which the specification leaves open.
 */
export function convertValue(from: ScalarKind, to: ScalarKind, value: number): number | undefined {
  if (to === "bool") return value === 0 ? 0 : 1;
  const converted = wrap(to, isReal(from) && isInteger(to) ? Math.trunc(value) : value);
  return isInexact(to, converted) ? undefined : converted;
}

type Fold = (a: number, b: number, scalar: ScalarKind) => number | undefined;

const exact64: ReadonlySet<BinaryOp> = new Set<BinaryOp>(["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^"]);

/** Operators on 64-bit integers; undefined where the result is one that a double does not hold. */
function foldWide(op: BinaryOp): Fold {
  return (a, b, scalar) => {
    const x = BigInt(a);
    const y = BigInt(b);
    if ((op === "<<" || op === ">>") && (b < 0 || b > 63)) return undefined;
    if ((op === "/" || op === "%") && b === 0) return undefined;
    const wide = wideOps[op]?.(x, y);
    if (wide === undefined) return undefined;
    const held = Number(scalar === "uint64" ? BigInt.asUintN(64, wide) : BigInt.asIntN(64, wide));
    return Number.isSafeInteger(held) ? held : undefined;
  };
}

const wideOps: { readonly [O in BinaryOp]?: (x: bigint, y: bigint) => bigint } = {
  "+": (x, y) => x + y,
  "-": (x, y) => x - y,
  "*": (x, y) => x * y,
  "/": (x, y) => x / y,
  "%": (x, y) => x % y,
  "<<": (x, y) => x << y,
  ">>": (x, y) => x >> y,
  "&": (x, y) => x & y,
  "|": (x, y) => x | y,
  "^": (x, y) => x ^ y,
};

/** Matrix times matrix or vector; sums in the order of the components, each step rounded. */
function product(type: Type, left: ConstantExpr, right: ConstantExpr): readonly number[] | undefined {
  const scalar = scalarOf(type);
  if (scalar === undefined) return undefined;
  // a vector on the left is a row, one on the right a column
  const rows = left.type.kind === "matrix" ? left.type.rows : 1;
  const inner = left.type.kind === "matrix" ? left.type.columns : left.values.length;
  const columns = right.type.kind === "matrix" ? right.type.columns : 1;
  const values: number[] = [];
  for (let column = 0; column < columns; column++) {
    for (let row = 0; row < rows; row++) {
      let sum = 0;
      for (let at = 0; at < inner; at++) {
        const one = wrap(scalar, left.values[at * rows + row]! * right.values[column * inner + at]!);
        sum = at === 0 ? one : wrap(scalar, sum + one);
      }
      values.push(sum);
    }
  }
  return values;
}

export function is64(scalar: ScalarKind): boolean {
  return scalar === "int64" || scalar === "uint64";
}

/** Component-wise operators on values of one component type; undefined is left to the machine. */
const folds: Readonly<Record<BinaryOp, Fold>> = {
  "+": (a, b, s) => wrap(s, a + b),
  "-": (a, b, s) => wrap(s, a - b),
  "*": (a, b, s) => (isReal(s) || is64(s) ? wrap(s, a * b) : wrap(s, Math.imul(a, b))),
  "/": (a, b, s) => (isReal(s) ? wrap(s, a / b) : b === 0 ? undefined : wrap(s, Math.trunc(a / b))),
  "%": (a, b, s) => (b === 0 ? undefined : wrap(s, a % b)),
  "<<": (a, b, s) => (b > scalarFacts[s].bits - 1 || b < 0 ? undefined : wrap(s, a << b)),
  ">>": (a, b, s) => (b > scalarFacts[s].bits - 1 || b < 0 ? undefined : s === "uint" ? a >>> b : a >> b),
  "&": (a, b, s) => wrap(s, a & b),
  "|": (a, b, s) => wrap(s, a | b),
  "^": (a, b, s) => wrap(s, a ^ b),
  "<": (a, b) => (a < b ? 1 : 0),
  ">": (a, b) => (a > b ? 1 : 0),
  "<=": (a, b) => (a <= b ? 1 : 0),
  ">=": (a, b) => (a >= b ? 1 : 0),
  "==": (a, b) => (a === b ? 1 : 0),
  "!=": (a, b) => (a !== b ? 1 : 0),
  "&&": (a, b) => a & b,
  "||": (a, b) => a | b,
  "^^": (a, b) => a ^ b,
};

/** Value of an operator on constants, or undefined where it is not exact here (matrix products, division by zero). */
export function foldBinary(
  op: BinaryOp,
  type: Type,
  left: ConstantExpr,
  right: ConstantExpr,
): readonly number[] | undefined {
  const a = left.values;
  const b = right.values;
  if (op === "==" || op === "!=") {
    const equal = a.length === b.length && a.every((value, at) => value === b[at]);
    return [equal === (op === "==") ? 1 : 0];
  }
  const matrix = left.type.kind === "matrix" || right.type.kind === "matrix";
  const both = left.type.kind !== "scalar" && right.type.kind !== "scalar";
  if (matrix && both && op === "*") return product(type, left, right);
  const scalar = scalarOf(left.type);
  if (scalar === undefined) return undefined;
  // bits beyond the 32nd are not what JavaScript's bit operators see
  const fold = is64(scalar) && exact64.has(op) ? foldWide(op) : folds[op];
  const result: number[] = [];
  const count = leafCount(type);
  for (let at = 0; at < count; at++) {
    const value = fold(a.length === 1 ? a[0]! : a[at]!, b.length === 1 ? b[0]! : b[at]!, scalar);
    if (value === undefined || isInexact(scalarOf(type) ?? "bool", value)) return undefined;
    result.push(value);
  }
  return result;
}

export function foldUnary(op: "-" | "!" | "~", operand: ConstantExpr): readonly number[] | undefined {
  const scalar = scalarOf(operand.type) ?? "int";
  if (is64(scalar) && (op === "~" || scalar === "uint64")) return undefined;
  switch (op) {
    case "-":
      return operand.values.map((value) => (isReal(scalar) ? -value : wrap(scalar, -value)));
    case "!":
      return operand.values.map((value) => 1 - value);
    default:
      return operand.values.map((value) => wrap(scalar, ~value));
  }
}

export function roundEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  if (rest < 0.5) return floor;
  if (rest > 0.5) return floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}
