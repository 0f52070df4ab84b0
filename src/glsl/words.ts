/**
 * The words of all sources that were read, each one string: what looks up a name afterwards finds its hash in the string
 * and compares by identity. Found by the letters themselves, so that a word seen before is not even cut out of its text.
 */
const SLOTS = 8192;
/** Beyond this all are forgotten: names of shaders to come are as good as those of shaders gone. */
const WORD_LIMIT = 4096;
const LENGTH_LIMIT = 64;
const PROBE_LIMIT = 16;
const words: string[] = new Array<string>(SLOTS).fill("");
let count = 0;

/** The word of `text` from `start` to `end`, whose letters hash to `hash` (any 32-bit function of them). */
export function wordOf(text: string, start: number, end: number, hash: number): string {
  const length = end - start;
  if (length > LENGTH_LIMIT) return text.slice(start, end);
  let slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
  let probes = 0;
  for (;;) {
    const word = words[slot]!;
    if (word.length === 0) break;
    if (word.length === length && isAt(word, text, start)) return word;
    // words made to share one hash are cut out like any text
    if (++probes > PROBE_LIMIT) return text.slice(start, end);
    slot = (slot + 1) & (SLOTS - 1);
  }
  const word = text.slice(start, end);
  if (count >= WORD_LIMIT) {
    words.fill("");
    count = 0;
    return word;
  }
  count++;
  // a cut-out string may hold on to the whole text: this one is a copy
  words[slot] = JSON.parse(`"${word}"`) as string;
  return words[slot]!;
}

function isAt(word: string, text: string, start: number): boolean {
  for (let at = 0; at < word.length; at++) if (word.charCodeAt(at) !== text.charCodeAt(start + at)) return false;
  return true;
}
