import { invariant } from "../base/index.ts";
import { type CounterClass, Flag } from "./flags.ts";
import { e64Base, type FormatName, formatNames, formats } from "./formats.ts";
import type { OperandCode, Row } from "./row.ts";
import { allRows } from "./rows/index.ts";

export type OperandKind =
  | "vgpr"
  | "sgpr"
  | "vsrc"
  | "ssrc"
  | "mask"
  | "vcc"
  | "exec"
  | "imm"
  | "label"
  | "hwreg"
  | "literal";

/** In the order of their numbers in `assembly/gen/isa-ops.ts`; 0 is no operand. */
export const operandKinds: readonly OperandKind[] = [
  "vgpr",
  "sgpr",
  "vsrc",
  "ssrc",
  "mask",
  "vcc",
  "exec",
  "imm",
  "label",
  "hwreg",
  "literal",
];

export type ValueType = "none" | "b16" | "f16" | "b32" | "f32" | "b64" | "f64";

/** In the order of their numbers in `assembly/gen/isa-ops.ts`. */
export const valueTypes: readonly ValueType[] = ["none", "b16", "f16", "b32", "f32", "b64", "f64"];

/** One operand of one encoding. */
export interface Operand {
  readonly kind: OperandKind;
  /** Registers that it spans; 0 for immediates. */
  readonly dwords: number;
  readonly type: ValueType;
  readonly neg: boolean;
  readonly abs: boolean;
  readonly literal: boolean;
  /** The field that holds it; undefined where it is implied. */
  readonly field: string | undefined;
}

/** One encoding of one instruction; `id` is the dense number `Op` of the generated files (0 is none). */
export interface Op {
  readonly id: number;
  /** As llvm prints it: with `_e32` or `_e64` where both exist. */
  readonly mnemonic: string;
  /** The vendor's name. */
  readonly name: string;
  readonly format: FormatName;
  readonly opcode: number;
  readonly dst: readonly Operand[];
  readonly src: readonly Operand[];
  readonly flags: number;
  readonly counter: CounterClass;
  readonly meaning: string;
  /** Mnemonic of the encoding with source 0 and 1 exchanged; its own where they commute. */
  readonly swap: string | undefined;
}

const vector: readonly FormatName[] = ["VOP1", "VOP2", "VOPC", "VOP3P", "VOP3", "VOP3B"];
const memory: readonly FormatName[] = ["DS", "MUBUF", "MTBUF", "MIMG", "FLAT", "SCRATCH", "GLOBAL"];

/** Fields that take an operand, in order. SMEM's and MUBUF's addresses are formatted from their own fields. */
const dstFields: Readonly<Partial<Record<FormatName, readonly string[]>>> = {
  SOPC: [],
  SOPP: [],
  VOPC: [],
  VOP1: ["vdst"],
  VOP2: ["vdst"],
  VOP3P: ["vdst"],
  VOP3: ["vdst"],
  VOP3B: ["vdst", "sdst"],
  SMEM: ["sdata"],
  DS: ["vdst"],
  MUBUF: ["vdata"],
  MTBUF: ["vdata"],
  MIMG: ["vdata"],
  EXP: [],
  VINTRP: ["vdst"],
  FLAT: ["vdst"],
  SCRATCH: ["vdst"],
  GLOBAL: ["vdst"],
};
const srcFields: Readonly<Partial<Record<FormatName, readonly string[]>>> = {
  SMEM: ["sbase"],
  DS: ["addr", "data0", "data1"],
  MUBUF: ["vdata"],
  MTBUF: ["vdata"],
  EXP: ["src0", "src1", "src2", "src3"],
  VINTRP: ["vsrc"],
  FLAT: ["data"],
  SCRATCH: ["data"],
  GLOBAL: ["data"],
};

interface Shape {
  readonly kind: OperandKind;
  readonly dwords: number;
  readonly type: ValueType;
  readonly mods: boolean;
  readonly literal: boolean;
}

/** Shapes by code, one map for vector formats and one for the others: each start of a process makes the whole table. */
const shapes = [new Map<OperandCode, Shape>(), new Map<OperandCode, Shape>()] as const;

function shapeOf(code: OperandCode, format: FormatName): Shape {
  const known = shapes[vector.includes(format) ? 1 : 0];
  let shape = known.get(code);
  if (shape === undefined) {
    shape = parseShape(code, format);
    known.set(code, shape);
  }
  return shape;
}

