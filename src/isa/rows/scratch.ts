import { Flag } from "../flags.ts";
import { rows } from "../row.ts";

const { Load, Store, TiedDst } = Flag;

/** SCRATCH: per-lane private memory. Source: RDNA2 ISA, flat memory chapter. */
// biome-ignore format: one row a line, columns aligned
export const scratch = rows("SCRATCH", [
  // code, name, destinations, sources, flags, meaning
  [0x08, "scratch_load_ubyte",         ["v1"], [],     Load,           "load byte, zero-extended, per-lane scratch"],
  [0x09, "scratch_load_sbyte",         ["v1"], [],     Load,           "load byte, sign-extended, per-lane scratch"],
  [0x0a, "scratch_load_ushort",        ["v1"], [],     Load,           "load halfword, zero-extended, per-lane scratch"],
  [0x0b, "scratch_load_sshort",        ["v1"], [],     Load,           "load halfword, sign-extended, per-lane scratch"],
  [0x0c, "scratch_load_dword",         ["v1"], [],     Load,           "load 1 dword, per-lane scratch"],
  [0x0d, "scratch_load_dwordx2",       ["v2"], [],     Load,           "load 2 dwords, per-lane scratch"],
  [0x0e, "scratch_load_dwordx4",       ["v4"], [],     Load,           "load 4 dwords, per-lane scratch"],
  [0x0f, "scratch_load_dwordx3",       ["v3"], [],     Load,           "load 3 dwords, per-lane scratch"],
  [0x18, "scratch_store_byte",         [],     ["v1"], Store,          "store low byte, per-lane scratch"],
  [0x19, "scratch_store_byte_d16_hi",  [],     ["v1"], Store,          "store data[23:16], per-lane scratch"],
  [0x1a, "scratch_store_short",        [],     ["v1"], Store,          "store low halfword, per-lane scratch"],
  [0x1b, "scratch_store_short_d16_hi", [],     ["v1"], Store,          "store data[31:16], per-lane scratch"],
  [0x1c, "scratch_store_dword",        [],     ["v1"], Store,          "store 1 dword, per-lane scratch"],
  [0x1d, "scratch_store_dwordx2",      [],     ["v2"], Store,          "store 2 dwords, per-lane scratch"],
  [0x1e, "scratch_store_dwordx4",      [],     ["v4"], Store,          "store 4 dwords, per-lane scratch"],
  [0x1f, "scratch_store_dwordx3",      [],     ["v3"], Store,          "store 3 dwords, per-lane scratch"],
  [0x20, "scratch_load_ubyte_d16",     ["v1"], [],     TiedDst | Load, "load byte into D[15:0], per-lane scratch"],
  [0x21, "scratch_load_ubyte_d16_hi",  ["v1"], [],     TiedDst | Load, "load byte into D[31:16], per-lane scratch"],
  [0x22, "scratch_load_sbyte_d16",     ["v1"], [],     TiedDst | Load, "load sign-extended byte into D[15:0], per-lane scratch"],
  [0x23, "scratch_load_sbyte_d16_hi",  ["v1"], [],     TiedDst | Load, "load sign-extended byte into D[31:16], per-lane scratch"],
  [0x24, "scratch_load_short_d16",     ["v1"], [],     TiedDst | Load, "load halfword into D[15:0], rest kept, per-lane scratch"],
  [0x25, "scratch_load_short_d16_hi",  ["v1"], [],     TiedDst | Load, "load data[31:16], per-lane scratch"],
]);
