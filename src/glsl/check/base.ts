import type { Since } from "../builtins/index.ts";
import type { Diagnostics, Note } from "../diagnostics.ts";
import type { Version } from "../preprocess/index.ts";
import {
  containsSpecSized,
  containsType,
  intType,
  isReal,
  leafCount,
  type PartTest,
  partTest,
  type ScalarKind,
  sameType,
  scalarFacts,
  scalarOf,
  type Type,
  typeName,
  withScalar,
} from "../types/index.ts";
import { type Dialect, dialectOf } from "./dialect.ts";
import { CONSTANT_LEAF_LIMIT, convertValue } from "./fold.ts";
import { constantNode, convertNode, errorNode, type Range } from "./nodes.ts";
import type { Component, ConstantExpr, Constness, Expr } from "./tree.ts";

export type { Range } from "./nodes.ts";

/** What the checker knows about the shader beside its text. */
export interface CheckContext {
  readonly stage: "compute" | "vertex" | "fragment";
  readonly entryPoint: string;
  readonly version: Version;
  readonly extensions: ReadonlySet<string>;
  /** Those that don't hold for the whole source, with where they do. */
  readonly ranges: ReadonlyMap<string, { readonly from: number; readonly to: number }>;
  /** Those of them whose use is warned of: `#extension NAME : warn`. */
  readonly warned: ReadonlySet<string>;
  readonly lostNames: ReadonlySet<string>;
  readonly diagnostics: Diagnostics;
  /** Older GLSL and OpenGL's habits are taken: see `dialect`. */
  readonly relaxed: boolean;
  /** The target takes SPIR-V 1.3: subgroup operations are part of it. */
  readonly hasSubgroups: boolean;
}

/** Implicit conversions by source type, best first. Source: GLSL 4.60 section 4.1.10. */
const implicitTargets: Readonly<Record<ScalarKind, readonly ScalarKind[]>> = {
  bool: [],
  int8: ["int16", "int", "int64", "uint8", "uint16", "uint", "uint64", "float16", "float", "double"],
  int16: ["int", "int64", "uint16", "uint", "uint64", "float16", "float", "double"],
  int: ["uint", "int64", "uint64", "float", "double"],
  int64: ["uint64", "double"],
  uint8: ["int16", "int", "int64", "uint16", "uint", "uint64", "float16", "float", "double"],
  uint16: ["int", "int64", "uint", "uint64", "float16", "float", "double"],
  uint: ["int64", "uint64", "float", "double"],
  uint64: ["double"],
  float16: ["float", "double"],
  float: ["double"],
  double: [],
};

const explicitExtensions = ["", "_int8", "_int16", "_int32", "_int64", "_float16", "_float32", "_float64"].map(
  (suffix) => `GL_EXT_shader_explicit_arithmetic_types${suffix}`,
);

/**
 * Rank of a conversion where types of every width are on: promotions (small integers to int, reals to double), then
 * conversions of integers or reals among themselves, then of integers to reals; those of one kind are no better than
 * each other. Source: GL_EXT_shader_explicit_arithmetic_types, section 6.1 as it changes it.
 */
function explicitRank(from: ScalarKind, to: ScalarKind): number {
  if (to === "double" && isReal(from)) return 1;
  if (to === "int" && scalarFacts[from].bits < 32 && !isReal(from)) return 1;
  return isReal(from) === isReal(to) ? 2 : 3;
}

/** Types of 8 and 16 bits, with the extension that brings them to memory and the words of those that bring arithmetic. */
interface NarrowType {
  readonly word: string;
  readonly storage: string;
  readonly holds: PartTest;
}

const noNarrow: readonly NarrowType[] = [];
const narrowRows: readonly NarrowType[] = [
  { word: "int8", storage: "GL_EXT_shader_8bit_storage", holds: partTest((part) => /^u?int8$/.test(word(part))) },
  { word: "int16", storage: "GL_EXT_shader_16bit_storage", holds: partTest((part) => /^u?int16$/.test(word(part))) },
  { word: "float16", storage: "GL_EXT_shader_16bit_storage", holds: partTest((part) => word(part) === "float16") },
];

function word(part: Type): string {
  return scalarOf(part) ?? "";
}

function storageOnlyTypes(extensions: ReadonlySet<string>): readonly NarrowType[] {
  if (extensions.has("GL_EXT_shader_explicit_arithmetic_types")) return noNarrow;
  const brought = (name: string) =>
    extensions.has(`GL_EXT_shader_explicit_arithmetic_types_${name}`) ||
    extensions.has(`GL_EXT_shader_subgroup_extended_types_${name}`);
  return narrowRows.filter((row) => extensions.has(row.storage) && !brought(row.word));
}

