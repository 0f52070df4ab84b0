/** Names that a misspelt one may have been meant to be. */

const SUGGESTION_CANDIDATE_LIMIT = 5000;

/** The candidate nearest to a misspelt name, if any is near enough: a third of its letters, at most 3; names of one or two letters have none. */
export function suggest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length < 3) return undefined;
  const limit = Math.min(3, Math.floor(name.length / 3));
  let best: string | undefined;
  let bestDistance = limit + 1;
  let seen = 0;
  for (const candidate of candidates) {
    if (++seen > SUGGESTION_CANDIDATE_LIMIT) break;
    if (Math.abs(candidate.length - name.length) >= bestDistance || candidate === name) continue;
    const distance = editDistance(name, candidate, bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Insertions, deletions, substitutions and swaps of neighbours; anything from `limit` on is just too far. */
function editDistance(a: string, b: string, limit: number): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let value = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) value = Math.min(value, before[j - 2]! + 1);
      row.push(value);
      least = Math.min(least, value);
    }
    if (least >= limit) return limit;
    before = previous;
    previous = row;
  }
  return previous[b.length]!;
}
