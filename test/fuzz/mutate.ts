/** Numbers from a seed: xorshift32, the same on every machine. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = (Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995) >>> 0 || 1;
    for (let at = 0; at < 4; at++) this.word();
  }

  word(): number {
    let x = this.state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.state = x >>> 0;
    return this.state;
  }

  /** 0 to `count` - 1. */
  below(count: number): number {
    return this.word() % count;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }
}

const tokenPattern = /[A-Za-z_]\w*|[\d.]+\w*|\s+|[^\sA-Za-z_\d]/g;
const numbers = ["0", "1", "-1", "2147483647", "4294967295u", "0x80000000", "1e38", "0.0", "65536", "1lf"];

/** Every word and sign of the sources, and some numbers at limits. */
export function vocabulary(sources: readonly string[]): string[] {
  const words = sources.flatMap((source) => source.match(tokenPattern) ?? []).filter((token) => token.trim() !== "");
  return [...new Set([...words, ...numbers])];
}

/** A source with one to three tokens dropped, doubled, replaced, inserted, moved, or a stretch from another source. */
export function mutateSource(random: Random, sources: readonly string[], words: readonly string[]): string {
  const tokens = random.pick(sources).match(tokenPattern) ?? [];
  for (let edits = 1 + random.below(3); edits > 0 && tokens.length > 1; edits--) {
    const at = random.below(tokens.length);
    switch (random.below(6)) {
      case 0:
        tokens.splice(at, 1 + random.below(3));
        break;
      case 1:
        tokens.splice(at, 0, tokens[at]!);
        break;
      case 2:
        tokens[at] = random.pick(words);
        break;
      case 3:
        tokens.splice(at, 0, random.pick(words), " ");
        break;
      case 4: {
        const other = random.below(tokens.length);
        [tokens[at], tokens[other]] = [tokens[other]!, tokens[at]!];
        break;
      }
      default: {
        const donor = random.pick(sources).match(tokenPattern) ?? [];
        const from = random.below(donor.length);
        tokens.splice(at, random.below(8), ...donor.slice(from, from + random.below(20)));
      }
    }
  }
  return tokens.join("");
}

/** A module with one or two words changed, dropped, doubled, or a run of words copied elsewhere. The header may be hit. */
export function mutateModule(random: Random, modules: readonly Uint32Array[]): Uint32Array {
  const words = [...random.pick(modules)];
  for (let edits = 1 + random.below(2); edits > 0 && words.length > 6; edits--) {
    const at = random.below(20) === 0 ? random.below(5) : 5 + random.below(words.length - 5);
    switch (random.below(6)) {
      case 0:
        words[at] = random.word();
        break;
      case 1:
        words[at] = (words[at]! ^ (1 << random.below(32))) >>> 0;
        break;
      case 2:
        // another id, or another small literal
        words[at] = random.below(Math.max(2, words[3]! & 0xffff));
        break;
      case 3:
        words.splice(at, 1 + random.below(4));
        break;
      case 4:
        words.splice(at, 0, words[random.below(words.length)]!);
        break;
      default: {
        const from = random.below(words.length);
        words.splice(at, 0, ...words.slice(from, from + random.below(12)));
      }
    }
  }
  return Uint32Array.from(words);
}

/** A module with one operand changed, so that it often stays valid: to another id, by a low bit, or to that of another instruction. */
export function mutateOperand(random: Random, modules: readonly Uint32Array[]): Uint32Array {
  const words = Uint32Array.from(random.pick(modules));
  const starts: number[] = [];
  for (let at = 5; at < words.length; at += words[at]! >>> 16) starts.push(at);
  for (let edits = 1 + random.below(2); edits > 0; edits--) {
    const start = random.pick(starts);
    const count = words[start]! >>> 16;
    if (count < 2) continue;
    const place = 1 + random.below(count - 1);
    const at = start + place;
    switch (random.below(4)) {
      case 0:
        words[at] = 1 + random.below(Math.max(2, words[3]! & 0xffff));
        break;
      case 1:
        words[at] = words[at]! ^ (1 << random.below(6));
        break;
      case 2:
        words[at] = words[at]! + 1 - 2 * random.below(2);
        break;
      default: {
        const other = random.pick(starts);
        const same = (words[other]! & 0xffff) === (words[start]! & 0xffff) || random.below(4) === 0;
        if (same && place < words[other]! >>> 16) words[at] = words[other + place]!;
      }
    }
  }
  return words;
}
