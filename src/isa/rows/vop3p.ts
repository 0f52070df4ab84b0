import { Flag } from "../flags.ts";
import { rows } from "../row.ts";

const { Clamp, ReadsMode, TiedDst } = Flag;

/** Instructions on both halves of a dword, each half for itself, and v_fma_mix. Source: RDNA2 ISA, VOP3P chapter. */
// biome-ignore format: one row a line, columns aligned
export const vop3p = rows("VOP3P", [
  // code, name, destinations, sources, flags, meaning
  [0x00, "v_pk_mad_i16",      ["v1"], ["p16", "p16", "p16"],   Clamp,                         "two halves: signed S0*S1+S2"],
  [0x01, "v_pk_mul_lo_u16",   ["v1"], ["p16", "p16"],          0,                             "two halves: low 16 bits of S0*S1"],
  [0x02, "v_pk_add_i16",      ["v1"], ["p16", "p16"],          Clamp,                         "two halves: S0+S1"],
  [0x03, "v_pk_sub_i16",      ["v1"], ["p16", "p16"],          Clamp,                         "two halves: S0-S1"],
  [0x04, "v_pk_lshlrev_b16",  ["v1"], ["p16", "p16"],          0,                             "two halves: S1<<S0[3:0]"],
  [0x05, "v_pk_lshrrev_b16",  ["v1"], ["p16", "p16"],          0,                             "two halves: S1>>S0[3:0] zero fill"],
  [0x06, "v_pk_ashrrev_i16",  ["v1"], ["p16", "p16"],          0,                             "two halves: S1>>S0[3:0] sign fill"],
  [0x07, "v_pk_max_i16",      ["v1"], ["p16", "p16"],          0,                             "two halves: signed max"],
  [0x08, "v_pk_min_i16",      ["v1"], ["p16", "p16"],          0,                             "two halves: signed min"],
  [0x09, "v_pk_mad_u16",      ["v1"], ["p16", "p16", "p16"],   Clamp,                         "two halves: S0*S1+S2"],
  [0x0a, "v_pk_add_u16",      ["v1"], ["p16", "p16"],          Clamp,                         "two halves: S0+S1"],
  [0x0b, "v_pk_sub_u16",      ["v1"], ["p16", "p16"],          Clamp,                         "two halves: S0-S1"],
  [0x0c, "v_pk_max_u16",      ["v1"], ["p16", "p16"],          0,                             "two halves: unsigned max"],
  [0x0d, "v_pk_min_u16",      ["v1"], ["p16", "p16"],          0,                             "two halves: unsigned min"],
  [0x0e, "v_pk_fma_f16",      ["v1"], ["h16", "h16", "h16"],   ReadsMode | Clamp,             "two halves: S0*S1+S2 fused"],
  [0x0f, "v_pk_add_f16",      ["v1"], ["h16", "h16"],          ReadsMode | Clamp,             "two halves: S0+S1"],
  [0x10, "v_pk_mul_f16",      ["v1"], ["h16", "h16"],          ReadsMode | Clamp,             "two halves: S0*S1"],
  [0x11, "v_pk_min_f16",      ["v1"], ["h16", "h16"],          ReadsMode | Clamp,             "two halves: min"],
  [0x12, "v_pk_max_f16",      ["v1"], ["h16", "h16"],          ReadsMode | Clamp,             "two halves: max"],
  [0x20, "v_fma_mix_f32",     ["v1"], ["x32", "x32", "x32"],   ReadsMode | Clamp,             "D=S0*S1+S2 fused in f32; op_sel_hi: the source is a half"],
  [0x21, "v_fma_mixlo_f16",   ["v1"], ["x32", "x32", "x32"],   ReadsMode | Clamp,             "as v_fma_mix_f32, rounded to f16 in the low half of D, the high half kept"],
  [0x22, "v_fma_mixhi_f16",   ["v1"], ["x32", "x32", "x32"],   ReadsMode | TiedDst | Clamp,   "as v_fma_mix_f32, rounded to f16 in the high half of D, the low half kept"],
]);
