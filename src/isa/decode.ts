import { Flag } from "./flags.ts";
import {
  type Field,
  type FormatName,
  flatSegments,
  formatNames,
  formats,
  type SecondDwordName,
  secondDwords,
} from "./formats.ts";
import { SourceCode } from "./registers.ts";
import { inSourceField, literalFields, type Op, type Operand, opByCode } from "./table.ts";

/** A decoded instruction: raw field values by name, sign-extended where the field is signed. */
export interface Instruction {
  readonly op: Op;
  /** Length with literal or second dword. */
  readonly dwords: number;
  readonly fields: Readonly<Record<string, number>>;
  readonly literal?: number;
  /** MIMG: the VGPRs of address components 1, 2, … where they stand in dwords of their own; padding included. */
  readonly addresses?: readonly number[];
  /** The DPP or SDWA dword of a VOP1, VOP2 or VOPC. */
  readonly second?: { readonly form: SecondDwordName; readonly fields: Readonly<Record<string, number>> };
}

const prefixLsb = 23;

function extract(f: Field, words: ArrayLike<number>, at: number): number {
  const word = words[at + (f.lsb >> 5)]! >>> 0;
  const lsb = f.lsb & 31;
  if (f.signed) return (word << (32 - f.width - lsb)) >> (32 - f.width);
  return f.width === 32 ? word : (word >>> lsb) & ((1 << f.width) - 1);
}

function extractAll(fields: readonly Field[], words: ArrayLike<number>, at: number): Record<string, number> {
  const values: Record<string, number> = {};
  for (const f of fields) values[f.name] = extract(f, words, at);
  return values;
}

/** The format of a word by its upper nine bits, which hold every encoding. VOP3B and flat segments share the first's. */
const formatOfPrefix = (prefix: number): FormatName | undefined =>
  formatNames.find((name) => {
    const { encoding } = formats[name];
    if (name === "VOP3B" || name === "SCRATCH" || name === "GLOBAL") return false;
    return ((prefix >>> (encoding.lsb - prefixLsb)) & (2 ** encoding.width - 1)) === encoding.value;
  });

const flatOfSegment: readonly (FormatName | undefined)[] = [0, 1, 2, 3].map((segment) =>
  (Object.keys(flatSegments) as FormatName[]).find((format) => flatSegments[format] === segment),
);

/** The ops of a format that have been met, by opcode, and the field that holds it; `null`: there is none. */
interface OpTable {
  readonly format: FormatName;
  /** Of the field, which stands in the first dword. */
  readonly lsb: number;
  readonly mask: number;
  readonly ops: (Op | null | undefined)[];
}

/** By prefix; made when the first instruction of it is met. */
const tableOfPrefix: (OpTable | undefined)[] = new Array(512).fill(undefined);
const opTables = new Map<FormatName, OpTable>();

function opTable(format: FormatName): OpTable {
  let table = opTables.get(format);
  if (table === undefined) {
    const { lsb, width } = formats[format].fields[0] as Field;
    table = { format, lsb, mask: 2 ** width - 1, ops: new Array(2 ** width).fill(undefined) };
    opTables.set(format, table);
  }
  return table;
}

/** The op of the instruction at `words[at]`; undefined where the rows have none. */
function findOp(words: ArrayLike<number>, at: number): Op | undefined {
  const word = words[at]!;
  const prefix = word >>> prefixLsb;
  let table = tableOfPrefix[prefix];
  if (table === undefined) {
    const name = formatOfPrefix(prefix);
    if (name === undefined) return undefined;
    if (name === "FLAT") {
      const flat = flatOfSegment[(word >>> 14) & 3];
      return flat && opByCode(flat, extract(formats.FLAT.fields[0]!, words, at));
    }
    table = opTable(name);
    tableOfPrefix[prefix] = table;
  }
  const opcode = (word >>> table.lsb) & table.mask;
  let op = table.ops[opcode];
  if (op === undefined) {
    op = opByCode(table.format, opcode) ?? null;
    table.ops[opcode] = op;
  }
  return op ?? undefined;
}

const formOfMarker: ReadonlyMap<number, SecondDwordName> = new Map(
  (Object.keys(secondDwords) as SecondDwordName[]).flatMap((name) =>
    (secondDwords[name].markers as readonly number[]).map((marker) => [marker, name] as const),
  ),
);

