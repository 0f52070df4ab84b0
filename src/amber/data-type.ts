/** How a component's bits are read: integers by sign, floats by width. Normalised formats hold their raw integers. */
type ScalarKind = "int" | "uint" | "float";

export interface Scalar {
  readonly kind: ScalarKind;
  /** 8, 16, 32 or 64; any width in packed formats. */
  readonly bits: number;
}

export interface StructMember {
  readonly name: string;
  readonly type: DataType;
  /** Bytes from the struct's start, where the script gives it. */
  readonly offset?: number;
}

/** The type of a buffer's elements. */
export type DataType =
  | { readonly is: "scalar"; readonly scalar: Scalar }
  | { readonly is: "vector"; readonly scalar: Scalar; readonly count: number }
  | {
      readonly is: "matrix";
      readonly scalar: Scalar;
      readonly columns: number;
      readonly rows: number;
      readonly stride?: number;
      readonly rowMajor?: boolean;
    }
  | { readonly is: "array"; readonly element: DataType; readonly count: number; readonly stride?: number }
  | {
      readonly is: "struct";
      readonly name: string;
      readonly members: readonly StructMember[];
      readonly stride?: number;
    }
  /** An image format: components tightly one after the other, from the lowest bit on. */
  | {
      readonly is: "format";
      readonly name: string;
      readonly components: readonly Scalar[];
      readonly sizeBytes: number;
    };

export type LayoutRule = "std140" | "std430";

/** One component: where its lowest bit stands in an element, and what it is. */
export interface Leaf {
  readonly offsetBits: number;
  readonly scalar: Scalar;
}

/** How one element of a buffer lies in memory. `sizeBytes` is also the step to the next element. */
export interface ElementLayout {
  readonly sizeBytes: number;
  readonly leaves: readonly Leaf[];
}

const roundUp = (value: number, to: number) => Math.ceil(value / to) * to;

interface Placed {
  readonly sizeBytes: number;
  readonly alignBytes: number;
  readonly leaves: readonly Leaf[];
}

const moved = (leaves: readonly Leaf[], bytes: number): Leaf[] =>
  leaves.map(({ offsetBits, scalar }) => ({ offsetBits: offsetBits + bytes * 8, scalar }));

function run(scalar: Scalar, count: number, strideBytes = scalar.bits / 8): Leaf[] {
  return Array.from({ length: count }, (_, i) => ({ offsetBits: i * strideBytes * 8, scalar }));
}

/** Source: OpenGL 4.6 specification, 7.6.2.2 "Standard Uniform Block Layout". */
function place(type: DataType, rule: LayoutRule): Placed {
  switch (type.is) {
    case "scalar": {
      const bytes = type.scalar.bits / 8;
      return { sizeBytes: bytes, alignBytes: bytes, leaves: run(type.scalar, 1) };
    }
    case "vector": {
      const bytes = type.scalar.bits / 8;
      const alignBytes = bytes * (type.count === 3 ? 4 : type.count);
      return { sizeBytes: bytes * type.count, alignBytes, leaves: run(type.scalar, type.count) };
    }
    case "matrix":
      return placeMatrix(type, rule);
    case "array": {
      const element = place(type.element, rule);
      const alignBytes = rule === "std140" ? roundUp(element.alignBytes, 16) : element.alignBytes;
      const stride = type.stride ?? roundUp(element.sizeBytes, alignBytes);
      const leaves = Array.from({ length: type.count }, (_, i) => moved(element.leaves, i * stride)).flat();
      return { sizeBytes: stride * type.count, alignBytes, leaves };
    }
    case "struct": {
      let next = 0;
      let alignBytes = rule === "std140" ? 16 : 1;
      const leaves: Leaf[] = [];
      for (const member of type.members) {
        const placed = place(member.type, rule);
        const offset = member.offset ?? roundUp(next, placed.alignBytes);
        leaves.push(...moved(placed.leaves, offset));
        next = offset + placed.sizeBytes;
        alignBytes = Math.max(alignBytes, placed.alignBytes);
      }
      return { sizeBytes: type.stride ?? roundUp(next, alignBytes), alignBytes, leaves };
    }
    case "format": {
      let offsetBits = 0;
      const leaves = type.components.map((scalar) => {
        const leaf = { offsetBits, scalar };
        offsetBits += scalar.bits;
        return leaf;
      });
      return { sizeBytes: type.sizeBytes, alignBytes: type.sizeBytes, leaves };
    }
  }
}

