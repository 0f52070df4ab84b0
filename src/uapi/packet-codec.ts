import { Bug } from "../base/index.ts";
import { getField } from "./fields.ts";
import { type PacketName, type PacketRow, type PacketWord, Pm4Header, packetRows } from "./packets.ts";

type WordNames<W> = W extends readonly [infer N extends string, "u32" | "u64"]
  ? N
  : W extends readonly [string, readonly (infer F)[]]
    ? F extends readonly [infer N extends string, number, number]
      ? N
      : never
    : never;
type U64Names<W> = W extends readonly [infer N extends string, "u64"] ? N : never;
type Words<P extends PacketName> = (typeof packetRows)[P]["words"][number];

/** Values of a packet's fields by name; `u64` words take a bigint. Absent fields are 0. */
export type PacketValues<P extends PacketName> = {
  readonly [K in Exclude<WordNames<Words<P>>, U64Names<Words<P>>>]?: number;
} & { readonly [K in U64Names<Words<P>>]?: bigint };

/** A decoded packet: header fields and named values. `values` holds bit fields flat, `tail` the dwords after them. */
export interface DecodedPacket {
  readonly offsetDwords: number;
  readonly sizeDwords: number;
  readonly name: PacketName;
  readonly row: PacketRow;
  readonly compute: boolean;
  readonly values: Readonly<Record<string, number | bigint>>;
  readonly tail: readonly number[];
}

/** Why a word of a command stream is no packet. */
export interface BadPacket {
  readonly offsetDwords: number;
  readonly header: number;
  readonly reason: string;
}

/** Dwords of a packet word. */
function dwordsOf(word: PacketWord): number {
  return word[1] === "u64" ? 2 : 1;
}

/** Dwords of the fixed body of a packet. */
export function fixedDwords(row: PacketRow): number {
  return row.words.reduce((sum, word) => sum + dwordsOf(word), 0);
}

const namesByRow = new Map<PacketRow, ReadonlySet<string>>(
  Object.values(packetRows).map((row: PacketRow) => [
    row,
    new Set(row.words.flatMap((word) => (typeof word[1] === "string" ? [word[0]] : word[1].map((field) => field[0])))),
  ]),
);

function checked(name: string, value: number, width: number): number {
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** width) {
    throw new Bug(`packet field ${name}: ${value} does not fit ${width} bits`);
  }
  return value;
}

/** Most dwords that follow the fixed ones. */
function mostTail({ tail }: PacketRow): number {
  return tail === undefined ? 0 : (tail[2] ?? Pm4Header.COUNT_MASK);
}

/** One type-3 packet as dwords, header first. Throws `Bug` on a value that does not fit its field. */
export function encodePacket<P extends PacketName>(
  name: P,
  values: PacketValues<P>,
  tail: ArrayLike<number> = [],
  compute = true,
): number[] {
  const row: PacketRow = packetRows[name];
  const given: Readonly<Record<string, number | bigint | undefined>> = values;
  for (const key of Object.keys(given)) if (!namesByRow.get(row)?.has(key)) throw new Bug(`${name} has no ${key}`);
  const body: number[] = [];
  for (const [word, kind] of row.words) {
    if (kind === "u64") {
      const value = BigInt.asUintN(64, BigInt(given[word] ?? 0n));
      body.push(Number(value & 0xffff_ffffn), Number(value >> 32n));
    } else if (kind === "u32") body.push(checked(word, Number(given[word] ?? 0), 32));
    else {
      let sum = 0;
      for (const [field, lsb, width] of kind) sum += checked(field, Number(given[field] ?? 0), width) * 2 ** lsb;
      body.push(sum);
    }
  }
  if (tail.length < (row.tail?.[1] ?? 0) || tail.length > mostTail(row)) {
    throw new Bug(`${name} with ${tail.length} dwords after its fixed words`);
  }
  for (let i = 0; i < tail.length; i++) body.push((tail[i] as number) >>> 0);
  if (body.length - 1 >= Pm4Header.COUNT_MASK) throw new Bug(`${name} with ${body.length} dwords`);
  const header =
    ((3 << Pm4Header.TYPE_LSB) |
      ((body.length - 1) << Pm4Header.COUNT_LSB) |
      (row.opcode << Pm4Header.OPCODE_LSB) |
      (compute ? Pm4Header.SHADER_TYPE_COMPUTE : 0)) >>>
    0;
  return [header, ...body];
}

const byOpcode = new Map<number, readonly [PacketName, PacketRow]>(
  (Object.entries(packetRows) as [PacketName, PacketRow][]).map(([name, row]) => [row.opcode, [name, row]]),
);

/** The packet row of an opcode. */
export function packetByOpcode(opcode: number): readonly [name: PacketName, row: PacketRow] | undefined {
  return byOpcode.get(opcode);
}

/** Decodes the packet at dword `at`; a type-2 filler reads as a NOP of one dword. */
export function decodePacket(words: ArrayLike<number>, at: number): DecodedPacket | BadPacket {
  const header = (words[at] as number) >>> 0;
  const bad = (reason: string): BadPacket => ({ offsetDwords: at, header, reason });
  const one = { offsetDwords: at, sizeDwords: 1, name: "NOP", row: packetRows.NOP, values: {}, tail: [] } as const;
  if (header === Pm4Header.TYPE2_FILLER) return { ...one, compute: false };
  if (header >>> Pm4Header.TYPE_LSB !== 3) return bad("not a type-3 packet");
  const opcode = (header >>> Pm4Header.OPCODE_LSB) & 0xff;
  const count = (header >>> Pm4Header.COUNT_LSB) & Pm4Header.COUNT_MASK;
  const compute = (header & Pm4Header.SHADER_TYPE_COMPUTE) !== 0;
  if (opcode === packetRows.NOP.opcode && count === Pm4Header.ONE_DWORD_NOP_COUNT) return { ...one, compute };
  const entry = byOpcode.get(opcode);
  if (entry === undefined) return bad(`unknown opcode 0x${opcode.toString(16)}`);
  const [name, row] = entry;
  const body = count + 1;
  if (at + 1 + body > words.length) return bad(`${name} runs past the end of the buffer`);
  const fixed = fixedDwords(row);
  const least = fixed + (row.tail?.[1] ?? 0);
  if (body < least || body > fixed + mostTail(row)) return bad(`${name} with ${body} body dwords`);
  const values: Record<string, number | bigint> = {};
  let next = at + 1;
  for (const [word, kind] of row.words) {
    const low = (words[next++] as number) >>> 0;
    if (kind === "u64") values[word] = (BigInt((words[next++] as number) >>> 0) << 32n) | BigInt(low);
    else if (kind === "u32") values[word] = low;
    else for (const [field, lsb, width] of kind) values[field] = getField(low, lsb, width);
  }
  const tail = Array.from({ length: body - fixed }, (_, i) => (words[next + i] as number) >>> 0);
  return { offsetDwords: at, sizeDwords: 1 + body, name, row, compute, values, tail };
}
