import { suggest } from "../../base/index.ts";
import { type BuiltinVariable, builtinConstants, builtinVariables } from "../builtins/index.ts";
import type * as ast from "../syntax/index.ts";
import {
  type ArrayType,
  boolType,
  builtinType,
  coreType,
  elementCount,
  elementType,
  intType,
  isInteger,
  leafCount,
  type StructType,
  sameType,
  scalarFacts,
  scalarOf,
  scalarType,
  type Type,
  typeName,
  uintType,
  vectorSize,
  vectorType,
  withScalar,
} from "../types/index.ts";
import { type CheckContext, joinConstness, type Range } from "./base.ts";
import { CallChecker } from "./calls.ts";
import { wrapWide } from "./fold.ts";
import { foreignVariables } from "./foreign-names.ts";
import { unreadable } from "./lvalues.ts";
import { reportMissingVariable } from "./missing.ts";
import {
  assignNode,
  baseNode,
  commaNode,
  conditionalNode,
  constantNode,
  errorNode,
  incrementNode,
  indexNode,
  memberNode,
  swizzleNode,
  variableNode,
} from "./nodes.ts";
import { swizzleComponents } from "./swizzles.ts";
import type { Expr, Variable } from "./tree.ts";
import { newVariable, noPlace } from "./variable.ts";

const scopeExtension = "GL_KHR_memory_scope_semantics";
/** Built-in variables of subgroups that the extension before SPIR-V 1.3 has as well. */
const olderSubgroups: ReadonlySet<string> = new Set(["gl_SubgroupSize", "gl_SubgroupInvocationID"]);

/** Components that one value may have when it is copied, passed or compared whole. */
const VALUE_LEAF_LIMIT = 65536;

/** What an output block `gl_PerVertex` may have. Source: GLSL 4.60, 7.1.1 (Vertex Shader Special Variables). */
const perVertexMembers: ReadonlySet<string> = new Set([
  "gl_Position",
  "gl_PointSize",
  "gl_ClipDistance",
  "gl_CullDistance",
]);

/** Expressions: names, access, operators, assignment. */
export abstract class ExpressionChecker extends CallChecker {
  /** Built-in variables that some expression names. */
  protected usedBuiltins: Variable[] = [];
  private builtins: ReadonlyMap<string, BuiltinVariable> | undefined;

  protected override begin(context: CheckContext): void {
    super.begin(context);
    this.usedBuiltins = [];
    this.builtins = undefined;
    this.perVertexNames = undefined;
    this.growing = undefined;
  }

  protected abstract workGroupSizeVariable(place: ast.NameExpr): Variable;

  protected override value(expr: ast.Expr): Expr {
    return this.readable(this.place(expr));
  }

  protected override readable(expr: Expr): Expr {
    const core = coreType(expr.type);
    const name = core.kind === "opaque" ? undefined : unreadable(expr);
    if (name !== undefined) {
      this.diagnostics.error("GLSL_WRITEONLY", { name }, expr.position, expr.end);
      return this.errorExpr(expr);
    }
    if (core.kind === "struct" && core.block) {
      this.diagnostics.error("GLSL_BLOCK_AS_VALUE", { name: core.name }, expr.position, expr.end);
      return this.errorExpr(expr);
    }
    if (expr.type.kind === "array" && expr.type.size === undefined) {
      this.diagnostics.error("GLSL_OPAQUE_VALUE", { type: typeName(expr.type) }, expr.position, expr.end);
      return this.errorExpr(expr, expr.type);
    }
    const aggregate = expr.type.kind === "array" || expr.type.kind === "struct";
    if (aggregate && expr.kind !== "error" && !this.fitsValue(expr)) return this.errorExpr(expr, expr.type);
    return expr;
  }

  /** A value is scalars in the end: one of millions is reported here, not later. */
  private fitsValue(expr: Expr): boolean {
    if (leafCount(expr.type) <= VALUE_LEAF_LIMIT) return true;
    this.diagnostics.error("GLSL_VALUE_TOO_LARGE", { limit: VALUE_LEAF_LIMIT }, expr.position, expr.end);
    return false;
  }

