import type * as ast from "../syntax/index.ts";
import { imageFormats, type MemberLayout, type MemoryQualifier, type Packing } from "../types/index.ts";
import type { CheckContext, Range } from "./base.ts";
import { ExpressionChecker } from "./expressions.ts";

/** What a declaration's qualifiers say, taken together. */
export interface Qualifiers extends Range {
  readonly storage: "const" | "in" | "out" | "inout" | "uniform" | "buffer" | "shared" | undefined;
  readonly precise: boolean;
  readonly invariant: boolean;
  readonly precision: string | undefined;
  readonly nonUniform: boolean;
  readonly interpolation: readonly string[];
  readonly memory: readonly MemoryQualifier[];
  readonly layout: LayoutIds;
}

/** A layout identifier with its value, where it has one. */
export interface LayoutValue extends Range {
  readonly name: string;
  readonly value: number | undefined;
}

/**
 * The layout identifiers of one declaration, each once, in the order of their first places. There are as many as the
 * language has at most, and mostly two: to compare them all is less work than to keep a map.
 */
export class LayoutIds {
  private readonly values: LayoutValue[];
  size = 0;

  /** `room`: how many there will be, or nearly. */
  constructor(room: number) {
    this.values = new Array<LayoutValue>(room);
  }

  get(name: string): LayoutValue | undefined {
    const { values, size } = this;
    for (let at = 0; at < size; at++) if (values[at]!.name === name) return values[at];
    return undefined;
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** The value at a place in their order. */
  at(index: number): LayoutValue | undefined {
    return index < this.size ? this.values[index] : undefined;
  }

  /** The last value of an identifier counts. */
  set(value: LayoutValue): void {
    const { values, size } = this;
    let at = 0;
    while (at < size && values[at]!.name !== value.name) at++;
    values[at] = value;
    if (at === size) this.size++;
  }
}

const storages: ReadonlySet<string> = new Set(["const", "in", "out", "inout", "uniform", "buffer", "shared"]);
const interpolations: ReadonlySet<string> = new Set(["flat", "smooth", "noperspective", "centroid", "sample", "patch"]);
/** Of these a variable has one at most, and one at most of the others. */
const auxiliaries: ReadonlySet<string> = new Set(["centroid", "sample", "patch"]);
const scopedMemories: ReadonlySet<string> = new Set([
  "nonprivate",
  "devicecoherent",
  "queuefamilycoherent",
  "workgroupcoherent",
  "subgroupcoherent",
]);
const memories: ReadonlySet<string> = new Set([
  ...["coherent", "volatile", "restrict", "readonly", "writeonly"],
  ...scopedMemories,
]);

/** Layout identifiers: whether they take a value. Source: GLSL 4.60 section 4.4, GL_KHR_vulkan_glsl. */
const layoutRows: Readonly<Record<string, "value" | "flag">> = {
  std140: "flag",
  std430: "flag",
  scalar: "flag",
  row_major: "flag",
  column_major: "flag",
  push_constant: "flag",
  early_fragment_tests: "flag",
  origin_upper_left: "flag",
  pixel_center_integer: "flag",
  depth_any: "flag",
  depth_greater: "flag",
  depth_less: "flag",
  depth_unchanged: "flag",
  post_depth_coverage: "flag",
  xfb_stride: "value",
  xfb_buffer: "value",
  xfb_offset: "value",
  stream: "value",
  set: "value",
  binding: "value",
  location: "value",
  component: "value",
  index: "value",
  offset: "value",
  align: "value",
  constant_id: "value",
  input_attachment_index: "value",
  buffer_reference: "flag",
  buffer_reference_align: "value",
  local_size_x: "value",
  local_size_y: "value",
  local_size_z: "value",
  local_size_x_id: "value",
  local_size_y_id: "value",
  local_size_z_id: "value",
};

/** Highest values that the reference compiler takes. */
const layoutLimits: Readonly<Record<string, number>> = {
  set: 62,
  binding: 65534,
  location: 4094,
  component: 3,
  index: 1,
  xfb_buffer: 3,
  // 4 bytes for each of gl_MaxTransformFeedbackInterleavedComponents
  xfb_stride: 256,
};

interface LayoutKind {
  /** Lower case, and one object for all that name it. */
  readonly name: string;
  readonly takesValue: boolean;
  readonly limit: number;
  /** The value is a power of two. */
  readonly isAlign: boolean;
  /** It belongs to buffer references. */
  readonly isReference: boolean;
}

/** Every layout identifier, the formats of images with them. */
const layoutKinds = new Map<string, LayoutKind>();
for (const name of [...Object.keys(imageFormats), ...Object.keys(layoutRows)]) {
  const takesValue = layoutRows[name] === "value";
  const isAlign = name.endsWith("align");
  const limit = layoutLimits[name] ?? Number.POSITIVE_INFINITY;
  layoutKinds.set(name, { name, takesValue, limit, isAlign, isReference: name.startsWith("buffer_reference") });
}

/** What most members say. */
export const plainLayout: MemberLayout = {
  offset: undefined,
  align: undefined,
  rowMajor: undefined,
  location: undefined,
  component: undefined,
  xfbOffset: undefined,
  xfbBuffer: undefined,
  xfbStride: undefined,
};
export const noLayout = new LayoutIds(0);
const none: readonly never[] = [];

/** What no qualifiers say. */
function plainQualifiers({ position, end }: Range): Qualifiers {
  return {
    storage: undefined,
    precise: false,
    invariant: false,
    precision: undefined,
    nonUniform: false,
    interpolation: none,
    memory: none,
    layout: noLayout,
    position,
    end,
  };
}

/** Reads qualifier lists: duplicates, contradictions, layout values. */
export abstract class QualifierChecker extends ExpressionChecker {
  /** Some declaration is `precise`. */
  protected usesPrecise = false;