function placeMatrix(type: Extract<DataType, { is: "matrix" }>, rule: LayoutRule): Placed {
  const { scalar, columns, rows } = type;
  const bytes = scalar.bits / 8;
  const [lines, width] = type.rowMajor ? [rows, columns] : [columns, rows];
  const lineAlign = bytes * (width === 3 ? 4 : width);
  const alignBytes = rule === "std140" ? roundUp(lineAlign, 16) : lineAlign;
  const stride = type.stride ?? alignBytes;
  const leaves: Leaf[] = [];
  // values are listed column by column whichever way they lie
  for (let column = 0; column < columns; column++) {
    for (let row = 0; row < rows; row++) {
      const offset = type.rowMajor ? row * stride + column * bytes : column * stride + row * bytes;
      leaves.push({ offsetBits: offset * 8, scalar });
    }
  }
  return { sizeBytes: stride * lines, alignBytes, leaves };
}

/** Layout of one buffer element. A runtime array (`float[]`) is one array element of its stride. */
export function layoutElement(type: DataType, rule: LayoutRule): ElementLayout {
  const whole: DataType = type.is === "array" && type.count === 0 ? { ...type, count: 1 } : type;
  const { sizeBytes, alignBytes, leaves } = place(whole, rule);
  return { sizeBytes: whole.is === "format" ? sizeBytes : Math.max(sizeBytes, roundUp(sizeBytes, alignBytes)), leaves };
}

const scalars: Readonly<Record<string, Scalar>> = {
  int8: { kind: "int", bits: 8 },
  int16: { kind: "int", bits: 16 },
  int32: { kind: "int", bits: 32 },
  int64: { kind: "int", bits: 64 },
  uint8: { kind: "uint", bits: 8 },
  uint16: { kind: "uint", bits: 16 },
  uint32: { kind: "uint", bits: 32 },
  uint64: { kind: "uint", bits: 64 },
  float16: { kind: "float", bits: 16 },
  float: { kind: "float", bits: 32 },
  double: { kind: "float", bits: 64 },
};

/** AmberScript's type names; undefined for a name that is none. `structs` are the script's own. */
export function parseAmberType(name: string, structs: ReadonlyMap<string, DataType>): DataType | undefined {
  const array = /^(.*)\[(\d*)\]$/.exec(name);
  if (array !== null) {
    const element = parseAmberType(array[1] ?? "", structs);
    if (element === undefined || element.is === "format") return undefined;
    return { is: "array", element, count: array[2] === "" ? 0 : Number(array[2]) };
  }
  const scalar = scalars[name];
  if (scalar !== undefined) return { is: "scalar", scalar };
  const vector = /^vec([234])<(\w+)>$/.exec(name);
  if (vector !== null) {
    const component = scalars[vector[2] ?? ""];
    return component && { is: "vector", scalar: component, count: Number(vector[1]) };
  }
  const matrix = /^mat([234])x([234])<(\w+)>$/.exec(name);
  if (matrix !== null) {
    const component = scalars[matrix[3] ?? ""];
    return component && { is: "matrix", scalar: component, columns: Number(matrix[1]), rows: Number(matrix[2]) };
  }
  return structs.get(name) ?? parseFormat(name);
}

const formatKinds: Readonly<Record<string, ScalarKind>> = {
  UNORM: "uint",
  SNORM: "int",
  UINT: "uint",
  SINT: "int",
  USCALED: "uint",
  SSCALED: "int",
  SRGB: "uint",
  SFLOAT: "float",
};