  protected override place(expr: ast.Expr): Expr {
    switch (expr.kind) {
      case "name":
        return this.name(expr);
      case "literal":
        return this.literal(expr);
      case "call":
        return this.call(expr);
      case "index":
        return this.index(expr);
      case "member":
        return this.member(expr);
      case "unary":
        return this.unaryOf(expr.op, this.value(expr.operand), expr);
      case "binary":
        return this.binaryChain(expr);
      case "increment":
        return this.increment(expr);
      case "assign":
        return this.assign(expr);
      case "conditional":
        return this.conditional(expr);
      case "comma": {
        const items = expr.items.map((item) => this.value(item));
        const type = items.at(-1)!.type;
        const { version } = this.context;
        // the first ES counts a sequence of constants as one
        const folds = version.es && version.number === 100 && items.every((item) => item.kind === "constant");
        if (folds) return items.at(-1)!;
        return commaNode(items, type, expr);
      }
      case "text":
        this.diagnostics.error("GLSL_STRAY_TEXT", {}, expr.position, expr.end);
        return this.errorExpr(expr);
      case "list":
        this.diagnostics.error("GLSL_STRAY_LIST", {}, expr.position, expr.end);
        return this.errorExpr(expr);
      case "type":
        this.diagnostics.error("GLSL_TYPE_AS_VALUE", { name: expr.type.name }, expr.position, expr.end);
        return this.errorExpr(expr);
    }
  }

  /** A literal; a 64-bit integer that no double holds has its bits in two halves. */
  private literal(expr: ast.LiteralExpr): Expr {
    const type = scalarType(expr.scalar);
    if (type === intType || type === uintType || type === boolType || expr.scalar === "float") {
      return constantNode(type, [expr.value], expr.position, expr.end);
    }
    const { kind, bits } = scalarFacts[expr.scalar];
    const extensions = this.context.extensions;
    if (bits !== 32 && expr.scalar !== "double" && !extensions.has("GL_EXT_shader_explicit_arithmetic_types")) {
      const extension = `GL_EXT_shader_explicit_arithmetic_types_${kind === "float" ? "float" : "int"}${bits}`;
      if (!extensions.has(extension) && !(bits === 64 && extensions.has("GL_ARB_gpu_shader_int64"))) {
        this.diagnostics.error("GLSL_NEEDS_EXTENSION", { what: "this literal", extension }, expr.position, expr.end);
      }
    }
    if (expr.high === undefined) return this.constantExpr(type, [expr.value], expr);
    const bits64 = (BigInt(expr.high) << 32n) | BigInt(expr.value);
    return this.constantExpr(type, [wrapWide(expr.scalar === "uint64", bits64)], expr);
  }

  /** A condition: one bool. */
  protected conditionValue(expr: ast.Expr): Expr {
    const condition = this.value(expr);
    if (condition.type === boolType || condition.type.kind === "error") return condition;
    const code = expr.kind === "assign" && expr.op === undefined ? "GLSL_CONDITION_ASSIGNS" : "GLSL_CONDITION_TYPE";
    this.diagnostics.error(code, { type: typeName(condition.type) }, expr.position, expr.end);
    return this.errorExpr(expr);
  }

  /** Left-deep operator chains in a loop: sources with thousands of terms need no deep stack. */
  private binaryChain(expr: ast.BinaryExpr): Expr {
    if (expr.left.kind !== "binary") {
      return this.binaryOf(expr.op, this.value(expr.left), this.value(expr.right), expr);
    }
    const chain: ast.BinaryExpr[] = [];
    let left: ast.Expr = expr;
    for (; left.kind === "binary"; left = left.left) chain.push(left);
    let result = this.value(left);
    for (let at = chain.length - 1; at >= 0; at--) {
      const node = chain[at]!;
      result = this.binaryOf(node.op, result, this.value(node.right), node);
    }
    return result;
  }

