/** How a format reads the bits of its components. */
export const NumericKind = { UNORM: 0, SNORM: 1, USCALED: 2, SSCALED: 3, UINT: 4, SINT: 5, FLOAT: 6 } as const;
export type NumericKindName = keyof typeof NumericKind;

export interface BufferFormatRow {
  /** The V#'s FORMAT field. */
  readonly number: number;
  /** Bits of x, y, z, w as far as they are there; x stands in the lowest bits. */
  readonly widths: readonly number[];
  readonly kind: NumericKindName;
}

const six = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT"] as const;
const seven = [...six, "FLOAT"] as const;
const three = ["UINT", "SINT", "FLOAT"] as const;

/** Number of the first kind, widths, kinds. Names of the ISA list the highest bits first: 30 is 10_11_11, 50 is 2_10_10_10. */
const runs: readonly (readonly [first: number, widths: readonly number[], kinds: readonly NumericKindName[]])[] = [
  [1, [8], six],
  [7, [16], seven],
  [14, [8, 8], six],
  [20, [32], three],
  [23, [16, 16], seven],
  [30, [11, 11, 10], seven],
  [37, [10, 11, 11], seven],
  [44, [2, 10, 10, 10], six],
  [50, [10, 10, 10, 2], six],
  [56, [8, 8, 8, 8], six],
  [62, [32, 32], three],
  [65, [16, 16, 16, 16], seven],
  [72, [32, 32, 32], three],
  [75, [32, 32, 32, 32], three],
];

/** Formats of typed buffer loads and stores. Source: GFX10 buffer format numbers of the register reference. */
export const bufferFormats: readonly BufferFormatRow[] = runs.flatMap(([first, widths, kinds]) =>
  kinds.map((kind, k) => ({ number: first + k, widths, kind })),
);

/** Bytes of an element of format `number`; undefined where there is no such format. */
export function bufferFormatBytes(number: number): number | undefined {
  const row = bufferFormats.find((format) => format.number === number);
  return row && row.widths.reduce((sum, bits) => sum + bits, 0) / 8;
}
