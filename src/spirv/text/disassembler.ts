import { Bug, formatDiagnostic } from "../../base/index.ts";
import { Op } from "../enums.ts";
import { enumKind, glslInstruction, opName } from "../grammar.ts";
import { decodeString } from "../literals.ts";
import type { Instruction, Module } from "../module.ts";
import { walkOperands } from "../operands.ts";
import { readModule, scalarWidth } from "../reader.ts";
import { type NumberType, printNumber } from "./numbers.ts";

/** Where the opcode starts: room for `%id = `. */
const indent = 15;

/** The text of a module that `readModule` took: numeric ids, one instruction a line; `assemble` gives its words back. */
export function printModule(module: Module): string {
  const minor = (module.version >>> 8) & 0xff;
  const lines = [
    "; SPIR-V",
    `; Version: ${module.version >>> 16}.${minor}`,
    `; Generator: ${module.generator >>> 16}; ${module.generator & 0xffff}`,
    `; Bound: ${module.bound}`,
    "; Schema: 0",
  ];
  for (const instruction of module.instructions) {
    const result = instruction.result === 0 ? "" : `%${instruction.result} = `;
    lines.push(`${result.padStart(indent)}${printInstruction(module, instruction)}`);
  }
  return `${lines.join("\n")}\n`;
}

/** As `printModule`, for words that are known to be a module (our own). Throws `Bug` where they are not. */
export function disassemble(words: Uint32Array): string {
  const read = readModule(words);
  if (!read.ok) throw new Bug(`not a module: ${read.diagnostics.map(formatDiagnostic).join("; ")}`);
  return printModule(read.module);
}

/** `OpIAdd %2 %5 %6`, without the result. */
export function printInstruction(module: Module, instruction: Instruction): string {
  const { words } = module;
  const parts: string[] = [instruction.row.name];
  const visit = (kind: string, at: number, length: number): void => {
    const word = words[at]!;
    switch (kind) {
      case "result":
        return;
      case "type":
      case "id":
      case "scope":
      case "semantics":
        parts.push(`%${word}`);
        return;
      case "int":
        parts.push(String(word));
        return;
      case "string":
        parts.push(`"${decodeString(words, at, at + length).replace(/["\\]/g, "\\$&")}"`);
        return;
      case "number":
        parts.push(
          printNumber(Array.from(words.subarray(at, at + length)), numberType(module, words[instruction.at + 1]!)),
        );
        return;
      case "extinst":
        parts.push(extInstName(module, words[at - 1]!, word));
        return;
      case "specop":
        parts.push(opName(word).slice(2));
        return;
      default:
        parts.push(enumText(kind, word));
    }
  };
  walkOperands(words, instruction.at, instruction.end, instruction.row, (id) => scalarWidth(module, id), visit);
  return parts.join(" ");
}

/** The integer or float type of a literal, from its type's id or the id of a value of that type. */
function numberType(module: Module, id: number): NumberType {
  const found = module.definitions[id];
  const type = found !== undefined && found.type !== 0 ? module.definitions[found.type] : found;
  if (type === undefined) throw new Bug(`literal without a type in a module that was read`);
  const width = module.words[type.first]!;
  if (type.opcode === Op.OpTypeFloat) return { kind: "float", width, signed: true };
  return { kind: "int", width, signed: module.words[type.first + 1] !== 0 };
}

function extInstName(module: Module, set: number, number: number): string {
  const imported = module.definitions[set];
  const known =
    imported?.opcode === Op.OpExtInstImport &&
    decodeString(module.words, imported.first, imported.end) === "GLSL.std.450";
  return (known ? glslInstruction(number)?.name : undefined) ?? String(number);
}

function enumText(kind: string, value: number): string {
  const table = enumKind(kind)!;
  const whole = table.byValue.get(value);
  if (whole !== undefined) return whole.name;
  const names: string[] = [];
  for (let bit = 0; bit < 32; bit++) {
    if ((value >>> bit) & 1) names.push(table.byValue.get((1 << bit) >>> 0)!.name);
  }
  return names.length === 0 ? "None" : names.join("|");
}
