import { Flag } from "../flags.ts";
import { rows } from "../row.ts";

const { Clamp, Commutes, Omod, ReadsMode } = Flag;

/** VOP3 instructions with a scalar second destination and without a short form. Source: RDNA2 ISA, VOP3B chapter. */
// biome-ignore format: one row a line, columns aligned
export const vop3b = rows("VOP3B", [
  // code, name, destinations, sources, flags, meaning, the instruction that has the sources exchanged
  [0x16d, "v_div_scale_f32", ["v1", "m1"], ["f32", "f32", "f32"], ReadsMode | Clamp | Omod, "scales S0 (equal to S1 denominator or S2 numerator) to avoid over/underflow in division; mask bit = v_div_fmas must rescale"],
  [0x16e, "v_div_scale_f64", ["v2", "m1"], ["f64", "f64", "f64"], ReadsMode | Clamp | Omod, "scales S0 (equal to S1 denominator or S2 numerator) to avoid over/underflow in division; mask bit = v_div_fmas must rescale"],
  [0x176, "v_mad_u64_u32",   ["v2", "m1"], ["b32", "b32", "b64"], Commutes | Clamp,         "64-bit D=S0*S1+S2 unsigned; mask bit=carry"],
  [0x177, "v_mad_i64_i32",   ["v2", "m1"], ["b32", "b32", "b64"], Commutes | Clamp,         "64-bit D=S0*S1+S2 signed; mask bit=overflow"],
  [0x30f, "v_add_co_u32",    ["v1", "m1"], ["b32", "b32"],        Commutes | Clamp,         "D=S0+S1; mask bit=carry"],
  [0x310, "v_sub_co_u32",    ["v1", "m1"], ["b32", "b32"],        Clamp,                    "D=S0-S1; mask bit=borrow", "v_subrev_co_u32"],
  [0x319, "v_subrev_co_u32", ["v1", "m1"], ["b32", "b32"],        Clamp,                    "D=S1-S0; mask bit=borrow", "v_sub_co_u32"],
]);
