import { Bug } from "../../base/index.ts";
import { Decoration, type Id, Op } from "../../spirv/index.ts";
import type { Component, ConstructExpr, Expr } from "../check/index.ts";
import type { BinaryOp } from "../syntax/index.ts";
import {
  boolType,
  elementCount,
  elementType,
  type MatrixType,
  type NumberType,
  numberOf,
  type ReferenceType,
  referenceStride,
  type ScalarKind,
  scalarBits,
  scalarFacts,
  scalarOf,
  scalarType,
  type Type,
  type VectorType,
  vectorSize,
  vectorType,
  withScalar,
} from "../types/index.ts";
import { MemoryEmitter } from "./memory.ts";
import { binaryOpcode, contractible, unaryOpcode } from "./opcodes.ts";

/** Operators, conversions and constructors on values. */
export abstract class OperatorEmitter extends MemoryEmitter {
  /** Inside the computation of something `precise`. */
  protected precise = false;

  /** An instruction whose result is decorated where it must not be contracted. */
  protected arithmetic(opcode: number, type: Type, a: Id, b?: Id): Id {
    const id = this.b.emitResult(opcode, this.typeId(type), a, b);
    if (this.precise && contractible.has(opcode)) this.b.decorate(id, Decoration.NoContraction);
    return id;
  }

  /** As `arithmetic` for any number of operands. */
  protected arithmeticWords(opcode: number, type: Type, operands: readonly Id[]): Id {
    const id = this.b.emitResultWords(opcode, this.typeId(type), operands);
    if (this.precise && contractible.has(opcode)) this.b.decorate(id, Decoration.NoContraction);
    return id;
  }

  /** `left op right` on values; a scalar beside a vector or matrix stands for all of it. */
  protected binaryValue(op: BinaryOp, type: Type, left: Id, leftType: Type, right: Id, rightType: Type): Id {
    if (leftType.kind === "reference") return this.referenceBinary(op, type, left, leftType, right, rightType);
    if (op === "==" || op === "!=") return this.equality(op, left, right, leftType);
    if (leftType.kind === "matrix" || rightType.kind === "matrix") {
      return this.matrixBinary(op, type, left, leftType, right, rightType);
    }
    const number = numberOf(leftType)!;
    if (leftType.kind === rightType.kind) return this.arithmetic(binaryOpcode(op, number), type, left, right);
    if (op === "*" && number.kindNumber === 0) {
      if (leftType.kind === "vector") return this.arithmetic(Op.OpVectorTimesScalar, type, left, right);
      return this.arithmetic(Op.OpVectorTimesScalar, type, right, left);
    }
    const { size } = type as VectorType;
    const a = leftType.kind === "scalar" ? this.splat(left, type) : left;
    const b = rightType.kind === "scalar" ? this.splat(right, rightType.vectors[size]!) : right;
    return this.arithmetic(binaryOpcode(op, number), type, a, b);
  }

  private addressOf(reference: Id): Id {
    return this.b.emitResult(Op.OpConvertPtrToU, this.typeId(scalarType("uint64")), reference);
  }

  /** The address that a constant of reference type names. */
  protected referenceConstant(type: ReferenceType, value: Component): Id {
    const address = this.constantId(scalarType("uint64"), [value]);
    return this.b.emitResult(Op.OpConvertUToPtr, this.typeId(type), address);
  }

  /** Comparisons of references, steps by whole blocks (an int64), and their differences in blocks. */
  private referenceBinary(op: BinaryOp, type: Type, left: Id, leftType: ReferenceType, right: Id, rightType: Type): Id {
    const b = this.b;
    const uint64 = this.typeId(scalarType("uint64"));
    const int64 = this.typeId(scalarType("int64"));
    const stride = this.constantId(scalarType("int64"), [referenceStride(leftType)]);
    const address = this.addressOf(left);
    if (op === "==" || op === "!=") {
      return b.emitResult(
        op === "==" ? Op.OpIEqual : Op.OpINotEqual,
        this.typeId(type),
        address,
        this.addressOf(right),
      );
    }
    if (rightType.kind === "reference") {
      const bytes = b.emitResult(Op.OpISub, uint64, address, this.addressOf(right));
      return b.emitResult(Op.OpSDiv, int64, b.emitResult(Op.OpBitcast, int64, bytes), stride);
    }
    const step = b.emitResult(Op.OpIMul, int64, this.convertValue(right, rightType, scalarType("int64")), stride);
    const bytes = b.emitResult(Op.OpBitcast, uint64, step);
    const moved = b.emitResult(op === "+" ? Op.OpIAdd : Op.OpISub, uint64, address, bytes);
    return b.emitResult(Op.OpConvertUToPtr, this.typeId(type), moved);
  }

