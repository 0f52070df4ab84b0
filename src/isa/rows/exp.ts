import { rows } from "../row.ts";

/** EXP: up to four VGPRs of the active lanes to a target outside the shader. Source: RDNA2 ISA, export chapter. */
export const exp = rows("EXP", [
  // code, name, destinations, sources, flags, meaning
  [0x0, "exp", [], ["v1", "v1", "v1", "v1"], 0, "S0..S3 to `target`; compr: packed halves in S0, S1"],
]);
