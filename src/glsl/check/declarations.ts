import type { Lists } from "../lists.ts";
import type * as ast from "../syntax/index.ts";
import {
  arrayType,
  containsOpaque,
  coreType,
  errorType,
  imageFormats,
  type Type,
  typeName,
  vectorType,
  withFormat,
} from "../types/index.ts";
import type { CheckContext, Range } from "./base.ts";
import { BlockChecker, rangeOf } from "./blocks.ts";
import { fitsUnsized } from "./constructors.ts";
import { formatOf } from "./interfaces.ts";
import { packingOf, type Qualifiers } from "./qualifiers.ts";
import { declareStatement } from "./statement-nodes.ts";
import type { Component, DeclareStmt, Expr, LocalSize, Storage, Variable } from "./tree.ts";
import { newVariable, noPlace } from "./variable.ts";

/** Reference limits of a workgroup. */
const workGroupLimits = [1024, 1024, 64] as const;
const dimensions = ["x", "y", "z"] as const;
/** The layout identifiers of each dimension: its size, the constant that may replace it. */
const localSizeNames: readonly string[] = dimensions.flatMap((d) => [`local_size_${d}`, `local_size_${d}_id`]);

const unitSize: readonly LocalSize[] = dimensions.map(() => ({ size: 1, specId: undefined }));
const noSizes: readonly boolean[] = dimensions.map(() => false);
const noLayouts: readonly string[] = [];

/** Variables, blocks, and what `layout(…) in;` says. */
export abstract class DeclarationChecker extends BlockChecker {
  protected localSize: readonly LocalSize[] = unitSize;
  private localSizePlace: Range | undefined;
  /** By dimension; what is not given is 1 and may become something else. */
  private localSizeGiven: readonly boolean[] = noSizes;
  protected workGroupSize: Variable | undefined;
  protected earlyFragmentTests = false;
  protected postDepthCoverage = false;
  /** Where it is asked for without early tests, which the extension's EXT form wants besides. */
  protected depthCoveragePlace: Range | undefined;
  /** Specialisation constants by their number. */
  private specIds: Map<number, ast.Declarator> | undefined;
  /** Local arrays declared `[]`. */
  protected unsized: Variable[] = [];

  protected override begin(context: CheckContext): void {
    super.begin(context);
    this.localSize = unitSize;
    this.localSizePlace = undefined;
    this.localSizeGiven = noSizes;
    this.workGroupSize = undefined;
    this.earlyFragmentTests = false;
    this.postDepthCoverage = false;
    this.depthCoveragePlace = undefined;
    this.specIds = undefined;
    if (this.unsized.length > 0) this.unsized = [];
  }

  protected override workGroupSizeVariable(place: ast.NameExpr): Variable {
    if (this.workGroupSize !== undefined) return this.workGroupSize;
    if (this.localSizePlace === undefined) {
      this.diagnostics.error("GLSL_NO_LOCAL_SIZE", {}, place.position, place.end);
    }
    const specialised = this.localSize.some(({ specId }) => specId !== undefined);
    const type = vectorType("uint", 3);
    const storage = specialised ? "specialization" : "constant";
    const variable = newVariable("gl_WorkGroupSize", type, storage, noPlace, true);
    variable.builtIn = "WorkgroupSize";
    variable.constness = specialised ? 2 : 1;
    if (!specialised) variable.value = this.localSize.map(({ size }) => size);
    this.workGroupSize = variable;
    this.scopes.setGlobal("gl_WorkGroupSize", this.workGroupSize);
    return this.workGroupSize;
  }

