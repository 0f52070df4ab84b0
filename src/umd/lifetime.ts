import { DriverError, valid } from "./errors.ts";
import type { ApiLayer } from "./validate/index.ts";

/** Whether an object was destroyed, and where: uses after that name both places where validation is on. */
export class Lifetime {
  readonly #what: string;
  readonly #layer: ApiLayer | undefined;
  #ended: string | undefined;

  /** `what` is how messages call `owner`, which until its end is a leak of its device; without an owner, of nobody. */
  constructor(what: string, layer: ApiLayer | undefined, owner?: object) {
    this.#what = what;
    this.#layer = layer;
    if (owner !== undefined) layer?.created(owner, what);
  }

  get over(): boolean {
    return this.#ended !== undefined;
  }

  /** VALIDATION after the end. */
  use(): void {
    valid(this.#ended === undefined, `use of ${this.#what} that was destroyed${this.#ended}`);
  }

  /** VALIDATION where it has ended already. */
  end(owner: object): void {
    if (this.#ended !== undefined) {
      throw new DriverError("VALIDATION", `double free of ${this.#what}, destroyed${this.#ended}`);
    }
    this.#ended = this.#layer === undefined ? "" : ` at ${this.#layer.place()}`;
    this.#layer?.destroyed(owner, this.#what);
  }
}
