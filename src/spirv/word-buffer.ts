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

/** Stores of buffers that were released: a module has a dozen buffers, and making a typed array costs as much as filling it. */
const spareStores: Uint32Array[] = [];
const noWords = new Uint32Array(0);
const SPARE_COUNT = 64;
const SPARE_WORDS = 16_384;
const encoder = new TextEncoder();

/** A growing run of instructions. */
export class WordBuffer {
  private store: Uint32Array = spareStores.pop() ?? new Uint32Array(256);
  private used = 0;

  get length(): number {
    return this.used;
  }

  /** The words written so far; valid until the next write. */
  get words(): Uint32Array {
    return this.store.subarray(0, this.used);
  }

  /** The word at an index below `length`. */
  at(index: number): number {
    return this.store[index]!;
  }

  /** Writes a word at an index below `length`. */
  setAt(index: number, word: number): void {
    this.store[index] = word;
  }

  /** Takes back everything from an index on. */
  truncate(length: number): void {
    this.used = length;
  }

  /** Whether `count` words from `first` on are those from `second` on, the one at `skipped` of each set aside. */
  sameWords(first: number, second: number, count: number, skipped: number): boolean {
    const { store } = this;
    for (let at = 0; at < count; at++) if (store[first + at] !== store[second + at] && at !== skipped) return false;
    return true;
  }

  /** A hash of the words from `start` on, the one at `skipped` set aside: FNV-1a, as a small integer. */
  hashFrom(start: number, skipped: number, seed: number): number {
    const { store, used } = this;
    let hash = Math.imul(seed ^ 0x811c9dc5, 0x01000193);
    for (let at = start; at < used; at++) if (at !== skipped) hash = Math.imul(hash ^ store[at]!, 0x01000193);
    return (hash ^ (hash >>> 15)) & 0x3fffffff;
  }

  /** Copies the words to `target` from `start` on; returns where they end. */
  copyTo(target: Uint32Array, start: number): number {
    const { store, used } = this;
    // most runs are short: a call of `set` with a view costs more than the words
    if (used > 256) target.set(store.subarray(0, used), start);
    else for (let at = 0; at < used; at++) target[start + at] = store[at]!;
    return start + used;
  }

  /** Ends the buffer's life: its memory goes to a later one. */
  release(): void {
    if (this.store.length <= SPARE_WORDS && spareStores.length < SPARE_COUNT) spareStores.push(this.store);
    this.store = noWords;
    this.used = 0;
  }

  push(word: number): void {
    if (this.used === this.store.length) this.grow();
    this.store[this.used++] = word;
  }

  /** Starts an instruction of `count` words, the first included; `push` the others. Throws `InstructionTooLong`. */
  start(opcode: number, count: number): void {
    if (count > maxInstructionWords) throw new InstructionTooLong(opcode, count);
    this.push((count << 16) | opcode);
  }

  /** Appends one instruction; `operands` are its words after the first. Throws `InstructionTooLong`. */
  instruction(opcode: number, operands: readonly number[]): void {
    const count = operands.length;
    this.start(opcode, count + 1);
    for (let at = 0; at < count; at++) this.push(operands[at]!);
  }

  /** Appends an instruction of up to two words (negative: none) and a literal string, as `encodeString` has it. */
  text(opcode: number, first: number, second: number, text: string): void {
    const start = this.used;
    this.push(0);
    if (first >= 0) this.push(first);
    if (second >= 0) this.push(second);
    const length = text.length;
    let word = 0;
    let at = 0;
    for (; at < length; at++) {
      const code = text.charCodeAt(at);
      if (code === 0 || code >= 128) break;
      word |= code << ((at & 3) << 3);
      if ((at & 3) !== 3) continue;
      this.push(word);
      word = 0;
    }
    if (at === length) this.push(word);
    else this.bytes(word, at & 3, encoder.encode(text.slice(at)));
    const count = this.used - start;
    if (count > maxInstructionWords) throw new InstructionTooLong(opcode, count);
    this.store[start] = (count << 16) | opcode;
  }

  /** Makes the instruction at `start` the last one, as long as what was written since. Throws `InstructionTooLong`. */
  stretch(start: number): void {
    const count = this.used - start;
    const opcode = this.store[start]! & 0xffff;
    if (count > maxInstructionWords) throw new InstructionTooLong(opcode, count);
    this.store[start] = (count << 16) | opcode;
  }

  private bytes(begun: number, lane: number, bytes: Uint8Array): void {
    let word = begun;
    let at = lane;
    for (const byte of bytes) {
      word |= byte << (at << 3);
      if (++at < 4) continue;
      this.push(word);
      word = 0;
      at = 0;
    }
    this.push(word);
  }

  private grow(): void {
    const grown = new Uint32Array(Math.max(256, this.store.length * 2));
    grown.set(this.store);
    this.store = grown;
  }
}