  /** `layout(…) in;`, `layout(std140) uniform;`, `precise x;`. */
  protected qualifierDecl(decl: ast.QualifierDecl): void {
    const q = this.qualifiersOf(decl.qualifiers, decl);
    if (q.layout.has("buffer_reference")) {
      for (const name of decl.names) this.reference(q, name.name, name);
      return;
    }
    for (const name of decl.names) {
      const symbol = this.scopes.lookup(name.name);
      if (symbol?.kind === "variable") {
        const outside = symbol.storage === "in" || symbol.storage === "out" ? symbol.storage : undefined;
        if (q.invariant) this.checkInvariant(outside, name);
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
      const depth = q.layout.get("post_depth_coverage");
      if (depth !== undefined) {
        this.earlyFragmentTests ||= this.context.extensions.has("GL_ARB_post_depth_coverage");
        this.postDepthCoverage = true;
        if (!this.earlyFragmentTests) this.depthCoveragePlace = depth;
      }
    } else if (q.storage === "out" && this.context.stage !== "compute") {
      this.allowLayout(q, this.captureLayouts("out"), "out");
      this.captures.setDefault(q);
    } else if (q.storage === "uniform" || q.storage === "buffer" || (q.storage === "shared" && q.layout.size > 0)) {
      this.allowLayout(q, ["std140", "std430", "scalar", "row_major", "column_major"], q.storage);
      const before = this.blockDefaults[q.storage];
      const rowMajor = !q.layout.has("column_major") && (q.layout.has("row_major") || before.rowMajor);
      const packing = packingOf(q.layout) ?? before.packing;
      this.blockDefaults = { ...this.blockDefaults, [q.storage]: { packing, rowMajor } };
    } else if (decl.qualifiers.length > 0) {
      this.diagnostics.error("GLSL_EMPTY_DECLARATION", {}, decl.position, decl.end);
    }
  }

  private localSizes(q: Qualifiers, decl: Range): void {
    this.allowLayout(q, localSizeNames, "in");
    const sizes = this.localSize.slice();
    const given = this.localSizeGiven.slice();
    for (let at = 0; at < dimensions.length; at++) {
      const dimension = dimensions[at]!;
      const size = q.layout.get(localSizeNames[2 * at]!);
      const id = q.layout.get(localSizeNames[2 * at + 1]!);
      if (size === undefined && id === undefined) continue;
      const before = sizes[at]!;
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
        if (given[at] === true && before.size !== size.value) {
          const values = { dimension, first: before.size, second: size.value };
          const notes =
            this.localSizePlace === undefined ? [] : [{ message: "first given here", ...rangeOf(this.localSizePlace) }];
          this.diagnostics.error("GLSL_LOCAL_SIZE_CHANGED", values, size.position, size.end, notes);
          continue;
        }
      }
      if (size !== undefined) given[at] = true;
      sizes[at] = { size: size?.value ?? before.size, specId: id?.value ?? before.specId };
    }
    this.localSize = sizes;
    this.localSizeGiven = given;
    this.localSizePlace ??= decl;
  }

