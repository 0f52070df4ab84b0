import { suggest } from "../../base/index.ts";
import { type BuiltinVariable, builtinConstants, builtinVariables } from "../builtins/index.ts";
import type * as ast from "../syntax/index.ts";
import { builtinType, coreType, isInteger, type StructType, scalarOf, type Type } from "../types/index.ts";
import type { CheckContext, Range } from "./base.ts";
import { CallChecker } from "./calls.ts";
import { foreignVariables } from "./foreign-names.ts";
import { reportMissingVariable } from "./missing.ts";
import { constantNode, memberNode, variableNode } from "./nodes.ts";
import type { Expr, Variable } from "./tree.ts";
import { newVariable, noPlace } from "./variable.ts";

const scopeExtension = "GL_KHR_memory_scope_semantics";
/** Built-in variables of subgroups that the extension before SPIR-V 1.3 has as well. */
const olderSubgroups: ReadonlySet<string> = new Set(["gl_SubgroupSize", "gl_SubgroupInvocationID"]);

/** What an output block `gl_PerVertex` may have. Source: GLSL 4.60, 7.1.1 (Vertex Shader Special Variables). */
const perVertexMembers: ReadonlySet<string> = new Set([
  "gl_Position",
  "gl_PointSize",
  "gl_ClipDistance",
  "gl_CullDistance",
]);

/** Names: variables, the built-in ones among them. */
export abstract class NameChecker extends CallChecker {
  /** Built-in variables that some expression names. */
  protected usedBuiltins: Variable[] = [];
  private builtins: ReadonlyMap<string, BuiltinVariable> | undefined;
  /** Members of a redeclared `gl_PerVertex`: the shader has no others of its block then. */
  protected perVertexNames: ReadonlySet<string> | undefined;

  protected override begin(context: CheckContext): void {
    super.begin(context);
    this.usedBuiltins = [];
    this.builtins = undefined;
    this.perVertexNames = undefined;
  }

  protected abstract workGroupSizeVariable(place: ast.NameExpr): Variable;

  protected abstract declareGlobal(variable: Variable): void;

  protected name(expr: ast.NameExpr): Expr {
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
}

function holdsIntegers(type: Type): boolean {
  return isInteger(scalarOf(coreType(type)));
}
