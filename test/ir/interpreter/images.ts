import { atomicOps, type ImmName, type IrInstr } from "../../../src/ir/index.ts";
import { bitsOf, f32 } from "../../math/exact.ts";
import { combined } from "./atomics.ts";

/**
 * Images without ends, by what src/ir/ops.ts says of the address and the `index` immediate: texels that were not written have
 * their value from their place, and a filtered texel is a smooth function of the whole address, other for each image,
 * sampler and kind of sampling. So a shader that reads another place, or in another way, gets other values.
 */
export class Images {
  readonly #texels = new Map<string, { readonly first: Uint32Array; readonly words: Uint32Array }>();
  readonly #first: (seed: number) => number;

  /** `first`: the word that a place nobody wrote has, from any number. */
  constructor(first: (seed: number) => number) {
    this.#first = first;
  }

  /** The four words of a texel. */
  texel(image: string, at: readonly number[]): Uint32Array {
    const key = `${image}:${at.join()}`;
    const found = this.#texels.get(key);
    if (found !== undefined) return found.words;
    const first = Uint32Array.from({ length: 4 }, (_, k) => this.#first(mixed([k, ...at])));
    const words = first.slice();
    this.#texels.set(key, { first, words });
    return words;
  }

  /** The texels that are no longer what they were at first, by their names, in an order of these. */
  changed(): [string, readonly number[]][] {
    const all = [...this.#texels].map(([key, { words }]): [string, readonly number[]] => [key, [...words]]);
    return all
      .filter(([key, words]) => words.some((word, k) => word !== this.#texels.get(key)!.first[k]))
      .sort(([a], [b]) => (a < b ? -1 : 1));
  }
}

/** A number that each of the words changes. */
export function mixed(words: readonly number[]): number {
  let h = 0x811c9dc5;
  for (const word of words) {
    h = Math.imul(h ^ (word >>> 0), 0x01000193);
    h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  }
  return (h ^ (h >>> 13)) >>> 0;
}

/** Fields of `index`. */
const field = (index: number) => ({
  dim: index & 7,
  mask: (index >>> 3) & 15,
  hasOffset: ((index >>> 7) & 1) === 1,
  /** Bias, compare value, gradients, LOD, LOD 0, clamp: how it is sampled. */
  kind: (index >>> 7) & 0x7f,
  isGather: ((index >>> 14) & 1) === 1,
  data: (index >>> 16) & 7,
  atomic: (index >>> 20) & 15,
});

/** Component `c` of a filtered texel; `salt`: of which image, sampler and way. */
function smooth(address: readonly number[], hasOffset: boolean, salt: number, c: number): number {
  let sum = (salt & 0xff) / 256 + c;
  for (const [k, word] of address.entries()) {
    // The offset is a packed integer, all else are floats.
    const x = hasOffset && k === 0 ? (word & 0xffffff) / 65_536 : f32(word);
    sum += x * (((k * 5 + c * 3 + salt) & 7) + 1) * 0.125;
  }
  return Number.isNaN(sum) ? 0x7fc00000 : bitsOf(Math.fround(sum));
}

/** Words of an image op's result for one lane; undefined: it is none. Sources are in the order of the op's row. */
export function imageOp(
  i: IrInstr,
  imm: (name: ImmName) => number,
  images: Images,
): ((words: readonly number[], isHelper: boolean) => readonly number[]) | undefined {
  if (!i.op.startsWith("image_")) return undefined;
  const { dim, mask, hasOffset, kind, isGather, data, atomic } = field(imm("index"));
  const [set, binding] = [imm("set"), imm("binding")];
  const named = (element: number | undefined): string => `${set & 0xffff} ${binding & 0xffff} ${element ?? 0}`;
  const wanted = (texel: ArrayLike<number>): number[] =>
    [0, 1, 2, 3].filter((k) => (mask >>> k) & 1).map((k) => texel[k]!);
  const kept = (place: readonly number[]): readonly number[] => place.map((word) => word | 0);
  switch (i.op) {
    case "image_sample":
    case "image_sample_quad":
      return ([image = 0, sampler = 0, ...address]) => {
        const salt = mixed([set, binding, image, sampler, dim, kind]);
        const component = (c: number): number => smooth(address, hasOffset, salt, c);
        // Gathered are four texels of the one component that the mask has.
        if (isGather) return [0, 1, 2, 3].map((k) => component(4 * k + (31 - Math.clz32(mask))));
        return wanted([0, 1, 2, 3].map(component));
      };
    case "image_query_lod":
      return ([image = 0, sampler = 0, ...address]) => {
        const salt = mixed([set, binding, image, sampler, dim]);
        return wanted([0, 1, 2, 3].map((c) => smooth(address, false, salt, c)));
      };
    case "image_load":
      return ([image, , ...place]) => wanted(images.texel(named(image), kept(place)));
    case "image_store":
      return ([image, , ...rest], isHelper) => {
        if (isHelper) return [];
        const texel = images.texel(named(image), kept(rest.slice(data)));
        let next = 0;
        for (let k = 0; k < 4; k++) texel[k] = (mask >>> k) & 1 ? rest[next++]! : 0;
        return [];
      };
    case "image_atomic":
      return ([image, , ...rest], isHelper) => {
        const texel = images.texel(named(image), kept(rest.slice(data)));
        const old = texel[0]!;
        const mine = rest[0]!;
        if (isHelper) return [old];
        if (atomicOps[atomic] !== "cmpswap") texel[0] = Number(combined(atomic, BigInt(old), BigInt(mine), 32));
        else if (old === rest[1]) texel[0] = mine;
        return [old];
      };
    case "image_size":
      return ([image = 0, , lod = 0]) =>
        wanted([0, 1, 2, 3].map((k) => (mixed([set, binding, image, lod, k]) & 15) + 1));
    case "image_samples":
      return ([image = 0]) => [1 << (mixed([set, binding, image]) & 3)];
    default:
      return undefined;
  }
}