  /**
   * Variables of one declaration; at global scope they are remembered, elsewhere those that need a statement get one in
   * `into`. The statement of the first is returned in any case.
   */
  protected variables(decl: ast.VariableDecl, into: Lists | undefined): DeclareStmt | undefined {
    const q = this.qualifiersOf(decl.qualifiers, decl);
    const base = this.resolveType(decl.type);
    this.checkPrecision(base, q.precision, decl.type);
    let first: DeclareStmt | undefined;
    if (decl.declarators.length === 0) {
      this.allowLayout(q, noLayouts, "a type alone");
      return undefined;
    }
    if (base.kind === "void") {
      this.diagnostics.error("GLSL_VOID_VARIABLE", {}, decl.type.position, decl.type.end);
    }
    for (const declarator of decl.declarators) {
      const type = base.kind === "void" ? errorType : this.withDimensions(base, declarator.dimensions);
      const variable = this.variable(q, type, declarator);
      if (variable === undefined || into === undefined) continue;
      const statement = declareStatement(variable, declarator.position);
      first ??= statement;
      if (variable.storage === "local") into.add(statement);
    }
    return first;
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
    this.lacksArithmetic(type, "a variable of type", declarator);
    const opaque = storage === "uniform" && coreType(type).kind === "opaque";
    if (opaque) type = formattedType(type, formatOf(q));
    if (opaque) this.checkResourceArray(type, declarator);
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
    let value: readonly Component[] | undefined;
    if (storage === "constant") {
      constness = initializer?.constness ?? (failed ? 1 : 0);
      if (initializer?.kind === "constant") value = initializer.values;
      else if (failed) type = errorType;
    } else if (storage === "specialization") {
      constness = 2;
    }
    // a constant whose value is left to the machine is a variable that nobody may write
    const runtime = storage === "constant" && value === undefined && constness !== 2;
    const kept = runtime ? (global ? "global" : "local") : storage;
    const variable = newVariable(name, type, kept, declarator, q.storage === "const");
    variable.constness = constness;
    variable.value = value;
    variable.initializer = initializer;
    if (layout.size > 0) {
      variable.specId = layout.get("constant_id")?.value;
      variable.location = layout.get("location")?.value;
      variable.component = layout.get("component")?.value;
      variable.index = layout.get("index")?.value;
      variable.inputAttachmentIndex = layout.get("input_attachment_index")?.value;
    }
    if (opaque) {
      variable.set = layout.get("set")?.value ?? 0;
      variable.binding = layout.get("binding")?.value;
    }
    if (storage === "out") variable.capture = this.captures.variable(q, name, type, declarator);
    if (q.interpolation.length > 0) variable.interpolation = q.interpolation;
    if (q.memory.length > 0) variable.memory = q.memory;
    if (q.nonUniform) variable.nonUniform = true;
    variable.precise = q.precise;
    variable.invariant = q.invariant;
    if (storage === "uniform" && !opaque && this.context.relaxed && type.kind !== "error") {
      if (containsOpaque(type)) {
        this.diagnostics.error("GLSL_OPAQUE_STORAGE", { type: typeName(type) }, position, end);
        this.scopes.lose(name);
        return undefined;
      }
      this.looseUniform(name, type, declarator);
      return undefined;
    }
    if (!this.declare(name, variable, declarator)) return undefined;
    if (global) this.declareGlobal(variable);
    else if (type.kind === "array" && type.size === undefined) this.unsized.push(variable);
    return variable;
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
      const id = q.layout.get("constant_id")?.value ?? 0;
      const first = this.specIds?.get(id);
      if (first !== undefined) {
        const notes = [{ message: "the first one", ...rangeOf(first) }];
        this.diagnostics.error("GLSL_REPEATED_ID", { id, name: first.name }, position, end, notes);
      }
      this.specIds ??= new Map();
      this.specIds.set(id, place);
      return "specialization";
    }
    const misplaced = (): Storage => {
      const what = global ? "a global variable" : "a local variable";
      this.diagnostics.error("GLSL_QUALIFIER_MISPLACED", { name: q.storage ?? "", what }, q.position, q.end);
      return plain;
    };
    if (!global && q.storage !== undefined && q.storage !== "const") return misplaced();
    if (q.invariant) this.checkInvariant(q.storage, q);
    const core = coreType(type);
    const image = core.kind === "opaque" && core.family === "image";
    const shared = q.storage === "shared" || core.kind === "reference";
    if (q.memory.length > 0 && q.storage !== "buffer" && !image && !shared) {
      const what = "a variable that is no buffer or image";
      const name = q.memory.find((each) => each !== "nonprivate");
      if (name !== undefined) this.diagnostics.error("GLSL_QUALIFIER_MISPLACED", { name, what }, q.position, q.end);
    }
    if (q.storage !== "uniform" && containsOpaque(type)) {
      this.diagnostics.error("GLSL_OPAQUE_STORAGE", { type: typeName(type) }, position, end);
      return plain;
    }
    switch (q.storage) {
      case "const":
        if (core.kind === "reference") {
          const values = { name: "const", what: "a buffer reference" };
          this.diagnostics.error("GLSL_QUALIFIER_MISPLACED", values, q.position, q.end);
        }
        this.allowLayout(q, noLayouts, "a constant");
        return "constant";
      case "shared":
        this.allowLayout(q, noLayouts, "a shared variable");
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
        this.allowLayout(q, noLayouts, global ? "a global variable" : "a local variable");
        return plain;
    }
  }

  /** `invariant` goes with outputs, in older versions also with inputs behind the vertex stage. */
  private checkInvariant(storage: Qualifiers["storage"], place: Range): void {
    const { version, stage } = this.context;
    const strict = version.number >= (version.es ? 300 : 420);
    if (storage === "out" || (!strict && storage === "in" && stage !== "vertex")) return;
    const values = { name: "invariant", what: "what is no output" };
    this.diagnostics.error("GLSL_QUALIFIER_MISPLACED", values, place.position, place.end);
  }

  /** Sizes of arrays declared `[]` that took their size from use; what was never sized is an error. */
  protected settleSize(variable: Variable): void {
    const type = variable.type;
    if (type.kind !== "array" || type.size !== undefined || variable.runtimeSized === true) return;
    if (variable.highestIndex < 0) variable.highestIndex = 0;
    variable.type = arrayType(type.element, variable.highestIndex + 1);
  }
}

/** An image type, or an array of one, with a format. */
function formattedType(type: Type, format: string | undefined): Type {
  if (format === undefined) return type;
  if (type.kind === "array") return arrayType(formattedType(type.element, format), type.size, type.specSize);
  return type.kind === "opaque" ? withFormat(type, imageFormats[format]![0]) : type;
}
