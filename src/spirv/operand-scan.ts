import { takeWords } from "../base/index.ts";
import { enumKindOf, type InstructionRow, instructionRow, OperandCode, type OperandRow } from "./grammar.ts";
import { stringWords } from "./literals.ts";
import type { EnumerantPlaces, OperandPlaces } from "./module.ts";
import type { OperandProblem, WidthOf } from "./operands.ts";

/**
 * Checks operands against their rows as `walkOperands` does, and keeps where ids and enumerants stand: what later checks
 * ask of each instruction again and again. One object reads a module, instruction by instruction.
 */
export class OperandScan {
  readonly #words: Uint32Array;
  readonly #bound: number;
  readonly #widthOf: WidthOf;
  readonly #ids: Uint32Array;
  readonly #idStart: Uint32Array;
  readonly #enums: Uint32Array;
  readonly #enumCode: Uint32Array;
  readonly #enumStart: Uint32Array;
  #idCount = 0;
  #enumCount = 0;
  #kept = 0;
  #at = 0;
  #next = 0;
  #end = 0;
  #row: InstructionRow | undefined;
  /** The first id of the instruction that is 0 or not below the bound; -1 without one. */
  badId = -1;

  constructor(words: Uint32Array, bound: number, widthOf: WidthOf) {
    this.#words = words;
    this.#bound = bound;
    this.#widthOf = widthOf;
    // a word holds at most one operand, an instruction takes at least one word
    this.#ids = takeWords(words.length);
    this.#idStart = takeWords(words.length);
    this.#enums = takeWords(words.length);
    this.#enumCode = takeWords(words.length);
    this.#enumStart = takeWords(words.length);
  }

  /** Scans the instruction at [at, end); the first problem or undefined. `keep` makes it the module's next one. */
  scan(at: number, end: number, row: InstructionRow): OperandProblem | undefined {
    this.#at = at;
    this.#next = at + 1;
    this.#end = end;
    this.#row = row;
    this.badId = -1;
    this.#idCount = this.#idStart[this.#kept]!;
    this.#enumCount = this.#enumStart[this.#kept]!;
    const problem = this.#list(row.operands, 0);
    if (problem !== undefined) return problem;
    return this.#next < end ? { problem: "extra", words: end - this.#next } : undefined;
  }

  /** Keeps the operands of the instruction scanned last. */
  keep(): void {
    this.#kept++;
    this.#idStart[this.#kept] = this.#idCount;
    this.#enumStart[this.#kept] = this.#enumCount;
  }

  get ids(): OperandPlaces {
    return { at: this.#ids, start: this.#idStart };
  }

  get enumerants(): EnumerantPlaces {
    return { at: this.#enums, start: this.#enumStart, code: this.#enumCode };
  }

  #list(operands: readonly OperandRow[], from: number): OperandProblem | undefined {
    for (let k = from; k < operands.length; k++) {
      const operand = operands[k]!;
      const repeats = operand.quantifier === "*";
      if (operand.quantifier !== "" && this.#next >= this.#end) continue;
      do {
        const problem = this.#one(operand.code, operand.kind);
        if (problem !== undefined) return problem;
        if (operand.pairCode < 0) continue;
        const second = this.#one(operand.pairCode, operand.pair ?? "");
        if (second !== undefined) return second;
      } while (repeats && this.#next < this.#end);
    }
    return undefined;
  }

  #one(code: number, kind: string): OperandProblem | undefined {
    const first = this.#next;
    if (first >= this.#end) return { problem: "missing", kind };
    switch (code) {
      case OperandCode.type:
      case OperandCode.id: {
        const id = this.#words[first]!;
        if ((id === 0 || id >= this.#bound) && this.badId < 0) this.badId = id;
        if (code === OperandCode.id) this.#ids[this.#idCount++] = first;
        this.#next = first + 1;
        return undefined;
      }
      case OperandCode.result:
      case OperandCode.word:
        this.#next = first + 1;
        return undefined;
      case OperandCode.string: {
        const length = stringWords(this.#words, first, this.#end);
        if (length === 0) return { problem: "string" };
        this.#next = first + length;
        return undefined;
      }
      case OperandCode.number: {
        // constants: the type is the first operand; OpSwitch: the selector is
        const owner = this.#words[this.#at + 1]!;
        const width = this.#widthOf(owner);
        if (width === undefined) return { problem: "literalType", id: owner };
        const length = width > 32 ? 2 : 1;
        if (first + length > this.#end) return { problem: "missing", kind };
        this.#next = first + length;
        return undefined;
      }
      case OperandCode.specop: {
        const inner = instructionRow(this.#words[first]!);
        if (inner === undefined || inner === this.#row || !inner.hasType || !inner.hasResult) {
          return { problem: "enumerant", kind: "opcode", value: this.#words[first]! };
        }
        this.#next = first + 1;
        return this.#list(inner.operands, 2);
      }
      default:
        return this.#enumerant(code, kind);
    }
  }

  #enumerant(code: number, kind: string): OperandProblem | undefined {
    const first = this.#next;
    const table = enumKindOf(code);
    const value = this.#words[first]!;
    this.#next = first + 1;
    this.#enums[this.#enumCount] = first;
    this.#enumCode[this.#enumCount++] = code;
    if (!table.mask) {
      const row = table.byValue.get(value);
      if (row === undefined) return { problem: "enumerant", kind, value };
      return row.parameters.length === 0 ? undefined : this.#list(row.parameters, 0);
    }
    let rest = value;
    while (rest !== 0) {
      const bit = (rest & -rest) >>> 0;
      rest = (rest & (rest - 1)) >>> 0;
      const row = table.byValue.get(bit);
      if (row === undefined) return { problem: "enumerant", kind, value };
      const problem = row.parameters.length === 0 ? undefined : this.#list(row.parameters, 0);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
}
