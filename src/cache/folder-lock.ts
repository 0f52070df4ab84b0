import { closeSync, openSync, rmSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** A holder does its work in milliseconds; one that is older than this was killed. */
const staleMs = 10_000;

function tryLock(path: string): boolean {
  try {
    closeSync(openSync(path, "wx"));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const made = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (made !== undefined && Math.abs(Date.now() - made) > staleMs) rmSync(path, { force: true });
  return false;
}

/** Runs `work` under the lock file; false when another process held it for all of `waitMs`. `work` must be synchronous. */
export async function withLock(path: string, waitMs: number, work: () => void): Promise<boolean> {
  for (const until = performance.now() + waitMs; !tryLock(path); ) {
    if (performance.now() >= until) return false;
    await sleep(5);
  }
  try {
    work();
    return true;
  } finally {
    rmSync(path, { force: true });
  }
}
