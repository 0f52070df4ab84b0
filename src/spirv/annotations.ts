import { Decoration, Op } from "./enums.ts";
import { decodeString } from "./literals.ts";
import { type Instruction, type Module, operand } from "./module.ts";

/** One decoration: its number and where its operands stand in the module's words. */
export interface DecorationUse {
  readonly decoration: number;
  readonly at: number;
  readonly end: number;
  readonly instruction: Instruction;
}

const none: readonly DecorationUse[] = [];

/** Decorations and names of a module by id; `OpGroupDecorate` is spread over its targets. */
export class Annotations {
  readonly #module: Module;
  readonly #ids = new Map<number, DecorationUse[]>();
  readonly #members = new Map<number, Map<number, DecorationUse[]>>();
  /** By id: its OpName, decoded when asked for. */
  readonly #names = new Map<number, Instruction>();

  constructor(module: Module) {
    this.#module = module;
    for (const instruction of module.instructions) {
      if (instruction.opcode === Op.OpFunction) break;
      this.#add(instruction);
    }
  }

  #add(instruction: Instruction): void {
    const { words } = this.#module;
    const { opcode, first, end } = instruction;
    switch (opcode) {
      case Op.OpName:
        this.#names.set(words[first]!, instruction);
        return;
      case Op.OpDecorate:
      case Op.OpDecorateId:
      case Op.OpDecorateString:
        push(this.#ids, words[first]!, { decoration: words[first + 1]!, at: first + 2, end, instruction });
        return;
      case Op.OpMemberDecorate:
      case Op.OpMemberDecorateString: {
        const use = { decoration: words[first + 2]!, at: first + 3, end, instruction };
        push(this.#membersOf(words[first]!), words[first + 1]!, use);
        return;
      }
      case Op.OpGroupDecorate:
        for (const use of this.#ids.get(words[first]!) ?? []) {
          for (let i = first + 1; i < end; i++) push(this.#ids, words[i]!, use);
        }
        return;
      case Op.OpGroupMemberDecorate:
        for (const use of this.#ids.get(words[first]!) ?? []) {
          for (let i = first + 1; i + 1 < end; i += 2) push(this.#membersOf(words[i]!), words[i + 1]!, use);
        }
        return;
    }
  }

  #membersOf(struct: number): Map<number, DecorationUse[]> {
    let members = this.#members.get(struct);
    if (members === undefined) {
      members = new Map();
      this.#members.set(struct, members);
    }
    return members;
  }

  /** The OpName of an id, or "". */
  name(id: number): string {
    const found = this.#names.get(id);
    return found === undefined ? "" : decodeString(this.#module.words, found.first + 1, found.end);
  }

  all(id: number): readonly DecorationUse[] {
    return this.#ids.get(id) ?? none;
  }

  allOfMember(struct: number, member: number): readonly DecorationUse[] {
    return this.#members.get(struct)?.get(member) ?? none;
  }

  has(id: number, decoration: number): boolean {
    return find(this.all(id), decoration) !== undefined;
  }

  memberHas(struct: number, member: number, decoration: number): boolean {
    return find(this.allOfMember(struct, member), decoration) !== undefined;
  }

  /** First literal of a decoration (`Binding`, `ArrayStride`, `SpecId`), or undefined without it. */
  value(id: number, decoration: number): number | undefined {
    const use = find(this.all(id), decoration);
    return use === undefined || use.at >= use.end ? undefined : this.#module.words[use.at];
  }

  memberValue(struct: number, member: number, decoration: number): number | undefined {
    const use = find(this.allOfMember(struct, member), decoration);
    return use === undefined || use.at >= use.end ? undefined : this.#module.words[use.at];
  }

  /** The struct is laid out as a buffer block. */
  isBlock(struct: number): boolean {
    return this.has(struct, Decoration.Block) || this.has(struct, Decoration.BufferBlock);
  }

  /** Id decorated `BuiltIn builtIn`, or undefined. */
  builtInId(builtIn: number): number | undefined {
    for (const [id, uses] of this.#ids) {
      for (const use of uses) {
        if (use.decoration === Decoration.BuiltIn && this.#module.words[use.at] === builtIn) return id;
      }
    }
    return undefined;
  }
}

function find(uses: readonly DecorationUse[], decoration: number): DecorationUse | undefined {
  for (let k = 0; k < uses.length; k++) if (uses[k]!.decoration === decoration) return uses[k];
  return undefined;
}

function push(map: Map<number, DecorationUse[]>, key: number, use: DecorationUse): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [use]);
  else list.push(use);
}

/** An entry point of the module. `stage` is undefined for execution models other than the three. */
export interface EntryPoint {
  readonly name: string;
  readonly model: number;
  readonly stage: "compute" | "vertex" | "fragment" | undefined;
  readonly fn: number;
  readonly instruction: Instruction;
}

const stages: Readonly<Record<number, EntryPoint["stage"]>> = { 0: "vertex", 4: "fragment", 5: "compute" };

/** Every OpEntryPoint in order. */
export function entryPoints(module: Module): EntryPoint[] {
  const found: EntryPoint[] = [];
  for (const instruction of module.instructions) {
    if (instruction.opcode === Op.OpFunction) break;
    if (instruction.opcode !== Op.OpEntryPoint) continue;
    const model = operand(module, instruction, 0);
    found.push({
      name: decodeString(module.words, instruction.first + 2, instruction.end),
      model,
      stage: stages[model],
      fn: operand(module, instruction, 1),
      instruction,
    });
  }
  return found;
}
