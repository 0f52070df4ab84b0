import { Flag } from "../flags.ts";
import { rows } from "../row.ts";

const { Cache, Load } = Flag;

/** SMEM: scalar memory. Address = base + offset + soffset, low two bits dropped. Sources: the base, an address pair or a V#. Source: RDNA2 ISA, scalar memory chapter. */
// biome-ignore format: one row a line, columns aligned
export const smem = rows("SMEM", [
  // code, name, destinations, sources, flags, meaning
  [0x00, "s_load_dword",           ["s1"],  ["s2"], Load,  "1 dword(s) from base+offset+soffset, dword aligned, through the scalar cache"],
  [0x01, "s_load_dwordx2",         ["s2"],  ["s2"], Load,  "2 dword(s) from base+offset+soffset, dword aligned, through the scalar cache"],
  [0x02, "s_load_dwordx4",         ["s4"],  ["s2"], Load,  "4 dword(s) from base+offset+soffset, dword aligned, through the scalar cache"],
  [0x03, "s_load_dwordx8",         ["s8"],  ["s2"], Load,  "8 dword(s) from base+offset+soffset, dword aligned, through the scalar cache"],
  [0x04, "s_load_dwordx16",        ["s16"], ["s2"], Load,  "16 dword(s) from base+offset+soffset, dword aligned, through the scalar cache"],
  [0x08, "s_buffer_load_dword",    ["s1"],  ["s4"], Load,  "1 dword(s) through a V#; out of range reads give 0 (range: num_records, or stride*num_records when stride is set)"],
  [0x09, "s_buffer_load_dwordx2",  ["s2"],  ["s4"], Load,  "2 dword(s) through a V#; out of range reads give 0 (range: num_records, or stride*num_records when stride is set)"],
  [0x0a, "s_buffer_load_dwordx4",  ["s4"],  ["s4"], Load,  "4 dword(s) through a V#; out of range reads give 0 (range: num_records, or stride*num_records when stride is set)"],
  [0x0b, "s_buffer_load_dwordx8",  ["s8"],  ["s4"], Load,  "8 dword(s) through a V#; out of range reads give 0 (range: num_records, or stride*num_records when stride is set)"],
  [0x0c, "s_buffer_load_dwordx16", ["s16"], ["s4"], Load,  "16 dword(s) through a V#; out of range reads give 0 (range: num_records, or stride*num_records when stride is set)"],
  [0x1f, "s_gl1_inv",              [],      [],     Cache, "invalidate the GL1 cache"],
  [0x20, "s_dcache_inv",           [],      [],     Cache, "invalidate the scalar data cache"],
  [0x24, "s_memtime",              ["s2"],  [],     Load,  "D=64-bit shader clock"],
  [0x25, "s_memrealtime",          ["s2"],  [],     Load,  "D=64-bit reference clock"],
]);
