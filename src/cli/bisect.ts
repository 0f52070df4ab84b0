import type { RunWatch, ScriptResult, WatchedStep } from "../amber/index.ts";

/**
 * Names the submit that a failure comes from. A submit that fails itself (a fault, a timeout) is the one. Where a check
 * fails, the script runs once more, and the check of the failing value is made after each submit too: guilty is the submit
 * from which on it says what it says in its own turn (the same bad value).
 * Nothing is left out of the run, so that every submit finds what it found in the failing one.
 */
export async function bisect(
  failed: ScriptResult,
  run: (watch: RunWatch) => Promise<ScriptResult>,
): Promise<ScriptResult> {
  const ends: { readonly what: "check" | "submit"; readonly index: number; readonly place: number | undefined }[] = [];
  const again = await run({ failed: (what, index, place) => ends.push({ what, index, place }) });
  const [end] = ends;
  if (again.status !== "FAIL") return { ...failed, reason: `fails now and then, not when run again: ${failed.reason}` };
  if (end === undefined) return again;
  if (end.what === "submit") return { ...again, reason: `submit ${end.index} fails itself: ${again.reason}` };
  const steps: WatchedStep[] = [];
  const result = await run({ check: end, seen: (step) => steps.push(step) });
  const at = steps.findLastIndex(({ reason }) => reason !== result.reason) + 1;
  return { ...result, reason: `${blame(steps, at)}: ${result.reason}` };
}

/** `at`: the first step of those with the bad value. */
function blame(steps: readonly WatchedStep[], at: number): string {
  const step = steps[at];
  if (step === undefined) return "fails now and then, no submit brought it when run again";
  if (step.submit !== undefined) {
    const count = Math.max(...steps.map(({ submit = 0 }) => submit));
    return `submit ${step.submit} of ${count}, line ${step.line}`;
  }
  return at === 0 ? "the buffer is so from the start" : `line ${step.line} of the script writes it`;
}
