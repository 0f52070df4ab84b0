import { callerPlace } from "./validate/place.ts";

/** How a call of the driver can fail: Vulkan's result names. VALIDATION is a misuse that Vulkan leaves undefined. */
export type DriverResult =
  | "OUT_OF_DEVICE_MEMORY"
  | "OUT_OF_POOL_MEMORY"
  | "TOO_MANY_OBJECTS"
  | "DEVICE_LOST"
  | "INITIALIZATION_FAILED"
  | "MEMORY_MAP_FAILED"
  | "INVALID_SHADER"
  | "VALIDATION"
  | "UNKNOWN";

/** What the driver throws; `result` is for programs, `message` for people. */
export class DriverError extends Error {
  override readonly name = "DriverError";
  readonly result: DriverResult;
  /** The application's call, `file:line:column`. */
  readonly place: string;

  constructor(result: DriverResult, message: string) {
    super(`${result}: ${message}`);
    this.result = result;
    this.place = callerPlace();
  }
}

/** Throws VALIDATION unless `condition` holds. */
export function valid(condition: boolean, message: string): void {
  if (!condition) throw new DriverError("VALIDATION", message);
}

/** Throws VALIDATION where an untyped caller gives a name that is none of `names`; `what` is how the message calls it. */
export function oneOf(name: unknown, names: readonly string[], what: string): void {
  if (typeof name === "string" && names.includes(name)) return;
  const given = typeof name === "string" ? JSON.stringify(name) : String(name);
  throw new DriverError("VALIDATION", `${what} is ${given}, expected ${names.join(" or ")}`);
}
