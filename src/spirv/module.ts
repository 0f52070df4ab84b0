import { fileSpan, type Span } from "../base/index.ts";
import type { Annotations } from "./annotations.ts";
import { Op } from "./enums.ts";
import type { InstructionRow } from "./grammar.ts";
import { decodeString } from "./literals.ts";
import type { ModuleIndex } from "./module-index.ts";

/** One instruction in place: `module.words[at]` is its first word, `end` is one past its last. */
export interface Instruction {
  readonly at: number;
  readonly end: number;
  readonly opcode: number;
  readonly row: InstructionRow;
  /** Result type id; 0 where the instruction has none. */
  readonly type: number;
  /** Result id; 0 where the instruction has none. */
  readonly result: number;
  /** Word index of the first operand after result type and result. */
  readonly first: number;
  /** Its place in `module.instructions`. */
  readonly index: number;
}

/** Operands of a module in word order: those of instruction k are `at[start[k]]` up to `at[start[k + 1]]`. */
export interface OperandPlaces {
  readonly at: Uint32Array;
  readonly start: Uint32Array;
}

/** `code`: the operand's kind (`enumKindOf`). */
export interface EnumerantPlaces extends OperandPlaces {
  readonly code: Uint32Array;
}

/** A module whose framing and operands fit the grammar. Its ids need not make sense: see `validateModule`. */
export interface Module {
  /** All words with the header, in this machine's order. */
  readonly words: Uint32Array;
  readonly version: number;
  readonly generator: number;
  readonly bound: number;
  readonly instructions: readonly Instruction[];
  /** Result id → its instruction. Holes where an id is not defined. */
  readonly definitions: readonly (Instruction | undefined)[];
  /** Where the id operands stand (word indices; result types and results left out) and where the enumerants do. */
  readonly ids: OperandPlaces;
  readonly enumerants: EnumerantPlaces;
  /** Its declarations by id, and their decorations: made when first asked for. */
  readonly index: ModuleIndex;
  readonly annotations: Annotations;
  /** For messages: the caller's file, and the text line of a word where the module came from text. */
  readonly file: string;
  readonly lineOfWord: ((word: number) => number | undefined) | undefined;
}

/** Number of operand words after result type and result. */
export function operandCount(instruction: Instruction): number {
  return instruction.end - instruction.first;
}

/** The `index`th operand word after result type and result; 0 (never an id) where the instruction is shorter. */
export function operand(module: Module, instruction: Instruction, index: number): number {
  const at = instruction.first + index;
  return at < instruction.end ? module.words[at]! : 0;
}

/** The instruction that defines `id`, or undefined. */
export function definition(module: Module, id: number): Instruction | undefined {
  return module.definitions[id];
}

/**
 * The source place of the instruction at `word`: its line of text where the module was assembled from text, else the
 * OpLine in force, else the start of the file.
 */
export function spanOf(module: Module, word: number): Span {
  const textLine = module.lineOfWord?.(word);
  if (textLine !== undefined) {
    return { file: module.file, line: textLine, column: 1, endLine: textLine, endColumn: 1 };
  }
  let line: Instruction | undefined;
  for (const instruction of module.instructions) {
    if (instruction.at > word) break;
    if (instruction.opcode === Op.OpLine) line = instruction;
    else if (instruction.opcode === Op.OpNoLine || instruction.opcode === Op.OpLabel) line = undefined;
    else if (instruction.opcode === Op.OpFunction) line = undefined;
  }
  if (line === undefined) return fileSpan(module.file);
  const name = definition(module, operand(module, line, 0));
  const file = name?.opcode === Op.OpString ? decodeString(module.words, name.first, name.end) : module.file;
  const at = Math.max(1, operand(module, line, 1));
  const column = Math.max(1, operand(module, line, 2));
  return { file, line: at, column, endLine: at, endColumn: column };
}