/** An image format by its Vulkan name without `VK_FORMAT_`; undefined for a name that is none. */
export function parseFormat(name: string): DataType | undefined {
  const match = /^((?:X8_)?(?:[RGBADSX]\d+)+)_([A-Z]+)(?:_S8_UINT)?(?:_PACK(8|16|32))?$/.exec(name);
  const packed = match?.[3];
  const kind = packed !== undefined ? "uint" : formatKinds[match?.[2] ?? ""];
  if (match === null || kind === undefined) return undefined;
  // a packed element is written and compared as one number
  if (packed !== undefined) {
    return { is: "format", name, components: [{ kind, bits: Number(packed) }], sizeBytes: Number(packed) / 8 };
  }
  const depthStencil = name.endsWith("_S8_UINT") && name !== "S8_UINT";
  const components = [...(match[1] ?? "").matchAll(/[RGBADSX](\d+)/g)].map((m) => ({ kind, bits: Number(m[1]) }));
  if (depthStencil) components.push({ kind: "uint", bits: 8 });
  const bits = components.reduce((sum, c) => sum + c.bits, 0);
  return { is: "format", name, components, sizeBytes: Math.ceil(bits / 8) };
}

const formatSuffixes: Readonly<Record<ScalarKind, string>> = { int: "SINT", uint: "UINT", float: "SFLOAT" };

/** The image format whose elements lie as those of a buffer's type, by Vulkan's name; undefined where there is none. */
export function formatOf(type: DataType): string | undefined {
  if (type.is === "format") return type.name;
  if (type.is !== "scalar" && type.is !== "vector") return undefined;
  const count = type.is === "vector" ? type.count : 1;
  const channels = ["R", "G", "B", "A"].slice(0, count).map((channel) => `${channel}${type.scalar.bits}`);
  return `${channels.join("")}_${formatSuffixes[type.scalar.kind]}`;
}

const vkPrefixes: Readonly<Record<string, Scalar>> = {
  "": { kind: "float", bits: 32 },
  d: { kind: "float", bits: 64 },
  f16: { kind: "float", bits: 16 },
  i: { kind: "int", bits: 32 },
  u: { kind: "uint", bits: 32 },
  i8: { kind: "int", bits: 8 },
  u8: { kind: "uint", bits: 8 },
  i16: { kind: "int", bits: 16 },
  u16: { kind: "uint", bits: 16 },
  i64: { kind: "int", bits: 64 },
  u64: { kind: "uint", bits: 64 },
};

const vkScalars: Readonly<Record<string, Scalar>> = {
  int: { kind: "int", bits: 32 },
  uint: { kind: "uint", bits: 32 },
  int8_t: { kind: "int", bits: 8 },
  uint8_t: { kind: "uint", bits: 8 },
  int16_t: { kind: "int", bits: 16 },
  uint16_t: { kind: "uint", bits: 16 },
  int64_t: { kind: "int", bits: 64 },
  uint64_t: { kind: "uint", bits: 64 },
  float: { kind: "float", bits: 32 },
  float16_t: { kind: "float", bits: 16 },
  double: { kind: "float", bits: 64 },
};

/** VkScript's type names, which are GLSL's; undefined for a name that is none. */
export function parseVkType(name: string): DataType | undefined {
  const scalar = vkScalars[name];
  if (scalar !== undefined) return { is: "scalar", scalar };
  const vector = /^((?:[iu](?:8|16|64)?|d|f16)?)vec([234])$/.exec(name);
  if (vector !== null) {
    const component = vkPrefixes[vector[1] ?? ""];
    return component && { is: "vector", scalar: component, count: Number(vector[2]) };
  }
  const matrix = /^(d?)mat([234])(?:x([234]))?$/.exec(name);
  if (matrix === null) return undefined;
  const component = vkPrefixes[matrix[1] ?? ""];
  const columns = Number(matrix[2]);
  return component && { is: "matrix", scalar: component, columns, rows: Number(matrix[3] ?? columns) };
}
