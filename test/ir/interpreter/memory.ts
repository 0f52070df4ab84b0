import { atomicOps, dynamicSet, type ImmName, type IrInstr, type IrShader } from "../../../src/ir/index.ts";
import { combined } from "./atomics.ts";
import { type Images, imageOp } from "./images.ts";

/** What the interpreter has no op or no memory for. */
export class NotCovered extends Error {}

/** What the invocations of a dispatch reach. Reads out of range give 0, writes there do nothing. */
export interface Memory {
  buffer(set: number, binding: number, element: number): Uint8Array | undefined;
  /** The bytes from an address on. Without it, shaders with addresses are not run. */
  at?(address: bigint): Uint8Array | undefined;
  /** Bytes of a texel of a texel buffer, whose texels are as many words; 16 where absent. */
  readonly texelBytes?: number;
  readonly images?: Images;
  readonly push: Uint8Array;
  readonly shared: Uint8Array;
  /** The shader's own tables of constants. */
  readonly table: Uint8Array;
  /** Of each lane of the wave that asks. */
  readonly scratch: readonly Uint8Array[];
}

/** The bytes of a shader's tables. */
export function tableOf({ table }: IrShader): Uint8Array {
  return new Uint8Array(Uint32Array.from(table).buffer);
}

/** Sources by lane to the result's words. */
export type Access = (lane: number, sources: readonly (readonly number[])[], isHelper: boolean) => readonly number[];

const nothing = new Uint8Array(0);

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function load(bytes: Uint8Array, at: number, bits: number, components: number): readonly number[] {
  if (bits === 8) return [at < bytes.length ? bytes[at]! : 0];
  if (bits === 16) return [at + 2 <= bytes.length ? view(bytes).getUint16(at, true) : 0];
  return Array.from({ length: components }, (_, k) =>
    at + 4 * k + 4 <= bytes.length ? view(bytes).getUint32(at + 4 * k, true) : 0,
  );
}

function store(bytes: Uint8Array, at: number, bits: number, data: readonly number[]): void {
  if (bits === 8 && at < bytes.length) bytes[at] = data[0]!;
  if (bits === 16 && at + 2 <= bytes.length) view(bytes).setUint16(at, data[0]!, true);
  if (bits !== 0) return;
  data.forEach((word, k) => {
    if (at + 4 * k + 4 <= bytes.length) view(bytes).setUint32(at + 4 * k, word, true);
  });
}

const join = (words: readonly number[]): bigint => BigInt(words[0]!) | (BigInt(words[1] ?? 0) << 32n);
const split = (value: bigint, count: number): number[] =>
  Array.from({ length: count }, (_, k) => Number((value >> BigInt(32 * k)) & 0xffffffffn));

function atomic(
  bytes: Uint8Array,
  at: number,
  isHelper: boolean,
  data: readonly number[],
  next: (old: bigint) => bigint,
): readonly number[] {
  const old = load(bytes, at, 0, data.length);
  const isInside = at + 4 * data.length <= bytes.length;
  if (isInside && !isHelper) store(bytes, at, 0, split(next(join(old)), data.length));
  return old;
}

/** Numbers that stand for addresses of descriptors. */
const addressOf = (set: number, binding: number, element: number): number =>
  ((set + 1) * 0x0100_0000 + binding * 0x1_0000 + element) >>> 0;

