import { invariant } from "../../base/index.ts";
import { glslInstructionByName, opcodeByName } from "../../spirv/index.ts";
import { arrayType, builtinType, type ScalarKind, type Type, typeName, vectorType } from "../types/index.ts";
import { functionRows } from "./functions.ts";
import { subgroupRows } from "./subgroups.ts";
import { textureRows } from "./textures.ts";

export type ParameterMode = "in" | "out" | "inout" | "memory" | "splat" | "interpolant";

/** One concrete overload of a built-in function. */
export interface Overload {
  readonly name: string;
  readonly returns: Type;
  readonly parameters: readonly { readonly type: Type; readonly mode: ParameterMode }[];
  /** `ext`, `op`, `atomic`, or the name of a lowering of its own. */
  readonly lowering: string;
  /** The instruction's name behind `ext`, `op` and `atomic`. */
  readonly instruction: string;
  /** The number of that instruction (for `subgroup` too), 0 where it names none. */
  readonly opcode: number;
  /** Depends on its arguments alone: constant for constant arguments. */
  readonly pure: boolean;
  readonly stage: string | undefined;
  /** Any of these makes it known; empty where it is part of the language. */
  readonly extensions: readonly string[];
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
  genF16Type: ["float16", 1],
  genI8Type: ["int8", 1],
  genI16Type: ["int16", 1],
  genI64Type: ["int64", 1],
  genU8Type: ["uint8", 1],
  genU16Type: ["uint16", 1],
  genU64Type: ["uint64", 1],
  f16vec: ["float16", 2],
  i8vec: ["int8", 2],
  i16vec: ["int16", 2],
  i64vec: ["int64", 2],
  u8vec: ["uint8", 2],
  u16vec: ["uint16", 2],
  u64vec: ["uint64", 2],
};

