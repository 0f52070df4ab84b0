import type { Instruction } from "./decode.ts";
import { Flag } from "./flags.ts";
import { printExport, printImage, printInterpolation, printTyped } from "./print-graphics.ts";
import { constantText, sgprText, vgprText } from "./print-operands.ts";
import { SourceCode } from "./registers.ts";

interface Printed {
  readonly operands: readonly string[];
  readonly modifiers: readonly string[];
}

/** Operands and modifiers of a memory or graphics instruction; undefined for the others. */
export function printMemory(instruction: Instruction): Printed | undefined {
  switch (instruction.op.format) {
    case "SMEM":
      return smem(instruction);
    case "DS":
      return ds(instruction);
    case "MUBUF":
      return mubuf(instruction);
    case "MTBUF":
      return printTyped(instruction);
    case "MIMG":
      return printImage(instruction);
    case "EXP":
      return printExport(instruction);
    case "VINTRP":
      return printInterpolation(instruction);
    case "FLAT":
    case "SCRATCH":
    case "GLOBAL":
      return flat(instruction);
    default:
      return undefined;
  }
}

function hex(value: number): string {
  return value < 0 ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`;
}

function switches(fields: Readonly<Record<string, number>>, names: readonly string[]): string[] {
  return names.filter((name) => fields[name] === 1);
}

function smem({ op, fields }: Instruction): Printed {
  const operands: string[] = [];
  const modifiers: string[] = [];
  if (op.dst[0]) operands.push(sgprText(fields.sdata!, op.dst[0].dwords));
  if (op.src[0]) {
    operands.push(sgprText(fields.sbase! * 2, op.src[0].dwords));
    if (fields.soffset === SourceCode.null) operands.push(hex(fields.offset!));
    else {
      operands.push(sgprText(fields.soffset!, 1));
      if (fields.offset !== 0) modifiers.push(`offset:${hex(fields.offset!)}`);
    }
  }
  return { operands, modifiers: [...modifiers, ...switches(fields, ["glc", "dlc"])] };
}

function ds({ op, fields }: Instruction): Printed {
  const operands = [...op.dst, ...op.src].map((o) => vgprText(fields[o.field!]!, o.dwords));
  const modifiers: string[] = [];
  const { offset0 = 0, offset1 = 0 } = fields;
  if ((op.flags & Flag.PairOffset) !== 0) {
    if (offset0 !== 0) modifiers.push(`offset0:${offset0}`);
    if (offset1 !== 0) modifiers.push(`offset1:${offset1}`);
  } else if (offset0 !== 0 || offset1 !== 0) modifiers.push(`offset:${offset0 | (offset1 << 8)}`);
  return { operands, modifiers: [...modifiers, ...switches(fields, ["gds"])] };
}

function mubuf({ op, fields }: Instruction): Printed {
  if ((op.flags & Flag.Cache) !== 0) return { operands: [], modifiers: [] };
  const data = op.src[0] ?? op.dst[0];
  const operands: string[] = [];
  if (data && fields.lds === 0) operands.push(vgprText(fields.vdata!, data.dwords + fields.tfe!));
  const addressDwords = fields.offen! + fields.idxen!;
  operands.push(addressDwords === 0 ? "off" : vgprText(fields.vaddr!, addressDwords));
  operands.push(sgprText(fields.srsrc! * 4, 4));
  operands.push(constantText(fields.soffset!, "b32") ?? sgprText(fields.soffset!, 1));
  const modifiers = switches(fields, ["idxen", "offen"]);
  if (fields.offset !== 0) modifiers.push(`offset:${fields.offset}`);
  return { operands, modifiers: [...modifiers, ...switches(fields, ["glc", "slc", "dlc", "tfe", "lds"])] };
}

function flat({ op, fields }: Instruction): Printed {
  const operands: string[] = [];
  const atomic = (op.flags & Flag.Atomic) !== 0;
  const returns = atomic ? fields.glc === 1 : fields.lds === 0;
  if (op.dst[0] && returns) operands.push(vgprText(fields.vdst!, op.dst[0].dwords));
  const { saddr = 0 } = fields;
  const absent = saddr === SourceCode.null || (op.format === "SCRATCH" && saddr === SourceCode.execHi);
  if ((op.flags & Flag.AddTid) !== 0) {
    // The lane number is the address: data and saddr only.
  } else if (op.format === "FLAT") operands.push(vgprText(fields.addr!, 2));
  else if (op.format === "GLOBAL") operands.push(vgprText(fields.addr!, absent ? 2 : 1));
  else operands.push(saddr === SourceCode.null ? vgprText(fields.addr!, 1) : "off");
  if (op.src[0]) operands.push(vgprText(fields.data!, op.src[0].dwords));
  if (op.format !== "FLAT") operands.push(absent ? "off" : sgprText(saddr, op.format === "GLOBAL" ? 2 : 1));
  const modifiers = fields.offset === 0 ? [] : [`offset:${fields.offset}`];
  return { operands, modifiers: [...modifiers, ...switches(fields, ["glc", "slc", "dlc", "lds"])] };
}