/** How a memory op accesses memory; undefined: it is none, or one that this memory has no place for. */
export function accessOp(i: IrInstr, imm: (name: ImmName) => number, memory: Memory): Access | undefined {
  const isDynamic = imm("set") === dynamicSet;
  const bytesOf = (last: readonly number[] | undefined): Uint8Array => {
    const [word = 0, high] = last ?? [];
    if (high !== undefined && isDynamic) {
      if (memory.at === undefined) throw new NotCovered("memory at addresses");
      return memory.at(BigInt(word) | (BigInt(high) << 32n)) ?? nothing;
    }
    const [set, binding, element] = isDynamic
      ? [(word >>> 24) - 1, (word >>> 16) & 0xff, word & 0xffff]
      : [imm("set"), imm("binding"), word];
    return memory.buffer(set, binding, element) ?? nothing;
  };
  const at = (offset: readonly number[] | undefined): number => (offset?.[0] ?? 0) + imm("base");
  const update = (data: readonly number[]) => (old: bigint) =>
    combined(imm("atomic"), old, join(data), 32 * data.length);
  const swap = (wanted: readonly number[], data: readonly number[]) => (old: bigint) =>
    old === join(wanted) ? join(data) : old;
  const image = memory.images && imageOp(i, imm, memory.images);
  if (image !== undefined) return (_, sources, isHelper) => image(sources.flat(), isHelper);
  const texelBytes = memory.texelBytes ?? 16;
  /** Of a texel: elements are in or out of range whole. */
  const texelAt = ([index = 0]: readonly number[], bytes: Uint8Array): number =>
    index < Math.floor(bytes.length / texelBytes) ? index * texelBytes : bytes.length;
  switch (i.op) {
    case "load_texel":
      return (_, [index = [], element]) => {
        const bytes = bytesOf(element);
        const at = texelAt(index, bytes);
        const words = load(bytes, at, 0, texelBytes / 4);
        // Components that the format lacks: 0 0 1; nothing out of range.
        return [0, 1, 2, 3].map((k) => words[k] ?? (k === 3 && at < bytes.length ? 1 : 0));
      };
    case "store_texel":
      return (_, [data = [], index = [], element], isHelper) => {
        const bytes = bytesOf(element);
        if (!isHelper) store(bytes, texelAt(index, bytes), 0, data.slice(0, texelBytes / 4));
        return [];
      };
    case "texel_atomic":
      return (_, [index = [], element, data = [], wanted = []], isHelper) => {
        const bytes = bytesOf(element);
        const isSwap = atomicOps[imm("atomic")] === "cmpswap";
        return atomic(bytes, texelAt(index, bytes), isHelper, data, isSwap ? swap(wanted, data) : update(data));
      };
    case "texel_count":
      return (_, [element]) => [Math.floor(bytesOf(element).length / texelBytes)];
    case "load_ubo":
    case "load_ssbo":
      return (_, [offset, last]) => load(bytesOf(last), at(offset), imm("bits"), i.components);
    case "store_ssbo":
      return (_, [data = [], offset, last], isHelper) => {
        if (!isHelper) store(bytesOf(last), at(offset), imm("bits"), data);
        return [];
      };
    case "ssbo_atomic":
      return (_, [offset, data = [], last], isHelper) =>
        atomic(bytesOf(last), at(offset), isHelper, data, update(data));
    case "ssbo_atomic_cmpswap":
      return (_, [offset, wanted = [], data = [], last], isHelper) =>
        atomic(bytesOf(last), at(offset), isHelper, data, swap(wanted, data));
    case "ssbo_size":
      return (_, [element]) => [bytesOf(element).length];
    case "descriptor_address":
      return (_, [element]) => [addressOf(imm("set"), imm("binding"), element?.[0] ?? 0)];
    case "load_push":
      return (_, [offset]) => load(memory.push, at(offset), 0, i.components);
    case "load_table":
      return (_, [offset]) => load(memory.table, at(offset), 0, i.components);
    case "load_shared":
      return (_, [offset]) => load(memory.shared, at(offset), imm("bits"), i.components);
    case "store_shared":
      return (_, [data = [], offset]) => {
        store(memory.shared, at(offset), imm("bits"), data);
        return [];
      };
    case "shared_atomic":
      return (_, [offset, data = []]) => atomic(memory.shared, at(offset), false, data, update(data));
    case "shared_atomic_cmpswap":
      return (_, [offset, wanted = [], data = []]) =>
        atomic(memory.shared, at(offset), false, data, swap(wanted, data));
    case "load_scratch":
      return (lane, [offset]) => load(memory.scratch[lane] ?? nothing, at(offset), imm("bits"), i.components);
    case "store_scratch":
      return (lane, [data = [], offset]) => {
        store(memory.scratch[lane] ?? nothing, at(offset), imm("bits"), data);
        return [];
      };
    default:
      return undefined;
  }
}
