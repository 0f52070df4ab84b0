import type { Instruction } from "./decode.ts";
import { Flag } from "./flags.ts";
import { imageAddressDwords, imageDataDwords, imageDims } from "./image.ts";
import { constantText, sgprText, vgprText } from "./print-operands.ts";

interface Printed {
  readonly operands: readonly string[];
  readonly modifiers: readonly string[];
}

function switches(fields: Readonly<Record<string, number>>, names: readonly string[]): string[] {
  return names.filter((name) => fields[name] === 1);
}

/** MTBUF. */
export function printTyped({ op, fields }: Instruction): Printed {
  const data = op.src[0] ?? op.dst[0];
  const addressDwords = fields.offen! + fields.idxen!;
  const operands = [
    vgprText(fields.vdata!, (data?.dwords ?? 1) + fields.tfe!),
    addressDwords === 0 ? "off" : vgprText(fields.vaddr!, addressDwords),
    sgprText(fields.srsrc! * 4, 4),
    constantText(fields.soffset!, "b32") ?? sgprText(fields.soffset!, 1),
  ];
  const modifiers = [`format:${fields.format!}`, ...switches(fields, ["idxen", "offen"])];
  if (fields.offset !== 0) modifiers.push(`offset:${fields.offset}`);
  return { operands, modifiers: [...modifiers, ...switches(fields, ["glc", "slc", "dlc", "tfe"])] };
}

/** MIMG. Addresses in registers of their own choice stand in brackets. */
export function printImage(instruction: Instruction): Printed {
  const { op, fields, addresses } = instruction;
  const count = imageAddressDwords(op, fields);
  const registers = [fields.vaddr!, ...(addresses ?? [])].slice(0, count);
  const address = fields.nsa === 0 ? vgprText(fields.vaddr!, count) : `[${registers.map((n) => `v${n}`).join(", ")}]`;
  const operands = [
    vgprText(fields.vdata!, imageDataDwords(op, fields)),
    address,
    sgprText(fields.srsrc! * 4, fields.r128 === 1 ? 4 : 8),
  ];
  if ((op.flags & Flag.Sampler) !== 0) operands.push(sgprText(fields.ssamp! * 4, 4));
  const modifiers = [`dmask:0x${fields.dmask!.toString(16)}`, `dim:SQ_RSRC_IMG_${imageDims[fields.dim!]!.name}`];
  return {
    operands,
    modifiers: [...modifiers, ...switches(fields, ["unorm", "glc", "slc", "dlc", "r128", "a16", "tfe", "lwe", "d16"])],
  };
}

/** The name of an export target. Source: RDNA2 ISA, export chapter. */
export function exportTarget(target: number): string {
  if (target < 8) return `mrt${target}`;
  if (target === 8) return "mrtz";
  if (target === 9) return "null";
  if (target >= 12 && target < 17) return `pos${target - 12}`;
  if (target === 20) return "prim";
  return target >= 32 ? `param${target - 32}` : `invalid_target_${target}`;
}

/** EXP. Packed halves: a register stands twice. */
export function printExport({ fields }: Instruction): Printed {
  const { en = 0, compr = 0 } = fields;
  const sources = [0, 1, 2, 3].map((k) => {
    const source = compr === 1 ? k >> 1 : k;
    return ((en >> k) & 1) === 1 ? `v${fields[`src${source}`]}` : "off";
  });
  return {
    operands: [`${exportTarget(fields.target!)} ${sources[0]}`, ...sources.slice(1)],
    modifiers: switches(fields, ["done", "compr", "vm"]),
  };
}

/** VINTRP. */
export function printInterpolation({ op, fields }: Instruction): Printed {
  const slot =
    op.src.length > 0 ? vgprText(fields.vsrc!, 1) : (["p10", "p20", "p0"][fields.vsrc!] ?? "invalid_param_3");
  return {
    operands: [vgprText(fields.vdst!, 1), slot, `attr${fields.attr}.${"xyzw"[fields.attrchan!]}`],
    modifiers: [],
  };
}
