import { Flag } from "../flags.ts";
import { rows } from "../row.ts";

const { Commutes } = Flag;

/** SOPC: scalar compares; the result is SCC. Source: RDNA2 ISA, SOPC chapter. */
// biome-ignore format: one row a line, columns aligned
export const sopc = rows("SOPC", [
  // code, name, destinations, sources, flags, meaning, the instruction that has the sources exchanged
  [0x00, "s_cmp_eq_i32",  [], ["b32", "b32"], Commutes, "SCC=(S0 == S1), signed"],
  [0x01, "s_cmp_lg_i32",  [], ["b32", "b32"], Commutes, "SCC=(S0 != S1), signed"],
  [0x02, "s_cmp_gt_i32",  [], ["b32", "b32"], 0,        "SCC=(S0 > S1), signed", "s_cmp_lt_i32"],
  [0x03, "s_cmp_ge_i32",  [], ["b32", "b32"], 0,        "SCC=(S0 >= S1), signed", "s_cmp_le_i32"],
  [0x04, "s_cmp_lt_i32",  [], ["b32", "b32"], 0,        "SCC=(S0 < S1), signed", "s_cmp_gt_i32"],
  [0x05, "s_cmp_le_i32",  [], ["b32", "b32"], 0,        "SCC=(S0 <= S1), signed", "s_cmp_ge_i32"],
  [0x06, "s_cmp_eq_u32",  [], ["b32", "b32"], Commutes, "SCC=(S0 == S1), unsigned"],
  [0x07, "s_cmp_lg_u32",  [], ["b32", "b32"], Commutes, "SCC=(S0 != S1), unsigned"],
  [0x08, "s_cmp_gt_u32",  [], ["b32", "b32"], 0,        "SCC=(S0 > S1), unsigned", "s_cmp_lt_u32"],
  [0x09, "s_cmp_ge_u32",  [], ["b32", "b32"], 0,        "SCC=(S0 >= S1), unsigned", "s_cmp_le_u32"],
  [0x0a, "s_cmp_lt_u32",  [], ["b32", "b32"], 0,        "SCC=(S0 < S1), unsigned", "s_cmp_gt_u32"],
  [0x0b, "s_cmp_le_u32",  [], ["b32", "b32"], 0,        "SCC=(S0 <= S1), unsigned", "s_cmp_ge_u32"],
  [0x0c, "s_bitcmp0_b32", [], ["b32", "b32"], 0,        "SCC=(S0 bit S1 is 0)"],
  [0x0d, "s_bitcmp1_b32", [], ["b32", "b32"], 0,        "SCC=(S0 bit S1 is 1)"],
  [0x0e, "s_bitcmp0_b64", [], ["b64", "b32"], 0,        "SCC=(S0 bit S1 is 0)"],
  [0x0f, "s_bitcmp1_b64", [], ["b64", "b32"], 0,        "SCC=(S0 bit S1 is 1)"],
  [0x12, "s_cmp_eq_u64",  [], ["b64", "b64"], Commutes, "SCC=(S0 == S1), 64-bit"],
  [0x13, "s_cmp_lg_u64",  [], ["b64", "b64"], Commutes, "SCC=(S0 != S1), 64-bit"],
]);