  protected override begin(context: CheckContext): void {
    super.begin(context);
    this.usesPrecise = false;
    this.desktopDefaults = none;
    this.warnedOfDefaults = false;
  }

  protected qualifiersOf(list: readonly ast.Qualifier[], place: Range): Qualifiers {
    if (list.length === 0) return plainQualifiers(place);
    let storage: Qualifiers["storage"];
    let precise = false;
    let invariant = false;
    let nonUniform = false;
    let precision: string | undefined;
    let interpolation: readonly string[] = none;
    let memory: readonly MemoryQualifier[] = none;
    let layout = noLayout;
    // few: there are no more than names of qualifiers
    let seen: string[] | undefined;
    for (const qualifier of list) {
      const { position, end } = qualifier;
      const name = this.modernName(qualifier);
      if (qualifier.layout !== undefined) {
        for (const id of qualifier.layout) {
          const value = this.layoutId(id);
          if (value === undefined) continue;
          if (layout === noLayout) layout = new LayoutIds(qualifier.layout.length);
          layout.set(value);
        }
        continue;
      }
      if (seen?.includes(name) === true) {
        this.diagnostics.error("GLSL_DUPLICATE_QUALIFIER", { name }, position, end);
        continue;
      }
      if (list.length > 1) {
        seen ??= [];
        seen.push(name);
      }
      if (storages.has(name)) {
        // `const in` is a parameter that is not written
        const both = storage === "const" && name === "in";
        if (storage !== undefined && !both) {
          this.diagnostics.error("GLSL_STORAGE_CONFLICT", { first: storage, second: name }, position, end);
        }
        if (!both) storage = name as Qualifiers["storage"];
      } else if (interpolations.has(name)) {
        const kind = auxiliaries.has(name);
        const first = interpolation.find((each) => auxiliaries.has(each) === kind);
        if (first !== undefined) {
          this.diagnostics.error("GLSL_STORAGE_CONFLICT", { first, second: name }, position, end);
        }
        interpolation = [...interpolation, name];
      } else if (memories.has(name)) {
        memory = [...memory, name as MemoryQualifier];
        if (scopedMemories.has(name)) {
          this.needExtension(`the qualifier '${name}'`, "GL_KHR_memory_scope_semantics", qualifier);
        }
      } else if (name === "precise") {
        precise = true;
        this.usesPrecise = true;
      } else if (name === "invariant") invariant = true;
      else if (name === "nonuniformEXT") {
        nonUniform = true;
        this.needExtension("the qualifier 'nonuniformEXT'", "GL_EXT_nonuniform_qualifier", qualifier);
      } else if (name === "highp" || name === "mediump" || name === "lowp") {
        if (precision !== undefined) this.diagnostics.error("GLSL_DUPLICATE_QUALIFIER", { name }, position, end);
        precision = name;
        this.warnOfDefaults(qualifier);
      } else if (name === "attribute" || name === "varying") {
        const instead = name === "varying" && this.context.stage === "vertex" ? "out" : "in";
        this.diagnostics.error("GLSL_NEEDS_RELAXED", { name, instead }, position, end);
      } else this.diagnostics.error("GLSL_UNSUPPORTED", { what: `the qualifier '${name}'` }, position, end);
    }
    const { position, end } = list.length > 0 ? { position: list[0]!.position, end: list.at(-1)!.end } : place;
    return { storage, precise, invariant, precision, nonUniform, interpolation, memory, layout, position, end };
  }

  protected needExtension(what: string, extension: string, { position, end }: Range): void {
    if (this.context.extensions.has(extension)) this.noteExtension(what, [extension], { position, end });
    else this.diagnostics.error("GLSL_NEEDS_EXTENSION", { what, extension }, position, end);
  }

