import { Op } from "../enums.ts";
import { instructionRow, opName } from "../grammar.ts";
import type { Instruction } from "../module.ts";
import type { Context } from "./context.ts";
import { applyRule, instructionRules } from "./rules.ts";

/** Operations that OpSpecConstantOp may do in a shader, next to those with a row in `instructionRules`. */
const specialised: ReadonlySet<number> = new Set([
  Op.OpSelect,
  Op.OpCompositeExtract,
  Op.OpCompositeInsert,
  Op.OpVectorShuffle,
]);

const matrixOps: ReadonlySet<number> = new Set([
  Op.OpVectorTimesScalar,
  Op.OpMatrixTimesScalar,
  Op.OpVectorTimesMatrix,
  Op.OpMatrixTimesVector,
  Op.OpMatrixTimesMatrix,
  Op.OpOuterProduct,
  Op.OpTranspose,
]);

/** Checks constants and instructions on vectors, matrices and composites; undefined for any other instruction. */
export function checkComposite(c: Context, instruction: Instruction): string | undefined {
  const { types } = c;
  const result = instruction.type;
  switch (instruction.opcode) {
    case Op.OpConstantTrue:
    case Op.OpConstantFalse:
    case Op.OpSpecConstantTrue:
    case Op.OpSpecConstantFalse:
      return types.opcode(result) === Op.OpTypeBool ? undefined : "result type must be bool";
    case Op.OpConstantNull:
      return types.opcode(result) === Op.OpTypeVoid || types.opcode(result) === Op.OpTypeRuntimeArray
        ? "no null of that type"
        : undefined;
    case Op.OpUndef:
      return types.opcode(result) === Op.OpTypeVoid ? "no value of type void" : undefined;
    case Op.OpConstantComposite:
    case Op.OpSpecConstantComposite:
      return compositeRule(c, result, 0, true);
    case Op.OpCompositeConstruct:
      return compositeRule(c, result, 0, false);
    case Op.OpCompositeExtract: {
      const part = follow(c, c.typeOf(0), 1);
      if (typeof part === "string") return part;
      return part === result ? undefined : "result type differs from the part's";
    }
    case Op.OpCompositeInsert: {
      if (c.typeOf(1) !== result) return "result type differs from the composite's";
      const part = follow(c, c.typeOf(1), 2);
      if (typeof part === "string") return part;
      return part === c.typeOf(0) ? undefined : "object has another type than the part";
    }
    case Op.OpCopyObject:
      return c.typeOf(0) === result ? undefined : "result type differs from the operand's";
    case Op.OpVectorExtractDynamic:
      if (types.opcode(c.typeOf(0)) !== Op.OpTypeVector || types.part(c.typeOf(0), 0) !== result)
        return "takes a component of a vector";
      return isScalarInt(c, 1) ? undefined : "index must be an integer";
    case Op.OpVectorInsertDynamic:
      if (types.opcode(result) !== Op.OpTypeVector || c.typeOf(0) !== result)
        return "operand must be of the result's vector type";
      if (c.typeOf(1) !== types.part(result, 0)) return "component has the wrong type";
      return isScalarInt(c, 2) ? undefined : "index must be an integer";
    case Op.OpVectorShuffle:
      return shuffleRule(c, result, 0);
    case Op.OpSelect:
      return selectRule(c, result, 0);
    case Op.OpBitcast:
      return bitcastRule(c, result, c.typeOf(0));
    case Op.OpSpecConstantOp:
      return specConstantOpRule(c, instruction);
    case Op.OpAny:
    case Op.OpAll:
      if (types.opcode(result) !== Op.OpTypeBool) return "result must be a scalar bool";
      return types.base(c.typeOf(0)) === "bool" && types.dimension(c.typeOf(0)) > 1
        ? undefined
        : "operand must be a bool vector";
    case Op.OpDot:
      if (types.opcode(c.typeOf(0)) !== Op.OpTypeVector || c.typeOf(0) !== c.typeOf(1))
        return "operands must be vectors of one type";
      return types.base(result) === "float" && types.part(c.typeOf(0), 0) === result
        ? undefined
        : "result must be the float component";
    case Op.OpSDot:
    case Op.OpUDot:
    case Op.OpSUDot:
    case Op.OpSDotAccSat:
    case Op.OpUDotAccSat:
    case Op.OpSUDotAccSat:
      return integerDotRule(c, instruction.opcode, result);
    case Op.OpIAddCarry:
    case Op.OpISubBorrow:
    case Op.OpUMulExtended:
    case Op.OpSMulExtended: {
      const parts = types.opcode(result) === Op.OpTypeStruct ? types.parts(result) : undefined;
      const part = parts?.count === 2 && parts.of(0) === parts.of(1) ? parts.of(0) : 0;
      if (types.base(part) !== "int") return "result must be a struct of two equal integers";
      return c.typeOf(0) === part && c.typeOf(1) === part ? undefined : "operands must have the members' type";
    }
    default:
      return matrixOps.has(instruction.opcode) ? matrixRule(c, instruction) : undefined;
  }
}

