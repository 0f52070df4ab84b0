import type { Annotations } from "./annotations.ts";
import type { ConstantValues } from "./constants.ts";
import { Decoration, Op } from "./enums.ts";
import type { ModuleIndex } from "./module-index.ts";

/** Deepest nesting of types that is followed; the universal limit is 255. */
const maxTypeDepth = 256;

/** Byte sizes of types with explicit layout (Offset, ArrayStride, MatrixStride). */
export class TypeLayout {
  readonly #index: ModuleIndex;
  readonly #annotations: Annotations;
  readonly #constants: ConstantValues;
  readonly #sizes = new Map<number, number>();

  constructor(index: ModuleIndex, annotations: Annotations, constants: ConstantValues) {
    this.#index = index;
    this.#annotations = annotations;
    this.#constants = constants;
  }

  /** Bytes from the start to the last byte in use: no padding at the end, a runtime array counts 0. */
  sizeBytes(type: number): number {
    return this.#size(type, 0);
  }

  /** Stride of the runtime array that ends the struct, or undefined without one. */
  runtimeArrayStrideBytes(struct: number): number | undefined {
    const index = this.#index;
    const members = index.count(struct);
    if (index.opcode(struct) !== Op.OpTypeStruct || members === 0) return undefined;
    const last = index.operand(struct, members - 1);
    if (index.opcode(last) !== Op.OpTypeRuntimeArray) return undefined;
    return this.#annotations.value(last, Decoration.ArrayStride);
  }

  #size(type: number, depth: number): number {
    if (depth > maxTypeDepth) return 0;
    // scalars and vectors are known as soon as they are looked at
    const opcode = this.#index.opcode(type);
    if (opcode === Op.OpTypeInt || opcode === Op.OpTypeFloat) return this.#index.operand(type, 0) / 8;
    if (opcode === Op.OpTypeVector) {
      return this.#size(this.#index.operand(type, 0), depth + 1) * this.#index.operand(type, 1);
    }
    const known = this.#sizes.get(type);
    if (known !== undefined) return known;
    const size = this.#compute(type, depth + 1);
    this.#sizes.set(type, size);
    return size;
  }

  #compute(type: number, depth: number): number {
    const index = this.#index;
    const first = index.operand(type, 0);
    switch (index.opcode(type)) {
      case Op.OpTypePointer:
        return 8;
      case Op.OpTypeArray: {
        const count = this.#constants.value(index.operand(type, 1)) ?? 0;
        const element = this.#size(first, depth);
        const stride = this.#annotations.value(type, Decoration.ArrayStride) ?? element;
        return count === 0 ? 0 : stride * (count - 1) + element;
      }
      case Op.OpTypeMatrix:
        // outside a struct there is no MatrixStride: tight columns
        return this.#size(first, depth) * index.operand(type, 1);
      case Op.OpTypeStruct: {
        let size = 0;
        const members = index.count(type);
        for (let m = 0; m < members; m++) {
          const offset = this.#annotations.memberValue(type, m, Decoration.Offset) ?? size;
          size = Math.max(size, offset + this.#memberSize(type, m, index.operand(type, m), depth));
        }
        return size;
      }
      default:
        return 0;
    }
  }

  /** A member's size: matrices, also in arrays, are laid out by the member's decorations. */
  #memberSize(struct: number, member: number, type: number, depth: number): number {
    const index = this.#index;
    let outer = 0;
    let inner = type;
    for (let level = 0; index.opcode(inner) === Op.OpTypeArray && level < maxTypeDepth; level++) {
      const count = this.#constants.value(index.operand(inner, 1)) ?? 0;
      const stride = this.#annotations.value(inner, Decoration.ArrayStride) ?? 0;
      outer += stride * Math.max(0, count - 1);
      inner = index.operand(inner, 0);
    }
    if (index.opcode(inner) !== Op.OpTypeMatrix) return this.#size(type, depth);
    const stride = this.#annotations.memberValue(struct, member, Decoration.MatrixStride);
    if (stride === undefined) return this.#size(type, depth);
    const column = index.operand(inner, 0);
    const columns = index.operand(inner, 1);
    const rows = index.operand(column, 1);
    const scalar = this.#size(index.operand(column, 0), depth);
    const rowMajor = this.#annotations.memberHas(struct, member, Decoration.RowMajor);
    return outer + (rowMajor ? stride * (rows - 1) + scalar * columns : stride * (columns - 1) + scalar * rows);
  }
}
