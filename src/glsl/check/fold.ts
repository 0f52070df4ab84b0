import type { BinaryOp } from "../syntax/index.ts";
import { isInteger, isReal, leafCount, type ScalarKind, scalarFacts, scalarOf, type Type } from "../types/index.ts";
import type { Component, ConstantExpr } from "./tree.ts";

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

/** The low 64 bits of an integer as a leaf of a constant. */
export function wrapWide(unsigned: boolean, value: bigint): Component {
  const wide = unsigned ? BigInt.asUintN(64, value) : BigInt.asIntN(64, value);
  const number = Number(wide);
  return Number.isSafeInteger(number) ? number : wide;
}

/** The binary64 number that rounds to every narrower float as the integer itself does: its last bit is set if it is inexact. */
function roundOdd(value: bigint): number {
  const size = value < 0n ? -value : value;
  const shift = BigInt(Math.max(0, size.toString(2).length - 53));
  const kept = size >> shift;
  const odd = kept << shift === size ? kept : kept | 1n;
  return Number(value < 0n ? -odd : odd) * 2 ** Number(shift);
}

/**
 * A value as a constructor converts it; undefined is left to the machine. Floats out of a 32-bit integer's range wrap,
 * which the specification leaves open.
 */
export function convertValue(from: ScalarKind, to: ScalarKind, value: Component): Component | undefined {
  if (to === "bool") return value === 0 ? 0 : 1;
  if (is64(to)) {
    if (!isReal(from)) return wrapWide(to === "uint64", BigInt(value));
    const whole = Math.trunc(Number(value));
    if (!Number.isFinite(whole)) return undefined;
    const wide = BigInt(whole);
    const held = wrapWide(to === "uint64", wide);
    return BigInt(held) === wide ? held : undefined;
  }
  if (typeof value === "bigint") {
    if (isInteger(to)) return wrap(to, Number(BigInt.asIntN(32, value)));
    return to === "double" ? Number(value) : wrap(to, roundOdd(value));
  }
  return wrap(to, isReal(from) && isInteger(to) ? Math.trunc(value) : value);
}

type Fold = (a: number, b: number, scalar: ScalarKind) => number | undefined;

/** An operator on 64-bit integers; undefined where the specification gives no result. */
function foldWide(op: BinaryOp, a: Component, b: Component, scalar: ScalarKind): Component | undefined {
  const order = orders[op];
  if (order !== undefined) return order(a, b) ? 1 : 0;
  if ((op === "<<" || op === ">>") && (b < 0 || b > 63)) return undefined;
  if ((op === "/" || op === "%") && b === 0) return undefined;
  const wide = wideOps[op]?.(BigInt(a), BigInt(b));
  return wide === undefined ? undefined : wrapWide(scalar === "uint64", wide);
}

const orders: { readonly [O in BinaryOp]?: (x: Component, y: Component) => boolean } = {
  "<": (x, y) => x < y,
  ">": (x, y) => x > y,
  "<=": (x, y) => x <= y,
  ">=": (x, y) => x >= y,
};

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
        const one = wrap(scalar, Number(left.values[at * rows + row]) * Number(right.values[column * inner + at]));
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
): readonly Component[] | undefined {
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
  const fold = folds[op];
  const wide = is64(scalar);
  const result: Component[] = [];
  const count = leafCount(type);
  for (let at = 0; at < count; at++) {
    const x = a.length === 1 ? a[0]! : a[at]!;
    const y = b.length === 1 ? b[0]! : b[at]!;
    let value: Component | undefined;
    if (wide) value = foldWide(op, x, y, scalar);
    // a shift of fewer bits by very many has no result either
    else if (typeof x === "number" && typeof y === "number") value = fold(x, y, scalar);
    if (value === undefined) return undefined;
    result.push(value);
  }
  return result;
}

export function foldUnary(op: "-" | "!" | "~", operand: ConstantExpr): readonly Component[] {
  const scalar = scalarOf(operand.type) ?? "int";
  if (is64(scalar)) {
    const whole = operand.values.map(BigInt);
    return whole.map((value) => wrapWide(scalar === "uint64", op === "-" ? -value : ~value));
  }
  const values = operand.values.map(Number);
  switch (op) {
    case "-":
      return values.map((value) => (isReal(scalar) ? -value : wrap(scalar, -value)));
    case "!":
      return values.map((value) => 1 - value);
    default:
      return values.map((value) => wrap(scalar, ~value));
  }
}

export function roundEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  if (rest < 0.5) return floor;
  if (rest > 0.5) return floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}