  private name(expr: ast.NameExpr): Expr {
    const { position, end } = expr;
    const symbol = this.scopes.lookup(expr.name) ?? this.builtin(expr);
    switch (symbol?.kind) {
      case "variable":
        return this.variableExpr(symbol, expr);
      case "member": {
        const base = this.variableExpr(symbol.block, expr);
        const type = (symbol.block.type as StructType).members[symbol.member]!.type;
        return memberNode(base, symbol.member, type, 0, expr);
      }
      case "struct":
        this.diagnostics.error("GLSL_TYPE_AS_VALUE", { name: expr.name }, position, end);
        return this.errorExpr(expr);
      case "functions":
        this.diagnostics.error("GLSL_FUNCTION_AS_VALUE", { name: expr.name }, position, end);
        return this.errorExpr(expr);
      case "lost":
        return this.errorExpr(expr);
      default:
        break;
    }
    this.undeclared(expr);
    return this.errorExpr(expr);
  }

  /** Each use of an unknown name is a mistake of its own, but not where its declaration was lost to a syntax error. */
  private undeclared({ name, position, end }: ast.NameExpr): void {
    if (this.context.lostNames.has(name) || this.diagnostics.full) return;
    if (reportMissingVariable(this.context, name, this.stageBuiltins().get(name), { position, end })) return;
    const stages = this.otherStages(name);
    if (stages.length > 0) {
      const values = { name, stages: stages.join(" and "), stage: this.context.stage };
      this.diagnostics.error("GLSL_BUILTIN_STAGE", values, position, end);
      return;
    }
    const near = foreignVariables.get(name) ?? suggest(name, this.valueNames());
    if (near === undefined) this.diagnostics.error("GLSL_UNDECLARED", { name }, position, end);
    else this.diagnostics.error("GLSL_UNDECLARED_NEAR", { name, near }, position, end);
  }

  /** The stages whose shaders have a built-in variable that this one lacks. */
  private otherStages(name: string): string[] {
    if (!name.startsWith("gl_")) return [];
    if (name === "gl_WorkGroupSize") return this.context.stage === "compute" ? [] : ["compute"];
    return ["vertex", "fragment", "compute"].filter((stage) => this.knows(builtinVariables(stage).get(name)));
  }

  private variableExpr(variable: Variable, place: ast.NameExpr): Expr {
    const { type, constness } = variable;
    if (variable.value !== undefined) return constantNode(type, variable.value, place.position, place.end);
    if (variable.builtIn !== undefined && !this.usedBuiltins.includes(variable)) this.useBuiltin(variable);
    return variableNode(variable, type, constness, place);
  }

  private useBuiltin(variable: Variable): void {
    if (this.usedBuiltins.length === 0) this.usedBuiltins = [variable];
    else this.usedBuiltins.push(variable);
  }

  private *valueNames(): Iterable<string> {
    for (const name of this.scopes.names()) {
      const kind = this.scopes.lookup(name)?.kind;
      if (kind === "variable" || kind === "member") yield name;
    }
    yield* this.stageBuiltins().keys();
  }

  private stageBuiltins(): ReadonlyMap<string, BuiltinVariable> {
    this.builtins ??= builtinVariables(this.context.stage);
    return this.builtins;
  }

  /** Members of a redeclared `gl_PerVertex`: the shader has no others of its block then. */
  protected perVertexNames: ReadonlySet<string> | undefined;

