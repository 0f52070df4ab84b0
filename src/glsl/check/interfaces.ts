import type { BuiltinVariable } from "../builtins/index.ts";
import type * as ast from "../syntax/index.ts";
import {
  containsBool,
  containsType,
  coreType,
  imageFormats,
  type Member,
  type OpaqueType,
  partTest,
  sameType,
  scalarOf,
  structType,
  type Type,
  typeName,
} from "../types/index.ts";
import type { CheckContext, Range } from "./base.ts";
import { Captures } from "./captures.ts";
import { Locations, locationCount } from "./locations.ts";
import { plainLayout, type Qualifiers } from "./qualifiers.ts";
import { SpecifierChecker } from "./specifiers.ts";
import type { Storage, Variable } from "./tree.ts";
import { newVariable } from "./variable.ts";

const samplerLayouts: readonly string[] = ["set", "binding"];
const subpassLayouts: readonly string[] = [...samplerLayouts, "input_attachment_index"];
const imageLayouts: readonly string[] = [...samplerLayouts, ...Object.keys(imageFormats)];

const captureLayouts: readonly string[] = ["xfb_buffer", "xfb_offset", "xfb_stride"];
const interfaceLayouts: readonly string[] = ["location", "component", "index"];
const capturedLayouts: readonly string[] = [...interfaceLayouts, ...captureLayouts];
const noLayouts: readonly string[] = [];

/** Elements that arrays among the built-in variables may have: gl_MaxClipDistances and its like. */
const arrayLimits: Readonly<Record<string, number>> = { gl_ClipDistance: 8, gl_CullDistance: 8 };

/** What a shader shares with the outside: built-in variables, what goes from stage to stage, samplers and images. */
export abstract class InterfaceChecker extends SpecifierChecker {
  protected globals: Variable[] = [];
  protected depthMode: string | undefined;
  protected readonly locations = new Locations();
  protected readonly captures = new Captures();
  private looseMembers: Member[] | undefined;
  private looseBlock: Variable | undefined;

  protected override begin(context: CheckContext): void {
    super.begin(context);
    this.globals = [];
    this.depthMode = undefined;
    this.locations.begin(context.diagnostics);
    this.captures.begin(context.diagnostics);
    this.looseMembers = undefined;
    this.looseBlock = undefined;
  }

  protected override declareGlobal(variable: Variable): void {
    this.globals.push(variable);
  }

  /** `out float gl_ClipDistance[4];`: sizes an array, adds qualifiers, keeps the type. */
  protected redeclareBuiltin(row: BuiltinVariable, q: Qualifiers, type: Type, place: Range): void {
    const depths = ["depth_any", "depth_greater", "depth_less", "depth_unchanged"];
    const known = row.name === "gl_FragDepth" ? depths : [];
    const conventions = row.name === "gl_FragCoord" ? ["origin_upper_left", "pixel_center_integer"] : [];
    const captured = row.storage === "out" ? this.captureLayouts("out") : [];
    this.allowLayout(q, [...known, ...conventions, ...captured], `'${row.name}'`);
    const sized = row.type.kind === "array" && type.kind === "array" && sameType(row.type.element, type.element);
    if (!sized && !sameType(row.type, type)) {
      const values = { name: row.name, type: typeName(row.type) };
      this.diagnostics.error("GLSL_BUILTIN_TYPE", values, place.position, place.end);
      return;
    }
    const depth = depths.find((name) => q.layout.has(name));
    if (depth !== undefined && this.depthMode !== undefined && depth !== this.depthMode) {
      const values = { first: this.depthMode, second: depth };
      this.diagnostics.error("GLSL_DEPTH_LAYOUT", values, place.position, place.end);
    }
    if (depth !== undefined) this.depthMode = depth;
    const previous = this.scopes.lookupGlobal(row.name);
    const settled = row.name === "gl_FragDepth" || row.name === "gl_FragCoord";
    if (settled && previous?.kind === "variable" && this.usedBuiltins.includes(previous)) {
      this.diagnostics.error("GLSL_LATE_REDECLARATION", { name: row.name }, place.position, place.end);
    }
    const limit = arrayLimits[row.name];
    if (limit !== undefined && type.kind === "array" && (type.size ?? 0) > limit) {
      this.diagnostics.error("GLSL_ARRAY_SIZE_RANGE", { size: type.size ?? 0 }, place.position, place.end);
    }
    const variable = previous?.kind === "variable" ? previous : this.declareBuiltin(row, type);
    if (type.kind === "array" && type.size !== undefined) variable.type = type;
    variable.invariant ||= q.invariant;
    variable.precise ||= q.precise;
    if (captured.length > 0) variable.capture ??= this.captures.variable(q, row.name, type, place);
  }

