import { isInteger, isReal, leafCount, type ScalarKind, scalarFacts, scalarOf, type Type } from "../types/index.ts";
import * as e from "./elementary.ts";
import { is64, roundEven, wrap, wrapWide } from "./fold.ts";
import type { Component, ConstantExpr } from "./tree.ts";

type ComponentFold = (args: readonly number[], scalar: ScalarKind) => number | undefined;

const bitsBuffer = new DataView(new ArrayBuffer(4));

/** Built-in functions, one component at a time; undefined is left to the machine. */
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
  radians: ([x]) => (x! * Math.PI) / 180,
  degrees: ([x]) => (x! * 180) / Math.PI,
  sin: ([x]) => e.sin(x!),
  cos: ([x]) => e.cos(x!),
  tan: ([x]) => e.tan(x!),
  asin: ([x]) => e.asin(x!),
  acos: ([x]) => e.acos(x!),
  atan: ([y, x]) => (x === undefined ? e.atan(y!) : e.atan2(y!, x)),
  sinh: ([x]) => e.sinh(x!),
  cosh: ([x]) => e.cosh(x!),
  tanh: ([x]) => e.tanh(x!),
  asinh: ([x]) => e.asinh(x!),
  acosh: ([x]) => e.acosh(x!),
  atanh: ([x]) => e.atanh(x!),
  pow: ([x, y]) => e.pow(x!, y!),
  exp: ([x]) => e.exp(x!),
  log: ([x]) => (x! > 0 ? e.log(x!) : undefined),
  exp2: ([x]) => e.pow(2, x!),
  log2: ([x]) => (x! > 0 ? e.log2(x!) : undefined),
  inversesqrt: ([x]) => (x! > 0 ? 1 / Math.sqrt(x!) : undefined),
  mod: ([x, y]) => x! - y! * Math.floor(x! / y!),
  mix: ([x, y, a]) => (a === 0 ? x! : a === 1 ? y! : x! * (1 - a!) + y! * a!),
  smoothstep: ([low, high, x]) => {
    if (low! >= high!) return undefined;
    const t = Math.min(Math.max((x! - low!) / (high! - low!), 0), 1);
    return t * t * (3 - 2 * t);
  },
  intBitsToFloat: ([x]) => {
    bitsBuffer.setInt32(0, x!);
    return bitsBuffer.getFloat32(0);
  },
  uintBitsToFloat: ([x]) => {
    bitsBuffer.setUint32(0, x!);
    return bitsBuffer.getFloat32(0);
  },
  findMSB: ([x], s) => 31 - Math.clz32(s === "int" && x! < 0 ? ~x! : x!),
  bitfieldReverse: ([x], s) => {
    let result = 0;
    for (let at = 0; at < 32; at++) result |= ((x! >>> at) & 1) << (31 - at);
    return wrap(s, result);
  },
  bitfieldExtract: ([x, offset, bits], s) => {
    if (offset! < 0 || bits! < 0 || offset! + bits! > 32) return undefined;
    if (bits === 0) return 0;
    const top = x! << (32 - offset! - bits!);
    return s === "int" ? top >> (32 - bits!) : top >>> (32 - bits!);
  },
  bitfieldInsert: ([base, insert, offset, bits], s) => {
    if (offset! < 0 || bits! < 0 || offset! + bits! > 32) return undefined;
    const mask = bits === 32 ? -1 : ((1 << bits!) - 1) << offset!;
    return wrap(s, (base! & ~mask) | ((insert! << offset!) & mask));
  },
};

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, x, at) => sum + x * b[at]!, 0);
}

function scale(a: readonly number[], factor: number): number[] {
  return a.map((x) => x * factor);
}

type WholeFold = (args: readonly (readonly number[])[], types: readonly Type[]) => readonly number[] | undefined;

/** Built-in functions of whole vectors and matrices, worked out in binary64 and rounded once. */
const wholeFolds: Readonly<Record<string, WholeFold>> = {
  length: ([x]) => [Math.sqrt(dot(x!, x!))],
  distance: ([x, y]) => {
    const d = x!.map((each, at) => each - y![at]!);
    return [Math.sqrt(dot(d, d))];
  },
  dot: ([x, y]) => [dot(x!, y!)],
  cross: ([x, y]) =>
    [0, 1, 2].map((at) => {
      const [b, c] = [(at + 1) % 3, (at + 2) % 3];
      return x![b]! * y![c]! - x![c]! * y![b]!;
    }),
  normalize: ([x]) => {
    const length = Math.sqrt(dot(x!, x!));
    return length === 0 ? undefined : x!.map((each) => each / length);
  },
  faceforward: ([n, i, reference]) => (dot(reference!, i!) < 0 ? n! : scale(n!, -1)),
  reflect: ([i, n]) => {
    const factor = 2 * dot(n!, i!);
    return i!.map((each, at) => each - factor * n![at]!);
  },
  refract: ([i, n, eta]) => {
    const ratio = eta![0]!;
    const cosine = dot(n!, i!);
    const k = 1 - ratio * ratio * (1 - cosine * cosine);
    if (k < 0) return i!.map(() => 0);
    return i!.map((each, at) => ratio * each - (ratio * cosine + Math.sqrt(k)) * n![at]!);
  },
  matrixCompMult: ([x, y]) => x!.map((each, at) => each * y![at]!),
  outerProduct: ([column, row]) => row!.flatMap((factor) => scale(column!, factor)),
  transpose: ([x], [type]) => {
    if (type?.kind !== "matrix") return undefined;
    return Array.from({ length: x!.length }, (_, at) => {
      const [row, column] = [Math.floor(at / type.columns), at % type.columns];
      return x![column * type.rows + row]!;
    });
  },
  determinant: ([x]) => [determinant(x!)],
  inverse: ([x]) => {
    const size = Math.sqrt(x!.length);
    const whole = determinant(x!);
    if (whole === 0) return undefined;
    return x!.map((_, at) => {
      // the adjugate: cofactors across the diagonal
      const [column, row] = [Math.floor(at / size), at % size];
      const sign = (row + column) % 2 === 0 ? 1 : -1;
      return (sign * determinant(minor(x!, size, row, column))) / whole;
    });
  },
};