  /** Declares a built-in variable at its first use. */
  private builtin(expr: ast.NameExpr): Variable | undefined {
    if (!expr.name.startsWith("gl_")) return undefined;
    if (expr.name === "gl_WorkGroupSize" && this.context.stage === "compute") return this.workGroupSizeVariable(expr);
    const row = this.builtinRow(expr.name);
    const limit = row === undefined ? builtinConstants.get(expr.name) : undefined;
    if (limit !== undefined && this.knowsConstant(expr.name)) {
      const variable = newVariable(expr.name, builtinType(limit[0]), "constant", noPlace, true);
      variable.value = typeof limit[1] === "number" ? [limit[1]] : limit[1];
      variable.constness = 1;
      if (this.isScopeConstant(expr.name)) this.noteExtension(`'${expr.name}'`, [scopeExtension], expr);
      this.scopes.setGlobal(expr.name, variable);
      return variable;
    }
    if (this.perVertexNames?.has(expr.name) === false && perVertexMembers.has(expr.name)) {
      const values = { type: "gl_PerVertex", name: expr.name };
      this.diagnostics.error("GLSL_NO_MEMBER", values, expr.position, expr.end);
    }
    const subgroups = row?.extensions[0]?.startsWith("GL_KHR_shader_subgroup") === true;
    if (row !== undefined && subgroups && !this.context.hasSubgroups && !olderSubgroups.has(row.name)) {
      const values = { name: row.name, target: "vulkan1.1" };
      this.diagnostics.error("GLSL_NEEDS_TARGET", values, expr.position, expr.end);
    }
    if (row !== undefined) this.noteBuiltin(row, expr);
    return row === undefined ? undefined : this.declareBuiltin(row, row.type);
  }

  private noteBuiltin({ name, extensions, version, removed }: BuiltinVariable, place: Range): void {
    const own = this.context.version.number;
    const core = extensions.length === 0 || (version > 0 && own >= version) || (removed > 0 && own < removed);
    if (!core) this.noteExtension(`'${name}'`, extensions, place);
  }

  private knowsConstant(name: string): boolean {
    return !this.isScopeConstant(name) || this.context.extensions.has(scopeExtension);
  }

  private isScopeConstant(name: string): boolean {
    return /^gl_(?:Scope|Semantics|StorageSemantics)[A-Z]/.test(name);
  }

  /** The built-in variable of a name that this shader has, by its stage, version and extensions. */
  protected builtinRow(name: string): BuiltinVariable | undefined {
    const row = this.stageBuiltins().get(name);
    return this.knows(row) ? row : undefined;
  }

  private knows(row: BuiltinVariable | undefined): boolean {
    if (row === undefined) return false;
    const { version, extensions } = this.context;
    for (const each of row.extensions) if (extensions.has(each)) return true;
    if (row.removed > 0) return !version.es && version.number < row.removed;
    return row.extensions.length === 0 && version.number >= row.version;
  }

  /** Makes a built-in variable known, with the type that a redeclaration may have given it. */
  protected declareBuiltin(row: BuiltinVariable, type: Type): Variable {
    const { name, storage, builtIn, capability } = row;
    const variable = newVariable(name, type, storage, noPlace, storage === "in");
    if (builtIn === "-") variable.location = 0;
    else variable.builtIn = builtIn;
    variable.capability = capability;
    if (this.context.stage === "fragment" && storage === "in" && holdsIntegers(type)) variable.interpolation = ["flat"];
    this.scopes.setGlobal(name, variable);
    this.declareGlobal(variable);
    return variable;
  }

  protected abstract declareGlobal(variable: Variable): void;