/** Typed nodes and implicit conversions. */
export abstract class CheckBase {
  protected context!: CheckContext;
  protected diagnostics!: Diagnostics;
  protected dialect!: Dialect;
  /** Overloads are chosen as GL_EXT_shader_explicit_arithmetic_types says. */
  private explicitTypes = false;
  /** Versions that lack some of the built-in functions and types. */
  protected isOld = false;
  /** Narrow types that are there to be stored and loaded only. */
  protected storageOnly = noNarrow;

  /** Starts on a shader: nothing is left of the one before. Each class begins what is its own. */
  protected begin(context: CheckContext): void {
    this.context = context;
    const { extensions } = context;
    this.explicitTypes = extensions.size > 0 && explicitExtensions.some((name) => extensions.has(name));
    this.storageOnly = extensions.size === 0 || context.relaxed ? noNarrow : storageOnlyTypes(extensions);
    this.isOld = (context.version.es || context.version.number < 450) && !context.relaxed;
    this.dialect = dialectOf(context);
    this.diagnostics = context.diagnostics;
  }

  /**
   * Warns of a use where only extensions under `: warn` give it, and reports one where none holds yet or any more;
   * `extensions` are all that would give it.
   */
  protected noteExtension(what: string, extensions: readonly string[], { position, end }: Range): void {
    const { warned, ranges } = this.context;
    if (warned.size === 0 && ranges.size === 0) return;
    const active = extensions.filter((name) => this.context.extensions.has(name));
    const [extension] = active;
    const holds = (name: string) => {
      const range = ranges.get(name);
      return range === undefined || (range.from < position && position < range.to);
    };
    if (extension !== undefined && !active.some(holds)) {
      this.diagnostics.error("GLSL_NEEDS_EXTENSION", { what, extension }, position, end);
      return;
    }
    if (extension === undefined || !active.every((name) => warned.has(name))) return;
    this.diagnostics.warn("GLSL_EXTENSION_USED", { what, extension }, position, end);
  }

  /**
   * Reports a use of narrow types beyond loads, stores and conversions where only their storage is there.
   * Source: GL_EXT_shader_16bit_storage, GL_EXT_shader_8bit_storage.
   */
  protected lacksArithmetic(type: Type, what: string, place: Range): boolean {
    if (this.storageOnly.length === 0) return false;
    const row = this.storageOnly.find(({ holds }) => containsType(type, holds));
    if (row === undefined) return false;
    const values = {
      what: `${what} ${typeName(type)}`,
      extension: `GL_EXT_shader_explicit_arithmetic_types_${row.word}`,
    };
    this.diagnostics.error("GLSL_NEEDS_EXTENSION", values, place.position, place.end);
    return true;
  }

  protected errorExpr(place: Range, type?: Type): Expr {
    return errorNode(place, type);
  }

  protected constantExpr(type: Type, values: readonly Component[], place: Range): ConstantExpr {
    return constantNode(type, values, place.position, place.end);
  }

  protected intConstant(value: number, place: Range): ConstantExpr {
    return this.constantExpr(intType, [value], place);
  }

  /** Whether a folded value of the type may be kept; a larger one is reported. */
  protected fitsConstant(type: Type, place: Range): boolean {
    if (leafCount(type) <= CONSTANT_LEAF_LIMIT) return true;
    this.diagnostics.error("GLSL_CONSTANT_TOO_LARGE", { limit: CONSTANT_LEAF_LIMIT }, place.position, place.end);
    return false;
  }

  /** What came with version 4.20 and is not in ES. */
  protected need420(what: string, place: Range): void {
    const { version, extensions } = this.context;
    if (this.context.relaxed && !version.es) return;
    if (!version.es && (version.number >= 420 || extensions.has("GL_ARB_shading_language_420pack"))) return;
    this.diagnostics.error("GLSL_NEEDS_VERSION", { what, version: 420 }, place.position, place.end);
  }

  /** Whether the version, or an extension, has what came with a later version; reports it where neither does. */
  protected hasSince(what: string, { desktop, es, extensions }: Since, place: Range): boolean {
    const { version } = this.context;
    const first = version.es ? es : desktop;
    if (first !== 0 && version.number >= first) return true;
    if (extensions.some((name) => this.context.extensions.has(name))) return true;
    const values = {
      what,
      version: first === 0 ? `${desktop}, and no ES version has it` : `${first}${version.es ? " es" : ""}`,
    };
    this.diagnostics.error("GLSL_NEEDS_VERSION", values, place.position, place.end);
    return false;
  }

