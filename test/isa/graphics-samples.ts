import { Flag, type Op } from "../../src/isa/index.ts";
import type { Sample } from "./samples.ts";

/** `v5`, `v[5:6]` … */
function registers(letter: string, first: number, count: number): string {
  return count <= 1 ? `${letter}${first}` : `${letter}[${first}:${first + count - 1}]`;
}

/** Name, coordinates, components of both gradients; by code of the dimension. */
const dims: readonly (readonly [string, number, number])[] = [
  ["1D", 1, 2],
  ["2D", 2, 4],
  ["3D", 3, 6],
  ["CUBE", 3, 4],
  ["1D_ARRAY", 2, 2],
  ["2D_ARRAY", 3, 4],
  ["2D_MSAA", 3, 4],
];

/** Address components of 32 bits: offset, bias, compare value, gradients, coordinates, LOD or clamp or mip. */
function components(op: Op, dim: number): number {
  if (op.name === "image_get_resinfo") return 1;
  const [, coords, gradients] = dims[dim]!;
  const parts = op.name
    .replace(/^image_/, "")
    .split("_")
    .slice(1);
  const count = (name: string) => (parts.includes(name) ? 1 : 0);
  const extra = count("o") + count("b") + count("c") + count("l") + count("cl") + count("mip");
  return coords + extra + (parts.includes("d") || parts.includes("cd") ? gradients : 0);
}

export function imageSample(op: Op, choice: number): Sample {
  const sampled = (op.flags & Flag.Sampler) !== 0;
  const gather = (op.flags & Flag.Gather) !== 0;
  const atomic = (op.flags & Flag.Atomic) !== 0;
  // A sampled multisampled image does not exist.
  const dim = choice === 6 && sampled ? 1 : choice;
  const cmpswap = op.name.endsWith("cmpswap");
  const dmask = atomic ? (cmpswap ? 3 : 1) : gather ? [1, 2, 4, 8, 1, 2, 4][choice]! : [15, 1, 7, 3, 8, 5, 14][choice]!;
  const bits = [0, 1, 2, 3].filter((k) => (dmask >> k) & 1).length;
  const packs = op.name.includes("pck") || op.name === "image_get_resinfo" || op.name === "image_get_lod";
  const d16 = !atomic && !packs && choice === 5;
  const count = gather ? 4 : bits;
  const tfe = !atomic && choice === 4 && (op.flags & Flag.Load) !== 0 && op.name !== "image_get_lod";
  const data = (d16 ? Math.ceil(count / 2) : count) + (tfe ? 1 : 0);
  const fields: Record<string, number> = { vdata: 4 + choice, dmask, dim, srsrc: 2 * choice, unorm: sampled ? 0 : 1 };
  const n = components(op, dim);
  let address = registers("v", 20, n);
  fields.vaddr = 20;
  let addresses: number[] | undefined;
  if (choice % 2 === 1 && n > 1) {
    const all = Array.from({ length: n }, (_, k) => 30 + 7 * k);
    address = `[${all.map((r) => `v${r}`).join(", ")}]`;
    fields.vaddr = 30;
    fields.nsa = Math.ceil((n - 1) / 4);
    addresses = all.slice(1);
  }
  const texts = [registers("v", 4 + choice, data), address, registers("s", 8 * choice, 8)];
  const tail = [`dmask:0x${dmask.toString(16)}`, `dim:SQ_RSRC_IMG_${dims[dim]![0]}`];
  const set = (name: string, wanted: boolean) => {
    if (!wanted) return;
    fields[name] = 1;
    tail.push(name);
  };
  if (sampled) {
    fields.ssamp = 20;
    texts.push("s[80:83]");
  } else tail.push("unorm");
  set("glc", atomic ? choice === 1 : choice === 2);
  set("slc", choice === 3);
  set("dlc", choice === 2 && !atomic);
  set("tfe", tfe);
  set("d16", d16);
  const text = `${op.mnemonic} ${texts.join(", ")} ${tail.join(" ")}`;
  return addresses === undefined ? { op, text, fields } : { op, text, fields, addresses };
}

const targets: readonly (readonly [number, string])[] = [
  [0, "mrt0"],
  [8, "mrtz"],
  [12, "pos0"],
  [33, "param1"],
  [9, "null"],
  [7, "mrt7"],
  [20, "prim"],
];

export function exportSample(op: Op, choice: number): Sample {
  const [target, name] = targets[choice]!;
  const en = [15, 3, 7, 15, 0, 3, 1][choice]!;
  const compr = choice === 5;
  const fields: Record<string, number> = { target, en };
  const texts = [0, 1, 2, 3].map((k) => {
    if (((en >> k) & 1) === 0) return "off";
    const source = compr ? k >> 1 : k;
    fields[`src${source}`] = 10 + source;
    return `v${10 + source}`;
  });
  const tail: string[] = [];
  for (const [bit, wanted] of [
    ["done", choice === 0 || choice === 2 || choice === 4 || choice === 6],
    ["compr", compr],
    ["vm", choice === 0 || choice === 4],
  ] as const) {
    if (!wanted) continue;
    fields[bit] = 1;
    tail.push(bit);
  }
  return { op, text: [`exp ${name} ${texts.join(", ")}`, ...tail].join(" "), fields };
}

export function interpolationSample(op: Op, choice: number): Sample {
  const vdst = 3 + 40 * choice;
  const attr = [0, 31, 32, 5, 1, 20, 9][choice]!;
  const attrchan = choice & 3;
  const moves = op.src.length === 0;
  const vsrc = moves ? choice % 3 : 250 - choice;
  const source = moves ? ["p10", "p20", "p0"][vsrc]! : `v${vsrc}`;
  return {
    op,
    text: `${op.mnemonic} v${vdst}, ${source}, attr${attr}.${"xyzw"[attrchan]}`,
    fields: { vdst, vsrc, attr, attrchan },
  };
}
