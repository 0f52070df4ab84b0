import { suggest } from "../../base/index.ts";
import type * as ast from "../syntax/index.ts";
import {
  type ArrayType,
  elementCount,
  elementType,
  intType,
  isInteger,
  leafCount,
  type StructType,
  scalarOf,
  type Type,
  typeName,
  vectorSize,
  vectorType,
} from "../types/index.ts";
import { type CheckContext, joinConstness } from "./base.ts";
import { NameChecker } from "./names.ts";
import { baseNode, indexNode, memberNode, swizzleNode } from "./nodes.ts";
import { swizzleComponents } from "./swizzles.ts";
import type { Expr, Variable } from "./tree.ts";

/** Access to parts: elements, members, components, lengths. */
export abstract class AccessChecker extends NameChecker {
  /** Members of blocks that take their size from use: the highest index so far. */
  protected growing: Map<ArrayType, number> | undefined;

  protected override begin(context: CheckContext): void {
    super.begin(context);
    this.growing = undefined;
  }

  protected index(expr: ast.IndexExpr): Expr {
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

  protected member(expr: ast.MemberExpr): Expr {
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