  private index(expr: ast.IndexExpr): Expr {
    const base = this.place(expr.base);
    const { position, end } = expr;
    if (expr.index === undefined) {
      if (base.type.kind !== "error") this.diagnostics.error("GLSL_INDEX_MISSING", {}, position, end);
      return this.errorExpr(expr);
    }
    const index = this.value(expr.index);
    if (base.type.kind === "error" || index.type.kind === "error") return this.errorExpr(expr);
    const steps = this.context.extensions.has("GL_EXT_buffer_reference2");
    if (base.type.kind === "reference" && steps) return this.binaryOf("+", this.readable(base), index, expr);
    const type = elementType(base.type);
    if (type === undefined) {
      this.diagnostics.error("GLSL_NOT_INDEXABLE", { type: typeName(base.type) }, base.position, base.end);
      return this.errorExpr(expr);
    }
    if (index.type.kind !== "scalar" || !isInteger(index.type.scalar)) {
      this.diagnostics.error("GLSL_INDEX_TYPE", { type: typeName(index.type) }, index.position, index.end);
      return this.errorExpr(expr, type);
    }
    if (this.lacksArithmetic(index.type, "an index of type", index)) return this.errorExpr(expr, type);
    const at = index.kind === "constant" ? Number(index.values[0]) : undefined;
    const count = elementCount(base.type);
    const specSized = base.type.kind === "array" && base.type.specSize !== undefined;
    const byDefault = specSized ? defaultSize(base.type) : undefined;
    if (byDefault !== undefined && at !== undefined && at >= byDefault) {
      this.diagnostics.error("GLSL_INDEX_RANGE", { index: at, size: byDefault }, index.position, index.end);
      return this.errorExpr(expr, type);
    }
    if (at !== undefined && (at < 0 || at > 0x7fffffff || (count !== undefined && at >= count && !specSized))) {
      const values = { index: at, size: count ?? "unknown" };
      this.diagnostics.error("GLSL_INDEX_RANGE", values, index.position, index.end);
      return this.errorExpr(expr, type);
    }
    if (count === undefined) {
      if (!this.noteUnsized(base, at)) return this.errorExpr(expr, type);
    }
    if (base.kind === "constant" && at !== undefined) {
      const width = leafCount(type);
      return this.constantExpr(type, base.values.slice(at * width, (at + 1) * width), expr);
    }
    const constness = joinConstness(base.constness, index.constness);
    return indexNode(base, index, type, constness, expr);
  }

  /** Members of blocks that take their size from use: the highest index so far. */
  protected growing: Map<ArrayType, number> | undefined;

  /** An array declared `[]` grows with its highest constant index; only a runtime array takes any index. */
  private noteUnsized(base: Expr, at: number | undefined): boolean {
    const growing = base.type.kind === "array" ? this.growing?.get(base.type) : undefined;
    if (growing !== undefined && at !== undefined && base.type.kind === "array") {
      this.growing?.set(base.type, Math.max(growing, at));
      return true;
    }
    const inBlock = base.kind === "member" && base.base.type.kind === "struct" && base.base.type.block;
    if (inBlock && growing === undefined) return true;
    if (base.kind === "variable" && at !== undefined) {
      const limit = /^gl_C(?:lip|ull)Distance$/.test(base.variable.name) ? 8 : undefined;
      if (limit !== undefined && at >= limit) {
        this.diagnostics.error("GLSL_INDEX_RANGE", { index: at, size: limit }, base.position, base.end);
        return false;
      }
      base.variable.highestIndex = Math.max(base.variable.highestIndex, at);
      return true;
    }
    if (base.kind === "variable" && isResource(base.variable) && this.hasDescriptorIndexing()) {
      base.variable.runtimeSized = true;
      return true;
    }
    this.diagnostics.error("GLSL_UNSIZED_INDEX", {}, base.position, base.end);
    return false;
  }

  protected hasDescriptorIndexing(): boolean {
    return this.context.extensions.has("GL_EXT_nonuniform_qualifier");
  }

  private member(expr: ast.MemberExpr): Expr {
    const base = this.place(expr.base);
    const type = base.type;
    const { position, end } = expr;
    if (type.kind === "error") return this.errorExpr(expr);
    if (type.kind === "struct") return this.structMember(expr, base, type);
    if (type.kind === "reference" && type.block !== undefined) {
      const deref = baseNode("deref", this.readable(base), type.block, expr);
      return this.structMember(expr, deref, type.block);
    }
    if (type.kind === "vector" || type.kind === "scalar") return this.swizzle(expr, base);
    const values = { type: typeName(type), name: expr.name };
    this.diagnostics.error("GLSL_NO_MEMBER", values, expr.namePosition, end);
    return this.errorExpr({ position, end });
  }

