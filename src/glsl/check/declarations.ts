import type { BuiltinVariable } from "../builtins/index.ts";
import type * as ast from "../syntax/index.ts";
import {
  alignBytes,
  arrayType,
  containsBool,
  containsOpaque,
  containsType,
  containsUnsized,
  coreType,
  errorType,
  imageFormats,
  type Member,
  type OpaqueType,
  type Packing,
  type StructType,
  sameType,
  scalarOf,
  sizeBytes,
  type Type,
  typeName,
  vectorType,
  withFormat,
} from "../types/index.ts";
import type { Range } from "./base.ts";
import { fitsUnsized } from "./constructors.ts";
import { optional, packingOf, type Qualifiers } from "./qualifiers.ts";
import { SpecifierChecker } from "./specifiers.ts";
import type { BlockLayout, DeclareStmt, Expr, LocalSize, Storage, Variable } from "./tree.ts";

/** Reference limits of a workgroup. */
const workGroupLimits = [1024, 1024, 64] as const;
const dimensions = ["x", "y", "z"] as const;

/** Variables, blocks, and what `layout(…) in;` says. */
export abstract class DeclarationChecker extends SpecifierChecker {
  protected readonly globals: Variable[] = [];
  protected readonly localSize: LocalSize[] = dimensions.map(() => ({ size: 1, specId: undefined }));
  private localSizePlace: Range | undefined;
  protected workGroupSize: Variable | undefined;
  protected earlyFragmentTests = false;
  protected postDepthCoverage = false;
  protected depthMode: string | undefined;
  private pushConstant: Variable | undefined;
  /** Local arrays declared `[]`. */
  protected readonly unsized: Variable[] = [];
  /** Defaults that `layout(std430, row_major) buffer;` sets. */
  private readonly blockDefaults: { [S in "uniform" | "buffer"]: { packing: Packing; rowMajor: boolean } } = {
    uniform: { packing: "std140", rowMajor: false },
    buffer: { packing: "std430", rowMajor: false },
  };

  protected override declareGlobal(variable: Variable): void {
    this.globals.push(variable);
  }

  protected override workGroupSizeVariable(place: ast.NameExpr): Variable {
    if (this.workGroupSize !== undefined) return this.workGroupSize;
    if (this.localSizePlace === undefined) {
      this.diagnostics.error("GLSL_NO_LOCAL_SIZE", {}, place.position, place.end);
    }
    const specialised = this.localSize.some(({ specId }) => specId !== undefined);
    const base = {
      kind: "variable",
      name: "gl_WorkGroupSize",
      type: vectorType("uint", 3),
      position: -1,
      end: -1,
      constant: true,
      precise: false,
      invariant: false,
      highestIndex: -1,
      builtIn: "WorkgroupSize",
    } as const;
    const value = this.localSize.map(({ size }) => size);
    this.workGroupSize = specialised
      ? { ...base, storage: "specialization", constness: 2 }
      : { ...base, storage: "constant", constness: 1, value };
    this.scopes.setGlobal("gl_WorkGroupSize", this.workGroupSize);
    return this.workGroupSize;
  }

  /** `layout(…) in;`, `layout(std140) uniform;`, `precise x;`. */
  protected qualifierDecl(decl: ast.QualifierDecl): void {
    const q = this.qualifiersOf(decl.qualifiers, decl);
    for (const name of decl.names) {
      const symbol = this.scopes.lookup(name.name);
      if (symbol?.kind === "variable") {
        symbol.precise ||= q.precise;
        symbol.invariant ||= q.invariant;
      } else {
        const named = this.place(name);
        if (named.kind !== "variable") continue;
        named.variable.precise ||= q.precise;
        named.variable.invariant ||= q.invariant;
      }
    }
    if (decl.names.length > 0) return;
    if (q.storage === "in" && this.context.stage === "compute") this.localSizes(q, decl);
    else if (q.storage === "in" && this.context.stage === "fragment") {
      this.allowLayout(q, ["early_fragment_tests", "post_depth_coverage"], "in");
      this.earlyFragmentTests ||= q.layout.has("early_fragment_tests");
      if (q.layout.has("post_depth_coverage")) {
        this.earlyFragmentTests = true;
        this.postDepthCoverage = true;
      }
    } else if (q.storage === "out" && this.context.stage !== "compute") {
      this.allowLayout(q, ["xfb_stride", "xfb_buffer"], "out");
    } else if (q.storage === "uniform" || q.storage === "buffer") {
      this.allowLayout(q, ["std140", "std430", "scalar", "row_major", "column_major"], q.storage);
      const defaults = this.blockDefaults[q.storage];
      defaults.packing = packingOf(q.layout) ?? defaults.packing;
      if (q.layout.has("row_major")) defaults.rowMajor = true;
      if (q.layout.has("column_major")) defaults.rowMajor = false;
    } else if (decl.qualifiers.length > 0) {
      this.diagnostics.error("GLSL_EMPTY_DECLARATION", {}, decl.position, decl.end);
    }
  }

