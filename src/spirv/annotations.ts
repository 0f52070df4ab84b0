import { takeWords } from "../base/index.ts";
import { Decoration, Op } from "./enums.ts";
import { decodeString } from "./literals.ts";
import type { Instruction, Module } from "./module.ts";
import type { ModuleIndex } from "./module-index.ts";

/**
 * Columns of a decoration: its id or struct, one more than its member (0: the id's own), the word index of its number,
 * one past the last word of its instruction, the row that follows in its chain.
 */
const target = 0;
const memberUp = 1;
const at = 2;
const stop = 3;
const next = 4;
const columns = 5;

/**
 * Decorations and names of a module by id; `OpGroupDecorate` is spread over its targets. A decoration is a row of a
 * table, row 0 is none.
 */
export class Annotations {
  readonly #index: ModuleIndex;
  #table: Uint32Array;
  #rows = 1;
  /** Rows of each decoration group. */
  #groups: Map<number, number[]> | undefined;
  /** First row of each chain, by a hash of id and member. */
  readonly #first: Uint32Array;
  readonly #mask: number;

  constructor(index: ModuleIndex) {
    this.#index = index;
    const { words, decorations } = index;
    this.#table = takeWords(columns * (decorations.length + 1));
    for (let k = 0; k < decorations.length; k++) {
      const word = decorations[k]!;
      this.#read(words[word]! & 0xffff, word, word + (words[word]! >>> 16));
    }
    let size = 16;
    while (size < 2 * this.#rows) size *= 2;
    this.#mask = size - 1;
    this.#first = takeWords(size);
    const table = this.#table;
    // from the last on, each before those behind it
    for (let row = this.#rows - 1; row > 0; row--) {
      const slot = this.#slot(table[columns * row + target]!, table[columns * row + memberUp]!);
      table[columns * row + next] = this.#first[slot]!;
      this.#first[slot] = row;
    }
  }

  #read(opcode: number, from: number, until: number): void {
    const { words } = this.#index;
    switch (opcode) {
      case Op.OpDecorate:
      case Op.OpDecorateId:
      case Op.OpDecorateString:
        this.#add(words[from + 1]!, 0, from + 2, until);
        return;
      case Op.OpMemberDecorate:
      case Op.OpMemberDecorateString:
        this.#add(words[from + 1]!, words[from + 2]! + 1, from + 3, until);
        return;
      case Op.OpGroupDecorate:
      case Op.OpGroupMemberDecorate: {
        const members = opcode === Op.OpGroupMemberDecorate;
        for (const row of this.#groups?.get(words[from + 1]!) ?? []) {
          for (let k = from + 2; k < until; k += members ? 2 : 1) {
            const up = members ? words[k + 1]! + 1 : 0;
            this.#add(words[k]!, up, this.#table[columns * row + at]!, this.#table[columns * row + stop]!);
          }
        }
        return;
      }
    }
  }

  #add(id: number, up: number, from: number, until: number): void {
    const row = this.#rows++;
    if (up === 0 && this.#index.opcode(id) === Op.OpDecorationGroup) {
      this.#groups ??= new Map();
      const rows = this.#groups.get(id);
      if (rows === undefined) this.#groups.set(id, [row]);
      else rows.push(row);
    }
    const place = columns * row;
    if (place + columns > this.#table.length) {
      const grown = new Uint32Array(2 * (place + columns));
      grown.set(this.#table);
      this.#table = grown;
    }
    const table = this.#table;
    table[place + target] = id;
    table[place + memberUp] = up;
    table[place + at] = from;
    table[place + stop] = until;
  }

  #slot(id: number, up: number): number {
    return (Math.imul(id, 0x9e3779b1) ^ Math.imul(up, 0x85ebca6b)) & this.#mask;
  }

  /** Row of a decoration of an id (`up` 0) or of a member, which `up` is one more than; 0: there is none. */
  #find(id: number, up: number, decoration: number): number {
    const { words } = this.#index;
    const table = this.#table;
    let row = this.#first[this.#slot(id, up)]!;
    while (row !== 0) {
      const place = columns * row;
      const own = table[place + target] === id && table[place + memberUp] === up;
      if (own && words[table[place + at]!] === decoration) return row;
      row = table[place + next]!;
    }
    return 0;
  }

  #value(row: number): number | undefined {
    if (row === 0) return undefined;
    const word = this.#table[columns * row + at]! + 1;
    return word < this.#table[columns * row + stop]! ? this.#index.words[word] : undefined;
  }

  /** The OpName of an id, or "". */
  name(id: number): string {
    return this.#index.name(id);
  }

  has(id: number, decoration: number): boolean {
    return this.#find(id, 0, decoration) !== 0;
  }

  memberHas(struct: number, member: number, decoration: number): boolean {
    return this.#find(struct, member + 1, decoration) !== 0;
  }

  /** First literal of a decoration (`Binding`, `ArrayStride`, `SpecId`), or undefined without it. */
  value(id: number, decoration: number): number | undefined {
    return this.#value(this.#find(id, 0, decoration));
  }

  memberValue(struct: number, member: number, decoration: number): number | undefined {
    return this.#value(this.#find(struct, member + 1, decoration));
  }

  /** The struct is laid out as a buffer block. */
  isBlock(struct: number): boolean {
    return this.has(struct, Decoration.Block) || this.has(struct, Decoration.BufferBlock);
  }

  /** Id decorated `BuiltIn builtIn`, or undefined. */
  builtInId(builtIn: number): number | undefined {
    const { words } = this.#index;
    const table = this.#table;
    for (let place = columns; place < columns * this.#rows; place += columns) {
      const word = table[place + at]!;
      if (table[place + memberUp] !== 0 || words[word] !== Decoration.BuiltIn) continue;
      if (words[word + 1] === builtIn) return table[place + target];
    }
    return undefined;
  }
}

/** An entry point of the module. `stage` is undefined for execution models other than the three. */
export interface EntryPoint {
  readonly name: string;
  readonly model: number;
  readonly stage: "compute" | "vertex" | "fragment" | undefined;
  readonly fn: number;
  /** Word index of its instruction. */
  readonly at: number;
}

const stages: Readonly<Record<number, EntryPoint["stage"]>> = { 0: "vertex", 4: "fragment", 5: "compute" };

/** Every OpEntryPoint in order. */
export function entryPoints({ words, entries }: ModuleIndex): EntryPoint[] {
  return entries.map((at) => {
    const model = words[at + 1]!;
    const name = decodeString(words, at + 3, at + (words[at]! >>> 16));
    return { name, model, stage: stages[model], fn: words[at + 2]!, at };
  });
}

/** The instruction of an entry point, for messages and checks. */
export function entryInstruction(module: Module, entry: EntryPoint): Instruction {
  return module.instructions.find(({ at }) => at === entry.at)!;
}
