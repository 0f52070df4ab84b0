import { takeWords } from "../base/index.ts";
import { Op } from "./enums.ts";
import { instructionRow, OperandCode, opcodeTable } from "./grammar.ts";
import { decodeString } from "./literals.ts";

/**
 * By opcode: words between the instruction's first and its first operand, that is result type and result; bit 2: a
 * result. Found out for each opcode when it is met, as is the table below.
 */
const resultBit = 4;
const leading = 3;
const unmet = 0xff;
const shapes = opcodeTable([], unmet);

function shapeOf(opcode: number): number {
  const known = shapes[opcode];
  if (known !== undefined && known !== unmet) return known;
  const row = instructionRow(opcode);
  if (row === undefined) return 0;
  const { hasType, hasResult } = row;
  const shape = Number(hasType) + Number(hasResult) + (hasResult ? resultBit : 0);
  shapes[opcode] = shape;
  return shape;
}

/**
 * By opcode: which words may name a variable that code uses: bit k is the word k behind the first (result type and
 * result among them, which are never set); bit 15: all words from the highest bit below it on. Parameters of
 * enumerants never name one. Bit 0: it has been met.
 */
const restBit = 0x8000;
const metBit = 1;
const namingWords = new Uint16Array(shapes.length);

function namingOf(opcode: number): number {
  const known = namingWords[opcode]!;
  if ((known & metBit) !== 0) return known;
  let bits = metBit;
  for (const [k, { code, pairCode, quantifier }] of (instructionRow(opcode)?.operands ?? []).entries()) {
    if (code === OperandCode.id) bits |= 1 << (k + 1);
    // the other half of a pair may be a literal and a label
    const named = code === OperandCode.id && (pairCode < 0 || pairCode === OperandCode.id);
    if (quantifier === "*" && named) bits |= restBit;
    // what follows has no fixed place, and is no variable
    if (quantifier === "*" || code === OperandCode.string || code === OperandCode.number) break;
  }
  namingWords[opcode] = bits;
  return bits;
}

/**
 * A module as one pass over its words leaves it: where each id is defined and named. No object for an instruction: what
 * is asked is read in the words. The words' framing is right and their ids are below the bound.
 */
export class ModuleIndex {
  readonly words: Uint32Array;
  readonly bound: number;
  /** Word index of the first OpFunction: where the declarations end. */
  readonly codeAt: number;
  /** Word indices of the decorations, entry points, execution modes, variables, specialisation constants and strings. */
  readonly decorations: readonly number[];
  readonly entries: readonly number[];
  readonly modes: readonly number[];
  readonly variables: readonly number[];
  readonly specConstants: readonly number[];
  readonly #strings: readonly number[];
  /** By id: word index of its definition, of its OpName; 0 without one. */
  readonly #places: Uint32Array;

  constructor(words: Uint32Array, bound: number) {
    this.words = words;
    this.bound = bound;
    const places = takeWords(2 * bound);
    const decorations: number[] = [];
    const entries: number[] = [];
    const modes: number[] = [];
    const variables: number[] = [];
    const specConstants: number[] = [];
    const strings: number[] = [];
    let at = 5;
    for (let length = 0; at < words.length; at += length) {
      const word = words[at]!;
      length = word >>> 16;
      const opcode = word & 0xffff;
      if (opcode === Op.OpFunction) break;
      const shape = shapeOf(opcode);
      if ((shape & resultBit) !== 0) places[2 * words[at + (shape & leading)]!] = at;
      switch (opcode) {
        case Op.OpName:
          places[2 * words[at + 1]! + 1] = at;
          break;
        case Op.OpDecorate:
        case Op.OpDecorateId:
        case Op.OpDecorateString:
        case Op.OpMemberDecorate:
        case Op.OpMemberDecorateString:
        case Op.OpGroupDecorate:
        case Op.OpGroupMemberDecorate:
          decorations.push(at);
          break;
        case Op.OpEntryPoint:
          entries.push(at);
          break;
        case Op.OpExecutionMode:
        case Op.OpExecutionModeId:
          modes.push(at);
          break;
        case Op.OpVariable:
          variables.push(at);
          break;
        case Op.OpSpecConstantTrue:
        case Op.OpSpecConstantFalse:
        case Op.OpSpecConstant:
          specConstants.push(at);
          break;
        case Op.OpString:
          strings.push(at);
          break;
      }
    }
    this.codeAt = at;
    this.decorations = decorations;
    this.entries = entries;
    this.modes = modes;
    this.variables = variables;
    this.specConstants = specConstants;
    this.#strings = strings;
    this.#places = places;
  }

