import type { ScriptResult } from "../amber/index.ts";

interface BisectRun {
  readonly maxSubmits?: number;
  readonly onSubmit?: (line: number) => void;
}

/**
 * Halves the submits of a script that fails: the least number of them with which it still does. The answer is the failure
 * with the submit that brings it, or that no shorter run fails. One run each, on the machine that saw the failure.
 */
export async function bisect(
  failed: ScriptResult,
  run: (options: BisectRun) => Promise<ScriptResult>,
): Promise<ScriptResult> {
  const lines: number[] = [];
  const whole = await run({ onSubmit: (line) => lines.push(line) });
  if (whole.status !== "FAIL") return { ...failed, reason: `fails now and then, not when run again: ${failed.reason}` };
  let [good, bad] = [-1, lines.length];
  let last = whole;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    const result = await run({ maxSubmits: middle });
    if (result.status === "FAIL") [bad, last] = [middle, result];
    else good = middle;
  }
  const where =
    bad === 0 ? "fails before the first submit" : `submit ${bad} of ${lines.length}, line ${lines[bad - 1]}`;
  return { ...last, reason: `${where}: ${last.reason}` };
}
