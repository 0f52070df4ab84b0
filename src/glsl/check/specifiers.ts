import { suggest } from "../../base/index.ts";
import { typeSince } from "../builtins/index.ts";
import type { Note } from "../diagnostics.ts";
import type * as ast from "../syntax/index.ts";
import {
  type ArrayType,
  arrayType,
  builtinType,
  containsUnsized,
  coreType,
  errorType,
  type Member,
  type ScalarKind,
  scalarBits,
  scalarFacts,
  scalarOf,
  structType,
  TYPE_DEPTH_LIMIT,
  type Type,
  typeDepth,
  typeName,
} from "../types/index.ts";
import type { CheckContext, Range } from "./base.ts";
import { foreignTypes } from "./foreign-names.ts";
import { QualifierChecker, type Qualifiers } from "./qualifiers.ts";
import type { FunctionSet, ScopeSymbol } from "./scope.ts";
import type { Expr, FunctionSymbol, Variable } from "./tree.ts";

const samplersWithPrecision: readonly string[] = ["sampler2D", "samplerCube", "sampler", "samplerShadow"];

const FEW_MEMBERS = 8;

/** Layout identifiers of members; the reference compiler lets `set` stand there without a meaning. */
const memoryMemberLayouts: readonly string[] = ["offset", "align", "row_major", "column_major", "set"];
const interfaceMemberLayouts: readonly string[] = [
  ...["location", "component", "xfb_buffer", "xfb_offset", "xfb_stride", "set"],
];

/** Elements that one array may have: more than any memory of the machine holds. */
const ARRAY_SIZE_LIMIT = 0x7fffffff;

/** Other extensions that make a number type known. */
const narrowExtensions: Readonly<Record<string, readonly string[]>> = {
  int8: ["GL_EXT_shader_8bit_storage", "GL_EXT_shader_subgroup_extended_types_int8"],
  int16: ["GL_EXT_shader_16bit_storage", "GL_EXT_shader_subgroup_extended_types_int16"],
  float16: ["GL_EXT_shader_16bit_storage", "GL_EXT_shader_subgroup_extended_types_float16"],
  int64: ["GL_ARB_gpu_shader_int64", "GL_EXT_shader_atomic_int64", "GL_EXT_shader_subgroup_extended_types_int64"],
};

const extensionsByScalar = new Map<ScalarKind, readonly string[]>();

/** The extensions that bring a number type of its own width; the one to name is the second. */
function extensionsOf(scalar: ScalarKind): readonly string[] {
  const known = extensionsByScalar.get(scalar);
  if (known !== undefined) return known;
  const { kind, bits } = scalarFacts[scalar];
  const word = `${kind === "float" ? "float" : "int"}${bits}`;
  const general = "GL_EXT_shader_explicit_arithmetic_types";
  const made = [general, `${general}_${word}`, ...(narrowExtensions[word] ?? [])];
  extensionsByScalar.set(scalar, made);
  return made;
}

/** Type names, arrays, structs. */
export abstract class SpecifierChecker extends QualifierChecker {
  /** Kinds of types that have a default precision; ES wants one for every number and sampler. */
  private readonly defaultPrecisions = new Set<string>();

  private specSizes: Map<Variable, Expr> | undefined;

  protected override begin(context: CheckContext): void {
    super.begin(context);
    this.specSizes = undefined;
    if (this.defaultPrecisions.size > 0) this.defaultPrecisions.clear();
    if (!context.version.es) return;
    const kinds = context.stage === "fragment" ? ["int", "uint"] : ["int", "uint", "float"];
    for (const kind of [...samplersWithPrecision, ...kinds]) this.defaultPrecisions.add(kind);
  }

  /** `precision mediump float;` */
  protected precisionDecl(decl: ast.PrecisionDecl): void {
    const type = this.resolveType(decl.type);
    if (type.kind === "error") return;
    const kind = precisionKind(type);
    const { position, end } = decl.type;
    if (kind === undefined || kind === "uint" || type.kind === "vector" || type.kind === "array") {
      this.diagnostics.error("GLSL_PRECISION_TYPE", { type: typeName(type) }, position, end);
      return;
    }
    this.defaultPrecisions.add(kind);
    if (!this.desktopDefaults.includes(kind)) this.desktopDefaults = [...this.desktopDefaults, kind];
    if (kind === "int") this.defaultPrecisions.add("uint");
  }

