import { Bug } from "../../base/index.ts";
import { Op } from "../../spirv/index.ts";
import type { BinaryOp } from "../syntax/index.ts";
import { type NumberType, numberOf, type Type } from "../types/index.ts";

/** Opcodes of an operator on float, int, uint, bool; undefined where the type has none. */
type Row = readonly [number | undefined, number | undefined, number | undefined, number | undefined];

const rows: Readonly<Record<BinaryOp, Row>> = {
  "+": [Op.OpFAdd, Op.OpIAdd, Op.OpIAdd, undefined],
  "-": [Op.OpFSub, Op.OpISub, Op.OpISub, undefined],
  "*": [Op.OpFMul, Op.OpIMul, Op.OpIMul, undefined],
  "/": [Op.OpFDiv, Op.OpSDiv, Op.OpUDiv, undefined],
  "%": [undefined, Op.OpSMod, Op.OpUMod, undefined],
  "<<": [undefined, Op.OpShiftLeftLogical, Op.OpShiftLeftLogical, undefined],
  ">>": [undefined, Op.OpShiftRightArithmetic, Op.OpShiftRightLogical, undefined],
  "&": [undefined, Op.OpBitwiseAnd, Op.OpBitwiseAnd, undefined],
  "|": [undefined, Op.OpBitwiseOr, Op.OpBitwiseOr, undefined],
  "^": [undefined, Op.OpBitwiseXor, Op.OpBitwiseXor, undefined],
  "<": [Op.OpFOrdLessThan, Op.OpSLessThan, Op.OpULessThan, undefined],
  ">": [Op.OpFOrdGreaterThan, Op.OpSGreaterThan, Op.OpUGreaterThan, undefined],
  "<=": [Op.OpFOrdLessThanEqual, Op.OpSLessThanEqual, Op.OpULessThanEqual, undefined],
  ">=": [Op.OpFOrdGreaterThanEqual, Op.OpSGreaterThanEqual, Op.OpUGreaterThanEqual, undefined],
  "==": [Op.OpFOrdEqual, Op.OpIEqual, Op.OpIEqual, Op.OpLogicalEqual],
  "!=": [Op.OpFUnordNotEqual, Op.OpINotEqual, Op.OpINotEqual, Op.OpLogicalNotEqual],
  "&&": [undefined, undefined, undefined, Op.OpLogicalAnd],
  "||": [undefined, undefined, undefined, Op.OpLogicalOr],
  "^^": [undefined, undefined, undefined, Op.OpLogicalNotEqual],
};

/** The rows again, by operator: an object with operators for names is slow to look into. */
const rowsByOperator = new Map<string, Row>(Object.entries(rows));

/** The instruction for an operator whose left operand has components of type `number`. */
export function binaryOpcode(op: BinaryOp, number: NumberType): number {
  const opcode = rowsByOperator.get(op)![number.kindNumber];
  if (opcode === undefined) throw new Bug(`operator ${op} on ${number.scalar}`);
  return opcode;
}

export function unaryOpcode(op: "-" | "!" | "~", type: Type): number {
  if (op === "!") return Op.OpLogicalNot;
  if (op === "~") return Op.OpNot;
  return numberOf(type)?.kindNumber === 0 ? Op.OpFNegate : Op.OpSNegate;
}

/** Instructions whose result `NoContraction` keeps from being joined with another. */
export const contractible: ReadonlySet<number> = new Set<number>([
  Op.OpFAdd,
  Op.OpFSub,
  Op.OpFMul,
  Op.OpFDiv,
  Op.OpFMod,
  Op.OpFNegate,
  Op.OpDot,
  Op.OpVectorTimesScalar,
  Op.OpMatrixTimesScalar,
  Op.OpVectorTimesMatrix,
  Op.OpMatrixTimesVector,
  Op.OpMatrixTimesMatrix,
  Op.OpOuterProduct,
]);