  private localSizes(q: Qualifiers, decl: Range): void {
    const names = dimensions.flatMap((d) => [`local_size_${d}`, `local_size_${d}_id`]);
    this.allowLayout(q, names, "in");
    const first = this.localSizePlace === undefined;
    for (const [at, dimension] of dimensions.entries()) {
      const size = q.layout.get(`local_size_${dimension}`);
      const id = q.layout.get(`local_size_${dimension}_id`);
      const before = this.localSize[at]!;
      if (size?.value !== undefined) {
        if (size.value === 0) {
          this.diagnostics.error(
            "GLSL_LAYOUT_RANGE",
            { name: `local_size_${dimension}`, value: 0 },
            size.position,
            size.end,
          );
          continue;
        }
        if (size.value > workGroupLimits[at]!) {
          const values = { size: size.value, dimension, limit: workGroupLimits[at]! };
          this.diagnostics.error("GLSL_LOCAL_SIZE_LIMIT", values, size.position, size.end);
          continue;
        }
        if (!first && before.size !== size.value && before.size !== 1) {
          const values = { dimension, first: before.size, second: size.value };
          const notes =
            this.localSizePlace === undefined ? [] : [{ message: "first given here", ...rangeOf(this.localSizePlace) }];
          this.diagnostics.error("GLSL_LOCAL_SIZE_CHANGED", values, size.position, size.end, notes);
          continue;
        }
      }
      this.localSize[at] = { size: size?.value ?? before.size, specId: id?.value ?? before.specId };
    }
    this.localSizePlace ??= decl;
  }

  /** Variables of one declaration; at global scope they are remembered, elsewhere they become statements. */
  protected variables(decl: ast.VariableDecl): DeclareStmt[] {
    const q = this.qualifiersOf(decl.qualifiers, decl);
    const base = this.resolveType(decl.type);
    this.checkPrecision(base, q.precision, decl.type);
    const statements: DeclareStmt[] = [];
    if (decl.declarators.length === 0) {
      this.allowLayout(q, [], "a type alone");
      return statements;
    }
    if (base.kind === "void") {
      this.diagnostics.error("GLSL_VOID_VARIABLE", {}, decl.type.position, decl.type.end);
    }
    for (const declarator of decl.declarators) {
      const type = base.kind === "void" ? errorType : this.withDimensions(base, declarator.dimensions);
      const variable = this.variable(q, type, declarator);
      if (variable !== undefined) {
        const { initializer } = variable;
        statements.push({ kind: "declare", variable, initializer, position: declarator.position });
      }
    }
    return statements;
  }