  /** `attribute` and `varying` are `in` and `out` in the relaxed dialect, and, with a warning, before version 4.20. */
  private modernName({ name, position, end }: ast.Qualifier): string {
    if (name !== "attribute" && name !== "varying") return name;
    const { relaxed, version, stage } = this.context;
    if (!relaxed && (version.es || version.number >= 420)) return name;
    const instead = name === "varying" && stage === "vertex" ? "out" : "in";
    if (!relaxed) this.diagnostics.warn("GLSL_DEPRECATED", { name, instead }, position, end);
    return instead;
  }

  /** Defaults that a `precision` statement gave in a shader of desktop OpenGL. */
  protected desktopDefaults: readonly string[] = none;
  private warnedOfDefaults = false;

  /** A fragment shader for the desktop that speaks of precisions gets told once what holds without. */
  private warnOfDefaults({ position, end }: Range): void {
    const { relaxed, version, stage } = this.context;
    if (this.warnedOfDefaults || relaxed || version.es || stage !== "fragment") return;
    if (this.desktopDefaults.includes("int") && this.desktopDefaults.includes("float")) return;
    this.warnedOfDefaults = true;
    this.diagnostics.warn("GLSL_DEFAULT_PRECISION", {}, position, end);
  }

  /** The identifier with its value; undefined where it has none that it may have, which is reported. */
  private layoutId(id: ast.LayoutId): LayoutValue | undefined {
    const { position, end } = id;
    // identifiers of layouts don't depend on case before 4.60, and nobody minds later
    const kind = layoutKinds.get(id.name) ?? layoutKinds.get(id.name.toLowerCase());
    if (kind === undefined) {
      if (this.diagnostics.isOfRefused(id.name)) return undefined;
      this.diagnostics.error("GLSL_UNKNOWN_LAYOUT", { name: id.name }, position, end);
      return undefined;
    }
    const { name } = kind;
    if (name === "scalar") this.needExtension("layout(scalar)", "GL_EXT_scalar_block_layout", id);
    if (kind.isReference) this.needExtension(`layout(${id.name})`, "GL_EXT_buffer_reference", id);
    let value: number | undefined;
    if (kind.takesValue) {
      if (id.value === undefined) {
        this.diagnostics.error("GLSL_LAYOUT_VALUE", { name: id.name }, position, end);
        return undefined;
      }
      value = this.constantInteger(id.value);
      if (value === undefined) return undefined;
      if (value < 0 || value > kind.limit || (kind.isAlign && (value === 0 || (value & (value - 1)) !== 0))) {
        this.diagnostics.error("GLSL_LAYOUT_RANGE", { name: id.name, value }, position, end);
        return undefined;
      }
    } else if (id.value !== undefined) {
      this.diagnostics.error("GLSL_LAYOUT_NO_VALUE", { name: id.name }, position, end);
    }
    return { name, value, position, end };
  }

  /** Value of an integer constant expression; anything else is reported. */
  protected constantInteger(expr: ast.Expr): number | undefined {
    const value = this.value(expr);
    if (value.type.kind === "error") return undefined;
    const integer = value.type.kind === "scalar" && (value.type.scalar === "int" || value.type.scalar === "uint");
    if (integer && value.kind === "constant") return Number(value.values[0]);
    this.diagnostics.error("GLSL_NOT_CONSTANT_INTEGER", {}, expr.position, expr.end);
    return undefined;
  }

  protected memberLayout(q: Qualifiers): MemberLayout {
    const layout = q.layout;
    if (layout.size === 0) return plainLayout;
    return {
      offset: layout.get("offset")?.value,
      align: layout.get("align")?.value,
      rowMajor: layout.has("row_major") ? true : layout.has("column_major") ? false : undefined,
      location: layout.get("location")?.value,
      component: layout.get("component")?.value,
      xfbOffset: layout.get("xfb_offset")?.value,
      xfbBuffer: layout.get("xfb_buffer")?.value,
      xfbStride: layout.get("xfb_stride")?.value,
    };
  }

  /** Reports every layout identifier that is not in `allowed`. */
  protected allowLayout(q: Qualifiers, allowed: readonly string[], what: string): void {
    if (q.layout.size === 0) return;
    for (let at = 0; at < q.layout.size; at++) {
      const { name, position, end } = q.layout.at(at)!;
      if (!allowed.includes(name)) this.diagnostics.error("GLSL_LAYOUT_MISPLACED", { name, what }, position, end);
    }
  }
}

export function packingOf(layout: LayoutIds): Packing | undefined {
  if (layout.has("std140")) return "std140";
  if (layout.has("std430")) return "std430";
  return layout.has("scalar") ? "scalar" : undefined;
}
