import type { Annotations } from "./annotations.ts";
import type { ConstantValues } from "./constants.ts";
import { Decoration, Op } from "./enums.ts";
import { type Module, operand, operandCount } from "./module.ts";

/** Deepest nesting of types that is followed; the universal limit is 255. */
const maxTypeDepth = 256;

/** Byte sizes of types with explicit layout (Offset, ArrayStride, MatrixStride). */
export class TypeLayout {
  readonly #module: Module;
  readonly #annotations: Annotations;
  readonly #constants: ConstantValues;
  readonly #sizes = new Map<number, number>();

  constructor(module: Module, annotations: Annotations, constants: ConstantValues) {
    this.#module = module;
    this.#annotations = annotations;
    this.#constants = constants;
  }

  /** Bytes from the start to the last byte in use: no padding at the end, a runtime array counts 0. */
  sizeBytes(type: number): number {
    return this.#size(type, 0);
  }

  /** Stride of the runtime array that ends the struct, or undefined without one. */
  runtimeArrayStrideBytes(struct: number): number | undefined {
    const found = this.#module.definitions[struct];
    if (found?.opcode !== Op.OpTypeStruct || operandCount(found) === 0) return undefined;
    const last = operand(this.#module, found, operandCount(found) - 1);
    if (this.#module.definitions[last]?.opcode !== Op.OpTypeRuntimeArray) return undefined;
    return this.#annotations.value(last, Decoration.ArrayStride);
  }

  #size(type: number, depth: number): number {
    const known = this.#sizes.get(type);
    if (known !== undefined) return known;
    const size = depth > maxTypeDepth ? 0 : this.#compute(type, depth + 1);
    this.#sizes.set(type, size);
    return size;
  }

  #compute(type: number, depth: number): number {
    const module = this.#module;
    const found = module.definitions[type];
    if (found === undefined) return 0;
    const first = operand(module, found, 0);
    switch (found.opcode) {
      case Op.OpTypeInt:
      case Op.OpTypeFloat:
        return first / 8;
      case Op.OpTypeVector:
        return this.#size(first, depth) * operand(module, found, 1);
      case Op.OpTypePointer:
        return 8;
      case Op.OpTypeArray: {
        const count = this.#constants.value(operand(module, found, 1)) ?? 0;
        const element = this.#size(first, depth);
        const stride = this.#annotations.value(type, Decoration.ArrayStride) ?? element;
        return count === 0 ? 0 : stride * (count - 1) + element;
      }
      case Op.OpTypeMatrix:
        // outside a struct there is no MatrixStride: tight columns
        return this.#size(first, depth) * operand(module, found, 1);
      case Op.OpTypeStruct: {
        let size = 0;
        for (let m = 0; m < operandCount(found); m++) {
          const offset = this.#annotations.memberValue(type, m, Decoration.Offset) ?? size;
          size = Math.max(size, offset + this.#memberSize(type, m, operand(module, found, m), depth));
        }
        return size;
      }
      default:
        return 0;
    }
  }

  /** A member's size: matrices, also in arrays, are laid out by the member's decorations. */
  #memberSize(struct: number, member: number, type: number, depth: number): number {
    const module = this.#module;
    let outer = 0;
    let inner = module.definitions[type];
    for (let level = 0; inner?.opcode === Op.OpTypeArray && level < maxTypeDepth; level++) {
      const count = this.#constants.value(operand(module, inner, 1)) ?? 0;
      const stride = this.#annotations.value(inner.result, Decoration.ArrayStride) ?? 0;
      outer += stride * Math.max(0, count - 1);
      inner = module.definitions[operand(module, inner, 0)];
    }
    const stride = this.#annotations.memberValue(struct, member, Decoration.MatrixStride);
    if (inner?.opcode !== Op.OpTypeMatrix || stride === undefined) return this.#size(type, depth);
    const column = module.definitions[operand(module, inner, 0)];
    if (column === undefined) return 0;
    const columns = operand(module, inner, 1);
    const rows = operand(module, column, 1);
    const scalar = this.#size(operand(module, column, 0), depth);
    const rowMajor = this.#annotations.memberHas(struct, member, Decoration.RowMajor);
    return outer + (rowMajor ? stride * (rows - 1) + scalar * columns : stride * (columns - 1) + scalar * rows);
  }
}