  private variable(q: Qualifiers, declared: Type, declarator: ast.Declarator): Variable | undefined {
    const { name, position, end } = declarator;
    const builtin = this.scopes.isGlobal && name.startsWith("gl_") ? this.builtinRow(name) : undefined;
    if (builtin !== undefined && q.storage === builtin.storage) {
      this.redeclareBuiltin(builtin, q, declared, declarator);
      return undefined;
    }
    this.checkName(name, declarator);
    const init = declarator.initializer;
    let initializer = init === undefined ? undefined : this.initializerOf(init, declared);
    let type = declared;
    if (type.kind === "array" && initializer !== undefined && fitsUnsized(type, initializer.type))
      type = initializer.type;
    if (initializer?.kind === "error") initializer = undefined;
    const global = this.scopes.isGlobal;
    const storage = this.storageOf(q, type, declarator, global);
    const opaque = storage === "uniform" && coreType(type).kind === "opaque";
    if (opaque) type = formattedType(type, formatOf(q));
    const failed = init !== undefined && initializer === undefined;
    const zeroed = storage === "shared" && init?.kind === "list" && init.items.length === 0;
    if (
      init !== undefined &&
      !zeroed &&
      storage !== "local" &&
      storage !== "global" &&
      storage !== "constant" &&
      storage !== "specialization" &&
      !(storage === "uniform" && this.context.relaxed)
    ) {
      this.diagnostics.error("GLSL_NO_INITIALIZER", { storage: q.storage ?? storage }, init.position, init.end);
    }
    const { version } = this.context;
    if (version.es && type.kind === "array" && type.size === undefined && !failed) {
      this.diagnostics.error("GLSL_UNSIZED_VARIABLE", {}, position, end);
    }
    if (version.es && !this.context.relaxed && global && q.storage === undefined && initializer?.constness === 0) {
      this.diagnostics.error("GLSL_NOT_CONSTANT", { name }, initializer.position, initializer.end);
    }
    if (q.storage === "const") this.checkConstant(initializer, failed, declarator, global);
    const layout = q.layout;
    let constness: Variable["constness"] = 0;
    let value: readonly number[] | undefined;
    if (storage === "constant") {
      constness = initializer?.constness ?? (failed ? 1 : 0);
      if (initializer?.kind === "constant") value = initializer.values;
      else if (failed) type = errorType;
    } else if (storage === "specialization") {
      constness = 2;
    }
    // a constant whose value is left to the machine is a variable that nobody may write
    const runtime = storage === "constant" && value === undefined && constness !== 2;
    const variable: Variable = {
      kind: "variable",
      name,
      type,
      storage: runtime ? (global ? "global" : "local") : storage,
      position,
      end,
      constant: q.storage === "const",
      constness,
      ...optional("value", value),
      ...optional("initializer", initializer),
      ...optional("specId", layout.get("constant_id")?.value),
      ...optional("location", layout.get("location")?.value),
      ...optional("component", layout.get("component")?.value),
      ...optional("index", layout.get("index")?.value),
      ...(opaque ? { set: layout.get("set")?.value ?? 0, ...optional("binding", layout.get("binding")?.value) } : {}),
      ...optional("inputAttachmentIndex", layout.get("input_attachment_index")?.value),
      ...(q.interpolation.length > 0 ? { interpolation: q.interpolation } : {}),
      ...(q.memory.length > 0 ? { memory: q.memory } : {}),
      precise: q.precise,
      invariant: q.invariant,
      highestIndex: -1,
    };
    if (storage === "uniform" && !opaque && this.context.relaxed && type.kind !== "error") {
      this.looseUniform(name, type, declarator);
      return undefined;
    }
    if (!this.declare(name, variable, declarator)) return undefined;
    if (global) this.declareGlobal(variable);
    else if (type.kind === "array" && type.size === undefined) this.unsized.push(variable);
    return variable;
  }

  /** `out float gl_ClipDistance[4];`: sizes an array, adds qualifiers, keeps the type. */
  private redeclareBuiltin(row: BuiltinVariable, q: Qualifiers, type: Type, place: Range): void {
    const depths = ["depth_any", "depth_greater", "depth_less", "depth_unchanged"];
    const known = row.name === "gl_FragDepth" ? depths : [];
    const conventions = row.name === "gl_FragCoord" ? ["origin_upper_left", "pixel_center_integer"] : [];
    this.allowLayout(q, [...known, ...conventions], `'${row.name}'`);
    const sized = row.type.kind === "array" && type.kind === "array" && sameType(row.type.element, type.element);
    if (!sized && !sameType(row.type, type)) {
      const values = { name: row.name, type: typeName(row.type) };
      this.diagnostics.error("GLSL_BUILTIN_TYPE", values, place.position, place.end);
      return;
    }
    const depth = depths.find((name) => q.layout.has(name));
    if (depth !== undefined) this.depthMode = depth;
    const previous = this.scopes.lookupGlobal(row.name);
    const variable = previous?.kind === "variable" ? previous : this.declareBuiltin(row, type);
    if (type.kind === "array" && type.size !== undefined) variable.type = type;
    variable.invariant ||= q.invariant;
    variable.precise ||= q.precise;
  }