  private structMember(expr: ast.MemberExpr, base: Expr, type: StructType): Expr {
    const { end } = expr;
    let member = type.members.length - 1;
    while (member >= 0 && type.members[member]!.name !== expr.name) member--;
    const found = type.members[member];
    if (found === undefined) {
      const near = suggest(
        expr.name,
        type.members.map(({ name }) => name),
      );
      const values = { type: typeName(type), name: expr.name };
      if (near === undefined) this.diagnostics.error("GLSL_NO_MEMBER", values, expr.namePosition, end);
      else this.diagnostics.error("GLSL_NO_MEMBER_NEAR", { ...values, near }, expr.namePosition, end);
      return this.errorExpr(expr);
    }
    if (base.kind === "constant") {
      const start = type.members.slice(0, member).reduce((sum, each) => sum + leafCount(each.type), 0);
      return this.constantExpr(found.type, base.values.slice(start, start + leafCount(found.type)), expr);
    }
    return memberNode(base, member, found.type, base.constness, expr);
  }

  private swizzle(expr: ast.MemberExpr, base: Expr): Expr {
    const { end, name } = expr;
    const size = vectorSize(base.type);
    if (size === 1) this.need420("a swizzle of a scalar", expr);
    const components = swizzleComponents(name);
    if (components === undefined || components.some((component) => component >= size)) {
      const values = { type: typeName(base.type), name };
      this.diagnostics.error("GLSL_BAD_SWIZZLE", values, expr.namePosition, end);
      return this.errorExpr(expr);
    }
    const type = vectorType(scalarOf(base.type)!, components.length);
    if (base.kind === "constant") {
      return this.constantExpr(
        type,
        components.map((component) => base.values[component]!),
        expr,
      );
    }
    if (base.kind === "swizzle") {
      const through = components.map((component) => base.components[component]!);
      return swizzleNode(base.base, through, type, expr);
    }
    return swizzleNode(base, components, type, expr);
  }

  protected override lengthOf(call: ast.CallExpr, base: ast.Expr): Expr {
    const array = this.place(base);
    if (array.type.kind === "error") return this.errorExpr(call);
    const count = elementCount(array.type);
    if (elementType(array.type) === undefined) {
      this.diagnostics.error("GLSL_NO_LENGTH", { type: typeName(array.type) }, array.position, array.end);
      return this.errorExpr(call);
    }
    if (array.type.kind === "array" && array.type.specSize !== undefined) {
      // a uint size does not become an int by itself
      return this.convert(array.type.specSize as Expr, "int");
    }
    if (count !== undefined) return this.intConstant(count, call);
    const inMemory = array.kind === "member" && array.base.type.kind === "struct" && array.base.type.block;
    const growing = array.type.kind === "array" && this.growing?.has(array.type) === true;
    if (inMemory && array.base.kind !== "deref" && !growing) {
      return baseNode("length", array, intType, call);
    }
    this.diagnostics.error("GLSL_UNSIZED_LENGTH", {}, array.position, array.end);
    return this.errorExpr(call, intType);
  }

  private increment(expr: ast.IncrementExpr): Expr {
    const target = this.readable(this.place(expr.operand));
    const { position, end } = expr;
    if (target.type.kind === "error") return this.errorExpr(expr);
    const scalar = scalarOf(target.type);
    const steps = target.type.kind === "reference" && this.context.extensions.has("GL_EXT_buffer_reference2");
    if (!steps && (scalar === undefined || scalar === "bool")) {
      this.diagnostics.error("GLSL_BAD_OPERAND", { op: expr.op, type: typeName(target.type) }, position, end);
      return this.errorExpr(expr);
    }
    if (this.lacksArithmetic(target.type, `operator ${expr.op} on`, expr)) return this.errorExpr(expr);
    if (!this.checkAssignable(target)) return this.errorExpr(expr, target.type);
    const op = expr.op === "++" ? "+" : "-";
    return incrementNode(op, expr.prefix, target, expr);
  }

