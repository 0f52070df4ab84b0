import { Bug, type Diagnostic, fileSpan, reporter, takeWords } from "../base/index.ts";
import { Annotations } from "./annotations.ts";
import { spirvCodes } from "./codes.ts";
import { Op } from "./enums.ts";
import { instructionRow, opName } from "./grammar.ts";
import { type Instruction, type Module, spanOf } from "./module.ts";
import { ModuleIndex } from "./module-index.ts";
import { OperandScan } from "./operand-scan.ts";
import type { OperandProblem } from "./operands.ts";
import { magicNumber } from "./version.ts";

/** Highest id bound accepted: the universal limit of the specification (chapter 2.17). */
export const maxIdBound = 0x3fffff;
/** Messages of one run; the contract's limit. */
export const maxDiagnostics = 100;

const report = reporter(spirvCodes);

export type ReadResult =
  | { readonly ok: true; readonly module: Module }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] };

export interface ReadOptions {
  /** Name for messages; default `module.spv`. */
  readonly file?: string;
  /** Line of text of a word, for modules that come from `assemble`. */
  readonly lineOfWord?: (word: number) => number | undefined;
}

const hex = (value: number): string => `0x${value.toString(16).padStart(8, "0")}`;

function swapBytes(words: Uint32Array): Uint32Array {
  return words.map((w) => ((w << 24) | ((w & 0xff00) << 8) | ((w >>> 8) & 0xff00) | (w >>> 24)) >>> 0);
}

/** The words in this machine's order; where that is not the file's, the swapped magic number tells. */
function wordsOf(bytes: Uint8Array): Uint32Array {
  const words = takeWords(bytes.length >> 2);
  new Uint8Array(words.buffer, words.byteOffset, bytes.length).set(bytes);
  return words;
}

/** Bits of an integer or float type, given the type's id or the id of a value of that type. */
export function scalarWidth(module: Pick<Module, "definitions" | "words">, id: number): number | undefined {
  const found = module.definitions[id];
  const type = found !== undefined && found.type !== 0 ? module.definitions[found.type] : found;
  if (type?.opcode !== Op.OpTypeInt && type?.opcode !== Op.OpTypeFloat) return undefined;
  const width = module.words[type.first]!;
  if (width === 32 || width === 64 || width === 16) return width;
  return width === 8 && type.opcode === Op.OpTypeInt ? width : undefined;
}

class Declared {
  readonly words: Uint32Array;
  readonly version: number;
  readonly generator: number;
  readonly bound: number;
  readonly file: string;
  readonly lineOfWord: Module["lineOfWord"];
  #index: ModuleIndex | undefined;
  #annotations: Annotations | undefined;

  constructor(words: Uint32Array, file: string, lineOfWord?: Module["lineOfWord"]) {
    this.words = words;
    this.version = words[1]!;
    this.generator = words[2]!;
    this.bound = words[3]!;
    this.file = file;
    this.lineOfWord = lineOfWord;
  }

  get index(): ModuleIndex {
    this.#index ??= new ModuleIndex(this.words, this.bound);
    return this.#index;
  }

  get annotations(): Annotations {
    this.#annotations ??= new Annotations(this.index);
    return this.#annotations;
  }
}

class ReadModule extends Declared implements Module {
  readonly instructions: Instruction[] = [];
  readonly definitions: (Instruction | undefined)[];
  readonly ids: Module["ids"];
  readonly enumerants: Module["enumerants"];
  readonly scan: OperandScan;

  constructor(words: Uint32Array, file: string, lineOfWord: Module["lineOfWord"]) {
    super(words, file, lineOfWord);
    // ids far above what the words can define leave holes
    this.definitions = this.bound <= 2 * words.length ? new Array(this.bound).fill(undefined) : [];
    this.scan = new OperandScan(words, this.bound, (id) => scalarWidth(this, id));
    this.ids = this.scan.ids;
    this.enumerants = this.scan.enumerants;
  }
}

class OwnModule extends Declared implements Module {
  #read: Module | undefined;

  #whole(): Module {
    if (this.#read === undefined) {
      const read = readModule(this.words, { file: this.file });
      if (!read.ok) throw new Bug(`our own module: ${read.diagnostics[0]?.message}`);
      this.#read = read.module;
    }
    return this.#read;
  }

  get instructions(): Module["instructions"] {
    return this.#whole().instructions;
  }

  get definitions(): Module["definitions"] {
    return this.#whole().definitions;
  }

  get ids(): Module["ids"] {
    return this.#whole().ids;
  }

  get enumerants(): Module["enumerants"] {
    return this.#whole().enumerants;
  }
}

/** The module of words that `ModuleBuilder` made: what `readModule` would find out is read when it is first asked for. */
export function ownModule(words: Uint32Array, file: string): Module {
  return new OwnModule(words, file);
}

