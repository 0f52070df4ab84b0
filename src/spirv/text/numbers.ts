import { bitsDouble, bitsFloat, bitsHalf, doubleBits, floatBits, halfBits } from "../literals.ts";

/** An integer or float type, as far as literals need it. */
export interface NumberType {
  readonly kind: "int" | "float";
  readonly width: number;
  readonly signed: boolean;
}

const decimalInteger = /^-?\d+$/;
const hexInteger = /^-?0[xX][0-9a-fA-F]+$/;
const decimalFloat = /^-?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const hexFloat = /^(-?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)([pP]([+-]?\d{1,6}))?$/;

/** A literal 32-bit operand, or undefined. */
export function parseWord(text: string): number | undefined {
  const words = parseInteger(text, { kind: "int", width: 32, signed: false });
  return words?.[0];
}

/** Words of a literal of `type`, low word first, or undefined where `text` is no such number or does not fit. */
export function parseNumber(text: string, type: NumberType): number[] | undefined {
  return type.kind === "int" ? parseInteger(text, type) : parseFloating(text, type.width);
}

function parseInteger(text: string, type: NumberType): number[] | undefined {
  const isHex = hexInteger.test(text);
  if (!isHex && !decimalInteger.test(text)) return undefined;
  const negative = text.startsWith("-");
  const magnitude = BigInt(negative ? text.slice(1) : text);
  const value = negative ? -magnitude : magnitude;
  const width = BigInt(type.width);
  if (negative && !type.signed && value !== 0n) return undefined;
  // hexadecimal gives the bits, so a signed type takes its sign bit too
  const highest = type.signed && !isHex ? (1n << (width - 1n)) - 1n : (1n << width) - 1n;
  const lowest = type.signed ? -(1n << (width - 1n)) : 0n;
  if (value > highest || value < lowest) return undefined;
  const bits = type.signed ? BigInt.asIntN(type.width, value) : BigInt.asUintN(type.width, value);
  const wide = BigInt.asUintN(64, bits);
  const low = Number(wide & 0xffffffffn);
  return type.width > 32 ? [low, Number(wide >> 32n)] : [low];
}

function parseFloating(text: string, width: number): number[] | undefined {
  if (decimalFloat.test(text)) {
    const value = Number(text);
    const words = encode(value, width);
    // out of range is an error, not infinity
    return Number.isFinite(decode(words, width)) ? words : undefined;
  }
  const match = hexFloat.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", , exponentText = "0"] = match;
  if (whole === "" && fraction === "") return undefined;
  return encodeHex(sign === "-", whole, fraction, Number(exponentText), width);
}

/** Fraction bits and exponent bias of the IEEE formats. */
const formats: Readonly<Record<number, readonly [fraction: number, bias: number]>> = {
  16: [10, 15],
  32: [23, 127],
  64: [52, 1023],
};

/**
 * The bits of a hexadecimal float; the exponent one above the highest names infinities and NaNs by their payload, as
 * the disassembler writes them. Digits below the fraction are cut off.
 */
function encodeHex(negative: boolean, whole: string, fraction: string, exponent: number, width: number) {
  const [fractionBits, bias] = formats[width]!;
  let digits = BigInt(`0x${whole}${fraction || ""}` === "0x" ? 0 : `0x${whole}${fraction}`);
  const sign = negative ? 1n << BigInt(width - 1) : 0n;
  const split = (bits: bigint): number[] =>
    width === 64 ? [Number(bits & 0xffffffffn), Number(bits >> 32n)] : [Number(bits)];
  if (digits === 0n) return split(sign);
  const length = digits.toString(2).length;
  let power = exponent - 4 * fraction.length + (length - 1);
  // normalise to one bit before the fraction
  const shift = fractionBits - (length - 1);
  digits = shift >= 0 ? digits << BigInt(shift) : digits >> BigInt(-shift);
  if (power > bias + 1) return undefined;
  if (power < 1 - bias) {
    const down = 1 - bias - power;
    digits = down > fractionBits + 1 ? 0n : digits >> BigInt(down);
    power = -bias;
  }
  const mantissa = digits & ((1n << BigInt(fractionBits)) - 1n);
  return split(sign | (BigInt(power + bias) << BigInt(fractionBits)) | mantissa);
}

function encode(value: number, width: number): number[] {
  if (width === 64) return doubleBits(value);
  return [width === 32 ? floatBits(value) : halfBits(value)];
}

function decode(words: readonly number[], width: number): number {
  if (width === 64) return bitsDouble(words[0]!, words[1]!);
  return width === 32 ? bitsFloat(words[0]!) : bitsHalf(words[0]!);
}

/** A literal as text that `parseNumber` reads back to the same words. */
export function printNumber(words: readonly number[], type: NumberType): string {
  if (type.kind === "int") {
    const bits = (BigInt(words[1] ?? 0) << 32n) | BigInt(words[0]!);
    return String(type.signed ? BigInt.asIntN(type.width, bits) : BigInt.asUintN(type.width, bits));
  }
  const value = decode(words, type.width);
  const [fractionBits, bias] = formats[type.width]!;
  const smallestNormal = 2 ** (1 - bias);
  if (value === 0 || (Number.isFinite(value) && Math.abs(value) >= smallestNormal && type.width !== 16)) {
    // 9 and 17 digits tell all values of the type apart
    return general(value, type.width === 64 ? 17 : 9);
  }
  return printHex(words, type.width, fractionBits, bias);
}

/** C's `%.<digits>g`. */
function general(value: number, digits: number): string {
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const [mantissa = "", exponentText = "0"] = value.toExponential(digits - 1).split("e");
  const exponent = Number(exponentText);
  const trim = (text: string): string => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (exponent < -4 || exponent >= digits) {
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${trim(mantissa)}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  return trim(value.toFixed(digits - 1 - exponent));
}

/** `0x1.8p+128`: sign, one digit, fraction without trailing zeros, exponent. */
function printHex(words: readonly number[], width: number, fractionBits: number, bias: number): string {
  const bits = (BigInt(words[1] ?? 0) << 32n) | BigInt(words[0]!);
  const sign = (bits >> BigInt(width - 1)) & 1n ? "-" : "";
  let fraction = bits & ((1n << BigInt(fractionBits)) - 1n);
  let exponent = Number((bits >> BigInt(fractionBits)) & ((1n << BigInt(width - 1 - fractionBits)) - 1n));
  if (exponent === 0) {
    if (fraction === 0n) return `${sign}0x0p+0`;
    exponent = 1;
    while (fraction >> BigInt(fractionBits) === 0n) {
      fraction <<= 1n;
      exponent--;
    }
    fraction &= (1n << BigInt(fractionBits)) - 1n;
  }
  const nibbles = Math.ceil(fractionBits / 4);
  const hex = (fraction << BigInt(nibbles * 4 - fractionBits)).toString(16).padStart(nibbles, "0").replace(/0+$/, "");
  const power = exponent - bias;
  return `${sign}0x1${hex === "" ? "" : `.${hex}`}p${power < 0 ? "-" : "+"}${Math.abs(power)}`;
}
