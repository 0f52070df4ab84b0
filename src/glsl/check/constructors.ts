import type { Note } from "../diagnostics.ts";
import type * as ast from "../syntax/index.ts";
import {
  type ArrayType,
  arrayType,
  containsOpaque,
  containsReference,
  containsUnsized,
  elementType,
  errorType,
  isReal,
  leafCount,
  type MatrixType,
  type OpaqueType,
  type ReferenceType,
  type ScalarType,
  type StructType,
  scalarOf,
  scalarType,
  type Type,
  typeName,
  type VectorType,
  vectorType,
} from "../types/index.ts";
import { joinConstness, type Range } from "./base.ts";
import { constructNode, convertNode, errorNode, movedNode } from "./nodes.ts";
import { OperatorChecker } from "./operators.ts";
import type { Component, ConstantExpr, Constness, ConstructExpr, Expr } from "./tree.ts";

/** Constructors and initialiser lists. Source: GLSL 4.60 sections 5.4 and 4.1.11. */
export abstract class ConstructorChecker extends OperatorChecker {
  /** Checks an expression whose value is read. */
  protected abstract value(expr: ast.Expr): Expr;

  protected construct(type: Type, args: readonly Expr[], place: Range): Expr {
    if (type.kind === "error" || args.some((arg) => arg.type.kind === "error")) {
      return this.errorExpr(place, type);
    }
    switch (type.kind) {
      case "opaque":
        if (type.family === "sampled" && type.dim !== "Buffer") return this.constructSampled(type, args, place);
        break;
      case "reference":
        return this.constructReference(type, args, place);
      case "scalar":
      case "vector":
      case "matrix":
        if (args.length === 1 && args[0]!.type.kind === "reference") return this.addressOf(type, args[0]!, place);
        return this.constructNumeric(type, args, place);
      case "array":
        return this.constructArray(type, args, place);
      case "struct":
        if (!type.block && !containsOpaque(type)) return this.constructStruct(type, args, place);
        break;
      default:
        break;
    }
    this.diagnostics.error("GLSL_NO_CONSTRUCTOR", { type: typeName(type) }, place.position, place.end);
    return this.errorExpr(place);
  }

  /** `sampler2D(texture, sampler)`. */
  private constructSampled(type: OpaqueType, args: readonly Expr[], place: Range): Expr {
    const [texture, sampler] = args;
    const wanted = type.name.replace("sampler", "texture").replace("Shadow", "");
    const fits =
      args.length === 2 &&
      texture?.type.kind === "opaque" &&
      texture.type.name === wanted &&
      sampler?.type.kind === "opaque" &&
      sampler.type.name === (type.shadow ? "samplerShadow" : "sampler");
    if (fits) return this.makeConstruct(type, "sampled", args, place);
    const values = { type: typeName(type), texture: wanted, sampler: type.shadow ? "samplerShadow" : "sampler" };
    this.diagnostics.error("GLSL_SAMPLED_ARGUMENTS", values, place.position, place.end);
    return this.errorExpr(place, type);
  }

  /** `Name(address)`: from a 64-bit integer, another reference, or two words where the extension allows. */
  private constructReference(type: ReferenceType, args: readonly Expr[], place: Range): Expr {
    const [arg] = args;
    if (arg === undefined || args.length > 1) {
      const values = { type: typeName(type), wanted: 1, given: args.length };
      this.diagnostics.error("GLSL_CONSTRUCTOR_COUNT", values, place.position, place.end);
      return this.errorExpr(place, type);
    }
    const words = arg.type === vectorType("uint", 2) && this.context.extensions.has("GL_EXT_buffer_reference_uvec2");
    if (arg.type.kind === "reference" || words) {
      if (arg.type === type) return movedNode(arg, place);
      if (arg.kind === "constant" && !words) return this.constantExpr(type, arg.values, place);
      return convertNode(arg, type, 0, place);
    }
    if (arg.type === vectorType("uint", 2)) return this.needWords(arg, type, place);
    const address = this.coerce(arg, scalarType("uint64"));
    if (address.kind === "error") return errorNode(address, type);
    if (address.kind === "constant") return this.constantExpr(type, address.values, place);
    return convertNode(address, type, 0, place);
  }

  /** `uint64_t(reference)`, `uvec2(reference)`. */
  private addressOf(type: Type, arg: Expr, place: Range): Expr {
    const words = type === vectorType("uint", 2) && this.context.extensions.has("GL_EXT_buffer_reference_uvec2");
    if (type === vectorType("uint", 2) && !words) return this.needWords(arg, type, place);
    if (type !== scalarType("uint64") && !words) {
      const values = { from: typeName(arg.type), to: typeName(type) };
      this.diagnostics.error("GLSL_BAD_CONVERSION", values, arg.position, arg.end);
      return this.errorExpr(place, type);
    }
    if (arg.kind === "constant" && !words) return this.constantExpr(type, arg.values, place);
    return convertNode(arg, type, 0, place);
  }

