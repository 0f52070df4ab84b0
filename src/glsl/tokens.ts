import type { TokenKind } from "./token.ts";

const FIRST_CAPACITY = 4096;
/** Columns longer than this are not kept for later compiles. */
const SPARE_LIMIT = 1 << 18;

/**
 * The tokens that the parser reads, in columns: an object for each would be a good part of all that a compile allocates.
 * Keywords have their kinds. Columns go from compile to compile, so what lies beyond `length` says nothing.
 */
export class Tokens {
  length = 0;
  kinds = new Uint8Array(FIRST_CAPACITY);
  /** Positions of `Sources`, as those of a `Token`. */
  positions = new Int32Array(FIRST_CAPACITY);
  ends = new Int32Array(FIRST_CAPACITY);
  readonly texts: string[] = [];

  add(kind: TokenKind, text: string, position: number, end: number): void {
    const at = this.length++;
    if (at === this.kinds.length) this.grow();
    this.kinds[at] = kind;
    this.positions[at] = position;
    this.ends[at] = end;
    this.texts[at] = text;
  }

  private grow(): void {
    const { kinds, positions, ends } = this;
    const capacity = 2 * kinds.length;
    this.kinds = new Uint8Array(capacity);
    this.kinds.set(kinds);
    this.positions = new Int32Array(capacity);
    this.positions.set(positions);
    this.ends = new Int32Array(capacity);
    this.ends.set(ends);
  }
}

let spare: Tokens | undefined;

/** Columns without tokens. Whoever takes them gives them back, or leaves them to the collector after a failure. */
export function takeTokens(): Tokens {
  const tokens = spare ?? new Tokens();
  spare = undefined;
  tokens.length = 0;
  return tokens;
}

/** Nobody reads the tokens any more. */
export function giveTokens(tokens: Tokens): void {
  if (tokens.kinds.length <= SPARE_LIMIT) spare = tokens;
}
