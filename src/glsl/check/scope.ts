import type { ReferenceType, StructType } from "../types/index.ts";
import type { FunctionSymbol, Variable } from "./tree.ts";

/** All functions of one name that a scope declares. */
export interface FunctionSet {
  readonly kind: "functions";
  readonly functions: FunctionSymbol[];
}
interface StructSymbol {
  readonly kind: "struct";
  readonly type: StructType | ReferenceType;
  readonly position: number;
  readonly end: number;
}
/** A member of a block without instance name, visible by its own name. */
interface MemberAlias {
  readonly kind: "member";
  readonly block: Variable;
  readonly member: number;
  readonly position: number;
  readonly end: number;
}
/** A name whose first use or declaration was an error: further uses are silent. */
interface LostSymbol {
  readonly kind: "lost";
}
export type ScopeSymbol = Variable | FunctionSet | StructSymbol | MemberAlias | LostSymbol;

/** Nested scopes, innermost last; the first is the global one. */
export class Scopes {
  private readonly maps: Map<string, ScopeSymbol>[] = [new Map()];

  push(): void {
    this.maps.push(new Map());
  }

  pop(): void {
    this.maps.pop();
  }

  get isGlobal(): boolean {
    return this.maps.length === 1;
  }

  lookup(name: string): ScopeSymbol | undefined {
    for (let at = this.maps.length - 1; at >= 0; at--) {
      const symbol = this.maps[at]!.get(name);
      if (symbol !== undefined) return symbol;
    }
    return undefined;
  }

  /** Only what the innermost scope itself declares. */
  lookupHere(name: string): ScopeSymbol | undefined {
    return this.maps[this.maps.length - 1]!.get(name);
  }

  lookupGlobal(name: string): ScopeSymbol | undefined {
    return this.maps[0]!.get(name);
  }

  set(name: string, symbol: ScopeSymbol): void {
    this.maps[this.maps.length - 1]!.set(name, symbol);
  }

  setGlobal(name: string, symbol: ScopeSymbol): void {
    this.maps[0]!.set(name, symbol);
  }

  /** Remembers a name as lost for the rest of the function. */
  lose(name: string): void {
    this.maps[Math.min(1, this.maps.length - 1)]!.set(name, { kind: "lost" });
  }

  *names(): Iterable<string> {
    for (const map of this.maps) yield* map.keys();
  }
}

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
