import { Op } from "../enums.ts";
import { type Instruction, type Module, operand } from "../module.ts";
import type { Types } from "./types.ts";

/** What a check of one instruction sees; one object serves all, `at` moves it on. */
export class Context {
  readonly module: Module;
  readonly types: Types;
  /** Declared by the module, what they imply left out. */
  readonly capabilities: ReadonlySet<number>;
  #first = 0;
  #end = 0;

  constructor(module: Module, types: Types) {
    this.module = module;
    this.types = types;
    const capabilities = new Set<number>();
    for (const instruction of module.instructions) {
      if (instruction.opcode === Op.OpMemoryModel) break;
      if (instruction.opcode === Op.OpCapability) capabilities.add(operand(module, instruction, 0));
    }
    this.capabilities = capabilities;
  }

  /** Looks at `instruction` with its first `skip` operand words left out. */
  at(instruction: Instruction, skip = 0): this {
    this.#first = instruction.first + skip;
    this.#end = instruction.end;
    return this;
  }

  /** Operand words after result type and result. */
  get count(): number {
    return this.#end - this.#first;
  }

  /** The operand word at `index`; 0 where there is none. */
  word(index: number): number {
    const at = this.#first + index;
    return at < this.#end ? this.module.words[at]! : 0;
  }

  /** The type of the value that the operand names; 0 where it names none. */
  typeOf(index: number): number {
    return this.types.ofValue(this.word(index));
  }
}
