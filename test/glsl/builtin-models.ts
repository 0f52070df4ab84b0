import type { Overload } from "../../src/glsl/builtins/index.ts";
import type { Type } from "../../src/glsl/types/index.ts";

/** A component: floats as numbers, integers as bigints of any width, bools as they are. */
export type Value = number | bigint | boolean;

/** What a call gives: the components of its result, then of each output argument or memory cell. */
export type Model = (args: readonly (readonly Value[])[], overload: Overload) => readonly (readonly Value[])[];

const n = (value: Value | undefined): number => value as number;
const i = (value: Value | undefined): bigint => value as bigint;

/** A function of each component; shorter arguments repeat. */
function each(f: (...args: Value[]) => Value): Model {
  return (args) => {
    const size = Math.max(...args.map((arg) => arg.length));
    return [Array.from({ length: size }, (_, at) => f(...args.map((arg) => arg[at % arg.length]!)))];
  };
}

const real = (f: (x: number, y: number, z: number) => number): Model => each((x, y, z) => f(n(x), n(y), n(z)));
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const dot = (a: readonly Value[], b: readonly Value[]): number => sum(a.map((x, at) => n(x) * n(b[at])));
const length = (a: readonly Value[]): number => Math.sqrt(dot(a, a));
const evenly = (x: number): number => {
  const low = Math.floor(x);
  const rest = x - low;
  return rest < 0.5 || (rest === 0.5 && low % 2 === 0) ? low : low + 1;
};
const ordered = <T extends Value>(x: T, y: T): [T, T] => (y < x ? [y, x] : [x, y]);
const clampTo = (x: Value, low: Value, high: Value): Value => (x < low ? low : x > high ? high : x);

function columns(flat: readonly Value[], type: Type): number[][] {
  if (type.kind !== "matrix") throw new Error("no matrix");
  return Array.from({ length: type.columns }, (_, c) => flat.slice(c * type.rows, (c + 1) * type.rows).map(n));
}

function determinant(m: readonly (readonly number[])[]): number {
  if (m.length === 1) return m[0]![0]!;
  // along the first column
  return sum(m[0]!.map((x, r) => (r % 2 === 0 ? 1 : -1) * x * determinant(without(m, 0, r))));
}

const without = (m: readonly (readonly number[])[], column: number, row: number): number[][] =>
  m.filter((_, c) => c !== column).map((each) => each.filter((_, r) => r !== row));

function inverse(m: readonly (readonly number[])[]): number[] {
  const whole = determinant(m);
  return m.flatMap((_, c) =>
    m.map((_, r) => {
      const sign = (c + r) % 2 === 0 ? 1 : -1;
      return (sign * (m.length === 1 ? 1 : determinant(without(m, r, c)))) / whole;
    }),
  );
}

const view = new DataView(new ArrayBuffer(8));

export function floatBits(x: number): bigint {
  view.setFloat32(0, x);
  return BigInt(view.getUint32(0));
}

export function bitsToFloat(bits: bigint): number {
  view.setUint32(0, Number(BigInt.asUintN(32, bits)));
  return view.getFloat32(0);
}

function doubleBits(x: number): bigint {
  view.setFloat64(0, x);
  return view.getBigUint64(0);
}

export function bitsToDouble(bits: bigint): number {
  view.setBigUint64(0, BigInt.asUintN(64, bits));
  return view.getFloat64(0);
}

/** Binary16 bits of a number that has an exact one, and back. */
function halfBits(x: number): bigint {
  if (x === 0) return Object.is(x, -0) ? 0x8000n : 0n;
  const exponent = Math.floor(Math.log2(Math.abs(x)));
  const mantissa = (Math.abs(x) / 2 ** exponent - 1) * 1024;
  return BigInt((x < 0 ? 0x8000 : 0) + ((exponent + 15) << 10) + mantissa);
}

function bitsToHalf(bits: bigint): number {
  const word = Number(bits & 0xffffn);
  const [sign, exponent, mantissa] = [word >> 15, (word >> 10) & 31, word & 1023];
  const size = exponent === 0 ? mantissa * 2 ** -24 : (1 + mantissa / 1024) * 2 ** (exponent - 15);
  return sign === 1 ? -size : size;
}

