import type { Parts } from "./encode.ts";
import { Flag } from "./flags.ts";
import { parseGraphics } from "./parse-graphics.ts";
import {
  AssemblyError,
  parseImmediate,
  parseInteger,
  parseScalar,
  parseSource,
  parseVgpr,
  stripModifiers,
} from "./parse-operands.ts";
import { SourceCode } from "./registers.ts";
import { inSourceField, isPacked, type Op, type Operand } from "./table.ts";

/** A line's operands, and its modifiers by name (`true` for a bare word). */
export interface ParsedLine {
  readonly operands: readonly string[];
  readonly modifiers: ReadonlyMap<string, string | true>;
  /** Target of a label operand, in dwords from the next instruction; undefined for an unknown label. */
  readonly branch: (label: string) => number | undefined;
}

interface Draft {
  readonly fields: Record<string, number>;
  literal: number | undefined;
  addresses?: readonly number[] | undefined;
}

/** Fields of `op` from a line; throws `AssemblyError` where the text is not of this op. */
export function parseInstruction(op: Op, line: ParsedLine): Parts {
  const draft: Draft = { fields: {}, literal: undefined };
  const operands = [...line.operands];
  const next = (): string => {
    const text = operands.shift();
    if (text === undefined) throw new AssemblyError(`${op.mnemonic} needs more operands`);
    return text;
  };
  switch (op.format) {
    case "SMEM":
      parseSmem(op, line, draft, next);
      break;
    case "DS":
      for (const o of [...op.dst, ...op.src]) draft.fields[o.field!] = vgpr(next(), o.dwords);
      parseDsOffsets(op, line, draft);
      break;
    case "MUBUF":
      if ((op.flags & Flag.Cache) === 0) parseMubuf(op, line, draft, next);
      break;
    case "MTBUF":
      parseMubuf(op, line, draft, next);
      draft.fields.format = numeric(line, "format", 0, 127);
      break;
    case "MIMG":
    case "EXP":
    case "VINTRP": {
      const graphics = { fields: draft.fields, modifiers: line.modifiers, next, addresses: undefined };
      parseGraphics(op, graphics);
      draft.addresses = graphics.addresses;
      break;
    }
    case "FLAT":
    case "SCRATCH":
    case "GLOBAL":
      parseFlat(op, line, draft, next);
      break;
    default:
      parseAlu(op, line, draft, operands, next);
  }
  if (operands.length > 0) throw new AssemblyError(`${op.mnemonic} takes no operand ${operands[0]}`);
  checkModifiers(op, line);
  const { fields, literal, addresses } = draft;
  if (addresses !== undefined) return { op, fields, addresses };
  return literal === undefined ? { op, fields } : { op, fields, literal };
}

const known: Readonly<Record<string, readonly string[]>> = {
  SMEM: ["offset", "glc", "dlc"],
  DS: ["offset", "offset0", "offset1", "gds"],
  MUBUF: ["offset", "offen", "idxen", "glc", "slc", "dlc", "tfe", "lds"],
  MTBUF: ["offset", "offen", "idxen", "format", "glc", "slc", "dlc", "tfe"],
  MIMG: ["dmask", "dim", "unorm", "glc", "slc", "dlc", "r128", "a16", "tfe", "lwe", "d16"],
  EXP: ["done", "compr", "vm"],
  FLAT: ["offset", "glc", "slc", "dlc", "lds"],
  SCRATCH: ["offset", "glc", "slc", "dlc", "lds"],
  GLOBAL: ["offset", "glc", "slc", "dlc", "lds"],
};

function checkModifiers(op: Op, line: ParsedLine): void {
  const allowed = [...(known[op.format] ?? [])];
  if ((op.flags & Flag.Clamp) !== 0) allowed.push("clamp");
  if ((op.flags & Flag.Omod) !== 0) allowed.push("mul", "div");
  if ((op.flags & Flag.OpSel) !== 0 || op.format === "VOP3P") allowed.push("op_sel");
  if (op.format === "VOP3P") allowed.push("op_sel_hi");
  if (isPacked(op)) allowed.push("neg_lo", "neg_hi");
  for (const name of line.modifiers.keys()) {
    if (!allowed.includes(name)) throw new AssemblyError(`${op.mnemonic} takes no ${name}`);
  }
}

