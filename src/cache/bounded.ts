import type { Key } from "./tier.ts";

/** A map that forgets its oldest row above `limit`. It takes no memory before it has rows. */
export class Bounded<V> {
  readonly rows = new Map<Key, V>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  set(key: Key, value: V): void {
    this.rows.delete(key);
    this.rows.set(key, value);
    if (this.rows.size > this.#limit) {
      for (const oldest of this.rows.keys()) {
        this.rows.delete(oldest);
        break;
      }
    }
  }
}
