import { type DecodedPacket, decodePacket, getField, RegisterSpace, registerAt } from "../uapi/index.ts";
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
  const parts = Object.entries(values)
    .filter(([, value]) => Number(value) !== 0)
    .map(([key, value]) => `${key} ${typeof value === "bigint" ? address(value) : value}`);
  if (name === "DISPATCH_DIRECT") parts.unshift(`groups ${values.groupsX}x${values.groupsY}x${values.groupsZ}`);
  const shown = name === "DISPATCH_DIRECT" ? parts.filter((part) => !/^groups[XYZ] /.test(part)) : parts;
  const data =
    tail.length > 0 && name !== "NOP"
      ? [
          `data ${tail
            .slice(0, 8)
            .map((word) => hex(word))
            .join(" ")}`,
        ]
      : [];
  if (tail.length > 8 && data.length > 0) data.push(`… ${tail.length} dwords`);
  if (name === "NOP") return `NOP ${packet.sizeDwords} dwords`;
  return [name, ...shown, ...data].join(" ");
}

/** Decodes a command stream by the rows of `src/uapi`, one line a packet. */
export function decodePackets(words: ArrayLike<number>, baseVa = 0n): readonly PacketLine[] {
  const lines: PacketLine[] = [];
  for (let at = 0; at < words.length; ) {
    const packet = decodePacket(words, at);
    const va = baseVa + BigInt(at * 4);
    if ("reason" in packet) {
      lines.push({ offsetDwords: at, va, text: `${hex(packet.header, 8)}: ${packet.reason}`, ok: false });
      at++;
    } else {
      lines.push({ offsetDwords: at, va, text: packetText(packet), ok: true });
      at += packet.sizeDwords;
    }
  }
  return lines;
}
