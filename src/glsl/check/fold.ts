import type { BinaryOp } from "../syntax/index.ts";
import { isInteger, isReal, leafCount, type ScalarKind, scalarFacts, scalarOf, type Type } from "../types/index.ts";
import type { ConstantExpr } from "./tree.ts";

/** Leaves that one folded constant may have. */
export const CONSTANT_LEAF_LIMIT = 65536;

/** Brings a number into the range of a component type: ints wrap, floats round to nearest even. */
function wrap(scalar: ScalarKind, value: number): number {
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

const bitwise: ReadonlySet<BinaryOp> = new Set<BinaryOp>(["<<", ">>", "&", "|", "^"]);

function is64(scalar: ScalarKind): boolean {
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
  if (matrix && both && op === "*") return undefined;
  const scalar = scalarOf(left.type);
  if (scalar === undefined) return undefined;
  // bits beyond the 32nd are not what JavaScript's bit operators see
  if (is64(scalar) && bitwise.has(op)) return undefined;
  const fold = folds[op];
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

type ComponentFold = (args: readonly number[], scalar: ScalarKind) => number | undefined;

function roundEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  if (rest < 0.5) return floor;
  if (rest > 0.5) return floor + 1;
  return floor % 2 === 0 ? floor : floor + 1;
}

const bitsBuffer = new DataView(new ArrayBuffer(4));

/** Built-in functions whose result is exact by definition, one component at a time. */
const componentFolds: Readonly<Record<string, ComponentFold>> = {
  abs: ([x], s) => wrap(s, Math.abs(x!)),
  sign: ([x]) => (x === 0 ? 0 : Math.sign(x!)),
  floor: ([x]) => Math.floor(x!),
  ceil: ([x]) => Math.ceil(x!),
  trunc: ([x]) => Math.trunc(x!),
  roundEven: ([x]) => roundEven(x!),
  round: ([x]) => roundEven(x!),
  fract: ([x], s) => wrap(s, x! - Math.floor(x!)),
  min: ([x, y]) => Math.min(x!, y!),
  max: ([x, y]) => Math.max(x!, y!),
  clamp: ([x, low, high]) => (low! > high! ? undefined : Math.min(Math.max(x!, low!), high!)),
  // a double holds twice the digits of a float, so rounding twice is rounding once
  sqrt: ([x], s) => (x! < 0 ? undefined : wrap(s, Math.sqrt(x!))),
  step: ([edge, x]) => (x! < edge! ? 0 : 1),
  lessThan: ([x, y]) => (x! < y! ? 1 : 0),
  lessThanEqual: ([x, y]) => (x! <= y! ? 1 : 0),
  greaterThan: ([x, y]) => (x! > y! ? 1 : 0),
  greaterThanEqual: ([x, y]) => (x! >= y! ? 1 : 0),
  equal: ([x, y]) => (x === y ? 1 : 0),
  notEqual: ([x, y]) => (x !== y ? 1 : 0),
  not: ([x]) => 1 - x!,
  isnan: ([x]) => (Number.isNaN(x) ? 1 : 0),
  isinf: ([x]) => (Math.abs(x!) === Number.POSITIVE_INFINITY ? 1 : 0),
  floatBitsToInt: ([x]) => {
    bitsBuffer.setFloat32(0, x!);
    return bitsBuffer.getInt32(0);
  },
  floatBitsToUint: ([x]) => {
    bitsBuffer.setFloat32(0, x!);
    return bitsBuffer.getUint32(0);
  },
  bitCount: ([x]) => {
    let count = 0;
    for (let rest = x! >>> 0; rest !== 0; rest &= rest - 1) count++;
    return count;
  },
  findLSB: ([x]) => (x === 0 ? -1 : 31 - Math.clz32(x! & -x!)),
};

/** Value of a built-in function on constants, or undefined where only the machine's answer is the right one. */
export function foldBuiltin(name: string, type: Type, args: readonly ConstantExpr[]): readonly number[] | undefined {
  if (name === "any") return [args[0]!.values.some((value) => value !== 0) ? 1 : 0];
  if (name === "all") return [args[0]!.values.every((value) => value !== 0) ? 1 : 0];
  const fold = componentFolds[name];
  const scalar = scalarOf(args[0]?.type ?? type);
  if (scalar !== undefined && (is64(scalar) || scalarFacts[scalar].bits < 32)) return undefined;
  if (fold === undefined || scalar === undefined) return undefined;
  const result: number[] = [];
  for (let at = 0; at < leafCount(type); at++) {
    const value = fold(
      args.map((arg) => (arg.values.length === 1 ? arg.values[0]! : arg.values[at]!)),
      scalar,
    );
    if (value === undefined) return undefined;
    result.push(value);
  }
  return result;
}
