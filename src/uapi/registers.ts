/**
 * Registers of the SH space that compute dispatches use: byte offset and fields [name, lsb, width].
 * Source: RDNA2 register reference (public); the model's GPU refuses offsets that are no row.
 */
export type FieldRow = readonly [name: string, lsb: number, width: number];

export interface RegisterRow {
  readonly offset: number;
  readonly fields?: readonly FieldRow[];
}

/** First byte offset of each SET_*_REG packet's space; its register field is (offset - base) / 4. */
export const RegisterSpace = { CONFIG: 0x8000, SH: 0xb000, CONTEXT: 0x28000, UCONFIG: 0x30000 } as const;

export const shRegisters = {
  COMPUTE_DISPATCH_INITIATOR: {
    offset: 0xb800,
    fields: [
      ["COMPUTE_SHADER_EN", 0, 1],
      ["PARTIAL_TG_EN", 1, 1],
      ["FORCE_START_AT_000", 2, 1],
      ["USE_THREAD_DIMENSIONS", 5, 1],
      ["CS_W32_EN", 15, 1],
    ],
  },
  COMPUTE_START_X: { offset: 0xb810 },
  COMPUTE_START_Y: { offset: 0xb814 },
  COMPUTE_START_Z: { offset: 0xb818 },
  COMPUTE_NUM_THREAD_X: {
    offset: 0xb81c,
    fields: [
      ["NUM_THREAD_FULL", 0, 16],
      ["NUM_THREAD_PARTIAL", 16, 16],
    ],
  },
  COMPUTE_NUM_THREAD_Y: {
    offset: 0xb820,
    fields: [
      ["NUM_THREAD_FULL", 0, 16],
      ["NUM_THREAD_PARTIAL", 16, 16],
    ],
  },
  COMPUTE_NUM_THREAD_Z: {
    offset: 0xb824,
    fields: [
      ["NUM_THREAD_FULL", 0, 16],
      ["NUM_THREAD_PARTIAL", 16, 16],
    ],
  },
  COMPUTE_PGM_LO: { offset: 0xb830 },
  COMPUTE_PGM_HI: { offset: 0xb834, fields: [["DATA", 0, 8]] },
  COMPUTE_DISPATCH_SCRATCH_BASE_LO: { offset: 0xb840 },
  COMPUTE_DISPATCH_SCRATCH_BASE_HI: { offset: 0xb844, fields: [["DATA", 0, 8]] },
  COMPUTE_PGM_RSRC1: {
    offset: 0xb848,
    fields: [
      ["VGPRS", 0, 6],
      ["SGPRS", 6, 4],
      ["PRIORITY", 10, 2],
      ["FLOAT_MODE", 12, 8],
      ["PRIV", 20, 1],
      ["DX10_CLAMP", 21, 1],
      ["IEEE_MODE", 23, 1],
      ["FP16_OVFL", 26, 1],
      ["WGP_MODE", 29, 1],
      ["MEM_ORDERED", 30, 1],
      ["FWD_PROGRESS", 31, 1],
    ],
  },
  COMPUTE_PGM_RSRC2: {
    offset: 0xb84c,
    fields: [
      ["SCRATCH_EN", 0, 1],
      ["USER_SGPR", 1, 5],
      ["TRAP_PRESENT", 6, 1],
      ["TGID_X_EN", 7, 1],
      ["TGID_Y_EN", 8, 1],
      ["TGID_Z_EN", 9, 1],
      ["TG_SIZE_EN", 10, 1],
      ["TIDIG_COMP_CNT", 11, 2],
      ["EXCP_EN_MSB", 13, 2],
      ["LDS_SIZE", 15, 9],
      ["EXCP_EN", 24, 7],
    ],
  },
  COMPUTE_RESOURCE_LIMITS: { offset: 0xb854, fields: [["WAVES_PER_SH", 0, 10]] },
  COMPUTE_TMPRING_SIZE: {
    offset: 0xb860,
    fields: [
      ["WAVES", 0, 12],
      ["WAVESIZE", 12, 13],
    ],
  },
  COMPUTE_PGM_RSRC3: { offset: 0xb8a0, fields: [["SHARED_VGPR_CNT", 0, 4]] },
} as const satisfies Readonly<Record<string, RegisterRow>>;

export const COMPUTE_USER_DATA_0 = 0xb900;
export const COMPUTE_USER_DATA_COUNT = 16;

export type ShRegisterName = keyof typeof shRegisters;

const byOffset = new Map<number, readonly [string, RegisterRow]>(
  Object.entries(shRegisters).map(([name, row]) => [row.offset, [name, row]]),
);
for (let n = 0; n < COMPUTE_USER_DATA_COUNT; n++) {
  const offset = COMPUTE_USER_DATA_0 + n * 4;
  byOffset.set(offset, [`COMPUTE_USER_DATA_${n}`, { offset }]);
}

/** The SH register at a byte offset. */
export function registerAt(offset: number): readonly [name: string, row: RegisterRow] | undefined {
  return byOffset.get(offset);
}
