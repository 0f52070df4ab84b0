/** A broken invariant of ours: answered 500 or exit status 3, never a diagnostic of the caller's input. */
export class Bug extends Error {
  override readonly name = "Bug";
}

/** Throws `Bug` unless `condition` holds. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Bug(message);
}

/** For the default branch of an exhaustive switch. */
export function unreachable(value: never): never {
  throw new Bug(`unreachable: ${String(value)}`);
}
