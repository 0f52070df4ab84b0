import type { Reflection } from "../codeobj/index.ts";
import {
  bufferResource,
  COMPUTE_USER_DATA_0,
  COMPUTE_USER_DATA_COUNT,
  decodePacket,
  type FieldRow,
  getField,
  QueueKind,
  type RawDump,
  RegisterSpace,
  VirtualMap,
} from "../uapi/index.ts";
import { address, bytesText } from "./text.ts";

/** A descriptor that the faulting shader could use, as it stood in memory. */
export interface DescriptorState {
  readonly set: number;
  readonly binding: number;
  readonly element: number;
  /** The variable's name in the shader. */
  readonly name: string;
  readonly type: string;
  /** The buffer that its V# names; absent for other kinds of descriptor. */
  readonly buffer?: { readonly va: bigint; readonly sizeBytes: number };
  readonly words: readonly number[];
}

/** Elements shown of one array of descriptors. */
const MAX_ELEMENTS = 16;

/** User SGPRs as the indirect buffer had set them before the packet at `packetVa`. */
function userSgprs(dump: RawDump, packetVa: bigint): Uint32Array | undefined {
  const end = Number((packetVa - dump.ibVa) / 4n);
  if (dump.queueKind === QueueKind.SDMA || end < 0 || end >= dump.ib.length) return undefined;
  const sgprs = new Uint32Array(COMPUTE_USER_DATA_COUNT);
  for (let at = 0; at < end; ) {
    const packet = decodePacket(dump.ib, at);
    if ("reason" in packet) return undefined;
    at += packet.sizeDwords;
    if (packet.name !== "SET_SH_REG") continue;
    const first = RegisterSpace.SH / 4 + Number(packet.values.offset) - COMPUTE_USER_DATA_0 / 4;
    for (const [i, value] of packet.tail.entries()) if (first + i >= 0) sgprs[first + i] = value;
  }
  return sgprs;
}

function field(rows: readonly FieldRow[] | undefined, word: number, wanted: string): number {
  const row = rows?.find(([name]) => name === wanted);
  return row === undefined ? 0 : getField(word, row[1], row[2]);
}

function bufferOf(words: readonly number[]): { readonly va: bigint; readonly sizeBytes: number } {
  const [low = 0, high = 0, records = 0] = words;
  const top = BigInt(field(bufferResource[1], high, "BASE_ADDRESS_HI"));
  const va = BigInt.asUintN(64, BigInt.asIntN(48, (top << 32n) | BigInt(low)));
  const stride = field(bufferResource[1], high, "STRIDE");
  return { va, sizeBytes: records * Math.max(stride, 1) };
}

/**
 * Descriptors of the resources that the code uses, through the user SGPRs of the dispatch at `packetVa`. `missing` is
 * told which could not be read.
 */
export function descriptorsOf(
  dump: RawDump,
  reflection: Reflection,
  packetVa: bigint,
  missing: string[],
): readonly DescriptorState[] {
  if (reflection.resources.length === 0) return [];
  const sgprs = userSgprs(dump, packetVa);
  if (sgprs === undefined) {
    missing.push("descriptors: the dispatch's user data is not in the recorded indirect buffer");
    return [];
  }
  const found: DescriptorState[] = [];
  for (const { set, binding, name, type, count, offsetBytes, strideBytes } of reflection.resources) {
    const pointer = reflection.userData.find((entry) => entry.kind === "descriptorSet" && entry.set === set);
    if (pointer === undefined) continue;
    const base = VirtualMap.WINDOW_START + BigInt(sgprs[pointer.sgpr] ?? 0);
    for (let element = 0; element < Math.min(Math.max(count, 1), MAX_ELEMENTS); element++) {
      const va = base + BigInt(offsetBytes + element * strideBytes);
      const words = readWords(dump, va, strideBytes / 4);
      if (words === undefined) {
        missing.push(`descriptor of set ${set} binding ${binding} at ${address(va)}`);
        break;
      }
      const isBuffer = type === "uniformBuffer" || type === "storageBuffer";
      found.push({ set, binding, element, name, type, words, ...(isBuffer ? { buffer: bufferOf(words) } : {}) });
    }
  }
  return found;
}

function readWords(dump: RawDump, va: bigint, count: number): readonly number[] | undefined {
  const record = dump.window.find((r) => r.va <= va && va + BigInt(count * 4) <= r.va + BigInt(r.bytes.length));
  if (record === undefined) return undefined;
  const view = new DataView(record.bytes.buffer, record.bytes.byteOffset + Number(va - record.va), count * 4);
  return Array.from({ length: count }, (_, i) => view.getUint32(i * 4, true));
}

/** `set 0 binding 1 data (storageBuffer): 0x000100000000, 4 KiB`. */
export function descriptorText({ set, binding, element, name, type, buffer, words }: DescriptorState): string {
  const index = element > 0 ? `[${element}]` : "";
  const head = `set ${set} binding ${binding}${index} ${name} (${type}): `;
  if (words.every((word) => word === 0)) return `${head}never written`;
  if (buffer !== undefined) return `${head}${address(buffer.va)}, ${bytesText(buffer.sizeBytes)}`;
  return head + words.map((word) => `0x${word.toString(16).padStart(8, "0")}`).join(" ");
}
