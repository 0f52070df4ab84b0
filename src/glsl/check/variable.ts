import type { Type } from "../types/index.ts";
import type { Range } from "./base.ts";
import type { Storage, Variable } from "./tree.ts";

type Open<T> = { -readonly [K in keyof T]: T[K] };

/**
 * A variable that says no more than these: the caller fills in the rest. Every variable is made here, with all fields
 * in one order, so that the engine sees one kind of object wherever it reads one.
 */
export function newVariable(
  name: string,
  type: Type,
  storage: Storage,
  { position, end }: Range,
  constant: boolean,
): Open<Variable> {
  return {
    kind: "variable",
    name,
    type,
    storage,
    position,
    end,
    constant,
    value: undefined,
    constness: 0,
    initializer: undefined,
    specId: undefined,
    set: undefined,
    binding: undefined,
    location: undefined,
    component: undefined,
    index: undefined,
    inputAttachmentIndex: undefined,
    capture: undefined,
    interpolation: undefined,
    memory: undefined,
    layout: undefined,
    nonUniform: undefined,
    runtimeSized: undefined,
    builtIn: undefined,
    capability: undefined,
    mode: undefined,
    precise: false,
    invariant: false,
    highestIndex: -1,
    slot: undefined,
  };
}

/** The place of what the shader's text does not declare. */
export const noPlace: Range = { position: -1, end: -1 };