  /** Reports a type of ES without a precision, once a kind. Source: GLSL ES 3.10 section 4.7.4. */
  protected checkPrecision(type: Type, precision: string | undefined, place: Range): void {
    if (precision === undefined && !this.context.version.es) return;
    const kind = precisionKind(type);
    if (precision !== undefined && kind === undefined && type.kind !== "error") {
      this.diagnostics.error("GLSL_PRECISION_TYPE", { type: typeName(type) }, place.position, place.end);
    }
    if (!this.context.version.es || kind === undefined || precision !== undefined) return;
    if (this.defaultPrecisions.has(kind)) return;
    this.defaultPrecisions.add(kind);
    this.diagnostics.error("GLSL_NO_PRECISION", { type: kind }, place.position, place.end);
  }

  protected override resolveType(spec: ast.TypeSpecifier): Type {
    const base = this.baseType(spec);
    return this.withDimensions(base, spec.dimensions);
  }

  private baseType(spec: ast.TypeSpecifier): Type {
    if (spec.struct !== undefined) return this.declareStruct(spec.struct);
    if (spec.builtin) {
      const type = builtinType(spec.name);
      const rectangle = type.kind === "opaque" && type.dim === "Rect" && !this.context.relaxed;
      if (type.kind === "opaque" && (type.family === "counter" || rectangle)) {
        const what = type.family === "counter" ? "an atomic counter" : "a rectangle texture";
        this.diagnostics.error("GLSL_NOT_IN_VULKAN", { what }, spec.position, spec.end);
        return errorType;
      }
      const since = this.isOld && type.kind === "opaque" ? typeSince(spec.name) : undefined;
      if (since !== undefined && !this.hasSince(`the type ${spec.name}`, since, spec)) return errorType;
      const extension = this.missingExtension(type, spec);
      if (extension !== undefined) {
        const values = { what: `the type ${spec.name}`, extension };
        this.diagnostics.error("GLSL_NEEDS_EXTENSION", values, spec.position, spec.end);
        return errorType;
      }
      if (this.context.version.es && scalarOf(type) === "double") {
        this.diagnostics.error("GLSL_RESERVED_WORD", { name: spec.name }, spec.position, spec.end);
        return errorType;
      }
      const wide = this.context.version.es && /^u?int64$/.test(scalarOf(type) ?? "");
      if (wide && !this.hasSince(`the type ${spec.name}`, { desktop: 140, es: 0, extensions: [] }, spec))
        return errorType;
      return type;
    }
    const symbol = this.scopes.lookup(spec.name);
    if (symbol?.kind === "struct") return symbol.type;
    if (symbol?.kind === "lost" || this.context.lostNames.has(spec.name)) return errorType;
    if (this.diagnostics.isOfRefused(spec.name)) return errorType;
    const near = foreignTypes.get(spec.name) ?? suggest(spec.name, this.structNames());
    const { name, position, end } = spec;
    if (near === undefined) this.diagnostics.error("GLSL_UNKNOWN_TYPE", { name }, position, end);
    else this.diagnostics.error("GLSL_UNKNOWN_TYPE_NEAR", { name, near }, position, end);
    return errorType;
  }

  /** The extension to name for a number type that the shader's extensions don't have. */
  private missingExtension(type: Type, place: Range): string | undefined {
    const scalar = scalarOf(type);
    if (scalar === undefined) return undefined;
    if (scalarBits(scalar) === 32 || scalar === "double") return undefined;
    const { extensions } = this.context;
    const others = extensionsOf(scalar);
    if (!others.some((name) => extensions.has(name))) return others[1];
    this.noteExtension(`the type ${typeName(type)}`, others, place);
    return undefined;
  }

