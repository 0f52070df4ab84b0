/** A mistake in a script, or a check that failed: message without place, and the line (from 1). */
export class ScriptError extends Error {
  override readonly name = "ScriptError";
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** What a script asks for is right, and this machine does not have it yet. */
export class UnsupportedError extends ScriptError {}

/** One word of a script. */
export interface Word {
  readonly text: string;
  readonly line: number;
  /** Written in double quotes. */
  readonly quoted: boolean;
}

/** Words of one line of text, comments gone. `punctuation` also splits at commas and parentheses, which vanish. */
function wordsOf(text: string, line: number, punctuation: boolean): Word[] {
  const words: Word[] = [];
  const pattern = punctuation ? /#.*|"([^"]*)"|[^\s(),#"]+/g : /#.*|"([^"]*)"|[^\s#"]+/g;
  for (const match of text.matchAll(pattern)) {
    if (match[0].startsWith("#")) break;
    words.push({ text: match[1] ?? match[0], line, quoted: match[1] !== undefined });
  }
  return words;
}

/**
 * Reads a script by lines and words. A backslash at the end of a line joins the next one to it. Whole lines of shader
 * text are taken as they stand with `rawUntil`.
 */
export class ScriptReader {
  readonly #lines: readonly string[];
  readonly #punctuation: boolean;
  #nextLine = 0;
  #words: Word[] = [];
  #at = 0;
  #line = 1;

  constructor(text: string, punctuation = false) {
    this.#lines = text.split(/\r\n|\r|\n/);
    this.#punctuation = punctuation;
  }

  /** The line of the last word that was read. */
  get line(): number {
    return this.#line;
  }

  /** Goes to the next line that has words. False at the end of the script. */
  nextStatement(): boolean {
    this.#words = [];
    this.#at = 0;
    while (this.#words.length === 0) {
      if (this.#nextLine >= this.#lines.length) return false;
      this.#fill();
    }
    this.#line = this.#words[0]?.line ?? this.#line;
    return true;
  }

  #fill(): void {
    for (;;) {
      const text = this.#lines[this.#nextLine] ?? "";
      const line = ++this.#nextLine;
      const code = text.replace(/^((?:[^#"]|"[^"]*")*)#.*$/, "$1").trimEnd();
      const joined = code.endsWith("\\") && this.#nextLine < this.#lines.length;
      this.#words.push(...wordsOf(joined ? code.slice(0, -1) : text, line, this.#punctuation));
      if (!joined) return;
    }
  }

  /** The next word of this line; undefined at its end. */
  peek(): string | undefined {
    return this.#words[this.#at]?.text;
  }

  /** Takes the next word of this line; `what` names it in the error. */
  word(what: string): string {
    const word = this.#words[this.#at];
    if (word === undefined) throw new ScriptError(this.#line, `missing ${what}`);
    this.#at++;
    this.#line = word.line;
    return word.text;
  }

  /** Takes the next word if it is `text`. */
  accept(text: string): boolean {
    const word = this.#words[this.#at];
    if (word?.text !== text || word.quoted) return false;
    this.word(text);
    return true;
  }

  /** The next word must be `text`. */
  expect(text: string): void {
    const got = this.word(text);
    if (got !== text) throw new ScriptError(this.#line, `expected ${text}, got ${got}`);
  }

  /** A decimal or hexadecimal integer of at least `least`. */
  integer(what: string, least = 0): number {
    const text = this.word(what);
    const value = /^-?\d+$|^0[xX][\da-fA-F]+$/.test(text) ? Number(text) : Number.NaN;
    if (!Number.isSafeInteger(value) || value < least) throw new ScriptError(this.#line, `${text} is no ${what}`);
    return value;
  }

  number(what: string): number {
    const text = this.word(what);
    const value = Number(text);
    if (Number.isNaN(value)) throw new ScriptError(this.#line, `${text} is no ${what}`);
    return value;
  }

  /** The next word must be one of `words`. */
  oneOf<const T extends string>(what: string, words: readonly T[]): T {
    const text = this.word(what);
    const found = words.find((word) => word === text);
    if (found === undefined) throw new ScriptError(this.#line, `${text} is no ${what}`);
    return found;
  }

  /** Nothing may follow on this line. */
  endStatement(what: string): void {
    const extra = this.peek();
    if (extra !== undefined) throw new ScriptError(this.#line, `extra word ${extra} after ${what}`);
  }

  /** All words up to `end`, which may stand lines below. */
  wordsUntil(end: string, what: string): Word[] {
    const from = this.#line;
    const taken: Word[] = [];
    for (;;) {
      const word = this.#words[this.#at];
      if (word === undefined) {
        if (!this.nextStatement()) throw new ScriptError(from, `${what} has no ${end}`);
        continue;
      }
      this.#at++;
      this.#line = word.line;
      if (word.text === end && !word.quoted) return taken;
      taken.push(word);
    }
  }

  /** The words left on this line. */
  rest(): Word[] {
    const words = this.#words.slice(this.#at);
    this.#at = this.#words.length;
    this.#line = words.at(-1)?.line ?? this.#line;
    return words;
  }

  /** Whole lines from the next on, up to one that `ends` accepts (which is not taken). */
  rawUntil(ends: (line: string) => boolean, what: string): { readonly text: string; readonly firstLine: number } {
    const firstLine = this.#nextLine + 1;
    const start = this.#nextLine;
    let at = start;
    while (at < this.#lines.length && !ends(this.#lines[at] ?? "")) at++;
    if (at >= this.#lines.length && !ends("\0end")) throw new ScriptError(this.#line, `${what} has no end`);
    this.#nextLine = at;
    return { text: this.#lines.slice(start, at).join("\n"), firstLine };
  }
}