  /** A uniform outside blocks becomes a member of one block that holds them all. */
  protected looseUniform(name: string, type: Type, place: ast.Declarator): void {
    const { position, end } = place;
    if (this.looseMembers === undefined || this.looseBlock === undefined) {
      this.looseMembers = [];
      const struct = structType("LooseUniforms", this.looseMembers, true);
      const block = newVariable("LooseUniforms", struct, "uniform", place, true);
      block.layout = { packing: "std140", rowMajor: false };
      block.set = 0;
      this.looseBlock = block;
      this.declareGlobal(block);
    }
    const member = this.looseMembers.length;
    if (!this.declare(name, { kind: "member", block: this.looseBlock, member, position, end }, place)) return;
    const plain = { layout: plainLayout, memory: [], interpolation: [], invariant: false };
    this.looseMembers.push({ name, type, ...plain, position, end });
  }

  /**
   * Gives bindings and locations to what has none (relaxed dialect): bindings and vertex inputs in source order, what
   * goes from stage to stage by name, so that both sides agree whatever their order.
   */
  protected assignMissing(): void {
    const taken = new Set<string>();
    for (const { set, binding } of this.globals) if (binding !== undefined) taken.add(`${set} ${binding}`);
    let next = 0;
    for (const variable of this.globals) {
      if (variable.set === undefined || variable.binding !== undefined) continue;
      while (taken.has(`${variable.set} ${next}`)) next++;
      variable.binding = next++;
    }
    for (const storage of ["in", "out"] as const) {
      const own = this.globals.filter((each) => each.storage === storage && each.builtIn === undefined);
      const used = new Set<number>();
      for (const { location, type } of own) {
        for (let at = 0; location !== undefined && at < locationCount(type); at++) used.add(location + at);
      }
      const between = this.context.stage === (storage === "out" ? "vertex" : "fragment");
      const missing = own.filter(({ location, type }) => location === undefined && !hasLocations(type));
      if (between) missing.sort((a, b) => (a.name < b.name ? -1 : 1));
      for (const variable of missing) {
        const count = locationCount(variable.type);
        let at = 0;
        for (let free = 0; free < count; ) {
          if (used.has(at + free)) {
            at += free + 1;
            free = 0;
          } else free++;
        }
        variable.location = at;
        for (let each = 0; each < count; each++) used.add(at + each);
      }
    }
  }

  /** A sampler, image or subpass input of its own: set, binding, and what its kind needs besides. */
  protected opaqueStorage(q: Qualifiers, type: OpaqueType, place: ast.Declarator): Storage {
    const { name, position, end } = place;
    const subpass = type.family === "subpass";
    const allowed = type.family === "image" ? imageLayouts : subpass ? subpassLayouts : samplerLayouts;
    this.allowLayout(q, allowed, typeName(type));
    if (!q.layout.has("binding") && !this.context.relaxed) {
      this.diagnostics.error("GLSL_NO_BINDING", { name }, position, end);
    }
    if (subpass && !q.layout.has("input_attachment_index")) {
      this.diagnostics.error("GLSL_NO_ATTACHMENT_INDEX", { name }, position, end);
    }
    if (subpass && this.context.stage !== "fragment") {
      this.diagnostics.error("GLSL_WRONG_STAGE", { name: typeName(type), stage: "fragment" }, position, end);
    }
    if (type.family !== "image") return "uniform";
    const format = formatOf(q);
    if (format === undefined) {
      const loadable = this.context.extensions.has("GL_EXT_shader_image_load_formatted");
      if (!loadable && !q.memory.includes("writeonly")) this.diagnostics.error("GLSL_NO_FORMAT", {}, position, end);
    } else if (imageFormats[format]![1] !== type.scalar) {
      this.diagnostics.error("GLSL_IMAGE_FORMAT", { format, type: typeName(type) }, position, end);
    }
    return "uniform";
  }