function parseShape(code: OperandCode, format: FormatName): Shape {
  const plain = { type: "none", mods: false, literal: false } as const;
  const count = Number(code.slice(1));
  if (/^v\d$/.test(code)) return { kind: "vgpr", dwords: count, ...plain };
  if (/^s\d+$/.test(code)) return { kind: "sgpr", dwords: count, ...plain };
  if (/^[bf]\d/.test(code)) {
    const kind = vector.includes(format) ? "vsrc" : "ssrc";
    return { kind, dwords: Math.max(1, count / 32), type: code as ValueType, mods: code[0] === "f", literal: true };
  }
  switch (code) {
    case "m1":
      return { kind: "mask", dwords: 1, ...plain };
    case "n32":
      return { kind: "vsrc", dwords: 1, type: "b32", mods: true, literal: true };
    case "p16":
    case "h16":
      return { kind: "vsrc", dwords: 1, type: code === "p16" ? "b16" : "f16", mods: false, literal: true };
    case "x32":
      return { kind: "vsrc", dwords: 1, type: "f32", mods: true, literal: false };
    case "sc32":
      return { kind: "ssrc", dwords: 1, type: "b32", mods: false, literal: false };
    case "sl32":
      return { kind: "ssrc", dwords: 1, type: "b32", mods: false, literal: true };
    case "vcc":
    case "exec":
      return { kind: code, dwords: 1, ...plain };
    case "imm16":
      return { kind: "imm", dwords: 0, ...plain };
    case "label":
    case "hwreg":
      return { kind: code, dwords: 0, ...plain };
    default:
      return { kind: "literal", dwords: 0, type: code === "lit16" ? "b16" : "b32", mods: false, literal: false };
  }
}

/** Operands of one encoding of a row: which field each stands in, what the encoding implies or forbids. */
function operandsOf(row: Row, format: FormatName): { dst: Operand[]; src: Operand[] } {
  const e64 = format === "VOP3" || format === "VOP3B" || format === "VOP3P";
  const short = format === "VOP1" || format === "VOP2" || format === "VOPC";
  const take = (fields: readonly string[]) => {
    let next = 0;
    return (code: OperandCode, isSource: boolean): Operand => {
      let { kind, dwords, type, mods, literal } = shapeOf(code, format);
      if (kind === "vcc" && e64) kind = "mask";
      const implied = kind === "vcc" || kind === "exec" || kind === "literal";
      const immediate = kind === "imm" || kind === "label" || kind === "hwreg";
      const field = implied ? undefined : immediate ? "simm16" : fields[next++];
      invariant(implied || field !== undefined, `${row.name}: no field for operand ${code}`);
      if (short && isSource && field === "src1" && kind === "vsrc") {
        // The short form's source 1 is a bare VGPR number.
        return { kind: "vgpr", dwords, type, neg: false, abs: false, literal: false, field };
      }
      return {
        kind,
        dwords,
        type,
        neg: e64 && mods,
        abs: (format === "VOP3" || format === "VOP3P") && mods,
        literal,
        field,
      };
    };
  };
  const toDst = take(dstFields[format] ?? ["sdst"]);
  const dst = row.dst.map((code) => toDst(code, false));
  // A MIMG's last source is the address.
  const image = row.src.length > 1 ? ["vdata", "vaddr"] : ["vaddr"];
  const sources =
    format === "MIMG" ? image : (srcFields[format] ?? (format === "SOPK" ? ["sdst"] : ["src0", "src1", "src2"]));
  const toSrc = take(format === "DS" && (row.flags & Flag.AddTid) !== 0 ? sources.slice(1) : sources);
  return { dst, src: row.src.map((code) => toSrc(code, true)) };
}

function flagsOf(row: Row, format: FormatName, dst: readonly Operand[], src: readonly Operand[]): number {
  let flags = row.flags;
  const isVector = vector.includes(format);
  if (
    (isVector && (flags & Flag.IgnoresExec) === 0) ||
    memory.includes(format) ||
    format === "EXP" ||
    format === "VINTRP"
  )
    flags |= Flag.ReadsExec;
  if (format === "SOPC") flags |= Flag.WritesScc;
  if (dst.some((o) => o.kind === "vcc")) flags |= Flag.WritesVcc;
  if (src.some((o) => o.kind === "vcc")) flags |= Flag.ReadsVcc;
  if (dst.some((o) => o.kind === "exec")) flags |= Flag.WritesExec;
  if (src.some((o) => o.literal || o.kind === "literal")) flags |= Flag.Literal;
  if (format === "VOP3" || format === "VOP3B" || format === "VOP3P") flags &= ~(Flag.NoE64 | Flag.NoDpp | Flag.NoSdwa);
  else if (isVector) flags &= ~(Flag.Clamp | Flag.Omod | Flag.OpSel);
  return flags;
}

