import { invariant } from "../../base/index.ts";
import type { StructLayout } from "./layout.ts";
import { type OpaqueType, parseOpaque } from "./opaque.ts";
import { blankType } from "./shape.ts";

export type ScalarKind =
  | "bool"
  | "int"
  | "uint"
  | "float"
  | "double"
  | "int8"
  | "uint8"
  | "int16"
  | "uint16"
  | "int64"
  | "uint64"
  | "float16";
export type RealKind = "float" | "double" | "float16";

/** Class and bits of each component type; a bool has as many bits as in memory. */
export const scalarFacts: Readonly<
  Record<ScalarKind, { readonly kind: "bool" | "int" | "uint" | "float"; readonly bits: 8 | 16 | 32 | 64 }>
> = {
  bool: { kind: "bool", bits: 32 },
  int: { kind: "int", bits: 32 },
  uint: { kind: "uint", bits: 32 },
  float: { kind: "float", bits: 32 },
  double: { kind: "float", bits: 64 },
  int8: { kind: "int", bits: 8 },
  uint8: { kind: "uint", bits: 8 },
  int16: { kind: "int", bits: 16 },
  uint16: { kind: "uint", bits: 16 },
  int64: { kind: "int", bits: 64 },
  uint64: { kind: "uint", bits: 64 },
  float16: { kind: "float", bits: 16 },
};

export function isReal(scalar: ScalarKind | undefined): scalar is RealKind {
  return scalar === "float" || scalar === "double" || scalar === "float16";
}

/** Signed or unsigned integer of any width. */
export function isInteger(scalar: ScalarKind | undefined): boolean {
  return scalar !== undefined && scalar !== "bool" && !isReal(scalar);
}

/** Bits of a component type: a comparison is faster than finding a row by its name, for the few that most shaders have. */
export function scalarBits(scalar: ScalarKind): 8 | 16 | 32 | 64 {
  if (scalar === "float" || scalar === "int" || scalar === "uint" || scalar === "bool") return 32;
  return scalarFacts[scalar].bits;
}

/** By the number of components from 1 to 4 (the first is the scalar): the scalar and vector types of one component type. */
export type NumberVectors = readonly (ScalarType | VectorType)[];

/** What scalars, vectors and matrices know of their component type. */
export interface NumberType {
  readonly scalar: ScalarKind;
  /** Class of the component type: 0 float, 1 int, 2 uint, 3 bool. */
  readonly kindNumber: number;
  readonly vectors: NumberVectors;
}

export interface VoidType {
  readonly kind: "void";
}
/** The type of what was already reported: it fits everywhere, so that one mistake gives one message. */
export interface ErrorType {
  readonly kind: "error";
}
export interface ScalarType extends NumberType {
  readonly kind: "scalar";
}
export interface VectorType extends NumberType {
  readonly kind: "vector";
  readonly size: number;
}
/** `columns` vectors of `rows` components. */
export interface MatrixType extends NumberType {
  readonly kind: "matrix";
  readonly scalar: RealKind;
  readonly columns: number;
  readonly rows: number;
}
/**
 * `size` is undefined for `[]`: a runtime array at the end of a buffer block, elsewhere one that takes its size later.
 * `specSize` is there where the size is a specialisation constant's expression (then `size` is its default value).
 */
export interface ArrayType {
  readonly kind: "array";
  readonly element: Type;
  readonly size: number | undefined;
  readonly specSize?: unknown;
}
/** Layout of a block's or struct's member as declared; offsets and alignments in bytes. */
export interface MemberLayout {
  readonly offset: number | undefined;
  readonly align: number | undefined;
  readonly rowMajor: boolean | undefined;
  readonly location: number | undefined;
  readonly component: number | undefined;
  /** Transform feedback: byte offset in its buffer, the buffer and its stride as the member says them. */
  readonly xfbOffset: number | undefined;
  readonly xfbBuffer: number | undefined;
  readonly xfbStride: number | undefined;
}
export type MemoryQualifier =
  | "coherent"
  | "volatile"
  | "restrict"
  | "readonly"
  | "writeonly"
  | "nonprivate"
  | ScopedCoherence;
