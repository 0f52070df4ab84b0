/** A bit field of an instruction: `lsb` counts from bit 0 of its first dword; no field crosses a dword. */
export interface Field {
  readonly name: string;
  readonly lsb: number;
  readonly width: number;
  readonly signed: boolean;
}

export interface Format {
  readonly dwords: 1 | 2;
  /** Fixed bits of the first dword that tell the format. */
  readonly encoding: { readonly lsb: number; readonly width: number; readonly value: number };
  /** In the order of the packing functions' parameters; `op` first. */
  readonly fields: readonly Field[];
}

type FieldTuple = readonly [lsb: number, width: number, signed?: "signed"];

function fieldList(fields: Readonly<Record<string, FieldTuple>>): readonly Field[] {
  return Object.entries(fields).map(([name, [lsb, width, sign]]) => ({ name, lsb, width, signed: sign === "signed" }));
}

function format(
  dwords: 1 | 2,
  encoding: readonly [lsb: number, width: number, value: number],
  fields: Readonly<Record<string, FieldTuple>>,
): Format {
  const [lsb, width, value] = encoding;
  return { dwords, encoding: { lsb, width, value }, fields: fieldList(fields) };
}

const flatFields = {
  op: [18, 7],
  vdst: [56, 8],
  addr: [32, 8],
  data: [40, 8],
  saddr: [48, 7],
  offset: [0, 12, "signed"],
  seg: [14, 2],
  glc: [16, 1],
  slc: [17, 1],
  dlc: [12, 1],
  lds: [13, 1],
} as const;

/** Instruction formats of gfx1030. Source: RDNA2 ISA, microcode formats chapter. */
export const formats = {
  SOP1: format(1, [23, 9, 0x17d], { op: [8, 8], sdst: [16, 7], src0: [0, 8] }),
  SOPC: format(1, [23, 9, 0x17e], { op: [16, 7], src0: [0, 8], src1: [8, 8] }),
  SOPP: format(1, [23, 9, 0x17f], { op: [16, 7], simm16: [0, 16] }),
  SOPK: format(1, [28, 4, 0xb], { op: [23, 5], sdst: [16, 7], simm16: [0, 16] }),
  SOP2: format(1, [30, 2, 2], { op: [23, 7], sdst: [16, 7], src0: [0, 8], src1: [8, 8] }),
  VOP1: format(1, [25, 7, 0x3f], { op: [9, 8], vdst: [17, 8], src0: [0, 9] }),
  VOPC: format(1, [25, 7, 0x3e], { op: [17, 8], src0: [0, 9], src1: [9, 8] }),
  /**
   * Two halves at once. `opSel`: bit k: the low result takes the high half of source k; `opSelHi`, `opSelHi2`: so does
   * the high result. `neg` negates low halves, `abs` high ones. v_fma_mix: `opSelHi` tells that source k is a half, and
   * neg and abs are what they say.
   */
  VOP3P: format(2, [23, 9, 0x198], {
    op: [16, 7],
    vdst: [0, 8],
    src0: [32, 9],
    src1: [41, 9],
    src2: [50, 9],
    neg: [61, 3],
    abs: [8, 3],
    clamp: [15, 1],
    opSel: [11, 3],
    opSelHi: [59, 2],
    opSelHi2: [14, 1],
  }),
  VOP3: format(2, [26, 6, 0x35], {
    op: [16, 10],
    vdst: [0, 8],
    src0: [32, 9],
    src1: [41, 9],
    src2: [50, 9],
    neg: [61, 3],
    abs: [8, 3],
    clamp: [15, 1],
    omod: [59, 2],
    opSel: [11, 4],
  }),
  /** VOP3 with a scalar second destination in place of abs and op_sel. */
  VOP3B: format(2, [26, 6, 0x35], {
    op: [16, 10],
    vdst: [0, 8],
    sdst: [8, 7],
    src0: [32, 9],
    src1: [41, 9],
    src2: [50, 9],
    neg: [61, 3],
    clamp: [15, 1],
    omod: [59, 2],
  }),
  SMEM: format(2, [26, 6, 0x3d], {
    op: [18, 8],
    sdata: [6, 7],
    /** First SGPR / 2. */
    sbase: [0, 6],
    offset: [32, 21, "signed"],
    /** 125 (null) when absent. */
    soffset: [57, 7],
    glc: [16, 1],
    dlc: [14, 1],
  }),
  DS: format(2, [26, 6, 0x36], {
    op: [18, 8],
    vdst: [56, 8],
    addr: [32, 8],
    data0: [40, 8],
    data1: [48, 8],
    offset0: [0, 8],
    offset1: [8, 8],
    gds: [17, 1],
  }),
  MUBUF: format(2, [26, 6, 0x38], {
    op: [18, 8],
    vdata: [40, 8],
    vaddr: [32, 8],
    /** First SGPR / 4. */
    srsrc: [48, 5],
    soffset: [56, 8],
    offset: [0, 12],
    offen: [12, 1],
    idxen: [13, 1],
    glc: [14, 1],
    slc: [54, 1],
    dlc: [15, 1],
    tfe: [55, 1],
    lds: [16, 1],
  }),
  /** The form's upper opcode bit (16-bit registers) stands in `d16`: rows have it 0. */
  MTBUF: format(2, [26, 6, 0x3a], {
    op: [16, 3],
    vdata: [40, 8],
    vaddr: [32, 8],
    /** First SGPR / 4. */
    srsrc: [48, 5],
    soffset: [56, 8],
    offset: [0, 12],
    offen: [12, 1],
    idxen: [13, 1],
    /** Unified buffer format number. */
    format: [19, 7],
    glc: [14, 1],
    slc: [54, 1],
    dlc: [15, 1],
    tfe: [55, 1],
    d16: [53, 1],
  }),
  /** Dwords of further address VGPRs, four a dword, follow: `nsa` of them. */
  MIMG: format(2, [26, 6, 0x3c], {
    op: [18, 7],
    vdata: [40, 8],
    vaddr: [32, 8],
    /** First SGPR / 4. */
    srsrc: [48, 5],
    /** First SGPR / 4. */
    ssamp: [53, 5],
    dmask: [8, 4],
    dim: [3, 3],
    unorm: [12, 1],
    glc: [13, 1],
    slc: [25, 1],
    dlc: [7, 1],
    nsa: [1, 2],
    r128: [15, 1],
    tfe: [16, 1],
    lwe: [17, 1],
    a16: [62, 1],
    d16: [63, 1],
    /** Opcodes from 128 on have no rows. */
    opHigh: [0, 1],
  }),
  EXP: format(2, [26, 6, 0x3e], {
    /** Not in the encoding: there is one instruction. */
    op: [24, 1],
    /** 0-7 mrt, 8 mrtz, 9 null, 12-15 pos, 20 prim, 32-63 param */
    target: [4, 6],
    src0: [32, 8],
    src1: [40, 8],
    src2: [48, 8],
    src3: [56, 8],
    /** Bit k: source k is exported. */
    en: [0, 4],
    compr: [10, 1],
    done: [11, 1],
    vm: [12, 1],
  }),
  VINTRP: format(1, [26, 6, 0x32], {
    op: [16, 2],
    vdst: [18, 8],
    /** v_interp_mov: 0 p10, 1 p20, 2 p0. */
    vsrc: [0, 8],
    attr: [10, 6],
    attrchan: [8, 2],
  }),
  FLAT: format(2, [26, 6, 0x37], flatFields),
  SCRATCH: format(2, [26, 6, 0x37], flatFields),
  GLOBAL: format(2, [26, 6, 0x37], flatFields),
  VOP2: format(1, [31, 1, 0], { op: [25, 6], vdst: [17, 8], src0: [0, 9], src1: [9, 8] }),
} as const satisfies Readonly<Record<string, Format>>;

