import type { Annotations } from "./annotations.ts";
import { Decoration, Op } from "./enums.ts";
import type { ModuleIndex } from "./module-index.ts";

/** Values for specialisation constants, as requests carry them. 64-bit values come as decimal strings. */
export interface Specialization {
  readonly id: number;
  readonly value: number | boolean | string;
}

/** Deepest chain of constants that is followed; a legal module stays far below. */
const maxDepth = 256;

/**
 * Evaluates 32-bit integer and boolean constants, specialisation applied: OpConstant, OpSpecConstant and the integer
 * operations of OpSpecConstantOp. Values are unsigned 32-bit numbers, booleans 0 and 1.
 */
export class ConstantValues {
  readonly #index: ModuleIndex;
  readonly #annotations: Annotations;
  /** Absent where nothing is specialised. */
  readonly #given: ReadonlyMap<number, number> | undefined;
  /** Made with the first that is asked for: most modules are asked for none. */
  #known: Map<number, number | undefined> | undefined;

  constructor(index: ModuleIndex, annotations: Annotations, specialization: readonly Specialization[] = []) {
    this.#index = index;
    this.#annotations = annotations;
    this.#given =
      specialization.length === 0 ? undefined : new Map(specialization.map((s) => [s.id, Number(s.value) >>> 0]));
  }

  /** The value, or undefined where `id` is no such constant. */
  value(id: number): number | undefined {
    return this.#value(id, 0);
  }

  #value(id: number, depth: number): number | undefined {
    if (depth > maxDepth) return undefined;
    this.#known ??= new Map();
    if (!this.#known.has(id)) {
      // a constant that leads back to itself has no value
      this.#known.set(id, undefined);
      this.#known.set(id, this.#compute(id, depth));
    }
    return this.#known.get(id);
  }

  #compute(id: number, depth: number): number | undefined {
    const index = this.#index;
    switch (index.opcode(id)) {
      case Op.OpConstantTrue:
        return 1;
      case Op.OpConstantFalse:
      case Op.OpConstantNull:
        return 0;
      case Op.OpConstant:
        return this.#isInt(index.type(id)) ? index.operand(id, 0) : undefined;
      case Op.OpSpecConstantTrue:
        return this.#specialized(id, true) ?? 1;
      case Op.OpSpecConstantFalse:
        return this.#specialized(id, true) ?? 0;
      case Op.OpSpecConstant:
        if (!this.#isInt(index.type(id))) return undefined;
        return this.#specialized(id, false) ?? index.operand(id, 0);
      case Op.OpSpecConstantOp: {
        const values: number[] = [];
        for (let i = 1; i < index.count(id); i++) {
          const value = this.#value(index.operand(id, i), depth + 1);
          if (value === undefined) return undefined;
          values.push(value);
        }
        return applyInteger(index.operand(id, 0), values);
      }
      default:
        return undefined;
    }
  }

  #isInt(type: number): boolean {
    return this.#index.opcode(type) === Op.OpTypeInt && this.#index.operand(type, 0) <= 32;
  }

  #specialized(id: number, bool: boolean): number | undefined {
    const specId = this.#annotations.value(id, Decoration.SpecId);
    const given = specId === undefined ? undefined : this.#given?.get(specId);
    return given !== undefined && bool ? Number(given !== 0) : given;
  }
}

/** One integer or boolean operation on 32-bit words; undefined for other operations and for division by 0. */
function applyInteger(opcode: number, v: readonly number[]): number | undefined {
  const [a = 0, b = 0, c = 0] = v;
  const [sa, sb] = [a | 0, b | 0];
  switch (opcode) {
    case Op.OpIAdd:
      return (a + b) >>> 0;
    case Op.OpISub:
      return (a - b) >>> 0;
    case Op.OpIMul:
      return Math.imul(a, b) >>> 0;
    case Op.OpUDiv:
      return b === 0 ? undefined : Math.floor(a / b);
    case Op.OpSDiv:
      return b === 0 ? undefined : Math.trunc(sa / sb) >>> 0;
    case Op.OpUMod:
      return b === 0 ? undefined : a % b;
    case Op.OpSRem:
      return b === 0 ? undefined : (sa % sb) >>> 0;
    case Op.OpSMod:
      // the result takes the divisor's sign
      return b === 0 ? undefined : (((sa % sb) + sb) % sb) >>> 0;
    case Op.OpSNegate:
      return -a >>> 0;
    case Op.OpNot:
      return ~a >>> 0;
    case Op.OpBitwiseAnd:
      return (a & b) >>> 0;
    case Op.OpBitwiseOr:
      return (a | b) >>> 0;
    case Op.OpBitwiseXor:
      return (a ^ b) >>> 0;
    case Op.OpShiftLeftLogical:
      return b > 31 ? undefined : (a << b) >>> 0;
    case Op.OpShiftRightLogical:
      return b > 31 ? undefined : a >>> b;
    case Op.OpShiftRightArithmetic:
      return b > 31 ? undefined : (sa >> b) >>> 0;
    case Op.OpSelect:
      return a !== 0 ? b : c;
    case Op.OpLogicalAnd:
      return a & b;
    case Op.OpLogicalOr:
      return a | b;
    case Op.OpLogicalNot:
      return a ^ 1;
    case Op.OpIEqual:
    case Op.OpLogicalEqual:
      return Number(a === b);
    case Op.OpINotEqual:
    case Op.OpLogicalNotEqual:
      return Number(a !== b);
    case Op.OpULessThan:
      return Number(a < b);
    case Op.OpULessThanEqual:
      return Number(a <= b);
    case Op.OpUGreaterThan:
      return Number(a > b);
    case Op.OpUGreaterThanEqual:
      return Number(a >= b);
    case Op.OpSLessThan:
      return Number(sa < sb);
    case Op.OpSLessThanEqual:
      return Number(sa <= sb);
    case Op.OpSGreaterThan:
      return Number(sa > sb);
    case Op.OpSGreaterThanEqual:
      return Number(sa >= sb);
    case Op.OpUConvert:
    case Op.OpSConvert:
      return a;
    default:
      return undefined;
  }
}
