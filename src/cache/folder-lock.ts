import { closeSync, openSync, rmSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** A holder does its work in milliseconds; one that holds for longer than this was killed. */
const staleMs = 10_000;

/** A lock among the processes on a folder: a file that one of them could make. */
export class FolderLock {
  readonly #path: string;
  /** The lock of another, as first seen: told stale by our own steady clock, since the wall clock may jump. */
  #seen: { readonly stamp: string; readonly at: number } | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  #tryLock(): boolean {
    try {
      closeSync(openSync(this.#path, "wx"));
      this.#seen = undefined;
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const there = statSync(this.#path, { throwIfNoEntry: false });
    const stamp = there && `${there.ino} ${there.mtimeMs}`;
    if (stamp === undefined) return false;
    if (this.#seen?.stamp !== stamp) this.#seen = { stamp, at: performance.now() };
    else if (performance.now() - this.#seen.at > staleMs) rmSync(this.#path, { force: true });
    return false;
  }

  /** Runs `work` under the lock; false when another process held it for all of `waitMs`. */
  async run(waitMs: number, work: () => Promise<void> | void): Promise<boolean> {
    for (const until = performance.now() + waitMs; !this.#tryLock(); ) {
      if (performance.now() >= until) return false;
      await sleep(5);
    }
    try {
      await work();
      return true;
    } finally {
      rmSync(this.#path, { force: true });
    }
  }
}
