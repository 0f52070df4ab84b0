import {
  compareNames,
  type DecodedPacket,
  type DecodedSdma,
  decodePacket,
  decodeSdma,
  getField,
  QueueKind,
  RegisterSpace,
  registerAt,
} from "../uapi/index.ts";
import { address, hex } from "./text.ts";

/** One line of a decoded command stream. `va` is the address of `words[0]` plus the offset. */
export interface PacketLine {
  readonly offsetDwords: number;
  readonly va: bigint;
  readonly text: string;
  /** False for words that are no packet; decoding goes on one dword later. */
  readonly ok: boolean;
}

/** `NAME = 0x… (FIELD n, …)` of a register write; fields that are 0 are left out. */
function registerText(offset: number, value: number): string {
  const entry = registerAt(offset);
  if (entry === undefined) return `${hex(offset)} = ${hex(value)} (no such register)`;
  const [name, row] = entry;
  const fields = (row.fields ?? [])
    .map(([field, lsb, width]) => [field, getField(value, lsb, width)] as const)
    .filter(([, number]) => number !== 0)
    .map(([field, number]) => `${field} ${number}`);
  return `${name} = ${hex(value)}${fields.length > 0 ? ` (${fields.join(", ")})` : ""}`;
}

function packetText(packet: DecodedPacket): string {
  const { name, values, tail } = packet;
  if (name === "SET_SH_REG") {
    const first = RegisterSpace.SH + Number(values.offset) * 4;
    return `${name} ${tail.map((value, i) => registerText(first + i * 4, value)).join("; ")}`;
  }
  if (name === "NOP") return `NOP ${packet.sizeDwords} dwords`;
  const groups = name === "DISPATCH_DIRECT" ? [`groups ${values.groupsX}x${values.groupsY}x${values.groupsZ}`] : [];
  const parts = valueTexts(values).filter((part) => groups.length === 0 || !/^groups[XYZ] /.test(part));
  return [name, ...groups, ...parts, ...dataText(tail)].join(" ");
}

/** `name value` of each field that is not 0; addresses in hex, compare functions as their sign. */
function valueTexts(values: DecodedPacket["values"]): string[] {
  return Object.entries(values)
    .filter(([, value]) => Number(value) !== 0)
    .map(([key, value]) => {
      if (typeof value === "bigint") return `${key} ${address(value)}`;
      return key === "function" ? `memory ${compareNames[value] ?? `function ${value}`}` : `${key} ${value}`;
    });
}

function dataText(tail: readonly number[]): string[] {
  if (tail.length === 0) return [];
  const shown = tail.slice(0, 8).map((word) => hex(word));
  return [`data ${shown.join(" ")}`, ...(tail.length > 8 ? [`… ${tail.length} dwords`] : [])];
}

function sdmaText({ name, sizeDwords, values, tail }: DecodedSdma): string {
  if (name === "NOP") return `NOP ${sizeDwords} dwords`;
  return [name, ...valueTexts(values), ...dataText(tail)].join(" ");
}

/** Decodes a command stream by the rows of `src/uapi`, one line a packet: PM4, or SDMA by `queueKind` (`QueueKind`). */
export function decodePackets(
  words: ArrayLike<number>,
  baseVa = 0n,
  queueKind: number = QueueKind.COMPUTE,
): readonly PacketLine[] {
  const sdma = queueKind === QueueKind.SDMA;
  const lines: PacketLine[] = [];
  for (let at = 0; at < words.length; ) {
    const packet = sdma ? decodeSdma(words, at) : decodePacket(words, at);
    const va = baseVa + BigInt(at * 4);
    if ("reason" in packet) {
      lines.push({ offsetDwords: at, va, text: `${hex(packet.header, 8)}: ${packet.reason}`, ok: false });
      at++;
    } else {
      lines.push({ offsetDwords: at, va, text: "row" in packet ? packetText(packet) : sdmaText(packet), ok: true });
      at += packet.sizeDwords;
    }
  }
  return lines;
}
