import type { StructLayout } from "./layout.ts";
import type { OpaqueType } from "./opaque.ts";
import type { Member, NumberVectors, ReferenceType, ScalarKind, StructFacts, StructType, Type } from "./types.ts";

/** What any type may have. */
interface Shape {
  readonly kind: Type["kind"];
  scalar: ScalarKind | undefined;
  size: number | undefined;
  columns: number;
  rows: number;
  kindNumber: number;
  vectors: NumberVectors | undefined;
  element: Type | undefined;
  specSize: unknown;
  name: string;
  members: readonly Member[] | undefined;
  block: boolean | StructType | undefined;
  facts: StructFacts | undefined;
  layouts: (StructLayout | undefined)[] | undefined;
  family: OpaqueType["family"] | undefined;
  dim: OpaqueType["dim"] | undefined;
  arrayed: boolean;
  multisampled: boolean;
  shadow: boolean;
  format: string;
  packing: ReferenceType["packing"] | undefined;
  rowMajor: boolean;
  alignBytes: number;
  module: number;
  id: number;
}

/** What an emitter remembers with a type: its id in the module of that number. */
interface TypeMark {
  module: number;
  id: number;
  /** As numbers have it; -1 for other types. */
  readonly kindNumber: number;
}

/** The mark of a type, which every type has: a field is found faster than an entry of a map of types. */
export function markOf(type: Type): TypeMark {
  return type as unknown as TypeMark;
}

/**
 * A type of which only the kind is set. All types are made of it, with the same fields in the same order: the engine
 * finds a field of any type at one place then, where a mix of shapes would make each access a search.
 */
export function blankType(kind: Type["kind"]): Shape {
  return {
    kind,
    scalar: undefined,
    size: undefined,
    columns: 0,
    rows: 0,
    kindNumber: -1,
    vectors: undefined,
    element: undefined,
    specSize: undefined,
    name: "",
    members: undefined,
    block: undefined,
    facts: undefined,
    layouts: undefined,
    family: undefined,
    dim: undefined,
    arrayed: false,
    multisampled: false,
    shadow: false,
    format: "",
    packing: undefined,
    rowMajor: false,
    alignBytes: 0,
    module: 0,
    id: 0,
  };
}
