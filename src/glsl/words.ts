import { keywordKind } from "./keywords.ts";
import { T, type TokenKind } from "./token.ts";

/**
 * The words of all sources that were read, each one string: what looks up a name afterwards finds its hash in the string
 * and compares by identity. Found by the letters themselves, so that a word seen before is not even cut out of its text.
 */
const SLOTS = 8192;
/** Beyond this all are forgotten: names of shaders to come are as good as those of shaders gone. */
const WORD_LIMIT = 4096;
const LENGTH_LIMIT = 64;
const PROBE_LIMIT = 16;
const words: Word[] = [];
/** By slot: what its word's letters hash to. */
const hashes = new Int32Array(SLOTS);
/** The letters of all words, one behind the other. */
const letters = new Uint8Array(WORD_LIMIT * LENGTH_LIMIT);
let lettersUsed = 0;
let count = 0;

/** A word with its token kind. */
interface Word {
  readonly text: string;
  readonly keyword: TokenKind;
  /** Where its letters begin in `letters`. */
  readonly start: number;
}

const noWord: Word = { text: "", keyword: T.Eof, start: 0 };
for (let slot = 0; slot < SLOTS; slot++) words.push(noWord);

/**
 * The word of `text` from `start` to `end`, whose letters (ASCII, `codes` has them at the same places) hash to `hash`, any
 * 32-bit function of them.
 */
export function wordOf(text: string, codes: Uint8Array, start: number, end: number, hash: number): Word {
  const length = end - start;
  if (length > LENGTH_LIMIT) return { text: text.slice(start, end), keyword: T.Identifier, start: 0 };
  let slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
  let probes = 0;
  for (;;) {
    const word = words[slot]!;
    if (word === noWord) break;
    if (hashes[slot] === hash && word.text.length === length && isAt(word.start, codes, start, length)) return word;
    // words made to share one hash are cut out like any text
    if (++probes > PROBE_LIMIT) return made(text.slice(start, end), 0);
    slot = (slot + 1) & (SLOTS - 1);
  }
  if (count >= WORD_LIMIT) {
    words.fill(noWord);
    count = 0;
    lettersUsed = 0;
  }
  count++;
  // a cut-out string may hold on to the whole text: this one is a copy
  const word = made(JSON.parse(`"${text.slice(start, end)}"`) as string, lettersUsed);
  for (let at = start; at < end; at++) letters[lettersUsed++] = codes[at]!;
  words[slot] = word;
  hashes[slot] = hash;
  return word;
}

function made(text: string, start: number): Word {
  return { text, keyword: keywordKind(text), start };
}

function isAt(word: number, codes: Uint8Array, start: number, length: number): boolean {
  for (let at = 0; at < length; at++) if (letters[word + at] !== codes[start + at]) return false;
  return true;
}
