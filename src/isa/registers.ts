/** Operand codes of the 8- and 9-bit source fields. Source: RDNA2 ISA, operand table; gfx1030 has no more. */
export const SourceCode = {
  vccLo: 106,
  vccHi: 107,
  ttmp0: 108,
  m0: 124,
  null: 125,
  execLo: 126,
  execHi: 127,
  zero: 128,
  minusOne: 193,
  dpp8: 233,
  dpp8FetchInactive: 234,
  sharedBase: 235,
  sharedLimit: 236,
  privateBase: 237,
  privateLimit: 238,
  popsExitingWaveId: 239,
  half: 240,
  minusHalf: 241,
  one: 242,
  minusOneFloat: 243,
  two: 244,
  minusTwo: 245,
  four: 246,
  minusFour: 247,
  inverseTwoPi: 248,
  sdwa: 249,
  dpp16: 250,
  vccz: 251,
  execz: 252,
  scc: 253,
  ldsDirect: 254,
  literal: 255,
  vgpr0: 256,
} as const;

/** Number of SGPRs that a shader may use as s0…; VCC follows them. */
export const sgprCount = 106;

/** Special registers that are no tuple: text as llvm writes it. */
export const specialSources: ReadonlyMap<number, string> = new Map<number, string>([
  [SourceCode.vccLo, "vcc_lo"],
  [SourceCode.vccHi, "vcc_hi"],
  [SourceCode.m0, "m0"],
  [SourceCode.null, "null"],
  [SourceCode.execLo, "exec_lo"],
  [SourceCode.execHi, "exec_hi"],
  [SourceCode.sharedBase, "src_shared_base"],
  [SourceCode.sharedLimit, "src_shared_limit"],
  [SourceCode.privateBase, "src_private_base"],
  [SourceCode.privateLimit, "src_private_limit"],
  [SourceCode.popsExitingWaveId, "src_pops_exiting_wave_id"],
  [SourceCode.vccz, "src_vccz"],
  [SourceCode.execz, "src_execz"],
  [SourceCode.scc, "src_scc"],
  [SourceCode.ldsDirect, "src_lds_direct"],
]);

/** Float inline constants; the value takes the operand's width. */
export const floatSources: ReadonlyMap<number, string> = new Map<number, string>([
  [SourceCode.half, "0.5"],
  [SourceCode.minusHalf, "-0.5"],
  [SourceCode.one, "1.0"],
  [SourceCode.minusOneFloat, "-1.0"],
  [SourceCode.two, "2.0"],
  [SourceCode.minusTwo, "-2.0"],
  [SourceCode.four, "4.0"],
  [SourceCode.minusFour, "-4.0"],
]);