/** Integers of one width, the first and the second as many; unsigned where the opcode says so; or four bytes in a word. */
function integerDotRule(c: Context, opcode: number, result: number): string | undefined {
  const { types } = c;
  const [a, b] = [c.typeOf(0), c.typeOf(1)];
  const size = types.dimension(a);
  if (types.base(result) !== "int" || types.dimension(result) !== 1) return "result must be a scalar integer";
  if (
    types.base(a) !== "int" ||
    types.base(b) !== "int" ||
    types.dimension(b) !== size ||
    types.width(a) !== types.width(b)
  )
    return "operands must be integer vectors of one size, or words";
  if (types.width(result) < (size === 1 ? 8 : types.width(a))) return "result must be as wide as a component";
  if (size === 1 && types.width(a) !== 32) return "four bytes must be in a 32-bit integer";
  return opcode >= Op.OpSDotAccSat && c.typeOf(2) !== result ? "accumulator must have the result's type" : undefined;
}

function isConstant(c: Context, index: number): boolean {
  const found = c.module.definitions[c.word(index)];
  return found !== undefined && (found.row.isConstant || found.opcode === Op.OpUndef);
}

function isScalarInt(c: Context, index: number): boolean {
  return c.types.base(c.typeOf(index)) === "int" && c.types.dimension(c.typeOf(index)) === 1;
}

/** Constituents from operand `from` on; a vector may be made of shorter vectors unless it is a constant. */
function compositeRule(c: Context, result: number, from: number, constant: boolean): string | undefined {
  const { types } = c;
  const parts = types.parts(result);
  if (parts === undefined || types.opcode(result) === Op.OpTypeRuntimeArray) return "result type has no parts";
  if (constant) {
    for (let i = from; i < c.count; i++) {
      if (!isConstant(c, i)) return `constituent ${i - from} is no constant`;
    }
  }
  if (types.opcode(result) === Op.OpTypeVector && !constant) {
    let components = 0;
    for (let i = from; i < c.count; i++) {
      if (types.component(c.typeOf(i)) !== parts.of(0)) return `constituent ${i - from} has the wrong type`;
      components += types.dimension(c.typeOf(i));
    }
    return components === parts.count && c.count - from >= 2
      ? undefined
      : `has ${components} components of ${parts.count}`;
  }
  if (parts.count !== undefined && parts.count !== c.count - from)
    return `has ${c.count - from} constituents of ${parts.count}`;
  for (let i = from; i < c.count; i++)
    if (c.typeOf(i) !== parts.of(i - from)) return `constituent ${i - from} has the wrong type`;
  return undefined;
}

/** The type that literal indices from operand `from` on reach, or the complaint. */
function follow(c: Context, start: number, from: number): number | string {
  let at = start;
  for (let i = from; i < c.count; i++) {
    const parts = c.types.parts(at);
    if (parts === undefined || c.types.opcode(at) === Op.OpTypeRuntimeArray)
      return `index ${i - from} goes into a type without parts`;
    if (parts.count !== undefined && c.word(i) >= parts.count) return `index ${i - from} is past the last part`;
    at = parts.of(c.word(i));
  }
  return at;
}

function shuffleRule(c: Context, result: number, from: number): string | undefined {
  const { types } = c;
  const [a, b] = [c.typeOf(from), c.typeOf(from + 1)];
  if ([result, a, b].some((t) => types.opcode(t) !== Op.OpTypeVector)) return "operands and result must be vectors";
  if (types.part(a, 0) !== types.part(result, 0) || types.part(b, 0) !== types.part(result, 0))
    return "component types differ";
  const total = types.dimension(a) + types.dimension(b);
  if (c.count - from - 2 !== types.dimension(result))
    return `has ${c.count - from - 2} components of ${types.dimension(result)}`;
  for (let i = from + 2; i < c.count; i++) {
    if (c.word(i) >= total && c.word(i) !== 0xffffffff) return `component ${c.word(i)} is past the operands' ${total}`;
  }
  return undefined;
}

