import type { LiteralExpr } from "./ast.ts";

/** A numeric literal's value, or what is wrong with its text. */
export type ParsedNumber =
  | {
      readonly ok: true;
      readonly scalar: LiteralExpr["scalar"];
      readonly value: number;
      readonly high: number | undefined;
    }
  | { readonly ok: false; readonly problem: "malformed" | "too large" };

const integer = /^(?:0[xX]([0-9a-fA-F]+)|(\d+))([uU]?)([sSlL]?)$/;
const real = /^((?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)([lL][fF]|[hH][fF]|f|F)?$/;

/** Literals that were read before: shaders have few different ones. All are forgotten beyond the limit. */
const parsed = new Map<string, ParsedNumber>();
const REMEMBERED_LIMIT = 1024;
const REMEMBERED_LENGTH = 16;

/** A decimal integer of at most nine digits without suffix, which most literals are; -1 for any other text. */
function smallInteger(text: string): number {
  const { length } = text;
  const first = text.charCodeAt(0);
  if (length > 9 || (first === 48 && length > 1)) return -1;
  let value = 0;
  for (let at = 0; at < length; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** Powers of ten that binary64 holds exactly, as far as a short literal needs them. */
const powers: readonly number[] = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/**
 * A decimal fraction of at most fifteen digits without exponent, with or without `f`; -1 for any other text. Both its
 * digits and the power of ten are exact, so that the quotient is rounded once, as the text's own value would be.
 */
function smallFraction(text: string): number {
  const last = text.charCodeAt(text.length - 1) | 32;
  const length = last === 102 ? text.length - 1 : text.length;
  if (length > 16 || length < 2) return -1;
  let digits = 0;
  let point = -1;
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code === 46 && point < 0) {
      point = at;
      continue;
    }
    if (code < 48 || code > 57) return -1;
    digits = digits * 10 + code - 48;
  }
  return point < 0 ? -1 : digits / powers[length - 1 - point]!;
}

function ok(scalar: LiteralExpr["scalar"], value: number, high?: number): ParsedNumber {
  return { ok: true, scalar, value, high };
}

/** Reads a literal as GLSL 4.60 section 4.1 defines it. Integers are bit patterns: `0xffffffff` is the int −1. */
export function parseNumber(text: string): ParsedNumber {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const number = readNumber(text);
  if (text.length <= REMEMBERED_LENGTH) {
    if (parsed.size >= REMEMBERED_LIMIT) parsed.clear();
    parsed.set(text, number);
  }
  return number;
}

function readNumber(text: string): ParsedNumber {
  const small = smallInteger(text);
  if (small >= 0) return ok("int", small);
  const short = smallFraction(text);
  if (short >= 0) return ok("float", Math.fround(short));
  const whole = integer.exec(text);
  if (whole !== null) {
    const hex = whole[1];
    const digits = whole[2];
    const octal = digits !== undefined && digits.length > 1 && digits.startsWith("0");
    if (octal && /[89]/.test(digits)) return { ok: false, problem: "malformed" };
    const value = hex !== undefined ? Number.parseInt(hex, 16) : Number.parseInt(digits ?? "", octal ? 8 : 10);
    const unsigned = whole[3] !== "";
    const width = whole[4]?.toLowerCase();
    if (width === "l") {
      const bits = BigInt(hex !== undefined ? `0x${hex}` : octal ? `0o${digits}` : (digits ?? "0"));
      if (bits >= 1n << 64n) return { ok: false, problem: "too large" };
      const scalar = unsigned ? "uint64" : "int64";
      if (bits <= BigInt(Number.MAX_SAFE_INTEGER)) return ok(scalar, Number(bits));
      return ok(scalar, Number(bits & 0xffffffffn), Number(bits >> 32n));
    }
    if (width === "s") {
      if (value > 0xffff) return { ok: false, problem: "too large" };
      return ok(unsigned ? "uint16" : "int16", unsigned ? value : (value << 16) >> 16);
    }
    if (value > 0xffffffff) return { ok: false, problem: "too large" };
    return whole[3] === "" ? ok("int", value | 0) : ok("uint", value);
  }
  const fraction = real.exec(text);
  if (fraction === null) return { ok: false, problem: "malformed" };
  const value = Number(fraction[1]);
  const suffix = fraction[2]?.toLowerCase();
  if (suffix === "lf") return ok("double", value);
  if (suffix === "hf") return ok("float16", value);
  return ok("float", Math.fround(value));
}