  /** A binding is one resource or an array of them. */
  protected checkResourceArray(type: Type, { position, end }: Range): void {
    if (type.kind !== "array" || type.element.kind !== "array") return;
    const what = "an array of arrays of resources";
    this.diagnostics.error("GLSL_NOT_IN_VULKAN", { what }, position, end);
  }

  protected interfaceStorage(q: Qualifiers, storage: "in" | "out", type: Type, place: ast.Declarator): Storage {
    const { position, end, name } = place;
    const stage = this.context.stage;
    if (stage === "compute") {
      this.diagnostics.error("GLSL_COMPUTE_INTERFACE", { storage }, position, end);
      return storage;
    }
    const captured = storage === "out" && stage === "vertex";
    const what = storage === "in" ? "in variables" : "out variables";
    this.allowLayout(q, captured ? capturedLayouts : interfaceLayouts, what);
    if (!q.layout.has("location") && !this.context.relaxed) {
      this.diagnostics.error("GLSL_NO_LOCATION", { name }, position, end);
    }
    this.checkInterfaceType(storage, type, q.interpolation, place);
    this.checkInterpolation(storage, q);
    // OpenGL lets vertex inputs share a location
    if (this.context.relaxed && stage === "vertex" && storage === "in") return storage;
    const location = q.layout.get("location")?.value;
    const component = q.layout.get("component")?.value;
    this.locations.use(storage, name, type, location, component, q.layout.get("index")?.value ?? 0, place);
    return storage;
  }

  /** Layout identifiers of what transform feedback may capture: outputs of the last stage before rasterisation. */
  protected captureLayouts(storage: "in" | "out"): readonly string[] {
    return storage === "out" && this.context.stage === "vertex" ? captureLayouts : noLayouts;
  }

  /** Qualifiers of interpolation stand between the stages only. */
  protected checkInterpolation(storage: "in" | "out", q: Qualifiers): void {
    const { stage } = this.context;
    const [name] = q.interpolation;
    if (q.interpolation.includes("patch")) {
      const what = `a ${stage} shader's ${storage}put`;
      this.diagnostics.error("GLSL_QUALIFIER_MISPLACED", { name: "patch", what }, q.position, q.end);
      return;
    }
    if (name === undefined || stage !== (storage === "in" ? "vertex" : "fragment")) return;
    const what = storage === "in" ? "a vertex input" : "a fragment output";
    this.diagnostics.error("GLSL_QUALIFIER_MISPLACED", { name, what }, q.position, q.end);
  }

  /** What may cross from stage to stage, into the first and out of the last. Source: GLSL 4.60 sections 4.3.4, 4.3.6. */
  protected checkInterfaceType(
    storage: "in" | "out",
    type: Type,
    interpolation: readonly string[],
    { position, end }: Range,
  ): void {
    const { stage } = this.context;
    if (stage === "fragment" && storage === "in" && containsInteger(type) && !interpolation.includes("flat")) {
      this.diagnostics.error("GLSL_NEEDS_FLAT", { type: typeName(type) }, position, end);
    }
    const core = coreType(type);
    const edge = stage === "vertex" ? storage === "in" : storage === "out";
    const wrong =
      containsBool(type) ||
      (edge && core.kind === "struct") ||
      (edge && stage === "fragment" && (core.kind === "matrix" || scalarOf(core) === "double"));
    if (wrong) this.diagnostics.error("GLSL_INTERFACE_TYPE", { storage, type: typeName(type) }, position, end);
  }
}

/** Whether the members of a block have their locations. */
function hasLocations(type: Type): boolean {
  const core = coreType(type);
  return core.kind === "struct" && core.block && core.members.some((member) => member.layout.location !== undefined);
}

/** The image format among the layout identifiers. */
export function formatOf(q: Qualifiers): string | undefined {
  for (let at = 0; at < q.layout.size; at++) {
    const { name } = q.layout.at(at)!;
    if (Object.hasOwn(imageFormats, name)) return name;
  }
  return undefined;
}

const integerParts = partTest((part) => {
  const scalar = scalarOf(part);
  return scalar !== undefined && scalar !== "float" && scalar !== "float16" && scalar !== "bool";
});

/** Whether a fragment input of the type cannot be interpolated. */
export function containsInteger(type: Type): boolean {
  return containsType(type, integerParts);
}
