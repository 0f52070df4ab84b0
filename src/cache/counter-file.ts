import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CounterStore } from "./counters.ts";
import { FolderLock } from "./folder-lock.ts";

/** How long a flush waits for the other processes' flushes, each of which takes less than a millisecond. */
const lockWaitMs = 500;

function checksum(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** Counters of all processes of a cache folder, in one small checked file that is replaced whole. A damaged one counts from 0. */
export class CounterFile implements CounterStore {
  readonly #path: string;
  readonly #lock: FolderLock;

  constructor(folder: string) {
    this.#path = join(folder, "v1", "counters");
    this.#lock = new FolderLock(`${this.#path}.lock`);
  }

  read(): Readonly<Record<string, number>> {
    let text: string;
    try {
      text = readFileSync(this.#path, "utf8");
    } catch {
      // Not there yet, or not readable: either way nothing is known.
      return {};
    }
    const body = text.slice(17);
    if (text.slice(0, 16) !== checksum(body)) return {};
    return JSON.parse(body) as Record<string, number>;
  }

  async add(deltas: Readonly<Record<string, number>>): Promise<void> {
    const done = await this.#lock.run(lockWaitMs, () => {
      const sums = { ...this.read() };
      sums.since ??= Date.now();
      for (const [name, amount] of Object.entries(deltas)) sums[name] = (sums[name] ?? 0) + amount;
      const body = JSON.stringify(sums);
      const temporary = `${this.#path}.new`;
      writeFileSync(temporary, `${checksum(body)}\n${body}`);
      renameSync(temporary, this.#path);
    });
    if (!done) throw new Error("the counters are locked");
  }
}
