import { type Diagnostic, reporter, type Span } from "../../base/index.ts";
import { spirvCodes } from "../codes.ts";
import { Op } from "../enums.ts";
import {
  enumKind,
  glslInstructionByName,
  type InstructionRow,
  instructionByName,
  type OperandRow,
} from "../grammar.ts";
import { encodeString } from "../literals.ts";
import { maxDiagnostics, maxIdBound } from "../reader.ts";
import { magicNumber, type SpirvTarget, targetVersion } from "../version.ts";
import { maxInstructionWords } from "../word-buffer.ts";
import { type Token, tokenize } from "./lexer.ts";
import { type NumberType, parseNumber, parseWord } from "./numbers.ts";

const report = reporter(spirvCodes);

export type AssembleResult =
  | {
      readonly ok: true;
      readonly words: Uint32Array;
      /** Line of text (from 1) of the instruction that a word belongs to; undefined for the header. */
      readonly lineOfWord: (word: number) => number | undefined;
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

export interface AssembleOptions {
  /** Name for messages; default `module.spvasm`. */
  readonly file?: string;
  /** Fixes the version in the header; default `vulkan1.3` (1.6). */
  readonly target?: SpirvTarget;
}

/** Thrown inside the assembler to leave an instruction; never leaves this file. */
class Abandon {}

/**
 * Assembles SPIR-V text: `%name` and `%12` ids (numbers are kept, names get the free ids in order of appearance), masks
 * joined by `|`, literals typed by their result type or selector. Errors: SPIRVASM_* diagnostics with line and column,
 * all of the run up to 100.
 */
export function assemble(text: string, options: AssembleOptions = {}): AssembleResult {
  return new Assembler(tokenize(text), options).run();
}

class Assembler {
  readonly #tokens: readonly Token[];
  readonly #file: string;
  readonly #version: number;
  readonly #diagnostics: Diagnostic[] = [];
  readonly #ids = new Map<string, number>();
  readonly #taken = new Set<number>();
  readonly #typeOf = new Map<number, number>();
  readonly #numberTypes = new Map<number, NumberType>();
  readonly #glslSets = new Set<number>();
  readonly #words: number[] = [];
  /** Pairs: first word of an instruction, its line. */
  readonly #lines: number[] = [];
  #next = 0;
  #freeId = 1;
  #highest = 0;
  #out: number[] = [];

  constructor(tokens: readonly Token[], options: AssembleOptions) {
    this.#tokens = tokens;
    this.#file = options.file ?? "module.spvasm";
    this.#version = targetVersion[options.target ?? "vulkan1.3"];
    for (const token of tokens) {
      const id = token.kind === "id" ? numericId(token.text) : undefined;
      if (id !== undefined) this.#taken.add(id);
    }
  }

  run(): AssembleResult {
    while (this.#next < this.#tokens.length && this.#diagnostics.length < maxDiagnostics) {
      try {
        this.#instruction();
      } catch (thrown) {
        if (!(thrown instanceof Abandon)) throw thrown;
        // leave the broken instruction: go on where the next one starts
        while (this.#next < this.#tokens.length && !this.#startsInstruction()) this.#next++;
      }
    }
    if (this.#diagnostics.length > 0) return { ok: false, diagnostics: this.#diagnostics };
    const words = new Uint32Array(5 + this.#words.length);
    words.set([magicNumber, this.#version, 0, this.#highest + 1, 0]);
    words.set(this.#words, 5);
    return { ok: true, words, lineOfWord: lineLookup(this.#lines) };
  }

  #instruction(): void {
    const start = this.#tokens[this.#next]!;
    let result: Token | undefined;
    if (start.kind === "id") {
      result = start;
      this.#next++;
      const equals = this.#tokens[this.#next];
      if (equals?.kind !== "equals") this.#expected("=", equals);
      this.#next++;
    }
    const opcode = this.#tokens[this.#next];
    if (opcode?.kind !== "word" || !/^Op[A-Z]/.test(opcode.text)) this.#expected("an instruction", opcode);
    this.#next++;
    const row = instructionByName(opcode.text);
    if (row === undefined) this.#fail(report("SPIRVASM_UNKNOWN_OP", { name: opcode.text }, this.#span(opcode)));
    if (row.hasResult && result === undefined) {
      this.#fail(report("SPIRVASM_RESULT", { op: row.name, rule: "needs a result: %id =" }, this.#span(opcode)));
    }
    if (!row.hasResult && result !== undefined) {
      this.#fail(report("SPIRVASM_RESULT", { op: row.name, rule: "has no result" }, this.#span(result)));
    }
    this.#out = [0];
    this.#operands(row.operands, row, result);
    if (this.#next < this.#tokens.length && !this.#startsInstruction()) {
      this.#expected("the end of the instruction", this.#tokens[this.#next]);
    }
    const count = this.#out.length;
    if (count > maxInstructionWords) {
      this.#fail(report("SPIRVASM_TOO_LONG", { op: row.name, words: count }, this.#span(opcode)));
    }
    this.#out[0] = ((count << 16) | row.opcode) >>> 0;
    this.#remember(row);
    this.#lines.push(5 + this.#words.length, start.line);
    for (const word of this.#out) this.#words.push(word);
  }

  /** What later literals need to know: scalar types, the types of values, the GLSL instruction set. */
  #remember(row: InstructionRow): void {
    const out = this.#out;
    if (row.opcode === Op.OpTypeInt) {
      this.#numberTypes.set(out[1]!, { kind: "int", width: out[2]!, signed: out[3] !== 0 });
    } else if (row.opcode === Op.OpTypeFloat) {
      this.#numberTypes.set(out[1]!, { kind: "float", width: out[2]!, signed: true });
    } else if (row.hasType && row.hasResult) {
      this.#typeOf.set(out[2]!, out[1]!);
    }
  }

  #operands(rows: readonly OperandRow[], row: InstructionRow, result: Token | undefined): void {
    for (const operand of rows) {
      if (operand.quantifier === "?" && this.#atEnd()) continue;
      do {
        if (operand.quantifier === "*" && this.#atEnd()) break;
        this.#operand(operand.kind, row, result);
        if (operand.pair !== undefined) this.#operand(operand.pair, row, result);
      } while (operand.quantifier === "*");
    }
  }

  #operand(kind: string, row: InstructionRow, result: Token | undefined): void {
    if (kind === "result") {
      this.#out.push(this.#id(result!));
      return;
    }
    if (this.#atEnd()) this.#expected(describe(kind), this.#tokens[this.#next]);
    const token = this.#tokens[this.#next]!;
    switch (kind) {
      case "type":
      case "id":
      case "scope":
      case "semantics":
        if (token.kind !== "id") this.#expected(describe(kind), token);
        this.#next++;
        this.#out.push(this.#id(token));
        return;
      case "string":
        if (token.kind !== "string") this.#expected(describe(kind), token);
        this.#next++;
        this.#string(token, row);
        return;
      case "int":
        this.#next++;
        this.#out.push(this.#word(token));
        return;
      case "number":
        this.#next++;
        this.#number(token);
        return;
      case "extinst":
        this.#next++;
        this.#out.push(this.#extInst(token));
        return;
      case "specop":
        this.#next++;
        this.#specOp(token, row);
        return;
      default:
        this.#next++;
        this.#enumerant(kind, token, row);
    }
  }

  #string(token: Token, row: InstructionRow): void {
    const words = encodeString(token.text);
    if (words.length > maxInstructionWords) {
      this.#fail(report("SPIRVASM_TOO_LONG", { op: row.name, words: words.length }, this.#span(token)));
    }
    if (row.opcode === Op.OpExtInstImport && token.text === "GLSL.std.450") this.#glslSets.add(this.#out[1]!);
    for (const word of words) this.#out.push(word);
  }

  #word(token: Token): number {
    const value = token.kind === "word" ? parseWord(token.text) : undefined;
    if (value === undefined) this.#badNumber(token, "32-bit unsigned integer");
    return value;
  }

  #number(token: Token): void {
    const owner = this.#out[1]!;
    const type = this.#numberTypes.get(owner) ?? this.#numberTypes.get(this.#typeOf.get(owner) ?? 0);
    if (type === undefined) this.#badNumber(token, "literal: its type is not an integer or float type declared before");
    const supported = type.kind === "int" ? [8, 16, 32, 64] : [16, 32, 64];
    const known = supported.includes(type.width);
    const words = token.kind === "word" && known ? parseNumber(token.text, type) : undefined;
    if (words === undefined) {
      const sign = type.kind === "int" ? (type.signed ? "signed " : "unsigned ") : "";
      this.#badNumber(token, `${type.width}-bit ${sign}${type.kind === "int" ? "integer" : "float"}`);
    }
    this.#out.push(...words);
  }

  #extInst(token: Token): number {
    const set = this.#out[3]!;
    const named = this.#glslSets.has(set) ? glslInstructionByName(token.text) : undefined;
    const number = named ?? (token.kind === "word" ? parseWord(token.text) : undefined);
    if (number === undefined) this.#unknownName(token, "extended instruction");
    return number;
  }

  #specOp(token: Token, row: InstructionRow): void {
    const inner = token.kind === "word" ? instructionByName(`Op${token.text}`) : undefined;
    if (inner === undefined || inner === row || !inner.hasType || !inner.hasResult)
      this.#unknownName(token, "operation");
    this.#out.push(inner.opcode);
    this.#operands(inner.operands.slice(2), inner, undefined);
  }

  #enumerant(kind: string, token: Token, row: InstructionRow): void {
    const table = enumKind(kind)!;
    if (token.kind !== "word") this.#expected(describe(kind), token);
    if (!table.mask) {
      const found = table.byName.get(token.text);
      if (found === undefined) this.#unknownName(token, kind);
      this.#out.push(found.value);
      this.#operands(found.parameters, row, undefined);
      return;
    }
    let mask = 0;
    for (const name of token.text.split("|")) {
      const found = table.byName.get(name);
      if (found === undefined) this.#unknownName({ ...token, text: name }, kind);
      mask = (mask | found.value) >>> 0;
    }
    this.#out.push(mask);
    for (let bit = 0; bit < 32; bit++) {
      const found = (mask >>> bit) & 1 ? table.byValue.get((1 << bit) >>> 0) : undefined;
      if (found !== undefined) this.#operands(found.parameters, row, undefined);
    }
  }

  #id(token: Token): number {
    const numeric = numericId(token.text);
    if (numeric !== undefined) {
      this.#highest = Math.max(this.#highest, numeric);
      return numeric;
    }
    if (/^\d+$/.test(token.text)) this.#badNumber(token, `id from 1 to ${maxIdBound - 1}`);
    let id = this.#ids.get(token.text);
    if (id === undefined) {
      while (this.#taken.has(this.#freeId)) this.#freeId++;
      id = this.#freeId++;
      this.#ids.set(token.text, id);
      this.#highest = Math.max(this.#highest, id);
    }
    return id;
  }

  #atEnd(): boolean {
    return this.#next >= this.#tokens.length || this.#startsInstruction();
  }

  /** `OpName` or `%id = OpName` stands here. */
  #startsInstruction(): boolean {
    const token = this.#tokens[this.#next];
    if (token?.kind === "word") return /^Op[A-Z]/.test(token.text);
    return token?.kind === "id" && this.#tokens[this.#next + 1]?.kind === "equals";
  }

  #span(token: Token): Span {
    const { line, column, endLine, endColumn } = token;
    return { file: this.#file, line, column, endLine, endColumn };
  }

  #fail(diagnostic: Diagnostic): never {
    this.#diagnostics.push(diagnostic);
    throw new Abandon();
  }

  #expected(what: string, found: Token | undefined): never {
    const last = this.#tokens.at(-1);
    const place: Span =
      found !== undefined
        ? this.#span(found)
        : last === undefined
          ? { file: this.#file, line: 1, column: 1, endLine: 1, endColumn: 1 }
          : { ...this.#span(last), line: last.endLine, column: last.endColumn };
    if (found?.kind === "bad") {
      // an unfinished string or a broken id: the token itself is at fault; go past it
      this.#next++;
      this.#fail(report("SPIRVASM_BAD_TOKEN", { token: shorten(found.text) }, place));
    }
    const text =
      found === undefined ? "the end of the text" : shorten(found.kind === "id" ? `%${found.text}` : found.text);
    if (found !== undefined && !this.#startsInstruction()) this.#next++;
    this.#fail(report("SPIRVASM_EXPECTED", { what, found: text }, place));
  }

  #badNumber(token: Token, what: string): never {
    this.#fail(report("SPIRVASM_BAD_NUMBER", { text: shorten(token.text), what }, this.#span(token)));
  }

  #unknownName(token: Token, kind: string): never {
    this.#fail(report("SPIRVASM_UNKNOWN_NAME", { kind, name: shorten(token.text) }, this.#span(token)));
  }
}

/** `%12` names id 12; a zero in front or a number out of range is no number. */
function numericId(text: string): number | undefined {
  if (!/^[1-9]\d{0,9}$/.test(text)) return undefined;
  const id = Number(text);
  return id < maxIdBound ? id : undefined;
}

function describe(kind: string): string {
  switch (kind) {
    case "type":
      return "a result type id";
    case "id":
    case "scope":
    case "semantics":
      return "an id";
    case "int":
    case "number":
      return "a number";
    case "string":
      return "a string";
    case "extinst":
      return "an extended instruction";
    case "specop":
      return "an operation";
    default:
      return `a ${kind}`;
  }
}

const shorten = (text: string): string => (text.length > 40 ? `${text.slice(0, 40)}…` : text);

/** Binary search over (first word, line) pairs. */
function lineLookup(pairs: readonly number[]): (word: number) => number | undefined {
  return (word) => {
    let low = 0;
    let high = pairs.length >> 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pairs[middle * 2]! <= word) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? undefined : pairs[low * 2 - 1];
  };
}