  private *structNames(): Iterable<string> {
    for (const name of this.scopes.names()) if (this.scopes.lookup(name)?.kind === "struct") yield name;
    yield* ["float", "vec2", "vec3", "vec4", "int", "uint", "bool", "mat2", "mat3", "mat4", "double"];
    yield* ["ivec2", "ivec3", "ivec4", "uvec2", "uvec3", "uvec4", "bvec2", "bvec3", "bvec4"];
  }

  /** `T a[2][3]`: the first size is the outermost; sizes on the type stand inside those on the name. */
  protected withDimensions(base: Type, dimensions: ast.Dimensions): Type {
    let type = base;
    for (let at = dimensions.length - 1; at >= 0; at--) {
      const size = dimensions[at];
      if (type.kind === "void") {
        this.diagnostics.error("GLSL_VOID_VARIABLE", {}, size?.position ?? 0, size?.end ?? 0);
        return errorType;
      }
      if (size === undefined) {
        type = arrayType(type, undefined);
      } else {
        const sized = this.arraySize(size);
        type = sized.kind === "array" ? arrayType(type, sized.size, sized.specSize) : errorType;
      }
    }
    return this.shallow(type, dimensions.at(-1));
  }

  /** The type, unless it nests too deep. */
  private shallow(type: Type, place: Range | undefined): Type {
    if (place === undefined || typeDepth(type) <= TYPE_DEPTH_LIMIT) return type;
    this.diagnostics.error("GLSL_NESTING", { limit: TYPE_DEPTH_LIMIT }, place.position, place.end);
    return errorType;
  }

  /** An array type with the size that the expression gives and any element, or the error type. */
  protected override arraySize(size: ast.Expr): ArrayType | Type {
    const value = this.value(size);
    const { position, end } = size;
    if (value.type.kind === "error") return errorType;
    const scalar = value.type.kind === "scalar" ? value.type.scalar : "float";
    if ((scalar !== "int" && scalar !== "uint") || value.constness === 0) {
      this.diagnostics.error("GLSL_ARRAY_SIZE", {}, position, end);
      return errorType;
    }
    if (value.constness === 2) return arrayType(errorType, 1, this.knownSize(value));
    if (value.kind !== "constant") {
      this.diagnostics.error("GLSL_ARRAY_SIZE", {}, position, end);
      return errorType;
    }
    const count = Number(value.values[0]);
    if (count <= 0 || count > ARRAY_SIZE_LIMIT) {
      this.diagnostics.error("GLSL_ARRAY_SIZE_RANGE", { size: count }, position, end);
      return errorType;
    }
    return arrayType(errorType, count);
  }

  /** Sizes by one specialisation constant are the same object, so that their arrays have the same type. */
  private knownSize(size: Expr): Expr {
    if (size.kind !== "variable") return size;
    this.specSizes ??= new Map();
    const known = this.specSizes.get(size.variable);
    if (known === undefined) this.specSizes.set(size.variable, size);
    return known ?? size;
  }

  private declareStruct(spec: ast.StructSpecifier): Type {
    const members = this.members(spec.members, undefined);
    const type = structType(spec.name, members, false);
    if (spec.name !== "") {
      const { position, end } = spec;
      this.declare(spec.name, { kind: "struct", type, position, end: Math.min(end, position + 6) }, spec);
    }
    return type;
  }