  private matrixBinary(op: BinaryOp, type: Type, left: Id, leftType: Type, right: Id, rightType: Type): Id {
    if (op === "*") {
      const kinds = `${leftType.kind} ${rightType.kind}`;
      switch (kinds) {
        case "matrix matrix":
          return this.arithmetic(Op.OpMatrixTimesMatrix, type, left, right);
        case "matrix vector":
          return this.arithmetic(Op.OpMatrixTimesVector, type, left, right);
        case "vector matrix":
          return this.arithmetic(Op.OpVectorTimesMatrix, type, left, right);
        case "matrix scalar":
          return this.arithmetic(Op.OpMatrixTimesScalar, type, left, right);
        default:
          return this.arithmetic(Op.OpMatrixTimesScalar, type, right, left);
      }
    }
    if (type.kind !== "matrix") throw new Bug(`operator ${op} on matrices`);
    const column = vectorType(type.scalar, type.rows);
    const side = (id: Id, sideType: Type, at: number): Id =>
      sideType.kind === "matrix" ? this.extract(id, column, at) : id;
    return this.byColumn(type, (at) =>
      this.binaryValue(
        op,
        column,
        side(left, leftType, at),
        leftType.kind === "matrix" ? column : leftType,
        side(right, rightType, at),
        rightType.kind === "matrix" ? column : rightType,
      ),
    );
  }

  /** A matrix from its columns. */
  protected byColumn(type: MatrixType, column: (at: number) => Id): Id {
    const columns: Id[] = [];
    for (let at = 0; at < type.columns; at++) columns.push(column(at));
    return this.b.emitResultWords(Op.OpCompositeConstruct, this.typeId(type), columns);
  }

  protected extract(id: Id, type: Type, at: number, then?: number): Id {
    return this.b.emitResult(Op.OpCompositeExtract, this.typeId(type), id, at, then);
  }

  /** One bool: whether all parts are equal, or some part differs. */
  private equality(op: "==" | "!=", left: Id, right: Id, type: Type): Id {
    const b = this.b;
    if (type.kind === "scalar") return b.emitResult(binaryOpcode(op, type), this.typeId(boolType), left, right);
    if (type.kind === "vector") {
      const bools = this.typeId(boolType.vectors[type.size]!);
      const each = b.emitResult(binaryOpcode(op, type), bools, left, right);
      return b.emitResult(op === "==" ? Op.OpAll : Op.OpAny, this.typeId(boolType), each);
    }
    const count = type.kind === "struct" ? type.members.length : (elementCount(type) ?? 0);
    let result: Id | undefined;
    for (let at = 0; at < count; at++) {
      const part = type.kind === "struct" ? type.members[at]!.type : elementType(type)!;
      const one = this.equality(op, this.extract(left, part, at), this.extract(right, part, at), part);
      const join = op === "==" ? Op.OpLogicalAnd : Op.OpLogicalOr;
      result = result === undefined ? one : b.emitResult(join, this.typeId(boolType), result, one);
    }
    return result ?? b.constBool(op === "==");
  }

  protected unaryValue(op: "-" | "!" | "~", type: Type, operand: Id): Id {
    if (type.kind === "matrix") {
      const column = vectorType(type.scalar, type.rows);
      return this.byColumn(type, (at) => this.unaryValue(op, column, this.extract(operand, column, at)));
    }
    return this.arithmetic(unaryOpcode(op, type), type, operand);
  }

  /** The value with another component type, as constructors convert. */
  protected convertValue(id: Id, from: Type, to: Type): Id {
    if (from.kind === "reference" || to.kind === "reference") {
      if (from === scalarType("uint64")) return this.b.emitResult(Op.OpConvertUToPtr, this.typeId(to), id);
      if (to === scalarType("uint64")) return this.addressOf(id);
      return this.b.emitResult(Op.OpBitcast, this.typeId(to), id);
    }
    const fromNumber = numberOf(from)!;
    const toNumber = numberOf(to)!;
    const source = fromNumber.scalar;
    const target = toNumber.scalar;
    if (source === target) return id;
    if (from.kind === "matrix" && to.kind === "matrix") {
      const a = vectorType(from.scalar, from.rows);
      const b = vectorType(to.scalar, to.rows);
      return this.byColumn(to, (at) => this.convertValue(this.extract(id, a, at), a, b));
    }
    const b = this.b;
    const type = this.typeId(to);
    if (source === "bool") {
      return b.emitResult(Op.OpSelect, type, id, this.filledConstant(to, 1), this.filledConstant(to, 0));
    }
    if (target === "bool") return b.emitResult(binaryOpcode("!=", fromNumber), type, id, this.filledConstant(from, 0));
    const isWhole = fromNumber.kindNumber !== 0 && toNumber.kindNumber !== 0;
    if (isWhole && fromNumber.kindNumber !== toNumber.kindNumber && scalarBits(source) !== scalarBits(target)) {
      // first the width, in the source's own sign, then the sign
      const middle = withScalar(to, resized(source, target));
      return b.emitResult(Op.OpBitcast, type, this.convertValue(id, from, middle));
    }
    return b.emitResult(conversionOpcode(fromNumber, toNumber), type, id);
  }