  /** Word index of the declaration of `id`; 0 for what is none. */
  place(id: number): number {
    return id < this.bound ? this.#places[2 * id]! : 0;
  }

  /** Opcode of the declaration of `id`; 0 (OpNop, which declares nothing) without one. */
  opcode(id: number): number {
    const at = this.place(id);
    return at === 0 ? 0 : this.words[at]! & 0xffff;
  }

  /** Its result type; 0 where it has none. */
  type(id: number): number {
    const at = this.place(id);
    if (at === 0) return 0;
    return (shapeOf(this.words[at]! & 0xffff) & leading) === 2 ? this.words[at + 1]! : 0;
  }

  /** Its operand words after result type and result. */
  count(id: number): number {
    const at = this.place(id);
    if (at === 0) return 0;
    const word = this.words[at]!;
    return (word >>> 16) - 1 - (shapeOf(word & 0xffff) & leading);
  }

  /** The `k`th of them; 0 where there is none. */
  operand(id: number, k: number): number {
    const at = this.place(id);
    if (at === 0) return 0;
    const word = this.words[at]!;
    const place = 1 + (shapeOf(word & 0xffff) & leading) + k;
    return place < word >>> 16 ? this.words[at + place]! : 0;
  }

  /** The OpName of an id, or "". */
  name(id: number): string {
    const at = this.#places[2 * id + 1]!;
    return at === 0 ? "" : decodeString(this.words, at + 2, at + (this.words[at]! >>> 16));
  }

  /** Text of every OpString by id: file names that OpLine and OpSource refer to. */
  strings(): ReadonlyMap<number, string> {
    const { words } = this;
    const texts = new Map<number, string>();
    for (const at of this.#strings) texts.set(words[at + 1]!, decodeString(words, at + 2, at + (words[at]! >>> 16)));
    return texts;
  }

  /** 1 for each id that the code reached from function `fn` names where a variable may stand. */
  namedFrom(fn: number): Uint32Array {
    const { words } = this;
    const named = takeWords(this.bound);
    const functionAt = new Map<number, number>();
    for (let at = this.codeAt; at < words.length; at += words[at]! >>> 16) {
      if ((words[at]! & 0xffff) === Op.OpFunction) functionAt.set(words[at + 2]!, at);
    }
    const work = [fn];
    for (let id = work.pop(); id !== undefined; id = work.pop()) {
      let at = functionAt.get(id);
      if (at === undefined) continue;
      functionAt.delete(id);
      for (; at < words.length; at += words[at]! >>> 16) {
        const word = words[at]!;
        const opcode = word & 0xffff;
        if (opcode === Op.OpFunctionEnd) break;
        if (opcode === Op.OpFunctionCall) work.push(words[at + 3]!);
        const length = word >>> 16;
        let bits = namingOf(opcode);
        const rest = bits & restBit;
        bits &= restBit - 1 - metBit;
        for (let k = 1; bits >> k !== 0 && k < length; k++) {
          if ((bits >> k) & 1) named[words[at + k]!] = 1;
        }
        if (rest !== 0) for (let k = 31 - Math.clz32(bits); k < length; k++) named[words[at + k]!] = 1;
      }
    }
    return named;
  }
}