function parseAlu(op: Op, line: ParsedLine, draft: Draft, operands: string[], next: () => string): void {
  if (op.name === "s_endpgm" && operands.length === 0) operands.push("0");
  for (const o of [...op.dst, ...op.src]) {
    if (o.kind !== "exec") parseAluOperand(op, o, next(), line, draft);
  }
  if (line.modifiers.has("clamp")) draft.fields.clamp = 1;
  const omod = line.modifiers.get("mul") ?? line.modifiers.get("div");
  if (omod !== undefined) {
    const code = line.modifiers.has("div") ? { "2": 3 }[String(omod)] : { "2": 1, "4": 2 }[String(omod)];
    if (code === undefined) throw new AssemblyError(`no output modifier of ${String(omod)}`);
    draft.fields.omod = code;
  }
  if (op.format === "VOP3P") {
    parseHalves(op, line, draft);
    return;
  }
  const opSel = line.modifiers.get("op_sel");
  if (opSel !== undefined) {
    const bits = /^\[([01](?:,[01])*)\]$/.exec(String(opSel))?.[1]?.split(",");
    if (bits === undefined || bits.length > op.src.length + 1) throw new AssemblyError("op_sel is malformed");
    // The last of a full list is the destination, which has bit 3.
    draft.fields.opSel = bits.reduce((sum, b, i) => sum | (Number(b) << (i === op.src.length ? 3 : i)), 0);
  }
}

/** The lists of a VOP3P instruction, one bit a source. */
function parseHalves(op: Op, line: ParsedLine, draft: Draft): void {
  const list = (name: string): number | undefined => {
    const text = line.modifiers.get(name);
    if (text === undefined) return undefined;
    const bits = /^\[([01](?:,[01])*)\]$/.exec(String(text))?.[1]?.split(",");
    if (bits === undefined || bits.length !== op.src.length) throw new AssemblyError(`${name} is malformed`);
    return bits.reduce((sum, b, i) => sum | (Number(b) << i), 0);
  };
  const { fields } = draft;
  const high = list("op_sel_hi");
  fields.opSel = list("op_sel") ?? 0;
  if (high !== undefined) {
    fields.opSelHi = high & 3;
    // A third source that is not there counts as taken from the high half.
    fields.opSelHi2 = op.src.length < 3 ? 1 : high >> 2;
  }
  if (!isPacked(op)) return;
  fields.neg = list("neg_lo") ?? 0;
  fields.abs = list("neg_hi") ?? 0;
}

function parseAluOperand(op: Op, o: Operand, text: string, line: ParsedLine, draft: Draft): void {
  if (o.kind === "vcc") {
    if (text !== "vcc_lo") throw new AssemblyError(`${op.mnemonic} works on vcc_lo only`);
  } else if (o.kind === "literal") {
    const value = parseInteger(text);
    if (value === undefined || value < -0x8000_0000 || value > 0xffff_ffff)
      throw new AssemblyError(`${text} is no literal`);
    draft.literal = value >>> 0;
  } else draft.fields[o.field!] = aluField(op, o, text, line, draft);
}

function aluField(op: Op, o: Operand, text: string, line: ParsedLine, draft: Draft): number {
  switch (o.kind) {
    case "label": {
      const target = parseInteger(text) ?? line.branch(text);
      if (target === undefined) throw new AssemblyError(`no label ${text}`);
      if (target < -0x8000 || target > 0xffff) throw new AssemblyError(`${text} is too far`);
      return target & 0xffff;
    }
    case "imm":
    case "hwreg":
      return parseImmediate(op.name, o, text);
    case "sgpr":
    case "mask":
      return scalar(text, o.dwords);
    default:
      return parseAluSource(op, o, text, draft);
  }
}

function parseAluSource(op: Op, o: Operand, text: string, draft: Draft): number {
  if (o.kind === "vgpr" && !inSourceField(op, o)) return vgpr(text, o.dwords);
  const { bare, neg, abs } = o.neg || o.abs ? stripModifiers(text) : { bare: text, neg: false, abs: false };
  if ((neg && !o.neg) || (abs && !o.abs)) throw new AssemblyError(`${text} can't have this modifier`);
  const source = parseSource(bare, o);
  const bit = 1 << Number(o.field![3]);
  if (neg) draft.fields.neg = (draft.fields.neg ?? 0) | bit;
  if (abs) draft.fields.abs = (draft.fields.abs ?? 0) | bit;
  if (source.literal !== undefined) {
    if (draft.literal !== undefined && draft.literal !== source.literal)
      throw new AssemblyError("two different literals");
    draft.literal = source.literal;
  }
  return source.code;
}

function vgpr(text: string, dwords: number): number {
  const n = parseVgpr(text, dwords);
  if (n === undefined) throw new AssemblyError(`${text} is no VGPR operand of ${dwords} dwords`);
  return n;
}

function scalar(text: string, dwords: number): number {
  const code = parseScalar(text, dwords);
  if (code === undefined || code >= SourceCode.zero)
    throw new AssemblyError(`${text} is no SGPR operand of ${dwords} dwords`);
  return code;
}

