import { Flag } from "./flags.ts";
import { imageAddressDwords, imageDataDwords, imageDims } from "./image.ts";
import { AssemblyError, parseInteger, parseScalar, parseVgpr } from "./parse-operands.ts";
import { exportTarget } from "./print-graphics.ts";
import type { Op } from "./table.ts";

/** What the readers of one instruction share with `parse-instruction.ts`. */
export interface GraphicsLine {
  readonly fields: Record<string, number>;
  addresses: number[] | undefined;
  readonly modifiers: ReadonlyMap<string, string | true>;
  readonly next: () => string;
}

function vgpr(text: string, dwords: number): number {
  const n = parseVgpr(text, dwords);
  if (n === undefined) throw new AssemblyError(`${text} is no VGPR operand of ${dwords} dwords`);
  return n;
}

function resource(text: string, dwords: number): number {
  const code = parseScalar(text, dwords);
  if (code === undefined || code % 4 !== 0)
    throw new AssemblyError(`${text} is no descriptor of ${dwords} SGPRs from a multiple of 4 on`);
  return code / 4;
}

function setSwitches(line: GraphicsLine, names: readonly string[]): void {
  for (const name of names) if (line.modifiers.has(name)) line.fields[name] = 1;
}

function numeric(line: GraphicsLine, name: string, high: number): number {
  const text = line.modifiers.get(name);
  const value = text === undefined ? 0 : text === true ? undefined : parseInteger(text);
  if (value === undefined || value < 0 || value > high) throw new AssemblyError(`${name} must be 0 to ${high}`);
  return value;
}

/** An image, export or interpolation instruction. */
export function parseGraphics(op: Op, line: GraphicsLine): void {
  if (op.format === "MIMG") parseImage(op, line);
  else if (op.format === "EXP") parseExport(line);
  else parseInterpolation(op, line);
}

/** MIMG: data, address, T#, S# where the instruction samples. */
function parseImage(op: Op, line: GraphicsLine): void {
  const { fields, next } = line;
  setSwitches(line, ["unorm", "glc", "slc", "dlc", "r128", "a16", "tfe", "lwe", "d16"]);
  fields.dmask = numeric(line, "dmask", 15);
  const dim = String(line.modifiers.get("dim") ?? "").replace(/^SQ_RSRC_IMG_/, "");
  fields.dim = imageDims.findIndex((d) => d.name === dim);
  if (fields.dim < 0) throw new AssemblyError(`no image dimension ${dim}`);
  fields.vdata = vgpr(next(), imageDataDwords(op, fields));
  const count = imageAddressDwords(op, fields);
  const address = next();
  if (address.startsWith("[")) {
    const registers = address
      .slice(1, -1)
      .split(",")
      .map((text) => vgpr(text.trim(), 1));
    if (registers.length !== count) throw new AssemblyError(`${op.mnemonic} takes ${count} address registers`);
    fields.vaddr = registers[0]!;
    line.addresses = registers.slice(1);
    fields.nsa = Math.ceil((count - 1) / 4);
  } else fields.vaddr = vgpr(address, count);
  fields.srsrc = resource(next(), fields.r128 === 1 ? 4 : 8);
  if ((op.flags & Flag.Sampler) !== 0) fields.ssamp = resource(next(), 4);
}

const targets = new Map(Array.from({ length: 64 }, (_, k) => [exportTarget(k), k]));

/** EXP: target and four sources, `off` for none. */
function parseExport(line: GraphicsLine): void {
  const { fields, next } = line;
  const targetText = next();
  const target = targets.get(targetText);
  if (target === undefined) throw new AssemblyError(`${targetText} is no export target`);
  fields.target = target;
  setSwitches(line, ["done", "compr", "vm"]);
  let en = 0;
  [next(), next(), next(), next()].forEach((text, k) => {
    if (text === "off") return;
    en |= 1 << k;
    fields[`src${fields.compr === 1 ? k >> 1 : k}`] = vgpr(text, 1);
  });
  fields.en = en;
}

/** VINTRP: destination, i or j (or a slot), attribute. */
function parseInterpolation(op: Op, line: GraphicsLine): void {
  const { fields, next } = line;
  fields.vdst = vgpr(next(), 1);
  const source = next();
  const slot = ["p10", "p20", "p0"].indexOf(source);
  if (op.src.length === 0 && slot < 0) throw new AssemblyError(`${source} is no slot of an attribute`);
  fields.vsrc = op.src.length > 0 ? vgpr(source, 1) : slot;
  const attribute = next();
  const match = /^attr(\d+)\.([xyzw])$/.exec(attribute);
  if (match === null || Number(match[1]) > 63) throw new AssemblyError(`${attribute} is no attribute`);
  fields.attr = Number(match[1]);
  fields.attrchan = "xyzw".indexOf(match[2]!);
}
