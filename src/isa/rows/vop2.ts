import { Flag } from "../flags.ts";
import { rows } from "../row.ts";

const { Clamp, Commutes, NoDpp, NoE64, NoSdwa, Omod, ReadsMode, TiedDst } = Flag;

/** VOP2: two vector sources; the short form needs a VGPR as source 1 and implies VCC where `vcc` stands. Source: RDNA2 ISA, VOP2 chapter. */
// biome-ignore format: one row a line, columns aligned
export const vop2 = rows("VOP2", [
  // code, name, destinations, sources, flags, meaning, the instruction that has the sources exchanged
  [0x01, "v_cndmask_b32",       ["v1"],        ["n32", "n32", "vcc"],  0,                                        "D=mask bit l ? S1 : S0 (e32: VCC; e64: S2)"],
  [0x03, "v_add_f32",           ["v1"],        ["f32", "f32"],         ReadsMode | Commutes | Clamp | Omod,      "D=S0+S1"],
  [0x04, "v_sub_f32",           ["v1"],        ["f32", "f32"],         ReadsMode | Clamp | Omod,                 "D=S0-S1", "v_subrev_f32"],
  [0x05, "v_subrev_f32",        ["v1"],        ["f32", "f32"],         ReadsMode | Clamp | Omod,                 "D=S1-S0", "v_sub_f32"],
  [0x06, "v_fmac_legacy_f32",   ["v1"],        ["f32", "f32"],         ReadsMode | TiedDst | Commutes | Clamp | Omod | NoDpp | NoSdwa, "fused multiply-add with the multiply rule of v_mul_legacy_f32"],
  [0x07, "v_mul_legacy_f32",    ["v1"],        ["f32", "f32"],         ReadsMode | Commutes | Clamp | Omod,      "D=S0*S1, but 0 if either is 0 (even with inf/NaN)"],
  [0x08, "v_mul_f32",           ["v1"],        ["f32", "f32"],         ReadsMode | Commutes | Clamp | Omod,      "D=S0*S1"],
  [0x09, "v_mul_i32_i24",       ["v1"],        ["b32", "b32"],         Commutes | Clamp,                         "D=low 32 bits of S0[23:0]*S1[23:0] signed"],
  [0x0a, "v_mul_hi_i32_i24",    ["v1"],        ["b32", "b32"],         Commutes,                                 "bits 47:32 of signed 24-bit product, sign extended"],
  [0x0b, "v_mul_u32_u24",       ["v1"],        ["b32", "b32"],         Commutes | Clamp,                         "D=low 32 bits of unsigned 24-bit product"],
  [0x0c, "v_mul_hi_u32_u24",    ["v1"],        ["b32", "b32"],         Commutes,                                 "bits 47:32 of unsigned 24-bit product"],
  [0x0f, "v_min_f32",           ["v1"],        ["f32", "f32"],         ReadsMode | Commutes | Clamp | Omod,      "D=min(S0,S1); a quiet NaN loses against a number; -0<+0"],
  [0x10, "v_max_f32",           ["v1"],        ["f32", "f32"],         ReadsMode | Commutes | Clamp | Omod,      "D=max(S0,S1); a quiet NaN loses against a number"],
  [0x11, "v_min_i32",           ["v1"],        ["b32", "b32"],         Commutes,                                 "signed min"],
  [0x12, "v_max_i32",           ["v1"],        ["b32", "b32"],         Commutes,                                 "signed max"],
  [0x13, "v_min_u32",           ["v1"],        ["b32", "b32"],         Commutes,                                 "unsigned min"],
  [0x14, "v_max_u32",           ["v1"],        ["b32", "b32"],         Commutes,                                 "unsigned max"],
  [0x16, "v_lshrrev_b32",       ["v1"],        ["b32", "b32"],         0,                                        "D=S1>>S0[4:0] zero fill"],
  [0x18, "v_ashrrev_i32",       ["v1"],        ["b32", "b32"],         0,                                        "D=S1>>S0[4:0] sign fill"],
  [0x1a, "v_lshlrev_b32",       ["v1"],        ["b32", "b32"],         0,                                        "D=S1<<S0[4:0]"],
  [0x1b, "v_and_b32",           ["v1"],        ["b32", "b32"],         Commutes,                                 "D=S0&S1"],
  [0x1c, "v_or_b32",            ["v1"],        ["b32", "b32"],         Commutes,                                 "D=S0|S1"],
  [0x1d, "v_xor_b32",           ["v1"],        ["b32", "b32"],         Commutes,                                 "D=S0^S1"],
  [0x1e, "v_xnor_b32",          ["v1"],        ["b32", "b32"],         0,                                        "D=~(S0^S1)"],
  [0x25, "v_add_nc_u32",        ["v1"],        ["b32", "b32"],         Commutes | Clamp,                         "D=S0+S1, no carry out (clamp: unsigned saturate)"],
  [0x26, "v_sub_nc_u32",        ["v1"],        ["b32", "b32"],         Clamp,                                    "D=S0-S1, no borrow out", "v_subrev_nc_u32"],
  [0x27, "v_subrev_nc_u32",     ["v1"],        ["b32", "b32"],         Clamp,                                    "D=S1-S0", "v_sub_nc_u32"],
  [0x28, "v_add_co_ci_u32",     ["v1", "vcc"], ["b32", "b32", "vcc"],  Commutes | Clamp,                         "D=S0+S1+carry-in mask bit; mask bit=carry"],
  [0x29, "v_sub_co_ci_u32",     ["v1", "vcc"], ["b32", "b32", "vcc"],  Clamp,                                    "D=S0-S1-borrow-in; mask bit=borrow", "v_subrev_co_ci_u32"],
  [0x2a, "v_subrev_co_ci_u32",  ["v1", "vcc"], ["b32", "b32", "vcc"],  Clamp,                                    "D=S1-S0-borrow-in; mask bit=borrow", "v_sub_co_ci_u32"],
  [0x2b, "v_fmac_f32",          ["v1"],        ["f32", "f32"],         ReadsMode | TiedDst | Commutes | Clamp | Omod | NoSdwa, "D=S0*S1+D fused"],
  [0x2c, "v_fmamk_f32",         ["v1"],        ["f32", "lit32", "v1"], ReadsMode | NoE64 | NoDpp | NoSdwa,       "D=S0*K+S1 fused, K literal"],
  [0x2d, "v_fmaak_f32",         ["v1"],        ["f32", "v1", "lit32"], ReadsMode | Commutes | NoE64 | NoDpp | NoSdwa, "D=S0*S1+K fused, K literal"],
  [0x2f, "v_cvt_pkrtz_f16_f32", ["v1"],        ["f32", "f32"],         ReadsMode | Clamp | Omod,                 "D={half(S1),half(S0)} rounded toward zero"],
  [0x32, "v_add_f16",           ["v1"],        ["f16", "f16"],         ReadsMode | Commutes | Clamp | Omod,      "D=S0+S1"],
  [0x33, "v_sub_f16",           ["v1"],        ["f16", "f16"],         ReadsMode | Clamp | Omod,                 "D=S0-S1", "v_subrev_f16"],
  [0x34, "v_subrev_f16",        ["v1"],        ["f16", "f16"],         ReadsMode | Clamp | Omod,                 "D=S1-S0", "v_sub_f16"],
  [0x35, "v_mul_f16",           ["v1"],        ["f16", "f16"],         ReadsMode | Commutes | Clamp | Omod,      "D=S0*S1"],
  [0x36, "v_fmac_f16",          ["v1"],        ["f16", "f16"],         ReadsMode | TiedDst | Commutes | Clamp | Omod | NoSdwa, "D=S0*S1+D fused"],
  [0x37, "v_fmamk_f16",         ["v1"],        ["f16", "lit16", "v1"], ReadsMode | NoE64 | NoDpp | NoSdwa,       "D=S0*K+S1 fused, K literal"],
  [0x38, "v_fmaak_f16",         ["v1"],        ["f16", "v1", "lit16"], ReadsMode | Commutes | NoE64 | NoDpp | NoSdwa, "D=S0*S1+K fused, K literal"],
  [0x39, "v_max_f16",           ["v1"],        ["f16", "f16"],         ReadsMode | Commutes | Clamp | Omod,      "D=max(S0,S1); a quiet NaN loses against a number"],
  [0x3a, "v_min_f16",           ["v1"],        ["f16", "f16"],         ReadsMode | Commutes | Clamp | Omod,      "D=min(S0,S1); a quiet NaN loses against a number; -0<+0"],
  [0x3b, "v_ldexp_f16",         ["v1"],        ["f16", "b16"],         ReadsMode | Clamp | Omod,                 "D=S0*2^S1 (S1 int)"],
]);
