import type { Diagnostics } from "../diagnostics.ts";
import { coreType, scalarBits, scalarOf, type Type, typeName, vectorSize } from "../types/index.ts";
import type { Range } from "./base.ts";

/** What one variable takes of the locations: rows of four 32-bit components. */
interface Use extends Range {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly firstComponent: number;
  readonly endComponent: number;
  readonly index: number;
  readonly isInput: boolean;
}

/**
 * Which locations and components are taken. Source: GLSL 4.60 sections 4.4.1 and 4.4.2; but for the inputs of a vertex
 * shader it is Vulkan's "Location Assignment" that counts, by which a dvec3 or dvec4 takes two there too.
 */
export class Locations {
  private diagnostics!: Diagnostics;
  private readonly used: Use[] = [];

  /** Nothing is taken yet. */
  begin(diagnostics: Diagnostics): void {
    this.diagnostics = diagnostics;
    while (this.used.length > 0) this.used.pop();
  }

  /** A variable, or a member of a block, with a location. */
  use(
    storage: "in" | "out",
    name: string,
    type: Type,
    location: number | undefined,
    component: number | undefined,
    index: number,
    { position, end }: Range,
  ): void {
    if (location === undefined || type.kind === "error") return;
    const components = componentCount(type);
    const wide = isWide(type);
    if (component !== undefined && (components === 0 || component + components > 4 || (wide && component % 2 > 0))) {
      const values = { component, type: typeName(type) };
      this.diagnostics.error("GLSL_COMPONENT", values, position, end);
      return;
    }
    const firstComponent = component ?? 0;
    const isInput = storage === "in";
    const one: Use = {
      name,
      from: location,
      to: location + locationCount(type),
      firstComponent,
      // what has no components takes the whole rows
      endComponent: components === 0 ? 4 : firstComponent + components,
      index,
      isInput,
      position,
      end,
    };
    const first = this.used.find((each) => overlap(each, one));
    this.used.push(one);
    if (first !== undefined) {
      const taken = Math.max(one.from, first.from);
      const notes = [{ message: `'${first.name}' is there`, position: first.position, end: first.end }];
      this.diagnostics.error("GLSL_LOCATION_OVERLAP", { location: taken, name: first.name }, position, end, notes);
    }
  }
}

function overlap(a: Use, b: Use): boolean {
  if (a.isInput !== b.isInput || a.index !== b.index || a.from >= b.to || b.from >= a.to) return false;
  return a.firstComponent < b.endComponent && b.firstComponent < a.endComponent;
}

function isWide(type: Type): boolean {
  const scalar = scalarOf(coreType(type));
  return scalar !== undefined && scalarBits(scalar) === 64;
}

/** Components that a scalar or vector, or an element of an array of them, takes of a location; 0 for what has none. */
function componentCount(type: Type): number {
  return vectorSize(coreType(type)) * (isWide(type) ? 2 : 1);
}

/** Locations that a value of the type takes. Source: GLSL 4.60 section 4.4.1. */
export function locationCount(type: Type): number {
  switch (type.kind) {
    case "array":
      return (type.size ?? 1) * locationCount(type.element);
    case "matrix":
      return type.columns * (type.scalar === "double" && type.rows > 2 ? 2 : 1);
    case "vector":
      return type.scalar === "double" && type.size > 2 ? 2 : 1;
    case "struct":
      return type.members.reduce((sum, member) => sum + locationCount(member.type), 0);
    default:
      return 1;
  }
}