  private assign(expr: ast.AssignExpr): Expr {
    const placed = this.place(expr.target);
    const target = expr.op === undefined ? placed : this.readable(placed);
    const value = expr.value.kind === "list" ? this.initializerOf(expr.value, target.type) : this.value(expr.value);
    const { position, end } = expr;
    if (target.type.kind === "error" || value.type.kind === "error") return this.errorExpr(expr);
    if (!this.checkAssignable(target)) return this.errorExpr(expr, target.type);
    if (target.type.kind === "struct" && target.type.block) {
      this.diagnostics.error("GLSL_BLOCK_AS_VALUE", { name: target.type.name }, position, end);
      return this.errorExpr(expr);
    }
    const type = target.type;
    let source: Expr;
    if (expr.op === undefined) {
      if (type.kind === "array" && type.size === undefined) {
        this.diagnostics.error("GLSL_UNSIZED_ASSIGN", {}, target.position, target.end);
        return this.errorExpr(expr);
      }
      if (this.specSized(type, "assigned", expr)) return this.errorExpr(expr);
      if (type.kind === "struct" && this.lacksArithmetic(type, "assigning", expr)) return this.errorExpr(expr, type);
      source = this.coerce(value, type);
    } else {
      // the reference compiler lets narrow types do this, even where they are there to be stored only
      const result = this.operation(expr.op, target, value, expr);
      if (result.kind === "error") return errorNode(result, type);
      if (!sameType(result.type, type)) {
        const values = { from: typeName(result.type), to: typeName(type) };
        this.diagnostics.error("GLSL_BAD_CONVERSION", values, value.position, value.end);
        return this.errorExpr(expr, type);
      }
      // the target keeps its type, so the value alone was converted
      const scalar = scalarOf(type) ?? "int64";
      const isShift = expr.op === "<<" || expr.op === ">>";
      source = isShift || scalarOf(value.type) === scalar ? value : this.convert(value, scalar);
    }
    if (source.kind === "error") return errorNode(source, type);
    return assignNode(expr.op, target, source, expr);
  }

  private conditional(expr: ast.ConditionalExpr): Expr {
    const condition = this.conditionValue(expr.condition);
    let yes = this.value(expr.yes);
    let no = this.value(expr.no);
    const { position, end } = expr;
    if (yes.type.kind === "error" || no.type.kind === "error") return this.errorExpr(expr);
    const x = scalarOf(yes.type);
    const y = scalarOf(no.type);
    if (x !== undefined && y !== undefined && x !== y) {
      const common = this.commonScalar(x, y);
      if (common !== undefined && withScalar(yes.type, common) === withScalar(no.type, common)) {
        yes = this.convert(yes, common);
        no = this.convert(no, common);
      }
    }
    const type = yes.type;
    if (!sameType(type, no.type) || type.kind === "opaque") {
      const values = { left: typeName(type), right: typeName(no.type) };
      this.diagnostics.error("GLSL_CONDITIONAL_TYPES", values, position, end);
      return this.errorExpr(expr);
    }
    if (condition.kind === "error") return this.errorExpr(expr, type);
    if (condition.kind === "constant" && yes.kind === "constant" && no.kind === "constant") {
      return this.constantExpr(type, condition.values[0] === 1 ? yes.values : no.values, expr);
    }
    let constness = joinConstness(condition.constness, joinConstness(yes.constness, no.constness));
    if (constness === 2 && (type.kind === "array" || type.kind === "struct" || type.kind === "matrix")) constness = 0;
    return conditionalNode(condition, yes, no, constness, expr);
  }
}

/** The size of an array that one specialisation constant gives, as it is without specialisation. */
function defaultSize(type: Type): number | undefined {
  const size = type.kind === "array" ? (type.specSize as Expr | undefined) : undefined;
  const init = size?.kind === "variable" ? size.variable.initializer : undefined;
  return init?.kind === "constant" ? Number(init.values[0]) : undefined;
}

/** A sampler, image or block with a binding, or an array of them. */
function isResource(variable: Variable): boolean {
  return variable.storage === "buffer" || variable.storage === "uniform";
}

function holdsIntegers(type: Type): boolean {
  return isInteger(scalarOf(coreType(type)));
}