/** Of a square matrix, columns first. */
function determinant(m: readonly number[]): number {
  const size = Math.sqrt(m.length);
  if (size === 1) return m[0]!;
  if (size === 2) return m[0]! * m[3]! - m[2]! * m[1]!;
  let sum = 0;
  for (let column = 0; column < size; column++) {
    const sign = column % 2 === 0 ? 1 : -1;
    sum += sign * m[column * size]! * determinant(minor(m, size, column, 0));
  }
  return sum;
}

/** The matrix without a column and a row. */
function minor(m: readonly number[], size: number, column: number, row: number): number[] {
  return m.filter((_, at) => Math.floor(at / size) !== column && at % size !== row);
}

/** Value of a built-in function on constants, or undefined where only the machine's answer is the right one. */
export function foldBuiltin(name: string, type: Type, args: readonly ConstantExpr[]): readonly Component[] | undefined {
  if (name === "any") return [args[0]!.values.some((value) => value !== 0) ? 1 : 0];
  if (name === "all") return [args[0]!.values.every((value) => value !== 0) ? 1 : 0];
  const target = scalarOf(type);
  const scalar = scalarOf(args[0]?.type ?? type);
  if (scalar === undefined || target === undefined) return undefined;
  if (is64(scalar)) return foldWideBuiltin(name, type, args);
  const whole = Object.hasOwn(wholeFolds, name) ? wholeFolds[name] : undefined;
  if (whole !== undefined) {
    const values = whole(
      args.map((arg) => arg.values.map(Number)),
      args.map((arg) => arg.type),
    );
    return values === undefined ? undefined : finished(target, values);
  }
  const fold = Object.hasOwn(componentFolds, name) ? componentFolds[name] : undefined;
  const narrow = scalarFacts[scalar].bits < 32 && !isReal(scalar);
  if (fold === undefined || narrow) return undefined;
  const result: number[] = [];
  for (let at = 0; at < leafCount(type); at++) {
    const value = fold(
      args.map((arg) => Number(arg.values.length === 1 ? arg.values[0] : arg.values[at])),
      scalar,
    );
    if (value === undefined) return undefined;
    result.push(value);
  }
  return finished(target, result);
}

// Math.min and Math.max take no bigints
function least(x: Component, y: Component): Component {
  if (y < x) return y;
  return x;
}

function greatest(x: Component, y: Component): Component {
  if (x < y) return y;
  return x;
}

/** Functions of 64-bit integers. */
const wideFolds: Readonly<Record<string, (args: readonly Component[]) => Component | undefined>> = {
  abs: ([x]) => wrapWide(false, x! < 0 ? -BigInt(x!) : BigInt(x!)),
  sign: ([x]) => (x === 0 ? 0 : x! < 0 ? -1 : 1),
  mix: ([x, y, a]) => (a === 0 ? x : y),
  min: ([x, y]) => least(x!, y!),
  max: ([x, y]) => greatest(x!, y!),
  clamp: ([x, low, high]) => (low! > high! ? undefined : least(greatest(x!, low!), high!)),
  lessThan: ([x, y]) => (x! < y! ? 1 : 0),
  lessThanEqual: ([x, y]) => (x! <= y! ? 1 : 0),
  greaterThan: ([x, y]) => (x! > y! ? 1 : 0),
  greaterThanEqual: ([x, y]) => (x! >= y! ? 1 : 0),
  equal: ([x, y]) => (x === y ? 1 : 0),
  notEqual: ([x, y]) => (x === y ? 0 : 1),
  bitCount: ([x]) => [...BigInt.asUintN(64, BigInt(x!)).toString(2)].filter((digit) => digit === "1").length,
  findLSB: ([x]) => highestBit(BigInt(x!) & -BigInt(x!)),
  findMSB: ([x]) => highestBit(x! < 0 ? ~BigInt(x!) : BigInt(x!)),
};

/** The place of the highest bit set; -1 where there is none. */
function highestBit(value: bigint): number {
  return value === 0n ? -1 : BigInt.asUintN(64, value).toString(2).length - 1;
}

function foldWideBuiltin(name: string, type: Type, args: readonly ConstantExpr[]): readonly Component[] | undefined {
  const fold = Object.hasOwn(wideFolds, name) ? wideFolds[name] : undefined;
  if (fold === undefined) return undefined;
  const result: Component[] = [];
  for (let at = 0; at < leafCount(type); at++) {
    const value = fold(args.map(({ values }) => (values.length === 1 ? values[0]! : values[at]!)));
    if (value === undefined) return undefined;
    result.push(value);
  }
  return result;
}

/** The values rounded to the type; undefined where one is no number of it. */
function finished(scalar: ScalarKind, values: readonly number[]): readonly number[] | undefined {
  if (isInteger(scalar) || scalar === "bool") return values;
  return values.map((value) => wrap(scalar, value));
}
