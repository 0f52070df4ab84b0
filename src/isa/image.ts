import { Flag } from "./flags.ts";
import type { Op } from "./table.ts";

/** An image dimension: its name in assembler text, VGPRs of coordinates and of both gradients. In the order of the codes. */
export const imageDims: readonly { readonly name: string; readonly coords: number; readonly gradients: number }[] = [
  { name: "1D", coords: 1, gradients: 2 },
  { name: "2D", coords: 2, gradients: 4 },
  { name: "3D", coords: 3, gradients: 6 },
  { name: "CUBE", coords: 3, gradients: 4 },
  { name: "1D_ARRAY", coords: 2, gradients: 2 },
  { name: "2D_ARRAY", coords: 3, gradients: 4 },
  { name: "2D_MSAA", coords: 3, gradients: 4 },
  { name: "2D_MSAA_ARRAY", coords: 4, gradients: 4 },
];

/** A bit of the name, `c`, `d`, `l`, `b`, `cl`, `o`: image_sample_c_d_cl_o takes a compare value, gradients, a clamp, an offset. */
function has(op: Op, part: string): boolean {
  return op.name.split("_").slice(2).includes(part);
}

/** Fields that decide how many registers a MIMG instruction has. */
type Fields = Readonly<Record<string, number>>;

/** VGPRs of the address. Two 16-bit components share one, but the offset, bias and compare value. */
export function imageAddressDwords(op: Op, fields: Fields): number {
  if (op.name === "image_get_resinfo") return 1;
  const dim = imageDims[fields.dim ?? 0]!;
  const sampled = (op.flags & Flag.Sampler) !== 0;
  const whole = sampled ? ["o", "b", "c"].filter((part) => has(op, part)).length : 0;
  const gradients = has(op, "d") || has(op, "cd") ? dim.gradients : 0;
  const mip = sampled ? has(op, "l") : has(op, "mip");
  const packed = dim.coords + Number(mip) + Number(sampled && has(op, "cl"));
  if (fields.a16 !== 1) return whole + gradients + packed;
  // Each direction's gradients are packed by themselves.
  const half = (n: number) => Math.ceil(n / 2);
  return whole + 2 * half(gradients / 2) + half(packed);
}

/** VGPRs of the data, the status dword of tfe and lwe included. */
export function imageDataDwords(op: Op, fields: Fields): number {
  const { dmask = 0, d16 = 0, tfe = 0, lwe = 0 } = fields;
  const bits = [0, 1, 2, 3].filter((k) => ((dmask >> k) & 1) === 1).length;
  const count = (op.flags & Flag.Gather) !== 0 ? 4 : Math.max(1, bits);
  return (d16 === 1 ? Math.ceil(count / 2) : count) + (tfe === 1 || lwe === 1 ? 1 : 0);
}
