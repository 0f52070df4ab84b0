import { Decoration, Op } from "./enums.ts";
import { decodeString } from "./literals.ts";
import type { Instruction, Module } from "./module.ts";
import type { ModuleIndex } from "./module-index.ts";

/** Of a chain of decorations: none follows. */
const end = -1;

/**
 * Decorations and names of a module by id; `OpGroupDecorate` is spread over its targets. A decoration is a row: its id or
 * struct, its member, the word index of its number and the row that follows in its chain.
 */
export class Annotations {
  readonly #index: ModuleIndex;
  readonly #target: number[] = [];
  readonly #member: number[] = [];
  readonly #at: number[] = [];
  /** One past the last word of the row's instruction. */
  readonly #end: number[] = [];
  readonly #next: number[] = [];
  /** Rows of each decoration group. */
  #groups: Map<number, number[]> | undefined;
  /** First and last row of each chain: the ids' by id, the members' by a hash of struct and member. */
  readonly #first: Int32Array;
  readonly #last: Int32Array;
  readonly #mask: number;

  constructor(index: ModuleIndex) {
    this.#index = index;
    const { words, decorations } = index;
    for (const at of decorations) this.#read(words[at]! & 0xffff, at, at + (words[at]! >>> 16));
    const rows = this.#at.length;
    let size = 16;
    while (size < 2 * rows) size *= 2;
    this.#mask = size - 1;
    this.#first = new Int32Array(2 * size);
    this.#last = this.#first.subarray(size);
    this.#first.fill(end);
    for (let row = 0; row < rows; row++) this.#link(row);
  }

  #read(opcode: number, at: number, stop: number): void {
    const { words } = this.#index;
    switch (opcode) {
      case Op.OpDecorate:
      case Op.OpDecorateId:
      case Op.OpDecorateString:
        this.#add(words[at + 1]!, -1, at + 2, stop);
        return;
      case Op.OpMemberDecorate:
      case Op.OpMemberDecorateString:
        this.#add(words[at + 1]!, words[at + 2]!, at + 3, stop);
        return;
      case Op.OpGroupDecorate:
      case Op.OpGroupMemberDecorate: {
        const members = opcode === Op.OpGroupMemberDecorate;
        for (const row of this.#groups?.get(words[at + 1]!) ?? []) {
          for (let k = at + 2; k < stop; k += members ? 2 : 1) {
            this.#add(words[k]!, members ? words[k + 1]! : -1, this.#at[row]!, this.#end[row]!);
          }
        }
        return;
      }
    }
  }

  #add(target: number, member: number, at: number, stop: number): void {
    if (member === -1 && this.#index.opcode(target) === Op.OpDecorationGroup) {
      this.#groups ??= new Map();
      const rows = this.#groups.get(target);
      if (rows === undefined) this.#groups.set(target, [this.#at.length]);
      else rows.push(this.#at.length);
    }
    this.#target.push(target);
    this.#member.push(member);
    this.#at.push(at);
    this.#end.push(stop);
    this.#next.push(end);
  }

  #slot(target: number, member: number): number {
    return (Math.imul(target, 0x9e3779b1) ^ Math.imul(member + 1, 0x85ebca6b)) & this.#mask;
  }

  #link(row: number): void {
    const slot = this.#slot(this.#target[row]!, this.#member[row]!);
    if (this.#first[slot] === end) this.#first[slot] = row;
    else this.#next[this.#last[slot]!] = row;
    this.#last[slot] = row;
  }

  /** Row of a decoration of an id (`member` -1) or a member, or `end`. */
  #find(target: number, member: number, decoration: number): number {
    const { words } = this.#index;
    for (let row = this.#first[this.#slot(target, member)]!; row !== end; row = this.#next[row]!) {
      if (this.#target[row] === target && this.#member[row] === member && words[this.#at[row]!] === decoration)
        return row;
    }
    return end;
  }

  #value(row: number): number | undefined {
    if (row === end) return undefined;
    const at = this.#at[row]! + 1;
    return at < this.#end[row]! ? this.#index.words[at] : undefined;
  }

  /** The OpName of an id, or "". */
  name(id: number): string {
    return this.#index.name(id);
  }

  has(id: number, decoration: number): boolean {
    return this.#find(id, -1, decoration) !== end;
  }

  memberHas(struct: number, member: number, decoration: number): boolean {
    return this.#find(struct, member, decoration) !== end;
  }

  /** First literal of a decoration (`Binding`, `ArrayStride`, `SpecId`), or undefined without it. */
  value(id: number, decoration: number): number | undefined {
    return this.#value(this.#find(id, -1, decoration));
  }

  memberValue(struct: number, member: number, decoration: number): number | undefined {
    return this.#value(this.#find(struct, member, decoration));
  }

  /** The struct is laid out as a buffer block. */
  isBlock(struct: number): boolean {
    return this.has(struct, Decoration.Block) || this.has(struct, Decoration.BufferBlock);
  }

  /** Id decorated `BuiltIn builtIn`, or undefined. */
  builtInId(builtIn: number): number | undefined {
    const { words } = this.#index;
    for (let row = 0; row < this.#at.length; row++) {
      if (this.#member[row] !== -1 || words[this.#at[row]!] !== Decoration.BuiltIn) continue;
      if (words[this.#at[row]! + 1] === builtIn) return this.#target[row];
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