  /** Members of a struct or block, in source order; those with errors keep their names. */
  protected members(decls: readonly ast.VariableDecl[], block: "memory" | "interface" | undefined): Member[] {
    const members: Member[] = [];
    // of a few members the names are compared, of many they are looked up
    let names: Map<string, Member> | undefined;
    for (const decl of decls) {
      const qualifiers = this.qualifiersOf(decl.qualifiers, decl);
      this.checkMemberQualifiers(qualifiers, block);
      const base = this.resolveType(decl.type);
      if (decl.type.struct !== undefined && !this.context.relaxed) {
        const what = "a struct defined inside a struct or block";
        this.diagnostics.error("GLSL_UNSUPPORTED", { what }, decl.type.position, decl.type.end);
      }
      this.checkPrecision(base, qualifiers.precision, decl.type);
      if (decl.declarators.length === 0) {
        this.diagnostics.error("GLSL_MEMBER_NAME", {}, decl.type.position, decl.end);
      }
      for (const declarator of decl.declarators) {
        const { name, position, end } = declarator;
        let type = this.withDimensions(base, declarator.dimensions);
        if (type.kind === "void") {
          this.diagnostics.error("GLSL_VOID_VARIABLE", {}, position, end);
          type = errorType;
        }
        if (block === undefined && containsUnsized(type)) {
          this.diagnostics.error("GLSL_UNSIZED_MEMBER", { name }, position, end);
          type = errorType;
        }
        if (declarator.initializer !== undefined) {
          const init = declarator.initializer;
          this.diagnostics.error("GLSL_MEMBER_INITIALIZER", { name }, init.position, init.end);
        }
        if (typeDepth(type) >= TYPE_DEPTH_LIMIT) type = this.shallow(arrayType(type, 1), declarator);
        if (block === undefined || !name.startsWith("gl_") || this.builtinRow(name) === undefined)
          this.checkName(name, declarator);
        const member: Member = {
          name,
          type,
          layout: this.memberLayout(qualifiers),
          memory: qualifiers.memory,
          interpolation: qualifiers.interpolation,
          invariant: qualifiers.invariant,
          position,
          end,
        };
        if (members.length === FEW_MEMBERS) names = new Map(members.map((each) => [each.name, each]));
        const previous = names === undefined ? members.find((each) => each.name === name) : names.get(name);
        if (previous !== undefined) {
          this.diagnostics.error("GLSL_REDEFINED", { name }, position, end, [previousNote(previous)]);
          continue;
        }
        names?.set(name, member);
        members.push(member);
      }
    }
    return members;
  }

  private checkMemberQualifiers(q: Qualifiers, block: "memory" | "interface" | undefined): void {
    if (block !== undefined) {
      const allowed = block === "memory" ? memoryMemberLayouts : interfaceMemberLayouts;
      if (!this.context.relaxed) this.allowLayout(q, allowed, "a member of this block");
      return;
    }
    const wrong = q.storage ?? q.memory[0] ?? q.interpolation[0] ?? q.layout.at(0)?.name;
    if (wrong !== undefined) {
      this.diagnostics.error("GLSL_QUALIFIER_MISPLACED", { name: wrong, what: "a struct member" }, q.position, q.end);
    }
  }

  /** Names that no declaration may take. */
  protected checkName(name: string, place: Range): void {
    if (name.startsWith("gl_")) {
      this.diagnostics.error("GLSL_RESERVED_PREFIX", { name }, place.position, place.end);
    } else if (name.includes("__")) {
      this.diagnostics.warn("GLSL_RESERVED_NAME", { name }, place.position, place.end);
    }
  }

  /** Enters a name into the innermost scope; a second declaration there is reported with a note at the first. */
  protected declare(name: string, symbol: ScopeSymbol, place: Range): boolean {
    const previous = this.scopes.lookupHere(name);
    if (previous !== undefined && previous.kind !== "lost") {
      const notes = previous.kind === "functions" ? functionNotes(previous) : [previousNote(previous)];
      this.diagnostics.error("GLSL_REDEFINED", { name }, place.position, place.end, notes);
      return false;
    }
    this.scopes.set(name, symbol);
    return true;
  }

  protected abstract override currentFunction: FunctionSymbol | undefined;
  protected abstract override declareGlobal(variable: Variable): void;
}

/** What a default precision is for: a kind of number or a type of sampler; undefined for what has no precision. */
function precisionKind(type: Type): string | undefined {
  const core = coreType(type);
  if (core.kind === "opaque") return core.name.replace("texture", "sampler");
  const scalar = scalarOf(core);
  return scalar === "float" || scalar === "int" || scalar === "uint" ? scalar : undefined;
}

export function previousNote(previous: Range): Note {
  return { message: "previous declaration", position: previous.position, end: previous.end };
}

function functionNotes(set: FunctionSet): Note[] {
  return set.functions.slice(0, 1).map(previousNote);
}
