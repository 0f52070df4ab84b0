import { packFields } from "./fields.ts";
import type { FieldRow } from "./registers.ts";

/** Buffer resource V#: four dwords. Source: RDNA2 ISA document, buffer resource descriptor. */
export const bufferResource: readonly (readonly FieldRow[])[] = [
  [["BASE_ADDRESS", 0, 32]],
  [
    ["BASE_ADDRESS_HI", 0, 16],
    ["STRIDE", 16, 14],
    ["CACHE_SWIZZLE", 30, 1],
    ["SWIZZLE_ENABLE", 31, 1],
  ],
  [["NUM_RECORDS", 0, 32]],
  [
    ["DST_SEL_X", 0, 3],
    ["DST_SEL_Y", 3, 3],
    ["DST_SEL_Z", 6, 3],
    ["DST_SEL_W", 9, 3],
    ["FORMAT", 12, 7],
    ["INDEX_STRIDE", 21, 2],
    ["ADD_TID_ENABLE", 23, 1],
    ["RESOURCE_LEVEL", 24, 1],
    ["LLC_NOALLOC", 26, 2],
    ["OOB_SELECT", 28, 2],
    ["TYPE", 30, 2],
  ],
];

/** GFX10 buffer format 32_FLOAT, what raw buffers carry. */
const FORMAT_32_FLOAT = 22;
/** Destination selects: 4 x, 5 y, 6 z, 7 w. */
const SEL = { x: 4, y: 5, z: 6, w: 7 } as const;
/** Out of range is a byte offset at or past NUM_RECORDS. */
const OOB_RAW = 3;

/** Out of range is an element at or past NUM_RECORDS, or bytes past its stride. */
const OOB_STRUCTURED = 0;

/** Elements of a typed buffer. */
export interface TypedBuffer {
  /** Number of the buffer format. */
  readonly format: number;
  readonly strideBytes: number;
  /** Elements. */
  readonly count: number;
  /** Destination selects of x, y, z, w: 0, 1, or 4 to 7 for a component of memory. */
  readonly select: readonly [number, number, number, number];
}

/** V# of `count` elements of a format from `address` (bytes) on; an element is in range whole, or not at all. */
export function typedBufferResource(address: bigint, typed: TypedBuffer): [number, number, number, number] {
  const va = BigInt.asUintN(48, address);
  const [x, y, z, w] = typed.select;
  return [
    packFields(bufferResource[0]!, { BASE_ADDRESS: Number(va & 0xffff_ffffn) }),
    packFields(bufferResource[1]!, { BASE_ADDRESS_HI: Number(va >> 32n), STRIDE: typed.strideBytes }),
    packFields(bufferResource[2]!, { NUM_RECORDS: typed.count }),
    packFields(bufferResource[3]!, {
      DST_SEL_X: x,
      DST_SEL_Y: y,
      DST_SEL_Z: z,
      DST_SEL_W: w,
      FORMAT: typed.format,
      RESOURCE_LEVEL: 1,
      OOB_SELECT: OOB_STRUCTURED,
    }),
  ];
}

/** V# of a raw buffer at `address` (bytes) of `sizeBytes`, with byte-exact bounds. */
export function rawBufferResource(address: bigint, sizeBytes: number): [number, number, number, number] {
  const va = BigInt.asUintN(48, address);
  return [
    packFields(bufferResource[0]!, { BASE_ADDRESS: Number(va & 0xffff_ffffn) }),
    packFields(bufferResource[1]!, { BASE_ADDRESS_HI: Number(va >> 32n) }),
    packFields(bufferResource[2]!, { NUM_RECORDS: sizeBytes }),
    packFields(bufferResource[3]!, {
      DST_SEL_X: SEL.x,
      DST_SEL_Y: SEL.y,
      DST_SEL_Z: SEL.z,
      DST_SEL_W: SEL.w,
      FORMAT: FORMAT_32_FLOAT,
      RESOURCE_LEVEL: 1,
      OOB_SELECT: OOB_RAW,
    }),
  ];
}