  /** `out gl_PerVertex { … };`: each member as if it were declared alone. */
  private perVertex(decl: ast.BlockDecl, q: Qualifiers, members: readonly Member[]): void {
    for (const member of members) {
      const row = this.builtinRow(member.name);
      if (row === undefined) {
        const values = { type: decl.name, name: member.name };
        this.diagnostics.error("GLSL_NO_MEMBER", values, member.position, member.end);
      } else {
        this.redeclareBuiltin(row, { ...q, layout: new Map(), invariant: member.invariant }, member.type, member);
      }
    }
  }

  private looseMembers: Member[] | undefined;
  private looseBlock: Variable | undefined;

  /** A uniform outside blocks becomes a member of one block that holds them all. */
  private looseUniform(name: string, type: Type, place: ast.Declarator): void {
    const { position, end } = place;
    if (this.looseMembers === undefined || this.looseBlock === undefined) {
      this.looseMembers = [];
      const struct: StructType = { kind: "struct", name: "LooseUniforms", members: this.looseMembers, block: true };
      this.looseBlock = {
        kind: "variable",
        name: "LooseUniforms",
        type: struct,
        storage: "uniform",
        position,
        end,
        constant: true,
        constness: 0,
        layout: { packing: "std140", rowMajor: false },
        set: 0,
        precise: false,
        invariant: false,
        highestIndex: -1,
      };
      this.declareGlobal(this.looseBlock);
    }
    const member = this.looseMembers.length;
    if (!this.declare(name, { kind: "member", block: this.looseBlock, member, position, end }, place)) return;
    const plain = { layout: {}, memory: [], interpolation: [], invariant: false };
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

  private checkConstant(init: Expr | undefined, failed: boolean, place: ast.Declarator, global: boolean): void {
    const { name, position, end } = place;
    if (init === undefined) {
      if (!failed) this.diagnostics.error("GLSL_CONST_UNINITIALIZED", { name }, position, end);
      return;
    }
    // before 4.20 and in ES a local `const` wants a constant expression as well
    const strict = global || this.context.version.es || this.context.version.number < 420;
    if (strict && init.constness === 0) {
      this.diagnostics.error("GLSL_NOT_CONSTANT", { name }, init.position, init.end);
    }
  }

  /** Where a variable lives, by its qualifiers; what cannot be is reported and treated as a plain variable. */
  private storageOf(q: Qualifiers, type: Type, place: ast.Declarator, global: boolean): Storage {
    const { name, position, end } = place;
    const plain: Storage = global ? "global" : "local";
    if (q.layout.has("constant_id")) {
      const scalar = type.kind === "scalar";
      if (!scalar || q.storage !== "const" || !global) {
        this.diagnostics.error("GLSL_CONSTANT_ID", {}, q.position, q.end);
        return plain;
      }
      return "specialization";
    }
    const misplaced = (): Storage => {
      const what = global ? "a global variable" : "a local variable";
      this.diagnostics.error("GLSL_QUALIFIER_MISPLACED", { name: q.storage ?? "", what }, q.position, q.end);
      return plain;
    };
    if (!global && q.storage !== undefined && q.storage !== "const") return misplaced();
    const core = coreType(type);
    const image = core.kind === "opaque" && core.family === "image";
    if (q.memory.length > 0 && q.storage !== "buffer" && !image) {
      const what = "a variable that is no buffer or image";
      this.diagnostics.error("GLSL_QUALIFIER_MISPLACED", { name: q.memory[0]!, what }, q.position, q.end);
    }
    if (q.storage !== "uniform" && containsOpaque(type)) {
      this.diagnostics.error("GLSL_OPAQUE_STORAGE", { type: typeName(type) }, position, end);
      return plain;
    }
    switch (q.storage) {
      case "const":
        this.allowLayout(q, [], "a constant");
        return "constant";
      case "shared":
        this.allowLayout(q, [], "a shared variable");
        if (this.context.stage !== "compute") {
          this.diagnostics.error("GLSL_WRONG_STAGE", { name: "shared", stage: "compute" }, q.position, q.end);
        }
        return "shared";
      case "uniform":
        if (core.kind === "opaque") return this.opaqueStorage(q, core, place);
        if (type.kind !== "error" && !this.context.relaxed)
          this.diagnostics.error("GLSL_LOOSE_UNIFORM", { name }, position, end);
        return "uniform";
      case "buffer":
        this.diagnostics.error("GLSL_LOOSE_BUFFER", { name }, position, end);
        return "buffer";
      case "in":
      case "out":
        return this.interfaceStorage(q, q.storage, type, place);
      case "inout":
        return misplaced();
      default:
        this.allowLayout(q, [], global ? "a global variable" : "a local variable");
        return plain;
    }
  }

  /** A sampler, image or subpass input of its own: set, binding, and what its kind needs besides. */
  private opaqueStorage(q: Qualifiers, type: OpaqueType, place: ast.Declarator): Storage {
    const { name, position, end } = place;
    const subpass = type.family === "subpass";
    const formats = type.family === "image" ? Object.keys(imageFormats) : [];
    this.allowLayout(q, ["set", "binding", ...(subpass ? ["input_attachment_index"] : []), ...formats], typeName(type));
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

  private interfaceStorage(q: Qualifiers, storage: "in" | "out", type: Type, place: ast.Declarator): Storage {
    const { position, end, name } = place;
    const stage = this.context.stage;
    if (stage === "compute") {
      this.diagnostics.error("GLSL_COMPUTE_INTERFACE", { storage }, position, end);
      return storage;
    }
    const captured = storage === "out" ? ["xfb_buffer", "xfb_offset", "xfb_stride"] : [];
    this.allowLayout(q, ["location", "component", "index", ...captured], `${storage} variables`);
    if (!q.layout.has("location") && !this.context.relaxed) {
      this.diagnostics.error("GLSL_NO_LOCATION", { name }, position, end);
    }
    this.checkInterfaceType(storage, type, q.interpolation, place);
    return storage;
  }

  /** What may cross from stage to stage, into the first and out of the last. Source: GLSL 4.60 sections 4.3.4, 4.3.6. */
  private checkInterfaceType(
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

  /** `out Name { … } instance;` between the stages. */
  private interfaceBlock(decl: ast.BlockDecl, q: Qualifiers, storage: "in" | "out", members: readonly Member[]): void {
    const place = { position: decl.namePosition, end: decl.namePosition + decl.name.length };
    const stage = this.context.stage;
    if (stage === "compute") {
      this.diagnostics.error("GLSL_COMPUTE_INTERFACE", { storage }, place.position, place.end);
    } else if (stage === (storage === "in" ? "vertex" : "fragment")) {
      const what = `a block with the storage '${storage}'`;
      this.diagnostics.error("GLSL_QUALIFIER_MISPLACED", { name: decl.name, what }, place.position, place.end);
    }
    this.checkName(decl.name, place);
    const captured = storage === "out" ? ["xfb_buffer", "xfb_offset", "xfb_stride"] : [];
    this.allowLayout(q, ["location", ...captured], "a block");
    const own = members.every((member) => member.layout.location !== undefined);
    if (!q.layout.has("location") && !own && !this.context.relaxed) {
      this.diagnostics.error("GLSL_NO_LOCATION", { name: decl.name }, place.position, place.end);
    }
    const qualified = members.map((member) => ({
      ...member,
      interpolation: [...new Set([...q.interpolation, ...member.interpolation])],
    }));
    for (const member of qualified) {
      if (member.type.kind !== "error") this.checkInterfaceType(storage, member.type, member.interpolation, member);
    }
    let struct: StructType = { kind: "struct", name: decl.name, members: qualified, block: true };
    const location = q.layout.get("location")?.value;
    if (members.some((member) => member.layout.location !== undefined)) {
      struct = { ...struct, members: withLocations(qualified, location ?? 0) };
    }
    this.declareBlock(decl, q, storage, undefined, struct, place);
  }

  /** `uniform Name { … } instance;` and its like. */
  protected block(decl: ast.BlockDecl): void {
    const q = this.qualifiersOf(decl.qualifiers, decl);
    const members = this.members(decl.members, true);
    const place = { position: decl.namePosition, end: decl.namePosition + decl.name.length };
    if (q.storage === "in" || q.storage === "out") {
      if (decl.name === "gl_PerVertex" && q.storage === "out") this.perVertex(decl, q, members);
      else this.interfaceBlock(decl, q, q.storage, members);
      return;
    }
    if (q.storage !== "uniform" && q.storage !== "buffer") {
      const what = `a block with the storage '${q.storage ?? "none"}'`;
      this.diagnostics.error("GLSL_UNSUPPORTED", { what }, place.position, place.end);
      for (const member of members) this.scopes.lose(member.name);
      if (decl.instance !== undefined) this.scopes.lose(decl.instance.name);
      return;
    }
    this.checkName(decl.name, place);
    const push = q.layout.has("push_constant");
    const storage: Storage = push ? "pushConstant" : q.storage;
    const allowed = [
      "std140",
      "std430",
      "scalar",
      "row_major",
      "column_major",
      "push_constant",
      "set",
      "binding",
      "align",
    ];
    this.allowLayout(q, allowed, "a block");
    const defaults = this.blockDefaults[push ? "buffer" : q.storage];
    const packing = packingOf(q.layout) ?? (push ? "std430" : defaults.packing);
    if (q.storage === "uniform" && !push && packing === "std430") {
      this.diagnostics.error("GLSL_UNIFORM_STD430", {}, q.position, q.end);
    }
    const rowMajor = q.layout.has("row_major") || (defaults.rowMajor && !q.layout.has("column_major"));
    const layout: BlockLayout = { packing, rowMajor };
    this.checkBinding(q, push, decl.name, place);
    this.checkMembers(members, storage, layout);
    const blockAlign = q.layout.get("align")?.value;
    const aligned =
      blockAlign === undefined ? members : members.map((m) => ({ ...m, layout: { align: blockAlign, ...m.layout } }));
    const struct: StructType = { kind: "struct", name: decl.name, members: aligned, block: true };
    this.declareBlock(decl, q, storage, layout, struct, place);
  }

  private declareBlock(
    decl: ast.BlockDecl,
    q: Qualifiers,
    storage: Storage,
    layout: BlockLayout | undefined,
    struct: StructType,
    place: Range,
  ): void {
    const instance = decl.instance;
    const type = instance === undefined ? struct : this.withDimensions(struct, instance.dimensions);
    if (containsOuterUnsized(type) && instance !== undefined) {
      this.diagnostics.error("GLSL_UNSIZED_BLOCKS", {}, instance.position, instance.end);
    }
    const variable: Variable = {
      kind: "variable",
      name: instance?.name ?? decl.name,
      type,
      storage,
      ...rangeOf(instance ?? place),
      constant: storage !== "buffer" && storage !== "out",
      constness: 0,
      ...optional("layout", layout),
      ...(layout === undefined && !struct.members.some((member) => member.layout.location !== undefined)
        ? optional("location", q.layout.get("location")?.value)
        : {}),
      ...(storage === "pushConstant" || layout === undefined
        ? {}
        : { set: q.layout.get("set")?.value ?? 0, ...optional("binding", q.layout.get("binding")?.value) }),
      ...(q.memory.length > 0 ? { memory: q.memory } : {}),
      precise: false,
      invariant: false,
      highestIndex: -1,
    };
    if (storage === "pushConstant") {
      if (this.pushConstant !== undefined) {
        const notes = [{ message: "the first one", ...rangeOf(this.pushConstant) }];
        this.diagnostics.error("GLSL_TWO_PUSH_CONSTANTS", {}, place.position, place.end, notes);
      }
      this.pushConstant = variable;
    }
    this.declareGlobal(variable);
    if (instance !== undefined) {
      this.checkName(instance.name, instance);
      this.declare(instance.name, variable, instance);
      return;
    }
    for (const [at, member] of struct.members.entries()) {
      const { position, end } = member;
      this.declare(member.name, { kind: "member", block: variable, member: at, position, end }, member);
    }
  }

  private checkBinding(q: Qualifiers, push: boolean, name: string, place: Range): void {
    if (push) {
      for (const id of ["set", "binding"]) {
        const wrong = q.layout.get(id);
        if (wrong === undefined) continue;
        this.diagnostics.error(
          "GLSL_LAYOUT_MISPLACED",
          { name: id, what: "a push_constant block" },
          wrong.position,
          wrong.end,
        );
      }
    } else if (!q.layout.has("binding") && !this.context.relaxed) {
      this.diagnostics.error("GLSL_NO_BINDING", { name }, place.position, place.end);
    }
  }

  private checkMembers(members: readonly Member[], storage: Storage, layout: BlockLayout): void {
    let end = 0;
    const taken: { readonly from: number; readonly to: number; readonly member: Member }[] = [];
    for (const [at, member] of members.entries()) {
      const { name, type } = member;
      const runtime = storage === "buffer" && at === members.length - 1 && type.kind === "array";
      if (containsUnsized(type) && (!runtime || containsUnsized(type.element))) {
        this.diagnostics.error("GLSL_RUNTIME_ARRAY", { name }, member.position, member.end);
      }
      if (type.kind === "error") continue;
      const rowMajor = member.layout.rowMajor ?? layout.rowMajor;
      const align = alignBytes(type, layout.packing, rowMajor);
      const given = member.layout.offset;
      if (given !== undefined && given % align !== 0) {
        this.diagnostics.error("GLSL_OFFSET_ALIGN", { offset: given, align }, member.position, member.end);
      }
      const from = given ?? Math.ceil(end / align) * align;
      end = from + sizeBytes(type, layout.packing, rowMajor);
      taken.push({ from, to: end, member });
    }
    taken.sort((a, b) => a.from - b.from);
    for (const [at, { from, member }] of taken.entries()) {
      const before = taken[at - 1];
      if (before === undefined || from >= before.to) continue;
      const values = { offset: from, name: before.member.name };
      this.diagnostics.error("GLSL_OFFSET_OVERLAP", values, member.position, member.end);
    }
  }

  /** Sizes of arrays declared `[]` that took their size from use; what was never sized is an error. */
  protected settleSize(variable: Variable): void {
    const type = variable.type;
    if (type.kind !== "array" || type.size !== undefined) return;
    if (variable.highestIndex < 0) variable.highestIndex = 0;
    variable.type = arrayType(type.element, variable.highestIndex + 1);
  }
}

function rangeOf(place: Range): Range {
  return { position: place.position, end: place.end };
}

/** Whether the members of a block have their locations. */
function hasLocations(type: Type): boolean {
  const core = coreType(type);
  return core.kind === "struct" && core.block && core.members.some((member) => member.layout.location !== undefined);
}

/** The image format among the layout identifiers. */
function formatOf(q: Qualifiers): string | undefined {
  return [...q.layout.keys()].find((name) => Object.hasOwn(imageFormats, name));
}

/** An image type, or an array of one, with a format. */
function formattedType(type: Type, format: string | undefined): Type {
  if (format === undefined) return type;
  if (type.kind === "array") return { ...type, element: formattedType(type.element, format) };
  return type.kind === "opaque" ? withFormat(type, imageFormats[format]![0]) : type;
}

/** Whether a fragment input of the type cannot be interpolated. */
function containsInteger(type: Type): boolean {
  return containsType(type, "integer", (part) => {
    const scalar = scalarOf(part);
    return scalar !== undefined && scalar !== "float" && scalar !== "bool";
  });
}

/** Locations that a value of the type takes. Source: GLSL 4.60 section 4.4.1. */
function locationCount(type: Type): number {
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

/** Members with a location each: their own, or the one after the member before. */
function withLocations(members: readonly Member[], first: number): Member[] {
  let next = first;
  return members.map((member) => {
    const location = member.layout.location ?? next;
    next = location + locationCount(member.type);
    return { ...member, layout: { ...member.layout, location } };
  });
}

function containsOuterUnsized(type: Type): boolean {
  return type.kind === "array" && (type.size === undefined || containsOuterUnsized(type.element));
}
