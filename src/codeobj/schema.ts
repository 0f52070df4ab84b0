/**
 * Checks of values that came from outside: a reader returns the typed value or throws `SchemaError`. `path` names the
 * value itself; what is inside of it gets its place only where it fails, since records are read on the way of every hit.
 */
export type Reader<T> = (value: unknown, path: string) => T;

export class SchemaError extends Error {
  override readonly name = "SchemaError";
  readonly path: string;
  readonly expected: string;

  constructor(path: string, expected: string) {
    super(`${path} is no ${expected}`);
    this.path = path;
    this.expected = expected;
  }
}

function fail(path: string, expected: string): never {
  throw new SchemaError(path, expected);
}

/** The error of something inside, with the place of what it is in. */
function placed(error: unknown, path: string): unknown {
  return error instanceof SchemaError ? new SchemaError(path + error.path, error.expected) : error;
}

export const text: Reader<string> = (value, path) => (typeof value === "string" ? value : fail(path, "string"));

export const flag: Reader<boolean> = (value, path) => (typeof value === "boolean" ? value : fail(path, "boolean"));

export const finite: Reader<number> = (value, path) =>
  typeof value === "number" && Number.isFinite(value) ? value : fail(path, "finite number");

/** A whole number from 0 to 2^53 - 1. */
export const count: Reader<number> = (value, path) =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : fail(path, "count");

export const bytes: Reader<Uint8Array> = (value, path) =>
  value instanceof Uint8Array ? value : fail(path, "byte string");

export function oneOf<const T extends readonly (string | number)[]>(values: T): Reader<T[number]> {
  return (value, path) =>
    values.includes(value as T[number]) ? (value as T[number]) : fail(path, `one of ${values.join(", ")}`);
}

export function list<T>(item: Reader<T>): Reader<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) return fail(path, "list");
    const read: T[] = [];
    try {
      for (const each of value) read.push(item(each, ""));
    } catch (error) {
      throw placed(error, `${path}[${read.length}]`);
    }
    return read;
  };
}

type Shape = Readonly<Record<string, Reader<unknown>>>;

/** Readers whose member may be absent. */
const optionals = new WeakSet<Reader<unknown>>();

export function optional<T>(reader: Reader<T>): Reader<T | undefined> & { readonly optional: true } {
  const wrapped = ((value: unknown, path: string) => reader(value, path)) as Reader<T | undefined> & { optional: true };
  optionals.add(wrapped);
  return wrapped;
}

type Optional<S extends Shape> = { [K in keyof S]: S[K] extends { readonly optional: true } ? K : never }[keyof S];

/** The object that a shape's readers give: optional members may be absent but are never `undefined`. */
export type Shaped<S extends Shape> = { readonly [K in Exclude<keyof S, Optional<S>>]: ReturnType<S[K]> } & {
  readonly [K in Optional<S>]?: Exclude<ReturnType<S[K]>, undefined>;
};

/** A map with exactly these members; unknown ones are dropped. */
export function object<S extends Shape>(shape: S): Reader<Shaped<S>> {
  const members = Object.entries(shape).map(([key, reader]) => ({ key, reader, mayMiss: optionals.has(reader) }));
  return (value, path) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return fail(path, "map");
    const result: Record<string, unknown> = {};
    let at = "";
    try {
      for (const { key, reader, mayMiss } of members) {
        const member = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
        if (member === undefined && mayMiss) continue;
        at = key;
        result[key] = reader(member, "");
      }
    } catch (error) {
      throw placed(error, `${path}.${at}`);
    }
    return result as Shaped<S>;
  };
}
