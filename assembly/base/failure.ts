/**
 * The one failure of a run: the first wins, later ones are dropped. Code that can fail returns early when `failed()`;
 * nothing throws. The numbers are rows of `src/core/codes.ts`.
 */
export const enum Fail {
  NONE = 0,
  /** a: op number of SPIR-V. */
  UNSUPPORTED_OP = 1,
  /** a: text number (`Unsupported`), b: value. */
  UNSUPPORTED = 2,
  /** a: text number (`Malformed`), b: word index. */
  MALFORMED = 3,
  /** a: limit number (`Limit`). */
  LIMIT = 4,
  /** a: pass number, b: rule number, c: instruction or node. */
  INVALID_IR = 5,
  OUT_OF_REGISTERS = 6,
  /** a: entry not found. */
  NO_ENTRY = 7,
  /** a: IR op number that the back end has no selection for. */
  BACKEND_UNSUPPORTED = 8,
  /** a: phase, b: rule: a broken invariant of the back end. */
  BACKEND_INVALID = 9,
}

/** Which capacity was passed. */
export const enum Limit {
  WORDS = 1,
  INSTRUCTIONS = 2,
  SOURCES = 3,
  NODES = 4,
  IDS = 5,
  VARIABLES = 6,
  CALL_DEPTH = 7,
  LEAVES = 8,
  TIME = 9,
  OUTPUT = 10,
  MACHINE = 11,
  TEXT = 12,
}

let failCode: u32 = 0;
let failA: u32 = 0;
let failB: u32 = 0;
let failC: u32 = 0;
let failPlace: u32 = 0;
/** Place (row of the place table) that a failure gets when it names none. */
let currentPlace: u32 = 0;
let fuel: i64 = 0;

export function resetFailure(fuelUnits: i64): void {
  failCode = 0;
  failA = 0;
  failB = 0;
  failC = 0;
  failPlace = 0;
  currentPlace = 0;
  fuel = fuelUnits;
}

export function failed(): bool {
  return failCode != 0;
}

export function fail(code: u32, a: u32, b: u32, c: u32): void {
  if (failCode != 0) return;
  failCode = code;
  failA = a;
  failB = b;
  failC = c;
  failPlace = currentPlace;
}

/** As `fail`, at a row of the place table. */
export function failAt(place: u32, code: u32, a: u32, b: u32, c: u32): void {
  if (failCode != 0) return;
  fail(code, a, b, c);
  failPlace = place;
}

export function setPlace(place: u32): void {
  currentPlace = place;
}

export function place(): u32 {
  return currentPlace;
}

/**
 * Pays for `units` of work (one unit: about one instruction visited). When the fuel is used up the run fails with
 * `Limit.TIME`; true while it may go on.
 */
export function spend(units: u32): bool {
  fuel -= <i64>units;
  if (fuel >= 0) return failCode == 0;
  fail(Fail.LIMIT, Limit.TIME, 0, 0);
  return false;
}

export function failureCode(): u32 {
  return failCode;
}
export function failureA(): u32 {
  return failA;
}
export function failureB(): u32 {
  return failB;
}
export function failureC(): u32 {
  return failC;
}
export function failurePlace(): u32 {
  return failPlace;
}
