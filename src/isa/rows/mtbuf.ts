import { Flag } from "../flags.ts";
import { rows } from "../row.ts";

const { Load, Store } = Flag;

/**
 * MTBUF: buffer memory through a V#, with the format in the instruction. The forms on 16-bit registers have no rows.
 * Source: RDNA2 ISA, vector memory buffer chapter.
 */
// biome-ignore format: one row a line, columns aligned
export const mtbuf = rows("MTBUF", [
  // code, name, destinations, sources, flags, meaning
  [0x00, "tbuffer_load_format_x",     ["v1"], [],     Load,  "load 1 component(s) with format conversion, V# buffer, format from the instruction"],
  [0x01, "tbuffer_load_format_xy",    ["v2"], [],     Load,  "load 2 component(s) with format conversion, V# buffer, format from the instruction"],
  [0x02, "tbuffer_load_format_xyz",   ["v3"], [],     Load,  "load 3 component(s) with format conversion, V# buffer, format from the instruction"],
  [0x03, "tbuffer_load_format_xyzw",  ["v4"], [],     Load,  "load 4 component(s) with format conversion, V# buffer, format from the instruction"],
  [0x04, "tbuffer_store_format_x",    [],     ["v1"], Store, "store 1 component(s) with format conversion, V# buffer, format from the instruction"],
  [0x05, "tbuffer_store_format_xy",   [],     ["v2"], Store, "store 2 component(s) with format conversion, V# buffer, format from the instruction"],
  [0x06, "tbuffer_store_format_xyz",  [],     ["v3"], Store, "store 3 component(s) with format conversion, V# buffer, format from the instruction"],
  [0x07, "tbuffer_store_format_xyzw", [],     ["v4"], Store, "store 4 component(s) with format conversion, V# buffer, format from the instruction"],
]);
