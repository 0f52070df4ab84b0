import type { BinaryOp } from "../syntax/index.ts";
import {
  boolType,
  containsOpaque,
  isInteger,
  isReal,
  matrixType,
  referenceStride,
  type ScalarKind,
  sameType,
  scalarOf,
  scalarType,
  type Type,
  typeName,
  vectorSize,
  vectorType,
  withScalar,
} from "../types/index.ts";
import { CheckBase, joinConstness, type Range } from "./base.ts";
import { foldBinary, foldUnary, wrapWide } from "./fold.ts";
import { binaryNode, movedNode, unaryNode } from "./nodes.ts";
import type { Constness, Expr } from "./tree.ts";

/** What an operator makes of two operand types: conversions to component types (undefined: as they are) and result. */
interface Resolved {
  readonly left: ScalarKind | undefined;
  readonly right: ScalarKind | undefined;
  readonly type: Type;
}

const plainBool: Resolved = { left: undefined, right: undefined, type: boolType };

/** Types of operators. Source: GLSL 4.60 section 5.9. */
export abstract class OperatorChecker extends CheckBase {
  protected binaryOf(op: BinaryOp, left: Expr, right: Expr, place: Range): Expr {
    if (left.type.kind === "error" || right.type.kind === "error") return this.errorExpr(place);
    if (this.lacksArithmetic(left.type, `operator ${op} on`, place)) return this.errorExpr(place);
    if (this.lacksArithmetic(right.type, `operator ${op} on`, place)) return this.errorExpr(place);
    return this.operation(op, left, right, place);
  }

  /** As `binaryOf`, whatever the types may be used for. */
  protected operation(op: BinaryOp, left: Expr, right: Expr, place: Range): Expr {
    if (left.type.kind === "reference" || right.type.kind === "reference") {
      return this.referenceBinary(op, left, right, place);
    }
    if ((op === "==" || op === "!=") && this.specSized(left.type, "compared", place)) return this.errorExpr(place);
    // most operands are numbers of one type already
    if (left.type === right.type && isArithmetic(op) && isNumber(left.type)) {
      return this.makeBinary(op, left.type, left, right, place);
    }
    const resolved = this.resolveBinary(op, left.type, right.type);
    if (resolved === undefined) {
      const values = { op, left: typeName(left.type), right: typeName(right.type) };
      this.diagnostics.error("GLSL_BAD_OPERANDS", values, place.position, place.end);
      return this.errorExpr(place);
    }
    const a = resolved.left === undefined ? left : this.convert(left, resolved.left);
    const b = resolved.right === undefined ? right : this.convert(right, resolved.right);
    return this.makeBinary(op, resolved.type, a, b, place);
  }

  /** Steps from block to block, and differences of references. Source: GL_EXT_buffer_reference2. */
  private referenceBinary(op: BinaryOp, left: Expr, right: Expr, place: Range): Expr {
    const { position, end } = place;
    const has2 = this.context.extensions.has("GL_EXT_buffer_reference2");
    const same = left.type === right.type;
    if ((op === "==" || op === "!=") && same) {
      return binaryNode(op, left, right, boolType, 0, place);
    }
    if (op === "-" && same && has2) {
      return binaryNode(op, left, right, scalarType("int64"), 0, place);
    }
    const [base, step] = left.type.kind === "reference" ? [left, right] : [right, left];
    const fits = op === "+" || (op === "-" && base === left);
    const whole = step.type.kind === "scalar" && isInteger(step.type.scalar);
    if (!has2 || !fits || !whole || base.type.kind !== "reference") {
      const values = { op, left: typeName(left.type), right: typeName(right.type) };
      const steps = (fits && whole) || (op === "-" && same);
      if (!has2 && steps) {
        const what = `operator ${op} on ${typeName(base.type)}`;
        this.diagnostics.error("GLSL_NEEDS_EXTENSION", { what, extension: "GL_EXT_buffer_reference2" }, position, end);
      } else this.diagnostics.error("GLSL_BAD_OPERANDS", values, position, end);
      return this.errorExpr(place);
    }
    if (base.kind === "constant" && step.kind === "constant") {
      const bytes = BigInt(step.values[0]!) * BigInt(referenceStride(base.type));
      const address = BigInt(base.values[0]!) + (op === "+" ? bytes : -bytes);
      return this.constantExpr(base.type, [wrapWide(true, address)], place);
    }
    const count = this.convert(step, "int64");
    return binaryNode(op, base, count, base.type, 0, place);
  }

