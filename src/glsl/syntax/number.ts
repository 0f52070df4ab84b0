import type { LiteralExpr } from "./ast.ts";

/** A numeric literal's value, or what is wrong with its text. */
export type ParsedNumber =
  | { readonly ok: true; readonly scalar: LiteralExpr["scalar"]; readonly value: number }
  | { readonly ok: false; readonly problem: "malformed" | "too large" };

const integer = /^(?:0[xX]([0-9a-fA-F]+)|(\d+))([uU]?)$/;
const real = /^((?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)(lf|LF|f|F)?$/;

/** Reads a literal as GLSL 4.60 section 4.1 defines it. Integers are bit patterns: `0xffffffff` is the int −1. */
export function parseNumber(text: string): ParsedNumber {
  const whole = integer.exec(text);
  if (whole !== null) {
    const hex = whole[1];
    const digits = whole[2];
    const octal = digits !== undefined && digits.length > 1 && digits.startsWith("0");
    if (octal && /[89]/.test(digits)) return { ok: false, problem: "malformed" };
    const value = hex !== undefined ? Number.parseInt(hex, 16) : Number.parseInt(digits ?? "", octal ? 8 : 10);
    if (value > 0xffffffff) return { ok: false, problem: "too large" };
    return whole[3] === "" ? { ok: true, scalar: "int", value: value | 0 } : { ok: true, scalar: "uint", value };
  }
  const fraction = real.exec(text);
  if (fraction === null) return { ok: false, problem: "malformed" };
  const value = Number(fraction[1]);
  const suffix = fraction[2]?.toLowerCase();
  if (suffix === "lf") return { ok: true, scalar: "double", value };
  return { ok: true, scalar: "float", value: Math.fround(value) };
}
