import { invariant } from "../base/index.ts";

/** The longest instruction: its word count has 16 bits. */
export const maxInstructionWords = 0xffff;

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

  /** Appends one instruction; `operands` are its words after the first. Throws `Bug` above 65,535 words. */
  instruction(opcode: number, operands: readonly number[]): void {
    const count = operands.length + 1;
    invariant(count <= maxInstructionWords, `instruction ${opcode} has ${count} words`);
    this.push(((count << 16) | opcode) >>> 0);
    for (const word of operands) this.push(word >>> 0);
  }
}
