import type { ElementLayout, Leaf, Scalar } from "./data-type.ts";
import { ScriptError, type Word } from "./source.ts";

/** A number of a script, kept exact: `integer` where it was written as one. */
export interface Literal {
  readonly integer: bigint | undefined;
  readonly real: number;
  readonly line: number;
}

const specials: Readonly<Record<string, number>> = {
  nan: Number.NaN,
  inf: Number.POSITIVE_INFINITY,
  "+inf": Number.POSITIVE_INFINITY,
  "-inf": Number.NEGATIVE_INFINITY,
};

/** Reads decimal and hexadecimal integers, decimal fractions, `nan` and `inf`. */
export function parseLiteral({ text, line }: Word): Literal {
  if (/^[+-]?\d+$/.test(text)) return { integer: BigInt(text.replace("+", "")), real: Number(text), line };
  const hex = /^(-?)(0[xX][\da-fA-F]+)$/.exec(text);
  if (hex !== null) {
    const magnitude = BigInt(hex[2] ?? "0");
    const integer = hex[1] === "-" ? -magnitude : magnitude;
    return { integer, real: Number(integer), line };
  }
  if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[fF]?$/.test(text)) {
    return { integer: undefined, real: Number.parseFloat(text), line };
  }
  const special = specials[text.toLowerCase()];
  if (special === undefined) throw new ScriptError(line, `${text} is no number`);
  return { integer: undefined, real: special, line };
}

const view = new DataView(new ArrayBuffer(8));

/** A float's nearest binary16 bits, ties to even. Source: IEEE 754-2019, 3.6. */
function halfBits(value: number): number {
  if (Number.isNaN(value)) return 0x7e00;
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  if (magnitude >= 65520) return sign | 0x7c00;
  const exponent = Math.max(Math.floor(Math.log2(magnitude || Number.MIN_VALUE)), -14);
  // the step of the last place; dividing by a power of two is exact
  const units = magnitude / 2 ** (exponent - 10);
  const floor = Math.floor(units);
  const rest = units - floor;
  const rounded = rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
  return sign | (rounded + (exponent + 14) * 1024);
}

function halfValue(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 0x3ff;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** Bits of a literal in a scalar type; refuses an integer that does not fit either reading of its width. */
export function bitsOf(literal: Literal, scalar: Scalar): bigint {
  const { kind, bits } = scalar;
  if (kind === "float") {
    if (bits === 16) return BigInt(halfBits(literal.real));
    if (bits === 32) view.setFloat32(0, literal.real);
    else view.setFloat64(0, literal.real);
    return bits === 32 ? BigInt(view.getUint32(0)) : view.getBigUint64(0);
  }
  if (literal.integer === undefined && !Number.isInteger(literal.real)) {
    throw new ScriptError(literal.line, `${literal.real} is no integer`);
  }
  const integer = literal.integer ?? BigInt(literal.real);
  const fits = integer >= -(1n << BigInt(bits - 1)) && integer < 1n << BigInt(bits);
  if (!fits) throw new ScriptError(literal.line, `${integer} does not fit ${bits} bits`);
  return BigInt.asUintN(bits, integer);
}

/** A component as a script compares it: integers exact, floats as doubles. */
export type Component = bigint | number;

export function componentOf(bits: bigint, { kind, bits: width }: Scalar): Component {
  if (kind === "uint") return bits;
  if (kind === "int") return BigInt.asIntN(width, bits);
  if (width === 16) return halfValue(Number(bits));
  if (width === 32) {
    view.setUint32(0, Number(bits));
    return view.getFloat32(0);
  }
  view.setBigUint64(0, bits);
  return view.getFloat64(0);
}

/** Bit position of value `index` of a buffer whose elements follow each other from `startBytes` on. */
export function leafAt(layout: ElementLayout, startBytes: number, index: number): { leaf: Leaf; atBits: number } {
  const element = Math.floor(index / layout.leaves.length);
  const leaf = layout.leaves[index % layout.leaves.length] as Leaf;
  return { leaf, atBits: (startBytes + element * layout.sizeBytes) * 8 + leaf.offsetBits };
}

export function readBits(bytes: Uint8Array, atBits: number, width: number): bigint {
  let value = 0n;
  const first = atBits >> 3;
  const last = (atBits + width - 1) >> 3;
  for (let i = last; i >= first; i--) value = (value << 8n) | BigInt(bytes[i] ?? 0);
  return (value >> BigInt(atBits & 7)) & ((1n << BigInt(width)) - 1n);
}

function writeBits(bytes: Uint8Array, atBits: number, width: number, value: bigint): void {
  const first = atBits >> 3;
  const last = (atBits + width - 1) >> 3;
  const shift = BigInt(atBits & 7);
  const mask = ((1n << BigInt(width)) - 1n) << shift;
  let whole = 0n;
  for (let i = last; i >= first; i--) whole = (whole << 8n) | BigInt(bytes[i] ?? 0);
  whole = (whole & ~mask) | ((value << shift) & mask);
  for (let i = first; i <= last; i++) {
    bytes[i] = Number(whole & 0xffn);
    whole >>= 8n;
  }
}

/** Writes literals from byte `startBytes` on, component after component; padding stays as it is. */
export function writeLiterals(
  bytes: Uint8Array,
  layout: ElementLayout,
  startBytes: number,
  literals: readonly Literal[],
): void {
  for (const [i, literal] of literals.entries()) {
    const { leaf, atBits } = leafAt(layout, startBytes, i);
    writeBits(bytes, atBits, leaf.scalar.bits, bitsOf(literal, leaf.scalar));
  }
}

/** Bytes that `count` values reach to from the start of an element. */
export function bytesFor(layout: ElementLayout, count: number): number {
  return Math.ceil(count / layout.leaves.length) * layout.sizeBytes;
}
