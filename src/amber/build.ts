import type { Unsupported } from "./script.ts";
import { ScriptError } from "./source.ts";

/** Script objects by name; a second one of a name and a missing one are mistakes. */
export class Names<T> {
  readonly #what: string;
  readonly #rows = new Map<string, T>();

  constructor(what: string) {
    this.#what = what;
  }

  add(name: string, row: T, line: number): void {
    if (this.#rows.has(name)) throw new ScriptError(line, `there is a ${this.#what} ${name} already`);
    this.#rows.set(name, row);
  }

  get(name: string, line: number): T {
    const row = this.#rows.get(name);
    if (row === undefined) throw new ScriptError(line, `there is no ${this.#what} ${name}`);
    return row;
  }

  has(name: string): boolean {
    return this.#rows.has(name);
  }

  all(): T[] {
    return [...this.#rows.values()];
  }
}

/** Keeps the first thing that cannot run here. */
export class Limits {
  #first: Unsupported | undefined;

  skip(line: number, reason: string): void {
    this.#first ??= { line, reason };
  }

  get first(): Unsupported | undefined {
    return this.#first;
  }
}