/** Fields of equal width joined, the first one lowest; and taken apart. */
const join = (fields: readonly bigint[], width: number): bigint =>
  fields.reduce((word, field, at) => word | (BigInt.asUintN(width, field) << BigInt(at * width)), 0n);
const split = (word: bigint, width: number, count: number, signed: boolean): bigint[] =>
  Array.from({ length: count }, (_, at) => {
    const field = word >> BigInt(at * width);
    return signed ? BigInt.asIntN(width, field) : BigInt.asUintN(width, field);
  });

const pack = (width: number, low: number, scale: number): Model => {
  return ([v]) => [
    [
      join(
        v!.map((x) => BigInt(evenly(Math.min(1, Math.max(low, n(x))) * scale))),
        width,
      ),
    ],
  ];
};
const unpack = (width: number, count: number, signed: boolean, scale: number): Model => {
  return ([v]) => [split(i(v![0]), width, count, signed).map((x) => Math.max(-1, Number(x) / scale))];
};

function frexp(x: number): [number, bigint] {
  if (x === 0) return [x, 0n];
  const exponent = Math.floor(Math.log2(Math.abs(x))) + 1;
  return [x / 2 ** exponent, BigInt(exponent)];
}

const scalarName = (type: Type): string => (type.kind === "scalar" || type.kind === "vector" ? type.scalar : "");
const sizeOf = (type: Type): number => (type.kind === "vector" ? type.size : 1);
const widths: Readonly<Record<string, number>> = { int8: 8, uint8: 8, int16: 16, uint16: 16, int64: 64, uint64: 64 };
const widthOf = (type: Type): number => widths[scalarName(type)] ?? 32;

/** Integers and floats of one width cut into those of another: bitcasts whose name says both. */
const recast: Model = ([v], { parameters, returns }) => {
  const from = parameters[0]!.type;
  const bits = scalarName(from) === "float16" ? v!.map((x) => halfBits(n(x))) : v!.map(i);
  const width = scalarName(from) === "float16" ? 16 : widthOf(from);
  const word = join(bits, width);
  const half = scalarName(returns) === "float16";
  const fields = split(word, half ? 16 : widthOf(returns), sizeOf(returns), scalarName(returns).startsWith("int"));
  return [half ? fields.map(bitsToHalf) : fields];
};

const bit = (count: number, at: number): bigint => ((1n << BigInt(count)) - 1n) << BigInt(at);
const highest = (x: bigint): bigint => BigInt(x.toString(2).length - 1);

/** Memory operations: what was there, then what is there. */
const atomic = (f: (old: bigint, value: bigint, other: bigint) => bigint): Model => {
  return ([cell, x, y]) => [[i(cell![0])], [f(i(cell![0]), i(x?.[0]), i(y?.[0]))]];
};

