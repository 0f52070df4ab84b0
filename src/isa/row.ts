import type { FormatName } from "./formats.ts";

/**
 * Operand codes of rows. The digit of a register code counts dwords; that of a typed source counts bits.
 * - `v1`…`v4` VGPRs, `s1`…`s16` SGPRs, `m1` a lane mask (one SGPR in wave32);
 * - `b16 f16 b32 f32 b64 f64` any source of that type: 9-bit code in vector formats, 8-bit code in scalar ones.
 *   Float sources take neg and abs in VOP3 (neg only in VOP3B). `n32` is `b32` that takes them too;
 * - `p16 h16` two 16-bit integers or floats in one dword, `x32` a float or one half of a dword (VOP3P);
 * - `sc32` a scalar source of a vector instruction, `sl32` the same with literal;
 * - `vcc` VCC implied in the short form, a mask operand in VOP3; `exec` EXEC, implied in both;
 * - `imm16 label hwreg` the 16-bit immediate, `lit16 lit32` the literal dword that always follows.
 */
export type OperandCode =
  | `v${1 | 2 | 3 | 4}`
  | `s${1 | 2 | 4 | 8 | 16}`
  | "m1"
  | `${"b" | "f"}${16 | 32 | 64}`
  | "n32"
  | "p16"
  | "h16"
  | "x32"
  | "sc32"
  | "sl32"
  | "vcc"
  | "exec"
  | "imm16"
  | "label"
  | "hwreg"
  | "lit16"
  | "lit32";

/** `[code, name, destinations, sources, flags, meaning, name of the instruction with source 0 and 1 exchanged]` */
export type RowTuple = readonly [
  opcode: number,
  name: string,
  dst: readonly OperandCode[],
  src: readonly OperandCode[],
  flags: number,
  meaning: string,
  swap?: string,
];

/** One line of a format's table. `meaning`: S0..S2 are the sources, D the destination, l the lane. */
export interface Row {
  readonly format: FormatName;
  readonly opcode: number;
  readonly name: string;
  readonly dst: readonly OperandCode[];
  readonly src: readonly OperandCode[];
  readonly flags: number;
  readonly meaning: string;
  readonly swap: string | undefined;
}

/** The rows of one format. */
export function rows(format: FormatName, tuples: readonly RowTuple[]): readonly Row[] {
  return tuples.map(([opcode, name, dst, src, flags, meaning, swap]) => ({
    format,
    opcode,
    name,
    dst,
    src,
    flags,
    meaning,
    swap,
  }));
}