  private makeBinary(op: BinaryOp, type: Type, left: Expr, right: Expr, place: Range): Expr {
    if (left.kind === "constant" && right.kind === "constant") {
      const values = foldBinary(op, type, left, right);
      if (values !== undefined) return this.constantExpr(type, values, place);
    }
    let constness = joinConstness(left.constness, right.constness);
    if (constness === 2 && (involvesReal(left.type) || isAggregate(left.type))) constness = 0;
    return binaryNode(op, left, right, type, constness, place);
  }

  /** Operands and result of `op`, or undefined where no rule fits. */
  private resolveBinary(op: BinaryOp, a: Type, b: Type): Resolved | undefined {
    switch (op) {
      case "&&":
      case "||":
      case "^^":
        return a === boolType && b === boolType ? plainBool : undefined;
      case "==":
      case "!=":
        return this.resolveEquality(a, b);
      default:
        break;
    }
    const x = scalarOf(a);
    const y = scalarOf(b);
    if (x === undefined || y === undefined || x === "bool" || y === "bool") return undefined;
    if (op === "<<" || op === ">>") {
      if (isReal(x) || isReal(y)) return undefined;
      if (b.kind === "scalar" || vectorSize(a) === vectorSize(b)) return { left: undefined, right: undefined, type: a };
      return undefined;
    }
    const common = this.commonScalar(x, y);
    if (common === undefined) return undefined;
    switch (op) {
      case "<":
      case ">":
      case "<=":
      case ">=":
        return a.kind === "scalar" && b.kind === "scalar" ? { left: common, right: common, type: boolType } : undefined;
      case "%":
      case "&":
      case "|":
      case "^":
        if (isReal(common)) return undefined;
        break;
      default:
        break;
    }
    const type = arithmeticShape(op, withScalar(a, common), withScalar(b, common));
    return type === undefined ? undefined : { left: common, right: common, type };
  }

  private resolveEquality(a: Type, b: Type): Resolved | undefined {
    if (sameType(a, b)) {
      const comparable = a.kind !== "void" && !containsOpaque(a) && !(a.kind === "struct" && a.block);
      return comparable ? plainBool : undefined;
    }
    const x = scalarOf(a);
    const y = scalarOf(b);
    if (x === undefined || y === undefined) return undefined;
    const common = this.commonScalar(x, y);
    if (common === undefined || withScalar(a, common) !== withScalar(b, common)) return undefined;
    return { left: common, right: common, type: boolType };
  }

  protected unaryOf(op: "+" | "-" | "!" | "~", operand: Expr, place: Range): Expr {
    const type = operand.type;
    if (type.kind === "error") return this.errorExpr(place);
    if (this.lacksArithmetic(type, `operator ${op} on`, place)) return this.errorExpr(place);
    const scalar = scalarOf(type);
    const fits =
      op === "!" ? type === boolType : op === "~" ? isInteger(scalar) : scalar !== undefined && scalar !== "bool";
    if (!fits) {
      this.diagnostics.error("GLSL_BAD_OPERAND", { op, type: typeName(type) }, place.position, place.end);
      return this.errorExpr(place);
    }
    if (op === "+") return movedNode(operand, place);
    if (operand.kind === "constant") return this.constantExpr(type, foldUnary(op, operand), place);
    const constness: Constness = operand.constness === 2 && involvesReal(type) ? 0 : operand.constness;
    return unaryNode(op, operand, constness, place);
  }
}

/** Operators that give numbers of one type their type, whatever it is. */
function isArithmetic(op: BinaryOp): boolean {
  return op === "+" || op === "-" || op === "*" || op === "/";
}

/** A scalar or vector of numbers. */
function isNumber(type: Type): boolean {
  return (type.kind === "scalar" || type.kind === "vector") && type.scalar !== "bool";
}

function involvesReal(type: Type): boolean {
  const scalar = scalarOf(type);
  return scalar !== undefined && isReal(scalar);
}

function isAggregate(type: Type): boolean {
  return type.kind === "array" || type.kind === "struct" || type.kind === "matrix";
}

/** Result of arithmetic on operands of one component type. */
function arithmeticShape(op: BinaryOp, a: Type, b: Type): Type | undefined {
  if (a.kind === "scalar") return b;
  if (b.kind === "scalar") return a;
  if (op === "*") {
    if (a.kind === "matrix" && b.kind === "matrix") {
      return a.columns === b.rows ? matrixType(a.scalar, b.columns, a.rows) : undefined;
    }
    if (a.kind === "matrix" && b.kind === "vector") {
      return a.columns === b.size ? vectorType(a.scalar, a.rows) : undefined;
    }
    if (a.kind === "vector" && b.kind === "matrix") {
      return a.size === b.rows ? vectorType(b.scalar, b.columns) : undefined;
    }
  }
  return a === b ? a : undefined;
}