  /** Reports a conversion between a reference and two words that no extension allows. */
  private needWords(arg: Expr, type: Type, place: Range): Expr {
    const what = `the conversion of ${typeName(arg.type)} to ${typeName(type)}`;
    const extension = "GL_EXT_buffer_reference_uvec2";
    this.diagnostics.error("GLSL_NEEDS_EXTENSION", { what, extension }, arg.position, arg.end);
    return this.errorExpr(place, type);
  }

  private constructNumeric(type: ScalarType | VectorType | MatrixType, args: readonly Expr[], place: Range): Expr {
    const needed = leafCount(type);
    let have = 0;
    for (let at = 0; at < args.length; at++) {
      const arg = args[at]!;
      if (scalarOf(arg.type) === undefined) {
        const values = { from: typeName(arg.type), to: typeName(type) };
        this.diagnostics.error("GLSL_BAD_CONVERSION", values, arg.position, arg.end);
        return this.errorExpr(place, type);
      }
      if (arg.kind !== "constant" && this.mixesNarrow(arg.type, type, arg)) return this.errorExpr(place, type);
      if (have >= needed || (type.kind === "matrix" && arg.type.kind === "matrix" && at > 0)) {
        this.diagnostics.error("GLSL_CONSTRUCTOR_EXTRA", { type: typeName(type) }, arg.position, arg.end);
        return this.errorExpr(place, type);
      }
      have += leafCount(arg.type);
    }
    const first = args[0];
    const single = args.length === 1 ? first : undefined;
    const form = constructForm(type, single);
    if (first === undefined || (form === "components" && have < needed)) {
      const values = { type: typeName(type), needed, given: have };
      this.diagnostics.error("GLSL_CONSTRUCTOR_MISSING", values, place.position, place.end);
      return this.errorExpr(place, type);
    }
    // a matrix has no type of integers: its components are converted one by one
    const whole = isReal(type.scalar);
    const converted = new Array<Expr>(args.length);
    let constant = true;
    for (let at = 0; at < args.length; at++) {
      const arg = args[at]!;
      const apart = !whole && arg.type.kind === "matrix" && arg.kind !== "constant";
      const one = apart ? arg : this.convert(arg, type.scalar);
      if (one.kind !== "constant") constant = false;
      converted[at] = one;
    }
    // a conversion, nothing else
    if (single !== undefined && converted[0]!.type === type) return movedNode(converted[0]!, place);
    if (constant) {
      return this.constantExpr(type, constructValues(type, form, converted), place);
    }
    return this.makeConstruct(type, form, converted, place);
  }

  /** Types that are there to be stored convert to other integers, or other reals, only. */
  private mixesNarrow(from: Type, to: Type, place: Range): boolean {
    if (this.storageOnly.length === 0 || isReal(scalarOf(from)!) === isReal(scalarOf(to)!)) return false;
    const what = `converting ${typeName(from)} to`;
    return this.lacksArithmetic(from, "converting", place) || this.lacksArithmetic(to, what, place);
  }

  private makeConstruct(type: Type, form: ConstructExpr["form"], args: readonly Expr[], place: Range): Expr {
    let constness: Constness = form === "sampled" ? 0 : 1;
    for (const arg of args) constness = joinConstness(constness, arg.constness);
    return constructNode(form, args, type, constness, place);
  }

  private constructArray(type: ArrayType, args: readonly Expr[], place: Range): Expr {
    if (this.specSized(type, "constructed", place)) return this.errorExpr(place, type);
    const size = type.size ?? args.length;
    if (args.length !== size || size === 0) {
      const values = { type: typeName(type), wanted: size, given: args.length };
      this.diagnostics.error("GLSL_CONSTRUCTOR_COUNT", values, place.position, place.end);
      return this.errorExpr(place, type);
    }
    // `float[][2](…)`: inner sizes come from the first element
    const inner = type.element;
    const element = inner.kind === "array" && inner.size === undefined ? args[0]!.type : inner;
    const sized: Type = type.size === undefined || element !== inner ? arrayType(element, size) : type;
    return this.constructMembers(
      sized,
      args.map((arg) => this.coerce(arg, element)),
      place,
    );
  }

  private constructStruct(type: StructType, args: readonly Expr[], place: Range): Expr {
    if (args.length !== type.members.length) {
      const values = { type: typeName(type), wanted: type.members.length, given: args.length };
      this.diagnostics.error("GLSL_CONSTRUCTOR_COUNT", values, place.position, place.end);
      return this.errorExpr(place, type);
    }
    const parts = args.map((arg, at) => {
      const member = type.members[at]!;
      return this.coerce(arg, member.type, memberNote(member));
    });
    return this.constructMembers(type, parts, place);
  }

  private constructMembers(type: Type, parts: readonly Expr[], place: Range): Expr {
    if (parts.some((part) => part.kind === "error")) return this.errorExpr(place, type);
    // an address is no constant of SPIR-V
    if (containsReference(type) || !parts.every((part) => part.kind === "constant"))
      return this.makeConstruct(type, "members", parts, place);
    if (!this.fitsConstant(type, place)) return this.errorExpr(place, type);
    return this.constantExpr(
      type,
      parts.flatMap((part) => (part as ConstantExpr).values),
      place,
    );
  }