/** Coherent between the invocations of one scope. Source: GL_KHR_memory_scope_semantics. */
type ScopedCoherence = "devicecoherent" | "queuefamilycoherent" | "workgroupcoherent" | "subgroupcoherent";
export interface Member {
  readonly name: string;
  readonly type: Type;
  readonly layout: MemberLayout;
  readonly memory: readonly MemoryQualifier[];
  readonly interpolation: readonly string[];
  readonly invariant: boolean;
  readonly position: number;
  readonly end: number;
}
/** A struct or a block. Compared by identity; two declarations of one name are two types. */
export interface StructType {
  readonly kind: "struct";
  readonly name: string;
  readonly members: readonly Member[];
  readonly block: boolean;
  /** What was worked out about it before; see `containsType`. */
  facts?: StructFacts | undefined;
  /** Its layouts by number, where they were asked for; see `structLayout`. */
  layouts?: (StructLayout | undefined)[] | undefined;
}

export interface StructFacts {
  /** Bits of the tests whose answers are known, and of those that hold. */
  known: number;
  holds: number;
  leaves: number;
  depth: number;
}
/** A 64-bit address of a block: `layout(buffer_reference) buffer Name { … };` makes `Name` one. Compared by identity. */
export interface ReferenceType {
  readonly kind: "reference";
  readonly name: string;
  /** Undefined until the block itself is declared. */
  block: StructType | undefined;
  packing: "std140" | "std430" | "scalar";
  rowMajor: boolean;
  /** What every such address is a multiple of, in bytes. */
  alignBytes: number;
}
export type Type =
  | VoidType
  | ErrorType
  | ScalarType
  | VectorType
  | MatrixType
  | ArrayType
  | StructType
  | OpaqueType
  | ReferenceType;

export const voidType = blankType("void") as VoidType;
export const errorType = blankType("error") as ErrorType;

const scalarKinds = Object.keys(scalarFacts) as ScalarKind[];
const vectors = new Map<ScalarKind, (ScalarType | VectorType)[]>();
const kindNumbers = { float: 0, int: 1, uint: 2, bool: 3 } as const;
/** By columns and rows: `4 * columns + rows`. */
const matrices = new Map<RealKind, MatrixType[]>();
const names = new Map<string, Type>();
const namesByType = new Map<Type, string>();

function numberType(
  kind: "scalar" | "vector" | "matrix",
  scalar: ScalarKind,
  size: number | undefined,
  columns: number,
  rows: number,
): ReturnType<typeof blankType> {
  const type = blankType(kind);
  type.scalar = scalar;
  type.size = size;
  type.columns = columns;
  type.rows = rows;
  type.kindNumber = kindNumbers[scalarFacts[scalar].kind];
  type.vectors = vectors.get(scalar)!;
  return type;
}

function define(name: string, type: Type): void {
  names.set(name, type);
  if (!namesByType.has(type)) namesByType.set(type, name);
}

const vectorPrefix: Readonly<Record<ScalarKind, readonly string[]>> = {
  bool: ["b"],
  int: ["i", "i32"],
  uint: ["u", "u32"],
  float: ["", "f32"],
  double: ["d", "f64"],
  int8: ["i8"],
  uint8: ["u8"],
  int16: ["i16"],
  uint16: ["u16"],
  int64: ["i64"],
  uint64: ["u64"],
  float16: ["f16"],
};
const scalarNames: Readonly<Record<ScalarKind, readonly string[]>> = {
  bool: ["bool"],
  int: ["int", "int32_t"],
  uint: ["uint", "uint32_t"],
  float: ["float", "float32_t"],
  double: ["double", "float64_t"],
  int8: ["int8_t"],
  uint8: ["uint8_t"],
  int16: ["int16_t"],
  uint16: ["uint16_t"],
  int64: ["int64_t"],
  uint64: ["uint64_t"],
  float16: ["float16_t"],
};
for (const scalar of scalarKinds) {
  const sizes: (ScalarType | VectorType)[] = [];
  vectors.set(scalar, sizes);
  const type = numberType("scalar", scalar, 1, 1, 1) as ScalarType;
  for (const name of scalarNames[scalar]) define(name, type);
  sizes.push(type, type);
  for (let size = 2; size <= 4; size++) {
    const vector = numberType("vector", scalar, size, 1, size) as VectorType;
    sizes.push(vector);
    for (const prefix of vectorPrefix[scalar]) define(`${prefix}vec${size}`, vector);
  }
}
for (const scalar of ["float", "double", "float16"] as const) {
  const shapes: MatrixType[] = [];
  matrices.set(scalar, shapes);
  for (let columns = 2; columns <= 4; columns++) {
    for (let rows = 2; rows <= 4; rows++) {
      const matrix = numberType("matrix", scalar, undefined, columns, rows) as MatrixType;
      shapes[4 * columns + rows] = matrix;
      for (const prefix of vectorPrefix[scalar]) {
        if (columns === rows) define(`${prefix}mat${columns}`, matrix);
        define(`${prefix}mat${columns}x${rows}`, matrix);
      }
    }
  }
}

