import type { Diagnostics } from "../diagnostics.ts";
import { coreType, scalarFacts, scalarOf, type Type, typeName, vectorSize } from "../types/index.ts";
import type { Range } from "./base.ts";
import type { Qualifiers } from "./qualifiers.ts";

/** What one variable takes of the locations: rows of four 32-bit components. */
interface Use extends Range {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly firstComponent: number;
  readonly endComponent: number;
  readonly index: number;
}

/** What one variable takes of a transform feedback buffer, in bytes. */
interface Capture extends Range {
  readonly name: string;
  readonly buffer: number;
  readonly from: number;
  readonly to: number;
}

/** Which locations, components and capture offsets are taken. Source: GLSL 4.60 sections 4.4.1 and 4.4.2. */
export class Locations {
  private readonly diagnostics: Diagnostics;
  private readonly narrow: boolean;
  private readonly used = { in: [] as Use[], out: [] as Use[] };
  private readonly captured: Capture[] = [];
  private readonly strides = new Map<number, number>();
  private defaultBuffer = 0;

  /** `narrow`: inputs are those of a vertex shader, where a vector takes one location whatever it holds. */
  constructor(diagnostics: Diagnostics, narrow: boolean) {
    this.diagnostics = diagnostics;
    this.narrow = narrow;
  }

  /** A variable, or a member of a block, with a location. */
  use(
    storage: "in" | "out",
    name: string,
    type: Type,
    at: { readonly location?: number; readonly component?: number; readonly index?: number },
    { position, end }: Range,
  ): void {
    const { location, component = 0, index = 0 } = at;
    if (location === undefined || type.kind === "error") return;
    const components = componentCount(type);
    const wide = isWide(type);
    if (at.component !== undefined && (components === 0 || component + components > 4 || (wide && component % 2 > 0))) {
      const values = { component, type: typeName(type) };
      this.diagnostics.error("GLSL_COMPONENT", values, position, end);
      return;
    }
    const one: Use = {
      name,
      from: location,
      to: location + (this.narrow && storage === "in" ? vertexInputCount(type) : locationCount(type)),
      firstComponent: component,
      // what has no components takes the whole rows
      endComponent: components === 0 ? 4 : component + components,
      index,
      position,
      end,
    };
    const list = this.used[storage];
    const shared = list.filter((each) => each.index === index && each.from < one.to && one.from < each.to);
    list.push(one);
    const first = shared.find(
      (each) => each.firstComponent < one.endComponent && one.firstComponent < each.endComponent,
    );
    if (first !== undefined) {
      const taken = Math.max(one.from, first.from);
      const notes = [{ message: `'${first.name}' is there`, position: first.position, end: first.end }];
      this.diagnostics.error("GLSL_LOCATION_OVERLAP", { location: taken, name: first.name }, position, end, notes);
    }
  }

  /** `xfb_buffer`, `xfb_stride` and `xfb_offset` of a declaration; without a type, the defaults of what follows. */
  capture(q: Qualifiers, name: string, type: Type | undefined, { position, end }: Range): void {
    const given = q.layout.get("xfb_buffer");
    const buffer = given?.value ?? this.defaultBuffer;
    if (type === undefined && given?.value !== undefined) this.defaultBuffer = given.value;
    const stride = q.layout.get("xfb_stride");
    if (stride?.value !== undefined) {
      const known = this.strides.get(buffer);
      if (known !== undefined && known !== stride.value) {
        const values = { buffer, first: known, second: stride.value };
        this.diagnostics.error("GLSL_XFB_STRIDE", values, stride.position, stride.end);
      } else this.strides.set(buffer, stride.value);
    }
    const offset = q.layout.get("xfb_offset");
    if (offset?.value === undefined || type === undefined || type.kind === "error") return;
    const align = isWide(type) ? 8 : 4;
    if (offset.value % align !== 0) {
      this.diagnostics.error("GLSL_OFFSET_ALIGN", { offset: offset.value, align }, offset.position, offset.end);
      return;
    }
    const one = { name, buffer, from: offset.value, to: offset.value + captureBytes(type), position, end };
    const first = this.captured.find((each) => each.buffer === buffer && each.from < one.to && one.from < each.to);
    if (first !== undefined) {
      const notes = [{ message: `'${first.name}' is there`, position: first.position, end: first.end }];
      const values = { offset: Math.max(one.from, first.from), buffer, name: first.name };
      this.diagnostics.error("GLSL_XFB_OVERLAP", values, offset.position, offset.end, notes);
    }
    this.captured.push(one);
  }
}

function vertexInputCount(type: Type): number {
  if (type.kind === "array") return (type.size ?? 1) * vertexInputCount(type.element);
  return type.kind === "matrix" ? type.columns : type.kind === "vector" ? 1 : locationCount(type);
}

function isWide(type: Type): boolean {
  const scalar = scalarOf(coreType(type));
  return scalar !== undefined && scalarFacts[scalar].bits === 64;
}

/** Components that a scalar or vector, or an element of an array of them, takes of a location; 0 for what has none. */
function componentCount(type: Type): number {
  return vectorSize(coreType(type)) * (isWide(type) ? 2 : 1);
}

/** Bytes of a value in a capture buffer: its components without padding. */
function captureBytes(type: Type): number {
  switch (type.kind) {
    case "array":
      return (type.size ?? 1) * captureBytes(type.element);
    case "struct":
      return type.members.reduce((sum, member) => sum + captureBytes(member.type), 0);
    case "matrix":
      return type.columns * type.rows * (isWide(type) ? 8 : 4);
    default:
      return vectorSize(type) * (isWide(type) ? 8 : 4);
  }
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