  /** `{}`: every component zero. Source: GL_EXT_null_initializer. */
  private zeroOf(type: Type, place: Range): Expr {
    if (type.kind === "error") return this.errorExpr(place);
    if (containsOpaque(type) || containsUnsized(type)) {
      this.diagnostics.error("GLSL_BAD_LIST", { type: typeName(type) }, place.position, place.end);
      return this.errorExpr(place, type);
    }
    if (!this.fitsConstant(type, place)) return this.errorExpr(place, type);
    return this.constantExpr(
      type,
      Array.from({ length: leafCount(type) }, () => 0),
      place,
    );
  }

  /** An initialiser for a variable of `type`: `{ … }` is taken apart by the type, the rest coerced. */
  protected initializerOf(init: ast.Expr, type: Type, nested = false): Expr {
    if (init.kind !== "list") {
      const expr = this.value(init);
      if (expr.type.kind !== "error" && this.specSized(type, "initialised", init)) return this.errorExpr(init);
      if (type.kind === "array" && fitsUnsized(type, expr.type)) return expr;
      return this.coerce(expr, type);
    }
    this.need420("an initialiser list", init);
    if (init.items.length === 0 && !nested && this.context.extensions.has("GL_EXT_null_initializer")) {
      return this.zeroOf(type, init);
    }
    if (this.specSized(type, "initialised", init)) return this.errorExpr(init, type);
    const count = listCount(type, init.items.length);
    if (count === undefined) {
      if (type.kind !== "error") {
        this.diagnostics.error("GLSL_BAD_LIST", { type: typeName(type) }, init.position, init.end);
      }
      for (const item of init.items) this.initializerOf(item, errorType);
      return this.errorExpr(init, type);
    }
    if (count !== init.items.length) {
      const values = { type: typeName(type), wanted: count, given: init.items.length };
      this.diagnostics.error("GLSL_CONSTRUCTOR_COUNT", values, init.position, init.end);
      return this.errorExpr(init, type);
    }
    const parts = init.items.map((item, at) => this.initializerOf(item, partType(type, at), true));
    if (type.kind === "array" && parts[0] !== undefined) {
      // sizes that the declaration leaves open are those of the first part
      const element = parts[0].type;
      const alike = parts.map((part) => this.coerce(part, element));
      return this.constructMembers(arrayType(element, count), alike, init);
    }
    if (type.kind === "struct") return this.constructMembers(type, parts, init);
    return this.construct(type, parts, init);
  }
}

function memberNote(member: { readonly name: string } & Range): Note[] {
  return [{ message: `member '${member.name}' is declared here`, position: member.position, end: member.end }];
}

/** Whether an array value may give its sizes to a variable declared with `[]`. */
export function fitsUnsized(declared: ArrayType, given: Type): boolean {
  if (given.kind !== "array" || given.size === undefined) return false;
  if (declared.size !== undefined && declared.size !== given.size) return false;
  if (declared.element.kind === "array") return fitsUnsized(declared.element, given.element);
  return declared.element === given.element;
}

function constructForm(type: Type, single: Expr | undefined): ConstructExpr["form"] {
  if (single?.type.kind === "scalar" && type.kind === "vector") return "splat";
  if (single?.type.kind === "scalar" && type.kind === "matrix") return "diagonal";
  if (single?.type.kind === "matrix" && type.kind === "matrix") return "resize";
  return "components";
}

function constructValues(type: Type, form: ConstructExpr["form"], args: readonly Expr[]): Component[] {
  const parts = args as readonly ConstantExpr[];
  const count = leafCount(type);
  if (form === "splat") return new Array<Component>(count).fill(parts[0]!.values[0]!);
  const leaves: Component[] = [];
  for (const { values } of parts) for (const value of values) leaves.push(value);
  if (type.kind !== "matrix" || form === "components") return leaves.length > count ? leaves.slice(0, count) : leaves;
  const source = parts[0]!.type;
  const values: Component[] = [];
  for (let column = 0; column < type.columns; column++) {
    for (let row = 0; row < type.rows; row++) {
      if (source.kind === "matrix" && column < source.columns && row < source.rows) {
        values.push(leaves[column * source.rows + row]!);
      } else if (form === "diagonal") {
        values.push(column === row ? leaves[0]! : 0);
      } else {
        values.push(column === row ? 1 : 0);
      }
    }
  }
  return values;
}

/** Items that a list for the type must have. */
function listCount(type: Type, given: number): number | undefined {
  switch (type.kind) {
    case "array":
      return type.size ?? Math.max(1, given);
    case "struct":
      return type.members.length;
    case "vector":
      return type.size;
    case "matrix":
      return type.columns;
    default:
      return undefined;
  }
}

function partType(type: Type, at: number): Type {
  switch (type.kind) {
    case "array":
      return type.element;
    case "struct":
      return type.members[at]!.type;
    default:
      return elementType(type) ?? type;
  }
}
