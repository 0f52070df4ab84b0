import { floatSources, SourceCode, sgprCount, specialSources } from "./registers.ts";
import type { Operand, ValueType } from "./table.ts";

/** What went wrong in a line of assembler text: one lower-case sentence. */
export class AssemblyError extends Error {
  override readonly name = "AssemblyError";
}

/** Register number of `v5` or `v[5:6]`; undefined where the text is no VGPR of that many dwords. */
export function parseVgpr(text: string, dwords: number): number | undefined {
  const n = parseTuple(text, "v", dwords);
  return n !== undefined && n + Math.max(1, dwords) <= 256 ? n : undefined;
}

function parseTuple(text: string, letter: string, dwords: number): number | undefined {
  const match = /^([a-z]+)(?:(\d+)|\[(\d+):(\d+)\])$/.exec(text);
  if (match === null || match[1] !== letter) return undefined;
  if (match[2] !== undefined) return dwords <= 1 ? Number(match[2]) : undefined;
  const first = Number(match[3]);
  return Number(match[4]) - first + 1 === dwords ? first : undefined;
}

const specialCodes: ReadonlyMap<string, number> = new Map([...specialSources].map(([code, name]) => [name, code]));

/** The 7- or 8-bit code of a scalar register; undefined for other text. */
export function parseScalar(text: string, dwords: number): number | undefined {
  const n = parseTuple(text, "s", dwords);
  if (n !== undefined) return n + Math.max(1, dwords) <= sgprCount ? n : undefined;
  const trap = parseTuple(text, "ttmp", dwords);
  if (trap !== undefined) return trap + Math.max(1, dwords) <= 16 ? SourceCode.ttmp0 + trap : undefined;
  if (text === "vcc") return dwords === 2 ? SourceCode.vccLo : undefined;
  if (text === "exec") return dwords === 2 ? SourceCode.execLo : undefined;
  if (dwords === 2 && (text.endsWith("_lo") || text.endsWith("_hi"))) return undefined;
  return specialCodes.get(text);
}

/** A whole number in decimal or hexadecimal. */
export function parseInteger(text: string): number | undefined {
  return /^-?(0x[0-9a-f]+|\d+)$/i.test(text)
    ? text.startsWith("-")
      ? -Number(text.slice(1))
      : Number(text)
    : undefined;
}

const floatCodes: ReadonlyMap<number, number> = new Map([...floatSources].map(([code, text]) => [Number(text), code]));

/** 1/(2*pi), to the precision of the operand; 16-bit operands take the text of either width. */
function isInverseTwoPi(value: number, type: ValueType): boolean {
  const exact = 0.15915494309189532;
  if (type.endsWith("64")) return value === exact;
  return Math.fround(value) === Math.fround(exact) || (type.endsWith("16") && value === 0.1592);
}

/** A source's code, with the literal where the code is that of the literal. */
export interface ParsedSource {
  readonly code: number;
  readonly literal?: number;
}

/** A source operand without neg and abs. */
export function parseSource(text: string, operand: Operand): ParsedSource {
  if (operand.kind === "vsrc" || operand.kind === "vgpr") {
    const vgpr = parseVgpr(text, operand.dwords);
    if (vgpr !== undefined) return { code: SourceCode.vgpr0 + vgpr };
  }
  const scalar = parseScalar(text, operand.dwords);
  if (scalar !== undefined && operand.kind !== "vgpr") return { code: scalar };
  if (operand.kind === "vgpr") throw new AssemblyError(`${text} is no VGPR operand of ${operand.dwords} dwords`);
  const forced = /^lit\((.*)\)$/.exec(text);
  const source = parseConstant(forced?.[1] ?? text, operand.type, forced !== null);
  if (source === undefined) throw new AssemblyError(`${text} is no operand of ${operand.dwords} dwords`);
  if (source.literal !== undefined && !operand.literal)
    throw new AssemblyError(`${text} needs a literal, which this operand can't hold`);
  return source;
}

function parseConstant(text: string, type: ValueType, forceLiteral: boolean): ParsedSource | undefined {
  const integer = parseInteger(text);
  if (integer !== undefined) {
    if (integer < -0x8000_0000 || integer > 0xffff_ffff) throw new AssemblyError(`${text} does not fit 32 bits`);
    const inline = forceLiteral ? undefined : inlineInteger(integer, type);
    return inline !== undefined ? { code: inline } : { code: SourceCode.literal, literal: integer >>> 0 };
  }
  if (!/^-?\d+\.\d*(e[-+]?\d+)?$/i.test(text)) return undefined;
  const value = Number(text);
  const code = isInverseTwoPi(value, type) ? SourceCode.inverseTwoPi : floatCodes.get(value);
  if (code !== undefined && !forceLiteral) return { code };
  return { code: SourceCode.literal, literal: floatBits(value, type) };
}

