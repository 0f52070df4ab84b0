/** The longest instruction: its word count has 16 bits. */
export const maxInstructionWords = 0xffff;

/** An instruction that its 16-bit word count cannot hold: more cases, members or parameters than SPIR-V can say. */
export class InstructionTooLong extends Error {
  override readonly name = "InstructionTooLong";
  readonly opcode: number;
  readonly words: number;

  constructor(opcode: number, words: number) {
    super(`instruction ${opcode} has ${words} words, at most ${maxInstructionWords} fit`);
    this.opcode = opcode;
    this.words = words;
  }
}

/** A growing run of instructions. */
export class WordBuffer {
  #words = new Uint32Array(64);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The words written so far; valid until the next write. */
  get words(): Uint32Array {
    return this.#words.subarray(0, this.#length);
  }

  push(word: number): void {
    if (this.#length === this.#words.length) {
      const grown = new Uint32Array(this.#words.length * 2);
      grown.set(this.#words);
      this.#words = grown;
    }
    this.#words[this.#length++] = word;
  }

  /** Appends one instruction; `operands` are its words after the first. Throws `InstructionTooLong`. */
  instruction(opcode: number, operands: readonly number[]): void {
    const count = operands.length + 1;
    if (count > maxInstructionWords) throw new InstructionTooLong(opcode, count);
    this.push(((count << 16) | opcode) >>> 0);
    for (const word of operands) this.push(word >>> 0);
  }
}