const floatVectors = vectors.get("float")!;
const intVectors = vectors.get("int")!;
const uintVectors = vectors.get("uint")!;

/** Those of a component type: of most shaders' ones found by a comparison. */
function vectorsOf(scalar: ScalarKind): NumberVectors {
  if (scalar === "float") return floatVectors;
  if (scalar === "int") return intVectors;
  return scalar === "uint" ? uintVectors : vectors.get(scalar)!;
}

/** Scalar, vector and matrix types are one object each: compare with `===`. */
export function scalarType(scalar: ScalarKind): ScalarType {
  return vectorsOf(scalar)[1] as ScalarType;
}

/** The vector of `size` components, or the scalar for size 1. */
export function vectorType(scalar: ScalarKind, size: number): ScalarType | VectorType {
  return vectorsOf(scalar)[size]!;
}

export function matrixType(scalar: RealKind, columns: number, rows: number): MatrixType {
  return matrices.get(scalar)![4 * columns + rows]!;
}

export function arrayType(element: Type, size: number | undefined, specSize?: unknown): ArrayType {
  const type = blankType("array");
  type.element = element;
  type.size = size;
  type.specSize = specSize;
  return type as ArrayType;
}

/** A new struct type, or the one of a block. */
export function structType(name: string, members: readonly Member[], block: boolean): StructType {
  const type = blankType("struct");
  type.name = name;
  type.members = members;
  type.block = block;
  return type as StructType;
}

/** A reference in the layout that blocks have where they say nothing; its block comes later. */
export function referenceType(name: string, alignBytes: number): ReferenceType {
  const type = blankType("reference");
  type.name = name;
  type.packing = "std430";
  type.alignBytes = alignBytes;
  return type as ReferenceType;
}

export const boolType = scalarType("bool");
export const intType = scalarType("int");
export const uintType = scalarType("uint");

/** The type that a built-in type's keyword names; the error type for any other word. */
export function builtinType(name: string): Type {
  if (name === "void") return voidType;
  let type = names.get(name);
  if (type === undefined) {
    type = parseOpaque(name);
    if (type === undefined) return errorType;
    define(name, type);
  }
  return type;
}

/** The type as it is written in GLSL. */
export function typeName(type: Type): string {
  let sizes = "";
  let element = type;
  for (; element.kind === "array"; element = element.element) sizes += `[${element.size ?? ""}]`;
  switch (element.kind) {
    case "void":
    case "error":
      return element.kind + sizes;
    case "struct":
      return (element.name === "" ? "struct" : element.name) + sizes;
    case "opaque":
    case "reference":
      return element.name + sizes;
    default:
      return (namesByType.get(element) ?? "opaque") + sizes;
  }
}

export function sameType(a: Type, b: Type): boolean {
  if (a === b) return true;
  if (a.kind === "array" && b.kind === "array") {
    return a.size === b.size && a.specSize === b.specSize && sameType(a.element, b.element);
  }
  // formats of images are no part of their types
  if (a.kind === "opaque" && b.kind === "opaque") return a.name === b.name;
  return false;
}

/** Component type of scalars, vectors and matrices. */
export function scalarOf(type: Type): ScalarKind | undefined {
  return type.kind === "scalar" || type.kind === "vector" || type.kind === "matrix" ? type.scalar : undefined;
}

/** What a type knows of its component type; undefined where it is no scalar, vector or matrix. */
export function numberOf(type: Type): ScalarType | VectorType | MatrixType | undefined {
  return type.kind === "scalar" || type.kind === "vector" || type.kind === "matrix" ? type : undefined;
}

/** Components of a scalar (1) or vector; 0 for any other type. */
export function vectorSize(type: Type): number {
  return type.kind === "scalar" ? 1 : type.kind === "vector" ? type.size : 0;
}

