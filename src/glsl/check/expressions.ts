import type * as ast from "../syntax/index.ts";
import {
  boolType,
  coreType,
  intType,
  leafCount,
  sameType,
  scalarFacts,
  scalarOf,
  scalarType,
  typeName,
  uintType,
  withScalar,
} from "../types/index.ts";
import { AccessChecker } from "./access.ts";
import { joinConstness } from "./base.ts";
import { wrapWide } from "./fold.ts";
import { unreadable } from "./lvalues.ts";
import { assignNode, commaNode, conditionalNode, constantNode, errorNode, incrementNode } from "./nodes.ts";
import type { Expr } from "./tree.ts";

/** Components that one value may have when it is copied, passed or compared whole. */
const VALUE_LEAF_LIMIT = 65536;

/** Expressions: what is read of values, operators, assignment. */
export abstract class ExpressionChecker extends AccessChecker {
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