export type FormatName = keyof typeof formats;

/** In the order that a decoder must try them: the later ones have fewer fixed bits. */
export const formatNames = Object.keys(formats) as readonly FormatName[];

/** The `seg` field that tells the three formats of one encoding apart. */
export const flatSegments: Readonly<Partial<Record<FormatName, number>>> = { FLAT: 0, SCRATCH: 1, GLOBAL: 2 };

/** VOP3 opcode of a short form's opcode. Source: RDNA2 ISA, VOP3A chapter. */
export const e64Base: Readonly<Partial<Record<FormatName, number>>> = { VOPC: 0, VOP2: 0x100, VOP1: 0x180 };

/** Second dwords that a VOP1, VOP2 or VOPC takes where `src0` holds `marker`. */
export interface SecondDword {
  readonly markers: readonly number[];
  readonly fields: readonly Field[];
}

export const secondDwords = {
  DPP16: {
    markers: [250],
    fields: fieldList({
      src0: [0, 8],
      /** 0-ff quad_perm, 101 row_shl, 111 row_shr, 121 row_ror, 140 row_mirror, 141 half mirror, 150 share, 160 xmask */
      dppCtrl: [8, 9],
      fi: [18, 1],
      boundCtrl: [19, 1],
      src0Neg: [20, 1],
      src0Abs: [21, 1],
      src1Neg: [22, 1],
      src1Abs: [23, 1],
      bankMask: [24, 4],
      rowMask: [28, 4],
    }),
  },
  /** The second marker fetches from inactive lanes. */
  DPP8: { markers: [233, 234], fields: fieldList({ src0: [0, 8], selectors: [8, 24] }) },
  SDWA: {
    markers: [249],
    fields: fieldList({
      src0: [0, 8],
      /** VOPC: bits 14:8 hold an SGPR destination, bit 15 tells that it is used. */
      dstSel: [8, 3],
      dstUnused: [11, 2],
      clamp: [13, 1],
      omod: [14, 2],
      src0Sel: [16, 3],
      src0Sext: [19, 1],
      src0Neg: [20, 1],
      src0Abs: [21, 1],
      src0Scalar: [23, 1],
      src1Sel: [24, 3],
      src1Sext: [27, 1],
      src1Neg: [28, 1],
      src1Abs: [29, 1],
      src1Scalar: [31, 1],
    }),
  },
} as const satisfies Readonly<Record<string, SecondDword>>;

export type SecondDwordName = keyof typeof secondDwords;