/** The same shape with another component type. */
export function withScalar(type: Type, scalar: ScalarKind): Type {
  if (scalarOf(type) === scalar) return type;
  if (type.kind === "scalar") return scalarType(scalar);
  if (type.kind === "vector") return vectorType(scalar, type.size);
  if (type.kind === "matrix" && isReal(scalar)) {
    return matrixType(scalar, type.columns, type.rows);
  }
  return type;
}

/** The struct's facts; numbers that are not known yet are -1. */
function factsOf(type: StructType): StructFacts {
  type.facts ??= { known: 0, holds: 0, leaves: -1, depth: -1 };
  return type.facts;
}

/** Scalars in a value of the type; an unsized array counts its element once. May be huge, never wrong in order. */
export function leafCount(type: Type): number {
  switch (type.kind) {
    case "scalar":
    case "opaque":
    case "reference":
      return 1;
    case "vector":
      return type.size;
    case "matrix":
      return type.columns * type.rows;
    case "array":
      return (type.size ?? 1) * leafCount(type.element);
    case "struct": {
      const facts = factsOf(type);
      if (facts.leaves < 0) facts.leaves = type.members.reduce((sum, member) => sum + leafCount(member.type), 0);
      return facts.leaves;
    }
    default:
      return 0;
  }
}

/** How deep arrays and structs may hold one another. */
export const TYPE_DEPTH_LIMIT = 255;

/** Arrays and structs around the innermost part of a type. */
export function typeDepth(type: Type): number {
  let arrays = 0;
  let core = type;
  for (; core.kind === "array"; core = core.element) arrays++;
  if (core.kind !== "struct") return arrays;
  const facts = factsOf(core);
  if (facts.depth < 0) {
    facts.depth = core.members.reduce((most, member) => Math.max(most, 1 + typeDepth(member.type)), 1);
  }
  return arrays + facts.depth;
}

/** Questions about the parts of a type, one bit each. */
export interface PartTest {
  readonly bit: number;
  readonly test: (type: Type) => boolean;
}

let partTests = 0;

/** A question for `containsType`; made once, at the start of the program. */
export function partTest(test: (type: Type) => boolean): PartTest {
  invariant(partTests < 30, "questions are the bits of a small integer");
  return { bit: 1 << partTests++, test };
}

/** Whether the question holds for the type or anything inside it. */
export function containsType(type: Type, question: PartTest): boolean {
  let part = type;
  for (; part.kind === "array"; part = part.element) if (question.test(part)) return true;
  if (part.kind !== "struct") return question.test(part);
  const facts = factsOf(part);
  if ((facts.known & question.bit) === 0) {
    const holds = question.test(part) || part.members.some((member) => containsType(member.type, question));
    facts.known |= question.bit;
    if (holds) facts.holds |= question.bit;
  }
  return (facts.holds & question.bit) !== 0;
}

const referenceParts = partTest((type) => type.kind === "reference");

export function containsReference(type: Type): boolean {
  return containsType(type, referenceParts);
}

const opaqueParts = partTest((type) => type.kind === "opaque");

export function containsOpaque(type: Type): boolean {
  return containsType(type, opaqueParts);
}

/** The innermost element type of an array; any other type itself. */
export function coreType(type: Type): Exclude<Type, ArrayType> {
  let core = type;
  while (core.kind === "array") core = core.element;
  return core;
}

const boolParts = partTest((type) => scalarOf(type) === "bool");

export function containsBool(type: Type): boolean {
  return containsType(type, boolParts);
}

const unsizedParts = partTest((type) => type.kind === "array" && type.size === undefined);

export function containsUnsized(type: Type): boolean {
  return containsType(type, unsizedParts);
}

const specSizedParts = partTest((type) => type.kind === "array" && type.specSize !== undefined);

/** Whether some size is known at specialisation only. */
export function containsSpecSized(type: Type): boolean {
  return containsType(type, specSizedParts);
}

/** Type of the parts that `[…]` gives: element, column or component. */
export function elementType(type: Type): Type | undefined {
  switch (type.kind) {
    case "array":
      return type.element;
    case "vector":
      return type.vectors[1]!;
    case "matrix":
      return type.vectors[type.rows]!;
    default:
      return undefined;
  }
}

/** How many parts `[…]` has; undefined for an unsized array. */
export function elementCount(type: Type): number | undefined {
  switch (type.kind) {
    case "array":
      return type.size;
    case "vector":
      return type.size;
    case "matrix":
      return type.columns;
    default:
      return undefined;
  }
}
