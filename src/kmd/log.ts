/** The kernel log: the last `capacity` lines, each with the machine's time in seconds. */
export class KernelLog {
  readonly #lines: string[] = [];
  readonly #capacity: number;
  readonly #now: () => number;

  constructor(now: () => number, capacity = 1024) {
    this.#now = now;
    this.#capacity = capacity;
  }

  write(text: string): void {
    const seconds = (this.#now() / 1000).toFixed(6).padStart(12);
    this.#lines.push(`[${seconds}] kiln: ${text}`);
    if (this.#lines.length > this.#capacity) this.#lines.shift();
  }

  lines(): readonly string[] {
    return [...this.#lines];
  }
}
