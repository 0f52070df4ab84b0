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

/** Words that a cleared buffer keeps: a huge module shall not hold its memory for good. */
const KEPT_WORDS = 65_536;
const encoder = new TextEncoder();

/** A growing run of instructions, used again and again: making a typed array costs as much as filling it. */
export class WordBuffer {
  /** The words, `length` of them written. Another array after each write that did not fit. */
  store: Uint32Array;
  private used = 0;

  constructor(words = 256) {
    this.store = new Uint32Array(words);
  }

  get length(): number {
    return this.used;
  }

  /** Takes back everything from an index on. */
  truncate(length: number): void {
    this.used = length;
  }

  /** Makes it empty. */
  clear(): void {
    this.used = 0;
    if (this.store.length > KEPT_WORDS) this.store = new Uint32Array(256);
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

  /** Appends the words of another buffer. */
  append(other: WordBuffer): void {
    const { used } = this;
    this.used = used + other.used;
    if (this.used > this.store.length) this.grow();
    other.copyTo(this.store, used);
  }

  push(word: number): void {
    if (this.used === this.store.length) this.grow();
    this.store[this.used++] = word;
  }

  /**
   * Starts an instruction of `count` words, the first included, and gives the place in `store` of the second: the caller
   * writes the others. Throws `InstructionTooLong`.
   */
  open(opcode: number, count: number): number {
    if (count > maxInstructionWords) throw new InstructionTooLong(opcode, count);
    const at = this.used;
    this.used = at + count;
    if (this.used > this.store.length) this.grow();
    this.store[at] = (count << 16) | opcode;
    return at + 1;
  }

  /** Appends one instruction; `operands` are its words after the first. Throws `InstructionTooLong`. */
  instruction(opcode: number, operands: readonly number[]): void {
    const count = operands.length;
    const start = this.open(opcode, count + 1);
    const { store } = this;
    for (let at = 0; at < count; at++) store[start + at] = operands[at]!;
  }

  /** Appends an instruction of up to two words (negative: none) and a literal string, as `encodeString` has it. */
  text(opcode: number, first: number, second: number, text: string): void {
    const start = this.used;
    const length = text.length;
    this.used = start + 4 + (length >> 2);
    if (this.used > this.store.length) this.grow();
    const { store } = this;
    let end = start + 1;
    if (first >= 0) store[end++] = first;
    if (second >= 0) store[end++] = second;
    let word = 0;
    let at = 0;
    for (; at < length; at++) {
      const code = text.charCodeAt(at);
      if (code === 0 || code >= 128) break;
      word |= code << ((at & 3) << 3);
      if ((at & 3) !== 3) continue;
      store[end++] = word;
      word = 0;
    }
    this.used = end;
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
    const grown = new Uint32Array(Math.max(this.used, this.store.length * 2));
    grown.set(this.store);
    this.store = grown;
  }
}