const plain: Readonly<Record<string, Model>> = {
  radians: real((x) => (x * Math.PI) / 180),
  degrees: real((x) => (x * 180) / Math.PI),
  atan: (args, overload) => (args.length === 2 ? real(Math.atan2) : real(Math.atan))(args, overload),
  exp2: real((x) => 2 ** x),
  inversesqrt: real((x) => 1 / Math.sqrt(x)),
  abs: each((x) => ((x as number) < 0 ? -(x as number) : x)),
  sign: each((x) => (typeof x === "bigint" ? (x < 0n ? -1n : x > 0n ? 1n : 0n) : Math.sign(n(x)))),
  round: real(evenly),
  roundEven: real(evenly),
  fract: real((x) => x - Math.floor(x)),
  mod: real((x, y) => x - y * Math.floor(x / y)),
  modf: ([v]) => [v!.map((x) => n(x) - Math.trunc(n(x))), v!.map((x) => Math.trunc(n(x)))],
  min: each((x, y) => ordered(x!, y!)[0]),
  max: each((x, y) => ordered(x!, y!)[1]),
  clamp: each((x, low, high) => clampTo(x!, low!, high!)),
  mix: each((x, y, t) => (typeof t === "boolean" ? (t ? y! : x!) : n(x) * (1 - n(t)) + n(y) * n(t))),
  step: real((edge, x) => (x < edge ? 0 : 1)),
  smoothstep: real((low, high, x) => {
    const t = Math.min(1, Math.max(0, (x - low) / (high - low)));
    return t * t * (3 - 2 * t);
  }),
  isnan: each((x) => Number.isNaN(n(x))),
  isinf: each((x) => Math.abs(n(x)) === Number.POSITIVE_INFINITY),
  floatBitsToInt: each((x) => BigInt.asIntN(32, floatBits(n(x)))),
  floatBitsToUint: each((x) => floatBits(n(x))),
  intBitsToFloat: each((x) => bitsToFloat(i(x))),
  uintBitsToFloat: each((x) => bitsToFloat(i(x))),
  doubleBitsToInt64: each((x) => BigInt.asIntN(64, doubleBits(n(x)))),
  doubleBitsToUint64: each((x) => doubleBits(n(x))),
  int64BitsToDouble: each((x) => bitsToDouble(i(x))),
  uint64BitsToDouble: each((x) => bitsToDouble(i(x))),
  halfBitsToInt16: each((x) => BigInt.asIntN(16, halfBits(n(x)))),
  halfBitsToUint16: each((x) => halfBits(n(x))),
  int16BitsToHalf: each((x) => bitsToHalf(i(x))),
  uint16BitsToHalf: each((x) => bitsToHalf(i(x))),
  float16BitsToInt16: each((x) => BigInt.asIntN(16, halfBits(n(x)))),
  float16BitsToUint16: each((x) => halfBits(n(x))),
  int16BitsToFloat16: each((x) => bitsToHalf(i(x))),
  uint16BitsToFloat16: each((x) => bitsToHalf(i(x))),
  fma: real((x, y, z) => x * y + z),
  frexp: ([v]) => [v!.map((x) => frexp(n(x))[0]), v!.map((x) => frexp(n(x))[1])],
  ldexp: each((x, e) => n(x) * 2 ** Number(e)),
  packUnorm2x16: pack(16, 0, 65535),
  packSnorm2x16: pack(16, -1, 32767),
  packUnorm4x8: pack(8, 0, 255),
  packSnorm4x8: pack(8, -1, 127),
  unpackUnorm2x16: unpack(16, 2, false, 65535),
  unpackSnorm2x16: unpack(16, 2, true, 32767),
  unpackUnorm4x8: unpack(8, 4, false, 255),
  unpackSnorm4x8: unpack(8, 4, true, 127),
  packHalf2x16: ([v]) => [
    [
      join(
        v!.map((x) => halfBits(n(x))),
        16,
      ),
    ],
  ],
  unpackHalf2x16: ([v]) => [split(i(v![0]), 16, 2, false).map(bitsToHalf)],
  packDouble2x32: ([v]) => [[bitsToDouble(join(v!.map(i), 32))]],
  unpackDouble2x32: ([v]) => [split(doubleBits(n(v![0])), 32, 2, false)],
  length: ([v]) => [[length(v!)]],
  distance: ([a, b]) => [[length(a!.map((x, at) => n(x) - n(b![at])))]],
  dot: ([a, b]) => [[dot(a!, b!)]],
  cross: ([a, b]) => [
    [1, 2, 0].map((y, x) => {
      const z = 3 - x - y;
      return n(a![y]) * n(b![z]) - n(a![z]) * n(b![y]);
    }),
  ],
  normalize: ([v]) => [v!.map((x) => n(x) / length(v!))],
  faceforward: ([v, incident, reference]) => [v!.map((x) => (dot(reference!, incident!) < 0 ? x : -n(x)))],
  reflect: ([v, normal]) => [v!.map((x, at) => n(x) - 2 * dot(normal!, v!) * n(normal![at]))],
  refract: ([v, normal, ratio]) => {
    const [eta, d] = [n(ratio![0]), dot(normal!, v!)];
    const k = 1 - eta * eta * (1 - d * d);
    return [v!.map((x, at) => (k < 0 ? 0 : eta * n(x) - (eta * d + Math.sqrt(k)) * n(normal![at])))];
  },
  matrixCompMult: real((x, y) => x * y),
  outerProduct: ([column, row]) => [row!.flatMap((y) => column!.map((x) => n(x) * n(y)))],
  transpose: ([m], { parameters }) => {
    const from = columns(m!, parameters[0]!.type);
    return [from[0]!.flatMap((_, r) => from.map((column) => column[r]!))];
  },
  determinant: ([m], { parameters }) => [[determinant(columns(m!, parameters[0]!.type))]],
  inverse: ([m], { parameters }) => [inverse(columns(m!, parameters[0]!.type))],
  lessThan: each((x, y) => x! < y!),
  lessThanEqual: each((x, y) => x! <= y!),
  greaterThan: each((x, y) => x! > y!),
  greaterThanEqual: each((x, y) => x! >= y!),
  equal: each((x, y) => x === y),
  notEqual: each((x, y) => x !== y),
  any: ([v]) => [[v!.some(Boolean)]],
  all: ([v]) => [[v!.every(Boolean)]],
  not: each((x) => !x),
  uaddCarry: ([x, y]) => {
    const sums = x!.map((each, at) => i(each) + i(y![at]));
    return [sums.map((each) => BigInt.asUintN(32, each)), sums.map((each) => each >> 32n)];
  },
  usubBorrow: ([x, y]) => {
    const rests = x!.map((each, at) => i(each) - i(y![at]));
    return [rests.map((each) => BigInt.asUintN(32, each)), rests.map((each) => (each < 0n ? 1n : 0n))];
  },
  umulExtended: ([x, y]) => {
    const products = x!.map((each, at) => i(each) * i(y![at]));
    return [products.map((each) => each >> 32n), products.map((each) => BigInt.asUintN(32, each))];
  },
  imulExtended: ([x, y]) => {
    const products = x!.map((each, at) => i(each) * i(y![at]));
    return [products.map((each) => each >> 32n), products.map((each) => BigInt.asIntN(32, each))];
  },
  bitfieldExtract: ([v, offset, bits], { returns }) => [
    v!.map((x) => {
      const [at, count] = [offset![0], bits![0]];
      const field = (BigInt.asUintN(32, i(x)) >> i(at)) & bit(Number(count), 0);
      return scalarName(returns) === "int" ? BigInt.asIntN(Number(count), field) : field;
    }),
  ],
  bitfieldInsert: ([v, insert, offset, bits], { returns }) => [
    v!.map((x, k) => {
      const [at, count] = [offset![0], bits![0]];
      const mask = bit(Number(count), Number(at));
      const word = (BigInt.asUintN(32, i(x)) & ~mask) | ((i(insert![k]) << i(at)) & mask);
      return scalarName(returns) === "int" ? BigInt.asIntN(32, word) : word;
    }),
  ],
  bitfieldReverse: ([v], { returns }) => [
    v!.map((x) => {
      const digits = [...BigInt.asUintN(32, i(x)).toString(2).padStart(32, "0")].reverse().join("");
      return scalarName(returns) === "int" ? BigInt.asIntN(32, BigInt(`0b${digits}`)) : BigInt(`0b${digits}`);
    }),
  ],
  bitCount: (args, overload) => {
    const width = widthOf(overload.parameters[0]!.type);
    const count = (x: Value): bigint =>
      BigInt([...BigInt.asUintN(width, i(x)).toString(2)].filter((d) => d === "1").length);
    return each((x) => count(x))(args, overload);
  },
  findLSB: each((x) => (x === 0n ? -1n : highest(i(x) & -i(x)))),
  findMSB: each((x) => (x === 0n || x === -1n ? -1n : highest(i(x) < 0n ? ~i(x) : i(x)))),
  atomicAdd: atomic((old, x) => old + x),
  atomicMin: atomic((old, x) => ordered(old, x)[0]),
  atomicMax: atomic((old, x) => ordered(old, x)[1]),
  atomicAnd: atomic((old, x) => old & x),
  atomicOr: atomic((old, x) => old | x),
  atomicXor: atomic((old, x) => old ^ x),
  atomicExchange: atomic((_, x) => x),
  atomicCompSwap: atomic((old, x, y) => (old === x ? y : old)),
  atomicLoad: atomic((old) => old),
  atomicStore: ([, x]) => [[i(x![0])]],
};

/** The meaning of a built-in function by the specification; undefined where this file has none. */
export function modelOf(name: string): Model | undefined {
  if (Object.hasOwn(plain, name)) return plain[name];
  if (/^(?:un)?pack(?:(?:Int|Uint|Float)\dx\d+|\d+)$/.test(name)) return recast;
  const direct = (Math as unknown as Readonly<Record<string, unknown>>)[name];
  return typeof direct === "function" ? real(direct as (x: number) => number) : undefined;
}