const pattern = /^(\w+) (\w+)\((.*)\) = (\w+)(?: (\w+))?(?: @(\w+))?((?: \+\w+)*)$/;
const nameOf = /^\w+ (\w+)\(/;

/** Texel types of the rows that have `g` types: component prefix of vectors and of opaque types. */
const texels = ["", "i", "u"] as const;

/** Rows of some functions, and what the names of them all begin with, which no other function's does. */
interface Family {
  readonly names: RegExp;
  readonly text: () => string;
  rowsByName: Map<string, string[]> | undefined;
}

/** Each is made when a name of it is first met. The last has what fits none. */
const families: readonly Family[] = [
  { names: /^subgroup/, text: subgroupRows, rowsByName: undefined },
  { names: /^(?:tex(?:ture|el)|image|subpass)/, text: textureRows, rowsByName: undefined },
  { names: /^/, text: functionRows, rowsByName: undefined },
];
const expanded = new Map<string, readonly Overload[]>();

function rowsOf(family: Family): Map<string, string[]> {
  if (family.rowsByName !== undefined) return family.rowsByName;
  const rowsByName = new Map<string, string[]>();
  for (const row of family.text().split("\n")) {
    if (row === "") continue;
    const name = nameOf.exec(row)?.[1];
    invariant(name !== undefined && familyOf(name) === family, `built-in row: ${row}`);
    const list = rowsByName.get(name);
    if (list === undefined) rowsByName.set(name, [row]);
    else list.push(row);
  }
  family.rowsByName = rowsByName;
  return rowsByName;
}

const familyOf = (name: string): Family => families.find(({ names }) => names.test(name)) as Family;

const noOverloads: readonly Overload[] = [];

/** The overloads of a built-in function; empty for a name that is none. */
export function builtinOverloads(name: string): readonly Overload[] {
  const known = expanded.get(name);
  if (known !== undefined) return known;
  const own = rowsOf(familyOf(name)).get(name);
  if (own === undefined) return noOverloads;
  const seen = new Set<string>();
  const overloads = own.flatMap(expandRow).filter((overload) => {
    // min(genFType, float) with one component repeats min(genFType, genFType)
    const key = overload.parameters.map((parameter) => typeName(parameter.type)).join();
    return !seen.has(key) && seen.add(key);
  });
  expanded.set(name, overloads);
  return overloads;
}

const pureLowerings: ReadonlySet<string> = new Set(["ext", "op", "select", "matrixCompMult"]);

function opcodeOf(lowering: string, instruction: string): number {
  if (instruction === "") return 0;
  if (lowering === "subgroup") return opcodeByName(`OpGroupNonUniform${instruction.split("_")[0]}`) ?? 0;
  const number = lowering === "ext" || lowering === "interpolate" ? glslInstructionByName : opcodeByName;
  return number(instruction) ?? 0;
}

/** All built-in function names, for suggestions. */
export function builtinFunctionNames(): Iterable<string> {
  return families.flatMap((family) => [...rowsOf(family).keys()]);
}

function expandRow(row: string): Overload[] {
  if (/\bg(?:vec4|sampler|texture|image|subpass)/.test(row)) {
    return texels.flatMap((texel) =>
      expandSizes(row.replace(/\bg(vec4|sampler|texture|image|subpass)/g, `${texel}$1`)),
    );
  }
  return [row, ...otherWidths(row)].flatMap(expandSizes);
}

/** Functions of integers that exist for every width. */
const integerFunctions = /^(?:abs|sign|min|max|clamp|mix|(?:lessThan|greaterThan)(?:Equal)?|equal|notEqual)$/;
/** Functions of floats that binary16 does not have, or whose rows are written out. */
const notHalf = /pack|Bits|^subgroup|^interpolate/;

/** The same function for numbers of other widths, under the extension that brings them. */
function otherWidths(row: string): string[] {
  const name = nameOf.exec(row)![1]!;
  const variants: string[] = [];
  const types = (text: string, change: (type: string) => string): string => {
    const at = text.indexOf(" = ");
    return `${text.slice(0, at).replace(/\b\w+\b(?!\()/g, change)}${text.slice(at)}`;
  };
  // opaque types of binary16 are an extension of their own
  if (/\((?:[iu]?(?:sampler|texture|image))/.test(row)) return variants;
  const explicit = "+GL_EXT_shader_explicit_arithmetic_types";
  if (/\b(?:genFType|vec\d?|mat\d(?:x\d)?|float)\b/.test(row) && !notHalf.test(name)) {
    const half = (type: string): string =>
      type === "genFType" ? "genF16Type" : type === "float" ? "float16_t" : type.replace(/^(vec|mat)/, "f16$1");
    variants.push(`${types(row, half)} ${explicit} ${explicit}_float16`);
  }
  if (!integerFunctions.test(name)) return variants;
  for (const bits of [8, 16, 64]) {
    const resize = (type: string): string =>
      type
        .replace(/^gen([IU])Type$/, `gen$1${bits}Type`)
        .replace(/^(u?)int$/, `$1int${bits}_t`)
        .replace(/^([iu])vec$/, `$1${bits}vec`);
    const changed = types(row, resize);
    if (changed !== row) variants.push(`${changed} ${explicit} ${explicit}_int${bits}`);
  }
  return variants;
}

function expandSizes(row: string): Overload[] {
  const match = pattern.exec(row);
  invariant(match !== null, `built-in row: ${row}`);
  const [, returns, name, parameters, lowering, instruction, stage, more] = match;
  const extensions = (more ?? "").split(" +").slice(1);
  const parts = parameters === "" ? [] : parameters!.split(", ");
  const words = parts.map((part) => part.split(" "));
  const names = [returns!, ...words.map((word) => word.at(-1)!)];
  const smallest = names.map((each) => generics[each]?.[1]).filter((size) => size !== undefined);
  const sizes = smallest.length === 0 ? [0] : [1, 2, 3, 4].filter((size) => size >= Math.max(...smallest));
  const modes = words.map((word) => (word.length > 1 ? word[0] : "in") as ParameterMode);
  return sizes.map((size) => ({
    name: name!,
    returns: concrete(returns!, size),
    parameters: words.map((word, at) => ({ type: concrete(word.at(-1)!, size), mode: modes[at]! })),
    lowering: lowering!,
    instruction: instruction ?? "",
    opcode: opcodeOf(lowering!, instruction ?? ""),
    pure: pureLowerings.has(lowering!) && modes.every((mode) => mode === "in" || mode === "splat"),
    stage,
    extensions,
  }));
}

function concrete(name: string, size: number): Type {
  if (name.endsWith("[4]")) return arrayType(concrete(name.slice(0, -3), size), 4);
  const generic = generics[name];
  return generic === undefined ? builtinType(name) : vectorType(generic[0], size);
}
