import { invariant } from "../../base/index.ts";
import { builtinType, type ScalarKind, type Type, typeName, vectorType } from "../types/index.ts";
import { functionRows } from "./functions.ts";

export type ParameterMode = "in" | "out" | "inout" | "memory" | "splat";

/** One concrete overload of a built-in function. */
export interface Overload {
  readonly name: string;
  readonly returns: Type;
  readonly parameters: readonly { readonly type: Type; readonly mode: ParameterMode }[];
  /** `ext`, `op`, `atomic`, or the name of a lowering of its own. */
  readonly lowering: string;
  /** The instruction's name behind `ext`, `op` and `atomic`. */
  readonly instruction: string;
  readonly stage: string | undefined;
}

/** Generic type names: component type and smallest size. */
const generics: Readonly<Record<string, readonly [ScalarKind, number]>> = {
  genFType: ["float", 1],
  genDType: ["double", 1],
  genIType: ["int", 1],
  genUType: ["uint", 1],
  genBType: ["bool", 1],
  vec: ["float", 2],
  dvec: ["double", 2],
  ivec: ["int", 2],
  uvec: ["uint", 2],
  bvec: ["bool", 2],
};

const pattern = /^(\w+) (\w+)\((.*)\) = (\w+)(?: (\w+))?(?: @(\w+))?$/;

let rowsByName: Map<string, string[]> | undefined;
const expanded = new Map<string, readonly Overload[]>();

function rows(): Map<string, string[]> {
  if (rowsByName !== undefined) return rowsByName;
  rowsByName = new Map();
  for (const row of functionRows.split("\n")) {
    if (row === "") continue;
    const name = pattern.exec(row)?.[2];
    invariant(name !== undefined, `built-in row: ${row}`);
    const list = rowsByName.get(name);
    if (list === undefined) rowsByName.set(name, [row]);
    else list.push(row);
  }
  return rowsByName;
}

/** The overloads of a built-in function; empty for a name that is none. */
export function builtinOverloads(name: string): readonly Overload[] {
  let overloads = expanded.get(name);
  if (overloads === undefined) {
    const seen = new Set<string>();
    overloads = (rows().get(name) ?? []).flatMap(expandRow).filter((overload) => {
      // min(genFType, float) with one component repeats min(genFType, genFType)
      const key = overload.parameters.map((parameter) => typeName(parameter.type)).join();
      return !seen.has(key) && seen.add(key);
    });
    if (overloads.length > 0) expanded.set(name, overloads);
  }
  return overloads;
}

/** All built-in function names, for suggestions. */
export function builtinFunctionNames(): Iterable<string> {
  return rows().keys();
}

function expandRow(row: string): Overload[] {
  const [, returns, name, parameters, lowering, instruction, stage] = pattern.exec(row)!;
  const parts = parameters === "" ? [] : parameters!.split(", ");
  const words = parts.map((part) => part.split(" "));
  const names = [returns!, ...words.map((word) => word.at(-1)!)];
  const smallest = names.map((each) => generics[each]?.[1]).filter((size) => size !== undefined);
  const sizes = smallest.length === 0 ? [0] : [1, 2, 3, 4].filter((size) => size >= Math.max(...smallest));
  return sizes.map((size) => ({
    name: name!,
    returns: concrete(returns!, size),
    parameters: words.map((word) => ({
      type: concrete(word.at(-1)!, size),
      mode: (word.length > 1 ? word[0] : "in") as ParameterMode,
    })),
    lowering: lowering!,
    instruction: instruction ?? "",
    stage,
  }));
}

function concrete(name: string, size: number): Type {
  const generic = generics[name];
  return generic === undefined ? builtinType(name) : vectorType(generic[0], size);
}
