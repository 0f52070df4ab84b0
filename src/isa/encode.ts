import { Bug } from "../base/index.ts";
import type { Instruction } from "./decode.ts";
import { type Field, flatSegments, formats, secondDwords } from "./formats.ts";
import { SourceCode } from "./registers.ts";
import { isPacked, type Op } from "./table.ts";

/** What an instruction is made of, before it has a length. Fields left out are 0 or the format's "absent" code. */
export type Parts = Pick<Instruction, "op" | "literal" | "second" | "addresses"> & {
  readonly fields: Readonly<Record<string, number>>;
};

/** Field values that mean "nothing here". */
function defaults(op: Op): Readonly<Record<string, number>> {
  if (op.format === "SMEM") return { soffset: op.src.length > 0 ? SourceCode.null : 0 };
  if (op.format in flatSegments) return { saddr: SourceCode.null, seg: flatSegments[op.format]! };
  if (isPacked(op)) return { opSelHi: 3, opSelHi2: 1 };
  // v_cmpx in VOP3: the destination field names EXEC.
  if (op.format === "VOP3" && op.dst[0]?.kind === "exec") return { vdst: SourceCode.execLo };
  return {};
}

function put(words: number[], f: Field, value: number, op: Op): void {
  const low = f.signed ? -(2 ** (f.width - 1)) : 0;
  const high = f.signed ? 2 ** (f.width - 1) : 2 ** f.width;
  if (!Number.isInteger(value) || value < low || value >= high) {
    throw new Bug(`${op.mnemonic}: ${value} does not fit ${f.name}`);
  }
  const index = f.lsb >> 5;
  const bits = f.width === 32 ? value : value & (2 ** f.width - 1);
  words[index] = (words[index]! | (bits << (f.lsb & 31))) >>> 0;
}

/** The dwords of an instruction. A value that does not fit its field is a `Bug` of the caller. */
export function encode({ op, fields, literal, second, addresses }: Parts): number[] {
  const format = formats[op.format];
  const { lsb, value } = format.encoding;
  const words: number[] = format.dwords === 2 ? [(value << lsb) >>> 0, 0] : [(value << lsb) >>> 0];
  const all: Readonly<Record<string, number>> = { ...defaults(op), ...fields, op: op.opcode };
  const list: readonly Field[] = format.fields;
  for (const f of list) put(words, f, all[f.name] ?? 0, op);
  for (let k = 0; k < (addresses?.length ?? 0); k += 4) {
    const [a = 0, b = 0, c = 0, d = 0] = addresses!.slice(k, k + 4);
    words.push((a | (b << 8) | (c << 16) | (d << 24)) >>> 0);
  }
  if (literal !== undefined) words.push(literal >>> 0);
  if (second !== undefined) {
    const extra = [0];
    for (const f of secondDwords[second.form].fields as readonly Field[]) put(extra, f, second.fields[f.name] ?? 0, op);
    words.push(extra[0]!);
  }
  return words;
}