function selectRule(c: Context, result: number, from: number): string | undefined {
  const { types } = c;
  if (c.typeOf(from + 1) !== result || c.typeOf(from + 2) !== result) return "objects must have the result's type";
  const condition = c.typeOf(from);
  if (types.base(condition) !== "bool") return "condition must be bool";
  const scalar = types.dimension(condition) === 1;
  if (scalar && c.module.version >= 0x10400) return undefined;
  const size = types.base(result) !== undefined || types.isPointer(result);
  return size && types.dimension(condition) === types.dimension(result) ? undefined : "condition has the wrong size";
}

function bitcastRule(c: Context, result: number, from: number): string | undefined {
  const { types } = c;
  if (types.isPointer(result) || types.isPointer(from))
    return types.isPointer(from) || types.base(from) === "int" ? undefined : "cannot cast to a pointer";
  const bits = (t: number): number => types.width(t) * types.dimension(t);
  return bits(result) > 0 && bits(result) === bits(from) ? undefined : "operand and result differ in bits";
}

function specConstantOpRule(c: Context, instruction: Instruction): string | undefined {
  const opcode = c.word(0);
  const rule = instructionRules.get(opcode);
  for (let i = 1; i < c.count; i++) {
    const literal =
      opcode === Op.OpCompositeExtract
        ? i > 1
        : opcode === Op.OpCompositeInsert || opcode === Op.OpVectorShuffle
          ? i > 2
          : false;
    if (!literal && !isConstant(c, i)) return `operand ${i} is no constant`;
  }
  if (rule !== undefined) {
    return applyRule(c, rule, instruction.type, 1);
  }
  if (!specialised.has(opcode) || instructionRow(opcode) === undefined)
    return `${opName(opcode)} is no operation on constants`;
  // the same checks, one operand further on
  const shifted = c.at(instruction, 1);
  return checkComposite(shifted, { ...instruction, opcode });
}

function matrixRule(c: Context, instruction: Instruction): string | undefined {
  const { types } = c;
  const result = instruction.type;
  const [a, b] = [c.typeOf(0), c.typeOf(1)];
  const isMatrix = (t: number): boolean => types.opcode(t) === Op.OpTypeMatrix;
  const isVector = (t: number): boolean => types.opcode(t) === Op.OpTypeVector && types.base(t) === "float";
  const expect = (good: boolean): string | undefined => (good ? undefined : "operand or result has the wrong type");
  const rows = (t: number): number => types.dimension(types.part(t, 0));
  const columns = (t: number): number => types.part(t, 1);
  const scalar = (t: number): number => types.component(isMatrix(t) ? types.part(t, 0) : t);
  switch (instruction.opcode) {
    case Op.OpVectorTimesScalar:
      return expect(isVector(result) && a === result && b === types.part(result, 0));
    case Op.OpMatrixTimesScalar:
      return expect(isMatrix(result) && a === result && b === scalar(result));
    case Op.OpVectorTimesMatrix:
      return expect(
        isVector(result) &&
          isMatrix(b) &&
          a === types.part(b, 0) &&
          types.dimension(result) === columns(b) &&
          scalar(result) === scalar(b),
      );
    case Op.OpMatrixTimesVector:
      return expect(
        isMatrix(a) &&
          result === types.part(a, 0) &&
          isVector(b) &&
          types.dimension(b) === columns(a) &&
          scalar(b) === scalar(a),
      );
    case Op.OpMatrixTimesMatrix:
      return expect(
        isMatrix(result) &&
          isMatrix(a) &&
          isMatrix(b) &&
          types.part(a, 0) === types.part(result, 0) &&
          columns(a) === rows(b) &&
          columns(b) === columns(result) &&
          scalar(b) === scalar(a),
      );
    case Op.OpOuterProduct:
      return expect(
        isMatrix(result) &&
          a === types.part(result, 0) &&
          isVector(b) &&
          types.dimension(b) === columns(result) &&
          scalar(b) === scalar(a),
      );
    case Op.OpTranspose:
      return expect(
        isMatrix(result) &&
          isMatrix(a) &&
          rows(result) === columns(a) &&
          columns(result) === rows(a) &&
          scalar(result) === scalar(a),
      );
    default:
      return undefined;
  }
}
