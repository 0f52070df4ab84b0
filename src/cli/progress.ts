const quietMs = 1000;

/** A line on a terminal that counts, for work of over a second; elsewhere nothing. */
export class ProgressLine {
  readonly #what: string;
  readonly #total: number;
  readonly #started = performance.now();
  #isShown = false;

  constructor(what: string, total: number) {
    this.#what = what;
    this.#total = total;
  }

  show(done: number): void {
    if (process.stderr.isTTY !== true || performance.now() - this.#started < quietMs) return;
    this.#isShown = true;
    process.stderr.write(`\r${this.#what}: ${done} of ${this.#total}\u001b[K`);
  }

  end(): void {
    if (this.#isShown) process.stderr.write("\r\u001b[K");
  }
}