function numeric(line: ParsedLine, name: string, low: number, high: number): number {
  const text = line.modifiers.get(name);
  if (text === undefined) return 0;
  const value = text === true ? undefined : parseInteger(text);
  if (value === undefined || value < low || value > high) throw new AssemblyError(`${name} must be ${low} to ${high}`);
  return value;
}

function setSwitches(line: ParsedLine, draft: Draft, names: readonly string[]): void {
  for (const name of names) if (line.modifiers.has(name)) draft.fields[name] = 1;
}

function parseSmem(op: Op, line: ParsedLine, draft: Draft, next: () => string): void {
  const { fields } = draft;
  if (op.dst[0]) fields.sdata = scalar(next(), op.dst[0].dwords);
  if (op.src[0]) {
    const base = scalar(next(), op.src[0].dwords);
    if (base % 2 !== 0) throw new AssemblyError("the base must start at an even SGPR");
    fields.sbase = base / 2;
    const text = next();
    const immediate = parseInteger(text);
    if (immediate === undefined) {
      fields.soffset = scalar(text, 1);
      fields.offset = numeric(line, "offset", -0x100000, 0xfffff);
    } else {
      if (immediate < -0x100000 || immediate > 0xfffff) throw new AssemblyError("offset does not fit 21 bits");
      fields.offset = immediate;
    }
  }
  setSwitches(line, draft, ["glc", "dlc"]);
}

function parseDsOffsets(op: Op, line: ParsedLine, draft: Draft): void {
  if ((op.flags & Flag.PairOffset) !== 0) {
    draft.fields.offset0 = numeric(line, "offset0", 0, 255);
    draft.fields.offset1 = numeric(line, "offset1", 0, 255);
  } else {
    const offset = numeric(line, "offset", 0, 0xffff);
    draft.fields.offset0 = offset & 255;
    draft.fields.offset1 = offset >> 8;
  }
  setSwitches(line, draft, ["gds"]);
}

function parseMubuf(op: Op, line: ParsedLine, draft: Draft, next: () => string): void {
  const { fields } = draft;
  setSwitches(line, draft, ["offen", "idxen", "glc", "slc", "dlc", "tfe", "lds"]);
  const data = op.src[0] ?? op.dst[0];
  if (data && fields.lds === undefined) fields.vdata = vgpr(next(), data.dwords + (fields.tfe ?? 0));
  const addressDwords = (fields.offen ?? 0) + (fields.idxen ?? 0);
  const address = next();
  if (addressDwords > 0) fields.vaddr = vgpr(address, addressDwords);
  else if (address !== "off") throw new AssemblyError("an address needs offen or idxen");
  const resource = scalar(next(), 4);
  if (resource % 4 !== 0) throw new AssemblyError("the resource must start at a multiple of 4");
  fields.srsrc = resource / 4;
  const offsetText = next();
  const shape: Operand = {
    kind: "ssrc",
    dwords: 1,
    type: "b32",
    neg: false,
    abs: false,
    literal: false,
    field: "soffset",
  };
  fields.soffset = parseSource(offsetText, shape).code;
  fields.offset = numeric(line, "offset", 0, 4095);
}

function parseFlat(op: Op, line: ParsedLine, draft: Draft, next: () => string): void {
  const { fields } = draft;
  setSwitches(line, draft, ["glc", "slc", "dlc", "lds"]);
  const atomic = (op.flags & Flag.Atomic) !== 0;
  if (op.dst[0] && (atomic ? fields.glc === 1 : fields.lds === undefined)) fields.vdst = vgpr(next(), op.dst[0].dwords);
  const address = (op.flags & Flag.AddTid) !== 0 ? undefined : next();
  if (op.src[0]) fields.data = vgpr(next(), op.src[0].dwords);
  const base = op.format === "FLAT" ? "off" : next();
  if (base !== "off") fields.saddr = scalar(base, op.format === "GLOBAL" ? 2 : 1);
  if (address === "off") {
    if (op.format !== "SCRATCH") throw new AssemblyError("an address VGPR is needed");
    if (base === "off") fields.saddr = SourceCode.execHi;
  } else if (address !== undefined) {
    if (op.format === "SCRATCH" && base !== "off") throw new AssemblyError("scratch takes a VGPR or an SGPR, not both");
    fields.addr = vgpr(address, op.format === "FLAT" || (op.format === "GLOBAL" && base === "off") ? 2 : 1);
  }
  fields.offset = op.format === "FLAT" ? numeric(line, "offset", 0, 2047) : numeric(line, "offset", -2048, 2047);
}