function counterOf(row: Row, format: FormatName): CounterClass {
  const { flags } = row;
  if (format === "DS") return row.dst.length + row.src.length > 0 ? "lgkm" : "none";
  if (format === "EXP") return "exp";
  if (format === "SMEM") return (flags & Flag.Load) !== 0 ? "lgkm" : "none";
  if (row.name === "s_sendmsg" || row.name === "s_sendmsghalt") return "lgkm";
  const kind =
    (flags & Flag.Load) !== 0
      ? "vm"
      : (flags & Flag.Store) !== 0
        ? "vs"
        : (flags & Flag.Atomic) !== 0
          ? "vm-or-vs"
          : "none";
  if (kind === "none" || !memory.includes(format)) return "none";
  return format === "FLAT" ? `${kind}+lgkm` : kind;
}

/** One encoding of a row; the op is made from it when it is first asked for. */
interface Slot {
  readonly row: Row;
  readonly format: FormatName;
  readonly opcode: number;
  readonly suffix: string;
  op: Op | undefined;
}

function slotsOf(row: Row): Slot[] {
  const base = e64Base[row.format];
  const { format, opcode } = row;
  if (base === undefined || (row.flags & Flag.NoE64) !== 0) return [{ row, format, opcode, suffix: "", op: undefined }];
  const long = row.dst.length === 2 ? "VOP3B" : "VOP3";
  return [
    { row, format, opcode, suffix: "_e32", op: undefined },
    { row, format: long, opcode: base + opcode, suffix: "_e64", op: undefined },
  ];
}

const formatRank = Object.fromEntries(formatNames.map((name, rank) => [name, rank])) as Record<FormatName, number>;

/** Every encoding, grouped by format in decode order, then by opcode: an op's id is its place here, from 1. */
const slots: readonly Slot[] = allRows
  .flatMap(slotsOf)
  .sort((a, b) => formatRank[a.format] - formatRank[b.format] || a.opcode - b.opcode);

function opAt(index: number): Op {
  const slot = slots[index] as Slot;
  if (slot.op === undefined) {
    const { row, format, opcode, suffix } = slot;
    const { dst, src } = operandsOf(row, format);
    const swapName = (row.flags & Flag.Commutes) !== 0 ? row.name : row.swap;
    slot.op = {
      id: index + 1,
      mnemonic: row.name + suffix,
      name: row.name,
      format,
      opcode,
      dst,
      src,
      flags: flagsOf(row, format, dst, src),
      counter: counterOf(row, format),
      meaning: row.meaning,
      swap: swapName === undefined ? undefined : swapName + suffix,
    };
  }
  return slot.op;
}

/** Opcode to place in `slots`, of each format; VOP3 has VOP3B's too. */
const places = new Map<FormatName, Map<number, number>>(formatNames.map((name) => [name, new Map()]));
for (const [index, { row, format, opcode }] of slots.entries()) {
  const table = places.get(format === "VOP3B" ? "VOP3" : format) as Map<number, number>;
  invariant(!table.has(opcode), `${row.name}: opcode taken`);
  table.set(opcode, index);
}

/** The encoding with this opcode in this format; VOP3 finds VOP3B too. Made when it is first asked for. */
export function opByCode(format: FormatName, opcode: number): Op | undefined {
  const index = places.get(format)?.get(opcode);
  return index === undefined ? undefined : opAt(index);
}

let byMnemonic: ReadonlyMap<string, Op> | undefined;

/** All ops by mnemonic as printed: `v_add_f32_e32`. Made by the first call. */
export function opsByMnemonic(): ReadonlyMap<string, Op> {
  byMnemonic ??= new Map(slots.map((_, index) => opAt(index)).map((op) => [op.mnemonic, op]));
  return byMnemonic;
}

/** Every encoding, by dense id from 1; grouped by format in decode order, then by opcode. */
export const allOps = (): readonly Op[] => [...opsByMnemonic().values()];

/** Whether an operand stands in a 9-bit source field, where VGPR n is 256 + n. */
export function inSourceField(op: Op, operand: Operand): boolean {
  return formats[op.format].fields.some((f) => f.name === operand.field && f.width === 9);
}

/** Which of src0..src2 hold a source code that can be the literal marker (bits 0..2); bit 3: a literal always follows. */
export function literalFields(op: Op): number {
  let mask = 0;
  for (const o of op.src) {
    if (o.kind === "literal") mask |= 8;
    else if ((o.kind === "vsrc" || o.kind === "ssrc") && o.field !== undefined) mask |= 1 << Number(o.field[3]);
  }
  return mask;
}

/** A VOP3P instruction on two halves, whose high result takes high halves where nothing else is said. */
export function isPacked(op: Op): boolean {
  return op.format === "VOP3P" && !op.name.startsWith("v_fma_mix");
}