  private allowsConversions(): boolean {
    const { version, extensions } = this.context;
    return !version.es || extensions.has("GL_EXT_shader_implicit_conversions");
  }

  /**
   * Rank of an implicit conversion between component types: 0 none needed, higher is worse, undefined impossible;
   * `signRank` is neither better nor worse than those to reals.
   */
  protected scalarRank(from: ScalarKind, to: ScalarKind): number | undefined {
    if (from === to) return 0;
    if (!this.allowsConversions() || !implicitTargets[from].includes(to)) return undefined;
    if (this.storageOnly.some(({ word: only }) => from.endsWith(only) || to.endsWith(only))) return undefined;
    if (this.explicitTypes) return explicitRank(from, to);
    if (from === "int" && to === "uint" && this.context.version.number < 400 && !this.context.version.es) {
      if (this.context.relaxed) return signRank;
      return this.context.extensions.has("GL_ARB_gpu_shader5") ? signRank : undefined;
    }
    if (from === "int" && to === "uint") return signRank;
    const a = scalarFacts[from];
    const b = scalarFacts[to];
    // a wider type of the same kind is nearest where the source is narrow or a float, then float before double
    if (from === "float") return 1;
    if (b.kind === "float" && b.bits === 64) return 3;
    return a.kind === b.kind && a.bits < 32 ? 1 : 2;
  }

  /** As `scalarRank` for whole types. */
  protected conversionRank(from: Type, to: Type): number | undefined {
    if (sameType(from, to) || from.kind === "error" || to.kind === "error") return 0;
    const source = scalarOf(from);
    const target = scalarOf(to);
    if (source === undefined || target === undefined || withScalar(from, target) !== to) return undefined;
    return this.scalarRank(source, target);
  }

  /** The component type that both can become, or undefined. */
  protected commonScalar(a: ScalarKind, b: ScalarKind): ScalarKind | undefined {
    if (this.scalarRank(a, b) !== undefined) return b;
    return this.scalarRank(b, a) !== undefined ? a : undefined;
  }

  /** The expression with another component type, folded where it is a constant. */
  protected convert(expr: Expr, scalar: ScalarKind): Expr {
    const from = scalarOf(expr.type);
    if (from === undefined || from === scalar) return expr;
    const type = withScalar(expr.type, scalar);
    if (expr.kind === "constant") {
      const one = expr.values.length === 1 ? convertValue(from, scalar, expr.values[0]!) : undefined;
      if (one !== undefined) return constantNode(type, [one], expr.position, expr.end);
      const values: Component[] = [];
      for (const each of expr.values) {
        const value = convertValue(from, scalar, each);
        if (value === undefined) break;
        values.push(value);
      }
      if (values.length === expr.values.length) return constantNode(type, values, expr.position, expr.end);
    }
    // reals convert among themselves at specialisation; from and to integers only kernels may
    const mixed = isReal(from) !== isReal(scalar);
    const constness = expr.constness === 2 && mixed ? 0 : expr.constness;
    return convertNode(expr, type, constness, expr);
  }

  /** Reports a value whose size is known at specialisation only, where the whole of it would be needed. */
  protected specSized(type: Type, what: string, place: Range): boolean {
    if (!containsSpecSized(type)) return false;
    this.diagnostics.error("GLSL_SPEC_SIZED", { what }, place.position, place.end);
    return true;
  }

  /** The expression as `type` wants it, by implicit conversion. An impossible one is reported. */
  protected coerce(expr: Expr, type: Type, notes: readonly Note[] = []): Expr {
    const rank = this.conversionRank(expr.type, type);
    if (rank === undefined) {
      const values = { from: typeName(expr.type), to: typeName(type) };
      this.diagnostics.error("GLSL_BAD_CONVERSION", values, expr.position, expr.end, notes);
      return this.errorExpr(expr, type);
    }
    const scalar = scalarOf(type);
    return rank === 0 || scalar === undefined ? expr : this.convert(expr, scalar);
  }
}

/** Rank of int to uint. */
export const signRank = 4;

/** Constness of an operation on operands. */
export function joinConstness(a: Constness, b: Constness): Constness {
  return a === 0 || b === 0 ? 0 : a === 2 || b === 2 ? 2 : 1;
}
