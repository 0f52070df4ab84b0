import {
  type MatrixType,
  type ReferenceType,
  type ScalarKind,
  type StructType,
  scalarBits,
  type Type,
} from "./types.ts";

export type Packing = "std140" | "std430" | "scalar";

export interface StructLayout {
  /** Bytes from the start, by member. */
  readonly offsets: readonly number[];
  readonly sizeBytes: number;
  readonly alignBytes: number;
  /** The mark of an emitter: the struct's id with this layout in the module of that number. */
  module: number;
  id: number;
}

function roundUp(value: number, align: number): number {
  return Math.ceil(value / align) * align;
}

function scalarBytes(scalar: ScalarKind): number {
  return scalarBits(scalar) / 8;
}

function vectorAlign(components: number, bytes: number, packing: Packing): number {
  if (packing === "scalar" || components === 1) return bytes;
  return components === 2 ? 2 * bytes : 4 * bytes;
}

/** Bytes between a matrix's columns (rows where row-major). Source: OpenGL 4.6 core section 7.6.2.2, rules 5 and 7. */
export function matrixStride(type: MatrixType, packing: Packing, rowMajor: boolean): number {
  const bytes = scalarBytes(type.scalar);
  const components = rowMajor ? type.columns : type.rows;
  if (packing === "scalar") return components * bytes;
  const align = vectorAlign(components, bytes, packing);
  return packing === "std140" ? roundUp(align, 16) : align;
}

/** Bytes between the elements of an array of `element`. */
export function arrayStride(element: Type, packing: Packing, rowMajor: boolean): number {
  const align = alignBytes(element, packing, rowMajor);
  return roundUp(sizeBytes(element, packing, rowMajor), packing === "std140" ? roundUp(align, 16) : align);
}

/** Base alignment in a block of the packing. */
export function alignBytes(type: Type, packing: Packing, rowMajor: boolean): number {
  switch (type.kind) {
    case "scalar":
      return scalarBytes(type.scalar);
    case "vector":
      return vectorAlign(type.size, scalarBytes(type.scalar), packing);
    case "matrix": {
      const bytes = scalarBytes(type.scalar);
      const align = vectorAlign(rowMajor ? type.columns : type.rows, bytes, packing);
      return packing === "std140" ? roundUp(align, 16) : align;
    }
    case "array": {
      const align = alignBytes(type.element, packing, rowMajor);
      return packing === "std140" ? roundUp(align, 16) : align;
    }
    case "struct":
      return structLayout(type, packing, rowMajor).alignBytes;
    case "reference":
      return 8;
    default:
      return 4;
  }
}

/** Bytes that a value takes; an unsized array takes none. */
export function sizeBytes(type: Type, packing: Packing, rowMajor: boolean): number {
  switch (type.kind) {
    case "scalar":
      return scalarBytes(type.scalar);
    case "vector":
      return type.size * scalarBytes(type.scalar);
    case "matrix":
      return matrixStride(type, packing, rowMajor) * (rowMajor ? type.rows : type.columns);
    case "array": {
      if (type.size === undefined) return 0;
      const stride = arrayStride(type.element, packing, rowMajor);
      // what follows may stand in the last element's padding (scalar alone leaves some)
      return stride * (type.size - 1) + (packing === "scalar" ? sizeBytes(type.element, packing, rowMajor) : stride);
    }
    case "struct": {
      const layout = structLayout(type, packing, rowMajor);
      return packing === "scalar" ? layout.sizeBytes : roundUp(layout.sizeBytes, layout.alignBytes);
    }
    case "reference":
      return 8;
    default:
      return 4;
  }
}

/** Bytes from one block to the next where a reference is used as an array: `reference + 1`. */
export function referenceStride(type: ReferenceType): number {
  const { block, packing, rowMajor, alignBytes: align } = type;
  if (block === undefined) return align;
  return roundUp(structLayout(block, packing, rowMajor).sizeBytes, align);
}

const packings = { std140: 0, std430: 2, scalar: 4 } as const;

/** A small number for each layout that a block may have. */
function layoutIndex(packing: Packing, rowMajor: boolean): number {
  return packings[packing] + (rowMajor ? 1 : 0);
}

/** Where the members stand. `rowMajor` is the default for matrices that don't say. */
export function structLayout(type: StructType, packing: Packing, rowMajor: boolean): StructLayout {
  type.layouts ??= [undefined, undefined, undefined, undefined, undefined, undefined];
  const known = type.layouts;
  const key = layoutIndex(packing, rowMajor);
  known[key] ??= computeLayout(type, packing, rowMajor);
  return known[key];
}

function computeLayout(type: StructType, packing: Packing, rowMajor: boolean): StructLayout {
  const { members } = type;
  const offsets = new Array<number>(members.length);
  let offset = 0;
  let structAlign = packing === "std140" && !type.block ? 16 : 1;
  for (let at = 0; at < members.length; at++) {
    const member = members[at]!;
    const major = member.layout.rowMajor ?? rowMajor;
    const natural = alignBytes(member.type, packing, major);
    const align = Math.max(natural, member.layout.align ?? 1);
    offset = member.layout.offset ?? offset;
    offset = roundUp(offset, align);
    offsets[at] = offset;
    offset += sizeBytes(member.type, packing, major);
    structAlign = Math.max(structAlign, align);
  }
  return { offsets, sizeBytes: offset, alignBytes: structAlign, module: 0, id: 0 };
}