/**
 * Reads a module of either byte order: header, instruction framing, and each instruction's operands against the
 * grammar. Errors: SPIRV_* diagnostics (at most 100), each naming the word. Framing errors end the reading.
 */
export function readModule(input: Uint32Array | Uint8Array, options: ReadOptions = {}): ReadResult {
  const file = options.file ?? "module.spv";
  const fail = (diagnostic: Diagnostic): ReadResult => ({ ok: false, diagnostics: [diagnostic] });
  if (input instanceof Uint8Array && input.byteLength % 4 !== 0) {
    return fail(report("SPIRV_NOT_WORDS", { bytes: input.byteLength }, fileSpan(file)));
  }
  let words = input instanceof Uint8Array ? wordsOf(input) : input;
  if (words.length < 5) return fail(report("SPIRV_TRUNCATED_HEADER", { words: words.length }, fileSpan(file)));
  if (words[0] !== magicNumber) {
    const value = words[0]!;
    words = swapBytes(words);
    if (words[0] !== magicNumber) return fail(report("SPIRV_BAD_MAGIC", { value: hex(value) }, fileSpan(file)));
  }
  const version = words[1]!;
  if ((version & 0xff0000ff) !== 0 || version < 0x10000 || version > 0x10600) {
    return fail(report("SPIRV_BAD_VERSION", { value: hex(version) }, fileSpan(file)));
  }
  const bound = words[3]!;
  if (bound < 1 || bound > maxIdBound) {
    return fail(report("SPIRV_BAD_BOUND", { bound, limit: maxIdBound }, fileSpan(file)));
  }

  const diagnostics: Diagnostic[] = [];
  const module = new ReadModule(words, file, options.lineOfWord);
  const { instructions, definitions, scan } = module;

  for (let at = 5; at < words.length; ) {
    const count = words[at]! >>> 16;
    const opcode = words[at]! & 0xffff;
    if (count === 0) {
      diagnostics.push(report("SPIRV_ZERO_LENGTH", { word: at }, spanOf(module, at)));
      break;
    }
    const end = at + count;
    if (end > words.length) {
      diagnostics.push(report("SPIRV_TRUNCATED", { op: opName(opcode), word: at }, spanOf(module, at)));
      break;
    }
    const row = instructionRow(opcode);
    if (row === undefined) {
      diagnostics.push(report("SPIRV_UNKNOWN_OP", { opcode, word: at }, spanOf(module, at)));
    } else {
      const problem = scan.scan(at, end, row);
      if (problem !== undefined) diagnostics.push(operandDiagnostic(module, at, row.name, problem));
      else if (scan.badId >= 0) {
        const place = { id: scan.badId, op: row.name, word: at, bound };
        diagnostics.push(report("SPIRV_ID_OUT_OF_BOUND", place, spanOf(module, at)));
      } else {
        scan.keep();
        const first = at + 1 + (row.hasType ? 1 : 0) + (row.hasResult ? 1 : 0);
        const result = row.hasResult ? words[first - 1]! : 0;
        const type = row.hasType ? words[at + 1]! : 0;
        const instruction = { at, end, opcode, row, type, result, first, index: instructions.length };
        instructions.push(instruction);
        if (row.hasResult) define(module, definitions, instruction, diagnostics);
      }
    }
    if (diagnostics.length >= maxDiagnostics) break;
    at = end;
  }
  return diagnostics.length > 0 ? { ok: false, diagnostics } : { ok: true, module };
}

function define(
  module: Module,
  definitions: (Instruction | undefined)[],
  instruction: Instruction,
  diagnostics: Diagnostic[],
): void {
  const { result: id, at: word } = instruction;
  const op = instruction.row.name;
  if (id === 0 || id >= module.bound) {
    diagnostics.push(report("SPIRV_ID_OUT_OF_BOUND", { id, op, word, bound: module.bound }, spanOf(module, word)));
  } else if (definitions[id] !== undefined) {
    diagnostics.push(report("SPIRV_ID_REDEFINED", { id, op, word }, spanOf(module, word)));
  } else {
    definitions[id] = instruction;
  }
}

function operandDiagnostic(module: Module, word: number, op: string, problem: OperandProblem): Diagnostic {
  const span = spanOf(module, word);
  switch (problem.problem) {
    case "missing":
      return report("SPIRV_MISSING_OPERAND", { op, word, kind: problem.kind }, span);
    case "extra":
      return report("SPIRV_EXTRA_OPERAND", { op, word, extra: problem.words }, span);
    case "enumerant":
      return report("SPIRV_BAD_ENUMERANT", { op, word, kind: problem.kind, value: problem.value }, span);
    case "string":
      return report("SPIRV_UNTERMINATED_STRING", { op, word }, span);
    case "literalType":
      return report("SPIRV_BAD_LITERAL_TYPE", { op, word, id: problem.id }, span);
  }
}
