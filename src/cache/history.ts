import { Bounded } from "./bounded.ts";
import type { Key } from "./tier.ts";

/** Why a request was not in the cache: the first that fits. */
export const missReasons = ["corrupt", "compilerChanged", "optionsChanged", "evicted", "cold"] as const;
export type MissReason = (typeof missReasons)[number];

/** What a compile depends on, hashed at three depths, so that a miss can say what changed. */
export interface Identity {
  /** Names the record. */
  readonly key: Key;
  /** Everything but the build id. */
  readonly inputKey: Key;
  /** Only the source text or words. */
  readonly sourceKey: Key;
  readonly buildId: string;
}

/** Remembers which inputs were compiled by which build, and which keys were evicted; bounded. */
export interface History {
  buildOf(input: Key): number | undefined;
  knowsSource(source: Key): boolean;
  wasEvicted(key: Key): boolean;
  /** Does not fail the caller. */
  remember(identity: Identity): void;
}

/** 32 bits of a build id, enough to tell two builds of one input apart. */
export function buildTag(buildId: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < buildId.length; i++) hash = Math.imul(hash ^ buildId.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/**
 * An input that another build compiled is `compilerChanged`; an input never seen whose source was is
 * `optionsChanged`; a key on the list of the evicted is `evicted`.
 */
export function missReason(history: History, identity: Identity, corrupt: boolean): MissReason {
  if (corrupt) return "corrupt";
  const build = history.buildOf(identity.inputKey);
  if (build !== undefined && build !== buildTag(identity.buildId)) return "compilerChanged";
  if (build === undefined && history.knowsSource(identity.sourceKey)) return "optionsChanged";
  return history.wasEvicted(identity.key) ? "evicted" : "cold";
}

const historyRows = 65_536;

/** A history that dies with the process, for a cache without a disk. */
export class MemoryHistory implements History {
  readonly #inputs = new Bounded<number>(historyRows);
  readonly #sources = new Bounded<true>(historyRows);
  readonly #evicted = new Bounded<true>(historyRows);

  buildOf(input: Key): number | undefined {
    return this.#inputs.rows.get(input);
  }

  knowsSource(source: Key): boolean {
    return this.#sources.rows.has(source);
  }

  wasEvicted(key: Key): boolean {
    return this.#evicted.rows.has(key);
  }

  remember(identity: Identity): void {
    this.#inputs.set(identity.inputKey, buildTag(identity.buildId));
    this.#sources.set(identity.sourceKey, true);
    this.#evicted.rows.delete(identity.key);
  }

  markEvicted(key: Key): void {
    this.#evicted.set(key, true);
  }
}
