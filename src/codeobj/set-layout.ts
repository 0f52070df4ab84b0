import type { BindingLayout, DescriptorBinding, DescriptorType, SetLayout } from "./reflection.ts";

/** The bindings of one descriptor set, in any order. */
export interface SetBindings {
  readonly set: number;
  readonly bindings: readonly DescriptorBinding[];
}

/** Bytes of one descriptor: V# and S# have 4 dwords, T# 8; a texel buffer keeps a V# pair, a combined sampler T# and S#. */
const strideBytes: Readonly<Record<DescriptorType, number>> = {
  uniformBuffer: 16,
  storageBuffer: 16,
  uniformBufferDynamic: 16,
  storageBufferDynamic: 16,
  sampler: 16,
  sampledImage: 32,
  storageImage: 32,
  inputAttachment: 32,
  uniformTexelBuffer: 32,
  storageTexelBuffer: 32,
  combinedImageSampler: 48,
};

/** Names of the descriptor types. */
export const descriptorTypes = Object.keys(strideBytes) as readonly DescriptorType[];

/** Whether a binding's V# stands behind the push constants rather than in its set. */
export function isDynamic(type: DescriptorType): boolean {
  return type === "uniformBufferDynamic" || type === "storageBufferDynamic";
}

/**
 * Byte offsets of descriptors in their sets (docs/abi.md, "Descriptors"): bindings ascending, without gaps, array
 * elements by stride. Dynamic buffers are left out: `layoutDynamicBuffers` places them. Sets come out ascending; a
 * set given in parts is joined, and a binding given twice (aliased variables) gets the room of the larger one.
 * The compiler's reflection and the driver call this one function, so that they can't disagree.
 */
export function layoutSets(sets: readonly SetBindings[]): readonly SetLayout[] {
  return joined(sets).map(({ set, bindings }) => {
    let offsetBytes = 0;
    const placed: BindingLayout[] = [];
    for (const binding of bindings) {
      if (isDynamic(binding.type)) continue;
      const stride = strideBytes[binding.type];
      placed.push({
        binding: binding.binding,
        type: binding.type,
        count: binding.count,
        offsetBytes,
        strideBytes: stride,
      });
      offsetBytes += stride * binding.count;
    }
    return { set, sizeBytes: offsetBytes, bindings: placed };
  });
}

/** A dynamic buffer's V#s: `offsetBytes` counts from the end of the push constants (rounded up to 16 bytes). */
export interface DynamicBufferLayout extends BindingLayout {
  readonly set: number;
}

/** Places the V#s of dynamic buffers behind the push constants, in (set, binding, element) order. */
export function layoutDynamicBuffers(sets: readonly SetBindings[]): readonly DynamicBufferLayout[] {
  let offsetBytes = 0;
  const placed: DynamicBufferLayout[] = [];
  for (const { set, bindings } of joined(sets)) {
    for (const binding of bindings) {
      if (!isDynamic(binding.type)) continue;
      const stride = strideBytes[binding.type];
      const { type, count } = binding;
      placed.push({ binding: binding.binding, type, count, set, offsetBytes, strideBytes: stride });
      offsetBytes += stride * binding.count;
    }
  }
  return placed;
}

/** Sets and their bindings ascending, each once. */
function joined(sets: readonly SetBindings[]): readonly SetBindings[] {
  const found: { set: number; bindings: DescriptorBinding[] }[] = [];
  const ascending = sorted(sets, (a, b) => a.set - b.set);
  for (let k = 0; k < ascending.length; k++) {
    const { set, bindings } = ascending[k]!;
    let last = found[found.length - 1];
    if (last?.set !== set) {
      last = { set, bindings: [] };
      found.push(last);
    }
    for (let m = 0; m < bindings.length; m++) last.bindings.push(bindings[m]!);
  }
  for (const each of found) each.bindings = distinct(sorted(each.bindings, (a, b) => a.binding - b.binding));
  return found;
}

/** Stable; most lists are in order already. */
function sorted<T>(list: readonly T[], compare: (a: T, b: T) => number): readonly T[] {
  for (let k = 1; k < list.length; k++) if (compare(list[k - 1]!, list[k]!) > 0) return [...list].sort(compare);
  return list;
}

function distinct(bindings: readonly DescriptorBinding[]): DescriptorBinding[] {
  const found: DescriptorBinding[] = [];
  for (const b of bindings) {
    const last = found[found.length - 1];
    if (last?.binding !== b.binding) found.push(b);
    else if (sizeOf(last) < sizeOf(b)) found[found.length - 1] = b;
  }
  return found;
}

function sizeOf(b: DescriptorBinding): number {
  return strideBytes[b.type] * b.count;
}
