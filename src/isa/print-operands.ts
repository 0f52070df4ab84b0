import type { Instruction } from "./decode.ts";
import { floatSources, SourceCode, sgprCount, specialSources } from "./registers.ts";
import { inSourceField, type Operand, type ValueType } from "./table.ts";

/** `v7`, `v[8:9]`. */
export function vgprText(first: number, dwords: number): string {
  return dwords <= 1 ? `v${first}` : `v[${first}:${first + dwords - 1}]`;
}

/** A scalar register by its 7-bit code. */
export function sgprText(code: number, dwords: number): string {
  const tuple = (letter: string, n: number) => (dwords <= 1 ? `${letter}${n}` : `${letter}[${n}:${n + dwords - 1}]`);
  if (code < sgprCount) return tuple("s", code);
  if (dwords === 2 && code === SourceCode.vccLo) return "vcc";
  if (dwords === 2 && code === SourceCode.execLo) return "exec";
  if (code >= SourceCode.ttmp0 && code < SourceCode.m0) return tuple("ttmp", code - SourceCode.ttmp0);
  return specialSources.get(code) ?? `invalid_${code}`;
}

const inverseTwoPi: Readonly<Record<ValueType, string>> = {
  none: "0.15915494",
  b16: "0.15915494",
  f16: "0.15915494",
  b32: "0.15915494",
  f32: "0.15915494",
  b64: "0.15915494309189532",
  f64: "0.15915494309189532",
};

/** A source by its 8- or 9-bit code. */
function sourceText(code: number, operand: Operand, literal: number | undefined): string {
  if (code >= SourceCode.vgpr0) return vgprText(code - SourceCode.vgpr0, operand.dwords);
  if (code === SourceCode.literal) return literalText(literal ?? 0, operand.type);
  const constant = constantText(code, operand.type);
  return constant ?? sgprText(code, operand.dwords);
}

/** An inline constant; undefined for a register. */
export function constantText(code: number, type: ValueType): string | undefined {
  if (code >= SourceCode.zero && code <= 192) return String(code - SourceCode.zero);
  if (code >= SourceCode.minusOne && code <= 208) return String(SourceCode.minusOne - 1 - code);
  if (code === SourceCode.inverseTwoPi) return inverseTwoPi[type];
  return floatSources.get(code);
}

const inlineFloatBits32 = new Set([
  0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000, 0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983,
]);

/**
 * A literal; `lit(…)` where the bare number would assemble to an inline constant. Our assembler keeps it a literal,
 * llvm-mc 19 makes it the inline constant: there is no text from which it makes these dwords.
 */
function literalText(value: number, type: ValueType): string {
  const text = `0x${value.toString(16)}`;
  const signed = value | 0;
  const inline =
    (signed >= -16 && signed <= 64) || ((type === "b32" || type === "f32") && inlineFloatBits32.has(value));
  return inline && type !== "f64" ? `lit(${text})` : text;
}

function waitcntText(simm16: number): string {
  const vm = (simm16 & 15) | ((simm16 >> 10) & 0x30);
  const exp = (simm16 >> 4) & 7;
  const lgkm = (simm16 >> 8) & 63;
  if ((simm16 & 0x80) !== 0) return `0x${simm16.toString(16)}`;
  const parts: string[] = [];
  const all = vm === 63 && exp === 7 && lgkm === 63;
  if (all || vm !== 63) parts.push(`vmcnt(${vm})`);
  if (all || exp !== 7) parts.push(`expcnt(${exp})`);
  if (all || lgkm !== 63) parts.push(`lgkmcnt(${lgkm})`);
  return parts.join(" ");
}

function immediateText(name: string, operand: Operand, value: number): string {
  if (name === "s_waitcnt") return waitcntText(value);
  if (operand.kind === "hwreg") return `hwreg(${value & 63}, ${(value >> 6) & 31}, ${(value >> 11) + 1})`;
  if (operand.kind === "label") return String(value);
  return `0x${value.toString(16)}`;
}

/** A register or constant with VOP3's neg and abs. */
function withModifiers(text: string, neg: boolean, abs: boolean): string {
  if (abs) return `${neg ? "-" : ""}|${text}|`;
  if (!neg) return text;
  return /^[vst]|^m0|^null|^exec|^src_/.test(text) ? `-${text}` : `neg(${text})`;
}

/** Text of one operand of a scalar or vector ALU instruction; undefined where the syntax leaves it out. */
export function operandText(instruction: Instruction, operand: Operand): string | undefined {
  const { op, fields, literal } = instruction;
  const value = operand.field === undefined ? 0 : fields[operand.field]!;
  switch (operand.kind) {
    case "exec":
      return undefined;
    case "vcc":
      return "vcc_lo";
    case "literal":
      return `0x${(literal ?? 0).toString(16)}`;
    case "imm":
    case "label":
    case "hwreg":
      return immediateText(op.name, operand, value);
    case "sgpr":
    case "mask":
      return sgprText(value, operand.dwords);
    case "vgpr":
      return inSourceField(op, operand) ? sourceText(value, operand, literal) : vgprText(value, operand.dwords);
    default: {
      const text = sourceText(value, operand, literal);
      const index = Number(operand.field![3]);
      const neg = operand.neg && (((fields.neg ?? 0) >> index) & 1) === 1;
      const abs = operand.abs && (((fields.abs ?? 0) >> index) & 1) === 1;
      return withModifiers(text, neg, abs);
    }
  }
}

/** All operands in assembler order. */
export function printOperands(instruction: Instruction): string[] {
  const { op } = instruction;
  const texts = [...op.dst, ...op.src].map((o) => operandText(instruction, o));
  return texts.filter((text) => text !== undefined);
}
