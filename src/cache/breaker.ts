/** Failures in a row that open the circuit, and how long it then stays open before one call tries again. */
const failuresToOpen = 3;
const openMs = 2000;

/** Bounds calls to something that may be down: a time limit each, and none at all for a while after several failed. */
export class Breaker {
  readonly #timeoutMs: number;
  readonly #onFailure: () => void;
  #failures = 0;
  #retryAt = 0;

  constructor(timeoutMs: number, onFailure: () => void) {
    this.#timeoutMs = timeoutMs;
    this.#onFailure = onFailure;
  }

  get isOpen(): boolean {
    return this.#failures >= failuresToOpen && performance.now() < this.#retryAt;
  }

  /** The call's answer, or `otherwise` where it fails, takes too long, or is not made. */
  async run<T>(otherwise: T, call: () => Promise<T>): Promise<T> {
    if (this.isOpen) return otherwise;
    // The others wait for what this one finds.
    if (this.#failures >= failuresToOpen) this.#retryAt = performance.now() + openMs;
    let timer: NodeJS.Timeout | undefined;
    try {
      const late = new Promise<never>((_, reject) => {
        // An answer that came while this process was busy or had no processor is taken before it is called late.
        const giveUp = () => setImmediate(() => reject(new Error("timeout")));
        timer = setTimeout(giveUp, this.#timeoutMs);
      });
      const answer = await Promise.race([call(), late]);
      this.#failures = 0;
      return answer;
    } catch {
      this.#failures++;
      this.#retryAt = performance.now() + openMs;
      this.#onFailure();
      return otherwise;
    } finally {
      clearTimeout(timer);
    }
  }
}