function hasSecondForms(op: Op): boolean {
  return op.format === "VOP1" || op.format === "VOP2" || op.format === "VOPC";
}

function secondForm(op: Op, src0: number | undefined): SecondDwordName | undefined {
  if (!hasSecondForms(op)) return undefined;
  return src0 === undefined ? undefined : formOfMarker.get(src0);
}

function takesForm(op: Op, form: SecondDwordName): boolean {
  if (form === "SDWA") return (op.flags & Flag.NoSdwa) === 0;
  return op.format !== "VOPC" && (op.flags & Flag.NoDpp) === 0;
}

/** Whether a source field's code names something. Source: RDNA2 ISA, operand table. */
function isScalarSource(code: number): boolean {
  return (
    code <= 208 ||
    (code >= SourceCode.sharedBase && code <= SourceCode.inverseTwoPi) ||
    (code >= SourceCode.vccz && code <= 255)
  );
}

function isOperand(op: Op, o: Operand, value: number): boolean {
  switch (o.kind) {
    case "vsrc":
      return value >= SourceCode.vgpr0 || isScalarSource(value);
    case "ssrc":
      return isScalarSource(value);
    case "sgpr":
    case "mask":
      return value < SourceCode.zero;
    case "vgpr":
      return !inSourceField(op, o) || value >= SourceCode.vgpr0 || value === SourceCode.ldsDirect;
    default:
      return true;
  }
}

function hasOperands(op: Op, fields: Readonly<Record<string, number>>, form: SecondDwordName | undefined): boolean {
  // SMEM's and MUBUF's bases are counted in pairs and quads of SGPRs: every value is one.
  return [...op.dst, ...op.src].every(
    (o) => o.field === undefined || (form !== undefined && o.field === "src0") || isOperand(op, o, fields[o.field]!),
  );
}

/**
 * The instruction that starts at `words[at]`; undefined where the rows have none, an operand code is reserved, the
 * instruction has no such DPP or SDWA form, or the words end inside it.
 */
export function decode(words: ArrayLike<number>, at: number): Instruction | undefined {
  if (at >= words.length) return undefined;
  const op = findOp(words, at);
  if (op === undefined) return undefined;
  const format = formats[op.format];
  let dwords: number = format.dwords;
  if (at + dwords > words.length) return undefined;
  const fields = extractAll(format.fields, words, at);
  if (op.format === "MIMG") return decodeImage(op, fields, words, at);
  // MTBUF with 16-bit registers, v_interp_mov of no slot: no rows.
  if (
    (op.format === "MTBUF" && fields.d16 === 1) ||
    (op.format === "VINTRP" && op.src.length === 0 && fields.vsrc! > 2)
  )
    return undefined;
  const form = secondForm(op, fields.src0);
  if ((form !== undefined && !takesForm(op, form)) || !hasOperands(op, fields, form)) return undefined;
  if (form !== undefined || takesLiteral(op, fields)) {
    if (at + dwords >= words.length) return undefined;
    const extra = words[at + dwords]! >>> 0;
    dwords++;
    if (form === undefined) return { op, dwords, fields, literal: extra };
    return { op, dwords, fields, second: { form, fields: extractAll(secondDwords[form].fields, [extra], 0) } };
  }
  return { op, dwords, fields };
}

function decodeImage(
  op: Op,
  fields: Readonly<Record<string, number>>,
  words: ArrayLike<number>,
  at: number,
): Instruction | undefined {
  const dwords = 2 + fields.nsa!;
  if (fields.opHigh !== 0 || at + dwords > words.length) return undefined;
  if (fields.nsa === 0) return { op, dwords, fields };
  const addresses: number[] = [];
  for (let k = 2; k < dwords; k++) {
    for (let byte = 0; byte < 4; byte++) addresses.push((words[at + k]! >>> (8 * byte)) & 0xff);
  }
  return { op, dwords, fields, addresses };
}

function takesLiteral(op: Op, fields: Readonly<Record<string, number>>): boolean {
  const mask = literalFields(op);
  if ((mask & 8) !== 0) return true;
  for (let i = 0; i < 3; i++) {
    if (((mask >> i) & 1) !== 0 && fields[`src${i}`] === SourceCode.literal) return true;
  }
  return false;
}
