import { keywordKind } from "./keywords.ts";
import type { TokenKind } from "./token.ts";

/**
 * The words of all sources that were read, each one string: what looks up a name afterwards finds its hash in the string
 * and compares by identity. Found by the letters themselves, so that a word seen before is not even cut out of its text.
 * Words have numbers in the order of their first use, and all but the table that finds those is dense: what most shaders
 * say lies side by side in memory.
 */
const SLOTS = 8192;
/** Beyond this all are forgotten: names of shaders to come are as good as those of shaders gone. */
const WORD_LIMIT = 4096;
const LENGTH_LIMIT = 64;
const PROBE_LIMIT = 16;
/** By slot: one more than its word's number, 0 in an empty one. */
const slots = new Uint16Array(SLOTS);
/** By number: what the word's letters hash to. */
const hashes = new Int32Array(WORD_LIMIT);
/** The letters of all words, one behind the other. */
const letters = new Uint8Array(WORD_LIMIT * LENGTH_LIMIT);
/** By number: where the word's letters begin, and at the next where they end. */
const starts = new Int32Array(WORD_LIMIT + 1);
const keywords = new Uint8Array(WORD_LIMIT);
const texts: string[] = [];
let count = 0;

/** No number of a word: what is too long, or made to share its hash with others, is cut out like any text. */
export const NO_WORD = -1;

/**
 * The number of the word at `start` of `text`, whose letters (ASCII, `codes` has them at the same places) hash to `hash`,
 * any 32-bit function of them. It holds until the next call.
 */
export function wordAt(text: string, codes: Uint8Array, start: number, end: number, hash: number): number {
  const length = end - start;
  if (length > LENGTH_LIMIT) return NO_WORD;
  let slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
  for (let probes = 0; ; probes++) {
    const word = slots[slot]! - 1;
    if (word < 0) break;
    if (hashes[word] === hash && isAt(word, codes, start, length)) return word;
    if (probes === PROBE_LIMIT) return NO_WORD;
    slot = (slot + 1) & (SLOTS - 1);
  }
  if (count >= WORD_LIMIT) {
    slots.fill(0);
    count = 0;
    slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
  }
  const word = count++;
  // a cut-out string may hold on to the whole text: this one is a copy
  const copy = JSON.parse(`"${text.slice(start, end)}"`) as string;
  texts[word] = copy;
  keywords[word] = keywordKind(copy);
  let to = starts[word]!;
  for (let at = start; at < end; at++) letters[to++] = codes[at]!;
  starts[word + 1] = to;
  hashes[word] = hash;
  slots[slot] = word + 1;
  return word;
}

export function textOf(word: number): string {
  return texts[word]!;
}

/** The token kind of the word. */
export function kindOf(word: number): TokenKind {
  return keywords[word] as TokenKind;
}

function isAt(word: number, codes: Uint8Array, start: number, length: number): boolean {
  const from = starts[word]!;
  if (starts[word + 1]! - from !== length) return false;
  for (let at = 0; at < length; at++) if (letters[from + at] !== codes[start + at]) return false;
  return true;
}