  protected constructValue(expr: ConstructExpr): Id {
    const { type, form, args } = expr;
    if (form === "splat") return this.splat(this.value(args[0]!), type);
    const ids = new Array<Id>(args.length);
    for (let at = 0; at < args.length; at++) ids[at] = this.value(args[at]!);
    if (form === "sampled") {
      return this.b.emitResult(Op.OpSampledImage, this.typeId(type), ids[0]!, ids[1]!);
    }
    if (form === "members") return this.b.emitResultWords(Op.OpCompositeConstruct, this.typeId(type), ids);
    if (type.kind === "matrix") {
      if (form === "diagonal") return this.diagonal(type, ids[0]!);
      if (form === "resize") return this.resize(type, ids[0]!, args[0]!.type);
      return this.matrixOf(type, ids, args);
    }
    if (type.kind === "scalar") return this.leaves(ids, args, 1, type.scalar)[0]!;
    // whole vectors may stand in a construction as they are
    const whole = type.kind === "vector" && componentsOf(args) === type.size;
    const parts = whole ? ids : this.leaves(ids, args, vectorSize(type), scalarOf(type)!);
    return this.b.emitResultWords(Op.OpCompositeConstruct, this.typeId(type), parts);
  }

  /** The first `count` components of all arguments together. */
  private leaves(ids: readonly Id[], args: readonly Expr[], count: number, scalar: ScalarKind): Id[] {
    const leaf = scalarType(scalar);
    const result: Id[] = [];
    for (const [at, arg] of args.entries()) {
      const { type } = arg;
      const columns = type.kind === "matrix" ? type.columns : 1;
      const rows = type.kind === "matrix" ? type.rows : vectorSize(type);
      for (let part = 0; part < columns * rows && result.length < count; part++) {
        if (type.kind === "scalar") result.push(ids[at]!);
        else if (type.kind === "matrix") {
          const own = scalarType(type.scalar);
          const one = this.extract(ids[at]!, own, Math.floor(part / rows), part % rows);
          result.push(this.convertValue(one, own, leaf));
        } else result.push(this.extract(ids[at]!, leaf, part));
      }
    }
    return result;
  }

  private matrixOf(type: MatrixType, ids: readonly Id[], args: readonly Expr[]): Id {
    const column = vectorType(type.scalar, type.rows);
    if (args.every((arg) => arg.type === column)) {
      return this.b.emitResultWords(Op.OpCompositeConstruct, this.typeId(type), ids);
    }
    const leaves = this.leaves(ids, args, type.columns * type.rows, type.scalar);
    return this.byColumn(type, (at) => {
      const parts = leaves.slice(at * type.rows, (at + 1) * type.rows);
      return this.b.emitResultWords(Op.OpCompositeConstruct, this.typeId(column), parts);
    });
  }

  private diagonal(type: MatrixType, value: Id): Id {
    const column = vectorType(type.scalar, type.rows);
    const zero = this.constantId(scalarType(type.scalar), [0]);
    return this.byColumn(type, (at) => {
      const parts = Array.from({ length: type.rows }, (_, row) => (row === at ? value : zero));
      return this.b.emitResultWords(Op.OpCompositeConstruct, this.typeId(column), parts);
    });
  }

  /** A matrix of another shape: the common part, the rest from the identity matrix. */
  private resize(type: MatrixType, id: Id, from: Type): Id {
    if (from.kind !== "matrix") throw new Bug("resize of no matrix");
    const scalar = scalarType(type.scalar);
    const column = vectorType(type.scalar, type.rows);
    return this.byColumn(type, (at) => {
      const parts = Array.from({ length: type.rows }, (_, row) =>
        at < from.columns && row < from.rows
          ? this.extract(id, scalar, at, row)
          : this.constantId(scalar, [at === row ? 1 : 0]),
      );
      return this.b.emitResultWords(Op.OpCompositeConstruct, this.typeId(column), parts);
    });
  }
}

/** Components of scalars and vectors together; -1 where there is a matrix among them. */
function componentsOf(args: readonly Expr[]): number {
  let total = 0;
  for (let at = 0; at < args.length; at++) {
    const { type } = args[at]!;
    if (type.kind === "matrix") return -1;
    total += vectorSize(type);
  }
  return total;
}

/** The integer type with the sign of one and the width of another. */
function resized(sign: ScalarKind, width: ScalarKind): ScalarKind {
  const { bits } = scalarFacts[width];
  const name = scalarFacts[sign].kind === "int" ? "int" : "uint";
  return bits === 32 ? name : (`${name}${bits}` as ScalarKind);
}

function conversionOpcode(from: NumberType, to: NumberType): number {
  const toSigned = to.kindNumber === 1;
  if (from.kindNumber === 0) {
    if (to.kindNumber === 0) return Op.OpFConvert;
    return toSigned ? Op.OpConvertFToS : Op.OpConvertFToU;
  }
  const fromSigned = from.kindNumber === 1;
  if (to.kindNumber === 0) return fromSigned ? Op.OpConvertSToF : Op.OpConvertUToF;
  if (scalarBits(from.scalar) === scalarBits(to.scalar)) return Op.OpBitcast;
  return fromSigned ? Op.OpSConvert : Op.OpUConvert;
}
