import { Flag } from "../flags.ts";
import { rows } from "../row.ts";

const { ReadsM0, ReadsMode, TiedDst } = Flag;

/** VINTRP: attributes of the primitive from LDS, M0 holds the primitive mask. Source: RDNA2 ISA, parameter interpolation chapter. */
// biome-ignore format: one row a line, columns aligned
export const vintrp = rows("VINTRP", [
  // code, name, destinations, sources, flags, meaning
  [0x0, "v_interp_p1_f32_e32",  ["v1"], ["v1"], ReadsM0 | ReadsMode,           "D=P10[attr]*S0(i)+P0[attr]"],
  [0x1, "v_interp_p2_f32_e32",  ["v1"], ["v1"], ReadsM0 | ReadsMode | TiedDst, "D=P20[attr]*S0(j)+D"],
  [0x2, "v_interp_mov_f32_e32", ["v1"], [],     ReadsM0,                       "D=P10, P20 or P0 of the attribute, by slot 0, 1, 2"],
]);