function inlineInteger(value: number, type: ValueType): number | undefined {
  const signed = type.endsWith("64") ? value : value | 0;
  if (signed >= 0 && signed <= 64) return SourceCode.zero + signed;
  if (signed < 0 && signed >= -16) return SourceCode.minusOne - 1 - signed;
  if (type !== "f32" && type !== "b32") return undefined;
  // Bits of an inline float are that constant.
  const bits = value >>> 0;
  for (const [float, code] of floatCodes) if (floatBits(float, "f32") === bits) return code;
  return bits === 0x3e22f983 ? SourceCode.inverseTwoPi : undefined;
}

function floatBits(value: number, type: ValueType): number {
  const view = new DataView(new ArrayBuffer(8));
  if (type === "f64" || type === "b64") {
    view.setFloat64(0, value);
    if (view.getUint32(4) !== 0) throw new AssemblyError(`${value} has no 32-bit literal in a 64-bit operand`);
    return view.getUint32(0);
  }
  if (type.endsWith("16")) throw new AssemblyError("16-bit float literals must be written as bits");
  view.setFloat32(0, value);
  return view.getUint32(0);
}

/** `-|v1|`, `neg(1.0)`, `abs(v1)` … into the bare operand and its modifiers. */
export function stripModifiers(text: string): { bare: string; neg: boolean; abs: boolean } {
  let bare = text;
  let neg = false;
  let abs = false;
  const call = (name: string) => bare.startsWith(`${name}(`) && bare.endsWith(")");
  if (call("neg")) {
    neg = true;
    bare = bare.slice(4, -1);
  } else if (bare.startsWith("-") && /^-[^\d.]/.test(bare)) {
    neg = true;
    bare = bare.slice(1);
  } else if (bare.startsWith("-|")) {
    neg = true;
    bare = bare.slice(1);
  }
  if (bare.startsWith("|") && bare.endsWith("|") && bare.length > 2) {
    abs = true;
    bare = bare.slice(1, -1);
  } else if (call("abs")) {
    abs = true;
    bare = bare.slice(4, -1);
  }
  return { bare, neg, abs };
}

/** The 16-bit immediate of an operand: wait counts, hardware register, number. */
export function parseImmediate(name: string, operand: Operand, text: string): number {
  const integer = parseInteger(text);
  if (integer !== undefined) {
    if (integer < -0x8000 || integer > 0xffff) throw new AssemblyError(`${text} does not fit 16 bits`);
    return integer & 0xffff;
  }
  if (name === "s_waitcnt") return parseWaitcnt(text);
  const hwreg = /^hwreg\(\s*(\d+)\s*(?:,\s*(\d+)\s*,\s*(\d+)\s*)?\)$/.exec(text);
  if (operand.kind === "hwreg" && hwreg !== null) {
    const [id, offset, width] = [Number(hwreg[1]), Number(hwreg[2] ?? 0), Number(hwreg[3] ?? 32)];
    if (id > 63 || offset > 31 || width < 1 || width > 32) throw new AssemblyError(`${text} is out of range`);
    return id | (offset << 6) | ((width - 1) << 11);
  }
  throw new AssemblyError(`${text} is no immediate`);
}

function parseWaitcnt(text: string): number {
  let vm = 63;
  let exp = 7;
  let lgkm = 63;
  for (const part of text.split(/[\s&,]+/).filter((p) => p !== "")) {
    const match = /^(vmcnt|expcnt|lgkmcnt)\((\d+)\)$/.exec(part);
    if (match === null) throw new AssemblyError(`${part} is no counter`);
    const value = Number(match[2]);
    if (value > (match[1] === "expcnt" ? 7 : 63)) throw new AssemblyError(`${part} is out of range`);
    if (match[1] === "vmcnt") vm = value;
    else if (match[1] === "expcnt") exp = value;
    else lgkm = value;
  }
  return (vm & 15) | (exp << 4) | (lgkm << 8) | ((vm >> 4) << 14);
}
